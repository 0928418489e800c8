//! What long work runs in: a device, a cache, and somebody who waits.

use hg2v_math::parallel::most_threads;

use crate::coarsen::cache::Cache;
use crate::error::{Error, Result};
use crate::progress::{Counter, Flow, Progress, Report, Silent, Stage};

pub use crate::nn::machine::{Machine, MachineName, Precision};

/// What long work runs in. Results do not depend on it, but for the rounding of a GPU.
///
/// Threads are those of the rayon pool that calls; results do not depend on their number.
///
/// ```
/// use hg2v::context::Context;
/// use hg2v::progress::{Flow, Report};
/// let watch = |report: &Report<'_>| match report.done {
///     0..1000 => Flow::Continue,
///     _ => Flow::Stop,
/// };
/// let context = Context::default().watched_by(&watch);
/// ```
#[derive(Clone)]
pub struct Context<'a> {
    /// Where networks run: the processor, unless another is named.
    pub machine: Machine,
    /// Where pyramids are kept between runs; nowhere, unless one is given.
    pub cache: Option<Cache>,
    progress: &'a dyn Progress,
}

impl Default for Context<'_> {
    fn default() -> Self {
        Context { machine: Machine::Cpu, cache: None, progress: &Silent }
    }
}

impl<'a> Context<'a> {
    /// The same on another device.
    #[must_use]
    pub fn on(self, machine: Machine) -> Context<'a> {
        Context { machine, ..self }
    }

    /// The same with pyramids kept in `cache`.
    #[must_use]
    pub fn cached_in(self, cache: Option<Cache>) -> Context<'a> {
        Context { cache, ..self }
    }

    /// The same, watched by `progress`.
    #[must_use]
    pub fn watched_by(self, progress: &'a dyn Progress) -> Context<'a> {
        Context { progress, ..self }
    }

    /// The same, and nobody waits: for the pieces of work that is reported as a whole.
    pub fn unwatched(&self) -> Context<'static> {
        Context { machine: self.machine.clone(), cache: self.cache.clone(), progress: &Silent }
    }

    /// Says how far the work is, for others who watch it, too.
    pub(crate) fn flow(&self, report: &Report<'_>) -> Flow {
        self.progress.report(report)
    }

    /// Says how far the work is.
    ///
    /// # Errors
    /// [`Error::Stopped`] when it is to end.
    pub fn tell(&self, report: &Report<'_>) -> Result<()> {
        match self.flow(report) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Error::Stopped),
        }
    }

    /// Counts work that many threads do together.
    pub fn counter(&self, stage: Stage, total: u64) -> Counter<'a> {
        Counter::new(self.progress, stage, total)
    }
}

/// Refuses a number of threads that no machine like this has a use for.
///
/// # Errors
/// More than 256, and than four for each core.
pub fn check_threads(threads: usize) -> Result<()> {
    let most = most_threads();
    match threads <= most {
        true => Ok(()),
        false => {
            let requirement = format!("it must be at most {most} here; 0 takes one for each core");
            Err(Error::parameter("threads", threads, requirement))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nonsensical_numbers_of_threads_are_refused() {
        for threads in [0, 1, 256] {
            check_threads(threads).unwrap();
        }
        let refused = check_threads(99_999).unwrap_err().to_string();
        assert!(refused.starts_with("threads is 99999, but it must be at most "), "{refused}");
    }
}

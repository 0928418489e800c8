//! Threads: how many there may be, and what is said where the system has none left.

use std::fmt::Display;
use std::thread::{Builder, JoinHandle};

use hg2v::context::check_threads;

/// Starts the threads that work is shared among; 0 is one for each core.
///
/// # Errors
/// A number that makes no sense; a system that has no more threads.
pub(crate) fn share_among(threads: usize) -> anyhow::Result<()> {
    check_threads(threads)?;
    let started = rayon::ThreadPoolBuilder::new().num_threads(threads).build_global();
    started.map_err(refused)
}

/// Starts a thread of its own for a `job`.
///
/// # Errors
/// A system that has no more threads.
pub(crate) fn start(
    name: &str,
    job: impl FnOnce() + Send + 'static,
) -> anyhow::Result<JoinHandle<()>> {
    Builder::new().name(format!("hg2v-{name}")).spawn(job).map_err(refused)
}

fn refused(why: impl Display) -> anyhow::Error {
    anyhow::anyhow!(
        "cannot start a thread: {why}; raise the limit on processes (ulimit -u), or give --threads \
         a smaller number"
    )
}

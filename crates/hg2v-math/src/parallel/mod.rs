//! Work on many things at once, and failures that are the same every time.

mod board;
pub mod crew;
pub mod slot;
mod sync;

use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;

/// Threads that a user may ask for on any machine, and for each core of a larger one: beyond
/// that they take long to start and only wait for each other.
const THREADS_ANYWHERE: usize = 256;
const THREADS_A_CORE: usize = 4;

/// The most threads that a machine like this has a use for: 256, or four for each core where
/// those are more.
pub fn most_threads() -> usize {
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    THREADS_ANYWHERE.max(THREADS_A_CORE * cores)
}

/// What `job` makes of every item, in their order, on the threads of the pool.
///
/// Rayon's own `collect` hands over whichever error comes first in time, so that a
/// message would name one graph in one run and another in the next. What comes after
/// a known failure is not begun.
///
/// # Errors
/// That of the first item, in their order, for which `job` fails.
pub fn try_map<I, T, E>(
    items: I,
    job: impl Fn(I::Item) -> Result<T, E> + Sync + Send,
) -> Result<Vec<T>, E>
where
    I: IntoParallelIterator<Iter: IndexedParallelIterator>,
    T: Send,
    E: Send,
{
    let first_failure = AtomicUsize::new(usize::MAX);
    let made: Vec<Option<Result<T, E>>> = items
        .into_par_iter()
        .enumerate()
        .map(|(at, item)| {
            if at > first_failure.load(Ordering::Relaxed) {
                return None;
            }
            let made = job(item);
            if made.is_err() {
                first_failure.fetch_min(at, Ordering::Relaxed);
            }
            Some(made)
        })
        .collect();
    made.into_iter().map_while(|made| made).collect()
}

#[cfg(test)]
mod tests {
    use std::thread::sleep;
    use std::time::Duration;

    use super::*;

    #[test]
    fn the_first_in_order_is_named_though_others_fail_sooner() {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(4).build().unwrap();
        let job = |at: usize| {
            // The first to fail is the last to say so.
            sleep(Duration::from_millis(if at == 3 { 60 } else { 0 }));
            if at >= 3 { Err(at) } else { Ok(at) }
        };
        assert_eq!(pool.install(|| try_map(0..100, job)), Err(3));
    }

    #[test]
    fn what_is_made_is_in_order() {
        let doubled: Result<Vec<usize>, ()> = try_map(0..1000, |at| Ok(2 * at));
        assert_eq!(doubled, Ok((0..2000).step_by(2).collect()));
        assert_eq!(try_map(Vec::<u8>::new(), Err::<u8, u8>), Ok(vec![]));
    }
}

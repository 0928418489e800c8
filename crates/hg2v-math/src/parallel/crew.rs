//! Work shared among threads.
//!
//! A training step is two dozen pieces of work of some ten microseconds each,
//! one after the other. Waking a sleeping thread for each of them costs more than
//! it saves, so while a run of steps lasts the threads of the pool form a crew:
//! they stay awake and watch for the next piece. Elsewhere work is shared through
//! rayon, where a thread that has nothing to do sleeps.

#![allow(unsafe_code)]

use std::cell::Cell;

use rayon::prelude::*;

use super::board::{Board, Job, MOST};
use super::slot::Slot;

/// Who shares the work of this thread.
#[derive(Clone, Copy)]
enum Company {
    /// The threads of the rayon pool.
    Pool,
    /// Nobody, as within a part: a crew has one piece of work at a time.
    Alone,
    /// A crew that this thread leads.
    Crew(*const Board),
}

thread_local! {
    static COMPANY: Cell<Company> = const { Cell::new(Company::Pool) };
}

/// Puts back what was there, whatever happens.
struct Restore(Company);

impl Drop for Restore {
    fn drop(&mut self) {
        COMPANY.set(self.0);
    }
}

fn within<T>(company: Company, job: impl FnOnce() -> T) -> T {
    let _restore = Restore(COMPANY.replace(company));
    job()
}

/// Runs `job` on this thread alone: right where several of its kind run beside
/// each other.
pub fn alone<T>(job: impl FnOnce() -> T) -> T {
    within(Company::Alone, job)
}

/// Runs `job` with the threads of the pool at hand for all that it [shares](each);
/// they do nothing else meanwhile.
pub fn together<T: Send>(job: impl FnOnce() -> T + Send) -> T {
    let free = matches!(COMPANY.get(), Company::Pool);
    if !free || rayon::current_num_threads() == 1 {
        return if free { alone(job) } else { job() };
    }
    let board = Board::new();
    rayon::scope(|scope| {
        /// Lets the others go, also when `job` panics.
        struct Dismiss<'a>(&'a Board);
        impl Drop for Dismiss<'_> {
            fn drop(&mut self) {
                self.0.take_down();
            }
        }
        let _dismiss = Dismiss(&board);
        scope.spawn_broadcast(|_, _| within(Company::Alone, || board.help()));
        within(Company::Crew(&board), job)
    })
}

/// How many threads share what is handed to [`each`].
pub fn threads() -> usize {
    match COMPANY.get() {
        Company::Alone => 1,
        _ => rayon::current_num_threads(),
    }
}

/// Runs `job` for every number below `count`, on all threads that are at hand.
pub fn each(count: usize, job: impl Fn(usize) + Sync) {
    share(count, &job);
}

/// One for all jobs: of its own, each would have a copy of all of rayon.
fn share(count: usize, job: &Job<'_>) {
    match COMPANY.get() {
        _ if count <= 1 => (0..count).for_each(job),
        Company::Alone => (0..count).for_each(job),
        Company::Pool => (0..count).into_par_iter().for_each(job),
        Company::Crew(board) => {
            // SAFETY: the board outlives the closure that its leader runs.
            let board = unsafe { &*board };
            // Parts of several numbers where a ticket could not count them.
            let size = count.div_ceil(MOST);
            let part = |part: usize| (part * size..((part + 1) * size).min(count)).for_each(job);
            within(Company::Alone, || board.share(count.div_ceil(size), &part));
        }
    }
}

/// As [`each`], for the blocks of `size` items that `items` are cut into; `job`
/// is told the number of the block.
pub fn each_block<T: Send>(items: &mut [T], size: usize, job: impl Fn(usize, &mut [T]) + Sync) {
    let blocks: Vec<Slot<&mut [T]>> = items.chunks_mut(size.max(1)).map(Slot::new).collect();
    each(blocks.len(), |i| {
        if let Some(block) = blocks[i].take() {
            job(i, block);
        }
    });
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
    }

    #[test]
    fn every_part_of_every_piece_is_run_once() {
        for threads in [1, 2, 4] {
            in_pool(threads, || {
                together(|| {
                    for piece in 0..2_000 {
                        let count = piece % 7;
                        let runs: Vec<AtomicU32> = (0..count).map(|_| AtomicU32::new(0)).collect();
                        each(count, |i| {
                            runs[i].fetch_add(1, Ordering::Relaxed);
                        });
                        assert!(runs.iter().all(|runs| runs.load(Ordering::Relaxed) == 1));
                    }
                });
            });
        }
    }

    #[test]
    fn blocks_are_written_in_their_places_in_every_company() {
        let fill = || {
            let mut numbers = vec![0; 103];
            each_block(&mut numbers, 10, |block, numbers| {
                numbers.iter_mut().enumerate().for_each(|(i, number)| *number = block * 10 + i);
            });
            numbers
        };
        let counted: Vec<usize> = (0..103).collect();
        in_pool(3, || {
            assert_eq!(fill(), counted);
            assert_eq!(alone(fill), counted);
            assert_eq!(together(fill), counted);
            assert_eq!(together(|| together(fill)), counted);
            // Within a part, work is the part's own.
            let nested = || {
                let mut all = [const { Vec::new() }; 4];
                each_block(&mut all, 1, |_, one| one[0] = together(fill));
                all.to_vec()
            };
            assert_eq!(together(nested), vec![counted.clone(); 4]);
        });
    }

    #[test]
    fn a_panic_reaches_the_leader_and_the_pool_lives_on() {
        in_pool(2, || {
            for guilty in [0, 5, 9] {
                let run = || each(10, |i| assert!(i != guilty, "part {guilty}"));
                let said = std::panic::catch_unwind(|| together(run)).unwrap_err();
                assert_eq!(said.downcast_ref::<String>(), Some(&format!("part {guilty}")));
                // Nor is it heard twice by those who go on.
                together(|| {
                    assert!(std::panic::catch_unwind(run).is_err());
                    each(10, |_| ());
                });
            }
            assert_eq!((0..100).into_par_iter().sum::<usize>(), 4950);
        });
    }
}

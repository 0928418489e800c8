//! Work shared among threads.
//!
//! A training step is two dozen pieces of work of some ten microseconds each,
//! one after the other. Waking a sleeping thread for each of them costs more than
//! it saves, so while a run of steps lasts the threads of the pool form a crew:
//! they stay awake and watch for the next piece. Elsewhere work is shared through
//! rayon, where a thread that has nothing to do sleeps.

#![allow(unsafe_code)]

use std::cell::{Cell, UnsafeCell};
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

use rayon::prelude::*;

/// Pauses between two looks before a thread lets others run.
const PATIENCE: u32 = 2_000;

/// Who shares the work of this thread.
#[derive(Clone, Copy)]
enum Company {
    /// The threads of the rayon pool.
    Pool,
    /// Nobody, as within a part: a crew has one piece of work at a time.
    Alone,
    /// A crew that this thread leads.
    Crew(*const Crew),
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
    let crew = Crew::default();
    rayon::scope(|scope| {
        /// Lets the others go, also when `job` panics.
        struct Dismiss<'a>(&'a Crew);
        impl Drop for Dismiss<'_> {
            fn drop(&mut self) {
                self.0.over.store(true, Ordering::Release);
            }
        }
        let _dismiss = Dismiss(&crew);
        scope.spawn_broadcast(|_, _| within(Company::Alone, || crew.help()));
        within(Company::Crew(&crew), job)
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
        Company::Crew(crew) => {
            // SAFETY: the crew outlives the closure that its leader runs.
            let crew = unsafe { &*crew };
            // Parts of several numbers where a ticket could not count them.
            let size = count.div_ceil((1 << BITS) - 1);
            crew.share(count.div_ceil(size), &|part| {
                (part * size..((part + 1) * size).min(count)).for_each(job);
            });
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

/// Something for whoever comes first.
pub struct Slot<T>(AtomicBool, UnsafeCell<Option<T>>);

// SAFETY: only the thread that finds the flag unset touches the value.
unsafe impl<T: Send> Sync for Slot<T> {}

impl<T> Slot<T> {
    /// Holds `value`.
    pub fn new(value: T) -> Slot<T> {
        Slot(AtomicBool::new(false), UnsafeCell::new(Some(value)))
    }

    /// The value, once.
    pub fn take(&self) -> Option<T> {
        if self.0.swap(true, Ordering::AcqRel) {
            return None;
        }
        // SAFETY: nobody else has seen the flag unset.
        unsafe { &mut *self.1.get() }.take()
    }
}

type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// Bits of a ticket for the next part and for how many there are; those above
/// number the piece.
const BITS: u32 = 20;

/// The ticket of a piece of `count` parts, none of which is taken.
fn ticket(piece: u64, count: usize) -> u64 {
    piece << (2 * BITS) | (count as u64) << BITS
}

/// The next part of a ticket, and how many there are.
fn parts(ticket: u64) -> (usize, usize) {
    let low = (1 << BITS) - 1;
    ((ticket & low) as usize, (ticket >> BITS & low) as usize)
}

/// Threads that wait, awake, for work.
#[derive(Default)]
struct Crew {
    /// The present piece of work, in one number, so that nobody takes a part of
    /// one piece for a part of another.
    ticket: AtomicU64,
    /// How many of its parts are done.
    done: AtomicUsize,
    /// What is done to each.
    job: UnsafeCell<Option<*const Job<'static>>>,
    panicked: AtomicBool,
    over: AtomicBool,
}

// SAFETY: `job` is written by the leader while no part is open, and read by those
// who have taken a part, which the leader waits for before it writes again; the
// ticket orders the two.
unsafe impl Sync for Crew {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Crew {}

impl Crew {
    /// The leader's side: runs all parts with whoever is watching.
    fn share(&self, count: usize, job: &Job<'_>) {
        let piece = (self.ticket.load(Ordering::Relaxed) >> (2 * BITS)) + 1;
        // SAFETY: no part is open, so nobody reads; and the pointer is not used
        // after this function has returned, since it waits for all parts.
        unsafe {
            let job: *const Job<'static> = std::mem::transmute(job as *const Job<'_>);
            *self.job.get() = Some(job);
        }
        self.done.store(0, Ordering::Relaxed);
        self.ticket.store(ticket(piece, count), Ordering::Release);
        // A panic must not leave while others use what it would drop.
        let own = within(Company::Alone, || {
            std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| while self.part() {}))
        });
        if own.is_err() {
            self.done.fetch_add(1, Ordering::AcqRel);
            while self.part_ignored() {}
        }
        wait_until(|| self.done.load(Ordering::Acquire) == count);
        if let Err(panic) = own {
            std::panic::resume_unwind(panic);
        }
        assert!(!self.panicked.load(Ordering::Acquire), "another thread panicked");
    }

    /// Takes a part, if one is open.
    fn take(&self) -> Option<usize> {
        let next = |ticket| {
            let (part, count) = parts(ticket);
            (part < count).then_some(ticket + 1)
        };
        let taken = self.ticket.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
        taken.ok().map(|ticket| parts(ticket).0)
    }

    /// Runs a part, if one is open.
    fn part(&self) -> bool {
        let Some(part) = self.take() else { return false };
        // SAFETY: the part is not done, so the leader still waits in `share`.
        if let Some(job) = unsafe { *self.job.get() } {
            // SAFETY: likewise.
            unsafe { (*job)(part) };
        }
        self.done.fetch_add(1, Ordering::AcqRel);
        true
    }

    /// Calls a part done that nobody runs.
    fn part_ignored(&self) -> bool {
        let taken = self.take().is_some();
        if taken {
            self.done.fetch_add(1, Ordering::AcqRel);
        }
        taken
    }

    /// The others' side: parts, until it is over.
    fn help(&self) {
        let idle = || self.over.load(Ordering::Acquire);
        while !idle() {
            let run = std::panic::AssertUnwindSafe(|| while self.part() {});
            if std::panic::catch_unwind(run).is_err() {
                self.panicked.store(true, Ordering::Release);
                self.done.fetch_add(1, Ordering::AcqRel);
            }
            let ticket = self.ticket.load(Ordering::Acquire);
            wait_until(|| self.ticket.load(Ordering::Acquire) != ticket || idle());
        }
    }
}

/// Looks again and again, at first without letting go of the processor.
fn wait_until(ready: impl Fn() -> bool) {
    let mut looks = 0;
    while !ready() {
        looks += 1;
        if looks < PATIENCE {
            std::hint::spin_loop();
        } else {
            std::thread::yield_now();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::AtomicU32;

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
                let run = || together(|| each(10, |i| assert!(i != guilty)));
                assert!(std::panic::catch_unwind(run).is_err());
            }
            assert_eq!((0..100).into_par_iter().sum::<usize>(), 4950);
        });
    }
}

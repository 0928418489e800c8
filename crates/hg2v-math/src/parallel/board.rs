//! One piece of work at a time, in parts that threads take from a board.
//!
//! The leader puts a piece up and takes parts like everybody else; the others watch the board,
//! awake, until it is taken down.

#![allow(unsafe_code)]

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};

use super::sync::{
    AtomicBool, AtomicU64, AtomicUsize, Mutex, Ordering, UnsafeCell, spin_loop, yield_now,
};

/// Pauses between two looks before a thread lets others run.
const PATIENCE: u32 = 2_000;

/// Bits of a ticket for the next part and for how many there are; those above
/// number the piece.
const BITS: u32 = 20;

/// The most parts of a piece.
pub(super) const MOST: usize = (1 << BITS) - 1;

/// What is done to a part.
pub(super) type Job<'a> = dyn Fn(usize) + Sync + 'a;

/// The ticket of a piece of `count` parts, none of which is taken.
fn ticket(piece: u64, count: usize) -> u64 {
    piece << (2 * BITS) | (count as u64) << BITS
}

/// The next part of a ticket, and how many there are.
fn parts(ticket: u64) -> (usize, usize) {
    ((ticket & MOST as u64) as usize, (ticket >> BITS & MOST as u64) as usize)
}

/// Where a piece of work is put up.
pub(super) struct Board {
    /// The present piece of work, in one number, so that nobody takes a part of
    /// one piece for a part of another.
    ticket: AtomicU64,
    /// How many of its parts are done.
    done: AtomicUsize,
    /// What is done to each.
    job: UnsafeCell<Option<*const Job<'static>>>,
    /// Whether a part panicked, and with what.
    panicked: AtomicBool,
    panic: Mutex<Option<Box<dyn Any + Send>>>,
    over: AtomicBool,
}

// SAFETY: `job` is written by the leader while no part is open, and read by those
// who have taken a part, which the leader waits for before it writes again; the
// ticket orders the two.
unsafe impl Sync for Board {}
// SAFETY: nothing in it belongs to a thread.
unsafe impl Send for Board {}

impl Board {
    /// Nothing to do yet.
    pub(super) fn new() -> Board {
        Board {
            ticket: AtomicU64::new(0),
            done: AtomicUsize::new(0),
            job: UnsafeCell::new(None),
            panicked: AtomicBool::new(false),
            panic: Mutex::new(None),
            over: AtomicBool::new(false),
        }
    }

    /// The leader's side: runs all of at most [`MOST`] parts with whoever is watching. Panics
    /// with what a part panicked with; those not begun by then may be left out.
    pub(super) fn share(&self, count: usize, job: &Job<'_>) {
        let piece = (self.ticket.load(Ordering::Relaxed) >> (2 * BITS)) + 1;
        // SAFETY: no part is open, so nobody reads; and the pointer is not used
        // after this function has returned, since it waits for all parts.
        self.job.with_mut(|slot| unsafe {
            let job: *const Job<'static> = std::mem::transmute(job as *const Job<'_>);
            *slot = Some(job);
        });
        self.done.store(0, Ordering::Relaxed);
        self.ticket.store(ticket(piece, count), Ordering::Release);
        // A panic must not leave while others use what it would drop.
        let own = catch_unwind(AssertUnwindSafe(|| while self.part() {}));
        if own.is_err() {
            self.done.fetch_add(1, Ordering::AcqRel);
            while self.part_ignored() {}
        }
        wait_until(|| self.done.load(Ordering::Acquire) == count);
        let others = self.take_panic();
        if let Some(panic) = own.err().or(others) {
            resume_unwind(panic);
        }
    }

    /// The others' side: parts, until it is over.
    pub(super) fn help(&self) {
        let idle = || self.over.load(Ordering::Acquire);
        while !idle() {
            let run = AssertUnwindSafe(|| while self.part() {});
            if let Err(panic) = catch_unwind(run) {
                self.leave_panic(panic);
                self.done.fetch_add(1, Ordering::AcqRel);
            }
            let ticket = self.ticket.load(Ordering::Acquire);
            wait_until(|| self.ticket.load(Ordering::Acquire) != ticket || idle());
        }
    }

    /// Lets the others go.
    pub(super) fn take_down(&self) {
        self.over.store(true, Ordering::Release);
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
        if let Some(job) = self.job.with(|slot| unsafe { *slot }) {
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

    /// Leaves a panic for the leader.
    fn leave_panic(&self, panic: Box<dyn Any + Send>) {
        if let Ok(mut left) = self.panic.lock() {
            *left = Some(panic);
        }
        self.panicked.store(true, Ordering::Release);
    }

    /// A panic that was left, once all parts are done.
    fn take_panic(&self) -> Option<Box<dyn Any + Send>> {
        // Looked at after every piece, a lock would be too much.
        let left = self.panicked.load(Ordering::Acquire);
        left.then(|| {
            self.panicked.store(false, Ordering::Release);
            self.panic.lock().ok()?.take()
        })
        .flatten()
    }
}

/// Looks again and again, at first without letting go of the processor.
fn wait_until(ready: impl Fn() -> bool) {
    let mut looks = 0;
    while !ready() {
        looks += 1;
        if looks < PATIENCE {
            spin_loop();
        } else {
            yield_now();
        }
    }
}

//! The files by which threads share work, on loom's atomics: its checker runs each test under
//! every order of events that a few preemptions can make.

#![cfg(test)]

/// What `parallel/sync.rs` is elsewhere.
mod sync {
    pub(super) use loom::cell::UnsafeCell;
    pub(super) use loom::hint::spin_loop;
    pub(super) use loom::sync::Mutex;
    pub(super) use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
    pub(super) use loom::thread::yield_now;
}

#[path = "../../src/parallel/board.rs"]
mod board;
#[path = "../../src/parallel/slot.rs"]
mod slot;

mod tests;

//! Something for whoever comes first.

#![allow(unsafe_code)]

use super::sync::{AtomicBool, Ordering, UnsafeCell};

/// Holds a value that one of many threads takes.
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
        self.1.with_mut(|value| unsafe { &mut *value }.take())
    }
}

//! What a streaming reader passes over, said once each.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, PoisonError};

/// Sentences shared between a [`Source`](super::Source) and the iterator that
/// fills them while it reads. Each is kept once, and only so many of them, since
/// a hostile file can hold a new key on every line.
#[derive(Clone, Default)]
pub(crate) struct Notes(Arc<Mutex<BTreeSet<String>>>);

const MOST: usize = 32;

impl Notes {
    /// Keeps a sentence.
    pub(crate) fn add(&self, note: String) {
        let mut notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if notes.len() < MOST {
            notes.insert(note);
        }
    }

    /// Every sentence so far, in alphabetical order.
    pub(crate) fn all(&self) -> Vec<String> {
        let notes = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        notes.iter().cloned().collect()
    }
}

//! Going on without the graphs that cannot be used.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use super::Source;
use crate::error::{Error, Place, Problem, Result};
use crate::graph::{GraphRecord, Scalar};

/// Graphs whose errors are kept in full; of the others there is a count.
const NAMED: usize = 10;

/// The graphs that were left out of collections, for whoever asks when the sources are elsewhere.
#[derive(Debug, Clone, Default)]
pub struct Skipped(Arc<Mutex<Tally>>);

#[derive(Debug)]
struct Tally {
    count: u64,
    named: Vec<Arc<Error>>,
    most_named: usize,
}

impl Default for Tally {
    fn default() -> Tally {
        Tally { count: 0, named: Vec::new(), most_named: NAMED }
    }
}

impl Skipped {
    /// Of which all errors are kept, however many there are.
    pub fn all_named() -> Skipped {
        let tally = Tally { most_named: usize::MAX, ..Tally::default() };
        Skipped(Arc::new(Mutex::new(tally)))
    }

    /// How many so far.
    pub fn count(&self) -> u64 {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).count
    }

    /// What is wrong with the first few of them, or with [all](Skipped::all_named).
    pub fn named(&self) -> Vec<Arc<Error>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).named.clone()
    }

    fn add(&self, error: &Arc<Error>) {
        let mut tally = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        tally.count += 1;
        if tally.named.len() < tally.most_named {
            tally.named.push(Arc::clone(error));
        }
    }
}

/// What else a graph must satisfy, given its position.
type Check = Box<dyn FnMut(&GraphRecord, u64) -> Result<()> + Send>;

/// What a source leaves out.
pub(super) struct Skipping {
    check: Check,
    skipped: Skipped,
    /// How many of this source were left out, and why the first was.
    count: u64,
    first: Option<Arc<Error>>,
    /// Whether a graph was kept.
    any: bool,
}

impl Skipping {
    /// The graph at `position`, unless it cannot be used.
    pub(super) fn keep(
        &mut self,
        graph: Result<GraphRecord>,
        position: u64,
    ) -> Option<GraphRecord> {
        let checked = graph.and_then(|record| (self.check)(&record, position).map(|()| record));
        match checked {
            Ok(mut record) => {
                self.any = true;
                // Whoever counts the graphs that come would call it by another number.
                record.id = Some(record.id.unwrap_or(Scalar::Int(position as i64)));
                Some(record)
            }
            Err(error) => {
                self.count += 1;
                let error = Arc::new(error);
                self.skipped.add(&error);
                self.first.get_or_insert(error);
                None
            }
        }
    }

    /// The error of a collection whose graphs were all left out.
    pub(super) fn nothing_left(self, path: &Path) -> Option<Error> {
        let first = self.first.filter(|_| !self.any)?;
        Some(Problem::NoneUsable { count: self.count, first }.at(path, Place::Whole))
    }
}

impl Source {
    /// The same collection without the graphs that cannot be used, because of what is wrong with
    /// them alone or because `check`, which also hears where a graph stands, refuses them.
    ///
    /// Positions are those in the file: a graph without an id gets its position for one.
    /// What is left out is counted in `skipped`.
    #[must_use]
    pub fn skipping(
        self,
        skipped: &Skipped,
        check: impl FnMut(&GraphRecord, u64) -> Result<()> + Send + 'static,
    ) -> Source {
        let skipping = Skipping {
            check: Box::new(check),
            skipped: skipped.clone(),
            count: 0,
            first: None,
            any: false,
        };
        Source { skipping: Some(skipping), ..self }
    }
}

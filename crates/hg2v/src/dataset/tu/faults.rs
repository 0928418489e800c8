//! What is wrong with single graphs of a set, kept until they are asked for.

use std::collections::BTreeMap;

use crate::error::{Error, Result};

/// The first thing that is wrong with each graph, by its position.
#[derive(Default)]
pub(super) struct Faults(BTreeMap<usize, Error>);

impl Faults {
    /// Keeps what is wrong with a graph.
    pub(super) fn add(&mut self, graph: usize, error: Error) {
        self.0.entry(graph).or_insert(error);
    }

    /// As [`add`](Faults::add); an error that is of no known graph is the set's.
    pub(super) fn add_to(&mut self, graph: Option<usize>, error: Error) -> Result<()> {
        match graph {
            Some(graph) => self.add(graph, error),
            None => return Err(error),
        }
        Ok(())
    }

    /// What is wrong with a graph, if anything.
    pub(super) fn take(&mut self, graph: usize) -> Option<Error> {
        self.0.remove(&graph)
    }
}

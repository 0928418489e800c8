//! What is wrong with a graph, before it is known where it stands.

use std::path::Path;

#[cfg(feature = "parquet")]
use crate::error::shown;
use crate::error::{Error, Place};
#[cfg(feature = "parquet")]
use crate::graph::Scalar;

/// What is wrong with a graph and what to do; the reader adds file and place.
#[derive(Debug)]
pub(crate) struct Fault {
    pub(super) problem: String,
    fix: String,
}

impl Fault {
    pub(crate) fn new(problem: impl Into<String>, fix: impl Into<String>) -> Fault {
        Fault { problem: problem.into(), fix: fix.into() }
    }

    /// The same, of the graph of that id, where a file has no lines to look at.
    #[cfg(feature = "parquet")]
    pub(crate) fn of(self, id: &Scalar) -> Fault {
        let problem = format!("graph {}: {}", shown(&id.to_string()), self.problem);
        Fault { problem, ..self }
    }

    /// The same as an error at a place in a file, of this graph alone.
    pub(crate) fn at(self, file: &Path, place: Place) -> Error {
        Error::input(file, place, self.problem, self.fix).of_one_graph()
    }
}

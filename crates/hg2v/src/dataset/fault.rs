//! What is wrong with a graph, before it is known where it stands.

use std::path::Path;

use crate::error::{Error, Fix, GraphName, Place, Problem};
#[cfg(feature = "parquet")]
use crate::graph::Scalar;

/// What is wrong with a graph and what to do; the reader adds file and place.
#[derive(Debug)]
pub(crate) struct Fault(Box<Faulty>);

#[derive(Debug)]
struct Faulty {
    problem: Problem,
    id: Option<String>,
    /// The column of the line.
    column: Option<u64>,
}

impl Fault {
    /// A malformed part of a graph.
    pub(crate) fn new(what: impl Into<String>, fix: impl Into<Fix>) -> Fault {
        Problem::Malformed { what: what.into(), fix: fix.into() }.into()
    }

    /// The same, of the graph of that id, where a file has no lines to look at.
    #[cfg(feature = "parquet")]
    pub(crate) fn of(mut self, id: &Scalar) -> Fault {
        self.0.id = Some(id.to_string());
        self
    }

    /// The same, at a column of the line that the graph is.
    pub(crate) fn column(mut self, column: usize) -> Fault {
        self.0.column = Some(column as u64);
        self
    }

    /// The same as an error at a place in a file, of this graph alone.
    pub(crate) fn at(self, file: &Path, place: Place) -> Error {
        let Faulty { problem, id, column } = *self.0;
        let place = match (place, column) {
            (Place::Line(line), Some(column)) => Place::Column(line, column),
            (place, _) => place,
        };
        let mut error = problem.at(file, place);
        if let (Error::Input(input), Some(_)) = (&mut error, &id) {
            input.graph = Some(GraphName { position: None, id });
        }
        error.of_one_graph()
    }
}

impl From<Problem> for Fault {
    fn from(problem: Problem) -> Fault {
        Fault(Box::new(Faulty { problem, id: None, column: None }))
    }
}

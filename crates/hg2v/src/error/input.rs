//! Input that cannot be used: which file, where in it, and what is wrong there.

use std::fmt;
use std::path::PathBuf;

use super::{Error, Library, Problem, Wording, shown};

/// Unusable input.
#[derive(Debug)]
pub struct InputError {
    /// The file (or `<stdin>`).
    pub file: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// The graph at fault, where it is known by name.
    pub graph: Option<GraphName>,
    /// What is wrong.
    pub problem: Problem,
    /// How much of the input cannot be used for it.
    pub scope: Scope,
}

/// How much of an input an error concerns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Scope {
    /// All of it, or nobody knows how much.
    All,
    /// One graph alone: the next can still be used.
    OneGraph,
}

/// A place in an input file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// The file as a whole.
    Whole,
    /// A line, counted from 1.
    Line(u64),
    /// A line and a column in it, both counted from 1.
    Column(u64, u64),
    /// A record or row, counted from 1 (formats without lines).
    Record(u64),
    /// A byte offset (binary formats).
    Byte(u64),
}

/// What a graph goes by: its id, or its position where it has none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphName {
    /// Its position, from 0, where that is known.
    pub position: Option<u64>,
    /// Its id.
    pub id: Option<String>,
}

/// Whatever its id holds.
impl fmt::Display for GraphName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.id, self.position) {
            (Some(id), _) => write!(f, "graph {}", shown(id)),
            (None, Some(position)) => write!(f, "graph number {position} (from 0)"),
            (None, None) => write!(f, "a graph"),
        }
    }
}

impl InputError {
    /// The error in one line, in the words of a face.
    pub fn worded(&self, words: &dyn Wording) -> String {
        let file = self.file.display();
        let place = match self.place {
            Place::Whole => String::new(),
            Place::Line(n) => format!(", line {n}"),
            Place::Column(line, column) => format!(", line {line}, column {column}"),
            Place::Record(n) => format!(", record {n}"),
            Place::Byte(n) => format!(", byte {n}"),
        };
        let problem = self.problem(words);
        match self.fix(words) {
            Some(fix) => format!("{file}{place}: {problem}; {fix}"),
            None => format!("{file}{place}: {problem}"),
        }
    }

    /// What is wrong, without its place.
    pub fn problem(&self, words: &dyn Wording) -> String {
        self.problem.worded(self.graph.as_ref(), words)
    }

    /// What to do about it, where the face's users can.
    pub fn fix(&self, words: &dyn Wording) -> Option<String> {
        self.problem.fix().worded(words)
    }
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Library))
    }
}

impl std::error::Error for InputError {}

impl Problem {
    /// As an error at a place in a file.
    pub fn at(self, file: impl Into<PathBuf>, place: Place) -> Error {
        let (file, scope) = (file.into(), Scope::All);
        Error::Input(Box::new(InputError { file, place, graph: None, problem: self, scope }))
    }

    /// As an error of a graph of a file.
    pub fn of(self, graph: GraphName, file: impl Into<PathBuf>) -> Error {
        let place = graph.position.map_or(Place::Whole, |position| Place::Record(position + 1));
        let (file, scope) = (file.into(), Scope::All);
        let graph = Some(graph);
        Error::Input(Box::new(InputError { file, place, graph, problem: self, scope }))
    }
}

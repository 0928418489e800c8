//! What can go wrong, with enough said that the caller can mend it.

use std::fmt;

use hg2v::error::{Advice, Fix, Opt, Wording};

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the library refuses or fails at: a graph, a model, a parameter.
    #[error(transparent)]
    Hg2v(#[from] hg2v::Error),

    /// Graphs without labels.
    #[error("{unlabelled} of {graphs} graphs have no label to be judged by: give it as `y`")]
    Unlabelled {
        /// Graphs without a label.
        unlabelled: usize,
        /// All graphs.
        graphs: usize,
    },

    /// Graphs that are all of one class.
    #[error(
        "{label} is the only label of {graphs} graphs; a classifier needs at least two classes"
    )]
    OneLabel {
        /// The label.
        label: hg2v::graph::Scalar,
        /// All graphs.
        graphs: usize,
    },

    /// A target that no graph has.
    #[error("none of {graphs} graphs has a value of {target}")]
    NoValues {
        /// What it is called.
        target: String,
        /// All graphs.
        graphs: usize,
    },

    /// A target whose texts name graphs.
    #[error(
        "{target} has texts for {graphs} graphs, most of them of one graph alone: they name graphs, \
         and there is nothing to learn of them"
    )]
    Names {
        /// What it is called.
        target: String,
        /// Graphs that have it.
        graphs: usize,
    },

    /// A number that all graphs have.
    #[error(
        "{target} is {value} for all {graphs} graphs that have it; there is nothing to predict"
    )]
    OneNumber {
        /// What it is called.
        target: String,
        /// The number.
        value: hg2v::graph::Scalar,
        /// Graphs that have it.
        graphs: usize,
    },

    /// Numbers and other things in one target.
    #[error(
        "{target} is the number {number} for graph {graph} and {other_value} for graph {other} \
         (from 0); make all of them numbers"
    )]
    Mixed {
        /// What it is called.
        target: String,
        /// A number.
        number: String,
        /// Whose it is, from 0.
        graph: usize,
        /// What is none.
        other_value: String,
        /// Whose it is, from 0.
        other: usize,
    },

    /// Something else where numbers were asked for.
    #[error(
        "{target} of graph {graph} (from 0) is {value}, which is no number below 1e100; mend or \
         remove it"
    )]
    NoNumber {
        /// What it is called.
        target: String,
        /// The graph, from 0.
        graph: usize,
        /// What stands there.
        value: String,
    },

    /// Too few graphs have a target.
    #[error(
        "{graphs} graphs have a value of {target}, too few for a split: at least two to learn from \
         and one to test on; give more graphs"
    )]
    TooFew {
        /// What it is called.
        target: String,
        /// Graphs that have it.
        graphs: usize,
    },

    /// Numbers for what learns classes.
    #[error("it learns classes, and {target} is numbers")]
    LearnsClasses {
        /// What the target is called.
        target: String,
    },

    /// Two things that must be equally long are not.
    #[error("{what}: {found} given where {expected} belong; give one for each row")]
    Length {
        /// What is too long or too short.
        what: &'static str,
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
    },

    /// A number that is not finite, or so large that its square is not.
    #[error(
        "row {row}, column {column} is {value}; replace it by a finite number below {limit:e} or \
         drop the row"
    )]
    NotFinite {
        /// The row, from 0.
        row: usize,
        /// The column, from 0.
        column: usize,
        /// What stands there.
        value: f64,
        /// The bound on magnitudes.
        limit: f64,
    },

    /// Nothing to learn from.
    #[error("{what} is empty; give at least one")]
    Empty {
        /// What is empty.
        what: &'static str,
    },

    /// A classifier needs two classes.
    #[error(
        "{place} holds only class {class} ({count} members); a classifier needs at least two \
         classes: use fewer folds, another seed, or more data of the other classes"
    )]
    OneClass {
        /// Where: "the labels", "the training part of fold 3".
        place: String,
        /// The only class.
        class: u32,
        /// How often it occurs.
        count: usize,
    },

    /// A split names a row that does not exist, or names one twice.
    #[error("a split names row {row}, {problem}; make the split from these very labels")]
    Row {
        /// The row, from 0.
        row: usize,
        /// What is wrong with it.
        problem: String,
    },
}

impl Error {
    /// The error in one line, in the words of a face.
    pub fn worded(&self, words: &dyn Wording) -> String {
        if let Error::Hg2v(error) = self {
            return error.worded(words);
        }
        match self.fix().and_then(|fix| fix.worded(words)) {
            Some(fix) => format!("{self}; {fix}"),
            None => self.to_string(),
        }
    }

    /// What an option can do about it.
    fn fix(&self) -> Option<Fix> {
        Some(match self {
            Error::NoValues { .. } | Error::OneNumber { .. } => Advice::Give(Opt::TARGET).into(),
            Error::Mixed { .. } | Error::NoNumber { .. } | Error::Names { .. } => {
                Advice::Set(Opt::TASK, &["classes"]).into()
            }
            _ => return None,
        })
    }

    /// An argument outside its domain.
    pub(crate) fn argument(
        what: &'static str,
        value: impl fmt::Display,
        requirement: impl Into<String>,
    ) -> Error {
        hg2v::Error::argument(what, value, requirement).into()
    }
}

/// `found` must be `expected`.
pub(crate) fn same_length(what: &'static str, expected: usize, found: usize) -> Result<()> {
    if expected == found { Ok(()) } else { Err(Error::Length { what, expected, found }) }
}

/// `value` must be finite and positive.
pub(crate) fn positive(name: &'static str, value: f64) -> Result<()> {
    if value.is_finite() && value > 0.0 {
        Ok(())
    } else {
        Err(Error::argument(name, value, "it must be a finite number above 0"))
    }
}

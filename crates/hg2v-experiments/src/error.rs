//! What can go wrong with an experiment.

use std::path::{Path, PathBuf};

use hg2v::error::Wording;

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What the libraries below refuse or fail at.
    #[error(transparent)]
    Eval(#[from] hg2v_eval::Error),

    /// A dataset that is not where datasets are kept.
    #[error("{dataset} is not in {}", folder.display())]
    MissingDataset {
        /// Its name.
        dataset: String,
        /// Where it was looked for.
        folder: PathBuf,
    },

    /// No dataset of a table is there.
    #[error("{}: no set of the table that was asked for is here", folder.display())]
    NoDatasets {
        /// Where they were looked for.
        folder: PathBuf,
    },

    /// Kept results that this run cannot use.
    #[error("{}{}: {problem}", path.display(), line.map(|n| format!(", line {n}")).unwrap_or_default())]
    UnusableResults {
        /// Their file.
        path: PathBuf,
        /// The line, from 1, where one is to blame.
        line: Option<u64>,
        /// What is wrong with it.
        problem: String,
    },

    /// A configuration of an experiment that does not make sense.
    #[error("experiments/configs/{file}: {problem}")]
    Config {
        /// Its file.
        file: &'static str,
        /// What is wrong with it.
        problem: String,
    },

    /// A figure that cannot be drawn.
    #[error("cannot draw a figure: {0}")]
    Drawing(String),
}

impl Error {
    /// The error in one line, options and advice in the words of a face, as far as they are the
    /// libraries' below.
    pub fn worded(&self, words: &dyn Wording) -> String {
        match self {
            Error::Eval(error) => error.worded(words),
            other => other.to_string(),
        }
    }

    /// Whether somebody asked for an end.
    pub fn is_stop(&self) -> bool {
        matches!(self, Error::Eval(hg2v_eval::Error::Hg2v(hg2v::Error::Stopped)))
    }

    /// The file or folder that cannot be used, and the line that is to blame, where it is not the
    /// libraries' below to say so.
    pub fn input(&self) -> Option<(&Path, Option<u64>)> {
        match self {
            Error::MissingDataset { folder, .. } | Error::NoDatasets { folder } => {
                Some((folder, None))
            }
            Error::UnusableResults { path, line, .. } => Some((path, *line)),
            Error::Eval(_) | Error::Config { .. } | Error::Drawing(_) => None,
        }
    }
}

impl From<hg2v::Error> for Error {
    fn from(error: hg2v::Error) -> Error {
        Error::Eval(error.into())
    }
}

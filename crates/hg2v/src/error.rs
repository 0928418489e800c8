//! What can go wrong, with enough said that the reader can mend it.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::{Path, PathBuf};

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, stream or graph that cannot be used as it is.
    #[error(transparent)]
    Input(#[from] Box<InputError>),

    /// The operating system refused to read or write.
    #[error("{}: cannot {action}: {source}{}", path.display(), remedy(action, source))]
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted, as a verb: "read", "write", "create".
        action: &'static str,
        /// What the system said.
        source: io::Error,
    },

    /// Something stands where an output is to go, and stays.
    #[error("{}: {problem}; name another place, or remove it first", path.display())]
    Exists {
        /// What stands there.
        path: PathBuf,
        /// Why it is in the way.
        problem: String,
        /// Whether it would be replaced if that were asked for.
        replaceable: bool,
    },

    /// A parameter outside its domain.
    #[error("{name} is {value}, but {requirement}")]
    Parameter {
        /// The parameter's name as a user types it.
        name: &'static str,
        /// The offending value.
        value: String,
        /// What it must satisfy.
        requirement: String,
    },

    /// A graphics card that cannot be used, or failed at its work.
    #[error("{device}: {problem}; {fix}")]
    Device {
        /// The card as a user names it.
        device: String,
        /// What happened.
        problem: String,
        /// What the user can do.
        fix: String,
    },

    /// Work that its caller asked to end.
    #[error("stopped before it was done")]
    Stopped,

    /// A download that did not arrive whole.
    #[error("{url}: {problem}; {fix}")]
    Download {
        /// The address that was asked.
        url: String,
        /// What happened.
        problem: String,
        /// What the user can do.
        fix: String,
    },
}

/// Unusable input: which file, where in it, what was found, and what to do.
#[derive(Debug)]
pub struct InputError {
    /// The file (or `<stdin>`).
    pub file: PathBuf,
    /// Where in the file.
    pub place: Place,
    /// What is wrong, with the offending value in it.
    pub problem: String,
    /// What the user can do about it.
    pub fix: String,
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
    /// A record or row, counted from 1 (formats without lines).
    Record(u64),
    /// A byte offset (binary formats).
    Byte(u64),
}

impl fmt::Display for InputError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.file.display())?;
        match self.place {
            Place::Whole => {}
            Place::Line(n) => write!(f, ", line {n}")?,
            Place::Record(n) => write!(f, ", record {n}")?,
            Place::Byte(n) => write!(f, ", byte {n}")?,
        }
        write!(f, ": {}; {}", self.problem, self.fix)
    }
}

impl std::error::Error for InputError {}

impl Error {
    /// Unusable input at a place in a file.
    pub fn input(
        file: impl Into<PathBuf>,
        place: Place,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Error {
        Error::Input(Box::new(InputError {
            file: file.into(),
            place,
            problem: problem.into(),
            fix: fix.into(),
            scope: Scope::All,
        }))
    }

    /// The same error, where it concerns one graph alone.
    #[must_use]
    pub fn of_one_graph(mut self) -> Error {
        if let Error::Input(error) = &mut self {
            error.scope = Scope::OneGraph;
        }
        self
    }

    /// Whether it concerns one graph alone, so that others can still be used.
    pub fn is_of_one_graph(&self) -> bool {
        matches!(self, Error::Input(error) if error.scope == Scope::OneGraph)
    }

    /// An operating-system error on `path`; `action` is a verb such as "read".
    pub fn io(path: impl AsRef<Path>, action: &'static str, source: io::Error) -> Error {
        Error::Io {
            path: path.as_ref().to_path_buf(),
            action,
            source: without_temporary_name(source),
        }
    }

    /// Something that stands where an output is to go.
    pub fn exists(path: &Path, problem: impl Into<String>, replaceable: bool) -> Error {
        Error::Exists { path: path.to_path_buf(), problem: problem.into(), replaceable }
    }

    /// A card that cannot be used, or failed.
    pub fn device(
        device: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<String>,
    ) -> Error {
        Error::Device { device: device.into(), problem: problem.into(), fix: fix.into() }
    }

    /// A parameter outside its domain.
    pub fn parameter(
        name: &'static str,
        value: impl fmt::Display,
        requirement: impl Into<String>,
    ) -> Error {
        Error::Parameter { name, value: value.to_string(), requirement: requirement.into() }
    }
}

/// `tempfile` adds `at path "…"`, its own name, to what the system says, and keeps
/// what the system said to itself; the name would only puzzle.
fn without_temporary_name(error: io::Error) -> io::Error {
    match error.to_string().split_once(" at path \"") {
        Some((said, _)) => io::Error::new(error.kind(), said),
        None => error,
    }
}

/// What the user can do about a refusal that the system only names.
fn remedy(action: &str, refusal: &io::Error) -> &'static str {
    match refusal.kind() {
        ErrorKind::NotFound if action == "read" => "; check the name",
        ErrorKind::NotFound => "; make the folder that it is to stand in first",
        ErrorKind::NotADirectory => "; name a folder",
        ErrorKind::IsADirectory => "; name a file",
        ErrorKind::PermissionDenied => "; see to its permissions, or name another place",
        ErrorKind::ReadOnlyFilesystem => "; nothing can be written there: name another place",
        ErrorKind::StorageFull => "; the disk is full: make room, or write elsewhere",
        ErrorKind::QuotaExceeded => {
            "; your share of the disk is used up: make room, or write elsewhere"
        }
        ErrorKind::WouldBlock if matches!(action, "listen" | "serve") => {
            "; the system has no thread left: raise the limit on processes (ulimit -u)"
        }
        ErrorKind::FileTooLarge => {
            "; files may not become that long here: raise the limit (ulimit -f), or write elsewhere"
        }
        _ => "",
    }
}

/// A value as it may stand in an error message: quoted, control characters
/// escaped, and cut to a readable length whatever a hostile file holds.
pub fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut text: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    format!("`{text}`")
}

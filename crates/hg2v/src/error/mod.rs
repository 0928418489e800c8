//! What can go wrong, as data: a program can act on it, and each face of hg2v (the command, the
//! server, Python) [words](Error::worded) it for its users.
//!
//! No text in here names an option as a face spells it. Errors name options by [`Opt`], advice by
//! [`Advice`]; `Display` spells both as the library does.

mod advice;
mod input;
mod io;
mod option;
mod problem;

pub use advice::{Advice, Fix, Job, Library, Wording};
pub use input::{GraphName, InputError, Place, Scope};
pub use io::Action;
pub use option::{Limit, Opt};
pub use problem::{Brings, Problem};

use std::borrow::Cow;
use std::fmt;
use std::path::{Path, PathBuf};

use crate::vocabulary::one_of;

/// The result of every fallible function of this crate.
pub type Result<T> = std::result::Result<T, Error>;

/// Everything that can go wrong.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file, stream or graph that cannot be used as it is.
    Input(Box<InputError>),

    /// The operating system refused.
    Io {
        /// The file or folder.
        path: PathBuf,
        /// What was attempted.
        action: Action,
        /// What the system said.
        source: std::io::Error,
    },

    /// Something stands where an output is to go, and stays.
    Exists {
        /// What stands there.
        path: PathBuf,
        /// Why it is in the way.
        problem: String,
        /// Whether it would be replaced if that were asked for.
        replaceable: bool,
    },

    /// An option outside its domain.
    Parameter {
        /// The option.
        option: Opt,
        /// The offending value.
        value: String,
        /// What it must satisfy.
        requirement: String,
    },

    /// An argument that a caller of the library gave, and that is no option of a face.
    Argument {
        /// What it is.
        what: &'static str,
        /// The offending value.
        value: String,
        /// What it must satisfy.
        requirement: String,
    },

    /// A name that nothing has.
    Unknown {
        /// The option that takes the name.
        option: Opt,
        /// The name.
        name: String,
        /// The names that are known.
        known: Vec<String>,
    },

    /// A GPU that cannot be used, or failed at its work.
    Device {
        /// The GPU as a user names it.
        device: String,
        /// What happened.
        problem: String,
        /// What the user can do.
        fix: Fix,
    },

    /// Work that its caller asked to end.
    Stopped,

    /// A download that did not arrive whole.
    Download {
        /// The address that was asked.
        url: String,
        /// What happened.
        problem: String,
        /// What the user can do.
        fix: Fix,
    },
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.worded(&Library))
    }
}

impl Error {
    /// The error in one line, options and advice in the words of a face.
    pub fn worded(&self, words: &dyn Wording) -> String {
        match self {
            Error::Input(error) => error.worded(words),
            Error::Io { path, action, source } => {
                let remedy = io::remedy(*action, source);
                format!("{}: cannot {action}: {source}{remedy}", path.display())
            }
            Error::Exists { path, problem, replaceable } => {
                let else_do = match replaceable {
                    true => Advice::Replace,
                    false => Advice::Do("remove it first".into()),
                };
                let fix = Fix::from("name another place").or(else_do);
                with_fix(format!("{}: {problem}", path.display()), &fix, words)
            }
            Error::Parameter { option, value, requirement } => {
                format!("{} is {value}, but {requirement}", words.option(*option))
            }
            Error::Argument { what, value, requirement } => {
                format!("{what} is {value}, but {requirement}")
            }
            Error::Unknown { option, name, known } => {
                let (option, requirement) = (words.option(*option), one_of(name, known));
                format!("{option} is {}, but {requirement}", shown(name))
            }
            Error::Device { device, problem, fix } => {
                with_fix(format!("{device}: {problem}"), fix, words)
            }
            Error::Stopped => "stopped before it was done".to_owned(),
            Error::Download { url, problem, fix } => {
                with_fix(format!("{url}: {problem}"), fix, words)
            }
        }
    }

    /// A malformed part of a file: `what` and `fix` speak of the file alone.
    pub fn input(
        file: impl Into<PathBuf>,
        place: Place,
        what: impl Into<String>,
        fix: impl Into<Fix>,
    ) -> Error {
        Problem::Malformed { what: what.into(), fix: fix.into() }.at(file, place)
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

    /// Something that stands where an output is to go.
    pub fn exists(path: &Path, problem: impl Into<String>, replaceable: bool) -> Error {
        Error::Exists { path: path.to_path_buf(), problem: problem.into(), replaceable }
    }

    /// A GPU that cannot be used, or failed; the processor always can.
    pub fn device(
        device: impl Into<String>,
        problem: impl Into<String>,
        fix: impl Into<Fix>,
    ) -> Error {
        let fix = fix.into().or(Advice::Set(Opt::DEVICE, &["cpu"]));
        Error::Device { device: device.into(), problem: problem.into(), fix }
    }

    /// An option outside its domain.
    pub fn parameter(
        option: impl Into<Opt>,
        value: impl fmt::Display,
        requirement: impl Into<String>,
    ) -> Error {
        Error::Parameter {
            option: option.into(),
            value: value.to_string(),
            requirement: requirement.into(),
        }
    }

    /// An argument outside its domain, which is no option of a face.
    pub fn argument(
        what: &'static str,
        value: impl fmt::Display,
        requirement: impl Into<String>,
    ) -> Error {
        Error::Argument { what, value: value.to_string(), requirement: requirement.into() }
    }
}

/// A problem, and what a face advises about it, where it has any advice.
fn with_fix(problem: String, fix: &Fix, words: &dyn Wording) -> String {
    match fix.worded(words) {
        Some(fix) => format!("{problem}; {fix}"),
        None => problem,
    }
}

/// A value as it may stand in an error message: quoted, control characters
/// escaped, and cut to a readable length whatever a hostile file holds.
#[doc(hidden)]
pub fn shown(value: &str) -> String {
    const LONGEST: usize = 60;
    let mut text: String = value.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if value.chars().nth(LONGEST).is_some() {
        text.push('…');
    }
    format!("`{text}`")
}

/// `n` of a thing: `1 attribute`, `2 attributes`.
pub(crate) fn counted(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

/// Text that is known, or made for the occasion.
type Words = Cow<'static, str>;

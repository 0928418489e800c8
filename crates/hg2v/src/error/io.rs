//! What the operating system refuses.

use std::fmt;
use std::io::{self, ErrorKind};
use std::path::Path;

use super::Error;

/// What the operating system was asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Action {
    /// To read a file or list a folder.
    Read,
    /// To write a file.
    Write,
    /// To create a file or folder.
    Create,
    /// To remove a file or folder.
    Remove,
    /// To listen at an address.
    Listen,
    /// To serve those who came there.
    Serve,
}

/// As a verb.
impl fmt::Display for Action {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Action::Read => "read",
            Action::Write => "write",
            Action::Create => "create",
            Action::Remove => "remove",
            Action::Listen => "listen",
            Action::Serve => "serve",
        })
    }
}

impl Error {
    /// An operating-system error on `path`.
    pub fn io(path: impl AsRef<Path>, action: Action, source: io::Error) -> Error {
        Error::Io {
            path: path.as_ref().to_path_buf(),
            action,
            source: without_temporary_name(source),
        }
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
pub(super) fn remedy(action: Action, refusal: &io::Error) -> &'static str {
    match refusal.kind() {
        ErrorKind::NotFound if action == Action::Read => "; check the name",
        ErrorKind::NotFound => "; make the folder that it is to stand in first",
        ErrorKind::NotADirectory => "; name a folder",
        ErrorKind::IsADirectory => "; name a file",
        ErrorKind::PermissionDenied => "; see to its permissions, or name another place",
        ErrorKind::ReadOnlyFilesystem => "; nothing can be written there: name another place",
        ErrorKind::StorageFull => "; the disk is full: make room, or write elsewhere",
        ErrorKind::QuotaExceeded => {
            "; your share of the disk is used up: make room, or write elsewhere"
        }
        ErrorKind::WouldBlock if matches!(action, Action::Listen | Action::Serve) => {
            "; the system has no thread left: raise the limit on processes (ulimit -u)"
        }
        ErrorKind::FileTooLarge => {
            "; files may not become that long here: raise the limit (ulimit -f), or write elsewhere"
        }
        _ => "",
    }
}

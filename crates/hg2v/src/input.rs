//! Files that are read whole, but never more of them than may be held, and never a pipe: nobody
//! may be writing to it, and whoever opens it waits for ever.
//!
//! Hidden: the other crates read theirs by it, and errors are those of the system, so that it is no
//! face of the library.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::Path;

/// Opens a file that must be one on a disk: no pipe, socket or device.
///
/// # Errors
/// When it is none, or cannot be opened.
pub fn open_regular(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    // A folder is refused in the system's own words.
    if !kind.is_file() && !kind.is_dir() {
        return Err(io::Error::new(
            ErrorKind::InvalidInput,
            "it is a pipe or a device; give a regular file",
        ));
    }
    File::open(path)
}

/// The bytes of a file on a disk, or `None` where they are more than `most`.
///
/// # Errors
/// When it cannot be read, or is [no such file](open_regular).
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    open_regular(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        fs::write(file.path(), b"abc").unwrap();
        assert_eq!(read_at_most(file.path(), 3).unwrap(), Some(b"abc".to_vec()));
        assert_eq!(read_at_most(file.path(), 2).unwrap(), None);
    }

    #[test]
    #[cfg(unix)]
    fn nobody_waits_for_a_pipe() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        for path in [&pipe, Path::new("/dev/zero")] {
            let refused = read_at_most(path, 1000).unwrap_err().to_string();
            assert!(refused.contains("pipe or a device"), "{refused}");
        }
    }
}

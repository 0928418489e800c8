//! Files that are read whole, but never more of them than may be held.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

/// The bytes of a file, or `None` where they are more than `most`: a pipe or a device, which says
/// nothing about its size, is read no further.
///
/// # Errors
/// When it cannot be read.
pub fn read_at_most(path: &Path, most: u64) -> io::Result<Option<Vec<u8>>> {
    let mut bytes = Vec::new();
    File::open(path)?.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok((bytes.len() as u64 <= most).then_some(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_is_read_than_asked_for() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"abc").unwrap();
        assert_eq!(read_at_most(file.path(), 3).unwrap(), Some(b"abc".to_vec()));
        assert_eq!(read_at_most(file.path(), 2).unwrap(), None);
        #[cfg(unix)]
        assert_eq!(read_at_most(Path::new("/dev/zero"), 1000).unwrap(), None);
    }
}

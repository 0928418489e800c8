//! What every target does: bytes into a file, the file through its reader to the
//! end, under limits small enough that a broken bound shows as memory or time.

use std::fs;
use std::path::{Path, PathBuf};

use hg2v::graph::GraphRecord;
use hg2v::dataset::Limits;

/// Small limits.
pub fn limits() -> Limits {
    Limits::default().max_nodes(1 << 12).max_record_bytes(1 << 16).max_unpacked_bytes(1 << 20)
}

/// Reads to the end. Every graph that comes out must hold together, and every
/// error must have something to say.
pub fn drain(source: hg2v::Result<impl Iterator<Item = hg2v::Result<GraphRecord>>>) {
    let source = match source {
        Ok(source) => source,
        Err(error) => return assert!(!error.to_string().is_empty()),
    };
    for record in source {
        match record {
            Err(error) => assert!(error.to_string().len() < 4096, "{error}"),
            Ok(record) => {
                assert!(u64::from(record.num_nodes) <= limits().max_nodes);
                assert_eq!(record.check(), Ok(()));
            }
        }
    }
}

/// A place for this process's files, made once and written over.
pub fn scratch(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("hg2v-fuzz-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a temporary folder");
    folder.join(name)
}

/// The bytes as a file.
pub fn file(name: &str, bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::write(&path, bytes).expect("a temporary file");
    path
}

/// The bytes as files of a folder, one after the other, cut at `\0`.
pub fn folder(name: &str, files: &[&str], bytes: &[u8]) -> PathBuf {
    let path = scratch(name);
    fs::create_dir_all(&path).expect("a temporary folder");
    let mut parts = bytes.split(|&byte| byte == 0);
    for file in files {
        let at: &Path = &path.join(file);
        match parts.next() {
            Some(part) => fs::write(at, part).expect("a temporary file"),
            None => drop(fs::remove_file(at)),
        }
    }
    path
}

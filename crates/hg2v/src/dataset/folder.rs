//! Collections that are folders of files.

use std::path::{Path, PathBuf};

use crate::error::{Action, Error, Place, Result};

/// How deep folders of files may lie in each other, and how much may lie in them.
const DEEPEST: usize = 16;
const MOST: usize = 1 << 20;

/// The files of `folder` whose names end in one of `endings`, such as `.parquet`, in the order in
/// which people number them: `g2` before `g10`.
///
/// With `deep`, those of the folders in it too, as engines write them (`month=2026-01/`);
/// what begins with a dot or an underscore is theirs alone (`_SUCCESS`).
///
/// # Errors
/// A folder that cannot be read, or in which too much lies, or too deep.
pub(super) fn files(folder: &Path, endings: &[&str], deep: bool) -> Result<Vec<PathBuf>> {
    let mut walk = Walk { endings, deep, seen: 0, found: Vec::new() };
    walk.gather(folder, 0)?;
    walk.found.sort_by_cached_key(|file| natural(file));
    Ok(walk.found)
}

struct Walk<'a> {
    endings: &'a [&'a str],
    deep: bool,
    seen: usize,
    found: Vec<PathBuf>,
}

impl Walk<'_> {
    fn gather(&mut self, folder: &Path, depth: usize) -> Result<()> {
        let failed = |e| Error::io(folder, Action::Read, e);
        for entry in std::fs::read_dir(folder).map_err(failed)? {
            let entry = entry.map_err(failed)?;
            self.seen += 1;
            if depth > DEEPEST || self.seen > MOST {
                let problem = format!(
                    "there are more than {MOST} files, or {DEEPEST} folders in each other, in it"
                );
                return Err(Error::input(folder, Place::Whole, problem, "name one further down"));
            }
            let (name, path) = (entry.file_name(), entry.path());
            if self.deep && name.to_string_lossy().starts_with(['.', '_']) {
                continue;
            }
            // Links to folders are not followed: they may lead back here.
            if self.deep && entry.file_type().map_err(failed)?.is_dir() {
                self.gather(&path, depth + 1)?;
            } else if ends_in(&path, self.endings) {
                self.found.push(path);
            }
        }
        Ok(())
    }
}

/// Whether the name of a file has something before one of `endings`, in capitals or not.
pub(super) fn ends_in(file: &Path, endings: &[&str]) -> bool {
    let name = file.file_name().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    endings.iter().any(|ending| name.strip_suffix(ending).is_some_and(|stem| !stem.is_empty()))
}

/// A path in parts that sort as people would: texts, and numbers by value.
fn natural(file: &Path) -> (Vec<(String, u128)>, PathBuf) {
    let name = file.to_string_lossy();
    let mut parts = Vec::new();
    let mut rest = &*name;
    while !rest.is_empty() {
        let text = rest.find(|c: char| c.is_ascii_digit()).unwrap_or(rest.len());
        let digits = rest[text..].find(|c: char| !c.is_ascii_digit());
        let digits = digits.unwrap_or(rest.len() - text);
        // Of numbers too long for any counting all are alike, and the whole path decides.
        let number = rest[text..text + digits].parse().unwrap_or(u128::MAX);
        parts.push((rest[..text].to_owned(), number));
        rest = &rest[text + digits..];
    }
    (parts, file.to_owned())
}

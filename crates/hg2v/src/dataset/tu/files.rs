//! The files of a TU set, wherever they lie: a folder, or a zip with them at its
//! root or in a folder.

use std::fs::{self, File};
use std::io::BufReader;
use std::path::{Path, PathBuf};

use zip::ZipArchive;

use super::suffix;
use crate::dataset::text::{Budget, few};
use crate::dataset::{Format, Limits};
use crate::error::{Action, Error, Limit, Place, Result, shown};
use crate::input::open_regular;

/// A file of the set, held whole.
pub(super) struct Held {
    /// What to call it in messages.
    pub(super) path: PathBuf,
    pub(super) bytes: Vec<u8>,
}

/// The set's files, not yet read.
pub(super) struct Files {
    path: PathBuf,
    container: Container,
    /// Names as listed, sorted; in a zip with their folders.
    names: Vec<String>,
    /// What stands before `graph_indicator.txt`: `folder/NAME_`.
    stem: String,
    budget: Budget,
}

enum Container {
    Folder,
    Zip(ZipArchive<BufReader<File>>),
}

impl Files {
    /// Lists the files and finds the one set among them.
    pub(super) fn open(path: &Path, limits: &Limits) -> Result<Files> {
        let (container, mut names) = if path.is_dir() {
            (Container::Folder, list_folder(path)?)
        } else {
            let (archive, names) = list_zip(path)?;
            (Container::Zip(archive), names)
        };
        names.sort_unstable();
        let stem = the_one_stem(path, &names)?;
        Ok(Files {
            path: path.to_path_buf(),
            container,
            names,
            stem,
            budget: Budget::new(Limit::UnpackedBytes, limits.max_unpacked_bytes),
        })
    }

    pub(super) fn format(&self) -> Format {
        match self.container {
            Container::Folder => Format::TuFolder,
            Container::Zip(_) => Format::TuZip,
        }
    }

    /// Reads a file that every set has.
    pub(super) fn required(&mut self, suffix: &str) -> Result<Held> {
        let name = format!("{}{suffix}", self.stem);
        self.optional(suffix)?.ok_or_else(|| {
            Error::input(
                &self.path,
                Place::Whole,
                format!("{} is missing", shown(&name)),
                "a TU set needs at least NAME_A.txt and NAME_graph_indicator.txt",
            )
        })
    }

    /// Reads a file that some sets have.
    pub(super) fn optional(&mut self, suffix: &str) -> Result<Option<Held>> {
        let name = format!("{}{suffix}", self.stem);
        if self.names.binary_search(&name).is_err() {
            return Ok(None);
        }
        let path = self.path.join(&name);
        let bytes = match &mut self.container {
            Container::Folder => self.budget.read_file(&path)?,
            Container::Zip(archive) => {
                let damaged = |e: String| {
                    Error::input(
                        &path,
                        Place::Whole,
                        format!("the zip's entry cannot be unfolded ({e})"),
                        "fetch or make the zip again",
                    )
                };
                let entry = archive.by_name(&name).map_err(|e| damaged(e.to_string()))?;
                // The claimed size may refuse the entry early; it is never
                // believed further than that.
                self.budget.claim(&path, entry.size())?;
                self.budget.read(&path, entry, |e| damaged(e.to_string()))?
            }
        };
        Ok(Some(Held { path, bytes }))
    }

    /// Reads and parses a file that some sets have.
    pub(super) fn parse<T>(
        &mut self,
        suffix: &str,
        parse: impl FnOnce(&Held) -> Result<T>,
    ) -> Result<Option<T>> {
        self.optional(suffix)?.map(|held| parse(&held)).transpose()
    }

    /// A sentence for each file that is not of the set.
    pub(super) fn beside(&self) -> Vec<String> {
        let known = |name: &&String| {
            name.strip_prefix(&self.stem).is_some_and(|suffix| suffix::ALL.contains(&suffix))
        };
        let others = self.names.iter().filter(|name| !known(name));
        few(others.map(|name| format!("{}: not a file of the TU layout", shown(name))).collect())
    }
}

fn list_folder(path: &Path) -> Result<Vec<String>> {
    let failed = |e| Error::io(path, Action::Read, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        let entry = entry.map_err(failed)?;
        // Through symbolic links: sets are often linked into place.
        if entry.path().is_file() {
            names.push(entry.file_name().to_string_lossy().into_owned());
        }
    }
    Ok(names)
}

fn list_zip(path: &Path) -> Result<(ZipArchive<BufReader<File>>, Vec<String>)> {
    let damaged = |e: zip::result::ZipError| {
        Error::input(
            path,
            Place::Whole,
            format!("this is no whole zip ({e})"),
            "fetch or make it again",
        )
    };
    let file = open_regular(path).map_err(|e| Error::io(path, Action::Read, e))?;
    let archive = ZipArchive::new(BufReader::new(file)).map_err(damaged)?;
    let mut names = Vec::new();
    for name in archive.file_names() {
        let name = name.map_err(damaged)?;
        // Folders, and what macOS adds to every zip.
        if !name.ends_with('/') && !name.starts_with("__MACOSX/") {
            names.push(name.into_owned());
        }
    }
    Ok((archive, names))
}

/// What stands before `graph_indicator.txt` in the one file that ends so.
fn the_one_stem(path: &Path, names: &[String]) -> Result<String> {
    let mut stems = names.iter().filter_map(|name| {
        let stem = name.strip_suffix(suffix::GRAPH_INDICATOR)?;
        stem.ends_with('_').then_some(stem)
    });
    match (stems.next(), stems.next()) {
        (Some(stem), None) => Ok(stem.to_owned()),
        (None, _) => Err(Error::input(
            path,
            Place::Whole,
            "there is no `NAME_graph_indicator.txt` in it",
            "give a folder or zip of one TU set: NAME_A.txt, NAME_graph_indicator.txt, …",
        )),
        (Some(first), Some(second)) => Err(Error::input(
            path,
            Place::Whole,
            format!(
                "it holds several sets: {} and {}",
                shown(&format!("{first}graph_indicator.txt")),
                shown(&format!("{second}graph_indicator.txt"))
            ),
            "keep one set in each folder or zip",
        )),
    }
}

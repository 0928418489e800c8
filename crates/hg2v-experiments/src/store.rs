//! What a run found, on disk: `STEM.json` when it is done, and until then
//! `STEM.partial.jsonl`, a line a split as soon as it is judged, so that a killed run
//! loses no more than the splits in hand.
//!
//! Results depend on what the identity of a [`ResultFile`] holds and on nothing else: not on the
//! number of threads, nor on how many other splits there are, nor on stops between them.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hg2v::error::Action;
use hg2v::input::{open_regular, read_at_most};
use hg2v::output::OutputFile;
use hg2v_eval::study::{SplitResult, StudyResult};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::error::{Error, Result};

/// The layout of the files that this version reads and writes.
pub(crate) const FORMAT: u32 = 1;

/// The content of a finished file, which has a field `format`.
pub(crate) trait ResultFile: Serialize + DeserializeOwned + Clone + Sync {
    /// Everything that results depend on: fields of the file.
    type Identity: Serialize + Clone + Sync;
    /// Which row of the file a result belongs to: fields of a line of the partial file.
    type Row: Serialize + DeserializeOwned + PartialEq + Clone + Sync;

    /// The stem of its files' names.
    fn stem(identity: &Self::Identity) -> String;

    /// All results.
    fn results(&self) -> Vec<(Self::Row, &StudyResult)>;
}

/// One line of a partial file after its first, which is the identity.
#[derive(Serialize, Deserialize)]
struct Line<R> {
    #[serde(flatten)]
    row: R,
    result: SplitResult,
}

/// What is known, and where more is kept.
pub(crate) struct Store<K: ResultFile> {
    path: PathBuf,
    partial: PathBuf,
    identity: K::Identity,
    finished: Option<K>,
    known: Vec<Line<K::Row>>,
    /// The partial file, once something was written to it.
    log: Mutex<Option<File>>,
}

impl<K: ResultFile> Store<K> {
    /// Opens what `folder` has of the same identity; `fresh` removes it.
    ///
    /// # Errors
    /// Files that were made otherwise, that are damaged, or that cannot be read.
    pub(crate) fn open(folder: &Path, identity: K::Identity, fresh: bool) -> Result<Store<K>> {
        let stem = K::stem(&identity);
        let path = folder.join(format!("{stem}.json"));
        let partial = folder.join(format!("{stem}.partial.jsonl"));
        if fresh {
            for path in [&path, &partial].into_iter().filter(|path| path.exists()) {
                fs::remove_file(path).map_err(|e| hg2v::Error::io(path, Action::Remove, e))?;
            }
        }
        let mut finished = None;
        let mut known = Vec::new();
        if path.exists() {
            let found = value(&path)?;
            same(&path, &found, &identity)?;
            let record: K = parsed(&path, &found)?;
            for (row, result) in record.results() {
                let line = |split: &SplitResult| Line { row: row.clone(), result: split.clone() };
                known.extend(result.splits.iter().map(line));
            }
            finished = Some(record);
        }
        if partial.exists() {
            known.extend(read_partial(&partial, &identity)?);
        }
        let log = Mutex::new(None);
        Ok(Store { path, partial, identity, finished, known, log })
    }

    /// Where finished results stand.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The finished file, where there is one.
    pub(crate) fn finished(&self) -> Option<&K> {
        self.finished.as_ref()
    }

    /// How many splits are known, of all rows together.
    pub(crate) fn len(&self) -> usize {
        self.known.len()
    }

    /// The splits of one row that are known.
    pub(crate) fn known(&self, row: &K::Row) -> Vec<SplitResult> {
        let own = self.known.iter().filter(|line| line.row == *row);
        own.map(|line| line.result.clone()).collect()
    }

    /// Keeps a split that was just judged.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn add(&self, row: &K::Row, result: &SplitResult) -> hg2v::Result<()> {
        let failed = |e: std::io::Error| hg2v::Error::io(&self.partial, Action::Write, e);
        let mut log = self.log.lock().unwrap_or_else(PoisonError::into_inner);
        let mut file = match log.take() {
            Some(file) => file,
            None => {
                let begun = self.partial.exists();
                let options = OpenOptions::new().create(true).append(true).clone();
                let mut file = options.open(&self.partial).map_err(failed)?;
                if !begun {
                    file.write_all(&line(&self.partial, &self.identity)?).map_err(failed)?;
                }
                file
            }
        };
        // One write a line: a kill cuts the last one at most.
        let text = line(&self.partial, &Line { row: row.clone(), result: result.clone() })?;
        file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)?;
        *log = Some(file);
        Ok(())
    }

    /// Writes the finished file, and removes the partial one.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(crate) fn finish(self, record: &K) -> hg2v::Result<()> {
        write_json(&self.path, record)?;
        match fs::remove_file(&self.partial) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(hg2v::Error::io(&self.partial, Action::Remove, e))
            }
            _ => Ok(()),
        }
    }
}

/// Writes a value for people and programs to read, whole or not at all.
///
/// # Errors
/// When the disk refuses.
pub fn write_json(path: &Path, value: &impl Serialize) -> hg2v::Result<()> {
    let failed = |e: std::io::Error| hg2v::Error::io(path, Action::Write, e);
    let mut out = OutputFile::create(path)?;
    serde_json::to_writer_pretty(&mut out, value).map_err(|e| failed(e.into()))?;
    out.write_all(b"\n").map_err(failed)?;
    out.commit()
}

/// Writes text, whole or not at all.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn write_text(path: &Path, text: &str) -> hg2v::Result<()> {
    let mut out = OutputFile::create(path)?;
    out.write_all(text.as_bytes()).map_err(|e| hg2v::Error::io(path, Action::Write, e))?;
    out.commit()
}

/// Reads a finished file.
///
/// # Errors
/// A file that is damaged, or of another version.
pub(crate) fn read<K: ResultFile>(path: &Path) -> Result<K> {
    parsed(path, &value(path)?)
}

/// All finished files of a folder, by name.
///
/// # Errors
/// A folder that cannot be read, a file that is damaged.
pub(crate) fn read_all<K: ResultFile>(folder: &Path) -> Result<Vec<K>> {
    let mut paths = Vec::new();
    match fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        entries => {
            let failed = |e| hg2v::Error::io(folder, Action::Read, e);
            for entry in entries.map_err(failed)? {
                paths.push(entry.map_err(failed)?.path());
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort_unstable();
    paths.iter().map(|path| read(path)).collect()
}

/// The lines of a partial file. A last line that was cut is forgotten, in the file
/// too, so that the next one does not grow together with it.
fn read_partial<R: DeserializeOwned>(
    path: &Path,
    identity: &impl Serialize,
) -> Result<Vec<Line<R>>> {
    let text = open_regular(path).and_then(std::io::read_to_string);
    let text = text.map_err(|e| hg2v::Error::io(path, Action::Read, e))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut lines = whole.lines();
    let Some(first) = lines.next() else {
        fs::remove_file(path).map_err(|e| hg2v::Error::io(path, Action::Remove, e))?;
        return Ok(Vec::new());
    };
    let damaged = |line: usize, e: serde_json::Error| {
        unusable(path, Some(line as u64), format!("this is no result of a split: {e}"))
    };
    same(path, &serde_json::from_str(first).map_err(|e| damaged(1, e))?, identity)?;
    let known = lines
        .enumerate()
        .map(|(at, line)| serde_json::from_str(line).map_err(|e| damaged(at + 2, e)))
        .collect::<Result<_>>()?;
    if whole.len() < text.len() {
        write_text(path, whole)?;
    }
    Ok(known)
}

/// No record of results is longer.
const MOST_BYTES: u64 = 256 << 20;

fn unusable(path: &Path, line: Option<u64>, problem: String) -> Error {
    Error::UnusableResults { path: path.to_path_buf(), line, problem }
}

fn line(path: &Path, value: &impl Serialize) -> hg2v::Result<Vec<u8>> {
    let mut bytes =
        serde_json::to_vec(value).map_err(|e| hg2v::Error::io(path, Action::Write, e.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn value(path: &Path) -> Result<Value> {
    let bytes =
        read_at_most(path, MOST_BYTES).map_err(|e| hg2v::Error::io(path, Action::Read, e))?;
    let bytes = bytes.ok_or_else(|| {
        let problem = format!("it has more than {MOST_BYTES} bytes, as no record of results has");
        unusable(path, None, problem)
    })?;
    serde_json::from_slice(&bytes).map_err(|e| {
        let problem = format!("this is no record of results: {e}");
        unusable(path, Some(e.line() as u64), problem)
    })
}

fn parsed<K: ResultFile>(path: &Path, found: &Value) -> Result<K> {
    let refused = |problem: String| unusable(path, None, problem);
    match found.get("format").and_then(Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            return Err(refused(format!("its format is {format}, this version knows {FORMAT}")));
        }
        None => return Err(refused("this is no record of results".to_owned())),
    }
    K::deserialize(found).map_err(|e| refused(format!("this is no record of results: {e}")))
}

/// Refuses what was made otherwise, and says in what it differs.
fn same(path: &Path, found: &Value, identity: &impl Serialize) -> Result<()> {
    // Through text, as the file went.
    let text = line(path, identity)?;
    let expected: Value =
        serde_json::from_slice(&text).map_err(|e| hg2v::Error::io(path, Action::Read, e.into()))?;
    let others = differences(found, &expected);
    match others.is_empty() {
        true => Ok(()),
        false => {
            let problem = format!("its results were made with another {}", others.join(", "));
            Err(unusable(path, None, problem))
        }
    }
}

/// The keys of `expected` under which `found` has something else, or nothing; down to the
/// parts of what they hold, and with both values where they are short.
fn differences(found: &Value, expected: &Value) -> Vec<String> {
    let short = |value: Option<&Value>| match value {
        None | Some(Value::Null) => Some("none".to_owned()),
        Some(value @ (Value::String(_) | Value::Number(_) | Value::Bool(_))) => {
            Some(value.to_string()).filter(|text| text.len() < 40)
        }
        Some(_) => None,
    };
    let keys = |value: &Value| -> BTreeSet<String> {
        value.as_object().into_iter().flat_map(|object| object.keys().cloned()).collect()
    };
    let mut others = Vec::new();
    for key in keys(expected) {
        let (own, other) = (expected.get(&key), found.get(&key));
        if own == other {
            continue;
        }
        let inside: Vec<String> = match (own, other) {
            (Some(own @ Value::Object(_)), Some(other @ Value::Object(_))) => {
                // What only one of them has differs as well.
                let mut all = own.clone();
                for missing in keys(other).difference(&keys(own)) {
                    all[missing] = Value::Null;
                }
                differences(other, &all).iter().map(|part| format!("{key}.{part}")).collect()
            }
            _ => match (short(other), short(own)) {
                (Some(other), Some(own)) => vec![format!("{key} ({other}, not {own})")],
                _ => vec![key],
            },
        };
        others.extend(inside);
    }
    others
}

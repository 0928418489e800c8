//! What a run found about a set, on disk: `SET.CONFIGURATION.json` when it is done,
//! and until then `SET.CONFIGURATION.partial.jsonl`, a line a split as soon as it is
//! judged, so that a killed run loses no more than the splits in hand.
//!
//! Results depend on what [`Identity`] holds and on nothing else: not on the number
//! of threads, nor on how many other splits there are, nor on stops between them.

use std::fmt;
use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use hg2v::Hg2vParams;
use hg2v::error::{Error, Place, Result};
use hg2v::model::folder::DataNote;
use hg2v::output::OutputFile;
use hg2v_eval::study::{Mode, SplitResult, StudyResult};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The layout of the files that this version reads and writes.
pub(super) const FORMAT: u32 = 1;

/// Everything that results depend on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Identity {
    /// [`FORMAT`].
    pub(super) format: u32,
    /// The version of hg2v.
    pub(super) hg2v: String,
    /// The set's name.
    pub(super) set: String,
    /// Its content.
    pub(super) data: DataNote,
    /// Where the model started from, and which grid chose d, a and L.
    pub(super) preset: String,
    pub(super) grid: Option<String>,
    /// Everything about the model, before the grid.
    pub(super) configuration: Value,
    /// Who sees what.
    pub(super) mode: Mode,
    /// The classifier and how its settings are chosen.
    pub(super) protocol: Value,
    pub(super) seed: u64,
}

/// What is judged: HG2V, the same untrained, or statistics.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Kind {
    Hg2v,
    Untrained,
    Statistics,
}

/// What the grid chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Shape {
    pub(super) dim: usize,
    pub(super) hops: usize,
    pub(super) levels: usize,
}

impl Shape {
    pub(super) fn of(params: &Hg2vParams) -> Shape {
        let a = &params.architecture;
        Shape { dim: a.dim, hops: a.hops, levels: a.levels }
    }
}

/// In the paper's letters.
impl fmt::Display for Shape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d={} a={} L={}", self.dim, self.hops, self.levels)
    }
}

/// A row of a study.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Method {
    pub(super) kind: Kind,
    /// Where it is a network.
    pub(super) shape: Option<Shape>,
}

/// A row, judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Row {
    #[serde(flatten)]
    pub(super) method: Method,
    pub(super) result: StudyResult,
}

/// A finished file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct Record {
    #[serde(flatten)]
    pub(super) identity: Identity,
    /// How many classes, and the share of the largest.
    pub(super) classes: usize,
    pub(super) majority: f64,
    pub(super) splits: usize,
    /// Threads of the run that finished it; results do not depend on them.
    pub(super) threads: usize,
    /// The model that the grid chose, or the only one.
    pub(super) chosen: Shape,
    /// Every model of the grid, the chosen one untrained, and statistics.
    pub(super) rows: Vec<Row>,
}

impl Record {
    /// The row of a kind; of HG2V the one that was chosen.
    pub(super) fn row(&self, kind: Kind) -> Option<&StudyResult> {
        let shape = (kind != Kind::Statistics).then_some(self.chosen);
        let own = |row: &&Row| row.method == Method { kind, shape };
        self.rows.iter().find(own).map(|row| &row.result)
    }

    /// `SET.CONFIGURATION`, the stem of its files.
    fn stem(identity: &Identity) -> String {
        let Identity { set, preset, grid, .. } = identity;
        match grid {
            None => format!("{set}.{preset}"),
            Some(grid) => format!("{set}.{preset}.grid-{grid}"),
        }
    }

    /// Reads a finished file.
    ///
    /// # Errors
    /// A file that is damaged, or of another version.
    pub(super) fn read(path: &Path) -> Result<Record> {
        parsed(path, &value(path)?)
    }
}

/// One line of a partial file after its first, which is the identity.
#[derive(Serialize, Deserialize)]
struct Line {
    #[serde(flatten)]
    method: Method,
    result: SplitResult,
}

/// What is known about a set, and where more is kept.
pub(super) struct Store {
    path: PathBuf,
    partial: PathBuf,
    identity: Identity,
    finished: Option<Record>,
    known: Vec<Line>,
    /// The partial file, once something was written to it.
    log: Mutex<Option<File>>,
}

impl Store {
    /// Opens what `folder` has of the same identity; `fresh` removes it.
    ///
    /// # Errors
    /// Files that were made otherwise, that are damaged, or that cannot be read.
    pub(super) fn open(folder: &Path, identity: Identity, fresh: bool) -> Result<Store> {
        let stem = Record::stem(&identity);
        let path = folder.join(format!("{stem}.json"));
        let partial = folder.join(format!("{stem}.partial.jsonl"));
        if fresh {
            for path in [&path, &partial].into_iter().filter(|path| path.exists()) {
                fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
            }
        }
        let mut finished = None;
        let mut known = Vec::new();
        if path.exists() {
            let found = value(&path)?;
            same(&path, &found, &identity)?;
            let record: Record = parsed(&path, &found)?;
            for Row { method, result } in &record.rows {
                let line = |split: &SplitResult| Line { method: *method, result: split.clone() };
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

    /// The finished file, where there is one.
    pub(super) fn finished(&self) -> Option<&Record> {
        self.finished.as_ref()
    }

    /// How many splits are known, of all rows together.
    pub(super) fn len(&self) -> usize {
        self.known.len()
    }

    /// The splits of one row that are known.
    pub(super) fn known(&self, method: Method) -> Vec<SplitResult> {
        let own = self.known.iter().filter(|line| line.method == method);
        own.map(|line| line.result.clone()).collect()
    }

    /// Keeps a split that was just judged.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn add(&self, method: Method, result: &SplitResult) -> Result<()> {
        let failed = |e: std::io::Error| Error::io(&self.partial, "write", e);
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
        let text = line(&self.partial, &Line { method, result: result.clone() })?;
        file.write_all(&text).and_then(|()| file.sync_data()).map_err(failed)?;
        *log = Some(file);
        Ok(())
    }

    /// Writes the finished file, and removes the partial one.
    ///
    /// # Errors
    /// When the disk refuses.
    pub(super) fn finish(self, record: &Record) -> Result<()> {
        let failed = |e: std::io::Error| Error::io(&self.path, "write", e);
        let mut out = OutputFile::create(&self.path)?;
        serde_json::to_writer_pretty(&mut out, record).map_err(|e| failed(e.into()))?;
        out.write_all(b"\n").map_err(failed)?;
        out.commit()?;
        match fs::remove_file(&self.partial) {
            Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::io(&self.partial, "remove", e))
            }
            _ => Ok(()),
        }
    }
}

/// All finished files of a folder, by name.
///
/// # Errors
/// A folder that cannot be read, a file that is damaged.
pub(super) fn read_all(folder: &Path) -> Result<Vec<Record>> {
    let mut paths = Vec::new();
    match fs::read_dir(folder) {
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => {}
        entries => {
            let failed = |e| Error::io(folder, "read", e);
            for entry in entries.map_err(failed)? {
                paths.push(entry.map_err(failed)?.path());
            }
        }
    }
    paths.retain(|path| path.extension().is_some_and(|ending| ending == "json"));
    paths.sort_unstable();
    paths.iter().map(|path| Record::read(path)).collect()
}

/// The lines of a partial file. A last line that was cut is forgotten, in the file
/// too, so that the next one does not grow together with it.
fn read_partial(path: &Path, identity: &Identity) -> Result<Vec<Line>> {
    let text = fs::read_to_string(path).map_err(|e| Error::io(path, "read", e))?;
    let whole = text.rfind('\n').map_or("", |end| &text[..=end]);
    let mut lines = whole.lines();
    let Some(first) = lines.next() else {
        fs::remove_file(path).map_err(|e| Error::io(path, "remove", e))?;
        return Ok(Vec::new());
    };
    let damaged = |line: usize, e: serde_json::Error| {
        let problem = format!("this is no result of a split: {e}");
        Error::input(path, Place::Line(line as u64), problem, AGAIN)
    };
    same(path, &serde_json::from_str(first).map_err(|e| damaged(1, e))?, identity)?;
    let known = lines
        .enumerate()
        .map(|(at, line)| serde_json::from_str(line).map_err(|e| damaged(at + 2, e)))
        .collect::<Result<_>>()?;
    if whole.len() < text.len() {
        let mut out = OutputFile::create(path)?;
        out.write_all(whole.as_bytes()).map_err(|e| Error::io(path, "write", e))?;
        out.commit()?;
    }
    Ok(known)
}

/// What to do about a file that is of no use.
const AGAIN: &str = "keep its results with another --out, or let --fresh replace them";

fn line(path: &Path, value: &impl Serialize) -> Result<Vec<u8>> {
    let mut bytes = serde_json::to_vec(value).map_err(|e| Error::io(path, "write", e.into()))?;
    bytes.push(b'\n');
    Ok(bytes)
}

fn value(path: &Path) -> Result<Value> {
    let bytes = fs::read(path).map_err(|e| Error::io(path, "read", e))?;
    serde_json::from_slice(&bytes).map_err(|e| {
        let problem = format!("this is no record of results: {e}");
        Error::input(path, Place::Line(e.line() as u64), problem, AGAIN)
    })
}

fn parsed(path: &Path, found: &Value) -> Result<Record> {
    let refused = |problem: String| Error::input(path, Place::Whole, problem, AGAIN);
    match found.get("format").and_then(Value::as_u64) {
        Some(format) if format == u64::from(FORMAT) => {}
        Some(format) => {
            return Err(refused(format!("its format is {format}, this version knows {FORMAT}")));
        }
        None => return Err(refused("this is no record of results".to_owned())),
    }
    Record::deserialize(found).map_err(|e| refused(format!("this is no record of results: {e}")))
}

/// Refuses what was made otherwise, and says in what it differs.
fn same(path: &Path, found: &Value, identity: &Identity) -> Result<()> {
    // Through text, as the file went.
    let text = line(path, identity)?;
    let expected: Value =
        serde_json::from_slice(&text).map_err(|e| Error::io(path, "read", e.into()))?;
    let keys = expected.as_object().into_iter().flat_map(|object| object.keys());
    let other: Vec<&str> =
        keys.filter(|&key| found.get(key) != expected.get(key)).map(String::as_str).collect();
    match other.is_empty() {
        true => Ok(()),
        false => {
            let problem = format!("its results were made with another {}", other.join(", "));
            Err(Error::input(path, Place::Whole, problem, AGAIN))
        }
    }
}

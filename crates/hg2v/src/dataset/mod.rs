//! Collections of graphs: reading, writing, making and describing them.
//!
//! [`open`] recognises a format and gives an iterator of
//! [`GraphRecord`](crate::graph::GraphRecord)s; [`create`] gives a sink that
//! writes them in any format. Between the two, nothing is lost.

pub mod csv;
pub mod graphml;
pub mod jsonl;
mod limits;
pub mod parquet;
pub mod tu;

use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};
use crate::graph::GraphRecord;

pub use limits::Limits;

/// How a collection of graphs is laid out on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// A folder `NAME/` of `NAME_A.txt`, `NAME_graph_indicator.txt`, …
    TuFolder,
    /// The same folder in a zip.
    TuZip,
    /// One JSON object a line.
    Jsonl,
    /// The same, gzip-compressed.
    JsonlGz,
    /// A folder of `edges.csv`, `nodes.csv`, `graphs.csv`.
    CsvFolder,
    /// One row a graph.
    Parquet,
    /// A folder of GraphML files (or one file): read only.
    GraphMl,
}

/// An open collection: its graphs come one by one.
pub struct Source {
    /// What to call the collection: the file's stem or the folder's name.
    pub name: String,
    /// The file or folder, for messages (`<stdin>` for standard input).
    pub path: PathBuf,
    /// The format that was recognised.
    pub format: Format,
    /// How many graphs, where the format says so without reading them all.
    pub len: Option<u64>,
    /// Things the format holds that this collection does not carry, each a
    /// sentence; filled as reading goes on by readers that hold everything at once.
    pub ignored: Vec<String>,
    graphs: Box<dyn Iterator<Item = Result<GraphRecord>> + Send>,
}

impl Source {
    /// A collection over any iterator of records.
    pub fn new(
        path: &Path,
        format: Format,
        graphs: impl Iterator<Item = Result<GraphRecord>> + Send + 'static,
    ) -> Source {
        let name = path.file_name().map_or_else(String::new, |name| {
            let name = name.to_string_lossy();
            name.split('.').next().unwrap_or_default().to_owned()
        });
        Source {
            name,
            path: path.to_path_buf(),
            format,
            len: None,
            ignored: Vec::new(),
            graphs: Box::new(graphs),
        }
    }
}

impl Iterator for Source {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        self.graphs.next()
    }
}

/// Where records go. Nothing appears under the final name until [`finish`](Sink::finish).
pub trait Sink {
    /// Writes one graph.
    ///
    /// # Errors
    /// When the disk refuses, or the format cannot express the graph.
    fn write(&mut self, record: &GraphRecord) -> Result<()>;

    /// Completes the output: synced, then renamed to its final name.
    ///
    /// # Errors
    /// When the disk refuses.
    fn finish(self: Box<Self>) -> Result<()>;
}

/// Recognises the format of `path` by what it is, then by its name.
///
/// # Errors
/// When nothing is there, or it is none of the known formats.
pub fn detect(path: &Path) -> Result<Format> {
    let _ = path;
    Err(Error::input(
        path,
        Place::Whole,
        "this is no collection of graphs that hg2v knows",
        "…",
    ))
}

/// Opens a collection of any known format; `-` is JSONL on standard input.
///
/// # Errors
/// As [`detect`], and whatever the format's reader refuses.
pub fn open(path: &Path, limits: &Limits) -> Result<Source> {
    let _ = limits;
    detect(path).map(|format| Source::new(path, format, std::iter::empty()))
}

/// The path that DATA means: itself where it exists (or is `-`), else a set of
/// that name under `data_dir`.
///
/// # Errors
/// When neither is there.
pub fn locate(data: &Path, data_dir: Option<&Path>) -> Result<PathBuf> {
    let _ = data_dir;
    Ok(data.to_path_buf())
}

/// Begins writing a collection; the format follows from the name of `path`
/// where `format` does not say it. `-` is JSONL on standard output.
///
/// # Errors
/// When the name tells no format, the format is read-only, or the place cannot be written.
pub fn create(path: &Path, format: Option<Format>) -> Result<Box<dyn Sink>> {
    let _ = format;
    Err(Error::input(path, Place::Whole, "no writer yet", "…"))
}

//! Collections of graphs: reading, writing, making and describing them.
//!
//! [`open`] recognises a format and gives an iterator of
//! [`GraphRecord`]s; [`create`] gives a sink that
//! writes them in any format. Between the two, nothing is lost.

pub mod catalog;
pub mod csv;
#[cfg(feature = "download")]
pub mod download;
pub mod duplicates;
mod fault;
pub mod features;
pub mod fingerprint;
mod folder;
pub mod graphml;
mod gzip;
mod ids;
pub mod images;
pub mod jsonl;
mod limits;
mod lines;
pub mod molecules;
mod node_count;
mod notes;
#[cfg(feature = "parquet")]
pub mod parquet;
mod skip;
pub mod summary;
pub mod synthetic;
mod targets;
pub(crate) mod text;
pub mod tu;

use std::fs::{self, File};
use std::io::{BufReader, Read};
use std::path::{Path, PathBuf};

use crate::error::{Action, Advice, Error, Fix, Job, Opt, Place, Problem, Result};
use crate::graph::GraphRecord;
use crate::output::overwrite::Destination;

pub use ids::RepeatedIds;
pub use limits::Limits;
pub(crate) use notes::Notes;
pub use skip::Skipped;
pub use targets::with_targets;

/// How a collection of graphs is laid out on disk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
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
    /// A table of molecules, one SMILES a line: read only.
    Smiles,
    /// An SDF or MOL file of molecules: read only.
    Sdf,
}

crate::vocabulary! { Format, "format":
    TuFolder => "tu", "a folder NAME with NAME_A.txt, NAME_graph_indicator.txt, …";
    TuZip => "tu-zip", "the same folder in a zip";
    Jsonl => "jsonl", "one JSON object a line";
    JsonlGz => "jsonl.gz", "the same, gzip-compressed";
    CsvFolder => "csv", "a folder of edges.csv, nodes.csv and graphs.csv";
    Parquet => "parquet", "one row a graph";
    GraphMl => "graphml", "a file or a folder of GraphML";
    Smiles => "smiles", "molecules, one SMILES a line or a table with a column smiles";
    Sdf => "sdf", "molecules of an SDF or MOL file";
}

impl Format {
    /// Whether collections are written like this, and not only read.
    pub fn is_written(self) -> bool {
        !matches!(self, Format::GraphMl | Format::Smiles | Format::Sdf)
    }
}

/// What to call the collection at `path`: the file's or folder's name, without the endings of
/// formats.
pub fn name_of(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let endings = [
        ".gz", ".jsonl", ".ndjson", ".json", ".parquet", ".zip", ".csv", ".graphml", ".smi",
        ".smiles", ".tsv", ".txt", ".sdf", ".sd", ".mol",
    ];
    endings.iter().fold(&*name, |name, ending| name.strip_suffix(ending).unwrap_or(name)).to_owned()
}

/// An open collection: its graphs come one by one.
///
/// A graph that cannot be used comes as an error that [concerns it alone](Error::is_of_one_graph),
/// and the next one follows; after any other error nothing does.
pub struct Source {
    /// The file or folder, for messages (`<stdin>` for standard input).
    pub path: PathBuf,
    /// The format that was recognised.
    pub format: Format,
    /// How many graphs, where the format says so without reading them all.
    pub len: Option<u64>,
    /// What [`ignored`](Source::ignored) says before the first graph, and what is met on the way.
    known: Vec<String>,
    /// Of these, what graphs would not have carried anyway.
    beside: Vec<String>,
    notes: Notes,
    graphs: Box<dyn Iterator<Item = Result<GraphRecord>> + Send>,
    /// Graphs that came so far, good and bad.
    passed: u64,
    /// Of which part of the collection they are; see [`part`](Source::part).
    part: (u64, u64),
    skipping: Option<skip::Skipping>,
    /// Which of the numbers to predict are asked for, where not all are.
    targets: Option<targets::Choice>,
    ended: bool,
}

impl Source {
    /// A collection over any iterator of records.
    pub fn new(
        path: &Path,
        format: Format,
        graphs: impl Iterator<Item = Result<GraphRecord>> + Send + 'static,
    ) -> Source {
        Source {
            path: path.to_path_buf(),
            format,
            len: None,
            known: Vec::new(),
            beside: Vec::new(),
            notes: Notes::default(),
            graphs: Box::new(graphs),
            passed: 0,
            part: (1, 1),
            skipping: None,
            targets: None,
            ended: false,
        }
    }

    /// The graphs at the positions p with `1 + p mod parts = part`, and nothing of the others, not
    /// even what is wrong with them.
    #[must_use]
    pub fn part(self, part: u64, parts: u64) -> Source {
        Source { part: (part, parts.max(1)), ..self }
    }

    /// The same graphs with the targets of these names alone, in this order: one becomes the
    /// graph's label, `y`. A graph that has none of such a name is an error.
    #[must_use]
    pub fn targets(self, names: &[String]) -> Source {
        let targets = (!names.is_empty()).then(|| targets::Choice::new(&self.path, names));
        Source { targets, ..self }
    }

    /// How many graphs were passed so far, those left out included: the last one that came stands
    /// at one position less, from 0.
    pub fn passed(&self) -> u64 {
        self.passed
    }

    /// Everything met so far that a record does not carry, each a sentence, once.
    pub fn ignored(&self) -> Vec<String> {
        self.listen()()
    }

    /// Those of the sentences of [`ignored`](Source::ignored) that speak of files beside the
    /// collection's own, such as a README: nothing is lost with them.
    pub fn beside(&self) -> &[String] {
        &self.beside
    }

    /// As [`ignored`](Source::ignored), for whoever asks when the source is elsewhere.
    pub fn listen(&self) -> impl Fn() -> Vec<String> + Send + use<> {
        let (known, notes) = (self.known.clone(), self.notes.clone());
        move || known.iter().cloned().chain(notes.all()).collect()
    }
}

impl Iterator for Source {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.ended {
            let Some(graph) = self.graphs.next() else { break };
            let position = self.passed;
            let graph = match graph {
                Err(error) if !error.is_of_one_graph() => {
                    self.ended = true;
                    return Some(Err(error));
                }
                graph => graph,
            };
            let graph = match (graph, &self.targets) {
                (Ok(record), Some(choice)) => match choice.of(record, position) {
                    Ok(record) => Ok(record),
                    Err(error) => {
                        self.ended = true;
                        return Some(Err(error));
                    }
                },
                (graph, _) => graph,
            };
            self.passed += 1;
            let (part, parts) = self.part;
            if position % parts + 1 != part {
                continue;
            }
            match &mut self.skipping {
                None => return Some(graph),
                Some(skipping) => {
                    if let Some(record) = skipping.keep(graph, position) {
                        return Some(Ok(record));
                    }
                }
            }
        }
        self.ended = true;
        self.skipping.take().and_then(|skipping| skipping.nothing_left(&self.path)).map(Err)
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

/// Recognises the format of `path` by what it holds, then by its name; `-` is JSONL.
///
/// # Errors
/// When nothing is there, or it is none of the known formats.
pub fn detect(path: &Path) -> Result<Format> {
    if path == Path::new("-") {
        return Ok(Format::Jsonl);
    }
    let metadata = fs::metadata(path).map_err(|e| Error::io(path, Action::Read, e))?;
    if metadata.is_dir() {
        return detect_folder(path);
    }
    // What is read from a pipe cannot be read again; JSONL looks at it as it streams.
    if !metadata.is_file() {
        return Ok(Format::Jsonl);
    }
    if let Some(format) = molecules::detect(path)? {
        return Ok(format);
    }
    let mut magic = [0; HEAD];
    let mut file = File::open(path).map_err(|e| Error::io(path, Action::Read, e))?;
    let length = read_up_to(&mut file, &mut magic).map_err(|e| Error::io(path, Action::Read, e))?;
    let extension = path.extension().map(|e| e.to_ascii_lowercase());
    match &magic[..length] {
        [b'P', b'A', b'R', b'1', ..] => Ok(Format::Parquet),
        [b'P', b'K', 3, 4, ..] | [b'P', b'K', 5, 6, ..] => Ok(Format::TuZip),
        [0x1f, 0x8b, ..] => {
            let mut inside = [0; HEAD];
            let file = File::open(path).map_err(|e| Error::io(path, Action::Read, e))?;
            // What cannot be unpacked is the reader's to tell.
            let length = read_up_to(&mut gzip::Gunzip::new(BufReader::new(file)), &mut inside);
            match &inside[..length.unwrap_or(0)] {
                [a, b, c, d, ..] if is_idx([*a, *b, *c, *d]) => Err(images(path)),
                head if is_xml(head) || folder::ends_in(path, &graphml::ENDINGS) => {
                    Ok(Format::GraphMl)
                }
                _ => Ok(Format::JsonlGz),
            }
        }
        head if is_xml(head) => Ok(Format::GraphMl),
        &[a, b, c, d, ..] if is_idx([a, b, c, d]) => Err(images(path)),
        // A file that lost its head is still judged as what it claims to be, so
        // that the error speaks of the right format.
        _ => match extension.as_ref().and_then(|e| e.to_str()) {
            Some("parquet") => Ok(Format::Parquet),
            Some("zip") => Ok(Format::TuZip),
            _ if folder::ends_in(path, &graphml::ENDINGS) => Ok(Format::GraphMl),
            Some("gz") => Ok(Format::JsonlGz),
            Some("xml") => Ok(Format::GraphMl),
            Some("jsonl" | "ndjson" | "json") => Ok(Format::Jsonl),
            _ if magic.first() == Some(&b'{') => Ok(Format::Jsonl),
            _ => Err(unknown(path)),
        },
    }
}

/// A folder is told by the files in it.
fn detect_folder(path: &Path) -> Result<Format> {
    let failed = |e| Error::io(path, Action::Read, e);
    let mut names = Vec::new();
    for entry in fs::read_dir(path).map_err(failed)? {
        names.push(entry.map_err(failed)?.file_name().to_string_lossy().into_owned());
    }
    if names.iter().any(|name| name == "edges.csv") {
        Ok(Format::CsvFolder)
    } else if names
        .iter()
        .any(|name| name.ends_with("_graph_indicator.txt") || name.ends_with("_A.txt"))
    {
        Ok(Format::TuFolder)
    } else if names.iter().any(|name| folder::ends_in(Path::new(name), &graphml::ENDINGS)) {
        Ok(Format::GraphMl)
    } else if names.iter().any(|name| name == "nodes.csv" || name == "graphs.csv") {
        Ok(Format::CsvFolder)
    } else if !folder::files(path, &[".parquet"], true)?.is_empty() {
        Ok(Format::Parquet)
    } else {
        Err(unknown(path))
    }
}

fn unknown(path: &Path) -> Error {
    let what = "this is no collection of graphs in a known format".to_owned();
    let fix = "give a TU folder or zip, a .jsonl or .jsonl.gz file, a folder with edges.csv, \
               a .parquet file or a folder of them, a folder of .graphml files, or molecules: a .smi, \
               .sdf or .mol file, or a .csv, .tsv or .txt file with a column `smiles`";
    Problem::Format { what, fix: fix.into() }.at(path, Place::Whole)
}

/// Bytes of a file that tell its format.
const HEAD: usize = 16;

/// Whether a file is XML, of which GraphML is the only kind there is here.
fn is_xml(head: &[u8]) -> bool {
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(head);
    head.trim_ascii_start().starts_with(b"<")
}

/// The head of an idx file: two zeros, a type of numbers, one to four dimensions.
fn is_idx(head: [u8; 4]) -> bool {
    matches!(head, [0, 0, 0x08..=0x0e, 1..=4])
}

fn images(path: &Path) -> Error {
    let what = "this is an idx file, of images or their labels, and no collection of graphs";
    let (what, fix) = (what.to_owned(), Advice::Run(Job::Images).into());
    Problem::Format { what, fix }.at(path, Place::Whole)
}

fn read_up_to(reader: &mut impl Read, buffer: &mut [u8]) -> std::io::Result<usize> {
    let mut length = 0;
    while length < buffer.len() {
        match reader.read(&mut buffer[length..])? {
            0 => break,
            more => length += more,
        }
    }
    Ok(length)
}

/// Opens a collection of any known format; `-` is JSONL on standard input.
///
/// # Errors
/// As [`detect`], and whatever the format's reader refuses.
pub fn open(path: &Path, limits: &Limits) -> Result<Source> {
    match detect(path)? {
        Format::TuFolder | Format::TuZip => tu::read(path, limits),
        Format::Jsonl | Format::JsonlGz => jsonl::read(path, limits),
        Format::CsvFolder => csv::read(path, limits),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::read(path, limits),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without_parquet(path)),
        Format::GraphMl => graphml::read(path, limits),
        Format::Smiles => molecules::read_smiles(path, limits),
        Format::Sdf => molecules::read_sdf(path, limits),
    }
}

/// What a build without the feature `parquet` says of such a file.
#[cfg(not(feature = "parquet"))]
pub(crate) fn without_parquet(path: &Path) -> Error {
    let what = "this program was built without Parquet".to_owned();
    let fix = "build it with the feature `parquet` of hg2v, or use another format".into();
    Problem::Format { what, fix }.at(path, Place::Whole)
}

/// The path that DATA means: itself where it exists (or is `-`), else a set of
/// that name under `data_dir`, as a folder or with a known ending.
///
/// # Errors
/// When neither is there.
pub fn locate(data: &Path, data_dir: Option<&Path>) -> Result<PathBuf> {
    if data == Path::new("-") || data.exists() {
        return Ok(data.to_path_buf());
    }
    let is_name = data.components().count() == 1;
    if let (true, Some(folder), Some(name)) = (is_name, data_dir, data.to_str()) {
        let endings = ["", ".zip", ".jsonl", ".jsonl.gz", ".parquet"];
        for ending in endings.into_iter().chain(molecules::ENDINGS) {
            let candidate = folder.join(format!("{name}{ending}"));
            if candidate.exists() {
                return Ok(candidate);
            }
        }
    }
    let searched = data_dir.filter(|_| is_name).map(Path::to_path_buf);
    let fix = match (is_name, data_dir) {
        (true, Some(_)) => Fix::from("check the spelling").or(Advice::Run(Job::Download)),
        (true, None) => Fix::from("check the path").or(Advice::Give(Opt::DATA_DIR)),
        (false, _) => "check the path".into(),
    };
    Err(Problem::NotFound { searched, fix }.at(data, Place::Whole))
}

/// Begins writing a collection; the format [follows from the name](format_of_name)
/// of `path` where `format` does not say it.
///
/// # Errors
/// When the name tells no format, the format is read-only, or the place cannot be written.
pub fn create<'a>(to: impl Into<Destination<'a>>, format: Option<Format>) -> Result<Box<dyn Sink>> {
    let to = to.into();
    let path = to.path;
    let format = match format {
        Some(format) => format,
        None => format_of_name(path)?,
    };
    match format {
        Format::TuFolder => tu::write(to, false),
        Format::TuZip => tu::write(to, true),
        Format::Jsonl => jsonl::write(to, false),
        Format::JsonlGz => jsonl::write(to, true),
        Format::CsvFolder => csv::write(to),
        #[cfg(feature = "parquet")]
        Format::Parquet => parquet::write(to),
        #[cfg(not(feature = "parquet"))]
        Format::Parquet => Err(without_parquet(path)),
        Format::GraphMl | Format::Smiles | Format::Sdf => {
            let what = match format {
                Format::GraphMl => "GraphML is read but not written".to_owned(),
                _ => "SMILES and SDF are read but not written".to_owned(),
            };
            let fix = "choose .jsonl, .parquet, .zip or a folder".into();
            Err(Problem::Format { what, fix }.at(path, Place::Whole))
        }
    }
}

/// The format that the name of an output tells; `-` is standard output.
///
/// | name | format |
/// |---|---|
/// | `*.jsonl`, `*.ndjson`, `*.json`, `-` | JSONL |
/// | `*.jsonl.gz`, `*.gz` | JSONL, compressed |
/// | `*.parquet` | Parquet |
/// | `*.zip` | TU zip |
/// | `*.csv`, `*-csv` or an ending `/csv` | folder of CSV |
/// | anything without an ending | TU folder |
///
/// # Errors
/// When the name has another ending.
pub fn format_of_name(path: &Path) -> Result<Format> {
    let name = path
        .file_name()
        .map_or_else(|| "-".to_owned(), |name| name.to_string_lossy().to_ascii_lowercase());
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    Ok(match ending {
        Some("jsonl" | "ndjson" | "json") => Format::Jsonl,
        Some("gz") => Format::JsonlGz,
        Some("parquet") => Format::Parquet,
        Some("zip") => Format::TuZip,
        Some("csv") => Format::CsvFolder,
        Some("graphml") => Format::GraphMl,
        Some("smi" | "smiles") => Format::Smiles,
        Some("sdf" | "sd" | "mol") => Format::Sdf,
        _ if name == "-" => Format::Jsonl,
        _ if name == "csv" || name.ends_with("-csv") => Format::CsvFolder,
        None => Format::TuFolder,
        Some(ending) => {
            let what = format!("`.{ending}` tells no format hg2v writes");
            let endings = "end the name in .jsonl, .jsonl.gz, .parquet, .zip (TU), .csv (a \
                           folder) or nothing (a TU folder)";
            let fix = Fix::from(endings).or(Advice::Give(Opt::FORMAT));
            return Err(Problem::Format { what, fix }.at(path, Place::Whole));
        }
    })
}

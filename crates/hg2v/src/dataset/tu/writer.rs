//! Writing the TU layout: files grow as records come; a zip is made of them at
//! the end.

use std::fs::{DirEntry, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::{Listing, suffix};
use crate::dataset::Sink;
use crate::dataset::text::spelled;
use crate::error::{Action, Error, Place, Result};
use crate::graph::GraphRecord;
use crate::output::overwrite::Destination;
use crate::output::{OutputFile, OutputFolder, ScratchFolder};

/// Begins writing a TU folder, or a zip with that folder in it. NAME is the
/// path's name up to its first dot.
///
/// # Errors
/// When the place cannot be written.
pub fn write<'a>(to: impl Into<Destination<'a>>, zip: bool) -> Result<Box<dyn Sink>> {
    let to = to.into();
    let path = to.path;
    let target = if zip {
        Target::Zip(OutputFile::create(to)?, ScratchFolder::beside(path)?)
    } else {
        Target::Folder(OutputFolder::create_over(to, &is_column)?)
    };
    let folder = match &target {
        Target::Folder(folder) => folder.working_path(),
        Target::Zip(_, spool) => spool.path(),
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.split('.').next().unwrap_or_default();
    let name = if name.is_empty() { "graphs" } else { name };
    let place = Files { path: path.to_path_buf(), stem: folder.join(format!("{name}_")) };
    Ok(Box::new(TuSink {
        a: place.create(suffix::A)?,
        indicator: place.create(suffix::GRAPH_INDICATOR)?,
        graph_labels: Column::new(suffix::GRAPH_LABELS, "a label"),
        node_labels: Column::new(suffix::NODE_LABELS, "node labels"),
        features: Column::new(suffix::NODE_ATTRIBUTES, "node attributes"),
        edge_labels: Column::new(suffix::EDGE_LABELS, "edge labels"),
        weights: Column::new(suffix::EDGE_ATTRIBUTES, "weights"),
        dim: None,
        graph_ids: None,
        node_ids: None,
        listings: Vec::new(),
        last_is_empty: false,
        nodes: 0,
        name: name.to_owned(),
        place,
        target,
    }))
}

/// Whether a file of a folder is one of the layout's.
fn is_column(entry: &DirEntry) -> bool {
    let name = entry.file_name();
    let name = name.to_string_lossy();
    let ours = |suffix: &&str| name.strip_suffix(*suffix).is_some_and(|stem| stem.ends_with('_'));
    entry.path().is_file() && suffix::ALL.iter().any(ours)
}

enum Target {
    Folder(OutputFolder),
    Zip(OutputFile, ScratchFolder),
}

type Out = BufWriter<File>;

struct TuSink {
    target: Target,
    place: Files,
    name: String,
    a: Out,
    indicator: Out,
    graph_labels: Column,
    node_labels: Column,
    features: Column,
    edge_labels: Column,
    weights: Column,
    /// Numbers a node, once known.
    dim: Option<usize>,
    graph_ids: Option<Out>,
    node_ids: Option<Out>,
    /// One a graph, in order.
    listings: Vec<Listing>,
    /// The last graph has no nodes, so the indicator does not tell of it.
    last_is_empty: bool,
    nodes: u64,
}

impl Sink for TuSink {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        let position = self.listings.len() as u64;
        let features = record.features.as_ref().filter(|f| f.dim > 0);
        let any_node = record.num_nodes > 0;
        let any_edge = !record.edges.is_empty();
        let place = &self.place;
        let of = |part: &mut Column, has: bool, could: bool| {
            part.agree(place, record, position, has, could)
        };
        of(&mut self.graph_labels, record.label.is_some(), true)?;
        of(&mut self.node_labels, record.node_labels.is_some(), any_node)?;
        of(&mut self.features, features.is_some(), any_node)?;
        of(&mut self.edge_labels, record.edge_labels.is_some(), any_edge)?;
        of(&mut self.weights, record.weights.is_some(), any_edge)?;
        if let Some(features) = features.filter(|_| any_node)
            && *self.dim.get_or_insert(features.dim) != features.dim
        {
            return Err(place.refuse(
                record,
                position,
                format!(
                    "it has {} attributes a node where graphs before it have {}",
                    features.dim,
                    self.dim.unwrap_or_default()
                ),
            ));
        }
        let listing = listing_of(record);
        self.append(record, listing, position)
            .map_err(|e| Error::io(&self.place.path, Action::Write, e))?;
        self.listings.push(listing);
        self.last_is_empty = !any_node;
        self.nodes += u64::from(record.num_nodes);
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = self.place.path.clone();
        let failed = |e| Error::io(&path, Action::Write, e);
        // The list of listings also counts the graphs, where nothing else does.
        let uncounted = self.last_is_empty && self.graph_labels.file.is_none();
        if uncounted || self.listings.iter().any(|&how| how != Listing::Both) {
            let mut out = self.place.create(suffix::EDGE_LINES)?;
            for how in &self.listings {
                writeln!(out, "{}", how.word()).map_err(failed)?;
            }
            out.flush().map_err(failed)?;
        }
        let columns = [
            self.graph_labels.file,
            self.node_labels.file,
            self.features.file,
            self.edge_labels.file,
            self.weights.file,
            self.graph_ids,
            self.node_ids,
        ];
        let always = [self.a, self.indicator];
        for mut file in columns.into_iter().flatten().chain(always) {
            file.flush().map_err(failed)?;
        }
        match self.target {
            Target::Folder(folder) => folder.commit(),
            Target::Zip(mut out, spool) => {
                pack(&mut out, spool.path(), &self.name).map_err(failed)?;
                out.commit()
            }
        }
    }
}

impl TuSink {
    fn append(&mut self, record: &GraphRecord, listing: Listing, graph: u64) -> io::Result<()> {
        for _ in 0..record.num_nodes {
            writeln!(self.indicator, "{}", graph + 1)?;
        }
        if let (Some(out), Some(label)) = (&mut self.graph_labels.file, &record.label) {
            writeln!(out, "{}", spelled(label))?;
        }
        if let (Some(out), Some(labels)) = (&mut self.node_labels.file, &record.node_labels) {
            for label in labels {
                writeln!(out, "{}", spelled(label))?;
            }
        }
        if let (Some(out), Some(features)) = (&mut self.features.file, &record.features) {
            for row in features.values.chunks_exact(features.dim.max(1)) {
                for (column, value) in row.iter().enumerate() {
                    let before = if column == 0 { "" } else { ", " };
                    write!(out, "{before}{value:?}")?;
                }
                writeln!(out)?;
            }
        }
        let first = self.nodes + 1;
        for (position, &[u, v]) in record.edges.iter().enumerate() {
            let [u, v] = [first + u64::from(u), first + u64::from(v)];
            writeln!(self.a, "{u}, {v}")?;
            let twice = listing != Listing::Directed && u != v;
            if twice {
                writeln!(self.a, "{v}, {u}")?;
            }
            for _ in 0..1 + usize::from(twice) {
                let labels = record.edge_labels.as_ref();
                if let (Some(out), Some(label)) =
                    (&mut self.edge_labels.file, labels.and_then(|all| all.get(position)))
                {
                    writeln!(out, "{}", spelled(label))?;
                }
                let weights = record.weights.as_ref();
                if let (Some(out), Some(weight)) =
                    (&mut self.weights.file, weights.and_then(|all| all.get(position)))
                {
                    writeln!(out, "{weight:?}")?;
                }
            }
        }
        self.append_ids(record, graph)
    }

    /// Ids come in files of their own, begun with the first graph that has any.
    fn append_ids(&mut self, record: &GraphRecord, graph: u64) -> io::Result<()> {
        if record.id.is_some() && self.graph_ids.is_none() {
            self.graph_ids = Some(self.place.begin(suffix::GRAPH_IDS, graph)?);
        }
        if let Some(out) = &mut self.graph_ids {
            writeln!(out, "{}", record.id.as_ref().map_or("".into(), spelled))?;
        }
        if record.node_ids.is_some() && self.node_ids.is_none() {
            self.node_ids = Some(self.place.begin(suffix::NODE_IDS, self.nodes)?);
        }
        if let Some(out) = &mut self.node_ids {
            for node in 0..record.num_nodes as usize {
                let id = record.node_ids.as_ref().and_then(|ids| ids.get(node));
                writeln!(out, "{}", id.map_or("".into(), spelled))?;
            }
        }
        Ok(())
    }
}

/// The plainest listing that keeps the record's edges as they are.
fn listing_of(record: &GraphRecord) -> Listing {
    if record.directed {
        return Listing::Directed;
    }
    let mut edges: Vec<_> = record.edges.iter().map(|&[u, v]| (u.min(v), u.max(v))).collect();
    edges.sort_unstable();
    if edges.windows(2).any(|pair| pair[0] == pair[1]) { Listing::Pairs } else { Listing::Both }
}

/// Where files are made until the output takes its name.
struct Files {
    path: PathBuf,
    /// `folder/NAME_`
    stem: PathBuf,
}

impl Files {
    fn open(&self, suffix: &str) -> io::Result<Out> {
        let mut name = self.stem.clone().into_os_string();
        name.push(suffix);
        Ok(BufWriter::with_capacity(1 << 16, File::create_new(name)?))
    }

    fn create(&self, suffix: &str) -> Result<Out> {
        self.open(suffix).map_err(|e| Error::io(&self.path, Action::Create, e))
    }

    /// A file whose first `absent` lines are empty.
    fn begin(&self, suffix: &str, absent: u64) -> io::Result<Out> {
        let mut out = self.open(suffix)?;
        io::copy(&mut io::Read::take(io::repeat(b'\n'), absent), &mut out)?;
        Ok(out)
    }

    fn refuse(&self, record: &GraphRecord, position: u64, problem: String) -> Error {
        Error::input(
            &self.path,
            Place::Whole,
            format!("the TU layout cannot hold {}: {problem}", record.name(position)),
            "write JSONL or Parquet instead, or make the graphs alike",
        )
    }
}

/// An optional file: all graphs have a part in it, or none.
struct Column {
    suffix: &'static str,
    what: &'static str,
    /// Whether graphs have it; unknown until one could.
    present: Option<bool>,
    file: Option<Out>,
}

impl Column {
    fn new(suffix: &'static str, what: &'static str) -> Column {
        Column { suffix, what, present: None, file: None }
    }

    /// Checks a graph that `has` it against those before, if it `could` have it.
    fn agree(
        &mut self,
        place: &Files,
        record: &GraphRecord,
        position: u64,
        has: bool,
        could: bool,
    ) -> Result<()> {
        if !could {
            return Ok(());
        }
        match self.present {
            None => {
                self.present = Some(has);
                if has {
                    self.file = Some(place.create(self.suffix)?);
                }
                Ok(())
            }
            Some(present) if present == has => Ok(()),
            Some(_) => {
                let (this, those) = if has { ("has", "have not") } else { ("has not", "have") };
                let what = self.what;
                Err(place.refuse(
                    record,
                    position,
                    format!("it {this} {what}, and graphs before it {those}"),
                ))
            }
        }
    }
}

/// Packs the files of `folder` as `name/file`, in order of name.
fn pack(out: &mut OutputFile, folder: &Path, name: &str) -> io::Result<()> {
    let mut files = std::fs::read_dir(folder)?
        .map(|entry| Ok(entry?.file_name()))
        .collect::<io::Result<Vec<_>>>()?;
    files.sort_unstable();
    // The same graphs make the same bytes: no clock in the archive.
    let options =
        SimpleFileOptions::default().last_modified_time(zip::DateTime::default()).large_file(true);
    let mut zip = ZipWriter::new_stream(out);
    for file in files {
        zip.start_file(format!("{name}/{}", file.to_string_lossy()), options)?;
        io::copy(&mut File::open(folder.join(&file))?, &mut zip)?;
    }
    zip.finish()?;
    Ok(())
}

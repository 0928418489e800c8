//! Writing the TU layout: files grow as records come; a zip is made of them at
//! the end.

use std::fs::{DirEntry, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use zip::ZipWriter;
use zip::write::SimpleFileOptions;

use super::targets::{self, name_lines, not_a_number, write_row};
use super::{Listing, suffix};
use crate::dataset::Sink;
use crate::dataset::targets::Names;
use crate::dataset::text::spelled;
use crate::error::{Action, Error, Place, Result, shown};
use crate::graph::{GraphRecord, Scalar};
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
        edge_features: Column::new(suffix::EDGE_ATTRIBUTES, "edge attributes"),
        targets: None,
        target_names: Names::default(),
        fewest_targets: 0,
        dim: None,
        edge_dim: None,
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
    edge_features: Column,
    /// A line a graph, from the first that has any.
    targets: Option<Out>,
    target_names: Names,
    /// Columns of the shortest of its lines.
    fewest_targets: usize,
    /// Numbers a node, and an edge, once known.
    dim: Option<usize>,
    edge_dim: Option<usize>,
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
        let edge_features = record.edge_features.as_ref().filter(|f| f.dim > 0);
        let any_node = record.num_nodes > 0;
        let any_edge = !record.edges.is_empty();
        let place = &self.place;
        if any_edge && self.weights.present.is_none() && edge_features.is_some() {
            // A single column of attributes would be taken for weights.
            self.weights.suffix = suffix::EDGE_WEIGHTS;
        }
        let of = |part: &mut Column, has: bool, could: bool| {
            part.agree(place, record, position, has, could)
        };
        of(&mut self.graph_labels, record.label.is_some(), true)?;
        of(&mut self.node_labels, record.node_labels.is_some(), any_node)?;
        of(&mut self.features, features.is_some(), any_node)?;
        of(&mut self.edge_labels, record.edge_labels.is_some(), any_edge)?;
        of(&mut self.weights, record.weights.is_some(), any_edge)?;
        of(&mut self.edge_features, edge_features.is_some(), any_edge)?;
        let widths = [
            (features.filter(|_| any_node), &mut self.dim, "a node"),
            (edge_features.filter(|_| any_edge), &mut self.edge_dim, "an edge"),
        ];
        for (features, dim, of) in widths {
            let Some(found) = features.map(|features| features.dim) else { continue };
            let before = *dim.get_or_insert(found);
            if before != found {
                let problem =
                    format!("it has {found} attributes {of} where graphs before it have {before}");
                return Err(place.refuse(record, position, problem));
            }
        }
        if let Some(target) = not_a_number(record) {
            let value = target.value.as_ref().map(Scalar::to_string).unwrap_or_default();
            let problem = format!(
                "what is to be predicted as {} is {}, which is no number",
                shown(&target.name),
                shown(&value)
            );
            return Err(place.refuse(record, position, problem));
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
        let uncounted =
            self.last_is_empty && self.graph_labels.file.is_none() && self.targets.is_none();
        if uncounted || self.listings.iter().any(|&how| how != Listing::Both) {
            let mut out = self.place.create(suffix::EDGE_LINES)?;
            for how in &self.listings {
                writeln!(out, "{}", how.word()).map_err(failed)?;
            }
            out.flush().map_err(failed)?;
        }
        if self.edge_features.file.is_some()
            && self.weights.file.is_none()
            && self.edge_dim == Some(1)
        {
            // Its being there says that the single column holds attributes.
            self.place.create(suffix::EDGE_WEIGHTS)?;
        }
        if let Some(lines) = name_lines(&self.target_names) {
            let mut out = self.place.create(suffix::TARGET_NAMES)?;
            out.write_all(lines.as_bytes()).and_then(|()| out.flush()).map_err(failed)?;
        }
        if let Some(mut out) = self.targets {
            out.flush().map_err(failed)?;
            let columns = self.target_names.list().len();
            if self.fewest_targets < columns {
                let file = self.place.file(suffix::GRAPH_ATTRIBUTES);
                targets::complete(&file, columns).map_err(failed)?;
            }
        }
        let columns = [
            self.graph_labels.file,
            self.node_labels.file,
            self.features.file,
            self.edge_labels.file,
            self.weights.file,
            self.edge_features.file,
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
                write_numbers(out, row)?;
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
                if let (Some(out), Some(features)) =
                    (&mut self.edge_features.file, &record.edge_features)
                {
                    write_numbers(out, features.row(position))?;
                }
            }
        }
        self.append_targets(record, graph)?;
        self.append_ids(record, graph)
    }

    /// Targets come in a file that is begun with the first graph that has any.
    fn append_targets(&mut self, record: &GraphRecord, graph: u64) -> io::Result<()> {
        self.target_names.add(record);
        if self.target_names.list().is_empty() {
            return Ok(());
        }
        if self.targets.is_none() {
            self.targets = Some(self.place.begin(suffix::GRAPH_ATTRIBUTES, graph)?);
            self.fewest_targets = if graph == 0 { usize::MAX } else { 0 };
        }
        if let Some(out) = &mut self.targets {
            write_row(out, &self.target_names, record)?;
            self.fewest_targets = self.fewest_targets.min(self.target_names.list().len());
        }
        Ok(())
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

/// Numbers on a line, between commas.
fn write_numbers(out: &mut Out, numbers: &[f64]) -> io::Result<()> {
    for (column, value) in numbers.iter().enumerate() {
        let before = if column == 0 { "" } else { ", " };
        write!(out, "{before}{value:?}")?;
    }
    writeln!(out)
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
    fn file(&self, suffix: &str) -> PathBuf {
        let mut name = self.stem.clone().into_os_string();
        name.push(suffix);
        name.into()
    }

    fn open(&self, suffix: &str) -> io::Result<Out> {
        Ok(BufWriter::with_capacity(1 << 16, File::create_new(self.file(suffix))?))
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

//! Writing a folder of CSV: tables grow as records come.

use std::fs::{DirEntry, File};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::row::RowWriter;
use crate::dataset::Sink;
use crate::dataset::targets::{Names, PREFIX};
use crate::dataset::text::spelled_name;
use crate::error::{Action, Error, Result};
use crate::graph::{Features, GraphRecord};
use crate::output::OutputFolder;
use crate::output::overwrite::Destination;

/// The files of a folder.
const TABLES: [&str; 3] = ["graphs.csv", "edges.csv", "nodes.csv"];

/// Begins writing a folder of CSV.
///
/// # Errors
/// When the place cannot be written.
pub fn write<'a>(to: impl Into<Destination<'a>>) -> Result<Box<dyn Sink>> {
    let to = to.into();
    let own = |entry: &DirEntry| {
        entry.path().is_file() && TABLES.iter().any(|name| entry.file_name() == *name)
    };
    let folder = OutputFolder::create_over(to, &own)?;
    let path = to.path;
    let open = || {
        let rows = tempfile::tempfile_in(folder.working_path());
        let rows = rows.map_err(|e| Error::io(path, Action::Create, e))?;
        Ok::<_, Error>(Growing { rows: RowWriter::commas(rows), cells: None })
    };
    Ok(Box::new(CsvSink {
        graphs: open()?,
        edges: open()?,
        nodes: open()?,
        targets: Names::default(),
        written: 0,
        folder,
    }))
}

type Out = RowWriter<File>;

struct CsvSink {
    folder: OutputFolder,
    graphs: Growing,
    edges: Growing,
    nodes: Growing,
    targets: Names,
    written: u64,
}

/// The rows of a table, which gets its header when all attributes or targets are known.
struct Growing {
    rows: Out,
    /// The fewest and the most of them on a row.
    cells: Option<(usize, usize)>,
}

impl Growing {
    /// Notes that rows have so many of them.
    fn note(&mut self, cells: usize) {
        let (fewest, most) = self.cells.unwrap_or((cells, cells));
        self.cells = Some((fewest.min(cells), most.max(cells)));
    }

    /// Writes the table: its header, of which the columns `more` are those that grew, before the
    /// rows, and empty cells after the short ones.
    fn complete(
        self,
        table: &Path,
        header: &[&str],
        more: impl Fn(usize) -> String,
    ) -> io::Result<()> {
        let mut rows = self.rows.finish()?;
        rows.rewind()?;
        let (fewest, most) = self.cells.unwrap_or_default();
        let names: Vec<String> = (0..most).map(more).collect();
        let mut out = RowWriter::commas(File::create_new(table)?);
        out.row(header.iter().copied().chain(names.iter().map(String::as_str)))?;
        if fewest == most {
            let mut out = out.finish()?;
            io::copy(&mut rows, &mut out)?;
            return out.flush();
        }
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false).flexible(true).from_reader(rows);
        for row in reader.into_records() {
            let row = row.map_err(io::Error::other)?;
            let absent = header.len() + most - row.len();
            out.row(row.iter().chain(std::iter::repeat_n("", absent)))?;
        }
        out.finish().map(drop)
    }
}

impl Sink for CsvSink {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        self.append(record).map_err(|e| Error::io(self.folder.path(), Action::Write, e))?;
        self.written += 1;
        Ok(())
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let path = self.folder.path().to_path_buf();
        let failed = |e| Error::io(&path, Action::Write, e);
        let at = |name| self.folder.working_path().join(name);
        let target = |place: usize| {
            let name = self.targets.list().get(place).map_or("", |name| name);
            format!("{PREFIX}{}", spelled_name(name))
        };
        let attribute = |place: usize| format!("x{place}");
        let header = ["graph", "id", "y", "directed"];
        self.graphs.complete(&at("graphs.csv"), &header, target).map_err(failed)?;
        let header = ["graph", "src", "dst", "weight", "label"];
        self.edges.complete(&at("edges.csv"), &header, attribute).map_err(failed)?;
        let header = ["graph", "node", "label"];
        self.nodes.complete(&at("nodes.csv"), &header, attribute).map_err(failed)?;
        self.folder.commit()
    }
}

impl CsvSink {
    fn append(&mut self, record: &GraphRecord) -> io::Result<()> {
        let graph = self.written;
        self.targets.add(record);
        let rows = &mut self.graphs.rows;
        rows.number(graph)?;
        rows.scalar(record.id.as_ref())?;
        rows.scalar(record.label.as_ref())?;
        rows.number(record.directed)?;
        for value in self.targets.row(record) {
            rows.scalar(value)?;
        }
        rows.end()?;
        self.graphs.note(self.targets.list().len());

        let features = record.features.as_ref().filter(|features| features.dim > 0);
        let rows = &mut self.nodes.rows;
        for node in 0..record.num_nodes {
            rows.number(graph)?;
            put_node(rows, record, node)?;
            let label = record.node_labels.as_ref();
            rows.scalar(label.and_then(|labels| labels.get(node as usize)))?;
            put_attributes(rows, features, node as usize)?;
            rows.end()?;
        }
        if record.num_nodes > 0 {
            self.nodes.note(features.map_or(0, |features| features.dim));
        }

        let features = record.edge_features.as_ref().filter(|features| features.dim > 0);
        let rows = &mut self.edges.rows;
        for (position, ends) in record.edges.iter().enumerate() {
            rows.number(graph)?;
            for &end in ends {
                put_node(rows, record, end)?;
            }
            match record.weights.as_ref().and_then(|all| all.get(position)) {
                Some(weight) => rows.number(format_args!("{weight:?}"))?,
                None => rows.text("")?,
            }
            let label = record.edge_labels.as_ref();
            rows.scalar(label.and_then(|labels| labels.get(position)))?;
            put_attributes(rows, features, position)?;
            rows.end()?;
        }
        if !record.edges.is_empty() {
            self.edges.note(features.map_or(0, |features| features.dim));
        }
        Ok(())
    }
}

/// A node's id, or its number where it has none.
fn put_node(out: &mut Out, record: &GraphRecord, node: u32) -> io::Result<()> {
    match record.node_ids.as_ref().and_then(|ids| ids.get(node as usize)) {
        Some(id) => out.scalar(Some(id)),
        None => out.number(node),
    }
}

/// The attributes of a node or an edge.
fn put_attributes(out: &mut Out, features: Option<&Features>, at: usize) -> io::Result<()> {
    for value in features.map_or(&[][..], |features| features.row(at)) {
        out.number(format_args!("{value:?}"))?;
    }
    Ok(())
}

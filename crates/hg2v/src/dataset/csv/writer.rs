//! Writing a folder of CSV: tables grow as records come.

use std::fs::{DirEntry, File};
use std::io::{self, Seek, Write};
use std::path::Path;

use super::row::RowWriter;
use crate::dataset::Sink;
use crate::error::{Action, Error, Result};
use crate::graph::GraphRecord;
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
    let failed = |e| Error::io(path, Action::Create, e);
    let open = |name: &str, header: &[&str]| -> io::Result<Out> {
        let mut out = RowWriter::commas(File::create_new(folder.working_path().join(name))?);
        out.row(header.iter().copied())?;
        Ok(out)
    };
    let graphs = open("graphs.csv", &["graph", "id", "y", "directed"]).map_err(failed)?;
    let edges = open("edges.csv", &["graph", "src", "dst", "weight", "label"]).map_err(failed)?;
    let nodes = tempfile::tempfile_in(folder.working_path()).map_err(failed)?;
    Ok(Box::new(CsvSink {
        graphs,
        edges,
        nodes: RowWriter::commas(nodes),
        attributes: None,
        written: 0,
        folder,
    }))
}

type Out = RowWriter<File>;

struct CsvSink {
    folder: OutputFolder,
    graphs: Out,
    edges: Out,
    /// Rows of `nodes.csv`, which gets its header when all attributes are known.
    nodes: Out,
    /// The fewest and the most attributes of its rows.
    attributes: Option<(usize, usize)>,
    written: u64,
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
        self.graphs.finish().map_err(failed)?;
        self.edges.finish().map_err(failed)?;
        let table = self.folder.working_path().join("nodes.csv");
        let rows = self.nodes.finish().map_err(failed)?;
        complete_nodes(&table, rows, self.attributes.unwrap_or_default()).map_err(failed)?;
        self.folder.commit()
    }
}

impl CsvSink {
    fn append(&mut self, record: &GraphRecord) -> io::Result<()> {
        let graph = self.written;
        self.graphs.number(graph)?;
        self.graphs.scalar(record.id.as_ref())?;
        self.graphs.scalar(record.label.as_ref())?;
        self.graphs.number(record.directed)?;
        self.graphs.end()?;

        let features = record.features.as_ref().filter(|features| features.dim > 0);
        for node in 0..record.num_nodes {
            self.nodes.number(graph)?;
            put_node(&mut self.nodes, record, node)?;
            let label = record.node_labels.as_ref();
            self.nodes.scalar(label.and_then(|labels| labels.get(node as usize)))?;
            for value in features.map_or(&[][..], |features| features.row(node as usize)) {
                self.nodes.number(format_args!("{value:?}"))?;
            }
            self.nodes.end()?;
        }
        if record.num_nodes > 0 {
            let dim = features.map_or(0, |features| features.dim);
            let (fewest, most) = self.attributes.unwrap_or((dim, dim));
            self.attributes = Some((fewest.min(dim), most.max(dim)));
        }

        for (position, ends) in record.edges.iter().enumerate() {
            self.edges.number(graph)?;
            for &end in ends {
                put_node(&mut self.edges, record, end)?;
            }
            match record.weights.as_ref().and_then(|all| all.get(position)) {
                Some(weight) => self.edges.number(format_args!("{weight:?}"))?,
                None => self.edges.text("")?,
            }
            let label = record.edge_labels.as_ref();
            self.edges.scalar(label.and_then(|labels| labels.get(position)))?;
            self.edges.end()?;
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

/// Puts the header before the rows, and empty cells after the short ones.
fn complete_nodes(table: &Path, mut rows: File, attributes: (usize, usize)) -> io::Result<()> {
    rows.rewind()?;
    let (fewest, most) = attributes;
    let names: Vec<String> = (0..most).map(|attribute| format!("x{attribute}")).collect();
    let mut out = RowWriter::commas(File::create_new(table)?);
    let header = ["graph", "node", "label"].into_iter().chain(names.iter().map(String::as_str));
    out.row(header)?;
    if fewest == most {
        let mut out = out.finish()?;
        io::copy(&mut rows, &mut out)?;
        return out.flush();
    }
    let mut reader = csv::ReaderBuilder::new();
    let reader = reader.has_headers(false).flexible(true).from_reader(rows);
    for row in reader.into_records() {
        let row = row.map_err(io::Error::other)?;
        let absent = 3 + most - row.len();
        out.row(row.iter().chain(std::iter::repeat_n("", absent)))?;
    }
    out.finish().map(drop)
}

//! Writing a folder of CSV: tables grow as records come.

use std::borrow::Cow;
use std::fs::{DirEntry, File};
use std::io::{self, BufRead, BufReader, BufWriter, Seek, Write};
use std::path::Path;

use crate::dataset::Sink;
use crate::dataset::text::spelled;
use crate::error::{Action, Error, Result};
use crate::graph::{GraphRecord, Scalar};
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
    let open = |name: &str, header: &str| -> io::Result<Out> {
        let mut out = BufWriter::new(File::create_new(folder.working_path().join(name))?);
        out.write_all(header.as_bytes())?;
        Ok(out)
    };
    let graphs = open("graphs.csv", "graph,id,y,directed\n").map_err(failed)?;
    let edges = open("edges.csv", "graph,src,dst,weight,label\n").map_err(failed)?;
    let nodes = tempfile::tempfile_in(folder.working_path()).map_err(failed)?;
    Ok(Box::new(CsvSink {
        graphs,
        edges,
        nodes: BufWriter::new(nodes),
        node_runs: Vec::new(),
        written: 0,
        folder,
    }))
}

type Out = BufWriter<File>;

struct CsvSink {
    folder: OutputFolder,
    graphs: Out,
    edges: Out,
    /// Rows of `nodes.csv`, which gets its header when all attributes are known.
    nodes: Out,
    /// Runs of node rows with equally many attributes.
    node_runs: Vec<Run>,
    written: u64,
}

struct Run {
    rows: u64,
    dim: usize,
}

impl Sink for CsvSink {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        self.append(record).map_err(|e| Error::io(self.folder.path(), Action::Write, e))?;
        self.written += 1;
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        let path = self.folder.path().to_path_buf();
        let failed = |e| Error::io(&path, Action::Write, e);
        self.graphs.flush().map_err(failed)?;
        self.edges.flush().map_err(failed)?;
        let table = self.folder.working_path().join("nodes.csv");
        let rows = self.nodes.into_inner().map_err(|e| failed(e.into_error()))?;
        complete_nodes(&table, rows, &self.node_runs).map_err(failed)?;
        self.folder.commit()
    }
}

impl CsvSink {
    fn append(&mut self, record: &GraphRecord) -> io::Result<()> {
        let graph = self.written;
        writeln!(
            self.graphs,
            "{graph},{},{},{}",
            cell(record.id.as_ref()),
            cell(record.label.as_ref()),
            record.directed
        )?;

        let features = record.features.as_ref().filter(|features| features.dim > 0);
        for node in 0..record.num_nodes as usize {
            write!(self.nodes, "{graph},")?;
            match record.node_ids.as_ref().and_then(|ids| ids.get(node)) {
                Some(id) => write!(self.nodes, "{}", cell(Some(id)))?,
                None => write!(self.nodes, "{node}")?,
            }
            let label = record.node_labels.as_ref();
            let label = label.and_then(|labels| labels.get(node));
            write!(self.nodes, ",{}", cell(label))?;
            for value in features.map_or(&[][..], |features| features.row(node)) {
                write!(self.nodes, ",{value:?}")?;
            }
            writeln!(self.nodes)?;
        }
        let dim = features.map_or(0, |features| features.dim);
        let rows = u64::from(record.num_nodes);
        match self.node_runs.last_mut() {
            Some(run) if run.dim == dim => run.rows += rows,
            _ if rows == 0 => {}
            _ => self.node_runs.push(Run { rows, dim }),
        }

        for (position, [u, v]) in record.edges.iter().enumerate() {
            write!(self.edges, "{graph}")?;
            for end in [u, v] {
                match record.node_ids.as_ref().and_then(|ids| ids.get(*end as usize)) {
                    Some(id) => write!(self.edges, ",{}", cell(Some(id)))?,
                    None => write!(self.edges, ",{end}")?,
                }
            }
            match record.weights.as_ref().and_then(|all| all.get(position)) {
                Some(weight) => write!(self.edges, ",{weight:?}")?,
                None => write!(self.edges, ",")?,
            }
            let label = record.edge_labels.as_ref();
            let label = label.and_then(|labels| labels.get(position));
            writeln!(self.edges, ",{}", cell(label))?;
        }
        Ok(())
    }
}

/// A scalar as a cell; empty where there is none. It never holds a line break.
pub(crate) fn cell(scalar: Option<&Scalar>) -> Cow<'_, str> {
    let text = scalar.map_or(Cow::Borrowed(""), spelled);
    if text.contains([',', '"']) {
        Cow::Owned(format!("\"{}\"", text.replace('"', "\"\"")))
    } else {
        text
    }
}

/// Puts the header before the rows, and empty cells after the short ones.
fn complete_nodes(table: &Path, mut rows: File, runs: &[Run]) -> io::Result<()> {
    rows.rewind()?;
    let mut rows = BufReader::new(rows);
    let mut out = BufWriter::new(File::create_new(table)?);
    let dim = runs.iter().map(|run| run.dim).max().unwrap_or(0);
    write!(out, "graph,node,label")?;
    for attribute in 0..dim {
        write!(out, ",x{attribute}")?;
    }
    writeln!(out)?;
    if runs.iter().all(|run| run.dim == dim) {
        io::copy(&mut rows, &mut out)?;
    } else {
        let mut row = Vec::new();
        for run in runs {
            let absent = ",".repeat(dim - run.dim);
            for _ in 0..run.rows {
                row.clear();
                rows.read_until(b'\n', &mut row)?;
                row.pop();
                out.write_all(&row)?;
                writeln!(out, "{absent}")?;
            }
        }
    }
    out.flush()
}

//! Reading a folder of CSV: tables into columns, rows sorted by graph, records
//! made one by one.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use super::attributes::{Attributes, missing, number_in};
use super::graphs::{Entry, GraphTable, not_used};
use super::table::{Row, Table};
use crate::dataset::node_count::are_positions;
use crate::dataset::text::{self, Budget, few};
use crate::dataset::{Format, Limits, Source};
use crate::error::{Error, Limit, Place, Problem, Result, shown};
use crate::graph::{GraphRecord, Scalar};
use crate::group::Groups;

/// Opens a folder of CSV; it is read whole, within `limits.max_unpacked_bytes`.
///
/// # Errors
/// When a table is missing or malformed. What concerns a single graph (a cell that is no
/// number, a repeated node, an edge to an unlisted one) comes in place of that graph's record.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    let mut budget = Budget::new(Limit::UnpackedBytes, limits.max_unpacked_bytes);
    let mut ignored = Vec::new();
    let mut graphs = GraphTable::default();
    let longest = limits.max_record_bytes;

    let file = path.join("graphs.csv");
    if file.exists() {
        let bytes = budget.read_file(&file)?;
        graphs = GraphTable::read(Table::new(&file, &bytes, longest)?, &mut ignored)?;
    }
    let file = path.join("nodes.csv");
    let mut nodes = None;
    if file.exists() {
        let bytes = budget.read_file(&file)?;
        let table = Table::new(&file, &bytes, longest)?;
        nodes = Some(NodeRows::read(table, &mut graphs)?);
    }
    let file = path.join("edges.csv");
    let bytes = budget.read_file(&file)?;
    let table = Table::new(&file, &bytes, longest)?;
    let edges = EdgeRows::read(table, &mut graphs, &mut ignored)?;

    let len = graphs.entries.len();
    let folder = Folder {
        max_nodes: limits.max_nodes,
        nodes_of: nodes.as_ref().map(|rows| Groups::new(len, &rows.graph)),
        edges_of: Groups::new(len, &edges.graph),
        graphs: graphs.entries,
        nodes,
        edges,
    };
    let mut faults = graphs.faults;
    let records = (0..len).map(move |graph| {
        let record = match faults.remove(&(graph as u32)) {
            Some(error) => Err(error),
            None => folder.record(graph),
        };
        record.map_err(Error::of_one_graph)
    });
    let mut source = Source::new(path, Format::CsvFolder, records);
    source.len = Some(len as u64);
    source.known = few(ignored);
    Ok(source)
}

/// `nodes.csv`, a vector a column.
struct NodeRows {
    file: PathBuf,
    graph: Vec<u32>,
    line: Vec<u64>,
    id: Vec<Scalar>,
    label: Option<Vec<Option<Scalar>>>,
    attributes: Attributes,
}

impl NodeRows {
    fn read(mut table: Table, graphs: &mut GraphTable) -> Result<NodeRows> {
        let graph = graphs.column(&table)?;
        let id = table.required(&["node", "id"])?;
        let label = table.column(&["label"]);
        let mut rows = NodeRows {
            file: table.file.to_path_buf(),
            graph: Vec::new(),
            line: Vec::new(),
            id: Vec::new(),
            label: label.map(|_| Vec::new()),
            attributes: Attributes::all(&table, &[graph, Some(id), label]),
        };
        while let Some(row) = table.next()? {
            let graph = graphs.of(&row, graph)?;
            graphs.keep(graph, rows.add(graph, &row, id, label));
            few_enough(&rows.file, &rows.line)?;
        }
        Ok(rows)
    }

    /// Adds a row of `graph`, or nothing of it.
    fn add(&mut self, graph: u32, row: &Row, id: usize, label: Option<usize>) -> Result<()> {
        let id = row.filled(id)?;
        self.attributes.add(row)?;
        self.graph.push(graph);
        self.line.push(row.line);
        self.id.push(text::id(id));
        if let Some(labels) = &mut self.label {
            labels.push(label_in(row.get(label)));
        }
        Ok(())
    }
}

/// `edges.csv`, a vector a column.
struct EdgeRows {
    file: PathBuf,
    graph: Vec<u32>,
    line: Vec<u64>,
    ends: Vec<[Scalar; 2]>,
    /// NaN where the cell is empty.
    weight: Option<Vec<f64>>,
    label: Option<Vec<Option<Scalar>>>,
    attributes: Attributes,
}

/// Columns of `edges.csv`, as Gephi and others write it, that say nothing of an edge.
const NAMES_OF_EDGES: [&str; 5] = ["id", "edge", "edge_id", "key", "type"];

impl EdgeRows {
    fn read(
        mut table: Table,
        graphs: &mut GraphTable,
        ignored: &mut Vec<String>,
    ) -> Result<EdgeRows> {
        let graph = graphs.column(&table)?;
        let source = table.required(&["src", "source", "u"])?;
        let target = table.required(&["dst", "target", "v"])?;
        let weight = table.column(&["weight"]);
        let label = table.column(&["label"]);
        let mut used = vec![graph, Some(source), Some(target), weight, label];
        let names = NAMES_OF_EDGES.map(|name| table.column(&[name]));
        let names: Vec<_> =
            names.into_iter().filter(|at| at.is_some() && !used.contains(at)).collect();
        ignored.extend(names.iter().flatten().map(|&at| not_used(&table, at)));
        used.extend(names);
        let mut rows = EdgeRows {
            file: table.file.to_path_buf(),
            graph: Vec::new(),
            line: Vec::new(),
            ends: Vec::new(),
            weight: weight.map(|_| Vec::new()),
            label: label.map(|_| Vec::new()),
            attributes: Attributes::numbers(&table, &used),
        };
        while let Some(row) = table.next()? {
            let graph = graphs.of(&row, graph)?;
            graphs.keep(graph, rows.add(graph, &row, [source, target], weight, label));
            few_enough(&rows.file, &rows.line)?;
        }
        let texts = rows.attributes.drop_texts();
        ignored
            .extend(texts.iter().filter_map(|name| Some(not_used(&table, table.column(&[name])?))));
        Ok(rows)
    }

    /// Adds a row of `graph`, or nothing of it.
    fn add(
        &mut self,
        graph: u32,
        row: &Row,
        [source, target]: [usize; 2],
        weight: Option<usize>,
        label: Option<usize>,
    ) -> Result<()> {
        let ends = [row.filled(source)?, row.filled(target)?];
        let weight = weight.map(|column| number_in(row, column)).transpose()?;
        self.attributes.add(row)?;
        self.graph.push(graph);
        self.line.push(row.line);
        self.ends.push(ends.map(text::id));
        if let (Some(weights), Some(weight)) = (&mut self.weight, weight) {
            weights.push(weight);
        }
        if let Some(labels) = &mut self.label {
            labels.push(label_in(row.get(label)));
        }
        Ok(())
    }
}

/// Rows are numbered in 32 bits.
fn few_enough(file: &Path, lines: &[u64]) -> Result<()> {
    if lines.len() < u32::MAX as usize {
        return Ok(());
    }
    let last = lines.last().copied().unwrap_or_default();
    Err(Error::input(
        file,
        Place::Line(last),
        "there are too many rows to number",
        "split the collection, or convert it to another format",
    ))
}

fn label_in(cell: &str) -> Option<Scalar> {
    (!cell.is_empty()).then(|| text::label(cell))
}

/// Everything, sorted by graph.
struct Folder {
    max_nodes: u64,
    graphs: Vec<Entry>,
    nodes: Option<NodeRows>,
    nodes_of: Option<Groups>,
    edges: EdgeRows,
    edges_of: Groups,
}

impl Folder {
    fn record(&self, graph: usize) -> Result<GraphRecord> {
        let entry = &self.graphs[graph];
        let edge_rows = self.edges_of.of(graph);
        let mut record = GraphRecord {
            id: entry.id.clone(),
            label: entry.label.clone(),
            targets: entry.targets.clone(),
            directed: entry.directed,
            ..GraphRecord::default()
        };
        let names = match (&self.nodes, &self.nodes_of) {
            (Some(nodes), Some(groups)) => {
                let rows = groups.of(graph);
                self.check_size(&nodes.file, rows, &nodes.line, rows.len())?;
                record.features = nodes.attributes.of(rows, &nodes.file, &nodes.line, "node")?;
                if let Some(labels) = &nodes.label {
                    let labels = |row: usize| labels[row].clone();
                    record.node_labels =
                        all_or_none(&nodes.file, &nodes.line, rows, ["label", "node"], labels)?;
                }
                Names::listed(nodes, rows)?
            }
            _ => {
                let names = Names::met(&self.edges, edge_rows);
                self.check_size(&self.edges.file, edge_rows, &self.edges.line, names.len())?;
                names
            }
        };
        record.num_nodes = names.len() as u32;
        record.edges = edge_rows
            .iter()
            .map(|&row| {
                let end = |id| {
                    names.find(id).ok_or_else(|| {
                        Error::input(
                            &self.edges.file,
                            Place::Line(self.edges.line[row as usize]),
                            format!(
                                "{} is no node of this graph in nodes.csv",
                                shown(&id.to_string())
                            ),
                            "list every node there, or remove nodes.csv",
                        )
                    })
                };
                let [source, target] = &self.edges.ends[row as usize];
                Ok([end(source)?, end(target)?])
            })
            .collect::<Result<_>>()?;
        record.node_ids = names.into_ids();
        let (file, line) = (&self.edges.file, &self.edges.line);
        if let Some(weights) = &self.edges.weight {
            let weight = |row: usize| Some(weights[row]).filter(|weight| !weight.is_nan());
            record.weights = all_or_none(file, line, edge_rows, ["weight", "edge"], weight)?;
        }
        if let Some(labels) = &self.edges.label {
            let label = |row: usize| labels[row].clone();
            record.edge_labels = all_or_none(file, line, edge_rows, ["label", "edge"], label)?;
        }
        record.edge_features = self.edges.attributes.of(edge_rows, file, line, "edge")?;
        Ok(record)
    }

    fn check_size(&self, file: &Path, rows: &[u32], lines: &[u64], nodes: usize) -> Result<()> {
        if nodes as u64 <= self.max_nodes {
            return Ok(());
        }
        let first = rows.first().map_or(1, |&row| lines[row as usize]);
        let problem = Problem::Beyond {
            limit: Limit::Nodes,
            found: Some(nodes as u64),
            allowed: self.max_nodes,
            what: format!("the graph that begins here has {nodes} nodes").into(),
            fix: None,
        };
        Err(problem.at(file, Place::Line(first)))
    }
}

/// A column of one graph: a value on every row, or none at all.
fn all_or_none<T>(
    file: &Path,
    lines: &[u64],
    rows: &[u32],
    [column, of]: [&str; 2],
    value: impl Fn(usize) -> Option<T>,
) -> Result<Option<Vec<T>>> {
    let values: Vec<T> = rows.iter().filter_map(|&row| value(row as usize)).collect();
    if values.is_empty() {
        return Ok(None);
    }
    match rows.iter().find(|&&row| value(row as usize).is_none()) {
        None => Ok(Some(values)),
        Some(&row) => Err(missing(file, lines[row as usize], column, of)),
    }
}

/// The nodes of one graph by id.
enum Names<'a> {
    /// They are `0..n`.
    Numbers(u32),
    /// They are these, in order.
    Ids(Vec<&'a Scalar>, HashMap<&'a Scalar, u32>),
}

impl<'a> Names<'a> {
    /// The nodes that rows of `nodes.csv` list.
    fn listed(nodes: &'a NodeRows, rows: &[u32]) -> Result<Names<'a>> {
        let ids: Vec<&Scalar> = rows.iter().map(|&row| &nodes.id[row as usize]).collect();
        if are_positions(ids.iter().copied()) {
            return Ok(Names::Numbers(ids.len() as u32));
        }
        let mut index = HashMap::with_capacity(ids.len());
        for ((position, &id), &row) in (0..).zip(&ids).zip(rows) {
            if index.insert(id, position).is_some() {
                return Err(Error::input(
                    &nodes.file,
                    Place::Line(nodes.line[row as usize]),
                    format!("node {} is listed twice in its graph", shown(&id.to_string())),
                    "list every node once",
                ));
            }
        }
        Ok(Names::Ids(ids, index))
    }

    /// The nodes that rows of `edges.csv` name.
    fn met(edges: &'a EdgeRows, rows: &[u32]) -> Names<'a> {
        let mut ids = Vec::new();
        let mut index = HashMap::new();
        for &row in rows {
            for id in &edges.ends[row as usize] {
                index.entry(id).or_insert_with(|| {
                    ids.push(id);
                    ids.len() as u32 - 1
                });
            }
        }
        // Distinct integers within 0..n are all of 0..n.
        let count = ids.len() as i64;
        let numbers = |id: &&Scalar| matches!(id, Scalar::Int(n) if (0..count).contains(n));
        if ids.iter().all(numbers) {
            Names::Numbers(ids.len() as u32)
        } else {
            Names::Ids(ids, index)
        }
    }

    fn len(&self) -> usize {
        match self {
            Names::Numbers(n) => *n as usize,
            Names::Ids(ids, _) => ids.len(),
        }
    }

    fn find(&self, id: &Scalar) -> Option<u32> {
        match (self, id) {
            (Names::Numbers(n), id) => {
                let number = id.integer().and_then(|id| u32::try_from(id).ok());
                number.filter(|id| id < n)
            }
            (Names::Ids(_, index), id) => index.get(id).copied(),
        }
    }

    fn into_ids(self) -> Option<Vec<Scalar>> {
        match self {
            Names::Numbers(_) => None,
            Names::Ids(ids, _) => Some(ids.into_iter().cloned().collect()),
        }
    }
}

//! The graphs of a folder: as `graphs.csv` lists them, or as rows name them.

use std::collections::{BTreeMap, HashMap, HashSet};

use super::table::{Row, Table};
use crate::dataset::targets::{ONLY, PREFIX, with_label};
use crate::dataset::text::{self, NotFinite};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Scalar, Target};

const GRAPH: [&str; 2] = ["graph", "graph_id"];

/// The graphs, in order, and how rows name them.
#[derive(Default)]
pub(super) struct GraphTable {
    pub(super) entries: Vec<Entry>,
    /// What is wrong with a graph, known before its rows are put together: the first thing met.
    pub(super) faults: BTreeMap<u32, Error>,
    by_key: HashMap<Box<str>, u32>,
    /// `graphs.csv` lists them, so that there are no others.
    listed: bool,
    /// Whether rows name their graph; unknown until a table was opened.
    named: Option<bool>,
}

/// What `graphs.csv` says of a graph, or its name alone.
#[derive(Default)]
pub(super) struct Entry {
    pub(super) id: Option<Scalar>,
    pub(super) label: Option<Scalar>,
    pub(super) targets: Vec<Target>,
    pub(super) directed: bool,
}

impl GraphTable {
    /// Reads `graphs.csv`.
    pub(super) fn read(mut table: Table, ignored: &mut Vec<String>) -> Result<GraphTable> {
        let key = table.required(&["graph", "graph_id", "id"])?;
        let id = table.column(&["id"]);
        let label = table.column(&["y", "label"]);
        let directed = table.column(&["directed"]);
        let targets = targets_in(&table, label.is_some())?;
        let known = [Some(key), id, label, directed];
        let used: Vec<_> = known.into_iter().chain(targets.iter().map(|t| Some(t.0))).collect();
        ignore_others(&table, &used, ignored);
        let mut graphs = GraphTable { listed: true, ..GraphTable::default() };
        while let Some(row) = table.next()? {
            let name = row.filled(key)?;
            let position = graphs.entries.len() as u32;
            if graphs.by_key.insert(name.into(), position).is_some() {
                return Err(row.bad(key, "is listed twice", "list every graph once"));
            }
            let scalar =
                |cell: &str, read: fn(&str) -> Scalar| (!cell.is_empty()).then(|| read(cell));
            let flag = directed.map_or(Ok(false), |column| match row.get(directed) {
                "true" | "1" => Ok(true),
                "false" | "0" | "" => Ok(false),
                _ => Err(row.bad(column, "is neither true nor false", "write true or false")),
            });
            let found = targets_of(&row, &targets);
            let (label, targets) = with_label(
                scalar(row.get(label), text::label),
                found.as_ref().map_or_else(|_| Vec::new(), Clone::clone),
            );
            graphs.entries.push(Entry {
                id: scalar(row.get(id.or(Some(key))), text::id),
                label,
                targets,
                directed: *flag.as_ref().unwrap_or(&false),
            });
            graphs.keep(position, flag.map(drop));
            graphs.keep(position, found.map(drop));
        }
        Ok(graphs)
    }

    /// The column of `table` that names the graph; without it, the folder must
    /// be one graph.
    pub(super) fn column(&mut self, table: &Table) -> Result<Option<usize>> {
        let column = table.column(&GRAPH);
        let one = !self.listed || self.entries.len() == 1;
        let agreed = self.named.is_none_or(|named| named == column.is_some());
        if !agreed || (column.is_none() && !one) {
            return Err(Error::input(
                table.file,
                Place::Line(1),
                format!(
                    "the header {} {} a column `graph`, unlike the other tables",
                    shown(&table.header.join(",")),
                    if column.is_some() { "has" } else { "has not" }
                ),
                "name the graph of every row in nodes.csv and edges.csv, or, where there is \
                 only one graph, in neither",
            ));
        }
        self.named = Some(column.is_some());
        if column.is_none() && self.entries.is_empty() {
            self.entries.push(Entry::default());
        }
        Ok(column)
    }

    /// Keeps what is wrong with a row of a graph, for when that graph is asked for.
    pub(super) fn keep(&mut self, graph: u32, row: Result<()>) {
        if let Err(error) = row {
            self.faults.entry(graph).or_insert(error);
        }
    }

    /// The graph of a row.
    pub(super) fn of(&mut self, row: &Row, column: Option<usize>) -> Result<u32> {
        let Some(column) = column else { return Ok(0) };
        let key = row.filled(column)?;
        if let Some(&graph) = self.by_key.get(key) {
            return Ok(graph);
        }
        if self.listed {
            return Err(row.bad(
                column,
                "is no graph that graphs.csv lists",
                "list it there, or remove graphs.csv",
            ));
        }
        let graph = self.entries.len() as u32;
        self.entries.push(Entry { id: Some(text::id(key)), ..Entry::default() });
        self.by_key.insert(key.into(), graph);
        Ok(graph)
    }
}

/// The columns that hold targets, with the targets' names.
fn targets_in(table: &Table, labelled: bool) -> Result<Vec<(usize, String)>> {
    let mut known: HashSet<String> = labelled.then(|| ONLY.to_owned()).into_iter().collect();
    let names = table.header.iter().enumerate();
    let names =
        names.filter_map(|(at, column)| Some((at, text::name(column.strip_prefix(PREFIX)?))));
    names
        .map(|(at, name)| match known.insert(name.clone()) {
            true => Ok((at, name)),
            false => Err(Error::input(
                table.file,
                Place::Line(1),
                format!("two columns hold the target {}", shown(&name)),
                "give every target a name of its own",
            )),
        })
        .collect()
}

fn targets_of(row: &Row, columns: &[(usize, String)]) -> Result<Vec<Target>> {
    let target = |(column, name): &(usize, String)| {
        let value = text::target(row.get(Some(*column)))
            .map_err(|_| row.bad(*column, NotFinite::PROBLEM, NotFinite::FIX))?;
        Ok(Target { name: name.clone(), value })
    };
    columns.iter().map(target).collect()
}

/// Says which columns are not read.
fn ignore_others(table: &Table, used: &[Option<usize>], ignored: &mut Vec<String>) {
    let others = (0..table.header.len()).filter(|&column| !used.contains(&Some(column)));
    ignored.extend(others.map(|column| not_used(table, column)));
}

/// The sentence on a column that is not read.
pub(super) fn not_used(table: &Table, column: usize) -> String {
    let file = table.file.file_name().unwrap_or_default().to_string_lossy();
    let name = table.header.get(column).map_or("", |name| name);
    format!("{file}: the column {} is not used", shown(name))
}

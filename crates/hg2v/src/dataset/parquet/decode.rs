//! Row groups into records.

use std::collections::HashSet;
use std::fs::File;
use std::ops::Range;
use std::path::{Path, PathBuf};

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, BooleanArray, LargeListArray, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;

use super::guard::guarded;
use super::open::Opened;
use super::scalars::{
    ScalarColumn, ScalarLists, TextBudget, cast, entries, finite, is_bytes, large_list, no_nulls,
    plain, range,
};
use super::targets::{Targets, names_in};
use super::{JSON_COLUMNS, JSON_TARGETS};
use crate::dataset::fault::Fault;
use crate::dataset::node_count::{NodeCount, are_positions, same_length};
use crate::dataset::targets::{ONLY, PREFIX};
use crate::dataset::{Format, Limits, Source, molecules};
use crate::error::{Error, Fix, Limit, Place, Problem, Result, shown};
use crate::graph::{Features, GraphRecord, Scalar};

/// What a column must hold.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Integer,
    Flag,
    Scalar,
    Integers,
    Numbers,
    NumberRows,
    /// Rows of numbers, or numbers, one an edge.
    EdgeRows,
    Scalars,
    /// A scalar, or several in a list or a struct.
    Targets,
}

/// Every column of the format and what it holds.
const COLUMNS: [(&str, Shape); 12] = [
    ("id", Shape::Scalar),
    (ONLY, Shape::Targets),
    ("num_nodes", Shape::Integer),
    ("src", Shape::Integers),
    ("dst", Shape::Integers),
    ("weight", Shape::Numbers),
    ("nodes", Shape::Scalars),
    ("node_label", Shape::Scalars),
    ("edge_label", Shape::Scalars),
    ("x", Shape::NumberRows),
    ("edge_x", Shape::EdgeRows),
    ("directed", Shape::Flag),
];

/// Opens a file whose name in messages is `path`.
pub(super) fn open(path: &Path, file: File, limits: &Limits) -> Result<Source> {
    let mut ignored = Vec::new();
    let opened = Opened::new(path, file, limits, |schema| {
        let known = find_columns(path, schema)?;
        ignored = known.1;
        Ok(known.0.iter().map(|column| column.root).collect())
    })?;
    let rows = opened.rows;
    let graphs = GraphRows {
        path: path.to_path_buf(),
        limits: *limits,
        json: Json::noted(opened.note(JSON_COLUMNS), opened.note(JSON_TARGETS)),
        reader: Some(opened.reader),
        batch: None,
        next: 0,
        row: 0,
    };
    let mut source = Source::new(path, Format::Parquet, graphs);
    source.len = rows;
    source.known = ignored;
    Ok(source)
}

/// The graphs of rows that are in memory; `origin` names them in messages, and
/// `position` (from 0) is that of the first.
///
/// # Errors
/// A column that is missing or of a wrong type; a row that is no graph.
pub fn records(
    batch: &RecordBatch,
    origin: &Path,
    position: u64,
    limits: &Limits,
) -> Result<Vec<GraphRecord>> {
    each_record(batch, origin, position, limits)?.collect()
}

/// As [`records`], row by row, so that a row that is no graph costs none of the others. Rows with a
/// text `smiles` and without `src` are molecules, as in files.
///
/// # Errors
/// A column that is missing or of a wrong type.
pub fn each_record<'a>(
    batch: &RecordBatch,
    origin: &'a Path,
    position: u64,
    limits: &'a Limits,
) -> Result<Box<dyn Iterator<Item = Result<GraphRecord>> + 'a>> {
    if let Some(rows) = molecules::parquet::each_record(batch, origin, position, limits) {
        return rows;
    }
    let schema = batch.schema();
    find_columns(origin, &schema)?;
    let note = |key| schema.metadata().get(key).cloned();
    let json = Json::noted(note(JSON_COLUMNS), note(JSON_TARGETS));
    let rows = guarded(|| Batch::new(batch, &json))
        .map_err(|problem| unreadable(origin, Place::Record(position + 1), &problem))?;
    Ok(Box::new((0..rows.rows).map(move |row| {
        let place = Place::Record(position + row as u64 + 1);
        rows.record(row, limits).map_err(|fault| fault.at(origin, place))
    })))
}

/// The error of rows that are there, from `place` on, but cannot be read as the format's.
fn unreadable(file: &Path, place: Place, problem: &str) -> Error {
    let problem: String = problem.chars().take(300).collect();
    let problem = format!("in this row, or one soon after it: {problem}");
    Error::input(file, place, problem, "write the columns as the format says them")
}

/// A column of the format, found in the file.
struct Known {
    root: usize,
    name: String,
}

/// The columns of the format that the file has, and a sentence on each other one.
fn find_columns(path: &Path, schema: &Schema) -> Result<(Vec<Known>, Vec<String>)> {
    let refuse = |problem: String, fix: Fix| Error::input(path, Place::Whole, problem, fix);
    let mut known: Vec<Known> = Vec::new();
    let mut ignored = Vec::new();
    let (mut met, mut targets) = (HashSet::new(), HashSet::new());
    for (root, field) in schema.fields().iter().enumerate() {
        let name = field.name();
        let Some(shape) = Shape::of(name) else {
            // A hostile file can have any number of columns.
            if ignored.len() < 32 {
                let name = shown(name);
                ignored.push(format!("column {name}, which is no part of the format"));
            }
            continue;
        };
        if !met.insert(name) {
            return Err(refuse(
                format!("it has two columns {}", shown(name)),
                "rename or drop one of them".into(),
            ));
        }
        if !shape.fits(field.data_type()) {
            return Err(refuse(
                format!("column {} is {}", shown(name), shown(&field.data_type().to_string())),
                format!("write it as {}", shape.wanted()).into(),
            ));
        }
        let own = if name == ONLY { names_in(field.data_type()) } else { Vec::new() };
        for target in own.into_iter().chain(name.strip_prefix(PREFIX)) {
            if !targets.insert(target) {
                return Err(refuse(
                    format!("two columns hold the target {}", shown(target)),
                    "rename or drop one of them".into(),
                ));
            }
        }
        known.push(Known { root, name: name.clone() });
    }
    for name in ["src", "dst"] {
        if !known.iter().any(|column| column.name == name) {
            let fix = "write one row a graph, with list columns `src` and `dst` of the edges' ends \
                       counted from 0";
            return Err(Problem::Column { name, fix: fix.into() }.at(path, Place::Whole));
        }
    }
    Ok((known, ignored))
}

impl Shape {
    /// That of the column of this name; `None` where it is no part of the format.
    fn of(name: &str) -> Option<Shape> {
        let known = COLUMNS.iter().find(|column| column.0 == name).map(|column| column.1);
        known.or(name.starts_with(PREFIX).then_some(Shape::Scalar))
    }

    fn fits(self, data_type: &DataType) -> bool {
        // A column of nothing but nulls or empty lists has no type of its own.
        let null = |t: &DataType| *t == DataType::Null;
        let integer = |t: &DataType| t.is_integer() || null(t);
        let number = |t: &DataType| t.is_integer() || t.is_floating() || null(t);
        let text = |t: &DataType| t.is_string() || is_bytes(t);
        let scalar = |t: &DataType| {
            let t = plain(t);
            number(t) || text(t) || *t == DataType::Boolean
        };
        let list = |t: &DataType, inner: &dyn Fn(&DataType) -> bool| match entries(t) {
            Some(entry) => inner(entry),
            None => null(t),
        };
        match self {
            Shape::Integer => integer(data_type),
            Shape::Flag => *data_type == DataType::Boolean || null(data_type),
            Shape::Scalar => scalar(data_type),
            Shape::Integers => list(data_type, &integer),
            Shape::Numbers => list(data_type, &number),
            Shape::NumberRows => list(data_type, &|inner| list(inner, &number)),
            Shape::EdgeRows => list(data_type, &|inner| number(inner) || list(inner, &number)),
            Shape::Scalars => list(data_type, &scalar),
            Shape::Targets => match data_type {
                DataType::Struct(fields) => fields.iter().all(|field| scalar(field.data_type())),
                data_type => scalar(data_type) || list(data_type, &scalar),
            },
        }
    }

    fn wanted(self) -> &'static str {
        match self {
            Shape::Integer => "integers",
            Shape::Flag => "booleans",
            Shape::Scalar => "integers, numbers, texts or booleans",
            Shape::Integers => "lists of integers",
            Shape::Numbers => "lists of numbers",
            Shape::NumberRows => "lists (one a graph) of lists (one a node) of numbers",
            Shape::EdgeRows => {
                "lists (one a graph) of numbers, or of lists of numbers (one an edge)"
            }
            Shape::Targets => {
                "integers, numbers, texts or booleans, or as lists or structs of them"
            }
            Shape::Scalars => "lists of integers, numbers, texts or booleans",
        }
    }
}

/// The columns whose texts are JSON.
struct Json {
    columns: Vec<&'static str>,
    targets: Vec<String>,
}

impl Json {
    /// Those that are noted: columns of the format between commas, targets as a list in JSON.
    fn noted(columns: Option<String>, targets: Option<String>) -> Json {
        let noted = |name: &&str| columns.iter().flat_map(|c| c.split(',')).any(|c| c == *name);
        let targets = targets.and_then(|targets| serde_json::from_str(&targets).ok());
        Json {
            columns: COLUMNS.iter().map(|column| column.0).filter(noted).collect(),
            targets: targets.unwrap_or_default(),
        }
    }
}

/// The graphs of a file, a batch of rows ahead.
struct GraphRows {
    path: PathBuf,
    limits: Limits,
    /// `None` once it ended or failed.
    reader: Option<ParquetRecordBatchReader>,
    json: Json,
    batch: Option<Batch>,
    /// The next row of the batch.
    next: usize,
    /// Rows given so far.
    row: u64,
}

impl Iterator for GraphRows {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            if let Some(batch) = &self.batch
                && self.next < batch.rows
            {
                let record = batch.record(self.next, &self.limits);
                self.next += 1;
                self.row += 1;
                let place = Place::Record(self.row);
                return Some(record.map_err(|fault| fault.at(&self.path, place)));
            }
            self.batch = None;
            let reader = self.reader.as_mut()?;
            match guarded(|| reader.next().transpose()) {
                Ok(Some(batch)) => match guarded(|| Batch::new(&batch, &self.json)) {
                    Ok(batch) => (self.batch, self.next) = (Some(batch), 0),
                    Err(problem) => {
                        self.reader = None;
                        let place = Place::Record(self.row + 1);
                        return Some(Err(unreadable(&self.path, place, &problem)));
                    }
                },
                Ok(None) => {
                    self.reader = None;
                    return (self.row == 0).then(|| {
                        let fix = "write one row a graph".into();
                        Err(Problem::NoGraphs { fix }.at(&self.path, Place::Whole))
                    });
                }
                Err(problem) => {
                    self.reader = None;
                    let problem: String = problem.chars().take(300).collect();
                    return Some(Err(Error::input(
                        &self.path,
                        Place::Record(self.row + 1),
                        format!("this row, or one soon after it, cannot be decoded: {problem}"),
                        "the file may be damaged: write or download it again",
                    )));
                }
            }
        }
    }
}

/// Decoded rows, each column in the one type its shape is read from.
struct Batch {
    rows: usize,
    id: Option<ScalarColumn>,
    targets: Targets,
    num_nodes: Option<ArrayRef>,
    src: LargeListArray,
    dst: LargeListArray,
    weight: Option<LargeListArray>,
    nodes: Option<ScalarLists>,
    node_label: Option<ScalarLists>,
    edge_label: Option<ScalarLists>,
    x: Option<LargeListArray>,
    /// Lists of lists, or of numbers.
    edge_x: Option<LargeListArray>,
    directed: Option<BooleanArray>,
}

impl Batch {
    fn new(batch: &RecordBatch, json: &Json) -> std::result::Result<Batch, String> {
        let column = |name: &str| batch.column_by_name(name);
        let cast_if_there = |name: &str, to: DataType| {
            column(name).map(|column| cast(name, column, &to)).transpose()
        };
        let list = |name: &str, entries: DataType| {
            let lists = cast_if_there(name, large_list(entries))?;
            Ok::<_, String>(lists.map(|lists| lists.as_list::<i64>().clone()))
        };
        let scalars = |name: &str| {
            column(name).map(|column| ScalarLists::new(name, column, &json.columns)).transpose()
        };
        let id = column("id").map(|column| ScalarColumn::new("id", column, &json.columns));
        let edge_x = column("edge_x").and_then(|column| entries(column.data_type()));
        let edge_x = match edge_x {
            Some(entry) if entries(entry).is_none() => DataType::Float64,
            _ => large_list(DataType::Float64),
        };
        let ends = |name: &str| {
            list(name, DataType::Int64)?.ok_or_else(|| format!("column `{name}` is missing"))
        };
        Ok(Batch {
            rows: batch.num_rows(),
            id: id.transpose()?,
            targets: Targets::new(batch, &json.columns, &json.targets)?,
            num_nodes: cast_if_there("num_nodes", DataType::Int64)?,
            src: ends("src")?,
            dst: ends("dst")?,
            weight: list("weight", DataType::Float64)?,
            nodes: scalars("nodes")?,
            node_label: scalars("node_label")?,
            edge_label: scalars("edge_label")?,
            x: list("x", large_list(DataType::Float64))?,
            edge_x: list("edge_x", edge_x)?,
            directed: cast_if_there("directed", DataType::Boolean)?
                .map(|flags| flags.as_boolean().clone()),
        })
    }

    /// The graph of a row; what is wrong with it is said with its id, since rows of a lake are
    /// hard to count.
    fn record(&self, row: usize, limits: &Limits) -> std::result::Result<GraphRecord, Fault> {
        self.decoded(row, limits).map_err(|fault| {
            let mut text = TextBudget::new(Limit::RecordBytes, limits.max_record_bytes);
            match ScalarColumn::row("id", &self.id, row, &mut text) {
                Ok(Some(id)) => fault.of(&id),
                _ => fault,
            }
        })
    }

    fn decoded(&self, row: usize, limits: &Limits) -> std::result::Result<GraphRecord, Fault> {
        let mut count = NodeCount::within(limits);
        if let Some(said) = &self.num_nodes
            && said.is_valid(row)
        {
            let said = said.as_primitive::<Int64Type>().value(row);
            let nodes = u64::try_from(said).map_err(|_| {
                Fault::new(
                    format!("`num_nodes` is {}", shown(&said.to_string())),
                    "give the number of nodes, 0 or more",
                )
            })?;
            count.says("num_nodes", nodes)?;
        }
        let mut text = TextBudget::new(Limit::RecordBytes, limits.max_record_bytes);
        let names = ScalarLists::row("nodes", &self.nodes, row, &mut text)?;
        if let Some(names) = &names {
            count.says("nodes", names.len() as u64)?;
            all_different(names)?;
        }
        let features = self::features("x", "node", &self.x, row)?;
        if let Some((rows, _)) = &features {
            count.says("x", *rows as u64)?;
        }
        let node_labels = ScalarLists::row("node_label", &self.node_label, row, &mut text)?;
        if let Some(labels) = &node_labels {
            count.says("node_label", labels.len() as u64)?;
        }
        let edges = self.edges(row, &count)?;
        let weights = match &self.weight {
            Some(weights) => numbers("weight", weights, row)?.map(<[f64]>::to_vec),
            None => None,
        };
        if let Some(weights) = &weights {
            same_length("weight", weights.len(), edges.len(), "edges")?;
        }
        let edge_labels = ScalarLists::row("edge_label", &self.edge_label, row, &mut text)?;
        if let Some(labels) = &edge_labels {
            same_length("edge_label", labels.len(), edges.len(), "edges")?;
        }
        let edge_features = self::features("edge_x", "edge", &self.edge_x, row)?;
        if let Some((rows, _)) = &edge_features {
            same_length("edge_x", *rows, edges.len(), "edges")?;
        }
        let (label, targets) = self.targets.row(row, &mut text)?;
        Ok(GraphRecord {
            id: ScalarColumn::row("id", &self.id, row, &mut text)?,
            label,
            targets,
            num_nodes: count.settle(&edges),
            node_ids: names.filter(|names| !are_positions(names)),
            // No edges, no weights: the two ways to say so are one record.
            weights: weights.filter(|weights| !weights.is_empty()),
            edges,
            edge_labels,
            edge_features: edge_features.map(|(_, features)| features),
            node_labels,
            features: features.map(|(_, features)| features),
            directed: self
                .directed
                .as_ref()
                .is_some_and(|directed| directed.is_valid(row) && directed.value(row)),
            folded_repeats: 0,
        })
    }

    fn edges(&self, row: usize, count: &NodeCount) -> std::result::Result<Vec<[u32; 2]>, Fault> {
        let ends = |name: &str, lists: &LargeListArray| {
            let range = range(lists, row).ok_or_else(|| {
                Fault::new(
                    format!("`{name}` is null"),
                    "write an empty list for a graph without edges",
                )
            })?;
            no_nulls(name, lists.values(), &range)?;
            Ok::<_, Fault>(range)
        };
        let (src, dst) = (ends("src", &self.src)?, ends("dst", &self.dst)?);
        if src.len() != dst.len() {
            return Err(Fault::new(
                format!("`src` has {} entries, but `dst` has {}", src.len(), dst.len()),
                "give each edge one entry in both",
            ));
        }
        let src = &self.src.values().as_primitive::<Int64Type>().values()[src];
        let dst = &self.dst.values().as_primitive::<Int64Type>().values()[dst];
        let mut edges = Vec::with_capacity(src.len());
        for (edge, (&from, &to)) in src.iter().zip(dst).enumerate() {
            let from = count.position("src", edge, from)?;
            edges.push([from, count.position("dst", edge, to)?]);
        }
        Ok(edges)
    }
}

/// The attributes of a row, and how many nodes or edges they are of; `None` where it is null.
fn features(
    name: &str,
    of: &str,
    lists: &Option<LargeListArray>,
    row: usize,
) -> std::result::Result<Option<(usize, Features)>, Fault> {
    let Some(lists) = lists else {
        return Ok(None);
    };
    let Some(range) = range(lists, row) else {
        return Ok(None);
    };
    let count = range.len();
    let Some(rows) = lists.values().as_list_opt::<i64>() else {
        // A number for each, which is a row of one; nothing has no row to tell that by.
        let values = finite_numbers(name, lists.values(), range)?.to_vec();
        return Ok(Some((count, Features { dim: count.min(1), values })));
    };
    no_nulls(name, lists.values(), &range)?;
    // Rows lie one after the other, so that all are looked at and taken at once.
    let ends = &rows.value_offsets()[range.start..range.end + 1];
    let dim = ends.get(1).map_or(0, |end| end - ends[0]);
    if let Some(at) = ends.windows(2).position(|two| two[1] - two[0] != dim) {
        let length = ends[at + 1] - ends[at];
        return Err(Fault::new(
            format!("`{name}[{at}]` has {length} numbers, but `{name}[0]` has {dim}"),
            format!("give every {of} the same attributes"),
        ));
    }
    let values = finite_numbers(name, rows.values(), ends[0] as usize..ends[count] as usize)?;
    Ok(Some((count, Features { dim: dim as usize, values: values.to_vec() })))
}

/// The finite numbers of a row; `None` where it is null.
fn numbers<'a>(
    name: &str,
    lists: &'a LargeListArray,
    row: usize,
) -> std::result::Result<Option<&'a [f64]>, Fault> {
    range(lists, row).map(|range| finite_numbers(name, lists.values(), range)).transpose()
}

/// The numbers of a range, which must be there and finite.
fn finite_numbers<'a>(
    name: &str,
    values: &'a ArrayRef,
    range: Range<usize>,
) -> std::result::Result<&'a [f64], Fault> {
    no_nulls(name, values, &range)?;
    let values = &values.as_primitive::<Float64Type>().values()[range];
    for &value in values {
        finite(name, value)?;
    }
    Ok(values)
}

fn all_different(names: &[Scalar]) -> std::result::Result<(), Fault> {
    let mut met = std::collections::HashSet::with_capacity(names.len());
    match names.iter().find(|name| !met.insert(*name)) {
        Some(name) => Err(Fault::new(
            format!("`nodes` names {} twice", shown(&name.to_string())),
            "name each node once",
        )),
        None => Ok(()),
    }
}

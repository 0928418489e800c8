//! From a graph as GraphML says it to a record: which attribute plays which part.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use super::Notices;
use super::document::{Data, Document, Edge, Graph, Key, Kind, Node};
use crate::dataset::node_count::are_positions;
use crate::dataset::text::{Budget, finite};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Features, GraphRecord, Scalar};

/// The record of one graph of a document, without its id.
pub(super) fn record(
    file: &Path,
    document: &Document,
    graph: &Graph,
    budget: &mut Budget,
    notices: &mut Notices,
) -> Result<GraphRecord> {
    let ids: Vec<_> = graph.nodes.iter().map(|n| Scalar::from_text(&n.id)).collect();
    let mut record = GraphRecord {
        num_nodes: graph.nodes.len() as u32,
        directed: directed(graph, notices),
        node_ids: (!are_positions(&ids)).then_some(ids),
        edges: ends(file, graph)?,
        ..GraphRecord::default()
    };

    let mut used = BTreeSet::new();
    let nodes = Column::all(file, document, &graph.nodes, "node", budget)?;
    if let Some(labels) = node_label(&nodes) {
        used.insert(labels.position);
        record.node_labels = Some(labels.scalars()?);
    }
    let features: Vec<_> = nodes
        .iter()
        .filter(|column| column.key.kind != Kind::Text && !used.contains(&column.position))
        .collect();
    for column in &features {
        used.insert(column.position);
    }
    if !features.is_empty() {
        let columns = features.iter().map(|column| column.numbers()).collect::<Result<Vec<_>>>()?;
        let rows = 0..graph.nodes.len();
        record.features = Some(Features {
            dim: columns.len(),
            values: rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect(),
        });
    }

    let edges = Column::all(file, document, &graph.edges, "edge", budget)?;
    let numeric = |column: &&Column<Edge>| column.key.kind != Kind::Text;
    if let Some(weights) = called(&edges, "weight").filter(numeric) {
        used.insert(weights.position);
        record.weights = Some(weights.numbers()?);
    }
    if let Some(labels) = called(&edges, "label").or_else(|| called(&edges, "edge label")) {
        used.insert(labels.position);
        record.edge_labels = Some(labels.scalars()?);
    }

    let whole = Column::all(file, document, std::slice::from_ref(graph), "graph", budget)?;
    let label = ["y", "label", "class"].map(|name| called(&whole, name));
    if let Some(label) = label.into_iter().flatten().next() {
        used.insert(label.position);
        record.label = label.scalars()?.pop();
    }

    let unused = |position: usize| !used.contains(&position);
    say_unused(&nodes, unused, notices);
    say_unused(&edges, unused, notices);
    say_unused(&whole, unused, notices);
    if graph.edges.iter().any(|edge| edge.has_id) {
        notices.say("the edges' ids are not used".to_owned());
    }
    for element in &document.skipped {
        notices.say(format!("the element {} is not used", shown(element)));
    }
    Ok(record)
}

/// The edges, their ends as the positions of nodes.
fn ends(file: &Path, graph: &Graph) -> Result<Vec<[u32; 2]>> {
    let mut index = HashMap::with_capacity(graph.nodes.len());
    for (position, node) in (0u32..).zip(&graph.nodes) {
        if index.insert(node.id.as_str(), position).is_some() {
            return Err(Error::input(
                file,
                Place::Line(node.line),
                format!("there are two nodes {}", shown(&node.id)),
                "give every node of a graph an id of its own",
            ));
        }
    }
    let end = |id: &str, line: u64| {
        index.get(id).copied().ok_or_else(|| {
            Error::input(
                file,
                Place::Line(line),
                format!("the edge's end {} is no node of its graph", shown(id)),
                "declare every node with `<node id=…/>`",
            )
        })
    };
    let both = |edge: &Edge| Ok([end(&edge.source, edge.line)?, end(&edge.target, edge.line)?]);
    graph.edges.iter().map(both).collect()
}

/// Whether the graph is directed, by its default and what its edges say.
fn directed(graph: &Graph, notices: &mut Notices) -> bool {
    let edges = &graph.edges;
    let directed = |edge: &Edge| edge.directed.unwrap_or(graph.directed);
    let count = edges.iter().filter(|edge| directed(edge)).count();
    if count != 0 && count != edges.len() {
        notices.say("directed and undirected edges are mixed; all are taken as directed".into());
    }
    if edges.is_empty() { graph.directed } else { count > 0 }
}

/// The node attribute that is the label: `label`, else the only one of text.
fn node_label<'c, 'a>(columns: &'c [Column<'a, Node>]) -> Option<&'c Column<'a, Node>> {
    let called = called(columns, "label").filter(|column| column.key.kind != Kind::Float);
    called.or_else(|| {
        // A key without a name is yEd's drawing.
        let text = |key: &Key| key.kind == Kind::Text && key.name.is_some();
        let mut texts = columns.iter().filter(|column| text(column.key));
        texts.next().filter(|_| texts.next().is_none())
    })
}

fn called<'c, 'a, T>(columns: &'c [Column<'a, T>], name: &str) -> Option<&'c Column<'a, T>> {
    columns.iter().find(|column| column.name().eq_ignore_ascii_case(name))
}

fn say_unused<T>(columns: &[Column<T>], unused: impl Fn(usize) -> bool, notices: &mut Notices) {
    for column in columns.iter().filter(|column| unused(column.position)) {
        notices.say(format!("the {} attribute {} is not used", column.of, shown(column.name())));
    }
}

/// A thing that can have data.
trait Described {
    fn data(&self) -> &Data;
    fn line(&self) -> u64;
    /// What to call it in a message.
    fn name(&self) -> String;
}

impl Described for Node {
    fn data(&self) -> &Data {
        &self.data
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn name(&self) -> String {
        format!("node {}", shown(&self.id))
    }
}

impl Described for Edge {
    fn data(&self) -> &Data {
        &self.data
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn name(&self) -> String {
        format!("the edge {} to {}", shown(&self.source), shown(&self.target))
    }
}

impl Described for Graph {
    fn data(&self) -> &Data {
        &self.data
    }

    fn line(&self) -> u64 {
        self.line
    }

    fn name(&self) -> String {
        "the graph".to_owned()
    }
}

/// One attribute of all nodes, all edges, or the graph.
struct Column<'a, T> {
    file: &'a Path,
    key: &'a Key,
    /// The key's position.
    position: usize,
    items: &'a [T],
    values: Vec<Option<&'a str>>,
    of: &'static str,
}

impl<'a, T: Described> Column<'a, T> {
    /// The attributes that at least one of `items` has, as declared.
    fn all(
        file: &'a Path,
        document: &'a Document,
        items: &'a [T],
        of: &'static str,
        budget: &mut Budget,
    ) -> Result<Vec<Column<'a, T>>> {
        let mut present = BTreeSet::new();
        if !items.is_empty() {
            present.extend(document.defaults(of));
        }
        for item in items {
            present.extend(item.data().iter().map(|(position, _)| *position));
        }
        // Many keys times many nodes: a small file could ask for a huge table.
        let cells = present.len().saturating_mul(items.len());
        budget.take(file, cells.saturating_mul(size_of::<Option<&str>>()) as u64)?;
        let mut columns: BTreeMap<usize, Column<T>> = present
            .into_iter()
            .filter_map(|position| {
                let key = document.keys.get(position)?;
                let column = Column {
                    file,
                    key,
                    position,
                    items,
                    values: vec![key.default.as_deref(); items.len()],
                    of,
                };
                Some((position, column))
            })
            .collect();
        for (row, item) in items.iter().enumerate() {
            for (position, value) in item.data() {
                if let Some(column) = columns.get_mut(position) {
                    column.values[row] = Some(value);
                }
            }
        }
        Ok(columns.into_values().collect())
    }

    fn scalars(&self) -> Result<Vec<Scalar>> {
        self.each(|text| match self.key.kind {
            Kind::Text => Some(Scalar::from(text)),
            Kind::Integer => text.trim().parse().ok().map(Scalar::Int),
            Kind::Boolean => boolean(text).map(Scalar::Bool),
            Kind::Float => finite(text.trim()).map(Scalar::Float),
        })
    }

    fn numbers(&self) -> Result<Vec<f64>> {
        self.each(|text| match self.key.kind {
            Kind::Boolean => boolean(text).map(f64::from),
            _ => finite(text.trim()),
        })
    }

    fn each<V>(&self, read: impl Fn(&str) -> Option<V>) -> Result<Vec<V>> {
        let pairs = self.items.iter().zip(&self.values);
        pairs
            .map(|(item, value)| {
                let value = value.ok_or_else(|| {
                    self.refuse(
                        item,
                        format!("{} has none, but others have", item.name()),
                        "give it one, or give the key a `<default>`",
                    )
                })?;
                read(value).ok_or_else(|| {
                    let kind = match self.key.kind {
                        Kind::Integer => "an integer",
                        Kind::Float => "a finite number",
                        Kind::Boolean => "true or false",
                        Kind::Text => "text",
                    };
                    let problem = format!("{} has {}", item.name(), shown(value));
                    self.refuse(item, problem, &format!("its type wants {kind}"))
                })
            })
            .collect()
    }

    fn refuse(&self, item: &T, problem: String, fix: &str) -> Error {
        Error::input(
            self.file,
            Place::Line(item.line()),
            format!("attribute {}: {problem}", shown(self.name())),
            fix,
        )
    }
}

impl<T> Column<'_, T> {
    /// The attribute's name; its key's id where it has none.
    fn name(&self) -> &str {
        self.key.name.as_deref().unwrap_or(&self.key.id)
    }
}

/// XML says `true`, networkx says `True`.
fn boolean(text: &str) -> Option<bool> {
    match text.trim() {
        "true" | "True" | "1" => Some(true),
        "false" | "False" | "0" => Some(false),
        _ => None,
    }
}

//! From a graph as GraphML says it to a record: which attribute plays which part.

use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::path::Path;

use super::document::{Data, Document, Edge, Graph, Key, Kind, Node};
use super::{DRAWING_UNUSED, Notices};
use crate::dataset::node_count::are_positions;
use crate::dataset::targets::{PREFIX, with_label};
use crate::dataset::text::{Budget, finite};
use crate::error::{Error, Fix, Place, Result, shown};
use crate::graph::{Features, GraphRecord, Scalar, Target};

/// The record of one graph of a document, without its id, and what its nodes are called.
pub(super) fn record(
    file: &Path,
    document: &Document,
    graph: &Graph,
    drawing: bool,
    budget: &mut Budget,
    notices: &mut Notices,
) -> Result<(GraphRecord, Option<Names>)> {
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
    let label = node_label(&nodes);
    if let Some(labels) = label {
        used.insert(labels.position);
        record.node_labels = Some(labels.scalars()?);
    }
    let text = |column: &&Column<Node>| column.kind == Kind::Text;
    let names = called(&nodes, "name").filter(text).map(|names| Names {
        names: names.values.iter().map(|name| name.map(Scalar::from)).collect(),
        is_label: label.is_some_and(|label| label.position == names.position),
    });
    let drawn = !drawing && is_gephis(document);
    record.features = features(&nodes, drawn, &mut used)?;

    let edges = Column::all(file, document, &graph.edges, "edge", budget)?;
    let numeric = |column: &&Column<Edge>| column.kind != Kind::Text;
    if let Some(weights) = called(&edges, "weight").filter(numeric) {
        used.insert(weights.position);
        record.weights = Some(weights.numbers()?);
    }
    let labels = called(&edges, "label").or_else(|| called(&edges, "edge label"));
    if let Some(labels) = labels.or_else(|| only_text(&edges)) {
        used.insert(labels.position);
        record.edge_labels = Some(labels.scalars()?);
    }
    record.edge_features = features(&edges, drawn, &mut used)?;

    let whole = Column::all(file, document, std::slice::from_ref(graph), "graph", budget)?;
    let label = ["y", "label", "class"].map(|name| called(&whole, name));
    if let Some(label) = label.into_iter().flatten().next() {
        used.insert(label.position);
        record.label = label.scalars()?.pop();
    }
    for column in &whole {
        let Some(name) = column.name.strip_prefix(PREFIX) else { continue };
        used.insert(column.position);
        let value = column.scalars()?.pop();
        record.targets.push(Target { name: name.to_owned(), value });
    }
    (record.label, record.targets) = with_label(record.label, record.targets);

    if drawn {
        used.extend(say_drawing(&nodes, &used, notices));
        used.extend(say_drawing(&edges, &used, notices));
    }
    // Names have a sentence of their own, when all of them are known.
    used.extend(called(&nodes, "name").filter(|_| names.is_some()).map(|names| names.position));
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
    Ok((record, names))
}

/// The columns of numbers that are not `used` yet, which they are then; nor are those of a drawing
/// that are not asked for.
fn features<T: Described>(
    columns: &[Column<T>],
    drawn: bool,
    used: &mut BTreeSet<usize>,
) -> Result<Option<Features>> {
    let numbers: Vec<_> = columns
        .iter()
        .filter(|column| column.kind != Kind::Text && !used.contains(&column.position))
        .filter(|column| !(drawn && called_alike(column.key, &DRAWING)))
        .collect();
    used.extend(numbers.iter().map(|column| column.position));
    let rows = 0..columns.first().map_or(0, |column| column.items.len());
    let columns = numbers.iter().map(|column| column.numbers()).collect::<Result<Vec<_>>>()?;
    Ok((!columns.is_empty()).then(|| Features {
        dim: columns.len(),
        values: rows.flat_map(|row| columns.iter().map(move |column| column[row])).collect(),
    }))
}

/// Says which columns are of Gephi's drawing, and gives their positions.
fn say_drawing<T>(
    columns: &[Column<T>],
    used: &BTreeSet<usize>,
    notices: &mut Notices,
) -> Vec<usize> {
    let drawing: Vec<_> = columns
        .iter()
        .filter(|column| column.kind != Kind::Text && called_alike(column.key, &DRAWING))
        .filter(|column| !used.contains(&column.position))
        .collect();
    if let Some(first) = drawing.first() {
        let names: Vec<String> = drawing.iter().map(|column| shown(column.name)).collect();
        notices.say(format!("the {} attributes {} {DRAWING_UNUSED}", first.of, names.join(", ")));
    }
    drawing.iter().map(|column| column.position).collect()
}

/// The only attribute of text, if there is just one and everything has it; a key without a name
/// is yEd's drawing.
fn only_text<'c, 'a, T>(columns: &'c [Column<'a, T>]) -> Option<&'c Column<'a, T>> {
    let text = |column: &&Column<T>| column.kind == Kind::Text && column.key.name.is_some();
    let mut texts = columns.iter().filter(text);
    let only = texts.next().filter(|_| texts.next().is_none());
    only.filter(|column| column.values.iter().all(Option::is_some))
}

/// What the nodes of a graph are called.
pub(super) struct Names {
    /// A name a node, where it has one.
    pub(super) names: Vec<Option<Scalar>>,
    /// Whether they are the record's labels so far.
    pub(super) is_label: bool,
}

impl Names {
    /// Whether every node has a name of its own.
    pub(super) fn tell_apart(&self) -> bool {
        let mut met = HashSet::with_capacity(self.names.len());
        self.names.iter().all(|name| name.as_ref().is_some_and(|name| met.insert(name)))
    }
}

/// What Gephi writes about the drawing of a node.
const DRAWING: [&str; 8] = ["x", "y", "z", "r", "g", "b", "alpha", "size"];

/// Whether Gephi wrote the document, by the keys that it always or usually writes: others may well
/// have a place for every node that means something.
fn is_gephis(document: &Document) -> bool {
    let keys = &document.keys;
    let label = |key: &Key| key.id == "edgelabel" && key.name.as_deref() == Some("Edge Label");
    keys.iter().any(label)
        || ["r", "g", "b"].iter().all(|colour| keys.iter().any(|key| called_alike(key, &[colour])))
}

/// Whether a key is called as its attribute, which is one of `names`: Gephi declares them so.
fn called_alike(key: &Key, names: &[&str]) -> bool {
    names.contains(&&*key.id) && key.name.as_deref() == Some(&*key.id)
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

/// The node attribute that is the label: `label`, else the only one of text beside `name`, else
/// `name`.
fn node_label<'c, 'a>(columns: &'c [Column<'a, Node>]) -> Option<&'c Column<'a, Node>> {
    let label = called(columns, "label").filter(|column| column.kind != Kind::Float);
    label.or_else(|| {
        let is_name = |column: &Column<Node>| column.name.eq_ignore_ascii_case("name");
        // A key without a name is yEd's drawing.
        let text = |column: &&Column<Node>| column.kind == Kind::Text && column.key.name.is_some();
        let mut texts: Vec<_> = columns.iter().filter(text).collect();
        if texts.len() > 1 {
            texts.retain(|column| !is_name(column));
        }
        texts.pop().filter(|_| texts.is_empty())
    })
}

fn called<'c, 'a, T>(columns: &'c [Column<'a, T>], name: &str) -> Option<&'c Column<'a, T>> {
    columns.iter().find(|column| column.name.eq_ignore_ascii_case(name))
}

fn say_unused<T>(columns: &[Column<T>], unused: impl Fn(usize) -> bool, notices: &mut Notices) {
    for column in columns.iter().filter(|column| unused(column.position)) {
        // What is called a weight and is none deserves a reason.
        let is_weight = column.of == "edge" && column.name.eq_ignore_ascii_case("weight");
        let why = match (is_weight, column.mixed) {
            (true, true) => ": some edges have numbers, others text",
            (true, false) => ": its type is text, not a number",
            _ => "",
        };
        notices.say(format!("the {} attribute {} is not used{why}", column.of, shown(column.name)));
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
    /// Its key, the first where several have its name: networkx declares one for each type.
    key: &'a Key,
    /// The key's position.
    position: usize,
    /// The attribute's name; its key's id where it has none.
    name: &'a str,
    /// The type that holds the values of all its keys.
    kind: Kind,
    /// Whether its keys are of several types.
    mixed: bool,
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
        let mut columns: Vec<Column<T>> = Vec::new();
        let mut by_name: HashMap<&str, usize> = HashMap::new();
        let mut column_of: BTreeMap<usize, usize> = BTreeMap::new();
        for position in present {
            let Some(key) = document.keys.get(position) else { continue };
            let known = key.name.as_deref().and_then(|name| by_name.get(name).copied());
            if let Some(column) = known {
                columns[column].join(key);
                column_of.insert(position, column);
                continue;
            }
            by_name.extend(key.name.as_deref().map(|name| (name, columns.len())));
            column_of.insert(position, columns.len());
            columns.push(Column {
                file,
                key,
                position,
                name: key.name.as_deref().unwrap_or(&key.id),
                kind: key.kind,
                mixed: false,
                items,
                values: vec![key.default.as_deref(); items.len()],
                of,
            });
        }
        for (row, item) in items.iter().enumerate() {
            for (position, value) in item.data() {
                if let Some(&column) = column_of.get(position) {
                    columns[column].values[row] = Some(value);
                }
            }
        }
        Ok(columns)
    }

    /// Takes in another key of its name, before there are values but defaults.
    fn join(&mut self, key: &'a Key) {
        self.mixed |= self.kind != key.kind;
        self.kind = self.kind.wider(key.kind);
        if let Some(default) = key.default.as_deref() {
            self.values.iter_mut().for_each(|value| *value = value.or(Some(default)));
        }
    }

    fn scalars(&self) -> Result<Vec<Scalar>> {
        self.each(|text| match self.kind {
            Kind::Text => Some(Scalar::from(text)),
            Kind::Integer => {
                let whole = text.trim().parse().ok();
                whole.or_else(|| self.word(text).map(i64::from)).map(Scalar::Int)
            }
            Kind::Boolean => boolean(text).map(Scalar::Bool),
            Kind::Float => self.number(text).map(Scalar::Float),
        })
    }

    fn numbers(&self) -> Result<Vec<f64>> {
        self.each(|text| match self.kind {
            Kind::Boolean => boolean(text).map(f64::from),
            _ => self.number(text),
        })
    }

    fn number(&self, text: &str) -> Option<f64> {
        finite(text.trim()).or_else(|| self.word(text).map(f64::from))
    }

    /// A boolean among numbers, of an attribute that has both.
    fn word(&self, text: &str) -> Option<bool> {
        boolean(text).filter(|_| self.mixed)
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
                    let kind = match self.kind {
                        Kind::Integer => "an integer",
                        Kind::Float => "a finite number",
                        Kind::Boolean => "true or false",
                        Kind::Text => "text",
                    };
                    let problem = format!("{} has {}", item.name(), shown(value));
                    self.refuse(item, problem, format!("its type wants {kind}"))
                })
            })
            .collect()
    }

    fn refuse(&self, item: &T, problem: String, fix: impl Into<Fix>) -> Error {
        Error::input(
            self.file,
            Place::Line(item.line()),
            format!("attribute {}: {problem}", shown(self.name)),
            fix,
        )
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

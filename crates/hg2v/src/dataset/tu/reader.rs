//! Reading the TU layout: every file whole, once, into flat columns; records are
//! cut from them one by one.

use std::collections::HashMap;
use std::path::Path;

use super::files::{Files, Held};
use super::fold::{Folded, fold};
use super::{Listing, suffix};
use crate::dataset::group::Groups;
use crate::dataset::text::{self, finite, lines, unsigned, utf8};
use crate::dataset::{Limits, Source};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Features, GraphRecord, Scalar};

/// Opens a TU folder or zip; it is read whole, within `limits.max_unpacked_bytes`.
///
/// # Errors
/// When a file is missing, damaged or malformed, when files disagree about how
/// many lines they have, or when a limit is exceeded.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    let mut files = Files::open(path, limits)?;
    let set = Set::read(&mut files, limits)?;
    let mut ignored = files.ignored();
    ignored.extend(set.notices.iter().cloned());
    let len = set.num_graphs();
    let records = (0..len).map(move |graph| Ok(set.record(graph)));
    let mut source = Source::new(path, files.format(), records);
    source.len = Some(len as u64);
    source.ignored = ignored;
    Ok(source)
}

/// A whole set, in columns. Node columns are ordered by graph, edge columns as
/// the lines of `A`.
struct Set {
    graph_labels: Option<Vec<Scalar>>,
    graph_ids: Option<Vec<Option<Scalar>>>,
    listings: Option<Vec<Listing>>,
    nodes: Nodes,
    node_labels: Option<Labels>,
    node_ids: Option<Vec<Option<Scalar>>>,
    features: Option<Features>,
    /// Both ends as positions in the node columns.
    edges: Vec<[u32; 2]>,
    edge_labels: Option<Labels>,
    weights: Option<Vec<f64>>,
    folded: Folded,
    /// What the set holds and records do not carry.
    notices: Vec<String>,
}

impl Set {
    fn read(files: &mut Files, limits: &Limits) -> Result<Set> {
        let graph_labels = files.optional(suffix::GRAPH_LABELS)?;
        let graph_labels = graph_labels
            .map(|held| graph_labels_of(&held))
            .transpose()?;
        let listings = files.optional(suffix::EDGE_LINES)?;
        let listings = listings.map(|held| listings_of(&held)).transpose()?;
        let graph_ids = files.optional(suffix::GRAPH_IDS)?;
        let graph_ids = graph_ids.map(|held| ids_of(&held)).transpose()?;

        let declared = graph_labels.as_ref().map(Vec::len);
        let declared = declared.or(listings.as_ref().map(Vec::len));
        let nodes = Nodes::read(&files.required(suffix::GRAPH_INDICATOR)?, declared, limits)?;

        let mut notices = Vec::new();
        let per_node = |held: Held| Labels::read(&held, nodes.len(), "nodes");
        let node_labels = files.optional(suffix::NODE_LABELS)?;
        let node_labels = node_labels.map(per_node).transpose()?;
        let node_labels = node_labels.map(|labels| Labels {
            codes: nodes.arrange(labels.codes, 1),
            names: labels.names,
        });
        let features = files.optional(suffix::NODE_ATTRIBUTES)?;
        let features = features
            .map(|held| numbers(&held, nodes.len(), "nodes"))
            .transpose()?
            .filter(|features| features.dim > 0)
            .map(|features| Features {
                dim: features.dim,
                values: nodes.arrange(features.values, features.dim),
            });
        let node_ids = files.optional(suffix::NODE_IDS)?;
        let node_ids = node_ids.map(|held| nodes.ids(&held)).transpose()?;

        let a = files.required(suffix::A)?;
        let (edges, graph_of) = nodes.edges(&a)?;
        let edge_labels = files.optional(suffix::EDGE_LABELS)?;
        let edge_labels = edge_labels
            .map(|held| Labels::read(&held, edges.len(), "lines of A"))
            .transpose()?;
        let weights = match files.optional(suffix::EDGE_ATTRIBUTES)? {
            Some(held) => {
                let attributes = numbers(&held, edges.len(), "lines of A")?;
                if attributes.dim > 1 {
                    notices.push(format!(
                        "{}: {} attributes an edge; only a single one, a weight, is used",
                        shown(&held.path.file_name().unwrap_or_default().to_string_lossy()),
                        attributes.dim
                    ));
                }
                (attributes.dim == 1).then_some(attributes.values)
            }
            None => None,
        };

        let (mut other_labels, mut other_weights) = (0u64, 0u64);
        let listing = |graph: usize| {
            let given = listings.as_ref().and_then(|all| all.get(graph).copied());
            given.unwrap_or(Listing::Both)
        };
        let folded = fold(&edges, &graph_of, &nodes.starts, listing, |first, again| {
            let (first, again) = (first as usize, again as usize);
            if let Some(labels) = &edge_labels {
                other_labels += u64::from(labels.get(first) != labels.get(again));
            }
            if let Some(weights) = &weights {
                other_weights += u64::from(weights[first] != weights[again]);
            }
        });
        let folded = folded.map_err(|unpaired| {
            Error::input(
                &a.path,
                Place::Line(u64::from(unpaired.line) + 1),
                "the graph is listed in `pairs`, but the edge's reverse does not follow",
                format!(
                    "write each edge as `u, v` then `v, u`, or remove the graph's word in {}",
                    suffix::EDGE_LINES
                ),
            )
        })?;
        for (count, what) in [(other_labels, "label"), (other_weights, "weight")] {
            if count > 0 {
                notices.push(format!(
                    "{count} lines of A repeat an edge with another {what}; the first line's holds"
                ));
            }
        }
        Ok(Set {
            graph_labels,
            graph_ids,
            listings,
            nodes,
            node_labels,
            node_ids,
            features,
            edges,
            edge_labels,
            weights,
            folded,
            notices,
        })
    }

    fn num_graphs(&self) -> usize {
        self.nodes.starts.len() - 1
    }

    fn record(&self, graph: usize) -> GraphRecord {
        let nodes = self.nodes.starts[graph]..self.nodes.starts[graph + 1];
        let lines = &self.folded.lines[self.folded.starts[graph]..self.folded.starts[graph + 1]];
        let lines = || lines.iter().map(|&line| line as usize);
        let any_node = !nodes.is_empty();
        let any_edge = lines().next().is_some();
        let first = nodes.start as u32;
        GraphRecord {
            id: self
                .graph_ids
                .as_ref()
                .and_then(|ids| ids.get(graph).cloned().flatten()),
            label: self
                .graph_labels
                .as_ref()
                .and_then(|labels| labels.get(graph).cloned()),
            num_nodes: nodes.len() as u32,
            node_ids: self
                .node_ids
                .as_ref()
                .and_then(|ids| ids[nodes.clone()].iter().cloned().collect())
                .filter(|ids: &Vec<Scalar>| any_node && !counts_from_zero(ids)),
            edges: lines()
                .map(|line| self.edges[line].map(|end| end - first))
                .collect(),
            weights: (self.weights.as_ref())
                .filter(|_| any_edge)
                .map(|weights| lines().map(|line| weights[line]).collect()),
            edge_labels: (self.edge_labels.as_ref())
                .filter(|_| any_edge)
                .map(|labels| lines().map(|line| labels.get(line).clone()).collect()),
            node_labels: (self.node_labels.as_ref())
                .filter(|_| any_node)
                .map(|labels| nodes.clone().map(|node| labels.get(node).clone()).collect()),
            features: (self.features.as_ref())
                .filter(|_| any_node)
                .map(|all| Features {
                    dim: all.dim,
                    values: all.values[nodes.start * all.dim..nodes.end * all.dim].to_vec(),
                }),
            directed: (self.listings.as_ref())
                .is_some_and(|all| all.get(graph) == Some(&Listing::Directed)),
            folded_repeats: self.folded.repeats[graph],
        }
    }
}

fn counts_from_zero(ids: &[Scalar]) -> bool {
    (0..).zip(ids).all(|(n, id)| *id == Scalar::Int(n))
}

/// Which nodes make up which graph.
struct Nodes {
    /// The graph of each node, in file order.
    graph_of: Vec<u32>,
    /// Graph `g` has the positions `starts[g]..starts[g + 1]` of the node columns.
    starts: Vec<usize>,
    /// The node of the file at each position; `None` where graphs are contiguous,
    /// so that positions are file order.
    order: Option<Vec<u32>>,
    /// The position of each node of the file; `None` likewise.
    position: Option<Vec<u32>>,
}

impl Nodes {
    /// Reads the indicator; `declared` graphs are known from another file.
    fn read(held: &Held, declared: Option<usize>, limits: &Limits) -> Result<Nodes> {
        const FIX: &str = "each line is the number of the graph its node belongs to, from 1";
        let bad =
            |number, problem: String| Error::input(&held.path, Place::Line(number), problem, FIX);
        let mut graph_of = Vec::new();
        let mut num_graphs = declared.unwrap_or(0) as u64;
        let mut last = 0;
        let mut contiguous = true;
        for (number, line) in lines(&held.bytes) {
            let spelled = || shown(&String::from_utf8_lossy(line));
            let graph = unsigned(line)
                .filter(|&graph| graph > 0)
                .ok_or_else(|| bad(number, format!("{} is no number of a graph", spelled())))?;
            if graph > num_graphs {
                // Without a file that counts the graphs, numbers may skip graphs
                // without nodes, but not so many that counting them hurts.
                let most = match declared {
                    Some(declared) => declared as u64,
                    None => (number.saturating_add(limits.max_nodes)).min(u64::from(u32::MAX) - 1),
                };
                if graph > most {
                    let counted = match declared {
                        Some(declared) => format!("there are labels for {declared} graphs only"),
                        None => "so many graphs before it have no nodes".to_owned(),
                    };
                    return Err(bad(number, format!("graph {}: {counted}", spelled())));
                }
                num_graphs = graph;
            }
            contiguous &= graph >= last;
            last = graph;
            graph_of.push((graph - 1) as u32);
            if graph_of.len() >= u32::MAX as usize {
                return Err(bad(number, "there are too many nodes to number".to_owned()));
            }
        }
        let Groups { starts, order } = Groups::new(num_graphs as usize, &graph_of);
        let largest = starts.windows(2).map(|w| w[1] - w[0]).enumerate();
        if let Some((graph, nodes)) = largest.max_by_key(|&(graph, n)| (n, usize::MAX - graph))
            && nodes as u64 > limits.max_nodes
        {
            return Err(Error::input(
                &held.path,
                Place::Whole,
                format!(
                    "graph {} has {nodes} nodes, more than the {} allowed",
                    graph + 1,
                    limits.max_nodes
                ),
                "if it really is that large, raise --max-nodes",
            ));
        }
        let position = (!contiguous).then(|| {
            let mut position = vec![0; order.len()];
            for (place, &node) in (0..).zip(&order) {
                position[node as usize] = place;
            }
            position
        });
        Ok(Nodes {
            graph_of,
            starts,
            order: (!contiguous).then_some(order),
            position,
        })
    }

    fn len(&self) -> usize {
        self.graph_of.len()
    }

    /// A column of `width` values a node, from file order to order by graph.
    fn arrange<T: Clone>(&self, values: Vec<T>, width: usize) -> Vec<T> {
        match &self.order {
            None => values,
            Some(order) => order
                .iter()
                .flat_map(|&node| &values[node as usize * width..(node as usize + 1) * width])
                .cloned()
                .collect(),
        }
    }

    /// The nodes' own ids: all of a graph's, or none.
    fn ids(&self, held: &Held) -> Result<Vec<Option<Scalar>>> {
        let mut ids = ids_of(held)?;
        if ids.len() > self.len() {
            return Err(wrong_count(held, ids.len(), self.len(), "nodes"));
        }
        ids.resize(self.len(), None);
        let ids = self.arrange(ids, 1);
        for (graph, range) in self.starts.windows(2).enumerate() {
            let given = ids[range[0]..range[1]].iter().flatten().count();
            if given != 0 && given != range[1] - range[0] {
                return Err(Error::input(
                    &held.path,
                    Place::Whole,
                    format!(
                        "some nodes of graph {} have an id and some have none",
                        graph + 1
                    ),
                    "give every node of a graph an id, or none",
                ));
            }
        }
        Ok(ids)
    }

    /// Reads `A`: both ends of each line as positions, and the line's graph.
    fn edges(&self, held: &Held) -> Result<(Vec<[u32; 2]>, Vec<u32>)> {
        let mut edges = Vec::new();
        let mut graph_of = Vec::new();
        for (number, line) in lines(&held.bytes) {
            let ends = two(line).and_then(|(u, v)| Some([self.node(u)?, self.node(v)?]));
            let Some([u, v]) = ends else {
                return Err(self.bad_edge(held, number, line));
            };
            let graph = self.graph_of[u as usize];
            if graph != self.graph_of[v as usize] {
                return Err(Error::input(
                    &held.path,
                    Place::Line(number),
                    format!(
                        "the edge {} joins a node of graph {} and one of graph {}",
                        shown(&String::from_utf8_lossy(line)),
                        graph + 1,
                        self.graph_of[v as usize] + 1
                    ),
                    "an edge stays inside one graph: check the indicator",
                ));
            }
            if edges.len() >= u32::MAX as usize {
                return Err(Error::input(
                    &held.path,
                    Place::Line(number),
                    "there are too many lines to number",
                    "split the set, or convert it to another format",
                ));
            }
            edges.push(match &self.position {
                None => [u, v],
                Some(position) => [position[u as usize], position[v as usize]],
            });
            graph_of.push(graph);
        }
        Ok((edges, graph_of))
    }

    /// The node that `id` names, from 0.
    fn node(&self, id: &[u8]) -> Option<u32> {
        let node = unsigned(id)?.checked_sub(1)?;
        (node < self.len() as u64).then_some(node as u32)
    }

    #[cold]
    fn bad_edge(&self, held: &Held, number: u64, line: &[u8]) -> Error {
        let text = |bytes| shown(&String::from_utf8_lossy(bytes));
        let problem = match two(line) {
            None => format!("{} is not two node ids", text(line)),
            Some((u, v)) => {
                let bad = if self.node(u).is_none() { u } else { v };
                format!("{} is not a node of this set", text(bad))
            }
        };
        let fix = match self.len() {
            0 => "the indicator lists no nodes, so there can be no edges".to_owned(),
            n => format!("a line is `u, v`, and the indicator lists the nodes 1 to {n}"),
        };
        Error::input(&held.path, Place::Line(number), problem, fix)
    }
}

/// The two words of a line, separated by a comma, blanks, or both.
fn two(line: &[u8]) -> Option<(&[u8], &[u8])> {
    let end = line
        .iter()
        .position(|&b| b == b',' || b.is_ascii_whitespace())?;
    let (first, rest) = line.split_at(end);
    let rest = rest.trim_ascii_start();
    let second = rest.strip_prefix(b",").unwrap_or(rest).trim_ascii_start();
    let more = second.iter().any(|&b| b == b',' || b.is_ascii_whitespace());
    (!first.is_empty() && !second.is_empty() && !more).then_some((first, second))
}

/// A column of labels. Few differ, so each is kept once.
struct Labels {
    codes: Vec<u32>,
    names: Vec<Scalar>,
}

impl Labels {
    fn read(held: &Held, expected: usize, of: &str) -> Result<Labels> {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut labels = Labels {
            codes: Vec::new(),
            names: Vec::new(),
        };
        let mut previous: (&[u8], u32) = (b"", u32::MAX);
        for (number, line) in lines(&held.bytes) {
            if previous.0 != line || previous.1 == u32::MAX {
                let code = match known.get(line) {
                    Some(&code) => code,
                    None => {
                        let code = labels.names.len() as u32;
                        labels.names.push(label_of(held, number, line)?);
                        known.insert(line, code);
                        code
                    }
                };
                previous = (line, code);
            }
            labels.codes.push(previous.1);
        }
        if labels.codes.len() != expected {
            return Err(wrong_count(held, labels.codes.len(), expected, of));
        }
        Ok(labels)
    }

    fn get(&self, position: usize) -> &Scalar {
        &self.names[self.codes[position] as usize]
    }
}

fn label_of(held: &Held, number: u64, line: &[u8]) -> Result<Scalar> {
    let line = utf8(&held.path, number, line)?;
    if line.is_empty() {
        return Err(Error::input(
            &held.path,
            Place::Line(number),
            "the line is empty (``)",
            "write one label a line",
        ));
    }
    Ok(text::label(line))
}

fn graph_labels_of(held: &Held) -> Result<Vec<Scalar>> {
    lines(&held.bytes)
        .map(|(number, line)| label_of(held, number, line))
        .collect()
}

fn ids_of(held: &Held) -> Result<Vec<Option<Scalar>>> {
    lines(&held.bytes)
        .map(|(number, line)| {
            let line = utf8(&held.path, number, line)?;
            Ok((!line.is_empty()).then(|| text::id(line)))
        })
        .collect()
}

fn listings_of(held: &Held) -> Result<Vec<Listing>> {
    lines(&held.bytes)
        .map(|(number, line)| {
            let word = Listing::ALL
                .into_iter()
                .find(|listing| listing.word().as_bytes() == line);
            word.ok_or_else(|| {
                Error::input(
                    &held.path,
                    Place::Line(number),
                    format!(
                        "{} is no way to list edges",
                        shown(&String::from_utf8_lossy(line))
                    ),
                    "write both, pairs or directed",
                )
            })
        })
        .collect()
}

/// A table of finite numbers with `expected` rows.
fn numbers(held: &Held, expected: usize, of: &str) -> Result<Features> {
    let mut table = Features::default();
    let mut rows = 0;
    for (number, line) in lines(&held.bytes) {
        let line = utf8(&held.path, number, line)?;
        let before = table.values.len();
        for field in fields(line) {
            table.values.push(finite(field).ok_or_else(|| {
                Error::input(
                    &held.path,
                    Place::Line(number),
                    format!("{} is not a finite number", shown(field)),
                    "attributes are finite numbers separated by commas",
                )
            })?);
        }
        let width = table.values.len() - before;
        if rows == 0 {
            table.dim = width;
        }
        if width != table.dim {
            return Err(Error::input(
                &held.path,
                Place::Line(number),
                format!(
                    "{} has {width} numbers where line 1 has {}",
                    shown(line),
                    table.dim
                ),
                "give every line as many",
            ));
        }
        rows += 1;
    }
    if rows != expected {
        return Err(wrong_count(held, rows, expected, of));
    }
    Ok(table)
}

/// The fields of a line, between commas, or between blanks where it has none.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let commas = line.contains(',');
    line.split(move |c: char| {
        if commas {
            c == ','
        } else {
            c.is_ascii_whitespace()
        }
    })
    .map(str::trim)
    .filter(move |field| commas || !field.is_empty())
}

fn wrong_count(held: &Held, rows: usize, expected: usize, of: &str) -> Error {
    let place = Place::Line(rows.min(expected.saturating_add(1)) as u64);
    let place = if rows == 0 { Place::Whole } else { place };
    Error::input(
        &held.path,
        place,
        format!("the file has {rows} lines, but there are {expected} {of}"),
        "write one line for each: a file may be cut short, or belong to another set",
    )
}

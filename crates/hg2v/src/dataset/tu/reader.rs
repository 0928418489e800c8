//! Reading the TU layout: every file whole, once, into flat columns; records are
//! cut from them one by one.

use std::path::Path;

use super::columns::{Bad, Labels, at_most, graph_labels_of, ids_of, listings_of, numbers};
use super::faults::Faults;
use super::files::{Files, Held};
use super::fold::{Folded, fold};
use super::nodes::Nodes;
use super::{Listing, suffix};
use crate::dataset::node_count::are_positions;
use crate::dataset::{Limits, Source};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Features, GraphRecord, Scalar};

/// Opens a TU folder or zip; it is read whole, within `limits.max_unpacked_bytes`.
///
/// # Errors
/// When a file is missing or damaged, when files disagree about how many lines they have, when a
/// line is of no known graph, or when a limit is exceeded. What concerns a single graph comes in
/// place of its record.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    let mut files = Files::open(path, limits)?;
    let mut faults = Faults::default();
    let set = Set::read(&mut files, limits, &mut faults)?;
    let beside = files.beside();
    let ignored = [beside.clone(), files.ignored(), set.notices.clone()].concat();
    let len = set.nodes.num_graphs();
    let records = (0..len).map(move |graph| match faults.take(graph) {
        Some(error) => Err(error.of_one_graph()),
        None => Ok(set.record(graph)),
    });
    let mut source = Source::new(path, files.format(), records);
    source.len = Some(len as u64);
    source.known = ignored;
    source.beside = beside;
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
    fn read(files: &mut Files, limits: &Limits, faults: &mut Faults) -> Result<Set> {
        let graph_labels =
            files.parse(suffix::GRAPH_LABELS, |held| Ok(graph_labels_of(held, faults)))?;
        let labelled = graph_labels.as_ref().map(Vec::len);
        let listings = files.parse(suffix::EDGE_LINES, |held| {
            let most = labelled.unwrap_or(usize::MAX);
            at_most(held, most, "graphs", |held, most| Ok(listings_of(held, most, faults)))
        })?;
        let declared = labelled.or(listings.as_ref().map(Vec::len));
        let indicator = files.required(suffix::GRAPH_INDICATOR)?;
        let nodes = Nodes::read(&indicator, declared, limits, faults)?;
        let graph_ids = files.parse(suffix::GRAPH_IDS, |held| {
            at_most(held, nodes.num_graphs(), "graphs", |held, most| {
                ids_of(held, most, &mut |graph, error| faults.add_to(Some(graph), error))
            })
        })?;

        let mut of_node = |node, error| faults.add_to(nodes.graph_of(node), error);
        let node_labels = files.parse(suffix::NODE_LABELS, |held| {
            let labels = Labels::read(held, nodes.len(), "nodes", &mut of_node)?;
            Ok(Labels { codes: nodes.arrange(labels.codes, 1), names: labels.names })
        })?;
        let features = files.parse(suffix::NODE_ATTRIBUTES, |held| {
            let features = numbers(held, nodes.len(), "nodes", &mut of_node)?;
            Ok(Features { dim: features.dim, values: nodes.arrange(features.values, features.dim) })
        })?;
        let node_ids = files.parse(suffix::NODE_IDS, |held| nodes.ids(held, faults))?;

        let a = files.required(suffix::A)?;
        let (edges, graph_of) = nodes.edges(&a, faults)?;
        let mut of_line = |line: usize, error| {
            faults.add_to(graph_of.get(line).map(|&graph| graph as usize), error)
        };
        let edge_labels = files.parse(suffix::EDGE_LABELS, |held| {
            Labels::read(held, edges.len(), "lines of A", &mut of_line)
        })?;
        let mut notices = Vec::new();
        let weights = files.parse(suffix::EDGE_ATTRIBUTES, |held| {
            weights_of(held, edges.len(), &mut notices, &mut of_line)
        })?;
        let weights = weights.flatten();

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
        for &line in &folded.unpaired {
            faults.add(graph_of[line as usize] as usize, unpaired(&a, line));
        }
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

    fn record(&self, graph: usize) -> GraphRecord {
        let nodes = self.nodes.starts[graph]..self.nodes.starts[graph + 1];
        let lines = &self.folded.lines[self.folded.starts[graph]..self.folded.starts[graph + 1]];
        let lines = || lines.iter().map(|&line| line as usize);
        let any_node = !nodes.is_empty();
        let any_edge = lines().next().is_some();
        let first = nodes.start as u32;
        GraphRecord {
            targets: Vec::new(),
            edge_features: None,
            id: self.graph_ids.as_ref().and_then(|ids| ids.get(graph).cloned().flatten()),
            label: self.graph_labels.as_ref().and_then(|labels| labels.get(graph).cloned()),
            num_nodes: nodes.len() as u32,
            node_ids: self
                .node_ids
                .as_ref()
                .and_then(|ids| ids[nodes.clone()].iter().cloned().collect())
                .filter(|ids: &Vec<Scalar>| any_node && !are_positions(ids)),
            edges: lines().map(|line| self.edges[line].map(|end| end - first)).collect(),
            weights: (self.weights.as_ref())
                .filter(|_| any_edge)
                .map(|weights| lines().map(|line| weights[line]).collect()),
            edge_labels: (self.edge_labels.as_ref())
                .filter(|_| any_edge)
                .map(|labels| lines().map(|line| labels.get(line).clone()).collect()),
            node_labels: (self.node_labels.as_ref())
                .filter(|_| any_node)
                .map(|labels| nodes.clone().map(|node| labels.get(node).clone()).collect()),
            features: (self.features.as_ref()).filter(|_| any_node).map(|all| Features {
                dim: all.dim,
                values: all.values[nodes.start * all.dim..nodes.end * all.dim].to_vec(),
            }),
            directed: (self.listings.as_ref())
                .is_some_and(|all| all.get(graph) == Some(&Listing::Directed)),
            folded_repeats: self.folded.repeats[graph],
        }
    }
}

/// A weight a line of A; where lines have several numbers, none, and a notice.
fn weights_of(
    held: &Held,
    lines: usize,
    notices: &mut Vec<String>,
    bad: &mut Bad<'_>,
) -> Result<Option<Vec<f64>>> {
    let attributes = numbers(held, lines, "lines of A", bad)?;
    if attributes.dim > 1 {
        notices.push(format!(
            "{}: {} numbers an edge; only a single one, a weight, is used",
            shown(&held.path.file_name().unwrap_or_default().to_string_lossy()),
            attributes.dim
        ));
    }
    Ok((attributes.dim == 1).then_some(attributes.values))
}

/// An edge, on `line` (from 0) of A, that should be followed by its reverse.
fn unpaired(a: &Held, line: u32) -> Error {
    Error::input(
        &a.path,
        Place::Line(u64::from(line) + 1),
        "the graph is listed in `pairs`, but the edge's reverse does not follow",
        format!(
            "write each edge as `u, v` then `v, u`, or remove the graph's word in {}",
            suffix::EDGE_LINES
        ),
    )
}

//! Reading the TU layout: every file whole, once, into flat columns; records are
//! cut from them one by one.

use std::path::Path;

use super::columns::{
    Bad, Labels, at_most, graph_labels_of, ids_of, listings_of, numbers, wrong_count,
};
use super::faults::Faults;
use super::files::{Files, Held};
use super::fold::{Folded, fold};
use super::nodes::Nodes;
use super::targets::Targets;
use super::{Listing, suffix};
use crate::dataset::node_count::are_positions;
use crate::dataset::{Limits, Source, text};
use crate::error::{Error, Place, Result};
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
    let ignored = [beside.clone(), set.notices.clone()].concat();
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
    targets: Option<Targets>,
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
    edge_features: Option<Features>,
    folded: Folded,
    /// What the set holds and records do not carry.
    notices: Vec<String>,
}

impl Set {
    fn read(files: &mut Files, limits: &Limits, faults: &mut Faults) -> Result<Set> {
        let graph_labels =
            files.parse(suffix::GRAPH_LABELS, |held| Ok(graph_labels_of(held, faults)))?;
        let labelled = graph_labels.as_ref().map(Vec::len);
        let targets = Set::targets(files, labelled, faults)?;
        let counted = labelled.or(targets.as_ref().map(Targets::graphs));
        let listings = files.parse(suffix::EDGE_LINES, |held| {
            let most = counted.unwrap_or(usize::MAX);
            at_most(held, most, "graphs", |held, most| Ok(listings_of(held, most, faults)))
        })?;
        let declared = counted.or(listings.as_ref().map(Vec::len));
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
        let (weights, edge_features) = edge_numbers(files, edges.len(), &mut of_line)?;

        let (mut other_labels, mut other_weights, mut other_features) = (0u64, 0u64, 0u64);
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
            if let Some(features) = &edge_features {
                other_features += u64::from(features.row(first) != features.row(again));
            }
        });
        for &line in &folded.unpaired {
            faults.add(graph_of[line as usize] as usize, unpaired(&a, line));
        }
        let others = [
            (other_labels, "another label; the first line's holds"),
            (other_weights, "another weight; the first line's holds"),
            (other_features, "other attributes; the first line's hold"),
        ];
        let notices = others.into_iter().filter(|(count, _)| *count > 0);
        let notices =
            notices.map(|(count, what)| format!("{count} lines of A repeat an edge with {what}"));
        let notices = notices.collect();
        Ok(Set {
            graph_labels,
            targets,
            graph_ids,
            listings,
            nodes,
            node_labels,
            node_ids,
            features,
            edges,
            edge_labels,
            weights,
            edge_features,
            folded,
            notices,
        })
    }

    /// The targets, by name, of as many graphs as have labels.
    fn targets(
        files: &mut Files,
        labelled: Option<usize>,
        faults: &mut Faults,
    ) -> Result<Option<Targets>> {
        let targets = files.parse(suffix::GRAPH_ATTRIBUTES, |held| {
            let targets = Targets::read(held, faults);
            match labelled {
                Some(graphs) if graphs != targets.graphs() => {
                    Err(wrong_count(held, targets.graphs(), graphs, "graphs"))
                }
                _ => Ok(targets),
            }
        })?;
        let Some(targets) = targets else {
            return Ok(None);
        };
        match files.optional(suffix::TARGET_NAMES)? {
            Some(names) => targets.named(&names).map(Some),
            None if labelled.is_none() => Ok(Some(targets.or_label())),
            None => Ok(Some(targets)),
        }
    }

    fn record(&self, graph: usize) -> GraphRecord {
        let nodes = self.nodes.starts[graph]..self.nodes.starts[graph + 1];
        let lines = &self.folded.lines[self.folded.starts[graph]..self.folded.starts[graph + 1]];
        let lines = || lines.iter().map(|&line| line as usize);
        let any_node = !nodes.is_empty();
        let any_edge = lines().next().is_some();
        let first = nodes.start as u32;
        let label = self.graph_labels.as_ref().and_then(|labels| labels.get(graph).cloned());
        let (label, targets) = match &self.targets {
            Some(targets) => targets.of(graph, label),
            None => (label, Vec::new()),
        };
        GraphRecord {
            id: self.graph_ids.as_ref().and_then(|ids| ids.get(graph).cloned().flatten()),
            label,
            targets,
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
            edge_features: (self.edge_features.as_ref()).filter(|_| any_edge).map(|all| Features {
                dim: all.dim,
                values: lines().flat_map(|line| all.row(line)).copied().collect(),
            }),
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

/// Weights and attributes, for each line of A. A single number is a weight, unless weights have a
/// file of their own.
fn edge_numbers(
    files: &mut Files,
    lines: usize,
    bad: &mut Bad<'_>,
) -> Result<(Option<Vec<f64>>, Option<Features>)> {
    let attributes = files
        .parse(suffix::EDGE_ATTRIBUTES, |held| numbers(held, lines, "lines of A", &mut *bad))?;
    let Some(held) = files.optional(suffix::EDGE_WEIGHTS)? else {
        return Ok(match attributes {
            Some(Features { dim: 1, values }) => (Some(values), None),
            attributes => (None, attributes.filter(|features| features.dim > 0)),
        });
    };
    if text::lines(&held.bytes).next().is_none() {
        return Ok((None, attributes.filter(|features| features.dim > 0)));
    }
    let weights = numbers(&held, lines, "lines of A", bad)?;
    match weights.dim {
        1 => Ok((Some(weights.values), attributes.filter(|features| features.dim > 0))),
        several => Err(Error::input(
            &held.path,
            Place::Line(1),
            format!("there are {several} numbers on the line"),
            "write one weight a line, and several numbers to edge_attributes",
        )),
    }
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

//! What a node has around it, of edges with kinds, numbers and directions.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fitter::Moments;
use super::{Applied, Origin, Scaler, Subject, mismatch};
use crate::error::{Problem, Result, counted};
use crate::graph::{Aspects, EdgeChoice, Graph, GraphRecord, Link, Links, Scalar, Usage, Way};

/// Edges as numbers of the nodes that they join. At the edges that go out of a node `u`, and
/// again at those that come in where graphs are directed, these are
///
/// ```text
/// |{ e ∋ u : kind(e) = k }|    for each kind k of the training graphs
/// |{ e ∋ u }|                  where edges have a direction and no kinds
/// Σ_{e ∋ u} x(e)               where edges have numbers x
/// ```
///
/// As features of nodes, counts of kinds are shares of all of them at a node, as large as a
/// one-hot label: standardised, a kind that is rare would be louder than all else. Other
/// columns are standardised.
///
/// An edge of an undirected graph goes both ways. Edges are those of [`Links`]; of an edge that
/// is said several times the first one's numbers count. Coarsening sees none of this: the
/// numbers of a super-node are what the network makes of those of its nodes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EdgeSchema {
    /// The kinds, strictly ascending.
    pub(super) labels: Option<Vec<Scalar>>,
    /// Numbers an edge.
    attributes: usize,
    /// Whether edges that go out and that come in are counted apart.
    direction: bool,
    /// Of the columns without kinds.
    pub(super) scaler: Scaler,
    /// How the numbers of an edge are scaled, where edges are looked at one by one.
    pub(super) numbers: Scaler,
}

/// The edges at every node of a graph, each a row of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct LinkRows {
    /// Where the edges of each node begin, and the end of the last.
    pub starts: Vec<usize>,
    /// The other end of each edge.
    pub others: Vec<u32>,
    /// `[one-hot kind | (numbers − mean) / std | out, in]` of each edge, one after the other.
    pub values: Vec<f32>,
}

impl EdgeSchema {
    /// Numbers a node.
    pub fn dim(&self) -> usize {
        self.ways() * self.width()
    }

    /// The kinds of edges, ascending, where they are used.
    pub fn labels(&self) -> Option<&[Scalar]> {
        self.labels.as_deref()
    }

    /// How many numbers of an edge are used.
    pub fn attributes(&self) -> usize {
        self.attributes
    }

    /// Whether edges that go out and that come in are counted apart.
    pub fn direction(&self) -> bool {
        self.direction
    }

    /// Numbers a row of [`links`](EdgeSchema::links).
    pub fn link_dim(&self) -> usize {
        self.kinds() + self.attributes + if self.direction { 2 } else { 0 }
    }

    /// The edges of a graph one by one, at both of their ends. An edge of a kind that training
    /// never met is of none.
    pub fn links(&self, record: &GraphRecord, graph: &Graph) -> LinkRows {
        let links = Links::of(record, graph, self.choice());
        let (mut starts, mut others, mut values) = (vec![0], Vec::new(), Vec::new());
        let mut applied = Applied::default();
        for node in 0..graph.num_nodes() {
            for link in links.at(node) {
                others.push(link.to);
                if let Some(known) = &self.labels {
                    let column = link.kind.and_then(|kind| known.binary_search(kind).ok());
                    values
                        .extend((0..known.len()).map(|at| f32::from(u8::from(column == Some(at)))));
                }
                let features = record.edge_features.as_ref().filter(|_| self.attributes > 0);
                if let Some(features) = features {
                    let row = features.row(link.edge).iter().copied();
                    self.numbers.scale(row, &mut values, &mut applied);
                }
                if self.direction {
                    let ways = ways(link.way, true);
                    values.extend((0..2).map(|way| f32::from(u8::from(ways.contains(&way)))));
                }
            }
            starts.push(others.len());
        }
        LinkRows { starts, others, values }
    }

    pub(super) fn ways(&self) -> usize {
        1 + usize::from(self.direction)
    }

    fn width(&self) -> usize {
        self.counts() + self.attributes
    }

    fn kinds(&self) -> usize {
        self.labels.as_ref().map_or(0, Vec::len)
    }

    /// How many columns are standardised.
    pub(super) fn standardised(&self) -> usize {
        self.ways() * (self.width() - self.kinds())
    }

    pub(super) fn counts(&self) -> usize {
        self.labels.as_ref().map_or(usize::from(self.direction), Vec::len)
    }

    /// What the edges of training graphs bring; `None` where that is nothing. `file` is for
    /// messages.
    ///
    /// # Errors
    /// Numbers so large that their spread is not a finite number.
    pub fn fit<'a>(
        file: &Path,
        choice: EdgeChoice,
        graphs: impl IntoIterator<Item = Subject<'a>>,
    ) -> Result<Option<EdgeSchema>> {
        let mut fitter = EdgeFitter::new(choice);
        for subject in graphs {
            fitter.push(subject.record, subject.graph);
        }
        fitter.finish(file)
    }

    /// What of edges becomes numbers.
    pub fn sees(&self) -> Aspects {
        Aspects {
            edge_labels: self.labels.is_some(),
            edge_attributes: self.attributes > 0,
            direction: self.direction,
            ..Aspects::default()
        }
    }

    /// The numbers of every node, a row each, counts as they are and nothing standardised;
    /// `applied` counts edges of kinds that training never met.
    pub fn rows(&self, record: &GraphRecord, graph: &Graph, applied: &mut Applied) -> Vec<f64> {
        let links = Links::of(record, graph, self.choice());
        let features = record.edge_features.as_ref().filter(|_| self.attributes > 0);
        let mut rows = vec![0.0; graph.num_nodes() * self.dim()];
        for (node, row) in rows.chunks_mut(self.dim()).enumerate() {
            for link in links.at(node) {
                let kind = self.kind(link);
                applied.unseen_edge_labels += u64::from(kind.is_none() && self.counts() > 0);
                for way in ways(link.way, self.direction) {
                    let row = &mut row[way * self.width()..(way + 1) * self.width()];
                    if let Some(kind) = kind {
                        row[kind] += 1.0;
                    }
                    if let Some(features) = features {
                        let sums = &mut row[self.counts()..];
                        sums.iter_mut().zip(features.row(link.edge)).for_each(|(sum, x)| *sum += x);
                    }
                }
            }
        }
        rows
    }

    /// Whether the edges of a graph have what is expected of them.
    ///
    /// # Errors
    /// No labels where there should be some, another number of numbers.
    pub fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        let found = record.edge_features.as_ref().map_or(0, |features| features.dim);
        if record.edges.is_empty() {
            Ok(())
        } else if self.labels.is_some() && record.edge_labels.is_none() {
            Err(mismatch(Problem::EdgeLabels, record, origin))
        } else if self.attributes > 0 && found != self.attributes {
            let expected = self.attributes;
            Err(mismatch(Problem::EdgeAttributes { expected, found }, record, origin))
        } else {
            Ok(())
        }
    }

    /// What is looked at of edges.
    pub(super) fn choice(&self) -> EdgeChoice {
        let used = |used: bool| if used { Usage::Use } else { Usage::Ignore };
        EdgeChoice {
            labels: used(self.labels.is_some()),
            attributes: used(self.attributes > 0),
            direction: used(self.direction),
        }
    }

    /// The number of an edge's kind: none where training never met it, 0 where kinds are not told
    /// apart.
    pub(super) fn kind(&self, link: &Link<'_>) -> Option<usize> {
        match (&self.labels, link.kind) {
            (Some(known), Some(kind)) => known.binary_search(kind).ok(),
            _ => (self.counts() > 0).then_some(0),
        }
    }

    /// The numbers of one node as its features: shares of kinds, then what is standardised.
    pub(super) fn scale(&self, row: &[f64], values: &mut Vec<f32>, applied: &mut Applied) {
        let ways = || row.chunks(self.width()).map(|way| way.split_at(self.kinds()));
        let counts = || ways().flat_map(|(counts, _)| counts);
        let all = counts().sum::<f64>().max(1.0);
        values.extend(counts().map(|count| (count / all) as f32));
        self.scaler.scale(ways().flat_map(|(_, rest)| rest.iter().copied()), values, applied);
    }
}

/// Which of the two parts of a row an edge is counted in.
pub(super) fn ways(way: Way, apart: bool) -> std::ops::Range<usize> {
    match way {
        Way::In => 1..2,
        Way::Out => 0..1,
        Way::Both => 0..1 + usize::from(apart),
    }
}

/// In words: `shares of 3 kinds, sums of 2 attributes standardised, out and in apart`.
impl fmt::Display for EdgeSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let shares = self.labels.as_ref().map(|labels| counted(labels.len(), "kind"));
        let shares = shares.map(|kinds| format!("shares of {kinds}"));
        let degrees =
            (shares.is_none() && self.direction).then(|| "degrees standardised".to_owned());
        let sums = counted(self.attributes, "attribute");
        let sums = (self.attributes > 0).then(|| format!("sums of {sums} standardised"));
        let direction = self.direction.then(|| "out and in apart".to_owned());
        let parts = [shares, degrees, sums, direction];
        let parts: Vec<String> = parts.into_iter().flatten().collect();
        f.write_str(&parts.join(", "))
    }
}

/// Fits an [`EdgeSchema`] graph by graph.
#[derive(Debug)]
pub(super) struct EdgeFitter {
    choice: EdgeChoice,
    nodes: u64,
    directed: bool,
    kinds: BTreeSet<Scalar>,
    /// Out and in.
    degrees: [Squares; 2],
    sums: [Moments; 2],
    numbers: Moments,
    attributes: usize,
    labelled: bool,
}

/// Sums of whole numbers, exact.
#[derive(Debug, Clone, Copy, Default)]
struct Squares {
    sum: u64,
    squares: u64,
}

impl Squares {
    fn push(&mut self, count: u64) {
        self.sum += count;
        self.squares += count * count;
    }

    /// Mean and deviation over `nodes` nodes; what does not vary has width 1.
    fn scale(self, nodes: u64) -> (f64, f64) {
        let nodes = nodes.max(1);
        let wide = |x: u64| u128::from(x);
        // n·Σc² − (Σc)², in whole numbers: no rounding is left of what does not vary.
        let spread = wide(nodes) * wide(self.squares) - wide(self.sum) * wide(self.sum);
        let std = (spread as f64).sqrt() / nodes as f64;
        (self.sum as f64 / nodes as f64, if spread == 0 { 1.0 } else { std })
    }
}

impl EdgeFitter {
    pub(super) fn new(choice: EdgeChoice) -> EdgeFitter {
        EdgeFitter {
            choice,
            nodes: 0,
            directed: false,
            kinds: BTreeSet::new(),
            degrees: Default::default(),
            sums: Default::default(),
            numbers: Moments::default(),
            attributes: 0,
            labelled: false,
        }
    }

    /// How many kinds were met.
    pub(super) fn kinds(&self) -> usize {
        self.kinds.len()
    }

    /// Takes one graph with nodes into account.
    pub(super) fn push(&mut self, record: &GraphRecord, graph: &Graph) {
        let features = record.edge_features.as_ref();
        let features = features.filter(|_| self.choice.attributes.is_used());
        if !record.edges.is_empty() {
            self.labelled |= self.choice.labels.is_used() && record.edge_labels.is_some();
            if let Some(features) = features.filter(|_| self.attributes == 0) {
                // Nodes of graphs without edges, which could not tell.
                self.attributes = features.dim;
                let nothing = vec![0.0; features.dim];
                for _ in 0..self.nodes {
                    self.sums.iter_mut().for_each(|sums| sums.push(&nothing));
                }
            }
        }
        self.directed |= self.choice.direction.is_used() && record.directed;
        self.nodes += graph.num_nodes() as u64;
        let links = Links::of(record, graph, self.choice);
        let mut sums = [vec![0.0; self.attributes], vec![0.0; self.attributes]];
        for node in 0..graph.num_nodes() {
            let mut degrees = [0; 2];
            sums.iter_mut().for_each(|sums| sums.fill(0.0));
            for link in links.at(node) {
                if let Some(features) = features {
                    self.numbers.push(features.row(link.edge));
                }
                if let Some(kind) = link.kind.filter(|&kind| !self.kinds.contains(kind)) {
                    self.kinds.insert(kind.clone());
                }
                for way in ways(link.way, true) {
                    degrees[way] += 1;
                    if let Some(features) = features {
                        let numbers = sums[way].iter_mut().zip(features.row(link.edge));
                        numbers.for_each(|(sum, x)| *sum += x);
                    }
                }
            }
            for way in 0..2 {
                self.degrees[way].push(degrees[way]);
                if self.attributes > 0 {
                    self.sums[way].push(&sums[way]);
                }
            }
        }
    }

    /// The schema of all graphs seen; `None` where their edges bring nothing.
    ///
    /// # Errors
    /// Numbers so large that their spread is not a finite number.
    pub(super) fn finish(self, file: &Path) -> Result<Option<EdgeSchema>> {
        let EdgeFitter {
            nodes, directed, kinds, degrees, sums, attributes, labelled, numbers, ..
        } = self;
        if !(directed || labelled || attributes > 0) {
            return Ok(None);
        }
        let mut scaler = Scaler { mean: Vec::new(), std: Vec::new() };
        let [outward, inward] = sums;
        for (way, sums) in [Some(outward), directed.then_some(inward)].into_iter().enumerate() {
            let Some(sums) = sums else { continue };
            let degree = (directed && !labelled).then(|| degrees[way].scale(nodes));
            let sums = sums.scaler(file, attributes, "the sum of edge attribute")?;
            let (mean, std) = degree.unzip();
            scaler.mean.extend(mean.into_iter().chain(sums.mean));
            scaler.std.extend(std.into_iter().chain(sums.std));
        }
        let labels = labelled.then(|| kinds.into_iter().collect());
        let numbers = numbers.scaler(file, attributes, "edge attribute")?;
        let schema = EdgeSchema { labels, attributes, direction: directed, scaler, numbers };
        // Self-loops have labels and are no edges.
        Ok(Some(schema).filter(|schema| schema.dim() > 0))
    }
}

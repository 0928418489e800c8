//! Several graphs side by side.

use std::sync::Arc;

use hg2v::dataset::features::LinkRows;
use hg2v::graph::Graph;
use hg2v_math::Real;

use super::{Array, Segments};

/// The adjacency matrix `A` of graphs, block-diagonal and symmetric, in compressed
/// sparse rows.
#[derive(Debug, Clone)]
pub struct Graphs<R> {
    /// The first node of each graph, and the end of the last.
    pub starts: Segments,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<R>,
    /// The edges one by one, where they have kinds, numbers or directions.
    pub links: Option<Links<R>>,
}

/// Edges that are more than a weight, at both of their ends.
#[derive(Debug, Clone)]
pub struct Links<R> {
    /// Where the edges of each node begin, and the end of the last.
    pub(super) starts: Vec<usize>,
    /// The other end of each.
    pub(super) others: Vec<u32>,
    /// A row for each.
    pub features: Array<R>,
}

impl<R: Real> Graphs<R> {
    /// These graphs, their nodes numbered one after the other.
    pub fn new<'a>(graphs: impl IntoIterator<Item = &'a Graph>) -> Arc<Graphs<R>> {
        let (mut starts, mut offsets) = (vec![0], vec![0]);
        let (mut targets, mut weights) = (Vec::new(), Vec::new());
        let mut nodes = 0;
        for graph in graphs {
            for node in 0..graph.num_nodes() {
                targets.extend(graph.neighbors(node).iter().map(|&target| nodes as u32 + target));
                weights.extend(graph.weights(node).iter().map(|&w| R::from_f64(f64::from(w))));
                offsets.push(targets.len());
            }
            nodes += graph.num_nodes();
            starts.push(nodes);
        }
        Arc::new(Graphs { starts: starts.into(), offsets, targets, weights, links: None })
    }

    /// The same graphs, with the edges of each; a row has `dim` numbers.
    pub fn with_links<'a>(
        self: Arc<Graphs<R>>,
        dim: usize,
        of_graphs: impl IntoIterator<Item = &'a LinkRows>,
    ) -> Arc<Graphs<R>> {
        let (mut starts, mut others, mut values) = (vec![0], Vec::new(), Vec::new());
        for (rows, &first) in of_graphs.into_iter().zip(self.starts.iter()) {
            let before = others.len();
            starts.extend(rows.starts[1..].iter().map(|start| before + start));
            others.extend(rows.others.iter().map(|&other| first as u32 + other));
            values.extend(rows.values.iter().map(|&x| R::from_f64(f64::from(x))));
        }
        let features = Array::new(others.len(), dim, values);
        let graphs = Arc::unwrap_or_clone(self);
        Arc::new(Graphs { links: Some(Links { starts, others, features }), ..graphs })
    }

    /// How many nodes all graphs have together.
    pub fn num_nodes(&self) -> usize {
        self.offsets.len() - 1
    }

    /// `‖A‖²`, the sum of all squared weights.
    pub fn squared(&self) -> f64 {
        self.weights.iter().map(|w| w.to_f64() * w.to_f64()).sum()
    }

    /// The sum of the weights at each node.
    pub fn strengths(&self) -> Vec<R> {
        (0..self.num_nodes()).map(|node| self.row(node).map(|(_, weight)| weight).sum()).collect()
    }

    /// `D^(−1/2)·A·D^(−1/2)`; a node without edges keeps its row of zeros.
    pub fn normalized(&self) -> Arc<Graphs<R>> {
        let root = |&strength: &R| match strength > R::ZERO {
            true => R::ONE / strength.sqrt(),
            false => R::ZERO,
        };
        let scale: Vec<R> = self.strengths().iter().map(root).collect();
        let mut weights = Vec::with_capacity(self.weights.len());
        for node in 0..self.num_nodes() {
            weights.extend(self.row(node).map(|(target, w)| w * scale[node] * scale[target]));
        }
        Arc::new(Graphs { weights, ..self.clone() })
    }

    /// The neighbours of `node` and the weights of the edges to them.
    #[inline(always)]
    pub(super) fn row(&self, node: usize) -> impl Iterator<Item = (usize, R)> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        let targets = self.targets[range.clone()].iter().map(|&target| target as usize);
        targets.zip(self.weights[range].iter().copied())
    }
}

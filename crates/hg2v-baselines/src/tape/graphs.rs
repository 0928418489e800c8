//! Several graphs side by side.

use std::sync::Arc;

use hg2v::graph::Graph;
use hg2v_math::Real;

use super::Segments;

/// The adjacency matrix `A` of graphs, block-diagonal and symmetric, in compressed
/// sparse rows.
#[derive(Debug, Clone)]
pub struct Graphs<R> {
    /// The first node of each graph, and the end of the last.
    pub starts: Segments,
    offsets: Vec<usize>,
    targets: Vec<u32>,
    weights: Vec<R>,
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
        Arc::new(Graphs { starts: starts.into(), offsets, targets, weights })
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

//! Graphs made ready for the network.

use crate::coarsen::Pyramid;
use crate::graph::Graph;
use crate::nn::Batch;

/// A graph with its pyramid and its nodes' features: all that the network sees.
#[derive(Debug, Clone, Default)]
pub struct Example {
    /// The graph's levels.
    #[doc(hidden)]
    pub batch: Batch,
    /// Its nodes' rows on level 0.
    pub features: Vec<f32>,
}

impl Example {
    /// The first `levels` levels of a graph.
    pub fn new(graph: &Graph, pyramid: &Pyramid, features: Vec<f32>, levels: usize) -> Example {
        Example { batch: Batch::of_graph(graph, pyramid, levels), features }
    }

    /// How many nodes.
    pub fn num_nodes(&self) -> usize {
        self.batch.num_nodes(0)
    }

    /// The features of a node.
    pub(crate) fn row(&self, node: usize) -> &[f32] {
        let width = self.features.len() / self.num_nodes();
        &self.features[node * width..][..width]
    }

    /// How many levels it was made ready for, the topmost left out.
    pub fn num_levels(&self) -> usize {
        self.batch.levels.len()
    }

    /// How many nodes of `level`; there is one level more than [`num_levels`](Example::num_levels).
    pub fn nodes_on(&self, level: usize) -> usize {
        self.batch.num_nodes(level)
    }

    /// The super-node of each node of `level`, on the level above.
    pub fn parents(&self, level: usize) -> &[u32] {
        &self.batch.levels[level].parent
    }
}

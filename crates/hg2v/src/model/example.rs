//! Graphs made ready for the network.

use crate::coarsen::Pyramid;
use crate::graph::Graph;
use crate::nn::Batch;

/// A graph with its pyramid and its nodes' features: all that the network sees.
#[derive(Debug, Clone, Default)]
pub struct Example {
    /// The graph's levels.
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
}

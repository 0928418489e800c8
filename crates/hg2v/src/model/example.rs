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

    /// Several as one, which must have equally many levels.
    pub fn concat<'a>(parts: impl IntoIterator<Item = &'a Example, IntoIter: Clone>) -> Example {
        let mut whole = Example::default();
        whole.concat_from(parts);
        whole
    }

    /// As [`concat`](Example::concat), reusing the memory of `self`.
    pub fn concat_from<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a Example, IntoIter: Clone>,
    ) {
        let parts = parts.into_iter();
        self.batch.concat_from(parts.clone().map(|part| &part.batch));
        self.features.clear();
        parts.for_each(|part| self.features.extend_from_slice(&part.features));
    }

    /// How many nodes.
    pub fn num_nodes(&self) -> usize {
        self.batch.num_nodes(0)
    }
}

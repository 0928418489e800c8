//! HG2V without coarsening: *Graph2Vec+GNN* of the paper's ablation (its Table 4).
//!
//! Every level of the pyramid is the graph itself, each node its own super-node. Then the
//! levels are what rounds of Weisfeiler–Lehman refinement are to [Graph2Vec](super::graph2vec),
//! computed by the network of HG2V from all features a node has, and trained by telling a
//! node's next level from those of the others.

use hg2v::Hg2vParams;
use hg2v::coarsen::{Level, Pyramid};
use hg2v::graph::Graph;
use hg2v::nn::machine::Machine;
use hg2v::prepare::Collection;
use hg2v_eval::Matrix;
use hg2v_eval::controls::Network;
use hg2v_eval::error::Result;
use hg2v_eval::method::Embedder;

/// The method.
///
/// # Complexity
/// As HG2V, but no level is smaller than the one below: a step compares each of the N nodes
/// of a batch with all others on every level, O(N²·d·L) time.
#[derive(Debug, Clone)]
pub struct Graph2VecGnn {
    /// The model and its training; its coarsening is not used.
    pub params: Hg2vParams,
    /// Where it runs.
    pub machine: Machine,
}

impl Embedder for Graph2VecGnn {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let levels = self.params.architecture.levels;
        let flat = Collection {
            run: collection.run,
            graphs: collection.graphs.clone(),
            pyramids: collection.graphs.iter().map(|graph| tower(graph, levels)).collect(),
            structures: collection.structures(self.params.features),
            notes: collection.notes,
        };
        Network::trained(self.params.clone()).on(&self.machine).vectors(&flat, train)
    }
}

/// The graph on every level.
fn tower(graph: &Graph, levels: usize) -> Pyramid {
    let num_nodes = graph.num_nodes();
    let level = Level { assignment: (0..num_nodes as u32).collect(), graph: graph.clone() };
    Pyramid { num_nodes, levels: vec![level; levels], converged: true }
}

//! The core's layer on a batch of graphs.

use std::sync::Arc;

use hg2v::Hg2v;
use hg2v::layer::{self, Gradients, Real};
use hg2v::model::Example;
use hg2v::train::{Negatives, Loss};

/// A network on a batch of graphs: a function of the nodes' features and of the network's
/// parameters. A copy shares the graphs.
#[derive(Debug, Clone)]
pub struct Layer {
    network: Arc<layer::Layer>,
    graphs: Arc<[Example]>,
}

impl Layer {
    /// The network on `graphs`, whose own features are not looked at.
    ///
    /// # Panics
    /// Graphs that were made ready for another number of levels.
    pub fn new(network: &layer::Layer, graphs: &[Example]) -> Layer {
        let levels = network.architecture().levels;
        for (i, graph) in graphs.iter().enumerate() {
            let have = graph.num_levels();
            assert!(have == levels, "graph {i} has {have} levels, the network {levels}");
        }
        Layer { network: Arc::new(network.clone()), graphs: graphs.into() }
    }

    /// The network of `model` on `graphs`.
    ///
    /// # Panics
    /// As [`new`](Layer::new).
    pub fn of(model: &Hg2v, graphs: &[Example]) -> Layer {
        Layer::new(&model.layer(), graphs)
    }

    /// How many nodes, of all graphs: rows of features.
    pub fn num_nodes(&self) -> usize {
        self.graphs.iter().map(Example::num_nodes).sum()
    }

    /// How many graphs: rows of embeddings.
    pub fn num_graphs(&self) -> usize {
        self.graphs.len()
    }

    /// Numbers a node.
    pub fn num_features(&self) -> usize {
        self.network.num_features()
    }

    /// Numbers a graph.
    pub fn embedding_dim(&self) -> usize {
        self.network.embedding_dim()
    }

    /// Numbers of the network, as they lie in [`hg2v::Hg2v::parameters`].
    pub fn num_parameters(&self) -> usize {
        self.network.num_parameters()
    }

    pub(crate) fn embeddings<R: Real>(&self, features: &[R], parameters: Vec<R>) -> Vec<R> {
        expected(self.network.embed(&self.graphs, features, parameters))
    }

    /// The gradients that `d_embeddings` has.
    pub(crate) fn embeddings_vjp<R: Real>(
        &self,
        features: &[R],
        parameters: Vec<R>,
        d_embeddings: &[R],
    ) -> Gradients<R> {
        let (_, mut pass) = expected(self.network.forward(&self.graphs, features, parameters));
        expected(pass.backward(d_embeddings))
    }

    /// The loss, summed over levels, and its gradients: they come from the same pass.
    pub(crate) fn loss_and_gradients<R: Real>(
        &self,
        features: &[R],
        parameters: Vec<R>,
        pairs: (Loss, Negatives),
    ) -> (R, Gradients<R>) {
        let (losses, gradients) =
            expected(self.network.losses(&self.graphs, features, parameters, pairs));
        (R::from_f64(losses.iter().map(|level| level.total()).sum()), gradients)
    }
}

/// What the core made: shapes were looked at before, and burn's operators have no errors.
fn expected<T>(made: hg2v::Result<T>) -> T {
    made.unwrap_or_else(|error| panic!("{error}"))
}

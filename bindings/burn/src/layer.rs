//! The function and its gradients, on slices.

use std::sync::Arc;

use hg2v::model::{Example, Keep, Network, Seeds, Tape};
use hg2v::nn::pairs::{Negatives, Score};
use hg2v::nn::{Batch, Cpu};
use hg2v_math::Real;

/// A network on a batch of graphs: a function of the nodes' features and of the network's
/// parameters. A copy shares the graphs.
#[derive(Debug, Clone)]
pub struct Layer {
    network: Arc<Network>,
    batch: Arc<Batch>,
}

/// The gradients of the features and of the parameters.
pub(crate) type Gradients<R> = (Vec<R>, Vec<R>);

impl Layer {
    /// The network on `graphs`, whose own features are not looked at.
    ///
    /// # Panics
    /// Graphs that were made ready for another number of levels.
    pub fn new(network: &Network, graphs: &[Example]) -> Layer {
        let levels = network.layout.architecture.levels;
        for (i, graph) in graphs.iter().enumerate() {
            let have = graph.batch.levels.len();
            assert!(have == levels, "graph {i} has {have} levels, the network {levels}");
        }
        let batch = Batch::concat(graphs.iter().map(|graph| &graph.batch));
        Layer { network: Arc::new(network.clone()), batch: Arc::new(batch) }
    }

    /// How many nodes, of all graphs: rows of features.
    pub fn num_nodes(&self) -> usize {
        self.batch.num_nodes(0)
    }

    /// How many graphs: rows of embeddings.
    pub fn num_graphs(&self) -> usize {
        self.batch.num_graphs()
    }

    /// Numbers a node.
    pub fn num_features(&self) -> usize {
        self.network.layout.features
    }

    /// Numbers a graph.
    pub fn embedding_dim(&self) -> usize {
        self.network.layout.embedding_dim()
    }

    /// Numbers of the network, as they lie in [`hg2v::Hg2v::parameters`].
    pub fn num_parameters(&self) -> usize {
        self.network.layout.len
    }

    pub(crate) fn embeddings<R: Real>(&self, features: &[R], parameters: &Vec<R>) -> Vec<R> {
        let device = Cpu::<R>::new();
        let tape = self.forward(&device, features, parameters, Keep::OneLevel, true);
        self.network.embeddings(&device, &tape)
    }

    /// The gradients that `d_embeddings` has.
    pub(crate) fn embeddings_vjp<R: Real>(
        &self,
        features: &[R],
        parameters: &Vec<R>,
        d_embeddings: &[R],
    ) -> Gradients<R> {
        let device = Cpu::<R>::new();
        let mut tape = self.forward(&device, features, parameters, Keep::Everything, true);
        let seeds = Seeds { pairs: None, embeddings: Some(d_embeddings), features: true };
        self.backward(&device, parameters, &mut tape, seeds)
    }

    /// The loss, summed over levels, and its gradients: they come from the same pass.
    pub(crate) fn loss_and_gradients<R: Real>(
        &self,
        features: &[R],
        parameters: &Vec<R>,
        pairs: (Score, Negatives),
    ) -> (R, Gradients<R>) {
        let device = Cpu::<R>::new();
        let mut tape = self.forward(&device, features, parameters, Keep::Everything, false);
        let seeds = Seeds { pairs: Some(pairs), embeddings: None, features: true };
        let gradients = self.backward(&device, parameters, &mut tape, seeds);
        let losses = self.network.take_losses(&device, &mut tape);
        (R::from_f64(losses.iter().map(|level| level.total()).sum()), gradients)
    }

    fn forward<R: Real>(
        &self,
        device: &Cpu<R>,
        features: &[R],
        parameters: &Vec<R>,
        keep: Keep,
        embed: bool,
    ) -> Tape<Cpu<R>> {
        let mut tape = Tape::new(device);
        self.network.place_pieces(device, &mut tape, &[&self.batch], &[features]);
        self.network.forward(device, parameters, &mut tape, keep, embed);
        tape
    }

    fn backward<R: Real>(
        &self,
        device: &Cpu<R>,
        parameters: &Vec<R>,
        tape: &mut Tape<Cpu<R>>,
        seeds: Seeds<'_, R>,
    ) -> Gradients<R> {
        let mut d_parameters = vec![R::ZERO; self.num_parameters()];
        let into = &mut d_parameters;
        self.network.backward(device, parameters, tape, seeds, into);
        (self.network.feature_gradients(device, tape), d_parameters)
    }
}

//! The network as a differentiable layer of a larger model.
//!
//! A [`Layer`] is a function of two arrays: the features of the nodes, which something before it
//! makes (a CNN on pictures, an embedding of words), and the network's own parameters. It has two
//! values, each with gradients to both: [`forward`](Layer::forward), a vector a graph, which
//! something after it reads, and [`losses`](Layer::losses), HG2V's own, which need no labels. They
//! are the passes by which models are trained, in single or in double precision.
//!
//! This is what an operator of any framework is made of; those of PyTorch and burn are.
//! [`Hg2v::vjp`](crate::Hg2v::vjp) is the same for a model that is there and for features that it
//! made.
//!
//! ```
//! use hg2v::context::Context;
//! use hg2v::graph::GraphRecord;
//! use hg2v::layer::Gradients;
//! use hg2v::prepare::{Collection, Run};
//! use hg2v::{Hg2v, Model};
//!
//! let ring = |n: u32| GraphRecord {
//!     num_nodes: n,
//!     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
//!     ..GraphRecord::default()
//! };
//! let graphs = [ring(5), ring(8)];
//! let model = Hg2v::params().dim(4).levels(2).epochs(1).fit(&graphs)?;
//! let run = Run::in_memory(&graphs);
//! let collection = Collection::new(run, &model.needs(), &Context::default())?;
//! let (examples, _) = model.examples(&collection)?;
//!
//! let layer = model.layer();
//! let features: Vec<f32> = examples.iter().flat_map(|graph| graph.features.clone()).collect();
//! let (vectors, mut pass) = layer.forward(&examples, &features, model.parameters().to_vec())?;
//! assert_eq!(vectors.len(), 2 * layer.embedding_dim());
//!
//! // What the sum of all numbers asks of the features and of the parameters.
//! let Gradients { parameters, features: d_features } = pass.backward(&vec![1.0; vectors.len()])?;
//! assert_eq!(d_features.len(), features.len());
//! assert_eq!(parameters.len(), layer.num_parameters());
//! # Ok::<(), hg2v::Error>(())
//! ```

#[doc(no_inline)]
pub use hg2v_math::Real;

use crate::error::{Error, Result};
use crate::model::network::{Keep, Network, Seeds, Workspace};
use crate::model::{Architecture, Example, Layout, Part, initial};
use crate::nn::{Batch, Cpu};
use crate::train::{LevelLoss, Loss, Negatives};

pub use crate::nn::device::Window;

/// A network without its parameters: where they lie, and what is computed with them.
///
/// Arrays are rows one after the other: features a row a node, graph after graph, and vectors a
/// row a graph.
#[derive(Debug, Clone)]
pub struct Layer {
    network: Network,
}

/// What a loss asks of everything that it depends on.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients<R = f32> {
    /// Of the parameters, as they lie in [`Layer::tensors`].
    pub parameters: Vec<R>,
    /// Of the features, a row a node.
    pub features: Vec<R>,
}

impl Layer {
    /// A network for nodes of `features` numbers. It has no
    /// [relations](crate::model::Relational), which belong to the graphs that a model was fitted to:
    /// [`Hg2v::layer`](crate::Hg2v::layer) has those of its own.
    ///
    /// # Errors
    /// As [`Architecture::check`]; nodes without numbers.
    pub fn new(architecture: &Architecture, features: usize) -> Result<Layer> {
        Ok(Layer { network: Network { layout: Layout::new(architecture, features)? } })
    }

    pub(crate) fn of(network: &Network) -> Layer {
        Layer { network: network.clone() }
    }

    /// The choices that make the network.
    pub fn architecture(&self) -> &Architecture {
        &self.network.layout.architecture
    }

    /// `F`: numbers a node comes with.
    pub fn num_features(&self) -> usize {
        self.network.layout.features
    }

    /// Numbers a node has on `level`.
    pub fn width(&self, level: usize) -> usize {
        self.network.layout.width(level)
    }

    /// Numbers of a graph's vector.
    pub fn embedding_dim(&self) -> usize {
        self.network.layout.embedding_dim()
    }

    /// What a graph's vector is made of, in order.
    pub fn parts(&self) -> Vec<Part> {
        self.network.layout.parts()
    }

    /// Numbers of the network, as they lie in [`Hg2v::parameters`](crate::Hg2v::parameters).
    pub fn num_parameters(&self) -> usize {
        self.network.layout.len
    }

    /// Every parameter's name, and where it lies among all numbers.
    pub fn tensors(&self) -> Vec<(String, Window)> {
        self.network.layout.tensors()
    }

    /// The parameters before training: Glorot's uniform start.
    pub fn initial(&self, seed: u64) -> Vec<f32> {
        initial(&self.network.layout, seed)
    }

    /// The vectors of `graphs`, whose own features are not looked at.
    ///
    /// # Errors
    /// Features or parameters of another number than the graphs and the network have; graphs that
    /// were made ready for another number of levels.
    ///
    /// # Complexity
    /// For `n` nodes and `m` edges of all levels, `O(a·(m + n·d)·d)` time, as the network looks `a`
    /// hops far and a node has `d` numbers; memory for one level.
    pub fn embed<R: Real>(
        &self,
        graphs: &[Example],
        features: &[R],
        parameters: Vec<R>,
    ) -> Result<Vec<R>> {
        let pass = self.pass(graphs, features, parameters, Keep::OneLevel, true)?;
        Ok(pass.embeddings())
    }

    /// The vectors of `graphs`, and the pass that made them, for gradients.
    ///
    /// # Errors
    /// As [`embed`](Layer::embed).
    ///
    /// # Complexity
    /// As [`embed`](Layer::embed); memory for all levels.
    pub fn forward<R: Real>(
        &self,
        graphs: &[Example],
        features: &[R],
        parameters: Vec<R>,
    ) -> Result<(Vec<R>, Pass<R>)> {
        let pass = self.pass(graphs, features, parameters, Keep::Everything, true)?;
        Ok((pass.embeddings(), pass))
    }

    /// HG2V's loss of every level, finest first, and the gradients of their sum: they come from
    /// the same pass. All super-nodes are compared, none are
    /// [drawn](crate::train::Recipe::negative_sample): the loss is a function of the two arrays alone.
    ///
    /// # Errors
    /// As [`embed`](Layer::embed).
    ///
    /// # Complexity
    /// As [`forward`](Layer::forward), and `O(n·n′·d)` a level for the pairs of its `n` nodes and
    /// the `n′` of the level above.
    pub fn losses<R: Real>(
        &self,
        graphs: &[Example],
        features: &[R],
        parameters: Vec<R>,
        pairs: (Loss, Negatives),
    ) -> Result<(Vec<LevelLoss>, Gradients<R>)> {
        let mut pass = self.pass(graphs, features, parameters, Keep::Everything, false)?;
        let seeds = Seeds { pairs: Some(pairs), features: true, ..Seeds::default() };
        let gradients = pass.gradients(seeds);
        Ok((self.network.take_losses(&pass.device, &mut pass.workspace), gradients))
    }

    fn pass<R: Real>(
        &self,
        graphs: &[Example],
        features: &[R],
        parameters: Vec<R>,
        keep: Keep,
        embed: bool,
    ) -> Result<Pass<R>> {
        let layout = &self.network.layout;
        let nodes: usize = graphs.iter().map(Example::num_nodes).sum();
        if features.len() != nodes * layout.features {
            let requirement = format!(
                "the graphs have {nodes} nodes and the network takes {} numbers of each",
                layout.features
            );
            return Err(Error::argument("the number of features", features.len(), requirement));
        }
        if parameters.len() != layout.len {
            let requirement = format!("the network has {}", layout.len);
            return Err(Error::argument("the number of parameters", parameters.len(), requirement));
        }
        let levels = layout.architecture.levels;
        if graphs.iter().any(|graph| graph.num_levels() != levels) {
            let requirement = "the graphs were made ready for another number of levels";
            return Err(Error::argument("levels", levels, requirement));
        }
        let relations = layout.num_relations();
        if graphs.iter().any(|graph| graph.batch.relations.count != relations) {
            let requirement = "the graphs were made ready for another number of relations";
            return Err(Error::argument("relations", relations, requirement));
        }
        let device = Cpu::new();
        let mut workspace = Workspace::new(&device);
        let graphs: Vec<&Batch> = graphs.iter().map(|graph| &graph.batch).collect();
        self.network.place_pieces(&device, &mut workspace, &graphs, &[features]);
        self.network.forward(&device, &parameters, &mut workspace, keep, embed);
        Ok(Pass {
            network: self.network.clone(),
            num_graphs: graphs.len(),
            device,
            parameters,
            workspace,
        })
    }
}

/// A forward pass, and all that a backward pass needs of it.
pub struct Pass<R: Real> {
    network: Network,
    num_graphs: usize,
    device: Cpu<R>,
    parameters: Vec<R>,
    workspace: Workspace<Cpu<R>>,
}

impl<R: Real> Pass<R> {
    fn embeddings(&self) -> Vec<R> {
        self.network.embeddings(&self.device, &self.workspace)
    }

    /// The gradients that `d_embeddings`, a row a graph, has for features and parameters.
    ///
    /// # Errors
    /// Gradients of another number than the vectors have.
    ///
    /// # Complexity
    /// Twice that of [`forward`](Layer::forward).
    pub fn backward(&mut self, d_embeddings: &[R]) -> Result<Gradients<R>> {
        let expected = self.num_graphs * self.network.layout.embedding_dim();
        if d_embeddings.len() != expected {
            let requirement = format!("the embeddings have {expected} numbers");
            let name = "the number of gradients";
            return Err(Error::argument(name, d_embeddings.len(), requirement));
        }
        let seeds = Seeds { embeddings: Some(d_embeddings), features: true, ..Seeds::default() };
        Ok(self.gradients(seeds))
    }

    fn gradients(&mut self, seeds: Seeds<'_, R>) -> Gradients<R> {
        let Pass { network, device, parameters, workspace, .. } = self;
        let mut gradients = vec![R::ZERO; network.layout.len];
        network.backward(device, parameters, workspace, seeds, &mut gradients);
        Gradients { parameters: gradients, features: network.feature_gradients(device, workspace) }
    }
}

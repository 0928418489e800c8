//! HG2V as an operator of [burn](burn): whatever makes node features, a CNN on pictures or an
//! embedding of words, is trained by HG2V's unsupervised loss, and whatever reads graph
//! vectors trains through them.
//!
//! A [`Layer`] is a network on a batch of graphs. It is a function of two tensors, the nodes'
//! features and the network's parameters, and has two values, each with gradients to both:
//! [`embed`](Layer::embed), a row a graph, and [`loss`](Layer::loss), HG2V's own. The gradients
//! are the core's: the same passes that `hg2v fit` makes, in f32 or f64, on processors.
//!
//! ```
//! use burn::tensor::{Device, Tensor};
//! use hg2v::context::Context;
//! use hg2v::graph::GraphRecord;
//! use hg2v::train::{Negatives, Loss};
//! use hg2v::prepare::{Collection, Run};
//! use hg2v::{Hg2v, Model};
//! use hg2v_burn::{Layer, parameters};
//!
//! // Two rings and a path; no features, so nodes are described by their degrees.
//! let ring = |n: u32| GraphRecord {
//!     num_nodes: n,
//!     edges: (0..n).map(|i| [i, (i + 1) % n]).collect(),
//!     ..GraphRecord::default()
//! };
//! let path = GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2]], ..GraphRecord::default() };
//! let graphs = [ring(5), ring(8), path];
//! let model = Hg2v::params().dim(4).hops(2).levels(2).epochs(1).fit(&graphs)?;
//! let run = Run::in_memory(&graphs);
//! let (examples, _) =
//!     model.examples(&Collection::new(run, &model.needs(), &Context::default())?)?;
//!
//! let device = Device::flex().autodiff();
//! let layer = Layer::of(&model, &examples);
//! let features = layer.features(&examples, &device).require_grad();
//! let theta = parameters(&model, &device).require_grad();
//! let loss = layer.loss(features.clone(), theta, (Loss::Jsd, Negatives::All));
//!
//! // What the loss asks of each node's features.
//! let gradients = loss.backward();
//! assert_eq!(features.grad(&gradients).map(|g| g.dims()), Some(features.dims()));
//! # Ok::<(), hg2v::Error>(())
//! ```

mod layer;
mod operator;

pub use layer::Layer;
pub use operator::{Call, Hg2vBackend, Value, parameters};

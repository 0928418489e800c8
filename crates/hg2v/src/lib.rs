//! Hierarchical Graph2Vec: collections of graphs into vectors, without labels.
//!
//! A model learns from a collection of graphs what its graphs are made of, and gives every graph a
//! vector, also those it has never seen: similar graphs get vectors that are near each other.
//!
//! ```
//! use hg2v::graph::GraphRecord;
//! use hg2v::{Hg2v, Model};
//!
//! // Rings of four to thirteen nodes.
//! let ring = |n: u32| GraphRecord {
//!     num_nodes: n,
//!     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
//!     ..GraphRecord::default()
//! };
//! let rings: Vec<GraphRecord> = (4..14).map(ring).collect();
//!
//! let model = Hg2v::params().dim(8).levels(2).epochs(2).seed(7).fit(&rings)?;
//! let vectors = model.embed(&[ring(20)])?;
//! assert_eq!(vectors.row(0).len(), model.dim());
//! # Ok::<(), hg2v::Error>(())
//! ```
//!
//! # The parts of the book
//!
//! 1. **Methods and models.** A [`Method`] is settings, what it learns is a [`Model`]
//!    ([`method`]). [`Hg2vParams`] is HG2V's method and [`Hg2v`] its model; [`model`] has the choices
//!    that make its network, [`train`] those of its training, and a [`TrainingFolder`] keeps a
//!    training that goes on after a stop. [`saved`] is a model as a folder.
//! 2. **Collections.** [`dataset`] reads and writes files of graphs, makes collections, fetches known
//!    ones and says what is in them; [`dataset::features`] turns what nodes come with into numbers.
//!    [`prepare`] makes a [`Collection`](prepare::Collection) of records, which models learn from.
//! 3. **Graphs.** A [`GraphRecord`](graph::GraphRecord) is what a file says, a
//!    [`Graph`](graph::Graph) what algorithms want; [`graph`] has both, Weisfeiler–Lehman
//!    refinement, and a layout to draw.
//! 4. **Coarsening.** [`coarsen`]: a graph becomes a pyramid of smaller and smaller graphs with
//!    nearly the same low spectrum (Loukas 2019).
//! 5. **Distances.** [`distance`]: how far apart two graphs are, by spectra or by structure and
//!    attributes at once.
//! 6. **Vectors.** [`vectors`] are files of them; [`stream`] embeds graphs without end into one, in
//!    bounded memory. An [`Anatomy`] divides what is made of a vector among its parts and the graph's
//!    nodes ([`shares`]).
#![cfg_attr(feature = "parquet", doc = "    [`rows`] embeds those of an Arrow table.")]
//! 7. **The differentiable layer.** [`layer`]: the network inside a larger model, with gradients.
//!
//! Long work takes a [`Context`](context::Context): a device, a cache, and a
//! [`Progress`](progress::Progress) that is told how far it is and may stop it. What goes wrong is an
//! [`Error`], which carries what a program needs to act on it. Results are the same bits at any
//! number of threads.
//!
//! # Features
//!
//! | feature | brings |
//! |---|---|
//! | `parquet` | graphs and vectors in Parquet files and Arrow tables |
//! | `download` | known sets from the web |
//! | `cuda` | training and embedding on an NVIDIA GPU |
//!
//! All are off unless asked for; the command and the wheel have the first two.

#![cfg_attr(docsrs, feature(doc_cfg))]

pub mod error;
mod group;
#[doc(hidden)]
pub mod input;
pub mod output;
pub mod progress;
pub mod vocabulary;

pub mod graph;

mod linalg;

pub mod distance;

pub mod dataset;

pub mod coarsen;

mod nn;

pub mod model;

pub mod context;

pub mod prepare;

pub mod train;

pub mod layer;

pub mod saved;

pub mod finish;

pub mod shares;

pub mod components;

pub mod slices;

pub mod census;

pub mod colours;

mod embed;

pub mod vectors;

pub mod method;

mod estimator;

mod fitted;

pub mod stream;

#[cfg(feature = "parquet")]
pub mod rows;

#[doc(hidden)]
pub mod internals;

pub use error::{Error, Result};
#[doc(hidden)]
pub use estimator::Failure;
pub use estimator::{
    Anatomy, CHECKPOINT_EVERY, Fit, Hg2v, Hg2vConfig, Hg2vParams, Preset, Trained, TrainingFolder,
    Untrained, is_unfinished,
};
pub use fitted::Fitted;
pub use method::{Method, Model, Resumable};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

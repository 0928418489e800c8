//! Hierarchical Graph2Vec: collections of graphs into vectors, without labels.
//!
//! The pipeline, one way:
//!
//! 1. [`dataset`]: files become [`GraphRecord`](graph::GraphRecord)s;
//! 2. [`graph`]: records become clean sparse [`Graph`](graph::Graph)s;
//! 3. [`coarsen`]: each graph becomes a spectral pyramid (Loukas 2019);
//! 4. [`nn`]: the operators of the network, forwards and backwards;
//! 5. [`model`]: the network: pyramids in, vectors out;
//! 6. [`prepare`]: records become what the network sees, all the same way every time;
//! 7. [`train`]: mutual information between neighbourhoods and super-nodes, made large;
//! 8. [`saved`]: a model as a folder, and a run of training that goes on after a stop;
//! 9. [`embed`] and [`vectors`]: vectors for any graphs, afterwards, and files of them.
//!
//! Beside it, [`distance`]: how far apart two graphs are, as the paper measures it.
//!
//! [`Hg2v`] is all of it behind one `fit` and one `embed`.
//!
//! | feature | brings |
//! |---|---|
//! | `parquet` | graphs and vectors in Parquet files and Arrow tables |
//! | `download` | known sets from the web |
//! | `cuda` | training and embedding on an NVIDIA card |
//!
//! All are off unless asked for; the command and the wheel have the first two.

pub mod error;
mod group;
#[doc(hidden)]
pub mod input;
pub mod output;
pub mod progress;

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

mod embed;

pub mod vectors;

pub mod method;

mod estimator;

pub mod stream;

#[cfg(feature = "parquet")]
pub mod rows;

#[doc(hidden)]
pub mod internals;

pub use error::{Error, Result};
#[doc(hidden)]
pub use estimator::Failure;
pub use estimator::{
    CHECKPOINT_EVERY, Fit, Hg2v, Hg2vConfig, Hg2vParams, Trained, TrainingFolder, Untrained,
    is_unfinished,
};
pub use method::{Method, Model};

/// The README's examples, compiled.
#[cfg(doctest)]
#[doc = include_str!("../../../README.md")]
struct Readme;

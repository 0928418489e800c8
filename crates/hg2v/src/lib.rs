//! Hierarchical Graph2Vec: collections of graphs into vectors, without labels.
//!
//! The pipeline, one way:
//!
//! 1. [`dataset`]: files become [`GraphRecord`](graph::GraphRecord)s;
//! 2. [`graph`]: records become clean sparse [`Graph`](graph::Graph)s;
//! 3. [`coarsen`]: each graph becomes a spectral pyramid (Loukas 2019).

pub mod error;
mod group;
pub mod output;
pub mod rng;

pub mod linalg;

pub mod graph;

pub mod dataset;

pub mod coarsen;

pub use error::{Error, Result};

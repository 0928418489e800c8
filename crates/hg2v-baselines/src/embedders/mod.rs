//! Vectors without labels.

pub mod graph2vec;
pub mod skip_gram;

//! Vectors without labels.

pub mod graph2vec;
pub mod graph2vec_gnn;
pub mod graph2vec_loukas;
pub mod infograph;
pub mod morgan;
pub mod skip_gram;
pub mod statistics;

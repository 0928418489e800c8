//! What Hierarchical Graph2Vec is compared with, one file a paper.
//!
//! | role | what it makes of a graph | methods |
//! |---|---|---|
//! | [`embedders`] | a vector, without labels | |
//! | [`kernels`] | a number for each pair | [`Wwl`](kernels::wwl::Wwl) |
//! | [`classifiers`] | a class, taught by labels | |
//!
//! All implement the roles of [`hg2v_eval::method`], so that one harness judges them on
//! the same splits. Each file names its paper, its equations and its cost.

pub mod classifiers;
pub mod embedders;
pub mod kernels;

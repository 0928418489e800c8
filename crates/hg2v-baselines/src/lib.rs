//! What Hierarchical Graph2Vec is compared with, one file a paper.
//!
//! | role | what it makes of a graph | methods |
//! |---|---|---|
//! | [`embedders`] | a vector, without labels | [`graph2vec`](embedders::graph2vec), [`graph2vec_gnn`](embedders::graph2vec_gnn), [`graph2vec_loukas`](embedders::graph2vec_loukas) |
//! | [`kernels`] | a number for each pair | [`wl_subtree`](kernels::wl_subtree), [`wl_oa`](kernels::wl_oa) |
//! | [`classifiers`] | a class, taught by labels | |
//!
//! All implement the roles of [`hg2v_eval::method`], so that one harness judges them on
//! the same splits; [`registry`] has them by name. Each file names its paper, its equations
//! and its cost.

pub mod classifiers;
pub mod embedders;
pub mod kernels;
pub mod registry;
pub mod wl;

//! What Hierarchical Graph2Vec is compared with, one file a paper.
//!
//! | role | what it makes of a graph | methods |
//! |---|---|---|
//! | [`embedders`] | a vector, without labels | [Graph2Vec](embedders::graph2vec), its ablations [with a network](embedders::graph2vec_gnn) and [with coarsening](embedders::graph2vec_loukas), [InfoGraph](embedders::infograph) |
//! | [`kernels`] | a number for each pair | [WL subtree](kernels::wl_subtree), [WL optimal assignment](kernels::wl_oa), [Wasserstein WL](kernels::wwl) |
//! | [`classifiers`] | a class, taught by labels | [GIN](classifiers::gin), [DiffPool](classifiers::diffpool), [MinCutPool](classifiers::mincut) |
//!
//! All implement the roles of [`hg2v_eval::method`], so that one harness judges them on
//! the same splits; [`registry`] has them by name, and [`options`] what users can tell them. Each file names its paper, its equations
//! and its cost.
//!
//! Networks are built on a small [`tape`] that differentiates, and share [`network`]'s
//! parameters and layers.

pub mod tape;

pub mod network;

pub mod prepared;

pub mod classifiers;
pub mod defaults;
pub mod embedders;
pub mod kernels;
pub mod options;
pub mod registry;
pub mod wl;

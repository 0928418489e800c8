//! Graphs compared two by two, as numbers for pairs and as vectors.

mod inverted;
mod landmarks;
mod nystrom;
pub mod vectors;
pub mod wl_oa;
pub mod wl_subtree;
pub mod wwl;

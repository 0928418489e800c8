//! Graphs compared two by two.

mod inverted;
pub mod wl_oa;
pub mod wl_subtree;
pub mod wwl;

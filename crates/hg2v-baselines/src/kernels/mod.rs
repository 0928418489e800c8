//! Graphs compared two by two.

pub mod wwl;

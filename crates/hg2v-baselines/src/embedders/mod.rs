//! Vectors without labels.

pub mod infograph;

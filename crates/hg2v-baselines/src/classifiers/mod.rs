//! Classes taught by labels.

pub mod training;

pub mod gin;

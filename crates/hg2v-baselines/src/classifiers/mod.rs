//! Classes taught by labels.

pub mod training;

pub mod gin;

pub mod pooling;

pub mod diffpool;
pub mod mincut;

//! Graphs: as files say them ([`GraphRecord`]) and as algorithms want them ([`Graph`]).

mod components;
mod csr;
mod record;
mod scalar;

pub use components::Components;
pub use csr::{Findings, Graph, RefusedWeight, WeightPolicy};
pub use record::{Features, GraphRecord};
pub use scalar::Scalar;

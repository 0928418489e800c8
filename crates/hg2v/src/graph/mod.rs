//! Graphs: as files say them ([`GraphRecord`]) and as algorithms want them ([`Graph`]).

mod aspects;
mod components;
mod csr;
mod intern;
pub mod layout;
mod links;
pub mod molecule_layout;
mod record;
pub mod rings;
mod scalar;
pub mod structure;
pub mod wl;
mod wl_digest;

pub use aspects::Aspects;
pub use components::Components;
pub use csr::{Findings, Graph, RefusedWeight, WeightPolicy};
pub use links::{EdgeChoice, Link, Links, Usage, Way};
pub use record::{Features, GraphRecord, Target};
pub use scalar::Scalar;
pub use structure::Structure;
pub(crate) use wl_digest::digest_scalar;
pub use wl_digest::wl_digest;

//! The only place that names the matrix crate.

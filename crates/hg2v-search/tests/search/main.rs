//! Searching, by definitions, properties and known answers.

mod common;
mod drift;
mod explain;
mod near;
mod project;

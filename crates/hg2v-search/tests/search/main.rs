//! Searching, by definitions, properties and known answers.

// Tests that are left out say so.
#![allow(clippy::print_stderr)]

mod common;
mod drift;
mod explain;
mod neighbors;
mod outliers;
mod project;

#[path = "../../examples/look_around.rs"]
mod look_around; // the example runs to its end

#[test]
fn the_example_runs() {
    look_around::main().unwrap();
}

//! One binary for all tests of networks: it links once.

// A test may fail loudly.
#![allow(clippy::unwrap_used)]

// Against finite differences.
mod operators;

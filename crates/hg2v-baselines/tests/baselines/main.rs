//! One binary for all integration tests: it links once.

// A test may fail loudly, and a skipped one says so.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

mod common; // collections, small and real

mod embedders;
mod kernels; // against their definitions
mod models; // every method of the registry, learnt, saved and read back
mod options; // what users can tell them

//! One binary for all tests of networks: it links once.

// A test may fail loudly, and says what it leaves out.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

// What tests share.
mod common; // planted classes

// Against finite differences.
mod networks; // as wholes
mod operators; // one by one

// What methods promise.
mod infograph;
mod learners;

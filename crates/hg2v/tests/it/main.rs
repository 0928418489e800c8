//! One binary for all integration tests: it links once.

// A skipped test says so; bench-like tests report what they measured.
#![allow(clippy::print_stderr, clippy::print_stdout)]

// What tests share.
mod common; // arbitrary records, damaged bytes
mod records; // records each text format can express, the published table of real sets
#[cfg(feature = "download")]
mod server; // an HTTP server that can misbehave

// What goes wrong.
mod errors; // errors carry data, faces word them

// Files in, files out.
mod csv;
mod graphml;
mod jsonl;
mod molecules; // SMILES and SDF: known molecules, bad lines, hostile texts
#[cfg(feature = "parquet")]
mod parquet;
mod skipping; // one bad graph among good ones
mod tu;

// Making, fetching and knowing collections.
mod catalog;
#[cfg(feature = "download")]
mod download;
mod edges;
mod features;
mod images;
mod summary;
mod synthetic;
mod wl;

// Pyramids.
mod coarsening_golden; // against the reference implementation
mod coarsening_properties;

// Distances.
mod distance; // brute force, certificates, the paper's lemma

// The network.
mod layer; // the network inside a larger model
mod network; // against the golden step, a naive twin and finite differences
mod relations; // a hop for each kind and direction of edges
mod training; // the same bits always; damaged models
mod vectors; // files of vectors

// What newcomers read.
mod examples;

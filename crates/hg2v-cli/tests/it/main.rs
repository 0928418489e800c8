//! The command as a user runs it; one binary for all of it.

// A skipped test says so.
#![allow(clippy::print_stderr)]

#[path = "../../../hg2v/tests/it/server.rs"]
mod server; // an HTTP server that can misbehave

mod common; // the command in a folder of its own

mod coarsen;
mod compare;
mod convert;
mod datasets;
#[cfg(unix)]
mod disk_full; // nothing half-written stays behind
mod figures; // of the paper, drawn again
mod generate;
mod help; // manual pages, and what a shell finishes
mod images;
mod info;
mod json;
mod lab; // against docs/command.md
mod model; // fit, embed, evaluate, demo
mod nonsense; // and what they say to it
mod numbers; // to predict: evaluate, compare
mod overwriting; // and --force
#[cfg(target_os = "linux")]
mod process; // signals, kills, threads
mod report; // the page, as a file
mod reproduce;
mod search; // drift, project
mod skip; // one bad graph among good ones

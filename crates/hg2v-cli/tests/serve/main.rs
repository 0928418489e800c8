//! The server as a process of its own, over loopback.
#![cfg(unix)]
// A skipped test says so.
#![allow(clippy::print_stderr)]

#[path = "../it/common.rs"]
#[allow(dead_code)]
mod common; // the command in a folder of its own

mod process; // a server, and what is asked of it

mod access; // who may ask
mod answers; // what it says, beside what `embed` and `search` say
mod bounds; // who does not read, drips or idles
mod described; // what /openapi.json says of it
mod hostile; // what nobody should send
mod load; // more than it can take, and its end in the midst of it
mod reload; // a model that is replaced

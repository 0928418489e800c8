//! The `hg2v` command: parse, call, print. One file a command under `commands/`.

mod commands;
mod context;
mod device;
mod graphs;
mod network;
mod out;
mod table;

use std::process::ExitCode;

use clap::Parser;

use commands::Command;
use context::{Context, Global};

/// Graphs into vectors, without labels, and new graphs afterwards.
///
/// DATA is a TU folder or zip, a JSONL file (also .gz, or `-` for standard
/// input), a folder with edges.csv (+ nodes.csv, graphs.csv), a Parquet file, a
/// folder of GraphML files, or the NAME of a known set found under --data-dir.
#[derive(Parser)]
#[command(name = "hg2v", version, propagate_version = true, max_term_width = 100)]
#[command(after_help = "Exit codes: 0 done, 1 failed, 2 wrong usage or unreadable input.")]
struct Cli {
    #[command(flatten)]
    global: Global,
    #[command(subcommand)]
    command: Command,
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let result = Context::new(&cli.global).and_then(|context| cli.command.run(&context));
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => context::report(&error),
    }
}

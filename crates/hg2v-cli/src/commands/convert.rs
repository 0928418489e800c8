//! `hg2v convert`: any format to any format.

use std::fs;
use std::path::{Path, PathBuf};

use hg2v::dataset::{self, Format};
use hg2v::graph::Scalar;
use hg2v::vocabulary::Named;
use serde::Serialize;

use crate::context::Context;
use crate::graphs::{Asks, with_flag};
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::table::counted;
use crate::vocabulary::word_where;

/// Write a collection of graphs in another format, losing nothing
///
/// Graphs are read and written one by one: memory does not grow with their
/// number (TU, CSV and GraphML, which must be held whole, excepted). OUT appears when it is
/// complete.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v convert MUTAG.zip mutag.jsonl          a TU zip to one JSON object a line
  hg2v convert graphs.jsonl.gz graphs.parquet compressed JSONL to Parquet
  hg2v convert graphs.parquet set --format csv  a folder of edges.csv, nodes.csv, graphs.csv
  zcat big.jsonl.gz | hg2v convert - - | head from standard input to standard output")]
pub(crate) struct Args {
    /// What to read
    data: PathBuf,
    /// What to write; `-` is standard output
    out: PathBuf,
    /// Format of OUT [default: by its name]
    #[arg(long, value_parser = word_where(Format::is_written))]
    format: Option<Format>,
    #[command(flatten)]
    force: ForceArgs,
    /// Give every graph without an id its position, counted from 0
    #[arg(long)]
    ids: bool,
}

/// What was read and written.
#[derive(Serialize)]
struct Converted {
    data: PathBuf,
    data_format: &'static str,
    out: PathBuf,
    format: &'static str,
    graphs: u64,
    nodes: u64,
    edges: u64,
    /// Bytes of the output; absent on standard output.
    bytes: Option<u64>,
    ignored: Vec<String>,
    /// What of `ignored` is not worth a word.
    #[serde(skip)]
    unsaid: Vec<String>,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let to_stdout = args.out == Path::new("-");
    refuse_json(&args.out, context)?;
    let mut source = context.open(&args.data, Asks::Nothing)?;
    refuse_same(&source.path, &args.out)?;
    let format = match args.format {
        Some(format) => format,
        None => dataset::format_of_name(&args.out)?,
    };
    let mut sink = dataset::create(args.force.at(&args.out), Some(format))?;
    let mut done = Converted {
        data: source.path.clone(),
        data_format: source.format.word(),
        out: args.out.clone(),
        format: format.word(),
        graphs: 0,
        nodes: 0,
        edges: 0,
        bytes: None,
        ignored: Vec::new(),
        unsaid: Vec::new(),
    };
    let progress = context.progress("converting", source.len);
    for record in source.by_ref() {
        let mut record = record?;
        if args.ids && record.id.is_none() {
            // Positions of graphs held anywhere fit 63 bits.
            record.id = Some(Scalar::Int(done.graphs as i64));
        }
        done.graphs += 1;
        done.nodes += u64::from(record.num_nodes);
        done.edges += record.edges.len() as u64;
        sink.write(&record)?;
        progress.inc(1);
    }
    sink.finish()?;
    progress.finish_and_clear();
    done.ignored = source.ignored();
    if context.global.verbose == 0 {
        done.unsaid = source.beside().to_vec();
    }
    done.bytes = (!to_stdout).then(|| size_of_output(&args.out));
    context.say(done.to_string());
    context.tell(&done)?;
    Ok(())
}

impl std::fmt::Display for Converted {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{} ({}, {}), {} → {}",
            counted(self.graphs, "graph"),
            counted(self.nodes, "node"),
            counted(self.edges, "edge"),
            self.data_format,
            self.format
        )?;
        if let Some(bytes) = self.bytes {
            write!(f, ", {bytes} bytes")?;
        }
        let said = self.ignored.iter().filter(|what| !self.unsaid.contains(what));
        let said: Vec<String> = said.map(|what| with_flag(what)).collect();
        if !said.is_empty() {
            write!(f, "; ignored: {}", said.join("; "))?;
        }
        Ok(())
    }
}

/// The bytes of a file, or of the files of a folder.
fn size_of_output(path: &Path) -> u64 {
    match fs::read_dir(path) {
        Ok(entries) => entries
            .flatten()
            .filter_map(|entry| entry.metadata().ok())
            .map(|metadata| metadata.len())
            .sum(),
        Err(_) => fs::metadata(path).map_or(0, |metadata| metadata.len()),
    }
}

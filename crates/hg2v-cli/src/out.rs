//! `--out PATH [--format F]`: where a collection is written, and as what; outputs that no
//! command should write.

use std::fs;
use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use hg2v::dataset::{self, Format, Sink};
use hg2v::error::Error;

use crate::context::Context;

/// Where to write a collection of graphs.
#[derive(Args, Clone)]
pub(crate) struct Out {
    /// Where to write: NAME.jsonl, NAME.jsonl.gz, NAME.parquet, NAME.zip (TU),
    /// NAME.csv (a folder), NAME (a TU folder), or `-` for JSONL on standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: PathBuf,
    /// Format of PATH [default: by its name]
    #[arg(long, value_enum)]
    format: Option<Layout>,
}

/// The formats that are written, as a user names them.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Layout {
    /// a folder NAME with NAME_A.txt, NAME_graph_indicator.txt, …
    Tu,
    /// the same folder in a zip
    TuZip,
    /// one JSON object a line
    Jsonl,
    /// the same, gzip-compressed
    #[value(name = "jsonl.gz")]
    JsonlGz,
    /// a folder of edges.csv, nodes.csv and graphs.csv
    Csv,
    /// one row a graph
    Parquet,
}

impl From<Layout> for Format {
    fn from(layout: Layout) -> Format {
        match layout {
            Layout::Tu => Format::TuFolder,
            Layout::TuZip => Format::TuZip,
            Layout::Jsonl => Format::Jsonl,
            Layout::JsonlGz => Format::JsonlGz,
            Layout::Csv => Format::CsvFolder,
            Layout::Parquet => Format::Parquet,
        }
    }
}

impl Out {
    /// Begins writing.
    pub(crate) fn create(&self) -> hg2v::Result<Box<dyn Sink>> {
        dataset::create(&self.out, self.format.map(Format::from))
    }

    /// Whether the graphs themselves go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.out.as_os_str() == "-"
    }
}

/// Refuses to write over what is read.
pub(crate) fn refuse_same(input: &Path, out: &Path) -> hg2v::Result<()> {
    let same = match (fs::canonicalize(input), fs::canonicalize(out)) {
        (Ok(input), Ok(out)) => {
            input == out && out.metadata().is_ok_and(|there| !is_stream(&there))
        }
        _ => false,
    };
    if same {
        let requirement = "that is the input itself; name another file";
        return Err(Error::parameter("OUT", out.display(), requirement));
    }
    Ok(())
}

/// A terminal or a pipe may be both.
fn is_stream(there: &fs::Metadata) -> bool {
    !there.is_file() && !there.is_dir()
}

/// Refuses `--json` where its result would stand among what goes to standard output.
pub(crate) fn refuse_json(out: &Path, context: &Context) -> hg2v::Result<()> {
    if out.as_os_str() == "-" && context.global.json {
        let requirement = "OUT is standard output, where its result would stand among the output";
        return Err(Error::parameter("--json", "on", requirement));
    }
    Ok(())
}

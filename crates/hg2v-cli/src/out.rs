//! `--out PATH [--format F]`: where a collection is written, and as what.

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use hg2v::dataset::{self, Format, Sink};

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

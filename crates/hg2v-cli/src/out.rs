//! `--out PATH [--format F]`: where a collection is written.

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
    /// The format, where the name of PATH should not say it
    #[arg(long, value_name = "F")]
    format: Option<OutFormat>,
}

/// A format that can be written.
#[derive(Clone, Copy, ValueEnum)]
enum OutFormat {
    /// One JSON object a line
    Jsonl,
    /// The same, gzip-compressed
    JsonlGz,
    /// One row a graph
    Parquet,
    /// A folder of TU text files
    Tu,
    /// The same folder in a zip
    TuZip,
    /// A folder of edges.csv, nodes.csv and graphs.csv
    Csv,
}

impl Out {
    /// Begins writing.
    pub(crate) fn create(&self) -> hg2v::Result<Box<dyn Sink>> {
        let format = self.format.map(|format| match format {
            OutFormat::Jsonl => Format::Jsonl,
            OutFormat::JsonlGz => Format::JsonlGz,
            OutFormat::Parquet => Format::Parquet,
            OutFormat::Tu => Format::TuFolder,
            OutFormat::TuZip => Format::TuZip,
            OutFormat::Csv => Format::CsvFolder,
        });
        dataset::create(&self.out, format)
    }

    /// Whether the graphs themselves go to standard output.
    pub(crate) fn is_stdout(&self) -> bool {
        self.out.as_os_str() == "-"
    }
}

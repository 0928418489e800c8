//! `--out PATH [--format F] [--force]`: where outputs go, as what, and over what; outputs that
//! no command should write.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use hg2v::dataset::{self, Format, Sink};
use hg2v::error::Error;
use hg2v::output::overwrite::{Destination, Overwrite};

use crate::context::Context;
use crate::vocabulary::word_where;

/// Where to write a collection of graphs.
#[derive(Args, Clone)]
pub(crate) struct Out {
    /// Where to write: NAME.jsonl, NAME.jsonl.gz, NAME.parquet, NAME.zip (TU),
    /// NAME.csv (a folder), NAME (a TU folder), or `-` for JSONL on standard output
    #[arg(long, short, value_name = "PATH")]
    pub(crate) out: PathBuf,
    /// Format of PATH [default: by its name]
    #[arg(long, value_parser = word_where(Format::is_written))]
    format: Option<Format>,
    #[command(flatten)]
    pub(crate) force: ForceArgs,
}

/// Whether an output may take the place of another: the one rule of all commands.
#[derive(Args, Clone, Copy)]
pub(crate) struct ForceArgs {
    /// Replace what exists; until the new output is whole, the old one stays
    ///
    /// Without it nothing that exists is written over. Standard output (`-`), pipes and devices
    /// are written to in any case.
    #[arg(long)]
    pub(crate) force: bool,
}

impl ForceArgs {
    /// An output that replaces another only where that was asked for.
    pub(crate) fn at<'a>(&self, path: &'a Path) -> Destination<'a> {
        let overwrite = if self.force { Overwrite::Always } else { Overwrite::Never };
        Destination { path, overwrite }
    }
}

impl Out {
    /// Begins writing.
    pub(crate) fn create(&self, context: &Context) -> hg2v::Result<Box<dyn Sink>> {
        refuse_json(&self.out, context)?;
        dataset::create(self.force.at(&self.out), self.format)
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
    let stdout = ["-", "/dev/stdout", "/dev/fd/1", "/proc/self/fd/1"];
    if context.global.json && stdout.iter().any(|name| out.as_os_str() == *name) {
        let requirement = "OUT is standard output, where its result would stand among the output";
        return Err(Error::parameter("json", "on", requirement));
    }
    Ok(())
}

//! What every command shares: its common options, progress, and how it ends.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::{ArgAction, Args};
use hg2v::dataset::{self, Limits, Skipped, Source};
use serde::{Deserialize, Serialize};

use crate::graphs::Asks;
use crate::interrupt;
use crate::json::Failed;
use crate::progress::Progress;
use crate::table::counted;
use crate::threads;
use crate::words::Command;

/// Options of every command.
#[derive(Args, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Global {
    /// Seed of every random decision [default: 0]
    #[arg(long, global = true, value_name = "N")]
    pub(crate) seed: Option<u64>,
    /// Worker threads (0: one a core); results do not depend on it
    #[arg(long, global = true, default_value_t = 0, value_name = "N")]
    pub(crate) threads: usize,
    /// Say nothing but errors
    #[arg(long, short, global = true)]
    pub(crate) quiet: bool,
    /// Say more (repeat for still more)
    #[arg(long, short, global = true, action = ArgAction::Count)]
    pub(crate) verbose: u8,
    /// The result, or the error, as one JSON object on standard output
    #[arg(long, global = true)]
    pub(crate) json: bool,
    /// Folder of known sets, so that DATA can be a NAME
    #[arg(long, global = true, env = "HG2V_DATA", value_name = "DIR")]
    pub(crate) data_dir: Option<PathBuf>,
    /// Largest graph that is believed, in nodes
    #[arg(long, global = true, default_value_t = Limits::default().max_nodes, value_name = "N")]
    pub(crate) max_nodes: u64,
    /// Longest line or record that is read, in bytes
    #[arg(long, global = true, default_value_t = Limits::default().max_record_bytes, value_name = "N")]
    pub(crate) max_record_bytes: u64,
    /// Most bytes a zip may unfold to
    #[arg(long, global = true, default_value_t = Limits::default().max_unpacked_bytes, value_name = "N")]
    pub(crate) max_unpacked_bytes: u64,
    /// Read Gephi's drawing in GraphML (x, y, z, r, g, b, alpha, size) as node attributes
    #[arg(long, global = true)]
    pub(crate) drawing: bool,
    /// Read degree, ring, valence and mass of a molecule's atoms as node attributes
    #[arg(long, global = true)]
    pub(crate) atom_attributes: bool,
    /// Which to predict, where DATA has several numbers or classes by name [default: all]
    #[arg(long, global = true, value_delimiter = ',', value_name = "NAME,…")]
    pub(crate) target: Vec<String>,
    /// Leave out graphs that cannot be used, and say which; without it the first one ends the run
    #[arg(long, global = true)]
    pub(crate) skip_invalid: bool,
}

/// Graphs that were left out, and of the first few, or of all, what is wrong with them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct LeftOut {
    count: u64,
    named: Vec<String>,
}

/// A command's surroundings.
#[derive(Clone)]
pub(crate) struct Context {
    pub(crate) global: Global,
    pub(crate) limits: Limits,
    /// Graphs that were left out.
    pub(crate) skipped: Skipped,
    /// How many of them were said.
    said: Arc<AtomicU64>,
    /// How many processes of ours left out.
    passed_on: Arc<AtomicU64>,
    /// The command's name.
    pub(crate) command: String,
    /// The program and arguments by which this process was started.
    pub(crate) again: Vec<OsString>,
    pub(crate) started: Instant,
}

impl Context {
    /// The seed of every random decision.
    pub(crate) fn seed(&self) -> u64 {
        self.global.seed.unwrap_or(0)
    }

    pub(crate) fn new(
        global: &Global,
        command: String,
        again: &[OsString],
    ) -> anyhow::Result<Context> {
        let started = Instant::now();
        threads::share_among(global.threads)?;
        let limits = Limits::default()
            .max_nodes(global.max_nodes)
            .max_record_bytes(global.max_record_bytes)
            .max_unpacked_bytes(global.max_unpacked_bytes)
            .drawing(global.drawing)
            .atom_attributes(global.atom_attributes);
        let skipped = match global.verbose {
            0 => Skipped::default(),
            _ => Skipped::all_named(),
        };
        let (said, passed_on) = (Arc::default(), Arc::default());
        let (global, again) = (global.clone(), again.to_vec());
        Ok(Context { global, limits, skipped, said, passed_on, command, again, started })
    }

    /// Opens DATA: a path, `-`, or the name of a set under `--data-dir`. With `--skip-invalid`,
    /// graphs that are not as the command `asks` are left out.
    pub(crate) fn open(&self, data: &Path, asks: Asks) -> hg2v::Result<Source> {
        let path = dataset::locate(data, self.global.data_dir.as_deref())?;
        let source = dataset::open(&path, &self.limits)?.targets(&self.global.target);
        let path = source.path.clone();
        Ok(match self.global.skip_invalid {
            true => source.skipping(&self.skipped, move |record, position| {
                asks.check(record, &path, position)
            }),
            false => source,
        })
    }

    /// Graphs that were left out here.
    pub(crate) fn left_out(&self) -> LeftOut {
        let named = self.skipped.named();
        let named = named.iter().map(|graph| graph.worded(&Command)).collect();
        LeftOut { count: self.skipped.count(), named }
    }

    /// How many graphs were left out, here and by processes of ours.
    pub(crate) fn count_left_out(&self) -> u64 {
        self.skipped.count() + self.passed_on.load(Ordering::Relaxed)
    }

    /// Counts and says what a process of ours left out.
    pub(crate) fn pass_on(&self, left_out: &LeftOut) {
        self.passed_on.fetch_add(left_out.count, Ordering::Relaxed);
        self.say_left_out(left_out, 0);
    }

    /// Says which graphs were left out since it was last said.
    pub(crate) fn say_skipped(&self) {
        let left_out = self.left_out();
        let said = self.said.swap(left_out.count, Ordering::Relaxed);
        self.say_left_out(&left_out, said);
    }

    fn say_left_out(&self, LeftOut { count, named }: &LeftOut, said: u64) {
        if *count == said {
            return;
        }
        for graph in named.iter().skip(said as usize) {
            self.say(format!("skipped: {graph}"));
        }
        let more = *count > named.len() as u64;
        let others =
            if more { format!(", the first {} named above", named.len()) } else { String::new() };
        self.say(format!("{} skipped{others}", counted(*count, "graph")));
    }

    /// How far the work on `len` things is (where they are counted): a bar on a terminal, and
    /// elsewhere a line now and then.
    pub(crate) fn progress(&self, what: &'static str, len: Option<u64>) -> Progress {
        match self.global.quiet {
            true => Progress::silent(),
            false => Progress::start(what, len),
        }
    }

    /// Says something to the person watching, on standard error.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        if !self.global.quiet {
            let _ = writeln!(io::stderr(), "{}", text.as_ref());
        }
    }

    /// Prints the command's result, on standard output.
    pub(crate) fn print(&self, text: impl AsRef<str>) -> anyhow::Result<()> {
        let mut out = io::stdout().lock();
        writeln!(out, "{}", text.as_ref())?;
        out.flush()?;
        Ok(())
    }
}

/// Prints the one error a command ends with, for people and where that was asked for as `json`,
/// and chooses its exit code.
pub(crate) fn report(error: &anyhow::Error, json: bool) -> u8 {
    // A reader that closed our output early (`| head`) has what it wanted.
    let closed = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    if closed.into_iter().any(|cause| cause.kind() == io::ErrorKind::BrokenPipe) {
        return 0;
    }
    // Work that ends because somebody asked for an end is not what failed.
    interrupt::leave_to_signal(error);
    let failed = Failed::of(error);
    let _ = writeln!(io::stderr(), "error: {}", failed.message);
    if json {
        failed.tell();
    }
    failed.code
}

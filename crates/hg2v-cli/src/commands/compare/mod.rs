//! `hg2v compare`: every method on the same splits, one table.

pub(super) mod cell;
mod table;

use std::env;
use std::fs;
use std::path::{Path, PathBuf};

use clap::builder::{PossibleValue, PossibleValuesParser};
use hg2v::dataset;
use hg2v::error::{Action, Error, Place, shown};
use hg2v::output::ScratchFolder;
use hg2v_baselines::registry::METHODS;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::CacheArgs;
use crate::json::partly;
use crate::judging::ModeArg;
use cell::Place as Cell;
use table::{Comparison, Outcome};

/// Every method on the same splits, one table
///
/// Vectors are judged by a C-SVM with a radial kernel and kernels by a C-SVM, as in
/// `hg2v evaluate`; methods that learn from labels choose their settings inside the
/// training part, too. Rank is a method's place on a set, 1 for the best, averaged over
/// the sets.
///
/// Every method runs on every set in a process of its own: one that fails, panics or runs
/// out of memory is shown as such, and the others go on. Seconds are those of all splits,
/// as many at a time as there are threads, without reading and coarsening; memory is the
/// process' peak, everything included.
///
/// With --out results are kept, a file a method and set, and every split as soon as it is
/// judged: a run that was stopped goes on where it stopped, and gives the same numbers.
/// The folder gets the table as compare.csv, compare.md and compare.json, and the splits; it
/// grows, and what it has is forgotten with --fresh alone.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v compare MUTAG PTC_FR --data-dir data                   all methods, 10 splits
  hg2v compare MUTAG --methods hg2v,untrained,wl-oa           some of them
  hg2v compare mine.jsonl --methods graph2vec,wl-subtree --out results
  hg2v compare MUTAG --protocol tenfold                       the field's protocol")]
pub(crate) struct Args {
    /// Collections of graphs, with labels
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Methods, in the order of the table [default: all]
    #[arg(long, value_delimiter = ',', value_name = "M,…", value_parser = names())]
    methods: Vec<String>,
    /// Who sees what
    #[arg(long, value_enum, default_value = "inductive", value_name = "P")]
    protocol: ModeArg,
    /// How many 80/20 splits [default: 10]; tenfold has its ten folds
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// Folder of results
    #[arg(long, short, value_name = "DIR")]
    out: Option<PathBuf>,
    /// Forget what DIR has of these sets and methods
    #[arg(long, requires = "out")]
    fresh: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
    /// Which cell of the table this process is to fill, of all the same arguments
    #[arg(long, hide = true, env = "HG2V_COMPARE_CELL", requires = "folder")]
    cell: Option<Cell>,
    /// Where its result is kept
    #[arg(long, hide = true, env = "HG2V_COMPARE_FOLDER")]
    folder: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    let value = |name, about| PossibleValue::new(name).help(about);
    METHODS.iter().map(|entry| value(entry.name, entry.about)).collect::<Vec<_>>().into()
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let methods: Vec<String> = match args.methods.is_empty() {
        true => METHODS.iter().map(|entry| entry.name.to_owned()).collect(),
        false => args.methods.clone(),
    };
    if let (Some(cell), Some(folder)) = (args.cell, &args.folder) {
        return cell::fill(cell, folder, &methods, &args, context);
    }
    let splits = args.protocol.splits(args.splits)?;
    check(&args, &methods)?;
    // Every process opens it for itself; if it cannot be, none need begin.
    args.device.open()?;
    let sets = args.data.iter().map(|data| dataset::name_of(data)).collect::<Vec<String>>();
    for (at, set) in sets.iter().enumerate() {
        if sets[..at].contains(set) {
            let problem = format!("two collections are called {}", shown(set));
            let fix = "name each once, or give one of the files another name";
            return Err(Error::input(&args.data[at], Place::Whole, problem, fix).into());
        }
        dataset::locate(&args.data[at], context.global.data_dir.as_deref())?;
    }
    let scratch;
    let folder: &Path = match &args.out {
        Some(out) => out,
        None => {
            scratch = ScratchFolder::beside(&env::temp_dir().join("hg2v"))?;
            scratch.path()
        }
    };
    fs::create_dir_all(folder).map_err(|e| Error::io(folder, Action::Create, e))?;
    let bar = context.progress("comparing", Some((sets.len() * methods.len()) as u64));
    let mut outcomes = Vec::new();
    for (set_at, set) in sets.iter().enumerate() {
        for (method_at, method) in methods.iter().enumerate() {
            bar.set_message(format!("{set}: {method}"));
            let cell = Cell { set: set_at, method: method_at };
            let outcome = Outcome::of(cell::child(cell, set, method, folder)?, splits)?;
            bar.suspend(|| context.say(format!("{set}: {method}: {outcome}")));
            bar.inc(1);
            outcomes.push(outcome);
        }
    }
    bar.finish_and_clear();
    let mode = args.protocol.into();
    let comparison = Comparison { sets, methods, outcomes, mode, seed: context.seed() };
    if args.out.is_some() {
        comparison.write(folder)?;
    }
    let failures = comparison.failures();
    let failed = format!("{} of {} runs failed", failures.len(), comparison.outcomes.len());
    let failed = format!("{failed}\n{}", failures.join("\n"));
    let mut result = comparison.json();
    if !failures.is_empty() {
        partly(&mut result, &failed);
    }
    if !context.tell(result)? {
        context.print(comparison.text())?;
    }
    match failures.is_empty() {
        true => Ok(()),
        false => anyhow::bail!(failed),
    }
}

fn check(args: &Args, methods: &[String]) -> anyhow::Result<()> {
    for (at, method) in methods.iter().enumerate() {
        if methods[..at].contains(method) {
            return Err(Error::parameter("methods", method, "it must name each only once").into());
        }
    }
    match args.data.iter().find(|data| data.as_os_str() == "-") {
        None => Ok(()),
        Some(data) => {
            let problem = "every method reads the graphs again, which standard input cannot";
            Err(Error::input(data, Place::Whole, problem, "give a file or a folder").into())
        }
    }
}

//! `hg2v compare`: every method on the same splits, one table.

mod process;

use std::env;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use clap::builder::{PossibleValue, PossibleValuesParser};
use hg2v::dataset::{self, Format};
use hg2v::graph::{EdgeChoice, Usage};
use hg2v::output::ScratchFolder;
use hg2v_baselines::registry::METHODS;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::study::Mode;
use hg2v_experiments::compare::{CellPosition, Plan};
use hg2v_experiments::evaluate::each_once;
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::experiments::{self, shown};
use crate::graphs::CacheArgs;
use crate::interrupt;
use crate::json::partly;
use crate::vocabulary::word;

/// Every method on the same splits, one table
///
/// Vectors are judged by a C-SVM with a radial kernel and kernels by a C-SVM, as in
/// `hg2v evaluate`; methods that learn from labels choose their settings inside the
/// training part, too. Rank is a method's place on a set, 1 for the best, averaged over
/// the sets.
///
/// Numbers are judged by kernel ridge regression, of vectors also by ridge regression, and
/// the table has root mean square errors; methods that learn classes alone are left out,
/// unless they are named. A set with several targets has a column for each; texts that name
/// graphs are none.
///
/// What is seen of edges holds for all methods that look at it; fingerprints of molecules are
/// of bonds in any case.
///
/// --against METHOD adds how much each method differs from another on the same splits: the
/// mean of the differences, split by split, and its standard error. --also adds judges of
/// the same vectors, as in `hg2v evaluate`; of these kernels have knn, and networks none.
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
  hg2v compare MUTAG --protocol tenfold                       the field's protocol
  hg2v compare MUTAG --against wl-oa --splits 30              who is ahead, and how sure that is
  hg2v compare MUTAG --methods hg2v,untrained --also linear,knn")]
pub(crate) struct Args {
    /// Collections of graphs, with classes or numbers to predict
    #[arg(required = true)]
    data: Vec<PathBuf>,
    /// Methods, in the order of the table [default: all]
    #[arg(long, value_delimiter = ',', value_name = "M,…", value_parser = names())]
    methods: Vec<String>,
    /// What is predicted
    #[arg(long, default_value_t, value_name = "T", value_parser = word::<Task>())]
    task: Task,
    /// Whether kinds of edges are seen
    #[arg(long, default_value_t, value_name = "USAGE", value_parser = word::<Usage>())]
    edge_labels: Usage,
    /// Whether numbers of edges are seen
    #[arg(long, default_value_t, value_name = "USAGE", value_parser = word::<Usage>())]
    edge_attributes: Usage,
    /// Whether directions of edges are seen
    #[arg(long, default_value_t, value_name = "USAGE", value_parser = word::<Usage>())]
    direction: Usage,
    /// Further judges of the same vectors
    #[arg(long, value_delimiter = ',', value_name = "C,…", value_parser = word::<Classifier>())]
    also: Vec<Classifier>,
    /// Set every method against this one, split by split
    #[arg(long, value_name = "METHOD", value_parser = names())]
    against: Option<String>,
    /// Who sees what
    #[arg(long, default_value_t, value_name = "P", value_parser = word::<Mode>())]
    protocol: Mode,
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
    #[arg(long, hide = true, env = process::CELL, requires = "folder")]
    cell: Option<CellPosition>,
    /// Where its result is kept
    #[arg(long, hide = true, env = process::FOLDER)]
    folder: Option<PathBuf>,
}

fn names() -> PossibleValuesParser {
    let value = |name, about| PossibleValue::new(name).help(about);
    METHODS.iter().map(|entry| value(entry.name, entry.about)).collect::<Vec<_>>().into()
}

/// Whether a file is one of molecules, as its name and head tell.
fn are_molecules(data: &Path) -> bool {
    data.is_file() && matches!(dataset::detect(data), Ok(Format::Smiles | Format::Sdf))
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    each_once(&args.also)?;
    let named = !args.methods.is_empty();
    let mut methods = match named {
        true => args.methods,
        false => {
            let molecules = args.data.iter().all(|data| are_molecules(data));
            let known = METHODS.iter().filter(|entry| molecules || !entry.is_of_molecules());
            known.map(|entry| entry.name.to_owned()).collect()
        }
    };
    methods.extend(args.against.clone().filter(|against| !methods.contains(against)));
    let plan = Plan {
        methods,
        named,
        task: args.task,
        edges: EdgeChoice::default()
            .labels(args.edge_labels)
            .attributes(args.edge_attributes)
            .direction(args.direction),
        also: args.also,
        against: args.against,
        mode: args.protocol,
        splits: args.protocol.splits(args.splits)?,
        data: args.data,
        fresh: args.fresh,
    };
    if let (Some(cell), Some(folder)) = (args.cell, &args.folder) {
        interrupt::end_with_parent()?;
        return experiments::run(&args.device, &args.cache, context, |environment| {
            process::fill_here(&plan, cell, folder, environment, context)
        });
    }
    let scratch;
    let folder: &Path = match &args.out {
        Some(out) => out,
        None => {
            scratch = ScratchFolder::beside(&env::temp_dir().join("hg2v"))?;
            scratch.path()
        }
    };
    // Every process of a set leaves out the same graphs.
    let known = Mutex::default();
    let comparison = experiments::run(&args.device, &args.cache, context, |environment| {
        plan.run(folder, environment, |cell| process::fill(cell, folder, &known, context))
    })?;
    if args.out.is_some() {
        comparison.write(folder)?;
    }
    let failures = comparison.failures();
    let failed = format!("{} of {} runs failed", failures.len(), comparison.outcomes.len());
    let failed = format!("{failed}\n{}", failures.join("\n"));
    let mut result = json!(comparison);
    if !failures.is_empty() {
        partly(&mut result, &failed);
    }
    if !context.tell(result)? {
        context.print(shown(&comparison.table()))?;
        for table in comparison.more_tables() {
            context.print(format!("\n{}", shown(&table)))?;
        }
    }
    match failures.is_empty() {
        true => Ok(()),
        false => anyhow::bail!(failed),
    }
}

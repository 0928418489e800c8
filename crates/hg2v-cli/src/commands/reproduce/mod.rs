//! `hg2v reproduce`: the paper's tables and figures, with the paper's numbers beside ours.

mod fig_coarsening;
mod fig_neighbors;
mod fig_spectra;
mod fig_wl;
mod figures;
mod record;
mod rivals;
mod sets;
mod table;
mod table3;

use std::fs;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hg2v::context::Machine;
use hg2v::dataset::catalog;
use hg2v::error::{Action, Error, Place};
use hg2v::prepare::Run;
use hg2v::saved::DataNote;
use hg2v::{Hg2vParams, Method as _, Untrained};
use hg2v_baselines::embedders::statistics::Statistics;
use hg2v_eval::method::Candidate;
use hg2v_eval::select;
use hg2v_eval::study::{Mode, Study, StudyResult};
use hg2v_eval::tables::TABLE2;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, CacheArgs};
use crate::host::Host;
use crate::json::partly;
use crate::judging::{GridArg, best, candidates};
use crate::network::Preset;
use crate::store::{self, FORMAT, Kept, Store};
use crate::words::told;
use record::{Identity, Kind, Method, Record, Row, Shape};
use sets::Origin;

/// Sets of more nodes in all are left out of a quick run.
const QUICK_NODES: f64 = 300_000.0;

/// Splits of a run, as the paper's, and of a quick one.
const SPLITS: usize = 10;
const QUICK_SPLITS: usize = 3;

/// Run the paper's tables and figures again, the paper's numbers beside ours
///
/// table2 is the accuracy of HG2V on fourteen sets: 80/20 splits, the model
/// trained on the 80 without labels, a C-SVM as in `hg2v evaluate`; beside it the
/// same model untrained, and statistics counted by hand. Sets are looked for in
/// the folder of known sets (--data-dir, HG2V_DATA, or the current one); DLA is
/// grown, MNIST and FRANKENSTEIN-R are made from MNIST's idx files and BURSI.
///
/// table3 is a model trained on one set and judged on another, as it is, beside the same
/// network untrained. Features of the two line up by kind (images have row, column and
/// luminosity; graphs without features their degree and structure), and each set's numbers
/// are centred and normalised by its own, as the paper does.
///
/// table4 is Graph2Vec, the same with HG2V's network or with coarsening, and HG2V; table2
/// --rivals has the methods that the paper compares with. Both are run as `hg2v compare`
/// does, and share its results in OUT/compare; the paper's numbers stand in brackets.
///
/// Results are kept in OUT/table2 and OUT/table3, a file a row, and every split as soon
/// as it is judged: a run that was stopped goes on where it stopped, and gives the
/// same numbers. Asked for more splits than are there, it adds those that lack.
///
/// The figures are written to OUT/figures, as SVG and PNG, with their numbers as CSV
/// and a record of how they were made as JSON. fig-wl needs no data, fig-coarsening
/// MNIST; fig-spectra and fig-neighbors take --sets, and fig-neighbors --preset.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v reproduce table2 --data-dir data --quick            small sets, 3 splits
  hg2v reproduce table2 --data-dir data                    all of it: hours
  hg2v reproduce table2 --sets MUTAG,PTC_FR --preset paper --grid paper
  hg2v reproduce table2 --markdown                         the table of what is there
  hg2v reproduce table2 --data-dir data --rivals --sets MUTAG,ENZYMES
  hg2v reproduce table4 --data-dir data --quick            ablations on IMDB-BINARY
  hg2v reproduce table3 --data-dir data --sets REDDIT-BINARY,IMDB-BINARY
  hg2v reproduce fig-wl --quick                            labels against removed edges
  hg2v reproduce fig-spectra --data-dir data               spectra before and after coarsening
  hg2v reproduce fig-coarsening --data-dir data            four digits, level after level
  hg2v reproduce fig-neighbors --data-dir data --sets PTC_FR")]
pub(crate) struct Args {
    /// What to reproduce
    #[arg(value_enum)]
    what: What,
    /// Small sets only, and 3 splits; of transfers and figures, fewer graphs
    #[arg(long, conflicts_with = "splits")]
    quick: bool,
    /// Folder of results
    #[arg(long, short, default_value = "experiments/results", value_name = "OUT")]
    out: PathBuf,
    /// These sets only [default: all that are found]
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    sets: Vec<String>,
    /// How many 80/20 splits [default: 10]
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// The model
    #[arg(long, value_enum, default_value = "default", value_name = "P")]
    preset: Preset,
    /// Choose d, a and L by validation accuracy
    #[arg(long, value_enum, value_name = "G")]
    grid: Option<GridArg>,
    /// Of table2 the methods beside HG2V, too
    #[arg(long)]
    rivals: bool,
    /// Forget what OUT has of these sets and this model
    #[arg(long)]
    fresh: bool,
    /// Run nothing: print the table of all results in OUT as Markdown
    #[arg(long, conflicts_with_all = ["quick", "sets", "splits", "preset", "grid", "fresh"])]
    markdown: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum What {
    /// accuracies on fourteen sets
    Table2,
    /// trained on one set, judged on another
    Table3,
    /// what HG2V is without coarsening, and without a network
    Table4,
    /// Weisfeiler–Lehman labels of graphs that lose edges
    FigWl,
    /// distances between spectra, before and after coarsening
    FigSpectra,
    /// four digits, coarsened
    FigCoarsening,
    /// graphs and those nearest to them in latent space
    FigNeighbors,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    if args.markdown && context.global.json {
        return Err(Error::parameter("json", "on", "--markdown prints a table").into());
    }
    match args.what {
        _ if args.splits == Some(0) => {
            Err(Error::parameter("splits", 0, "it must be at least 1").into())
        }
        What::Table2 if args.rivals => rivals::table2().run(&args, context),
        _ if args.rivals => Err(Error::parameter("rivals", "given", "it is for table2").into()),
        What::Table2 => table2(&args, context),
        What::Table4 => rivals::table4().run(&args, context),
        What::Table3 => table3::run(&args, context),
        What::FigWl => figures::run(fig_wl::make, &args, context),
        What::FigSpectra => figures::run(fig_spectra::make, &args, context),
        What::FigCoarsening => figures::run(fig_coarsening::make, &args, context),
        What::FigNeighbors => figures::run(fig_neighbors::make, &args, context),
    }
}

fn table2(args: &Args, context: &Context) -> anyhow::Result<()> {
    let folder = args.out.join("table2");
    if args.markdown {
        let mut records: Vec<Record> = store::read_all(&folder)?;
        table::sort(&mut records);
        return context.print(table::markdown(&records).trim_end());
    }
    let machine = args.device.open()?;
    let found = chosen_sets(args, context)?;
    fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, Action::Create, e))?;
    let mut records = Vec::new();
    let mut failed = Vec::new();
    for (set, origin) in found {
        let outcome = match origin {
            Ok(origin) => reproduce(set, &origin, &folder, args, &machine, context),
            Err(missing) => Err(anyhow::anyhow!(missing)),
        };
        match outcome {
            Ok(record) => records.push(record),
            Err(error) => {
                context.say(format!("{set}: failed; on with the others"));
                failed.push((set, told(&error)));
            }
        }
    }
    let graphs = records.iter().map(|record| record.identity.data.graphs).sum();
    if !tell(args, graphs, &records[..], &failed, context)? {
        report(&records, context)?;
    }
    all_done(&failed, records.len())
}

/// A set that failed, and why.
type Failure = (&'static str, String);

/// An error where something failed, beside what is `done`.
fn all_done(failed: &[Failure], done: usize) -> anyhow::Result<()> {
    match failed.is_empty() {
        true => Ok(()),
        false => anyhow::bail!(in_words(failed, done)),
    }
}

fn in_words(failed: &[Failure], done: usize) -> String {
    let lines: Vec<String> = failed.iter().map(|(set, error)| format!("{set}: {error}")).collect();
    let all = failed.len() + done;
    format!("{} of {all} runs failed\n{}", failed.len(), lines.join("\n"))
}

/// Tells programs what was found, of how many graphs, and what was not.
fn tell(
    args: &Args,
    graphs: u64,
    records: &[impl Serialize],
    failed: &[Failure],
    context: &Context,
) -> anyhow::Result<bool> {
    let each: Vec<_> =
        failed.iter().map(|(set, error)| json!({ "set": set, "error": error })).collect();
    let mut result = json!({
        "what": value_name(&args.what), "out": args.out, "graphs": graphs, "records": records,
        "failed": each,
    });
    if !failed.is_empty() {
        partly(&mut result, &in_words(failed, records.len()));
    }
    context.tell(result)
}

type Found = (&'static str, Result<Origin, String>);

/// The sets that are asked for, or all that there are, in the paper's order.
fn chosen_sets(args: &Args, context: &Context) -> anyhow::Result<Vec<Found>> {
    let names: Vec<&'static str> = TABLE2.iter().map(|row| row.set).collect();
    let folder = sets::folder(context);
    let small = |name: &&str| {
        let nodes = catalog::find(name).map(|set| set.graphs as f64 * set.mean_nodes);
        !args.quick || nodes.is_some_and(|nodes| nodes <= QUICK_NODES)
    };
    let wanted = sets::asked(&names, &args.sets)?.into_iter().filter(small);
    let mut found: Vec<Found> = wanted.map(|name| (name, sets::find(name, folder))).collect();
    if args.sets.is_empty() {
        for (name, missing) in &found {
            if let Err(missing) = missing {
                context.say(format!("{name}: left out, {missing}"));
            }
        }
        found.retain(|(_, origin)| origin.is_ok());
    }
    // DLA is always there, but alone it is not what was meant.
    let only_dla = args.sets.is_empty() && found.iter().all(|(name, _)| *name == "DLA");
    if found.is_empty() || only_dla {
        return Err(none_found(context).into());
    }
    Ok(found)
}

fn none_found(context: &Context) -> Error {
    Error::input(
        sets::folder(context),
        Place::Whole,
        "no set of the table that was asked for is here",
        "say where sets are kept with --data-dir or HG2V_DATA, fetch some with `hg2v datasets \
         get`, or name large ones without --quick",
    )
}

/// What is said of results that need not be run.
fn there_already<K: Kept>(what: &str, splits: usize, store: &Store<K>) -> String {
    format!(
        "{what}: {splits} splits are there already, in {}; with another --out they are run again",
        store.path().display()
    )
}

/// Everything about one set, from what is known and what has to be run.
fn reproduce(
    set: &str,
    origin: &Origin,
    folder: &Path,
    args: &Args,
    machine: &Machine,
    context: &Context,
) -> anyhow::Result<Record> {
    let params = args.preset.params().seed(context.seed());
    let mut configuration = serde_json::to_value(&params)?;
    if let Some(device) = args.device.note() {
        // Another device rounds differently: its splits are not ours.
        configuration["device"] = device.into();
    }
    let protocol = select::Protocol { seed: context.seed(), ..select::Protocol::default() };
    let (file, records) = origin.records(context)?;
    let identity = Identity {
        format: FORMAT,
        hg2v: env!("CARGO_PKG_VERSION").to_owned(),
        set: set.to_owned(),
        data: DataNote::of(&records),
        preset: value_name(&args.preset),
        grid: args.grid.as_ref().map(value_name),
        configuration,
        mode: Mode::Inductive,
        protocol: serde_json::to_value(&protocol)?,
        seed: context.seed(),
    };
    let store: Store<Record> = Store::open(folder, identity.clone(), args.fresh)?;
    let asked = args.splits.unwrap_or(if args.quick { QUICK_SPLITS } else { SPLITS });
    if let Some(record) = store.finished().filter(|record| record.splits >= asked) {
        context.say(there_already(set, record.splits, &store));
        return Ok(record.clone());
    }
    if store.len() > 0 {
        context.say(format!("{set}: going on; {} results are there already", store.len()));
    }

    let run = Run::of(&records, &file);
    let collection = graphs::collected(run, &params.needs(), args.cache.open(), context)?;
    let mut study = Study::new(&collection, Mode::Inductive, asked, protocol)?;
    study.context = graphs::on(machine);
    let judge = |kind: Kind, method: &dyn hg2v::Method, params: Option<&Hg2vParams>| {
        let row = Method { kind, shape: params.map(Shape::of) };
        judged(set, row, Candidate::Method(method), &study, &store, context)
    };
    let candidates = candidates(&params, args.grid);
    let mut rows = Vec::new();
    for candidate in &candidates {
        rows.push(judge(Kind::Hg2v, candidate, Some(candidate))?);
    }
    let chosen = &candidates[best(rows.iter().map(|row| &row.result))];
    rows.push(judge(Kind::Untrained, &Untrained(chosen.clone()), Some(chosen))?);
    rows.push(judge(Kind::Statistics, &Statistics {}, None)?);
    let record = Record {
        identity,
        classes: study.classes.len(),
        majority: study.majority(),
        splits: asked,
        machine: Host::here(),
        chosen: Shape::of(chosen),
        rows,
    };
    store.finish(&record)?;
    Ok(record)
}

fn judged(
    set: &str,
    method: Method,
    candidate: Candidate<'_>,
    study: &Study<'_>,
    store: &Store<Record>,
    context: &Context,
) -> anyhow::Result<Row> {
    let kind = match method.kind {
        Kind::Hg2v => "HG2V",
        Kind::Untrained => "untrained",
        Kind::Statistics => "statistics",
    };
    let shape = method.shape.map_or_else(String::new, |shape| format!(" {shape}"));
    let name = format!("{set}: {kind}{shape}");
    let known = store.known(&method);
    let bar = context.progress("evaluating", Some(study.splits.len() as u64));
    bar.set_message(name.clone());
    bar.inc(known.len() as u64);
    let result: StudyResult = study.judge(candidate, &known, |split| {
        store.add(&method, split)?;
        bar.inc(1);
        Ok(())
    })?;
    bar.finish_and_clear();
    context.say(format!("{name}: {} ({:.0} s)", result.test, result.seconds));
    Ok(Row { method, result })
}

/// The value as a user types it.
pub(super) fn value_name(value: &impl ValueEnum) -> String {
    value.to_possible_value().map_or_else(String::new, |value| value.get_name().to_owned())
}

fn report(records: &[Record], context: &Context) -> anyhow::Result<()> {
    if records.is_empty() {
        return Ok(());
    }
    context.print(table::text(records).join("\n"))?;
    context.print(
        "\naccuracy in percent on the test part: mean ± deviation over 80/20 splits, the model \
         trained on the 80 alone; C-SVM, settings chosen by 5-fold cross-validation; `paper` is \
         what the paper reports of HG2V",
    )
}

//! `hg2v reproduce`: the paper's tables and figures, with the paper's numbers beside ours.

use std::path::PathBuf;

use hg2v::Preset;
use hg2v::context::MachineName;
use hg2v::error::Error;
use hg2v_eval::model_grid::ModelGrid;
use hg2v_experiments::reproduce::{self, Experiment, FailedRun, Plan, Reproduction};
use hg2v_experiments::table::TextTable;
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::experiments::{self, shown};
use crate::graphs::CacheArgs;
use crate::json::partly;
use crate::vocabulary::word;
use crate::words::of_experiment;

/// Run the paper's tables and figures again, the paper's numbers beside ours, or the laboratory
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
/// does; the paper's numbers stand in brackets.
///
/// lab has every method on every set that is there, molecules and numbers among them, by
/// every judge: C-SVM or kernel ridge, linear, nearest neighbours; then how HG2V differs
/// from its untrained control and from the best of the others, split by split: the mean and
/// its standard error. It shares its results, in OUT/lab, with table4 and table2 --rivals.
/// --sets and --methods take a part of it: parts may be run on different machines, and
/// their files copied into one folder.
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
  hg2v reproduce lab --data-dir data --sets MUTAG,ESOL --methods hg2v,untrained,wl-oa
  hg2v reproduce lab --markdown                            all tables of what is there
  hg2v reproduce table3 --data-dir data --sets REDDIT-BINARY,IMDB-BINARY
  hg2v reproduce fig-wl --quick                            labels against removed edges
  hg2v reproduce fig-spectra --data-dir data               spectra before and after coarsening
  hg2v reproduce fig-coarsening --data-dir data            four digits, level after level
  hg2v reproduce fig-neighbors --data-dir data --sets PTC_FR")]
pub(crate) struct Args {
    /// What to reproduce
    #[arg(value_parser = word::<Experiment>())]
    what: Experiment,
    /// Small sets only, and 3 splits; of transfers and figures, fewer graphs
    #[arg(long, conflicts_with = "splits")]
    quick: bool,
    /// Folder of results
    #[arg(long, short, default_value = "experiments/results", value_name = "OUT")]
    out: PathBuf,
    /// These sets only [default: all that are found]
    #[arg(long, value_delimiter = ',', value_name = "A,B,…")]
    sets: Vec<String>,
    /// Of lab these methods only [default: all]
    #[arg(long, value_delimiter = ',', value_name = "M,…")]
    methods: Vec<String>,
    /// How many 80/20 splits [default: 10; of lab's small sets 30]
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// The model
    #[arg(long, default_value_t, value_name = "P", value_parser = word::<Preset>())]
    preset: Preset,
    /// Choose d, a and L by validation accuracy
    #[arg(long, value_name = "G", value_parser = word::<ModelGrid>())]
    grid: Option<ModelGrid>,
    /// Of table2 the methods beside HG2V, too
    #[arg(long)]
    rivals: bool,
    /// Forget what OUT has of these sets and this model
    #[arg(long)]
    fresh: bool,
    /// Run nothing: print the table of all results in OUT as Markdown
    #[arg(long, conflicts_with_all = ["quick", "sets", "methods", "splits", "preset", "grid", "fresh"])]
    markdown: bool,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    check(&args, context)?;
    if args.markdown {
        let tables = reproduce::known(args.what, args.rivals, &args.out)?;
        let tables: Vec<String> = tables.iter().map(TextTable::markdown).collect();
        return context.print(tables.join("\n").trim_end());
    }
    let plan = Plan {
        experiment: args.what,
        all_methods: args.rivals,
        quick: args.quick,
        splits: args.splits,
        model: args.preset.params(),
        model_name: args.preset.to_string(),
        grid: args.grid,
        fresh: args.fresh,
        command: command(&args, context),
        out: args.out,
        datasets: args.sets,
        methods: args.methods,
    };
    let found = experiments::run(&args.device, &args.cache, context, |environment| {
        Ok(reproduce::run(&plan, environment)?)
    })?;
    report(&plan, &found, context)?;
    match found.failed.is_empty() {
        true => Ok(()),
        false => anyhow::bail!(in_words(&found)),
    }
}

/// Refuses options that mean nothing for what is asked for.
fn check(args: &Args, context: &Context) -> hg2v::Result<()> {
    let what = args.what;
    if args.markdown && context.global.json {
        return Err(Error::parameter("json", "on", "--markdown prints a table"));
    }
    if args.splits == Some(0) {
        return Err(Error::parameter("splits", 0, "it must be at least 1"));
    }
    let of_methods = matches!(what, Experiment::Table4 | Experiment::Lab)
        || what == Experiment::Table2 && args.rivals;
    if of_methods && args.preset != Preset::Default {
        // `compare` runs methods with their default settings.
        let requirement = "methods are compared with their default settings";
        return Err(Error::parameter("preset", args.preset, requirement));
    }
    let of_table2 = "it is for table2's HG2V alone";
    let tables = "it is for tables, not figures";
    let trains = "it is for tables and fig-neighbors, which train models";
    let (is_figure, is_untrained) = (!what.is_table(), !what.trains());
    let refused = [
        ("rivals", args.rivals && what != Experiment::Table2, "it is for table2"),
        ("methods", what != Experiment::Lab && !args.methods.is_empty(), "it is for lab"),
        ("splits", is_figure && args.splits.is_some(), tables),
        ("grid", is_figure && args.grid.is_some(), tables),
        ("grid", (of_methods || what == Experiment::Table3) && args.grid.is_some(), of_table2),
        ("fresh", is_figure && args.fresh, tables),
        ("markdown", is_figure && args.markdown, tables),
        ("preset", is_untrained && args.preset != Preset::Default, trains),
        ("device", is_untrained && args.device.device != MachineName::Cpu, trains),
        ("sets", !what.takes_datasets() && !args.sets.is_empty(), "this figure has its own graphs"),
    ];
    match refused.into_iter().find(|(_, given, _)| *given) {
        Some((name, _, requirement)) => Err(Error::parameter(name, "given", requirement)),
        None => Ok(()),
    }
}

/// The command that makes the same again.
fn command(args: &Args, context: &Context) -> String {
    let mut words = vec![format!("hg2v reproduce {}", args.what)];
    if args.quick {
        words.push("--quick".to_owned());
    }
    if !args.sets.is_empty() {
        words.push(format!("--sets {}", args.sets.join(",")));
    }
    if args.preset != Preset::Default {
        words.push(format!("--preset {}", args.preset));
    }
    if context.seed() != 0 {
        words.push(format!("--seed {}", context.seed()));
    }
    words.join(" ")
}

/// Says what came out.
fn report(plan: &Plan, found: &Reproduction, context: &Context) -> anyhow::Result<()> {
    let what = plan.experiment.to_string();
    let mut result = json!({ "what": what, "out": plan.out, "records": found.records });
    if plan.experiment.is_table() {
        let failed =
            |run: &FailedRun| json!({ "set": run.dataset, "error": of_experiment(&run.error) });
        result["graphs"] = json!(found.graphs);
        result["failed"] = found.failed.iter().map(failed).collect();
    }
    if !found.failed.is_empty() {
        partly(&mut result, &in_words(found));
    }
    let tables = found.tables.iter().filter(|table| !table.rows.is_empty());
    let tables: Vec<String> = tables.map(shown).collect();
    if context.tell(result)? || tables.is_empty() {
        return Ok(());
    }
    context.print(tables.join("\n\n"))?;
    match found.files.is_empty() {
        true => Ok(()),
        false => {
            let files: Vec<String> =
                found.files.iter().map(|path| path.display().to_string()).collect();
            context.print(format!("\nwrote {}", files.join(", ")))
        }
    }
}

/// What failed, in words.
fn in_words(found: &Reproduction) -> String {
    let failed = |run: &FailedRun| format!("{}: {}", run.dataset, of_experiment(&run.error));
    let lines: Vec<String> = found.failed.iter().map(failed).collect();
    let all = found.failed.len() + found.records.len();
    format!("{} of {all} runs failed\n{}", found.failed.len(), lines.join("\n"))
}

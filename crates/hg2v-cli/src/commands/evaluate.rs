//! `hg2v evaluate`: how good are the vectors?

use std::path::PathBuf;

use clap::ValueEnum;
use hg2v::error::{Error, Place};
use hg2v::prepare::Run;
use hg2v::{Hg2vParams, vectors};
use hg2v_eval::study::{Embedder, Mode, Study, StudyResult};
use hg2v_eval::{Matrix, select};
use serde_json::json;

use super::fit::read_all;
use crate::context::Context;
use crate::graphs::CacheArgs;
use crate::network::NetworkArgs;
use crate::predictions;
use crate::table::Table;

/// Accuracy of a classifier on the vectors, beside its controls
///
/// The classifier is a C-SVM with a radial kernel, as the paper's: C and γ are
/// chosen by 5-fold cross-validation inside the training part, columns are
/// standardised on the training part alone. Every table has two controls: the
/// same network untrained, and statistics counted by hand (local degree profile
/// and feature histograms). Labels are used by the classifier only.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v evaluate MUTAG.zip                                  10 splits, the default model
  hg2v evaluate MUTAG.zip --preset paper --grid paper      the paper's protocol
  hg2v evaluate MUTAG.zip --protocol tenfold               the field's
  hg2v evaluate MUTAG.zip --embeddings mutag.parquet       vectors from a file
  hg2v evaluate MUTAG.zip --predictions mutag.jsonl        and who was taken for what")]
pub(crate) struct Args {
    /// The graphs, with labels
    data: PathBuf,
    /// Judge these vectors instead of a model's
    #[arg(long, value_name = "E")]
    embeddings: Option<PathBuf>,
    /// Who sees what
    #[arg(long, value_enum, default_value = "inductive", value_name = "P")]
    protocol: ModeArg,
    /// How many 80/20 splits
    #[arg(long, default_value_t = 10, value_name = "N")]
    splits: usize,
    /// Choose d, a and L by validation accuracy
    #[arg(long, value_enum, value_name = "G")]
    grid: Option<GridArg>,
    /// Leave the controls out
    #[arg(long)]
    no_controls: bool,
    /// Write what was predicted for every test graph, and on which splits and folds
    #[arg(long, value_name = "FILE.jsonl")]
    predictions: Option<PathBuf>,
    #[command(flatten)]
    network: NetworkArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Clone, Copy, ValueEnum)]
enum ModeArg {
    /// 80/20 splits, trained on the 80
    Inductive,
    /// 80/20 splits, trained on all graphs without labels
    Transductive,
    /// ten folds, trained on all graphs without labels
    Tenfold,
}

#[derive(Clone, Copy, ValueEnum)]
enum GridArg {
    /// d of 16, 128, 256; a of 2, 4; L of 3, 5
    Paper,
    /// d of 32, 128; a of 2, 4; L of 3
    Small,
}

/// A row of the table.
pub(super) struct Row {
    pub(super) name: String,
    pub(super) result: StudyResult,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    if args.splits == 0 {
        return Err(Error::parameter("--splits", 0, "it must be at least 1").into());
    }
    let params = args.network.params(context.global.seed);
    params.check()?;
    let (path, records) = read_all(&args.data, context)?;
    let run = Run { records: &records, file: &path, position: 0 };
    let collection = params.collect(run, args.cache.open().as_ref())?;
    let mode = match args.protocol {
        ModeArg::Inductive => Mode::Inductive,
        ModeArg::Transductive => Mode::Transductive,
        ModeArg::Tenfold => Mode::Tenfold,
    };
    let protocol = select::Protocol { seed: context.global.seed, ..select::Protocol::default() };
    let study = Study::new(&collection, mode, args.splits, protocol)?;

    let mut rows = Vec::new();
    let mut chosen = params.clone();
    if let Some(file) = &args.embeddings {
        let x = given(file, study.labels.len(), context)?;
        rows.push(judged("given vectors", &study, &Embedder::Given(x), context)?);
    } else {
        let candidates = candidates(&params, args.grid);
        let mut best: Option<Row> = None;
        for candidate in &candidates {
            let a = &candidate.architecture;
            let name = match args.grid {
                Some(_) => format!("HG2V d={} a={} L={}", a.dim, a.hops, a.levels),
                None => "HG2V".to_owned(),
            };
            let row = judged(&name, &study, &Embedder::Trained(candidate.clone()), context)?;
            // The first of the best: grids are in the order of cost.
            let better = |best: &Row| row.result.validation.mean > best.result.validation.mean;
            if best.as_ref().is_none_or(better) {
                chosen = candidate.clone();
                best = Some(row);
            }
        }
        rows.extend(best);
    }
    if !args.no_controls {
        if args.embeddings.is_none() {
            let untrained = Embedder::Untrained(chosen.clone());
            rows.push(judged("the same, untrained", &study, &untrained, context)?);
        }
        rows.push(judged("statistics", &study, &Embedder::Statistics, context)?);
    }
    if let Some(file) = &args.predictions {
        let splits = rows.iter().map(|row| (row.name.as_str(), &row.result.splits[..]));
        predictions::write(file, &study, splits)?;
    }
    report(&args, &study, &chosen, &rows, context)
}

pub(super) fn judged(
    name: &str,
    study: &Study<'_>,
    embedder: &Embedder,
    context: &Context,
) -> anyhow::Result<Row> {
    let bar = context.progress("evaluating", Some(study.splits.len() as u64));
    bar.set_message(name.to_owned());
    let result = study.judge(embedder, || bar.inc(1))?;
    bar.finish_and_clear();
    Ok(Row { name: name.to_owned(), result })
}

/// The models to choose from, cheapest first.
fn candidates(params: &Hg2vParams, grid: Option<GridArg>) -> Vec<Hg2vParams> {
    let (dims, hops, levels): (&[usize], &[usize], &[usize]) = match grid {
        None => return vec![params.clone()],
        Some(GridArg::Paper) => (&[16, 128, 256], &[2, 4], &[3, 5]),
        Some(GridArg::Small) => (&[32, 128], &[2, 4], &[3]),
    };
    let mut all = Vec::new();
    for &dim in dims {
        for &hops in hops {
            for &levels in levels {
                all.push(params.clone().dim(dim).hops(hops).levels(levels));
            }
        }
    }
    all
}

/// Vectors from a file, one for each graph.
fn given(file: &PathBuf, graphs: usize, context: &Context) -> anyhow::Result<Matrix> {
    let read = vectors::read(file, &context.limits)?;
    if read.len() != graphs {
        return Err(Error::input(
            file,
            Place::Whole,
            format!("{} vectors for {graphs} graphs", read.len()),
            "give one for each graph, in the order of the graphs",
        )
        .into());
    }
    Ok(Matrix::from_f32(read.len(), read.dim, &read.values)?)
}

/// Accuracies in percent, a line for each method.
pub(super) fn table_of(rows: &[Row]) -> Vec<String> {
    let mut table = Table::new(1);
    table.row(["", "validation", "test", "dim", "seconds"]);
    for row in rows {
        table.row([
            row.name.clone(),
            row.result.validation.to_string(),
            row.result.test.to_string(),
            row.result.dim.to_string(),
            format!("{:.1}", row.result.seconds),
        ]);
    }
    table.lines()
}

fn report(
    args: &Args,
    study: &Study<'_>,
    chosen: &Hg2vParams,
    rows: &[Row],
    context: &Context,
) -> anyhow::Result<()> {
    let a = &chosen.architecture;
    if context.global.json {
        let methods: Vec<_> =
            rows.iter().map(|row| json!({ "name": row.name, "result": row.result })).collect();
        let result = json!({
            "data": args.data, "graphs": study.labels.len(), "classes": study.classes,
            "mode": study.mode, "splits": study.splits.len(), "seed": study.protocol.seed,
            "majority": study.majority(), "architecture": a, "recipe": chosen.recipe,
            "methods": methods,
        });
        return context.print(result.to_string());
    }
    context.print(table_of(rows).join("\n"))?;
    context.print(format!("largest class: {:.1}", 100.0 * study.majority()))?;
    if context.global.verbose > 0 {
        for row in rows {
            context.print(format!("\n{}", row.name))?;
            let mut table = Table::new(1);
            table.row(["split", "validation", "test", "C", "kernel"]);
            for split in &row.result.splits {
                table.row([
                    split.split.to_string(),
                    format!("{:.1}", 100.0 * split.validation),
                    format!("{:.1}", 100.0 * split.test),
                    split.chosen.c.to_string(),
                    format!("{:?}", split.chosen.kernel),
                ]);
            }
            context.print(table.lines().join("\n"))?;
        }
    }
    let who = match study.mode {
        Mode::Inductive => "80/20 splits, the model trained on the 80 alone",
        Mode::Transductive => "80/20 splits, the model trained on all graphs without labels",
        Mode::Tenfold => "folds, the model trained on all graphs without labels",
    };
    context.print(format!(
        "\n{} graphs, {} classes; mean ± deviation over {} {who}; C-SVM, settings chosen by \
         5-fold cross-validation; seed {}",
        study.labels.len(),
        study.classes.len(),
        study.splits.len(),
        study.protocol.seed,
    ))
}

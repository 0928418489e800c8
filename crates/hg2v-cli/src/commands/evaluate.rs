//! `hg2v evaluate`: how good are the vectors?

use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::error::Error;
use hg2v::graph::GraphRecord;
use hg2v::output::OutputFile;
use hg2v::prepare::Run;
use hg2v::{Hg2vParams, Method, vectors};
use hg2v_baselines::registry;
use hg2v_eval::Matrix;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::evaluation::{Evaluation, Judgement, TargetEvaluation};
use hg2v_eval::goal::{Goal, Task};
use hg2v_eval::metrics::digits;
use hg2v_eval::model_grid::ModelGrid;
use hg2v_eval::study::{Choice, Mode};
use hg2v_experiments::evaluate::{Subject, Terms, each_once};
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs, check_vectors, say_findings};
use crate::judgements::{judged, table_of};
use crate::method::MethodArgs;
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::predictions;
use crate::table::Table;
use crate::vocabulary::word;

/// How well classes or numbers are predicted from the vectors, beside controls
///
/// The classifier is a C-SVM with a radial kernel, as the paper's: C and γ are
/// chosen by 5-fold cross-validation inside the training part, columns are
/// standardised on the training part alone. Every table has two controls: the
/// same network untrained, and statistics counted by hand (local degree profile
/// and feature histograms). Labels are used by the classifier only.
///
/// Numbers are predicted by kernel ridge regression with a radial kernel (α from
/// 0.001 to 10, γ) and by ridge regression (α from 0.01 to 100000), chosen alike by
/// root mean square error, on plain 80/20 shuffles; beside them stands the mean of
/// the training part. With --task auto a target is numbers if all its values are, and
/// one of them is not whole, or there are more than 20 distinct ones and more than one
/// for 20 graphs. Several targets are judged each, on the same splits and vectors;
/// graphs without a value are left out of what judges that target.
///
/// --also judges the same vectors on the same splits by further classifiers, each
/// with one setting chosen on the same folds: a linear SVM and a logistic
/// regression (C from 0.0001 to 10), nearest neighbours (k of 1, 3, 5, 7, 9, 15, 25),
/// which of numbers say their mean.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v evaluate MUTAG.zip                                  10 splits, the default model
  hg2v evaluate MUTAG.zip --preset paper --grid paper      the paper's protocol
  hg2v evaluate MUTAG.zip --protocol tenfold               the field's
  hg2v evaluate MUTAG.zip --also linear,logistic,knn       four classifiers, the same vectors
  hg2v evaluate MUTAG.zip --embeddings mutag.parquet       vectors from a file
  hg2v evaluate MUTAG.zip --model mutag.model              a model that is there
  hg2v evaluate MUTAG.zip --predictions mutag.jsonl        and who was taken for what
  hg2v evaluate esol.csv --target logS                     numbers: RMSE, MAE and R²")]
pub(crate) struct Args {
    /// The graphs, with classes or numbers to predict
    data: PathBuf,
    /// Judge these vectors instead of a model's: .npy, .parquet, .csv or .tsv (whose first line
    /// names the columns), a row for each graph in the order of the graphs; id and y are no numbers
    /// of a vector
    #[arg(long, value_name = "E", conflicts_with_all = ["grid", "device"])]
    embeddings: Option<PathBuf>,
    /// Judge the vectors of this model, of any method, as it is: it is not trained again
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["grid", "embeddings"])]
    model: Option<PathBuf>,
    /// What is predicted
    #[arg(long, default_value_t, value_name = "T", value_parser = word::<Task>())]
    task: Task,
    /// Who sees what
    #[arg(long, default_value_t, value_name = "P", value_parser = word::<Mode>())]
    protocol: Mode,
    /// How many 80/20 splits [default: 10]; tenfold has its ten folds
    #[arg(long, value_name = "N")]
    splits: Option<usize>,
    /// Choose d, a and L by validation accuracy, or error, of the first target
    #[arg(long, value_name = "G", value_parser = word::<ModelGrid>())]
    grid: Option<ModelGrid>,
    /// Further classifiers of the same vectors
    #[arg(long, value_delimiter = ',', value_name = "C,…", value_parser = word::<Classifier>())]
    also: Vec<Classifier>,
    /// Leave the controls out
    #[arg(long)]
    no_controls: bool,
    /// Write what was predicted for every test graph, and on which splits and folds
    #[arg(long, value_name = "FILE.jsonl")]
    predictions: Option<PathBuf>,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    options: MethodArgs,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    args.protocol.splits(args.splits)?;
    each_once(&args.also)?;
    if let Some(file) = &args.predictions {
        refuse_json(file, context)?;
        for input in [Some(&args.data), args.embeddings.as_ref()].into_iter().flatten() {
            refuse_same(input, file)?;
        }
    } else if args.force.force {
        return Err(Error::parameter("force", "given", "it is for --predictions").into());
    }
    // Before anything is judged: what cannot be written is said at once.
    let predictions = args.predictions.as_deref().map(|file| args.force.at(file));
    let predictions = predictions.map(OutputFile::create).transpose()?;
    let params = args.options.params(context.seed())?;
    params.check()?;
    // Weights count for statistics, too.
    let plain = Hg2vParams::default().weights(params.weights);
    let there = [("embeddings", args.embeddings.is_some()), ("model", args.model.is_some())];
    for (option, _) in there.into_iter().filter(|(_, given)| *given) {
        if params != plain.clone().seed(context.seed()) {
            let requirement = "options of a model mean nothing for what is there already";
            return Err(Error::parameter(option, "given", requirement).into());
        }
    }
    let model = args.model.as_ref().map(|path| registry::load(path).map(Arc::from)).transpose()?;
    let machine = args.device.open()?;
    let asks = model.as_ref().map_or(Asks::Weights(params.weights), Asks::of);
    let graphs::Read { path, records, .. } = graphs::read(&args.data, asks, context)?;
    let run = Run::of(&records, &path);
    let needs = match (&model, &args.embeddings) {
        (Some(model), _) => model.needs(),
        // Vectors that are there already, and statistics, need no pyramids.
        (None, Some(_)) => params.needs().coarsening(None),
        (None, None) => params.needs(),
    };
    let collection = graphs::collected(run, &needs, args.cache.open(), context)?;
    say_findings(&collection.notes.found, &needs, context);
    let terms = Terms {
        task: args.task,
        mode: args.protocol,
        splits: args.splits,
        also: args.also.clone(),
        seed: context.seed(),
    };
    let study = terms.study(&collection, &machine)?;
    let left_out = Goal::names(&records, args.task)?;
    for name in &left_out {
        context.say(format!("left out: {name}, whose texts name graphs"));
    }
    let given = args.embeddings.as_ref().map(|file| given(file, &records, context)).transpose()?;
    let subject = match (&model, &given) {
        (Some(model), _) => Subject::Model(&**model),
        (None, Some(x)) => Subject::Vectors(x),
        (None, None) => Subject::Hg2v { params: &params, grid: args.grid },
    };
    let judgements = judged(&subject, !args.no_controls, &study, context)?;
    if let Some(file) = predictions {
        let rows = judgements.goals.iter().flatten();
        let splits = rows.map(|row| (row.name.as_str(), &row.result.splits[..]));
        predictions::write(file, &study, splits)?;
    }
    let found = judgements.evaluation(args.data.clone(), &study, &subject)?;
    match context.global.json {
        true => {
            let mut told = json!(found);
            told["left_out"] = json!(left_out);
            context.tell(told).map(drop)
        }
        false => report(&args, &found, context),
    }
}

/// Vectors from a file, one for each graph.
fn given(file: &Path, records: &[GraphRecord], context: &Context) -> anyhow::Result<Matrix> {
    let read = vectors::read(file, &context.limits)?;
    check_vectors(file, &read, records)?;
    Ok(Matrix::from_f32(read.len(), read.dim, &read.values)?)
}

fn report(args: &Args, found: &Evaluation, context: &Context) -> anyhow::Result<()> {
    for (at, target) in found.each().iter().enumerate() {
        if let Some(name) = &target.target {
            let line = if at == 0 { "" } else { "\n" };
            context.print(format!("{line}{name}"))?;
        }
        context.print(table_of(target).join("\n"))?;
        if let Some(majority) = target.majority {
            context.print(format!("largest class: {:.1}", 100.0 * majority))?;
        }
        if context.global.verbose > 0 {
            target.methods.iter().try_for_each(|row| splits_of(row, context))?;
        }
        context.print(format!("\n{}", protocol_of(args, found, target)))?;
    }
    Ok(())
}

/// Split by split, what was chosen and what came of it.
fn splits_of(row: &Judgement, context: &Context) -> anyhow::Result<()> {
    context.print(format!("\n{}", row.name))?;
    let mut table = Table::new(1);
    let numbers = row.result.errors.is_some();
    table.row(["split", "validation", "test", if numbers { "alpha" } else { "C" }, "kernel"]);
    let shown = |value: f64| match numbers {
        true => format!("{value:.digits$}", digits = digits(value)),
        false => format!("{:.1}", 100.0 * value),
    };
    for split in &row.result.splits {
        let mut cells = vec![split.split.to_string(), shown(split.validation), shown(split.test)];
        match &split.chosen {
            Choice::Setting(setting) => {
                cells.extend([setting.c.to_string(), setting.kernel.to_string()]);
            }
            Choice::Regression(setting) => {
                cells.extend([setting.alpha.to_string(), setting.kernel.to_string()]);
            }
            Choice::Own(_) => {}
        }
        table.row(cells);
    }
    context.print(table.lines().join("\n"))
}

fn protocol_of(args: &Args, found: &Evaluation, target: &TargetEvaluation) -> String {
    let parts = match found.mode {
        Mode::Inductive | Mode::Transductive => "80/20 splits",
        Mode::Tenfold => "folds",
    };
    let vectors = match found.mode {
        _ if args.model.is_some() => "the model as it is, whatever it was trained on",
        _ if args.embeddings.is_some() => "vectors as they were given",
        Mode::Inductive => "the model trained on the 80 alone",
        _ => "the model trained on all graphs without labels",
    };
    let missing = found.graphs - target.known;
    let missing = match missing {
        0 => String::new(),
        _ => format!(" ({missing} more without a value)"),
    };
    let (what, machine) = match target.task {
        Task::Numbers => ("numbers".to_owned(), "kernel ridge and ridge regression"),
        _ => (format!("{} classes", target.classes.len()), "C-SVM"),
    };
    format!(
        "{} graphs{missing}, {what}; mean ± deviation over {} {parts}, {vectors}; {machine}, \
         settings chosen by 5-fold cross-validation; seed {}",
        target.known, found.splits, found.seed,
    )
}

//! `hg2v report`: a page to look at.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::Hg2v;
use hg2v::dataset::summary::{Summary, SummaryOptions, summarize};
use hg2v::dataset::{self, Format, Source};
use hg2v::error::{Error, Place};
use hg2v::graph::GraphRecord;
use hg2v::output::OutputFile;
use hg2v::prepare::{Collection, Run};
use hg2v::vectors;
use hg2v_eval::evaluation::Evaluation;
use hg2v_report::page::SAMPLE;
use hg2v_report::run::{RunFolder, read_evaluation};
use hg2v_report::{Contents, Made, Mode, page};
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::CacheArgs;
use crate::map;
use crate::table::{counted, decimal};

/// One self-contained page: a map of the graphs, their neighbours, pyramids and results
///
/// RUN is a model's folder as `hg2v fit` writes it, or the folder that `hg2v demo`
/// writes. Every graph is a point of the map; pointing at it draws it, and
/// choosing it shows the six nearest to it, as `hg2v search` finds them, and what
/// coarsening leaves of it, level by level. The page also has the loss of every
/// level, what is in the data, how the model was made and, with --evaluation, its
/// accuracy beside its controls.
///
/// The page is one file that works from a disk and asks for nothing. It stays
/// below 20 MB: where the graphs would not fit, it shows some and says so.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v report hg2v-demo --out page.html                   what the demo found
  hg2v report mutag.model --out mutag.html                the graphs it was trained on
  hg2v report mutag.model --data new.jsonl --out new.html other graphs on its map
  hg2v evaluate MUTAG.zip --json > mutag.json             and with accuracies:
  hg2v report mutag.model --evaluation mutag.json --out mutag.html")]
pub(crate) struct Args {
    /// The folder of a model, or of the demo
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The page
    #[arg(long, short, value_name = "PAGE.html")]
    out: PathBuf,
    /// The graphs [default: those that the run says]
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// Their vectors, one for each in their order [default: the model makes them]
    #[arg(long, value_name = "E")]
    embeddings: Option<PathBuf>,
    /// What `hg2v evaluate --json` printed
    #[arg(long, value_name = "EVAL.json")]
    evaluation: Option<PathBuf>,
    /// The most graphs that are shown
    #[arg(long, default_value_t = SAMPLE, value_name = "N")]
    sample: usize,
    /// What stands above it [default: the name of the graphs]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let run = RunFolder::read(&args.run)?;
    let graphs = Graphs::read(&args, &run, context)?;
    let preparation = &run.config.preparation;
    let of_file = Run { records: &graphs.records, file: &graphs.path, position: 0 };
    let cache = args.cache.open();
    let collection =
        Collection::new(of_file, preparation.weights, &preparation.coarsening, cache.as_ref())?;
    let rows = rows(&args, &run, &collection, context)?;
    let evaluation = match &args.evaluation {
        Some(file) => Some(evaluation_of(file, &collection)?),
        // Of the folder's own graphs alone.
        None if args.data.is_none() => run.evaluation.clone(),
        None => None,
    };
    let mut notes = Vec::new();
    if graphs.fingerprint() != run.config.data.fingerprint {
        notes.push(format!(
            "The model was trained on other graphs than these: {} of them.",
            run.config.data.graphs
        ));
    }
    let mut contents = Contents {
        title: args.title.clone().unwrap_or_else(|| graphs.summary.name.clone()),
        config: Some(&run.config),
        run: run.note.as_ref(),
        log: &run.log,
        summary: Some(&graphs.summary),
        evaluation: evaluation.as_ref(),
        notes,
        sample: args.sample,
        seed: context.global.seed,
        ..Contents::of(&collection)
    };
    map::put(&mut contents, rows.dim, &rows.values)?;
    let made = page(&contents, Mode::Still)?;
    write(&args.out, &made)?;
    said(&args, &made, collection.len(), context)
}

/// Graphs and what is in them.
struct Graphs {
    path: PathBuf,
    records: Arc<Vec<GraphRecord>>,
    summary: Summary,
}

impl Graphs {
    fn read(args: &Args, run: &RunFolder, context: &Context) -> anyhow::Result<Graphs> {
        let Some(data) = args.data.as_ref().or(run.data.as_ref()) else {
            let problem = "it does not say which graphs the model was trained on";
            let fix = "name them, or others, with --data";
            return Err(Error::input(&run.model, Place::Whole, problem, fix).into());
        };
        let path = dataset::locate(data, context.global.data_dir.as_deref())?;
        let mut source = dataset::open(&path, &context.limits)?;
        let bar = context.progress("reading", source.len);
        let mut records = Vec::new();
        for record in source.by_ref() {
            records.push(record?);
            bar.inc(1);
        }
        bar.finish_and_clear();
        if records.is_empty() {
            let fix = "give a collection of at least one graph";
            return Err(Error::input(&path, Place::Whole, "there are no graphs in it", fix).into());
        }
        let records = Arc::new(records);
        let (format, ignored) = (source.format, source.ignored());
        let summary = summary(&path, format, ignored, &records)?;
        Ok(Graphs { path, records, summary })
    }

    fn fingerprint(&self) -> String {
        let mut fingerprint = dataset::fingerprint::Fingerprint::new();
        self.records.iter().for_each(|record| fingerprint.add(record));
        fingerprint.finish()
    }
}

/// What `hg2v info` would say of graphs that are read already.
pub(super) fn summary(
    path: &Path,
    format: Format,
    ignored: Vec<String>,
    records: &Arc<Vec<GraphRecord>>,
) -> hg2v::Result<Summary> {
    let shared = Arc::clone(records);
    let mut again =
        Source::new(path, format, (0..shared.len()).map(move |i| Ok(shared[i].clone())));
    again.ignored = ignored;
    summarize(&mut again, &SummaryOptions::default(), |_| ())
}

/// A vector for each graph.
struct Rows {
    dim: usize,
    values: Vec<f32>,
}

fn rows(
    args: &Args,
    run: &RunFolder,
    collection: &Collection<'_>,
    context: &Context,
) -> anyhow::Result<Rows> {
    // The folder's own vectors are of its own graphs.
    let own = run.vectors.as_ref().filter(|_| args.data.is_none());
    if let Some(file) = args.embeddings.as_ref().or(own) {
        let read = vectors::read(file, &context.limits)?;
        if read.len() != collection.len() {
            return Err(Error::input(
                file,
                Place::Whole,
                format!("{} vectors for {} graphs", read.len(), collection.len()),
                "give one for each graph, in the order of the graphs",
            )
            .into());
        }
        return Ok(Rows { dim: read.dim, values: read.values });
    }
    let model = Hg2v::load(&run.model)?;
    let machine = args.device.open()?;
    let all: Vec<usize> = (0..collection.len()).collect();
    let (examples, _) = model.examples_of(collection, &all)?;
    let values = model.embed_examples_on(&machine, &examples)?;
    Ok(Rows { dim: model.network().layout.embedding_dim(), values })
}

/// An evaluation of these graphs.
fn evaluation_of(file: &Path, collection: &Collection<'_>) -> hg2v::Result<Evaluation> {
    let evaluation = read_evaluation(file)?;
    if evaluation.graphs != collection.len() {
        let problem =
            format!("it judges {} graphs, these are {}", evaluation.graphs, collection.len());
        return Err(Error::input(file, Place::Whole, problem, "give one of the same graphs"));
    }
    Ok(evaluation)
}

/// Writes the page, whole or not at all.
pub(super) fn write(path: &Path, made: &Made) -> hg2v::Result<()> {
    let mut out = OutputFile::create(path)?;
    out.write_all(made.html.as_bytes()).map_err(|e| Error::io(path, "write", e))?;
    out.commit()
}

fn said(args: &Args, made: &Made, graphs: usize, context: &Context) -> anyhow::Result<()> {
    let bytes = made.html.len();
    if context.global.json && args.out.as_os_str() != "-" {
        let result =
            json!({ "out": args.out, "graphs": graphs, "shown": made.shown, "bytes": bytes });
        context.print(result.to_string())?;
    }
    let all = match made.shown == graphs {
        true => String::new(),
        false => format!(" of {graphs}"),
    };
    context.say(format!(
        "wrote {} with {}{all}, {} MB; open it in a browser",
        args.out.display(),
        counted(made.shown as u64, "graph"),
        decimal(bytes as f64 / 1e6, 1),
    ));
    Ok(())
}

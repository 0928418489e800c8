//! `hg2v demo`: the whole job on graphs made on the spot.

use std::fs::DirEntry;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Instant;

use hg2v::context::Machine;
use hg2v::dataset::summary::summarize_records;
use hg2v::dataset::synthetic::SyntheticSet;
use hg2v::dataset::synthetic::calls::Calls;
use hg2v::dataset::{self, Format};
use hg2v::error::{Action, Error};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::output::{OutputFile, OutputFolder};
use hg2v::prepare::{Collection, Run};
use hg2v::saved::{self, LogLine, RunNote};
use hg2v::stream::{Options, Stream};
use hg2v::{CHECKPOINT_EVERY, Fit, Hg2v, Hg2vParams, Model, TrainingFolder, vectors};
use hg2v_eval::evaluation::{Evaluation, Subject as Whose};
use hg2v_eval::select;
use hg2v_eval::study::{Mode, Study};
use hg2v_experiments::evaluate::Subject;
use hg2v_experiments::write_json;
use hg2v_report::{Contents, Map, PageMode, page, run};
use hg2v_search::catalog::SearchOptions;
use hg2v_search::project::ProjectionMethod;
use serde_json::json;

use super::coarsen::render;
use super::report;
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, summary_options};
use crate::judgements::{judged, table_of};
use crate::out::ForceArgs;

/// Do the whole job on an embedded default: make graphs, coarsen, train, embed, evaluate, show
///
/// Six versions of a program are run, and each run is a graph: which function called
/// which, and how often. Each graph is coarsened to a spectral pyramid, a model is trained
/// on them without labels, and its vectors tell which version was run, beside an untrained
/// model's and beside statistics counted by hand. Everything is written to --out, with a
/// page to look at: page.html, as `hg2v report` makes it. With --force, the folder of an
/// earlier demo is replaced; one that holds anything else is not. Another --seed is another
/// program.
#[derive(clap::Args)]
#[command(after_help = "Examples:
  hg2v demo                      writes hg2v-demo/
  hg2v demo --graphs 1000 --nodes 200 --out big   more runs of a longer program")]
pub(crate) struct Args {
    /// Where to write; a new or empty folder
    #[arg(long, short, default_value = "hg2v-demo", value_name = "DIR")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// How many graphs
    #[arg(long, default_value_t = 300, value_name = "N")]
    graphs: u64,
    /// Functions of the program; a graph has those that its run reaches
    #[arg(long, default_value_t = Calls::default().nodes, value_name = "N")]
    nodes: u32,
    #[command(flatten)]
    device: DeviceArgs,
}

/// The pyramids, and the page.
const PYRAMIDS: &str = "pyramids.jsonl";
const PAGE: &str = "page.html";

/// Whether something in a folder is what a demo writes there.
fn is_of_demo(entry: &DirEntry) -> bool {
    let files = [run::GRAPHS, PYRAMIDS, run::VECTORS, run::EVALUATION, PAGE];
    let (name, path) = (entry.file_name(), entry.path());
    match path.is_dir() {
        true => name == run::MODEL && saved::check_replaceable(&path).is_ok(),
        false => files.iter().any(|file| name == *file),
    }
}

/// 80/20 splits that the vectors are judged on.
const SPLITS: usize = 10;

/// The demo's model: the default.
fn params(context: &Context) -> Hg2vParams {
    Hg2vParams::default().seed(context.seed())
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let machine = args.device.open()?;
    let output = OutputFolder::create_over(args.force.at(&args.out), &is_of_demo)?;
    let mut steps = Steps { context, started: Instant::now(), seconds: Vec::new() };
    let made = make(&args, &machine, output.working_path(), &mut steps);
    let (nodes, evaluation) = made.map_err(|error| match error.downcast() {
        Ok(error) => output.named(error).into(),
        Err(other) => other,
    })?;
    output.commit()?;
    say(&args, nodes, &evaluation, &steps.seconds, context)
}

/// Does all of it in the folder `to`; how many nodes the graphs have, and how good the vectors are.
fn make(
    args: &Args,
    machine: &Machine,
    to: &Path,
    steps: &mut Steps<'_>,
) -> anyhow::Result<(u64, Evaluation)> {
    let context = steps.context;
    let records = run_program(args, context)?;
    write_graphs(&records, &to.join(run::GRAPHS))?;
    let versions = Calls::default().versions;
    steps.done("generate", format!("ran {versions} versions of a program {} times", args.graphs));

    let params = params(context);
    let file = args.out.join(run::GRAPHS);
    let of_file = Run::of(&records, &file);
    let work = graphs::on(machine);
    let collection = params.collect(of_file, &work)?;
    write_pyramids(&collection, &to.join(PYRAMIDS))?;
    steps.done("coarsen", "coarsened each to a spectral pyramid");

    let fit = params.prepare(&collection, &collection.all())?;
    let trained = train(&fit, &work, args, to, steps.started)?;
    let epochs = params.recipe.epochs;
    steps.done("train", format!("trained a model for {epochs} epochs, without labels"));

    let vectors = embed(&trained.model, &work, to, context)?;
    steps.done("embed", "embedded every graph");

    let evaluation = judge(file.clone(), &collection, &params, machine, context)?;
    write_json(&to.join(run::EVALUATION), &evaluation)?;
    steps.done("evaluate", format!("judged the vectors on {SPLITS} splits, beside two controls"));

    draw(&trained, &collection, vectors, &evaluation, &to.join(PAGE))?;
    steps.done("show", "drew a map of the graphs, and their nearest neighbours");
    let nodes = records.iter().map(|record| u64::from(record.num_nodes)).sum();
    Ok((nodes, evaluation))
}

/// What is done, and how long it took.
struct Steps<'a> {
    context: &'a Context,
    started: Instant,
    seconds: Vec<(&'static str, f64)>,
}

impl Steps<'_> {
    fn done(&mut self, step: &'static str, text: impl std::fmt::Display) {
        let before: f64 = self.seconds.iter().map(|(_, seconds)| seconds).sum();
        let took = self.started.elapsed().as_secs_f64() - before;
        self.seconds.push((step, took));
        self.context.say(format!("{}. {text} ({took:.1} s)", self.seconds.len()));
    }
}

/// A model and how it came to be, as `hg2v fit` keeps it.
struct Trained {
    model: Arc<Hg2v>,
    log: Vec<LogLine>,
    note: RunNote,
}

/// Trains in the model's folder of the demo `to`.
fn train(
    fit: &Fit,
    work: &hg2v::context::Context<'_>,
    args: &Args,
    to: &Path,
    began: Instant,
) -> hg2v::Result<Trained> {
    let folder = to.join(run::MODEL);
    let trained = TrainingFolder::new(&folder)?.train(fit, CHECKPOINT_EVERY, work)?;
    let note = RunNote {
        data: args.out.join(run::GRAPHS),
        device: args.device.describe(),
        threads: rayon::current_num_threads(),
        training_seconds: trained.took.as_secs_f64(),
        whole_seconds: began.elapsed().as_secs_f64(),
    };
    saved::write_run(&folder, &note)?;
    Ok(Trained { model: Arc::new(trained.model), log: saved::read_log(&folder)?, note })
}

/// Embeds the graphs of the demo `to` as `hg2v embed` does, and returns their vectors.
fn embed(
    model: &Arc<Hg2v>,
    work: &hg2v::context::Context<'_>,
    to: &Path,
    context: &Context,
) -> hg2v::Result<Vec<f32>> {
    let source = dataset::open(&to.join(run::GRAPHS), &context.limits)?;
    let model: Arc<dyn Model> = Arc::<Hg2v>::clone(model);
    let vectors = to.join(run::VECTORS);
    Stream::start(source, model, Options::default(), work)?.write(vectors.as_path(), work)?;
    Ok(vectors::read(&vectors, &context.limits)?.values)
}

/// Draws the page.
fn draw(
    trained: &Trained,
    collection: &Collection<'_>,
    vectors: Vec<f32>,
    evaluation: &Evaluation,
    to: &Path,
) -> anyhow::Result<()> {
    let Run { file, records, .. } = collection.run;
    let summary = summarize_records(file, Format::Jsonl, Vec::new(), records, &summary_options());
    let dim = trained.model.dim();
    let config = trained.model.config().any()?;
    let maps = [ProjectionMethod::Pca, ProjectionMethod::Umap];
    let options = SearchOptions::default();
    let map = Map::new(dim, vectors, options, &maps, &hg2v::context::Context::default())?;
    let contents = Contents {
        title: "Runs of a program, as call graphs".to_owned(),
        config: Some(&config),
        run: Some(&trained.note),
        log: &trained.log,
        summary: Some(&summary),
        evaluation: Some(evaluation),
        map,
        ..Contents::of(collection)
    };
    Ok(report::write(OutputFile::create(to)?, &page(&contents, PageMode::Still)?)?)
}

/// Says what was found and where it lies.
fn say(
    args: &Args,
    nodes: u64,
    evaluation: &Evaluation,
    seconds: &[(&'static str, f64)],
    context: &Context,
) -> anyhow::Result<()> {
    let timings: serde_json::Map<String, serde_json::Value> =
        seconds.iter().map(|(step, seconds)| ((*step).to_owned(), json!(seconds))).collect();
    let told = context.tell(json!({
        "out": args.out, "graphs": args.graphs, "nodes": nodes,
        "methods": evaluation.first.methods, "timings": timings, "page": args.out.join(PAGE),
    }))?;
    if told {
        return Ok(());
    }
    context.print(table_of(&evaluation.first).join("\n"))?;
    context.print(format!(
        "\naccuracy of a C-SVM in percent: mean ± deviation over {SPLITS} 80/20 splits, the model \
         trained on the 80 alone"
    ))?;
    context.print(format!(
        "wrote {0}/graphs.jsonl, {0}/{PYRAMIDS}, {0}/model, {0}/vectors.parquet and \
         {0}/evaluation.json\nopen {0}/{PAGE} in a browser: every graph, its neighbours and its pyramid",
        args.out.display()
    ))
}

fn run_program(args: &Args, context: &Context) -> hg2v::Result<Vec<GraphRecord>> {
    let model = Calls::default().nodes(args.nodes).program(context.seed());
    SyntheticSet::new(&model, args.graphs, context.seed()).records()
}

fn write_graphs(records: &[GraphRecord], path: &Path) -> hg2v::Result<()> {
    let mut sink = dataset::create(path, None)?;
    for record in records {
        sink.write(record)?;
    }
    sink.finish()
}

fn write_pyramids(collection: &Collection<'_>, path: &Path) -> anyhow::Result<()> {
    let mut file = OutputFile::create(path)?;
    for (index, pyramid) in collection.pyramids.iter().enumerate() {
        let line = render(&Scalar::Int(index as i64), pyramid, None)?;
        file.write_all(&line).map_err(|e| Error::io(path, Action::Write, e))?;
    }
    Ok(file.commit()?)
}

fn judge(
    data: PathBuf,
    collection: &Collection<'_>,
    params: &Hg2vParams,
    machine: &Machine,
    context: &Context,
) -> anyhow::Result<Evaluation> {
    let protocol = select::Protocol::default().seed(context.seed());
    let mut study = Study::new(collection, Mode::Inductive, SPLITS, protocol)?;
    study.context = graphs::on(machine);
    let goals = judged(&Subject::Hg2v { params, grid: None }, true, &study, context)?.goals;
    Ok(Evaluation::new(data, &study, Whose::of_params(params), goals)?)
}

//! `hg2v report`: a page to look at.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::Model;
use hg2v::coarsen::cache::Cache;
use hg2v::context::Machine;
use hg2v::dataset::Format;
use hg2v::dataset::summary::{Summary, summarize_records};
use hg2v::error::{Action, Error, Place};
use hg2v::graph::GraphRecord;
use hg2v::output::OutputFile;
use hg2v::prepare::{Collection, Run};
use hg2v::{saved, vectors};
use hg2v_baselines::registry;
use hg2v_eval::evaluation::Evaluation;
use hg2v_report::page::SAMPLE;
use hg2v_report::run::{RunFolder, read_evaluation};
use hg2v_report::{Page, PageMode, Portrait};
use hg2v_search::IndexKind;
use hg2v_search::catalog::SearchOptions;
use hg2v_search::project::ProjectionMethod;
use hg2v_serve::options::Shown;
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::distances::DistanceArgs;
use crate::graphs::{self, Asks, CacheArgs, check_vectors, summary_options};
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::table::{counted, decimal};
use crate::vocabulary::word;
use crate::watch::Watch;

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
  hg2v report mutag.model --projections umap,tsne,pca --out mutag.html   three maps
  hg2v evaluate MUTAG.zip --json > mutag.json             and with accuracies:
  hg2v report mutag.model --evaluation mutag.json --out mutag.html")]
pub(crate) struct Args {
    /// The folder of a model, or of the demo
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// The page
    #[arg(long, short, value_name = "PAGE.html")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
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
    /// Maps of the graphs, the first of which is shown first
    #[arg(
        long,
        value_delimiter = ',',
        default_values_t = [ProjectionMethod::default()],
        value_name = "M,…",
        value_parser = word::<ProjectionMethod>()
    )]
    projections: Vec<ProjectionMethod>,
    #[command(flatten)]
    distances: DistanceArgs,
    /// What stands above it [default: the name of the graphs]
    #[arg(long, value_name = "TEXT")]
    title: Option<String>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    refuse_json(&args.out, context)?;
    for name in [saved::CONFIG, saved::PARAMETERS] {
        refuse_same(&args.run.join(name), &args.out)?;
    }
    for input in [&args.data, &args.embeddings, &args.evaluation].into_iter().flatten() {
        refuse_same(input, &args.out)?;
    }
    let wanted = Wanted {
        run: &args.run,
        of: Of::Files { data: args.data.as_deref(), embeddings: args.embeddings.as_deref() },
        evaluation: args.evaluation.as_deref(),
        sample: args.sample,
        title: args.title.as_deref(),
        methods: &args.projections,
        search: args.distances.options(IndexKind::BySize, context.seed()),
        cache: args.cache.open(),
    };
    // Before the page is made: a place that cannot be written is said at once.
    let out = OutputFile::create(args.force.at(&args.out))?;
    let (made, graphs) = wanted.make(PageMode::Still, &args.device.open()?, context)?;
    write(out, &made)?;
    said(&args, &made, graphs, context)
}

/// The graphs of a page.
pub(super) enum Of<'a> {
    /// In a file, or the run's own; their vectors in another, or by the run's model.
    Files { data: Option<&'a Path>, embeddings: Option<&'a Path> },
    /// Read and embedded already.
    Read(Shown<'a>),
}

/// What a page is to be made of.
pub(super) struct Wanted<'a> {
    pub(super) run: &'a Path,
    pub(super) of: Of<'a>,
    pub(super) evaluation: Option<&'a Path>,
    pub(super) sample: usize,
    pub(super) title: Option<&'a str>,
    pub(super) methods: &'a [ProjectionMethod],
    pub(super) search: SearchOptions,
    pub(super) cache: Option<Cache>,
}

impl Wanted<'_> {
    /// The page, and how many graphs there are.
    pub(super) fn make(
        &self,
        mode: PageMode,
        machine: &Machine,
        context: &Context,
    ) -> anyhow::Result<(Page, usize)> {
        let run = RunFolder::read(self.run)?;
        let model: Arc<dyn Model> = registry::load(&run.model)?.into();
        let graphs = self.graphs(&run, &model, context)?;
        let of_file = Run::of(&graphs.records, &graphs.path);
        let needs = Portrait::needs(&*model);
        let collection = graphs::collected(of_file, &needs, self.cache.clone(), context)?;
        let (dim, values) = self.vectors(&run, &*model, &collection, machine, context)?;
        let evaluation = match self.evaluation {
            Some(file) => Some(evaluation_of(file, &collection)?),
            // Of the folder's own graphs alone.
            None if self.of_run() => run.evaluation.clone(),
            None => None,
        };
        if dim != model.dim() {
            let own = model.dim();
            let same = "everything else on the page is the model's";
            context.say(format!("the vectors have {dim} numbers, the model's {own}: {same}"));
        }
        let portrait = Portrait {
            config: &run.config,
            dim: model.dim(),
            run: run.note.as_ref(),
            log: &run.log,
            evaluation: evaluation.as_ref(),
            summary: &graphs.summary,
            title: self.title,
            methods: self.methods,
            search: self.search,
            sample: self.sample,
        };
        let watch = Watch::new(context);
        let work = hg2v::context::Context::default().watched_by(&watch);
        let made = portrait.page(&collection, (dim, values), mode, &work)?;
        Ok((made, collection.len()))
    }

    /// Whether its graphs are the run's own.
    fn of_run(&self) -> bool {
        matches!(self.of, Of::Files { data: None, .. })
    }

    fn graphs(
        &self,
        run: &RunFolder,
        model: &Arc<dyn Model>,
        context: &Context,
    ) -> anyhow::Result<ShownGraphs> {
        let data = match &self.of {
            Of::Read(Shown { graphs, .. }) => {
                let (records, ignored) = (Arc::clone(&graphs.records), graphs.ignored.clone());
                return ShownGraphs::new(graphs.file.clone(), graphs.format, ignored, records);
            }
            Of::Files { data, .. } => data.or(run.data.as_deref()),
        };
        let Some(data) = data else {
            let problem = "it does not say which graphs the model was trained on";
            let fix = "name them, or others, with --data";
            return Err(Error::input(&run.model, Place::Whole, problem, fix).into());
        };
        let graphs::Read { path, format, ignored, records } =
            graphs::read(data, Asks::of(model), context)?;
        ShownGraphs::new(path, format, ignored, Arc::new(records))
    }

    /// A vector for each graph, row after row, and the numbers of one.
    fn vectors(
        &self,
        run: &RunFolder,
        model: &dyn Model,
        collection: &Collection<'_>,
        machine: &Machine,
        context: &Context,
    ) -> anyhow::Result<(usize, Vec<f32>)> {
        let read = match &self.of {
            Of::Read(Shown { graphs, vectors }) => {
                Some((graphs.file.as_path(), (*vectors).clone()))
            }
            Of::Files { embeddings, .. } => {
                // The folder's own vectors are of its own graphs.
                let own = run.vectors.as_deref().filter(|_| self.of_run());
                match embeddings.or(own) {
                    Some(file) => {
                        let read = vectors::read(file, &context.limits)?;
                        // Vectors that do not say whose they are may be another program's.
                        if read.model.is_some() {
                            read.check_made_by(&model.digest()?, read.dim, file)?;
                        }
                        Some((file, read))
                    }
                    None => None,
                }
            }
        };
        if let Some((file, read)) = read {
            check_vectors(file, &read, collection.run.records)?;
            return Ok((read.dim, read.values));
        }
        let rows = model.embed_collection(collection, &graphs::on(machine))?;
        Ok((model.dim(), rows.values))
    }
}

/// Graphs and what is in them.
struct ShownGraphs {
    path: PathBuf,
    records: Arc<Vec<GraphRecord>>,
    summary: Summary,
}

impl ShownGraphs {
    fn new(
        path: PathBuf,
        format: Format,
        ignored: Vec<String>,
        records: Arc<Vec<GraphRecord>>,
    ) -> anyhow::Result<ShownGraphs> {
        if records.is_empty() {
            let fix = "give a collection of at least one graph";
            return Err(Error::input(&path, Place::Whole, "there are no graphs in it", fix).into());
        }
        let options = summary_options();
        let summary = summarize_records(&path, format, ignored, &records, &options);
        Ok(ShownGraphs { path, records, summary })
    }
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
pub(super) fn write(mut out: OutputFile, made: &Page) -> hg2v::Result<()> {
    let written = out.write_all(made.html.as_bytes());
    written.map_err(|e| Error::io(out.path(), Action::Write, e))?;
    out.commit()
}

fn said(args: &Args, made: &Page, graphs: usize, context: &Context) -> anyhow::Result<()> {
    let bytes = made.html.len();
    context.tell(json!({
        "out": args.out, "graphs": graphs, "shown": made.shown, "bytes": bytes,
    }))?;
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

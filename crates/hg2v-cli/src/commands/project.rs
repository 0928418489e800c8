//! `hg2v project`: two coordinates for each vector.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::Model;
use hg2v::context::MachineName;
use hg2v::error::{Action, Error, Place};
use hg2v::graph::Scalar;
use hg2v::output::OutputFile;
use hg2v::output::overwrite::Destination;
use hg2v::prepare::Run;
use hg2v::vectors::{self, Key, Shape, VectorSink, Vectors};
use hg2v_baselines::registry;
use hg2v_search::project::{MapOptions, PointMap, ProjectionMethod, Tsne, Umap, map};
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs};
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::table::percent;
use crate::vocabulary::word;
use crate::watch::Watch;

/// Two coordinates for each vector, to look at
///
/// Vectors are those of a file that `embed` wrote, or those of --data by a model.
/// Principal components come out the same always; t-SNE and UMAP start from them and
/// come out the same for the same seed, at any number of threads. NAME.tsv is written for
/// TensorBoard's projector: coordinates without a header, and NAME.metadata.tsv beside it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v project mutag.parquet --out mutag.csv                    id, y, x0, x1 by PCA
  hg2v project mutag.parquet --method tsne --perplexity 20 --out map.parquet
  hg2v project mutag.parquet --method umap --standardise --out map.csv
  hg2v project mutag.model --data MUTAG.zip --out mutag.csv     vectors by a model
  hg2v project mutag.parquet --out projector.tsv                for projector.tensorflow.org")]
pub(crate) struct Args {
    /// A file of vectors, or a model's folder (then with --data)
    #[arg(value_name = "MODEL-or-E")]
    vectors: PathBuf,
    /// The graphs whose vectors a model makes
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    /// How
    #[arg(long, default_value_t, value_name = "METHOD", value_parser = word::<ProjectionMethod>())]
    method: ProjectionMethod,
    /// Where to write: NAME.csv, .parquet, .npy, .tsv, or `-` for CSV
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// Bring every column to mean 0 and variance 1 first
    #[arg(long, alias = "standardize")]
    standardise: bool,
    #[arg(long, value_name = "N", help = format!(
        "t-SNE: how many neighbours a vector has, more or less [default: {}]",
        Tsne::default().perplexity
    ))]
    perplexity: Option<f64>,
    #[arg(long, value_name = "N", help = format!(
        "UMAP: neighbours of a vector, itself among them [default: {}]",
        Umap::default().neighbors
    ))]
    neighbors: Option<usize>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

impl Args {
    /// The vectors of the file, or of the graphs by the model.
    fn read(&self, context: &Context) -> anyhow::Result<Vectors> {
        let refused =
            |name, requirement: &str| Err(Error::parameter(name, "given", requirement).into());
        if !graphs::is_model(&self.vectors) {
            if self.data.is_some() {
                return refused("data", "it is for a model, which has no vectors of its own");
            }
            if self.device.device != MachineName::Cpu {
                return refused("device", "it is for a model, which makes vectors");
            }
            return Ok(vectors::read(&self.vectors, &context.limits)?);
        }
        let Some(data) = &self.data else {
            return Err(graphs::no_graphs_named(&self.vectors).into());
        };
        let model: Arc<dyn Model> = registry::load(&self.vectors)?.into();
        let graphs::Read { path, records, .. } = graphs::read(data, Asks::of(&model), context)?;
        let (run, machine) = (Run::of(&records, &path), self.device.open()?);
        Ok(graphs::vectors_by(&*model, run, &machine, self.cache.open(), context)?)
    }
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let options = MapOptions::default()
        .method(args.method)
        .standardise(args.standardise)
        .perplexity(args.perplexity)
        .neighbors(args.neighbors)
        .seed(context.seed());
    options.check()?;
    refuse_json(&args.out, context)?;
    for output in [&args.out, &keys_path(&args.out)] {
        refuse_same(&args.vectors, output)?;
        args.data.iter().try_for_each(|data| refuse_same(data, output))?;
    }
    // Before anything is read: a place that cannot be written is said at once.
    let mut sink = create(args.force.at(&args.out))?;
    let set = args.read(context)?;
    if set.is_empty() {
        let (problem, fix) = match &args.data {
            Some(_) => ("there are no graphs in it", "give a collection of at least one graph"),
            None => ("it holds no vectors", "write some with hg2v embed"),
        };
        let file = args.data.as_ref().unwrap_or(&args.vectors);
        return Err(Error::input(file, Place::Whole, problem, fix).into());
    }
    let (dim, count) = (set.dim, set.len());
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default().watched_by(&watch);
    let PointMap { points, explained } = map(dim.max(1), set.values, &options, &work)?;
    drop(watch);
    for ((id, class), point) in set.ids.iter().zip(&set.labels).zip(&points) {
        let key = Key { id, label: class.as_ref(), part: None };
        sink.write(key, &point.map(|x| x as f32))?;
    }
    sink.finish()?;
    context.tell(json!({
        "out": args.out, "graphs": count, "dim": dim, "explained_variance": explained,
    }))?;
    if let Some(share) = explained {
        context.say(format!("two components keep {} of the variance", percent(share)));
    }
    Ok(())
}

/// Begins to write points.
fn create(to: Destination<'_>) -> hg2v::Result<Box<dyn VectorSink>> {
    if to.path.extension().is_some_and(|extension| extension == "tsv") {
        return Ok(Box::new(Projector::create(to)?));
    }
    let names = vec!["x0".to_owned(), "x1".to_owned()];
    vectors::create(to, Shape { names, part: None, model: None })
}

/// Where TensorBoard's ids and classes stand.
fn keys_path(path: &Path) -> PathBuf {
    path.with_extension("metadata.tsv")
}

/// TensorBoard's: coordinates without a header, and ids and classes with one.
struct Projector {
    rows: OutputFile,
    keys: OutputFile,
}

impl Projector {
    fn create(to: Destination<'_>) -> hg2v::Result<Projector> {
        let mut keys = OutputFile::create(to.beside(&keys_path(to.path)))?;
        line(&mut keys, "id\ty")?;
        Ok(Projector { rows: OutputFile::create(to)?, keys })
    }
}

impl VectorSink for Projector {
    fn write(&mut self, key: Key<'_>, point: &[f32]) -> hg2v::Result<()> {
        // A tab or a line's end would tear the table.
        let cell = |scalar: &Scalar| scalar.to_string().replace(['\t', '\n', '\r'], " ");
        let class = key.label.map(cell).unwrap_or_default();
        line(&mut self.keys, &format!("{}\t{class}", cell(key.id)))?;
        let numbers: Vec<String> = point.iter().map(f32::to_string).collect();
        line(&mut self.rows, &numbers.join("\t"))
    }

    fn finish(self: Box<Self>) -> hg2v::Result<()> {
        self.keys.commit()?;
        self.rows.commit()
    }
}

fn line(out: &mut OutputFile, text: &str) -> hg2v::Result<()> {
    writeln!(out, "{text}").map_err(|e| Error::io(out.path(), Action::Write, e))
}

//! `hg2v project`: two coordinates for each vector.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::ValueEnum;
use hg2v::error::{Error, Place};
use hg2v::graph::Scalar;
use hg2v::output::OutputFile;
use hg2v::vectors::{self, Key, Shape, VectorSink};
use hg2v_search::project::{Point, Tsne, Umap, pca, tsne, umap};
use hg2v_search::scale::Scale;
use serde_json::json;

use crate::context::Context;
use crate::out::{refuse_json, refuse_same};
use crate::table::percent;

/// Two coordinates for each vector, to look at
///
/// Principal components come out the same always; t-SNE and UMAP start from them and
/// come out the same for the same seed, at any number of threads. NAME.tsv is written for
/// TensorBoard's projector: coordinates without a header, and NAME.metadata.tsv beside it.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v project mutag.parquet --out mutag.csv                    id, y, x0, x1 by PCA
  hg2v project mutag.parquet --method tsne --perplexity 20 --out map.parquet
  hg2v project mutag.parquet --method umap --standardise --out map.csv
  hg2v project mutag.parquet --out projector.tsv                for projector.tensorflow.org")]
pub(crate) struct Args {
    /// A file of vectors
    vectors: PathBuf,
    /// How
    #[arg(long, value_enum, default_value = "pca", value_name = "METHOD")]
    method: MethodArg,
    /// Where to write: NAME.csv, .parquet, .npy, .tsv, or `-` for CSV
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
    /// Bring every column to mean 0 and variance 1 first
    #[arg(long, alias = "standardize")]
    standardise: bool,
    /// t-SNE: how many neighbours a vector has, more or less
    #[arg(long, default_value_t = Tsne::default().perplexity, value_name = "N")]
    perplexity: f64,
    /// UMAP: neighbours of a vector, itself among them
    #[arg(long, default_value_t = Umap::default().neighbors, value_name = "N")]
    neighbors: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(super) enum MethodArg {
    /// principal components: distances, as well as a plane can keep them
    Pca,
    /// t-SNE: who is near whom
    Tsne,
    /// UMAP: who is near whom, and more of the whole
    Umap,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    refuse_json(&args.out, context)?;
    refuse_same(&args.vectors, &args.out)?;
    // Before anything is read: a place that cannot be written is said at once.
    let mut sink = create(&args.out)?;
    let mut set = vectors::read(&args.vectors, &context.limits)?;
    if set.is_empty() {
        let fix = "write some with hg2v embed";
        return Err(Error::input(&args.vectors, Place::Whole, "it holds no vectors", fix).into());
    }
    if args.standardise {
        Scale::of(&set.values, set.dim).apply(&mut set.values);
    }
    let seed = context.seed();
    let (dim, values) = (set.dim.max(1), &set.values);
    let mut explained = None;
    let points: Vec<Point> = match args.method {
        MethodArg::Pca => {
            let found = pca(dim, values, 2)?;
            let share = found.variances.iter().sum::<f64>() / found.total_variance;
            explained = share.is_finite().then_some(share);
            found.points()
        }
        MethodArg::Tsne => {
            let params = Tsne { perplexity: args.perplexity, seed, ..Tsne::default() };
            let bar = context.progress("t-SNE", Some(params.steps as u64));
            let points = tsne(dim, values, &params, |step| bar.set_position(step as u64))?;
            bar.finish_and_clear();
            points
        }
        MethodArg::Umap => {
            let params = Umap { neighbors: args.neighbors, seed, ..Umap::default() };
            let bar = context.progress("UMAP", None);
            let points = umap(dim, values, &params, |epoch| bar.set_position(epoch as u64))?;
            bar.finish_and_clear();
            points
        }
    };
    for ((id, class), point) in set.ids.iter().zip(&set.labels).zip(&points) {
        let key = Key { id, label: class.as_ref(), part: None };
        sink.write(key, &point.map(|x| x as f32))?;
    }
    sink.finish()?;
    if context.global.json {
        let result =
            json!({ "out": args.out, "vectors": set.len(), "explained_variance": explained });
        context.print(result.to_string())?;
    }
    if let Some(share) = explained {
        context.say(format!("two components keep {} of the variance", percent(share)));
    }
    Ok(())
}

/// Begins to write points.
fn create(path: &Path) -> hg2v::Result<Box<dyn VectorSink>> {
    if path.extension().is_some_and(|extension| extension == "tsv") {
        return Ok(Box::new(Projector::create(path)?));
    }
    let names = vec!["x0".to_owned(), "x1".to_owned()];
    vectors::create(path, Shape { names, part: None, model: None })
}

/// TensorBoard's: coordinates without a header, and ids and classes with one.
struct Projector {
    rows: OutputFile,
    keys: OutputFile,
}

impl Projector {
    fn create(path: &Path) -> hg2v::Result<Projector> {
        let mut keys = OutputFile::create(&path.with_extension("metadata.tsv"))?;
        line(&mut keys, "id\ty")?;
        Ok(Projector { rows: OutputFile::create(path)?, keys })
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
    writeln!(out, "{text}").map_err(|e| Error::io(out.path(), "write", e))
}

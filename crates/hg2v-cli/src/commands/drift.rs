//! `hg2v drift`: do two sets of vectors come from the same place?

use std::path::PathBuf;

use hg2v::error::{Error, Place, shown};
use hg2v::vectors;
use hg2v_search::drift::{MOST, drift, standardise};
use serde_json::json;

use crate::context::Context;
use crate::distances::DistanceArgs;
use crate::table::counted;

/// Whether two sets of vectors come from the same place
///
/// Their energy distance is compared with that of random divisions of both sets
/// together. A small p-value says that the sets differ by more than chance: that new
/// graphs are no longer like those a model was trained on. Below 0.01 they are said to
/// differ, below 0.05 that they may.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v drift january.parquet february.parquet
  hg2v drift old.npy new.npy --metric euclidean --standardise --permutations 9999")]
pub(crate) struct Args {
    /// A file of vectors
    a: PathBuf,
    /// Another, by the same model
    b: PathBuf,
    /// Random divisions to compare with
    #[arg(long, default_value_t = 999, value_name = "N")]
    permutations: usize,
    #[command(flatten)]
    distances: DistanceArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let mut a = vectors::read(&args.a, &context.limits)?;
    let mut b = vectors::read(&args.b, &context.limits)?;
    for (path, set) in [(&args.a, &a), (&args.b, &b)] {
        if set.is_empty() || set.dim == 0 {
            let fix = "write some with hg2v embed";
            return Err(Error::input(path, Place::Whole, "it holds no vectors", fix).into());
        }
    }
    let fix = "embed both sets with the same model";
    if a.dim != b.dim {
        let problem =
            format!("its vectors have {} numbers, those of {} {}", b.dim, args.a.display(), a.dim);
        return Err(Error::input(&args.b, Place::Whole, problem, fix).into());
    }
    if let (Some(first), Some(second)) = (&a.model, &b.model)
        && first != second
    {
        let (first, second) = (shown(first), shown(second));
        let problem =
            format!("model {second} made its vectors, {first} those of {}", args.a.display());
        return Err(Error::input(&args.b, Place::Whole, problem, fix).into());
    }
    if args.distances.standardise {
        standardise(a.dim, &mut a.values, &mut b.values);
    }
    let metric = args.distances.metric();
    let found = drift(a.dim, &a.values, &b.values, metric, args.permutations, context.seed())?;
    let mut result = json!(found);
    result["metric"] = json!(metric);
    result["standardised"] = json!(args.distances.standardise);
    result["graphs"] = json!(a.len() + b.len());
    result["dim"] = json!(a.dim);
    if context.tell(result)? {
        return Ok(());
    }
    if a.len() > found.first || b.len() > found.second {
        context.say(format!(
            "{} and {} drawn at random: at most {MOST} in all",
            found.first, found.second
        ));
    }
    context.print(format!(
        "{} against {}: energy distance {:.6} ({:.2} % of the most it can be), p = {:.4} by {}: {}",
        counted(found.first as u64, "vector"),
        found.second,
        found.energy,
        100.0 * found.share,
        found.p_value,
        counted(found.permutations as u64, "division"),
        meaning(found.p_value, found.first.min(found.second)),
    ))
}

/// A p-value in words; `fewer` is the size of the smaller set.
fn meaning(p_value: f64, fewer: usize) -> &'static str {
    match (p_value, fewer) {
        (..0.01, _) => "they differ",
        (..0.05, _) => "they may differ",
        (_, ..10) => "no sign that they differ, but so few vectors show large differences alone",
        _ => "no sign that they differ",
    }
}

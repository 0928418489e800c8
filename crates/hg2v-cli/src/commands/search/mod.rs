//! `hg2v search`: what is like this graph?

mod answer;
mod odd;
mod set;

use std::path::PathBuf;

use hg2v::error::Error;
use serde_json::json;

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::distances::DistanceArgs;
use crate::graphs::CacheArgs;
use set::Set;

/// The graphs that are most like a graph, too much like another, or like none
///
/// Vectors are those of a file that `embed` wrote, or those of --data by a model. QUERY
/// is the id of one of them, or a file of other graphs, for which a model is needed.
/// Neighbours are exact, and ties go to the earlier graph. Only --outliers, which asks for
/// those of all vectors, finds them through links from 50000 vectors on: nearly always the
/// same. `hg2v serve` links once and then answers for as long as it runs.
///
/// Neighbours and duplicates are told by cosines. Outliers are told by how far a graph surprises
/// those who know the others, where --data names the graphs, and by Euclidean distances of
/// standardised columns; by distances alone where --metric or --standardise says which.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v search mutag.parquet 17                              the six nearest to graph 17
  hg2v search mutag.parquet new.jsonl --model mutag.model   the nearest to graphs that are new
  hg2v search mutag.model 17 --data MUTAG.zip --explain     which parts and nodes make it so
  hg2v search m 17 --data big.jsonl.gz --device cuda        vectors made on an NVIDIA gpu
  hg2v search mutag.parquet --duplicates                    pairs that are alike
  hg2v search mutag.parquet --outliers --data MUTAG.zip     graphs that are like no other
  hg2v search mutag.parquet --outliers 10                   furthest from their tenth neighbour")]
pub(crate) struct Args {
    /// A file of vectors, or a model's folder (then with --data)
    #[arg(value_name = "MODEL-or-E")]
    vectors: PathBuf,
    /// The id of a graph among them, a file of graphs, or `-`
    query: Option<String>,
    /// The graph at this position among them, counted from 0, in place of QUERY: where several
    /// have the same id
    #[arg(long, value_name = "N", conflicts_with = "query")]
    position: Option<usize>,
    /// How many neighbours [default: 6], pairs or outliers [default: 20; with --json 1000 pairs
    /// and all outliers] to show
    #[arg(long, value_name = "N")]
    top: Option<usize>,
    #[command(flatten)]
    distances: DistanceArgs,
    /// Look at all vectors, however many
    #[arg(long, conflicts_with = "approximate")]
    exact: bool,
    /// Find neighbours through links, however few vectors
    #[arg(long)]
    approximate: bool,
    /// Say which parts of the vectors and which nodes make graphs similar; needs a model of hg2v and
    /// --data
    #[arg(long)]
    explain: bool,
    /// Pairs that are alike: of a cosine of at least T [default: 0.9999], or of a Euclidean
    /// distance of at most T [default: the same for vectors of the usual length, 1.4 % of it]
    #[arg(long, value_name = "T", num_args = 0..=1, default_missing_value = None)]
    duplicates: Option<Option<f64>>,
    /// Those that stand out most, first: with --data by what of them no other graph has, and by the
    /// distance to their K-th neighbour [default: 5], without by that alone
    #[arg(long, value_name = "K", num_args = 0..=1, default_missing_value = "5")]
    outliers: Option<usize>,
    /// The model, where vectors come from a file
    #[arg(long, value_name = "MODEL")]
    model: Option<PathBuf>,
    /// The graphs that the vectors belong to
    #[arg(long, value_name = "DATA")]
    data: Option<PathBuf>,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

impl Args {
    fn asks_for_neighbors(&self) -> bool {
        self.query.is_some() || self.position.is_some()
    }

    /// How far apart vectors are, by what is asked for.
    fn distances(&self) -> hg2v::Result<DistanceArgs> {
        let others = self.asks_for_neighbors() || self.duplicates.is_some();
        match (self.outliers, others) {
            (Some(_), true) if !self.distances.is_given() => Err(Error::parameter(
                "metric",
                "missing",
                "outliers are told by another one than neighbours and duplicates: name one for \
                 all, or ask for --outliers alone",
            )),
            (Some(_), _) => Ok(self.distances.for_outliers()),
            (None, _) => Ok(self.distances),
        }
    }

    /// Whether outliers are told by the graphs, too.
    fn asks_for_surprises(&self) -> bool {
        self.outliers.is_some() && self.data.is_some() && !self.distances.is_any_given()
    }

    /// Refuses options that would mean nothing.
    fn check(&self) -> hg2v::Result<()> {
        let found = self.asks_for_neighbors();
        if !found && self.duplicates.is_none() && self.outliers.is_none() {
            let requirement = "it must be a graph's id or a file of graphs, unless you ask for --duplicates or --outliers";
            return Err(Error::parameter("QUERY", "missing", requirement));
        }
        if self.explain && !found {
            return Err(Error::parameter("explain", "given", "it explains what a QUERY finds"));
        }
        if self.approximate && !found && self.outliers.is_none() {
            let requirement = "duplicates are found by looking at all pairs";
            return Err(Error::parameter("approximate", "given", requirement));
        }
        Ok(())
    }
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    args.check()?;
    let distances = args.distances()?;
    let set = Set::open(&args, distances, context)?;
    let mut result = json!({
        "metric": distances.metric(),
        "standardised": distances.standardise,
        "exact": set.catalog.index.is_exact(),
        "graphs": set.catalog.len(),
        "dim": set.catalog.index.space().dim(),
    });
    let mut text = Vec::new();
    if args.asks_for_neighbors() {
        let answers = set.answers(&args, context)?;
        text.extend(answers.iter().flat_map(|answer| answer.lines(&set)));
        result["queries"] = answers.iter().map(|answer| answer.json(&set)).collect();
    }
    let json = context.global.json;
    if let Some(threshold) = args.duplicates {
        let (found, lines) = odd::duplicates(&set, threshold, args.top, json)?;
        result["duplicates"] = found;
        text.extend(lines);
    }
    if let Some(k) = args.outliers {
        if args.data.is_none() && !args.distances.is_any_given() {
            context.say(
                "vectors tell less of what no other graph has; name the graphs with --data DATA",
            );
        }
        let surprises = match args.asks_for_surprises() {
            true => set.surprises(context)?,
            false => None,
        };
        let (found, lines) = odd::outliers(&set, k, surprises.as_deref(), args.top, json)?;
        result["outliers"] = found;
        text.extend(lines);
    }
    match context.tell(result)? {
        true => Ok(()),
        false => context.print(text.join("\n")),
    }
}

fn distance(distance: f64) -> String {
    format!("{distance:.6}")
}

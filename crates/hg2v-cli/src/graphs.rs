//! What several commands share about graphs: options, reading them, and what is said of them.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::Args;
use hg2v::coarsen::cache::Cache;
use hg2v::context::Machine;
use hg2v::dataset::features::Origin;
use hg2v::dataset::graphml::DRAWING_UNUSED;
use hg2v::dataset::summary::SummaryOptions;
use hg2v::dataset::{self, Format};
use hg2v::error::{Error, Place};
use hg2v::graph::{Aspects, Findings, GraphRecord, Scalar, WeightPolicy};
use hg2v::prepare::{Collection, Needs, Run, graph_of};
use hg2v::vectors::Vectors;
use hg2v::{Hg2vParams, Model, saved};
use serde_json::{Value, json};

use crate::context::Context;
use crate::table::counted;
use crate::watch::Watch;

/// Where pyramids are kept between runs.
#[derive(Args, Clone)]
pub(crate) struct CacheArgs {
    /// Compute every pyramid, and keep none for the next time
    #[arg(long)]
    no_cache: bool,
    /// Where pyramids are kept [default: the user's cache folder]
    #[arg(long, env = "HG2V_CACHE", value_name = "DIR")]
    cache_dir: Option<PathBuf>,
}

impl CacheArgs {
    pub(crate) fn open(&self) -> Option<Cache> {
        match self.no_cache {
            true => None,
            false => self.cache_dir.clone().or_else(Cache::default_folder).map(Cache::new),
        }
    }
}

/// Refuses vectors that are not those of `records`, in their order: by number, and by the
/// ids and classes that both have.
pub(crate) fn check_vectors(
    file: &Path,
    vectors: &Vectors,
    records: &[GraphRecord],
) -> hg2v::Result<()> {
    let fix = "give one for each graph, in the order of the graphs";
    if vectors.len() != records.len() {
        let problem = format!("{} vectors for {} graphs", vectors.len(), records.len());
        return Err(Error::input(file, Place::Whole, problem, fix));
    }
    // Files without ids have positions in their stead.
    let positions = (0..).map(Scalar::Int);
    let named = vectors.ids.iter().zip(positions).any(|(id, position)| *id != position);
    for (at, record) in records.iter().enumerate() {
        let own = [(record.id.as_ref().filter(|_| named), "id"), (record.label.as_ref(), "class")];
        let given = [Some(&vectors.ids[at]), vectors.labels[at].as_ref()];
        for ((own, what), given) in own.into_iter().zip(given) {
            // As texts: files of text know no other kind.
            if let (Some(own), Some(given)) = (own, given)
                && own.to_string() != given.to_string()
            {
                let problem = format!("its {what} is {given}, that of the graph {own}");
                return Err(Error::input(file, Place::Record(at as u64 + 1), problem, fix));
            }
        }
    }
    Ok(())
}

/// A look at everything, with the features that `fit` takes unless told otherwise.
pub(crate) fn summary_options() -> SummaryOptions {
    SummaryOptions::default().features(Hg2vParams::default().features)
}

/// What a command asks of a graph, beyond that it can be read.
#[derive(Clone)]
pub(crate) enum Asks {
    Nothing,
    /// Weights that the policy allows.
    Weights(WeightPolicy),
    /// What a model expects.
    Model(Arc<dyn Model>),
}

impl Asks {
    pub(crate) fn of(model: &Arc<dyn Model>) -> Asks {
        Asks::Model(Arc::clone(model))
    }

    pub(crate) fn check(
        &self,
        record: &GraphRecord,
        file: &Path,
        position: u64,
    ) -> hg2v::Result<()> {
        match self {
            Asks::Nothing => Ok(()),
            Asks::Weights(weights) => graph_of(record, *weights, file, position).map(drop),
            Asks::Model(model) => {
                graph_of(record, model.needs().weights, file, position)?;
                model.check(record, Origin { file, position })
            }
        }
    }
}

/// A collection, read whole.
pub(crate) struct Read {
    pub(crate) path: PathBuf,
    pub(crate) format: Format,
    /// What its files hold and graphs do not carry.
    pub(crate) ignored: Vec<String>,
    pub(crate) records: Vec<GraphRecord>,
}

/// Reads all graphs of a collection, and says what of it is not used.
pub(crate) fn read(data: &Path, asks: Asks, context: &Context) -> hg2v::Result<Read> {
    let path = dataset::locate(data, context.global.data_dir.as_deref())?;
    let mut source = context.open(&path, asks)?;
    let bar = context.progress("reading", source.len);
    let mut records = Vec::new();
    for record in source.by_ref() {
        records.push(record?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    let ignored = source.ignored();
    say_ignored(&ignored, source.beside(), context);
    context.say_skipped();
    Ok(Read { path, format: source.format, ignored, records })
}

/// Whether vectors are to come from this folder's model, and not from a file.
pub(crate) fn is_model(path: &Path) -> bool {
    path.join(saved::CONFIG).exists()
}

/// The vectors of the graphs of `run` by `model`, and says how far it is.
pub(crate) fn vectors_by(
    model: &dyn Model,
    run: Run<'_>,
    machine: &Machine,
    cache: Option<Cache>,
    context: &Context,
) -> hg2v::Result<Vectors> {
    let watch = Watch::new(context);
    model.vectors(run, &on(machine).cached_in(cache).watched_by(&watch))
}

/// A model was named in place of vectors, and no graphs with it.
pub(crate) fn no_graphs_named(model: &Path) -> Error {
    let problem = "a model has no vectors of its own";
    let fix = "say of which graphs with --data DATA, or name a file of vectors";
    Error::input(model, Place::Whole, problem, fix)
}

/// Cleans the graphs of `run`, coarsens them where there is need of that, and says how far it is.
pub(crate) fn collected<'a>(
    run: Run<'a>,
    needs: &Needs,
    cache: Option<Cache>,
    context: &Context,
) -> hg2v::Result<Collection<'a>> {
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default().cached_in(cache).watched_by(&watch);
    Collection::new(run, needs, &work)
}

/// A context for work on `machine` that nobody watches.
pub(crate) fn on(machine: &Machine) -> hg2v::context::Context<'static> {
    hg2v::context::Context::default().on(machine.clone())
}

/// Says what files hold and graphs do not carry; what only lies [beside](hg2v::dataset::Source::beside)
/// them is for those who want to hear more.
pub(crate) fn say_ignored(ignored: &[String], beside: &[String], context: &Context) {
    for what in ignored {
        if context.global.verbose > 0 || !beside.contains(what) {
            context.say(format!("not used: {}", with_flag(what)));
        }
    }
}

/// What is not used, and the flag by which it would be.
pub(crate) fn with_flag(what: &str) -> String {
    let flag = if what.contains(DRAWING_UNUSED) { "; --drawing reads them" } else { "" };
    format!("{what}{flag}")
}

/// What graphs' records had to have resolved, in words; `negative` is what becomes of
/// negative weights. What becomes of direction, the method says.
pub(crate) fn findings(found: &Findings, negative: &str) -> Vec<String> {
    let counts = [
        (found.self_loops, "self-loop", "left out"),
        (found.repeated_edges, "repeated edge", "merged"),
        (found.conflicting_weights, "repeat", "of another weight: the largest counts"),
        (
            found.parallel_edges,
            "parallel edge",
            "of another kind or direction: one where neither is seen, of the largest weight",
        ),
        (found.zero_weights, "edge", "of weight zero: left out"),
        (found.negative_weights, "negative weight", negative),
    ];
    let met = counts.iter().filter(|(count, ..)| *count > 0);
    met.map(|(count, thing, happens)| format!("{} {happens}", counted(*count, thing))).collect()
}

/// Says what graphs' records had to have resolved, for whoever has these needs.
pub(crate) fn say_findings(found: &Findings, needs: &Needs, context: &Context) {
    for line in findings(found, "made positive") {
        context.say(line);
    }
    if needs.coarsening.is_some() && found.directed_graphs > 0 {
        let graphs = counted(found.directed_graphs, "directed graph");
        context.say(format!("{graphs} coarsened as undirected"));
    }
}

/// What of that which graphs bring a model uses, and what not, as `--json` has it.
pub(crate) fn uses(brought: Aspects, sees: Aspects) -> [Value; 2] {
    [brought.and(sees), brought.without(sees)].map(|aspects| json!(aspects.names()))
}

/// Says what of that which graphs bring is used, and what not; nothing of graphs that bring nothing.
pub(crate) fn say_uses(brought: Aspects, sees: Aspects, context: &Context) {
    let parts = [("used", brought.and(sees)), ("not used", brought.without(sees))];
    let parts: Vec<String> = parts
        .into_iter()
        .filter(|(_, aspects)| *aspects != Aspects::default())
        .map(|(what, aspects)| format!("{what}: {}", in_words(aspects)))
        .collect();
    if !parts.is_empty() {
        context.say(parts.join("; "));
    }
}

/// `labels of nodes, labels and directions of edges`.
pub(crate) fn in_words(aspects: Aspects) -> String {
    let Aspects { node_labels, node_attributes, edge_labels, edge_attributes, direction } = aspects;
    let nodes = [(node_labels, "labels"), (node_attributes, "attributes")];
    let edges =
        [(edge_labels, "labels"), (edge_attributes, "attributes"), (direction, "directions")];
    let listed = |words: &[(bool, &str)], of: &str| {
        let there: Vec<&str> = words.iter().filter(|word| word.0).map(|word| word.1).collect();
        let (last, others) = there.split_last()?;
        Some(match others {
            [] => format!("{last} of {of}"),
            others => format!("{} and {last} of {of}", others.join(", ")),
        })
    };
    let both = [listed(&nodes, "nodes"), listed(&edges, "edges")];
    both.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

//! `hg2v coarsen`: a spectral pyramid for each graph.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use hg2v::coarsen::quality::{Quality, quality};
use hg2v::coarsen::{CoarsenMethod, Params, Pyramid};
use hg2v::error::{Action, Error};
use hg2v::graph::{Aspects, Scalar, WeightPolicy};
use hg2v::output::OutputFile;
use hg2v::prepare::{Collection, Needs, Notes};
use hg2v::stream::{Chunks, Shard};
use hg2v_math::parallel::try_map;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::graphs::{Asks, CacheArgs, say_findings, say_uses};
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::vocabulary::word;

/// Build the spectral pyramid of every graph
///
/// Each level contracts sets of nodes so that the lowest part of the Laplacian's
/// spectrum is kept (Loukas 2019). One JSON line a graph:
///
///   {"id":…, "n":…, "levels":[{"n":…, "assignment":[super-node of each node of
///   the level below], "edges":[[u,v,w],…]},…], "quality":{…}?}
///
/// A graph without an id gets its position, counted from 0.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v coarsen MUTAG.zip --out mutag.pyramids.jsonl        HG2V's pyramids
  hg2v coarsen graphs.jsonl --ratio 0.5 --quality --out -  halve each graph, say what was kept
  hg2v coarsen mesh.jsonl --method heavy-edge --out p.jsonl  cheap and local")]
pub(crate) struct Args {
    /// The graphs
    data: PathBuf,
    /// How the sets to contract are chosen
    #[arg(long, default_value_t = Params::default().method, value_name = "M", value_parser = word::<CoarsenMethod>())]
    method: CoarsenMethod,
    /// How much smaller the last level is to be: 1 − n/N
    #[arg(long, default_value_t = Params::default().ratio, value_name = "R")]
    ratio: f64,
    /// How many of the lowest eigenvectors to keep
    #[arg(long, default_value_t = Params::default().k, value_name = "K")]
    k: usize,
    /// The most levels above the graph itself
    #[arg(long, default_value_t = Params::default().max_levels, value_name = "N")]
    max_levels: usize,
    /// Add eigenvalue errors, subspace error and ε of each pyramid
    #[arg(long)]
    quality: bool,
    /// What to do with edge weights
    #[arg(long, default_value_t = WeightPolicy::default(), value_name = "W", value_parser = word::<WeightPolicy>())]
    weights: WeightPolicy,
    /// Where to write the pyramids (`-`: standard output)
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

/// One line of the output.
#[derive(Serialize)]
struct Line<'a> {
    id: &'a Scalar,
    n: usize,
    levels: Vec<LevelLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quality: Option<Quality>,
}

#[derive(Serialize)]
struct LevelLine<'a> {
    n: usize,
    assignment: &'a [u32],
    edges: Vec<(u32, u32, f32)>,
}

/// What happened, counted.
#[derive(Default, Serialize)]
struct Tally {
    #[serde(flatten)]
    notes: Notes,
    levels: u64,
    top_nodes: u64,
}

impl Tally {
    fn add(&mut self, made: &Collection<'_>) {
        self.notes.add(&made.notes);
        for pyramid in &made.pyramids {
            self.levels += pyramid.levels.len() as u64;
            let top = pyramid.levels.last().map_or(pyramid.num_nodes, |l| l.graph.num_nodes());
            self.top_nodes += top as u64;
        }
    }
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let params = Params::default()
        .method(args.method)
        .k(args.k)
        .ratio(args.ratio)
        .max_levels(args.max_levels)
        .seed(context.seed());
    params.check()?;
    let started = Instant::now();
    refuse_json(&args.out, context)?;
    let source = context.open(&args.data, Asks::Weights(args.weights))?;
    refuse_same(&source.path, &args.out)?;
    let (path, progress) = (source.path.clone(), context.progress("coarsening", source.len));
    let mut out = OutputFile::create(args.force.at(&args.out))?;
    let mut tally = Tally::default();
    let needs = Needs::default().weights(args.weights).coarsening(Some(params)).features(None);
    let work = hg2v::context::Context::default().cached_in(args.cache.open());
    for chunk in Chunks::new(source, Shard::WHOLE).larger(4) {
        let chunk = chunk?;
        let run = chunk.run(&path);
        let made = Collection::new(run, &needs, &work).map_err(by_own_flag)?;
        for line in lines(&made, &params, args.quality)? {
            out.write_all(&line).map_err(|e| Error::io(&args.out, Action::Write, e))?;
        }
        tally.add(&made);
        progress.inc(chunk.passed);
    }
    out.commit()?;
    progress.finish_and_clear();
    report(&args, &params, &tally, started, context)
}

/// Here `--method` is what other commands call `--coarsening`.
fn by_own_flag(error: Error) -> Error {
    match error {
        Error::Parameter { option, value, requirement } if option.name() == "coarsening" => {
            Error::parameter("method", value, requirement)
        }
        other => other,
    }
}

/// A line for each graph.
fn lines(
    made: &Collection<'_>,
    params: &Params,
    with_quality: bool,
) -> anyhow::Result<Vec<Vec<u8>>> {
    try_map(0..made.len(), |i| {
        let (graph, pyramid) = (&made.graphs[i], &made.pyramids[i]);
        let quality =
            with_quality.then(|| quality(graph, pyramid, params.k, params.method.contracts()));
        render(&made.run.records[i].id_at(made.run.position_of(i)), pyramid, quality)
    })
}

pub(super) fn render(
    id: &Scalar,
    pyramid: &Pyramid,
    quality: Option<Quality>,
) -> anyhow::Result<Vec<u8>> {
    let levels = pyramid
        .levels
        .iter()
        .map(|level| LevelLine {
            n: level.graph.num_nodes(),
            assignment: &level.assignment,
            edges: level.graph.edges().collect(),
        })
        .collect();
    let mut bytes = serde_json::to_vec(&Line { id, n: pyramid.num_nodes, levels, quality })?;
    bytes.push(b'\n');
    Ok(bytes)
}

/// Says what was done.
fn report(
    args: &Args,
    params: &Params,
    tally: &Tally,
    started: Instant,
    context: &Context,
) -> anyhow::Result<()> {
    let seconds = started.elapsed().as_secs_f64();
    context.tell(json!({
        "data": args.data, "out": args.out, "graphs": tally.notes.graphs, "params": params,
        "tally": tally,
    }))?;
    let mean = |total: u64| {
        if tally.notes.graphs == 0 { 0.0 } else { total as f64 / tally.notes.graphs as f64 }
    };
    context.say(format!(
        "{} graphs, {:.1} nodes each, coarsened to {:.1} nodes in {:.1} levels ({}, k = {}, r = {}) in {:.2} s",
        tally.notes.graphs,
        mean(tally.notes.nodes),
        mean(tally.top_nodes),
        mean(tally.levels),
        params.method,
        params.k,
        params.ratio,
        seconds,
    ));
    if tally.notes.from_cache > 0 {
        context.say(format!("{} of them came from the cache", tally.notes.from_cache));
    }
    if tally.notes.not_converged > 0 {
        context.say(format!(
            "{} graphs: eigenvectors not converged to tolerance; the best found guided the coarsening",
            tally.notes.not_converged
        ));
    }
    let notes = &tally.notes;
    say_findings(&notes.found, &Needs::default().coarsening(Some(*params)), context);
    // Direction was spoken of.
    let left_out = Aspects { direction: false, ..notes.brought };
    say_uses(left_out, Aspects::default(), context);
    Ok(())
}

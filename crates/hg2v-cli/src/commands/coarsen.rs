//! `hg2v coarsen`: a spectral pyramid for each graph.

use std::io::Write;
use std::path::PathBuf;
use std::time::Instant;

use hg2v::coarsen::cache::{Cache, Origin, pyramids};
use hg2v::coarsen::quality::{Quality, quality};
use hg2v::coarsen::{Params, Pyramid};
use hg2v::error::Error;
use hg2v::graph::{Findings, Graph, GraphRecord, Scalar, WeightPolicy};
use hg2v::output::OutputFile;
use hg2v::prepare::graph_of;
use rayon::prelude::*;
use serde::Serialize;
use serde_json::json;

use crate::context::Context;
use crate::graphs::{CacheArgs, MethodArg, WeightArg, say_findings};

/// Nodes and edges gathered before they are coarsened together, and the most
/// graphs: enough to keep all threads busy, little enough to hold.
const BATCH_SIZE: usize = 1 << 20;
const BATCH_GRAPHS: usize = 2048;

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
    #[arg(long, value_enum, default_value = "variation-neighborhoods", value_name = "M")]
    method: MethodArg,
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
    /// What to do with edge weights: `use` refuses a negative one
    #[arg(long, value_enum, default_value = "use", value_name = "W")]
    weights: WeightArg,
    /// Where to write the pyramids (`-`: standard output)
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
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
    graphs: u64,
    nodes: u64,
    edges: u64,
    levels: u64,
    top_nodes: u64,
    from_cache: u64,
    not_converged: u64,
    found: Findings,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let params = Params {
        method: args.method.into(),
        k: args.k,
        ratio: args.ratio,
        max_levels: args.max_levels,
        seed: context.global.seed,
    };
    params.check()?;
    let started = Instant::now();
    let cache = args.cache.open();
    let mut source = context.open(&args.data)?;
    let progress = context.progress("coarsening", source.len);
    let mut out = OutputFile::create(&args.out)?;
    let mut tally = Tally::default();
    let mut batch = Batch::default();
    loop {
        let record = source.next().transpose()?;
        let done = record.is_none();
        if let Some(record) = record {
            batch.add(record, tally.graphs, args.weights.into(), &source.path, &mut tally)?;
        }
        if done || batch.is_full() {
            let lines = batch.coarsen(&params, cache.as_ref(), args.quality, &mut tally)?;
            for line in &lines {
                out.write_all(line).map_err(|e| Error::io(&args.out, "write", e))?;
            }
            progress.inc(lines.len() as u64);
        }
        if done {
            break;
        }
    }
    out.commit()?;
    progress.finish_and_clear();
    report(&args, &params, &tally, started, context)
}

/// Graphs waiting to be coarsened together.
#[derive(Default)]
struct Batch {
    ids: Vec<Scalar>,
    graphs: Vec<Graph>,
    size: usize,
}

impl Batch {
    fn add(
        &mut self,
        record: GraphRecord,
        position: u64,
        policy: WeightPolicy,
        path: &std::path::Path,
        tally: &mut Tally,
    ) -> anyhow::Result<()> {
        let (graph, found) = graph_of(&record, policy, path, position)?;
        tally.graphs += 1;
        tally.nodes += graph.num_nodes() as u64;
        tally.edges += graph.num_edges() as u64;
        tally.found.add(&found);
        self.size += graph.num_nodes() + graph.num_edges();
        self.graphs.push(graph);
        self.ids.push(record.id.unwrap_or(Scalar::Int(position as i64)));
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.size >= BATCH_SIZE || self.graphs.len() >= BATCH_GRAPHS
    }

    /// Coarsens what was gathered and empties the batch: a line for each graph.
    fn coarsen(
        &mut self,
        params: &Params,
        cache: Option<&Cache>,
        with_quality: bool,
        tally: &mut Tally,
    ) -> anyhow::Result<Vec<Vec<u8>>> {
        let Batch { ids, graphs, .. } = std::mem::take(self);
        let (made, origin) = pyramids(&graphs, params, cache)?;
        for pyramid in &made {
            tally.levels += pyramid.levels.len() as u64;
            let top = pyramid.levels.last().map_or(pyramid.num_nodes, |l| l.graph.num_nodes());
            tally.top_nodes += top as u64;
            tally.from_cache += u64::from(origin == Origin::Cache);
            tally.not_converged += u64::from(!pyramid.converged);
        }
        let line = |((id, graph), pyramid): ((&Scalar, &Graph), &Pyramid)| {
            let quality =
                with_quality.then(|| quality(graph, pyramid, params.k, params.method.contracts()));
            render(id, pyramid, quality)
        };
        ids.par_iter().zip(&graphs).zip(&made).map(line).collect()
    }
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
    if context.global.json && args.out.as_os_str() != "-" {
        let result = json!({
            "out": args.out, "params": params, "seconds": seconds, "tally": tally,
        });
        context.print(result.to_string())?;
    }
    let mean =
        |total: u64| if tally.graphs == 0 { 0.0 } else { total as f64 / tally.graphs as f64 };
    context.say(format!(
        "{} graphs, {:.1} nodes each, coarsened to {:.1} nodes in {:.1} levels ({}, k = {}, r = {}) in {:.2} s",
        tally.graphs,
        mean(tally.nodes),
        mean(tally.top_nodes),
        mean(tally.levels),
        params.method.name(),
        params.k,
        params.ratio,
        seconds,
    ));
    if tally.from_cache > 0 {
        context.say(format!("{} of them came from the cache", tally.from_cache));
    }
    if tally.not_converged > 0 {
        context.say(format!(
            "{} graphs: eigenvectors not converged to tolerance; the best found guided the coarsening",
            tally.not_converged
        ));
    }
    say_findings(&tally.found, context);
    Ok(())
}

//! `hg2v embed`: vectors for any graphs.

use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use hg2v::progress::{Flow, Progress, Report};
use hg2v::stream::{Done, Options, Partial, Per, Shard, Stream, partial_beside};
use hg2v::{Hg2v, Model, vectors};
use hg2v_baselines::registry;
use serde_json::json;

use super::fit::{EVERY, seconds};
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs, say_findings, say_ignored, say_uses, uses};
use crate::interrupt::Farewell;
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::table::{counted, decimal};
use crate::vocabulary::word;
use crate::watch::Watch;
use crate::words::Command;

/// Vectors for any graphs, with a trained model
///
/// Graphs are read, coarsened, embedded and written in a stream: memory does not
/// grow with their number. A graph's vector is the same bits whatever it is
/// embedded beside, and however many threads or shards there are.
///
/// A run that takes longer keeps what is done in the folder PATH.partial until PATH is
/// complete: if it is stopped, or killed, the same command goes on from there and ends
/// in the same bits.
#[derive(clap::Args)]
#[command(after_help = "\
Examples:
  hg2v embed mutag.model MUTAG.zip --out mutag.parquet       id, y, embedding
  cat one.jsonl | hg2v embed m - --out -                     one graph from a pipe
  hg2v embed m big.jsonl.gz --shard 2/8 --out part2.npy      the second of eight parts
  hg2v embed m graphs.jsonl --per node --out nodes.parquet   what each node looks like")]
pub(crate) struct Args {
    /// The model's folder
    model: PathBuf,
    /// The graphs
    data: PathBuf,
    /// Where to write: NAME.npy, .parquet, .csv, .tsv, or `-` for CSV
    #[arg(long, short, value_name = "PATH")]
    out: PathBuf,
    #[command(flatten)]
    force: ForceArgs,
    /// Only the I-th of N equal parts, by position: graph p belongs to part 1 + p mod N
    #[arg(long, value_name = "I/N")]
    shard: Option<Shard>,
    /// Use the network as it was before its training
    #[arg(long)]
    untrained: bool,
    /// What a row is
    #[arg(long, default_value_t, value_name = "WHAT", value_parser = word::<Per>())]
    per: Per,
    /// How much work a kill may cost
    #[arg(long, value_name = "SECONDS", default_value = EVERY.as_str(), value_parser = seconds)]
    checkpoint_every: Duration,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let started = Instant::now();
    let model: Arc<dyn Model> = match args.untrained {
        false => registry::load(&args.model)?.into(),
        true => Arc::new(Hg2v::load(&args.model)?.untrained()),
    };
    refuse_json(&args.out, context)?;
    let source = context.open(&args.data, Asks::of(&model))?;
    refuse_same(&source.path, &args.out)?;
    let (ignored, beside) = (source.listen(), source.beside().to_vec());
    let device = args.device.describe();
    let partial = partial_beside(&args.out, &*model, args.per, &device, args.checkpoint_every)?;
    let options = Options::default()
        .per(args.per)
        .shard(args.shard.unwrap_or(Shard::WHOLE))
        .partial(partial.clone())
        .pool(None);
    let cached = hg2v::context::Context::default().cached_in(args.cache.open());
    let stream = Stream::start(source, Arc::clone(&model), options, &cached)?;
    let sink = vectors::create(args.force.at(&args.out), stream.shape().clone())?;
    // Opening a GPU takes a while, in which the first graphs are read.
    let machine = args.device.open()?;
    let keeper = Keeper { watch: Watch::new(context), partial, farewell: Mutex::new(None) };
    let work = graphs::on(&machine).watched_by(&keeper);
    let done = stream.write_to(sink, &work).inspect_err(|_| keeper.tell(context))?;
    drop(keeper);
    say_ignored(&ignored(), &beside, context);
    if let Some(error) = &done.not_kept {
        context.say(format!(
            "what was done could not be kept until the end: {}",
            error.worded(&Command)
        ));
    }
    if done.found > 0 {
        context.say(format!("{} embedded before it was stopped", counted(done.found, "graph")));
    }
    report(&args, &*model, &done, started, context)
}

/// Watches the work, and knows how it goes on after a stop.
struct Keeper<'a> {
    watch: Watch<'a>,
    partial: Option<Arc<Partial>>,
    farewell: Mutex<Option<Farewell>>,
}

impl Keeper<'_> {
    /// How the run goes on, where it can.
    fn continuation(&self) -> Option<String> {
        let folder = self.partial.as_ref()?.used()?.display();
        Some(format!("what is done is kept in {folder}: the same command goes on from there"))
    }

    fn tell(&self, context: &Context) {
        self.continuation().inspect(|words| context.say(words));
    }
}

impl Progress for Keeper<'_> {
    fn report(&self, report: &Report<'_>) -> Flow {
        let mut farewell = self.farewell.lock().unwrap_or_else(PoisonError::into_inner);
        if farewell.is_none() {
            let words = self.continuation();
            *farewell = words.map(|words| Farewell::at_once(format!("stopped; {words}")));
        }
        self.watch.report(report)
    }
}

fn report(
    args: &Args,
    model: &dyn Model,
    done: &Done,
    started: Instant,
    context: &Context,
) -> anyhow::Result<()> {
    let Done { notes, dim, rows, .. } = done;
    let seconds = started.elapsed().as_secs_f64();
    let rate = notes.graphs as f64 / seconds.max(1e-9);
    let [used, unused] = uses(notes.brought, model.sees());
    context.tell(json!({
        "model": args.model, "data": args.data, "out": args.out, "graphs": notes.graphs,
        "vectors": rows, "dim": dim, "notes": notes, "used": used, "unused": unused,
    }))?;
    say_findings(&notes.found, &model.needs(), context);
    say_uses(notes.brought, model.sees(), context);
    for (count, what) in [
        (notes.applied.unseen_labels, "nodes with labels that training never met (taken as none)"),
        (
            notes.applied.unseen_edge_labels,
            "ends of edges with labels that training never met (taken as none)",
        ),
        (notes.applied.clipped, "attributes too large after scaling, cut"),
        (notes.not_converged, "graphs whose eigenvectors did not converge to tolerance"),
    ] {
        if count > 0 {
            context.say(format!("{count} {what}"));
        }
    }
    context.say(format!(
        "{} into vectors of {dim} numbers in {seconds:.2} s ({} graphs a second){}",
        counted(notes.graphs, "graph"),
        decimal(rate, if rate < 10.0 { 2 } else { 0 }),
        if args.untrained { ", untrained" } else { "" },
    ));
    Ok(())
}

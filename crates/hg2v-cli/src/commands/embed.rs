//! `hg2v embed`: vectors for any graphs.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::Instant;

use clap::ValueEnum;
use hg2v::coarsen::cache::Cache;
use hg2v::model::Example;
use hg2v::nn::machine::Machine;
use hg2v::prepare::Notes;
use hg2v::vectors::{self, Key, Shape, VectorSink};
use hg2v::{Hg2v, embed};
use serde_json::json;

use crate::chunks::{Chunk, Chunks, Shard};
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{Asks, CacheArgs, say_findings, say_ignored};
use crate::out::{refuse_json, refuse_same};
use crate::table::{counted, decimal};
use crate::threads;

/// Nodes and edges gathered before they are embedded together.
const CHUNK_SIZE: usize = 1 << 18;

/// Vectors for any graphs, with a trained model
///
/// Graphs are read, coarsened, embedded and written in a stream: memory does not
/// grow with their number. A graph's vector is the same bits whatever it is
/// embedded beside, and however many threads or shards there are.
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
    /// Only the I-th of N equal parts, by position: graph p belongs to part 1 + p mod N
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Use the network as it was before its training
    #[arg(long)]
    untrained: bool,
    /// What a row is
    #[arg(long, value_enum, default_value = "graph", value_name = "WHAT")]
    per: PerArg,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum PerArg {
    /// a graph
    Graph,
    /// a node, with what its super-nodes say
    Node,
    /// a level of a graph
    Level,
}

fn parse_shard(text: &str) -> Result<Shard, String> {
    let parsed = text.split_once('/').and_then(|(part, parts)| {
        Some(Shard { part: part.parse().ok()?, parts: parts.parse().ok()? })
    });
    match parsed {
        Some(shard) if (1..=shard.parts).contains(&shard.part) => Ok(shard),
        _ => Err("it must be I/N with I between 1 and N, such as 2/8".to_owned()),
    }
}

pub(crate) fn run(args: Args, context: &Context) -> anyhow::Result<()> {
    let started = Instant::now();
    let model = Hg2v::load(&args.model)?;
    let model = Arc::new(if args.untrained { model.untrained() } else { model });
    refuse_json(&args.out, context)?;
    let source = context.open(&args.data, Asks::of(&model))?;
    refuse_same(&source.path, &args.out)?;
    let (ignored, beside) = (source.listen(), source.beside().to_vec());
    let bar = context.progress("embedding", source.len);
    let mut output = Output::new(&args, &model)?;
    let (path, shard) = (source.path.clone(), args.shard.unwrap_or(Shard::WHOLE));
    let chunks = Chunks::new(source, shard, CHUNK_SIZE);
    let mut line = Line::start(chunks, &path, Arc::clone(&model), args.cache.open())?;
    // Opening a card takes a while, in which the first graphs are read.
    let machine = args.device.open()?;
    let mut notes = Notes::default();
    while let Some(prepared) = line.next()? {
        output.write(&model, &machine, &path, &prepared)?;
        notes.add(&prepared.notes);
        bar.inc(prepared.chunk.passed);
    }
    output.sink.finish()?;
    bar.finish_and_clear();
    say_ignored(&ignored(), &beside, context);
    report(&args, &notes, output.dim, started, context)
}

/// A production line: while a chunk is embedded and written, the next is coarsened and
/// the one after it read. Who fails says so and stops; the others find nobody to work for.
struct Line {
    prepared: Receiver<hg2v::Result<Prepared>>,
    workers: Vec<JoinHandle<()>>,
}

impl Line {
    fn start(
        all: Chunks,
        path: &Path,
        model: Arc<Hg2v>,
        cache: Option<Cache>,
    ) -> anyhow::Result<Line> {
        let path = path.to_owned();
        let (to_prepare, chunks) = sync_channel(1);
        let (to_embed, prepared) = sync_channel(1);
        let reader = threads::start("read", move || {
            for chunk in all {
                let failed = chunk.is_err();
                if to_prepare.send(chunk).is_err() || failed {
                    break;
                }
            }
        })?;
        let preparer = threads::start("prepare", move || {
            for chunk in chunks {
                let done = chunk.and_then(|chunk| {
                    let (examples, notes) = model.examples(chunk.run(&path), cache.as_ref())?;
                    Ok(Prepared { chunk, examples, notes })
                });
                let failed = done.is_err();
                if to_embed.send(done).is_err() || failed {
                    break;
                }
            }
        })?;
        Ok(Line { prepared, workers: vec![reader, preparer] })
    }

    fn next(&mut self) -> anyhow::Result<Option<Prepared>> {
        if let Ok(prepared) = self.prepared.recv() {
            return Ok(Some(prepared?));
        }
        // The end, unless somebody broke down before it.
        for worker in self.workers.drain(..) {
            if worker.join().is_err() {
                anyhow::bail!("a thread broke down; nothing was written");
            }
        }
        Ok(None)
    }
}

/// Graphs ready to be embedded.
struct Prepared {
    chunk: Chunk,
    examples: Vec<Example>,
    notes: Notes,
}

/// The file of vectors, and what its rows are.
struct Output {
    sink: Box<dyn VectorSink>,
    per: PerArg,
    dim: usize,
    /// For vectors of levels: which numbers of an embedding each is made of.
    levels: Vec<Vec<Range<usize>>>,
}

impl Output {
    fn new(args: &Args, model: &Hg2v) -> anyhow::Result<Output> {
        let layout = &model.network().layout;
        let numbered = |prefix: &str, n: usize| (0..n).map(|i| format!("{prefix}{i}")).collect();
        let mut levels = Vec::new();
        let (names, part): (Vec<String>, _) = match args.per {
            PerArg::Graph => (layout.embedding_names(), None),
            PerArg::Node => (numbered("v", embed::node_dim(model.network())), Some("node")),
            PerArg::Level => {
                // Level l is its nodes g, and the neighbourhoods x that look up to it.
                let parts = layout.parts();
                for level in 1..=layout.architecture.levels {
                    let own = parts.iter().filter(|part| match part.local {
                        false => part.level == level,
                        true => part.level + 1 == level,
                    });
                    levels.push(own.map(|p| p.start..p.start + p.columns).collect::<Vec<_>>());
                }
                let dim = levels[0].iter().map(Range::len).sum();
                (numbered("e", dim), Some("level"))
            }
        };
        let dim = names.len();
        let sink = vectors::create(&args.out, Shape { names, part, model: Some(model.digest()?) })?;
        Ok(Output { sink, per: args.per, dim, levels })
    }

    fn write(
        &mut self,
        model: &Hg2v,
        machine: &Machine,
        file: &Path,
        Prepared { chunk, examples, .. }: &Prepared,
    ) -> anyhow::Result<()> {
        let run = chunk.run(file);
        let rows = match self.per {
            PerArg::Node => Vec::new(),
            _ => model.embed_examples_on(machine, examples)?,
        };
        let dim = model.network().layout.embedding_dim();
        for (i, record) in chunk.records.iter().enumerate() {
            let id = record.id_at(run.position_of(i));
            let key = |part| Key { id: &id, label: record.label.as_ref(), part };
            match self.per {
                PerArg::Graph => self.sink.write(key(None), &rows[i * dim..(i + 1) * dim])?,
                PerArg::Level => {
                    let row = &rows[i * dim..(i + 1) * dim];
                    for (level, parts) in self.levels.iter().enumerate() {
                        let own: Vec<f32> =
                            parts.iter().flat_map(|part| row[part.clone()].to_vec()).collect();
                        self.sink.write(key(Some(level as u64 + 1)), &own)?;
                    }
                }
                PerArg::Node => {
                    let (network, parameters) = (model.network(), model.parameters());
                    let rows = embed::nodes_on(machine, network, parameters, &examples[i])?;
                    for (node, row) in rows.chunks_exact(self.dim).enumerate() {
                        self.sink.write(key(Some(node as u64)), row)?;
                    }
                }
            }
        }
        Ok(())
    }
}

fn report(
    args: &Args,
    notes: &Notes,
    dim: usize,
    started: Instant,
    context: &Context,
) -> anyhow::Result<()> {
    let seconds = started.elapsed().as_secs_f64();
    let rate = notes.graphs as f64 / seconds.max(1e-9);
    if context.global.json {
        let result = json!({
            "out": args.out, "dim": dim, "seconds": seconds, "notes": notes,
            "skipped": context.skipped.count(),
        });
        context.print(result.to_string())?;
    }
    say_findings(&notes.found, context);
    for (count, what) in [
        (notes.applied.unseen_labels, "nodes with labels that training never met (taken as none)"),
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

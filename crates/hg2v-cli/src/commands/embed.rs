//! `hg2v embed`: vectors for any graphs.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use clap::ValueEnum;
use hg2v::coarsen::cache::Cache;
use hg2v::model::Example;
use hg2v::nn::machine::Machine;
use hg2v::prepare::Notes;
use hg2v::vectors::{self, Key, Shape, VectorSink};
use hg2v::{Hg2v, embed};
use serde_json::json;

use super::fit::seconds;
use crate::chunks::{Chunk, Chunks, Shard};
use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{Asks, CacheArgs, say_findings, say_ignored};
use crate::interrupt::Farewell;
use crate::out::{ForceArgs, refuse_json, refuse_same};
use crate::parts::{Part, Parts};
use crate::table::{counted, decimal};
use crate::threads;
use crate::words::Command;

/// Nodes and edges gathered before they are embedded together.
const CHUNK_SIZE: usize = 1 << 18;

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
    #[arg(long, value_name = "I/N", value_parser = parse_shard)]
    shard: Option<Shard>,
    /// Use the network as it was before its training
    #[arg(long)]
    untrained: bool,
    /// What a row is
    #[arg(long, value_enum, default_value = "graph", value_name = "WHAT")]
    per: PerArg,
    /// How much work a kill may cost
    #[arg(long, value_name = "SECONDS", default_value = "20", value_parser = seconds)]
    checkpoint_every: Duration,
    #[command(flatten)]
    device: DeviceArgs,
    #[command(flatten)]
    cache: CacheArgs,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
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
    let parts = Arc::new(parts(&args, &model)?);
    let (path, shard) = (source.path.clone(), args.shard.unwrap_or(Shard::WHOLE));
    let chunks = Chunks::new(source, shard, CHUNK_SIZE);
    let preparer = Preparer {
        path: path.clone(),
        model: Arc::clone(&model),
        cache: args.cache.open(),
        parts: Arc::clone(&parts),
    };
    let mut line = Line::start(chunks, preparer)?;
    // Opening a card takes a while, in which the first graphs are read.
    let machine = args.device.open()?;
    let mut keeper = Keeper { parts: (*parts).as_ref(), farewell: None, found: 0 };
    let mut embed_all = || -> anyhow::Result<Notes> {
        let mut notes = Notes::default();
        while let Some(Prepared { chunk, work }) = line.next()? {
            keeper.prepare_farewell();
            let part = match work {
                Work::Done(part) => keeper.found(part),
                Work::Ready(examples, notes) => {
                    let rows = output.rows(&model, &machine, &examples)?;
                    keeper.keep(&chunk, Part { rows, notes }, context)
                }
            };
            output.write(&path, &chunk, &part.rows)?;
            notes.add(&part.notes);
            bar.inc(chunk.passed);
        }
        Ok(notes)
    };
    let notes = embed_all().inspect_err(|_| keeper.tell(context))?;
    let (dim, rows) = (output.dim, output.written);
    output.sink.finish().inspect_err(|_| keeper.tell(context))?;
    if let Some(parts) = &*parts {
        parts.remove()?;
    }
    bar.finish_and_clear();
    say_ignored(&ignored(), &beside, context);
    if keeper.found > 0 {
        context.say(format!("{} embedded before it was stopped", counted(keeper.found, "graph")));
    }
    report(&args, &notes, dim, rows, started, context)
}

/// Where what is done is kept, under all that vectors depend on but the graphs.
fn parts(args: &Args, model: &Hg2v) -> anyhow::Result<Option<Parts>> {
    let (model, device) = (model.digest()?, args.device.describe());
    let identity = [model, device, format!("{:?}", args.per)];
    Ok(Parts::beside(&args.out, &identity, args.checkpoint_every))
}

/// Keeps what is done, as long as the disk lets it.
struct Keeper<'a> {
    parts: Option<&'a Parts>,
    farewell: Option<Farewell>,
    /// Graphs that another run embedded.
    found: u64,
}

impl Keeper<'_> {
    fn found(&mut self, part: Part) -> Part {
        self.found += part.notes.graphs;
        part
    }

    fn keep(&mut self, chunk: &Chunk, part: Part, context: &Context) -> Part {
        let kept = self.parts.map(|parts| parts.keep(chunk, &part));
        if let Some(Err(error)) = kept {
            let error = error.worded(&Command);
            context.say(format!("what is done cannot be kept until the end: {error}"));
            self.parts = None;
        }
        part
    }

    /// How the run goes on, where it can.
    fn continuation(&self) -> Option<String> {
        let folder = self.parts?.used()?.display();
        Some(format!("what is done is kept in {folder}: the same command goes on from there"))
    }

    fn prepare_farewell(&mut self) {
        if self.farewell.is_none() {
            let words = self.continuation();
            self.farewell = words.map(|words| Farewell::at_once(format!("stopped; {words}")));
        }
    }

    fn tell(&self, context: &Context) {
        self.continuation().inspect(|words| context.say(words));
    }
}

/// A production line: while a chunk is embedded and written, the next is coarsened and
/// the one after it read. Who fails says so and stops; the others find nobody to work for.
struct Line {
    prepared: Receiver<hg2v::Result<Prepared>>,
    workers: Vec<JoinHandle<()>>,
}

/// Whoever makes graphs ready to be embedded.
struct Preparer {
    path: PathBuf,
    model: Arc<Hg2v>,
    cache: Option<Cache>,
    parts: Arc<Option<Parts>>,
}

impl Preparer {
    fn prepare(&self, chunk: Chunk) -> hg2v::Result<Prepared> {
        let work = match (*self.parts).as_ref().and_then(|parts| parts.find(&chunk)) {
            Some(part) => Work::Done(part),
            None => {
                let run = chunk.run(&self.path);
                let (examples, notes) = self.model.examples(run, self.cache.as_ref())?;
                Work::Ready(examples, notes)
            }
        };
        Ok(Prepared { chunk, work })
    }
}

impl Line {
    fn start(all: Chunks, preparer: Preparer) -> anyhow::Result<Line> {
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
                let done = chunk.and_then(|chunk| preparer.prepare(chunk));
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

/// Graphs whose turn it is.
struct Prepared {
    chunk: Chunk,
    work: Work,
}

enum Work {
    /// Ready to be embedded, and what making them ready met.
    Ready(Vec<Example>, Notes),
    /// Embedded by a run that was stopped.
    Done(Part),
}

/// The file of vectors, and what its rows are.
struct Output {
    sink: Box<dyn VectorSink>,
    per: PerArg,
    dim: usize,
    /// Numbers of a graph's vector.
    embedding_dim: usize,
    /// Rows so far.
    written: u64,
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
        let shape = Shape { names, part, model: Some(model.digest()?) };
        let sink = vectors::create(args.force.at(&args.out), shape)?;
        let embedding_dim = layout.embedding_dim();
        Ok(Output { sink, per: args.per, dim, embedding_dim, written: 0, levels })
    }

    /// The numbers of all rows of a chunk.
    fn rows(
        &self,
        model: &Hg2v,
        machine: &Machine,
        examples: &[Example],
    ) -> hg2v::Result<Vec<f32>> {
        if self.per != PerArg::Node {
            return model.embed_examples_on(machine, examples);
        }
        let mut rows = Vec::new();
        for example in examples {
            let (network, parameters) = (model.network(), model.parameters());
            rows.extend(embed::nodes_on(machine, network, parameters, example)?);
        }
        Ok(rows)
    }

    fn write(&mut self, file: &Path, chunk: &Chunk, rows: &[f32]) -> hg2v::Result<()> {
        let run = chunk.run(file);
        let mut rest = rows;
        for (i, record) in chunk.records.iter().enumerate() {
            let id = record.id_at(run.position_of(i));
            let key = |part| Key { id: &id, label: record.label.as_ref(), part };
            let numbers = match self.per {
                PerArg::Node => record.num_nodes as usize * self.dim,
                _ => self.embedding_dim,
            };
            let own = rest.split_off(..numbers).unwrap_or_default();
            match self.per {
                PerArg::Graph => {
                    self.sink.write(key(None), own)?;
                    self.written += 1;
                }
                PerArg::Level => {
                    for (level, parts) in self.levels.iter().enumerate() {
                        let row: Vec<f32> =
                            parts.iter().flat_map(|part| own[part.clone()].to_vec()).collect();
                        self.sink.write(key(Some(level as u64 + 1)), &row)?;
                        self.written += 1;
                    }
                }
                PerArg::Node => {
                    for (node, row) in own.chunks_exact(self.dim).enumerate() {
                        self.sink.write(key(Some(node as u64)), row)?;
                        self.written += 1;
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
    rows: u64,
    started: Instant,
    context: &Context,
) -> anyhow::Result<()> {
    let seconds = started.elapsed().as_secs_f64();
    let rate = notes.graphs as f64 / seconds.max(1e-9);
    context.tell(json!({
        "model": args.model, "data": args.data, "out": args.out, "graphs": notes.graphs,
        "vectors": rows, "dim": dim, "notes": notes,
    }))?;
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

//! From a stream of graphs to a file of vectors, in bounded memory.
//!
//! While a chunk is embedded and written, the next is coarsened and the one after it read. What
//! is done can be [kept](Partial) until all is there, so that a run that was stopped goes on.
//!
//! ```no_run
//! use std::sync::Arc;
//! use hg2v::context::Context;
//! use hg2v::dataset::{self, Limits};
//! use hg2v::stream::{Options, Stream};
//! use hg2v::{Hg2v, Model};
//!
//! let model: Arc<dyn Model> = Arc::new(Hg2v::load("mutag.model".as_ref())?);
//! let source = dataset::open("new.jsonl".as_ref(), &Limits::default())?;
//! let context = Context::default();
//! let stream = Stream::start(source, model, Options::default(), &context)?;
//! let done = stream.write(std::path::Path::new("new.parquet"), &context)?;
//! println!("{} vectors of {} numbers", done.rows, done.dim);
//! # Ok::<(), hg2v::Error>(())
//! ```

mod chunks;
mod partial;
mod rows;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, sync_channel};
use std::thread::{Builder, JoinHandle};

use rayon::ThreadPool;

use self::partial::Part;
use self::rows::Layout;
use crate::context::Context;
use crate::dataset::Source;
use crate::error::{Action, Error, Result};
use crate::method::Model;
use crate::output::overwrite::Destination;
use crate::prepare::{Collection, Notes, Ready};
use crate::progress::{Report, Stage};
use crate::vectors::{self, Shape, VectorSink};

pub use chunks::{Chunk, Chunks, Shard};
pub use partial::Partial;
pub use rows::Per;

/// What a stream does.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// What a row is.
    pub per: Per,
    /// Which graphs are taken.
    pub shard: Shard,
    /// Where vectors are kept until all are there.
    pub partial: Option<Arc<Partial>>,
    /// Whose threads do it: rayon's own, unless others are given; those of the pool that calls
    /// cannot be, because whoever writes waits for those who read and prepare.
    pub pool: Option<Arc<ThreadPool>>,
}

hg2v_math::setters!(Options {
    per: Per,
    shard: Shard,
    partial: Option<Arc<Partial>>,
    pool: Option<Arc<ThreadPool>>,
});

impl Default for Options {
    fn default() -> Options {
        Options { per: Per::Graph, shard: Shard::WHOLE, partial: None, pool: None }
    }
}

/// What a stream did.
#[derive(Debug)]
#[non_exhaustive]
pub struct Done {
    /// Numbers of a row.
    pub dim: usize,
    /// Rows.
    pub rows: u64,
    /// What preparing the graphs met.
    pub notes: Notes,
    /// Graphs that a run before this one had embedded.
    pub found: u64,
    /// Why vectors were not [kept](Options::partial) until the end.
    pub not_kept: Option<Error>,
}

/// A stream of graphs on their way to vectors; reading has begun.
pub struct Stream {
    path: PathBuf,
    total: u64,
    model: Arc<dyn Model>,
    layout: Layout,
    shape: Shape,
    partial: Option<Arc<Partial>>,
    pool: Option<Arc<ThreadPool>>,
    prepared: Receiver<Result<Prepared>>,
    workers: Vec<JoinHandle<()>>,
}

impl Stream {
    /// Begins to read and to coarsen, with the cache of `context`.
    ///
    /// # Errors
    /// Rows that the model's method does not have; a system that has no thread left.
    pub fn start(
        source: Source,
        model: Arc<dyn Model>,
        options: Options,
        context: &Context<'_>,
    ) -> Result<Stream> {
        let (layout, shape) = Layout::new(&*model, options.per)?;
        let (path, total) = (source.path.clone(), source.len.unwrap_or(0));
        let (to_prepare, read) = sync_channel(1);
        let (to_embed, prepared) = sync_channel(1);
        let all = Chunks::new(source, options.shard);
        let reader = started("read", move || {
            for chunk in all {
                let failed = chunk.is_err();
                if to_prepare.send(chunk).is_err() || failed {
                    break;
                }
            }
        })?;
        let (partial, pool) = (options.partial.clone(), options.pool.clone());
        let preparer = Preparer {
            path: path.clone(),
            model: Arc::clone(&model),
            context: context.unwatched(),
            partial: options.partial,
        };
        let preparer = started("prepare", move || {
            for chunk in read {
                let done =
                    chunk.and_then(|chunk| on(options.pool.as_deref(), || preparer.prepare(chunk)));
                let failed = done.is_err();
                if to_embed.send(done).is_err() || failed {
                    break;
                }
            }
        })?;
        let workers = vec![reader, preparer];
        Ok(Stream { path, total, model, layout, shape, partial, pool, prepared, workers })
    }

    /// Embeds all graphs, on the device of `context`, into a file of vectors, which appears whole
    /// or not at all.
    ///
    /// # Errors
    /// A graph that cannot be read or embedded; a disk or a GPU that fails;
    /// [`Stopped`](Error::Stopped).
    pub fn write<'a>(self, to: impl Into<Destination<'a>>, context: &Context<'_>) -> Result<Done> {
        let sink = vectors::create(to, self.shape.clone())?;
        self.write_to(sink, context)
    }

    /// As [`write`](Stream::write), into a file that was begun with the stream's
    /// [shape](Stream::shape).
    ///
    /// # Errors
    /// As [`write`](Stream::write).
    pub fn write_to(
        mut self,
        mut sink: Box<dyn VectorSink>,
        context: &Context<'_>,
    ) -> Result<Done> {
        let (notes, not_kept) = (Notes::default(), None);
        let mut done = Done { dim: self.layout.dim, rows: 0, notes, found: 0, not_kept };
        let mut passed = 0;
        let kept = self.partial.clone();
        while let Some(Prepared { chunk, work }) = self.next()? {
            let part = match work {
                Work::Done(part) => {
                    done.found += part.notes.graphs;
                    part
                }
                Work::Ready(ready) => {
                    let collection = ready.of(chunk.run(&self.path));
                    let mut notes = collection.notes;
                    let rows = on(self.pool.as_deref(), || {
                        self.layout.rows(&*self.model, &collection, context)
                    })?;
                    rows.applied.iter().for_each(|applied| notes.applied.add(applied));
                    let part = Part { rows: rows.values, notes };
                    let keeping = self.partial.as_ref().map(|partial| partial.keep(&chunk, &part));
                    if let Some(Err(error)) = keeping {
                        done.not_kept = Some(error);
                        self.partial = None;
                    }
                    part
                }
            };
            done.rows += self.layout.write(&mut *sink, &self.path, &chunk, &part.rows)?;
            done.notes.add(&part.notes);
            passed += chunk.passed;
            context.tell(&Report::of(Stage::Embedding, passed, self.total.max(passed)))?;
        }
        if let Some(Err(error)) = kept.as_ref().map(|partial| partial.complete()) {
            done.not_kept.get_or_insert(error);
        }
        sink.finish()?;
        if let Some(partial) = kept {
            partial.remove()?;
        }
        Ok(done)
    }

    /// What the rows of the file will be like.
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    fn next(&mut self) -> Result<Option<Prepared>> {
        if let Ok(prepared) = self.prepared.recv() {
            return prepared.map(Some);
        }
        // The end, unless somebody broke down before it: a mistake of ours, which goes on.
        for worker in self.workers.drain(..) {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        }
        Ok(None)
    }
}

fn started(name: &str, job: impl FnOnce() + Send + 'static) -> Result<JoinHandle<()>> {
    let started = Builder::new().name(format!("hg2v-{name}")).spawn(job);
    started.map_err(|e| Error::io("<threads>", Action::Create, e))
}

/// Does `work` on the threads of `pool`, where there is one.
fn on<T: Send>(pool: Option<&ThreadPool>, work: impl FnOnce() -> T + Send) -> T {
    match pool {
        Some(pool) => pool.install(work),
        None => work(),
    }
}

/// Whoever makes graphs ready to be embedded.
struct Preparer {
    path: PathBuf,
    model: Arc<dyn Model>,
    context: Context<'static>,
    partial: Option<Arc<Partial>>,
}

impl Preparer {
    fn prepare(&self, chunk: Chunk) -> Result<Prepared> {
        let found = self.partial.as_ref().and_then(|partial| partial.find(&chunk));
        let work = match found {
            Some(part) => Work::Done(part),
            None => {
                let run = chunk.run(&self.path);
                let made = Collection::new(run, &self.model.needs(), &self.context)?;
                Work::Ready(Ready::new(made))
            }
        };
        Ok(Prepared { chunk, work })
    }
}

/// Graphs whose turn it is.
struct Prepared {
    chunk: Chunk,
    work: Work,
}

enum Work {
    /// Cleaned and coarsened.
    Ready(Ready),
    /// Embedded by a run that was stopped.
    Done(Part),
}

/// The folder beside `out` where vectors of this model and these `options` are kept until all
/// are there, once the work has taken longer than `spared`; none where the output is no file.
/// `device` tells where it is done: GPUs round differently.
///
/// # Errors
/// As [`Model::digest`].
pub fn partial_beside(
    out: &Path,
    model: &dyn Model,
    per: Per,
    device: &str,
    spared: std::time::Duration,
) -> Result<Option<Arc<Partial>>> {
    let identity = [model.digest()?, device.to_owned(), per.to_string()];
    Ok(Partial::beside(out, &identity, spared).map(Arc::new))
}

//! What is asked at the same time is answered by one call.
//!
//! As many threads as there are cores each take their share of what waits, embed all of
//! its graphs together, and search for all of its questions together. Small graphs are
//! worked off by the thread that took them: sharing one out costs more than it saves. A
//! large batch is shared among all. A graph's vector does not depend on its company, and a
//! graph that cannot be embedded spoils nothing for the others: they are tried one by one.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hg2v::Hg2v;
use hg2v::graph::GraphRecord;
use hg2v::prepare::Run;
use hg2v_search::Neighbor;
use hg2v_search::catalog::Catalog;
use rayon::ThreadPoolBuilder;
use tokio::sync::{mpsc, oneshot};

use crate::embedding::Embedding;
use crate::metrics::Metrics;
use crate::request::NAME;
use crate::state::{Current, State, say};

/// Nodes and edges of a batch, and its graphs, beyond which nothing is added to it.
const BATCH_SIZE: usize = 1 << 17;
const BATCH_GRAPHS: usize = 512;

/// Nodes, edges and rows of the index from which a batch is work for all threads.
const LARGE: usize = 1 << 13;

/// What is to be done.
#[derive(Debug)]
pub(crate) enum Work {
    /// Vectors of graphs, and the lines (from 0) that they stand on.
    Embed(Vec<GraphRecord>, Vec<u64>),
    /// The nearest to a graph, this many.
    Search(Box<GraphRecord>, usize),
    /// The nearest to a row of the index of a name, this many.
    Near(String, usize),
}

/// What came of it.
#[derive(Debug)]
pub(crate) enum Done {
    /// A vector for each graph, or why there is none.
    Vectors(Vec<Result<Vec<f32>, String>>),
    /// Neighbours, and the state whose rows they are.
    Neighbors(Arc<State>, Vec<Neighbor>),
    /// What was asked cannot be answered: not found (or no index), or not usable.
    Missing(String),
    /// Likewise: a graph that cannot be embedded.
    Refused(String),
    /// Our own fault.
    Broken,
}

/// Something to do, and who waits for it.
#[derive(Debug)]
pub(crate) struct Job {
    /// What.
    pub(crate) work: Work,
    /// Who.
    pub(crate) reply: oneshot::Sender<Done>,
}

/// Starts the threads that work off the jobs of `queue`, until its other end is gone.
///
/// # Errors
/// A system without threads.
pub(crate) fn start(
    current: Arc<Current>,
    metrics: Arc<Metrics>,
    queue: mpsc::Receiver<Job>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let threads = rayon::current_num_threads();
    let all = ThreadPoolBuilder::new().num_threads(threads).build();
    let all = Arc::new(all.map_err(std::io::Error::other)?);
    let queue = Arc::new(Mutex::new(queue));
    let worker = |_| {
        let (current, metrics) = (Arc::clone(&current), Arc::clone(&metrics));
        let (all, queue) = (Arc::clone(&all), Arc::clone(&queue));
        thread::Builder::new().name("hg2v-queue".to_owned()).spawn(move || {
            // What would be shared stays on this thread; where that cannot be, it is shared.
            let _own = ThreadPoolBuilder::new().num_threads(1).use_current_thread().build();
            loop {
                // Nobody panics while holding it.
                let mut waiting = queue.lock().unwrap_or_else(PoisonError::into_inner);
                let Some(first) = waiting.blocking_recv() else { break };
                let state = current.get();
                let batch = Batch::take(first, &mut waiting, threads, &state);
                drop(waiting);
                match batch.size >= LARGE {
                    true => all.install(|| batch.work_off(&current.embedding, &state, &metrics)),
                    false => batch.work_off(&current.embedding, &state, &metrics),
                }
            }
        })
    };
    (0..threads).map(worker).collect()
}

/// Jobs that are worked off together.
struct Batch {
    jobs: Vec<Job>,
    graphs: usize,
    size: usize,
}

impl Batch {
    /// One of `threads` equal shares of what waits, `first` among it.
    fn take(first: Job, waiting: &mut mpsc::Receiver<Job>, threads: usize, state: &State) -> Batch {
        let mut batch = Batch { jobs: Vec::new(), graphs: 0, size: 0 };
        batch.add(first, state);
        let share = (1 + waiting.len()).div_ceil(threads);
        while batch.jobs.len() < share && batch.graphs < BATCH_GRAPHS && batch.size < BATCH_SIZE {
            let Ok(next) = waiting.try_recv() else { break };
            batch.add(next, state);
        }
        // Whoever went away needs no answer.
        batch.jobs.retain(|job| !job.reply.is_closed());
        batch
    }

    fn add(&mut self, job: Job, state: &State) {
        let size = |record: &GraphRecord| record.num_nodes as usize + record.edges.len();
        let rows = || state.catalog.as_ref().map_or(0, Catalog::len);
        let (graphs, size) = match &job.work {
            Work::Embed(records, _) => (records.len(), records.iter().map(size).sum()),
            Work::Search(record, _) => (1, size(record) + rows()),
            Work::Near(..) => (1, rows()),
        };
        self.graphs += graphs;
        self.size += size;
        self.jobs.push(job);
    }

    fn work_off(self, embedding: &Embedding, state: &Arc<State>, metrics: &Metrics) {
        let (works, replies): (Vec<Work>, Vec<_>) =
            self.jobs.into_iter().map(|job| (job.work, job.reply)).unzip();
        let count = works.len();
        let done = catch_unwind(AssertUnwindSafe(|| answers(embedding, state, metrics, works)));
        let done = done.unwrap_or_else(|_| {
            say("error: a batch of requests broke down; its requests are answered with 500");
            (0..count).map(|_| Done::Broken).collect()
        });
        for (reply, done) in replies.into_iter().zip(done) {
            // Nobody there: nobody cares.
            let _ = reply.send(done);
        }
    }
}

/// An answer for each work.
fn answers(
    embedding: &Embedding,
    state: &Arc<State>,
    metrics: &Metrics,
    works: Vec<Work>,
) -> Vec<Done> {
    let mut records: Vec<GraphRecord> = Vec::new();
    let mut starts = Vec::with_capacity(works.len());
    let mut rest = Vec::with_capacity(works.len());
    for work in works {
        starts.push(records.len());
        rest.push(match work {
            Work::Embed(own, lines) => {
                records.extend(own);
                Rest::Embed(lines)
            }
            Work::Search(record, top) => {
                records.push(*record);
                Rest::Search(top)
            }
            Work::Near(name, top) => Rest::Near(name, top),
        });
    }
    starts.push(records.len());
    let vectors = embed(embedding, &state.model, &records, &starts, &rest);
    if !records.is_empty() {
        Metrics::add(&metrics.graphs, records.len() as u64);
        Metrics::add(&metrics.batches, 1);
    }
    let mut vectors = vectors.into_iter();
    let mut done = Vec::with_capacity(rest.len());
    let mut queries = Vec::new();
    for (i, rest) in rest.iter().enumerate() {
        let mut own = vectors.by_ref().take(starts[i + 1] - starts[i]);
        done.push(match rest {
            Rest::Embed(_) => Done::Vectors(own.collect()),
            Rest::Search(_) => match own.next() {
                Some(Ok(vector)) => {
                    queries.extend(vector);
                    Done::Broken
                }
                Some(Err(refused)) => Done::Refused(refused),
                None => Done::Broken,
            },
            Rest::Near(name, top) => near(state, name, *top),
        });
    }
    search(state, &rest, &queries, &mut done);
    done
}

/// What is left of a work once its graphs are with the others.
enum Rest {
    Embed(Vec<u64>),
    Search(usize),
    Near(String, usize),
}

/// A vector for each record, all at once; if one cannot be embedded, each by itself.
fn embed(
    embedding: &Embedding,
    model: &Hg2v,
    records: &[GraphRecord],
    starts: &[usize],
    rest: &[Rest],
) -> Vec<Result<Vec<f32>, String>> {
    let dim = model.network().layout.embedding_dim();
    let file = Path::new(NAME);
    let vectors = |records: &[GraphRecord], position: u64| {
        let (examples, _) = model.examples(Run { position, ..Run::of(records, file) }, None)?;
        Ok::<_, hg2v::Error>(embedding.vectors(model, &examples))
    };
    if let Ok(rows) = vectors(records, 0) {
        return rows.chunks_exact(dim).map(|row| Ok(row.to_vec())).collect();
    }
    let mut all = Vec::with_capacity(records.len());
    for (i, rest) in rest.iter().enumerate() {
        let lines: &[u64] = if let Rest::Embed(lines) = rest { lines } else { &[0] };
        for (record, &line) in records[starts[i]..starts[i + 1]].iter().zip(lines) {
            let one = vectors(std::slice::from_ref(record), line);
            all.push(one.map_err(|error| error.to_string()));
        }
    }
    all
}

fn near(state: &Arc<State>, name: &str, top: usize) -> Done {
    let Some(catalog) = &state.catalog else { return Done::Missing(NO_INDEX.to_owned()) };
    let Some(position) = catalog.position(name) else {
        let name = hg2v::error::shown(name);
        return Done::Missing(format!("there is no graph {name} in the index; send it instead"));
    };
    match catalog.index.nearest_to(position, top) {
        Ok(near) => Done::Neighbors(Arc::clone(state), near),
        Err(error) => Done::Refused(error.to_string()),
    }
}

const NO_INDEX: &str = "there is no index; start the server with --index or --data";

/// Fills in the neighbours of all `queries`, which belong to the searches in order.
fn search(state: &Arc<State>, rest: &[Rest], queries: &[f32], done: &mut [Done]) {
    let top = |rest: &Rest| if let Rest::Search(top) = rest { Some(*top) } else { None };
    let waiting: Vec<(usize, usize)> = (rest.iter().enumerate())
        .filter(|(i, _)| !matches!(done[*i], Done::Refused(_)))
        .filter_map(|(i, rest)| Some((i, top(rest)?)))
        .collect();
    let most = waiting.iter().map(|(_, top)| *top).max().unwrap_or(0);
    if waiting.is_empty() {
        return;
    }
    let Some(catalog) = &state.catalog else {
        waiting.iter().for_each(|(i, _)| done[*i] = Done::Missing(NO_INDEX.to_owned()));
        return;
    };
    match catalog.index.nearest(queries, most) {
        Ok(found) => {
            for ((i, top), mut near) in waiting.into_iter().zip(found) {
                near.truncate(top);
                done[i] = Done::Neighbors(Arc::clone(state), near);
            }
        }
        Err(error) => {
            waiting.iter().for_each(|(i, _)| done[*i] = Done::Refused(error.to_string()));
        }
    }
}

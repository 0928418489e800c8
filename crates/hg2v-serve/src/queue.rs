//! What is asked at the same time is answered by one call.
//!
//! As many threads as there are cores each take their share of what waits, embed all of
//! its graphs together, and search for all of its questions together. Small graphs are
//! worked off by the thread that took them: sharing one out costs more than it saves. A
//! large batch is shared among all. A graph's vector does not depend on its company, and a
//! graph that cannot be embedded spoils nothing for the others.
//!
//! Large graphs have a lane of their own, with threads of their own: beside them the system
//! gives small ones their share, and nobody waits behind a graph of many seconds who has
//! one of a millisecond.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{self, JoinHandle};

use hg2v::graph::GraphRecord;
use hg2v_search::catalog::Catalog;
use rayon::ThreadPoolBuilder;
use tokio::sync::{OwnedSemaphorePermit, Semaphore, mpsc, oneshot};
use tokio::time::{Instant as Deadline, timeout_at};

use crate::answer::Refusal;
use crate::body::LONG;
use crate::embedding::Embedding;
use crate::metrics::Metrics;
use crate::state::{Current, State, say};
use crate::work::{Done, Work, answers};

/// Nodes and edges of a batch, and its graphs, beyond which nothing is added to it.
const BATCH_SIZE: usize = 1 << 17;
const BATCH_GRAPHS: usize = 512;

/// Nodes and edges from which a graph is large; with the rows of the index, from which a batch
/// is work for all threads.
const LARGE: usize = 1 << 13;

/// Which lane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Size {
    /// Most of them.
    Small,
    /// As much work as a thousand of those.
    Large,
}

impl Size {
    /// That of some graphs; `bytes` stood for them.
    pub(crate) fn of(records: &[GraphRecord], bytes: usize) -> Size {
        let work: usize = records.iter().map(work_of).sum();
        if bytes >= LONG || work >= LARGE { Size::Large } else { Size::Small }
    }
}

fn work_of(record: &GraphRecord) -> usize {
    record.num_nodes as usize + record.edges.len()
}

/// What is kept until a job is done or given up: a place among those who wait, room for a
/// body.
pub(crate) struct Ticket {
    _kept: Box<dyn Any + Send>,
}

impl Ticket {
    pub(crate) fn new(kept: impl Any + Send) -> Ticket {
        Ticket { _kept: Box::new(kept) }
    }
}

/// Something to do, and who waits for it.
struct Job {
    work: Work,
    ticket: Ticket,
    reply: oneshot::Sender<Done>,
}

/// Where jobs wait.
pub(crate) struct Queue {
    small: Lane,
    large: Lane,
    length: usize,
}

struct Lane {
    jobs: mpsc::Sender<Job>,
    /// A place for each request that waits or is worked on.
    places: Arc<Semaphore>,
}

impl Queue {
    /// Starts the threads that work off jobs, until the queue is gone; `length` may wait in
    /// each lane.
    ///
    /// # Errors
    /// A system without threads.
    pub(crate) fn start(
        current: &Arc<Current>,
        metrics: &Arc<Metrics>,
        length: usize,
    ) -> std::io::Result<(Queue, Vec<JoinHandle<()>>)> {
        let mut workers = Vec::new();
        let mut lane = || {
            let (jobs, waiting) = mpsc::channel(length);
            workers.extend(start(current, metrics, waiting)?);
            Ok::<_, std::io::Error>(Lane { jobs, places: Arc::new(Semaphore::new(length)) })
        };
        let (small, large) = (lane()?, lane()?);
        Ok((Queue { small, large, length }, workers))
    }

    fn lane(&self, size: Size) -> &Lane {
        match size {
            Size::Small => &self.small,
            Size::Large => &self.large,
        }
    }

    /// How many requests wait or are worked on.
    pub(crate) fn waiting(&self) -> usize {
        let free = self.small.places.available_permits() + self.large.places.available_permits();
        2 * self.length - free
    }

    /// A place among those who wait.
    pub(crate) fn place(&self, size: Size) -> Result<OwnedSemaphorePermit, Refusal> {
        let places = Arc::clone(&self.lane(size).places);
        places.try_acquire_owned().map_err(|_| Refusal::busy())
    }

    /// Hands work over, as soon as its lane takes it; what comes of it comes later.
    pub(crate) async fn send(
        &self,
        size: Size,
        work: Work,
        ticket: Ticket,
    ) -> Result<oneshot::Receiver<Done>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let sent = self.lane(size).jobs.send(Job { work, ticket, reply }).await;
        sent.map(|()| answer).map_err(|_| Refusal::broken())
    }

    /// Hands work over and waits for what comes of it.
    pub(crate) async fn ask(
        &self,
        size: Size,
        work: Work,
        ticket: Ticket,
        deadline: Deadline,
    ) -> Result<Done, Refusal> {
        let done =
            async { self.send(size, work, ticket).await?.await.map_err(|_| Refusal::broken()) };
        timeout_at(deadline, done).await.map_err(|_| Refusal::late())?
    }
}

/// Starts the threads of a lane.
fn start(
    current: &Arc<Current>,
    metrics: &Arc<Metrics>,
    queue: mpsc::Receiver<Job>,
) -> std::io::Result<Vec<JoinHandle<()>>> {
    let threads = rayon::current_num_threads();
    let all = ThreadPoolBuilder::new().num_threads(threads).build();
    let all = Arc::new(all.map_err(std::io::Error::other)?);
    let queue = Arc::new(Mutex::new(queue));
    let worker = |_| {
        let (current, metrics) = (Arc::clone(current), Arc::clone(metrics));
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
        let rows = || state.catalog.as_ref().map_or(0, Catalog::len);
        let (graphs, size) = match &job.work {
            Work::Embed(records, _) => (records.len(), records.iter().map(work_of).sum()),
            Work::Search(record, _) => (1, work_of(record) + rows()),
            Work::Near(..) => (1, rows()),
        };
        self.graphs += graphs;
        self.size += size;
        self.jobs.push(job);
    }

    fn work_off(self, embedding: &Embedding, state: &Arc<State>, metrics: &Metrics) {
        let count = self.jobs.len();
        let (mut works, mut replies) = (Vec::with_capacity(count), Vec::with_capacity(count));
        for Job { work, ticket, reply } in self.jobs {
            works.push(work);
            replies.push((ticket, reply));
        }
        let done = catch_unwind(AssertUnwindSafe(|| answers(embedding, state, metrics, works)));
        let done = done.unwrap_or_else(|_| {
            say("error: a batch of requests broke down; its requests are answered with 500");
            (0..count).map(|_| Done::Broken).collect()
        });
        for ((ticket, reply), done) in replies.into_iter().zip(done) {
            // Who is answered waits no longer.
            drop(ticket);
            // Nobody there: nobody cares.
            let _ = reply.send(done);
        }
    }
}

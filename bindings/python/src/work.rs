//! Long work: without the interpreter's lock, on threads of our own, heard when somebody
//! presses Ctrl-C, and never a panic that reaches the interpreter.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hg2v::Error;
use hg2v::context::{Context, Machine, Precision, check_threads};
use hg2v::progress::{Flow, Progress, Report, Stage};
use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::errors::{broken, raised};

/// How long Ctrl-C may wait to be noticed.
const TICK: Duration = Duration::from_millis(50);

/// What work and whoever waits for it tell each other.
#[derive(Default)]
pub(crate) struct Watch {
    stop: AtomicBool,
    /// The stage, how much of it is done, and how much there is.
    at: Mutex<Option<(Stage, u64, u64)>>,
    /// Epochs that ended and were not told yet, with their losses.
    ended: Mutex<Vec<(u64, Vec<f64>)>>,
}

/// Who in Python hears how far work is.
#[derive(Default)]
pub(crate) struct Ears {
    /// Is called with the stage, how much of it is done, and how much there is, now and then.
    progress: Option<Py<PyAny>>,
    /// Is called with every epoch of a training and its losses.
    on_epoch: Option<Py<PyAny>>,
}

impl Ears {
    /// The same, with somebody who hears of epochs.
    pub(crate) fn on_epoch(self, on_epoch: Option<Py<PyAny>>) -> Ears {
        Ears { on_epoch, ..self }
    }
}

impl From<Option<Py<PyAny>>> for Ears {
    fn from(progress: Option<Py<PyAny>>) -> Ears {
        Ears { progress, on_epoch: None }
    }
}

impl Watch {
    /// What the library works in: watched by this.
    pub(crate) fn context(&self) -> Context<'_> {
        Context::default().watched_by(self)
    }

    /// # Errors
    /// When the work is to stop.
    pub(crate) fn go_on(&self) -> hg2v::Result<()> {
        if self.stop.load(Ordering::Relaxed) { Err(Error::Stopped) } else { Ok(()) }
    }
}

/// Somebody who hears nothing of how far work is, and can stop it: of pieces of work that is reported
/// as a whole.
pub(crate) struct Deaf<'a>(pub(crate) &'a Watch);

impl Progress for Deaf<'_> {
    fn report(&self, _: &Report<'_>) -> Flow {
        if self.0.go_on().is_ok() { Flow::Continue } else { Flow::Stop }
    }
}

impl Progress for Watch {
    fn report(&self, report: &Report<'_>) -> Flow {
        let mut at = self.at.lock().unwrap_or_else(PoisonError::into_inner);
        // Threads count together, and what they say may come out of order.
        let before = at.filter(|(stage, ..)| *stage == report.stage).map_or(0, |(_, done, _)| done);
        *at = Some((report.stage, report.done.max(before), report.total));
        if let Some(epoch) = report.epoch.filter(|epoch| epoch.ends) {
            let mut ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
            ended.push((epoch.number, epoch.losses.to_vec()));
        }
        if self.go_on().is_ok() { Flow::Continue } else { Flow::Stop }
    }
}

/// Does `work` on `threads` threads (0: one a core), and tells `ears` of it.
pub(crate) fn run<T: Send, E: Into<hg2v_eval::Error> + Send>(
    py: Python<'_>,
    threads: usize,
    ears: impl Into<Ears>,
    work: impl FnOnce(&Watch) -> Result<T, E> + Send,
) -> PyResult<T> {
    let pool = pool(py, threads)?;
    wait(py, ears, |watch| pool.install(|| work(watch)))
}

/// As [`run`], where the work itself has to see on which threads it is done.
pub(crate) fn wait<T: Send, E: Into<hg2v_eval::Error> + Send>(
    py: Python<'_>,
    ears: impl Into<Ears>,
    work: impl FnOnce(&Watch) -> Result<T, E> + Send,
) -> PyResult<T> {
    let (watch, ears) = (Watch::default(), ears.into());
    let outcome = py.detach(|| {
        std::thread::scope(|scope| {
            let (finished, waiting) = sync_channel::<()>(0);
            let worker = std::thread::Builder::new().spawn_scoped(scope, || {
                // Dropped at the end, whatever it is: that ends the waiting.
                let _finished = finished;
                panic::catch_unwind(AssertUnwindSafe(|| work(&watch)))
            });
            let worker = worker.map_err(no_threads)?;
            let mut interrupted = None;
            while waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(error) = Python::attach(|py| look(py, &watch, &ears))
                {
                    watch.stop.store(true, Ordering::Relaxed);
                    interrupted = Some(error);
                }
            }
            let outcome = worker.join().and_then(|caught| caught);
            interrupted.map_or(Ok(outcome), Err)
        })
    });
    match outcome? {
        // The last epochs end with the work.
        Ok(Ok(made)) => tell_epochs(py, &watch, &ears).map(|()| made),
        Ok(Err(error)) => Err(raised(py, error.into())),
        Err(panic) => Err(broken(py, &*panic)),
    }
}

/// Whether somebody pressed Ctrl-C, and a word on how far things are.
fn look(py: Python<'_>, watch: &Watch, ears: &Ears) -> PyResult<()> {
    py.check_signals()?;
    tell_epochs(py, watch, ears)?;
    let at = *watch.at.lock().unwrap_or_else(PoisonError::into_inner);
    if let (Some(progress), Some((stage, done, total))) = (&ears.progress, at)
        && total > 0
    {
        progress.call1(py, (stage.to_string(), done, total))?;
    }
    Ok(())
}

/// Tells of each epoch that ended since the last time.
fn tell_epochs(py: Python<'_>, watch: &Watch, ears: &Ears) -> PyResult<()> {
    let ended = std::mem::take(&mut *watch.ended.lock().unwrap_or_else(PoisonError::into_inner));
    let Some(on_epoch) = &ears.on_epoch else { return Ok(()) };
    ended.into_iter().try_for_each(|epoch| on_epoch.call1(py, epoch).map(drop))
}

fn no_threads(refused: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("no threads to be had: {refused}"))
}

/// The machine of a name, ready to work.
pub(crate) fn machine(name: &str) -> hg2v::Result<Machine> {
    Machine::open(name.parse()?, Precision::default())
}

/// A pool of threads of the process that made it.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// `threads` threads to work on (0: one a core). A process that was forked off has its parent's
/// memory and none of its threads, and makes its own.
pub(crate) fn pool(py: Python<'_>, threads: usize) -> PyResult<Arc<ThreadPool>> {
    static POOLS: Mutex<Vec<Pool>> = Mutex::new(Vec::new());
    check_threads(threads).map_err(|error| raised(py, error.into()))?;
    let make = || {
        let made = ThreadPoolBuilder::new().num_threads(threads).build();
        made.map(Arc::new).map_err(no_threads)
    };
    // Locked while the parent forked, it would stay locked.
    let Ok(mut pools) = POOLS.try_lock() else {
        return make();
    };
    let process = std::process::id();
    let same = |pool: &&Pool| pool.process == process && pool.threads == threads;
    if let Some(known) = pools.iter().find(same) {
        return Ok(Arc::clone(&known.pool));
    }
    let pool = make()?;
    pools.push(Pool { process, threads, pool: Arc::clone(&pool) });
    Ok(pool)
}

//! Long work: without the interpreter's lock, on threads of our own, heard when somebody
//! presses Ctrl-C, and never a panic that reaches the interpreter.

use std::panic::{self, AssertUnwindSafe};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use hg2v::Error;
use hg2v::parallel::check_threads;
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
    stage: Mutex<&'static str>,
    done: AtomicU64,
    total: AtomicU64,
}

/// The payload of a panic that only ends work which cannot be ended otherwise.
struct Ended;

impl Watch {
    /// Says what is done from here on, as a participle: "training".
    pub(crate) fn begin(&self, stage: &'static str) {
        *self.stage.lock().unwrap_or_else(PoisonError::into_inner) = stage;
        self.total.store(0, Ordering::Relaxed);
    }

    /// Says how much of it is done.
    ///
    /// # Errors
    /// When the work is to stop.
    pub(crate) fn at(&self, done: u64, total: u64) -> hg2v::Result<()> {
        self.done.store(done, Ordering::Relaxed);
        self.total.store(total, Ordering::Relaxed);
        if self.stopping() { Err(Error::Stopped) } else { Ok(()) }
    }

    /// Whether the work is to stop.
    pub(crate) fn stopping(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// As [`at`](Watch::at), for work that hears of no errors.
    pub(crate) fn share(&self, share: f64) {
        if self.at((share * 1000.0) as u64, 1000).is_err() {
            panic::resume_unwind(Box::new(Ended));
        }
    }
}

/// Does `work` on `threads` threads (0: one a core); `progress(stage, done, total)` is called
/// now and then.
pub(crate) fn run<T: Send, E: Into<hg2v_eval::Error> + Send>(
    py: Python<'_>,
    threads: usize,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce(&Watch) -> Result<T, E> + Send,
) -> PyResult<T> {
    check_threads(threads).map_err(|error| raised(py, error.into()))?;
    let pool = pool(threads)?;
    let watch = Watch::default();
    let (outcome, interrupted) = py.detach(|| {
        std::thread::scope(|scope| {
            let (finished, waiting) = sync_channel::<()>(0);
            let worker = std::thread::Builder::new().spawn_scoped(scope, || {
                // Dropped at the end, whatever it is: that ends the waiting.
                let _finished = finished;
                panic::catch_unwind(AssertUnwindSafe(|| pool.install(|| work(&watch))))
            });
            let worker = match worker {
                Ok(worker) => worker,
                Err(refused) => return (Err(Box::new(Ended) as _), Some(no_threads(refused))),
            };
            let mut interrupted = None;
            while waiting.recv_timeout(TICK) == Err(RecvTimeoutError::Timeout) {
                if interrupted.is_none()
                    && let Err(error) = Python::attach(|py| look(py, &watch, progress.as_ref()))
                {
                    watch.stop.store(true, Ordering::Relaxed);
                    interrupted = Some(error);
                }
            }
            (worker.join().and_then(|caught| caught), interrupted)
        })
    });
    match (outcome, interrupted) {
        (_, Some(error)) => Err(error),
        (Ok(Ok(made)), None) => Ok(made),
        (Ok(Err(error)), None) => Err(raised(py, error.into())),
        (Err(panic), None) => Err(broken(py, &*panic)),
    }
}

/// Whether somebody pressed Ctrl-C, and a word on how far things are.
fn look(py: Python<'_>, watch: &Watch, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    let total = watch.total.load(Ordering::Relaxed);
    if let Some(progress) = progress.filter(|_| total > 0) {
        let stage = *watch.stage.lock().unwrap_or_else(PoisonError::into_inner);
        progress.call1(py, (stage, watch.done.load(Ordering::Relaxed), total))?;
    }
    Ok(())
}

fn no_threads(refused: impl std::fmt::Display) -> PyErr {
    PyRuntimeError::new_err(format!("no threads to be had: {refused}"))
}

/// A pool of threads of the process that made it.
struct Pool {
    process: u32,
    threads: usize,
    pool: Arc<ThreadPool>,
}

/// Threads to work on. A process that was forked off has its parent's memory and none of
/// its threads, and makes its own.
fn pool(threads: usize) -> PyResult<Arc<ThreadPool>> {
    static POOLS: Mutex<Vec<Pool>> = Mutex::new(Vec::new());
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

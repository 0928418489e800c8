//! How far long work is, told to whoever waits for it, who may end it.
//!
//! Everything that takes long reports to one [`Progress`], from any thread, and ends with
//! [`Error::Stopped`] when the answer is [`Flow::Stop`].

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Error, Result};

/// What kind of work it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum Stage {
    /// Graphs become pyramids.
    Coarsening,
    /// A method learns.
    Training,
    /// Graphs become vectors.
    Embedding,
    /// Graphs are compared two by two.
    Comparing,
    /// Vectors are judged, split after split.
    Judging,
    /// What is in a collection is counted.
    Summarizing,
    /// Graphs are made.
    Generating,
    /// Vectors are linked to those near them, to be searched.
    Linking,
    /// Vectors become points of a plane by t-SNE, step by step.
    Tsne,
    /// Vectors become points of a plane by UMAP, epoch by epoch.
    Umap,
}

impl fmt::Display for Stage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Stage::Coarsening => "coarsening",
            Stage::Training => "training",
            Stage::Embedding => "embedding",
            Stage::Comparing => "comparing",
            Stage::Judging => "judging",
            Stage::Summarizing => "summarizing",
            Stage::Generating => "generating",
            Stage::Linking => "linking",
            Stage::Tsne => "t-SNE",
            Stage::Umap => "UMAP",
        })
    }
}

/// How far the work is.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Report<'a> {
    /// What is being done.
    pub stage: Stage,
    /// How much of it is done.
    pub done: u64,
    /// How much there is in all.
    pub total: u64,
    /// Where training stands, for methods that learn in epochs.
    pub epoch: Option<Epoch<'a>>,
}

/// Where training stands within its epochs.
#[derive(Debug, Clone, Copy)]
#[non_exhaustive]
pub struct Epoch<'a> {
    /// The epoch, from 1.
    pub number: u64,
    /// Whether this report ends it.
    pub ends: bool,
    /// The losses, averaged over the epoch so far; level by level where there are levels.
    pub losses: &'a [f64],
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    Continue,
    /// No: end as soon as possible. A training that is kept in a folder can be resumed.
    Stop,
}

/// Whoever waits for long work. Closures of a [`Report`] do.
pub trait Progress: Sync {
    /// Hears how far the work is, from any thread, and says whether it goes on.
    fn report(&self, report: &Report<'_>) -> Flow;
}

impl<F: Fn(&Report<'_>) -> Flow + Sync> Progress for F {
    fn report(&self, report: &Report<'_>) -> Flow {
        self(report)
    }
}

/// Nobody waits: the work goes on to its end.
#[derive(Debug, Clone, Copy, Default)]
pub struct Silent;

impl Progress for Silent {
    fn report(&self, _: &Report<'_>) -> Flow {
        Flow::Continue
    }
}

impl<'a> Report<'a> {
    /// A report of a stage that has no epochs.
    pub fn of(stage: Stage, done: u64, total: u64) -> Report<'a> {
        Report { stage, done, total, epoch: None }
    }

    /// The same within an epoch.
    #[must_use]
    pub fn within(self, number: u64, ends: bool, losses: &'a [f64]) -> Report<'a> {
        Report { epoch: Some(Epoch { number, ends, losses }), ..self }
    }
}

/// Counts what many threads do together, and reports each.
pub struct Counter<'a> {
    progress: &'a dyn Progress,
    stage: Stage,
    done: AtomicU64,
    total: u64,
}

impl<'a> Counter<'a> {
    /// Nothing is done yet of `total`.
    pub fn new(progress: &'a dyn Progress, stage: Stage, total: u64) -> Counter<'a> {
        Counter { progress, stage, done: AtomicU64::new(0), total }
    }

    /// `more` are done.
    ///
    /// # Errors
    /// [`Error::Stopped`] when the work is to end.
    pub fn add(&self, more: u64) -> Result<()> {
        let done = self.done.fetch_add(more, Ordering::Relaxed) + more;
        match self.progress.report(&Report::of(self.stage, done, self.total)) {
            Flow::Continue => Ok(()),
            Flow::Stop => Err(Error::Stopped),
        }
    }
}

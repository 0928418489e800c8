//! A model with what was said while it was learnt.

use std::path::Path;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::context::Context;
use crate::error::Result;
use crate::method::{Method, Model};
use crate::output::OutputFolder;
use crate::prepare::Collection;
use crate::progress::Report;
use crate::saved::{self, LogLine};

/// A model with what was said while it was learnt.
///
/// ```
/// use hg2v::context::Context;
/// use hg2v::prepare::{Collection, Run};
/// use hg2v::{Fitted, Hg2v, Method};
/// # use hg2v::graph::GraphRecord;
/// # let ring = |n: u32| GraphRecord { num_nodes: n, edges: (0..n).map(|v| [v, (v + 1) % n]).collect(), ..GraphRecord::default() };
/// # let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
/// let (method, context) = (Hg2v::params().dim(4).levels(2).epochs(3), Context::default());
/// let collection = Collection::new(Run::in_memory(&graphs), &method.needs(), &context)?;
/// let fitted = Fitted::new(&method, &collection, &context)?;
/// assert_eq!(fitted.log.len(), 3);
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug)]
pub struct Fitted {
    /// The model.
    pub model: Box<dyn Model>,
    /// A line for each epoch that said its loss.
    pub log: Vec<LogLine>,
    /// How long it took.
    pub took: Duration,
}

impl Fitted {
    /// Fits `method` to all graphs of a collection in one go; [`TrainingFolder`](crate::TrainingFolder)
    /// is for methods that can go on after a stop.
    ///
    /// # Errors
    /// As [`Method::fit_collection`].
    pub fn new(
        method: &dyn Method,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Fitted> {
        let (started, log) = (Instant::now(), Mutex::new(Vec::new()));
        let watch = |report: &Report<'_>| {
            if let Some(epoch) = report.epoch.filter(|epoch| epoch.ends && !epoch.losses.is_empty())
            {
                let mut log = log.lock().unwrap_or_else(PoisonError::into_inner);
                log.push(LogLine::of_epoch(&epoch, report.done, started.elapsed()));
            }
            context.flow(report)
        };
        let within = context.clone().watched_by(&watch);
        let model = method.fit_collection(collection, &collection.all(), &within)?;
        let log = log.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(Fitted { model, log, took: started.elapsed() })
    }

    /// Writes the model as a new folder, with its log.
    ///
    /// # Errors
    /// As [`Model::save`].
    pub fn save(&self, path: &Path) -> Result<()> {
        let folder = OutputFolder::create(path)?;
        self.save_into(folder.working_path()).map_err(|error| folder.named(error))?;
        folder.commit()
    }

    /// Writes both into a folder that is there.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn save_into(&self, path: &Path) -> Result<()> {
        self.model.save_into(path)?;
        saved::write_log(path, &self.log)
    }
}

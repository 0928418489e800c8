//! A training that is kept in a folder, and goes on there after a stop.

use std::fs::{self, OpenOptions};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::fit::{Failure, Fit};
use super::model::{Hg2v, Hg2vConfig};
use super::params::Hg2vParams;
use serde_json::Value;

use crate::context::Context;
use crate::error::{Action, Advice, Error, Fix, Place, Problem, Result};
use crate::method::Model;
use crate::output::{OutputFile, OutputFolder, is_occupied};
use crate::prepare::Run;
use crate::progress::Flow;
use crate::saved::{self, Config, LogLine};
use crate::train::{End, State, Step};

/// How much work a kill may cost, unless it is said otherwise.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// What a training in a folder gave.
#[derive(Debug)]
pub struct Trained {
    /// The model, which the folder holds.
    pub model: Hg2v,
    /// The step that ended the last epoch; none where all were made before.
    pub last: Option<Step>,
    /// How long it took; of the last part where it was stopped and went on.
    pub took: Duration,
}

/// A folder in which a training is to be kept.
pub struct TrainingFolder {
    path: PathBuf,
    /// A new one appears with the first thing in it.
    new: Option<OutputFolder>,
    stored: Option<Config<Hg2vConfig>>,
    files: Vec<(String, Vec<u8>)>,
}

impl TrainingFolder {
    /// A new or empty folder; one that cannot be written is refused before anything is
    /// computed.
    ///
    /// # Errors
    /// A folder that is not empty; a place that cannot be written.
    pub fn new(path: &Path) -> Result<TrainingFolder> {
        if occupied(path)? {
            return Err(match is_unfinished(path) {
                true => Problem::Unfinished.at(path, Place::Whole),
                false => Error::exists(path, "the folder is not empty", true),
            });
        }
        // An empty one may be a disk of its own, or where we stand: it stays.
        let new = match path.is_dir() {
            true => OutputFile::create(&path.join(saved::CONFIG)).map(|_| None)?,
            false => Some(OutputFolder::create_with_parents(path)?),
        };
        Ok(TrainingFolder { path: path.to_path_buf(), new, stored: None, files: Vec::new() })
    }

    /// The folder of a training that was stopped, to go on with; a new one where there is none.
    ///
    /// # Errors
    /// As [`new`](TrainingFolder::new); a training that is finished; files that are damaged.
    pub fn resume(path: &Path) -> Result<TrainingFolder> {
        if !occupied(path)? {
            return TrainingFolder::new(path);
        }
        if saved::read_config::<Value>(path)?.parameters_sha256.is_some() {
            let fix = Fix::from("use it").or(Advice::Do("name another folder".into()));
            let what = "the training of this model is finished".to_owned();
            let fix = fix.or(Advice::Replace);
            return Err(Problem::Malformed { what, fix }.at(path, Place::Whole));
        }
        let config: Config<Hg2vConfig> = saved::read_config(path)?;
        config.model.check()?;
        let (path, stored) = (path.to_path_buf(), Some(config));
        Ok(TrainingFolder { path, new: None, stored, files: Vec::new() })
    }

    /// The same with `files` beside the model, by name: they are there before the training is.
    #[must_use]
    pub fn with_files(self, files: Vec<(String, Vec<u8>)>) -> TrainingFolder {
        TrainingFolder { files, ..self }
    }

    /// The [method](crate::Method::name) whose training was stopped.
    pub fn method(&self) -> Option<&str> {
        self.stored.as_ref().map(|config| &*config.method)
    }

    /// What the training that was stopped was started with.
    pub fn params(&self) -> Option<Hg2vParams> {
        self.stored.as_ref().map(|config| config.model.params())
    }

    /// The step after which a training that was stopped goes on; `None` where none is kept.
    ///
    /// # Errors
    /// A checkpoint that is damaged, or that belongs to another network.
    pub fn resumes_after(&self, fit: &Fit) -> Result<Option<u64>> {
        let state = saved::read_checkpoint(&self.path, &fit.network.layout)?;
        Ok(state.map(|state| state.step))
    }

    /// Trains in the folder, which then holds the model: from its checkpoint, where it has one.
    /// Checkpoints are kept `every` so often, at the ends of epochs ten times as often, and a
    /// line of the log for every epoch.
    ///
    /// # Errors
    /// Another training than the one that was begun there; as [`Fit::train`]. After
    /// [`Stopped`](Error::Stopped), or a disk or a GPU that fails, it can be resumed.
    pub fn train(self, fit: &Fit, every: Duration, context: &Context<'_>) -> Result<Trained> {
        let TrainingFolder { path, new, stored, files } = self;
        match stored {
            Some(stored) => check_same(&path, &stored, &fit.config)?,
            None => begin(&path, new, &fit.config)?,
        }
        for (name, bytes) in files {
            saved::write(&path.join(name), &bytes)?;
        }
        let state = saved::read_checkpoint(&path, &fit.network.layout)?;
        let mut log = Log::open(&path, state.as_ref().map_or(0, |state| state.step))?;
        let started = Instant::now();
        let (mut kept, mut kept_step) = (Instant::now(), 0);
        let mut last = None;
        let watch = |state: &dyn Fn() -> State, step: &Step, stopping: bool| {
            if step.ends_epoch {
                log.add(step, started.elapsed())?;
                last = Some(step.clone());
            }
            if stopping || kept.elapsed() >= if step.ends_epoch { every / 10 } else { every } {
                saved::write_checkpoint(&path, &state())?;
                (kept, kept_step) = (Instant::now(), step.step + 1);
            }
            Ok(Flow::Continue)
        };
        match fit.steps(state.as_ref(), context, watch) {
            Ok((_, End::Stopped)) => Err(Error::Stopped),
            Ok((model, End::Done)) => {
                model.save_into(&path)?;
                saved::remove_checkpoint(&path)?;
                Ok(Trained { model, last, took: started.elapsed() })
            }
            // The last checkpoint and the log up to it are what the run goes on from.
            Err(Failure { error: error @ Error::Io { .. }, .. }) => Err(error),
            Err(Failure { error, good }) => {
                // A GPU that fails spoils nothing that was kept before.
                let later = matches!(error, Error::Device { .. }).then_some(kept_step);
                if let Some(good) = good.filter(|good| later.is_none_or(|step| step <= good.step)) {
                    saved::write_checkpoint(&path, &good)?;
                }
                Err(error)
            }
        }
    }
}

impl Hg2vParams {
    /// Trains a model in `folder`, where it is kept: stopped by whoever watches, or killed, it
    /// goes on when it is called again, and ends in the same bits.
    ///
    /// # Errors
    /// As [`fit`](Hg2vParams::fit); a folder that holds something else, or that cannot be
    /// written.
    pub fn fit_in(&self, folder: &Path, run: Run<'_>, context: &Context<'_>) -> Result<Hg2v> {
        self.check()?;
        let folder = TrainingFolder::resume(folder)?;
        let collection = self.collect(run, context)?;
        let fit = self.prepare(&collection, &collection.all())?;
        drop(collection);
        Ok(folder.train(&fit, CHECKPOINT_EVERY, context)?.model)
    }
}

fn occupied(folder: &Path) -> Result<bool> {
    is_occupied(folder).map_err(|e| Error::io(folder, Action::Read, e))
}

/// Whether a training stands there that is not finished.
pub fn is_unfinished(folder: &Path) -> bool {
    saved::read_config::<Hg2vConfig>(folder).is_ok_and(|config| config.parameters_sha256.is_none())
}

fn check_same(path: &Path, stored: &Config<Hg2vConfig>, config: &Config<Hg2vConfig>) -> Result<()> {
    let problem = if stored.method != config.method {
        "the run in this folder was started with another method"
    } else if stored.model.params() != config.model.params() {
        "the run in this folder was started with other options"
    } else if stored.data != config.data {
        "the run in this folder was started with other graphs"
    } else {
        return Ok(());
    };
    let fix = "give the same again, or name another folder";
    Err(Error::input(path.join(saved::CONFIG), Place::Whole, problem, fix))
}

/// Begins a run in a folder: a new one appears with its configuration in it.
fn begin(path: &Path, new: Option<OutputFolder>, config: &Config<Hg2vConfig>) -> Result<()> {
    let Some(new) = new else { return saved::write_config(path, config) };
    saved::write_config(new.working_path(), config).map_err(|error| new.named(error))?;
    new.commit()
}

/// `log.jsonl`, a line an epoch.
struct Log {
    path: PathBuf,
    file: fs::File,
}

impl Log {
    /// Keeps the lines up to `step`, which a resumed run will not write again.
    fn open(folder: &Path, step: u64) -> Result<Log> {
        let path = folder.join(saved::LOG);
        let failed = |e| Error::io(&path, Action::Write, e);
        let mut kept = saved::read_log(folder)?;
        kept.retain(|line| line.step <= step);
        saved::write_log(folder, &kept)?;
        let file = OpenOptions::new().append(true).open(&path).map_err(failed)?;
        Ok(Log { path, file })
    }

    fn add(&mut self, step: &Step, elapsed: Duration) -> Result<()> {
        let failed = |e| Error::io(&self.path, Action::Write, e);
        let line = LogLine::of(step, elapsed).text().map_err(failed)?;
        self.file.write_all(line.as_bytes()).map_err(failed)
    }
}

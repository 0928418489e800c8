//! What experiments run in, and who hears how they go.

use std::borrow::Cow;
use std::path::Path;

use hg2v::context::Context;
use hg2v::dataset::Limits;
use hg2v::graph::GraphRecord;
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::progress::Stage;
use hg2v_eval::method::Candidate;
use hg2v_eval::select;
use hg2v_eval::study::{Mode, Study, StudyResult};
use serde_json::Value;

use crate::error::{Error, Result};
use crate::store::{ResultFile, Store};

/// What experiments run in.
#[derive(Clone, Copy)]
pub struct Environment<'a> {
    /// The device, the cache, and who is told how far the work is.
    pub context: &'a Context<'a>,
    /// What results must say of the device, where it is not the processor.
    pub device: Option<&'a str>,
    /// Where datasets are kept, if somebody says so.
    pub data_dir: Option<&'a Path>,
    /// How much of a file is believed.
    pub limits: &'a Limits,
    /// The seed of every random decision.
    pub seed: u64,
    /// Reads all graphs of a file.
    pub read: &'a (dyn Fn(&Path) -> hg2v::Result<Vec<GraphRecord>> + Sync),
    /// Hears what happens.
    pub tell: &'a (dyn Fn(&Event<'_>) + Sync),
}

/// Something that happened in an experiment, to a row or cell of a table.
#[derive(Debug)]
#[non_exhaustive]
pub enum Event<'a> {
    /// It was left out, for nobody asked for it by name.
    LeftOut {
        /// The row.
        what: &'a str,
        /// Why.
        why: &'a Error,
    },
    /// Its results are kept already.
    Kept {
        /// The row.
        what: &'a str,
        /// How many splits.
        splits: usize,
        /// Where.
        path: &'a Path,
    },
    /// A run that was stopped, or wants more splits, goes on.
    GoesOn {
        /// The row.
        what: &'a str,
        /// How many results are kept already.
        results: usize,
    },
    /// A model is trained on a dataset.
    Training {
        /// The dataset.
        dataset: &'a str,
        /// How many graphs.
        graphs: usize,
    },
    /// A cell of a comparison is filled.
    Filling {
        /// The cell.
        what: &'a str,
    },
    /// Its splits are judged, one after the other.
    Judging {
        /// The row or cell.
        what: &'a str,
    },
    /// All its splits are judged.
    Judged {
        /// The row or cell.
        what: &'a str,
        /// The accuracies on the test parts, or the errors of numbers, as tables print them.
        test: &'a str,
        /// How long it took.
        seconds: f64,
    },
    /// It failed; the others go on.
    Failed {
        /// The row or cell.
        what: &'a str,
    },
}

impl<'a> Environment<'a> {
    /// Where datasets are looked for.
    pub(crate) fn datasets(&self) -> &'a Path {
        self.data_dir.unwrap_or(Path::new("."))
    }

    /// Cleans graphs, and coarsens them where there is need of that.
    pub(crate) fn collect<'g>(&self, run: Run<'g>, needs: &Needs) -> Result<Collection<'g>> {
        Ok(Collection::new(run, needs, self.context)?)
    }

    /// How classifiers are judged: as the protocol has it, under this seed.
    pub(crate) fn protocol(&self) -> select::Protocol {
        select::Protocol::default().seed(self.seed)
    }

    /// A study of classes on the device of this environment.
    pub(crate) fn study<'g>(
        &self,
        collection: &'g Collection<'g>,
        mode: Mode,
        splits: usize,
    ) -> Result<Study<'g>> {
        let mut study = Study::new(collection, mode, splits, self.protocol())?;
        study.context = self.context.unwatched();
        Ok(study)
    }

    /// Judges a candidate on the splits that `store` does not know, and keeps each there.
    pub(crate) fn judge<K: ResultFile>(
        &self,
        what: &str,
        study: &Study<'_>,
        candidate: Candidate<'_>,
        store: &Store<K>,
        row: &K::Row,
    ) -> Result<StudyResult> {
        Ok(self.judge_each(what, study, candidate, store, row)?.swap_remove(0))
    }

    /// As [`judge`](Environment::judge), by every goal.
    pub(crate) fn judge_each<K: ResultFile>(
        &self,
        what: &str,
        study: &Study<'_>,
        candidate: Candidate<'_>,
        store: &Store<K>,
        row: &K::Row,
    ) -> Result<Vec<StudyResult>> {
        let known = store.known(row);
        (self.tell)(&Event::Judging { what });
        let (splits, goals) = (study.splits.len() as u64, study.goals.len() as u64);
        let counter = self.context.counter(Stage::Judging, splits * goals);
        counter.add((known.len() as u64).min(splits * goals))?;
        let results = study.judge_each(candidate, &known, |split| {
            store.add(row, split)?;
            Ok(counter.add(1)?)
        })?;
        for (goal, result) in study.goals.iter().zip(&results) {
            let what = match &goal.name {
                Some(name) => Cow::Owned(format!("{what}, {name}")),
                None => Cow::Borrowed(what),
            };
            let test = result.shown();
            (self.tell)(&Event::Judged { what: &what, test: &test, seconds: result.seconds });
        }
        Ok(results)
    }

    /// A model's settings as results keep them. Another device rounds differently: its splits are
    /// not those of the processor.
    pub(crate) fn with_device(&self, mut settings: Value) -> Value {
        if let Some(device) = self.device {
            settings["device"] = device.into();
        }
        settings
    }
}

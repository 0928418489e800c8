//! Methods on a dataset, judged as [comparisons](crate::compare) do, a file each: what the tables
//! of several methods and the laboratory are made of. They share a folder, so that no cell is
//! filled twice.

use std::fs;
use std::path::{Path, PathBuf};

use hg2v::error::Action;
use hg2v::graph::EdgeChoice;
use hg2v::prepare::Run;
use hg2v_baselines::registry;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::study::Mode;

use super::{FailedRun, Plan, Reproduction};
use crate::compare::{CellPlan, CellRecord};
use crate::datasets;
use crate::environment::{Environment, Event};
use crate::error::{Error, Result};
use crate::store;
use crate::table::TextTable;

/// Where results are, below the folder of all.
const FOLDER: &str = "lab";

/// A dataset, and the methods that are judged on it.
pub(super) struct Cells<'a> {
    pub(super) dataset: &'a str,
    /// Names of the registry.
    pub(super) methods: Vec<&'a str>,
    pub(super) splits: usize,
    /// What targets are taken for; methods that learn classes are left out where they are numbers.
    pub(super) task: Task,
    /// Judges beside the first.
    pub(super) also: &'a [Classifier],
}

/// What became of a method on a dataset.
pub(super) enum CellOutcome {
    Judged(Box<CellRecord>),
    Failed(Error),
    /// Nobody has run it.
    Unknown,
}

impl CellOutcome {
    pub(super) fn record(&self) -> Option<&CellRecord> {
        match self {
            CellOutcome::Judged(record) => Some(record),
            CellOutcome::Failed(_) | CellOutcome::Unknown => None,
        }
    }
}

/// What became of the methods on a dataset.
pub(super) struct CellsRow<'a> {
    pub(super) cells: Cells<'a>,
    /// One a method.
    pub(super) outcomes: Vec<CellOutcome>,
}

/// The folder of results below `out`.
pub(super) fn folder(out: &Path) -> PathBuf {
    out.join(FOLDER)
}

/// Those of `names`, the datasets of a table, that are asked for, or that are there. A quick run
/// leaves out those of more than `most_nodes` nodes.
///
/// # Errors
/// None at all; a name that the table does not have; a dataset that was asked for and is not there.
pub(super) fn found(
    names: &[String],
    most_nodes: f64,
    plan: &Plan,
    environment: &Environment<'_>,
) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in datasets::asked(names, &plan.datasets)? {
        if plan.quick && !datasets::has_at_most(most_nodes, &name) {
            continue;
        }
        match datasets::find(&name, environment.datasets()) {
            Ok(_) => found.push(name),
            Err(why) if plan.datasets.is_empty() => {
                (environment.tell)(&Event::LeftOut { what: &name, why: &why });
            }
            Err(missing) => return Err(missing),
        }
    }
    let there: Vec<&str> = found.iter().map(String::as_str).collect();
    match found.is_empty() || plan.datasets.is_empty() && !datasets::are_some(&there) {
        true => Err(Error::NoDatasets { folder: environment.datasets().to_path_buf() }),
        false => Ok(found),
    }
}

impl<'a> Cells<'a> {
    /// What is kept of them.
    ///
    /// # Errors
    /// A file that is damaged, or of another version.
    pub(super) fn kept(self, folder: &Path) -> Result<CellsRow<'a>> {
        let kept = |method: &&str| {
            let path = folder.join(format!("{}.{method}.json", self.dataset));
            Ok(match path.exists() {
                true => CellOutcome::Judged(Box::new(store::read(&path)?)),
                false => CellOutcome::Unknown,
            })
        };
        let outcomes = self.methods.iter().map(kept).collect::<Result<_>>()?;
        Ok(CellsRow { cells: self, outcomes })
    }

    /// Judges all methods, from what is kept and what has to be run; one that fails does not stop
    /// the others.
    ///
    /// # Errors
    /// Graphs that cannot be read; [`Stopped`](hg2v::Error::Stopped).
    pub(super) fn judged(self, plan: &Plan, environment: &Environment<'_>) -> Result<CellsRow<'a>> {
        let folder = folder(&plan.out);
        fs::create_dir_all(&folder).map_err(|e| hg2v::Error::io(&folder, Action::Create, e))?;
        let provenance = datasets::find(self.dataset, environment.datasets())?;
        let (file, records) = provenance.records(environment)?;
        let mut outcomes = Vec::new();
        for name in &self.methods {
            let cell = CellPlan {
                method: registry::find(name)?,
                dataset: self.dataset,
                graphs: Run::of(&records, &file),
                mode: Mode::Inductive,
                splits: self.splits,
                fresh: plan.fresh,
                alone: false,
                task: self.task,
                edges: EdgeChoice::default(),
                also: self.also,
                if_fit: true,
            };
            outcomes.push(match cell.judge(&folder, environment) {
                Ok(None) => CellOutcome::Unknown,
                Ok(Some(record)) => CellOutcome::Judged(Box::new(record)),
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(error) => {
                    let what = format!("{}: {name}", self.dataset);
                    (environment.tell)(&Event::Failed { what: &what });
                    CellOutcome::Failed(error)
                }
            });
        }
        Ok(CellsRow { cells: self, outcomes })
    }
}

/// What came out of all rows, and the tables of it.
pub(super) fn reproduction(rows: Vec<CellsRow<'_>>, tables: Vec<TextTable>) -> Reproduction {
    let records = |row: &CellsRow<'_>| -> Vec<CellRecord> {
        row.outcomes.iter().filter_map(CellOutcome::record).cloned().collect()
    };
    let graphs = |row: &CellsRow<'_>| {
        row.outcomes.iter().find_map(CellOutcome::record).map(|record| record.identity.data.graphs)
    };
    Reproduction {
        graphs: rows.iter().filter_map(graphs).sum(),
        records: super::values(&rows.iter().flat_map(records).collect::<Vec<_>>()),
        tables,
        failed: rows.into_iter().flat_map(failed).collect(),
        ..Reproduction::default()
    }
}

fn failed(row: CellsRow<'_>) -> impl Iterator<Item = FailedRun> {
    let dataset = row.cells.dataset.to_owned();
    row.outcomes.into_iter().filter_map(move |outcome| match outcome {
        CellOutcome::Failed(error) => Some(FailedRun { dataset: dataset.clone(), error }),
        CellOutcome::Judged(_) | CellOutcome::Unknown => None,
    })
}

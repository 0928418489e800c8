//! Tables of several methods: all columns of table 2, and table 4, the ablations. Results are
//! those of [comparisons](crate::compare), kept where these keep them.

use std::fs;
use std::path::Path;

use hg2v::error::Action;
use hg2v::graph::EdgeChoice;
use hg2v::prepare::Run;
use hg2v_baselines::registry;
use hg2v_eval::goal::Task;
use hg2v_eval::study::Mode;

use super::{FailedRun, Plan, Reproduction};
use crate::compare::{CellPlan, CellRecord};
use crate::config;
use crate::datasets;
use crate::environment::{Environment, Event};
use crate::error::{Error, Result};
use crate::store;
use crate::table::{TextTable, none};

/// Where results are, below the folder of all.
const FOLDER: &str = "compare";

/// A table of methods and datasets.
pub(super) struct MethodsTable {
    /// Names of the registry.
    methods: Vec<String>,
    rows: Vec<PaperRow>,
    splits: usize,
    quick_splits: usize,
    /// Datasets of more nodes in all are left out of a quick run.
    quick_nodes: f64,
}

/// A dataset, and what the paper reports of the methods, in brackets.
struct PaperRow {
    dataset: String,
    paper: Vec<String>,
}

/// All columns of table 2.
pub(super) fn table2() -> Result<MethodsTable> {
    let config = config::table2()?;
    let row = |row: config::Table2Row| {
        let paper = |method: &String| match method.as_str() {
            "hg2v" => Some(row.hg2v.mean),
            method => row.others.get(method).copied(),
        };
        let shown = |method| paper(method).map_or_else(String::new, in_brackets);
        PaperRow { paper: config.methods.iter().map(shown).collect(), dataset: row.dataset }
    };
    Ok(MethodsTable {
        rows: config.rows.into_iter().map(row).collect(),
        methods: config.methods,
        splits: config.splits,
        quick_splits: config.quick.splits,
        quick_nodes: config.quick.most_nodes_all_methods,
    })
}

/// The ablations.
pub(super) fn table4() -> Result<MethodsTable> {
    let config = config::table4()?;
    let row = |row: config::Table4Row| {
        let shown = |method: &String| match row.paper.get(method) {
            Some(Some(accuracy)) => in_brackets(*accuracy),
            Some(None) => " (out of memory)".to_owned(),
            None => String::new(),
        };
        PaperRow { paper: config.methods.iter().map(shown).collect(), dataset: row.dataset }
    };
    Ok(MethodsTable {
        rows: config.rows.into_iter().map(row).collect(),
        methods: config.methods,
        splits: config.splits,
        quick_splits: config.quick.splits,
        quick_nodes: config.quick.most_nodes,
    })
}

fn in_brackets(accuracy: f64) -> String {
    format!(" ({accuracy:.1})")
}

/// What became of a method on a dataset.
enum MethodOutcome {
    Judged(Box<CellRecord>),
    Failed(Error),
    /// Nobody has run it.
    Unknown,
}

impl MethodOutcome {
    fn record(&self) -> Option<&CellRecord> {
        match self {
            MethodOutcome::Judged(record) => Some(record),
            MethodOutcome::Failed(_) | MethodOutcome::Unknown => None,
        }
    }
}

/// A dataset, and what became of each method on it.
type Outcomes<'a> = (&'a PaperRow, Vec<MethodOutcome>);

impl MethodsTable {
    pub(super) fn run(&self, plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
        let folder = plan.out.join(FOLDER);
        let chosen = self.chosen(plan, environment)?;
        fs::create_dir_all(&folder).map_err(|e| hg2v::Error::io(&folder, Action::Create, e))?;
        let mut rows = Vec::new();
        for row in chosen {
            rows.push((row, self.judged(&row.dataset, &folder, plan, environment)?));
        }
        let first = |(_, row): &Outcomes<'_>| {
            row.iter().find_map(MethodOutcome::record).map(|record| record.identity.data.graphs)
        };
        let records: Vec<&CellRecord> =
            rows.iter().flat_map(|(_, row)| row).filter_map(MethodOutcome::record).collect();
        Ok(Reproduction {
            graphs: rows.iter().filter_map(first).sum(),
            records: super::values(&records),
            table: self.table(&rows),
            failed: rows.into_iter().flat_map(failed).collect(),
            ..Reproduction::default()
        })
    }

    pub(super) fn known(&self, out: &Path) -> Result<TextTable> {
        let folder = out.join(FOLDER);
        let mut rows = Vec::new();
        for row in &self.rows {
            let outcomes = self.kept(&row.dataset, &folder)?;
            if outcomes.iter().any(|outcome| outcome.record().is_some()) {
                rows.push((row, outcomes));
            }
        }
        Ok(self.table(&rows))
    }

    fn chosen(&self, plan: &Plan, environment: &Environment<'_>) -> Result<Vec<&PaperRow>> {
        let names: Vec<String> = self.rows.iter().map(|row| row.dataset.clone()).collect();
        let asked = datasets::asked(&names, &plan.datasets)?;
        let mut chosen = Vec::new();
        for row in self.rows.iter().filter(|row| asked.contains(&row.dataset)) {
            if plan.quick && !datasets::has_at_most(self.quick_nodes, &row.dataset) {
                continue;
            }
            match datasets::find(&row.dataset, environment.datasets()) {
                Ok(_) => chosen.push(row),
                Err(why) if plan.datasets.is_empty() => {
                    (environment.tell)(&Event::LeftOut { what: &row.dataset, why: &why });
                }
                Err(missing) => return Err(missing),
            }
        }
        let names: Vec<&str> = chosen.iter().map(|row| row.dataset.as_str()).collect();
        match chosen.is_empty() || plan.datasets.is_empty() && !datasets::are_some(&names) {
            true => Err(Error::NoDatasets { folder: environment.datasets().to_path_buf() }),
            false => Ok(chosen),
        }
    }

    /// What is kept of a dataset.
    ///
    /// # Errors
    /// A file that is damaged, or of another version.
    fn kept(&self, dataset: &str, folder: &Path) -> Result<Vec<MethodOutcome>> {
        let kept = |method: &String| {
            let path = folder.join(format!("{dataset}.{method}.json"));
            Ok(match path.exists() {
                true => MethodOutcome::Judged(Box::new(store::read(&path)?)),
                false => MethodOutcome::Unknown,
            })
        };
        self.methods.iter().map(kept).collect()
    }

    /// Judges all methods on a dataset; one that fails does not stop the others.
    fn judged(
        &self,
        dataset: &str,
        folder: &Path,
        plan: &Plan,
        environment: &Environment<'_>,
    ) -> Result<Vec<MethodOutcome>> {
        let provenance = datasets::find(dataset, environment.datasets())?;
        let (file, records) = provenance.records(environment)?;
        let mut row = Vec::new();
        for name in &self.methods {
            let cell = CellPlan {
                method: registry::find(name)?,
                dataset,
                graphs: Run::of(&records, &file),
                mode: Mode::Inductive,
                splits: plan.splits(self.splits, self.quick_splits),
                fresh: plan.fresh,
                alone: false,
                task: Task::Classes,
                edges: EdgeChoice::default(),
                also: &[],
                if_fit: false,
            };
            row.push(match cell.judge(folder, environment) {
                Ok(None) => MethodOutcome::Unknown,
                Ok(Some(record)) => MethodOutcome::Judged(Box::new(record)),
                Err(stop) if stop.is_stop() => return Err(stop),
                Err(error) => {
                    let what = format!("{dataset}: {name}");
                    (environment.tell)(&Event::Failed { what: &what });
                    MethodOutcome::Failed(error)
                }
            });
        }
        Ok(row)
    }

    /// Ours, and the paper's in brackets.
    fn table(&self, rows: &[Outcomes<'_>]) -> TextTable {
        let header = ["set"].into_iter().chain(self.methods.iter().map(String::as_str));
        let mut table = TextTable::new(1, header);
        for (PaperRow { dataset, paper }, row) in rows {
            let cell = |(outcome, paper): (&MethodOutcome, &String)| {
                format!("{}{paper}", self.shown(outcome))
            };
            let cells = row.iter().zip(paper).map(cell);
            table.row([dataset.clone()].into_iter().chain(cells));
        }
        table.noting(
            "accuracy in percent on the test parts: mean ± deviation over 80/20 splits, methods \
             trained on the 80 alone, as `hg2v compare` has it; in brackets the paper's, most of \
             whose columns have other protocols",
        )
    }

    fn shown(&self, outcome: &MethodOutcome) -> String {
        match outcome {
            MethodOutcome::Judged(record) if record.splits == self.splits => {
                record.result.test.to_string()
            }
            MethodOutcome::Judged(record) => {
                format!("{} [{}]", record.result.test, record.splits)
            }
            MethodOutcome::Failed(_) => "failed".to_owned(),
            MethodOutcome::Unknown => none(),
        }
    }
}

fn failed((row, outcomes): Outcomes<'_>) -> impl Iterator<Item = FailedRun> {
    let dataset = row.dataset.clone();
    outcomes.into_iter().filter_map(move |outcome| match outcome {
        MethodOutcome::Failed(error) => Some(FailedRun { dataset: dataset.clone(), error }),
        MethodOutcome::Judged(_) | MethodOutcome::Unknown => None,
    })
}

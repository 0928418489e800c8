//! Every method on the same splits, one table.
//!
//! Each cell of the table is filled in a process of its own, which has the memory of that method
//! alone, and whose end, whatever it may be, is not that of the others: whoever runs a comparison
//! says how a process is started, and the process [fills](Plan::fill) its cell.

mod cell;
mod comparison;
mod score;

pub use cell::{CellFailure, CellPosition};
pub use comparison::{CellOutcome, Comparison};
pub use score::{CellScore, JudgeScore};

pub(crate) use cell::{CellPlan, CellRecord};
pub(crate) use score::place;

use std::fs;
use std::path::{Path, PathBuf};

use hg2v::dataset::{locate, name_of};
use hg2v::error::{Action, Error, Place, shown};
use hg2v::graph::EdgeChoice;
use hg2v::prepare::Run;
use hg2v::progress::{Report, Stage};
use hg2v_baselines::registry;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::study::Mode;

use crate::environment::{Environment, Event};
use crate::error::Result;
use crate::store;

/// What is compared.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Collections of graphs, with labels.
    pub data: Vec<PathBuf>,
    /// Methods, in the order of the table.
    pub methods: Vec<String>,
    /// Whether somebody named them: those that learn classes alone then fail where there are
    /// numbers, and are left out otherwise.
    pub named: bool,
    /// What targets are taken for.
    pub task: Task,
    /// What methods see of edges.
    pub edges: EdgeChoice,
    /// Judges of vectors beside the first.
    pub also: Vec<Classifier>,
    /// The method that all are set against.
    pub against: Option<String>,
    /// Who sees what.
    pub mode: Mode,
    /// How many splits.
    pub splits: usize,
    /// Whether to forget what there is of these cells.
    pub fresh: bool,
}

/// How one cell became a file of the folder, or why it did not.
pub type Filled = std::result::Result<(), String>;

impl Plan {
    /// The names of the collections.
    ///
    /// # Errors
    /// Methods or names that occur twice; a collection that is not there, or can be read only
    /// once.
    fn datasets(&self, data_dir: Option<&Path>) -> Result<Vec<String>> {
        for (at, method) in self.methods.iter().enumerate() {
            if self.methods[..at].contains(method) {
                let requirement = "it must name each only once";
                return Err(Error::parameter("methods", method, requirement).into());
            }
        }
        let names: Vec<String> = self.data.iter().map(|data| name_of(data)).collect();
        for (at, (name, data)) in names.iter().zip(&self.data).enumerate() {
            let refused = |problem: String, fix: &'static str| {
                Err(Error::input(data, Place::Whole, problem, fix).into())
            };
            if data.as_os_str() == "-" {
                let problem = "every method reads the graphs again, which standard input cannot";
                return refused(problem.to_owned(), "give a file or a folder");
            }
            if names[..at].contains(name) {
                let problem = format!("two collections are called {}", shown(name));
                return refused(problem, "name each once, or give one of the files another name");
            }
            locate(data, data_dir)?;
        }
        Ok(names)
    }

    /// Compares all methods on all collections. `start` has another process
    /// [fill](Plan::fill) a cell of `folder`.
    ///
    /// # Errors
    /// Plans that make no sense; what `start` fails at; a folder that cannot be read.
    pub fn run<E: From<crate::Error>>(
        &self,
        folder: &Path,
        environment: &Environment<'_>,
        start: impl Fn(CellPosition) -> std::result::Result<Filled, E>,
    ) -> std::result::Result<Comparison, E> {
        let datasets = self.datasets(environment.data_dir)?;
        let created = fs::create_dir_all(folder);
        created.map_err(|e| crate::Error::from(Error::io(folder, Action::Create, e)))?;
        let total = (datasets.len() * self.methods.len()) as u64;
        let mut outcomes = Vec::new();
        for (set_at, dataset) in datasets.iter().enumerate() {
            for (method_at, method) in self.methods.iter().enumerate() {
                let what = format!("{dataset}: {method}");
                (environment.tell)(&Event::Filling { what: &what });
                let done = Report::of(Stage::Comparing, outcomes.len() as u64, total);
                environment.context.tell(&done).map_err(crate::Error::from)?;
                let outcome = match start(CellPosition { set: set_at, method: method_at })? {
                    Err(why) => {
                        (environment.tell)(&Event::Failed { what: &what });
                        let (set, method) = (dataset.clone(), method.clone());
                        CellOutcome::Failed(CellFailure { set, method, why })
                    }
                    Ok(()) => self.found(folder, (dataset, method), environment)?,
                };
                outcomes.push(outcome);
            }
        }
        let (methods, seed, mode) = (self.methods.clone(), environment.seed, self.mode);
        let mut comparison = Comparison { datasets, methods, outcomes, mode, seed, against: None };
        if let Some(against) = &self.against {
            comparison.set_against(against)?;
        }
        Ok(comparison)
    }

    /// What a process left of a cell.
    fn found(
        &self,
        folder: &Path,
        (dataset, method): (&str, &str),
        environment: &Environment<'_>,
    ) -> Result<CellOutcome> {
        let path = folder.join(format!("{dataset}.{method}.json"));
        if !path.exists() {
            let (set, method) = (dataset.to_owned(), method.to_owned());
            let why = "it learns classes, and there are numbers".to_owned();
            return Ok(CellOutcome::LeftOut(CellFailure { set, method, why }));
        }
        let scores = CellScore::each(&store::read(&path)?, self.splits)?;
        for score in &scores {
            let target = score.target.as_ref().map_or_else(String::new, |name| format!(", {name}"));
            let what = format!("{dataset}: {method}{target}");
            let (test, seconds) = (&score.main.shown(), score.seconds);
            (environment.tell)(&Event::Judged { what: &what, test, seconds });
        }
        Ok(CellOutcome::Judged(scores))
    }

    /// Fills a cell in this process, which does nothing else: its result is in `folder`
    /// afterwards.
    ///
    /// # Errors
    /// A cell that the table does not have; a method that fails; graphs that cannot be used.
    pub fn fill(
        &self,
        cell: CellPosition,
        folder: &Path,
        environment: &Environment<'_>,
    ) -> Result<()> {
        let method = self.methods.get(cell.method).and_then(|name| registry::find(name).ok());
        let (Some(data), Some(method)) = (self.data.get(cell.set), method) else {
            let requirement = "it is not there";
            return Err(Error::parameter("cell", format!("{cell:?}"), requirement).into());
        };
        let path = locate(data, environment.data_dir)?;
        let records = (environment.read)(&path)?;
        let plan = CellPlan {
            method,
            dataset: &name_of(data),
            graphs: Run::of(&records, &path),
            mode: self.mode,
            splits: self.splits,
            fresh: self.fresh,
            alone: true,
            task: self.task,
            edges: self.edges,
            also: &self.also,
            if_fit: !self.named,
        };
        plan.judge(folder, environment).map(drop)
    }
}

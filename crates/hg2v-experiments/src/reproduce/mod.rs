//! The paper's tables and figures, with the paper's numbers beside ours, and the laboratory, which
//! has all methods on all datasets.

mod accuracies;
mod accuracy_record;
mod cells;
mod fig_coarsening;
mod fig_neighbors;
mod fig_spectra;
mod fig_wl;
mod figures;
mod lab;
mod methods;
mod transfers;

use std::path::{Path, PathBuf};

use hg2v::Hg2vParams;
use hg2v_eval::model_grid::ModelGrid;
use serde::Serialize;
use serde_json::{Value, json};

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::table::TextTable;

/// A table or figure of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Accuracies on fourteen datasets.
    Table2,
    /// Trained on one dataset, judged on another.
    Table3,
    /// What HG2V is without coarsening, and without a network.
    Table4,
    /// Every method on every dataset, by every judge.
    Lab,
    /// Weisfeiler–Lehman labels of graphs that lose edges.
    FigWl,
    /// Distances between spectra, before and after coarsening.
    FigSpectra,
    /// Four digits, coarsened.
    FigCoarsening,
    /// Graphs and those nearest to them in latent space.
    FigNeighbors,
}

hg2v::vocabulary! { Experiment, "WHAT":
    Table2 => "table2", "accuracies on fourteen sets";
    Table3 => "table3", "trained on one set, judged on another";
    Table4 => "table4", "what HG2V is without coarsening, and without a network";
    Lab => "lab", "every method on every set, by every judge";
    FigWl => "fig-wl", "Weisfeiler–Lehman labels of graphs that lose edges";
    FigSpectra => "fig-spectra", "distances between spectra, before and after coarsening";
    FigCoarsening => "fig-coarsening", "four digits, coarsened";
    FigNeighbors => "fig-neighbors", "graphs and those nearest to them in latent space";
}

impl Experiment {
    /// Whether it is a table.
    pub fn is_table(self) -> bool {
        use Experiment::{Lab, Table2, Table3, Table4};
        matches!(self, Table2 | Table3 | Table4 | Lab)
    }

    /// Whether models are trained for it.
    pub fn trains(self) -> bool {
        self.is_table() || self == Experiment::FigNeighbors
    }

    /// Whether it can be made of some of its datasets.
    pub fn takes_datasets(self) -> bool {
        self.trains() || self == Experiment::FigSpectra
    }
}

/// What is to be reproduced, and how.
#[derive(Debug, Clone, PartialEq)]
pub struct Plan {
    /// Which table or figure.
    pub experiment: Experiment,
    /// Of table 2, the methods beside HG2V, too.
    pub all_methods: bool,
    /// Of the laboratory, these methods only; all of them, where none is named.
    pub methods: Vec<String>,
    /// The folder of results.
    pub out: PathBuf,
    /// Small datasets and few splits; of transfers and figures, few graphs.
    pub quick: bool,
    /// These datasets only; all that are found, where none is named.
    pub datasets: Vec<String>,
    /// How many 80/20 splits, where somebody says so.
    pub splits: Option<usize>,
    /// The model; its seed is that of the environment.
    pub model: Hg2vParams,
    /// What the model is called.
    pub model_name: String,
    /// Choose the model's shape by validation accuracy.
    pub grid: Option<ModelGrid>,
    /// Forget what the folder has of these datasets and this model.
    pub fresh: bool,
    /// How the same is asked for again, for the record of a figure.
    pub command: String,
}

impl Plan {
    fn model(&self, environment: &Environment<'_>) -> Hg2vParams {
        self.model.clone().seed(environment.seed)
    }

    /// How many splits, of those of a run and of a quick one.
    fn splits(&self, usual: usize, quick: usize) -> usize {
        self.splits.unwrap_or(if self.quick { quick } else { usual })
    }
}

/// What came out.
#[derive(Debug, Default)]
pub struct Reproduction {
    /// How many graphs a table is about.
    pub graphs: u64,
    /// Everything that was found, as it is kept.
    pub records: Vec<Value>,
    /// What failed, while the others went on.
    pub failed: Vec<FailedRun>,
    /// The same for people.
    pub tables: Vec<TextTable>,
    /// The files of a figure.
    pub files: Vec<PathBuf>,
}

/// A run that failed.
#[derive(Debug)]
pub struct FailedRun {
    /// Its dataset.
    pub dataset: String,
    /// Why.
    pub error: Error,
}

/// Makes a table or a figure again, from what is known and what has to be run.
///
/// # Errors
/// Datasets that are not there, or cannot be used; results of other settings in the folder; a disk
/// that refuses. A dataset that fails does not stop the others.
pub fn run(plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
    match plan.experiment {
        Experiment::Table2 if plan.all_methods => methods::table2()?.run(plan, environment),
        Experiment::Table2 => accuracies::run(plan, environment),
        Experiment::Table3 => transfers::run(plan, environment),
        Experiment::Table4 => methods::table4()?.run(plan, environment),
        Experiment::Lab => lab::run(plan, environment),
        Experiment::FigWl => figures::run(fig_wl::make, plan, environment),
        Experiment::FigSpectra => figures::run(fig_spectra::make, plan, environment),
        Experiment::FigCoarsening => figures::run(fig_coarsening::make, plan, environment),
        Experiment::FigNeighbors => figures::run(fig_neighbors::make, plan, environment),
    }
}

/// The tables of all results in a folder; nothing is run. A figure has none.
///
/// # Errors
/// A file that is damaged, or of another version.
pub fn known(experiment: Experiment, all_methods: bool, out: &Path) -> Result<Vec<TextTable>> {
    let table = match experiment {
        Experiment::Table2 if all_methods => methods::table2()?.known(out),
        Experiment::Table2 => accuracies::known(out),
        Experiment::Table3 => transfers::known(out),
        Experiment::Table4 => methods::table4()?.known(out),
        Experiment::Lab => return lab::known(out),
        _ => return Ok(Vec::new()),
    };
    Ok(vec![table?])
}

/// Records as programs get them.
fn values(records: &[impl Serialize]) -> Vec<Value> {
    records.iter().map(|record| json!(record)).collect()
}

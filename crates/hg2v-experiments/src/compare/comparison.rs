//! A comparison as text, Markdown, CSV and JSON.

use std::fmt;
use std::path::Path;

use hg2v_eval::Score;
use hg2v_eval::study::{Mode, SplitResult};
use serde::{Serialize, Serializer};
use serde_json::json;

use super::cell::{CellFailure, CellRecord};
use crate::error::Result;
use crate::store::{write_json, write_text};
use crate::table::{TextTable, none};

/// What became of a cell.
#[derive(Debug, Clone)]
pub enum CellOutcome {
    /// An accuracy.
    Judged(Box<CellScore>),
    /// None, and why.
    Failed(CellFailure),
}

/// A method on a dataset, over the splits that were asked for.
#[derive(Debug, Clone, Serialize)]
pub struct CellScore {
    /// The dataset.
    pub set: String,
    /// The method.
    pub method: String,
    /// How many graphs the dataset has.
    #[serde(skip)]
    pub graphs: u64,
    /// The accuracies in cross-validation.
    pub validation: Score,
    /// The accuracies on the test parts.
    pub test: Score,
    /// How long it took.
    pub seconds: f64,
    /// The most memory that it held, where the system tells.
    pub peak_bytes: Option<u64>,
}

impl CellScore {
    /// Of a file that may have more than the first `splits` splits, these.
    pub(super) fn of(record: CellRecord, splits: usize) -> Result<CellScore> {
        let all = &record.result.splits;
        let asked: Vec<&SplitResult> = match record.identity.mode {
            Mode::Tenfold => all.iter().collect(),
            _ => all.iter().filter(|split| split.split < splits).collect(),
        };
        let of = |value: fn(&SplitResult) -> f64| {
            Score::of(&asked.iter().map(|split| value(split)).collect::<Vec<f64>>())
        };
        Ok(CellScore {
            validation: of(|split| split.validation)?,
            test: of(|split| split.test)?,
            seconds: record.result.seconds * asked.len() as f64 / all.len() as f64,
            graphs: record.identity.data.graphs,
            set: record.identity.set,
            method: record.identity.method,
            peak_bytes: record.peak_bytes,
        })
    }
}

impl CellOutcome {
    fn score(&self) -> Option<&CellScore> {
        match self {
            CellOutcome::Judged(score) => Some(score),
            CellOutcome::Failed(_) => None,
        }
    }
}

/// The accuracy, or that there is none.
impl fmt::Display for CellOutcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CellOutcome::Judged(score) => write!(f, "{}", score.test),
            CellOutcome::Failed(_) => f.write_str("failed"),
        }
    }
}

/// All methods on all datasets.
#[derive(Debug, Clone)]
pub struct Comparison {
    /// The datasets.
    pub datasets: Vec<String>,
    /// The methods.
    pub methods: Vec<String>,
    /// Dataset by dataset, for each all methods.
    pub outcomes: Vec<CellOutcome>,
    /// Who saw what.
    pub mode: Mode,
    /// The seed.
    pub seed: u64,
}

/// What `hg2v compare --json` says.
impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let cell = |outcome: &CellOutcome| match outcome {
            CellOutcome::Failed(failure) => json!(failure),
            CellOutcome::Judged(score) => json!(score),
        };
        let rank =
            |method: usize| json!({ "method": self.methods[method], "rank": self.rank(method) });
        let fields = json!({
            "mode": self.mode, "seed": self.seed, "sets": self.datasets, "graphs": self.graphs(),
            "methods": (0..self.methods.len()).map(rank).collect::<Vec<_>>(),
            "cells": self.outcomes.iter().map(cell).collect::<Vec<_>>(),
        });
        fields.serialize(serializer)
    }
}

impl Comparison {
    fn outcome(&self, set: usize, method: usize) -> &CellOutcome {
        &self.outcomes[set * self.methods.len() + method]
    }

    /// What a method gave, dataset by dataset.
    fn scores(&self, method: usize) -> impl Iterator<Item = &CellScore> {
        (0..self.datasets.len()).filter_map(move |set| self.outcome(set, method).score())
    }

    /// The place of a method on each set where it was judged, 1 for the best, averaged;
    /// equals share the mean of their places.
    fn rank(&self, method: usize) -> Option<f64> {
        let on = |set: usize| {
            let mean = |method: usize| Some(self.outcome(set, method).score()?.test.mean);
            let own = mean(method)?;
            let others: Vec<f64> = (0..self.methods.len()).filter_map(mean).collect();
            let better = others.iter().filter(|&&other| other > own).count() as f64;
            let equal = others.iter().filter(|&&other| other == own).count() as f64;
            Some(better + (equal + 1.0) / 2.0)
        };
        let places: Vec<f64> = (0..self.datasets.len()).filter_map(on).collect();
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        (!places.is_empty()).then_some(mean)
    }

    fn header(&self) -> Vec<String> {
        let own = ["rank", "seconds", "MiB"].map(str::to_owned);
        ["method".to_owned()].into_iter().chain(self.datasets.iter().cloned()).chain(own).collect()
    }

    fn cells(&self, method: usize) -> Vec<String> {
        let scores: Vec<&CellScore> = self.scores(method).collect();
        let seconds: f64 = scores.iter().map(|score| score.seconds).sum();
        let peak = scores.iter().filter_map(|score| score.peak_bytes).max();
        let mut cells = vec![self.methods[method].clone()];
        cells.extend((0..self.datasets.len()).map(|set| self.outcome(set, method).to_string()));
        cells.push(self.rank(method).map_or_else(none, |rank| format!("{rank:.1}")));
        cells.push(if scores.is_empty() { none() } else { format!("{seconds:.1}") });
        cells.push(peak.map_or_else(none, |peak| (peak >> 20).to_string()));
        cells
    }

    fn footnote(&self) -> String {
        let who = match self.mode {
            Mode::Inductive => "80/20 splits, methods trained on the 80 alone",
            Mode::Transductive => "80/20 splits, vectors trained on all graphs without labels",
            Mode::Tenfold => "ten folds, vectors trained on all graphs without labels",
        };
        let scores = self.outcomes.iter().filter_map(CellOutcome::score);
        let splits = scores.map(|score| score.test.n).max().unwrap_or(0);
        format!(
            "accuracy in percent on the test parts: mean ± deviation over {splits} {who}; settings \
             chosen by 5-fold cross-validation inside the training part; seed {}; seconds of all \
             splits and sets, peak memory of the worst set",
            self.seed
        )
    }

    /// Accuracies, method by method.
    pub fn table(&self) -> TextTable {
        let mut table = TextTable::new(1, self.header());
        (0..self.methods.len()).for_each(|method| table.row(self.cells(method)));
        table.noting(self.footnote())
    }

    fn markdown(&self) -> String {
        let failures: String =
            self.failures().iter().map(|failure| format!("\n- {failure}")).collect();
        format!("{}\n{}\n{failures}", self.table().markdown(), self.footnote())
    }

    fn csv(&self) -> String {
        let mut text =
            "set,method,test_mean,test_std,validation_mean,validation_std,splits,seconds,\
                        peak_bytes,error\n"
                .to_owned();
        for outcome in &self.outcomes {
            text += &match outcome {
                CellOutcome::Judged(score) => {
                    let CellScore { set, method, validation, test, seconds, peak_bytes, .. } =
                        &**score;
                    format!(
                        "{},{method},{},{},{},{},{},{seconds},{},\n",
                        quoted(set),
                        test.mean,
                        test.std,
                        validation.mean,
                        validation.std,
                        test.n,
                        peak_bytes.map_or_else(String::new, |peak| peak.to_string()),
                    )
                }
                CellOutcome::Failed(CellFailure { set, method, why }) => {
                    format!("{},{method},,,,,,,,{}\n", quoted(set), quoted(why))
                }
            };
        }
        text
    }

    /// How many graphs all datasets have together, as far as somebody read them.
    fn graphs(&self) -> u64 {
        let of_set = |set: usize| {
            let mut all =
                (0..self.methods.len()).filter_map(|method| self.outcome(set, method).score());
            all.next().map_or(0, |score| score.graphs)
        };
        (0..self.datasets.len()).map(of_set).sum()
    }

    /// Writes the table into a folder, as CSV, Markdown and JSON.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, folder: &Path) -> Result<()> {
        write_text(&folder.join("compare.csv"), &self.csv())?;
        write_text(&folder.join("compare.md"), &self.markdown())?;
        Ok(write_json(&folder.join("compare.json"), self)?)
    }

    /// What failed, and why.
    pub fn failures(&self) -> Vec<String> {
        let failed = |outcome: &CellOutcome| match outcome {
            CellOutcome::Judged(_) => None,
            CellOutcome::Failed(CellFailure { set, method, why }) => {
                Some(format!("{set}: {method}: {why}"))
            }
        };
        self.outcomes.iter().filter_map(failed).collect()
    }
}

/// A cell of CSV.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}

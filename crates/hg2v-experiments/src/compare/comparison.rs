//! A comparison as text, Markdown, CSV and JSON.

use std::io;
use std::path::Path;

use hg2v::error::Action;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::metrics::ErrorScores;
use hg2v_eval::study::Mode;
use serde::{Serialize, Serializer};
use serde_json::json;

use super::cell::CellFailure;
use super::score::{CellScore, JudgeScore, TESTED_BY_TRAINED, place};
use crate::error::Result;
use crate::store::{write_json, write_text};
use crate::table::{TextTable, none};

/// What became of a cell.
#[derive(Debug, Clone)]
pub enum CellOutcome {
    /// Accuracies or errors, target by target.
    Judged(Vec<CellScore>),
    /// None, and why.
    Failed(CellFailure),
    /// None: it learns classes, and there are numbers.
    LeftOut(CellFailure),
}

impl CellOutcome {
    fn scores(&self) -> &[CellScore] {
        match self {
            CellOutcome::Judged(scores) => scores,
            CellOutcome::Failed(_) | CellOutcome::LeftOut(_) => &[],
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
    /// The method that all are set against.
    pub against: Option<String>,
}

/// A column of the table: a target of a dataset.
#[derive(Debug, Clone, Copy)]
struct Column {
    dataset: usize,
    target: usize,
}

/// What `hg2v compare --json` says.
impl Serialize for Comparison {
    fn serialize<S: Serializer>(&self, serializer: S) -> std::result::Result<S::Ok, S::Error> {
        let cells = |outcome: &CellOutcome| match outcome {
            CellOutcome::Failed(failure) => vec![json!(failure)],
            CellOutcome::LeftOut(CellFailure { set, method, why }) => {
                vec![json!({ "set": set, "method": method, "left_out": why })]
            }
            CellOutcome::Judged(scores) => scores.iter().map(|score| json!(score)).collect(),
        };
        let rank =
            |method: usize| json!({ "method": self.methods[method], "rank": self.rank(method) });
        let mut fields = json!({
            "mode": self.mode, "seed": self.seed, "sets": self.datasets, "graphs": self.graphs(),
            "methods": (0..self.methods.len()).map(rank).collect::<Vec<_>>(),
            "cells": self.outcomes.iter().flat_map(cells).collect::<Vec<_>>(),
        });
        if let Some(against) = &self.against {
            fields["against"] = json!(against);
        }
        fields.serialize(serializer)
    }
}

impl Comparison {
    fn outcome(&self, set: usize, method: usize) -> &CellOutcome {
        &self.outcomes[set * self.methods.len() + method]
    }

    /// Sets every method against another, on the same splits.
    ///
    /// # Errors
    /// Methods that were judged on unequally many splits.
    pub(super) fn set_against(&mut self, against: &str) -> Result<()> {
        self.against = Some(against.to_owned());
        let Some(place) = self.methods.iter().position(|method| method == against) else {
            return Ok(());
        };
        let tested_by_trained = match self.mode {
            Mode::Inductive | Mode::Transductive => TESTED_BY_TRAINED,
            Mode::Tenfold => 1.0 / 9.0,
        };
        for row in self.outcomes.chunks_mut(self.methods.len()) {
            let others = row[place].scores().to_vec();
            for (method, outcome) in row.iter_mut().enumerate() {
                let CellOutcome::Judged(scores) = outcome else { continue };
                for (own, other) in scores.iter_mut().zip(&others).filter(|_| method != place) {
                    own.set_against(other, tested_by_trained)?;
                }
            }
        }
        Ok(())
    }

    /// The columns: a dataset that nobody was judged on has one.
    fn columns(&self) -> Vec<Column> {
        let of = |dataset: usize| {
            let targets = |method: usize| self.outcome(dataset, method).scores().len();
            let targets = (0..self.methods.len()).map(targets).max().unwrap_or(0).max(1);
            (0..targets).map(move |target| Column { dataset, target })
        };
        (0..self.datasets.len()).flat_map(of).collect()
    }

    fn score(&self, column: Column, method: usize) -> Option<&CellScore> {
        self.outcome(column.dataset, method).scores().get(column.target)
    }

    /// Any score of a column: all have its task and target.
    fn any(&self, column: Column) -> Option<&CellScore> {
        (0..self.methods.len()).find_map(|method| self.score(column, method))
    }

    /// The dataset, the target where there are several, and what is measured if not accuracy.
    fn title(&self, column: Column) -> String {
        let mut title = self.datasets[column.dataset].clone();
        if let Some(score) = self.any(column) {
            title += &score.target.as_ref().map_or_else(String::new, |name| format!(" {name}"));
            title += if score.task == Task::Numbers { " RMSE" } else { "" };
        }
        title
    }

    /// What a method gave, column by column.
    fn scores(&self, method: usize) -> impl Iterator<Item = &CellScore> {
        let columns = self.columns().into_iter();
        columns.filter_map(move |column| self.score(column, method))
    }

    /// The [place] of a method on each column where it was judged, averaged.
    fn rank(&self, method: usize) -> Option<f64> {
        let on = |column: Column| {
            let goodness = |method: usize| Some(self.score(column, method)?.main.goodness());
            let all: Vec<f64> = (0..self.methods.len()).filter_map(goodness).collect();
            Some(place(goodness(method)?, &all))
        };
        let places: Vec<f64> = self.columns().into_iter().filter_map(on).collect();
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        (!places.is_empty()).then_some(mean)
    }

    /// Under `first`, a cell a column and method.
    fn table_of(
        &self,
        first: &str,
        cell: impl Fn(&CellScore) -> Option<String>,
        more: impl Fn(Option<usize>) -> Vec<String>,
    ) -> TextTable {
        let columns = self.columns();
        let titles = columns.iter().map(|&column| self.title(column));
        let header = [first.to_owned()].into_iter().chain(titles).chain(more(None));
        let mut table = TextTable::new(1, header);
        for method in 0..self.methods.len() {
            let shown = |&column: &Column| match self.outcome(column.dataset, method) {
                CellOutcome::Failed(_) => "failed".to_owned(),
                _ => self.score(column, method).and_then(&cell).unwrap_or_else(none),
            };
            let name = [self.methods[method].clone()];
            let cells = columns.iter().map(shown).chain(more(Some(method)));
            table.row(name.into_iter().chain(cells));
        }
        table
    }

    /// Rank, seconds and memory of a method, or what they are called.
    fn costs(&self, method: Option<usize>) -> Vec<String> {
        let Some(method) = method else {
            return ["rank", "seconds", "MiB"].map(str::to_owned).to_vec();
        };
        let scores: Vec<&CellScore> = self.scores(method).collect();
        // Those of a dataset's targets are of all of them.
        let first = |set: usize| self.outcome(set, method).scores().first();
        let seconds: f64 =
            (0..self.datasets.len()).filter_map(first).map(|score| score.seconds).sum();
        let peak = scores.iter().filter_map(|score| score.peak_bytes).max();
        vec![
            self.rank(method).map_or_else(none, |rank| format!("{rank:.1}")),
            if scores.is_empty() { none() } else { format!("{seconds:.1}") },
            peak.map_or_else(none, |peak| (peak >> 20).to_string()),
        ]
    }

    fn all_scores(&self) -> impl Iterator<Item = &CellScore> {
        self.outcomes.iter().flat_map(CellOutcome::scores)
    }

    fn footnote(&self) -> String {
        let who = match self.mode {
            Mode::Inductive => "80/20 splits, methods trained on the 80 alone",
            Mode::Transductive => "80/20 splits, vectors trained on all graphs without labels",
            Mode::Tenfold => "ten folds, vectors trained on all graphs without labels",
        };
        let splits = self.all_scores().map(|score| score.main.test.n).max().unwrap_or(0);
        let has = |task: Task| self.all_scores().any(|score| score.task == task);
        let what = match (has(Task::Classes), has(Task::Numbers)) {
            (_, false) => "accuracy in percent",
            (false, true) => "root mean square error of kernel ridge",
            (true, true) => {
                "accuracy in percent, of numbers root mean square error of kernel ridge"
            }
        };
        format!(
            "{what} on the test parts: mean ± deviation over {splits} {who}; settings \
             chosen by 5-fold cross-validation inside the training part; seed {}; seconds of all \
             splits and sets, peak memory of the worst set",
            self.seed
        )
    }

    /// Accuracies or errors, method by method.
    pub fn table(&self) -> TextTable {
        let shown = |score: &CellScore| Some(score.main.shown());
        self.table_of("method", shown, |method| self.costs(method)).noting(self.footnote())
    }

    /// Judges beside the first that some vectors had.
    fn judges(&self) -> Vec<(Classifier, &'static str)> {
        let mut judges: Vec<(Classifier, &'static str)> = Vec::new();
        for score in self.all_scores() {
            for also in &score.also {
                let judge = also.classifier.map(|judge| (judge, also.title(score.task)));
                judges.extend(judge.filter(|judge| !judges.contains(judge)));
            }
        }
        judges
    }

    /// What else there is to see: the same by other judges, and differences to the method that all
    /// are set against.
    pub fn more_tables(&self) -> Vec<TextTable> {
        let nothing = |_: Option<usize>| Vec::new();
        let of = |judge: (Classifier, &'static str), score: &CellScore| {
            let found = score.by(Some(judge.0)).cloned();
            found.filter(|found| found.title(score.task) == judge.1)
        };
        let judges = self.judges();
        let mut tables: Vec<TextTable> = judges
            .iter()
            .map(|&judge| {
                let shown = |score: &CellScore| Some(of(judge, score)?.shown());
                self.table_of(&format!("by {}", judge.1), shown, nothing)
            })
            .collect();
        let Some(against) = &self.against else { return tables };
        let apart = |score: &CellScore| score.main.shown_difference();
        tables.push(self.table_of(&format!("less {against}"), apart, nothing));
        for &judge in &judges {
            let apart = |score: &CellScore| of(judge, score)?.shown_difference();
            tables.push(self.table_of(&format!("less {against}, by {}", judge.1), apart, nothing));
        }
        if let Some(last) = tables.pop() {
            tables.push(last.noting(format!(
                "less {against}: mean ± standard error of the differences to {against} on the same \
                 splits, in points of percent, of numbers as they are (below 0 is better); methods without a judge \
                 by themselves; splits overlap, and the error that allows for it is in the JSON, as corrected_error"
            )));
        }
        tables
    }

    fn markdown(&self) -> String {
        let failures: String =
            self.failures().iter().map(|failure| format!("\n- {failure}")).collect();
        let note = |table: &TextTable| format!("\n{}\n", table.notes.join("\n"));
        let more = |table: &TextTable| {
            let note = if table.notes.is_empty() { String::new() } else { note(table) };
            format!("\n{}{note}", table.markdown())
        };
        let more: String = self.more_tables().iter().map(more).collect();
        format!("{}\n{}\n{failures}{more}", self.table().markdown(), self.footnote())
    }

    fn csv(&self) -> io::Result<String> {
        let mut text = Vec::new();
        let mut table = csv::Writer::from_writer(&mut text);
        table.write_record(COLUMNS)?;
        for outcome in &self.outcomes {
            match outcome {
                CellOutcome::Judged(scores) => {
                    for score in scores {
                        let judges = [&score.main].into_iter().chain(&score.also);
                        for judge in judges {
                            table.write_record(cells_of(score, judge))?;
                        }
                    }
                }
                CellOutcome::Failed(CellFailure { set, method, why })
                | CellOutcome::LeftOut(CellFailure { set, method, why }) => {
                    let mut cells = [""; COLUMNS.len()];
                    (cells[0], cells[1], cells[ERROR]) = (set, method, why);
                    table.write_record(cells)?;
                }
            }
        }
        table.flush()?;
        drop(table);
        String::from_utf8(text).map_err(io::Error::other)
    }

    /// How many graphs all datasets have together, as far as somebody read them.
    fn graphs(&self) -> u64 {
        let of_set = |dataset: usize| {
            self.any(Column { dataset, target: 0 }).map_or(0, |score| score.graphs)
        };
        (0..self.datasets.len()).map(of_set).sum()
    }

    /// Writes the table into a folder, as CSV, Markdown and JSON.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join("compare.csv");
        let table = self.csv().map_err(|e| hg2v::Error::io(&path, Action::Write, e))?;
        write_text(&path, &table)?;
        write_text(&folder.join("compare.md"), &self.markdown())?;
        Ok(write_json(&folder.join("compare.json"), self)?)
    }

    /// What failed, and why.
    pub fn failures(&self) -> Vec<String> {
        let failed = |outcome: &CellOutcome| match outcome {
            CellOutcome::Judged(_) | CellOutcome::LeftOut(_) => None,
            CellOutcome::Failed(CellFailure { set, method, why }) => {
                Some(format!("{set}: {method}: {why}"))
            }
        };
        self.outcomes.iter().filter_map(failed).collect()
    }
}

/// The columns of `compare.csv`.
#[rustfmt::skip]
const COLUMNS: [&str; 19] = [
    "set", "method", "test_mean", "test_std", "validation_mean", "validation_std", "splits",
    "seconds", "peak_bytes", "error", "target", "task", "judge", "mae_mean", "mae_std", "r2_mean",
    "r2_std", "difference_mean", "difference_error",
];

/// Where among them is why a cell failed, or was left out.
const ERROR: usize = 9;

/// What one judge gave, as a row of CSV.
fn cells_of(score: &CellScore, judge: &JudgeScore) -> [String; COLUMNS.len()] {
    let CellScore { set, target, task, method, seconds, peak_bytes, .. } = score;
    let JudgeScore { validation, test, errors, difference, .. } = judge;
    let optional = |value: Option<f64>| value.map_or_else(String::new, |value| value.to_string());
    let of_error = |value: fn(&ErrorScores) -> f64| optional(errors.as_ref().map(value));
    [
        set.clone(),
        method.clone(),
        test.mean.to_string(),
        test.std.to_string(),
        validation.mean.to_string(),
        validation.std.to_string(),
        test.n.to_string(),
        seconds.to_string(),
        peak_bytes.map_or_else(String::new, |peak| peak.to_string()),
        String::new(),
        target.clone().unwrap_or_default(),
        task.to_string(),
        judge.classifier.map_or_else(String::new, |own| own.title(*task).to_owned()),
        of_error(|errors| errors.mae.mean),
        of_error(|errors| errors.mae.std),
        of_error(|errors| errors.r2.mean),
        of_error(|errors| errors.r2.std),
        optional(difference.map(|apart| apart.mean)),
        optional(difference.map(|apart| apart.standard_error)),
    ]
}

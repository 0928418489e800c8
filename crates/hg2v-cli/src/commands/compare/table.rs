//! A comparison as text, Markdown, CSV and JSON.

use std::fmt;
use std::path::Path;

use hg2v_eval::Score;
use hg2v_eval::study::{Mode, SplitResult};
use serde_json::{Value, json};

use super::cell::{Failure, Record};
use crate::store::{write_json, write_text};
use crate::table::Table;

/// What became of a cell.
pub(super) enum Outcome {
    Judged(Box<Judged>),
    Failed(Failure),
}

/// A method on a set, over the splits that were asked for.
pub(super) struct Judged {
    set: String,
    method: String,
    graphs: u64,
    validation: Score,
    test: Score,
    seconds: f64,
    peak_bytes: Option<u64>,
}

impl Outcome {
    /// Of a file that may have more than the first `splits` splits, these.
    pub(super) fn of(cell: Result<Record, Failure>, splits: usize) -> anyhow::Result<Outcome> {
        let record = match cell {
            Ok(record) => record,
            Err(failure) => return Ok(Outcome::Failed(failure)),
        };
        let all = &record.result.splits;
        let asked: Vec<&SplitResult> = match record.identity.mode {
            Mode::Tenfold => all.iter().collect(),
            _ => all.iter().filter(|split| split.split < splits).collect(),
        };
        let of = |value: fn(&SplitResult) -> f64| {
            Score::of(&asked.iter().map(|split| value(split)).collect::<Vec<f64>>())
        };
        Ok(Outcome::Judged(Box::new(Judged {
            validation: of(|split| split.validation)?,
            test: of(|split| split.test)?,
            seconds: record.result.seconds * asked.len() as f64 / all.len() as f64,
            graphs: record.identity.data.graphs,
            set: record.identity.set,
            method: record.identity.method,
            peak_bytes: record.peak_bytes,
        })))
    }

    fn judged(&self) -> Option<&Judged> {
        match self {
            Outcome::Judged(judged) => Some(judged),
            Outcome::Failed(_) => None,
        }
    }
}

/// The accuracy, or that there is none.
impl fmt::Display for Outcome {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Outcome::Judged(judged) => write!(f, "{}", judged.test),
            Outcome::Failed(_) => f.write_str("failed"),
        }
    }
}

/// All methods on all sets.
pub(super) struct Comparison {
    pub(super) sets: Vec<String>,
    pub(super) methods: Vec<String>,
    /// Set by set, for each all methods.
    pub(super) outcomes: Vec<Outcome>,
    pub(super) mode: Mode,
    pub(super) seed: u64,
}

impl Comparison {
    fn outcome(&self, set: usize, method: usize) -> &Outcome {
        &self.outcomes[set * self.methods.len() + method]
    }

    /// What a method gave, set by set.
    fn judged(&self, method: usize) -> impl Iterator<Item = &Judged> {
        (0..self.sets.len()).filter_map(move |set| self.outcome(set, method).judged())
    }

    /// The place of a method on each set where it was judged, 1 for the best, averaged;
    /// equals share the mean of their places.
    fn rank(&self, method: usize) -> Option<f64> {
        let on = |set: usize| {
            let mean = |method: usize| Some(self.outcome(set, method).judged()?.test.mean);
            let own = mean(method)?;
            let others: Vec<f64> = (0..self.methods.len()).filter_map(mean).collect();
            let better = others.iter().filter(|&&other| other > own).count() as f64;
            let equal = others.iter().filter(|&&other| other == own).count() as f64;
            Some(better + (equal + 1.0) / 2.0)
        };
        let places: Vec<f64> = (0..self.sets.len()).filter_map(on).collect();
        let mean = places.iter().sum::<f64>() / places.len() as f64;
        (!places.is_empty()).then_some(mean)
    }

    fn header(&self) -> Vec<String> {
        let own = ["rank", "seconds", "MiB"].map(str::to_owned);
        ["method".to_owned()].into_iter().chain(self.sets.iter().cloned()).chain(own).collect()
    }

    fn cells(&self, method: usize) -> Vec<String> {
        let none = || "–".to_owned();
        let judged: Vec<&Judged> = self.judged(method).collect();
        let seconds: f64 = judged.iter().map(|judged| judged.seconds).sum();
        let peak = judged.iter().filter_map(|judged| judged.peak_bytes).max();
        let mut cells = vec![self.methods[method].clone()];
        cells.extend((0..self.sets.len()).map(|set| self.outcome(set, method).to_string()));
        cells.push(self.rank(method).map_or_else(none, |rank| format!("{rank:.1}")));
        cells.push(if judged.is_empty() { none() } else { format!("{seconds:.1}") });
        cells.push(peak.map_or_else(none, |peak| (peak >> 20).to_string()));
        cells
    }

    fn footnote(&self) -> String {
        let who = match self.mode {
            Mode::Inductive => "80/20 splits, methods trained on the 80 alone",
            Mode::Transductive => "80/20 splits, vectors trained on all graphs without labels",
            Mode::Tenfold => "ten folds, vectors trained on all graphs without labels",
        };
        let judged = self.outcomes.iter().filter_map(Outcome::judged);
        let splits = judged.map(|judged| judged.test.n).max().unwrap_or(0);
        format!(
            "accuracy in percent on the test parts: mean ± deviation over {splits} {who}; settings \
             chosen by 5-fold cross-validation inside the training part; seed {}; seconds of all \
             splits and sets, peak memory of the worst set",
            self.seed
        )
    }

    /// Columns for a terminal.
    pub(super) fn text(&self) -> String {
        let mut table = Table::new(1);
        table.row(self.header());
        (0..self.methods.len()).for_each(|method| table.row(self.cells(method)));
        format!("{}\n\n{}", table.lines().join("\n"), self.footnote())
    }

    fn markdown(&self) -> String {
        let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
        let rule = line(self.header().iter().map(|_| "---".to_owned()).collect());
        let rows: String = (0..self.methods.len()).map(|method| line(self.cells(method))).collect();
        let failures: String =
            self.failures().iter().map(|failure| format!("\n- {failure}")).collect();
        format!("{}{rule}{rows}\n{}\n{failures}", line(self.header()), self.footnote())
    }

    fn csv(&self) -> String {
        let mut text =
            "set,method,test_mean,test_std,validation_mean,validation_std,splits,seconds,\
                        peak_bytes,error\n"
                .to_owned();
        for outcome in &self.outcomes {
            text += &match outcome {
                Outcome::Judged(judged) => {
                    let Judged { set, method, validation, test, seconds, peak_bytes, .. } =
                        &**judged;
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
                Outcome::Failed(Failure { set, method, why }) => {
                    format!("{},{method},,,,,,,,{}\n", quoted(set), quoted(why))
                }
            };
        }
        text
    }

    /// How many graphs all sets have together, as far as somebody read them.
    fn graphs(&self) -> u64 {
        let of_set = |set: usize| {
            let mut all =
                (0..self.methods.len()).filter_map(|method| self.outcome(set, method).judged());
            all.next().map_or(0, |judged| judged.graphs)
        };
        (0..self.sets.len()).map(of_set).sum()
    }

    /// Everything for programs.
    pub(super) fn json(&self) -> Value {
        let cell = |outcome: &Outcome| match outcome {
            Outcome::Failed(failure) => json!(failure),
            Outcome::Judged(judged) => {
                let Judged { set, method, validation, test, seconds, peak_bytes, .. } = &**judged;
                json!({
                    "set": set, "method": method, "validation": validation, "test": test,
                    "seconds": seconds, "peak_bytes": peak_bytes,
                })
            }
        };
        let rank =
            |method: usize| json!({ "method": self.methods[method], "rank": self.rank(method) });
        json!({
            "mode": self.mode, "seed": self.seed, "sets": self.sets, "graphs": self.graphs(),
            "methods": (0..self.methods.len()).map(rank).collect::<Vec<_>>(),
            "cells": self.outcomes.iter().map(cell).collect::<Vec<_>>(),
        })
    }

    /// Writes the table into a folder, in each format.
    pub(super) fn write(&self, folder: &Path) -> anyhow::Result<()> {
        write_text(&folder.join("compare.csv"), &self.csv())?;
        write_text(&folder.join("compare.md"), &self.markdown())?;
        Ok(write_json(&folder.join("compare.json"), &self.json())?)
    }

    /// What failed, and why.
    pub(super) fn failures(&self) -> Vec<String> {
        let failed = |outcome: &Outcome| match outcome {
            Outcome::Judged(_) => None,
            Outcome::Failed(Failure { set, method, why }) => {
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

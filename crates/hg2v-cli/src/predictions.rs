//! `--predictions FILE.jsonl`: what a classifier said of every test graph, with all
//! that another program needs to judge the same vectors on the same splits.

use std::io::Write;

use hg2v::error::{Action, Error};
use hg2v::output::OutputFile;
use hg2v_eval::classifiers::ClassifierSplit;
use hg2v_eval::goal::{Goal, Truth};
use hg2v_eval::select::{Protocol, inner_folds};
use hg2v_eval::study::{Choice, Predictions, SplitResult, Study};
use hg2v_eval::{Split, regress};
use serde::Serialize;
use serde_json::{Value, json};

/// One method on one split. Graphs are named by their position, from 0.
#[derive(Serialize)]
struct Line<'a> {
    method: &'a str,
    split: usize,
    /// What is predicted, where graphs have several targets.
    #[serde(skip_serializing_if = "Option::is_none")]
    target: Option<&'a str>,
    /// The graphs of both parts that have it.
    train: &'a [usize],
    test: &'a [usize],
    /// The true class or number of each graph of `test`.
    truth: Value,
    /// What it was taken for.
    predicted: Value,
    /// The folds of `train` on which the setting was chosen.
    folds: Vec<Split>,
    /// The settings it was chosen from: C or α by C or α, for each all kernels; the first of
    /// the best.
    grid: Value,
    chosen: &'a Choice,
    /// The settings of other judges.
    #[serde(skip_serializing_if = "<[ClassifierSplit]>::is_empty")]
    also: &'a [ClassifierSplit],
    /// For choosing the setting, training and testing.
    seconds: f64,
}

/// Writes a line for each split of each method.
pub(crate) fn write<'a>(
    mut out: OutputFile,
    study: &Study<'_>,
    methods: impl Iterator<Item = (&'a str, &'a [SplitResult])>,
) -> anyhow::Result<()> {
    for (method, results) in methods {
        for result in results {
            let goal = &study.goals[result.target];
            let mut bytes = line(method, result, goal, study)?;
            bytes.push(b'\n');
            out.write_all(&bytes).map_err(|e| Error::io(out.path(), Action::Write, e))?;
        }
    }
    Ok(out.commit()?)
}

fn line(
    method: &str,
    result: &SplitResult,
    goal: &Goal,
    study: &Study<'_>,
) -> anyhow::Result<Vec<u8>> {
    let Protocol { folds, seed, .. } = study.protocol;
    let split = goal.part(&study.splits[result.split])?;
    let (truth, folds, grid) = match &goal.truth {
        Truth::Classes { labels, classes } => {
            let class = |&graph: &usize| &classes[labels[graph] as usize];
            let truth = json!(split.test.iter().map(class).collect::<Vec<_>>());
            (truth, inner_folds(labels, &split, folds, seed)?, json!(study.protocol.grid))
        }
        Truth::Numbers(numbers) => {
            let truth = json!(split.test.iter().map(|&graph| numbers[graph]).collect::<Vec<_>>());
            let folds = regress::inner_folds(numbers.len(), &split, folds, seed)?;
            (truth, folds, json!(regress::Protocol::like(&study.protocol).grid))
        }
    };
    let predicted = match &result.predictions {
        Predictions::Numbers(numbers) => json!(numbers),
        Predictions::Classes(said) => {
            let class = |&class: &u32| &goal.classes()[class as usize];
            json!(said.iter().map(class).collect::<Vec<_>>())
        }
    };
    Ok(serde_json::to_vec(&Line {
        method,
        split: result.split,
        target: goal.name.as_deref(),
        train: &split.train,
        test: &split.test,
        truth,
        predicted,
        folds,
        grid,
        chosen: &result.chosen,
        also: &result.also,
        seconds: result.seconds[1],
    })?)
}

//! `--predictions FILE.jsonl`: what a classifier said of every test graph, with all
//! that another program needs to judge the same vectors on the same splits.

use std::io::Write;

use hg2v::error::{Action, Error};
use hg2v::graph::Scalar;
use hg2v::output::OutputFile;
use hg2v_eval::Split;
use hg2v_eval::select::{Grid, inner_folds};
use hg2v_eval::study::{Choice, SplitResult, Study};
use serde::Serialize;

/// One method on one split. Graphs are named by their position, from 0.
#[derive(Serialize)]
struct Line<'a> {
    method: &'a str,
    split: usize,
    train: &'a [usize],
    test: &'a [usize],
    /// The true class of each graph of `test`.
    truth: Vec<&'a Scalar>,
    /// The class it was given.
    predicted: Vec<&'a Scalar>,
    /// The folds of `train` on which the setting was chosen.
    folds: Vec<Split>,
    /// The settings it was chosen from: C by C, for each all kernels; the first of
    /// the best.
    grid: &'a Grid,
    chosen: &'a Choice,
    /// For choosing the setting, training and testing.
    seconds: f64,
}

/// Writes a line for each split of each method.
pub(crate) fn write<'a>(
    mut out: OutputFile,
    study: &Study<'_>,
    methods: impl Iterator<Item = (&'a str, &'a [SplitResult])>,
) -> anyhow::Result<()> {
    let protocol = &study.protocol;
    for (method, results) in methods {
        for (split, result) in study.splits.iter().zip(results) {
            let class = |class: &u32| &study.classes[*class as usize];
            let line = Line {
                method,
                split: result.split,
                train: &split.train,
                test: &split.test,
                truth: split.test.iter().map(|&graph| class(&study.labels[graph])).collect(),
                predicted: result.predictions.iter().map(class).collect(),
                folds: inner_folds(&study.labels, split, protocol.folds, protocol.seed)?,
                grid: &protocol.grid,
                chosen: &result.chosen,
                seconds: result.seconds[1],
            };
            let mut bytes = serde_json::to_vec(&line)?;
            bytes.push(b'\n');
            out.write_all(&bytes).map_err(|e| Error::io(out.path(), Action::Write, e))?;
        }
    }
    Ok(out.commit()?)
}

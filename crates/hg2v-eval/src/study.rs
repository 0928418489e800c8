//! Embedders judged on the same splits by the same classifier.

use std::time::Instant;

use hg2v::Hg2vParams;
use hg2v::graph::Scalar;
use hg2v::prepare::Collection;
use hg2v::train::Flow;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::metrics::Score;
use crate::select::{self, Setting};
use crate::split::{Split, stratified_folds, stratified_shuffle};
use crate::statistics::statistics;

/// Who sees what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// Stratified 80/20 splits; the embedder is trained on the 80 alone.
    #[default]
    Inductive,
    /// The same splits; the embedder is trained on all graphs, without labels.
    Transductive,
    /// Ten folds, each the test part once; the embedder is trained on all graphs,
    /// without labels.
    Tenfold,
}

/// Graphs with labels, and how embedders of them are judged.
pub struct Study<'a> {
    /// The graphs.
    pub collection: &'a Collection<'a>,
    /// The class of each graph, a place in `classes`.
    pub labels: Vec<u32>,
    /// The labels, ascending.
    pub classes: Vec<Scalar>,
    /// Who sees what.
    pub mode: Mode,
    /// The splits.
    pub splits: Vec<Split>,
    /// The classifier and how its settings are chosen.
    pub protocol: select::Protocol,
}

/// What vectors are made by.
#[derive(Debug, Clone)]
pub enum Embedder {
    /// HG2V, trained.
    Trained(Hg2vParams),
    /// The same network, never trained.
    Untrained(Hg2vParams),
    /// [`statistics`](crate::statistics) counted by hand.
    Statistics,
    /// Vectors from elsewhere, a row a graph.
    Given(Matrix),
}

/// What one split gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct SplitResult {
    /// The split, from 0.
    pub split: usize,
    /// The accuracy of the chosen setting in cross-validation on the training part.
    pub validation: f64,
    /// The accuracy on the test part.
    pub test: f64,
    /// The setting that was chosen.
    pub chosen: Setting,
    /// Numbers a vector.
    pub dim: usize,
    /// Seconds for the vectors, and for the classifier.
    pub seconds: [f64; 2],
    /// The class given to each graph of the test part; too long to be kept in files.
    #[serde(skip)]
    pub predictions: Vec<u32>,
}

/// What an embedder gave on all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// Each split's own.
    pub splits: Vec<SplitResult>,
    /// The accuracies in cross-validation.
    pub validation: Score,
    /// The accuracies on the test parts.
    pub test: Score,
    /// Numbers a vector.
    pub dim: usize,
    /// Seconds from beginning to end.
    pub seconds: f64,
}

impl<'a> Study<'a> {
    /// A study of labelled graphs, with `splits` splits where the mode does not
    /// say ten.
    ///
    /// # Errors
    /// Graphs without labels; a single class.
    pub fn new(
        collection: &'a Collection<'a>,
        mode: Mode,
        splits: usize,
        protocol: select::Protocol,
    ) -> Result<Study<'a>> {
        let records = collection.run.records;
        let unlabelled = records.iter().filter(|record| record.label.is_none()).count();
        if unlabelled > 0 {
            return Err(Error::Unlabelled { unlabelled, graphs: records.len() });
        }
        let mut classes: Vec<Scalar> =
            records.iter().filter_map(|record| record.label.clone()).collect();
        let of = |label: &Scalar, classes: &[Scalar]| {
            classes.partition_point(|class| class < label) as u32
        };
        classes.sort_unstable();
        classes.dedup();
        if let [label] = &classes[..] {
            return Err(Error::OneLabel { label: label.clone(), graphs: records.len() });
        }
        let labels: Vec<u32> = records
            .iter()
            .filter_map(|record| record.label.as_ref())
            .map(|label| of(label, &classes))
            .collect();
        let seed = protocol.seed;
        let splits = match mode {
            Mode::Tenfold => stratified_folds(&labels, 10, seed, 0)?,
            _ => (0..splits as u64)
                .map(|index| stratified_shuffle(&labels, 0.2, seed, index))
                .collect::<Result<_>>()?,
        };
        Ok(Study { collection, labels, classes, mode, splits, protocol })
    }

    /// The share of the largest class.
    pub fn majority(&self) -> f64 {
        let count = |class: u32| self.labels.iter().filter(|&&label| label == class).count();
        let largest = (0..self.classes.len() as u32).map(count).max().unwrap_or(0);
        largest as f64 / self.labels.len().max(1) as f64
    }

    /// Judges an embedder; `done` is told after each split.
    ///
    /// # Errors
    /// An embedder that fails; vectors that are not finite.
    pub fn judge(&self, embedder: &Embedder, done: impl Fn() + Sync) -> Result<StudyResult> {
        let started = Instant::now();
        // Where all splits train on the same graphs, the vectors are the same.
        let shared = match self.mode {
            Mode::Inductive => None,
            _ => Some(self.timed_vectors(embedder, None)?),
        };
        let splits: Vec<SplitResult> = self
            .splits
            .par_iter()
            .enumerate()
            .map(|(index, split)| {
                let own;
                let (x, embedding) = match &shared {
                    Some(shared) => shared,
                    None => {
                        own = self.timed_vectors(embedder, Some(&split.train))?;
                        &own
                    }
                };
                let judging = Instant::now();
                let outcome = select::evaluate(x, &self.labels, split, &self.protocol)?;
                done();
                Ok(SplitResult {
                    split: index,
                    validation: outcome.selection.chosen().mean,
                    test: outcome.accuracy,
                    chosen: outcome.selection.chosen().clone(),
                    dim: x.columns(),
                    seconds: [*embedding, judging.elapsed().as_secs_f64()],
                    predictions: outcome.predictions,
                })
            })
            .collect::<Result<_>>()?;
        let of =
            |value: fn(&SplitResult) -> f64| -> Vec<f64> { splits.iter().map(value).collect() };
        Ok(StudyResult {
            validation: Score::of(&of(|split| split.validation))?,
            test: Score::of(&of(|split| split.test))?,
            dim: splits.iter().map(|split| split.dim).max().unwrap_or(0),
            seconds: started.elapsed().as_secs_f64(),
            splits,
        })
    }

    fn timed_vectors(&self, embedder: &Embedder, train: Option<&[usize]>) -> Result<(Matrix, f64)> {
        let started = Instant::now();
        let x = self.vectors(embedder, train)?;
        Ok((x, started.elapsed().as_secs_f64()))
    }

    /// A row for each graph, by an embedder that has seen the graphs of `train`
    /// (`None`: all).
    ///
    /// # Errors
    /// An embedder that fails; vectors that are not finite.
    pub fn vectors(&self, embedder: &Embedder, train: Option<&[usize]>) -> Result<Matrix> {
        let all: Vec<usize> = (0..self.collection.len()).collect();
        let (params, trained) = match embedder {
            Embedder::Trained(params) => (params, true),
            Embedder::Untrained(params) => (params, false),
            Embedder::Statistics => return statistics(self.collection, train.unwrap_or(&all)),
            Embedder::Given(x) => return Ok(x.clone()),
        };
        let fit = params.prepare(self.collection, train)?;
        let model = match trained {
            true => fit.train(None, |_, _| Ok(Flow::Continue))?.0,
            false => fit.untrained(),
        };
        drop(fit);
        let (examples, _) = model.examples_of(self.collection, &all)?;
        let rows = model.embed_examples(&examples);
        Matrix::from_f32(all.len(), model.network().layout.embedding_dim(), &rows)
    }
}

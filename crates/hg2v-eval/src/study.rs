//! Embedders judged on the same splits by the same classifier.

use std::time::Instant;

use hg2v::Hg2vParams;
use hg2v::graph::Scalar;
use hg2v::nn::crew;
use hg2v::nn::machine::Machine;
use hg2v::prepare::Collection;
use hg2v::train::Flow;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::also::{self, Classifier, Judged};
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
    /// Classifiers that judge the same vectors too.
    pub also: Vec<Classifier>,
    /// Where networks run: the processor, unless something else is put here.
    pub machine: Machine,
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
    /// What further classifiers gave on the same vectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<Judged>,
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
    /// Seconds from beginning to end; those of splits that were known before are
    /// added.
    pub seconds: f64,
    /// What further classifiers gave on the same vectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<AlsoResult>,
}

/// What a further classifier gave on all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AlsoResult {
    /// Which.
    pub classifier: Classifier,
    /// The accuracies in cross-validation.
    pub validation: Score,
    /// The accuracies on the test parts.
    pub test: Score,
    /// Seconds of all splits together.
    pub seconds: f64,
}

impl AlsoResult {
    fn of(classifier: Classifier, splits: &[SplitResult]) -> Result<AlsoResult> {
        let all = splits.iter().flat_map(|split| &split.also);
        let own: Vec<&Judged> = all.filter(|judged| judged.classifier == classifier).collect();
        let of = |value: fn(&Judged) -> f64| own.iter().map(|one| value(one)).collect::<Vec<f64>>();
        Ok(AlsoResult {
            classifier,
            validation: Score::of(&of(|judged| judged.validation))?,
            test: Score::of(&of(|judged| judged.test))?,
            seconds: of(|judged| judged.seconds).iter().sum(),
        })
    }
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
        Ok(Study {
            collection,
            labels,
            classes,
            mode,
            splits,
            protocol,
            also: Vec::new(),
            machine: Machine::Cpu,
        })
    }

    /// The share of the largest class.
    pub fn majority(&self) -> f64 {
        let count = |class: u32| self.labels.iter().filter(|&&label| label == class).count();
        let largest = (0..self.classes.len() as u32).map(count).max().unwrap_or(0);
        largest as f64 / self.labels.len().max(1) as f64
    }

    /// Judges an embedder. Splits that are `known` are not judged again; `done`
    /// hears of every other as soon as it is judged, from any thread.
    ///
    /// # Errors
    /// An embedder that fails; vectors that are not finite; what `done` returns.
    pub fn judge(
        &self,
        embedder: &Embedder,
        known: &[SplitResult],
        done: impl Fn(&SplitResult) -> Result<()> + Sync,
    ) -> Result<StudyResult> {
        let started = Instant::now();
        let known = known.iter().filter(|split| split.split < self.splits.len());
        let mut splits: Vec<SplitResult> = known.cloned().collect();
        splits.sort_by_key(|split| split.split);
        splits.dedup_by_key(|split| split.split);
        let before: f64 = splits.iter().flat_map(|split| split.seconds).sum();
        let is_known = |index: usize| splits.iter().any(|split| split.split == index);
        let missing: Vec<usize> =
            (0..self.splits.len()).filter(|&index| !is_known(index)).collect();
        // Where all splits train on the same graphs, the vectors are the same.
        let shared = match self.mode {
            Mode::Inductive => None,
            _ if missing.is_empty() => None,
            _ => Some(self.timed_vectors(embedder, None)?),
        };
        let judge = |&index: &usize| {
            let split = self.judge_split(embedder, index, shared.as_ref())?;
            done(&split)?;
            Ok(split)
        };
        // A thread a split, and no more at once than there are threads: one that waits
        // inside a split would take up another, and hold the graphs of both in memory.
        // Where threads are left over, all of them for one split after the other.
        let threads = rayon::current_num_threads();
        for some in missing.chunks(threads) {
            let judged: Vec<SplitResult> = if some.len() < threads {
                some.iter().map(judge).collect::<Result<_>>()?
            } else {
                some.par_iter().map(|index| crew::alone(|| judge(index))).collect::<Result<_>>()?
            };
            splits.extend(judged);
        }
        splits.sort_by_key(|split| split.split);
        let of =
            |value: fn(&SplitResult) -> f64| -> Vec<f64> { splits.iter().map(value).collect() };
        Ok(StudyResult {
            validation: Score::of(&of(|split| split.validation))?,
            test: Score::of(&of(|split| split.test))?,
            dim: splits.iter().map(|split| split.dim).max().unwrap_or(0),
            seconds: before + started.elapsed().as_secs_f64(),
            also: self
                .also
                .iter()
                .map(|&classifier| AlsoResult::of(classifier, &splits))
                .collect::<Result<_>>()?,
            splits,
        })
    }

    fn judge_split(
        &self,
        embedder: &Embedder,
        index: usize,
        shared: Option<&(Matrix, f64)>,
    ) -> Result<SplitResult> {
        let split = &self.splits[index];
        let own;
        let (x, embedding) = match shared {
            Some(shared) => shared,
            None => {
                own = self.timed_vectors(embedder, Some(&split.train))?;
                &own
            }
        };
        let judging = Instant::now();
        let outcome = select::evaluate(x, &self.labels, split, &self.protocol)?;
        let seconds = [*embedding, judging.elapsed().as_secs_f64()];
        let also = |&classifier: &Classifier| {
            also::evaluate(x, &self.labels, split, &self.protocol, classifier)
        };
        Ok(SplitResult {
            split: index,
            validation: outcome.selection.chosen().mean,
            test: outcome.accuracy,
            chosen: outcome.selection.chosen().clone(),
            dim: x.columns(),
            seconds,
            also: self.also.iter().map(also).collect::<Result<_>>()?,
            predictions: outcome.predictions,
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
        let mut fit = params.prepare(self.collection, train)?;
        fit.machine = self.machine.clone();
        let model = match trained {
            true => fit.train(None, |_, _| Ok(Flow::Continue))?.0,
            false => fit.untrained(),
        };
        drop(fit);
        let (examples, _) = model.examples_of(self.collection, &all)?;
        let rows = model.embed_examples_on(&self.machine, &examples)?;
        Matrix::from_f32(all.len(), model.network().layout.embedding_dim(), &rows)
    }
}

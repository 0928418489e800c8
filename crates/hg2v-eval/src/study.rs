//! [Candidates](crate::method) of all kinds judged on the same splits: vectors and kernels by
//! the same classifier, learners by what they say themselves.

use std::borrow::Cow;
use std::time::Instant;

use hg2v::Method;
use hg2v::context::Context;
use hg2v::graph::Scalar;
use hg2v::prepare::Collection;
use hg2v_math::parallel::{crew, try_map};
use serde::{Deserialize, Serialize};

use crate::classifiers::{self, Classifier, ClassifierSplit};
use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::method::{Candidate, Learner};
use crate::metrics::{Confusion, Score, accuracy, confusion};
use crate::select::{self, Setting};
use crate::split::{Split, stratified_folds, stratified_shuffle};

/// Who sees what.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
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

hg2v::vocabulary! { Mode, "protocol":
    Inductive => "inductive", "80/20 splits, trained on the 80";
    Transductive => "transductive", "80/20 splits, trained on all graphs without labels";
    Tenfold => "tenfold", "ten folds, trained on all graphs without labels";
}

impl Mode {
    /// Splits, unless somebody says how many.
    const SPLITS: usize = 10;

    /// How many splits it has, where so many were asked for.
    ///
    /// # Errors
    /// None, or a number that would mean nothing.
    pub fn splits(self, asked: Option<usize>) -> hg2v::Result<usize> {
        let refused = |n, requirement| Err(hg2v::Error::parameter("splits", n, requirement));
        match (self, asked) {
            (_, Some(0)) => refused(0, "it must be at least 1"),
            (Mode::Tenfold, Some(n)) => refused(n, "tenfold has its ten folds"),
            (_, asked) => Ok(asked.unwrap_or(Mode::SPLITS)),
        }
    }
}

/// Graphs with labels, and how methods are judged on them.
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
    /// Where methods run.
    pub context: Context<'a>,
}

/// What was chosen inside the training part of a split.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum Choice {
    /// A setting of the classifier.
    Setting(Setting),
    /// What a learner says that it chose.
    Own(String),
}

/// A method, as far as all splits share it.
enum Work<'a> {
    /// To be taught by each split's training part.
    Method(&'a dyn Method),
    Learner(&'a dyn Learner),
    /// Made of all graphs.
    Vectors(Cow<'a, Matrix>),
    Grams(Vec<Matrix>),
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
    /// What was chosen.
    pub chosen: Choice,
    /// Numbers a vector; 0 where there are no vectors.
    pub dim: usize,
    /// Seconds for the vectors or kernels (of what all splits share, a share), and for the
    /// classifier.
    pub seconds: [f64; 2],
    /// What further classifiers gave on the same vectors.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<ClassifierSplit>,
    /// The class given to each graph of the test part; too long to be kept in files.
    #[serde(skip)]
    pub predictions: Vec<u32>,
}

/// What a method gave on all splits.
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
    pub also: Vec<ClassifierResult>,
}

/// What a further classifier gave on all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassifierResult {
    /// Which.
    pub classifier: Classifier,
    /// The accuracies in cross-validation.
    pub validation: Score,
    /// The accuracies on the test parts.
    pub test: Score,
    /// Seconds of all splits together.
    pub seconds: f64,
}

impl ClassifierResult {
    fn of(classifier: Classifier, splits: &[SplitResult]) -> Result<ClassifierResult> {
        let all = splits.iter().flat_map(|split| &split.also);
        let own: Vec<&ClassifierSplit> =
            all.filter(|judged| judged.classifier == classifier).collect();
        let of = |value: fn(&ClassifierSplit) -> f64| {
            own.iter().map(|one| value(one)).collect::<Vec<f64>>()
        };
        Ok(ClassifierResult {
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
        let (also, context) = (Vec::new(), Context::default());
        Ok(Study { collection, labels, classes, mode, splits, protocol, also, context })
    }

    /// The share of the largest class.
    pub fn majority(&self) -> f64 {
        let count = |class: u32| self.labels.iter().filter(|&&label| label == class).count();
        let largest = (0..self.classes.len() as u32).map(count).max().unwrap_or(0);
        largest as f64 / self.labels.len().max(1) as f64
    }

    /// How often each class was taken for each, over the test parts of all splits; `None`
    /// where a split was known before, whose predictions are not kept.
    ///
    /// # Errors
    /// A result of another study.
    pub fn confusion(&self, result: &StudyResult) -> Result<Option<Confusion>> {
        let (mut truth, mut predicted) = (Vec::new(), Vec::new());
        for (split, judged) in self.splits.iter().zip(&result.splits) {
            if judged.predictions.is_empty() {
                return Ok(None);
            }
            truth.extend(split.test.iter().map(|&graph| self.labels[graph]));
            predicted.extend_from_slice(&judged.predictions);
        }
        confusion(&truth, &predicted).map(Some)
    }

    /// Judges a candidate. Splits that are `known` are not judged again; `done`
    /// hears of every other as soon as it is judged, from any thread.
    ///
    /// # Errors
    /// A method that fails; vectors that are not finite; what `done` returns.
    pub fn judge(
        &self,
        candidate: Candidate<'_>,
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
        if !missing.is_empty() {
            let work = self.work(candidate)?;
            let share = started.elapsed().as_secs_f64() / missing.len() as f64;
            let judge = |&index: &usize| {
                let mut split = self.judge_split(&work, index)?;
                split.seconds[0] += share;
                done(&split)?;
                Ok(split)
            };
            // A thread a split, and no more at once than there are threads: one that waits
            // inside a split would take up another, and hold the graphs of both in memory.
            // Where threads are left over, all of them for one split after the other.
            let threads = rayon::current_num_threads();
            let alone = |index| crew::alone(|| judge(index));
            for some in missing.chunks(threads) {
                let judged: Vec<SplitResult> = match some.len() < threads {
                    true => some.iter().map(judge).collect::<Result<_>>()?,
                    false => try_map(some, alone)?,
                };
                splits.extend(judged);
            }
        }
        splits.sort_by_key(|split| split.split);
        let of =
            |value: fn(&SplitResult) -> f64| -> Vec<f64> { splits.iter().map(value).collect() };
        let also = match candidate {
            Candidate::Method(_) | Candidate::Vectors(_) => &self.also[..],
            Candidate::Kernel(_) | Candidate::Learner(_) => &[],
        };
        Ok(StudyResult {
            validation: Score::of(&of(|split| split.validation))?,
            test: Score::of(&of(|split| split.test))?,
            dim: splits.iter().map(|split| split.dim).max().unwrap_or(0),
            seconds: before + started.elapsed().as_secs_f64(),
            also: also
                .iter()
                .map(|&classifier| ClassifierResult::of(classifier, &splits))
                .collect::<Result<_>>()?,
            splits,
        })
    }

    /// Does what is the same for all splits: the kernels of all graphs, and vectors by what
    /// is learnt from all graphs.
    fn work<'m>(&self, candidate: Candidate<'m>) -> Result<Work<'m>> {
        Ok(match (candidate, self.mode) {
            (Candidate::Kernel(kernel), _) => {
                Work::Grams(kernel.grams(self.collection, &self.context)?)
            }
            (Candidate::Learner(learner), _) => Work::Learner(learner),
            (Candidate::Vectors(x), _) => Work::Vectors(Cow::Borrowed(x)),
            (Candidate::Method(method), Mode::Inductive) => Work::Method(method),
            (Candidate::Method(method), _) => {
                let x = self.vectors(method, &self.collection.all())?;
                Work::Vectors(Cow::Owned(x))
            }
        })
    }

    /// A row for each graph, by what `method` learns from the graphs `train`.
    fn vectors(&self, method: &dyn Method, train: &[usize]) -> Result<Matrix> {
        let model = method.fit_collection(self.collection, train, &self.context)?;
        let rows = model.embed_collection(self.collection, &self.context)?;
        Matrix::from_f32(self.collection.len(), model.dim(), &rows.values)
    }

    fn judge_split(&self, work: &Work<'_>, index: usize) -> Result<SplitResult> {
        match work {
            Work::Vectors(x) => self.judge_vectors(index, x, 0.0),
            Work::Grams(grams) => self.judge_grams(index, grams),
            Work::Method(method) => {
                let started = Instant::now();
                let x = self.vectors(*method, &self.splits[index].train)?;
                self.judge_vectors(index, &x, started.elapsed().as_secs_f64())
            }
            Work::Learner(learner) => self.judge_learner(index, *learner),
        }
    }

    fn judge_learner(&self, index: usize, learner: &dyn Learner) -> Result<SplitResult> {
        let started = Instant::now();
        let split = &self.splits[index];
        let learnt = learner.learn(self.collection, &self.labels, self.classes.len(), split)?;
        let truth: Vec<u32> = split.test.iter().map(|&at| self.labels[at]).collect();
        Ok(SplitResult {
            split: index,
            validation: learnt.validation,
            test: accuracy(&truth, &learnt.predictions)?,
            chosen: Choice::Own(learnt.chosen),
            dim: 0,
            seconds: [0.0, started.elapsed().as_secs_f64()],
            also: Vec::new(),
            predictions: learnt.predictions,
        })
    }

    fn judge_vectors(&self, index: usize, x: &Matrix, embedding: f64) -> Result<SplitResult> {
        let split = &self.splits[index];
        let judging = Instant::now();
        let outcome = select::evaluate(x, &self.labels, split, &self.protocol)?;
        let seconds = [embedding, judging.elapsed().as_secs_f64()];
        let also = |&classifier: &Classifier| {
            classifiers::evaluate(x, &self.labels, split, &self.protocol, classifier)
        };
        let also = self.also.iter().map(also).collect::<Result<_>>()?;
        Ok(SplitResult { dim: x.columns(), also, ..of_outcome(index, outcome, seconds) })
    }

    fn judge_grams(&self, index: usize, grams: &[Matrix]) -> Result<SplitResult> {
        let judging = Instant::now();
        let split = &self.splits[index];
        let outcome = select::evaluate_precomputed(grams, &self.labels, split, &self.protocol)?;
        Ok(of_outcome(index, outcome, [0.0, judging.elapsed().as_secs_f64()]))
    }
}

/// What a classifier gave on a split.
fn of_outcome(split: usize, outcome: select::Outcome, seconds: [f64; 2]) -> SplitResult {
    let chosen = outcome.selection.chosen();
    SplitResult {
        split,
        validation: chosen.mean,
        test: outcome.accuracy,
        chosen: Choice::Setting(chosen.clone()),
        dim: 0,
        seconds,
        also: Vec::new(),
        predictions: outcome.predictions,
    }
}

//! [Candidates](crate::method) of all kinds judged on the same splits: vectors and kernels by
//! the same machine, learners by what they say themselves.
//!
//! There is one set of splits for all targets: vectors of a split are made once, and each target
//! is judged on those graphs of both parts that have it.

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
use crate::goal::{Goal, Task, Truth};
use crate::matrix::Matrix;
use crate::method::{Candidate, Learner};
use crate::metrics::{Confusion, ErrorScores, Errors, Score, accuracy, confusion, errors};
use crate::regress;
use crate::select::{self, Setting};
use crate::split::{Split, plain_folds, shuffle, stratified_folds, stratified_shuffle};

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

/// Graphs with something to predict, and how methods are judged on them.
pub struct Study<'a> {
    /// The graphs.
    pub collection: &'a Collection<'a>,
    /// What is to be predicted; at least one.
    pub goals: Vec<Goal>,
    /// Who sees what.
    pub mode: Mode,
    /// The splits.
    pub splits: Vec<Split>,
    /// The classifier and how its settings are chosen; numbers are judged on
    /// [the like](regress::Protocol::like).
    pub protocol: select::Protocol,
    /// Judges beside it, of those that [have](Candidate::beside) them.
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
    /// A setting of kernel ridge regression.
    Regression(regress::Setting),
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
    /// The place of what was predicted among the goals of the study.
    #[serde(default, skip_serializing_if = "is_first")]
    pub target: usize,
    /// The accuracy of the chosen setting in cross-validation on the training part; of numbers
    /// the root mean square error.
    pub validation: f64,
    /// The same on the test part.
    pub test: f64,
    /// Of numbers, all errors on the test part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<Errors>,
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
    /// What was said of each graph of the test part; too long to be kept in files.
    #[serde(skip)]
    pub predictions: Predictions,
}

/// What was said of each graph of a test part that has the target.
#[derive(Debug, Clone, PartialEq)]
pub enum Predictions {
    /// Places of classes.
    Classes(Vec<u32>),
    /// Numbers.
    Numbers(Vec<f64>),
}

impl Default for Predictions {
    fn default() -> Predictions {
        Predictions::Classes(Vec::new())
    }
}

fn is_first(place: &usize) -> bool {
    *place == 0
}

/// What a method gave on all splits.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StudyResult {
    /// Each split's own.
    pub splits: Vec<SplitResult>,
    /// The accuracies in cross-validation; of numbers root mean square errors.
    pub validation: Score,
    /// The same on the test parts.
    pub test: Score,
    /// Of numbers, all errors on the test parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorScores>,
    /// Numbers a vector.
    pub dim: usize,
    /// Seconds from beginning to end, of all targets; those of splits that were known before are
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
    /// The accuracies in cross-validation; of numbers root mean square errors.
    pub validation: Score,
    /// The same on the test parts.
    pub test: Score,
    /// Of numbers, all errors on the test parts.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorScores>,
    /// Seconds of all splits together.
    pub seconds: f64,
}

impl ClassifierResult {
    /// What it gave on these splits.
    ///
    /// # Errors
    /// Splits that it did not judge.
    pub fn of(classifier: Classifier, splits: &[SplitResult]) -> Result<ClassifierResult> {
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
            errors: error_scores(own.iter().map(|judged| judged.errors))?,
            seconds: of(|judged| judged.seconds).iter().sum(),
        })
    }
}

/// Errors of all splits, where numbers were judged.
fn error_scores(splits: impl Iterator<Item = Option<Errors>>) -> Result<Option<ErrorScores>> {
    let all: Option<Vec<Errors>> = splits.collect();
    all.filter(|all| !all.is_empty()).map(|all| ErrorScores::of(&all)).transpose()
}

impl StudyResult {
    /// How well it did on the test parts, as tables print it: accuracies in percent, or root mean
    /// square errors.
    pub fn shown(&self) -> String {
        match &self.errors {
            Some(errors) => errors.rmse.plain(),
            None => self.test.to_string(),
        }
    }

    /// What some splits of one target gave, with these judges beside the first.
    ///
    /// # Errors
    /// No splits.
    pub fn of(splits: Vec<SplitResult>, also: &[Classifier], seconds: f64) -> Result<StudyResult> {
        let of =
            |value: fn(&SplitResult) -> f64| -> Vec<f64> { splits.iter().map(value).collect() };
        let beside = |&classifier: &Classifier| ClassifierResult::of(classifier, &splits);
        Ok(StudyResult {
            validation: Score::of(&of(|split| split.validation))?,
            test: Score::of(&of(|split| split.test))?,
            errors: error_scores(splits.iter().map(|split| split.errors))?,
            dim: splits.iter().map(|split| split.dim).max().unwrap_or(0),
            seconds,
            also: also.iter().map(beside).collect::<Result<_>>()?,
            splits,
        })
    }
}

impl<'a> Study<'a> {
    /// A study of graphs with classes, all of which have one, with `splits` splits where the mode
    /// does not say ten.
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
        let labels: Vec<Option<&Scalar>> =
            records.iter().map(|record| record.label.as_ref()).collect();
        let goals = vec![Goal::of(None, &labels, Task::Classes)?];
        Study::of(collection, goals, mode, splits, protocol)
    }

    /// A study of graphs with something to predict: see [`Goal::all`].
    ///
    /// Splits are stratified where the only goal is classes, those without one being a class of
    /// their own; else they are plain shuffles.
    ///
    /// # Errors
    /// No goals; too few graphs.
    pub fn of(
        collection: &'a Collection<'a>,
        goals: Vec<Goal>,
        mode: Mode,
        splits: usize,
        protocol: select::Protocol,
    ) -> Result<Study<'a>> {
        let (seed, graphs) = (protocol.seed, collection.len());
        let strata: Option<Vec<u32>> = match &goals[..] {
            [] => return Err(Error::Empty { what: "the list of targets" }),
            [Goal { truth: Truth::Classes { labels, classes }, known, .. }] => {
                let class = |(&label, &known): (&u32, &bool)| match known {
                    true => label,
                    false => classes.len() as u32,
                };
                Some(labels.iter().zip(known).map(class).collect())
            }
            _ => None,
        };
        let shuffled = |index: u64| match &strata {
            Some(strata) => stratified_shuffle(strata, 0.2, seed, index),
            None => shuffle(graphs, 0.2, seed, index),
        };
        let splits = match (mode, &strata) {
            (Mode::Tenfold, Some(strata)) => stratified_folds(strata, 10, seed, 0)?,
            (Mode::Tenfold, None) => plain_folds(graphs, 10, seed, 0)?,
            _ => (0..splits as u64).map(shuffled).collect::<Result<_>>()?,
        };
        let (also, context) = (Vec::new(), Context::default());
        let study = Study { collection, goals, mode, splits, protocol, also, context };
        // Before anything is trained.
        for goal in &study.goals {
            study.splits.iter().try_for_each(|split| goal.part(split).map(drop))?;
        }
        Ok(study)
    }

    /// The class of each graph by the first goal; none where that is numbers.
    pub fn labels(&self) -> &[u32] {
        match self.goals.first().map(|goal| &goal.truth) {
            Some(Truth::Classes { labels, .. }) => labels,
            _ => &[],
        }
    }

    /// The classes of the first goal, ascending.
    pub fn classes(&self) -> &[Scalar] {
        self.goals.first().map_or(&[], Goal::classes)
    }

    /// The share of the largest class of the first goal; 0 where that is numbers.
    pub fn majority(&self) -> f64 {
        self.goals.first().and_then(Goal::majority).unwrap_or(0.0)
    }

    /// How often each class was taken for each, over the test parts of all splits; `None`
    /// of numbers, and where a split was known before, whose predictions are not kept.
    ///
    /// # Errors
    /// A result of another study.
    pub fn confusion(&self, result: &StudyResult) -> Result<Option<Confusion>> {
        let (mut truth, mut predicted) = (Vec::new(), Vec::new());
        for judged in &result.splits {
            let goal = &self.goals[judged.target];
            let (Truth::Classes { labels, .. }, Predictions::Classes(said)) =
                (&goal.truth, &judged.predictions)
            else {
                return Ok(None);
            };
            if said.is_empty() {
                return Ok(None);
            }
            let tested = goal.part(&self.splits[judged.split])?.test;
            truth.extend(tested.iter().map(|&graph| labels[graph]));
            predicted.extend_from_slice(said);
        }
        confusion(&truth, &predicted).map(Some)
    }

    /// Judges a candidate by the first goal. Splits that are `known` are not judged again; `done`
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
        Ok(self.judge_each(candidate, known, done)?.swap_remove(0))
    }

    /// As [`judge`](Study::judge), by every goal: a result for each.
    ///
    /// # Errors
    /// As [`judge`](Study::judge).
    pub fn judge_each(
        &self,
        candidate: Candidate<'_>,
        known: &[SplitResult],
        done: impl Fn(&SplitResult) -> Result<()> + Sync,
    ) -> Result<Vec<StudyResult>> {
        let started = Instant::now();
        let beside: Vec<Vec<Classifier>> =
            self.goals.iter().map(|goal| candidate.beside(goal, &self.also)).collect();
        let mut splits = self.usable(known, &beside);
        let before: f64 = splits.iter().flat_map(|split| split.seconds).sum();
        let is_known = |index: usize| splits.iter().any(|split| split.split == index);
        let missing: Vec<usize> =
            (0..self.splits.len()).filter(|&index| !is_known(index)).collect();
        if !missing.is_empty() {
            let work = self.work(candidate)?;
            let share = started.elapsed().as_secs_f64() / missing.len() as f64;
            let judge = |&index: &usize| {
                let mut judged = self.judge_split(&work, index, &beside)?;
                judged[0].seconds[0] += share;
                judged.iter().try_for_each(&done)?;
                Ok(judged)
            };
            // A thread a split, and no more at once than there are threads: one that waits
            // inside a split would take up another, and hold the graphs of both in memory.
            // Where threads are left over, all of them for one split after the other.
            let threads = rayon::current_num_threads();
            let alone = |index| crew::alone(|| judge(index));
            for some in missing.chunks(threads) {
                let judged: Vec<Vec<SplitResult>> = match some.len() < threads {
                    true => some.iter().map(judge).collect::<Result<_>>()?,
                    false => try_map(some, alone)?,
                };
                splits.extend(judged.into_iter().flatten());
            }
        }
        splits.sort_by_key(|split| split.split);
        let seconds = before + started.elapsed().as_secs_f64();
        let of_goal = |(at, also): (usize, &Vec<Classifier>)| {
            let own = splits.iter().filter(|split| split.target == at).cloned().collect();
            StudyResult::of(own, also, seconds)
        };
        beside.iter().enumerate().map(of_goal).collect()
    }

    /// Of what is known, the splits that every goal and judge was done on, once each.
    fn usable(&self, known: &[SplitResult], beside: &[Vec<Classifier>]) -> Vec<SplitResult> {
        let judged = |split: &&SplitResult| {
            let did = |judge: &Classifier| split.also.iter().any(|also| also.classifier == *judge);
            split.split < self.splits.len()
                && beside.get(split.target).is_some_and(|judges| judges.iter().all(did))
        };
        let mut splits: Vec<SplitResult> = known.iter().filter(judged).cloned().collect();
        splits.sort_by_key(|split| (split.split, split.target));
        splits.dedup_by_key(|split| (split.split, split.target));
        let whole = splits.chunk_by(|a, b| a.split == b.split);
        whole.filter(|goals| goals.len() == self.goals.len()).flatten().cloned().collect()
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
        Matrix::of_model(&*model, self.collection, &self.context)
    }

    /// A result for each goal.
    fn judge_split(
        &self,
        work: &Work<'_>,
        index: usize,
        beside: &[Vec<Classifier>],
    ) -> Result<Vec<SplitResult>> {
        let started = Instant::now();
        let made;
        let subject = match work {
            Work::Vectors(x) => Subject::Vectors(x),
            Work::Grams(grams) => Subject::Grams(grams),
            Work::Learner(learner) => Subject::Learner(*learner),
            Work::Method(method) => {
                made = self.vectors(*method, &self.splits[index].train)?;
                Subject::Vectors(&made)
            }
        };
        let embedding = started.elapsed().as_secs_f64();
        let on_goal = |(at, goal): (usize, &Goal)| {
            let split = goal.part(&self.splits[index])?;
            let judging = Instant::now();
            let said = match &goal.truth {
                Truth::Classes { labels, classes } => {
                    self.judge_classes(&subject, labels, classes.len(), &split)?
                }
                Truth::Numbers(numbers) => self.judge_numbers(&subject, goal, numbers, &split)?,
            };
            // Vectors are made once, and counted with the first goal.
            let embedding = if at == 0 { embedding } else { 0.0 };
            let seconds = [embedding, judging.elapsed().as_secs_f64()];
            let dim = match subject {
                Subject::Vectors(x) => x.columns(),
                Subject::Grams(_) | Subject::Learner(_) => 0,
            };
            let judge = |&judge: &Classifier| self.judge_beside(&subject, goal, &split, judge);
            let also = beside[at].iter().map(judge).collect::<Result<_>>()?;
            Ok(SplitResult { split: index, target: at, dim, seconds, also, ..said })
        };
        self.goals.iter().enumerate().map(on_goal).collect()
    }

    fn judge_classes(
        &self,
        subject: &Subject<'_>,
        labels: &[u32],
        classes: usize,
        split: &Split,
    ) -> Result<SplitResult> {
        let outcome = match subject {
            Subject::Vectors(x) => select::evaluate(x, labels, split, &self.protocol)?,
            Subject::Grams(grams) => {
                select::evaluate_precomputed(grams, labels, split, &self.protocol)?
            }
            Subject::Learner(learner) => {
                let learnt = learner.learn(self.collection, labels, classes, split)?;
                let truth: Vec<u32> = split.test.iter().map(|&at| labels[at]).collect();
                let test = accuracy(&truth, &learnt.predictions)?;
                let (chosen, said) = (Choice::Own(learnt.chosen), learnt.predictions);
                return Ok(said_of(learnt.validation, test, chosen, Predictions::Classes(said)));
            }
        };
        let chosen = outcome.selection.chosen();
        let said = Predictions::Classes(outcome.predictions);
        Ok(said_of(chosen.mean, outcome.accuracy, Choice::Setting(chosen.clone()), said))
    }

    fn judge_numbers(
        &self,
        subject: &Subject<'_>,
        goal: &Goal,
        numbers: &[f64],
        split: &Split,
    ) -> Result<SplitResult> {
        let protocol = regress::Protocol::like(&self.protocol);
        let outcome = match subject {
            Subject::Vectors(x) => regress::evaluate(x, numbers, split, &protocol)?,
            Subject::Grams(grams) => {
                regress::evaluate_precomputed(grams, numbers, split, &protocol)?
            }
            Subject::Learner(learner) => {
                let learnt = learner.learn_numbers(numbers, split)?;
                let learnt =
                    learnt.ok_or_else(|| Error::LearnsClasses { target: goal.called() })?;
                let truth: Vec<f64> = split.test.iter().map(|&at| numbers[at]).collect();
                let missed = errors(&truth, &learnt.predictions)?;
                let (chosen, said) = (Choice::Own(learnt.chosen), learnt.predictions);
                let said = Predictions::Numbers(said);
                let said = said_of(learnt.validation, missed.rmse, chosen, said);
                return Ok(SplitResult { errors: Some(missed), ..said });
            }
        };
        let chosen = outcome.selection.chosen();
        let said = Predictions::Numbers(outcome.predictions);
        let choice = Choice::Regression(chosen.clone());
        let said = said_of(chosen.mean, outcome.errors.rmse, choice, said);
        Ok(SplitResult { errors: Some(outcome.errors), ..said })
    }

    fn judge_beside(
        &self,
        subject: &Subject<'_>,
        goal: &Goal,
        split: &Split,
        judge: Classifier,
    ) -> Result<ClassifierSplit> {
        match (subject, &goal.truth) {
            (Subject::Vectors(x), Truth::Classes { labels, .. }) => {
                classifiers::evaluate(x, labels, split, &self.protocol, judge)
            }
            (Subject::Vectors(x), Truth::Numbers(numbers)) => {
                let protocol = regress::Protocol::like(&self.protocol);
                classifiers::evaluate_numbers(x, numbers, split, &protocol, judge)
            }
            (Subject::Grams(grams), truth) => {
                classifiers::evaluate_kernels(grams, truth, split, &self.protocol, judge)
            }
            (Subject::Learner(_), _) => {
                let requirement = "it is for vectors, and this method judges itself";
                Err(hg2v::Error::parameter("also", judge, requirement).into())
            }
        }
    }
}

/// What a split's goals are judged by.
enum Subject<'a> {
    Vectors(&'a Matrix),
    Grams(&'a [Matrix]),
    Learner(&'a dyn Learner),
}

/// What was said of a split that is yet to be named.
fn said_of(validation: f64, test: f64, chosen: Choice, predictions: Predictions) -> SplitResult {
    SplitResult {
        split: 0,
        target: 0,
        validation,
        test,
        errors: None,
        chosen,
        dim: 0,
        seconds: [0.0; 2],
        also: Vec::new(),
        predictions,
    }
}

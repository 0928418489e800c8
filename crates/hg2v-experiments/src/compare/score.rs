//! What a method gave on one target of a dataset, over the splits that were asked for.

use hg2v_eval::Score;
use hg2v_eval::classifiers::{Classifier, main_title};
use hg2v_eval::goal::Task;
use hg2v_eval::metrics::{Difference, ErrorScores, digits};
use hg2v_eval::study::{Mode, SplitResult, StudyResult};
use serde::Serialize;

use super::cell::CellRecord;
use crate::error::Result;

/// Of 80/20 splits.
pub(super) const TESTED_BY_TRAINED: f64 = 0.2 / 0.8;

/// A method on a target of a dataset.
#[derive(Debug, Clone, Serialize)]
pub struct CellScore {
    /// The dataset.
    pub set: String,
    /// The target, where graphs have several.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<String>,
    /// Whether it is classes or numbers.
    pub task: Task,
    /// The method.
    pub method: String,
    /// How many graphs the dataset has.
    #[serde(skip)]
    pub graphs: u64,
    /// What the machine with a radial kernel, or the kernel's own, gave; or the method itself.
    #[serde(flatten)]
    pub main: JudgeScore,
    /// What other judges gave of the same vectors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub also: Vec<JudgeScore>,
    /// How long it took, all targets together.
    pub seconds: f64,
    /// The most memory that it held, where the system tells.
    pub peak_bytes: Option<u64>,
}

/// What one judge gave.
#[derive(Debug, Clone, Serialize)]
pub struct JudgeScore {
    /// Which, where it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub classifier: Option<Classifier>,
    /// The accuracies in cross-validation; of numbers root mean square errors.
    pub validation: Score,
    /// The same on the test parts.
    pub test: Score,
    /// Of numbers, all errors on the test parts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub errors: Option<ErrorScores>,
    /// How much more or less it is than another method's on the same splits.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub difference: Option<Difference>,
    /// `test` split by split.
    #[serde(skip)]
    pub tests: Vec<f64>,
}

impl CellScore {
    /// Of a file that may have more than the first `splits` splits, these: a score a target.
    pub(crate) fn each(record: &CellRecord, splits: usize) -> Result<Vec<CellScore>> {
        let identity = &record.identity;
        let of = |(target, result): (Option<&_>, &StudyResult)| {
            let target: Option<&super::cell::TargetIdentity> = target;
            let all = result.splits.len();
            let asked: Vec<SplitResult> = match identity.mode {
                Mode::Tenfold => result.splits.clone(),
                _ => result.splits.iter().filter(|split| split.split < splits).cloned().collect(),
            };
            let judges: Vec<Classifier> = result.also.iter().map(|also| also.classifier).collect();
            let seconds = result.seconds * asked.len() as f64 / all as f64;
            let result = StudyResult::of(asked, &judges, seconds)?;
            Ok(CellScore {
                set: identity.set.clone(),
                target: target.and_then(|target| target.target.clone()),
                task: target.map_or(Task::Classes, |target| target.task),
                method: identity.method.clone(),
                graphs: identity.data.graphs,
                also: result
                    .also
                    .iter()
                    .map(|also| JudgeScore::beside(also.classifier, &result))
                    .collect::<Result<_>>()?,
                main: JudgeScore::first(&result),
                seconds,
                peak_bytes: record.peak_bytes,
            })
        };
        record.each().map(of).collect()
    }

    /// What a judge gave: the first, or one beside it.
    pub(crate) fn by(&self, judge: Option<Classifier>) -> Option<&JudgeScore> {
        match judge {
            None => Some(&self.main),
            Some(_) => self.also.iter().find(|also| also.classifier == judge),
        }
    }

    /// Says how much every judge differs from what it gave of `other`, or from what `other` gave
    /// by itself where that judge has nothing to say of it, as of kernels.
    pub(super) fn set_against(&mut self, other: &CellScore, tested_by_trained: f64) -> Result<()> {
        for own in [&mut self.main].into_iter().chain(&mut self.also) {
            let other = other.by(own.classifier).unwrap_or(&other.main);
            own.difference = Some(Difference::of(&own.tests, &other.tests, tested_by_trained)?);
        }
        Ok(())
    }
}

impl JudgeScore {
    fn first(result: &StudyResult) -> JudgeScore {
        JudgeScore {
            classifier: None,
            validation: result.validation,
            test: result.test,
            errors: result.errors,
            difference: None,
            tests: result.splits.iter().map(|split| split.test).collect(),
        }
    }

    fn beside(classifier: Classifier, result: &StudyResult) -> Result<JudgeScore> {
        let of = hg2v_eval::study::ClassifierResult::of(classifier, &result.splits)?;
        let all = result.splits.iter().flat_map(|split| &split.also);
        let own = all.filter(|also| also.classifier == classifier);
        Ok(JudgeScore {
            classifier: Some(classifier),
            validation: of.validation,
            test: of.test,
            errors: of.errors,
            difference: None,
            tests: own.map(|also| also.test).collect(),
        })
    }

    /// What the judge is called, of classes or of numbers.
    pub(super) fn title(&self, task: Task) -> &'static str {
        self.classifier.map_or(main_title(task), |judge| judge.title(task))
    }

    /// What is more the better it is.
    pub(crate) fn goodness(&self) -> f64 {
        if self.errors.is_some() { -self.test.mean } else { self.test.mean }
    }

    /// How much more or less it is than `other` on the splits that both have, as tables print it.
    ///
    /// # Errors
    /// No such splits.
    pub(crate) fn less(&self, other: &JudgeScore) -> Result<Option<String>> {
        let both = self.tests.len().min(other.tests.len());
        let apart = Difference::of(&self.tests[..both], &other.tests[..both], TESTED_BY_TRAINED)?;
        Ok(JudgeScore { difference: Some(apart), ..self.clone() }.shown_difference())
    }

    /// Accuracies in percent, or root mean square errors.
    pub(crate) fn shown(&self) -> String {
        self.errors.map_or_else(|| self.test.to_string(), |errors| errors.rmse.plain())
    }

    /// The difference, in points of percent or as it is.
    pub(super) fn shown_difference(&self) -> Option<String> {
        let Difference { mean, standard_error, .. } = self.difference?;
        let factor = if self.errors.is_some() { 1.0 } else { 100.0 };
        let (mean, error) = (factor * mean, factor * standard_error);
        let digits = if self.errors.is_some() { digits(mean.abs().max(error)) } else { 1 };
        Some(format!("{mean:+.digits$} ± {error:.digits$}"))
    }
}

/// The place of a value among all, of which it is one: 1 for the largest, and equals share the mean
/// of their places.
pub(crate) fn place(own: f64, all: &[f64]) -> f64 {
    let better = all.iter().filter(|&&other| other > own).count() as f64;
    let equal = all.iter().filter(|&&other| other == own).count() as f64;
    better + (equal + 1.0) / 2.0
}

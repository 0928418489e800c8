//! What `hg2v evaluate --json` says: a set judged, method by method.

use std::path::PathBuf;

use hg2v::context::Context;
use hg2v::graph::Scalar;
use hg2v::model::Architecture;
use hg2v::progress::Stage;
use hg2v::train::Recipe;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::goal::{Goal, Task};
use crate::method::Candidate;
use crate::metrics::{Confusion, ErrorScores};
use crate::split::Split;
use crate::study::{Mode, SplitResult, Study, StudyResult};

/// A set judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The graphs, as they were asked for.
    pub data: PathBuf,
    /// How many.
    pub graphs: usize,
    /// Who saw what.
    pub mode: Mode,
    /// How many splits.
    pub splits: usize,
    /// The seed of the splits and the classifier.
    pub seed: u64,
    /// The network that was judged.
    pub architecture: Architecture,
    /// Its training.
    pub recipe: Recipe,
    /// What was found of the only target, or of the first.
    #[serde(flatten)]
    pub first: TargetEvaluation,
    /// What was found of each target, where there are several.
    #[serde(default)]
    pub targets: Vec<TargetEvaluation>,
}

/// What was found of one target.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TargetEvaluation {
    /// What it is called; nothing where graphs have a single one, `y`.
    #[serde(default)]
    pub target: Option<String>,
    /// Whether it is classes or numbers.
    #[serde(default = "classes")]
    pub task: Task,
    /// Graphs that have it.
    #[serde(default)]
    pub known: usize,
    /// Classes, ascending; none of numbers.
    pub classes: Vec<Scalar>,
    /// The share of the largest class.
    pub majority: Option<f64>,
    /// How far off the mean of the training part is, of numbers.
    #[serde(default)]
    pub mean: Option<ErrorScores>,
    /// The methods, the one in question first.
    pub methods: Vec<Judgement>,
}

/// What evaluations were of before there were numbers.
fn classes() -> Task {
    Task::Classes
}

/// What one method gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The method.
    pub name: String,
    /// Its accuracies or errors.
    pub result: StudyResult,
    /// Which classes it took for which, in places of [`TargetEvaluation::classes`].
    #[serde(default)]
    pub confusion: Option<Confusion>,
}

impl Judgement {
    /// Judges a candidate on every split of a study, each of which `context` is told of: a
    /// judgement for each goal.
    ///
    /// # Errors
    /// As [`Study::judge`].
    pub fn of_each(
        name: &str,
        candidate: Candidate<'_>,
        study: &Study<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Judgement>> {
        let counter = context.counter(Stage::Judging, study.splits.len() as u64);
        let last = study.goals.len() - 1;
        let done = |split: &SplitResult| Ok(counter.add(u64::from(split.target == last))?);
        let results = study.judge_each(candidate, &[], done)?;
        let judgement = |result: StudyResult| {
            let confusion = study.confusion(&result)?;
            Ok(Judgement { name: name.to_owned(), result, confusion })
        };
        results.into_iter().map(judgement).collect()
    }
}

impl TargetEvaluation {
    /// All that was found of a goal.
    ///
    /// # Errors
    /// As [`Goal::mean`].
    pub fn of(goal: &Goal, splits: &[Split], methods: Vec<Judgement>) -> Result<TargetEvaluation> {
        Ok(TargetEvaluation {
            target: goal.name.clone(),
            task: goal.task(),
            known: goal.graphs(),
            classes: goal.classes().to_vec(),
            majority: goal.majority(),
            mean: goal.mean(splits)?,
            methods,
        })
    }
}

impl Evaluation {
    /// All that was found in a study: of each goal, the judgements of all methods.
    ///
    /// # Errors
    /// No goals, and as [`Goal::mean`].
    pub fn new(
        data: PathBuf,
        study: &Study<'_>,
        architecture: Architecture,
        recipe: Recipe,
        methods: Vec<Vec<Judgement>>,
    ) -> Result<Evaluation> {
        let found = study.goals.iter().zip(methods);
        let mut targets: Vec<TargetEvaluation> = found
            .map(|(goal, methods)| TargetEvaluation::of(goal, &study.splits, methods))
            .collect::<Result<_>>()?;
        let first = targets.first().cloned();
        let first = first.ok_or(Error::Empty { what: "the list of targets" })?;
        targets.truncate(if targets.len() > 1 { targets.len() } else { 0 });
        Ok(Evaluation {
            data,
            graphs: study.collection.len(),
            mode: study.mode,
            splits: study.splits.len(),
            seed: study.protocol.seed,
            architecture,
            recipe,
            first,
            targets,
        })
    }

    /// What was found, target by target.
    pub fn each(&self) -> &[TargetEvaluation] {
        match self.targets.is_empty() {
            true => std::slice::from_ref(&self.first),
            false => &self.targets,
        }
    }
}

//! What `hg2v evaluate --json` says: a set judged, method by method.

use std::path::PathBuf;

use hg2v::context::Context;
use hg2v::graph::Scalar;
use hg2v::model::Architecture;
use hg2v::progress::Stage;
use hg2v::train::Recipe;
use hg2v::{Hg2v, Hg2vParams, Method, Model};
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Whose vectors were judged.
    #[serde(flatten)]
    pub subject: Subject,
    /// What was found of the only target, or of the first.
    #[serde(flatten)]
    pub first: TargetEvaluation,
    /// What was found of each target, where there are several.
    #[serde(default)]
    pub targets: Vec<TargetEvaluation>,
}

/// Whose vectors were judged: nobody's that is known, where they were there already.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Subject {
    /// The method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// All its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settings: Option<Value>,
    /// Of the methods whose model is [HG2V's](Hg2v::of), the network.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub architecture: Option<Architecture>,
    /// And its training.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<Recipe>,
}

impl Subject {
    /// HG2V with these settings.
    pub fn of_params(params: &Hg2vParams) -> Subject {
        Subject {
            method: Some(params.name().to_owned()),
            settings: Some(params.settings()),
            architecture: Some(params.architecture.clone()),
            recipe: Some(params.recipe),
        }
    }

    /// A model that is there.
    pub fn of_model(model: &dyn Model) -> Subject {
        let own = Hg2v::of(model).map(|own| own.config().model.params());
        Subject {
            method: Some(model.method().to_owned()),
            settings: Some(model.settings()),
            architecture: own.as_ref().map(|own| own.architecture.clone()),
            recipe: own.map(|own| own.recipe),
        }
    }
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
        subject: Subject,
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
            subject,
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

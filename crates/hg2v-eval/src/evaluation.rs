//! What `hg2v evaluate --json` says: a set judged, method by method.

use std::path::PathBuf;

use hg2v::context::Context;
use hg2v::graph::Scalar;
use hg2v::model::Architecture;
use hg2v::progress::Stage;
use hg2v::train::Recipe;
use serde::{Deserialize, Serialize};

use crate::error::Result;
use crate::method::Candidate;
use crate::metrics::Confusion;
use crate::study::{Mode, Study, StudyResult};

/// A set judged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Evaluation {
    /// The graphs, as they were asked for.
    pub data: PathBuf,
    /// How many.
    pub graphs: usize,
    /// Their labels, ascending.
    pub classes: Vec<Scalar>,
    /// Who saw what.
    pub mode: Mode,
    /// How many splits.
    pub splits: usize,
    /// The seed of the splits and the classifier.
    pub seed: u64,
    /// The share of the largest class.
    pub majority: f64,
    /// The network that was judged.
    pub architecture: Architecture,
    /// Its training.
    pub recipe: Recipe,
    /// The methods, the one in question first.
    pub methods: Vec<Judgement>,
}

/// What one method gave.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Judgement {
    /// The method.
    pub name: String,
    /// Its accuracies.
    pub result: StudyResult,
    /// Which classes it took for which, in places of [`Evaluation::classes`].
    #[serde(default)]
    pub confusion: Option<Confusion>,
}

impl Judgement {
    /// Judges a candidate on every split of a study, each of which `context` is told of.
    ///
    /// # Errors
    /// As [`Study::judge`].
    pub fn of(
        name: &str,
        candidate: Candidate<'_>,
        study: &Study<'_>,
        context: &Context<'_>,
    ) -> Result<Judgement> {
        let counter = context.counter(Stage::Judging, study.splits.len() as u64);
        let result = study.judge(candidate, &[], |_| Ok(counter.add(1)?))?;
        let confusion = study.confusion(&result)?;
        Ok(Judgement { name: name.to_owned(), result, confusion })
    }
}

impl Evaluation {
    /// All that was found in a study.
    pub fn new(
        data: PathBuf,
        study: &Study<'_>,
        architecture: Architecture,
        recipe: Recipe,
        methods: Vec<Judgement>,
    ) -> Evaluation {
        Evaluation {
            data,
            graphs: study.labels.len(),
            classes: study.classes.clone(),
            mode: study.mode,
            splits: study.splits.len(),
            seed: study.protocol.seed,
            majority: study.majority(),
            architecture,
            recipe,
            methods,
        }
    }
}

//! Controls that are of no method's making.

use std::fmt;

use hg2v::context::Context;
use hg2v::prepare::{Collection, Needs};
use hg2v::{Hg2v, Hg2vParams, Method, Model};
use serde_json::{Value, json};

use crate::error::{Error, Result};
use crate::goal::mean_of;
use crate::method::{Learner, Learnt, LearntNumbers};
use crate::metrics::{accuracy, errors};
use crate::split::Split;

/// HG2V, trained on other graphs.
#[derive(Clone)]
pub struct Transferred {
    /// How features are made.
    pub params: Hg2vParams,
    /// The model.
    pub model: Hg2v,
}

impl fmt::Debug for Transferred {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Transferred").field("params", &self.params).finish_non_exhaustive()
    }
}

impl Method for Transferred {
    fn name(&self) -> &'static str {
        "hg2v"
    }

    fn settings(&self) -> Value {
        self.params.settings()
    }

    fn check(&self) -> hg2v::Result<()> {
        self.params.check()
    }

    fn needs(&self) -> Needs {
        self.params.needs()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> hg2v::Result<Box<dyn Model>> {
        Ok(Box::new(self.params.prepare(collection, train)?.transferred(&self.model, context)?))
    }
}

/// Everything is of the class that most training graphs have, the first of equals; or everything
/// is the mean of their numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Majority;

impl Learner for Majority {
    fn settings(&self) -> Value {
        json!({})
    }

    fn learn(
        &self,
        _: &Collection<'_>,
        labels: &[u32],
        classes: usize,
        split: &Split,
    ) -> Result<Learnt> {
        split.check(labels.len())?;
        let truth: Vec<u32> = split.train.iter().map(|&at| labels[at]).collect();
        let count = |class: &u32| truth.iter().filter(|&label| label == class).count();
        let largest = (0..classes as u32).rev().max_by_key(count);
        let largest = largest.ok_or(Error::Empty { what: "the list of classes" })?;
        Ok(Learnt {
            validation: accuracy(&truth, &vec![largest; truth.len()])?,
            predictions: vec![largest; split.test.len()],
            chosen: format!("class {largest}"),
        })
    }

    fn learn_numbers(&self, numbers: &[f64], split: &Split) -> Result<Option<LearntNumbers>> {
        split.check(numbers.len())?;
        let mean = mean_of(numbers, &split.train);
        let truth: Vec<f64> = split.train.iter().map(|&at| numbers[at]).collect();
        Ok(Some(LearntNumbers {
            validation: errors(&truth, &vec![mean; truth.len()])?.rmse,
            predictions: vec![mean; split.test.len()],
            chosen: format!("mean {mean}"),
        }))
    }

    fn knows_numbers(&self) -> bool {
        true
    }
}

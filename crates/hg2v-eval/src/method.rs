//! What can be judged, by what it makes of graphs.
//!
//! | candidate | makes | judged by |
//! |---|---|---|
//! | [`Method`] | a vector of each graph, without labels | a machine of vectors |
//! | [`GraphKernel`] | a number of each pair of graphs | the same machine, given the kernel |
//! | [`Learner`] | a class of each graph, taught by labels | itself |
//!
//! The machine is a C-SVM where classes are to be predicted, and kernel ridge regression where
//! numbers are. Which judges stand beside it, [`Candidate::beside`] says.

use hg2v::Method;
use hg2v::context::Context;
use hg2v::prepare::Collection;
use serde_json::Value;

use crate::classifiers::Classifier;
use crate::error::Result;
use crate::goal::{Goal, Task};
use crate::matrix::Matrix;
use crate::split::Split;

/// What is judged.
#[derive(Clone, Copy)]
pub enum Candidate<'a> {
    /// Learns vectors.
    Method(&'a dyn Method),
    /// Vectors that are there already, a row a graph.
    Vectors(&'a Matrix),
    /// Compares graphs.
    Kernel(&'a dyn GraphKernel),
    /// Learns classes.
    Learner(&'a dyn Learner),
}

impl Candidate<'_> {
    /// The judges beside the first, where `goal` is predicted and these are asked for. Vectors have
    /// all of them, and of numbers ridge regression always; kernels, which have distances but no
    /// columns, their nearest neighbours.
    pub fn beside(&self, goal: &Goal, asked: &[Classifier]) -> Vec<Classifier> {
        let near = Classifier::NearestNeighbors;
        match self {
            Candidate::Method(_) | Candidate::Vectors(_) => {}
            Candidate::Kernel(_) => {
                return [near].into_iter().filter(|near| asked.contains(near)).collect();
            }
            Candidate::Learner(_) => return Vec::new(),
        }
        let ridge = [Classifier::LinearSvm].into_iter().filter(|_| goal.task() == Task::Numbers);
        let mut all: Vec<Classifier> = ridge.collect();
        for &judge in asked {
            if !all.contains(&judge) {
                all.push(judge);
            }
        }
        all
    }
}

/// Compares graphs two by two, and learns nothing.
pub trait GraphKernel: Send + Sync {
    /// All it was told, by name: what results are told apart by.
    fn settings(&self) -> Value;

    /// How many kernels it is; which is best is chosen by cross-validation.
    fn variants(&self) -> usize;

    /// The Gram matrix of all graphs of `collection` under each variant.
    ///
    /// # Errors
    /// Graphs that the method does not accept; [`Stopped`](hg2v::Error::Stopped).
    fn grams(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Vec<Matrix>>;
}

/// Learns classes from labels.
pub trait Learner: Send + Sync {
    /// All it was told, by name: what results are told apart by.
    fn settings(&self) -> Value;

    /// Learns from the graphs `split.train`, whatever it has to choose chosen inside
    /// them, and names the class of each graph of `split.test`. Labels outside
    /// `split.train` are not looked at.
    ///
    /// # Errors
    /// Graphs that the method does not accept; training that diverges.
    fn learn(
        &self,
        collection: &Collection,
        labels: &[u32],
        classes: usize,
        split: &Split,
    ) -> Result<Learnt>;

    /// Likewise a number for each graph of `split.test`; `None` from what learns classes alone.
    ///
    /// # Errors
    /// As [`learn`](Learner::learn).
    fn learn_numbers(&self, numbers: &[f64], split: &Split) -> Result<Option<LearntNumbers>> {
        let _ = (numbers, split);
        Ok(None)
    }

    /// Whether it learns numbers, too.
    fn knows_numbers(&self) -> bool {
        false
    }
}

/// What a [`Learner`] found.
#[derive(Debug, Clone, PartialEq)]
pub struct Learnt {
    /// The accuracy on the part of the training graphs that was held out to choose by.
    pub validation: f64,
    /// The class of each graph of the test part.
    pub predictions: Vec<u32>,
    /// What was chosen, for people to read.
    pub chosen: String,
}

/// What a [`Learner`] found of numbers.
#[derive(Debug, Clone, PartialEq)]
pub struct LearntNumbers {
    /// The root mean square error on the part that was held out to choose by.
    pub validation: f64,
    /// The number of each graph of the test part.
    pub predictions: Vec<f64>,
    /// What was chosen, for people to read.
    pub chosen: String,
}

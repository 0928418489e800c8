//! What can be judged, by what it makes of graphs.
//!
//! | candidate | makes | judged by |
//! |---|---|---|
//! | [`Method`] | a vector of each graph, without labels | a classifier of vectors |
//! | [`GraphKernel`] | a number of each pair of graphs | the same classifier, given the kernel |
//! | [`Learner`] | a class of each graph, taught by labels | itself |

use hg2v::Method;
use hg2v::context::Context;
use hg2v::prepare::Collection;
use serde_json::Value;

use crate::error::Result;
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

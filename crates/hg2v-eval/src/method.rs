//! The three roles of a method, by what it makes of graphs.
//!
//! | role | makes | judged by |
//! |---|---|---|
//! | [`Embedder`] | a vector of each graph, without labels | a classifier of vectors |
//! | [`GraphKernel`] | a number of each pair of graphs | the same classifier, given the kernel |
//! | [`Learner`] | a class of each graph, taught by labels | itself |

use hg2v::prepare::Collection;

use crate::error::Result;
use crate::matrix::Matrix;
use crate::split::Split;

/// A method in its role.
#[derive(Clone, Copy)]
pub enum Role<'a> {
    /// Makes vectors.
    Embedder(&'a dyn Embedder),
    /// Compares graphs.
    Kernel(&'a dyn GraphKernel),
    /// Learns classes.
    Learner(&'a dyn Learner),
}

/// Makes vectors, and never sees a label.
pub trait Embedder: Sync {
    /// A row for each graph of `collection`, by what was learnt from the graphs
    /// `train` (`None`: all).
    ///
    /// # Errors
    /// Graphs that the method does not accept; training that diverges.
    fn vectors(&self, collection: &Collection, train: Option<&[usize]>) -> Result<Matrix>;
}

/// Compares graphs two by two, and learns nothing.
pub trait GraphKernel: Sync {
    /// How many settings the kernel has; which is best is chosen by cross-validation.
    fn settings(&self) -> usize;

    /// The Gram matrix of all graphs of `collection` under each setting. `done` hears
    /// what share, from 0 to 1, is computed.
    ///
    /// # Errors
    /// Graphs that the method does not accept.
    fn grams(&self, collection: &Collection, done: &(dyn Fn(f64) + Sync)) -> Result<Vec<Matrix>>;
}

/// Learns classes from labels.
pub trait Learner: Sync {
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

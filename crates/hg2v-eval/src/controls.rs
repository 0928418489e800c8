//! HG2V in its role, and what every table has beside it.

use hg2v::nn::machine::Machine;
use hg2v::prepare::Collection;
use hg2v::train::Flow;
use hg2v::{Hg2v, Hg2vParams};

use crate::error::{Error, Result};
use crate::matrix::Matrix;
use crate::method::{Embedder, Learner, Learnt};
use crate::metrics::accuracy;
use crate::split::Split;
use crate::statistics::statistics;

/// HG2V, trained or as it begins.
#[derive(Debug, Clone)]
pub struct Network {
    /// The model and its training.
    pub params: Hg2vParams,
    /// Whether it is trained.
    pub trained: bool,
    /// Where it runs: the processor, unless something else is put here.
    pub machine: Machine,
}

impl Network {
    /// HG2V, trained on the processor.
    pub fn trained(params: Hg2vParams) -> Network {
        Network { params, trained: true, machine: Machine::Cpu }
    }

    /// The same network, never trained.
    pub fn untrained(params: Hg2vParams) -> Network {
        Network { trained: false, ..Network::trained(params) }
    }

    /// The same on another machine.
    pub fn on(self, machine: &Machine) -> Network {
        Network { machine: machine.clone(), ..self }
    }
}

impl Embedder for Network {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let mut fit = self.params.prepare(collection, train)?;
        fit.machine = self.machine.clone();
        let model = match self.trained {
            true => fit.train(None, |_, _| Ok(Flow::Continue))?.0,
            false => fit.untrained(),
        };
        drop(fit);
        vectors(&model, &self.machine, collection)
    }
}

/// HG2V, trained on other graphs.
#[derive(Debug, Clone)]
pub struct Transferred {
    /// How features are made.
    pub params: Hg2vParams,
    /// The model.
    pub model: Hg2v,
    /// Where it runs.
    pub machine: Machine,
}

impl Embedder for Transferred {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let model = self.params.prepare(collection, train)?.transferred(&self.model)?;
        vectors(&model, &self.machine, collection)
    }
}

fn vectors(model: &Hg2v, machine: &Machine, collection: &Collection<'_>) -> Result<Matrix> {
    let all: Vec<usize> = (0..collection.len()).collect();
    let (examples, _) = model.examples_of(collection, &all)?;
    let rows = model.embed_examples_on(machine, &examples)?;
    Matrix::from_f32(all.len(), model.network().layout.embedding_dim(), &rows)
}

/// [`statistics`](crate::statistics) counted by hand.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Statistics;

impl Embedder for Statistics {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        match train {
            Some(train) => statistics(collection, train),
            None => statistics(collection, &(0..collection.len()).collect::<Vec<_>>()),
        }
    }
}

/// Vectors from elsewhere, a row a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Given(pub Matrix);

impl Embedder for Given {
    fn vectors(&self, _: &Collection<'_>, _: Option<&[usize]>) -> Result<Matrix> {
        Ok(self.0.clone())
    }
}

/// Everything is of the class that most training graphs have; the first of equals.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Majority;

impl Learner for Majority {
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
}

//! A training that is ready to run.

use super::model::Hg2v;
use crate::error::{Error, Result};
use crate::model::{Example, Network, initial};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};
use crate::prepare::Notes;
use crate::saved::Config;
use crate::train::{End, Flow, State, Step, Trainer};

/// A training that is ready to run.
pub struct Fit {
    /// What the model will be.
    pub config: Config,
    /// The network.
    pub network: Network,
    /// The graphs to train on.
    pub examples: Vec<Example>,
    /// What preparing them met.
    pub notes: Notes,
    /// Where it will run: the processor, unless something else is put here.
    pub machine: Machine,
}

/// A training that failed.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The last state before that was good, where there is one.
    pub good: Option<Box<State>>,
}

impl Fit {
    /// The model before its training.
    pub fn untrained(&self) -> Hg2v {
        let parameters = initial(&self.network.layout, self.config.recipe.seed);
        Hg2v { config: self.config.clone(), network: self.network.clone(), parameters }
    }

    /// The network of `model`, which was trained on other graphs, with the features of
    /// these: each number a node comes with is centred and scaled as it is here.
    ///
    /// # Errors
    /// Nodes that come with another number of numbers than those `model` was trained on,
    /// or another network.
    pub fn transferred(&self, model: &Hg2v) -> Result<Hg2v> {
        let (here, there) = (&self.network.layout, &model.network().layout);
        if here.features != there.features {
            return Err(Error::argument(
                "the number of features",
                here.features,
                format!("the model was trained on nodes with {} numbers each", there.features),
            ));
        }
        if here.architecture != there.architecture {
            let requirement = "both models must have the same network";
            return Err(Error::argument("the model", "another network", requirement));
        }
        let parameters = model.parameters().to_vec();
        Ok(Hg2v { config: self.config.clone(), network: self.network.clone(), parameters })
    }

    /// Trains from the beginning, or from `state`; `watch` sees every step.
    ///
    /// # Errors
    /// A state of another network; a training that diverges; what `watch` returns.
    pub fn train(
        &self,
        state: Option<&State>,
        watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> Result<(Hg2v, End)> {
        self.train_keeping(state, watch).map_err(|failure| failure.error)
    }

    /// As [`train`](Fit::train); with an error comes the last good state.
    ///
    /// # Errors
    /// As [`train`](Fit::train).
    pub fn train_keeping(
        &self,
        state: Option<&State>,
        watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        match &self.machine {
            Machine::Cpu => self.train_on(&Cpu::<f32>::new(), state, watch),
            #[cfg(feature = "cuda")]
            Machine::Cuda(card) => self.train_on(card, state, watch),
        }
    }

    fn train_on<D: Device<Real = f32>>(
        &self,
        device: &D,
        state: Option<&State>,
        mut watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        let recipe = self.config.recipe;
        let trainer = match state {
            None => Trainer::new(device, &self.network, recipe),
            Some(state) => Trainer::resume(device, &self.network, recipe, state),
        };
        let mut trainer = trainer.map_err(|error| Failure { error, good: None })?;
        let end = trainer
            .run(&self.examples, |trainer, step| watch(&|| trainer.state(), step))
            .map_err(|error| Failure { error, good: Some(Box::new(trainer.state())) })?;
        let model = Hg2v {
            config: self.config.clone(),
            network: self.network.clone(),
            parameters: trainer.state().parameters,
        };
        Ok((model, end))
    }
}

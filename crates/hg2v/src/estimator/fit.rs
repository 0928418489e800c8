//! A training that is ready to run.

use super::beside::{Beside, Blocks};
use super::model::{Hg2v, Hg2vConfig};
use crate::context::Context;
use crate::embed;
use crate::error::{Error, Result};
use crate::model::{Example, Network, initial};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};
use crate::prepare::Notes;
use crate::progress::{Flow, Report, Stage};
use crate::saved::Config;
use crate::train::{End, State, Step, Trainer};

/// A training that is ready to run.
pub struct Fit {
    /// What the model will be.
    pub config: Config<Hg2vConfig>,
    /// The network.
    pub(super) network: Network,
    /// The graphs to train on.
    pub examples: Vec<Example>,
    /// What preparing them met.
    pub notes: Notes,
    /// What comes beside and after the network.
    pub(super) beside: Beside,
}

/// A training that failed: of [`Fit::steps`].
#[doc(hidden)]
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The last state before that was good, where there is one.
    pub good: Option<Box<State>>,
}

impl Fit {
    /// Numbers of the network.
    pub fn num_parameters(&self) -> usize {
        self.network.layout.len
    }

    /// The model before its training.
    ///
    /// # Errors
    /// A GPU that fails.
    pub fn untrained(&self, context: &Context<'_>) -> Result<Hg2v> {
        let parameters = initial(&self.network.layout, self.config.model.recipe.seed);
        Ok(self.model(parameters, context)?.untrained())
    }

    /// The network of `model`, which was trained on other graphs, with the features of
    /// these: each number a node comes with is centred and scaled as it is here, and colours are
    /// those of these graphs.
    ///
    /// # Errors
    /// A GPU that fails; nodes that come with another number of numbers than those `model` was trained on,
    /// or another network.
    pub fn transferred(&self, model: &Hg2v, context: &Context<'_>) -> Result<Hg2v> {
        let (here, there) = (&self.network.layout, &model.network.layout);
        if here.features != there.features {
            return Err(Error::argument(
                "the number of features",
                here.features,
                format!("the model was trained on nodes with {} numbers each", there.features),
            ));
        }
        if here.architecture != there.architecture || here.relations != there.relations {
            let requirement = "both models must have the same network";
            return Err(Error::argument("the model", "another network", requirement));
        }
        self.model(model.parameters().to_vec(), context)
    }

    /// Trains from beginning to end.
    ///
    /// # Errors
    /// A training that diverges; a GPU that fails; [`Stopped`](Error::Stopped).
    pub fn train(&self, context: &Context<'_>) -> Result<Hg2v> {
        let (model, end) = self
            .steps(None, context, |_, _, _| Ok(Flow::Continue))
            .map_err(|failure| failure.error)?;
        match end {
            End::Done => Ok(model),
            End::Stopped => Err(Error::Stopped),
        }
    }

    /// Trains from the beginning, or from `state`, step by step: what a
    /// [`TrainingFolder`](super::TrainingFolder) is made of, which is the way to go on after a stop.
    /// `watch` sees every step, whether it is the
    /// last because the training is to [stop](Flow::Stop), and may keep the state after it. With
    /// an error comes the last good state.
    ///
    /// # Errors
    /// A state of another network; a training that diverges; what `watch` returns.
    #[doc(hidden)]
    pub fn steps(
        &self,
        state: Option<&State>,
        context: &Context<'_>,
        watch: impl FnMut(&dyn Fn() -> State, &Step, bool) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        match &context.machine {
            Machine::Cpu => self.steps_on(&Cpu::<f32>::new(), state, context, watch),
            #[cfg(feature = "cuda")]
            Machine::Cuda(gpu) => self.steps_on(gpu, state, context, watch),
        }
    }

    fn steps_on<D: Device<Real = f32>>(
        &self,
        device: &D,
        state: Option<&State>,
        context: &Context<'_>,
        mut watch: impl FnMut(&dyn Fn() -> State, &Step, bool) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        let recipe = self.config.model.recipe;
        let trainer = match state {
            None => Trainer::new(device, &self.network, recipe),
            Some(state) => Trainer::resume(device, &self.network, recipe, state),
        };
        let mut trainer = trainer.map_err(|error| Failure { error, good: None })?;
        let end = trainer
            .run(&self.examples, |trainer, step| {
                let losses: Vec<f64> = step.mean.iter().map(|loss| loss.total()).collect();
                let report = Report::of(Stage::Training, step.step + 1, step.total);
                let report = report.within(step.epoch + 1, step.ends_epoch, &losses);
                let stopped = context.tell(&report).is_err();
                let flow = watch(&|| trainer.state(), step, stopped)?;
                Ok(if stopped { Flow::Stop } else { flow })
            })
            .map_err(|error| Failure { error, good: Some(Box::new(trainer.state())) })?;
        let parameters = trainer.state().parameters;
        let made = match end {
            End::Done => self.model(parameters, context),
            // Whoever stopped it has its state, and no use for a model.
            End::Stopped => Ok(self.with_blocks(parameters, Blocks::default())),
        };
        let model =
            made.map_err(|error| Failure { error, good: Some(Box::new(trainer.state())) })?;
        Ok((model, end))
    }

    fn model(&self, parameters: Vec<f32>, context: &Context<'_>) -> Result<Hg2v> {
        let read = |parameters: &Vec<f32>, examples: &[&Example]| {
            embed::graphs(&context.machine, &self.network, parameters, examples)
        };
        let initial = initial(&self.network.layout, self.config.model.recipe.seed);
        let width = self.network.layout.embedding_dim();
        let seed = self.config.model.recipe.seed;
        let blocks = self.beside.finished(width, seed, &self.examples, |examples| {
            Ok([read(&parameters, examples)?, read(&initial, examples)?])
        })?;
        Ok(self.with_blocks(parameters, blocks))
    }

    fn with_blocks(&self, parameters: Vec<f32>, blocks: Blocks) -> Hg2v {
        let (config, network) = (self.config.clone(), self.network.clone());
        Hg2v { config, network, parameters, blocks }
    }
}

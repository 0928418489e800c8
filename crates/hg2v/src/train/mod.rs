//! Training: the pair losses of all levels, made small by Adam.
//!
//! A run is a pure function of the graphs, the parameters it starts from and its
//! [`Recipe`]: stopped anywhere and continued from its [`State`], it ends in the
//! same bits.

pub mod schedule;
mod state;

pub use state::State;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::model::{Example, Keep, Network, Tape, initial};
use crate::nn::Batch;
use crate::nn::device::{Device, Panel, PanelMut, Window};
use crate::nn::pairs::{LevelLoss, Negatives, Score};

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Recipe {
    /// How often every graph is seen.
    pub epochs: u64,
    /// `B`: graphs a step.
    pub batch: usize,
    /// The first learning rate.
    pub rate: f64,
    /// How many times smaller the last one is.
    pub decay: f64,
    /// How pairs are scored.
    pub score: Score,
    /// Which pairs are negative.
    pub negatives: Negatives,
    /// Seeds the first parameters and the order of the graphs.
    pub seed: u64,
}

impl Default for Recipe {
    /// The paper's; its first rate, which it does not state, is its authors' code's.
    fn default() -> Recipe {
        Recipe {
            epochs: 10,
            batch: 8,
            rate: 1e-4,
            decay: 1000.0,
            score: Score::JensenShannon,
            negatives: Negatives::All,
            seed: 0,
        }
    }
}

impl Recipe {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        if self.epochs > 1_000_000 {
            return Err(Error::parameter("epochs", self.epochs, "it must be at most 1000000"));
        }
        if self.batch == 0 || self.batch > 1 << 20 {
            let requirement = "it must be between 1 and 1048576";
            return Err(Error::parameter("batch", self.batch, requirement));
        }
        if !(self.rate.is_finite() && self.rate > 0.0) {
            return Err(Error::parameter("lr", self.rate, "it must be a positive number"));
        }
        if !(self.decay.is_finite() && self.decay >= 1.0) {
            let requirement = "it must be at least 1 (1000 ends at a thousandth of the first rate)";
            return Err(Error::parameter("decay", self.decay, requirement));
        }
        if let Score::CosineInfoNce { temperature } = self.score
            && !(temperature.is_finite() && temperature > 0.0)
        {
            return Err(Error::parameter("temperature", temperature, "it must be positive"));
        }
        Ok(())
    }

    /// Steps an epoch of `graphs` graphs.
    pub fn steps_per_epoch(&self, graphs: usize) -> u64 {
        graphs.div_ceil(self.batch) as u64
    }
}

/// A loss of this size comes of logits so large that nothing is left to learn from.
const DIVERGED: f64 = 1e9;

/// What a step did.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    /// The epoch, from 0.
    pub epoch: u64,
    /// The step, from 0 over all epochs.
    pub step: u64,
    /// Steps in all.
    pub total: u64,
    /// Whether it ends its epoch.
    pub ends_epoch: bool,
    /// The learning rate.
    pub rate: f64,
    /// Graphs in the batch.
    pub graphs: usize,
    /// The loss of each level, finest first, before the step.
    pub losses: Vec<LevelLoss>,
    /// The same, averaged over the steps of the epoch so far.
    pub mean: Vec<LevelLoss>,
}

/// Whether to go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Flow {
    /// Yes.
    Continue,
    /// No: leave the run as it is, to be continued.
    Pause,
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All steps were made.
    Done,
    /// It was asked to [pause](Flow::Pause).
    Paused,
}

/// A run of training on some device.
pub struct Trainer<'a, D: Device<Real = f32>> {
    device: &'a D,
    network: &'a Network,
    recipe: Recipe,
    /// Steps made.
    step: u64,
    parameters: D::Buffer,
    gradients: D::Buffer,
    m: D::Buffer,
    v: D::Buffer,
    tape: Tape<D>,
    /// This epoch's losses, added up.
    sums: Vec<LevelLoss>,
    /// The state at the beginning of the epoch, to fall back on.
    good: Option<State>,
}

impl<'a, D: Device<Real = f32>> Trainer<'a, D> {
    /// A run that has made no step.
    ///
    /// # Errors
    /// As [`Recipe::check`].
    pub fn new(device: &'a D, network: &'a Network, recipe: Recipe) -> Result<Trainer<'a, D>> {
        let parameters = initial(&network.layout, recipe.seed);
        let moments = vec![0.0; parameters.len()];
        let state = State { step: 0, m: moments.clone(), v: moments, parameters, sums: Vec::new() };
        Trainer::resume(device, network, recipe, &state)
    }

    /// A run that goes on from `state`.
    ///
    /// # Errors
    /// As [`Recipe::check`]; a state of another network.
    pub fn resume(
        device: &'a D,
        network: &'a Network,
        recipe: Recipe,
        state: &State,
    ) -> Result<Trainer<'a, D>> {
        recipe.check()?;
        let len = network.layout.len;
        if [&state.parameters, &state.m, &state.v].iter().any(|part| part.len() != len) {
            let requirement = format!("this network has {len} parameters");
            return Err(Error::parameter("state", state.parameters.len(), requirement));
        }
        let mut trainer = Trainer {
            device,
            network,
            recipe,
            step: 0,
            parameters: device.zeros(len),
            gradients: device.zeros(len),
            m: device.zeros(len),
            v: device.zeros(len),
            tape: Tape::new(device),
            sums: Vec::new(),
            good: None,
        };
        trainer.restore(state);
        device.health()?;
        Ok(trainer)
    }

    /// Where the run stands; where its device has failed, where it stood when the epoch
    /// began.
    pub fn state(&self) -> State {
        let now = self.state_now();
        match (&self.good, self.device.health()) {
            (Some(good), Err(_)) => good.clone(),
            _ => now,
        }
    }

    fn state_now(&self) -> State {
        let window = Window::whole(0, 1, self.network.layout.len);
        let read = |buffer| self.device.download(Panel(buffer, window));
        State {
            step: self.step,
            parameters: read(&self.parameters),
            m: read(&self.m),
            v: read(&self.v),
            sums: self.sums.clone(),
        }
    }

    fn restore(&mut self, state: &State) {
        let window = Window::whole(0, 1, self.network.layout.len);
        self.step = state.step;
        self.sums = state.sums.clone();
        self.device.upload(&state.parameters, PanelMut(&mut self.parameters, window));
        self.device.upload(&state.m, PanelMut(&mut self.m, window));
        self.device.upload(&state.v, PanelMut(&mut self.v, window));
    }

    /// Makes all steps that are left, and says each to `watch`.
    ///
    /// # Errors
    /// No graphs; a device that failed; or a loss that is not a number or beyond all
    /// measure. The run is then put back to the beginning of the epoch.
    pub fn run(
        &mut self,
        examples: &[Example],
        watch: impl FnMut(&Trainer<'a, D>, &Step) -> Result<Flow> + Send,
    ) -> Result<End> {
        if examples.is_empty() {
            return Err(Error::parameter("graphs", 0, "training needs at least one graph"));
        }
        let device = self.device;
        device.during(|| self.all_steps(examples, watch))
    }

    fn all_steps(
        &mut self,
        examples: &[Example],
        mut watch: impl FnMut(&Trainer<'a, D>, &Step) -> Result<Flow>,
    ) -> Result<End> {
        let per_epoch = self.recipe.steps_per_epoch(examples.len());
        let total = per_epoch * self.recipe.epochs;
        let mut order = (u64::MAX, Vec::new());
        let store = {
            let parts: Vec<_> =
                examples.iter().map(|example| (&example.batch, &example.features[..])).collect();
            self.device.store(&parts)
        };
        let (mut batch, mut features) = (Batch::default(), Vec::new());
        while self.step < total {
            let epoch = self.step / per_epoch;
            let within = self.step % per_epoch;
            if order.0 != epoch {
                order = (epoch, schedule::order(examples.len(), self.recipe.seed, epoch));
            }
            if within == 0 {
                self.sums = vec![LevelLoss::default(); self.network.layout.architecture.levels];
            }
            if within == 0 || self.good.is_none() {
                let now = self.state_now();
                self.device.health()?;
                self.good = Some(now);
            }
            let start = within as usize * self.recipe.batch;
            let chosen = &order.1[start..(start + self.recipe.batch).min(examples.len())];
            match &store {
                Some(store) => {
                    self.network.place_stored(self.device, &mut self.tape, store, chosen);
                }
                None => {
                    let chosen = chosen.iter().map(|&graph| &examples[graph as usize]);
                    batch.concat_from(chosen.clone().map(|example| &example.batch));
                    features.clear();
                    chosen.for_each(|example| features.extend_from_slice(&example.features));
                    self.network.place(self.device, &mut self.tape, &batch, &features);
                }
            }

            let rate = schedule::rate(self.recipe.rate, self.recipe.decay, self.step, total);
            let losses = self.make_step(rate);
            self.device.health()?;
            for (sum, loss) in self.sums.iter_mut().zip(&losses) {
                sum.positive += loss.positive;
                sum.negative += loss.negative;
            }
            let steps = (within + 1) as f64;
            let mean = |sum: &LevelLoss| LevelLoss {
                positive: sum.positive / steps,
                negative: sum.negative / steps,
            };
            let step = Step {
                mean: self.sums.iter().map(mean).collect(),
                epoch,
                step: self.step,
                total,
                ends_epoch: within + 1 == per_epoch,
                rate,
                graphs: chosen.len(),
                losses,
            };
            // NaN fails the comparison too.
            if !step.losses.iter().all(|loss| loss.total() < DIVERGED) {
                return Err(self.diverged(&step));
            }
            self.step += 1;
            if watch(self, &step)? == Flow::Pause {
                return Ok(End::Paused);
            }
        }
        let last = self.state();
        self.device.health()?;
        if !last.parameters.iter().all(|value| value.is_finite()) {
            return Err(Error::parameter(
                "lr",
                self.recipe.rate,
                "the last step left parameters that are not numbers; try a tenth of the rate",
            ));
        }
        Ok(End::Done)
    }

    /// One step on the batch that is on the tape.
    fn make_step(&mut self, rate: f64) -> Vec<LevelLoss> {
        let Trainer { device, network, tape, parameters, gradients, .. } = self;
        let pairs = Some((self.recipe.score, self.recipe.negatives));
        network.forward(*device, parameters, tape, Keep::Everything, false);
        network.backward(*device, parameters, tape, pairs, None, false, gradients);
        device.adam(rate, self.step + 1, parameters, gradients, &mut self.m, &mut self.v);
        network.take_losses(*device, tape)
    }

    /// Puts the run back, and says what happened.
    fn diverged(&mut self, step: &Step) -> Error {
        if let Some(good) = self.good.take() {
            self.restore(&good);
        }
        let losses: Vec<String> =
            step.losses.iter().map(|loss| format!("{:.2e}", loss.total())).collect();
        let requirement = format!(
            "training diverged at step {} of {} (epoch {}, losses {}); the state at the beginning \
             of that epoch is kept: try a tenth of the rate",
            step.step + 1,
            step.total,
            step.epoch + 1,
            losses.join(", ")
        );
        Error::parameter("lr", self.recipe.rate, requirement)
    }
}

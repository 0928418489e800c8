//! Training: the pair losses of all levels, made small by Adam.
//!
//! A run is a pure function of the graphs, the parameters it starts from and its
//! [`Recipe`]: stopped anywhere and continued from its [`State`], it ends in the
//! same bits.

mod recipe;

mod feed;
mod state;

pub use crate::nn::pairs::{LevelLoss, Loss, Negatives};
pub use recipe::Recipe;
pub use state::State;

use self::feed::Feed;
use crate::error::{Error, Result};
use crate::model::{Example, Keep, Network, Seeds, Workspace, initial};
use crate::nn::device::{Device, Panel, PanelMut, Window};
use crate::progress::Flow;

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
    pub lr: f64,
    /// Graphs in the batch.
    pub graphs: usize,
    /// The loss of each level, finest first, before the step.
    pub losses: Vec<LevelLoss>,
    /// The same, averaged over the steps of the epoch so far.
    pub mean: Vec<LevelLoss>,
}

/// How a run ended.
#[doc(hidden)]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum End {
    /// All steps were made.
    Done,
    /// It was asked to [stop](Flow::Stop).
    Stopped,
}

/// A run of training on some device.
#[doc(hidden)]
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
    workspace: Workspace<D>,
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
            return Err(Error::argument("state", state.parameters.len(), requirement));
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
            workspace: Workspace::new(device),
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
        self.device.upload(&[&state.parameters], PanelMut(&mut self.parameters, window));
        self.device.upload(&[&state.m], PanelMut(&mut self.m, window));
        self.device.upload(&[&state.v], PanelMut(&mut self.v, window));
    }

    /// Makes all steps that are left, and says each to `watch`.
    ///
    /// # Errors
    /// No graphs; a device that failed; or a loss or parameters that are not numbers or beyond all
    /// measure, after which the run stands where the epoch began.
    pub fn run(
        &mut self,
        examples: &[Example],
        watch: impl FnMut(&Trainer<'a, D>, &Step) -> Result<Flow> + Send,
    ) -> Result<End> {
        if examples.is_empty() {
            return Err(Error::argument(
                "the number of graphs",
                0,
                "training needs at least one graph",
            ));
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
        let mut feed = Feed::new(self.device, self.recipe, examples);
        while self.step < total {
            let (epoch, within) = (self.step / per_epoch, self.step % per_epoch);
            if within == 0 {
                self.sums = vec![LevelLoss::default(); self.network.layout.architecture.levels];
            }
            if within == 0 || self.good.is_none() {
                let now = self.state_now();
                self.device.health()?;
                self.good = Some(now);
            }
            let graphs = feed.place(epoch, within, self.network, &mut self.workspace);
            let rate = self.recipe.rate(self.step, total);
            let losses = self.make_step(rate);
            self.device.health()?;
            let step = Step {
                mean: self.mean_with(&losses, within + 1),
                epoch,
                step: self.step,
                total,
                ends_epoch: within + 1 == per_epoch,
                lr: rate,
                graphs,
                losses,
            };
            // NaN fails the comparison too.
            if !step.losses.iter().all(|loss| loss.total() < DIVERGED) {
                return Err(self.diverged(&step));
            }
            self.step += 1;
            if watch(self, &step)? == Flow::Stop {
                return Ok(End::Stopped);
            }
        }
        let last = self.state();
        self.device.health()?;
        if !last.parameters.iter().all(|value| value.is_finite()) {
            self.fall_back();
            return Err(Error::parameter(
                "lr",
                self.recipe.lr,
                "the last step left parameters that are not numbers; try a tenth of the rate",
            ));
        }
        Ok(End::Done)
    }

    /// Adds a step's losses to its epoch's, and says the mean of its `steps` so far.
    fn mean_with(&mut self, losses: &[LevelLoss], steps: u64) -> Vec<LevelLoss> {
        for (sum, loss) in self.sums.iter_mut().zip(losses) {
            sum.positive += loss.positive;
            sum.negative += loss.negative;
        }
        let steps = steps as f64;
        let mean = |sum: &LevelLoss| LevelLoss {
            positive: sum.positive / steps,
            negative: sum.negative / steps,
        };
        self.sums.iter().map(mean).collect()
    }

    /// One step on the batch that is on the workspace.
    fn make_step(&mut self, rate: f64) -> Vec<LevelLoss> {
        let Trainer { device, network, workspace, parameters, gradients, .. } = self;
        let pairs = Some((self.recipe.loss, self.recipe.negatives));
        let draw = self.recipe.draw(self.step);
        let seeds = Seeds { pairs, draw, ..Seeds::default() };
        network.forward(*device, parameters, workspace, Keep::Everything, false);
        network.backward(*device, parameters, workspace, seeds, gradients);
        device.adam(rate, self.step + 1, parameters, gradients, &mut self.m, &mut self.v);
        network.take_losses(*device, workspace)
    }

    /// Puts the run back to the beginning of the epoch.
    fn fall_back(&mut self) {
        if let Some(good) = self.good.take() {
            self.restore(&good);
        }
    }

    /// Puts the run back, and says what happened.
    fn diverged(&mut self, step: &Step) -> Error {
        self.fall_back();
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
        Error::parameter("lr", self.recipe.lr, requirement)
    }
}

//! What a run of training is told: its parameters, beside the network's own.

use hg2v_math::schedule;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::nn::draw::Draw;
use crate::nn::pairs::{Loss, Negatives};

/// How a network is trained.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Recipe {
    /// How often every graph is seen.
    pub epochs: u64,
    /// `B`: graphs a step.
    pub batch: usize,
    /// The first learning rate.
    #[serde(alias = "rate")]
    pub lr: f64,
    /// How many times smaller the last one is.
    pub decay: f64,
    /// What pairs cost.
    #[serde(alias = "score")]
    pub loss: Loss,
    /// Which pairs are negative.
    pub negatives: Negatives,
    /// `|S|`: super-nodes drawn each step for nodes to be told from, on a level of a batch that has
    /// more than eight times as many; 0 where all are compared, however many.
    // Models and runs of before it was there have not drawn any.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub negative_sample: usize,
    /// Seeds the first parameters, the order of the graphs and what is drawn.
    pub seed: u64,
}

hg2v_math::setters!(Recipe {
    epochs: u64,
    batch: usize,
    lr: f64,
    decay: f64,
    loss: Loss,
    negatives: Negatives,
    negative_sample: usize,
    seed: u64,
});

fn is_zero(sample: &usize) -> bool {
    *sample == 0
}

impl Default for Recipe {
    /// The paper's; its first rate, which it does not state, is its authors' code's.
    fn default() -> Recipe {
        Recipe {
            epochs: 10,
            batch: 8,
            lr: 1e-4,
            decay: 1000.0,
            loss: Loss::Jsd,
            negatives: Negatives::All,
            negative_sample: 2048,
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
        if !(self.lr.is_finite() && self.lr > 0.0) {
            return Err(Error::parameter("lr", self.lr, "it must be a positive number"));
        }
        if !(self.decay.is_finite() && self.decay >= 1.0) {
            let requirement = "it must be at least 1 (1000 ends at a thousandth of the first rate)";
            return Err(Error::parameter("decay", self.decay, requirement));
        }
        if let Loss::Cosine { temperature } = self.loss
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

    /// The rate of step `step` of `total`: from [`lr`](Recipe::lr) down by the same factor every
    /// step.
    pub fn rate(&self, step: u64, total: u64) -> f64 {
        schedule::rate(self.lr, self.decay, step, total)
    }

    /// How the negatives of step `step` are drawn.
    pub(crate) fn draw(&self, step: u64) -> Draw {
        Draw { sample: self.negative_sample, seed: self.seed, step }
    }

    /// The order in which epoch `epoch` takes `graphs` graphs: every graph once, shuffled.
    pub fn order(&self, graphs: usize, epoch: u64) -> Vec<u32> {
        schedule::order(graphs, self.seed, epoch)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn recipes_of_before_have_drawn_no_negatives_and_say_what_they_said() {
        let before = json!({
            "epochs": 10, "batch": 8, "lr": 1e-4, "decay": 1000.0, "loss": "jsd",
            "negatives": "all", "seed": 0,
        });
        let recipe: Recipe = serde_json::from_value(before.clone()).unwrap();
        assert_eq!(recipe, Recipe::default().negative_sample(0));
        // What a model's digest is made of.
        assert_eq!(serde_json::to_value(recipe).unwrap(), before);
        let now = serde_json::to_value(Recipe::default()).unwrap();
        assert_eq!(now["negative_sample"], 2048);
        assert_eq!(serde_json::from_value::<Recipe>(now).unwrap(), Recipe::default());
    }
}

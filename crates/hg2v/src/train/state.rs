//! Where a run of training stands.

use crate::nn::pairs::LevelLoss;

/// All that a run needs to go on.
#[doc(hidden)]
#[derive(Debug, Clone, PartialEq)]
pub struct State {
    /// Steps made.
    pub step: u64,
    /// The network's parameters.
    pub parameters: Vec<f32>,
    /// Adam's first moments.
    pub m: Vec<f32>,
    /// Adam's second moments.
    pub v: Vec<f32>,
    /// The losses of this epoch's steps, added up level by level.
    pub sums: Vec<LevelLoss>,
}

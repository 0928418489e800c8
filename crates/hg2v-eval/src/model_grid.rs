//! Several shapes of HG2V's network, of which validation accuracy chooses one.

use std::fmt;

use hg2v::Hg2vParams;
use serde::{Deserialize, Serialize};

use crate::regress::first_of_smallest;
use crate::study::StudyResult;

/// What a grid chooses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ModelShape {
    /// d: numbers a node.
    pub dim: usize,
    /// a: how far a node looks.
    pub hops: usize,
    /// L: how often a graph is coarsened.
    pub levels: usize,
}

impl ModelShape {
    /// That of a model.
    pub fn of(params: &Hg2vParams) -> ModelShape {
        let a = &params.architecture;
        ModelShape { dim: a.dim, hops: a.hops, levels: a.levels }
    }
}

/// In the paper's letters.
impl fmt::Display for ModelShape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "d={} a={} L={}", self.dim, self.hops, self.levels)
    }
}

/// Which shapes are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ModelGrid {
    /// The paper's: d of 16, 128, 256; a of 2, 4; L of 3, 5.
    Paper,
    /// d of 32, 128; a of 2, 4; L of 3.
    Small,
}

hg2v::vocabulary! { ModelGrid, "grid":
    Paper => "paper", "d of 16, 128, 256; a of 2, 4; L of 3, 5";
    Small => "small", "d of 32, 128; a of 2, 4; L of 3";
}

impl ModelGrid {
    /// The model in every shape, cheapest first.
    pub fn candidates(self, params: &Hg2vParams) -> Vec<Hg2vParams> {
        let (dims, hops, levels): (&[usize], &[usize], &[usize]) = match self {
            ModelGrid::Paper => (&[16, 128, 256], &[2, 4], &[3, 5]),
            ModelGrid::Small => (&[32, 128], &[2, 4], &[3]),
        };
        let mut all = Vec::new();
        for &dim in dims {
            for &hops in hops {
                for &levels in levels {
                    all.push(params.clone().dim(dim).hops(hops).levels(levels));
                }
            }
        }
        all
    }
}

/// The place of the best of the candidates, by validation accuracy, or error of numbers: the
/// first of equals, since grids are in the order of cost.
pub fn best<'a>(results: impl Iterator<Item = &'a StudyResult> + Clone) -> usize {
    let means: Vec<f64> = results.clone().map(|result| result.validation.mean).collect();
    if results.clone().any(|result| result.errors.is_some()) {
        return first_of_smallest(means.into_iter());
    }
    let most = means.iter().copied().fold(0.0, f64::max);
    means.iter().position(|&mean| mean == most).unwrap_or(0)
}

//! Accuracies and how they spread.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, same_length};

/// The share of `predicted` that equals `truth`.
///
/// # Errors
/// Unequal lengths, or none at all.
pub fn accuracy(truth: &[u32], predicted: &[u32]) -> Result<f64> {
    same_length("predictions", truth.len(), predicted.len())?;
    if truth.is_empty() {
        return Err(Error::Empty { what: "the test part" });
    }
    let right = truth.iter().zip(predicted).filter(|(a, b)| a == b).count();
    Ok(right as f64 / truth.len() as f64)
}

/// How often each class was taken for each.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Confusion {
    /// All classes, true or predicted, ascending.
    pub classes: Vec<u32>,
    /// `counts[t][p]`: members of class `t` taken for class `p`.
    pub counts: Vec<Vec<usize>>,
}

/// How often each class was taken for each.
///
/// # Errors
/// Unequal lengths.
pub fn confusion(truth: &[u32], predicted: &[u32]) -> Result<Confusion> {
    same_length("predictions", truth.len(), predicted.len())?;
    let mut classes: Vec<u32> = truth.iter().chain(predicted).copied().collect();
    classes.sort_unstable();
    classes.dedup();
    let mut counts = vec![vec![0; classes.len()]; classes.len()];
    // Every class is in the sorted list, so the search always finds it.
    let place = |class: &u32| classes.partition_point(|other| other < class);
    for (t, p) in truth.iter().zip(predicted) {
        counts[place(t)][place(p)] += 1;
    }
    Ok(Confusion { classes, counts })
}

/// Mean and spread of accuracies, which belong together.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Score {
    /// The mean.
    pub mean: f64,
    /// The standard deviation of the population, divided by n as NumPy does by default.
    pub std: f64,
    /// Over how many runs or folds.
    pub n: usize,
}

impl Score {
    /// Mean and standard deviation of `values`.
    ///
    /// # Errors
    /// No values.
    pub fn of(values: &[f64]) -> Result<Score> {
        if values.is_empty() {
            return Err(Error::Empty { what: "the list of scores" });
        }
        let mean = mean(values);
        let squares: Vec<f64> = values.iter().map(|value| (value - mean).powi(2)).collect();
        Ok(Score { mean, std: self::mean(&squares).sqrt(), n: values.len() })
    }
}

/// In percent, as tables print it: `81.8 ± 1.8`.
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.1} ± {:.1}", 100.0 * self.mean, 100.0 * self.std)
    }
}

/// The mean, summed in NumPy's order (eight interleaved sums from eight values
/// on). A grid search takes the first of the largest means, and settings that
/// tie in truth differ in their last bit: to choose what scikit-learn chooses,
/// that bit must be the same.
pub(crate) fn mean(values: &[f64]) -> f64 {
    fn sum(values: &[f64]) -> f64 {
        const BLOCK: usize = 128;
        if values.len() < 8 {
            return values.iter().fold(0.0, |sum, value| sum + value);
        }
        if values.len() > BLOCK {
            let half = values.len() / 2 / 8 * 8;
            return sum(&values[..half]) + sum(&values[half..]);
        }
        let (eights, rest) = values.as_chunks::<8>();
        let mut r = eights[0];
        for eight in &eights[1..] {
            for lane in 0..8 {
                r[lane] += eight[lane];
            }
        }
        let all = ((r[0] + r[1]) + (r[2] + r[3])) + ((r[4] + r[5]) + (r[6] + r[7]));
        rest.iter().fold(all, |sum, value| sum + value)
    }
    sum(values) / values.len() as f64
}

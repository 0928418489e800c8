//! Accuracies, errors of numbers, and how they spread.

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

/// How far predicted numbers are from the true ones.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Errors {
    /// `√(1/n Σ (y − ŷ)²)`
    pub rmse: f64,
    /// `1/n Σ |y − ŷ|`
    pub mae: f64,
    /// `1 − Σ (y − ŷ)² / Σ (y − ȳ)²`: 1 is perfect, 0 as good as the mean of these very numbers.
    /// Where all are equal it is 1 if nothing is missed and 0 otherwise, as in scikit-learn.
    pub r2: f64,
}

/// How far `predicted` is from `truth`.
///
/// # Errors
/// Unequal lengths, or none at all.
pub fn errors(truth: &[f64], predicted: &[f64]) -> Result<Errors> {
    same_length("predictions", truth.len(), predicted.len())?;
    if truth.is_empty() {
        return Err(Error::Empty { what: "the test part" });
    }
    let missed: Vec<f64> = truth.iter().zip(predicted).map(|(y, guess)| y - guess).collect();
    let squares = |values: &mut dyn Iterator<Item = f64>| {
        mean(&values.map(|value| value * value).collect::<Vec<f64>>())
    };
    let middle = mean(truth);
    let residual = squares(&mut missed.iter().copied());
    let spread = squares(&mut truth.iter().map(|y| y - middle));
    let absolute: Vec<f64> = missed.iter().map(|miss| miss.abs()).collect();
    let r2 = match (residual > 0.0, spread > 0.0) {
        (false, _) => 1.0,
        (true, false) => 0.0,
        (true, true) => 1.0 - residual / spread,
    };
    Ok(Errors { rmse: residual.sqrt(), mae: mean(&absolute), r2 })
}

/// Errors over several splits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct ErrorScores {
    /// Of [`Errors::rmse`].
    pub rmse: Score,
    /// Of [`Errors::mae`].
    pub mae: Score,
    /// Of [`Errors::r2`].
    pub r2: Score,
}

impl ErrorScores {
    /// Means and deviations.
    ///
    /// # Errors
    /// No errors.
    pub fn of(all: &[Errors]) -> Result<ErrorScores> {
        let of = |value: fn(&Errors) -> f64| Score::of(&all.iter().map(value).collect::<Vec<_>>());
        Ok(ErrorScores { rmse: of(|e| e.rmse)?, mae: of(|e| e.mae)?, r2: of(|e| e.r2)? })
    }
}

/// How much better or worse one method is than another on the same splits.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Difference {
    /// The mean of the differences, split by split.
    pub mean: f64,
    /// Their standard deviation, with n − 1.
    pub std: f64,
    /// Over how many splits.
    pub n: usize,
    /// `std / √n`: right if splits were independent of each other.
    pub standard_error: f64,
    /// `std · √(1/n + tested / trained)` (Nadeau and Bengio, 2003): random splits overlap, so
    /// that more of them do not tell ever more about graphs that nobody has seen.
    pub corrected_error: f64,
}

impl Difference {
    /// `own − other` on each split, of which `tested / trained` is the ratio of its parts.
    ///
    /// # Errors
    /// Unequal lengths, or none at all.
    pub fn of(own: &[f64], other: &[f64], tested_by_trained: f64) -> Result<Difference> {
        same_length("splits of the other method", own.len(), other.len())?;
        if own.is_empty() {
            return Err(Error::Empty { what: "the list of splits" });
        }
        let apart: Vec<f64> = own.iter().zip(other).map(|(own, other)| own - other).collect();
        let (middle, n) = (mean(&apart), apart.len());
        let squares: f64 = apart.iter().map(|value| (value - middle).powi(2)).sum();
        // One split says nothing about the spread of splits.
        let std = if n > 1 { (squares / (n - 1) as f64).sqrt() } else { 0.0 };
        let share = 1.0 / n as f64;
        let (standard, corrected) = (share.sqrt(), (share + tested_by_trained).sqrt());
        Ok(Difference {
            mean: middle,
            std,
            n,
            standard_error: std * standard,
            corrected_error: std * corrected,
        })
    }
}

/// Mean and spread of accuracies or errors, which belong together.
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

impl Score {
    /// A number as it is, with three digits: `0.651 ± 0.042`.
    pub fn plain(&self) -> String {
        self.with_digits(digits(self.mean.abs().max(self.std)))
    }

    /// With so many digits after the point.
    pub fn with_digits(&self, digits: usize) -> String {
        format!("{:.digits$} ± {:.digits$}", self.mean, self.std)
    }
}

/// Digits after the point that a number of this size is worth: three for 0.651, none for 651.
pub fn digits(size: f64) -> usize {
    let before = if size > 0.0 { size.log10().floor() } else { 0.0 };
    (2.0 - before).clamp(0.0, 6.0) as usize
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

//! Columns made comparable.

use hg2v_search::scale::Scale;
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, same_length};
use crate::matrix::Matrix;

/// `sign(e)·log(1 + |e|)` of every entry: tames the sums over large graphs, and
/// needs no fitting.
pub fn signed_log(x: &mut Matrix) {
    for value in x.values_mut() {
        *value = value.abs().ln_1p().copysign(*value);
    }
}

/// Mean and scale of each column, as scikit-learn's `StandardScaler` fits them; see [`Scale`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct StandardScaler {
    /// The mean of each column.
    pub means: Vec<f64>,
    /// What each column is divided by.
    pub scales: Vec<f64>,
}

impl StandardScaler {
    /// Mean and scale of the columns of `x`.
    ///
    /// # Errors
    /// A matrix without rows.
    pub fn fit(x: &Matrix) -> Result<StandardScaler> {
        if x.rows() == 0 {
            return Err(Error::Empty { what: "the matrix to standardise" });
        }
        let Scale { means, scales } = Scale::of(x.values(), x.columns());
        Ok(StandardScaler { means, scales })
    }

    /// `(x − mean) / scale` of every column.
    ///
    /// # Errors
    /// A matrix with other columns than were fitted.
    pub fn transform(&self, x: &mut Matrix) -> Result<()> {
        same_length("columns to standardise", self.means.len(), x.columns())?;
        let columns = x.columns().max(1);
        for row in x.values_mut().chunks_exact_mut(columns) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.means).zip(&self.scales) {
                *value = (*value - mean) / scale;
            }
        }
        Ok(())
    }
}

/// The rows to train on and the rows to test on, standardised on the former where
/// that is asked for.
pub(crate) fn parts(
    x: &Matrix,
    train: &[usize],
    test: &[usize],
    standardize: bool,
) -> Result<(Matrix, Matrix)> {
    let (mut train, mut test) = (x.take(train)?, x.take(test)?);
    if standardize {
        let scaler = StandardScaler::fit(&train)?;
        scaler.transform(&mut train)?;
        scaler.transform(&mut test)?;
    }
    Ok((train, test))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_keep_their_sign() {
        let e = std::f64::consts::E;
        let mut x = Matrix::new(1, 4, vec![e - 1.0, 1.0 - e, 0.0, 1e-300]).unwrap();
        signed_log(&mut x);
        assert_eq!(x.values(), [1.0, -1.0, 0.0, 1e-300]);
    }

    #[test]
    fn columns_get_mean_0_and_variance_1_and_constant_ones_mean_0() {
        let mut x = Matrix::new(4, 2, vec![1.0, 0.1, 2.0, 0.1, 3.0, 0.1, 6.0, 0.1]).unwrap();
        let scaler = StandardScaler::fit(&x).unwrap();
        assert_eq!(scaler.means[0], 3.0);
        assert_eq!(scaler.scales, [3.5f64.sqrt(), 1.0]);
        scaler.transform(&mut x).unwrap();
        let column = |at: usize| (0..4).map(|row| x.row(row)[at]).collect::<Vec<f64>>();
        assert!(column(0).iter().sum::<f64>().abs() < 1e-15);
        assert!((column(0).iter().map(|v| v * v).sum::<f64>() - 4.0).abs() < 1e-14);
        assert!(column(1).iter().all(|v| v.abs() < 1e-15));
    }
}

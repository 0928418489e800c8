//! Columns made comparable.

use hg2v_search::scale::StandardScaler;

use crate::error::{Error, Result, same_length};
use crate::matrix::Matrix;

/// `sign(e)·log(1 + |e|)` of every entry: tames the sums over large graphs, and
/// needs no fitting.
pub fn signed_log(x: &mut Matrix) {
    for value in x.values_mut() {
        *value = value.abs().ln_1p().copysign(*value);
    }
}

/// Mean and scale of the columns of `x`.
///
/// # Errors
/// A matrix without rows.
pub fn fit(x: &Matrix) -> Result<StandardScaler> {
    if x.rows() == 0 {
        return Err(Error::Empty { what: "the matrix to standardise" });
    }
    Ok(StandardScaler::of_rounded(x.values(), x.columns(), x.epsilon()))
}

/// `(x − mean) / scale` of every column.
///
/// # Errors
/// A matrix with other columns than were fitted.
pub fn standardise(x: &mut Matrix, scaler: &StandardScaler) -> Result<()> {
    same_length("columns to standardise", scaler.means.len(), x.columns())?;
    scaler.apply(x.values_mut());
    Ok(())
}

/// The rows to train on and the rows to test on, standardised on the former where
/// that is asked for and columns are not counts.
pub(crate) fn parts(
    x: &Matrix,
    train: &[usize],
    test: &[usize],
    standardize: bool,
) -> Result<(Matrix, Matrix)> {
    let (mut train, mut test) = (x.take(train)?, x.take(test)?);
    if standardize && !x.counts() {
        let scaler = fit(&train)?;
        standardise(&mut train, &scaler)?;
        standardise(&mut test, &scaler)?;
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
        let scaler = fit(&x).unwrap();
        assert_eq!(scaler.means[0], 3.0);
        assert_eq!(scaler.scales, [3.5f64.sqrt(), 1.0]);
        standardise(&mut x, &scaler).unwrap();
        let column = |at: usize| (0..4).map(|row| x.row(row)[at]).collect::<Vec<f64>>();
        assert!(column(0).iter().sum::<f64>().abs() < 1e-15);
        assert!((column(0).iter().map(|v| v * v).sum::<f64>() - 4.0).abs() < 1e-14);
        assert!(column(1).iter().all(|v| v.abs() < 1e-15));
    }

    #[test]
    fn vectors_are_as_precise_as_they_were_made() {
        let column = [0.3f32, 0.299_999_98, 0.3, 0.3];
        let x = Matrix::from_f32(4, 1, &column).unwrap();
        assert_eq!(fit(&x.take(&[0, 1, 2]).unwrap()).unwrap().scales, [1.0]);
        let x = Matrix::new(4, 1, x.values().to_vec()).unwrap();
        assert!(fit(&x).unwrap().scales[0] < 1e-7);
    }
}

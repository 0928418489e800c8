//! Columns made comparable.

use hg2v_math::Real;

/// Mean and scale of each column, as scikit-learn's `StandardScaler` fits them.
///
/// The variance is that of the population (divided by n). A column is constant
/// when its variance is no larger than what rounding alone makes of a constant,
/// `n·ε·var + (n·mean·ε)²`; its scale is then 1.
#[derive(Debug, Clone, PartialEq)]
pub struct StandardScaler {
    /// The mean of each column.
    pub means: Vec<f64>,
    /// What each column is divided by.
    pub scales: Vec<f64>,
}

impl StandardScaler {
    /// Mean and scale of each of the `columns` of `values`, row after row; of no rows
    /// the mean is 0 and the scale 1.
    pub fn of<R: Real>(values: &[R], columns: usize) -> StandardScaler {
        let rows = || values.chunks_exact(columns.max(1));
        let n = rows().len().max(1) as f64;
        let mut means = vec![0.0; columns];
        for row in rows() {
            for (sum, value) in means.iter_mut().zip(row) {
                *sum += value.to_f64();
            }
        }
        means.iter_mut().for_each(|sum| *sum /= n);
        // The second sum would be zero without rounding; it corrects the first.
        let mut squares = vec![0.0; columns];
        let mut rests = vec![0.0; columns];
        for row in rows() {
            for (column, value) in row.iter().enumerate() {
                let difference = value.to_f64() - means[column];
                squares[column] += difference * difference;
                rests[column] += difference;
            }
        }
        let scale = |((square, rest), mean): ((&f64, &f64), &f64)| {
            let variance = (square - rest * rest / n) / n;
            let rounding = n * f64::EPSILON * variance + (n * mean * f64::EPSILON).powi(2);
            if variance <= rounding { 1.0 } else { variance.sqrt() }
        };
        let scales = squares.iter().zip(&rests).zip(&means).map(scale).collect();
        StandardScaler { means, scales }
    }

    /// `(x − mean) / scale` of every number of rows.
    pub fn apply<R: Real>(&self, values: &mut [R]) {
        for row in values.chunks_exact_mut(self.means.len().max(1)) {
            for ((value, mean), scale) in row.iter_mut().zip(&self.means).zip(&self.scales) {
                *value = R::from_f64((value.to_f64() - mean) / scale);
            }
        }
    }
}

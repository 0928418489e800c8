//! Numbers in rows.

use hg2v::Model;
use hg2v::context::Context;
use hg2v::prepare::Collection;
use hg2v_math::linalg::vector::dot;

use crate::error::{Error, Result, same_length};

/// Magnitudes above this are refused: their squares, and sums of those, would
/// not be finite.
pub(crate) const LIMIT: f64 = 1e100;

/// A matrix of finite numbers, row after row.
///
/// Vectors arrive as `f32`; everything is computed in `f64`, to which
/// scikit-learn's support vector machine converts as well.
#[derive(Debug, Clone, PartialEq)]
pub struct Matrix {
    rows: usize,
    columns: usize,
    values: Vec<f64>,
    counts: bool,
    /// The precision that the values were computed in, of 1.
    epsilon: f64,
}

impl Matrix {
    /// The `rows × columns` matrix of `values`, row after row.
    ///
    /// # Errors
    /// A wrong number of values, or one that is not finite or above 1e100.
    pub fn new(rows: usize, columns: usize, values: Vec<f64>) -> Result<Matrix> {
        same_length("values of the matrix", rows.saturating_mul(columns), values.len())?;
        match values.iter().position(|value| value.is_nan() || value.abs() > LIMIT) {
            None => Ok(Matrix { rows, columns, values, counts: false, epsilon: f64::EPSILON }),
            Some(at) => Err(Error::NotFinite {
                row: at / columns,
                column: at % columns,
                value: values[at],
                limit: LIMIT,
            }),
        }
    }

    /// The matrix of `values`, row after row, in single precision.
    ///
    /// # Errors
    /// See [`Matrix::new`].
    pub fn from_f32(rows: usize, columns: usize, values: &[f32]) -> Result<Matrix> {
        let made = Matrix::new(rows, columns, values.iter().copied().map(f64::from).collect())?;
        Ok(Matrix { epsilon: f32::EPSILON.into(), ..made })
    }

    /// The vectors that `model` makes of all graphs of `collection`.
    ///
    /// # Errors
    /// A model that fails, and see [`Matrix::new`].
    pub fn of_model(
        model: &dyn Model,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Matrix> {
        let rows = model.embed_collection(collection, context)?;
        let made = Matrix::from_f32(collection.len(), model.dim(), &rows.values)?;
        Ok(Matrix { counts: model.counts(), ..made })
    }

    /// The matrix whose rows are these.
    ///
    /// # Errors
    /// Rows of unequal length, and see [`Matrix::new`].
    pub fn from_f32_rows<R: AsRef<[f32]>>(rows: &[R]) -> Result<Matrix> {
        let columns = rows.first().map_or(0, |row| row.as_ref().len());
        let mut values = Vec::with_capacity(rows.len() * columns);
        for row in rows {
            same_length("numbers in a row", columns, row.as_ref().len())?;
            values.extend_from_slice(row.as_ref());
        }
        Matrix::from_f32(rows.len(), columns, &values)
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// Whether columns [count in one unit](Model::counts), and are never standardised.
    pub(crate) fn counts(&self) -> bool {
        self.counts
    }

    /// The distance from 1 to the next number of the precision that the values were computed in.
    pub(crate) fn epsilon(&self) -> f64 {
        self.epsilon
    }

    /// All values, row after row.
    pub fn values(&self) -> &[f64] {
        &self.values
    }

    /// One row.
    pub fn row(&self, row: usize) -> &[f64] {
        &self.values[row * self.columns..(row + 1) * self.columns]
    }

    /// The matrix of these rows, in this order.
    ///
    /// # Errors
    /// A row that does not exist.
    pub fn take(&self, rows: &[usize]) -> Result<Matrix> {
        let mut values = Vec::with_capacity(rows.len() * self.columns);
        for &row in rows {
            if row >= self.rows {
                let problem = format!("but there are only {}", self.rows);
                return Err(Error::Row { row, problem });
            }
            values.extend_from_slice(self.row(row));
        }
        Ok(Matrix { rows: rows.len(), values, ..*self })
    }

    /// `‖x‖²` of each row.
    pub(crate) fn squared_norms(&self) -> Vec<f64> {
        (0..self.rows).map(|row| dot(self.row(row), self.row(row))).collect()
    }

    /// Vectors without numbers cannot be told apart.
    pub(crate) fn has_columns(&self) -> Result<()> {
        if self.columns > 0 { Ok(()) } else { Err(Error::Empty { what: "every vector" }) }
    }

    /// The rows as they may be written over; what is written must be finite.
    pub(crate) fn values_mut(&mut self) -> &mut [f64] {
        &mut self.values
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::scale::parts;

    #[test]
    fn counts_are_not_standardised() {
        let x = Matrix::new(3, 2, vec![1.0, 0.0, 5.0, 0.0, 2.0, 1.0]).unwrap();
        let (train, test) = parts(&x, &[0, 1], &[2], true).unwrap();
        assert_eq!((train.values(), test.values()), (&[-1.0, 0.0, 1.0, 0.0][..], &[-0.5, 1.0][..]));
        let x = Matrix { counts: true, ..x };
        let (train, test) = parts(&x, &[0, 1], &[2], true).unwrap();
        assert_eq!((train.values(), test.values()), (&[1.0, 0.0, 5.0, 0.0][..], &[2.0, 1.0][..]));
        assert!(train.counts() && test.counts());
    }
}

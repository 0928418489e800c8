//! From inner products to kernel values.

use std::fmt;
use std::ops::Range;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result, positive, same_length};
use crate::matrix::Matrix;

/// Rows are padded to a multiple of this many numbers, so that loops over them
/// have no remainder.
pub(crate) const LANES: usize = 8;

/// Rows and columns that are turned over at a time: two tiles fit the nearest cache.
const TILE: usize = 32;

/// The width of the radial kernel.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Gamma {
    /// `1 / (columns · var(X))` with the variance over all entries of the
    /// training matrix; 1 where that is zero.
    Scale,
    /// A number above 0.
    Value(f64),
}

impl Gamma {
    /// The number it stands for on the training matrix `x`.
    ///
    /// # Errors
    /// A value that is not a finite number above 0.
    pub fn of(self, x: &Matrix) -> Result<f64> {
        match self {
            Gamma::Value(value) => positive("gamma", value).map(|()| value),
            Gamma::Scale => {
                let count = x.values().len().max(1) as f64;
                // Sums of rows first: as exact as need be, in one fixed order.
                let sum_rows = |term: &dyn Fn(&f64) -> f64| -> f64 {
                    (0..x.rows()).map(|row| x.row(row).iter().map(term).sum::<f64>()).sum()
                };
                let mean = sum_rows(&|value| *value) / count;
                let variance = sum_rows(&|value| (value - mean).powi(2)) / count;
                let gamma = 1.0 / (x.columns() as f64 * variance);
                Ok(if gamma.is_finite() { gamma } else { 1.0 })
            }
        }
    }
}

impl fmt::Display for Gamma {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Gamma::Scale => f.write_str("scale"),
            Gamma::Value(value) => write!(f, "{value}"),
        }
    }
}

/// How alike two vectors are.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum Kernel {
    /// `exp(−γ·‖x − y‖²)`
    Rbf(Gamma),
    /// `xᵀy`
    Linear,
}

impl fmt::Display for Kernel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Kernel::Rbf(gamma) => write!(f, "rbf, gamma {gamma}"),
            Kernel::Linear => f.write_str("linear"),
        }
    }
}

/// A kernel whose γ is a number.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Fitted {
    Rbf(f64),
    /// The inner product itself: the linear kernel, or a precomputed one.
    Product,
}

impl Kernel {
    /// The kernel with γ as it is on the training matrix `x`.
    pub(crate) fn fit(self, x: &Matrix) -> Result<Fitted> {
        Ok(match self {
            Kernel::Rbf(gamma) => Fitted::Rbf(gamma.of(x)?),
            Kernel::Linear => Fitted::Product,
        })
    }
}

impl Fitted {
    /// The kernel of one row, from and over its inner products with others;
    /// `square` and `squares` are their squared norms.
    ///
    /// `‖x − y‖² = ‖x‖² + ‖y‖² − 2·xᵀy`, not below zero.
    pub(crate) fn row(self, products: &mut [f64], square: f64, squares: &[f64]) {
        if let Fitted::Rbf(gamma) = self {
            for (value, other) in products.iter_mut().zip(squares) {
                let distance = square + other - 2.0 * *value;
                *value = (-gamma * distance.max(0.0)).exp();
            }
        }
    }
}

/// A symmetric matrix of kernel values among training rows.
///
/// Values are kept in single precision, as LIBSVM keeps them; the diagonal in
/// double precision, as it does too.
#[derive(Debug, Clone)]
pub struct Gram {
    /// Numbers from one row to the next: `len`, rounded up to [`LANES`].
    stride: usize,
    values: Vec<f32>,
    diagonal: Vec<f64>,
}

impl Gram {
    /// The kernel of all pairs of rows, given the matrix of their inner products.
    /// Only what is on and below its diagonal is read.
    ///
    /// # Errors
    /// A value beyond single precision, which only unscaled vectors give.
    pub(crate) fn new(kernel: Fitted, products: &[f64], n: usize) -> Result<Gram> {
        let squares: Vec<f64> = (0..n).map(|i| products[i * n + i]).collect();
        Gram::fill(n, |i, below| {
            below.copy_from_slice(&products[i * n..=i * n + i]);
            kernel.row(below, squares[i], &squares);
        })
    }

    /// A kernel computed elsewhere, of which the lower triangle counts.
    ///
    /// # Errors
    /// A matrix that is not square, or a value beyond single precision.
    pub fn precomputed(kernel: &Matrix) -> Result<Gram> {
        let all: Vec<usize> = (0..kernel.rows()).collect();
        same_length("columns of the kernel matrix", kernel.rows(), kernel.columns())?;
        Gram::of_kernel(kernel, &all)
    }

    /// Rows and columns of a square matrix of kernel values, in the order of
    /// `rows`; of the matrix the lower triangle counts.
    pub(crate) fn of_kernel(kernel: &Matrix, rows: &[usize]) -> Result<Gram> {
        Gram::fill(rows.len(), |i, below| {
            for (slot, &j) in below.iter_mut().zip(rows) {
                let (high, low) = (rows[i].max(j), rows[i].min(j));
                *slot = kernel.row(high)[low];
            }
        })
    }

    /// The matrix whose row `i` up to the diagonal is what `fill` makes of `i`.
    fn fill(n: usize, fill: impl Fn(usize, &mut [f64])) -> Result<Gram> {
        let stride = n.next_multiple_of(LANES);
        let mut values = vec![0.0; n * stride];
        let mut diagonal = Vec::with_capacity(n);
        let mut below = Vec::with_capacity(n);
        for i in 0..n {
            below.resize(i + 1, 0.0);
            fill(i, &mut below);
            diagonal.push(below[i]);
            for (slot, value) in values[i * stride..].iter_mut().zip(&below) {
                *slot = *value as f32;
            }
            if let Some(j) = below.iter().position(|value| !(*value as f32).is_finite()) {
                return Err(Error::NotFinite {
                    row: i,
                    column: j,
                    value: below[j],
                    limit: f64::from(f32::MAX),
                });
            }
        }
        mirror(&mut values, n, stride);
        Ok(Gram { stride, values, diagonal })
    }

    /// How many rows, and columns.
    pub fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.diagonal.is_empty()
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.stride..i * self.stride + self.len()]
    }

    /// Row `i` with its padding.
    pub(crate) fn padded_row(&self, i: usize) -> &[f32] {
        &self.values[i * self.stride..(i + 1) * self.stride]
    }

    /// Numbers from one row to the next.
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// The diagonal.
    pub fn diagonal(&self) -> &[f64] {
        &self.diagonal
    }

    /// Rows and columns of two ranges, one after the other.
    pub(crate) fn of_ranges(&self, first: Range<usize>, second: Range<usize>) -> Gram {
        let n = first.len() + second.len();
        let stride = n.next_multiple_of(LANES);
        let mut values = vec![0.0; n * stride];
        let rows = first.clone().chain(second.clone());
        for (slot, i) in values.chunks_exact_mut(stride.max(1)).zip(rows.clone()) {
            let row = self.row(i);
            slot[..first.len()].copy_from_slice(&row[first.clone()]);
            slot[first.len()..n].copy_from_slice(&row[second.clone()]);
        }
        Gram { stride, values, diagonal: rows.map(|i| self.diagonal[i]).collect() }
    }

    /// Rows and columns of `indices`.
    pub(crate) fn of_indices(&self, indices: &[u32]) -> Gram {
        let stride = indices.len().next_multiple_of(LANES);
        let mut values = vec![0.0; indices.len() * stride];
        for (slot, &i) in values.chunks_exact_mut(stride.max(1)).zip(indices) {
            let row = self.row(i as usize);
            for (slot, &j) in slot.iter_mut().zip(indices) {
                *slot = row[j as usize];
            }
        }
        let diagonal = indices.iter().map(|&i| self.diagonal[i as usize]).collect();
        Gram { stride, values, diagonal }
    }
}

/// Copies what is below the diagonal to above it.
fn mirror(values: &mut [f32], n: usize, stride: usize) {
    for top in (0..n).step_by(TILE) {
        for left in (0..=top).step_by(TILE) {
            for i in top..(top + TILE).min(n) {
                for j in left..(left + TILE).min(i) {
                    values[j * stride + i] = values[i * stride + j];
                }
            }
        }
    }
}

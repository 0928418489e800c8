//! Ridge regression and kernel ridge regression, as scikit-learn's `Ridge` and `KernelRidge` on
//! numbers whose mean was taken off.
//!
//! Every α is a Cholesky factor of its own. One eigendecomposition would serve all of them, but
//! most of its `O(n³)` is products of a matrix with one vector, which memory bounds; a factor is
//! `n³/3` multiplications in products of blocks: 0.14 s of 2 688 rows on one core.

use hg2v_math::linalg::cholesky::Cholesky;
use hg2v_math::linalg::vector::{axpy, dot};

use crate::error::{Result, positive, same_length};
use crate::gemm::{inner_products, product, rows_of};
use crate::matrix::Matrix;
use crate::svm::kernel::{Fitted, Gamma, Kernel};
use crate::svm::ovo::cross_kernel;

/// A linear function of a vector.
#[derive(Debug, Clone, PartialEq)]
pub struct Ridge {
    /// A weight a column.
    pub weights: Vec<f64>,
    /// What is added.
    pub intercept: f64,
}

impl Ridge {
    /// Minimises `‖y − X·w − b‖² + α·‖w‖²` over weights `w` and intercept `b`.
    ///
    /// # Errors
    /// Unequal lengths, no rows, an α that is not above 0.
    pub fn fit(x: &Matrix, y: &[f64], alpha: f64) -> Result<Ridge> {
        Ok(Ridge::path(x, y, &[alpha])?.swap_remove(0))
    }

    /// As [`fit`](Ridge::fit), for each of `alphas`.
    ///
    /// With rows and numbers less their means (`X̃`, `ỹ`), `w = (X̃ᵀX̃ + α)⁻¹·X̃ᵀỹ`, which is
    /// `X̃ᵀ·(X̃X̃ᵀ + α)⁻¹·ỹ`: of the two matrices the smaller is factored.
    ///
    /// # Errors
    /// As [`fit`](Ridge::fit).
    ///
    /// # Complexity
    /// `O(n·p·m + m³)` with `m = min(n, p)` of `n` rows and `p` columns; `m³/3` for each α.
    pub fn path(x: &Matrix, y: &[f64], alphas: &[f64]) -> Result<Vec<Ridge>> {
        same_length("numbers", x.rows(), y.len())?;
        x.has_columns()?;
        alphas.iter().try_for_each(|&alpha| positive("alpha", alpha))?;
        let (rows, columns) = (x.rows(), x.columns());
        let middle = mean(y);
        let means = column_means(x);
        let mut centred = x.values().to_vec();
        centred.chunks_exact_mut(columns).for_each(|row| axpy(-1.0, &means, row));
        let wanted: Vec<f64> = y.iter().map(|y| y - middle).collect();
        let few = columns <= rows;
        let across = rows_of(&centred, rows, columns);
        let gram = match few {
            true => {
                let mut gram = vec![0.0; columns * columns];
                product(across.t(), across, &mut gram);
                gram
            }
            false => inner_products(&centred, &centred, columns),
        };
        let folded = fold(&centred, &wanted, columns);
        let weights = |&alpha: &f64| {
            let solve = |b: &[f64]| solve(&gram, alpha, b);
            let weights = match few {
                true => solve(&folded),
                false => solve(&wanted).map(|dual| fold(&centred, &dual, columns)),
            };
            // What rounding leaves of a matrix of rank 0 or so has no say.
            let weights = weights.unwrap_or_else(|| vec![0.0; columns]);
            Ridge { intercept: middle - dot(&weights, &means), weights }
        };
        Ok(alphas.iter().map(weights).collect())
    }

    /// The number of each row.
    ///
    /// # Errors
    /// A wrong number of columns.
    pub fn predict(&self, x: &Matrix) -> Result<Vec<f64>> {
        same_length("columns", self.weights.len(), x.columns())?;
        let of = |row: usize| dot(&self.weights, x.row(row)) + self.intercept;
        Ok((0..x.rows()).map(of).collect())
    }
}

/// `Xᵀ·b`.
fn fold(x: &[f64], b: &[f64], columns: usize) -> Vec<f64> {
    let mut out = vec![0.0; columns];
    x.chunks_exact(columns).zip(b).for_each(|(row, &b)| axpy(b, row, &mut out));
    out
}

fn column_means(x: &Matrix) -> Vec<f64> {
    let ones = vec![1.0 / x.rows().max(1) as f64; x.rows()];
    fold(x.values(), &ones, x.columns())
}

fn mean(y: &[f64]) -> f64 {
    y.iter().sum::<f64>() / y.len().max(1) as f64
}

/// `(A + α)⁻¹·b`; `None` where that is not positive definite.
fn solve(a: &[f64], alpha: f64, b: &[f64]) -> Option<Vec<f64>> {
    let n = b.len();
    let mut shifted = a.to_vec();
    (0..n).for_each(|i| shifted[i * n + i] += alpha);
    Some(Cholesky::of(shifted, n)?.solve(b))
}

/// What kernel ridge regression learns, for each of `alphas`: the mean `ȳ`, and
/// `a = (K + α·k̄)⁻¹·(y − ȳ)`, where `k̄` is the mean of the diagonal of `K`. A radial kernel has
/// `k̄ = 1`; other kernels come in any size, and with it no grid has to know.
///
/// Where `K + α·k̄` is not positive definite, which happens to kernels that are none, `a = 0`: such
/// a setting says the mean.
pub(crate) fn duals(k: &[f64], y: &[f64], alphas: &[f64]) -> Vec<Dual> {
    let n = y.len();
    let middle = mean(y);
    let wanted: Vec<f64> = y.iter().map(|y| y - middle).collect();
    let size = (0..n).map(|i| k[i * n + i]).sum::<f64>() / n.max(1) as f64;
    let dual = |&alpha: &f64| {
        let weights = solve(k, alpha * size, &wanted);
        Dual { mean: middle, weights: weights.unwrap_or_else(|| vec![0.0; n]) }
    };
    alphas.iter().map(dual).collect()
}

/// A number for each row, from its kernel values with training rows.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Dual {
    mean: f64,
    weights: Vec<f64>,
}

impl Dual {
    /// `ȳ + Σ_i a_i·k(x_i, x)` for each row of `cross`.
    pub(crate) fn predict(&self, cross: &[f64]) -> Vec<f64> {
        let rows = cross.chunks_exact(self.weights.len().max(1));
        rows.map(|row| self.mean + dot(&self.weights, row)).collect()
    }
}

/// A function of how near a vector is to those that were learnt from.
#[derive(Debug, Clone)]
pub struct KernelRidge {
    x: Matrix,
    kernel: Fitted,
    dual: Dual,
}

impl KernelRidge {
    /// Minimises `‖y − ȳ − K·a‖² + α·aᵀK·a` with the radial kernel
    /// `K_ij = exp(−γ·‖x_i − x_j‖²)`.
    ///
    /// # Errors
    /// Unequal lengths, an α or γ that is not above 0.
    ///
    /// # Complexity
    /// `O(n²·p + n³)` time and `O(n²)` space.
    pub fn fit(x: &Matrix, y: &[f64], alpha: f64, gamma: Gamma) -> Result<KernelRidge> {
        same_length("numbers", x.rows(), y.len())?;
        x.has_columns()?;
        positive("alpha", alpha)?;
        let kernel = Kernel::Rbf(gamma).fit(x)?;
        let products = inner_products(x.values(), x.values(), x.columns());
        // The products' own, so that a row is at no distance from itself.
        let n = x.rows();
        let squares: Vec<f64> = (0..n).map(|i| products[i * n + i]).collect();
        let k = cross_kernel(kernel, products, &squares, &squares);
        let dual = duals(&k, y, &[alpha]).swap_remove(0);
        Ok(KernelRidge { x: x.clone(), kernel, dual })
    }

    /// The number of each row.
    ///
    /// # Errors
    /// A wrong number of columns.
    pub fn predict(&self, x: &Matrix) -> Result<Vec<f64>> {
        same_length("columns", self.x.columns(), x.columns())?;
        let products = inner_products(x.values(), self.x.values(), x.columns());
        let squares = (x.squared_norms(), self.x.squared_norms());
        Ok(self.dual.predict(&cross_kernel(self.kernel, products, &squares.0, &squares.1)))
    }
}

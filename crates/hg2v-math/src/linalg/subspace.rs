//! The directions in which the rows of a sparse matrix differ most.
//!
//! With `X` the rows less their mean `μ`, they are the right singular vectors of largest
//! singular values. They are found by subspace iteration (Halko, Martinsson and Tropp 2011):
//!
//! ```text
//! Y ← orth(X·Xᵀ·Y), a few times,     (Xᵀ·Y)ᵀ·(Xᵀ·Y) = W·Λ·Wᵀ,     V = Xᵀ·Y·W·Λ^(−1/2)
//! ```
//!
//! from a random `Y` with some columns more than are wanted. Where there are no more rows than
//! columns of `Y`, they are exact; elsewhere those of large variance are, and the others
//! span nearly as much. Neither `X·Xᵀ` nor `Xᵀ·X` is made.

use rayon::prelude::*;

use super::dense::symmetric_eigen;
use crate::gemm::{self, View, ViewMut};
use crate::rng::{stream, unit};

/// Columns of `Y` beyond those that are wanted.
const MORE: usize = 16;

/// How often `X·Xᵀ` is applied.
const STEPS: usize = 5;

/// Directions whose variance is below this share of the largest are rounding.
const LEAST: f64 = 1e-10;

/// Rows of numbers, most of which are zero.
#[derive(Debug, Clone)]
pub struct SparseRows {
    columns: usize,
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
}

/// The directions in which rows differ most.
#[derive(Debug, Clone, PartialEq)]
pub struct Directions {
    /// How many there are.
    pub count: usize,
    /// `μ`, the mean row.
    pub means: Vec<f64>,
    /// `‖X·v‖²` of each, largest first.
    pub squares: Vec<f64>,
    /// A row of `count` for each column of `X`: the directions, side by side.
    pub rows: Vec<f64>,
}

impl SparseRows {
    /// No rows yet, of so many columns.
    pub fn new(columns: usize) -> SparseRows {
        SparseRows { columns, starts: vec![0], entries: Vec::new() }
    }

    /// Adds a row: its columns, ascending, and their numbers.
    pub fn push(&mut self, row: impl IntoIterator<Item = (u32, f64)>) {
        self.entries.extend(row);
        self.starts.push(self.entries.len());
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.starts.len() - 1
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn row(&self, i: usize) -> &[(u32, f64)] {
        &self.entries[self.starts[i]..self.starts[i + 1]]
    }

    fn transposed(&self) -> SparseRows {
        let mut starts = vec![0; self.columns + 1];
        self.entries.iter().for_each(|&(column, _)| starts[column as usize + 1] += 1);
        (0..self.columns).for_each(|column| starts[column + 1] += starts[column]);
        let mut next = starts.clone();
        let mut entries = vec![(0, 0.0); self.entries.len()];
        for i in 0..self.len() {
            for &(column, value) in self.row(i) {
                entries[next[column as usize]] = (i as u32, value);
                next[column as usize] += 1;
            }
        }
        SparseRows { columns: self.len(), starts, entries }
    }

    /// The product with a matrix of `width` numbers a row.
    fn times(&self, dense: &[f64], width: usize) -> Vec<f64> {
        let mut product = vec![0.0; self.len() * width];
        product.par_chunks_exact_mut(width.max(1)).enumerate().for_each(|(i, sums)| {
            for &(column, value) in self.row(i) {
                let row = &dense[column as usize * width..][..width];
                sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += value * row);
            }
        });
        product
    }

    fn means(&self) -> Vec<f64> {
        let mut sums = vec![0.0; self.columns];
        self.entries.iter().for_each(|&(column, value)| sums[column as usize] += value);
        let n = self.len().max(1) as f64;
        sums.into_iter().map(|sum| sum / n).collect()
    }

    /// The `wanted` directions in which rows differ most, or as many as there are.
    ///
    /// # Complexity
    /// With `n` rows, `z` numbers that are not zero and `k` directions: time
    /// O((z + n·k)·k), space O((n + columns)·k).
    pub fn directions(&self, wanted: usize, seed: u64) -> Directions {
        let n = self.len();
        let means = self.means();
        let width = (wanted + MORE).min(n);
        let transposed = self.transposed();
        let mut rng = stream(seed, "subspace", 0, 0);
        let start: Vec<f64> = (0..n * width).map(|_| unit(&mut rng) - 0.5).collect();
        let mut y = orthonormal(start, n, width);
        for _ in 0..STEPS {
            let width = y.len().checked_div(n).unwrap_or(0);
            let z = centred_down(&transposed, &means, &y, width);
            let shift = gemm_of(View::new(&means, 1, means.len(), means.len()), &z, width);
            let mut next = self.times(&z, width);
            next.chunks_exact_mut(width.max(1)).for_each(|row| {
                row.iter_mut().zip(&shift).for_each(|(value, shift)| *value -= shift);
            });
            y = orthonormal(next, n, width);
        }
        let width = y.len().checked_div(n).unwrap_or(0);
        let z = centred_down(&transposed, &means, &y, width);
        let (values, vectors) = largest(&z, self.columns, width);
        let count = values.iter().take(wanted).take_while(|&&v| v > LEAST * values[0]).count();
        let turned = scaled(&vectors, &values, width, count);
        let rows = gemm_of(View::new(&z, self.columns, width, width), &turned, count);
        Directions { count, means, squares: values[..count].to_vec(), rows }
    }
}

/// `(X − 1·μᵀ)ᵀ·Y`.
fn centred_down(transposed: &SparseRows, means: &[f64], y: &[f64], width: usize) -> Vec<f64> {
    let mut sums = vec![0.0; width];
    for row in y.chunks_exact(width.max(1)) {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += value);
    }
    let mut z = transposed.times(y, width);
    z.par_chunks_exact_mut(width.max(1)).zip(means).for_each(|(row, mean)| {
        row.iter_mut().zip(&sums).for_each(|(value, sum)| *value -= mean * sum);
    });
    z
}

/// `A·B`, with `width` columns.
fn gemm_of(a: View<'_, f64>, b: &[f64], width: usize) -> Vec<f64> {
    let (rows, inner) = (a.rows(), a.columns());
    let mut product = vec![0.0; rows * width];
    let into = ViewMut::new(&mut product, rows, width, width);
    gemm::product(a, View::new(b, inner, width, width), 0.0, into);
    product
}

/// Eigenpairs of `AᵀA`, largest first: vectors one after the other.
fn largest(a: &[f64], rows: usize, width: usize) -> (Vec<f64>, Vec<f64>) {
    let view = View::new(a, rows, width, width);
    let mut negated = gemm_of(view.t(), a, width);
    negated.iter_mut().for_each(|value| *value = -*value);
    let (values, vectors) = symmetric_eigen(&mut negated, width, width).unwrap_or_default();
    (values.into_iter().map(|value| -value).collect(), vectors)
}

/// `W·Λ^(−1/2)` of the first `count` pairs, a row of `count` for each of `width`.
fn scaled(vectors: &[f64], values: &[f64], width: usize, count: usize) -> Vec<f64> {
    let row = |i: usize| (0..count).map(move |c| vectors[c * width + i] / values[c].sqrt());
    (0..width).flat_map(row).collect()
}

/// Columns that span what those of `a` span, orthogonal and of length 1; fewer where some
/// depend on others.
fn orthonormal(mut a: Vec<f64>, rows: usize, mut width: usize) -> Vec<f64> {
    // Squares lose half of the digits: the second time there is little left to mend.
    for _ in 0..2 {
        let (values, vectors) = largest(&a, rows, width);
        let kept = values.iter().take_while(|&&value| value > LEAST * values[0]).count();
        let turned = scaled(&vectors, &values, width, kept);
        a = gemm_of(View::new(&a, rows, width, width), &turned, kept);
        width = kept;
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dense: &[Vec<f64>]) -> SparseRows {
        let mut rows = SparseRows::new(dense[0].len());
        for row in dense {
            let kept = row.iter().zip(0..).filter(|(value, _)| **value != 0.0);
            rows.push(kept.map(|(value, column)| (column, *value)));
        }
        rows
    }

    fn random(rows: usize, columns: usize) -> Vec<Vec<f64>> {
        let mut rng = stream(1, "test", 0, 0);
        let mut sparse = |column: usize| match unit(&mut rng) {
            drawn if drawn < 0.3 => (drawn - 0.1) / (1.0 + column as f64).sqrt(),
            _ => 0.0,
        };
        (0..rows).map(|_| (0..columns).map(&mut sparse).collect()).collect()
    }

    /// The whole spectrum of the covariance, by the dense solver.
    fn exactly(dense: &[Vec<f64>]) -> (Vec<f64>, Vec<f64>) {
        let (n, m) = (dense.len() as f64, dense[0].len());
        let mean = |c: usize| dense.iter().map(|row| row[c]).sum::<f64>() / n;
        let means: Vec<f64> = (0..m).map(mean).collect();
        let product = |i: usize, j: usize| -> f64 {
            dense.iter().map(|row| (row[i] - means[i]) * (row[j] - means[j])).sum()
        };
        let mut negated: Vec<f64> =
            (0..m).flat_map(|i| (0..m).map(move |j| (i, j))).map(|(i, j)| -product(i, j)).collect();
        let (values, vectors) = symmetric_eigen(&mut negated, m, m).unwrap();
        (values.into_iter().map(|value| -value).collect(), vectors)
    }

    #[test]
    fn directions_are_those_of_the_covariance() {
        let dense = random(60, 25);
        let (values, vectors) = exactly(&dense);
        let found = of(&dense).directions(4, 3);
        assert_eq!(found.count, 4);
        for direction in 0..4 {
            let (value, own) = (values[direction], found.squares[direction]);
            assert!((value / own - 1.0).abs() < 1e-6, "{direction}: {value} {own}");
            let vector = &vectors[direction * 25..][..25];
            let product: f64 = vector
                .iter()
                .zip(found.rows.chunks_exact(4))
                .map(|(v, row)| v * row[direction])
                .sum();
            assert!((product.abs() - 1.0).abs() < 1e-4, "{direction}: {product}");
        }
    }

    #[test]
    fn few_rows_have_all_their_directions() {
        let dense = random(9, 40);
        let (values, _) = exactly(&dense);
        let found = of(&dense).directions(20, 0);
        assert_eq!(found.count, 8, "one less than rows: they are centred");
        for (own, value) in found.squares.iter().zip(&values) {
            assert!((own / value - 1.0).abs() < 1e-9, "{own} {value}");
        }
    }

    #[test]
    fn what_does_not_differ_has_no_directions() {
        for dense in [vec![vec![1.0, 0.0, 2.0]; 5], vec![vec![0.0; 3]; 2], vec![vec![1.0; 3]]] {
            assert_eq!(of(&dense).directions(2, 0).count, 0, "{dense:?}");
        }
        assert_eq!(SparseRows::new(4).directions(2, 0).count, 0);
    }
}

//! Dense symmetric positive definite systems.

use super::vector::{axpy, dot};
use crate::gemm::{self, View, ViewMut};
use crate::parallel::crew;

/// Columns that are factored at a time.
const BLOCK: usize = 64;

/// Rows that one task solves against a diagonal block.
const ROWS: usize = 64;

/// The lower triangular `L` of `A = L·Lᵀ`.
#[derive(Debug, Clone)]
pub struct Cholesky {
    n: usize,
    /// `L` on and below the diagonal, row after row; above it is what was there.
    values: Vec<f64>,
}

impl Cholesky {
    /// Factors the symmetric `n × n` matrix `a`, of which the lower triangle is read; `None`
    /// where it is not positive definite.
    ///
    /// Block column by block column, left-looking: what the columns before say of it is one
    /// product, `A[k.., k] − L[k.., ..k]·L[k, ..k]ᵀ`, then the diagonal block is factored, and
    /// the rows below are solved against it.
    ///
    /// # Complexity
    /// `n³/3` multiplications, nearly all in products; `O(n²)` space.
    pub fn of(mut a: Vec<f64>, n: usize) -> Option<Cholesky> {
        debug_assert_eq!(a.len(), n * n);
        let mut before = vec![0.0; n * BLOCK];
        for k in (0..n).step_by(BLOCK) {
            let width = BLOCK.min(n - k);
            if k > 0 {
                let rows = View::new(&a[k * n..], n - k, k, n);
                let said = &mut before[..(n - k) * width];
                let top = rows.row_range(0, width).t();
                gemm::product(rows, top, 0.0, ViewMut::new(said, n - k, width, width));
                for (row, said) in a[k * n..].chunks_exact_mut(n).zip(said.chunks_exact(width)) {
                    for (value, said) in row[k..k + width].iter_mut().zip(said) {
                        *value -= said;
                    }
                }
            }
            let (diagonal, below) = a[k * n..].split_at_mut(width * n);
            factor(diagonal, n, k, width)?;
            let diagonal = &*diagonal;
            crew::each_block(below, ROWS * n, |_, rows| {
                for row in rows.chunks_exact_mut(n) {
                    solve_row(&mut row[k..k + width], |j| &diagonal[j * n + k..][..=j]);
                }
            });
        }
        Some(Cholesky { n, values: a })
    }

    /// `A⁻¹·b`.
    ///
    /// # Complexity
    /// `O(n²)`
    pub fn solve(&self, b: &[f64]) -> Vec<f64> {
        let n = self.n;
        let mut x = b.to_vec();
        solve_row(&mut x, |j| &self.values[j * n..][..=j]);
        // Lᵀ·x = z, from the last row up: row j of L is column j of Lᵀ.
        for j in (0..n).rev() {
            let row = &self.values[j * n..][..=j];
            let (rest, last) = x.split_at_mut(j);
            last[0] /= row[j];
            axpy(-last[0], &row[..j], rest);
        }
        x
    }
}

/// Factors the `width × width` block that begins in column `k` of rows `n` long.
fn factor(rows: &mut [f64], n: usize, k: usize, width: usize) -> Option<()> {
    for i in 0..width {
        let (above, row) = rows.split_at_mut(i * n);
        let row = &mut row[k..=k + i];
        solve_row(&mut row[..i], |j| &above[j * n + k..][..=j]);
        let pivot = row[i] - dot(&row[..i], &row[..i]);
        // Written so that a NaN is refused as well.
        if !(pivot > 0.0 && pivot.is_finite()) {
            return None;
        }
        row[i] = pivot.sqrt();
    }
    Some(())
}

/// `x ← L⁻¹·x`, where `row(j)` is row `j` of `L` up to its diagonal.
fn solve_row<'a>(x: &mut [f64], row: impl Fn(usize) -> &'a [f64]) {
    for j in 0..x.len() {
        let row = row(j);
        x[j] = (x[j] - dot(&row[..j], &x[..j])) / row[j];
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::start_value;

    /// `B·Bᵀ + I` of a random `B`.
    fn definite(n: usize) -> Vec<f64> {
        let b: Vec<f64> = (0..n * n).map(|at| start_value(at as u64)).collect();
        let entry = |i: usize, j: usize| {
            dot(&b[i * n..(i + 1) * n], &b[j * n..(j + 1) * n]) + f64::from(u8::from(i == j))
        };
        (0..n * n).map(|at| entry(at / n, at % n)).collect()
    }

    #[test]
    fn solves_what_it_factors() {
        for n in [1, 2, 5, 63, 64, 65, 200] {
            let a = definite(n);
            let x: Vec<f64> = (0..n).map(|at| start_value(7 + at as u64)).collect();
            let b: Vec<f64> = a.chunks_exact(n).map(|row| dot(row, &x)).collect();
            let found = Cholesky::of(a, n).unwrap().solve(&b);
            for (found, x) in found.iter().zip(&x) {
                assert!((found - x).abs() < 1e-9, "{n}: {found} {x}");
            }
        }
        assert_eq!(Cholesky::of(vec![], 0).unwrap().solve(&[]), [0.0; 0]);
    }

    #[test]
    fn threads_change_no_bit() {
        let n = 300;
        let of = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| Cholesky::of(definite(n), n).unwrap().values)
        };
        let one = of(1);
        assert_eq!(one, of(2));
        assert_eq!(one, of(4));
    }

    #[test]
    fn what_is_not_definite_is_refused() {
        assert!(Cholesky::of(vec![1.0, 2.0, 2.0, 1.0], 2).is_none());
        assert!(Cholesky::of(vec![0.0], 1).is_none());
        assert!(Cholesky::of(vec![f64::NAN], 1).is_none());
        let mut a = definite(130);
        a[129 * 130 + 129] = -1.0;
        assert!(Cholesky::of(a, 130).is_none());
    }
}

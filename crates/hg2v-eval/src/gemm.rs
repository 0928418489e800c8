//! Products of matrices whose rows lie one after the other.

use hg2v_math::gemm::{self, View, ViewMut};

/// The `rows × columns` matrix whose rows are in `values`.
pub(crate) fn rows_of(values: &[f64], rows: usize, columns: usize) -> View<'_, f64> {
    View::new(values, rows, columns, columns)
}

/// `out ← A·B`, row after row.
pub(crate) fn product(a: View<'_, f64>, b: View<'_, f64>, out: &mut [f64]) {
    let (rows, columns) = (a.rows(), b.columns());
    gemm::product(a, b, 0.0, ViewMut::new(out, rows, columns, columns));
}

/// `X·Yᵀ` for matrices whose rows have `columns` numbers, row after row.
pub(crate) fn inner_products(x: &[f64], y: &[f64], columns: usize) -> Vec<f64> {
    if columns == 0 {
        return Vec::new();
    }
    let (rows, width) = (x.len() / columns, y.len() / columns);
    let mut out = vec![0.0; rows * width];
    product(rows_of(x, rows, columns), rows_of(y, width, columns).t(), &mut out);
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn naive(a: &[f64], b: &[f64], m: usize, k: usize, n: usize) -> Vec<f64> {
        (0..m * n).map(|at| (0..k).map(|t| a[at / n * k + t] * b[t * n + at % n]).sum()).collect()
    }

    fn numbers(count: usize) -> Vec<f64> {
        (0..count).map(|i| ((i * 37 % 101) as f64 - 50.0) / 8.0).collect()
    }

    #[test]
    fn products_equal_the_definition() {
        for (m, k, n) in [(1, 1, 1), (3, 5, 2), (7, 1, 9), (17, 33, 12), (0, 3, 2), (2, 0, 3)] {
            let (a, b) = (numbers(m * k), numbers(k * n));
            let mut out = vec![f64::NAN; m * n];
            product(rows_of(&a, m, k), rows_of(&b, k, n), &mut out);
            assert_eq!(out, naive(&a, &b, m, k, n));
            // (Bᵀ·Aᵀ)ᵀ = A·B
            let mut turned = vec![f64::NAN; m * n];
            let (at, bt) = (rows_of(&a, m, k).t(), rows_of(&b, k, n).t());
            product(bt, at, &mut turned);
            for (i, j) in (0..m).flat_map(|i| (0..n).map(move |j| (i, j))) {
                assert_eq!(turned[j * m + i], out[i * n + j]);
            }
        }
    }

    #[test]
    fn inner_products_are_symmetric_to_the_bit() {
        let (rows, columns) = (300, 13);
        let x: Vec<f64> = numbers(rows * columns).iter().map(|v| (v * 1.7).sin()).collect();
        let p = inner_products(&x, &x, columns);
        for i in 0..rows {
            for j in 0..i {
                assert_eq!(p[i * rows + j].to_bits(), p[j * rows + i].to_bits());
            }
            let row = &x[i * columns..(i + 1) * columns];
            let expected: f64 = row.iter().map(|v| v * v).sum();
            assert!((p[i * rows + i] - expected).abs() < 1e-12);
        }
    }
}

//! The one place that calls the matrix product.

use rayon::prelude::*;

/// Rows of the result that one task computes; fixed, so that no result depends
/// on the number of threads.
const BLOCK: usize = 128;

/// A matrix as a factor of a product: as it lies in memory, or turned.
#[derive(Clone, Copy)]
pub(crate) struct Factor<'a> {
    values: &'a [f64],
    rows: usize,
    columns: usize,
    row_step: usize,
    column_step: usize,
}

impl<'a> Factor<'a> {
    /// The `rows × columns` matrix whose rows are in `values`.
    pub(crate) fn new(values: &'a [f64], rows: usize, columns: usize) -> Factor<'a> {
        assert_eq!(values.len(), rows * columns);
        Factor { values, rows, columns, row_step: columns, column_step: 1 }
    }

    /// The same, turned.
    pub(crate) fn turned(self) -> Factor<'a> {
        Factor {
            rows: self.columns,
            columns: self.rows,
            row_step: self.column_step,
            column_step: self.row_step,
            ..self
        }
    }
}

/// `out ← A·B`, row after row, on the calling thread.
pub(crate) fn product(a: Factor<'_>, b: Factor<'_>, out: &mut [f64]) {
    assert_eq!(a.columns, b.rows);
    assert_eq!(out.len(), a.rows * b.columns);
    for factor in [&a, &b] {
        // Both constructors keep this; the call below relies on it.
        assert_eq!(factor.values.len(), factor.rows * factor.columns);
    }
    if out.is_empty() {
        return;
    }
    if a.columns == 0 {
        out.fill(0.0);
        return;
    }
    // SAFETY: dgemm reads (i, k) of A at `i·row_step + k·column_step`, of B
    // likewise, and writes (i, j) of the result at `i·columns + j`. A factor's
    // steps are (columns, 1) or (1, rows), so each lies below the lengths
    // asserted above; `out` is borrowed mutably, so it overlaps neither factor.
    // With a zero factor of the old result, dgemm does not read it.
    #[allow(unsafe_code)]
    unsafe {
        matrixmultiply::dgemm(
            a.rows,
            a.columns,
            b.columns,
            1.0,
            a.values.as_ptr(),
            a.row_step as isize,
            a.column_step as isize,
            b.values.as_ptr(),
            b.row_step as isize,
            b.column_step as isize,
            0.0,
            out.as_mut_ptr(),
            b.columns as isize,
            1,
        );
    }
}

/// `X·Yᵀ` for matrices whose rows have `columns` numbers, row after row; blocks
/// of rows in parallel.
pub(crate) fn inner_products(x: &[f64], y: &[f64], columns: usize) -> Vec<f64> {
    if columns == 0 {
        return Vec::new();
    }
    let (rows, width) = (x.len() / columns, y.len() / columns);
    let mut out = vec![0.0; rows * width];
    let right = Factor::new(y, width, columns).turned();
    out.par_chunks_mut((BLOCK * width).max(1)).zip(x.par_chunks(BLOCK * columns)).for_each(
        |(out, x)| {
            product(Factor::new(x, x.len() / columns, columns), right, out);
        },
    );
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
            product(Factor::new(&a, m, k), Factor::new(&b, k, n), &mut out);
            assert_eq!(out, naive(&a, &b, m, k, n));
            // (Bᵀ·Aᵀ)ᵀ = A·B
            let mut turned = vec![f64::NAN; m * n];
            let (at, bt) = (Factor::new(&a, m, k).turned(), Factor::new(&b, k, n).turned());
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

//! The signed logarithm, elementwise: embeddings of graphs of very different sizes on one scale.

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut};
use hg2v_math::parallel::crew;

/// Numbers that one task takes, about: a batch of the processor's has fewer.
const CHUNK: usize = 1 << 16;

/// `y = sign(e)·ln(1 + |e|)`.
///
/// Shapes: `e` and `y` are `B × d`.
pub(crate) fn forward<R: Real>(e: View<'_, R>, mut y: ViewMut<'_, R>) {
    each_row(&mut y, |row, y| R::signed_log(e.row(row), y));
}

/// `de = dy / (1 + |e|)`, in place: `d` is `dy` before and `de` after.
pub(crate) fn vjp<R: Real>(e: View<'_, R>, mut d: ViewMut<'_, R>) {
    each_row(&mut d, |row, d| {
        for (d, &e) in d.iter_mut().zip(e.row(row)) {
            *d = *d / (R::ONE + e.abs());
        }
    });
}

/// Runs `job` for every row, with its number.
fn each_row<R: Real>(rows: &mut ViewMut<'_, R>, job: impl Fn(usize, &mut [R]) + Sync) {
    let block = (CHUNK / rows.columns().max(1)).max(1);
    let mut rows: Vec<&mut [R]> = rows.rows_mut().collect();
    crew::each_block(&mut rows, block, |number, rows| {
        rows.iter_mut().enumerate().for_each(|(i, row)| job(number * block + i, row));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Small and large, of either sign, and more rows than one task takes.
    fn numbers() -> Vec<f64> {
        let mut numbers: Vec<f64> = (0..3 * CHUNK).map(|i| 0.37 * i as f64 - 1e4).collect();
        numbers[..6].copy_from_slice(&[0.0, -0.0, 1e-9, -1e-9, 1e300, -1e300]);
        numbers
    }

    #[test]
    fn it_is_odd_and_the_logarithm_of_what_is_positive() {
        let e = numbers();
        let (rows, columns) = (e.len() / 3, 3);
        let mut y = vec![f64::NAN; e.len()];
        forward(View::new(&e, rows, columns, 3), ViewMut::new(&mut y, rows, columns, 3));
        for (&e, &y) in e.iter().zip(&y) {
            assert_eq!(y, e.signum() * e.abs().ln_1p(), "{e}");
        }
    }

    #[test]
    fn the_gradient_is_that_of_finite_differences_and_columns_beside_stay() {
        let e: Vec<f64> = vec![0.5, -2.0, 100.0, 3.0, -0.25, 7.5, 1e-3, -40.0, 9.0];
        let apply = |e: &[f64]| {
            let mut y = vec![0.0; 9];
            forward(View::new(e, 3, 3, 3), ViewMut::new(&mut y, 3, 3, 3));
            y
        };
        // The first two columns of three.
        let mut d = vec![2.0; 9];
        vjp(View::new(&e, 3, 2, 3), ViewMut::new(&mut d, 3, 2, 3));
        for i in 0..9 {
            let mut moved = [e.clone(), e.clone()];
            moved[0][i] += 1e-6;
            moved[1][i] -= 1e-6;
            let [above, below] = moved.map(|e| apply(&e)[i]);
            let expected = if i % 3 == 2 { 2.0 } else { 2.0 * (above - below) / 2e-6 };
            assert!((d[i] - expected).abs() < 1e-8, "{i}: {} {expected}", d[i]);
        }
    }
}

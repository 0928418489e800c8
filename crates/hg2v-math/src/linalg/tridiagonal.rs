//! Eigenpairs of a symmetric tridiagonal matrix.

use super::vector::{axpy, dot, normalize, start_value};

/// Steps that a value gets before less is asked of it.
const PATIENCE: usize = 60;

/// Eigenvalues, ascending, of the tridiagonal matrix with diagonal `d` and
/// off-diagonal `e` (`e[i]` couples `i` and `i + 1`), by implicit QL steps with
/// Wilkinson's shift.
///
/// `z` holds as many vectors as there are rows, each of `m` numbers; every
/// rotation of rows `i, i + 1` is applied to vectors `i, i + 1`. Given the
/// identity (`m = n`) they become the eigenvectors; given its last column
/// (`m = 1`) they become the eigenvectors' last entries, which is all that
/// Lanczos needs to know how far it has converged.
///
/// A coupling is nothing that is rounding beside its neighbours on the diagonal; from step 60
/// of a value on, one that is rounding beside the whole matrix: where the rank is low, all of a
/// block may be. Returns `false` where a value needed more than 120 steps, which no finite matrix
/// is known to do.
///
/// # Complexity
/// `O(n²)` for the values, `O(n²·m)` with the vectors.
pub fn eigen(d: &mut [f64], e: &mut [f64], z: &mut [f64], m: usize) -> bool {
    let n = d.len();
    let norm = d.iter().chain(e.iter()).fold(0.0, |most: f64, x| most.max(x.abs()));
    for low in 0..n {
        let mut steps = 0;
        loop {
            let least = if steps < PATIENCE { 0.0 } else { norm };
            // The block low..=high does not couple with what follows it.
            let high = (low..n - 1)
                .find(|&i| e[i].abs() <= f64::EPSILON * least.max(d[i].abs() + d[i + 1].abs()))
                .unwrap_or(n - 1);
            if high == low {
                break;
            }
            steps += 1;
            if steps > 2 * PATIENCE {
                return false;
            }
            let mut g = (d[low + 1] - d[low]) / (2.0 * e[low]);
            let r = g.hypot(1.0);
            g = d[high] - d[low] + e[low] / (g + r.copysign(g));
            let (mut s, mut c, mut p) = (1.0, 1.0, 0.0);
            let mut deflated = false;
            for i in (low..high).rev() {
                let f = s * e[i];
                let b = c * e[i];
                let r = (f * f + g * g).sqrt();
                set(e, i + 1, r);
                if r == 0.0 {
                    // The rotation vanished: the block splits here.
                    d[i + 1] -= p;
                    set(e, high, 0.0);
                    deflated = true;
                    break;
                }
                s = f / r;
                c = g / r;
                g = d[i + 1] - p;
                let t = (d[i] - g) * s + 2.0 * c * b;
                p = s * t;
                d[i + 1] = g + p;
                g = c * t - b;
                let (left, right) = z[i * m..(i + 2) * m].split_at_mut(m);
                for (a, b) in left.iter_mut().zip(right) {
                    let old = *b;
                    *b = s * *a + c * old;
                    *a = c * *a - s * old;
                }
            }
            if !deflated {
                d[low] -= p;
                e[low] = g;
                set(e, high, 0.0);
            }
        }
    }
    sort(d, z, m);
    true
}

/// Writes an off-diagonal entry; the one past the end does not exist.
fn set(e: &mut [f64], i: usize, value: f64) {
    if let Some(slot) = e.get_mut(i) {
        *slot = value;
    }
}

/// Sorts the values ascending, their vectors with them.
fn sort(d: &mut [f64], z: &mut [f64], m: usize) {
    for i in 0..d.len() {
        let least = (i..d.len()).min_by(|&a, &b| d[a].total_cmp(&d[b])).unwrap_or(i);
        if least != i {
            d.swap(i, least);
            let (left, right) = z.split_at_mut(least * m);
            left[i * m..(i + 1) * m].swap_with_slice(&mut right[..m]);
        }
    }
}

/// Unit eigenvectors for some eigenvalues of the tridiagonal matrix with diagonal
/// `d` and off-diagonal `e`, by inverse iteration: `values` as [`eigen`] gave them,
/// in any order; vectors one after the other.
///
/// Vectors of close eigenvalues are orthogonalised against each other. Each vector
/// is checked, and all vectors against each other: `None` where one is not good to
/// nearly full precision, for which [`eigen`] with its rotations is the way.
///
/// # Complexity
/// `O(n·w)` for `w` vectors, and `O(n·c²)` for `c` close ones.
pub fn eigenvectors(d: &[f64], e: &[f64], values: &[f64]) -> Option<Vec<f64>> {
    let n = d.len();
    let entry = |i: usize| e.get(i).map_or(0.0, |value| value.abs());
    let before = |i: usize| if i > 0 { entry(i - 1) } else { 0.0 };
    let norm = (0..n).map(|i| d[i].abs() + entry(i) + before(i)).fold(0.0, f64::max);
    let tiny = (f64::EPSILON * norm).max(f64::MIN_POSITIVE);
    let mut vectors: Vec<f64> = Vec::with_capacity(n * values.len());
    let mut solver = Shifted::new(n);
    for (index, &value) in values.iter().enumerate() {
        solver.factor(d, e, value, tiny);
        let mut x: Vec<f64> =
            (0..n).map(|i| 1.0 + 0.5 * start_value((index * n + i) as u64)).collect();
        for _ in 0..3 {
            solver.solve(&mut x);
            for (other, vector) in values.iter().zip(vectors.chunks_exact(n)) {
                if (other - value).abs() <= 1e-3 * norm {
                    let along = dot(vector, &x);
                    axpy(-along, vector, &mut x);
                }
            }
            normalize(&mut x);
        }
        // The residual, and the angle to every vector before.
        let mut residual = 0.0f64;
        for i in 0..n {
            let left = if i > 0 { e[i - 1] * x[i - 1] } else { 0.0 };
            let right = if i + 1 < n { e[i] * x[i + 1] } else { 0.0 };
            residual = residual.max(((d[i] - value) * x[i] + left + right).abs());
        }
        let skew = vectors.chunks_exact(n).map(|v| dot(v, &x).abs()).fold(0.0, f64::max);
        // Solutions that over- or underflow come back with no length.
        let unit = (dot(&x, &x) - 1.0).abs() <= 1e-9;
        // Written so that a NaN is refused as well.
        if !(unit && residual <= 1e-13 * norm && skew <= 1e-12) {
            return None;
        }
        vectors.extend_from_slice(&x);
    }
    Some(vectors)
}

/// `T − λI` factored by Gaussian elimination with row exchanges.
struct Shifted {
    pivots: Vec<f64>,
    above: Vec<f64>,
    /// The second superdiagonal, which row exchanges fill.
    beyond: Vec<f64>,
    factors: Vec<f64>,
    exchanged: Vec<bool>,
}

impl Shifted {
    fn new(n: usize) -> Shifted {
        let zeros = vec![0.0; n];
        Shifted {
            pivots: zeros.clone(),
            above: zeros.clone(),
            beyond: zeros.clone(),
            factors: zeros,
            exchanged: vec![false; n],
        }
    }

    fn factor(&mut self, d: &[f64], e: &[f64], value: f64, tiny: f64) {
        let n = d.len();
        let mut pivot = d[0] - value;
        let mut above = e.first().copied().unwrap_or(0.0);
        for i in 0..n - 1 {
            let below = e[i];
            let (next, next_above) = (d[i + 1] - value, e.get(i + 1).copied().unwrap_or(0.0));
            self.exchanged[i] = below.abs() > pivot.abs();
            if self.exchanged[i] {
                let factor = pivot / below;
                (self.pivots[i], self.above[i], self.beyond[i]) = (below, next, next_above);
                self.factors[i] = factor;
                (pivot, above) = (above - factor * next, -factor * next_above);
            } else {
                // A pivot of zero, where the shift is an eigenvalue of a leading
                // block, is nudged: that is what makes the solution grow.
                let safe = if pivot.abs() < tiny { tiny } else { pivot };
                let factor = below / safe;
                (self.pivots[i], self.above[i], self.beyond[i]) = (safe, above, 0.0);
                self.factors[i] = factor;
                (pivot, above) = (next - factor * above, next_above);
            }
        }
        self.pivots[n - 1] = if pivot.abs() < tiny { tiny } else { pivot };
    }

    fn solve(&self, x: &mut [f64]) {
        let n = x.len();
        for i in 0..n - 1 {
            if self.exchanged[i] {
                x.swap(i, i + 1);
            }
            x[i + 1] -= self.factors[i] * x[i];
        }
        for i in (0..n).rev() {
            let mut value = x[i];
            if i + 1 < n {
                value -= self.above[i] * x[i + 1];
            }
            if i + 2 < n {
                value -= self.beyond[i] * x[i + 2];
            }
            x[i] = value / self.pivots[i];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The path on n nodes has eigenvalues 2 − 2·cos(πj/n).
    #[test]
    fn path_spectrum() {
        for n in [1usize, 2, 3, 7, 40] {
            let mut d = vec![2.0; n];
            d[0] = 1.0;
            d[n - 1] = if n == 1 { 0.0 } else { 1.0 };
            let mut e = vec![-1.0; n.saturating_sub(1)];
            let mut z: Vec<f64> = (0..n * n).map(|i| f64::from(u8::from(i / n == i % n))).collect();
            assert!(eigen(&mut d, &mut e, &mut z, n));
            for j in 0..n {
                let expected = 2.0 - 2.0 * (std::f64::consts::PI * j as f64 / n as f64).cos();
                assert!((d[j] - expected).abs() < 1e-13, "{n} {j}: {} {expected}", d[j]);
                let v = &z[j * n..(j + 1) * n];
                for i in 0..n {
                    let left = if i > 0 { v[i - 1] - v[i] } else { 0.0 };
                    let right = if i + 1 < n { v[i + 1] - v[i] } else { 0.0 };
                    assert!((-left - right - expected * v[i]).abs() < 1e-12);
                }
            }
            let (mut d2, mut e2) = (vec![2.0; n], vec![-1.0; n.saturating_sub(1)]);
            d2[0] = 1.0;
            d2[n - 1] = if n == 1 { 0.0 } else { 1.0 };
            if n == 1 {
                // A matrix of nothing but zero has no scale to work with.
                assert!(eigenvectors(&d2, &e2, &d).is_none());
                continue;
            }
            let inverse = eigenvectors(&d2, &e2, &d).unwrap();
            for (one, two) in z.chunks_exact(n).zip(inverse.chunks_exact(n)) {
                assert!((dot(one, two).abs() - 1.0).abs() < 1e-12);
            }
            // An eigenvalue that is none has no eigenvector.
            if n > 2 {
                assert!(eigenvectors(&d2, &e2, &[0.5 * (d[0] + d[1])]).is_none());
                e2[1] = 0.0;
                assert!(eigenvectors(&d2, &e2, &[f64::NAN]).is_none());
            }
        }
    }
}

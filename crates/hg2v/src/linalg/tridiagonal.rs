//! Eigenpairs of a symmetric tridiagonal matrix.

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
/// Returns `false` where a value needed more than 60 steps, which no finite
/// matrix is known to do.
///
/// # Complexity
/// `O(n²)` for the values, `O(n²·m)` with the vectors.
pub fn eigen(d: &mut [f64], e: &mut [f64], z: &mut [f64], m: usize) -> bool {
    let n = d.len();
    for low in 0..n {
        let mut steps = 0;
        loop {
            // The block low..=high does not couple with what follows it.
            let high = (low..n - 1)
                .find(|&i| e[i].abs() <= f64::EPSILON * (d[i].abs() + d[i + 1].abs()))
                .unwrap_or(n - 1);
            if high == low {
                break;
            }
            steps += 1;
            if steps > 60 {
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
        }
    }
}

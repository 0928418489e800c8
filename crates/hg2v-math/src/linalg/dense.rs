//! Eigenpairs of small dense symmetric matrices.

use super::tridiagonal;
use super::vector::{axpy, dot};

/// All eigenvalues of the symmetric `n × n` matrix `a`, ascending, and the
/// eigenvectors of the `wanted` smallest, one after the other.
///
/// Householder reflections make the matrix tridiagonal, [`tridiagonal::eigen`]
/// solves that, and the wanted vectors are reflected back. `a` is overwritten.
/// Returns `None` where the QL steps do not end (a matrix with a NaN in it).
///
/// # Complexity
/// `O(n³)` time, `O(n²)` space.
pub fn symmetric_eigen(a: &mut [f64], n: usize, wanted: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let mut d = vec![0.0; n];
    let mut e = vec![0.0; n.saturating_sub(1)];
    let mut taus = vec![0.0; n];
    let mut w = vec![0.0; n];
    for k in 0..n.saturating_sub(1) {
        // v spans rows k+1.. of column k and is kept in row k of the upper part.
        let (top, below) = a.split_at_mut((k + 1) * n);
        let v = &mut top[k * n + k + 1..];
        let alpha = v[0];
        let rest = dot(&v[1..], &v[1..]);
        if rest == 0.0 {
            e[k] = alpha;
            continue;
        }
        let beta = -(alpha * alpha + rest).sqrt().copysign(alpha);
        let tau = (beta - alpha) / beta;
        let scale = 1.0 / (alpha - beta);
        v[0] = 1.0;
        v[1..].iter_mut().for_each(|value| *value *= scale);
        e[k] = beta;
        taus[k] = tau;
        // B ← H·B·H on the trailing block, with p = τ·B·v and w = p − (τ/2)(pᵀv)·v.
        let w = &mut w[k + 1..];
        for (i, w) in w.iter_mut().enumerate() {
            *w = tau * dot(&below[i * n + k + 1..(i + 1) * n], v);
        }
        let half = 0.5 * tau * dot(w, v);
        axpy(-half, v, w);
        for i in 0..v.len() {
            let (vi, wi) = (v[i], w[i]);
            let row = &mut below[i * n + k + 1..(i + 1) * n];
            for ((entry, v), w) in row.iter_mut().zip(&*v).zip(&*w) {
                *entry -= vi * w + wi * v;
            }
        }
    }
    for k in 0..n {
        d[k] = a[k * n + k];
    }
    let wanted = wanted.min(n);
    // Few vectors are cheaper one by one; where that is not exact enough, and
    // where most are wanted, the rotations give all of them.
    let few = if 2 * wanted <= n { few_eigenvectors(&d, &e, wanted)? } else { None };
    let (values, mut z) = match few {
        Some(both) => both,
        None => {
            let mut z = vec![0.0; n * n];
            for k in 0..n {
                z[k * n + k] = 1.0;
            }
            if !tridiagonal::eigen(&mut d, &mut e, &mut z, n) {
                return None;
            }
            z.truncate(wanted * n);
            (d, z)
        }
    };
    for vector in z.chunks_exact_mut(n.max(1)) {
        for k in (0..n.saturating_sub(1)).rev() {
            let v = &a[k * n + k + 1..(k + 1) * n];
            let tail = &mut vector[k + 1..];
            let amount = -taus[k] * dot(v, tail);
            axpy(amount, v, tail);
        }
    }
    Some((values, z))
}

/// All eigenvalues of a tridiagonal matrix and the vectors of the `wanted` smallest, one by one:
/// `None` where the QL steps do not end, `Some(None)` where the vectors are not exact enough.
fn few_eigenvectors(d: &[f64], e: &[f64], wanted: usize) -> Option<Option<(Vec<f64>, Vec<f64>)>> {
    let (mut values, mut couplings) = (d.to_vec(), e.to_vec());
    if !tridiagonal::eigen(&mut values, &mut couplings, &mut [], 0) {
        return None;
    }
    let vectors = tridiagonal::eigenvectors(d, e, &values[..wanted]);
    Some(vectors.map(|vectors| (values, vectors)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::linalg::vector::start_value;

    #[test]
    fn reconstructs_random_symmetric_matrices() {
        for n in [1usize, 2, 3, 5, 12, 41] {
            let mut a = vec![0.0; n * n];
            for i in 0..n {
                for j in 0..=i {
                    let value = start_value((i * n + j) as u64);
                    a[i * n + j] = value;
                    a[j * n + i] = value;
                }
            }
            let (values, vectors) = symmetric_eigen(&mut a.clone(), n, n).unwrap();
            for i in 0..n {
                for j in 0..n {
                    let rebuilt: f64 =
                        (0..n).map(|c| values[c] * vectors[c * n + i] * vectors[c * n + j]).sum();
                    assert!((rebuilt - a[i * n + j]).abs() < 1e-12, "{n}: {i} {j}");
                }
            }
        }
    }
}

//! Lanczos on the pseudo-inverse of a Laplacian: its largest eigenvalues are
//! the inverses of the Laplacian's smallest, and far apart where those crowd.

use hg2v_math::linalg::tridiagonal;
use hg2v_math::linalg::vector::{axpy, dot, normalize, start_value};

use super::ldl::Factor;

/// A Ritz pair is accepted when its residual, relative to its value, is below this.
const TOLERANCE: f64 = 1e-11;

/// The `wanted` smallest non-zero eigenpairs of the factored operator, ascending:
/// values, and vectors one after the other in elimination order.
///
/// One Krylov space holds one vector of each eigenspace, however large the
/// eigenspace is (a hub with many leaves has one as large as its leaves). So the
/// pairs found are locked and Lanczos starts again in what is left, until that
/// holds nothing smaller than what was found: no eigenvalue is missed, and a
/// multiple one is found as often as it counts. Vectors are orthogonalised twice
/// against all others, so rounding makes no copies.
///
/// Returns `None` where the steps run out before convergence.
///
/// # Complexity
/// `O(s·nnz(L) + s²·n)` for `s` steps, a few dozen for most graphs.
pub(crate) fn smallest(factor: &Factor, wanted: usize) -> Option<(Vec<f64>, Vec<f64>)> {
    let n = factor.order().len();
    let wanted = wanted.min(n - 1);
    // Locked pairs, by decreasing value θ = 1/λ.
    let mut locked: Vec<(f64, Vec<f64>)> = Vec::new();
    for restart in 0..4 * (wanted as u64 + 1) {
        // Once enough pairs are locked, a new one counts only above the least of them.
        let floor = if locked.len() >= wanted { locked[wanted - 1].0 } else { 0.0 };
        let missing = if floor > 0.0 { 1 } else { wanted - locked.len() };
        let found = krylov(factor, &locked, missing, floor, restart)?;
        let news = found.iter().filter(|(value, _)| *value > floor * (1.0 + 1e-9)).count();
        if news == 0 {
            break;
        }
        locked.extend(found);
        // A stable sort: equal values stay in the order they were found.
        locked.sort_by(|a, b| b.0.total_cmp(&a.0));
        locked.truncate(wanted);
        if locked.len() + 1 == n {
            break;
        }
    }
    let values = locked.iter().map(|(value, _)| 1.0 / value).collect();
    Some((values, locked.into_iter().flat_map(|(_, vector)| vector).collect()))
}

/// The `missing` largest Ritz pairs of `A⁺` in the complement of the null space
/// and of `locked`, and any further ones above `floor`; none where the space is
/// exhausted or its largest value is not above `floor`.
fn krylov(
    factor: &Factor,
    locked: &[(f64, Vec<f64>)],
    missing: usize,
    floor: f64,
    restart: u64,
) -> Option<Vec<(f64, Vec<f64>)>> {
    let n = factor.order().len();
    let room = n - 1 - locked.len();
    let longest = room.min(40 + 12 * missing);
    let mut basis: Vec<f64> = Vec::with_capacity(n * (longest + 1));
    let mut alphas = Vec::with_capacity(longest);
    let mut betas: Vec<f64> = Vec::with_capacity(longest);

    let mut next: Vec<f64> =
        factor.order().iter().map(|&v| start_value(u64::from(v) ^ (restart << 40))).collect();
    orthogonalize(&mut next, factor, locked, &[]);
    normalize(&mut next);
    let mut check_at = 3 * missing + 4;
    loop {
        basis.extend_from_slice(&next);
        factor.pseudo_solve(&mut next);
        let alpha = dot(&next, &basis[basis.len() - n..]);
        alphas.push(alpha);
        // The three-term recurrence takes off nearly all there is to take off,
        // so that one pass over the whole basis usually suffices.
        let last = &basis[basis.len() - n..];
        axpy(-alpha, last, &mut next);
        if let Some(&beta) = betas.last() {
            axpy(-beta, &basis[basis.len() - 2 * n..basis.len() - n], &mut next);
        }
        orthogonalize(&mut next, factor, locked, &basis);
        let beta = normalize(&mut next);
        let steps = alphas.len();
        // The space is exhausted when nothing new is left beside rounding.
        let largest = alphas.iter().fold(0.0, |a: f64, &b| a.max(b));
        let exhausted = steps == room || beta <= 1e-14 * largest;
        if exhausted || steps >= check_at || steps == longest {
            check_at = steps + 4;
            let (values, lasts) = ritz(&alphas, &betas)?;
            // Ritz values ascend; the wanted ones are at the end.
            let converged = |i: &usize| beta * lasts[*i].abs() <= TOLERANCE * values[*i];
            let relevant = (0..steps)
                .rev()
                .enumerate()
                .take_while(|&(rank, i)| {
                    rank < missing || (floor > 0.0 && values[i] > floor * (1.0 + 1e-9))
                })
                .map(|(_, i)| i);
            // Looking for more than is locked, the largest value decides: once
            // it stands still below the floor, nothing was missed.
            let top = steps - 1;
            let below = floor > 0.0
                && values[top] + beta * lasts[top].abs() <= floor * (1.0 + 1e-9)
                && beta * lasts[top].abs() <= 1e-3 * values[top];
            if below {
                return Some(Vec::new());
            }
            if exhausted || relevant.clone().all(|i| converged(&i)) {
                let chosen: Vec<usize> = relevant.collect();
                return lift(&chosen, &alphas, &betas, &basis, n);
            }
            if steps == longest {
                return None;
            }
        }
        betas.push(beta);
    }
}

/// Takes off `x` what lies along the null space, the locked vectors and the
/// basis; again if much of `x` went with it, since then rounding is a large part
/// of what is left ("twice is enough").
fn orthogonalize(x: &mut [f64], factor: &Factor, locked: &[(f64, Vec<f64>)], basis: &[f64]) {
    let mut length = dot(x, x);
    for _ in 0..3 {
        let along = dot(factor.null(), x);
        axpy(-along, factor.null(), x);
        for (_, vector) in locked {
            let along = dot(vector, x);
            axpy(-along, vector, x);
        }
        for vector in basis.chunks_exact(x.len()) {
            let along = dot(vector, x);
            axpy(-along, vector, x);
        }
        let left = dot(x, x);
        if left > 0.5 * length {
            break;
        }
        length = left;
    }
}

/// Eigenvalues of the Lanczos matrix, ascending, and the last entry of each eigenvector.
fn ritz(alphas: &[f64], betas: &[f64]) -> Option<(Vec<f64>, Vec<f64>)> {
    let (mut d, mut e) = (alphas.to_vec(), betas.to_vec());
    let mut last = vec![0.0; d.len()];
    last[d.len() - 1] = 1.0;
    tridiagonal::eigen(&mut d, &mut e, &mut last, 1).then_some((d, last))
}

/// The Ritz pairs at positions `chosen`, largest first.
fn lift(
    chosen: &[usize],
    alphas: &[f64],
    betas: &[f64],
    basis: &[f64],
    n: usize,
) -> Option<Vec<(f64, Vec<f64>)>> {
    let steps = alphas.len();
    let (mut values, _) = ritz(alphas, betas)?;
    let wanted: Vec<f64> = chosen.iter().map(|&i| values[i]).collect();
    let z = match tridiagonal::eigenvectors(alphas, betas, &wanted) {
        Some(vectors) => vectors,
        None => {
            let (mut e, mut z) = (betas.to_vec(), vec![0.0; steps * steps]);
            for i in 0..steps {
                z[i * steps + i] = 1.0;
            }
            values.copy_from_slice(alphas);
            if !tridiagonal::eigen(&mut values, &mut e, &mut z, steps) {
                return None;
            }
            chosen.iter().flat_map(|&i| z[i * steps..(i + 1) * steps].to_vec()).collect()
        }
    };
    let pairs = wanted.iter().zip(z.chunks_exact(steps)).map(|(&value, weights)| {
        let mut vector = vec![0.0; n];
        for (weight, basis) in weights.iter().zip(basis.chunks_exact(n)) {
            axpy(*weight, basis, &mut vector);
        }
        normalize(&mut vector);
        (value, vector)
    });
    Some(pairs.collect())
}

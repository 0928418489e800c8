//! The smallest eigenpairs of a Laplacian: which solver, and whether it came to its end.

use hg2v_math::linalg::dense::symmetric_eigen;

use super::ldl::Factor;
use super::{Operator, lanczos, lobpcg};

/// Graphs up to this size are solved densely.
const DENSE: usize = 40;

/// Where the iteration on a large graph does not converge, graphs up to this
/// size are solved densely after all.
const DENSE_FALLBACK: usize = 1500;

/// The largest number of eigenpairs that can be asked for.
pub(crate) const MOST_PAIRS: usize = 30;

/// The smallest non-zero eigenpairs of a connected operator.
#[derive(Debug, Clone)]
pub(crate) struct Spectrum {
    /// Eigenvalues, ascending; the zero of the null space is not among them.
    pub values: Vec<f64>,
    /// Unit eigenvectors, one after the other.
    pub vectors: Vec<f64>,
    /// Whether the solver reached its tolerance. A spectrum that did not is
    /// still the best found, and good enough to guide a coarsening.
    pub converged: bool,
}

/// The `wanted` smallest non-zero eigenpairs of `operator` (fewer where it has
/// fewer), whose graph must be connected.
///
/// Small graphs are solved densely. Others are factored, if that is cheap, and
/// solved by Lanczos on the pseudo-inverse; if not, by LOBPCG. Where an
/// iteration does not converge the next way is taken, dense up to
/// 1500 nodes; beyond that the best vectors found are returned and
/// [`Spectrum::converged`] says so. Nothing here is random.
pub(crate) fn smallest_eigenpairs(operator: &Operator, wanted: usize) -> Spectrum {
    let n = operator.len();
    let wanted = wanted.min(n.saturating_sub(1)).min(MOST_PAIRS);
    if wanted == 0 {
        return Spectrum { values: Vec::new(), vectors: Vec::new(), converged: true };
    }
    if n <= DENSE.max(wanted + 2) {
        return solve_densely(operator, wanted);
    }
    // What LOBPCG would cost, in the factorisation's currency: a factor that
    // needs more than this is not worth its fill.
    let budget = 60 * n + 200_000;
    if let Some(factor) = Factor::new(operator, budget)
        && let Some((values, ordered)) = lanczos::smallest(&factor, wanted)
    {
        let mut vectors = vec![0.0; ordered.len()];
        for (vector, ordered) in vectors.chunks_exact_mut(n).zip(ordered.chunks_exact(n)) {
            for (value, &node) in ordered.iter().zip(factor.order()) {
                vector[node as usize] = *value;
            }
        }
        let spectrum = checked(operator, values, vectors, 1e-6);
        if spectrum.converged {
            return spectrum;
        }
    }
    let found = lobpcg::smallest(operator, wanted);
    if !found.converged && n <= DENSE_FALLBACK {
        return solve_densely(operator, wanted);
    }
    checked(operator, found.values, found.vectors, 1.1 * lobpcg::BAND_TOLERANCE)
}

/// All eigenpairs of a small operator, the wanted ones kept.
fn solve_densely(operator: &Operator, wanted: usize) -> Spectrum {
    let n = operator.len();
    let mut matrix = vec![0.0; n * n];
    for node in 0..n {
        for (target, entry) in operator.row(node) {
            matrix[node * n + target] = -entry;
        }
        matrix[node * n + node] = operator.diagonal[node];
    }
    let (values, vectors) = symmetric_eigen(&mut matrix, n, wanted + 1)
        .unwrap_or_else(|| (vec![0.0; n], vec![0.0; n * (wanted + 1)]));
    // The first pair is the null space's.
    let values = values[1..=wanted].to_vec();
    checked(operator, values, vectors[n..].to_vec(), 1e-6)
}

/// Whether the largest residual `‖A·x − λ·x‖ / λ` is within `tolerance`, attached.
fn checked(operator: &Operator, values: Vec<f64>, vectors: Vec<f64>, tolerance: f64) -> Spectrum {
    let residual = values
        .iter()
        .zip(vectors.chunks_exact(operator.len()))
        .map(|(&value, vector)| operator.residual(vector, value) / value)
        // What is not a number stays so, and has not converged.
        .fold(0.0, |most: f64, one: f64| if one > most || one.is_nan() { one } else { most });
    // Rounding alone leaves ε·‖A‖, which can be large beside a tiny eigenvalue.
    let rounding = 1e-12 * operator.upper_bound() / values.first().copied().unwrap_or(1.0);
    let converged = residual <= tolerance + rounding;
    Spectrum { values, vectors, converged }
}

//! The Wasserstein distance between the spectra of two graphs.
//!
//! ```text
//! d(λ, μ) = min_π Σ_ij π(i,j)·|λ_i − μ_j|
//! ```
//!
//! over couplings of the uniform distributions on the eigenvalues `λ` of one
//! Laplacian and `μ` of the other. On a line the optimal coupling keeps the order, so
//! that the distance is the area between the quantile functions:
//! `∫₀¹ |F⁻¹(t) − G⁻¹(t)| dt`, a sum over the steps of both.

use hg2v_math::linalg::dense::symmetric_eigen;

use crate::error::{Error, Result};
use crate::graph::{Components, Graph};

/// Components up to this size have all their eigenvalues computed; a dense solver
/// would take minutes and gigabytes above it.
pub const MOST_NODES: usize = 5000;

/// All eigenvalues of the Laplacian `L = D − W`, ascending. A graph without nodes has
/// none.
///
/// # Errors
/// A component of more than [`MOST_NODES`] nodes.
///
/// # Complexity
/// `O(n³)` time and `O(n²)` space for the largest component.
///
/// # Examples
/// ```
/// use hg2v::distance::spectra::spectrum;
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// let triangle =
///     GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2], [0, 2]], ..Default::default() };
/// let (graph, _) = Graph::from_record(&triangle, WeightPolicy::Use).unwrap();
/// let off = |(found, exact): (&f64, f64)| (found - exact).abs();
/// assert!(spectrum(&graph)?.iter().zip([0.0, 3.0, 3.0]).map(off).all(|off| off < 1e-12));
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn spectrum(graph: &Graph) -> Result<Vec<f64>> {
    let (members, place) = Components::of(graph).members();
    let mut values = Vec::with_capacity(graph.num_nodes());
    for nodes in &members {
        let n = nodes.len();
        if n > MOST_NODES {
            let requirement = format!("all eigenvalues are computed up to {MOST_NODES} only");
            return Err(Error::argument("the number of connected nodes", n, requirement));
        }
        let mut laplacian = vec![0.0; n * n];
        for (row, &node) in nodes.iter().enumerate() {
            laplacian[row * n + row] = graph.strength(node);
            for (&target, &weight) in graph.neighbors(node).iter().zip(graph.weights(node)) {
                laplacian[row * n + place[target as usize]] = -f64::from(weight);
            }
        }
        let (found, _) = symmetric_eigen(&mut laplacian, n, 0).ok_or_else(|| {
            Error::argument("the spectrum", "not found", "weights must be of a sane magnitude")
        })?;
        // A Laplacian has none below 0, rounding has.
        values.extend(found.into_iter().map(|value| value.max(0.0)));
    }
    values.sort_unstable_by(f64::total_cmp);
    Ok(values)
}

/// The distance between two spectra, each ascending. No eigenvalues at all count as
/// the one of a single node, 0.
///
/// # Examples
/// ```
/// use hg2v::distance::spectra::wasserstein;
/// // The triangle's spectrum and that of an edge: thirds of 0, 3, 3 against halves of 0, 2.
/// assert_eq!(wasserstein(&[0.0, 3.0, 3.0], &[0.0, 2.0]), (1.0 * 3.0 + 3.0 * 1.0) / 6.0);
/// ```
///
/// # Complexity
/// `O(n + m)`.
pub fn wasserstein(a: &[f64], b: &[f64]) -> f64 {
    let a = if a.is_empty() { &[0.0] } else { a };
    let b = if b.is_empty() { &[0.0] } else { b };
    // Every value of `a` has the mass `b.len()`, and the other way round.
    let (mut i, mut j) = (0, 0);
    let (mut left_a, mut left_b) = (b.len(), a.len());
    let mut area = 0.0;
    while i < a.len() && j < b.len() {
        let step = left_a.min(left_b);
        area += step as f64 * (a[i] - b[j]).abs();
        (left_a, left_b) = (left_a - step, left_b - step);
        if left_a == 0 {
            (i, left_a) = (i + 1, b.len());
        }
        if left_b == 0 {
            (j, left_b) = (j + 1, a.len());
        }
    }
    area / (a.len() * b.len()) as f64
}

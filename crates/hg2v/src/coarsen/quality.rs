//! How much of the spectrum a pyramid keeps.
//!
//! With `C` the product of the levels' coarsening matrices and `Π = CᵀC`:
//!
//! - eigenvalue errors `|λ̃_i − λ_i| / λ_i`, for the `k` smallest eigenvalues `λ̃` of `C·L·Cᵀ`;
//! - the restricted-spectral-approximation constant
//!   `ε = ‖L^(1/2)·(I − Π)·U·Λ^(−1/2)‖₂`: for every `x` in the span of the `k` lowest
//!   eigenvectors, `‖x − Πx‖_L ≤ ε·‖x‖_L`;
//! - the subspace error `|‖L^(1/2)·Π·U·Λ^(−1/2)‖₂ − 1|`.
//!
//! For a disconnected graph `U` holds the `k` lowest eigenvectors of each
//! component, and the eigenvalues of all components are merged.

use hg2v_math::linalg::dense::symmetric_eigen;
use serde::{Deserialize, Serialize};

use super::Pyramid;
use super::basis::Basis;
use crate::graph::Graph;

/// Coarse graphs up to this size have their eigenvalues compared; above it a
/// dense solver would take minutes.
const DENSE: usize = 2000;

/// The quality of the last level of a pyramid.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Quality {
    /// How many eigenpairs were compared.
    pub k: usize,
    /// The smallest eigenvalues of the graph.
    pub eigenvalues: Vec<f64>,
    /// The smallest eigenvalues of `C·L·Cᵀ`; absent above 2000 coarse nodes, and
    /// for Kron reduction those of the coarse Laplacian itself.
    pub coarse_eigenvalues: Option<Vec<f64>>,
    /// `|λ̃ − λ| / λ`, zero where `λ = 0`.
    pub eigenvalue_errors: Option<Vec<f64>>,
    /// `|‖L^(1/2)·Π·U·Λ^(−1/2)‖ − 1|`; absent for Kron reduction, which is no projection.
    pub subspace_error: Option<f64>,
    /// The restricted-spectral-approximation constant; absent for Kron reduction.
    pub epsilon: Option<f64>,
}

/// Measures the last level of `pyramid` against `graph`, on `k` eigenpairs.
///
/// `projection` says whether the pyramid was made by contraction (all methods
/// but Kron).
///
/// # Complexity
/// The eigenpairs of [`coarsen`](super::coarsen), `O(m·k)` for the projection, and `O(n³)` for all
/// eigenvalues of up to 2000 coarse nodes.
///
/// # Examples
/// ```
/// use hg2v::coarsen::{Params, coarsen, quality::quality};
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// let edges = (0..29).map(|v| [v, v + 1]).collect();
/// let path = GraphRecord { num_nodes: 30, edges, ..GraphRecord::default() };
/// let (graph, _) = Graph::from_record(&path, WeightPolicy::Use).unwrap();
/// let params = Params::default().k(2).ratio(0.3);
/// let pyramid = coarsen(&graph, &params)?;
/// let kept = quality(&graph, &pyramid, params.k, params.method.contracts());
/// assert!(kept.epsilon.is_some_and(|epsilon| epsilon < 1.0));
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn quality(graph: &Graph, pyramid: &Pyramid, k: usize, projection: bool) -> Quality {
    let basis = Basis::of(graph, k);
    let composite = Composite::of(pyramid);
    let eigenvalues = basis.eigenvalues().to_vec();
    let coarse_eigenvalues = composite.coarse_eigenvalues(graph, pyramid, k, projection);
    let eigenvalue_errors = coarse_eigenvalues.as_ref().map(|coarse| {
        let error = |(value, coarse): (&f64, &f64)| {
            if *value < 1e-10 { 0.0 } else { (coarse - value).abs() / value }
        };
        eigenvalues.iter().zip(coarse).map(error).collect()
    });
    let subspace_error = projection.then(|| {
        let kept = composite.project(basis.a(), basis.columns());
        (basis.energy_norm(graph, &kept) - 1.0).abs()
    });
    let epsilon = projection.then(|| epsilon(graph, &basis, pyramid));
    Quality { k, eigenvalues, coarse_eigenvalues, eigenvalue_errors, subspace_error, epsilon }
}

/// `ε = ‖L^(1/2)·(I − Π)·A‖₂` with `A = U·Λ^(−1/2)`, the basis of the finest level.
pub(crate) fn epsilon(graph: &Graph, basis: &Basis, pyramid: &Pyramid) -> f64 {
    let kept = Composite::of(pyramid).project(basis.a(), basis.columns());
    let lost: Vec<f64> = basis.a().iter().zip(&kept).map(|(x, y)| x - y).collect();
    basis.energy_norm(graph, &lost)
}

/// The product `C` of all levels' coarsening matrices: one entry for each node.
struct Composite {
    /// The super-node of the last level.
    of_node: Vec<u32>,
    entry: Vec<f64>,
    count: usize,
}

impl Composite {
    fn of(pyramid: &Pyramid) -> Composite {
        let n = pyramid.num_nodes;
        let mut composite =
            Composite { of_node: (0..n as u32).collect(), entry: vec![1.0; n], count: n };
        for level in &pyramid.levels {
            let mut sizes = vec![0.0f64; level.graph.num_nodes()];
            for &a in &level.assignment {
                sizes[a as usize] += 1.0;
            }
            for (node, entry) in composite.of_node.iter_mut().zip(&mut composite.entry) {
                *node = level.assignment[*node as usize];
                *entry /= sizes[*node as usize].sqrt();
            }
            composite.count = level.graph.num_nodes();
        }
        composite
    }

    /// `Π·X` for a matrix `X` of `columns`, row by row.
    fn project(&self, x: &[f64], columns: usize) -> Vec<f64> {
        let mut coarse = vec![0.0; self.count * columns];
        let place = |node: usize| self.of_node[node] as usize * columns;
        for node in 0..self.entry.len() {
            for c in 0..columns {
                coarse[place(node) + c] += self.entry[node] * x[node * columns + c];
            }
        }
        let spread = |node: usize| {
            let entry = self.entry[node];
            coarse[place(node)..place(node) + columns].iter().map(move |value| entry * value)
        };
        (0..self.entry.len()).flat_map(spread).collect()
    }

    /// The `k` smallest eigenvalues of `C·L·Cᵀ`, or of the last Laplacian for Kron.
    fn coarse_eigenvalues(
        &self,
        graph: &Graph,
        pyramid: &Pyramid,
        k: usize,
        projection: bool,
    ) -> Option<Vec<f64>> {
        let m = self.count;
        if m > DENSE {
            return None;
        }
        let mut matrix = vec![0.0; m * m];
        if projection {
            for (u, v, weight) in graph.edges() {
                let (u, v, weight) = (u as usize, v as usize, f64::from(weight));
                let (a, b) = (self.of_node[u] as usize, self.of_node[v] as usize);
                let (x, y) = (self.entry[u], self.entry[v]);
                matrix[a * m + a] += weight * x * x;
                matrix[b * m + b] += weight * y * y;
                matrix[a * m + b] -= weight * x * y;
                matrix[b * m + a] -= weight * x * y;
            }
        } else {
            let last = pyramid.levels.last().map_or(graph, |level| &level.graph);
            for (u, v, weight) in last.edges() {
                let (u, v, weight) = (u as usize, v as usize, f64::from(weight));
                matrix[u * m + u] += weight;
                matrix[v * m + v] += weight;
                matrix[u * m + v] -= weight;
                matrix[v * m + u] -= weight;
            }
        }
        let (mut values, _) = symmetric_eigen(&mut matrix, m, 0)?;
        values.truncate(k);
        Some(values.into_iter().map(|value| value.max(0.0)).collect())
    }
}

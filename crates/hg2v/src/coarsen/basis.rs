//! The matrix `A` whose variation a coarsening must preserve.
//!
//! Level 1: `A = B = U·Λ^(−1/2)` for the `k` smallest eigenpairs of the Laplacian,
//! zero where `λ = 0`. Above it: `B ← C·B` and `A = B·V·d^(−1/2)`, where `(d, V)` is
//! the eigendecomposition of `Bᵀ·L·B`.
//!
//! Every component of a disconnected graph has eigenpairs of its own; the column
//! of its constant vector is zero and not stored. A row of `A` belongs to one
//! node, and so to one component: rows of different components never meet, as no
//! contracted set crosses components.

use hg2v_math::linalg::dense::symmetric_eigen;

use crate::graph::{Components, Graph};
use crate::group::Groups;
use crate::linalg::{Operator, smallest_eigenpairs};

/// Eigenvalues of `BᵀLB` below this count as zero.
const ZERO: f64 = 1e-10;

/// The matrices `A` and `B` of one level, a row for each node.
#[derive(Debug, Clone)]
pub(crate) struct Basis {
    columns: usize,
    a: Vec<f64>,
    b: Vec<f64>,
    /// The component of each node; all isolated nodes share number 0, since
    /// they have no variation to keep apart.
    component: Vec<u32>,
    components: usize,
    /// The `k` smallest eigenvalues of the finest level, zeros included.
    eigenvalues: Vec<f64>,
    converged: bool,
}

impl Default for Basis {
    /// A basis without columns, for methods that look at no spectrum.
    fn default() -> Basis {
        Basis {
            columns: 0,
            a: Vec::new(),
            b: Vec::new(),
            component: Vec::new(),
            components: 0,
            eigenvalues: Vec::new(),
            converged: true,
        }
    }
}

impl Basis {
    /// The basis of the finest level, from the `k` lowest eigenpairs of each component.
    pub(crate) fn of(graph: &Graph, k: usize) -> Basis {
        let n = graph.num_nodes();
        let columns = k - 1;
        let parts = Components::of(graph);
        let mut b = vec![0.0; n * columns];
        let mut converged = true;
        let mut eigenvalues = vec![0.0; parts.count()];
        let mut fill = |nodes: &[u32], operator: &Operator| {
            let spectrum = smallest_eigenpairs(operator, columns);
            converged &= spectrum.converged;
            eigenvalues.extend(&spectrum.values);
            let pairs = spectrum.values.iter().zip(spectrum.vectors.chunks_exact(nodes.len()));
            for (column, (value, vector)) in pairs.enumerate() {
                let scale = if *value < ZERO { 0.0 } else { value.sqrt().recip() };
                for (&node, entry) in nodes.iter().zip(vector) {
                    b[node as usize * columns + column] = entry * scale;
                }
            }
        };
        if columns > 0 && parts.count() == 1 {
            let nodes: Vec<u32> = (0..n as u32).collect();
            fill(&nodes, &Operator::laplacian(graph, None));
        } else if columns > 0 {
            let members = Groups::new(parts.count(), parts.of_node());
            let mut local = vec![0; n];
            for component in 0..parts.count() {
                let nodes = members.of(component);
                if nodes.len() > 1 {
                    for (position, &node) in nodes.iter().enumerate() {
                        local[node as usize] = position as u32;
                    }
                    fill(nodes, &Operator::of_component(graph, nodes, &local, None));
                }
            }
        }
        let mut components = 1;
        let numbers: Vec<u32> = parts
            .sizes()
            .iter()
            .map(|&size| {
                components += u32::from(size > 1);
                if size > 1 { components - 1 } else { 0 }
            })
            .collect();
        let component = parts.of_node().iter().map(|&c| numbers[c as usize]).collect();
        eigenvalues.sort_by(f64::total_cmp);
        eigenvalues.truncate(k);
        let components = components as usize;
        Basis { columns, a: b.clone(), b, component, components, eigenvalues, converged }
    }

    /// Whether every eigenproblem was solved to its tolerance.
    pub(crate) fn converged(&self) -> bool {
        self.converged
    }

    /// How many columns `A` has: `k − 1`.
    pub(crate) fn columns(&self) -> usize {
        self.columns
    }

    /// The `k` smallest eigenvalues of the finest level over all components.
    pub(crate) fn eigenvalues(&self) -> &[f64] {
        &self.eigenvalues
    }

    /// `A`, row by row.
    pub(crate) fn a(&self) -> &[f64] {
        &self.a
    }

    /// Moves to the next level, whose super-nodes and graph are given.
    pub(crate) fn coarsen(&mut self, assignment: &[u32], coarse: &Graph) {
        let (m, k) = (coarse.num_nodes(), self.columns);
        if k == 0 {
            return;
        }
        let mut sizes = vec![0.0f64; m];
        let mut component = vec![0; m];
        let mut b = vec![0.0; m * k];
        for (node, &a) in assignment.iter().enumerate() {
            sizes[a as usize] += 1.0;
            component[a as usize] = self.component[node];
            let row = &mut b[a as usize * k..(a as usize + 1) * k];
            for (sum, value) in row.iter_mut().zip(&self.b[node * k..(node + 1) * k]) {
                *sum += value;
            }
        }
        for (row, size) in b.chunks_exact_mut(k).zip(&sizes) {
            row.iter_mut().for_each(|value| *value /= size.sqrt());
        }
        self.component = component;
        self.b = b;
        self.rotate(coarse);
    }

    /// `A = B·V·d^(−1/2)`, component by component.
    fn rotate(&mut self, graph: &Graph) {
        let k = self.columns;
        let grams = self.energies(graph, &self.b);
        // V·d^(−1/2) of each component, its columns one after the other.
        let mut rotations = vec![0.0; grams.len()];
        for (gram, rotation) in grams.chunks_exact(k * k).zip(rotations.chunks_exact_mut(k * k)) {
            if gram.iter().all(|&value| value == 0.0) {
                continue;
            }
            let Some((d, v)) = symmetric_eigen(&mut gram.to_vec(), k, k) else {
                continue;
            };
            for (column, value) in d.iter().enumerate() {
                let scale = if *value < ZERO { 0.0 } else { value.sqrt().recip() };
                for row in 0..k {
                    rotation[column * k + row] = v[column * k + row] * scale;
                }
            }
        }
        self.a.clear();
        for (row, &component) in self.b.chunks_exact(k).zip(&self.component) {
            let at = component as usize * k * k;
            for column in rotations[at..at + k * k].chunks_exact(k) {
                self.a.push(row.iter().zip(column).map(|(x, y)| x * y).sum());
            }
        }
    }

    /// `‖L^(1/2)·X‖₂` for a matrix `X` with the rows and columns of `A`: the root
    /// of the largest eigenvalue of `Xᵀ·L·X` in any component.
    pub(crate) fn energy_norm(&self, graph: &Graph, x: &[f64]) -> f64 {
        let k = self.columns;
        if k == 0 {
            return 0.0;
        }
        let largest = |gram: &[f64]| {
            let (values, _) = symmetric_eigen(&mut gram.to_vec(), k, 0)?;
            values.last().copied()
        };
        let grams = self.energies(graph, x);
        grams.chunks_exact(k * k).filter_map(largest).fold(0.0, f64::max).sqrt()
    }

    /// `Xᵀ·L·X` of each component: `Σ_{edges uv} w_uv·(x_u − x_v)(x_u − x_v)ᵀ`.
    fn energies(&self, graph: &Graph, x: &[f64]) -> Vec<f64> {
        let k = self.columns;
        let mut grams = vec![0.0; self.components * k * k];
        let mut difference = vec![0.0; k];
        for (u, v, weight) in graph.edges() {
            let (u, v) = (u as usize, v as usize);
            let rows = x[u * k..(u + 1) * k].iter().zip(&x[v * k..(v + 1) * k]);
            for (d, (x, y)) in difference.iter_mut().zip(rows) {
                *d = x - y;
            }
            let at = self.component[u] as usize * k * k;
            let gram = &mut grams[at..at + k * k];
            for p in 0..k {
                let scaled = f64::from(weight) * difference[p];
                for q in p..k {
                    gram[p * k + q] += scaled * difference[q];
                }
            }
        }
        for gram in grams.chunks_exact_mut(k * k) {
            for p in 0..k {
                for q in 0..p {
                    gram[p * k + q] = gram[q * k + p];
                }
            }
        }
        grams
    }
}

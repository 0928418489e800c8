//! The symmetric matrix whose spectrum is asked for.

use hg2v_math::linalg::block::each_row;

use crate::graph::Graph;

/// The matrix `M^(-1/2) (D − W) M^(-1/2)` of a connected graph: its Laplacian,
/// scaled by positive node masses `M` (all ones for the plain Laplacian; the
/// super-nodes' sizes for `C·L·Cᵀ` of a coarse graph).
///
/// It is positive semi-definite, its off-diagonal entries are not positive, and
/// its null space is spanned by `M^(1/2)·1`.
#[derive(Debug, Clone, Default)]
pub(crate) struct Operator {
    /// Row starts, `n + 1` long.
    pub(crate) offsets: Vec<usize>,
    /// Columns of the off-diagonal entries.
    pub(crate) targets: Vec<u32>,
    /// Off-diagonal entries with their sign turned: `w_ij / √(m_i m_j) > 0`.
    pub(crate) off: Vec<f64>,
    /// The diagonal, `d_i / m_i`.
    pub(crate) diagonal: Vec<f64>,
    /// The unit vector of the null space, all entries positive.
    pub(crate) null: Vec<f64>,
}

impl Operator {
    /// The Laplacian of the connected `graph`, with `mass` 1 for every node
    /// where none is given.
    pub(crate) fn laplacian(graph: &Graph, mass: Option<&[f64]>) -> Operator {
        let n = graph.num_nodes();
        let nodes: Vec<u32> = (0..n as u32).collect();
        Operator::of_component(graph, &nodes, &nodes, mass)
    }

    /// The Laplacian of the component made of `nodes` (ascending); `local[v]` is
    /// the position of node `v` in it, `mass` is indexed by the graph's nodes.
    pub(crate) fn of_component(
        graph: &Graph,
        nodes: &[u32],
        local: &[u32],
        mass: Option<&[f64]>,
    ) -> Operator {
        let n = nodes.len();
        let root_mass = |node: u32| mass.map_or(1.0, |mass| mass[node as usize].sqrt());
        let entries = nodes.iter().map(|&node| graph.degree(node as usize)).sum();
        let mut operator = Operator {
            offsets: Vec::with_capacity(n + 1),
            targets: Vec::with_capacity(entries),
            off: Vec::with_capacity(entries),
            diagonal: Vec::with_capacity(n),
            null: nodes.iter().map(|&node| root_mass(node)).collect(),
        };
        operator.offsets.push(0);
        for &node in nodes {
            let scale = 1.0 / root_mass(node);
            let row = graph.neighbors(node as usize).iter().zip(graph.weights(node as usize));
            let mut strength = 0.0;
            for (&target, &weight) in row {
                strength += f64::from(weight);
                operator.targets.push(local[target as usize]);
                let entry = f64::from(weight) * scale;
                operator.off.push(if mass.is_some() { entry / root_mass(target) } else { entry });
            }
            operator.diagonal.push(strength * scale * scale);
            operator.offsets.push(operator.targets.len());
        }
        hg2v_math::linalg::vector::normalize(&mut operator.null);
        operator
    }

    /// How many rows.
    pub(crate) fn len(&self) -> usize {
        self.diagonal.len()
    }

    /// The row of `node`: columns and sign-turned entries off the diagonal.
    pub(crate) fn row(&self, node: usize) -> impl Iterator<Item = (usize, f64)> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        self.targets[range.clone()].iter().map(|&t| t as usize).zip(self.off[range].iter().copied())
    }

    /// `Y = A·X` for `P` vectors at once, each node's values side by side.
    pub(crate) fn apply_block<const P: usize>(&self, x: &[[f64; P]], y: &mut [[f64; P]]) {
        self.for_each_image(x, y, |_, image| image);
    }

    /// `Y = R − A·X` likewise.
    pub(crate) fn residual_block<const P: usize>(
        &self,
        r: &[[f64; P]],
        x: &[[f64; P]],
        y: &mut [[f64; P]],
    ) {
        self.for_each_image(x, y, |node, image| std::array::from_fn(|c| r[node][c] - image[c]));
    }

    /// `y[node] = finish(node, (A·X)[node])`, in one pass.
    fn for_each_image<const P: usize>(
        &self,
        x: &[[f64; P]],
        y: &mut [[f64; P]],
        finish: impl Fn(usize, [f64; P]) -> [f64; P] + Sync,
    ) {
        each_row(y, |node, y| {
            let mut sum = [0.0; P];
            for (target, entry) in self.row(node) {
                let other = &x[target];
                for c in 0..P {
                    sum[c] += entry * other[c];
                }
            }
            let own = &x[node];
            *y = finish(node, std::array::from_fn(|c| self.diagonal[node] * own[c] - sum[c]));
        });
    }

    /// `‖A·x − λ·x‖`.
    pub(crate) fn residual(&self, x: &[f64], value: f64) -> f64 {
        let mut sum = 0.0;
        for node in 0..self.len() {
            let mut row = (self.diagonal[node] - value) * x[node];
            for (target, entry) in self.row(node) {
                row -= entry * x[target];
            }
            sum += row * row;
        }
        sum.sqrt()
    }

    /// The largest possible eigenvalue, by Gershgorin's circles.
    pub(crate) fn upper_bound(&self) -> f64 {
        (0..self.len())
            .map(|node| self.diagonal[node] + self.row(node).map(|(_, entry)| entry).sum::<f64>())
            .fold(0.0, f64::max)
    }
}

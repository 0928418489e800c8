//! A sparse factor of a grounded Laplacian, and the pseudo-inverse it gives.
//!
//! Eliminating a node `v` of a Laplacian joins its neighbours pairwise by edges
//! of weight `w_vu·w_vu' / d_v` (a star becomes a mesh). Done in order of least
//! degree this costs next to nothing on trees, molecules, discussion threads
//! and other graphs that are nearly trees; on graphs that fill up it is given
//! up before it gets expensive.

use hg2v_math::linalg::vector::{axpy, dot};

use super::Operator;

/// `L·D·Lᵀ` of an [`Operator`] without the row and column of one node, the ground.
///
/// Its rows are in order of elimination; [`order`](Factor::order) says which
/// node each is, the ground last.
#[derive(Debug)]
pub(crate) struct Factor {
    /// The node eliminated at each step; the last is the ground.
    order: Vec<u32>,
    /// Starts of each step's entries in `rows` and `entries`.
    starts: Vec<usize>,
    /// Later steps that a step's elimination touches.
    rows: Vec<u32>,
    /// `w_vu / d_v`: the sign-turned entries of `L` below the diagonal.
    entries: Vec<f64>,
    /// `1 / d_v`; zero for the ground.
    inverse_pivots: Vec<f64>,
    /// The operator's unit null vector, in elimination order.
    null: Vec<f64>,
}

impl Factor {
    /// Factors `operator`, unless that takes more than `budget` updates.
    ///
    /// # Complexity
    /// `O(Σ d²)` over the degrees `d` at elimination, which is linear for trees.
    pub(crate) fn new(operator: &Operator, budget: usize) -> Option<Factor> {
        let n = operator.len();
        let mut work = Elimination::new(operator);
        let mut factor = Factor {
            order: Vec::with_capacity(n),
            starts: Vec::with_capacity(n + 1),
            rows: Vec::with_capacity(operator.targets.len() / 2),
            entries: Vec::with_capacity(operator.targets.len() / 2),
            inverse_pivots: Vec::with_capacity(n),
            null: Vec::new(),
        };
        factor.starts.push(0);
        let mut spent = 0;
        while let Some(node) = work.next_node() {
            let pivot = work.diagonal[node as usize];
            let neighbors = work.take_neighbors(node);
            spent += neighbors.len() * neighbors.len();
            if spent > budget {
                return None;
            }
            work.eliminate(pivot, &neighbors);
            factor.order.push(node);
            for (target, weight) in neighbors {
                factor.rows.push(target);
                factor.entries.push(weight / pivot);
            }
            factor.starts.push(factor.rows.len());
            factor.inverse_pivots.push(1.0 / pivot);
        }
        factor.order.push(work.ground);
        factor.inverse_pivots.push(0.0);
        let mut step_of = vec![0; n];
        for (step, &node) in factor.order.iter().enumerate() {
            step_of[node as usize] = step as u32;
        }
        factor.rows.iter_mut().for_each(|row| *row = step_of[*row as usize]);
        factor.null = factor.order.iter().map(|&node| operator.null[node as usize]).collect();
        Some(factor)
    }

    /// The node of each row.
    pub(crate) fn order(&self) -> &[u32] {
        &self.order
    }

    /// The unit null vector of the operator, in elimination order.
    pub(crate) fn null(&self) -> &[f64] {
        &self.null
    }

    /// `x ← A⁺·x` for `x` orthogonal to the null space, in elimination order.
    ///
    /// The system is consistent, so the ground may be held at zero; what that
    /// adds along the null space is taken off at the end.
    pub(crate) fn pseudo_solve(&self, x: &mut [f64]) {
        let steps = self.starts.len() - 1;
        for step in 0..steps {
            let value = x[step];
            for entry in self.starts[step]..self.starts[step + 1] {
                x[self.rows[entry] as usize] += self.entries[entry] * value;
            }
            x[step] = value * self.inverse_pivots[step];
        }
        x[steps] = 0.0;
        for step in (0..steps).rev() {
            let mut value = x[step];
            for entry in self.starts[step]..self.starts[step + 1] {
                value += self.entries[entry] * x[self.rows[entry] as usize];
            }
            x[step] = value;
        }
        let along = dot(&self.null, x);
        axpy(-along, &self.null, x);
    }
}

/// The graph that is left while nodes are eliminated.
struct Elimination {
    /// The neighbours of each node, with sign-turned entries; may still list
    /// eliminated nodes.
    adjacency: Vec<Vec<(u32, f64)>>,
    diagonal: Vec<f64>,
    /// How many neighbours are left.
    degree: Vec<u32>,
    gone: Vec<bool>,
    /// Nodes by degree; entries whose degree has changed since are skipped.
    buckets: Vec<Vec<u32>>,
    lowest: usize,
    ground: u32,
}

impl Elimination {
    fn new(operator: &Operator) -> Elimination {
        let n = operator.len();
        let adjacency: Vec<Vec<(u32, f64)>> = (0..n)
            .map(|node| operator.row(node).map(|(target, entry)| (target as u32, entry)).collect())
            .collect();
        let degree: Vec<u32> = adjacency.iter().map(|row| row.len() as u32).collect();
        // Grounding the node of highest degree takes the worst row out of the
        // elimination altogether.
        let ground = (0..n).rev().max_by_key(|&node| degree[node]).unwrap_or(0) as u32;
        let mut buckets = vec![Vec::new(); 8];
        for node in (0..n as u32).rev().filter(|&node| node != ground) {
            push(&mut buckets, degree[node as usize], node);
        }
        Elimination {
            adjacency,
            diagonal: operator.diagonal.clone(),
            degree,
            gone: vec![false; n],
            buckets,
            lowest: 0,
            ground,
        }
    }

    /// A node of least degree that is still there.
    fn next_node(&mut self) -> Option<u32> {
        while self.lowest < self.buckets.len() {
            match self.buckets[self.lowest].pop() {
                None => self.lowest += 1,
                Some(node) => {
                    let current = self.degree[node as usize] as usize == self.lowest;
                    if current && !self.gone[node as usize] {
                        return Some(node);
                    }
                }
            }
        }
        None
    }

    fn take_neighbors(&mut self, node: u32) -> Vec<(u32, f64)> {
        self.gone[node as usize] = true;
        let mut neighbors = std::mem::take(&mut self.adjacency[node as usize]);
        neighbors.retain(|&(target, _)| !self.gone[target as usize]);
        neighbors
    }

    /// Replaces the star of a node just taken by the mesh of its neighbours.
    fn eliminate(&mut self, pivot: f64, neighbors: &[(u32, f64)]) {
        for (i, &(u, weight)) in neighbors.iter().enumerate() {
            self.diagonal[u as usize] -= weight * weight / pivot;
            self.degree[u as usize] -= 1;
            for &(v, other) in &neighbors[..i] {
                self.join(u, v, weight * other / pivot);
            }
        }
        for &(u, _) in neighbors {
            self.tidy(u);
            if u != self.ground {
                let degree = self.degree[u as usize];
                push(&mut self.buckets, degree, u);
                self.lowest = self.lowest.min(degree as usize);
            }
        }
    }

    /// Adds `weight` to the edge between `u` and `v`, making it where there is none.
    fn join(&mut self, u: u32, v: u32, weight: f64) {
        // Whoever lists fewer neighbours is searched.
        let shorter = self.adjacency[u as usize].len() <= self.adjacency[v as usize].len();
        let (few, many) = if shorter { (u, v) } else { (v, u) };
        match self.adjacency[few as usize].iter_mut().find(|(target, _)| *target == many) {
            Some((_, entry)) => {
                *entry += weight;
                // The longer list holds the edge as well; its weight is read
                // from whichever node is eliminated first, so both must agree.
                if let Some((_, entry)) =
                    self.adjacency[many as usize].iter_mut().find(|(target, _)| *target == few)
                {
                    *entry += weight;
                }
            }
            None => {
                self.adjacency[u as usize].push((v, weight));
                self.adjacency[v as usize].push((u, weight));
                self.degree[u as usize] += 1;
                self.degree[v as usize] += 1;
            }
        }
    }

    /// Forgets eliminated neighbours once they are the larger part of a list.
    fn tidy(&mut self, node: u32) {
        let row = &mut self.adjacency[node as usize];
        if row.len() > 8 && row.len() > 2 * self.degree[node as usize] as usize {
            let gone = &self.gone;
            row.retain(|&(target, _)| !gone[target as usize]);
        }
    }
}

fn push(buckets: &mut Vec<Vec<u32>>, degree: u32, node: u32) {
    let degree = degree as usize;
    if buckets.len() <= degree {
        buckets.resize_with(degree + 1, Vec::new);
    }
    buckets[degree].push(node);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{Graph, GraphRecord, WeightPolicy};
    use hg2v_math::linalg::vector::start_value;

    /// A connected graph of `n` nodes: a path and a few chords.
    fn graph(n: u32, chords: u32) -> Graph {
        let mut edges: Vec<[u32; 2]> = (1..n).map(|v| [v - 1, v]).collect();
        edges.extend((0..chords).map(|c| [(c * 7) % n, (c * 13 + 5) % n]));
        let weights = (0..edges.len()).map(|e| 1.5 + start_value(e as u64)).collect();
        let record =
            GraphRecord { num_nodes: n, edges, weights: Some(weights), ..Default::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    #[test]
    fn pseudo_solve_inverts_on_the_complement_of_the_null_space() {
        for (n, chords) in [(2, 0), (9, 0), (40, 25), (60, 400)] {
            let graph = graph(n, chords);
            let mass: Vec<f64> = (0..n).map(|v| f64::from(1 + v % 3)).collect();
            for mass in [None, Some(&mass[..])] {
                let operator = Operator::laplacian(&graph, mass);
                let factor = Factor::new(&operator, usize::MAX).unwrap();
                let mut b: Vec<f64> = (0..n).map(|i| start_value(u64::from(i))).collect();
                let along = dot(&b, &operator.null);
                axpy(-along, &operator.null, &mut b);
                let mut x: Vec<f64> = factor.order().iter().map(|&v| b[v as usize]).collect();
                factor.pseudo_solve(&mut x);
                let mut solution = vec![0.0; n as usize];
                for (row, &node) in factor.order().iter().enumerate() {
                    solution[node as usize] = x[row];
                }
                for node in 0..n as usize {
                    let mut product = operator.diagonal[node] * solution[node];
                    for (target, entry) in operator.row(node) {
                        product -= entry * solution[target];
                    }
                    assert!((product - b[node]).abs() < 1e-10, "{product} {}", b[node]);
                }
            }
        }
    }

    #[test]
    fn gives_up_on_fill() {
        let operator = Operator::laplacian(&graph(60, 400), None);
        assert!(Factor::new(&operator, 1000).is_none());
    }
}

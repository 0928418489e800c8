//! What a node's surroundings look like, in numbers: features for graphs whose
//! nodes come with few of their own.

use std::collections::BTreeMap;

use super::Graph;

/// Numbers a node gets.
pub const COLUMNS: usize = 9;

/// Edges that all walks of a graph may cross together, about a second's worth, and
/// those that the walks from one node may cross in any case.
const BUDGET: usize = 1 << 28;
const LEAST: usize = 1 << 8;

/// What surrounds every node of a graph, a row a node:
///
/// 1. `ln(1 + degree)`;
/// 2. to 8. the probabilities that a random walk of 2 to 8 steps ends where it
///    began, `(Pᵏ)(v, v)` with `P = D⁻¹W`;
/// 9. the clustering coefficient: the share of pairs of neighbours that are
///    neighbours themselves.
///
/// Where the walks from a node would cross more edges than its share of 2²⁸ (and
/// more than 256), the longer ones are taken as mixed: they end in `v` with
/// probability `d(v) / Σ d`.
#[derive(Debug, Clone, PartialEq)]
pub struct Structure(Vec<[f64; COLUMNS]>);

impl Structure {
    /// That of `graph`.
    ///
    /// # Complexity
    /// A node costs the edges within three hops of it, at most its share; leaves of
    /// the same node cost one of them.
    ///
    /// # Examples
    /// ```
    /// use hg2v::graph::{Graph, GraphRecord, Structure, WeightPolicy};
    /// let triangle =
    ///     GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2], [0, 2]], ..Default::default() };
    /// let (graph, _) = Graph::from_record(&triangle, WeightPolicy::Use).unwrap();
    /// let row = Structure::of(&graph).rows()[0];
    /// // The degree, the way there and back, and neighbours that are neighbours.
    /// let off = |(found, exact): (f64, f64)| (found - exact).abs();
    /// assert!([(row[0], 3f64.ln()), (row[1], 0.5), (row[8], 1.0)].map(off).iter().all(|off| *off < 1e-12));
    /// ```
    pub fn of(graph: &Graph) -> Structure {
        let n = graph.num_nodes();
        let strength: Vec<f64> = (0..n).map(|v| graph.strength(v)).collect();
        let total: f64 = strength.iter().sum();
        let triangles = triangles(graph);
        let mut walks = Walks::new(graph, &strength);
        // Leaves that hang alike from the same node see the same surroundings.
        let mut leaves: BTreeMap<(u32, u32), [f64; 7]> = BTreeMap::new();
        let row = |v: usize| {
            let degree = graph.degree(v);
            let mixed = if total > 0.0 { strength[v] / total } else { 0.0 };
            let returns = match (graph.neighbors(v), graph.weights(v)) {
                ([], _) => [0.0; 7],
                (&[parent], &[weight]) => *leaves
                    .entry((parent, weight.to_bits()))
                    .or_insert_with(|| walks.returns(v, mixed)),
                _ => walks.returns(v, mixed),
            };
            let pairs = degree as f64 * (degree as f64 - 1.0) / 2.0;
            let clustering = if degree > 1 { triangles[v] as f64 / pairs } else { 0.0 };
            let mut row = [0.0; COLUMNS];
            row[0] = (degree as f64).ln_1p();
            row[1..8].copy_from_slice(&returns);
            row[8] = clustering;
            row
        };
        Structure((0..n).map(row).collect())
    }

    /// The rows, node by node.
    pub fn rows(&self) -> &[[f64; COLUMNS]] {
        &self.0
    }
}

/// Random walks from single nodes.
///
/// With `S = D^(−1/2)·W·D^(−1/2)`, which has the diagonal powers of `P`, and
/// `x_j = Sʲ·e_v`: `(P^(i+j))(v, v) = x_i · x_j`.
struct Walks<'a> {
    graph: &'a Graph,
    /// `1/√d`.
    scale: Vec<f64>,
    /// Edges that the walks from one node may cross.
    budget: usize,
    /// `x_1` to `x_4`, and which of their entries are not zero.
    x: [Vec<f64>; 4],
    reached: [Vec<u32>; 4],
}

impl<'a> Walks<'a> {
    fn new(graph: &'a Graph, strength: &[f64]) -> Walks<'a> {
        let scale = strength.iter().map(|d| if *d > 0.0 { 1.0 / d.sqrt() } else { 0.0 });
        Walks {
            graph,
            scale: scale.collect(),
            budget: (BUDGET / strength.len().max(1)).max(LEAST),
            x: std::array::from_fn(|_| vec![0.0; strength.len()]),
            reached: std::array::from_fn(|_| Vec::new()),
        }
    }

    /// The probabilities of being back after 2 to 8 steps.
    fn returns(&mut self, v: usize, mixed: f64) -> [f64; 7] {
        let mut crossed = 0;
        let mut made = 0;
        for j in 0..4 {
            let (there, here) = self.reached.split_at_mut(j);
            let from: &[u32] = if j == 0 { &[v as u32] } else { &there[j - 1] };
            crossed += from.iter().map(|&u| self.graph.degree(u as usize)).sum::<usize>();
            if crossed > self.budget && j > 0 {
                break;
            }
            let (before, after) = self.x.split_at_mut(j);
            let (x, reached) = (&mut after[0], &mut here[0]);
            for &u in from {
                let u = u as usize;
                let value = if j == 0 { 1.0 } else { before[j - 1][u] };
                for (&to, &w) in self.graph.neighbors(u).iter().zip(self.graph.weights(u)) {
                    let slot = &mut x[to as usize];
                    if *slot == 0.0 {
                        reached.push(to);
                    }
                    *slot += value * f64::from(w) * self.scale[u] * self.scale[to as usize];
                }
            }
            made = j + 1;
        }
        let mut returns = [mixed; 7];
        for (k, slot) in (2..=8).zip(&mut returns) {
            let (i, j) = (k / 2, k - k / 2);
            if j <= made {
                let (a, b) = (&self.x[i - 1], &self.x[j - 1]);
                *slot = self.reached[i - 1].iter().map(|&u| a[u as usize] * b[u as usize]).sum();
            }
        }
        for (x, reached) in self.x.iter_mut().zip(&mut self.reached) {
            reached.drain(..).for_each(|u| x[u as usize] = 0.0);
        }
        returns
    }
}

/// How many triangles each node is part of: every edge points to its end of
/// larger degree, so that no node points to many.
fn triangles(graph: &Graph) -> Vec<u64> {
    let n = graph.num_nodes();
    let rank = |v: u32| (graph.degree(v as usize), v);
    let (mut targets, mut starts) = (Vec::with_capacity(graph.num_edges()), vec![0; n + 1]);
    for v in 0..n {
        let neighbors = graph.neighbors(v).iter().copied();
        targets.extend(neighbors.filter(|&u| rank(u) > rank(v as u32)));
        starts[v + 1] = targets.len();
    }
    let upward = |v: usize| &targets[starts[v]..starts[v + 1]];
    let mut count = vec![0; n];
    let mut marked = vec![false; n];
    for v in 0..n {
        let above = upward(v);
        above.iter().for_each(|&u| marked[u as usize] = true);
        for &u in above {
            for &w in upward(u as usize).iter().filter(|&&w| marked[w as usize]) {
                for corner in [v, u as usize, w as usize] {
                    count[corner] += 1;
                }
            }
        }
        above.iter().for_each(|&u| marked[u as usize] = false);
    }
    count
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphRecord, WeightPolicy};

    fn graph(n: u32, edges: Vec<[u32; 2]>, weights: Option<Vec<f64>>) -> Graph {
        let record = GraphRecord { num_nodes: n, edges, weights, ..GraphRecord::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    /// `(Pᵏ)(v, v)` by dense powers.
    fn naive_returns(graph: &Graph, v: usize) -> Vec<f64> {
        let n = graph.num_nodes();
        let strength = |u: usize| graph.weights(u).iter().map(|&w| f64::from(w)).sum::<f64>();
        let mut walk = vec![0.0; n];
        walk[v] = 1.0;
        let mut returns = Vec::new();
        for step in 1..=8 {
            let mut next = vec![0.0; n];
            for u in 0..n {
                for (&to, &w) in graph.neighbors(u).iter().zip(graph.weights(u)) {
                    next[to as usize] += walk[u] * f64::from(w) / strength(u);
                }
            }
            walk = next;
            if step >= 2 {
                returns.push(walk[v]);
            }
        }
        returns
    }

    #[test]
    fn walks_return_as_dense_powers_say() {
        // Two triangles sharing node 2, a star of leaves at 4, a lone node.
        let edges = vec![[0, 1], [1, 2], [0, 2], [2, 3], [3, 4], [2, 4], [4, 5], [4, 6], [4, 7]];
        let weights = vec![1.0, 2.0, 0.5, 1.0, 1.0, 3.0, 1.0, 1.0, 2.0];
        let graph = graph(9, edges, Some(weights));
        for (v, row) in Structure::of(&graph).rows().iter().enumerate() {
            let expected = if v == 8 { vec![0.0; 7] } else { naive_returns(&graph, v) };
            for (ours, expected) in row[1..8].iter().zip(&expected) {
                assert!((ours - expected).abs() < 1e-12, "node {v}: {row:?} {expected:?}");
            }
        }
    }

    #[test]
    fn degrees_and_clustering_of_known_graphs() {
        // A triangle with a tail: 0, 1, 2 and 2 — 3.
        let tailed = Structure::of(&graph(4, vec![[0, 1], [1, 2], [0, 2], [2, 3]], None));
        let rows = tailed.rows();
        let clustering: Vec<f64> = rows.iter().map(|row| row[8]).collect();
        assert_eq!(clustering, [1.0, 1.0, 1.0 / 3.0, 0.0]);
        assert_eq!(rows[3][0], 2f64.ln());
        // A walk on an edge is back after every second step.
        let edge = Structure::of(&graph(2, vec![[0, 1]], None));
        assert_eq!(edge.rows()[0][1..8], [1.0, 0.0, 1.0, 0.0, 1.0, 0.0, 1.0]);
        assert!(Structure::of(&graph(0, vec![], None)).rows().is_empty());
    }

    #[test]
    fn walks_that_would_cross_too_many_edges_are_taken_as_mixed() {
        // A complete bipartite-like hub structure: two hubs joined to all others.
        let n = 600_000;
        let edges = (2..n).flat_map(|v| [[0, v], [1, v]]).collect();
        let hubs = Structure::of(&graph(n, edges, None));
        let rows = hubs.rows();
        let total = 4.0 * f64::from(n - 2);
        assert!(rows.iter().flatten().all(|value| value.is_finite()));
        assert_eq!(rows[0][7], f64::from(n - 2) / total);
    }
}

//! Local variation: which sets of nodes to contract.
//!
//! Contracting a set `S` of `n_c` nodes costs
//!
//! ```text
//! cost(S) = ‖Bᵀ·L_S·B‖_F / (n_c − 1),   B = (I − 11ᵀ/n_c)·A[S],
//! L_S = diag(2·deg[S] − W_S·1) − W_S
//! ```
//!
//! `L_S` is the Laplacian inside `S` plus twice the weight each node sends out of
//! it, so no matrix of `n_c × n_c` is ever formed:
//!
//! ```text
//! Bᵀ·L_S·B = Σ_{edges uv inside S} w_uv·(a_u − a_v)(a_u − a_v)ᵀ + 2·Σ_{u∈S} out_u·b_u·b_uᵀ
//! ```
//!
//! The cheapest set is taken first. If some of its nodes are taken already, the
//! rest is weighed again and goes back into the queue.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use rayon::prelude::*;

use super::basis::Basis;
use super::cliques::maximal_cliques;
use super::contract::Sets;
use crate::error::Result;
use crate::graph::Graph;
use crate::linalg::spectrum::MOST_PAIRS;

/// Graphs from this size on are weighed by all threads.
const PARALLEL: usize = 1 << 14;

/// Sets to contract among the closed neighbourhoods, so that at most a fraction
/// `reduction` of the nodes disappears.
pub(crate) fn neighborhoods(graph: &Graph, basis: &Basis, reduction: f64) -> Sets {
    with_width(graph, basis, &Neighborhoods { graph }, reduction)
}

/// Sets to contract among the maximal cliques.
///
/// # Errors
/// More cliques than can be held.
pub(crate) fn cliques(graph: &Graph, basis: &Basis, reduction: f64) -> Result<Sets> {
    Ok(with_width(graph, basis, &maximal_cliques(graph)?, reduction))
}

/// Candidate sets, numbered.
trait Family: Sync {
    fn len(&self) -> usize;
    /// The members of a candidate, ascending, into `members`.
    fn members(&self, candidate: usize, members: &mut Vec<u32>);
    /// How many members a candidate has.
    fn size(&self, candidate: usize) -> usize;
}

struct Neighborhoods<'a> {
    graph: &'a Graph,
}

impl Family for Neighborhoods<'_> {
    fn len(&self) -> usize {
        self.graph.num_nodes()
    }

    fn members(&self, center: usize, members: &mut Vec<u32>) {
        members.clear();
        let neighbors = self.graph.neighbors(center);
        let below = neighbors.partition_point(|&node| (node as usize) < center);
        members.extend_from_slice(&neighbors[..below]);
        members.push(center as u32);
        members.extend_from_slice(&neighbors[below..]);
    }

    fn size(&self, center: usize) -> usize {
        self.graph.degree(center) + 1
    }
}

impl Family for super::cliques::Cliques {
    fn len(&self) -> usize {
        self.count()
    }

    fn members(&self, clique: usize, members: &mut Vec<u32>) {
        members.clear();
        members.extend_from_slice(self.get(clique));
    }

    fn size(&self, clique: usize) -> usize {
        self.get(clique).len()
    }
}

/// Calls [`contract_cheapest`] for the width of the basis; widths in between are
/// padded with columns of zeros.
fn with_width(graph: &Graph, basis: &Basis, family: &impl Family, reduction: f64) -> Sets {
    match basis.columns() {
        ..=5 => contract_cheapest(&Costs::<5>::new(graph, basis), family, reduction),
        6..=9 => contract_cheapest(&Costs::<9>::new(graph, basis), family, reduction),
        10..=16 => contract_cheapest(&Costs::<16>::new(graph, basis), family, reduction),
        _ => contract_cheapest(&Costs::<MOST_PAIRS>::new(graph, basis), family, reduction),
    }
}

/// The cost of every edge as a set of two, by ascending `(u, v)`.
pub(crate) fn edge_costs(graph: &Graph, basis: &Basis) -> Vec<f64> {
    let k = basis.columns();
    let strengths: Vec<f64> = (0..graph.num_nodes()).map(|node| graph.strength(node)).collect();
    let row = |node: u32| &basis.a()[node as usize * k..(node as usize + 1) * k];
    let cost = |(u, v, _): (u32, u32, f32)| {
        let distance: f64 = row(u).iter().zip(row(v)).map(|(x, y)| (x - y) * (x - y)).sum();
        pair_cost(strengths[u as usize] + strengths[v as usize], distance)
    };
    graph.edges().map(cost).collect()
}

/// The cost of two nodes: with `B = ±(a_u − a_v)/2` the sum has a single term.
fn pair_cost(strengths: f64, squared_distance: f64) -> f64 {
    quantize(0.5 * strengths * squared_distance)
}

/// Rounds a cost to 32 significant bits, and to zero below `1e-10`.
///
/// Symmetric positions in a graph have equal costs but for rounding; rounding
/// them away makes such ties real, so that they are broken by node number and
/// not by noise. Costs do not change when all weights are scaled, as long as no
/// eigenvalue comes to count as zero, so an absolute threshold is meaningful.
fn quantize(cost: f64) -> f64 {
    const DROPPED: u32 = 20;
    if cost < 1e-10 {
        return 0.0;
    }
    let half = 1u64 << (DROPPED - 1);
    f64::from_bits((cost.to_bits() + half) & !((1 << DROPPED) - 1))
}

/// Greedily takes the cheapest sets until `⌊reduction·n⌋` nodes are gone.
///
/// The order is total: by cost, then by the turn in which a candidate was weighed:
/// at first in the order of their numbers (for neighbourhoods, the centre's), and
/// one weighed again queues behind its equals.
fn contract_cheapest<const K: usize>(
    costs: &Costs<'_, K>,
    family: &impl Family,
    reduction: f64,
) -> Sets {
    let n = costs.graph.num_nodes();
    let mut queue: BinaryHeap<Reverse<Candidate>> = costs.of_family(family).into();
    let mut marked = vec![false; n];
    let mut to_remove = (reduction * n as f64).floor() as usize;
    let mut scratch = Scratch::new(n);
    let mut members = Vec::new();
    let mut sets = Sets::default();
    let mut turn = family.len() as u64;
    while let Some(Reverse(candidate)) = queue.pop() {
        family.members(candidate.number as usize, &mut members);
        members.retain(|&node| !marked[node as usize]);
        if members.len() == candidate.size as usize {
            // Nothing of it is taken: contract it, unless that removes too much.
            if members.len() - 1 > to_remove {
                continue;
            }
            for &node in &members {
                marked[node as usize] = true;
            }
            sets.push(&members);
            to_remove -= members.len() - 1;
            if to_remove == 0 {
                break;
            }
        } else if members.len() > 1 {
            let cost = costs.of(&members, &mut scratch);
            queue.push(Reverse(Candidate::new(cost, turn, candidate.number, members.len())));
            turn += 1;
        }
    }
    sets
}

/// A set in the queue, ordered by cost, then turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Candidate {
    /// The cost's bits: costs are not negative, so they order like integers.
    cost: u64,
    turn: u64,
    number: u32,
    /// How many members it had when it was weighed.
    size: u32,
}

impl Candidate {
    fn new(cost: f64, turn: u64, number: u32, size: usize) -> Candidate {
        Candidate { cost: cost.to_bits(), turn, number, size: size as u32 }
    }
}

/// What costs are computed from.
struct Costs<'a, const K: usize> {
    graph: &'a Graph,
    strengths: Vec<f64>,
    /// Rows of `A`, padded to `K` columns.
    rows: Vec<[f64; K]>,
}

/// Where each node stands in the set being weighed; one for each thread.
struct Scratch {
    /// The position of a node in the set, or `OUTSIDE`.
    position: Vec<u32>,
    /// The weight each member sends to other members.
    inside: Vec<f64>,
}

const OUTSIDE: u32 = u32::MAX;

impl Scratch {
    fn new(n: usize) -> Scratch {
        Scratch { position: vec![OUTSIDE; n], inside: Vec::new() }
    }
}

impl<'a, const K: usize> Costs<'a, K> {
    fn new(graph: &'a Graph, basis: &Basis) -> Costs<'a, K> {
        let k = basis.columns();
        let rows = if k == 0 {
            vec![[0.0; K]; graph.num_nodes()]
        } else {
            let pad = |row: &[f64]| std::array::from_fn(|c| row.get(c).copied().unwrap_or(0.0));
            basis.a().chunks_exact(k).map(pad).collect()
        };
        let strengths = (0..graph.num_nodes()).map(|node| graph.strength(node)).collect();
        Costs { graph, strengths, rows }
    }

    /// Every candidate of two members or more, weighed.
    fn of_family(&self, family: &impl Family) -> Vec<Reverse<Candidate>> {
        let n = self.graph.num_nodes();
        let weigh = |range: std::ops::Range<usize>| {
            let mut scratch = Scratch::new(n);
            let mut members = Vec::new();
            let many = range.filter(|&candidate| family.size(candidate) > 1);
            many.map(|candidate| {
                family.members(candidate, &mut members);
                let cost = self.of(&members, &mut scratch);
                Reverse(Candidate::new(cost, candidate as u64, candidate as u32, members.len()))
            })
            .collect::<Vec<_>>()
        };
        if family.len() < PARALLEL {
            return weigh(0..family.len());
        }
        let chunks = (0..family.len().div_ceil(PARALLEL)).into_par_iter();
        chunks
            .flat_map_iter(|c| weigh(c * PARALLEL..((c + 1) * PARALLEL).min(family.len())))
            .collect()
    }

    /// The cost of contracting `members`, at least two of them.
    fn of(&self, members: &[u32], scratch: &mut Scratch) -> f64 {
        if let &[u, v] = members {
            let (u, v) = (u as usize, v as usize);
            let mut distance = 0.0;
            for c in 0..K {
                let d = self.rows[u][c] - self.rows[v][c];
                distance += d * d;
            }
            return pair_cost(self.strengths[u] + self.strengths[v], distance);
        }
        let mut gram = [[0.0; K]; K];
        self.add_inside(members, scratch, &mut gram);
        self.add_outside(members, scratch, &mut gram);
        let mut norm = 0.0;
        for p in 0..K {
            norm += gram[p][p] * gram[p][p];
            for q in p + 1..K {
                norm += 2.0 * gram[p][q] * gram[p][q];
            }
        }
        quantize(norm.sqrt() / (members.len() - 1) as f64)
    }

    /// `Σ_{edges inside} w·(a_u − a_v)(a_u − a_v)ᵀ`, and each member's weight inside.
    fn add_inside(&self, members: &[u32], scratch: &mut Scratch, gram: &mut [[f64; K]; K]) {
        let Scratch { position, inside } = scratch;
        for (place, &node) in members.iter().enumerate() {
            position[node as usize] = place as u32;
        }
        inside.clear();
        inside.resize(members.len(), 0.0);
        let mut add = |place: usize, other: usize, weight: f32| {
            let weight = f64::from(weight);
            inside[place] += weight;
            inside[other] += weight;
            let u = &self.rows[members[place] as usize];
            let v = &self.rows[members[other] as usize];
            let difference: [f64; K] = std::array::from_fn(|c| u[c] - v[c]);
            rank_one(gram, weight, &difference);
        };
        for (place, &node) in members.iter().enumerate() {
            let node = node as usize;
            let (neighbors, weights) = (self.graph.neighbors(node), self.graph.weights(node));
            // A hub among few members: look the members up instead of walking
            // its thousands of neighbours.
            if neighbors.len() > 16 * (members.len() - place) {
                for (other, target) in members.iter().enumerate().skip(place + 1) {
                    if let Ok(at) = neighbors.binary_search(target) {
                        add(place, other, weights[at]);
                    }
                }
            } else {
                for (&target, &weight) in neighbors.iter().zip(weights) {
                    let other = position[target as usize];
                    if other != OUTSIDE && other as usize > place {
                        add(place, other as usize, weight);
                    }
                }
            }
        }
        for &node in members {
            position[node as usize] = OUTSIDE;
        }
    }

    /// `2·Σ out_u·b_u·b_uᵀ` for the centred rows `b`.
    fn add_outside(&self, members: &[u32], scratch: &Scratch, gram: &mut [[f64; K]; K]) {
        let mut mean = [0.0; K];
        for &node in members {
            for c in 0..K {
                mean[c] += self.rows[node as usize][c];
            }
        }
        for c in 0..K {
            mean[c] /= members.len() as f64;
        }
        for (&node, inside) in members.iter().zip(&scratch.inside) {
            let out = self.strengths[node as usize] - inside;
            if out > 0.0 {
                let row = &self.rows[node as usize];
                let centred: [f64; K] = std::array::from_fn(|c| row[c] - mean[c]);
                rank_one(gram, 2.0 * out, &centred);
            }
        }
    }
}

/// `gram ← gram + weight·v·vᵀ`, upper half only.
fn rank_one<const K: usize>(gram: &mut [[f64; K]; K], weight: f64, v: &[f64; K]) {
    for p in 0..K {
        let scaled = weight * v[p];
        for q in p..K {
            gram[p][q] += scaled * v[q];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coarsen::contract::{assignment_of, contract};
    use crate::coarsen::{Level, Pyramid, quality};
    use crate::graph::{GraphRecord, WeightPolicy};
    use hg2v_math::linalg::vector::start_value;
    use proptest::prelude::*;

    /// The cost as the paper writes it, with dense matrices.
    fn naive_cost(graph: &Graph, basis: &Basis, members: &[u32]) -> f64 {
        let (nc, k) = (members.len(), basis.columns());
        let weight = |u: u32, v: u32| -> f64 {
            let at = graph.neighbors(u as usize).binary_search(&v);
            at.map_or(0.0, |at| f64::from(graph.weights(u as usize)[at]))
        };
        let a = |u: u32, c: usize| basis.a()[u as usize * k + c];
        let mut l = vec![vec![0.0; nc]; nc];
        for i in 0..nc {
            let inside: f64 = members.iter().map(|&v| weight(members[i], v)).sum();
            l[i][i] = 2.0 * graph.strength(members[i] as usize) - inside;
            for j in 0..nc {
                l[i][j] -= weight(members[i], members[j]);
            }
        }
        let b = |i: usize, c: usize| {
            let mean: f64 = members.iter().map(|&v| a(v, c)).sum::<f64>() / nc as f64;
            a(members[i], c) - mean
        };
        let mut norm: f64 = 0.0;
        for p in 0..k {
            for q in 0..k {
                let mut sum = 0.0;
                for i in 0..nc {
                    for j in 0..nc {
                        sum += b(i, p) * l[i][j] * b(j, q);
                    }
                }
                norm += sum * sum;
            }
        }
        norm.sqrt() / (nc as f64 - 1.0)
    }

    /// A tree with chords, weighted.
    fn connected(n: u32, chords: &[(u32, u32)]) -> Graph {
        let mut edges: Vec<[u32; 2]> = (1..n).map(|v| [v / 2, v]).collect();
        edges.extend(chords.iter().map(|&(u, v)| [u % n, v % n]));
        let weights = (0..edges.len()).map(|e| 1.2 + start_value(e as u64)).collect();
        let record =
            GraphRecord { num_nodes: n, edges, weights: Some(weights), ..Default::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    proptest! {
        #[test]
        fn costs_are_those_of_the_paper(
            n in 4u32..30,
            chords in prop::collection::vec((0u32..30, 0u32..30), 0..80),
            k in 2usize..12,
            pick in prop::collection::vec(any::<bool>(), 30),
        ) {
            let graph = connected(n, &chords);
            let basis = Basis::of(&graph, k);
            let members: Vec<u32> = (0..n).filter(|&v| pick[v as usize] || v < 2).collect();
            let mut scratch = Scratch::new(n as usize);
            let fast = Costs::<16>::new(&graph, &basis).of(&members, &mut scratch);
            let naive = naive_cost(&graph, &basis, &members);
            prop_assert!((fast - naive).abs() <= 1e-8 * naive + 1e-9, "{} {}", fast, naive);
        }

        /// `ε² ≤ Σ_S (n_c − 1)·cost(S)` (docs/derivations/coarsening.md).
        #[test]
        fn the_costs_of_contracted_sets_bound_what_is_lost(
            n in 4u32..30,
            chords in prop::collection::vec((0u32..30, 0u32..30), 0..80),
            k in 2usize..12,
            reduction in 0.1f64..0.9,
        ) {
            let graph = connected(n, &chords);
            let basis = Basis::of(&graph, k);
            let sets = neighborhoods(&graph, &basis, reduction);
            let assignment = assignment_of(n as usize, &sets);
            let coarse = contract(&graph, &assignment);
            let level = Level { assignment, graph: coarse };
            let pyramid = Pyramid { num_nodes: n as usize, levels: vec![level], converged: true };
            let epsilon = quality::epsilon(&graph, &basis, &pyramid);
            let bound: f64 = sets
                .iter()
                .map(|set| (set.len() as f64 - 1.0) * naive_cost(&graph, &basis, set))
                .sum();
            prop_assert!(epsilon * epsilon <= bound + 1e-9, "{} {}", epsilon, bound);
        }
    }
}

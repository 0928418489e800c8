//! From sets of nodes to super-nodes.
//!
//! The coarsening matrix `C` has a row for each super-node, with `1/√n_c` at each
//! of its `n_c` members; coarse weights are the sums of the fine weights between
//! super-nodes, and those within one disappear.

use rayon::prelude::*;

use crate::graph::Graph;
use crate::group::Groups;

/// Disjoint sets of nodes, one after the other.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub(crate) struct Sets {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Sets {
    /// Adds a set.
    pub(crate) fn push(&mut self, members: &[u32]) {
        self.members.extend_from_slice(members);
        self.ends.push(self.members.len());
    }

    /// The sets, in the order they were added.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &[u32]> {
        let starts = std::iter::once(0).chain(self.ends.iter().copied());
        starts.zip(&self.ends).map(|(start, &end)| &self.members[start..end])
    }
}

/// The super-node of each of `n` nodes when `sets` are contracted and all other
/// nodes stay: super-nodes are numbered by their smallest member.
pub(crate) fn assignment_of(n: usize, sets: &Sets) -> Vec<u32> {
    let mut first: Vec<u32> = (0..n as u32).collect();
    for set in sets.iter() {
        let smallest = set.iter().copied().min().unwrap_or(0);
        for &node in set {
            first[node as usize] = smallest;
        }
    }
    // A smallest member comes before all others, so its number is known by then.
    let mut assignment = vec![0; n];
    let mut count = 0;
    for node in 0..n {
        let smallest = first[node] as usize;
        assignment[node] = if smallest == node {
            count += 1;
            count - 1
        } else {
            assignment[smallest]
        };
    }
    assignment
}

/// The graph of super-nodes.
///
/// # Complexity
/// Linear in nodes and edges, but for sorting each super-node's neighbours.
pub fn contract(graph: &Graph, assignment: &[u32]) -> Graph {
    /// Super-nodes handled by one task of a large graph.
    const CHUNK: usize = 1 << 14;
    let count = assignment.iter().max().map_or(0, |&last| last as usize + 1);
    let members = Groups::new(count, assignment);
    // The edges from super-node `a` to larger ones.
    let row = |a: usize, slot: &mut Vec<u32>, edges: &mut Vec<(u32, u32, f64)>| {
        let from = edges.len();
        for &node in members.of(a) {
            let node = node as usize;
            for (&target, &weight) in graph.neighbors(node).iter().zip(graph.weights(node)) {
                let b = assignment[target as usize];
                if b as usize <= a {
                    continue;
                }
                let place = slot[b as usize] as usize;
                if place >= from && place < edges.len() && edges[place].1 == b {
                    edges[place].2 += f64::from(weight);
                } else {
                    slot[b as usize] = edges.len() as u32;
                    edges.push((a as u32, b, f64::from(weight)));
                }
            }
        }
        edges[from..].sort_unstable_by_key(|edge| edge.1);
    };
    let rows = |range: std::ops::Range<usize>| {
        let mut slot = vec![u32::MAX; count];
        let mut edges = Vec::new();
        range.for_each(|a| row(a, &mut slot, &mut edges));
        edges
    };
    let edges: Vec<(u32, u32, f64)> = if count <= CHUNK {
        rows(0..count)
    } else {
        let chunks = (0..count.div_ceil(CHUNK)).into_par_iter();
        chunks.flat_map_iter(|c| rows(c * CHUNK..((c + 1) * CHUNK).min(count))).collect()
    };
    let edges: Vec<(u32, u32, f32)> =
        edges.into_iter().map(|(a, b, weight)| (a, b, (weight as f32).min(f32::MAX))).collect();
    Graph::from_sorted_edges(count, &edges)
}

//! All maximal cliques of a graph.

use crate::error::{Error, Result};
use crate::graph::Graph;

/// The most members, over all cliques, that are held: a graph of `n` nodes can
/// have `3^(n/3)` maximal cliques.
const MOST_MEMBERS: usize = 1 << 27;

/// Maximal cliques, each ascending, ordered by their members.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Cliques {
    members: Vec<u32>,
    ends: Vec<usize>,
}

impl Cliques {
    /// How many.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// The members of one, ascending.
    pub(crate) fn get(&self, clique: usize) -> &[u32] {
        let start = if clique == 0 { 0 } else { self.ends[clique - 1] };
        &self.members[start..self.ends[clique]]
    }
}

/// All maximal cliques, by Bron and Kerbosch's recursion with Tomita's pivot,
/// begun at each node in degeneracy order (Eppstein, Löffler & Strash 2010).
///
/// # Errors
/// When they are too many to hold.
///
/// # Complexity
/// `O(d·n·3^(d/3))` for degeneracy `d`, which is small for sparse graphs.
pub(crate) fn maximal_cliques(graph: &Graph) -> Result<Cliques> {
    let order = degeneracy_order(graph);
    let mut rank = vec![0u32; graph.num_nodes()];
    for (position, &node) in order.iter().enumerate() {
        rank[node as usize] = position as u32;
    }
    let mut search = Search { graph, clique: Vec::new(), found: Vec::new(), held: 0 };
    for &node in &order {
        let (later, earlier): (Vec<u32>, Vec<u32>) = graph
            .neighbors(node as usize)
            .iter()
            .partition(|&&other| rank[other as usize] > rank[node as usize]);
        search.clique.push(node);
        search.expand(later, earlier)?;
        search.clique.pop();
    }
    let mut found = search.found;
    found.sort_unstable();
    let mut cliques = Cliques::default();
    for clique in found {
        cliques.members.extend_from_slice(&clique);
        cliques.ends.push(cliques.members.len());
    }
    Ok(cliques)
}

struct Search<'a> {
    graph: &'a Graph,
    clique: Vec<u32>,
    found: Vec<Vec<u32>>,
    held: usize,
}

impl Search<'_> {
    /// Extends the clique by every way through `candidates` that no node of
    /// `excluded` could join; both are ascending neighbours of all its members.
    fn expand(&mut self, mut candidates: Vec<u32>, mut excluded: Vec<u32>) -> Result<()> {
        if candidates.is_empty() {
            if excluded.is_empty() {
                let mut clique = self.clique.clone();
                clique.sort_unstable();
                self.held += clique.len();
                if self.held > MOST_MEMBERS {
                    return Err(Error::parameter(
                        "coarsening",
                        "variation-cliques",
                        "this graph has too many maximal cliques; use variation-neighborhoods",
                    ));
                }
                self.found.push(clique);
            }
            return Ok(());
        }
        // The pivot with most neighbours among the candidates leaves fewest branches.
        let reach = |node: &u32| intersection(self.graph, *node, &candidates).len();
        let pivot = candidates
            .iter()
            .chain(&excluded)
            .copied()
            .max_by_key(|node| (reach(node), std::cmp::Reverse(*node)));
        let covered = pivot.map_or(&[][..], |pivot| self.graph.neighbors(pivot as usize));
        let branches: Vec<u32> = candidates
            .iter()
            .copied()
            .filter(|node| covered.binary_search(node).is_err())
            .collect();
        for node in branches {
            self.clique.push(node);
            let inner = intersection(self.graph, node, &candidates);
            let outer = intersection(self.graph, node, &excluded);
            self.expand(inner, outer)?;
            self.clique.pop();
            candidates.retain(|&other| other != node);
            let place = excluded.partition_point(|&other| other < node);
            excluded.insert(place, node);
        }
        Ok(())
    }
}

/// The nodes of `set` that are neighbours of `node`.
fn intersection(graph: &Graph, node: u32, set: &[u32]) -> Vec<u32> {
    let neighbors = graph.neighbors(node as usize);
    set.iter().copied().filter(|other| neighbors.binary_search(other).is_ok()).collect()
}

/// Nodes by repeatedly taking one of least remaining degree.
fn degeneracy_order(graph: &Graph) -> Vec<u32> {
    let n = graph.num_nodes();
    let mut degree: Vec<usize> = (0..n).map(|node| graph.degree(node)).collect();
    let mut buckets = vec![Vec::new(); degree.iter().max().map_or(0, |d| d + 1)];
    for node in (0..n).rev() {
        buckets[degree[node]].push(node as u32);
    }
    let mut taken = vec![false; n];
    let mut order = Vec::with_capacity(n);
    let mut lowest = 0;
    while lowest < buckets.len() {
        let Some(node) = buckets[lowest].pop() else {
            lowest += 1;
            continue;
        };
        if taken[node as usize] || degree[node as usize] != lowest {
            continue;
        }
        taken[node as usize] = true;
        order.push(node);
        for &other in graph.neighbors(node as usize) {
            if !taken[other as usize] {
                degree[other as usize] -= 1;
                buckets[degree[other as usize]].push(other);
                lowest = lowest.min(degree[other as usize]);
            }
        }
    }
    order
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphRecord, WeightPolicy};
    use proptest::prelude::*;

    proptest! {
        /// Against all subsets of small graphs.
        #[test]
        fn are_all_maximal_cliques(
            n in 1u32..9,
            pairs in prop::collection::vec((0u32..9, 0u32..9), 0..30),
        ) {
            let edges = pairs.iter().map(|&(u, v)| [u % n, v % n]).collect();
            let record = GraphRecord { num_nodes: n, edges, ..Default::default() };
            let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
            let adjacent = |u: u32, v: u32| graph.neighbors(u as usize).contains(&v);
            let is_clique = |set: u32| {
                let members: Vec<u32> = (0..n).filter(|v| set >> v & 1 == 1).collect();
                members.iter().all(|&u| members.iter().all(|&v| u == v || adjacent(u, v)))
            };
            let mut expected: Vec<Vec<u32>> = (1..1u32 << n)
                .filter(|&set| {
                    is_clique(set) && (0..n).all(|v| set >> v & 1 == 1 || !is_clique(set | 1 << v))
                })
                .map(|set| (0..n).filter(|v| set >> v & 1 == 1).collect())
                .collect();
            expected.sort();
            let cliques = maximal_cliques(&graph).unwrap();
            let found: Vec<Vec<u32>> =
                (0..cliques.count()).map(|c| cliques.get(c).to_vec()).collect();
            prop_assert_eq!(found, expected);
        }
    }
}

//! The smallest rings of a graph.
//!
//! A minimum cycle basis: as many rings as edges must be cut until none is left, the
//! shortest that are independent (no ring is the edge-wise sum of others). Of benzene that
//! is its hexagon, of naphthalene both, of cubane five of its six faces. Chemists call it the
//! smallest set of smallest rings.
//!
//! Each block (a part that stays whole when any one node is removed) has its own basis. In a
//! block, Horton's candidates (1987) are enough: for a node `v` and an edge `xy`, the shortest
//! ways `v…x` and `y…v` and the edge between, where the ways share `v` alone. Shortest first,
//! a candidate is kept where Gaussian elimination over bits finds it new.

use std::collections::VecDeque;

use super::Graph;

/// The smallest rings of `graph`: the nodes of each as they follow each other, from its
/// smallest node towards the smaller of that one's neighbours. Shorter rings come first, equal
/// ones in the order of their nodes.
///
/// `None` where a block has more than `most` nodes, or where its nodes times its
/// independent rings are more than `most²`: no answer is better than one that takes for ever.
///
/// # Examples
/// ```
/// use hg2v::graph::rings::smallest_rings;
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// // 0 – 1 – 2    two squares that share the edge 1 – 4,
/// // |   |   |    and 6, which hangs on the second
/// // 3 – 4 – 5 – 6
/// let edges = vec![[0, 1], [1, 2], [0, 3], [1, 4], [2, 5], [3, 4], [4, 5], [5, 6]];
/// let record = GraphRecord { num_nodes: 7, edges, ..GraphRecord::default() };
/// let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
/// let rings = smallest_rings(&graph, 100).unwrap();
/// assert_eq!(rings, [[0, 1, 4, 3], [1, 2, 5, 4]]);
/// ```
///
/// # Complexity
/// Of a block with `n` nodes, `m` edges and `μ` rings: `O(n·m)` to find at most `n·μ` candidates,
/// and `O(μ·m)` bit operations for each; linear without rings.
pub fn smallest_rings(graph: &Graph, most: usize) -> Option<Vec<Vec<u32>>> {
    let mut rings = Vec::new();
    for block in blocks(graph) {
        let block = Block::of(&block);
        let independent = block.edges.len() + 1 - block.nodes.len();
        if block.nodes.len() > most || block.nodes.len() * independent > most * most {
            return None;
        }
        rings.extend(block.basis(independent));
    }
    rings.sort_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
    Some(rings)
}

/// The edges of each block that has a ring (Hopcroft and Tarjan 1973), without recursion.
fn blocks(graph: &Graph) -> Vec<Vec<[u32; 2]>> {
    const UNSEEN: usize = usize::MAX;
    let n = graph.num_nodes();
    let (mut order, mut low) = (vec![UNSEEN; n], vec![0; n]);
    let (mut found, mut open, mut clock) = (Vec::new(), Vec::new(), 0);
    for root in 0..n {
        if order[root] != UNSEEN {
            continue;
        }
        (order[root], low[root], clock) = (clock, clock, clock + 1);
        // A node, where it was reached from, and how many of its neighbours were looked at.
        let mut path = vec![(root, UNSEEN, 0)];
        while let Some((node, from, looked)) = path.last_mut() {
            let (v, parent) = (*node, *from);
            if let Some(&next) = graph.neighbors(v).get(*looked) {
                *looked += 1;
                let w = next as usize;
                if order[w] == UNSEEN {
                    open.push([v as u32, next]);
                    (order[w], low[w], clock) = (clock, clock, clock + 1);
                    path.push((w, v, 0));
                } else if w != parent && order[w] < order[v] {
                    open.push([v as u32, next]);
                    low[v] = low[v].min(order[w]);
                }
                continue;
            }
            path.pop();
            if parent == UNSEEN {
                continue;
            }
            low[parent] = low[parent].min(low[v]);
            if low[v] >= order[parent] {
                let first = [parent as u32, v as u32];
                let start = open.iter().rposition(|&edge| edge == first).unwrap_or(0);
                let block = open.split_off(start);
                if block.len() > 1 {
                    found.push(block);
                }
            }
        }
    }
    found
}

/// A block, its nodes numbered from 0.
struct Block {
    /// What each node is called in the graph, ascending.
    nodes: Vec<u32>,
    edges: Vec<[usize; 2]>,
    /// Of each node its neighbours, and the edges to them.
    around: Vec<Vec<(usize, usize)>>,
}

impl Block {
    fn of(edges: &[[u32; 2]]) -> Block {
        let mut nodes: Vec<u32> = edges.iter().flatten().copied().collect();
        nodes.sort_unstable();
        nodes.dedup();
        // Every end is among the nodes.
        let place = |v: u32| nodes.partition_point(|&w| w < v);
        let mut edges: Vec<[usize; 2]> =
            edges.iter().map(|&[u, v]| [place(u.min(v)), place(u.max(v))]).collect();
        edges.sort_unstable();
        let mut around = vec![Vec::new(); nodes.len()];
        for (edge, &[u, v]) in edges.iter().enumerate() {
            around[u].push((v, edge));
            around[v].push((u, edge));
        }
        Block { nodes, edges, around }
    }

    /// The `count` shortest independent rings.
    fn basis(&self, count: usize) -> Vec<Vec<u32>> {
        let mut candidates: Vec<Vec<usize>> =
            (0..self.nodes.len()).flat_map(|root| self.rings_at(root)).collect();
        candidates.sort_unstable_by(|a, b| (a.len(), a).cmp(&(b.len(), b)));
        candidates.dedup();
        let mut rows: Vec<(usize, Vec<u64>)> = Vec::with_capacity(count);
        let mut kept = Vec::with_capacity(count);
        for ring in candidates {
            if kept.len() == count {
                break;
            }
            let mut bits = self.bits(&ring);
            for (pivot, row) in &rows {
                if bits[pivot / 64] >> (pivot % 64) & 1 == 1 {
                    bits.iter_mut().zip(row).for_each(|(bit, other)| *bit ^= other);
                }
            }
            let word = bits.iter().position(|&word| word != 0);
            if let Some(word) = word {
                rows.push((64 * word + bits[word].trailing_zeros() as usize, bits));
                kept.push(ring.iter().map(|&v| self.nodes[v]).collect());
            }
        }
        kept
    }

    /// Horton's candidates through `root`.
    fn rings_at(&self, root: usize) -> Vec<Vec<usize>> {
        let n = self.nodes.len();
        let (mut from, mut steps) = (vec![usize::MAX; n], vec![usize::MAX; n]);
        let mut queue = VecDeque::from([root]);
        steps[root] = 0;
        while let Some(v) = queue.pop_front() {
            for &(w, _) in &self.around[v] {
                if steps[w] == usize::MAX {
                    (steps[w], from[w]) = (steps[v] + 1, v);
                    queue.push_back(w);
                }
            }
        }
        let way = |mut v: usize| {
            let mut way = Vec::with_capacity(steps[v]);
            while v != root {
                way.push(v);
                v = from[v];
            }
            way
        };
        let mut rings = Vec::new();
        for &[x, y] in &self.edges {
            let of_the_tree = from[x] == y || from[y] == x;
            let (left, mut right) = (way(x), way(y));
            // In a tree, ways that part at the root never meet again.
            if of_the_tree || left.last() == right.last() {
                continue;
            }
            let mut ring = vec![root];
            ring.extend(left.iter().rev());
            ring.append(&mut right);
            rings.push(normal(ring));
        }
        rings
    }

    /// A bit for each edge of a ring.
    fn bits(&self, ring: &[usize]) -> Vec<u64> {
        let mut bits = vec![0; self.edges.len().div_ceil(64)];
        for (at, &u) in ring.iter().enumerate() {
            let v = ring[(at + 1) % ring.len()];
            let edge = self.edges.binary_search(&[u.min(v), u.max(v)]);
            edge.into_iter().for_each(|edge| bits[edge / 64] |= 1 << (edge % 64));
        }
        bits
    }
}

/// The same ring from its smallest node, towards the smaller of that one's neighbours.
fn normal(mut ring: Vec<usize>) -> Vec<usize> {
    let smallest = (0..ring.len()).min_by_key(|&at| ring[at]).unwrap_or(0);
    ring.rotate_left(smallest);
    if ring.len() > 2 && ring[1] > ring[ring.len() - 1] {
        ring[1..].reverse();
    }
    ring
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphRecord, WeightPolicy};

    fn graph(num_nodes: u32, edges: Vec<[u32; 2]>) -> Graph {
        let record = GraphRecord { num_nodes, edges, ..GraphRecord::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    fn sizes(graph: &Graph) -> Vec<usize> {
        smallest_rings(graph, 200).unwrap().iter().map(Vec::len).collect()
    }

    #[test]
    fn known_ring_systems_have_their_rings() {
        let ring = |n: u32| (0..n).map(move |v| [v, (v + 1) % n]);
        assert_eq!(sizes(&graph(6, ring(6).collect())), [6]);
        assert_eq!(sizes(&graph(3, ring(3).collect())), [3]);
        // Naphthalene; norbornane; two rings that share one atom; a chain between two.
        assert_eq!(sizes(&graph(10, ring(10).chain([[0, 5]]).collect())), [6, 6]);
        assert_eq!(sizes(&graph(7, ring(6).chain([[0, 6], [3, 6]]).collect())), [5, 5]);
        let spiro = [[0, 5], [5, 6], [6, 7], [7, 0]];
        assert_eq!(sizes(&graph(8, ring(5).chain(spiro).collect())), [4, 5]);
        let apart = [[0, 3], [3, 4], [4, 5], [5, 6], [6, 4]];
        assert_eq!(sizes(&graph(7, ring(3).chain(apart).collect())), [3, 3]);
        // Cubane: five of six faces. Two complete graphs of four nodes: three triangles each.
        let corner = |v: u32| [1, 2, 4].map(|bit| [v, v ^ bit]).into_iter().filter(|[u, v]| u < v);
        assert_eq!(sizes(&graph(8, (0..8).flat_map(corner).collect())), [4; 5]);
        let pairs = (0..4u32).flat_map(|u| (0..u).flat_map(move |v| [[u, v], [u + 4, v + 4]]));
        assert_eq!(sizes(&graph(8, pairs.collect())), [3; 6]);
        // A tree has none.
        assert!(sizes(&graph(5, vec![[0, 1], [1, 2], [1, 3], [3, 4]])).is_empty());
    }

    #[test]
    fn buckminsterfullerene_has_twelve_pentagons_and_nineteen_hexagons() {
        // Corners of a truncated icosahedron: a corner of an icosahedron, and one around it.
        let around: [[u32; 5]; 12] = [
            [1, 2, 3, 4, 5],
            [0, 2, 6, 10, 5],
            [0, 3, 7, 6, 1],
            [0, 4, 8, 7, 2],
            [0, 5, 9, 8, 3],
            [0, 1, 10, 9, 4],
            [1, 2, 7, 11, 10],
            [2, 3, 8, 11, 6],
            [3, 4, 9, 11, 7],
            [4, 5, 10, 11, 8],
            [5, 1, 6, 11, 9],
            [6, 7, 8, 9, 10],
        ];
        let atom = |v: usize, w: u32| {
            5 * v as u32 + around[v].iter().position(|&x| x == w).unwrap() as u32
        };
        let mut edges = Vec::new();
        for v in 0..12 {
            for at in 0..5 {
                let w = around[v][at];
                edges.push([atom(v, w), atom(v, around[v][(at + 1) % 5])]);
                if v < w as usize {
                    edges.push([atom(v, w), atom(w as usize, v as u32)]);
                }
            }
        }
        let sizes = sizes(&graph(60, edges));
        assert_eq!(sizes, [vec![5; 12], vec![6; 19]].concat());
    }

    #[test]
    fn rings_that_would_take_long_are_not_looked_for() {
        let ladder = |n: u32| {
            let rungs = (0..n).map(|v| [2 * v, 2 * v + 1]);
            let sides = (1..n).flat_map(|v| [[2 * v - 2, 2 * v], [2 * v - 1, 2 * v + 1]]);
            graph(2 * n, rungs.chain(sides).collect())
        };
        assert_eq!(
            smallest_rings(&ladder(50), 200).unwrap(),
            (0..49).map(|v| vec![2 * v, 2 * v + 1, 2 * v + 3, 2 * v + 2]).collect::<Vec<_>>()
        );
        assert_eq!(smallest_rings(&ladder(5000), 200), None);
        // Small, and yet with too many rings.
        let complete = (0..120).flat_map(|u| (0..u).map(move |v| [u, v])).collect();
        assert_eq!(smallest_rings(&graph(120, complete), 200), None);
        // Far beyond the bound, and without rings.
        let path = (1..100_000).map(|v| [v - 1, v]).collect();
        assert_eq!(smallest_rings(&graph(100_000, path), 200), Some(Vec::new()));
    }
}

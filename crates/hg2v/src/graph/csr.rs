//! The simple, undirected, weighted graph that every algorithm works on.

use serde::{Deserialize, Serialize};

use super::GraphRecord;

/// An undirected graph without self-loops or parallel edges, in compressed
/// sparse rows: every edge is stored at both of its ends, neighbours ascending.
///
/// # Policy
/// [`Graph::from_record`] turns any record into such a graph, and counts what it
/// met in [`Findings`]:
///
/// | in the record | becomes |
/// |---|---|
/// | a self-loop | nothing: the Laplacian does not see it |
/// | an edge said twice, in either direction | one edge, of the larger weight |
/// | edges of several kinds or directions between two nodes | one edge, of the largest weight; [`Links`](super::Links) keep them apart |
/// | a directed edge | an undirected edge |
/// | weight zero | no edge |
/// | a negative weight | by [`WeightPolicy`]: refused, its absolute value, or 1 |
/// | a non-finite weight | refused when read; never reaches a record |
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Graph {
    /// Row starts; always `num_nodes + 1` long, first 0, ascending.
    offsets: Vec<usize>,
    /// Neighbours, ascending within a row.
    targets: Vec<u32>,
    /// Positive finite weights, parallel to `targets` and symmetric.
    weights: Vec<f32>,
}

/// What to do with edge weights.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum WeightPolicy {
    /// Use them as they are; refuse a negative one.
    #[default]
    Use,
    /// Use their absolute values.
    Abs,
    /// Every edge weighs 1.
    Ignore,
}

crate::vocabulary! { WeightPolicy, "weights":
    Use => "use", "as they are; a negative one is refused";
    Abs => "abs", "their absolute values";
    Ignore => "ignore", "every edge weighs 1";
}

/// What [`Graph::from_record`] met and resolved, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Findings {
    /// Self-loops left out.
    pub self_loops: u64,
    /// Repeated edges merged into the first.
    pub repeated_edges: u64,
    /// Edges beside another between the same nodes from which they differ in kind or direction;
    /// here they are one, of the largest weight.
    #[serde(default)]
    pub parallel_edges: u64,
    /// Merged repeats whose weights disagreed (the larger was kept).
    pub conflicting_weights: u64,
    /// Edges of weight zero left out.
    pub zero_weights: u64,
    /// Negative weights met.
    pub negative_weights: u64,
    /// Graphs that call themselves directed; here their edges go both ways.
    pub directed_graphs: u64,
}

impl Findings {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Findings) {
        self.self_loops += other.self_loops;
        self.repeated_edges += other.repeated_edges;
        self.parallel_edges += other.parallel_edges;
        self.conflicting_weights += other.conflicting_weights;
        self.zero_weights += other.zero_weights;
        self.negative_weights += other.negative_weights;
        self.directed_graphs += other.directed_graphs;
    }
}

/// A weight that the policy refuses: the edge's position in the record, and its weight.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RefusedWeight {
    /// Position in [`GraphRecord::edges`].
    pub edge: usize,
    /// The weight.
    pub weight: f64,
}

impl Graph {
    /// The graph a record describes, under the [policy](Graph#policy).
    ///
    /// # Errors
    /// A negative weight under [`WeightPolicy::Use`].
    ///
    /// # Panics
    /// May, where the record does not hold together: see [`GraphRecord::check`].
    pub fn from_record(
        record: &GraphRecord,
        policy: WeightPolicy,
    ) -> std::result::Result<(Graph, Findings), RefusedWeight> {
        let mut found = Findings {
            repeated_edges: record.folded_repeats,
            directed_graphs: u64::from(record.directed),
            ..Findings::default()
        };
        let mut edges = Vec::with_capacity(record.edges.len());
        for (position, &[u, v]) in record.edges.iter().enumerate() {
            let weight = record.weights.as_ref().map_or(1.0, |weights| weights[position]);
            let weight = match policy {
                WeightPolicy::Ignore => 1.0,
                _ if weight >= 0.0 => weight,
                WeightPolicy::Use => {
                    return Err(RefusedWeight { edge: position, weight });
                }
                WeightPolicy::Abs => {
                    found.negative_weights += 1;
                    -weight
                }
            };
            if u == v {
                found.self_loops += 1;
            } else if weight as f32 == 0.0 {
                found.zero_weights += 1;
            } else {
                edges.push((u.min(v), u.max(v), (weight as f32).min(f32::MAX)));
            }
        }
        // Equal edges come together, the heaviest first.
        edges.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
        let (mut merged, mut disagreed) = (0, 0);
        edges.dedup_by(|next, kept| {
            let same = (next.0, next.1) == (kept.0, kept.1);
            if same {
                merged += 1;
                disagreed += u64::from(next.2 != kept.2);
            }
            same
        });
        if merged > 0 && (record.directed || record.edge_labels.is_some()) {
            let (repeats, others) = repeats(record, policy);
            found.parallel_edges += merged - repeats;
            (merged, disagreed) = (repeats, others);
        }
        found.repeated_edges += merged;
        found.conflicting_weights += disagreed;
        Ok((Graph::from_sorted_edges(record.num_nodes as usize, &edges), found))
    }

    /// The graph of distinct edges `(u, v, weight)` with `u < v`, sorted by `(u, v)`.
    pub(crate) fn from_sorted_edges(num_nodes: usize, edges: &[(u32, u32, f32)]) -> Graph {
        debug_assert!(edges.windows(2).all(|w| (w[0].0, w[0].1) < (w[1].0, w[1].1)));
        let mut offsets = vec![0usize; num_nodes + 1];
        for &(u, v, _) in edges {
            offsets[u as usize + 1] += 1;
            offsets[v as usize + 1] += 1;
        }
        for node in 0..num_nodes {
            offsets[node + 1] += offsets[node];
        }
        let mut next = offsets.clone();
        let mut targets = vec![0; 2 * edges.len()];
        let mut weights = vec![0.0; 2 * edges.len()];
        let mut put = |from: u32, to: u32, weight: f32| {
            let slot = next[from as usize];
            targets[slot] = to;
            weights[slot] = weight;
            next[from as usize] += 1;
        };
        // Two passes keep every row ascending: first the neighbours below a
        // node (edges come sorted by their lower end), then those above it.
        for &(u, v, weight) in edges {
            put(v, u, weight);
        }
        for &(u, v, weight) in edges {
            put(u, v, weight);
        }
        Graph { offsets, targets, weights }
    }

    /// How many nodes.
    pub fn num_nodes(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// How many undirected edges.
    pub fn num_edges(&self) -> usize {
        self.targets.len() / 2
    }

    /// The neighbours of `node`, ascending.
    pub fn neighbors(&self, node: usize) -> &[u32] {
        &self.targets[self.offsets[node]..self.offsets[node + 1]]
    }

    /// The weights of the edges to [`neighbors`](Graph::neighbors), in the same order.
    pub fn weights(&self, node: usize) -> &[f32] {
        &self.weights[self.offsets[node]..self.offsets[node + 1]]
    }

    /// How many neighbours `node` has.
    pub fn degree(&self, node: usize) -> usize {
        self.offsets[node + 1] - self.offsets[node]
    }

    /// The sum of the weights at `node`, the Laplacian's diagonal.
    pub fn strength(&self, node: usize) -> f64 {
        self.weights(node).iter().map(|&w| f64::from(w)).sum()
    }

    /// Every edge once, as `(u, v, weight)` with `u < v`, ascending.
    pub fn edges(&self) -> impl Iterator<Item = (u32, u32, f32)> + '_ {
        (0..self.num_nodes()).flat_map(move |u| {
            self.neighbors(u)
                .iter()
                .zip(self.weights(u))
                .filter(move |&(&v, _)| v as usize > u)
                .map(move |(&v, &w)| (u as u32, v, w))
        })
    }
}

/// How many edges repeat one of the same kind and direction, and how many of these are of another
/// weight than the largest.
fn repeats(record: &GraphRecord, policy: WeightPolicy) -> (u64, u64) {
    let weight = |edge: usize| match (policy, &record.weights) {
        (WeightPolicy::Ignore, _) | (_, None) => 1.0,
        // Abs; elsewhere negative ones are refused.
        (_, Some(weights)) => weights[edge].abs() as f32,
    };
    let labels = record.edge_labels.as_deref();
    let mut edges: Vec<_> = (0..)
        .zip(&record.edges)
        .filter(|&(edge, [u, v])| u != v && weight(edge) > 0.0)
        .map(|(edge, &[u, v])| {
            let ends = if record.directed { [u, v] } else { [u.min(v), u.max(v)] };
            (ends, labels.map(|labels| &labels[edge]), weight(edge))
        })
        .collect();
    edges.sort_unstable_by(|a, b| (a.0, a.1).cmp(&(b.0, b.1)).then(b.2.total_cmp(&a.2)));
    let groups = edges.chunk_by(|a, b| (a.0, a.1) == (b.0, b.1));
    groups.fold((0, 0), |(repeats, others), group| {
        let other = group.iter().filter(|edge| edge.2 != group[0].2).count();
        (repeats + group.len() as u64 - 1, others + other as u64)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn record(num_nodes: u32, edges: &[([u32; 2], f64)]) -> GraphRecord {
        GraphRecord {
            num_nodes,
            edges: edges.iter().map(|e| e.0).collect(),
            weights: Some(edges.iter().map(|e| e.1).collect()),
            ..GraphRecord::default()
        }
    }

    #[test]
    fn policy_is_applied_and_counted() {
        let record =
            record(5, &[([0, 1], 2.0), ([1, 0], 3.0), ([2, 2], 1.0), ([3, 1], 0.0), ([2, 1], 1.0)]);
        let (graph, found) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        assert_eq!(graph.edges().collect::<Vec<_>>(), [(0, 1, 3.0), (1, 2, 1.0)]);
        assert_eq!(graph.num_nodes(), 5);
        assert_eq!(graph.strength(1), 4.0);
        let expected = Findings {
            self_loops: 1,
            repeated_edges: 1,
            conflicting_weights: 1,
            zero_weights: 1,
            ..Findings::default()
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn edges_of_other_kinds_or_directions_are_no_repeats() {
        let edges = [([0, 1], 2.0), ([1, 0], 3.0), ([0, 1], 2.0), ([0, 1], 5.0), ([1, 2], 1.0)];
        let plain = record(3, &edges);
        let kinds = ["a", "a", "b", "b", "a"].map(Into::into).to_vec();
        let labelled = GraphRecord { edge_labels: Some(kinds), ..plain.clone() };
        for (record, directed, expected) in [
            (&plain, false, [3, 3, 0]),
            (&plain, true, [2, 2, 1]),
            (&labelled, false, [2, 2, 1]),
            (&labelled, true, [1, 1, 2]),
        ] {
            let record = GraphRecord { directed, ..record.clone() };
            let (_, found) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
            let found = [found.repeated_edges, found.conflicting_weights, found.parallel_edges];
            assert_eq!(found, expected, "{record:?}");
        }
    }

    #[test]
    fn negative_weights_follow_the_policy() {
        let record = record(3, &[([0, 1], 1.0), ([1, 2], -2.0)]);
        let refused = Graph::from_record(&record, WeightPolicy::Use).unwrap_err();
        assert_eq!(refused, RefusedWeight { edge: 1, weight: -2.0 });
        let (graph, found) = Graph::from_record(&record, WeightPolicy::Abs).unwrap();
        assert_eq!(graph.weights(1), [1.0, 2.0]);
        assert_eq!(found.negative_weights, 1);
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Ignore).unwrap();
        assert_eq!(graph.weights(1), [1.0, 1.0]);
    }

    #[test]
    fn rows_ascend_whatever_the_order_of_edges() {
        let record = record(4, &[([3, 0], 1.0), ([2, 3], 1.0), ([1, 3], 1.0), ([0, 1], 1.0)]);
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        assert_eq!(graph.neighbors(3), [0, 1, 2]);
        assert_eq!(graph.neighbors(0), [1, 3]);
    }
}

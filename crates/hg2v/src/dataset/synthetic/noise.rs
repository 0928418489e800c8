//! Noise on a graph's edges: some taken away, some put in, all at random.

use std::collections::HashSet;

use hg2v_math::rng::{ChaCha8Rng, sample_without_replacement};
use rand::RngExt;

use crate::error::{Error, Result};
use crate::graph::GraphRecord;

/// How many edges to change.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Noise {
    /// Edges taken away, each set of that size being equally likely.
    pub remove: u64,
    /// Edges put in, between pairs that the original graph does not join; each
    /// set of that size being equally likely. Never a loop, never an edge twice.
    pub add: u64,
}

hg2v_math::setters!(Noise { remove: u64, add: u64 });

impl Noise {
    /// Changes `record`, a simple graph whose edges have nothing but their ends. Edges
    /// that stay keep their order; new ones follow.
    ///
    /// # Errors
    /// When the graph has fewer edges to remove, fewer free pairs to join, or edges with weights,
    /// labels or attributes.
    pub fn apply(&self, record: &mut GraphRecord, rng: &mut ChaCha8Rng) -> Result<()> {
        if (self.remove, self.add) == (0, 0) {
            return Ok(());
        }
        let labelled = record.edge_labels.is_some() || record.edge_features.is_some();
        if record.weights.is_some() || labelled {
            let requirement =
                "these graphs' edges have weights, labels or attributes, and new ones would not";
            return Err(Error::parameter("add_edges", self.add, requirement));
        }
        let num_edges = record.edges.len() as u64;
        if self.remove > num_edges {
            return Err(Error::parameter(
                "remove_edges",
                self.remove,
                format!("the graph has {num_edges} edges"),
            ));
        }
        let nodes = u64::from(record.num_nodes);
        let pairs = nodes * nodes.saturating_sub(1) / 2;
        let free = pairs.saturating_sub(num_edges);
        if self.add > free {
            return Err(Error::parameter(
                "add_edges",
                self.add,
                format!("the graph leaves {free} pairs of nodes unjoined"),
            ));
        }
        let added = self.new_edges(record, pairs, rng);
        record.edges = chosen(&record.edges, num_edges - self.remove, rng);
        record.edges.extend(added);
        Ok(())
    }

    fn new_edges(&self, record: &GraphRecord, pairs: u64, rng: &mut ChaCha8Rng) -> Vec<[u32; 2]> {
        let mut added = Vec::new();
        if self.add == 0 {
            return added;
        }
        let mut joined: HashSet<[u32; 2]> =
            record.edges.iter().map(|&[u, v]| [u.min(v), u.max(v)]).collect();
        let n = record.num_nodes;
        if 2 * (joined.len() as u64 + self.add) <= pairs {
            // At least half of the pairs stay free: drawing again is quick.
            while (added.len() as u64) < self.add {
                let (u, v) = (rng.random_range(0..n), rng.random_range(0..n));
                let pair = [u.min(v), u.max(v)];
                if u != v && joined.insert(pair) {
                    added.push(pair);
                }
            }
        } else {
            // The pairs are no more than twice the edges: list the free ones.
            let free: Vec<[u32; 2]> = (0..n)
                .flat_map(|u| (u + 1..n).map(move |v| [u, v]))
                .filter(|pair| !joined.contains(pair))
                .collect();
            added = chosen(&free, self.add, rng);
        }
        added
    }
}

/// `count` of the edges, in order.
fn chosen(edges: &[[u32; 2]], count: u64, rng: &mut ChaCha8Rng) -> Vec<[u32; 2]> {
    let kept = sample_without_replacement(edges.len(), count as usize, rng);
    kept.into_iter().map(|at| edges[at]).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::{BTreeMap, BTreeSet};

    use proptest::prelude::*;

    use super::super::families::Family;
    use super::super::{Model, SyntheticSet};
    use super::*;
    use hg2v_math::rng;

    fn noisy(family: Family, noise: Noise, seed: u64) -> Result<GraphRecord> {
        let mut rng = rng::stream(seed, "test", 0, 0);
        let mut record = family.graph(0, &mut rng);
        noise.apply(&mut record, &mut rng).map(|()| record)
    }

    fn pairs(record: &GraphRecord) -> BTreeSet<[u32; 2]> {
        let pairs: BTreeSet<_> = record.edges.iter().map(|&[u, v]| [u.min(v), u.max(v)]).collect();
        assert_eq!(pairs.len(), record.edges.len(), "an edge came twice");
        pairs
    }

    proptest! {
        #[test]
        fn exactly_as_many_edges_change(
            nodes in 4u32..14, remove in 0u64..10, add in 0u64..60, seed in any::<u64>(),
        ) {
            let family = Family::Wheel { nodes };
            let before = pairs(&noisy(family, Noise::default(), seed).unwrap());
            let free = u64::from(nodes * (nodes - 1) / 2) - before.len() as u64;
            let changed = noisy(family, Noise { remove, add }, seed);
            if remove > before.len() as u64 || add > free {
                prop_assert!(changed.is_err());
            } else {
                let after = pairs(&changed.unwrap());
                prop_assert!(after.iter().all(|&[u, v]| u < v && v < nodes));
                prop_assert_eq!(before.difference(&after).count() as u64, remove);
                prop_assert_eq!(after.difference(&before).count() as u64, add);
            }
        }
    }

    #[test]
    fn every_change_is_equally_likely() {
        // Path of 4: three edges, three free pairs. Removing one and adding one
        // gives nine outcomes; of 9000 draws each expects 1000, σ = 29.8.
        let mut seen: BTreeMap<Vec<[u32; 2]>, u32> = BTreeMap::new();
        for seed in 0..9000 {
            let noise = Noise { remove: 1, add: 1 };
            let record = noisy(Family::Path { nodes: 4 }, noise, seed).unwrap();
            *seen.entry(pairs(&record).into_iter().collect()).or_default() += 1;
        }
        assert_eq!(seen.len(), 9);
        for (outcome, times) in seen {
            assert!((851..=1149).contains(&times), "{outcome:?}: {times}");
        }
    }

    #[test]
    fn a_set_is_noisy_graph_by_graph() {
        let family = Family::Cycle { nodes: 500 };
        let set = SyntheticSet {
            model: &family,
            graphs: 2,
            seed: 3,
            noise: Noise { remove: 5, add: 7 },
            label: Some("cycle".into()),
        };
        let (a, b) = (set.graph(0).unwrap(), set.graph(1).unwrap());
        assert_eq!((a.edges.len(), b.edges.len()), (502, 502));
        assert_ne!(a.edges, b.edges);
        assert_eq!(set.graph(1).unwrap(), b);
        assert_eq!(b.label, Some("cycle".into()));
    }
}

//! Graphs that are the same, or that look the same, and what that costs.
//!
//! Every graph leaves a digest of 32 bytes; equal digests make a group. When the
//! graphs of a group have different classes, no classifier that sees them as
//! equal can be right on all of them: at best it answers each group's commonest
//! class, which bounds its accuracy on this collection by
//!
//! ```text
//! Σ over groups (graphs of the commonest class) / labelled graphs
//! ```

use serde::Serialize;
use sha2::{Digest, Sha256};

use crate::graph::{GraphRecord, digest_scalar};

/// The groups of graphs that share a digest.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Groups {
    /// Groups of at least two graphs.
    pub groups: u64,
    /// Graphs in these groups.
    pub graphs: u64,
    /// Graphs in the largest of them.
    pub largest: u64,
    /// Positions (from 0) of the first two graphs of the largest group.
    pub example: Option<[u64; 2]>,
    /// Groups whose graphs have different classes; `None` without classes.
    pub mixed_classes: Option<u64>,
    /// The best accuracy possible for whoever cannot tell the graphs of a group
    /// apart; `None` without classes.
    pub best_accuracy: Option<f64>,
}

/// Digests, with where each came from and its graph's class.
#[derive(Debug, Default)]
pub(super) struct Members(Vec<Member>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Member {
    digest: [u8; 32],
    /// The number of the graph's class; `None` when it has no class.
    class: Option<u32>,
    position: u64,
}

impl Members {
    pub(super) fn push(&mut self, digest: [u8; 32], class: Option<u32>, position: u64) {
        self.0.push(Member { digest, class, position });
    }

    /// The groups; `classes` says whether the members' classes can be trusted.
    pub(super) fn groups(mut self, classes: bool) -> Groups {
        self.0.sort_unstable();
        let mut found = Groups {
            groups: 0,
            graphs: 0,
            largest: 0,
            example: None,
            mixed_classes: None,
            best_accuracy: None,
        };
        let (mut mixed, mut right, mut labelled) = (0u64, 0u64, 0u64);
        for group in self.0.chunk_by(|a, b| a.digest == b.digest) {
            let size = group.len() as u64;
            if size > 1 {
                found.groups += 1;
                found.graphs += size;
                let example = first_two(group);
                if size > found.largest || (size == found.largest && example < found.example) {
                    found.largest = size;
                    found.example = example;
                }
            }
            let runs = group.chunk_by(|a, b| a.class == b.class);
            let counts = runs.filter(|run| run[0].class.is_some()).map(<[Member]>::len);
            let (distinct, commonest, sum) =
                counts.fold((0, 0, 0), |(n, max, sum), count| (n + 1, count.max(max), sum + count));
            mixed += u64::from(distinct > 1);
            right += commonest as u64;
            labelled += sum as u64;
        }
        if classes && labelled > 0 {
            found.mixed_classes = Some(mixed);
            found.best_accuracy = Some(right as f64 / labelled as f64);
        }
        found
    }
}

/// The two smallest positions of a group of at least two.
fn first_two(group: &[Member]) -> Option<[u64; 2]> {
    let mut smallest = [u64::MAX; 2];
    for member in group {
        if member.position < smallest[0] {
            smallest = [member.position, smallest[0]];
        } else if member.position < smallest[1] {
            smallest[1] = member.position;
        }
    }
    (group.len() > 1).then_some(smallest)
}

/// A digest of all a record says but its names and its class: the number of
/// nodes, the edges in any order with weights, labels and attributes, node labels and
/// attributes. Without weights every edge weighs 1.
pub(super) fn content_digest(record: &GraphRecord) -> [u8; 32] {
    let mut digest = Sha256::new();
    digest.update(record.num_nodes.to_le_bytes());
    digest.update([u8::from(record.directed)]);

    let ends = |edge: u32| {
        let [u, v] = record.edges[edge as usize];
        match record.directed {
            true => [u, v],
            false => [u.min(v), u.max(v)],
        }
    };
    let weight = |edge: u32| {
        let weights = record.weights.as_ref();
        weights.map_or(1.0, |weights| weights[edge as usize])
    };
    let label = |edge: u32| record.edge_labels.as_ref().map(|labels| &labels[edge as usize]);
    let edge_features = record.edge_features.as_ref().filter(|found| found.dim > 0);
    let mut order: Vec<u32> = (0..record.edges.len() as u32).collect();
    order.sort_unstable_by(|&a, &b| {
        let by_weight = || weight(a).total_cmp(&weight(b));
        let by_label = || label(a).cmp(&label(b));
        let by_row = || {
            let rows = [a, b].map(|edge| edge_features.map(|found| found.row(edge as usize)));
            let [a, b] = rows.map(|row| row.unwrap_or_default());
            a.iter().map(|value| value.to_bits()).cmp(b.iter().map(|value| value.to_bits()))
        };
        ends(a).cmp(&ends(b)).then_with(by_weight).then_with(by_label).then_with(by_row)
    });
    let mut bytes = Vec::with_capacity(16 * order.len());
    for &edge in &order {
        for end in ends(edge) {
            bytes.extend_from_slice(&end.to_le_bytes());
        }
        bytes.extend_from_slice(&weight(edge).to_bits().to_le_bytes());
    }
    digest.update((order.len() as u64).to_le_bytes());
    digest.update(&bytes);

    digest.update([u8::from(record.edge_labels.is_some())]);
    for label in order.iter().filter_map(|&edge| label(edge)) {
        digest_scalar(label, &mut digest);
    }
    digest.update([u8::from(record.node_labels.is_some())]);
    for label in record.node_labels.iter().flatten() {
        digest_scalar(label, &mut digest);
    }
    if let Some(features) = &record.features {
        digest.update((features.dim as u64).to_le_bytes());
        bytes.clear();
        bytes.extend(features.values.iter().flat_map(|value| value.to_bits().to_le_bytes()));
        digest.update(&bytes);
    }
    if let Some(features) = edge_features.filter(|_| !order.is_empty()) {
        digest.update(b"edge_x");
        digest.update((features.dim as u64).to_le_bytes());
        for &edge in &order {
            for value in features.row(edge as usize) {
                digest.update(value.to_bits().to_le_bytes());
            }
        }
    }
    digest.finalize().into()
}

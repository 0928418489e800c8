//! How many of a graph's nodes have each label, as one vector, learnt in closed form.
//!
//! Nearly all else that is said of a graph hardly grows with its size: colours are shares of nodes, and the network's sums
//! become logarithms. Yet much that is measured of molecules does, with every atom of a kind. Elsewhere counts may be chance,
//! such as which functions a run of a program happens to call, and half whitening makes it loud. With `c(G)_x` the
//! number of nodes that have the label `x`, the vector is
//!
//! ```text
//! φ(G)_i = v_iᵀ·(c(G) − μ) / √σ_i
//! ```
//!
//! the 64 leading [components](crate::components) of the counts of training graphs. Without half whitening them, the commonest label
//! would be all that counts.

use std::ops::Range;

use hg2v_math::linalg::subspace::SparseRows;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::components::Components;
use crate::error::Result;
use crate::model::Example;
use crate::saved::{Reader, Tensors};
use crate::shares::{Shares, VectorPart};

/// Numbers of `φ`, at most.
const COMPONENTS: usize = 64;

/// What was learnt of the labels of training graphs.
#[derive(Debug, Clone)]
pub struct Census {
    /// Where a node's row says which label it has.
    labels: Range<usize>,
    components: Components,
}

/// What `config.json` says of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedCensus {
    dim: usize,
}

impl Census {
    /// Learns from training graphs, whose nodes' rows have a 1 for their label in one of the columns `labels`.
    ///
    /// # Complexity
    /// With `n` graphs of `z` distinct labels in all: their nodes, then O((z + n·64)·64) time.
    pub(crate) fn fit(labels: Range<usize>, examples: &[&Example], seed: u64) -> Census {
        let counts: Vec<Vec<f32>> =
            examples.par_iter().map(|example| counts(&labels, example)).collect();
        let mut rows = SparseRows::new(labels.len());
        for counts in &counts {
            let met = counts.iter().enumerate().filter(|(_, count)| **count > 0.0);
            rows.push(met.map(|(label, count)| (label as u32, f64::from(*count))));
        }
        Census { labels, components: Components::fit(&rows, None, COMPONENTS, seed) }
    }

    /// The same with components at random: what counts are worth with nothing learnt of them.
    #[must_use]
    pub(crate) fn untrained(&self, seed: u64) -> Census {
        let components = self.components.untrained("untrained census", seed);
        Census { components, ..self.clone() }
    }

    /// Numbers of a vector.
    pub fn dim(&self) -> usize {
        self.components.dim()
    }

    /// `φ` of a graph.
    pub(crate) fn vector(&self, example: &Example) -> Vec<f32> {
        self.components.apply(&counts(&self.labels, example))
    }

    /// `Σ_i slopes_i·φ_i + constant` of a graph, divided: a node with the label `x` has
    ///
    /// ```text
    /// Σ_i slopes_i·v_(i,x)/√σ_i
    /// ```
    ///
    /// exactly, and no node the [mean](VectorPart::CensusMean) that is taken off.
    pub(crate) fn shares(&self, example: &Example, slopes: &[f64], constant: f64) -> Shares {
        let dot = |row: &[f32]| -> f64 {
            row.iter().zip(slopes).map(|(v, slope)| f64::from(*v) * slope).sum()
        };
        let mut shares = Shares::nothing(example.num_nodes());
        let mut whole = 0.0;
        for (node, share) in shares.nodes.iter_mut().enumerate() {
            let own = label(&self.labels, example, node);
            *share = own.map_or(0.0, |label| dot(self.components.row(label)));
            whole += *share;
        }
        shares.part(VectorPart::Census, whole);
        shares.constant(VectorPart::CensusMean, constant - dot(self.components.origin()));
        shares
    }

    /// What a folder keeps of it.
    pub(crate) fn saved(&self, tensors: Tensors) -> (SavedCensus, Tensors) {
        let tensors = self.components.saved("census", self.labels.len(), tensors);
        (SavedCensus { dim: self.dim() }, tensors)
    }

    /// What a folder kept, of nodes whose labels are in these columns.
    ///
    /// # Errors
    /// Tensors that are missing, or of another shape.
    pub(crate) fn of_saved(
        saved: SavedCensus,
        labels: Range<usize>,
        tensors: &mut Reader<'_>,
    ) -> Result<Census> {
        let shape = [labels.len(), saved.dim];
        let components = Components::of_saved("census", shape, tensors)?;
        Ok(Census { labels, components })
    }
}

/// `c(G)`.
fn counts(labels: &Range<usize>, example: &Example) -> Vec<f32> {
    let mut counts = vec![0.0; labels.len()];
    for node in 0..example.num_nodes() {
        if let Some(label) = label(labels, example, node) {
            counts[label] += 1.0;
        }
    }
    counts
}

/// The place of a node's label in the vocabulary; `None` of one that training never met.
fn label(labels: &Range<usize>, example: &Example, node: usize) -> Option<usize> {
    example.row(node)[labels.clone()].iter().position(|value| *value > 0.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::coarsen::Pyramid;
    use crate::graph::{Graph, GraphRecord, WeightPolicy};

    /// A graph without edges, whose nodes have a number and one of three labels, or none that is known.
    fn example(labels: &[Option<usize>]) -> Example {
        let n = labels.len() as u32;
        let record = GraphRecord { num_nodes: n, ..GraphRecord::default() };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        let mut rows = vec![0.5; 5 * labels.len()];
        for (row, label) in rows.chunks_exact_mut(5).zip(labels) {
            row[1..4].fill(0.0);
            label.iter().for_each(|label| row[1 + label] = 1.0);
        }
        Example::new(&graph, &Pyramid::without_levels(&graph), rows, 1)
    }

    fn graphs() -> Vec<Example> {
        let of = |i: usize| {
            let counts = [3 + 5 * i % 11, i % 4, 7 * i % 3];
            let labels = (0..3).flat_map(|x| vec![Some(x); counts[x]]);
            example(&labels.collect::<Vec<_>>())
        };
        (0..40).map(of).collect()
    }

    fn fitted(graphs: &[Example]) -> Census {
        Census::fit(1..4, &graphs.iter().collect::<Vec<_>>(), 3)
    }

    #[test]
    fn labels_are_counted() {
        let some = example(&[Some(2), Some(0), None, Some(2)]);
        assert_eq!(counts(&(1..4), &some), [1.0, 0.0, 2.0]);
        assert_eq!(counts(&(1..4), &example(&[])), [0.0; 3]);
    }

    /// Twice the nodes of every label are twice as far from none at all.
    #[test]
    fn vectors_grow_with_graphs() {
        let graphs = graphs();
        let census = fitted(&graphs);
        assert_eq!(census.dim(), 3);
        let labels = [Some(0), Some(0), Some(1)];
        let [none, once, twice] =
            [&[][..], &labels, &labels.repeat(2)].map(|labels| census.vector(&example(labels)));
        for i in 0..3 {
            let (one, two) = (once[i] - none[i], twice[i] - none[i]);
            assert!((two - 2.0 * one).abs() < 1e-5, "{i}");
        }
        assert_eq!(census.vector(&example(&[None])), none);
        assert_ne!(census.untrained(1).vector(&graphs[0]), census.vector(&graphs[0]));
    }

    #[test]
    fn shares_add_up_and_follow_labels() {
        let graphs = graphs();
        let census = fitted(&graphs);
        let some = example(&[Some(2), Some(0), None, Some(2)]);
        let slopes = [0.5, -2.0, 1.0];
        let whole: f64 =
            census.vector(&some).iter().zip(slopes).map(|(v, slope)| f64::from(*v) * slope).sum();
        let shares = census.shares(&some, &slopes, 0.25);
        let nodes: f64 = shares.nodes.iter().sum();
        assert!((nodes + shares.rest - whole - 0.25).abs() < 1e-5);
        assert!(
            (shares.parts.iter().map(|part| part.share).sum::<f64>() - whole - 0.25).abs() < 1e-5
        );
        assert_eq!((shares.nodes[0], shares.nodes[2]), (shares.nodes[3], 0.0));
        assert_ne!(shares.nodes[0], shares.nodes[1]);
    }
}

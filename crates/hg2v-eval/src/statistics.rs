//! Graphs as hand-made statistics: the control that every learned vector should beat.
//!
//! The *local degree profile* (Cai & Wang 2018, *A simple yet effective baseline
//! for non-attributed graph classification*) describes a node by its degree and by
//! the least, largest, mean and standard deviation of its neighbours' degrees. A
//! graph is the histogram of each of the five over its nodes, and of each of the
//! features its nodes come with: counts of node labels, histograms of attributes.
//!
//! Bins are fitted to training graphs: quantiles, so that each holds about as
//! many training nodes as another.

use hg2v::graph::{Graph, GraphRecord, Scalar};
use hg2v::prepare::Collection;
use rayon::prelude::*;

use crate::error::Result;
use crate::matrix::Matrix;

/// Bins a histogram has at most.
const BINS: usize = 16;

/// Statistics of a node that its neighbours' degrees give.
const PROFILE: usize = 5;

/// The histograms of all graphs of a collection, their bins fitted to `train`:
/// counts, beside the numbers of nodes and edges.
///
/// # Errors
/// None for graphs that were read: counts are finite.
pub fn statistics(collection: &Collection<'_>, train: &[usize]) -> Result<Matrix> {
    let records = collection.run.records;
    let columns: Vec<Vec<Vec<f64>>> = collection
        .graphs
        .par_iter()
        .zip(records)
        .map(|(graph, record)| node_columns(graph, record))
        .collect();
    let width = columns.iter().map(Vec::len).max().unwrap_or(0);
    let edges: Vec<Vec<f64>> = (0..width)
        .into_par_iter()
        .map(|column| {
            let values = train.iter().filter_map(|&i| columns[i].get(column)).flatten();
            quantiles(values.copied().collect())
        })
        .collect();
    let mut vocabulary: Vec<&Scalar> =
        train.iter().filter_map(|&i| records[i].node_labels.as_ref()).flatten().collect();
    vocabulary.sort_unstable();
    vocabulary.dedup();
    let row = |i: usize| {
        let graph = &collection.graphs[i];
        let mut row = vec![graph.num_nodes() as f64, graph.num_edges() as f64];
        for (column, edges) in edges.iter().enumerate() {
            let mut counts = vec![0.0; edges.len() + 1];
            for value in columns[i].get(column).into_iter().flatten() {
                counts[edges.partition_point(|edge| edge < value)] += 1.0;
            }
            row.extend(counts);
        }
        let mut counts = vec![0.0; vocabulary.len()];
        for label in records[i].node_labels.iter().flatten() {
            if let Ok(at) = vocabulary.binary_search(&label) {
                counts[at] += 1.0;
            }
        }
        row.extend(counts);
        row
    };
    let rows: Vec<Vec<f64>> = (0..collection.len()).into_par_iter().map(row).collect();
    Matrix::new(rows.len(), rows.first().map_or(0, Vec::len), rows.concat())
}

/// The local degree profile and the attributes, column by column.
fn node_columns(graph: &Graph, record: &GraphRecord) -> Vec<Vec<f64>> {
    let n = graph.num_nodes();
    let attributes = record.features.as_ref().map_or(0, |features| features.dim);
    let mut columns = vec![Vec::with_capacity(n); PROFILE + attributes];
    for node in 0..n {
        for (column, value) in profile(graph, node).into_iter().enumerate() {
            columns[column].push(value);
        }
        if let Some(features) = &record.features {
            for (column, value) in features.row(node).iter().enumerate() {
                columns[PROFILE + column].push(*value);
            }
        }
    }
    columns
}

/// A node's degree, and the least, largest, mean and deviation of its neighbours'.
fn profile(graph: &Graph, node: usize) -> [f64; PROFILE] {
    let degrees = || graph.neighbors(node).iter().map(|&v| graph.degree(v as usize) as f64);
    let count = graph.degree(node) as f64;
    if count == 0.0 {
        return [0.0; PROFILE];
    }
    let mean = degrees().sum::<f64>() / count;
    let variance = degrees().map(|degree| (degree - mean).powi(2)).sum::<f64>() / count;
    let least = degrees().fold(f64::INFINITY, f64::min);
    let most = degrees().fold(0.0, f64::max);
    [count, least, most, mean, variance.sqrt()]
}

/// Edges that cut `values` into at most [`BINS`] parts of about equal size.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> =
        (1..BINS).filter_map(|bin| values.get(bin * values.len() / BINS).copied()).collect();
    edges.dedup();
    // Nothing lies above the largest value.
    if edges.last() == values.last() {
        edges.pop();
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::graph::WeightPolicy;

    #[test]
    fn the_profile_of_a_star_with_a_tail() {
        // 1, 2, 3 — 0, and 3 — 4
        let record = GraphRecord {
            num_nodes: 6,
            edges: vec![[0, 1], [0, 2], [0, 3], [3, 4]],
            ..GraphRecord::default()
        };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        let third = (2.0f64 / 9.0).sqrt();
        assert_eq!(profile(&graph, 0), [3.0, 1.0, 2.0, 4.0 / 3.0, third]);
        assert_eq!(profile(&graph, 1), [1.0, 3.0, 3.0, 3.0, 0.0]);
        assert_eq!(profile(&graph, 3), [2.0, 1.0, 3.0, 2.0, 1.0]);
        assert_eq!(profile(&graph, 5), [0.0; 5]);
    }

    #[test]
    fn quantiles_split_evenly_and_skip_repeats() {
        assert_eq!(quantiles((0..32).map(f64::from).collect()).len(), 15);
        assert_eq!(quantiles(vec![1.0; 20]), Vec::<f64>::new());
        assert_eq!(quantiles(vec![0.0, 0.0, 0.0, 1.0]), [0.0]);
        assert_eq!(quantiles(Vec::new()), Vec::<f64>::new());
    }
}

//! Kernels that are sums over common labels, from an inverted index.
//!
//! `k(G, H) = Σ_x t(c_G(x), c_H(x))` with `t(a, 0) = 0`, where `c_G(x)` says how often
//! graph `G` has label `x`. Merging two sorted histograms costs their lengths for every
//! pair of graphs, most of it for labels that only one of the two has. With the graphs of
//! each label at hand a row of the matrix costs one addition for each label in common,
//! and nothing for the others.

use hg2v::context::Context;
use hg2v::progress::Stage;
use hg2v_eval::Matrix;
use hg2v_eval::error::Result;
use rayon::prelude::*;

use crate::wl::Histograms;

/// The normalised kernel `k(G, H) / √(k(G, G)·k(H, H))` among all graphs, by labels of
/// round 0, of rounds 0 and 1, and so on, of which those before round `first` are not kept;
/// 0 where a graph has no nodes.
///
/// Sums are of whole numbers, exact below 2⁵³.
///
/// # Complexity
/// Time O(Σ_x g(x)²) for labels `x` of `g(x)` graphs, and O(n²) a round to write.
pub(super) fn grams(
    histograms: &Histograms,
    first: usize,
    term: impl Fn(u32, u32) -> f64 + Sync,
    context: &Context<'_>,
) -> Result<Vec<Matrix>> {
    let graphs = &histograms.of_graph;
    let n = graphs.len();
    let index = Index::of(histograms);
    let scales: Vec<Vec<f64>> = graphs.iter().map(|rounds| scales(rounds, &term)).collect();
    let rounds = histograms.rounds + 1;
    // By round, so that a row of a matrix reads its scales one after the other.
    let scales: Vec<Vec<f64>> =
        (0..rounds).map(|round| scales.iter().map(|of| of[round]).collect()).collect();
    let mut matrices = vec![vec![0.0; n * n]; rounds - first];
    let mut rows: Vec<Vec<&mut [f64]>> = (0..n).map(|_| Vec::new()).collect();
    for matrix in &mut matrices {
        for (row, values) in rows.iter_mut().zip(matrix.chunks_exact_mut(n.max(1))) {
            row.push(values);
        }
    }
    let counter = context.counter(Stage::Comparing, n as u64);
    rows.par_iter_mut()
        .enumerate()
        .map_init(
            || vec![0.0; n],
            |sums, (i, row)| {
                sums.fill(0.0);
                for (round, (labels, scales)) in graphs[i].iter().zip(&scales).enumerate() {
                    for &(label, count) in labels {
                        for &(other, others) in index.graphs_of(label) {
                            sums[other as usize] += term(count, others);
                        }
                    }
                    if round < first {
                        continue;
                    }
                    let (own, values) = (scales[i], &mut row[round - first]);
                    for ((value, sum), scale) in values.iter_mut().zip(&*sums).zip(scales) {
                        *value = sum * (own * scale);
                    }
                    // Rounding is not to make a graph unlike itself.
                    values[i] = if own > 0.0 { 1.0 } else { 0.0 };
                }
                counter.add(1)
            },
        )
        .collect::<hg2v::Result<()>>()?;
    matrices.into_iter().map(|values| Matrix::new(n, n, values)).collect()
}

/// `1 / √k(G, G)` after each round; 0 where that is not a number.
fn scales(rounds: &[Vec<(u32, u32)>], term: &impl Fn(u32, u32) -> f64) -> Vec<f64> {
    let mut sum = 0.0;
    let mut scales = Vec::with_capacity(rounds.len());
    for labels in rounds {
        sum += labels.iter().map(|&(_, count)| term(count, count)).sum::<f64>();
        scales.push(if sum > 0.0 { sum.sqrt().recip() } else { 0.0 });
    }
    scales
}

/// The graphs of each label, ascending, with how often they have it.
struct Index {
    starts: Vec<usize>,
    entries: Vec<(u32, u32)>,
}

impl Index {
    fn of(histograms: &Histograms) -> Index {
        let mut starts = vec![0; histograms.labels + 1];
        let all = || histograms.of_graph.iter().map(|rounds| rounds.iter().flatten());
        for &(label, _) in all().flatten() {
            starts[label as usize + 1] += 1;
        }
        for label in 0..histograms.labels {
            starts[label + 1] += starts[label];
        }
        let mut next = starts.clone();
        let mut entries = vec![(0, 0); starts[histograms.labels]];
        for (graph, labels) in all().enumerate() {
            for &(label, count) in labels {
                entries[next[label as usize]] = (graph as u32, count);
                next[label as usize] += 1;
            }
        }
        Index { starts, entries }
    }

    fn graphs_of(&self, label: u32) -> &[(u32, u32)] {
        let label = label as usize;
        &self.entries[self.starts[label]..self.starts[label + 1]]
    }
}

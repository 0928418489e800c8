//! How the features of a graph's nodes are distributed, as one vector, learnt in closed form.
//!
//! A sum and a maximum say little of attributes such as coordinates: what counts is how many nodes
//! are where. With `Z` the rows of a graph's nodes, `Ã` as in a hop of the network, and `w` a
//! direction, a graph has the slices
//!
//! ```text
//! q(G)_(h,w,j) = the quantile (j + ½)/8 of the n numbers Ãʰ·Z·w,    h ∈ {0, 2, 4},  j < 8
//! ```
//!
//! in 32 directions `w` of length 1, drawn at random for each number of hops `h`. The mean square of
//! `q(G) − q(G')` is about the squared sliced Wasserstein distance between the rows of both graphs (Bonneel
//! and others 2015), as far as they differ after `h` hops: what the kernel of Togninalli and others (2019)
//! compares by optimal transport, as numbers. Hops keep what is smooth over a graph, such as coordinates,
//! and take away what is not.
//!
//! Most of these numbers say the same, how large the graph is along its longest side. The
//! vector is made of the 64 leading [components](crate::components) of the training graphs.

use hg2v_math::linalg::subspace::SparseRows;
use hg2v_math::rng::{stream, unit};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::components::Components;
use crate::error::Result;
use crate::finish::{LARGEST, ROUNDING, moments};
use crate::model::Example;
use crate::nn::BatchLevel;
use crate::saved::{Reader, Tensors};
use crate::shares::{Shares, VectorPart};

/// After how many hops nodes are looked at, ascending.
const HOPS: [usize; 3] = [0, 2, 4];

/// Directions after each number of hops.
const DIRECTIONS: usize = 32;

/// Quantiles of each.
const QUANTILES: usize = 8;

/// Numbers of `q`.
const WIDTH: usize = HOPS.len() * DIRECTIONS * QUANTILES;

/// Numbers of `φ`, at most.
const COMPONENTS: usize = 64;

/// What was learnt of the slices of training graphs.
#[derive(Debug, Clone)]
pub struct Slices {
    directions: Directions,
    /// Of `q`.
    components: Components,
}

/// What `config.json` says of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedSlices {
    dim: usize,
}

impl Slices {
    /// Learns from training graphs whose nodes have so many `features`.
    ///
    /// # Complexity
    /// Of each graph its slices, then O(n·768·64) time for `n` graphs.
    pub(crate) fn fit(features: usize, examples: &[&Example], seed: u64) -> Slices {
        let directions = Directions::drawn(features, seed);
        let all: Vec<Vec<f32>> =
            examples.par_iter().map(|example| directions.quantiles(example)).collect();
        let (means, deviations) = moments(&all.concat(), WIDTH);
        // What varies by rounding alone would be as loud as all else.
        let varying = |c: &usize| deviations[*c] > 0.0;
        let mut rows = SparseRows::new(WIDTH);
        for row in &all {
            rows.push((0..WIDTH).filter(varying).map(|c| (c as u32, f64::from(row[c]) - means[c])));
        }
        let components = Components::fit(&rows, Some(&means), COMPONENTS, seed);
        Slices { directions, components }
    }

    /// The same with components at random: what slices are worth with nothing learnt of them.
    #[must_use]
    pub(crate) fn untrained(&self, seed: u64) -> Slices {
        let components = self.components.untrained("untrained slices", seed);
        Slices { components, ..self.clone() }
    }

    /// Numbers of a vector.
    pub fn dim(&self) -> usize {
        self.components.dim()
    }

    /// `φ` of a graph. One without nodes is at the mean.
    pub(crate) fn vector(&self, example: &Example) -> Vec<f32> {
        match example.num_nodes() {
            0 => vec![0.0; self.dim()],
            _ => self.components.apply(&self.directions.quantiles(example)),
        }
    }

    /// What a folder keeps of them.
    pub(crate) fn saved(&self, mut tensors: Tensors) -> (SavedSlices, Tensors) {
        let Directions { features, after } = &self.directions;
        for (directions, hops) in after.iter().zip(HOPS) {
            let name = format!("slices.directions.{hops}");
            tensors = tensors.with(name, &[*features, DIRECTIONS], directions.iter().copied());
        }
        let tensors = self.components.saved("slices", WIDTH, tensors);
        (SavedSlices { dim: self.dim() }, tensors)
    }

    /// What a folder kept, of nodes with so many `features`.
    ///
    /// # Errors
    /// Tensors that are missing, or of another shape.
    pub(crate) fn of_saved(
        saved: SavedSlices,
        features: usize,
        tensors: &mut Reader<'_>,
    ) -> Result<Slices> {
        let mut after = HOPS.map(|_| Vec::new());
        for (own, hops) in after.iter_mut().zip(HOPS) {
            *own = tensors.take(&format!("slices.directions.{hops}"), &[features, DIRECTIONS])?;
        }
        let components = Components::of_saved("slices", [WIDTH, saved.dim], tensors)?;
        Ok(Slices { directions: Directions { features, after }, components })
    }

    /// `Σ_i slopes_i·φ_i + constant` of a graph, divided. Each quantile lies a share `β` of the way from the
    /// number of a node `a` to that of a node `b`:
    ///
    /// ```text
    /// Σ_i slopes_i·φ_i = Σ_(h,w,j) p_(h,w,j)·((1 − β)·(Ãʰ·Z·w)_a + β·(Ãʰ·Z·w)_b) − pᵀ·μ
    /// p = Σ_i slopes_i·v_i/√σ_i
    /// ```
    ///
    /// Each number of hops has the summands of its quantiles, and each node those of its own numbers; nodes
    /// whose numbers are the same up to rounding share alike. A number counts for the node that has it, whatever its neighbours gave
    /// to it. `−pᵀ·μ` is a [part](VectorPart::SlicesMean) that no node has. A graph without nodes is at the mean, and has
    /// the `constant` alone.
    ///
    /// # Complexity
    /// As of the vector.
    pub(crate) fn shares(&self, example: &Example, slopes: &[f64], constant: f64) -> Shares {
        let n = example.num_nodes();
        let dot = |row: &[f32]| -> f64 {
            row.iter().zip(slopes).map(|(v, slope)| f64::from(*v) * slope).sum()
        };
        let by_quantile = |q: usize| dot(self.components.row(q));
        let mut shares = Shares::nothing(n);
        for (after, hops) in HOPS.into_iter().enumerate() {
            let seen = if n > 0 { self.directions.seen(example, after) } else { Vec::new() };
            let mut of_hops = 0.0;
            for direction in 0..if n > 0 { DIRECTIONS } else { 0 } {
                let number = |node: usize| seen[node * DIRECTIONS + direction];
                let mut order: Vec<usize> = (0..n).collect();
                order.sort_unstable_by(|&a, &b| number(a).total_cmp(&number(b)).then(a.cmp(&b)));
                // By how much the whole grows with each of the ascending numbers.
                let mut grows = vec![0.0; n];
                for j in 0..QUANTILES {
                    let p = by_quantile((after * DIRECTIONS + direction) * QUANTILES + j);
                    let (below, above, share) = between(n, j);
                    grows[below] += p * (1.0 - share);
                    grows[above] += p * share;
                }
                let largest = order.iter().fold(0.0f32, |most, &v| most.max(number(v).abs()));
                let rounding = ROUNDING * f64::from(largest);
                let (mut order, mut grows) = (&order[..], &grows[..]);
                while let Some(&first) = order.first() {
                    // Not one with the next, and so on, which might be all of many nodes.
                    let apart = |v: usize| f64::from(number(v)) - f64::from(number(first));
                    let alike = order.iter().take_while(|&&v| apart(v) <= rounding).count().max(1);
                    let (own, count) = (order[..alike].iter(), alike as f64);
                    let adds =
                        own.clone().zip(grows).map(|(&v, grows)| grows * f64::from(number(v)));
                    let adds: f64 = adds.sum();
                    of_hops += adds;
                    own.for_each(|&v| shares.nodes[v] += adds / count);
                    (order, grows) = (&order[alike..], &grows[alike..]);
                }
            }
            shares.part(VectorPart::Slices { hops }, of_hops);
        }
        let origin = if n > 0 { dot(self.components.origin()) } else { 0.0 };
        shares.constant(VectorPart::SlicesMean, constant - origin);
        shares
    }
}

/// In which directions rows are looked at.
#[derive(Debug, Clone)]
struct Directions {
    /// Numbers of a node.
    features: usize,
    /// After each number of hops: a row of [`DIRECTIONS`] numbers for each feature.
    after: [Vec<f32>; HOPS.len()],
}

impl Directions {
    fn drawn(features: usize, seed: u64) -> Directions {
        Directions { features, after: HOPS.map(|hops| drawn(features, hops, seed)) }
    }

    /// `q`: of a graph without nodes, zeros.
    ///
    /// # Complexity
    /// With `F` features: time O(n·F + m + n·log n) for each direction, memory O(n) for each of 32.
    fn quantiles(&self, example: &Example) -> Vec<f32> {
        if example.num_nodes() == 0 {
            return vec![0.0; WIDTH];
        }
        let mut quantiles = Vec::with_capacity(WIDTH);
        for after in 0..HOPS.len() {
            let seen = self.seen(example, after);
            let mut column = Vec::with_capacity(example.num_nodes());
            for direction in 0..DIRECTIONS {
                column.clear();
                column.extend(seen[direction..].iter().step_by(DIRECTIONS));
                column.sort_unstable_by(f32::total_cmp);
                quantiles.extend((0..QUANTILES).map(|j| quantile(&column, j)));
            }
        }
        quantiles
    }

    /// `Ãʰ·Z·W`, after the hops at this place of [`HOPS`].
    fn seen(&self, example: &Example, after: usize) -> Vec<f32> {
        let seen = product(&example.features, self.features, &self.after[after]);
        (0..HOPS[after]).fold(seen, |seen, _| hop(&example.batch.levels[0], &seen))
    }
}

/// Directions of length 1, none of them likelier than another: twelve uniform numbers together are
/// normal enough, and the same on every machine.
fn drawn(features: usize, hops: usize, seed: u64) -> Vec<f32> {
    let rng = &mut stream(seed, "slices", hops as u64, 0);
    let mut normal = || (0..12).map(|_| unit(rng)).sum::<f64>() - 6.0;
    let drawn: Vec<f64> = (0..features * DIRECTIONS).map(|_| normal()).collect();
    let mut lengths = [0.0; DIRECTIONS];
    for row in drawn.chunks_exact(DIRECTIONS) {
        lengths.iter_mut().zip(row).for_each(|(length, value)| *length += value * value);
    }
    let own = drawn.iter().zip(lengths.iter().cycle());
    own.map(|(value, length)| (value / length.sqrt()) as f32).collect()
}

/// `Z·W`, of all directions.
fn product(rows: &[f32], features: usize, directions: &[f32]) -> Vec<f32> {
    let nodes = rows.len().checked_div(features).unwrap_or(0);
    let mut seen = vec![0.0; nodes * DIRECTIONS];
    for (seen, row) in seen.chunks_exact_mut(DIRECTIONS).zip(rows.chunks_exact(features.max(1))) {
        for (value, along) in row.iter().zip(directions.chunks_exact(DIRECTIONS)) {
            let value = value.clamp(-LARGEST, LARGEST);
            seen.iter_mut().zip(along).for_each(|(seen, along)| *seen += value * along);
        }
    }
    seen
}

/// `Ã·X`.
fn hop(level: &BatchLevel, from: &[f32]) -> Vec<f32> {
    let mut to = vec![0.0; from.len()];
    for (node, to) in to.chunks_exact_mut(DIRECTIONS).enumerate() {
        for (other, weight) in level.row(node) {
            let row = &from[other * DIRECTIONS..][..DIRECTIONS];
            to.iter_mut().zip(row).for_each(|(to, from)| *to += weight * from);
        }
    }
    to
}

/// The quantile (j + ½)/8 of ascending numbers, of which there are some, between the two that are nearest to it.
fn quantile(ascending: &[f32], j: usize) -> f32 {
    let (below, above, share) = between(ascending.len(), j);
    ascending[below] + share as f32 * (ascending[above] - ascending[below])
}

/// Between which two of `n` ascending numbers the quantile (j + ½)/8 lies, and how far on the way from
/// the first to the second.
fn between(n: usize, j: usize) -> (usize, usize, f64) {
    let last = n - 1;
    let place = (j as f64 + 0.5) / QUANTILES as f64 * n as f64 - 0.5;
    let place = place.clamp(0.0, last as f64);
    let below = place as usize;
    (below, (below + 1).min(last), place.fract())
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::*;
    use crate::coarsen::Pyramid;
    use crate::graph::{Graph, GraphRecord, WeightPolicy};

    fn example(n: u32, edges: Vec<[u32; 2]>, features: Vec<f32>) -> Example {
        let record = GraphRecord { num_nodes: n, edges, ..GraphRecord::default() };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        Example::new(&graph, &Pyramid::without_levels(&graph), features, 1)
    }

    /// `q` as the equation has it, in double precision, with `Ã` as a dense matrix.
    fn naive(slices: &Slices, edges: &[[u32; 2]], n: usize, rows: &[f32]) -> Vec<f64> {
        let mut a = vec![vec![0.0; n]; n];
        for &[u, v] in edges {
            (a[u as usize][v as usize], a[v as usize][u as usize]) = (1.0, 1.0);
        }
        (0..n).for_each(|v| a[v][v] = 1.0);
        let degrees: Vec<f64> = a.iter().map(|row| row.iter().sum()).collect();
        let mut all = Vec::new();
        for (directions, hops) in slices.directions.after.iter().zip(HOPS) {
            for direction in 0..DIRECTIONS {
                let along = |v: usize, f: usize| {
                    let weight = directions[f * DIRECTIONS + direction];
                    f64::from(rows[v * slices.directions.features + f]) * f64::from(weight)
                };
                let mut x: Vec<f64> = (0..n)
                    .map(|v| (0..slices.directions.features).map(|f| along(v, f)).sum())
                    .collect();
                for _ in 0..hops {
                    let entry = |u: usize, v: usize| a[u][v] / (degrees[u] * degrees[v]).sqrt();
                    x = (0..n).map(|u| (0..n).map(|v| entry(u, v) * x[v]).sum()).collect();
                }
                x.sort_by(f64::total_cmp);
                for j in 0..QUANTILES {
                    // Numbers stand at (i + ½)/n; beyond the first and the last nothing changes.
                    let place = (j as f64 + 0.5) / QUANTILES as f64;
                    let at = |i: usize| (i as f64 + 0.5) / n as f64;
                    let next = (0..n).find(|&i| at(i) >= place);
                    all.push(match next {
                        None => x[n - 1],
                        Some(0) => x[0],
                        Some(i) => {
                            let share = (place - at(i - 1)) / (at(i) - at(i - 1));
                            x[i - 1] + share * (x[i] - x[i - 1])
                        }
                    });
                }
            }
        }
        all
    }

    #[test]
    fn quantiles_are_those_of_the_equation() {
        for n in [1, 2, 5, 8, 21] {
            let edges: Vec<[u32; 2]> = (1..n).map(|v| [v / 2, v]).collect();
            let rng = &mut stream(u64::from(n), "test", 0, 0);
            let rows: Vec<f32> = (0..3 * n).map(|_| unit(rng) as f32 - 0.5).collect();
            let slices = Slices::fit(3, &[], 7);
            let made = slices.directions.quantiles(&example(n, edges.clone(), rows.clone()));
            let expected = naive(&slices, &edges, n as usize, &rows);
            assert_eq!(made.len(), WIDTH);
            for (made, expected) in made.iter().zip(&expected) {
                assert!((f64::from(*made) - expected).abs() < 1e-5, "{n}: {made} {expected}");
            }
        }
    }

    #[test]
    fn directions_have_length_one_and_differ() {
        let slices = Slices::fit(5, &[], 1);
        for directions in &slices.directions.after {
            for direction in 0..DIRECTIONS {
                let own = (0..5).map(|f| directions[f * DIRECTIONS + direction]);
                assert!((own.map(|w| w * w).sum::<f32>() - 1.0).abs() < 1e-6);
            }
        }
        assert_ne!(slices.directions.after[0], slices.directions.after[1]);
        assert_ne!(slices.directions.after, Slices::fit(5, &[], 2).directions.after);
    }

    /// Two heaps of nodes at −1 and 1, or all at 0: the sums are alike, the distributions are not.
    #[test]
    fn distributions_with_the_same_sum_are_told_apart() {
        let apart = [-1.0, 1.0].repeat(8);
        let slices = Slices::fit(1, &[], 3);
        let made = [apart, vec![0.0; 16]]
            .map(|rows| slices.directions.quantiles(&example(16, vec![], rows)));
        assert!(made[1].iter().all(|value| *value == 0.0));
        assert!(made[0].iter().all(|value| value.abs() > 0.99));
    }

    /// Thirty paths with nodes anywhere.
    fn paths() -> Vec<Example> {
        let path = |i: u32| {
            let rng = &mut stream(u64::from(i), "test", 0, 0);
            let n = 4 + i % 9;
            let rows = (0..2 * n).map(|_| unit(rng) as f32 * (1 + i % 4) as f32).collect();
            example(n, (1..n).map(|v| [v - 1, v]).collect(), rows)
        };
        (0..30).map(path).collect()
    }

    #[test]
    fn components_are_uncorrelated_and_vary_by_the_root_of_what_they_did() {
        let paths = paths();
        let all: Vec<&Example> = paths.iter().collect();
        let slices = Slices::fit(2, &all, 5);
        assert!(slices.dim() > 5 && slices.dim() < 30);
        let made = all.iter().map(|example| slices.vector(example)).collect::<Vec<_>>().concat();
        let dot = |a: usize, b: usize| -> f64 {
            let rows = made.chunks_exact(slices.dim());
            rows.map(|row| f64::from(row[a]) * f64::from(row[b])).sum::<f64>() / 30.0
        };
        // The variance of q along each component, by the lengths of the table's columns: 1/√σ.
        for i in 0..slices.dim() {
            let column = (0..WIDTH).map(|number| slices.components.row(number)[i]);
            let length = column.map(|v| f64::from(v).powi(2)).sum::<f64>();
            let sigma = length.recip();
            assert!((dot(i, i) / sigma - 1.0).abs() < 1e-3, "{i}");
            assert!((0..i).all(|j| dot(i, j).abs() < 1e-4 * dot(0, 0)), "{i}");
        }
    }

    /// Where hops do nothing, a node's share is its row's product with the gradient for it: quantiles are
    /// as large as the rows.
    #[test]
    fn a_share_is_how_much_the_whole_grows_with_a_row() {
        let paths = paths();
        let slices = Slices::fit(2, &paths.iter().collect::<Vec<_>>(), 5);
        let slopes: Vec<f64> = (0..slices.dim()).map(|i| (i as f64).cos()).collect();
        let n = 7;
        let rng = &mut stream(1, "test", 0, 0);
        let rows: Vec<f32> = (0..2 * n).map(|_| unit(rng) as f32 - 0.3).collect();
        // Whether of all hops or of some, by their quantiles.
        let whole = |rows: &[f32], hops: Range<usize>| -> f64 {
            let q = naive(&slices, &[], n, rows);
            let of_hops = DIRECTIONS * QUANTILES;
            let p = |q: usize| -> f64 {
                let row = slices.components.row(q);
                row.iter().zip(&slopes).map(|(v, slope)| f64::from(*v) * slope).sum()
            };
            (hops.start * of_hops..hops.end * of_hops).map(|i| p(i) * q[i]).sum()
        };
        let shares = slices.shares(&example(n as u32, vec![], rows.clone()), &slopes, 0.25);
        let step = 1.0 / 4096.0;
        for v in 0..n {
            let mut larger = rows.clone();
            larger[2 * v..][..2].iter_mut().for_each(|value| *value *= 1.0 + step);
            let grows = (whole(&larger, 0..3) - whole(&rows, 0..3)) / f64::from(step);
            assert!((shares.nodes[v] - grows).abs() < 5e-3, "{v}: {} {grows}", shares.nodes[v]);
        }
        for (after, hops) in HOPS.into_iter().enumerate() {
            let share = shares.parts[after];
            assert_eq!(share.part, VectorPart::Slices { hops });
            assert!((share.share - whole(&rows, after..after + 1)).abs() < 1e-4, "{hops}");
        }
        let origin =
            slices.components.origin().iter().zip(&slopes).map(|(v, slope)| f64::from(*v) * slope);
        assert!((shares.rest - (0.25 - origin.sum::<f64>())).abs() < 1e-9);
        assert_eq!(
            (shares.parts[3].part, shares.parts[3].share),
            (VectorPart::SlicesMean, shares.rest)
        );
    }

    /// However nodes are numbered; where two cannot be told apart, they have the same.
    #[test]
    fn shares_belong_to_nodes_and_not_to_their_numbers() {
        let paths = paths();
        let slices = Slices::fit(2, &paths.iter().collect::<Vec<_>>(), 5);
        let slopes: Vec<f64> = (0..slices.dim()).map(|i| (i as f64).sin()).collect();
        // A path that reads the same from both ends, and itself from its middle on.
        let rows: [[f32; 2]; 5] = [[0.1, -1.0], [0.7, 0.2], [0.3, 0.9], [0.7, 0.2], [0.1, -1.0]];
        let share = |order: [usize; 5]| -> Vec<f64> {
            let mut edges: Vec<[u32; 2]> = Vec::new();
            let place = |v: usize| order.iter().position(|own| *own == v).unwrap() as u32;
            (1..5).for_each(|v| edges.push([place(v - 1), place(v)]));
            let own = order.iter().flat_map(|&v| rows[v]).collect();
            let nodes = slices.shares(&example(5, edges, own), &slopes, 0.0).nodes;
            (0..5).map(|v| nodes[place(v) as usize]).collect()
        };
        let plain = share([0, 1, 2, 3, 4]);
        for (v, other) in share([2, 4, 0, 3, 1]).iter().enumerate() {
            assert!((plain[v] - other).abs() < 1e-4, "{v}: {plain:?}");
        }
        assert!((plain[0] - plain[4]).abs() < 1e-4 && (plain[1] - plain[3]).abs() < 1e-4);
        assert!((plain[0] - plain[1]).abs() > 1e-2, "{plain:?}");
    }

    #[test]
    fn numbers_without_bounds_say_numbers() {
        let paths = paths();
        let slices = Slices::fit(2, &paths.iter().collect::<Vec<_>>(), 0);
        let huge = example(3, vec![[0, 1], [1, 2]], [f32::MAX, f32::MIN].repeat(3));
        assert!(slices.vector(&huge).iter().all(|value| value.is_finite()));
    }

    #[test]
    fn what_is_rounding_says_nothing() {
        let rows: Vec<f32> = (0..12).map(|i| (i as f32 * 0.7).sin()).collect();
        let same = |i: u32| {
            let mut rows = rows.clone();
            rows[0] *= 1.0 + i as f32 * f32::EPSILON;
            example(6, vec![], rows)
        };
        let same: Vec<Example> = (0..5).map(same).collect();
        let all: Vec<&Example> = same.iter().collect();
        assert_eq!(Slices::fit(2, &all, 1).dim(), 0);
    }

    #[test]
    fn a_graph_without_nodes_is_at_the_mean_and_no_graphs_teach_nothing() {
        let (mut all, empty) = (paths(), example(0, vec![], vec![]));
        all.push(empty.clone());
        let slices = Slices::fit(2, &all.iter().collect::<Vec<_>>(), 0);
        assert_eq!(slices.vector(&empty), vec![0.0; slices.dim()]);
        assert_eq!(Slices::fit(2, &[], 0).dim(), 0);
    }
}

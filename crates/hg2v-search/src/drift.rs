//! Whether two sets of vectors come from the same place.
//!
//! The energy distance of two sets of `n` and `m` vectors is
//!
//! ```text
//! E = 2·mean ‖x − y‖ − mean ‖x − x'‖ − mean ‖y − y'‖
//! ```
//!
//! with means over all pairs, a vector with itself included. It is never negative,
//! and 0 for equal sets. How large it is by chance is seen by mixing both sets and
//! dividing them anew: the p-value is the share of divisions, the given one among
//! them, whose distance is at least as large.
//!
//! G. Székely and M. Rizzo, *Energy statistics*, 2013.

use hg2v::error::{Error, Result};
use hg2v_math::gemm::{self, View, ViewMut};
use hg2v_math::linalg::vector::{dot, normalize};
use hg2v_math::parallel::crew;
use hg2v_math::rng;
use rayon::prelude::*;
use serde::Serialize;

use crate::scale::StandardScaler;
use crate::space::Metric;

/// Of more vectors than this in both sets together some are drawn at random: all
/// pairs are looked at for every division.
pub const MOST: usize = 16_384;

/// Rows whose distances to all are held at once.
const BLOCK: usize = 64;

/// What was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Drift {
    /// The energy distance.
    pub energy: f64,
    /// `E / (2·mean ‖x − y‖)`: between 0 for equal sets and 1.
    pub share: f64,
    /// The share of divisions whose distance is at least as large.
    pub p_value: f64,
    /// Divisions, without the given one.
    pub permutations: usize,
    /// Vectors of the first set that were compared.
    pub first: usize,
    /// Vectors of the second set that were compared.
    pub second: usize,
}

/// Brings every column of the first set to mean 0 and variance 1, and those of the second, which it is
/// judged by, alike.
pub fn standardise(dim: usize, first: &mut [f32], second: &mut [f32]) {
    let scale = StandardScaler::of(first, dim);
    scale.apply(first);
    scale.apply(second);
}

/// Compares two sets of vectors of `dim` numbers each, by `permutations` divisions.
///
/// # Errors
/// A set without vectors, or no divisions or more than a million.
///
/// # Complexity
/// `O(N² · (dim + permutations))` time for `N` vectors in both sets, and `O(N · dim)` space beside
/// some 2²⁴ numbers: divisions that do not fit at once measure the distances again.
///
/// # Examples
/// ```
/// use hg2v_search::Metric;
/// use hg2v_search::drift::drift;
/// let old: Vec<f32> = (0..20).map(|i| (i % 5) as f32).collect();
/// let new: Vec<f32> = old.iter().map(|x| x + 10.0).collect();
/// assert!(drift(1, &old, &new, Metric::Euclidean, 99, 7)?.p_value < 0.05);
/// assert!(drift(1, &old, &old, Metric::Euclidean, 99, 7)?.p_value > 0.5);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn drift(
    dim: usize,
    first: &[f32],
    second: &[f32],
    metric: Metric,
    permutations: usize,
    seed: u64,
) -> Result<Drift> {
    if !(1..=1_000_000).contains(&permutations) {
        let requirement = "it must be between 1 and 1000000";
        return Err(Error::parameter("permutations", permutations, requirement));
    }
    for (name, set) in [("the first set", first), ("the second set", second)] {
        if set.is_empty() {
            return Err(Error::argument(name, "empty", "it takes at least one vector"));
        }
    }
    let (first, second) = (sampled(dim, first, 0, seed), sampled(dim, second, 1, seed));
    let (n, m) = (first.len() / dim, second.len() / dim);
    let points = Points::new(dim, [first, second].concat(), metric);
    let part = |division: usize| -> Vec<u32> {
        let mut all: Vec<u32> = (0..(n + m) as u32).collect();
        if division > 0 {
            rng::shuffle(&mut all, &mut rng::stream(seed, "drift", 0, division as u64));
        }
        all.truncate(n);
        all
    };
    // As many divisions at a time as take a bounded amount of memory; the given one first.
    let at_once = ((1 << 24) / (n + m)).clamp(1, 4096);
    let mut energies = Vec::with_capacity(permutations + 1);
    for start in (0..=permutations).step_by(at_once) {
        let parts: Vec<Vec<u32>> = (start..=permutations).take(at_once).map(part).collect();
        energies.extend(Sums::of(&points, &parts).energies(n, m));
    }
    let (given, between) = energies[0];
    // Equal up to the rounding of sums in another order is as large.
    let least = given - 1e-12 * between.abs();
    let as_large = energies[1..].iter().filter(|(energy, _)| *energy >= least).count();
    Ok(Drift {
        energy: given.max(0.0),
        share: if between > 0.0 { (given / (2.0 * between)).clamp(0.0, 1.0) } else { 0.0 },
        p_value: (as_large + 1) as f64 / (permutations + 1) as f64,
        permutations,
        first: n,
        second: m,
    })
}

/// At most half of [`MOST`] of the vectors, in their order, each set equally likely.
fn sampled(dim: usize, set: &[f32], which: u64, seed: u64) -> Vec<f32> {
    let mut rng = rng::stream(seed, "drift sample", 0, which);
    let kept = rng::sample_without_replacement(set.len() / dim, MOST / 2, &mut rng);
    kept.into_iter().flat_map(|at| &set[at * dim..(at + 1) * dim]).copied().collect()
}

/// Vectors made ready for products: moved to their mean, or scaled to length 1.
struct Points {
    dim: usize,
    metric: Metric,
    rows: Vec<f64>,
    squares: Vec<f64>,
}

impl Points {
    fn new(dim: usize, rows: Vec<f32>, metric: Metric) -> Points {
        let means = StandardScaler::of(&rows, dim).means;
        let mut rows: Vec<f64> = rows.into_iter().map(f64::from).collect();
        for row in rows.chunks_exact_mut(dim) {
            match metric {
                Metric::Euclidean => row.iter_mut().zip(&means).for_each(|(x, mean)| *x -= mean),
                Metric::Cosine => {
                    normalize(row);
                }
            }
        }
        let squares = rows.chunks_exact(dim).map(|row| dot(row, row)).collect();
        Points { dim, metric, rows, squares }
    }

    fn len(&self) -> usize {
        self.squares.len()
    }

    /// The distances of `count` points from `start` on to all.
    fn distances(&self, start: usize, count: usize) -> Vec<f64> {
        let (dim, total) = (self.dim, self.len());
        let mut distances = vec![0.0; count * total];
        let own = View::new(&self.rows[start * dim..], count, dim, dim);
        let all = View::new(&self.rows, total, dim, dim).t();
        gemm::product(own, all, 0.0, ViewMut::new(&mut distances, count, total, total));
        for (i, row) in distances.chunks_exact_mut(total).enumerate() {
            for (j, value) in row.iter_mut().enumerate() {
                *value = match self.metric {
                    Metric::Cosine => (1.0 - *value).max(0.0),
                    Metric::Euclidean if start + i == j => 0.0,
                    Metric::Euclidean => {
                        let square = self.squares[start + i] + self.squares[j] - 2.0 * *value;
                        square.max(0.0).sqrt()
                    }
                };
            }
        }
        distances
    }
}

/// Sums of distances of several divisions: of each, those within its first part and
/// those of its first part to all; and those of all to all.
///
/// With `z` the vector that is 1 for the first part and 0 for the second, and `D` all
/// distances, they are `zᵀDz`, `zᵀD1` and `1ᵀD1`.
struct Sums {
    within: Vec<f64>,
    of_first: Vec<f64>,
    all: f64,
}

impl Sums {
    fn of(points: &Points, parts: &[Vec<u32>]) -> Sums {
        let (total, columns) = (points.len(), parts.len());
        let mut z = vec![0.0; total * columns];
        for (column, part) in parts.iter().enumerate() {
            part.iter().for_each(|&row| z[row as usize * columns + column] = 1.0);
        }
        let view = View::new(&z, total, columns, columns);
        let block = |start: usize| {
            let rows = BLOCK.min(total - start);
            let distances = points.distances(start, rows);
            let mut products = vec![0.0; rows * columns];
            let to = ViewMut::new(&mut products, rows, columns, columns);
            gemm::product(View::new(&distances, rows, total, total), view, 0.0, to);
            let zeros = vec![0.0; columns];
            let mut sums = Sums { within: zeros.clone(), of_first: zeros, all: 0.0 };
            for i in 0..rows {
                let sum: f64 = distances[i * total..(i + 1) * total].iter().sum();
                sums.all += sum;
                let z = &z[(start + i) * columns..][..columns];
                for (column, z) in z.iter().enumerate() {
                    sums.within[column] += z * products[i * columns + column];
                    sums.of_first[column] += z * sum;
                }
            }
            sums
        };
        let starts: Vec<usize> = (0..total).step_by(BLOCK).collect();
        let blocks: Vec<Sums> =
            starts.into_par_iter().map(|start| crew::alone(|| block(start))).collect();
        let zeros = vec![0.0; columns];
        let mut sums = Sums { within: zeros.clone(), of_first: zeros, all: 0.0 };
        for more in blocks {
            sums.within.iter_mut().zip(more.within).for_each(|(sum, more)| *sum += more);
            sums.of_first.iter_mut().zip(more.of_first).for_each(|(sum, more)| *sum += more);
            sums.all += more.all;
        }
        sums
    }

    /// Of each division into `n` and `m` the energy distance, and the mean distance
    /// between its parts.
    fn energies(&self, n: usize, m: usize) -> Vec<(f64, f64)> {
        let (n, m) = (n as f64, m as f64);
        let energy = |(within, of_first): (&f64, &f64)| {
            let between = of_first - within;
            let other = self.all - within - 2.0 * between;
            let mean = between / (n * m);
            (2.0 * mean - within / (n * n) - other / (m * m), mean)
        };
        self.within.iter().zip(&self.of_first).map(energy).collect()
    }
}

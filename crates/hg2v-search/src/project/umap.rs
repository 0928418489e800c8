//! UMAP: points of a plane whose neighbourhoods overlap as those of the vectors do.

use hg2v::context::Context;
use hg2v::error::{Error, Result};
use hg2v::progress::{Report, Stage};
use hg2v_math::rng;
use rand::RngExt;
use rayon::prelude::*;

use super::tsne::{Row, joined};
use super::{Point, start};
use crate::neighbor_graph::NeighborGraph;
use crate::space::Neighbor;

/// How UMAP is run. The defaults are umap-learn's, but for its initial points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Umap {
    /// Neighbours of a vector, itself among them.
    pub neighbors: usize,
    /// Passes over all pairs; `None` takes 500, or 200 beyond ten thousand vectors.
    pub epochs: Option<usize>,
    /// Seeds every random decision.
    pub seed: u64,
}

hg2v_math::setters!(Umap { neighbors: usize, epochs: Option<usize>, seed: u64 });

impl Default for Umap {
    fn default() -> Umap {
        Umap { neighbors: 15, epochs: None, seed: 0 }
    }
}

impl Umap {
    /// How many neighbours of each of `rows` vectors it looks at, itself not among them.
    ///
    /// # Errors
    /// A number of neighbours outside its domain.
    pub fn neighbors_needed(&self, rows: usize) -> Result<usize> {
        if !(2..=10_000).contains(&self.neighbors) {
            return Err(Error::parameter(
                "neighbors",
                self.neighbors,
                "it must be between 2 and 10000",
            ));
        }
        Ok(self.neighbors.min(rows).max(2) - 1)
    }
}

/// `1/(1 + A·d^2B)` is nearest to 1 up to a distance of 0.1 and `exp(0.1 − d)` beyond:
/// umap-learn's fit for its defaults.
const A: f64 = 1.576_943_460_405_378;
const B: f64 = 0.895_060_878_122_785_9;

/// Points pushed away for each that is pulled.
const NEGATIVES: usize = 5;

/// Two coordinates for each row of a neighbour graph, beginning at `places`.
///
/// Each vector sees its neighbours `j` through `exp(−(d_ij − ρ_i)/σ_i)`, with `ρ` the
/// distance of the nearest and `σ` such that they add up to `log₂(neighbors)`; two views
/// `a` and `b` of a pair join to `w = a + b − ab`. Points begin at `places`, which are to be the
/// first two principal components; pairs pull each other, a pair of weight `w` in `w / max w` of all epochs,
/// and push random others away, as in the gradient of the cross entropy between `w` and
/// `1/(1 + A·‖y_i − y_j‖^2B)`. One thread does it, in the order of the pairs.
///
/// L. McInnes, J. Healy and J. Melville, *UMAP: uniform manifold approximation and
/// projection*, 2018.
///
/// # Errors
/// Fewer than 2 neighbours; a graph that is not Euclidean, has other rows than `places`, or
/// fewer neighbours than are [needed](Umap::neighbors_needed); [`Stopped`](Error::Stopped).
///
/// # Complexity
/// `O(n · neighbors)` time an epoch.
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v_search::project::{Umap, pca, umap};
/// use hg2v_search::{Index, IndexKind, Metric, Space};
/// // Two groups far apart.
/// let rows: Vec<f32> = (0..40).map(|i| (i % 7) as f32 + if i < 20 { 0.0 } else { 90.0 }).collect();
/// let (params, context) = (Umap::default().neighbors(5), Context::default());
/// let space = Space::new(2, rows.clone(), Metric::Euclidean)?;
/// let index = Index::new(space, IndexKind::Exact, 0, &context)?;
/// let graph = index.neighbor_graph(params.neighbors_needed(20)?)?;
/// let points = umap(&graph, &pca(2, &rows, 2)?.points(), &params, &context)?;
/// assert_eq!(points.len(), 20);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn umap(
    graph: &NeighborGraph,
    places: &[Point],
    params: &Umap,
    context: &Context<'_>,
) -> Result<Vec<Point>> {
    let n = places.len();
    let k = params.neighbors_needed(n)?;
    graph.check(n, k)?;
    let mut y = start(places, 5.0);
    if n < 3 {
        return Ok(y);
    }
    let seen: Vec<Row> =
        (0..n).into_par_iter().map(|row| views(graph.nearest(row, k), k + 1)).collect();
    let pairs = joined(&seen, |a, b| a + b - a * b);
    let epochs = params.epochs.unwrap_or(if n <= 10_000 { 500 } else { 200 });
    let largest = pairs.iter().flatten().map(|(_, w)| *w).fold(0.0, f64::max);

    // Each pair twice, once from each side; those too light to be met once are left out.
    let edges: Vec<(usize, usize, f64)> = (pairs.iter().enumerate())
        .flat_map(|(i, row)| row.iter().map(move |&(j, w)| (i, j as usize, w / largest)))
        .filter(|(_, _, w)| *w * epochs as f64 >= 1.0)
        .collect();
    let mut rng = rng::stream(params.seed, "umap", 0, 0);
    for epoch in 0..epochs {
        let rate = 1.0 - epoch as f64 / epochs as f64;
        for &(i, j, w) in &edges {
            // Met whenever its weight, added up over the epochs, reaches the next whole number.
            let (before, now) = (w * epoch as f64, w * (epoch + 1) as f64);
            if before.floor() == now.floor() {
                continue;
            }
            let d = [y[i][0] - y[j][0], y[i][1] - y[j][1]];
            let square = d[0] * d[0] + d[1] * d[1];
            if square > 0.0 {
                let pull = -2.0 * A * B * square.powf(B - 1.0) / (1.0 + A * square.powf(B));
                for c in 0..2 {
                    let step = rate * (pull * d[c]).clamp(-4.0, 4.0);
                    y[i][c] += step;
                    y[j][c] -= step;
                }
            }
            for _ in 0..NEGATIVES {
                let other = rng.random_range(0..n);
                if other == i {
                    continue;
                }
                let d = [y[i][0] - y[other][0], y[i][1] - y[other][1]];
                let square = d[0] * d[0] + d[1] * d[1];
                if square > 0.0 {
                    let push = 2.0 * B / ((0.001 + square) * (1.0 + A * square.powf(B)));
                    for c in 0..2 {
                        y[i][c] += rate * (push * d[c]).clamp(-4.0, 4.0);
                    }
                }
            }
        }
        context.tell(&Report::of(Stage::Umap, epoch as u64 + 1, epochs as u64))?;
    }
    Ok(y)
}

/// How much a vector sees of each neighbour.
fn views(near: &[Neighbor], neighbors: usize) -> Row {
    let target = (neighbors as f64).log2();
    let rho = near.iter().map(|near| near.distance).find(|d| *d > 0.0).unwrap_or(0.0);
    let view = |distance: f64, sigma: f64| match distance - rho {
        beyond if beyond <= 0.0 => 1.0,
        beyond => (-beyond / sigma).exp(),
    };
    let (mut low, mut high, mut sigma) = (0.0, f64::INFINITY, 1.0);
    for _ in 0..64 {
        let sum: f64 = near.iter().map(|near| view(near.distance, sigma)).sum();
        if (sum - target).abs() < 1e-5 {
            break;
        }
        if sum > target {
            high = sigma;
            sigma = 0.5 * (low + high);
        } else {
            low = sigma;
            sigma = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * sigma };
        }
    }
    let mean = near.iter().map(|near| near.distance).sum::<f64>() / near.len().max(1) as f64;
    let sigma = sigma.max(1e-3 * mean).max(f64::MIN_POSITIVE);
    near.iter().map(|near| (near.position as u32, view(near.distance, sigma))).collect()
}

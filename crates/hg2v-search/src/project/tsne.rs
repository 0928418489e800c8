//! t-SNE: points of a plane whose neighbours are those of the vectors.

use hg2v::context::Context;
use hg2v::error::{Error, Result};
use hg2v::progress::{Report, Stage};
use rayon::prelude::*;

use super::tree::Tree;
use super::{Point, start};
use crate::neighbor_graph::NeighborGraph;
use crate::space::Neighbor;

/// How t-SNE is run. The defaults are scikit-learn's, but for its initial points.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Tsne {
    /// How many neighbours a vector has, more or less.
    pub perplexity: f64,
    /// Steps, of which the first quarter exaggerates how near neighbours are.
    pub steps: usize,
    /// How coarsely far points are seen: 0 sees each.
    pub theta: f64,
}

hg2v_math::setters!(Tsne { perplexity: f64, steps: usize, theta: f64 });

impl Default for Tsne {
    fn default() -> Tsne {
        Tsne { perplexity: 30.0, steps: 1000, theta: 0.5 }
    }
}

impl Tsne {
    /// How many neighbours of each of `rows` vectors it looks at.
    ///
    /// # Errors
    /// A perplexity or theta outside its domain.
    pub fn neighbors_needed(&self, rows: usize) -> Result<usize> {
        if !(self.perplexity >= 1.0 && self.perplexity <= 1e4) {
            return Err(Error::parameter(
                "perplexity",
                self.perplexity,
                "it must be between 1 and 10000",
            ));
        }
        if !(0.0..=1.0).contains(&self.theta) {
            return Err(Error::argument("theta", self.theta, "it must be between 0 and 1"));
        }
        Ok(((3.0 * self.perplexity_among(rows)) as usize).clamp(1, rows.max(2) - 1))
    }

    /// No vector has more neighbours than a third of the others.
    fn perplexity_among(&self, rows: usize) -> f64 {
        self.perplexity.min(rows.saturating_sub(1) as f64 / 3.0).max(1.0)
    }
}

/// Positions and weights.
pub(super) type Row = Vec<(u32, f64)>;

const EXAGGERATION: f64 = 12.0;

/// Two coordinates for each row of a neighbour graph, beginning at `places`.
///
/// With `p_ij` the probability that `i` names `j` a neighbour, averaged both ways, and
/// `q_ij ∝ 1/(1 + ‖y_i − y_j‖²)` the same in the plane, the points `y` go downhill on
/// `Σ p_ij·log(p_ij/q_ij)`:
///
/// ```text
/// ∂/∂y_i = 4·Σ_j (p_ij − q_ij)·(y_i − y_j)/(1 + ‖y_i − y_j‖²)
/// ```
///
/// Only the nearest `3·perplexity` of each have a `p`, and far points act together. The
/// points begin at `places`, which are to be the first two principal components.
///
/// L. van der Maaten, *Accelerating t-SNE using tree-based algorithms*, 2014.
///
/// # Errors
/// A perplexity or theta outside its domain; a graph that is not Euclidean, has other rows
/// than `places`, or fewer neighbours than are [needed](Tsne::neighbors_needed);
/// [`Stopped`](Error::Stopped).
///
/// # Complexity
/// `O(n · log n)` time a step.
///
/// # Examples
/// Those of the [module](super).
pub fn tsne(
    graph: &NeighborGraph,
    places: &[Point],
    params: &Tsne,
    context: &Context<'_>,
) -> Result<Vec<Point>> {
    let n = places.len();
    let k = params.neighbors_needed(n)?;
    graph.check(n, k)?;
    let mut y = start(places, 1e-4);
    if n < 3 {
        return Ok(y);
    }
    let perplexity = params.perplexity_among(n);
    let seen: Vec<Row> = (0..n)
        .into_par_iter()
        .map(|row| probabilities(graph.nearest(row, k), perplexity))
        .collect();
    let p = symmetric(&seen);

    let rate = (n as f64 / EXAGGERATION / 4.0).max(50.0);
    let mut speeds = vec![[0.0; 2]; n];
    let mut gains = vec![[1.0f64; 2]; n];
    for step in 0..params.steps {
        let early = step < params.steps / 4;
        let (exaggeration, momentum) = if early { (EXAGGERATION, 0.5) } else { (1.0, 0.8) };
        let tree = Tree::new(&y);
        let pushes: Vec<(f64, Point)> = y.par_iter().map(|&y| tree.push(y, params.theta)).collect();
        // A point does not push itself.
        let total: f64 =
            pushes.iter().map(|(sum, _)| sum - 1.0).sum::<f64>().max(f64::MIN_POSITIVE);
        let gradient = |i: usize| -> Point {
            let mut pull = [0.0; 2];
            for &(j, p) in &p[i] {
                let d = [y[i][0] - y[j as usize][0], y[i][1] - y[j as usize][1]];
                let q = exaggeration * p / (1.0 + d[0] * d[0] + d[1] * d[1]);
                pull[0] += q * d[0];
                pull[1] += q * d[1];
            }
            let push = pushes[i].1;
            [0, 1].map(|c| 4.0 * (pull[c] - push[c] / total))
        };
        let gradients: Vec<Point> = (0..n).into_par_iter().map(gradient).collect();
        for i in 0..n {
            for c in 0..2 {
                let (gain, speed, slope) = (&mut gains[i][c], &mut speeds[i][c], gradients[i][c]);
                // Faster where the way is straight, slower where it turns.
                *gain = if (slope > 0.0) == (*speed > 0.0) {
                    (*gain * 0.8).max(0.01)
                } else {
                    *gain + 0.2
                };
                *speed = momentum * *speed - rate * *gain * slope;
                y[i][c] += *speed;
            }
        }
        let mean = [0, 1].map(|c| y.iter().map(|y| y[c]).sum::<f64>() / n as f64);
        y.iter_mut().for_each(|y| [0, 1].iter().for_each(|&c| y[c] -= mean[c]));
        context.tell(&Report::of(Stage::Tsne, step as u64 + 1, params.steps as u64))?;
    }
    Ok(y)
}

/// `p_j ∝ exp(−β·d_j²)`, with the β for which their entropy is that of `perplexity`
/// equal ones.
fn probabilities(near: &[Neighbor], perplexity: f64) -> Row {
    let squares: Vec<f64> = near.iter().map(|near| near.distance * near.distance).collect();
    let least = squares.first().copied().unwrap_or(0.0);
    let (mut low, mut high) = (0.0, f64::INFINITY);
    let typical = squares.iter().sum::<f64>() / squares.len().max(1) as f64 - least;
    let mut beta = if typical > 0.0 { 1.0 / typical } else { 1.0 };
    let mut weights = Vec::new();
    for _ in 0..64 {
        weights = squares.iter().map(|d| (-beta * (d - least)).exp()).collect::<Vec<f64>>();
        let sum: f64 = weights.iter().sum();
        let mean: f64 =
            squares.iter().zip(&weights).map(|(d, w)| (d - least) * w).sum::<f64>() / sum;
        let off = sum.ln() + beta * mean - perplexity.ln();
        if off.abs() < 1e-5 {
            break;
        }
        if off > 0.0 {
            low = beta;
            beta = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * beta };
        } else {
            high = beta;
            beta = 0.5 * (low + high);
        }
    }
    let sum: f64 = weights.iter().sum();
    near.iter().zip(weights).map(|(near, w)| (near.position as u32, w / sum)).collect()
}

/// `(p_ij + p_ji) / 2n` of each row, by position.
fn symmetric(rows: &[Row]) -> Vec<Row> {
    let n = rows.len() as f64;
    joined(rows, |own, back| (own + back) / (2.0 * n))
}

/// Every pair that either row names, with both weights joined, by position.
pub(super) fn joined(rows: &[Row], join: impl Fn(f64, f64) -> f64 + Sync) -> Vec<Row> {
    let mut backs: Vec<Row> = vec![Vec::new(); rows.len()];
    for (i, row) in rows.iter().enumerate() {
        row.iter().for_each(|&(j, weight)| backs[j as usize].push((i as u32, weight)));
    }
    let both = |(own, back): (&Row, &Row)| {
        let mut all: Vec<(u32, f64, f64)> = own.iter().map(|&(j, w)| (j, w, 0.0)).collect();
        all.extend(back.iter().map(|&(j, w)| (j, 0.0, w)));
        all.sort_by_key(|entry| entry.0);
        let pairs = all.chunk_by(|a, b| a.0 == b.0);
        pairs
            .map(|pair| {
                let own: f64 = pair.iter().map(|entry| entry.1).sum();
                let back: f64 = pair.iter().map(|entry| entry.2).sum();
                (pair[0].0, join(own, back))
            })
            .collect()
    };
    rows.par_iter().zip(&backs).map(both).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_perplexity_is_what_was_asked_for() {
        let near: Vec<Neighbor> =
            (1..60).map(|i| Neighbor { position: i, distance: (i as f64).sqrt() }).collect();
        let p = probabilities(&near, 12.0);
        let entropy: f64 = -p.iter().map(|(_, p)| p * p.ln()).sum::<f64>();
        assert!((entropy.exp() - 12.0).abs() < 1e-3);
        assert!((p.iter().map(|(_, p)| p).sum::<f64>() - 1.0).abs() < 1e-12);
    }
}

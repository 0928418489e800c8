//! Vectors, and how far apart two of them are.

use hg2v::error::{Error, Result};
use hg2v_math::Real;
use rayon::prelude::*;
use serde::Serialize;

use crate::scale::StandardScaler;

/// How far two vectors are apart.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Metric {
    /// `1 − xᵀy / (‖x‖·‖y‖)`; a zero vector is at distance 1 from all.
    Cosine,
    /// `‖x − y‖`
    Euclidean,
}

hg2v::vocabulary! { Metric, "metric":
    Cosine => "cosine", "1 less the cosine of their angle";
    Euclidean => "euclidean", "the length of their difference";
}

/// A row of a space, and how far it is from what was asked about.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Neighbor {
    /// Which row.
    pub position: usize,
    /// How far.
    pub distance: f64,
}

impl Neighbor {
    /// Nearer first; of rows equally far the earlier.
    pub(crate) fn order(&self, other: &Neighbor) -> std::cmp::Ordering {
        self.distance.total_cmp(&other.distance).then(self.position.cmp(&other.position))
    }
}

/// Vectors of as many numbers each, and a metric between them.
///
/// Distances are computed in double precision from the rows themselves, in one
/// order of summation. Beside each row stands its shadow in single precision, moved
/// to the mean of all (Euclidean) or scaled to length 1 (cosine): matrix products of
/// shadows say quickly which rows cannot be near.
#[derive(Debug, Clone)]
pub struct Space<R = f32> {
    pub(crate) dim: usize,
    pub(crate) rows: Vec<R>,
    pub(crate) metric: Metric,
    /// What was done to the rows, and is to be done to what is asked about.
    scale: Option<StandardScaler>,
    /// `‖x‖²` of each row.
    pub(crate) squares: Vec<f64>,
    caster: Caster,
    pub(crate) shadows: Shadows,
}

/// Rows in single precision, and what is known about the error of their products.
///
/// With `u` and `v` two shadows, `½‖v‖² − uᵀv` (Euclidean) or `−uᵀv` (cosine) orders
/// rows as their distances do.
#[derive(Debug, Clone, Default)]
pub(crate) struct Shadows {
    pub(crate) rows: Vec<f32>,
    /// `½‖v‖²`, or 0 for cosine.
    pub(crate) halves: Vec<f32>,
    /// The error of `halves − uᵀv` is at most the slack of `u` and that of `v` together.
    pub(crate) slacks: Vec<f32>,
}

/// How rows become shadows.
#[derive(Debug, Clone)]
struct Caster {
    /// What is taken off.
    mean: Vec<f64>,
    /// What is multiplied with: a power of 2, so that squares neither overflow nor vanish.
    factor: f64,
}

impl<R: Real> Space<R> {
    /// The space of the vectors in `rows`, one after the other, of `dim` numbers each.
    ///
    /// # Errors
    /// Vectors without numbers, or more than 2³² of them.
    pub fn new(dim: usize, rows: Vec<R>, metric: Metric) -> Result<Space<R>> {
        Space::build(dim, rows, metric, None)
    }

    /// As [`new`](Space::new), with every column at mean 0 and variance 1.
    ///
    /// # Errors
    /// As [`new`](Space::new).
    pub fn standardised(dim: usize, mut rows: Vec<R>, metric: Metric) -> Result<Space<R>> {
        let scale = StandardScaler::of(&rows, dim);
        scale.apply(&mut rows);
        Space::build(dim, rows, metric, Some(scale))
    }

    fn build(
        dim: usize,
        rows: Vec<R>,
        metric: Metric,
        scale: Option<StandardScaler>,
    ) -> Result<Space<R>> {
        let refused =
            |what, value, requirement: &str| Err(Error::argument(what, value, requirement));
        if dim == 0 {
            return refused(
                "the length of the vectors",
                dim,
                "vectors without numbers cannot be told apart",
            );
        }
        if rows.len() / dim >= u32::MAX as usize {
            return refused(
                "the number of vectors",
                rows.len() / dim,
                "at most 4294967294 can be searched",
            );
        }
        if !rows.len().is_multiple_of(dim) {
            return refused(
                "the number of numbers",
                rows.len(),
                &format!("a multiple of {dim} numbers is needed"),
            );
        }
        let squares = rows.par_chunks_exact(dim).map(|row| dot(row, row)).collect();
        let caster = match metric {
            Metric::Cosine => Caster { mean: vec![0.0; dim], factor: 1.0 },
            Metric::Euclidean => Caster::around(&rows, dim),
        };
        let shadows = Shadows::default();
        let mut space = Space { dim, rows, metric, scale, squares, caster, shadows };
        space.shadows = space.cast(&space.rows);
        Ok(space)
    }

    /// How many vectors.
    pub fn len(&self) -> usize {
        self.squares.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.squares.is_empty()
    }

    /// Numbers a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// How far vectors are apart.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// What was done to every column, if anything.
    pub fn scale(&self) -> Option<&StandardScaler> {
        self.scale.as_ref()
    }

    /// Vector `i`, as it lies in the space.
    pub fn row(&self, i: usize) -> &[R] {
        &self.rows[i * self.dim..(i + 1) * self.dim]
    }

    /// The vectors, one after the other, as they lie in the space.
    pub fn into_rows(self) -> Vec<R> {
        self.rows
    }

    /// Vectors from elsewhere as they lie in this space: scaled as its own were.
    ///
    /// # Errors
    /// Vectors of another length.
    pub fn placed(&self, vectors: &[R]) -> Result<Vec<R>> {
        if !vectors.len().is_multiple_of(self.dim) {
            let requirement =
                format!("it must be a multiple of {}, the numbers a vector", self.dim);
            return Err(Error::argument("the number of numbers", vectors.len(), requirement));
        }
        let mut vectors = vectors.to_vec();
        if let Some(scale) = &self.scale {
            scale.apply(&mut vectors);
        }
        Ok(vectors)
    }

    /// How far a placed vector, whose `‖x‖²` is `square`, is from row `i`.
    pub(crate) fn distance_to(&self, x: &[R], square: f64, i: usize) -> f64 {
        match self.metric {
            Metric::Euclidean => squared_distance(x, self.row(i)).sqrt(),
            Metric::Cosine => {
                // The root of a square is exact, so that equal vectors are at distance 0.
                let product = square * self.squares[i];
                let lengths = match product.is_normal() {
                    true => product.sqrt(),
                    false => square.sqrt() * self.squares[i].sqrt(),
                };
                let cosine = if lengths > 0.0 { dot(x, self.row(i)) / lengths } else { 0.0 };
                (1.0 - cosine).max(0.0)
            }
        }
    }

    /// How far two rows are apart.
    pub fn distance(&self, i: usize, j: usize) -> f64 {
        self.distance_to(self.row(i), self.squares[i], j)
    }

    /// What half the squared distance of shadows, or 1 less their cosine, is at most
    /// where rows are at most `distance` apart.
    pub(crate) fn reach(&self, distance: f64) -> f32 {
        let reach = match self.metric {
            Metric::Euclidean => 0.5 * (distance * self.caster.factor).powi(2),
            Metric::Cosine => distance,
        };
        // Rounded up, whatever `as` does.
        (reach * (1.0 + f64::from(f32::EPSILON))) as f32 + f32::MIN_POSITIVE
    }

    /// The shadows of placed vectors.
    pub(crate) fn cast(&self, vectors: &[R]) -> Shadows {
        let mut shadows = Shadows {
            rows: vec![0.0; vectors.len()],
            halves: vec![0.0; vectors.len() / self.dim],
            slacks: vec![0.0; vectors.len() / self.dim],
        };
        // What rounding can do to a sum of products and to the factors: a bound on
        // |fl(uᵀv) − uᵀv| is d·ε·‖u‖·‖v‖ ≤ d·ε·(½‖u‖² + ½‖v‖²); the rest is for the
        // rounding of the shadows themselves and of the last subtraction.
        let epsilon = f64::from(f32::EPSILON) * (self.dim as f64 + 64.0);
        shadows
            .rows
            .par_chunks_exact_mut(self.dim)
            .zip(&mut shadows.halves)
            .zip(&mut shadows.slacks)
            .zip(vectors.par_chunks_exact(self.dim))
            .for_each(|(((shadow, half), slack), row)| {
                let length = match self.metric {
                    Metric::Cosine => dot(row, row).sqrt(),
                    Metric::Euclidean => 1.0 / self.caster.factor,
                };
                let scale = if length > 0.0 { 1.0 / length } else { 0.0 };
                let mut square = 0.0;
                for ((shadow, value), mean) in shadow.iter_mut().zip(row).zip(&self.caster.mean) {
                    let moved = (value.to_f64() - mean) * scale;
                    square += moved * moved;
                    // Beyond what a shadow can hold it is far from everything in any case.
                    *shadow = (moved as f32).clamp(f32::MIN, f32::MAX);
                }
                *slack = (epsilon * (0.5 * square) + f64::from(f32::MIN_POSITIVE)) as f32;
                if self.metric == Metric::Euclidean {
                    *half = (0.5 * square) as f32;
                }
            });
        shadows
    }
}

impl Caster {
    /// Moves rows to their mean.
    fn around<R: Real>(rows: &[R], dim: usize) -> Caster {
        let n = (rows.len() / dim).max(1) as f64;
        let mut mean = vec![0.0; dim];
        let mut largest: f64 = 0.0;
        for row in rows.chunks_exact(dim) {
            for (mean, value) in mean.iter_mut().zip(row) {
                *mean += value.to_f64() / n;
                largest = largest.max(value.to_f64().abs());
            }
        }
        let factor = if largest > 0.0 { (-largest.log2().ceil()).exp2() } else { 1.0 };
        Caster { mean, factor }
    }
}

/// `‖x‖²`.
pub(crate) fn square<R: Real>(x: &[R]) -> f64 {
    dot(x, x)
}

/// Partial sums of a double-precision sum: a fixed number.
const LANES: usize = 8;

fn summed<R: Real>(x: &[R], y: &[R], term: impl Fn(f64, f64) -> f64) -> f64 {
    let mut sums = [0.0; LANES];
    let (x8, x_rest) = x.as_chunks::<LANES>();
    let (y8, y_rest) = y.as_chunks::<LANES>();
    for (a, b) in x8.iter().zip(y8) {
        for lane in 0..LANES {
            sums[lane] += term(a[lane].to_f64(), b[lane].to_f64());
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| term(a.to_f64(), b.to_f64())).sum();
    let [a, b, c, d, e, f, g, h] = sums;
    ((a + e) + (b + f)) + ((c + g) + (d + h)) + rest
}

/// `xᵀy` in double precision.
pub(crate) fn dot<R: Real>(x: &[R], y: &[R]) -> f64 {
    summed(x, y, |a, b| a * b)
}

/// `‖x − y‖²` in double precision.
pub(crate) fn squared_distance<R: Real>(x: &[R], y: &[R]) -> f64 {
    summed(x, y, |a, b| (a - b) * (a - b))
}

//! Principal components: the directions in which vectors differ most.

use hg2v::error::{Error, Result};
use hg2v_math::gemm::{self, View, ViewMut};
use hg2v_math::linalg::dense::symmetric_eigen;
use hg2v_math::linalg::tridiagonal;
use hg2v_math::linalg::vector::{axpy, dot, normalize, start_value};
use rayon::prelude::*;

use super::Point;
use crate::scale::StandardScaler;

/// Rows that are added up by themselves, so that sums never depend on threads.
const BLOCK: usize = 512;

/// Up to so many rows or columns the whole spectrum is computed.
const DENSE: usize = 768;

/// A Ritz pair is accepted when its residual, relative to the largest value, is below this.
const TOLERANCE: f64 = 1e-9;

/// Principal components.
#[derive(Debug, Clone, PartialEq)]
pub struct Pca {
    /// How many there are.
    pub count: usize,
    /// The directions, one after the other, each of length 1. The number of largest
    /// magnitude of each is positive.
    pub components: Vec<f64>,
    /// The variance along each, largest first (divided by n − 1).
    pub variances: Vec<f64>,
    /// The variance along all directions together.
    pub total_variance: f64,
    /// `count` coordinates for each vector, one vector after the other.
    pub coordinates: Vec<f64>,
}

impl Pca {
    /// The first two coordinates of each vector; 0 where there are fewer.
    pub fn points(&self) -> Vec<Point> {
        let one = |row: &[f64]| [0, 1].map(|c| row.get(c).copied().unwrap_or(0.0));
        match self.count {
            0 => Vec::new(),
            count => self.coordinates.chunks_exact(count).map(one).collect(),
        }
    }
}

/// The first `count` principal components of vectors of `dim` numbers each, or as many
/// as there are.
///
/// With `X` the vectors less their mean, they are the eigenvectors of `XᵀX` of largest
/// eigenvalues: computed from all of `XᵀX` or `XXᵀ` where one is small, by Lanczos
/// steps otherwise.
///
/// # Errors
/// Vectors that are not whole, and a spectrum that does not settle.
///
/// # Complexity
/// `O(n · dim · s)` time for `s` of some dozen steps, `O(n · dim)` space.
///
/// # Examples
/// ```
/// use hg2v_search::project::pca;
/// // Points of a line: one direction has all the variance.
/// let found = pca(2, &[0.0, 0.0, 1.0, 2.0, 2.0, 4.0], 2)?;
/// assert!((found.variances[0] - found.total_variance).abs() < 1e-9);
/// assert!((found.components[1] / found.components[0] - 2.0).abs() < 1e-6);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn pca(dim: usize, vectors: &[f32], count: usize) -> Result<Pca> {
    let n = super::count(dim, vectors)?;
    let count = count.min(dim).min(n);
    let centred = Centred { dim, rows: vectors, means: StandardScaler::of(vectors, dim).means };
    let squares: Vec<f64> = centred.blocks(|rows| rows.iter().map(|x| x * x).sum());
    let total: f64 = squares.iter().sum();
    let mut components = if count == 0 || total == 0.0 {
        Vec::new()
    } else if n.min(dim) <= DENSE {
        centred.whole_spectrum(count).ok_or_else(unsettled)?
    } else {
        centred.by_steps(count, total).ok_or_else(unsettled)?
    };
    // Directions in which nothing differs are left: any will do, and these are the same
    // every time.
    components.resize(count * dim, 0.0);
    components.chunks_exact_mut(dim).for_each(fix_sign);
    let coordinates = centred.coordinates(&components, count);
    let freedom = n.saturating_sub(1).max(1) as f64;
    let variance = |c: usize| {
        let own = coordinates.iter().skip(c).step_by(count.max(1));
        own.map(|x| x * x).sum::<f64>() / freedom
    };
    let variances = (0..count).map(variance).collect();
    Ok(Pca { count, components, variances, total_variance: total / freedom, coordinates })
}

fn unsettled() -> Error {
    Error::argument(
        "the set of vectors",
        "such",
        "its principal components do not settle; standardise it",
    )
}

/// The number of largest magnitude, the first of several, becomes positive.
fn fix_sign(component: &mut [f64]) {
    let largest =
        component.iter().copied().fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a });
    if largest < 0.0 {
        component.iter_mut().for_each(|x| *x = -*x);
    }
}

/// Vectors less their mean, without a copy of all of them.
struct Centred<'a> {
    dim: usize,
    rows: &'a [f32],
    means: Vec<f64>,
}

impl Centred<'_> {
    fn len(&self) -> usize {
        self.rows.len() / self.dim
    }

    /// What `job` makes of blocks of rows, in order.
    fn blocks<T: Send>(&self, job: impl Fn(&[f64]) -> T + Sync) -> Vec<T> {
        self.rows.par_chunks(BLOCK * self.dim).map(|rows| job(&self.moved(rows))).collect()
    }

    /// Some rows, less the mean.
    fn moved(&self, rows: &[f32]) -> Vec<f64> {
        let moved = |row: &[f32]| -> Vec<f64> {
            row.iter().zip(&self.means).map(|(x, mean)| f64::from(*x) - mean).collect()
        };
        rows.chunks_exact(self.dim).flat_map(moved).collect()
    }

    /// The eigenvectors of largest eigenvalues, from all of `XᵀX` or `XXᵀ`.
    fn whole_spectrum(&self, count: usize) -> Option<Vec<f64>> {
        let (n, dim) = (self.len(), self.dim);
        let small = n.min(dim);
        let mut gram = vec![0.0; small * small];
        if dim <= n {
            for rows in self.rows.chunks(BLOCK * dim) {
                let rows = self.moved(rows);
                let view = View::new(&rows, rows.len() / dim, dim, dim);
                gemm::product(view.t(), view, 1.0, ViewMut::new(&mut gram, dim, dim, dim));
            }
        } else {
            let rows = self.blocks(<[f64]>::to_vec).concat();
            let view = View::new(&rows, n, dim, dim);
            gemm::product(view, view.t(), 0.0, ViewMut::new(&mut gram, n, n, n));
        }
        // The smallest eigenvalues of −A are the largest of A.
        gram.iter_mut().for_each(|x| *x = -*x);
        let (_, vectors) = symmetric_eigen(&mut gram, small, count)?;
        if dim <= n {
            return Some(vectors);
        }
        // From u of XXᵀ to Xᵀu / ‖Xᵀu‖ of XᵀX.
        let mut components = Vec::with_capacity(count * dim);
        for u in vectors.chunks_exact(n) {
            let mut component = self.transposed(u);
            normalize(&mut component);
            components.extend(component);
        }
        Some(components)
    }

    /// `Xᵀu`.
    fn transposed(&self, u: &[f64]) -> Vec<f64> {
        let starts: Vec<usize> = (0..self.len()).step_by(BLOCK).collect();
        let block = |start: usize| {
            let mut sum = vec![0.0; self.dim];
            let end = (start + BLOCK).min(self.len());
            for i in start..end {
                let row = &self.rows[i * self.dim..(i + 1) * self.dim];
                for ((sum, x), mean) in sum.iter_mut().zip(row).zip(&self.means) {
                    *sum += u[i] * (f64::from(*x) - mean);
                }
            }
            sum
        };
        let sums: Vec<Vec<f64>> = starts.into_par_iter().map(block).collect();
        let mut all = vec![0.0; self.dim];
        sums.iter().for_each(|sum| axpy(1.0, sum, &mut all));
        all
    }

    /// `XᵀXv`.
    fn squared(&self, v: &[f64]) -> Vec<f64> {
        let u = self.blocks(|rows| {
            rows.chunks_exact(self.dim).map(|row| dot(row, v)).collect::<Vec<f64>>()
        });
        self.transposed(&u.concat())
    }

    /// The eigenvectors of largest eigenvalues of `XᵀX`, by Lanczos steps: every new
    /// vector is made orthogonal to all before it, twice.
    fn by_steps(&self, count: usize, total: f64) -> Option<Vec<f64>> {
        let dim = self.dim;
        let most = self.len().min(dim);
        let mut basis: Vec<f64> = Vec::new();
        let (mut alphas, mut betas): (Vec<f64>, Vec<f64>) = (Vec::new(), Vec::new());
        let mut next: Vec<f64> = (0..dim as u64).map(start_value).collect();
        normalize(&mut next);
        loop {
            basis.extend_from_slice(&next);
            let mut image = self.squared(&next);
            alphas.push(dot(&image, &next));
            for _ in 0..2 {
                for v in basis.chunks_exact(dim) {
                    axpy(-dot(&image, v), v, &mut image);
                }
            }
            let beta = normalize(&mut image);
            let steps = alphas.len();
            let exhausted = steps == most || beta <= f64::EPSILON * total;
            if exhausted || (steps >= 3 * count + 8 && steps.is_multiple_of(8)) {
                // Ascending: the largest come last.
                let (mut d, mut e) = (alphas.clone(), betas.clone());
                let mut z = vec![0.0; steps * steps];
                (0..steps).for_each(|i| z[i * steps + i] = 1.0);
                if !tridiagonal::eigen(&mut d, &mut e, &mut z, steps) {
                    return None;
                }
                let largest: Vec<&[f64]> = z.chunks_exact(steps).rev().take(count).collect();
                let rest = |s: &&[f64]| (beta * s[steps - 1]).abs() <= TOLERANCE * d[steps - 1];
                if exhausted || largest.iter().all(rest) {
                    let mut components = Vec::with_capacity(count * dim);
                    for s in largest {
                        let mut component = vec![0.0; dim];
                        for (v, weight) in basis.chunks_exact(dim).zip(s) {
                            axpy(*weight, v, &mut component);
                        }
                        normalize(&mut component);
                        components.extend(component);
                    }
                    return Some(components);
                }
            }
            betas.push(beta);
            next = image;
        }
    }

    /// `X·W` for the directions `W`.
    fn coordinates(&self, components: &[f64], count: usize) -> Vec<f64> {
        let of_row = |row: &[f64]| {
            (0..count).map(|c| dot(row, &components[c * self.dim..(c + 1) * self.dim])).collect()
        };
        let blocks = self.blocks(|rows| -> Vec<f64> {
            rows.chunks_exact(self.dim).flat_map(|row| -> Vec<f64> { of_row(row) }).collect()
        });
        blocks.concat()
    }
}

//! From kernels with landmarks to vectors: which graphs become landmarks, and the projection
//! that [`vectors`](super::vectors) derives.

use hg2v::error::Result;
use hg2v_math::linalg::dense::symmetric_eigen;
use hg2v_math::linalg::vector::{axpy, dot};
use hg2v_math::rng::{stream, unit};
use rayon::prelude::*;

/// Residuals below this share of the largest kernel, and directions below this share of the
/// largest, are rounding.
const LEAST: f64 = 1e-9;

/// A kernel among graphs, `K ≈ F·Fᵀ`, by a few of them.
///
/// Randomly pivoted Cholesky (Chen, Epperly, Tropp and Webber 2023): the next landmark is drawn
/// in proportion to how much of each graph those before it do not explain,
/// `k(g, g) − ‖F_g‖²`. A graph like one that was drawn is never drawn.
#[derive(Debug, Clone)]
pub(super) struct Factor {
    /// The landmarks, in the order drawn.
    pub(super) pivots: Vec<usize>,
    /// How many graphs.
    n: usize,
    /// `F`, a column of `n` for each landmark.
    columns: Vec<f64>,
}

impl Factor {
    /// The factor of a kernel by at most `most` of its graphs. Only the kernel's `diagonal` is
    /// looked at, and the `row` of each landmark.
    ///
    /// # Errors
    /// Those of `row`.
    ///
    /// # Complexity
    /// With `m` landmarks among `n` graphs: `m` rows; time O(n·m²), memory O(n·m).
    pub(super) fn new(
        diagonal: Vec<f64>,
        mut row: impl FnMut(usize) -> Result<Vec<f64>>,
        most: usize,
        seed: u64,
    ) -> Result<Factor> {
        let n = diagonal.len();
        let mut rng = stream(seed, "landmarks", 0, 0);
        let mut residuals: Vec<f64> = diagonal.iter().map(|own| own.max(0.0)).collect();
        let least = LEAST * residuals.iter().copied().fold(0.0, f64::max);
        let mut factor = Factor { pivots: Vec::new(), n, columns: Vec::new() };
        while factor.pivots.len() < most {
            let total: f64 = residuals.iter().sum();
            let Some(pivot) = drawn(&residuals, unit(&mut rng) * total) else { break };
            let kernels = row(pivot)?;
            let scale = residuals[pivot].sqrt();
            let shares: Vec<f64> =
                factor.columns.chunks_exact(n).map(|column| column[pivot]).collect();
            let column: Vec<f64> = (0..n)
                .into_par_iter()
                .map(|i| {
                    let explained = factor.columns.chunks_exact(n).zip(&shares);
                    let explained: f64 = explained.map(|(column, share)| share * column[i]).sum();
                    (kernels[i] - explained) / scale
                })
                .collect();
            for (residual, value) in residuals.iter_mut().zip(&column) {
                *residual -= value * value;
                if *residual <= least {
                    *residual = 0.0;
                }
            }
            residuals[pivot] = 0.0;
            factor.columns.extend(column);
            factor.pivots.push(pivot);
        }
        Ok(factor)
    }

    fn column(&self, landmark: usize) -> &[f64] {
        &self.columns[landmark * self.n..][..self.n]
    }

    /// `Fᵀ·F`.
    fn covariance(&self) -> Vec<f64> {
        let m = self.pivots.len();
        let rows = (0..m).into_par_iter().flat_map_iter(|i| {
            (0..m).map(move |j| dot(self.column(i.max(j)), self.column(i.min(j))))
        });
        rows.collect()
    }
}

/// Where the running sum of `weights` passes `at`, among those above zero.
fn drawn(weights: &[f64], at: f64) -> Option<usize> {
    let mut sum = 0.0;
    let mut last = None;
    for (i, weight) in weights.iter().enumerate().filter(|(_, weight)| **weight > 0.0) {
        last = Some(i);
        sum += weight;
        if sum > at {
            break;
        }
    }
    last
}

/// What takes the kernels with `m` landmarks to `d` numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Projection {
    /// Numbers of a vector.
    pub(super) dim: usize,
    /// `L^(−T)·V_d·Q`: a row of `dim` for each landmark.
    pub(super) rows: Vec<f64>,
}

impl Projection {
    /// The projection to at most `dim` numbers; fewer where graphs differ in fewer directions.
    /// `None` where a kernel is not a number.
    ///
    /// # Complexity
    /// With `n` graphs and `m` landmarks: time O(n·m² + m³), memory O(m²).
    pub(super) fn new(factor: &Factor, dim: usize, seed: u64) -> Option<Projection> {
        let m = factor.pivots.len();
        // The largest of C are the smallest of −C − c·I, with c no smaller than any: eigenvalues
        // that are 0 but for rounding are then alike, and the solver need not tell them apart.
        let mut negated = factor.covariance();
        let row = |row: &[f64]| row.iter().map(|value| value.abs()).sum::<f64>();
        let c = negated.chunks_exact(m.max(1)).map(row).fold(0.0, f64::max);
        negated.iter_mut().for_each(|value| *value = -*value);
        (0..m).for_each(|i| negated[i * m + i] -= c);
        let (mut values, vectors) = symmetric_eigen(&mut negated, m, dim.min(m))?;
        values.iter_mut().for_each(|value| *value = -*value - c);
        let largest = values.first().copied().unwrap_or(0.0);
        let kept = values.iter().take(dim.min(m)).take_while(|value| **value > LEAST * largest);
        let dim = kept.count();
        let rotation = orthogonal(dim, seed);
        // L, the factor's rows of the landmarks themselves, column after column.
        let lower: Vec<f64> = (0..m)
            .flat_map(|j| factor.pivots.iter().map(move |&pivot| factor.column(j)[pivot]))
            .collect();
        let solved: Vec<Vec<f64>> = (0..dim)
            .into_par_iter()
            .map(|number| {
                let mut column = vec![0.0; m];
                for direction in 0..dim {
                    let share = rotation[direction * dim + number];
                    axpy(share, &vectors[direction * m..][..m], &mut column);
                }
                for i in (0..m).rev() {
                    let own = &lower[i * m..][..m];
                    let below = dot(&own[i + 1..], &column[i + 1..]);
                    column[i] = (column[i] - below) / own[i];
                }
                column
            })
            .collect();
        let rows = (0..m).flat_map(|landmark| solved.iter().map(move |column| column[landmark]));
        Some(Projection { dim, rows: rows.collect() })
    }

    /// The vector of a graph with these kernels, into `vector`.
    pub(super) fn apply(&self, kernels: &[f64], vector: &mut [f32]) {
        let mut sums = vec![0.0; self.dim];
        for (kernel, row) in kernels.iter().zip(self.rows.chunks_exact(self.dim.max(1))) {
            if *kernel != 0.0 {
                sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += kernel * row);
            }
        }
        vector.iter_mut().zip(sums).for_each(|(value, sum)| *value = sum as f32);
    }
}

/// A random orthogonal matrix, row after row: Gram–Schmidt of normal numbers, twice, so that
/// rounding leaves nothing.
fn orthogonal(n: usize, seed: u64) -> Vec<f64> {
    let mut rng = stream(seed, "kernel rotation", 0, 0);
    let mut normal = || {
        let radius = (-2.0 * (1.0 - unit(&mut rng)).ln()).sqrt();
        radius * (std::f64::consts::TAU * unit(&mut rng)).cos()
    };
    let mut rows: Vec<f64> = (0..n * n).map(|_| normal()).collect();
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    for row in 0..n {
        let (before, own) = rows.split_at_mut(row * n);
        let own = &mut own[..n];
        for _ in 0..2 {
            for other in before.chunks_exact(n.max(1)) {
                let share = dot(own, other);
                own.iter_mut().zip(other).for_each(|(own, other)| *own -= share * other);
            }
        }
        let length = dot(own, own).sqrt();
        own.iter_mut().for_each(|value| *value /= length);
    }
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The factor of a kernel that is there.
    fn factor(gram: &[f64], n: usize, most: usize, seed: u64) -> Factor {
        let diagonal = (0..n).map(|i| gram[i * n + i]).collect();
        let row = |i: usize| Ok(gram[i * n..][..n].to_vec());
        Factor::new(diagonal, row, most, seed).unwrap()
    }

    /// A kernel of rank three among seven.
    fn gram() -> (Vec<[f64; 3]>, Vec<f64>) {
        let points: Vec<[f64; 3]> =
            (0..7).map(|i| [1.0, f64::from(i), f64::from(i * i % 5)]).collect();
        let dot = |a: &[f64; 3], b: &[f64; 3]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        let gram = points.iter().flat_map(|a| points.iter().map(move |b| dot(a, b))).collect();
        (points, gram)
    }

    #[test]
    fn inner_products_are_the_kernel_where_it_has_few_directions() {
        let (points, gram) = gram();
        let factor = factor(&gram, 7, 5, 1);
        assert_eq!(factor.pivots.len(), 3);
        let projection = Projection::new(&factor, 5, 1).unwrap();
        assert_eq!(projection.dim, 3);
        let with_landmarks =
            |i: usize| factor.pivots.iter().map(|&j| gram[i * 7 + j]).collect::<Vec<_>>();
        let vectors: Vec<Vec<f32>> = (0..points.len())
            .map(|i| {
                let mut vector = vec![0.0; 3];
                projection.apply(&with_landmarks(i), &mut vector);
                vector
            })
            .collect();
        for (i, a) in vectors.iter().enumerate() {
            for (j, b) in vectors.iter().enumerate() {
                let product: f32 = a.iter().zip(b).map(|(a, b)| a * b).sum();
                assert!((f64::from(product) - gram[i * 7 + j]).abs() < 1e-3, "{i} {j} {product}");
            }
        }
    }

    /// The best that two landmarks can do is to take one of each kind.
    #[test]
    fn landmarks_are_drawn_from_what_is_not_explained() {
        let kind = |i: usize| usize::from(i % 50 == 7);
        let gram: Vec<f64> = (0..100 * 100)
            .map(|at| f64::from(u8::from(kind(at / 100) == kind(at % 100))))
            .collect();
        for seed in 0..10 {
            let factor = factor(&gram, 100, 2, seed);
            assert_eq!(factor.pivots.iter().map(|&pivot| kind(pivot)).sum::<usize>(), 1);
        }
    }

    /// Three kinds of graphs, two hundred of each.
    #[test]
    fn landmarks_that_are_alike_are_one_direction() {
        let kinds = [[1.0, 0.4, 0.1], [0.4, 1.0, 0.3], [0.1, 0.3, 1.0]];
        let gram: Vec<f64> = (0..600 * 600).map(|at| kinds[at / 600 % 3][at % 600 % 3]).collect();
        let factor = factor(&gram, 600, 64, 0);
        assert_eq!(factor.pivots.iter().map(|pivot| pivot % 3).sum::<usize>(), 3);
        assert_eq!(Projection::new(&factor, 64, 0).unwrap().dim, 3);
    }

    #[test]
    fn a_rotation_keeps_lengths() {
        let q = orthogonal(40, 3);
        for i in 0..40 {
            for j in 0..40 {
                let product: f64 = (0..40).map(|k| q[i * 40 + k] * q[j * 40 + k]).sum();
                let expected = if i == j { 1.0 } else { 0.0 };
                assert!((product - expected).abs() < 1e-12);
            }
        }
        assert_ne!(q, orthogonal(40, 4));
    }

    #[test]
    fn nothing_to_tell_apart_has_no_numbers() {
        for (gram, n) in [(&[0.0; 4][..], 2), (&[], 0), (&[f64::NAN], 1)] {
            let factor = factor(gram, n, 2, 0);
            assert_eq!(Projection::new(&factor, 2, 0).unwrap().dim, 0);
        }
    }
}

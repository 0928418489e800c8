//! From kernels with landmarks to vectors: the projection that [`vectors`](super::vectors) derives.

use hg2v_math::linalg::dense::symmetric_eigen;
use hg2v_math::rng::{stream, unit};
use rayon::prelude::*;

/// Directions of eigenvalues below this share of the largest are rounding.
const LEAST: f64 = 1e-9;

/// What takes the kernels with `m` landmarks to `d` numbers.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Projection {
    /// Numbers of a vector.
    pub(super) dim: usize,
    /// `U_d·Λ_d^(−1/2)·Q`: a row of `dim` for each landmark.
    pub(super) rows: Vec<f64>,
}

impl Projection {
    /// The projection to at most `dim` numbers by the kernel `gram` among `m` landmarks; fewer
    /// where it has fewer directions. `None` where a kernel is not a number.
    ///
    /// # Complexity
    /// Time O(m³ + m·d²), memory O(m²).
    pub(super) fn new(gram: &[f64], m: usize, dim: usize, seed: u64) -> Option<Projection> {
        // The largest of K are the smallest of −K − c·I. Landmarks that are alike leave many
        // eigenvalues at 0 but for rounding; beside c, which is no smaller than any, that is
        // nothing, and the solver need not tell one from the other.
        let row = |row: &[f64]| row.iter().map(|value| value.abs()).sum::<f64>();
        let c = gram.chunks_exact(m.max(1)).map(row).fold(0.0, f64::max);
        let mut negated: Vec<f64> = gram.iter().map(|value| -value).collect();
        (0..m).for_each(|i| negated[i * m + i] -= c);
        let (mut values, vectors) = symmetric_eigen(&mut negated, m, dim.min(m))?;
        values.iter_mut().for_each(|value| *value = -*value - c);
        let largest = values.first().copied().unwrap_or(0.0);
        let kept = values.iter().take(dim.min(m)).take_while(|value| **value > LEAST * largest);
        let scales: Vec<f64> = kept.map(|value| value.sqrt().recip()).collect();
        let dim = scales.len();
        let rotation = orthogonal(dim, seed);
        let mut rows = vec![0.0; m * dim];
        rows.par_chunks_exact_mut(dim.max(1)).enumerate().for_each(|(landmark, row)| {
            for (direction, scale) in scales.iter().enumerate() {
                let share = scale * vectors[direction * m + landmark];
                let turned = &rotation[direction * dim..][..dim];
                row.iter_mut().zip(turned).for_each(|(sum, turned)| *sum += share * turned);
            }
        });
        Some(Projection { dim, rows })
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
        let projection = Projection::new(&gram, 7, 5, 1).unwrap();
        assert_eq!(projection.dim, 3);
        let vectors: Vec<Vec<f32>> = (0..points.len())
            .map(|i| {
                let mut vector = vec![0.0; 3];
                projection.apply(&gram[i * 7..][..7], &mut vector);
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

    /// Three kinds of landmarks, two hundred of each.
    #[test]
    fn landmarks_that_are_alike_are_one_direction() {
        let kinds = [[1.0, 0.4, 0.1], [0.4, 1.0, 0.3], [0.1, 0.3, 1.0]];
        let gram: Vec<f64> = (0..600 * 600).map(|at| kinds[at / 600 % 3][at % 600 % 3]).collect();
        assert_eq!(Projection::new(&gram, 600, 64, 0).unwrap().dim, 3);
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
        assert_eq!(Projection::new(&[0.0; 4], 2, 2, 0).unwrap().dim, 0);
        assert_eq!(Projection::new(&[], 0, 2, 0).unwrap().dim, 0);
        assert!(Projection::new(&[f64::NAN], 1, 1, 0).is_none_or(|p| p.dim == 0));
    }
}

//! Principal components, half whitened: what the blocks beside the network make of their numbers.
//!
//! ```text
//! φ(u)_i = v_iᵀ·(u − μ) / √σ_i
//! ```
//!
//! where `v_i` are the directions in which the numbers `u` of training graphs differ most, `μ` is their mean and `σ_i` the
//! deviation along `v_i`. So what graphs differ in least counts for more than in `u`, and for less than if all components were of
//! one length.

use hg2v_math::linalg::subspace::SparseRows;
use hg2v_math::rng::{stream, unit};

use crate::error::Result;
use crate::saved::{Reader, Tensors};

/// Components of numbers `u`.
#[derive(Debug, Clone)]
pub(crate) struct Components {
    /// How many there are.
    dim: usize,
    /// `v_i/√σ_i`, side by side: a row for each of `u`.
    table: Vec<f32>,
    /// The same, of `μ`.
    origin: Vec<f32>,
}

impl Components {
    /// At most so many, of what training graphs have. What was taken off the rows already is `less`.
    pub(crate) fn fit(
        rows: &SparseRows,
        less: Option<&[f64]>,
        most: usize,
        seed: u64,
    ) -> Components {
        let found = rows.directions(most, seed);
        let deviation = |i: usize| (found.squares[i] / rows.len() as f64).sqrt();
        let mut directions = found.rows;
        for row in directions.chunks_exact_mut(found.count.max(1)) {
            row.iter_mut().enumerate().for_each(|(i, v)| *v /= deviation(i).sqrt());
        }
        Components::of(found.count, &directions, less.unwrap_or(&found.means))
    }

    /// As many, at random, of which nothing was learnt.
    pub(crate) fn untrained(&self, purpose: &'static str, seed: u64) -> Components {
        let mut rng = stream(seed, purpose, 0, 0);
        let rows: Vec<f64> = self.table.iter().map(|_| unit(&mut rng) - 0.5).collect();
        let numbers = self.table.len() / self.dim.max(1);
        Components::of(self.dim, &rows, &vec![0.0; numbers])
    }

    fn of(dim: usize, directions: &[f64], means: &[f64]) -> Components {
        let mut origin = vec![0.0; dim];
        for (row, mean) in directions.chunks_exact(dim.max(1)).zip(means) {
            origin.iter_mut().zip(row).for_each(|(origin, v)| *origin += mean * v);
        }
        let single = |values: &[f64]| values.iter().map(|v| *v as f32).collect();
        Components { dim, table: single(directions), origin: single(&origin) }
    }

    /// How many there are.
    pub(crate) fn dim(&self) -> usize {
        self.dim
    }

    /// `v_i/√σ_i` of a number of `u`.
    pub(crate) fn row(&self, number: usize) -> &[f32] {
        &self.table[number * self.dim..][..self.dim]
    }

    /// The same, of `μ`.
    pub(crate) fn origin(&self) -> &[f32] {
        &self.origin
    }

    /// `φ(u)`.
    pub(crate) fn apply(&self, u: &[f32]) -> Vec<f32> {
        let mut sums = vec![0.0; self.dim];
        for (value, row) in u.iter().zip(self.table.chunks_exact(self.dim.max(1))) {
            sums.iter_mut().zip(row).for_each(|(sum, v)| *sum += value * v);
        }
        sums.iter_mut().zip(&self.origin).for_each(|(sum, origin)| *sum -= origin);
        sums
    }

    /// What a folder keeps of them, those of so many `numbers`, under a name.
    pub(crate) fn saved(&self, name: &str, numbers: usize, tensors: Tensors) -> Tensors {
        let (table, origin) = (format!("{name}.table"), format!("{name}.origin"));
        tensors.with(table, &[numbers, self.dim], self.table.iter().copied()).with(
            origin,
            &[self.dim],
            self.origin.iter().copied(),
        )
    }

    /// What a folder kept of `dim` of them.
    ///
    /// # Errors
    /// Tensors that are missing, or of another shape.
    pub(crate) fn of_saved(
        name: &str,
        [numbers, dim]: [usize; 2],
        tensors: &mut Reader<'_>,
    ) -> Result<Components> {
        let table = tensors.take(&format!("{name}.table"), &[numbers, dim])?;
        let origin = tensors.take(&format!("{name}.origin"), &[dim])?;
        Ok(Components { dim, table, origin })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows() -> (SparseRows, Vec<[f32; 3]>) {
        let mut rng = stream(3, "test", 0, 0);
        let mut number = || unit(&mut rng) - 0.5;
        let own: Vec<[f32; 3]> = (0..300)
            .map(|_| {
                let (a, b) = (8.0 * number(), 0.5 * number());
                // The third is the first over again.
                [(7.0 + a) as f32, (b - 2.0) as f32, (a / 2.0) as f32]
            })
            .collect();
        let mut rows = SparseRows::new(3);
        for row in &own {
            rows.push((0..3).map(|c| (c as u32, f64::from(row[c]))));
        }
        (rows, own)
    }

    /// Components do not depend on each other, are centred, and vary by `σ_i` instead of `σ_i²`.
    #[test]
    fn components_are_half_whitened() {
        let (rows, own) = rows();
        let components = Components::fit(&rows, None, 9, 1);
        assert_eq!(components.dim(), 2, "no more than rows differ in");
        let made: Vec<Vec<f32>> = own.iter().map(|row| components.apply(row)).collect();
        let mean = |f: &dyn Fn(usize) -> f64| (0..300).map(f).sum::<f64>() / 300.0;
        let at = |i: usize, c: usize| f64::from(made[i][c]);
        let column = |c: usize| mean(&|i| f64::from(own[i][c]));
        let variance = |c: usize| mean(&|i| (f64::from(own[i][c]) - column(c)).powi(2));
        let along = [(variance(0) * 1.25).sqrt(), variance(1).sqrt()];
        for c in 0..2 {
            assert!(mean(&|i| at(i, c)).abs() < 1e-5);
            let found = mean(&|i| at(i, c).powi(2));
            assert!((found / along[c] - 1.0).abs() < 1e-2, "{c}: {found} {along:?}");
        }
        assert!(mean(&|i| at(i, 0) * at(i, 1)).abs() < 1e-2);
    }

    #[test]
    fn those_at_random_are_as_many_and_others() {
        let (rows, own) = rows();
        let components = Components::fit(&rows, None, 9, 1);
        let untrained = components.untrained("test", 1);
        assert_eq!(untrained.dim(), 2);
        assert_ne!(untrained.apply(&own[0]), components.apply(&own[0]));
        assert_ne!(untrained.apply(&own[0]), components.untrained("test", 2).apply(&own[0]));
    }
}

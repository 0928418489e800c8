//! What the rows of a graph are together.

use std::sync::Arc;

use hg2v_math::Real;

use super::{Array, Tape, Var};

/// The first row of each segment, and the end of the last.
pub type Segments = Arc<[usize]>;

/// `count` segments of `rows` rows each.
pub fn blocks(count: usize, rows: usize) -> Segments {
    (0..=count).map(|block| block * rows).collect()
}

impl<R: Real> Tape<R> {
    /// `Y(g) = Σ_{u ∈ g} X(u)`. `dX(u) = dY(g)`.
    pub fn segment_sum(&mut self, x: Var, segments: &Segments) -> Var {
        let from = self.value(x);
        assert_eq!(segments.last(), Some(&from.rows), "segments of all rows");
        let mut y = Array::zeros(segments.len() - 1, from.columns);
        for (g, range) in segments.windows(2).enumerate() {
            (range[0]..range[1]).for_each(|u| R::axpy(R::ONE, from.row(u), y.row_mut(g)));
        }
        let segments = Arc::clone(segments);
        self.push(y, &[x], move |_, dy, to| {
            to.add(x, |dx| {
                for (dy, range) in dy.each_row().zip(segments.windows(2)) {
                    (range[0]..range[1]).for_each(|u| R::axpy(R::ONE, dy, dx.row_mut(u)));
                }
            });
        })
    }

    /// `Y(g) = Σ_{u ∈ g} X(u) / |g|`; zeros where a segment has no rows.
    pub fn segment_mean(&mut self, x: Var, segments: &Segments) -> Var {
        let share = |range: &[usize]| R::from_f64(1.0 / (range[1] - range[0]).max(1) as f64);
        let shares: Vec<R> = segments.windows(2).map(share).collect();
        let sums = self.segment_sum(x, segments);
        let shares = self.constant(Array::new(shares.len(), 1, shares));
        self.scale_rows(sums, shares)
    }

    /// `Y(g, j) = max_{u ∈ g} X(u, j)`; zeros where a segment has no rows. The first
    /// of the largest gets `dY(g, j)`, the others nothing.
    pub fn segment_max(&mut self, x: Var, segments: &Segments) -> Var {
        let from = self.value(x);
        assert_eq!(segments.last(), Some(&from.rows), "segments of all rows");
        let columns = from.columns;
        let mut y = Array::zeros(segments.len() - 1, columns);
        let mut largest = vec![0usize; y.values.len()];
        for (g, range) in segments.windows(2).enumerate() {
            let winners = &mut largest[g * columns..(g + 1) * columns];
            for u in range[0]..range[1] {
                let now = y.row_mut(g).iter_mut().zip(winners.iter_mut());
                for ((y, winner), &x) in now.zip(from.row(u)) {
                    if u == range[0] || x > *y {
                        (*y, *winner) = (x, u);
                    }
                }
            }
        }
        let segments = Arc::clone(segments);
        self.push(y, &[x], move |_, dy, to| {
            to.add(x, |dx| {
                let full = segments.windows(2).enumerate().filter(|(_, range)| range[0] < range[1]);
                for (g, _) in full {
                    for (j, &dy) in dy.row(g).iter().enumerate() {
                        dx.row_mut(largest[g * columns + j])[j] += dy;
                    }
                }
            });
        })
    }
}

//! Distances between all rows of two sets of points.

use pulp::Arch;

use crate::graph::Features;

/// Points turned on their side: all first numbers, then all second ones, so that one
/// point is compared with many at once.
#[derive(Debug, Clone, Default)]
pub struct Turned {
    count: usize,
    values: Vec<f64>,
}

impl Turned {
    /// The rows of `points`; `count` of them, which may be empty.
    pub fn new(points: &Features, count: usize) -> Turned {
        let mut values = Vec::with_capacity(count * points.dim);
        for column in 0..points.dim {
            values.extend((0..count).map(|row| points.row(row)[column]));
        }
        Turned { count, values }
    }

    /// Adds `‖x − y‖²` to `sums`, for every row `x` of `rows` and every point `y`.
    ///
    /// The sum over dimensions has one order on every machine, and differences are
    /// taken before squares: equal points are at distance 0 exactly.
    pub fn add_squares(&self, rows: &Features, sums: &mut [f64]) {
        if self.count == 0 || rows.dim == 0 {
            return;
        }
        for (sums, x) in sums.chunks_exact_mut(self.count).zip(rows.values.chunks_exact(rows.dim)) {
            Arch::new().dispatch(|| {
                for (x, y) in x.iter().zip(self.values.chunks_exact(self.count)) {
                    for (sum, y) in sums.iter_mut().zip(y) {
                        *sum += (x - y) * (x - y);
                    }
                }
            });
        }
    }
}

//! The Krylov block `K = [g, Ãg, Ã²g, …, Ãᵃg]` (Luan et al. 2019).
//!
//! Node `u`'s row of `K` is `a + 1` blocks of `w` numbers, and those of its
//! [relations](super::relations) where it has any; the first is `g(u)`, written by whoever calls.

use std::ops::Range;

use hg2v_math::Real;

use super::batch::BatchLevel;
use super::device::Rows;
use super::hop::{Source, Sparse, each_graph};

/// Fills blocks 1 to `a` of `k` from block 0: `K_j = Ã·K_{j−1}`.
pub(crate) fn forward<R: Real>(level: &BatchLevel, rows: Rows, k: &mut [R]) {
    each_graph(level, &level.graphs, rows, rows.hops, k, |block, nodes, k, room| {
        for hop in 1..=rows.hops {
            block.hop(nodes.clone(), hop - 1, hop, k, room, |to, sum| *to = sum);
        }
    });
}

/// The gradient of `g`, left in block 0 of `dk`: since `K_j = Ã·K_{j−1}` and
/// `Ãᵀ = Ã`, from the last hop to the first `dK_{j−1} ← dK_{j−1} + Ã·dK_j`.
pub(crate) fn vjp<R: Real>(level: &BatchLevel, rows: Rows, dk: &mut [R]) {
    each_graph(level, &level.graphs, rows, rows.hops, dk, |block, nodes, dk, room| {
        for hop in (1..=rows.hops).rev() {
            block.hop(nodes.clone(), hop, hop - 1, dk, room, |to, sum| *to += sum);
        }
    });
}

/// `Ã`.
impl<R: Real> Sparse<R> for BatchLevel {
    fn entries(&self, nodes: Range<usize>) -> usize {
        self.offsets[nodes.end] - self.offsets[nodes.start]
    }

    #[inline(always)]
    fn add(&self, node: usize, source: Source<'_, R>, sum: &mut [R]) {
        for (target, value) in self.row(node) {
            let value = R::from_f64(value.into());
            for (sum, x) in sum.iter_mut().zip(source.row(target)) {
                *sum += value * *x;
            }
        }
    }
}

//! Sum pooling by the coarsening's assignment: `P(v) = Σ_{u ∈ 𝒫⁻¹(v)} h(u)`.

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut};

use super::batch::BatchLevel;

/// Rows that one task computes.
const ROWS: usize = 256;

/// `P(v) = Σ_{u ∈ 𝒫⁻¹(v)} h(u)`, the sum in the order of the nodes.
///
/// Shapes: `h` is `N × d`, `P` is `M × d`.
pub(crate) fn forward<R: Real>(level: &BatchLevel, h: View<'_, R>, p: ViewMut<'_, R>) {
    p.each_block(ROWS, |first, mut p| {
        for (i, p) in p.rows_mut().enumerate() {
            p.fill(R::ZERO);
            for &node in level.members.of(first + i) {
                R::axpy(R::ONE, h.row(node as usize), p);
            }
        }
    });
}

/// `dh(u) = dP(𝒫(u))`, overwritten.
pub(crate) fn vjp<R: Real>(level: &BatchLevel, dp: View<'_, R>, dh: ViewMut<'_, R>) {
    dh.each_block(ROWS, |first, mut dh| {
        for (i, dh) in dh.rows_mut().enumerate() {
            dh.copy_from_slice(dp.row(level.parent[first + i] as usize));
        }
    });
}

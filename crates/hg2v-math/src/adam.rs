//! Adam (Kingma & Ba 2015).

use crate::Real;
use crate::parallel::crew;
use crate::simd::vectorize;

/// Decay of the first moment.
pub const BETA_1: f64 = 0.9;
/// Decay of the second moment.
pub const BETA_2: f64 = 0.999;
/// Keeps the division finite.
pub const EPSILON: f64 = 1e-8;

/// Numbers that one task updates.
const CHUNK: usize = 1 << 15;

/// One step of rate `rate`, the `step`-th from 1:
///
/// ```text
/// m ← β₁·m + (1 − β₁)·g        v ← β₂·v + (1 − β₂)·g²
/// θ ← θ − rate · (m / (1 − β₁ᵗ)) / (√(v / (1 − β₂ᵗ)) + ε)
/// ```
pub fn step<R: Real>(rate: f64, step: u64, theta: &mut [R], g: &[R], m: &mut [R], v: &mut [R]) {
    let t = step as f64;
    let correction = (1.0 - BETA_2.powf(t)).sqrt();
    let rate = R::from_f64(rate * correction / (1.0 - BETA_1.powf(t)));
    let epsilon = R::from_f64(EPSILON * correction);
    let (keep_1, take_1) = (R::from_f64(BETA_1), R::from_f64(1.0 - BETA_1));
    let (keep_2, take_2) = (R::from_f64(BETA_2), R::from_f64(1.0 - BETA_2));
    let moments = m.chunks_mut(CHUNK).zip(v.chunks_mut(CHUNK));
    let mut chunks: Vec<_> = theta.chunks_mut(CHUNK).zip(g.chunks(CHUNK)).zip(moments).collect();
    crew::each_block(&mut chunks, 1, |_, chunks| {
        for ((theta, g), (m, v)) in chunks {
            vectorize(|| {
                for (((theta, &g), m), v) in
                    theta.iter_mut().zip(*g).zip(m.iter_mut()).zip(v.iter_mut())
                {
                    *m = keep_1 * *m + take_1 * g;
                    *v = keep_2 * *v + take_2 * g * g;
                    *theta -= rate * *m / (v.sqrt() + epsilon);
                }
            });
        }
    });
}

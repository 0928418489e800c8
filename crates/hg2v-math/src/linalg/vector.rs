//! Dot products and updates, in one fixed order of summation; inlined, for many are of few numbers.

/// `xᵀy`, in four interleaved partial sums: the order never depends on the
/// machine, and the compiler can keep the sums in vector registers.
#[inline]
pub fn dot(x: &[f64], y: &[f64]) -> f64 {
    let mut sums = [0.0; 4];
    let (x4, x_rest) = x.as_chunks::<4>();
    let (y4, y_rest) = y.as_chunks::<4>();
    for (a, b) in x4.iter().zip(y4) {
        for lane in 0..4 {
            sums[lane] += a[lane] * b[lane];
        }
    }
    let rest: f64 = x_rest.iter().zip(y_rest).map(|(a, b)| a * b).sum();
    (sums[0] + sums[2]) + (sums[1] + sums[3]) + rest
}

/// `y ← y + a·x`.
#[inline]
pub fn axpy(a: f64, x: &[f64], y: &mut [f64]) {
    for (y, x) in y.iter_mut().zip(x) {
        *y += a * x;
    }
}

/// Scales `x` to unit length and returns the length it had; a zero vector stays.
#[inline]
pub fn normalize(x: &mut [f64]) -> f64 {
    let norm = dot(x, x).sqrt();
    if norm > 0.0 {
        x.iter_mut().for_each(|value| *value /= norm);
    }
    norm
}

/// The `index`-th number of a fixed sequence that looks random, in `[-1, 1)`:
/// start vectors need no seed, only to favour no eigenvector (SplitMix64).
#[inline]
pub fn start_value(index: u64) -> f64 {
    let mut z = index.wrapping_add(1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^= z >> 31;
    (z >> 11) as f64 / (1u64 << 52) as f64 - 1.0
}

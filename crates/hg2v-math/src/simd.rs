//! Elementwise `f32` loops, compiled for several instruction sets and chosen at
//! run time.
//!
//! The functions are polynomials fitted for the purpose, with a relative error of
//! a few units in the last place; only additions, multiplications and divisions
//! enter, in a fixed order, so that every instruction set gives the same bits.

use pulp::{Arch, Simd, WithSimd};

/// Lanes of the partial sums: a fixed number, so that sums never depend on the machine.
const LANES: usize = 16;

/// Numbers whose results wait to be added up; a multiple of the lanes.
const BLOCK: usize = 256;

/// Runs `job`, its loops compiled for the best instruction set that is here.
/// Only for short loops: a longer closure is not inlined into the function that
/// has the instructions, and needs a type of its own, as below.
#[inline(always)]
pub fn vectorize<T>(job: impl FnOnce() -> T) -> T {
    Arch::new().dispatch(job)
}

/// `y ← tanh(y + bias)`; an empty `bias` adds nothing.
pub(crate) fn tanh_rows(y: &mut [f32], bias: &[f32]) {
    struct Op<'a>(&'a mut [f32], &'a [f32]);
    impl WithSimd for Op<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            let Op(y, bias) = self;
            if !bias.is_empty() {
                y.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
            }
            for y in y {
                *y = tanh(*y);
            }
        }
    }
    Arch::new().dispatch(Op(y, bias));
}

/// `y = sign(e)·ln(1 + |e|)`.
pub(crate) fn signed_log(e: &[f32], y: &mut [f32]) {
    struct Op<'a>(&'a [f32], &'a mut [f32]);
    impl WithSimd for Op<'_> {
        type Output = ();
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) {
            for (y, e) in self.1.iter_mut().zip(self.0) {
                *y = ln_1p_of_any(e.abs()).copysign(*e);
            }
        }
    }
    Arch::new().dispatch(Op(e, y));
}

/// `dy ← dy · (1 − y²)`.
pub(crate) fn tanh_vjp(dy: &mut [f32], y: &[f32]) {
    vectorize(|| {
        dy.iter_mut().zip(y).for_each(|(dy, y)| *dy *= 1.0 - y * y);
    });
}

/// `xᵀy`, in a fixed number of partial sums: enough that none waits for the one before.
pub fn dot(x: &[f32], y: &[f32]) -> f32 {
    const SUMS: usize = 4 * LANES;
    struct Op<'a>(&'a [f32], &'a [f32]);
    impl WithSimd for Op<'_> {
        type Output = f32;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f32 {
            let (x, x_rest) = self.0.as_chunks::<SUMS>();
            let (y, y_rest) = self.1.as_chunks::<SUMS>();
            let mut sums = [0f32; SUMS];
            for (x, y) in x.iter().zip(y) {
                for lane in 0..SUMS {
                    sums[lane] += x[lane] * y[lane];
                }
            }
            let mut lanes = [0f32; LANES];
            for sums in sums.as_chunks::<LANES>().0 {
                for lane in 0..LANES {
                    lanes[lane] += sums[lane];
                }
            }
            let all: f32 = lanes.iter().sum();
            all + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f32>()
        }
    }
    Arch::new().dispatch(Op(x, y))
}

/// `y ← y + scale · x`.
pub fn axpy(scale: f32, x: &[f32], y: &mut [f32]) {
    vectorize(|| y.iter_mut().zip(x).for_each(|(y, x)| *y += scale * x));
}

/// `s ← scale · σ(s)`; returns `Σ softplus(s)`.
pub(crate) fn softplus_vjp(s: &mut [f32], scale: f32) -> f64 {
    struct Op<'a>(&'a mut [f32], f32);
    impl WithSimd for Op<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let Op(s, scale) = self;
            let mut lanes = [0f32; LANES];
            let mut losses = [0f32; BLOCK];
            for s in s.chunks_mut(BLOCK) {
                for (s, loss) in s.iter_mut().zip(&mut losses) {
                    let small = exp(-s.abs());
                    let whole = 1.0 / (1.0 + small);
                    let sigmoid = if *s >= 0.0 { whole } else { small * whole };
                    *loss = positive_part(*s) + ln_1p(small);
                    *s = scale * sigmoid;
                }
                add_to_lanes(&mut lanes, &losses[..s.len()]);
            }
            total(&lanes)
        }
    }
    Arch::new().dispatch(Op(s, scale))
}

/// `s ← exp(s − shift)`; returns their sum.
pub(crate) fn exp_sum(s: &mut [f32], shift: f32) -> f64 {
    struct Op<'a>(&'a mut [f32], f32);
    impl WithSimd for Op<'_> {
        type Output = f64;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> f64 {
            let Op(s, shift) = self;
            let mut lanes = [0f32; LANES];
            for s in s.chunks_mut(BLOCK) {
                for s in s.iter_mut() {
                    *s = exp(*s - shift);
                }
                add_to_lanes(&mut lanes, s);
            }
            total(&lanes)
        }
    }
    Arch::new().dispatch(Op(s, shift))
}

/// Adds each number to the lane of its position.
#[inline(always)]
fn add_to_lanes(lanes: &mut [f32; LANES], values: &[f32]) {
    for values in values.chunks(LANES) {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane += value;
        }
    }
}

#[inline(always)]
fn total(lanes: &[f32; LANES]) -> f64 {
    lanes.iter().map(|&lane| f64::from(lane)).sum()
}

/// `max(0, x)`, NaN for NaN.
#[inline(always)]
fn positive_part(x: f32) -> f32 {
    if x < 0.0 { 0.0 } else { x }
}

/// `x + x³·P(x²)` near 0, `1 − 2/(e^{2|x|} + 1)` with the sign of `x` elsewhere.
#[inline(always)]
fn tanh(x: f32) -> f32 {
    let z = x * x;
    let p = -5.717_044_6e-3;
    let p = p * z + 2.065_058_6e-2;
    let p = p * z - 5.374_349_7e-2;
    let p = p * z + 1.333_149_1e-1;
    let p = p * z - 3.333_328_4e-1;
    let near = x + x * z * p;
    let far = 1.0 - 2.0 / (exp(2.0 * x.abs()) + 1.0);
    if x.abs() < 0.625 { near } else { far.copysign(x) }
}

/// `2ⁿ·e^r` with `n` the nearest integer to `x / ln 2`; arguments above 87 are
/// taken as 87, and below −87 there is nothing left.
#[inline(always)]
fn exp(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    /// Adding and subtracting it rounds to an integer.
    const ROUND: f32 = 12_582_912.0;
    // Not `clamp`: NaN must stay NaN, and does in comparisons that fail.
    let x = if x > 87.0 { 87.0 } else { x };
    let low = x < -87.0;
    let x = if low { -87.0 } else { x };
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let r = x - n * LN_2_HIGH - n * LN_2_LOW;
    let p = 1.381_460_2e-3;
    let p = p * r + 8.368_716e-3;
    let p = p * r + 4.166_839e-2;
    let p = p * r + 1.666_652e-1;
    let p = p * r + 4.999_999_4e-1;
    let power = 1.0 + r + r * r * p;
    // The low bits of `shifted` hold n; moved into the exponent they are 2ⁿ.
    let scale = f32::from_bits((shifted.to_bits() << 23).wrapping_add(0x3f80_0000));
    if low { 0.0 } else { power * scale }
}

/// ln(1 + u) for 0 ≤ u ≤ 1, as `2·atanh(u / (2 + u))`.
#[inline(always)]
fn ln_1p(u: f32) -> f32 {
    let z = u / (2.0 + u);
    let w = z * z;
    let p = 1.215_046_7e-1;
    let p = p * w + 1.071_382_9e-1;
    let p = p * w + 1.430_844_2e-1;
    let p = p * w + 1.999_943_9e-1;
    let p = p * w + 3.333_333_7e-1;
    2.0 * (z + z * w * p)
}

/// ln(1 + x) for 0 ≤ x, to the bit what `log1pf` of FreeBSD's and the GNU libraries gives:
/// with `1 + x = 2ᵏ·(1 + f)`, `|f| < √2 − 1` and `s = f / (2 + f)` it is
/// `k·ln 2 + f − (f²/2 − s·(f²/2 + R(s²)) − c)`, where `c` makes up for the rounding of `1 + x`.
#[inline(always)]
fn ln_1p_of_any(x: f32) -> f32 {
    const LN_2_HIGH: f32 = 0.693_138_1;
    const LN_2_LOW: f32 = 9.058_001e-6;
    let u = 1.0 + x;
    let fraction = u.to_bits() & 0x007f_ffff;
    let low = fraction < 0x0035_04f7;
    let exponent = (u.to_bits() >> 23) as i32 - if low { 127 } else { 126 };
    let one = if low { 0x3f80_0000 } else { 0x3f00_0000 };
    let rest = f32::from_bits(fraction | one) - 1.0;
    let (k, f) = if x < 0.414_213_86 { (0.0, x) } else { (exponent as f32, rest) };
    let lost = if u >= 2.0 { 1.0 - (u - x) } else { x - (u - 1.0) };
    let c = if k == 0.0 { 0.0 } else { lost / u };
    let half = 0.5 * f * f;
    let s = f / (2.0 + f);
    let z = s * s;
    let p = 1.479_819_9e-1;
    let p = p * z + 1.531_383_8e-1;
    let p = p * z + 1.818_357_3e-1;
    let p = p * z + 2.222_219_9e-1;
    let p = p * z + 2.857_143e-1;
    let p = p * z + 4e-1;
    let p = p * z + 6.666_667e-1;
    let y = k * LN_2_HIGH - ((half - (s * (half + z * p) + (k * LN_2_LOW + c))) - f);
    if x < f32::INFINITY { y } else { x }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The largest error of `fast` against `exact` in units in the last place.
    fn worst(fast: impl Fn(f32) -> f32, exact: impl Fn(f64) -> f64, from: f32, to: f32) -> f64 {
        let steps = 1 << 20;
        (0..=steps)
            .map(|i| {
                let x = from + (to - from) * i as f32 / steps as f32;
                let truth = exact(f64::from(x));
                let unit = f64::from((truth as f32).abs().max(f32::MIN_POSITIVE)) * 2f64.powi(-24);
                (f64::from(fast(x)) - truth).abs() / unit
            })
            .fold(0.0, f64::max)
    }

    #[test]
    fn polynomials_follow_their_functions() {
        assert!(worst(tanh, f64::tanh, -12.0, 12.0) < 6.0);
        assert!(worst(tanh, f64::tanh, -1e-3, 1e-3) < 3.0);
        assert!(worst(exp, f64::exp, -86.9, 86.9) < 4.0);
        assert!(worst(ln_1p, f64::ln_1p, 0.0, 1.0) < 6.0);
        for end in [1e-3, 1.0, 1e3, 1e30] {
            assert!(worst(ln_1p_of_any, f64::ln_1p, 0.0, end) < 2.0);
        }
    }

    #[test]
    fn the_signed_logarithm_is_odd_and_knows_every_size() {
        // As the GNU library's `log1pf` has them, the last two beyond what `1 + x` can tell.
        let known = [
            (0.0f32, 0.0f32),
            (1e-40, 1e-40),
            (1e-10, 1e-10),
            (0.25, 0.223_143_55),
            (0.414_213_86, 0.346_573_83),
            (1.0, std::f32::consts::LN_2),
            (2.5, 1.252_763),
            (100.0, 4.615_120_4),
            (1e9, 20.723_267),
            (f32::MAX, 88.722_84),
            (f32::INFINITY, f32::INFINITY),
        ];
        for (x, expected) in known {
            let mut y = [f32::NAN; 2];
            signed_log(&[x, -x], &mut y);
            let bits = y.map(f32::to_bits);
            assert_eq!(bits, [expected, -expected].map(f32::to_bits), "{x}: {y:?} {expected}");
        }
        let mut y = [0.0];
        signed_log(&[f32::NAN], &mut y);
        assert!(y[0].is_nan());
    }

    #[test]
    fn a_dot_product_has_all_its_terms() {
        for n in [0, 1, 15, 16, 17, 40, 128, 131] {
            let x: Vec<f32> = (0..n).map(|i| (i % 7) as f32 - 3.0).collect();
            let y: Vec<f32> = (0..n).map(|i| (i % 5) as f32 + 1.0).collect();
            let exact: f32 = x.iter().zip(&y).map(|(x, y)| x * y).sum();
            assert_eq!(dot(&x, &y), exact, "{n} terms");
        }
    }

    #[test]
    fn infinities_and_nan_do_what_the_mathematics_says() {
        assert_eq!((tanh(f32::INFINITY), tanh(f32::NEG_INFINITY)), (1.0, -1.0));
        assert!(tanh(f32::NAN).is_nan() && exp(f32::NAN).is_nan());
        assert_eq!(exp(f32::NEG_INFINITY), 0.0);
        let mut s = [-f32::INFINITY, 0.0, 100.0];
        let sum = softplus_vjp(&mut s, 2.0);
        assert!((sum - (0.5f64.ln().abs() + 100.0)).abs() < 1e-5, "{sum}");
        assert!(s[0] == 0.0 && s[1] == 1.0 && s[2] == 2.0, "{s:?}");
    }
}

//! The numbers a network is made of: `f32` to work with, `f64` to check with.

use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, Mul, MulAssign, Neg, Sub, SubAssign};

use crate::kernel::{self, Raw};
use crate::simd;

/// A floating-point number, and the loops over slices of it that dominate a step.
pub trait Real:
    Copy
    + Default
    + Debug
    + Display
    + PartialEq
    + PartialOrd
    + Send
    + Sync
    + 'static
    + Neg<Output = Self>
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + Sum
{
    /// 0.
    const ZERO: Self;
    /// 1.
    const ONE: Self;
    /// The distance from 1 to the next number: numbers are rounded by at most half of it, relatively.
    const EPSILON: f64;

    /// The nearest number to `value`.
    fn from_f64(value: f64) -> Self;
    /// The same number, as an `f64`.
    fn to_f64(self) -> f64;
    /// Whether it is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// √x.
    fn sqrt(self) -> Self;
    /// |x|.
    fn abs(self) -> Self;
    /// `self·b + c`, rounded once.
    fn mul_add(self, b: Self, c: Self) -> Self;

    /// `y ← tanh(y + bias)`; an empty `bias` adds nothing.
    fn tanh_rows(y: &mut [Self], bias: &[Self]);

    /// `dy ← dy · (1 − y²)`: from the gradient of `y = tanh(p)` to that of `p`.
    fn tanh_vjp(dy: &mut [Self], y: &[Self]);

    /// `y = sign(e)·ln(1 + |e|)`.
    fn signed_log(e: &[Self], y: &mut [Self]);

    /// `y ← y + scale · x`.
    fn axpy(scale: Self, x: &[Self], y: &mut [Self]);

    /// `s ← scale · σ(s)`; returns `Σ softplus(s)` of the values before.
    fn softplus_vjp(s: &mut [Self], scale: Self) -> f64;

    /// `s ← exp(s − shift)`; returns their sum.
    fn exp_sum(s: &mut [Self], shift: Self) -> f64;

    /// `C ← A·B + β·C`, with as many columns a tile as this number asks for: [`gemm`](crate::gemm)
    /// is the safe way to it.
    ///
    /// # Safety
    /// Every element that the shape and the strides reach must lie within its allocation, and
    /// nobody else may use those of `C`.
    #[doc(hidden)]
    #[allow(unsafe_code)]
    unsafe fn product_unchecked(
        shape: [usize; 3],
        a: Raw<*const Self>,
        b: Raw<*const Self>,
        beta: Self,
        c: Raw<*mut Self>,
    );
}

impl Real for f32 {
    const EPSILON: f64 = f32::EPSILON as f64;
    const ZERO: f32 = 0.0;
    const ONE: f32 = 1.0;

    #[inline(always)]
    fn from_f64(value: f64) -> f32 {
        value as f32
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        f64::from(self)
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f32::is_finite(self)
    }

    #[inline(always)]
    fn sqrt(self) -> f32 {
        f32::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> f32 {
        f32::abs(self)
    }

    #[inline(always)]
    fn mul_add(self, b: f32, c: f32) -> f32 {
        f32::mul_add(self, b, c)
    }

    fn tanh_rows(y: &mut [f32], bias: &[f32]) {
        simd::tanh_rows(y, bias);
    }

    fn tanh_vjp(dy: &mut [f32], y: &[f32]) {
        simd::tanh_vjp(dy, y);
    }

    fn signed_log(e: &[f32], y: &mut [f32]) {
        simd::signed_log(e, y);
    }

    fn axpy(scale: f32, x: &[f32], y: &mut [f32]) {
        simd::axpy(scale, x, y);
    }

    fn softplus_vjp(s: &mut [f32], scale: f32) -> f64 {
        simd::softplus_vjp(s, scale)
    }

    fn exp_sum(s: &mut [f32], shift: f32) -> f64 {
        simd::exp_sum(s, shift)
    }

    #[allow(unsafe_code)]
    unsafe fn product_unchecked(
        shape: [usize; 3],
        a: Raw<*const f32>,
        b: Raw<*const f32>,
        beta: f32,
        c: Raw<*mut f32>,
    ) {
        // SAFETY: what this function's caller promises is what the kernel asks for.
        unsafe { kernel::product::<f32, 16, 32>(shape, a, b, beta, c) }
    }
}

/// Plain and exact: the yardstick for the fast `f32`.
impl Real for f64 {
    const EPSILON: f64 = f64::EPSILON;
    const ZERO: f64 = 0.0;
    const ONE: f64 = 1.0;

    #[inline(always)]
    fn from_f64(value: f64) -> f64 {
        value
    }

    #[inline(always)]
    fn to_f64(self) -> f64 {
        self
    }

    #[inline(always)]
    fn is_finite(self) -> bool {
        f64::is_finite(self)
    }

    #[inline(always)]
    fn sqrt(self) -> f64 {
        f64::sqrt(self)
    }

    #[inline(always)]
    fn abs(self) -> f64 {
        f64::abs(self)
    }

    #[inline(always)]
    fn mul_add(self, b: f64, c: f64) -> f64 {
        f64::mul_add(self, b, c)
    }

    fn tanh_rows(y: &mut [f64], bias: &[f64]) {
        y.iter_mut().zip(bias).for_each(|(y, b)| *y += b);
        y.iter_mut().for_each(|y| *y = y.tanh());
    }

    fn tanh_vjp(dy: &mut [f64], y: &[f64]) {
        dy.iter_mut().zip(y).for_each(|(dy, y)| *dy *= 1.0 - y * y);
    }

    fn signed_log(e: &[f64], y: &mut [f64]) {
        y.iter_mut().zip(e).for_each(|(y, e)| *y = e.abs().ln_1p().copysign(*e));
    }

    fn axpy(scale: f64, x: &[f64], y: &mut [f64]) {
        y.iter_mut().zip(x).for_each(|(y, x)| *y += scale * x);
    }

    fn softplus_vjp(s: &mut [f64], scale: f64) -> f64 {
        let mut sum = 0.0;
        for s in s {
            let small = (-s.abs()).exp();
            sum += s.max(0.0) + small.ln_1p();
            *s = scale * if *s >= 0.0 { 1.0 } else { small } / (1.0 + small);
        }
        sum
    }

    fn exp_sum(s: &mut [f64], shift: f64) -> f64 {
        s.iter_mut().for_each(|s| *s = (*s - shift).exp());
        s.iter().sum()
    }

    #[allow(unsafe_code)]
    unsafe fn product_unchecked(
        shape: [usize; 3],
        a: Raw<*const f64>,
        b: Raw<*const f64>,
        beta: f64,
        c: Raw<*mut f64>,
    ) {
        // SAFETY: what this function's caller promises is what the kernel asks for.
        unsafe { kernel::product::<f64, 8, 16>(shape, a, b, beta, c) }
    }
}

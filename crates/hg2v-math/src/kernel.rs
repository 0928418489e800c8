//! One thread's matrix product: `C ← A·B + β·C`.
//!
//! The shapes of a step are small and lopsided (some dozen rows against a matrix
//! of parameters), so `B` is copied `NR` columns at a time just before it is used,
//! and `A` is read where it lies unless it is large. A tile of `MR × NR` results
//! stays in registers while `KC` terms are added to it.

#![allow(unsafe_code)]

use std::cell::RefCell;

use pulp::{Arch, Simd, WithSimd};

use crate::Real;

/// Rows of a tile. With two vectors of columns it leaves four of sixteen registers
/// for what is multiplied.
const MR: usize = 6;

/// Terms added up in registers before the sum goes to memory: `KC × NR` numbers
/// of `B` are half of a first-level cache, or two thirds where vectors are wide. It is part of what a sum is, to the
/// bit, and never depends on anything.
const KC: usize = 256;

/// Columns of `B` copied at once: `KC × NC` numbers stay in the second-level cache.
const NC: usize = 512;

/// Rows of `A` that are used again for all columns, likewise.
const MC: usize = 96;

/// A matrix in memory: element `(i, j)` is at `start + i·strides[0] + j·strides[1]`.
#[derive(Debug, Clone, Copy)]
pub struct Raw<P> {
    /// Where `(0, 0)` is.
    pub start: P,
    /// From one row to the next, and from one column to the next.
    pub strides: [usize; 2],
}

impl<P> Raw<P> {
    /// The transposed matrix.
    pub fn t(self) -> Raw<P> {
        let [rows, columns] = self.strides;
        Raw { strides: [columns, rows], ..self }
    }
}

impl<T> Raw<*const T> {
    #[inline(always)]
    unsafe fn at(self, i: usize, j: usize) -> *const T {
        // SAFETY: the caller's.
        unsafe { self.start.add(i * self.strides[0] + j * self.strides[1]) }
    }
}

impl<T> Raw<*mut T> {
    #[inline(always)]
    unsafe fn at(self, i: usize, j: usize) -> *mut T {
        // SAFETY: the caller's.
        unsafe { self.start.add(i * self.strides[0] + j * self.strides[1]) }
    }
}

/// `C ← A·B + β·C` of an `m × k` and a `k × n` matrix; `NR` columns are two vectors of 256
/// bits, `WIDE` columns two of 512, which are taken where the machine has them.
///
/// Every number of `C` is the sum of the same terms in the same order, whatever
/// its neighbours.
///
/// # Safety
/// Every element that the shape and the strides reach must lie within its
/// allocation, and nobody else may use those of `C`.
pub(crate) unsafe fn product<T: Real, const NR: usize, const WIDE: usize>(
    shape: [usize; 3],
    a: Raw<*const T>,
    b: Raw<*const T>,
    beta: T,
    c: Raw<*mut T>,
) {
    BUFFER.with_borrow_mut(|buffer| {
        let lines = KC * (NC + MC) * size_of::<T>() / size_of::<Line>();
        if buffer.len() < lines {
            buffer.resize(lines, Line([0; 64]));
        }
        let b_copy = buffer.as_mut_ptr().cast::<T>();
        // SAFETY: the buffer holds KC·(NC + MC) numbers.
        let a_copy = unsafe { b_copy.add(KC * NC) };
        Arch::new().dispatch(Product::<T, NR, WIDE> { shape, a, b, beta, c, b_copy, a_copy });
    });
}

#[derive(Clone, Copy)]
#[repr(align(64))]
struct Line(#[allow(dead_code)] [u8; 64]);

thread_local! {
    static BUFFER: RefCell<Vec<Line>> = const { RefCell::new(Vec::new()) };
}

struct Product<T, const NR: usize, const WIDE: usize> {
    shape: [usize; 3],
    a: Raw<*const T>,
    b: Raw<*const T>,
    beta: T,
    c: Raw<*mut T>,
    /// Room for `KC × NC` numbers.
    b_copy: *mut T,
    /// Room for `MC × KC` numbers.
    a_copy: *mut T,
}

impl<T: Real, const NR: usize, const WIDE: usize> WithSimd for Product<T, NR, WIDE> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        // A tile's width says which sums are made together, not how one is made.
        if size_of::<S::f32s>() == 64 {
            self.by_tiles::<WIDE, true>();
        } else if S::IS_SCALAR {
            self.by_tiles::<NR, false>();
        } else {
            self.by_tiles::<NR, true>();
        }
    }
}

impl<T: Real, const NR: usize, const WIDE: usize> Product<T, NR, WIDE> {
    /// The product by tiles of `W` columns.
    #[inline(always)]
    fn by_tiles<const W: usize, const FUSED: bool>(self) {
        let Product { shape: [m, k, n], a, b, beta, c, b_copy, a_copy } = self;
        // What is used again and again from beyond the second-level cache is copied too.
        let copy_a = m > MC;
        for jc in (0..n).step_by(NC) {
            let columns = NC.min(n - jc);
            for pc in (0..k.max(1)).step_by(KC) {
                let terms = KC.min(k - pc);
                let onto = if pc == 0 { Some(beta) } else { None };
                for ic in (0..m).step_by(MC) {
                    let rows = MC.min(m - ic);
                    if copy_a {
                        for ir in (0..rows).step_by(MR) {
                            let height = MR.min(rows - ir);
                            // SAFETY: as below.
                            unsafe {
                                let from = Raw { start: a.at(ic + ir, pc), ..a };
                                copy_rows(terms, height, from, a_copy.add(ir * KC));
                            }
                        }
                    }
                    for jr in (0..columns).step_by(W) {
                        let width = W.min(columns - jr);
                        // SAFETY: the blocks lie within the shape, whose elements
                        // the caller has vouched for, and within the copies.
                        unsafe {
                            let panel = b_copy.add(jr * KC);
                            if ic == 0 {
                                let from = Raw { start: b.at(pc, jc + jr), ..b };
                                copy_columns::<T, W>(terms, width, from, panel);
                            }
                            for ir in (0..rows).step_by(MR) {
                                let height = MR.min(rows - ir);
                                let a = if copy_a {
                                    Raw {
                                        start: a_copy.add(ir * KC).cast_const(),
                                        strides: [1, MR],
                                    }
                                } else {
                                    Raw { start: a.at(ic + ir, pc), ..a }
                                };
                                let c = Raw { start: c.at(ic + ir, jc + jr), ..c };
                                (0..height).for_each(|i| prefetch(c.at(i, 0)));
                                let sums = tile::<T, W, FUSED>(terms, height, a, panel);
                                put(&sums, height, width, onto, c);
                            }
                        }
                    }
                }
            }
        }
    }
}

/// Copies `width` columns of `terms` numbers, row by row, with zeros in the columns
/// that are missing.
#[inline(always)]
unsafe fn copy_columns<T: Real, const NR: usize>(
    terms: usize,
    width: usize,
    from: Raw<*const T>,
    to: *mut T,
) {
    // SAFETY: the caller's.
    unsafe {
        for p in 0..terms {
            if width == NR && from.strides[1] == 1 {
                std::ptr::copy_nonoverlapping(from.at(p, 0), to.add(p * NR), NR);
            } else {
                for j in 0..NR {
                    *to.add(p * NR + j) = if j < width { *from.at(p, j) } else { T::ZERO };
                }
            }
        }
    }
}

/// Copies `MR` rows of `terms` numbers, column by column; rows from `height` on
/// repeat the last.
#[inline(always)]
unsafe fn copy_rows<T: Real>(terms: usize, height: usize, from: Raw<*const T>, to: *mut T) {
    // SAFETY: the caller's.
    unsafe {
        let rows: [*const T; MR] = std::array::from_fn(|i| from.at(i.min(height - 1), 0));
        for p in 0..terms {
            for (i, row) in rows.iter().enumerate() {
                *to.add(p * MR + i) = *row.add(p * from.strides[1]);
            }
        }
    }
}

/// `Σ_p A(i, p)·B(p, j)`, in the order of `p`; rows from `height` on repeat the last.
#[inline(always)]
unsafe fn tile<T: Real, const NR: usize, const FUSED: bool>(
    terms: usize,
    height: usize,
    a: Raw<*const T>,
    panel: *const T,
) -> [[T; NR]; MR] {
    let mut sums = [[T::ZERO; NR]; MR];
    // SAFETY: the caller's.
    unsafe {
        let rows: [*const T; MR] = std::array::from_fn(|i| a.at(i.min(height - 1), 0));
        for p in 0..terms {
            let b = &*panel.add(p * NR).cast::<[T; NR]>();
            for i in 0..MR {
                let a = *rows[i].add(p * a.strides[1]);
                for j in 0..NR {
                    let sum = &mut sums[i][j];
                    *sum = if FUSED { a.mul_add(b[j], *sum) } else { a * b[j] + *sum };
                }
            }
        }
    }
    sums
}

/// Asks for the line of `at` before it is needed.
#[inline(always)]
fn prefetch<T>(at: *const T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint; it never faults.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}

/// Puts a tile's sums onto `β·C`, or onto `C` where there is no `β`.
#[inline(always)]
unsafe fn put<T: Real, const NR: usize>(
    sums: &[[T; NR]; MR],
    height: usize,
    width: usize,
    onto: Option<T>,
    c: Raw<*mut T>,
) {
    // SAFETY: the caller's.
    unsafe {
        for (i, sums) in sums.iter().enumerate().take(height) {
            if width == NR && c.strides[1] == 1 {
                let c = &mut *c.at(i, 0).cast::<[T; NR]>();
                match onto {
                    Some(beta) if beta == T::ZERO => *c = *sums,
                    Some(beta) => (0..NR).for_each(|j| c[j] = beta * c[j] + sums[j]),
                    None => (0..NR).for_each(|j| c[j] += sums[j]),
                }
            } else {
                for (j, &sum) in sums.iter().enumerate().take(width) {
                    let c = c.at(i, j);
                    *c = match onto {
                        Some(beta) if beta == T::ZERO => sum,
                        Some(beta) => beta * *c + sum,
                        None => *c + sum,
                    };
                }
            }
        }
    }
}

//! Matrix products, by cuBLAS.
//!
//! A large product of f32 is made by tensor cores, which are an order of magnitude faster than
//! the GPU's other units, but read eleven binary digits of a number. A number of f32 has 24, so
//! it is cut into a high and a low part, and
//!
//! ```text
//! a·b ≈ low(a)·high(b) + high(a)·low(b) + high(a)·high(b)
//!     = [low(a) | high(a) | high(a)] · [high(b) | low(b) | high(b)]
//! ```
//!
//! one product with three times the inner side. What is missing, `low(a)·low(b)`, is 2⁻²² of the
//! whole; what tensor cores lose when they add, since they cut off rather than round, is up to 5e-6,
//! and least when small parts come first.

use std::ffi::c_void;

use cudarc::cublas::result::gemm_ex;
use cudarc::cublas::sys::{
    cublasComputeType_t as Compute, cublasGemmAlgo_t, cublasOperation_t, cudaDataType,
};

use super::Cuda;
use super::driver::{Shape, launch};
use super::memory::Room;
use crate::nn::machine::Precision;

/// Rows of a steady product.
const STEADY_ROWS: usize = 512;

/// A product in parts must be worth making them: its multiplications, and the shorter side of
/// the result, which is how often a number is used.
const PARTS_WORK: usize = 500_000_000;
const PARTS_SIDE: usize = 512;

/// The most numbers that parts may have: 256 MiB.
const PARTS_ROOM: usize = 1 << 26;

/// A matrix to multiply: its address and the way from row to row, or its transpose.
#[derive(Debug, Clone, Copy)]
pub(super) struct Factor {
    at: u64,
    stride: usize,
    transposed: bool,
}

impl Factor {
    pub(super) fn new((at, stride): (u64, usize)) -> Factor {
        Factor { at, stride, transposed: false }
    }

    /// The transpose.
    pub(super) fn t(self) -> Factor {
        Factor { transposed: !self.transposed, ..self }
    }

    fn operation(self) -> cublasOperation_t {
        match self.transposed {
            false => cublasOperation_t::CUBLAS_OP_N,
            true => cublasOperation_t::CUBLAS_OP_T,
        }
    }
}

/// Where products put what only they need.
#[derive(Default)]
pub(super) struct Scratch {
    /// Rows in and rows out of a product that has fewer than [`STEADY_ROWS`].
    x: Room<f32>,
    y: Room<f32>,
    /// Both matrices in parts.
    parts: Room<f32>,
    /// Both matrices in bf16.
    rounded: Room<u16>,
}

/// What cuBLAS reads and how it multiplies.
type Reading = (cudaDataType, Compute);

const F32: Reading = (cudaDataType::CUDA_R_32F, Compute::CUBLAS_COMPUTE_32F);
const TF32: Reading = (cudaDataType::CUDA_R_32F, Compute::CUBLAS_COMPUTE_32F_FAST_TF32);
const BF16: Reading = (cudaDataType::CUDA_R_16BF, Compute::CUBLAS_COMPUTE_32F);

impl Cuda {
    /// `C ← A·B + keep·C`, of shape `rows × columns`, the sums over `inner` products.
    pub(super) fn product(
        &self,
        [rows, columns, inner]: [usize; 3],
        a: Factor,
        b: Factor,
        keep: f32,
        (c, stride): (u64, usize),
    ) {
        if rows == 0 || columns == 0 || !self.gpu.ready() {
            return;
        }
        if inner == 0 {
            if keep == 0.0 {
                self.copy((0, 0), (c, stride), rows, columns);
            }
            return;
        }
        let worth = rows * columns * inner >= PARTS_WORK
            && rows.min(columns) >= PARTS_SIDE
            && 3 * inner * (rows + columns) <= PARTS_ROOM;
        let scratch = &mut self.transfer().scratch;
        if worth && self.precision == Precision::F32 && self.gpu.reads_f32 {
            self.product_in_parts(scratch, [rows, columns, inner], a, b, keep, (c, stride));
        } else {
            self.product_at_once(scratch, [rows, columns, inner], a, b, keep, (c, stride));
        }
    }

    fn product_in_parts(
        &self,
        scratch: &mut Scratch,
        [rows, columns, inner]: [usize; 3],
        a: Factor,
        b: Factor,
        keep: f32,
        c: (u64, usize),
    ) {
        let wide = (3 * inner).next_multiple_of(8);
        let room = &mut scratch.parts;
        room.reserve(&self.gpu, wide * (rows + columns));
        let (a_parts, b_parts) = ((room.at(0), wide), (room.at(wide * rows), wide));
        // Both along the inner side: tensor cores read f32 in no other order.
        for (factor, along, count, second, to) in
            [(a, !a.transposed, rows, 0u32, a_parts), (b, b.transposed, columns, 1, b_parts)]
        {
            let grid = (count.div_ceil(32) as u32, inner.div_ceil(32) as u32);
            launch!(
                self.gpu,
                parts,
                Shape { grid, block: (32, 8), shared: 0 },
                factor.at,
                factor.stride as u64,
                count as u32,
                inner as u32,
                u32::from(!along),
                second,
                to.0,
                wide as u64,
            );
        }
        let (a, b) = (Factor::new(a_parts), Factor::new(b_parts).t());
        self.multiply([rows, columns, 3 * inner], a, b, keep, c, TF32);
    }

    fn product_at_once(
        &self,
        scratch: &mut Scratch,
        shape: [usize; 3],
        a: Factor,
        b: Factor,
        keep: f32,
        c: (u64, usize),
    ) {
        match self.precision {
            Precision::Bf16 if self.gpu.reads_f32 => {
                let (a, b) = self.rounded(&mut scratch.rounded, shape, a, b);
                self.multiply(shape, a, b, keep, c, BF16);
            }
            Precision::Tf32 if self.gpu.reads_f32 => self.multiply(shape, a, b, keep, c, TF32),
            _ => self.multiply(shape, a, b, keep, c, F32),
        }
    }

    /// Both matrices in bf16. cuBLAS could round by itself, but then rounds to more digits than
    /// it is asked to wherever it finds that as fast.
    fn rounded(
        &self,
        room: &mut Room<u16>,
        [rows, columns, inner]: [usize; 3],
        a: Factor,
        b: Factor,
    ) -> (Factor, Factor) {
        // As they lie there, whether they are multiplied so or transposed.
        let lying = |factor: Factor, rows: usize, columns: usize| match factor.transposed {
            false => (rows, columns, columns.next_multiple_of(8)),
            true => (columns, rows, rows.next_multiple_of(8)),
        };
        let (of_a, of_b) = (lying(a, rows, inner), lying(b, inner, columns));
        room.reserve(&self.gpu, of_a.0 * of_a.2 + of_b.0 * of_b.2);
        let round = |factor: Factor, (rows, columns, stride): (usize, usize, usize), at: u64| {
            launch!(
                self.gpu,
                round_bf16,
                Shape::elements(rows, columns),
                factor.at,
                factor.stride as u64,
                rows as u32,
                columns as u32,
                at,
                stride as u64,
            );
            Factor { at, stride, ..factor }
        };
        (round(a, of_a, room.at(0)), round(b, of_b, room.at(of_a.0 * of_a.2)))
    }

    fn multiply(
        &self,
        [rows, columns, inner]: [usize; 3],
        a: Factor,
        b: Factor,
        keep: f32,
        (c, stride): (u64, usize),
        (read, compute): Reading,
    ) {
        let one = 1f32;
        let float = cudaDataType::CUDA_R_32F;
        let scalar = |value: &f32| std::ptr::from_ref(value).cast::<c_void>();
        // cuBLAS counts column by column: to it our rows are columns, and Cᵀ = Bᵀ·Aᵀ.
        // SAFETY: the windows lie within their buffers.
        let made = unsafe {
            gemm_ex(
                self.gpu.blas(),
                b.operation(),
                a.operation(),
                columns as i32,
                rows as i32,
                inner as i32,
                scalar(&one),
                b.at as *const c_void,
                read,
                b.stride as i32,
                a.at as *const c_void,
                read,
                a.stride as i32,
                scalar(&keep),
                c as *mut c_void,
                float,
                stride as i32,
                compute,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        self.gpu.check_blas(made);
    }

    /// `Y = X·W`, always so many rows at a time: cuBLAS chooses how to add by the
    /// shape of a product, and this one's never changes.
    pub(super) fn steady_product(
        &self,
        [rows, columns, inner]: [usize; 3],
        (x, x_stride): (u64, usize),
        w: Factor,
        (y, y_stride): (u64, usize),
    ) {
        let shape = [STEADY_ROWS, columns, inner];
        let bytes = |rows: usize, stride: usize| (rows * stride * size_of::<f32>()) as u64;
        let scratch = &mut self.transfer().scratch;
        for start in (0..rows).step_by(STEADY_ROWS) {
            let (x, y) = (x + bytes(start, x_stride), y + bytes(start, y_stride));
            let count = STEADY_ROWS.min(rows - start);
            if count == STEADY_ROWS {
                let x = Factor::new((x, x_stride));
                self.product_at_once(scratch, shape, x, w, 0.0, (y, y_stride));
                continue;
            }
            // The rest of the rows are whatever was there, and so is what becomes of them.
            scratch.x.reserve(&self.gpu, STEADY_ROWS * x_stride);
            scratch.y.reserve(&self.gpu, STEADY_ROWS * y_stride);
            let (from, to) = ((scratch.x.at(0), x_stride), (scratch.y.at(0), y_stride));
            self.copy((x, x_stride), from, count, inner);
            self.product_at_once(scratch, shape, Factor::new(from), w, 0.0, to);
            self.copy(to, (y, y_stride), count, columns);
        }
    }
}

//! Matrix products, by cuBLAS.

use std::ffi::c_void;

use cudarc::cublas::result::gemm_ex;
use cudarc::cublas::sys::{
    cublasComputeType_t as Compute, cublasGemmAlgo_t, cublasOperation_t, cudaDataType,
};

use super::Cuda;
use super::memory::Room;
use crate::nn::machine::Precision;

/// Rows of a steady product.
const STEADY_ROWS: usize = 512;

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

/// Rows in and rows out of a product that has fewer than [`STEADY_ROWS`].
#[derive(Default)]
pub(super) struct Scratch {
    x: Room<f32>,
    y: Room<f32>,
}

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
        if rows == 0 || columns == 0 || !self.card.ready() {
            return;
        }
        if inner == 0 {
            if keep == 0.0 {
                self.copy((0, 0), (c, stride), rows, columns);
            }
            return;
        }
        let one = 1f32;
        let compute = match self.precision {
            Precision::F32 => Compute::CUBLAS_COMPUTE_32F,
            Precision::Tf32 => Compute::CUBLAS_COMPUTE_32F_FAST_TF32,
            Precision::Bf16 => Compute::CUBLAS_COMPUTE_32F_FAST_16BF,
        };
        let float = cudaDataType::CUDA_R_32F;
        let scalar = |value: &f32| std::ptr::from_ref(value).cast::<c_void>();
        // cuBLAS counts column by column: to it our rows are columns, and Cᵀ = Bᵀ·Aᵀ.
        // SAFETY: the windows lie within their buffers.
        let made = unsafe {
            gemm_ex(
                self.card.blas(),
                b.operation(),
                a.operation(),
                columns as i32,
                rows as i32,
                inner as i32,
                scalar(&one),
                b.at as *const c_void,
                float,
                b.stride as i32,
                a.at as *const c_void,
                float,
                a.stride as i32,
                scalar(&keep),
                c as *mut c_void,
                float,
                stride as i32,
                compute,
                cublasGemmAlgo_t::CUBLAS_GEMM_DEFAULT,
            )
        };
        self.card.check_blas(made);
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
        for start in (0..rows).step_by(STEADY_ROWS) {
            let (x, y) = (x + bytes(start, x_stride), y + bytes(start, y_stride));
            let count = STEADY_ROWS.min(rows - start);
            if count == STEADY_ROWS {
                self.product(shape, Factor::new((x, x_stride)), w, 0.0, (y, y_stride));
                continue;
            }
            // The rest of the rows are whatever was there, and so is what becomes of them.
            let scratch = &mut self.way().scratch;
            scratch.x.reserve(&self.card, STEADY_ROWS * x_stride);
            scratch.y.reserve(&self.card, STEADY_ROWS * y_stride);
            let (from, to) = ((scratch.x.at(0), x_stride), (scratch.y.at(0), y_stride));
            self.copy((x, x_stride), from, count, inner);
            self.product(shape, Factor::new(from), w, 0.0, to);
            self.copy(to, (y, y_stride), count, columns);
        }
    }
}

//! The GPU itself: opening it, compiling for it, giving it work, and what it says
//! when something goes wrong.

use std::ffi::{CString, c_char, c_void};
use std::sync::{Arc, OnceLock};

use cudarc::cublas;
use cudarc::driver::result::launch_kernel;
use cudarc::driver::sys::{CUdevice_attribute as Attribute, CUfunction_attribute_enum};
use cudarc::driver::sys::{CUmemPool_attribute, CUresult};
use cudarc::driver::{self, CudaContext, CudaEvent, CudaFunction, CudaSlice, CudaStream};
use cudarc::driver::{DeviceRepr, DriverError, PinnedHostSlice, result};
use cudarc::nvrtc::{self, Ptx};

use crate::error::{Advice, Error, Fix, Opt, Result};

/// The kernels' source; later files use what earlier ones define.
const SOURCE: &str = concat!(
    include_str!("krylov.cu"),
    include_str!("relations.cu"),
    include_str!("dense.cu"),
    include_str!("parts.cu"),
    include_str!("segments.cu"),
    include_str!("pairs.cu"),
    include_str!("adam.cu"),
    include_str!("place.cu"),
);

/// The oldest GPUs that are compiled for.
const OLDEST: (i32, i32) = (7, 0);

/// The oldest GPUs whose tensor cores read numbers of 32 bits, the first 19 of them.
const TENSOR_CORES_READ_F32: (i32, i32) = (8, 0);

/// What cuBLAS may use for itself: the size its manual recommends for the newest GPUs.
const WORKSPACE: usize = 32 << 20;

macro_rules! kernels {
    ($($name:ident),* $(,)?) => {
        /// The compiled kernels.
        pub(super) struct Kernels {
            $(pub(super) $name: CudaFunction,)*
        }

        impl Kernels {
            fn load(context: &Arc<CudaContext>, code: Vec<u8>) -> std::result::Result<Kernels, DriverError> {
                let module = context.load_module(Ptx::from_binary(code))?;
                Ok(Kernels { $($name: module.load_function(stringify!($name))?,)* })
            }
        }
    };
}

kernels!(
    krylov_graphs,
    krylov_hop,
    relations_hop,
    relations_vjp_c,
    activate,
    activate_vjp,
    signed_log,
    signed_log_vjp,
    column_sums,
    copy,
    parts,
    round_bf16,
    pool,
    pool_vjp,
    readout,
    readout_vjp,
    drawn_rows,
    drawn_rows_vjp,
    positive_column,
    positive_column_vjp,
    pair_rows,
    unit_rows,
    unit_rows_vjp,
    adam,
    gather,
    gather_rows,
);

/// The shape of a launch: blocks, threads a block, bytes of shared memory a block.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) grid: (u32, u32),
    pub(super) block: (u32, u32),
    pub(super) shared: u32,
}

impl Shape {
    /// A thread an element of a matrix: threads are (column, row), blocks (rows, columns),
    /// since there may be more rows than a grid's second side allows.
    pub(super) fn elements(rows: usize, columns: usize) -> Shape {
        let grid = (rows.div_ceil(4) as u32, columns.div_ceil(64) as u32);
        Shape { grid, block: (64, 4), shared: 0 }
    }

    /// A block for 32 columns of a graph.
    pub(super) fn graphs(graphs: usize, columns: usize) -> Shape {
        let grid = (graphs as u32, columns.div_ceil(32) as u32);
        Shape { grid, block: (32, 32), shared: 0 }
    }

    /// A warp a row.
    pub(super) fn warps(rows: usize) -> Shape {
        Shape { grid: (rows.div_ceil(8) as u32, 1), block: (32, 8), shared: 0 }
    }
}

/// Gives a kernel its arguments, whose types must be those of its source.
macro_rules! launch {
    ($gpu:expr, $kernel:ident, $shape:expr, $($argument:expr),* $(,)?) => {
        // SAFETY: the arguments live until the call returns, and the kernel's
        // parameters are of these types.
        unsafe {
            $gpu.launch(&$gpu.kernels.$kernel, $shape, &mut [
                $(std::ptr::from_ref(&$argument).cast_mut().cast::<std::ffi::c_void>()),*
            ])
        }
    };
}
pub(super) use launch;

/// What failed first.
struct Failure {
    problem: String,
    fix: Fix,
}

/// A GPU, ready to work: one stream, in whose order everything happens.
pub(super) struct Gpu {
    name: String,
    context: Arc<CudaContext>,
    pub(super) stream: Arc<CudaStream>,
    blas: cublas::CudaBlas,
    pub(super) kernels: Kernels,
    /// Shared memory a block may have, in bytes.
    pub(super) shared: usize,
    /// Whether its tensor cores read f32, and bf16.
    pub(super) reads_f32: bool,
    failure: OnceLock<Failure>,
    /// What cuBLAS works in; held for as long as it does.
    _workspace: CudaSlice<u8>,
}

// What a user can do.
const TOOLKIT: &str = "install CUDA 12 or 13 and put its libraries on LD_LIBRARY_PATH";
const NAME_IT: &str = "name one that is there";
const CHECK: &str = "check with nvidia-smi that the GPU works";

impl Gpu {
    /// Opens GPU number `ordinal`.
    pub(super) fn open(ordinal: usize) -> Result<Gpu> {
        let name = format!("cuda:{ordinal}");
        let fail = |problem: String, fix: &'static str| Error::device(&name, problem, fix);
        // SAFETY: looking for a library runs nothing but its own initialisers.
        let present = unsafe {
            [
                (driver::sys::is_culib_present(), "libcuda", "install NVIDIA's driver"),
                (nvrtc::sys::is_culib_present(), "libnvrtc", TOOLKIT),
                (cublas::sys::is_culib_present(), "libcublas", TOOLKIT),
            ]
        };
        if let Some((_, library, fix)) = present.into_iter().find(|(present, ..)| !present) {
            return Err(fail(format!("{library} is not on this machine"), fix));
        }
        let said = |error: DriverError| fail(explain(error.0), CHECK);
        result::init().map_err(said)?;
        let count = CudaContext::device_count().map_err(said)?.max(0) as usize;
        if ordinal >= count {
            return Err(match count {
                0 => said(DriverError(CUresult::CUDA_ERROR_NO_DEVICE)),
                1 => fail("there is one GPU, cuda:0".to_owned(), NAME_IT),
                _ => fail(format!("there are cuda:0 to cuda:{}", count - 1), NAME_IT),
            });
        }
        let context = CudaContext::new(ordinal).map_err(said)?;
        // One stream orders everything; events between buffers would only cost time.
        // SAFETY: no second stream ever touches a buffer.
        unsafe { context.disable_event_tracking() };
        keep_freed_memory(&context);
        let capability = context.compute_capability().map_err(said)?;
        if capability < OLDEST {
            let (major, minor) = capability;
            let problem = format!("its compute capability is {major}.{minor}");
            return Err(fail(problem, "use a GPU of 7.0 (Volta) or newer"));
        }
        let code = compile(capability)
            .map_err(|problem| fail(problem, "update CUDA and NVIDIA's driver together"))?;
        let kernels = Kernels::load(&context, code).map_err(said)?;
        let shared = Attribute::CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN;
        let shared = context.attribute(shared).map_err(said)?.max(0);
        let allow = CUfunction_attribute_enum::CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES;
        kernels.krylov_graphs.set_attribute(allow, shared).map_err(said)?;
        let stream = context.new_stream().map_err(said)?;
        // SAFETY: cuBLAS writes it before reading.
        let workspace = unsafe { stream.alloc::<u8>(WORKSPACE) }.map_err(said)?;
        let blas = cublas::CudaBlas::new(Arc::clone(&stream))
            .map_err(|error| fail(format!("cuBLAS does not start: {error:?}"), CHECK))?;
        let at = pointer(&workspace, &stream);
        // SAFETY: the workspace lives as long as the handle.
        unsafe { cublas::sys::cublasSetWorkspace_v2(*blas.handle(), at as *mut c_void, WORKSPACE) }
            .result()
            .map_err(|error| fail(format!("cuBLAS does not start: {error:?}"), CHECK))?;
        Ok(Gpu {
            name,
            context,
            stream,
            blas,
            kernels,
            shared: shared as usize,
            reads_f32: capability >= TENSOR_CORES_READ_F32,
            failure: OnceLock::new(),
            _workspace: workspace,
        })
    }

    /// Its number and what its maker calls it.
    pub(super) fn describe(&self) -> String {
        format!("{} ({})", self.name, self.context.name().unwrap_or_default())
    }

    /// Free bytes and all bytes; what is [kept](keep_freed_memory) for the next who asks is free.
    pub(super) fn memory(&self) -> (usize, usize) {
        let (free, all) = self.context.mem_get_info().unwrap_or((0, 0));
        (free + kept_memory(&self.context), all)
    }

    /// cuBLAS's handle.
    pub(super) fn blas(&self) -> cublas::sys::cublasHandle_t {
        *self.blas.handle()
    }

    /// Whether work may be given: not after a failure, which is never forgotten.
    /// The caller's thread is made the GPU's.
    pub(super) fn ready(&self) -> bool {
        self.failure.get().is_none() && self.check(self.context.bind_to_thread()).is_some()
    }

    /// The first failure, as an error.
    pub(super) fn health(&self) -> Result<()> {
        match self.failure.get() {
            None => Ok(()),
            Some(Failure { problem, fix }) => {
                Err(Error::device(&self.name, problem.clone(), fix.clone()))
            }
        }
    }

    fn fail(&self, problem: String, fix: impl Into<Fix>) {
        // Only the first counts: those after follow from it.
        let _ = self.failure.set(Failure { problem, fix: fix.into() });
    }

    /// What a call of the driver gave, or nothing after noting its failure.
    pub(super) fn check<T>(&self, result: std::result::Result<T, DriverError>) -> Option<T> {
        result.map_err(|error| self.fail(explain(error.0), CHECK)).ok()
    }

    /// As [`check`](Gpu::check), of cuBLAS.
    pub(super) fn check_blas(&self, result: std::result::Result<(), cublas::result::CublasError>) {
        if let Err(error) = result {
            self.fail(format!("a matrix product failed: {:?}", error.0), CHECK);
        }
    }

    /// Runs a kernel, after all that was given before.
    ///
    /// # Safety
    /// The arguments are what the kernel's source says.
    pub(super) unsafe fn launch(
        &self,
        kernel: &CudaFunction,
        shape: Shape,
        arguments: &mut [*mut c_void],
    ) {
        let Shape { grid, block, shared } = shape;
        if grid.0 == 0 || grid.1 == 0 || !self.ready() {
            return;
        }
        let (grid, block) = ((grid.0, grid.1, 1), (block.0, block.1, 1));
        let stream = self.stream.cu_stream();
        // SAFETY: the caller's promise.
        let launched =
            unsafe { launch_kernel(kernel.cu_function(), grid, block, shared, stream, arguments) };
        self.check(launched);
    }

    /// Memory for `len` things, of which nothing is said.
    pub(super) fn allocate<T: DeviceRepr>(&self, len: usize) -> Option<CudaSlice<T>> {
        if !self.ready() {
            return None;
        }
        // SAFETY: all users write before they read.
        match unsafe { self.stream.alloc::<T>(len.max(1)) } {
            Ok(memory) => Some(memory),
            Err(DriverError(CUresult::CUDA_ERROR_OUT_OF_MEMORY)) => {
                let mib = |bytes: usize| bytes >> 20;
                let (free, all) = self.memory();
                let problem = format!(
                    "its memory is full: {} MiB are wanted, {} of {} MiB are free",
                    mib(len * size_of::<T>()),
                    mib(free),
                    mib(all)
                );
                self.fail(problem, Advice::Lower(&[Opt::BATCH, Opt::DIM]));
                None
            }
            Err(error) => self.check(Err(error)),
        }
    }

    /// Memory of this machine that the GPU can read by itself.
    pub(super) fn pinned(&self, len: usize) -> Option<PinnedHostSlice<u32>> {
        // SAFETY: all users write before they read.
        self.check(unsafe { self.context.alloc_pinned(len) })
    }

    /// A mark in the order of work.
    pub(super) fn event(&self) -> Option<CudaEvent> {
        self.check(self.context.new_event(None))
    }

    /// Zeros `bytes` bytes.
    pub(super) fn zero(&self, at: u64, bytes: usize) {
        if bytes > 0 && self.ready() {
            // SAFETY: the room at `at` was made for as many bytes.
            let stream = self.stream.cu_stream();
            self.check(unsafe { result::memset_d8_async(at, 0, bytes, stream) });
        }
    }

    /// Begins to copy words to the GPU; they must stay as they are until that is done.
    pub(super) fn send(&self, words: &[u32], to: u64) {
        // SAFETY: the room at `to` was made for as many words, and staging keeps them.
        self.check(unsafe { result::memcpy_htod_async(to, words, self.stream.cu_stream()) });
    }

    /// Copies `to.len()` things from the GPU, after all work given is done.
    pub(super) fn fetch<T>(&self, from: u64, to: &mut [T]) {
        if self.ready() {
            // SAFETY: `to` lives until the copy is waited for.
            self.check(unsafe { result::memcpy_dtoh_async(to, from, self.stream.cu_stream()) });
            self.wait();
        }
    }

    /// Waits until all work given is done.
    pub(super) fn wait(&self) {
        if self.ready() {
            self.check(self.stream.synchronize());
        }
    }
}

/// Tells the driver to keep memory that is freed for the next who asks: batches come and
/// go, and giving memory back to the GPU waits for all its work. A GPU without pools
/// stays as it is.
fn keep_freed_memory(context: &CudaContext) {
    let mut all = u64::MAX;
    let threshold = CUmemPool_attribute::CU_MEMPOOL_ATTR_RELEASE_THRESHOLD;
    // SAFETY: the device is the context's own, and this attribute is a u64.
    unsafe {
        if let Ok(pool) = result::device::get_default_mem_pool(context.cu_device()) {
            let value = std::ptr::from_mut(&mut all).cast();
            let _ = result::mem_pool::set_attribute(pool, threshold, value);
        }
    }
}

/// Bytes that were freed and kept.
fn kept_memory(context: &CudaContext) -> usize {
    let read = |attribute| {
        let mut bytes = 0u64;
        // SAFETY: the device is the context's own, and both attributes read here are u64.
        unsafe {
            let pool = result::device::get_default_mem_pool(context.cu_device())?;
            result::mem_pool::get_attribute(
                pool,
                attribute,
                std::ptr::from_mut(&mut bytes).cast(),
            )?;
        }
        Ok::<_, DriverError>(bytes)
    };
    let reserved = read(CUmemPool_attribute::CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT);
    let used = read(CUmemPool_attribute::CU_MEMPOOL_ATTR_USED_MEM_CURRENT);
    match (reserved, used) {
        (Ok(reserved), Ok(used)) => reserved.saturating_sub(used) as usize,
        _ => 0,
    }
}

/// Where memory begins.
pub(super) fn pointer<T>(memory: &CudaSlice<T>, stream: &CudaStream) -> u64 {
    use cudarc::driver::DevicePtr;
    memory.device_ptr(stream).0
}

fn explain(code: CUresult) -> String {
    let error = DriverError(code);
    match code {
        CUresult::CUDA_ERROR_NO_DEVICE => "there is no NVIDIA GPU on this machine".to_owned(),
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => "its memory is full".to_owned(),
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION => {
            format!("its driver is too old ({code:?})")
        }
        _ => match error.error_string() {
            Ok(text) => format!("{} ({code:?})", text.to_string_lossy()),
            Err(_) => format!("{code:?}"),
        },
    }
}

/// The kernels' code for GPUs of one compute capability: machine code, so that the
/// driver has nothing left to compile and need not know the compiler's version.
fn compile((major, minor): (i32, i32)) -> std::result::Result<Vec<u8>, String> {
    let said = |error: nvrtc::result::NvrtcError| format!("NVRTC failed: {:?}", error.0);
    let source = CString::new(SOURCE).map_err(|error| error.to_string())?;
    let program = nvrtc::result::create_program(&source, Some(c"hg2v.cu")).map_err(said)?;
    let options = [format!("--gpu-architecture=sm_{major}{minor}"), "--std=c++17".to_owned()];
    // SAFETY: the program is destroyed last, and the code's size is asked before it is read.
    unsafe {
        let compiled = nvrtc::result::compile_program(program, &options);
        let code = compiled.and_then(|()| {
            let mut size = 0;
            nvrtc::sys::nvrtcGetCUBINSize(program, &mut size).result()?;
            let mut code = vec![0u8; size];
            nvrtc::sys::nvrtcGetCUBIN(program, code.as_mut_ptr().cast::<c_char>()).result()?;
            Ok(code)
        });
        let log = nvrtc::result::get_program_log(program).unwrap_or_default();
        let _ = nvrtc::result::destroy_program(program);
        code.map_err(|error| {
            let log: Vec<u8> = log.into_iter().map(|c| c as u8).filter(|&c| c != 0).collect();
            format!("{} {}", said(error), String::from_utf8_lossy(&log))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[allow(clippy::print_stderr)]
    fn the_kernels_compile_for_every_generation() {
        // SAFETY: looking for a library runs nothing but its own initialisers.
        if !unsafe { nvrtc::sys::is_culib_present() } {
            eprintln!("skipped: libnvrtc is not on this machine");
            return;
        }
        for capability in [(8, 0), (9, 0), (10, 0)] {
            assert!(!compile(capability).unwrap().is_empty(), "{capability:?}");
        }
    }
}

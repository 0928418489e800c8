//! The network's operators, each beside the equation it computes.
//!
//! Every operator is a `forward` and a `vjp` (vector–Jacobian product): given the
//! gradient of a loss by the operator's output, the `vjp` gives the gradients by
//! its inputs and parameters.
//!
//! 1. [`krylov`]: `K = [g, Ãg, …, Ãᵃg]`;
//!    [`relations`]: where they are asked for, one block more of `K`, `Σ_r c_r ⊙ (R_r·g)`;
//! 2. [`dense`]: `[h | x] = tanh(K·[θ₁ | θ₄] + b)`;
//! 3. [`pool`] and [`dense`]: `g' = Pool(h)·θ₂ + θ₃`;
//! 4. [`pairs`]: the loss of one level, between `x` and `g'`, or those of `g'` that [`draw`] chose;
//! 5. [`readout`]: one vector a graph, [`signed_log`] of it where that is asked for;
//! 6. [`hg2v_math::adam`]: one step down.
//!
//! Letters: `N` nodes and `M` super-nodes of a batch of `B` graphs on one level,
//! `w` numbers a node coming in, `d` going out, `a` hops. Matrices are row-major.

pub(crate) mod batch;
mod cpu;
#[cfg(feature = "cuda")]
pub(crate) mod cuda;
pub(crate) mod dense;
pub(crate) mod device;
pub(crate) mod draw;
mod hop;
pub(crate) mod krylov;
pub(crate) mod machine;
pub(crate) mod pairs;
pub(crate) mod pool;
pub(crate) mod readout;
pub(crate) mod relations;
pub(crate) mod signed_log;

pub use batch::Batch;
pub(crate) use batch::BatchLevel;
pub use cpu::Cpu;
pub(crate) use device::Device;
pub use relations::Relations;

//! Support vector machines, exactly as LIBSVM and scikit-learn's `SVC` define them.
//!
//! 1. [`kernel`]: inner products become kernel values;
//! 2. [`smo`]: one machine for two classes;
//! 3. [`ovo`]: one machine for each pair of classes, and a vote.

pub mod kernel;

pub mod smo;

pub mod ovo;

pub use kernel::{Gamma, Gram, Kernel};
pub use ovo::{Svc, SvcParams};
pub use smo::Solution;

//! Linear algebra on slices: what eigenpairs of any matrix are made of.

pub mod block;
pub mod cholesky;
pub mod dense;
pub mod subspace;
pub mod tridiagonal;
pub mod vector;

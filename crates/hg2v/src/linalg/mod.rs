//! The k smallest eigenpairs of a Laplacian, by whichever way is right for its
//! size and shape.
//!
//! | graph | solver |
//! |---|---|
//! | a few dozen nodes | [`hg2v_math::linalg::dense`]: Householder tridiagonalisation, implicit QL |
//! | any graph that factors without much fill (molecules, trees, threads, images) | `lanczos` on the pseudo-inverse, applied by the sparse factor of `ldl` |
//! | large graphs that fill (meshes, social networks) | `lobpcg`, started and preconditioned by the `multilevel` hierarchy |
//!
//! `spectrum` chooses, and checks the residuals.

pub(crate) mod lanczos;
pub(crate) mod ldl;
pub(crate) mod lobpcg;
pub(crate) mod multilevel;
pub(crate) mod operator;
#[cfg(test)]
mod oracle;
pub(crate) mod spectrum;

pub(crate) use operator::Operator;
pub(crate) use spectrum::smallest_eigenpairs;

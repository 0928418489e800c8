//! What the crates of hg2v compute with: threads, random numbers, matrix products and small
//! eigenproblems.
//!
//! These are internals. They are a crate because hg2v and its siblings share them, they know nothing
//! of graphs, and they promise nothing: any release may change or remove what is here. What is meant
//! for use is [`hg2v`](https://docs.rs/hg2v).
//!
//! | module | |
//! |---|---|
//! | [`parallel`] | work shared among threads, and the failure that is told |
//! | [`rng`] | random numbers that do not depend on threads |
//! | [`gemm`] | products of matrices, the same bits on any number of threads |
//! | [`simd`] | loops over `f32`, compiled for several instruction sets |
//! | [`adam`], [`schedule`] | how far a step of training goes, and which graphs it sees |
//! | [`linalg`] | vectors, definite systems, and eigenpairs of dense and tridiagonal matrices |

pub mod parallel;

pub mod rng;

mod kernel;
mod real;
pub mod simd;

pub mod gemm;

pub mod adam;
pub mod schedule;

pub mod linalg;

pub use real::Real;

/// Setters for the fields of settings, each with its field's name, so that they are chained and
/// fields can be added: `Recipe::default().epochs(5).seed(7)`.
#[macro_export]
macro_rules! setters {
    ($settings:ident { $($field:ident: $kind:ty),+ $(,)? }) => {
        impl $settings {
            $(
                #[doc = concat!("The same with this `", stringify!($field), "`.")]
                #[must_use]
                pub fn $field(mut self, $field: $kind) -> Self {
                    self.$field = $field;
                    self
                }
            )+
        }
    };
}

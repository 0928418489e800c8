//! How good are the vectors? Classifiers and protocols as scikit-learn defines them.
//!
//! The pipeline, one way:
//!
//! 1. [`split`]: who is trained on and who is tested, stratified, from a seed;
//! 2. [`scale`]: columns get mean 0 and variance 1, fitted on the training part;
//! 3. [`svm`], [`knn`], [`logistic`]: classifiers;
//! 4. [`select`]: C and γ chosen by cross-validation inside the training part;
//!    [`classifiers`] chooses the settings of other classifiers alike;
//! 5. [`metrics`]: accuracies and how they spread;
//! 6. [`method`]: what a method is, by what it makes of graphs;
//! 7. [`controls`]: a model of other graphs, and the largest class;
//! 8. [`study`]: methods of all roles on the same splits;
//! 9. [`model_grid`]: several shapes of HG2V's network, and the best of them;
//! 10. [`evaluation`]: what came out, as `hg2v evaluate --json` says it.
//!
//! ```
//! use hg2v_eval::{Matrix, select, split};
//!
//! let rows: Vec<[f32; 2]> = (0..40).map(|i| [(i % 2) as f32, (i % 7) as f32]).collect();
//! let labels: Vec<u32> = (0..40).map(|i| i % 2).collect();
//! let x = Matrix::from_f32_rows(&rows)?;
//! let outer = split::stratified_shuffle(&labels, 0.2, 1, 0)?;
//! let outcome = select::evaluate(&x, &labels, &outer, &select::Protocol::default())?;
//! assert_eq!(outcome.accuracy, 1.0);
//! # Ok::<(), hg2v_eval::Error>(())
//! ```
//!
//! The same input and seed give the same bits at any number of threads.

pub mod error;
mod gemm;
pub mod matrix;

pub mod split;

pub mod scale;

pub mod knn;
pub mod logistic;
pub mod svm;

pub mod classifiers;
pub mod select;

pub mod metrics;

pub mod method;

pub mod controls;

pub mod study;

pub mod model_grid;

pub mod evaluation;

pub use error::{Error, Result};
pub use matrix::Matrix;
pub use metrics::Score;
pub use split::Split;

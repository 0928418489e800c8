//! How good are the vectors? Classifiers and protocols as scikit-learn defines them.
//!
//! The pipeline, one way:
//!
//! 1. [`split`]: who is trained on and who is tested, stratified, from a seed;
//! 2. [`goal`]: what is to be predicted, classes or numbers;
//! 3. [`scale`]: columns get mean 0 and variance 1, fitted on the training part;
//! 4. [`svm`], [`knn`], [`logistic`]: classifiers; [`ridge`]: numbers;
//! 5. [`select`]: C and γ chosen by cross-validation inside the training part, [`regress`] α and γ;
//!    [`classifiers`] chooses the settings of other judges alike;
//! 6. [`metrics`]: accuracies, errors, and how they spread;
//! 7. [`method`]: what a method is, by what it makes of graphs;
//! 8. [`controls`]: a model of other graphs, and the largest class;
//! 9. [`study`]: methods of all roles on the same splits;
//! 10. [`model_grid`]: several shapes of HG2V's network, and the best of them;
//! 11. [`evaluation`]: what came out, as `hg2v evaluate --json` says it.
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
mod frame;
mod gemm;
pub mod matrix;

pub mod split;

pub mod goal;

pub mod scale;

pub mod knn;
pub mod logistic;
pub mod ridge;
pub mod svm;

pub mod classifiers;
pub mod regress;
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

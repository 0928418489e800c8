//! Experiments: methods compared, the paper's tables and figures made again, results kept.
//!
//! 1. [`environment`]: what experiments run in, and who hears how they go;
//! 2. [`evaluate`]: vectors beside their controls;
//! 3. [`compare`]: every method on the same splits;
//! 4. [`reproduce`]: the paper's tables and figures;
//! 5. [`table`]: what came out, for people to look at.
//!
//! What is run, and what the paper found, stands in the files of `experiments/configs`. Nothing
//! here prints. An experiment takes a plan and an [`Environment`], keeps its results in a folder,
//! split by split so that nothing is run twice, and returns them; whoever runs it hears an
//! [`Event`] now and then.
//!
//! ```
//! use hg2v_experiments::reproduce::{Experiment, known};
//!
//! let folder = std::path::Path::new("nowhere");
//! let tables = known(Experiment::Table2, false, folder)?;
//! assert_eq!(tables[0].header[0], "set");
//! assert!(tables[0].rows.is_empty());
//! # Ok::<(), hg2v_experiments::Error>(())
//! ```

mod config;
pub mod error;

pub mod environment;

mod datasets;
mod host;
mod store;

mod figure;
pub mod table;

pub mod evaluate;

pub mod compare;
pub mod reproduce;

pub use environment::{Environment, Event};
pub use error::{Error, Result};
pub use store::write_json;

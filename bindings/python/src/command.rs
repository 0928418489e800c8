//! The command `hg2v`, in a process of Python.

use std::ffi::OsString;

use hg2v_cli::Invocation;
use pyo3::prelude::*;

/// Runs the command that `words` say and gives its exit code, or ends the process where a signal asks
/// for an end; `again` is the command line by which this process was started. To be called once.
#[pyfunction]
pub(crate) fn command(py: Python<'_>, words: Vec<OsString>, again: Vec<OsString>) -> u8 {
    py.detach(|| hg2v_cli::run(&Invocation { words, again }))
}

//! Rust errors as the Python exceptions of `hg2v.errors`.

use std::path::Path;

use hg2v::Error;
use hg2v::error::{InputError, Place};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// What graphs that Python handed over are called where a file would have its name.
pub(crate) const IN_MEMORY: &str = "<graphs>";

/// Something is there already: the same number on every system.
const EEXIST: i32 = 17;

/// The exception for `error`.
pub(crate) fn raised(py: Python<'_>, error: hg2v_eval::Error) -> PyErr {
    let text = error.to_string();
    let made = match error {
        hg2v_eval::Error::Graphs(Error::Input(input)) => {
            let (text, position) = told(&input);
            exception(py, "InputError", (text, position))
        }
        hg2v_eval::Error::Graphs(Error::Io { path, source, .. }) => exception(
            py,
            "FileError",
            (source.raw_os_error(), text, path.to_string_lossy().into_owned()),
        ),
        hg2v_eval::Error::Graphs(Error::Exists { path, replaceable, .. }) => {
            let asking = if replaceable { "say overwrite=True" } else { "remove it first" };
            let text = text.replace("remove it first", asking);
            exception(py, "FileError", (EEXIST, text, path.to_string_lossy().into_owned()))
        }
        hg2v_eval::Error::Graphs(Error::Parameter { .. }) | hg2v_eval::Error::Parameter { .. } => {
            exception(py, "ParameterError", (text,))
        }
        hg2v_eval::Error::Graphs(Error::Device { .. }) => exception(py, "DeviceError", (text,)),
        _ => exception(py, "InputError", (text,)),
    };
    made.unwrap_or_else(|failure| failure)
}

/// What is said of graphs, and the position of the one at fault, where it came from no file:
/// there it is that in Python's list, and there is no file to name.
pub(crate) fn told(input: &InputError) -> (String, Option<u64>) {
    if input.file != Path::new(IN_MEMORY) {
        return (input.to_string(), None);
    }
    let (Place::Record(number) | Place::Line(number)) = input.place else {
        return (format!("{}; {}", input.problem, input.fix), None);
    };
    let position = number.saturating_sub(1);
    let problem = input.problem.replace(&format!("graph number {position} (from 0)"), "it");
    (format!("{problem}; {}", input.fix), Some(position))
}

/// A panic: a mistake of ours, told as such.
pub(crate) fn broken(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let text = format!("hg2v broke down, which is a mistake of its own; please report it: {text}");
    exception(py, "InternalError", (text,)).unwrap_or_else(|failure| failure)
}

/// JSON that Python made and Rust does not take: a parameter of a wrong type.
pub(crate) fn parameter(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    let text = error.to_string();
    // Where in the JSON is of no use to somebody who never saw it.
    let text = text.split(" at line ").next().unwrap_or_default().to_owned();
    exception(py, "ParameterError", (text,)).unwrap_or_else(|failure| failure)
}

fn exception<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
) -> PyResult<PyErr> {
    let class = py.import("hg2v.errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call1(arguments.into_pyobject(py)?)?))
}

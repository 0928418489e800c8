//! Rust errors as the Python exceptions of `hg2v.errors`.

use hg2v::Error;
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// The exception for `error`.
pub(crate) fn raised(py: Python<'_>, error: hg2v_eval::Error) -> PyErr {
    let text = error.to_string();
    let made = match error {
        hg2v_eval::Error::Graphs(Error::Input(_)) => exception(py, "InputError", (text,)),
        hg2v_eval::Error::Graphs(Error::Io { path, source, .. }) => exception(
            py,
            "FileError",
            (source.raw_os_error(), text, path.to_string_lossy().into_owned()),
        ),
        hg2v_eval::Error::Graphs(Error::Parameter { .. }) | hg2v_eval::Error::Parameter { .. } => {
            exception(py, "ParameterError", (text,))
        }
        hg2v_eval::Error::Graphs(Error::Device { .. }) => exception(py, "DeviceError", (text,)),
        _ => exception(py, "InputError", (text,)),
    };
    made.unwrap_or_else(|failure| failure)
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

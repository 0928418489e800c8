//! Rust errors as the Python exceptions of `hg2v.errors`, made of their fields.

use std::path::Path;

use hg2v::Error;
use hg2v::error::{GraphName, InputError, Job, Limit, Opt, Place, Wording};
use pyo3::prelude::*;
use pyo3::types::{PyDict, PyTuple};

/// What graphs that Python handed over are called where a file would have its name.
pub(crate) const IN_MEMORY: &str = "<graphs>";

/// Something is there already: the same number on every system.
const EEXIST: i32 = 17;

/// To users of Python.
pub(crate) struct InPython;

impl Wording for InPython {
    fn option(&self, option: Opt) -> String {
        match option.name() {
            "threads" => "n_jobs".to_owned(),
            "outliers" | "top" => "k".to_owned(),
            "duplicates" => "threshold".to_owned(),
            name => name.to_owned(),
        }
    }

    fn raise(&self, limit: Limit) -> Option<String> {
        let flag = limit.option().name().replace('_', "-");
        Some(format!("use the command hg2v with a larger --{flag}"))
    }

    fn set(&self, option: Opt, values: &[&str]) -> Option<String> {
        match option {
            Opt::ATTRIBUTES => Some("leave `x` out of all of them".to_owned()),
            Opt::LABELS => Some("leave the labels out of all of them".to_owned()),
            _ => {
                let name = self.option(option);
                let given: Vec<String> =
                    values.iter().map(|value| format!("{name}='{value}'")).collect();
                Some(format!("say {}", given.join(" or ")))
            }
        }
    }

    fn give(&self, option: Opt) -> Option<String> {
        match option {
            Opt::ATOM_ATTRIBUTES => Some("say atom_attributes=True of molecules".to_owned()),
            Opt::DATA_DIR => Some(
                "if it is the name of a known set, say where sets are kept with the environment \
                 variable HG2V_DATA"
                    .to_owned(),
            ),
            // Only the command has them.
            _ => None,
        }
    }

    fn replace(&self) -> Option<String> {
        Some("say overwrite=True".to_owned())
    }

    fn run(&self, job: Job) -> Option<String> {
        let command = match job {
            Job::Download => "fetch it with the command `hg2v datasets get`",
            Job::Images => "turn images into graphs with the command `hg2v images`",
            Job::Resume => "finish it with `fit_in` or the command `hg2v fit --resume`",
            Job::Fit => "name a folder that `save` or the command `hg2v fit` wrote",
            _ => return None,
        };
        Some(command.to_owned())
    }

    fn graph(&self, name: &GraphName) -> String {
        // The exception says its position.
        match name.id {
            Some(_) => name.to_string(),
            None => "it".to_owned(),
        }
    }
}

/// The exception for `error`.
pub(crate) fn raised(py: Python<'_>, error: hg2v_eval::Error) -> PyErr {
    made(py, error).unwrap_or_else(|failure| failure)
}

fn made(py: Python<'_>, error: hg2v_eval::Error) -> PyResult<PyErr> {
    let text = error.worded(&InPython);
    let hg2v_eval::Error::Hg2v(error) = error else {
        return exception(py, "InputError", (text,), None);
    };
    match error {
        Error::Input(input) => {
            let (problem, fix) = (input.problem(&InPython), input.fix(&InPython));
            let fields = PyDict::new(py);
            fields.set_item("fix", fix)?;
            fields.set_item("kind", input.problem.kind())?;
            fields.set_item("graph", position(&input))?;
            if !in_memory(&input) {
                fields.set_item("file", input.file.to_string_lossy())?;
                let place = match input.place {
                    Place::Whole => None,
                    Place::Line(n) | Place::Column(n, _) => Some(("line", n)),
                    Place::Record(n) => Some(("record", n)),
                    Place::Byte(n) => Some(("byte", n)),
                };
                place.map_or(Ok(()), |(name, n)| fields.set_item(name, n))?;
            }
            exception(py, "InputError", (problem,), Some(&fields))
        }
        Error::Io { path, source, .. } => {
            let path = path.to_string_lossy().into_owned();
            exception(py, "FileError", (source.raw_os_error(), text, path), None)
        }
        Error::Exists { path, .. } => {
            let path = path.to_string_lossy().into_owned();
            exception(py, "FileError", (EEXIST, text, path), None)
        }
        Error::Parameter { option, value, requirement } => {
            let name = InPython.option(option);
            exception(py, "ParameterError", (requirement, name, value), None)
        }
        Error::Argument { what, value, requirement } => {
            exception(py, "ParameterError", (requirement, what, value), None)
        }
        Error::Unknown { option, name, known } => {
            let requirement = hg2v::vocabulary::one_of(&name, &known);
            let option = InPython.option(option);
            exception(py, "ParameterError", (requirement, option, name), None)
        }
        Error::Device { .. } => exception(py, "DeviceError", (text,), None),
        _ => exception(py, "InputError", (text,), None),
    }
}

fn in_memory(input: &InputError) -> bool {
    input.file == Path::new(IN_MEMORY)
}

/// The position of the graph at fault, where it came from no file: there it is that in Python's
/// list.
fn position(input: &InputError) -> Option<u64> {
    match input.place {
        Place::Record(number) | Place::Line(number) | Place::Column(number, _)
            if in_memory(input) =>
        {
            Some(number.saturating_sub(1))
        }
        _ => None,
    }
}

/// What is wrong with a graph, and what to do; where it came from no file, without its place.
pub(crate) fn told(error: &Error) -> String {
    let input = match error {
        Error::Input(input) if in_memory(input) => input,
        other => return other.worded(&InPython),
    };
    let problem = input.problem(&InPython);
    match input.fix(&InPython) {
        Some(fix) => format!("{problem}; {fix}"),
        None => problem,
    }
}

/// JSON that Python made and Rust does not take.
pub(crate) fn unreadable(py: Python<'_>, error: &serde_json::Error) -> PyErr {
    let text = format!("what was spelled as JSON cannot be read: {error}");
    exception(py, "ParameterError", (text,), None).unwrap_or_else(|failure| failure)
}

/// A panic: a mistake of ours, told as such.
pub(crate) fn broken(py: Python<'_>, panic: &(dyn std::any::Any + Send)) -> PyErr {
    let text = panic
        .downcast_ref::<&str>()
        .map(|text| (*text).to_owned())
        .or_else(|| panic.downcast_ref::<String>().cloned())
        .unwrap_or_default();
    let text = format!("hg2v broke down, which is a mistake of its own; please report it: {text}");
    exception(py, "InternalError", (text,), None).unwrap_or_else(|failure| failure)
}

fn exception<'py>(
    py: Python<'py>,
    name: &str,
    arguments: impl IntoPyObject<'py, Target = PyTuple, Output = Bound<'py, PyTuple>, Error = PyErr>,
    fields: Option<&Bound<'py, PyDict>>,
) -> PyResult<PyErr> {
    let class = py.import("hg2v.errors")?.getattr(name)?;
    Ok(PyErr::from_value(class.call(arguments.into_pyobject(py)?, fields)?))
}

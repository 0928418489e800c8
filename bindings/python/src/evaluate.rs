//! How good vectors are.

use hg2v::context::Machine;
use hg2v::error::Place;
use hg2v::prepare::Collection;
use hg2v::{Hg2vParams, Method};
use hg2v_eval::Matrix;
use hg2v_eval::evaluation::Evaluation;
use hg2v_eval::goal::Goal;
use hg2v_experiments::evaluate::{Subject, Terms, judge};
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;
use serde::Serialize;

use crate::errors::{IN_MEMORY, unreadable};
use crate::graphs::Graphs;
use crate::model::{Model, made, text};
use crate::work::{self, Deaf};

/// Whose vectors are judged.
#[derive(FromPyObject)]
pub(crate) enum Judged<'py> {
    /// Those of a model that is there.
    Model(Bound<'py, Model>),
    /// Those of a method with settings, which are JSON.
    Method(String, String),
    /// Vectors that are there.
    Vectors(PyReadonlyArray2<'py, f32>),
}

/// What was found, and the targets that were left out.
#[derive(Serialize)]
struct Told {
    #[serde(flatten)]
    found: Evaluation,
    left_out: Vec<String>,
}

/// What `hg2v evaluate --json` says of graphs.
#[pyfunction]
#[pyo3(signature = (graphs, subject, task, protocol, splits, grid, also, controls, seed, device,
    threads=0, progress=None))]
pub(crate) fn evaluate(
    py: Python<'_>,
    graphs: &Graphs,
    subject: Judged<'_>,
    task: &str,
    protocol: &str,
    splits: Option<usize>,
    grid: Option<&str>,
    also: Vec<String>,
    controls: bool,
    seed: u64,
    device: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<String> {
    let (mut params, mut method, mut model, mut rows) = (Hg2vParams::default(), None, None, None);
    match subject {
        Judged::Method(name, settings) if name == params.name() => {
            params = serde_json::from_str(&settings).map_err(|e| unreadable(py, &e))?;
        }
        Judged::Method(name, settings) => method = Some(made(py, &name, &settings)?),
        Judged::Model(there) => model = Some(there.get().model.clone()),
        Judged::Vectors(there) => {
            rows = Some((there.shape()[0], there.shape()[1], there.as_slice()?.to_vec()));
        }
    }
    let found = work::run(py, threads, progress, |watch| {
        params.check()?;
        let machine: Machine = work::machine(device)?;
        let terms = Terms {
            task: task.parse()?,
            mode: protocol.parse()?,
            splits,
            also: also.iter().map(|judge| judge.parse()).collect::<hg2v::Result<_>>()?,
            seed,
        };
        let grid = grid.map(str::parse).transpose()?;
        let needs = match (&model, &method, &rows) {
            (Some(model), ..) => model.needs(),
            (_, Some(method), _) => method.needs(),
            // Vectors that are there already, and statistics, need no pyramids.
            (_, _, Some(_)) => params.needs().coarsening(None),
            _ => params.needs(),
        };
        let context = watch.context();
        let collection = Collection::new(graphs.run(), &needs, &context)?;
        let deaf = Deaf(watch);
        let mut study = terms.study(&collection, &machine).map_err(plain)?;
        study.context = study.context.watched_by(&deaf);
        let matrix =
            rows.map(|(count, dim, rows)| Matrix::from_f32(count, dim, &rows)).transpose()?;
        let subject = match (&model, &method, &matrix) {
            (Some(model), ..) => Subject::Model(&**model),
            (_, Some(method), _) => Subject::Method(&**method),
            (_, _, Some(x)) => Subject::Vectors(x),
            _ => Subject::Hg2v { params: &params, grid },
        };
        let judgements = judge(&subject, controls, &study, &context, &|_| {}).map_err(plain)?;
        let found = judgements.evaluation(IN_MEMORY.into(), &study, &subject).map_err(plain)?;
        let left_out = Goal::names(&graphs.records, terms.task)?;
        Ok::<_, hg2v_eval::Error>(Told { found, left_out })
    })?;
    text(py, &found)
}

/// What judging fails at.
fn plain(error: hg2v_experiments::Error) -> hg2v_eval::Error {
    match error {
        hg2v_experiments::Error::Eval(error) => error,
        // Results that are kept, and figures: nothing that judging does.
        other => hg2v::Error::input(IN_MEMORY, Place::Whole, other.to_string(), "").into(),
    }
}

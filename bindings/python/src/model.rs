//! HG2V: training, vectors, folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use hg2v::dataset::Limits;
use hg2v::error::Action;
use hg2v::output::OutputFolder;
use hg2v::prepare::{Notes, Run};
use hg2v::saved::Config;
use hg2v::train::{End, Flow};
use hg2v::{Hg2v, Hg2vParams};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3_arrow::PyRecordBatch;

use crate::errors::{IN_MEMORY, raised, unreadable};
use crate::graphs::{Graphs, exported};
use crate::refused::{self, Refused};
use crate::work;

/// Every preset as JSON.
#[pyfunction]
pub(crate) fn presets(py: Python<'_>) -> PyResult<Vec<(&'static str, String)>> {
    let presets = [("default", Hg2vParams::default()), ("paper", Hg2vParams::paper())];
    let json = |(name, params): (_, Hg2vParams)| Ok((name, text(py, &params)?));
    presets.into_iter().map(json).collect()
}

/// A trained model.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Model {
    pub(crate) model: Arc<Hg2v>,
    /// The losses of each epoch, level by level, where it was trained here.
    history: Vec<Vec<f64>>,
    notes: Notes,
}

impl Model {
    pub(crate) fn new(model: Hg2v) -> Model {
        Model { model: Arc::new(model), history: Vec::new(), notes: Notes::default() }
    }

    fn dim(&self) -> usize {
        self.model.network().layout.embedding_dim()
    }
}

#[pymethods]
impl Model {
    /// Trains a model with `params`, a JSON.
    #[staticmethod]
    #[pyo3(signature = (graphs, params, threads=0, progress=None))]
    fn fit(
        py: Python<'_>,
        graphs: &Graphs,
        params: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Model> {
        let params = parsed(py, params)?;
        work::run(py, threads, progress, |watch| {
            let total = graphs.records.len() as u64;
            let run = graphs.run();
            watch.begin("preparing");
            let collection = params.collect_watched(run, |done| watch.at(done as u64, total))?;
            let fit = params.prepare(&collection, None)?;
            watch.begin("training");
            let mut history = Vec::new();
            let (model, end) = fit.train(None, |_, step| {
                if step.ends_epoch {
                    history.push(step.mean.iter().map(|loss| loss.total()).collect());
                }
                let stop = watch.at(step.step + 1, step.total).is_err();
                Ok(if stop { Flow::Pause } else { Flow::Continue })
            })?;
            match end {
                End::Done => Ok(Model { model: Arc::new(model), history, notes: fit.notes }),
                End::Paused => Err(hg2v::Error::Stopped),
            }
        })
    }

    /// Reads a model's folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let model = py.detach(|| Hg2v::load(&path)).map_err(|e| raised(py, e.into()))?;
        Ok(Model::new(model))
    }

    /// A model of its parts.
    #[staticmethod]
    fn from_parts(
        py: Python<'_>,
        config: &str,
        parameters: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Model> {
        let config: Config = serde_json::from_str(config).map_err(|e| unreadable(py, &e))?;
        let model = Hg2v::from_parts(config, parameters.as_slice()?.to_vec());
        Ok(Model::new(model.map_err(|e| raised(py, e.into()))?))
    }

    /// Writes the model as a new folder, and `files` beside it.
    fn save(&self, py: Python<'_>, path: PathBuf, files: Files) -> PyResult<()> {
        let write = || filled(&path, files, |folder| self.model.save_into(folder));
        py.detach(write).map_err(|e| raised(py, e.into()))
    }

    /// The graphs that have no vectors, and why.
    fn unusable(&self, py: Python<'_>, graphs: &Graphs) -> PyResult<Refused> {
        let preparation = &self.model.config().preparation;
        let Run { records, file, .. } = graphs.run();
        work::run(py, 0, None, |_| {
            let check = |record: &_, position| preparation.check(record, file, position);
            Ok::<_, hg2v::Error>(refused::each(records, check))
        })
    }

    /// The vectors of graphs, and what was met on the way, as JSON.
    #[pyo3(signature = (graphs, threads=0, progress=None))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        graphs: &Graphs,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, String)> {
        let (dim, total) = (self.dim(), graphs.records.len());
        let (values, notes) = work::run(py, threads, progress, |watch| {
            watch.begin("embedding");
            self.model.embed_watched(graphs.run(), |done| watch.at(done, total as u64))
        })?;
        Ok((PyArray1::from_vec(py, values).reshape([total, dim])?, text(py, &notes)?))
    }

    /// The vectors of the graphs of an Arrow record batch, as another; `first` is the number of
    /// its first row, for messages.
    #[pyo3(signature = (batch, threads=0, first=0))]
    fn embed_arrow(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        threads: usize,
        first: u64,
    ) -> PyResult<Py<PyAny>> {
        let batch = batch.into_inner();
        let (file, limits, total) = (Path::new(IN_MEMORY), Limits::default(), batch.num_rows());
        let made = work::run(py, threads, None, |watch| {
            let watch = |done| watch.at(done, total as u64);
            self.model.embed_batch_watched(&batch, first, file, &limits, watch)
        })?;
        exported(py, made)
    }

    /// Vectors of the graphs of an Arrow record batch, a row each, as another.
    fn beside(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        rows: PyReadonlyArray2<'_, f32>,
    ) -> PyResult<Py<PyAny>> {
        let made = self.model.beside(batch.as_ref(), rows.as_slice()?.to_vec(), IN_MEMORY.as_ref());
        exported(py, made.map_err(|e| raised(py, e.into()))?)
    }

    /// The same network before its training.
    fn untrained(&self) -> Model {
        Model::new(self.model.untrained())
    }

    /// Everything but the parameters, as JSON.
    fn config(&self, py: Python<'_>) -> PyResult<String> {
        text(py, self.model.config())
    }

    /// The network's parameters, as they lie.
    fn parameters<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_slice(py, self.model.parameters())
    }

    /// A name for every number of a vector.
    fn names(&self) -> Vec<String> {
        self.model.network().layout.embedding_names()
    }

    /// Numbers a node.
    fn feature_dim(&self) -> usize {
        self.model.network().layout.features
    }

    /// The features in words.
    fn features(&self) -> String {
        self.model.config().preparation.features.to_string()
    }

    /// The losses of each epoch, level by level.
    fn history(&self) -> Vec<Vec<f64>> {
        self.history.clone()
    }

    /// What preparing the training graphs met, as JSON.
    fn notes(&self, py: Python<'_>) -> PyResult<String> {
        text(py, &self.notes)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Parts<'py>)> {
        let restore = py.get_type::<Model>().getattr("from_parts")?;
        Ok((restore.unbind(), (self.config(py)?, self.parameters(py))))
    }
}

/// A model's configuration as JSON, and its parameters.
type Parts<'py> = (String, Bound<'py, PyArray1<f32>>);

/// The parameters that a JSON spells.
pub(crate) fn parsed(py: Python<'_>, params: &str) -> PyResult<Hg2vParams> {
    let params: Hg2vParams = serde_json::from_str(params).map_err(|e| unreadable(py, &e))?;
    params.check().map_err(|e| raised(py, e.into()))?;
    Ok(params)
}

pub(crate) fn text(py: Python<'_>, value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| unreadable(py, &e))
}

/// Names of files and what is in them.
type Files = Vec<(String, Vec<u8>)>;

/// Writes files as a new folder, which appears whole or not at all.
#[pyfunction]
pub(crate) fn write_folder(py: Python<'_>, path: PathBuf, files: Files) -> PyResult<()> {
    py.detach(|| filled(&path, files, |_| Ok(()))).map_err(|e| raised(py, e.into()))
}

/// A new folder of `files` and of what `fill` puts there.
fn filled(
    path: &Path,
    files: Files,
    fill: impl FnOnce(&Path) -> hg2v::Result<()>,
) -> hg2v::Result<()> {
    let folder = OutputFolder::create(path)?;
    fill(folder.working_path()).map_err(|e| folder.named(e))?;
    for (name, bytes) in files {
        let file = folder.working_path().join(&name);
        fs::write(&file, bytes).map_err(|e| hg2v::Error::io(path.join(&name), Action::Write, e))?;
    }
    folder.commit()
}

//! Models of every method: fitting, vectors, folders.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use hg2v::coarsen::cache::Cache;
use hg2v::context::Context;
use hg2v::dataset::Limits;
use hg2v::dataset::features::Origin;
use hg2v::error::Action;
use hg2v::model::Example;
use hg2v::output::OutputFolder;
use hg2v::prepare::{Collection, Notes, Run, graph_of};
use hg2v::progress::{Flow, Progress, Report, Stage};
use hg2v::saved::{self, Stored};
use hg2v::{CHECKPOINT_EVERY, Hg2v, Hg2vParams, Method, Model as _, TrainingFolder};
use hg2v_baselines::registry;
use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use pyo3_arrow::PyRecordBatch;
use serde_json::Value;

use crate::errors::{IN_MEMORY, raised, unreadable};
use crate::graphs::{Graphs, exported};
use crate::refused::{self, Refused};
use crate::work::{self, Watch};

/// Where in a method's settings each of its options is.
#[pyfunction]
pub(crate) fn places_of(
    py: Python<'_>,
    method: &str,
) -> PyResult<Vec<(&'static str, &'static str)>> {
    let found = registry::find(method).and_then(|entry| entry.learning());
    Ok(found.map_err(|e| raised(py, e.into()))?.options.to_vec())
}

/// What a method learnt.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Model {
    pub(crate) model: Arc<dyn hg2v::Model>,
    /// The losses of each epoch, where it was trained here: level by level, where it has levels.
    history: Vec<Vec<f64>>,
    notes: Notes,
}

impl Model {
    fn new(model: impl Into<Arc<dyn hg2v::Model>>) -> Model {
        Model { model: model.into(), history: Vec::new(), notes: Notes::default() }
    }

    /// HG2V's own model.
    pub(crate) fn hg2v(&self) -> hg2v::Result<&Hg2v> {
        Hg2v::of(&*self.model).ok_or_else(|| {
            let requirement = "only models of HG2V's network have parameters and features";
            hg2v::Error::argument("model", self.model.method(), requirement)
        })
    }
}

/// Makes the pyramids that `method` with `settings`, a JSON, needs of graphs, and keeps them in `cache`,
/// where `Model.fit` finds them if the graphs are one of its [parts](Graphs::parts).
#[pyfunction]
pub(crate) fn keep_pyramids(
    py: Python<'_>,
    graphs: &Graphs,
    method: &str,
    settings: &str,
    cache: PathBuf,
    threads: usize,
) -> PyResult<()> {
    let method = made(py, method, settings)?;
    work::run(py, threads, None, |watch| {
        let context = watch.context().cached_in(Some(Cache::new(cache)));
        // What features see of structure is not kept, and quickly made.
        let needs = method.needs().features(None);
        Collection::new(graphs.run(), &needs, &context).map(drop)
    })
}

/// Watches a training, and keeps what each epoch came to.
struct Historian<'a> {
    watch: &'a Watch,
    history: Mutex<Vec<Vec<f64>>>,
}

impl Progress for Historian<'_> {
    fn report(&self, report: &Report<'_>) -> Flow {
        if let Some(epoch) = report.epoch.filter(|epoch| epoch.ends && !epoch.losses.is_empty()) {
            let mut history = self.history.lock().unwrap_or_else(PoisonError::into_inner);
            history.push(epoch.losses.to_vec());
        }
        self.watch.report(report)
    }
}

#[pymethods]
impl Model {
    /// Fits `method` with `settings`, a JSON; with a `cache`, pyramids are looked for there, and kept.
    #[staticmethod]
    #[pyo3(signature = (graphs, method, settings, threads=0, progress=None, device="cpu", cache=None))]
    fn fit(
        py: Python<'_>,
        graphs: &Graphs,
        method: &str,
        settings: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
        device: &str,
        cache: Option<PathBuf>,
    ) -> PyResult<Model> {
        let method = made(py, method, settings)?;
        work::run(py, threads, progress, |watch| {
            let historian = Historian { watch, history: Mutex::default() };
            let context = watch.context().cached_in(cache.map(Cache::new));
            let context = context.watched_by(&historian).on(work::machine(device)?);
            let collection = Collection::new(graphs.run(), &method.needs(), &context)?;
            let model = method.fit_collection(&collection, &collection.all(), &context)?;
            let history = historian.history.into_inner().unwrap_or_else(PoisonError::into_inner);
            Ok::<_, hg2v::Error>(Model { model: model.into(), history, notes: collection.notes })
        })
    }

    /// Trains HG2V with `settings` in a folder, where it goes on after a stop; `files` are
    /// written there, too.
    #[staticmethod]
    #[pyo3(signature = (path, files, graphs, settings, threads=0, progress=None, device="cpu",
        on_epoch=None))]
    fn fit_in(
        py: Python<'_>,
        path: PathBuf,
        files: Files,
        graphs: &Graphs,
        settings: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
        device: &str,
        on_epoch: Option<Py<PyAny>>,
    ) -> PyResult<Model> {
        let params: Hg2vParams = serde_json::from_str(settings).map_err(|e| unreadable(py, &e))?;
        let ears = work::Ears::from(progress).on_epoch(on_epoch);
        work::run(py, threads, ears, |watch| {
            params.check()?;
            let machine = work::machine(device)?;
            let folder = TrainingFolder::resume(&path)?.with_files(files);
            let context = watch.context().on(machine);
            let collection = params.collect(graphs.run(), &context)?;
            let fit = params.prepare(&collection, &collection.all())?;
            drop(collection);
            let trained = folder.train(&fit, CHECKPOINT_EVERY, &context)?;
            // The log has the epochs before a stop, too.
            let losses = |line: saved::LogLine| line.levels.iter().map(|l| l.total()).collect();
            let history = saved::read_log(&path)?.into_iter().map(losses).collect();
            let notes = fit.notes;
            Ok::<_, hg2v::Error>(Model { model: Arc::new(trained.model), history, notes })
        })
    }

    /// Reads a model's folder.
    #[staticmethod]
    fn load(py: Python<'_>, path: PathBuf) -> PyResult<Model> {
        let model = py.detach(|| registry::load(&path)).map_err(|e| raised(py, e.into()))?;
        Ok(Model::new(model))
    }

    /// What was pickled: the files of a folder.
    #[staticmethod]
    fn from_parts(py: Python<'_>, config: &str, tensors: &[u8]) -> PyResult<Model> {
        let name = Path::new("<pickle>");
        let stored = Stored::of(config, tensors.to_vec(), name);
        let model = stored.and_then(|stored| registry::model(&stored, name));
        Ok(Model::new(model.map_err(|e| raised(py, e.into()))?))
    }

    /// Writes the model as a new folder, and `files` beside it.
    fn save(&self, py: Python<'_>, path: PathBuf, files: Files) -> PyResult<()> {
        let write = || filled(&path, files, |folder| self.model.save_into(folder));
        py.detach(write).map_err(|e| raised(py, e.into()))
    }

    /// The graphs that have no vectors, and why.
    fn unusable(&self, py: Python<'_>, graphs: &Graphs) -> PyResult<Refused> {
        let weights = self.model.needs().weights;
        let Run { records, file, .. } = graphs.run();
        work::run(py, 0, None, |_| {
            let check = |record: &_, position| {
                graph_of(record, weights, file, position)?;
                self.model.check(record, Origin { file, position })
            };
            Ok::<_, hg2v::Error>(refused::each(records, check))
        })
    }

    /// The vectors of graphs, and what was met on the way, as JSON.
    #[pyo3(signature = (graphs, threads=0, progress=None, device="cpu"))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        graphs: &Graphs,
        threads: usize,
        progress: Option<Py<PyAny>>,
        device: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, String)> {
        let shape = [graphs.records.len(), self.model.dim()];
        let (values, notes) = work::run(py, threads, progress, |watch| {
            self.model.embed_run(graphs.run(), &watch.context().on(work::machine(device)?))
        })?;
        Ok((PyArray1::from_vec(py, values).reshape(shape)?, text(py, &notes)?))
    }

    /// The vectors of the graphs of an Arrow record batch, as another; `first` is the number of
    /// its first row, for messages.
    fn embed_arrow(
        &self,
        py: Python<'_>,
        batch: PyRecordBatch,
        threads: usize,
        first: u64,
        atoms: bool,
        device: &str,
    ) -> PyResult<Py<PyAny>> {
        let batch = batch.into_inner();
        let (file, limits) = (Path::new(IN_MEMORY), Limits::default().atom_attributes(atoms));
        let made = work::run(py, threads, None, |watch| {
            let context = watch.context().on(work::machine(device)?);
            hg2v::rows::embed(&*self.model, &batch, file, first, &limits, &context)
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
        let (dim, values) = (self.model.dim(), rows.as_slice()?.to_vec());
        let made = hg2v::rows::beside(batch.as_ref(), dim, values, IN_MEMORY.as_ref());
        exported(py, made.map_err(|e| raised(py, e.into()))?)
    }

    /// The name of the method.
    fn method(&self) -> &str {
        self.model.method()
    }

    /// What it sees of graphs that bring it, by name.
    fn sees(&self) -> Vec<&'static str> {
        self.model.sees().names()
    }

    /// What the method was told, as JSON.
    fn settings(&self, py: Python<'_>) -> PyResult<String> {
        if let Some(hg2v) = Hg2v::of(&*self.model) {
            return text(py, &hg2v.config().model.params());
        }
        // Other methods keep their settings under that name.
        let config: Value =
            serde_json::from_str(&self.config(py)?).map_err(|e| unreadable(py, &e))?;
        let settings = config.pointer("/model/settings").cloned();
        text(py, &settings.unwrap_or_else(|| Value::Object(serde_json::Map::new())))
    }

    /// Everything but the tensors, as JSON.
    fn config(&self, py: Python<'_>) -> PyResult<String> {
        self.model.parts().map(|parts| parts.config).map_err(|e| raised(py, e.into()))
    }

    /// A name for every number of a vector.
    fn columns(&self) -> Vec<String> {
        self.model.columns()
    }

    /// The losses of each epoch: level by level, where there are levels.
    fn history(&self) -> Vec<Vec<f64>> {
        self.history.clone()
    }

    /// What preparing the training graphs met, as JSON.
    fn notes(&self, py: Python<'_>) -> PyResult<String> {
        text(py, &self.notes)
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, Parts<'py>)> {
        let restore = py.get_type::<Model>().getattr("from_parts")?;
        let parts = self.model.parts().map_err(|e| raised(py, e.into()))?;
        Ok((restore.unbind(), (parts.config, PyBytes::new(py, &parts.tensors))))
    }

    // HG2V's alone.

    /// The same network before its training.
    fn untrained(&self, py: Python<'_>) -> PyResult<Model> {
        let hg2v = self.hg2v().map_err(|e| raised(py, e.into()))?;
        Ok(Model::new(Arc::new(hg2v.untrained()) as Arc<dyn hg2v::Model>))
    }

    /// The network's parameters, as they lie.
    fn parameters<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray1<f32>>> {
        let hg2v = self.hg2v().map_err(|e| raised(py, e.into()))?;
        Ok(PyArray1::from_slice(py, hg2v.parameters()))
    }

    /// The same model with other parameters.
    fn with_parameters(
        &self,
        py: Python<'_>,
        parameters: PyReadonlyArray1<'_, f32>,
    ) -> PyResult<Model> {
        let parameters = parameters.as_slice()?.to_vec();
        let model =
            self.hg2v().and_then(|hg2v| Hg2v::from_parts(hg2v.config().clone(), parameters));
        Ok(Model::new(Arc::new(model.map_err(|e| raised(py, e.into()))?) as Arc<dyn hg2v::Model>))
    }

    /// The vectors of all nodes of all graphs, one after the other, and what was met on the way, as
    /// JSON.
    #[pyo3(signature = (graphs, threads=0, progress=None, device="cpu"))]
    fn embed_nodes<'py>(
        &self,
        py: Python<'py>,
        graphs: &Graphs,
        threads: usize,
        progress: Option<Py<PyAny>>,
        device: &str,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, String)> {
        let hg2v = self.hg2v().map_err(|e| raised(py, e.into()))?;
        let (values, notes) = work::run(py, threads, progress, |watch| {
            in_parts(hg2v, graphs, device, watch, |examples, context| {
                let each = examples.iter().map(|example| hg2v.embed_nodes(example, context));
                each.collect::<hg2v::Result<Vec<_>>>().map(|rows| rows.concat())
            })
        })?;
        let shape = [values.len() / hg2v.node_dim().max(1), hg2v.node_dim()];
        Ok((PyArray1::from_vec(py, values).reshape(shape)?, text(py, &notes)?))
    }

    /// The vectors of each level of all graphs, one graph after the other, and what was met on the
    /// way, as JSON.
    #[pyo3(signature = (graphs, threads=0, progress=None, device="cpu"))]
    fn embed_levels<'py>(
        &self,
        py: Python<'py>,
        graphs: &Graphs,
        threads: usize,
        progress: Option<Py<PyAny>>,
        device: &str,
    ) -> PyResult<(Bound<'py, PyArray3<f32>>, String)> {
        let hg2v = self.hg2v().map_err(|e| raised(py, e.into()))?;
        let (levels, read) = (hg2v.level_numbers(), hg2v.layer().embedding_dim());
        let (values, notes) = work::run(py, threads, progress, |watch| {
            in_parts(hg2v, graphs, device, watch, |examples, context| {
                let rows = hg2v.embed_examples(examples, context)?;
                let numbers = |row: &[f32]| -> Vec<f32> {
                    levels.iter().flatten().flat_map(|part| row[part.clone()].to_vec()).collect()
                };
                Ok(rows.chunks_exact(read).flat_map(numbers).collect())
            })
        })?;
        let dim = levels[0].iter().map(ExactSizeIterator::len).sum();
        let shape = [graphs.records.len(), levels.len(), dim];
        Ok((PyArray1::from_vec(py, values).reshape(shape)?, text(py, &notes)?))
    }

    /// Numbers a node.
    fn feature_dim(&self, py: Python<'_>) -> PyResult<usize> {
        self.hg2v().map(|hg2v| hg2v.layer().num_features()).map_err(|e| raised(py, e.into()))
    }

    /// The features in words.
    fn features(&self, py: Python<'_>) -> PyResult<String> {
        self.hg2v()
            .map(|hg2v| hg2v.preparation().features.to_string())
            .map_err(|e| raised(py, e.into()))
    }
}

/// What is made of the graphs of each part of a collection, and what was met on the way.
fn in_parts(
    hg2v: &Hg2v,
    graphs: &Graphs,
    device: &str,
    watch: &Watch,
    made: impl Fn(&[Example], &Context<'_>) -> hg2v::Result<Vec<f32>>,
) -> hg2v::Result<(Vec<f32>, Notes)> {
    let context = watch.context().on(work::machine(device)?);
    let (quiet, total) = (context.unwatched(), graphs.records.len() as u64);
    let (mut values, mut notes) = (Vec::new(), Notes::default());
    for part in graphs.run().parts() {
        let collection = Collection::new(part, &hg2v.needs(), &quiet)?;
        let (examples, applied) = hg2v.examples(&collection)?;
        values.extend(made(&examples, &quiet)?);
        notes.add(&collection.notes);
        applied.iter().for_each(|applied| notes.applied.add(applied));
        context.tell(&Report::of(Stage::Embedding, notes.graphs, total))?;
    }
    Ok((values, notes))
}

/// The files of a model's folder: its configuration, and its tensors.
type Parts<'py> = (String, Bound<'py, PyBytes>);

/// The method that a JSON of settings spells.
pub(crate) fn made(py: Python<'_>, method: &str, settings: &str) -> PyResult<Box<dyn Method>> {
    let settings: Value = serde_json::from_str(settings).map_err(|e| unreadable(py, &e))?;
    let method = registry::find(method).and_then(|entry| entry.of_settings(settings));
    method.map_err(|e| raised(py, e.into()))
}

pub(crate) fn text(py: Python<'_>, value: &impl serde::Serialize) -> PyResult<String> {
    serde_json::to_string(value).map_err(|e| unreadable(py, &e))
}

/// Names of files and what is in them.
pub(crate) type Files = Vec<(String, Vec<u8>)>;

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

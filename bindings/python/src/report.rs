//! The page of a model and graphs.

use std::io::Write;
use std::path::{Path, PathBuf};

use hg2v::Hg2vParams;
use hg2v::dataset::Format;
use hg2v::dataset::summary::{SummaryOptions, summarize_records};
use hg2v::error::Action;
use hg2v::output::OutputFile;
use hg2v::output::overwrite::{Destination, Overwrite};
use hg2v::prepare::Collection;
use hg2v::saved::Config;
use hg2v_eval::evaluation::Evaluation;
use hg2v_report::run::RunFolder;
use hg2v_report::{PageMode, Portrait};
use hg2v_search::catalog::SearchOptions;
use numpy::{PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{IN_MEMORY, raised, unreadable};
use crate::graphs::Graphs;
use crate::model::Model;
use crate::work;

/// Writes a file, whole or not at all.
#[pyfunction]
pub(crate) fn write_file(
    py: Python<'_>,
    path: PathBuf,
    bytes: Vec<u8>,
    overwrite: bool,
) -> PyResult<()> {
    let overwrite = if overwrite { Overwrite::Always } else { Overwrite::Never };
    let write = || -> hg2v::Result<()> {
        let mut out = OutputFile::create(Destination { path: &path, overwrite })?;
        out.write_all(&bytes).map_err(|e| hg2v::Error::io(&path, Action::Write, e))?;
        out.commit()
    };
    py.detach(write).map_err(|e| raised(py, e.into()))
}

/// Where the graphs of a model's folder, or of the demo's, are, as far as it says.
#[pyfunction]
pub(crate) fn graphs_of_run(py: Python<'_>, folder: PathBuf) -> PyResult<Option<PathBuf>> {
    let run = RunFolder::read(&folder).map_err(|e| raised(py, e.into()))?;
    Ok(run.data)
}

/// The page, and how many graphs are on it. What a `folder` says of how the model was made stands on
/// it, too; an `evaluation` is a JSON.
#[pyfunction]
#[pyo3(signature = (model, folder, graphs, rows, evaluation, methods, title, sample, metric,
    standardise, seed, threads=0, progress=None))]
pub(crate) fn report(
    py: Python<'_>,
    model: &Model,
    folder: Option<PathBuf>,
    graphs: &Graphs,
    rows: Option<PyReadonlyArray2<'_, f32>>,
    evaluation: Option<&str>,
    methods: Vec<String>,
    title: Option<&str>,
    sample: usize,
    metric: &str,
    standardise: bool,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(String, usize)> {
    let given = match &rows {
        Some(rows) => Some((rows.shape()[1], rows.as_slice()?.to_vec())),
        None => None,
    };
    let evaluation: Option<Evaluation> =
        evaluation.map(serde_json::from_str).transpose().map_err(|e| unreadable(py, &e))?;
    let config = model.model.parts().map_err(|e| raised(py, e.into()))?.config;
    let config: Config = serde_json::from_str(&config).map_err(|e| unreadable(py, &e))?;
    let model = &*model.model;
    let made = work::run(py, threads, progress, |watch| {
        let context = watch.context();
        let run = folder.as_deref().map(RunFolder::read).transpose()?;
        // Graphs in memory are as those of the format that holds all of them.
        let (format, ignored) = graphs.read.clone().unwrap_or((Format::Jsonl, Vec::new()));
        let graphs = graphs.run();
        let in_memory = graphs.file == Path::new(IN_MEMORY);
        let options = SummaryOptions::default().features(Hg2vParams::default().features);
        let summary = summarize_records(graphs.file, format, ignored, graphs.records, &options);
        let collection = Collection::new(graphs, &Portrait::needs(model), &context)?;
        let vectors = match given {
            Some(given) => given,
            None => (model.dim(), model.embed_collection(&collection, &context)?.values),
        };
        let methods = methods.iter().map(|method| method.parse());
        let portrait = Portrait {
            config: run.as_ref().map_or(&config, |run| &run.config),
            dim: model.dim(),
            run: run.as_ref().and_then(|run| run.note.as_ref()),
            log: run.as_ref().map_or(&[], |run| &run.log),
            evaluation: evaluation.as_ref(),
            summary: &summary,
            title: title.or(in_memory.then_some("Graphs")),
            methods: &methods.collect::<hg2v::Result<Vec<_>>>()?,
            search: SearchOptions::default()
                .metric(metric.parse()?)
                .standardise(standardise)
                .seed(seed),
            sample,
        };
        portrait.page(&collection, vectors, PageMode::Still, &context)
    })?;
    Ok((made.html, made.shown))
}

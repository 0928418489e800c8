//! From a file of graphs to a file of vectors.

use std::path::PathBuf;
use std::sync::Arc;

use hg2v::CHECKPOINT_EVERY;
use hg2v::context::{MachineName, Precision};
use hg2v::dataset::{self, Limits};
use hg2v::output::overwrite::{Destination, Overwrite};
use hg2v::stream::{Options, Per, Shard, Stream, partial_beside};
use pyo3::prelude::*;

use crate::errors::raised;
use crate::model::{Model, text};
use crate::work;

/// Embeds the graphs of a file or folder, or of a set of that name in `data_dir`, into a file of
/// vectors, as the command does: rows, their numbers, and what was met on the way, as JSON.
#[pyfunction]
#[pyo3(signature = (model, data, data_dir, atoms, out, per, shard, overwrite, threads=0,
    progress=None, device="cpu"))]
pub(crate) fn embed_file(
    py: Python<'_>,
    model: &Model,
    data: PathBuf,
    data_dir: Option<PathBuf>,
    atoms: bool,
    out: PathBuf,
    per: &str,
    shard: Option<&str>,
    overwrite: bool,
    threads: usize,
    progress: Option<Py<PyAny>>,
    device: &str,
) -> PyResult<(u64, usize, String)> {
    let parsed = || -> hg2v::Result<(Per, Shard)> {
        Ok((per.parse()?, shard.map_or(Ok(Shard::WHOLE), str::parse)?))
    };
    let (per, shard) = parsed().map_err(|e| raised(py, e.into()))?;
    let overwrite = if overwrite { Overwrite::Always } else { Overwrite::Never };
    let pool = work::pool(py, threads)?;
    let done = work::wait(py, progress, |watch| {
        let data = dataset::locate(&data, data_dir.as_deref())?;
        let source = dataset::open(&data, &Limits::default().atom_attributes(atoms))?;
        let model = Arc::clone(&model.model);
        let machine = work::machine(device)?;
        let described = device.parse::<MachineName>()?.described(Precision::default());
        // What the command kept, it goes on with, and the other way round.
        let partial = partial_beside(&out, &*model, per, &described, CHECKPOINT_EVERY)?;
        let options = Options::default().per(per).shard(shard).partial(partial).pool(Some(pool));
        let context = watch.context().on(machine);
        let stream = Stream::start(source, model, options, &context)?;
        stream.write(Destination { path: &out, overwrite }, &context)
    })?;
    Ok((done.rows, done.dim, text(py, &done.notes)?))
}

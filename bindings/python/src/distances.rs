//! Distances between graphs, as matrices.

use hg2v::distance::fgw::{Attributed, Params, fgw};
use hg2v::distance::spectra::{spectrum, wasserstein};
use hg2v::graph::Features;
use hg2v::prepare::{Collection, Needs};
use hg2v::progress::{Counter, Stage};
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use rayon::prelude::*;

use crate::graphs::Graphs;
use crate::work;

/// A row for each of `graphs`, a column for each of `others`, or of themselves.
type Matrix<'py> = Bound<'py, PyArray2<f64>>;

/// Wasserstein distances between the spectra of Laplacians.
#[pyfunction]
#[pyo3(signature = (graphs, others, threads=0, progress=None))]
pub(crate) fn spectral_distances<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    others: Option<&Graphs>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Matrix<'py>> {
    let shape = shape(graphs, others);
    let found = work::run(py, threads, progress, |watch| {
        let context = watch.context();
        let spectra = |graphs: &Graphs| -> hg2v::Result<Vec<Vec<f64>>> {
            let made = Collection::new(graphs.run(), &Needs::default(), &context)?;
            made.graphs.par_iter().map(spectrum).collect()
        };
        let (rows, columns) = (spectra(graphs)?, others.map(spectra).transpose()?);
        let counter = context.counter(Stage::Comparing, shape[0] as u64);
        among(shape, columns.is_none(), &counter, |i, j| {
            Ok(wasserstein(&rows[i], &columns.as_ref().unwrap_or(&rows)[j]))
        })
    })?;
    PyArray1::from_vec(py, found).reshape(shape)
}

/// Fused Gromov–Wasserstein distances: the paper's, or with `alpha` the square form.
#[pyfunction]
#[pyo3(signature = (graphs, others, alpha, threads=0, progress=None))]
pub(crate) fn fgw_distances<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    others: Option<&Graphs>,
    alpha: Option<f64>,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Matrix<'py>> {
    let shape = shape(graphs, others);
    let found = work::run(py, threads, progress, |watch| {
        let context = watch.context();
        let params = alpha.map_or_else(Params::paper, Params::square);
        params.check()?;
        let clean = |graphs| Collection::new(Graphs::run(graphs), &Needs::default(), &context);
        let (rows, columns) = (clean(graphs)?, others.map(clean).transpose()?);
        let none = Features::default();
        let counter = context.counter(Stage::Comparing, shape[0] as u64);
        among(shape, columns.is_none(), &counter, |i, j| {
            let other = attributed(columns.as_ref().unwrap_or(&rows), j, &none);
            fgw(attributed(&rows, i, &none), other, &params).map(|found| found.distance)
        })
    })?;
    PyArray1::from_vec(py, found).reshape(shape)
}

/// A graph with the attributes of its nodes, as it brings them.
fn attributed<'a>(of: &'a Collection<'_>, i: usize, none: &'a Features) -> Attributed<'a> {
    let attributes = of.run.records[i].features.as_ref().unwrap_or(none);
    Attributed { graph: &of.graphs[i], attributes }
}

fn shape(graphs: &Graphs, others: Option<&Graphs>) -> [usize; 2] {
    [graphs.records.len(), others.unwrap_or(graphs).records.len()]
}

/// The distance of each pair, row after row; of those among the `same` graphs each is found once.
fn among(
    [rows, columns]: [usize; 2],
    same: bool,
    counter: &Counter<'_>,
    distance: impl Fn(usize, usize) -> hg2v::Result<f64> + Sync,
) -> hg2v::Result<Vec<f64>> {
    let row = |i: usize| -> hg2v::Result<Vec<f64>> {
        let first = if same { i } else { 0 };
        let found = (first..columns).map(|j| distance(i, j)).collect::<hg2v::Result<Vec<f64>>>()?;
        counter.add(1)?;
        Ok(found)
    };
    let found = (0..rows).into_par_iter().map(row).collect::<hg2v::Result<Vec<_>>>()?;
    if !same {
        return Ok(found.concat());
    }
    let at = |i: usize, j: usize| found[i.min(j)][i.max(j) - i.min(j)];
    Ok((0..rows).flat_map(|i| (0..columns).map(move |j| (i, j))).map(|(i, j)| at(i, j)).collect())
}

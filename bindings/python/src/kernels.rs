//! Kernels between graphs, as matrices.

use hg2v::context::Context;
use hg2v::graph::EdgeChoice;
use hg2v::prepare::{Collection, Needs};
use hg2v_baselines::kernels::wl_oa::WlOa;
use hg2v_baselines::kernels::wl_subtree::WlSubtree;
use hg2v_baselines::kernels::wwl::Wwl;
use hg2v_eval::Matrix;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;

use crate::graphs::Graphs;
use crate::work;

/// The Weisfeiler–Lehman optimal assignment kernel among all graphs.
#[pyfunction]
#[pyo3(signature = (graphs, rounds, edges, threads=0, progress=None))]
pub(crate) fn wl_optimal_assignment<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    rounds: usize,
    edges: (String, String),
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let gram = work::run(py, threads, progress, |watch| {
        check_rounds(rounds)?;
        let context = watch.context();
        let kernel = WlOa::default().rounds(rounds).edges(seen(&edges)?);
        kernel.gram(&flat(graphs, &context)?, &context)
    })?;
    array(py, &gram)
}

/// The Weisfeiler–Lehman subtree kernel among all graphs.
#[pyfunction]
#[pyo3(signature = (graphs, rounds, edges, threads=0, progress=None))]
pub(crate) fn wl_subtree<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    rounds: usize,
    edges: (String, String),
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let gram = work::run(py, threads, progress, |watch| {
        check_rounds(rounds)?;
        let context = watch.context();
        let kernel = WlSubtree::default().rounds(rounds).edges(seen(&edges)?);
        kernel.gram(&flat(graphs, &context)?, &context)
    })?;
    array(py, &gram)
}

/// The Wasserstein Weisfeiler–Lehman distances among all graphs, attributes standardised by
/// the first `known` of them.
#[pyfunction]
#[pyo3(signature = (graphs, known, rounds, nodes, edges, threads=0, progress=None))]
pub(crate) fn wwl<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    known: usize,
    rounds: usize,
    nodes: &str,
    edges: (String, String),
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let distances = work::run(py, threads, progress, |watch| {
        check_rounds(rounds)?;
        let kernel = Wwl::default().nodes(nodes.parse()?).rounds(vec![rounds]).edges(seen(&edges)?);
        let context = watch.context();
        let of_each = kernel.distances_by(&flat(graphs, &context)?, known, &context);
        of_each.map(|mut of_each| of_each.swap_remove(0))
    })?;
    array(py, &distances)
}

/// What is seen of edges, by its words: kinds, and directions.
fn seen((labels, direction): &(String, String)) -> hg2v::Result<EdgeChoice> {
    let (labels, direction) = (labels.parse()?, direction.parse()?);
    Ok(EdgeChoice::default().labels(labels).direction(direction))
}

/// Labels tell nothing more after as many rounds as a graph has nodes.
fn check_rounds(rounds: usize) -> hg2v::Result<()> {
    match rounds {
        ..=1000 => Ok(()),
        _ => Err(hg2v::Error::parameter("rounds", rounds, "it must be at most 1000")),
    }
}

/// Graphs for methods that look at no pyramids.
fn flat<'a>(graphs: &'a Graphs, context: &Context<'_>) -> hg2v::Result<Collection<'a>> {
    Collection::new(graphs.run(), &Needs::default(), context)
}

fn array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, matrix.values()).reshape([matrix.rows(), matrix.columns()])
}

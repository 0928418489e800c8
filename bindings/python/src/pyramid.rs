//! Coarsening.

use hg2v::coarsen::Params;
use hg2v::graph::{Graph, WeightPolicy};
use hg2v::prepare::{Collection, Needs};
use numpy::PyArray1;
use pyo3::prelude::*;

use crate::errors::unreadable;
use crate::graphs::Graphs;
use crate::work;

type Rows<'py, T> = Bound<'py, PyArray1<T>>;

/// A graph's edges as compressed sparse rows, and the super-node of each node of the level
/// below (of none, for the graph itself).
type Level<'py> = (Rows<'py, i64>, Rows<'py, i32>, Rows<'py, f32>, Rows<'py, u32>);

/// The levels of each graph's pyramid, the graph itself first. `params` and `weights` are
/// JSON.
#[pyfunction]
#[pyo3(signature = (graphs, params, weights, threads=0))]
pub(crate) fn coarsen<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    params: &str,
    weights: &str,
    threads: usize,
) -> PyResult<Vec<Vec<Level<'py>>>> {
    let params: Params = serde_json::from_str(params).map_err(|e| unreadable(py, &e))?;
    let weights: WeightPolicy = serde_json::from_str(weights).map_err(|e| unreadable(py, &e))?;
    let (cleaned, pyramids) = work::run(py, threads, None, |watch| {
        params.check()?;
        let needs = Needs::default().weights(weights).coarsening(Some(params)).features(None);
        let made = Collection::new(graphs.run(), &needs, &watch.context())?;
        Ok::<_, hg2v::Error>((made.graphs, made.pyramids))
    })?;
    let levels = cleaned.iter().zip(&pyramids).map(|(graph, pyramid)| {
        let above = pyramid.levels.iter().map(|level| rows(py, &level.graph, &level.assignment));
        std::iter::once(rows(py, graph, &[])).chain(above).collect()
    });
    Ok(levels.collect())
}

fn rows<'py>(py: Python<'py>, graph: &Graph, assignment: &[u32]) -> Level<'py> {
    let n = graph.num_nodes();
    let mut ends = Vec::with_capacity(n + 1);
    ends.push(0);
    let (mut targets, mut weights) = (Vec::new(), Vec::new());
    for node in 0..n {
        targets.extend(graph.neighbors(node).iter().map(|&other| other as i32));
        weights.extend_from_slice(graph.weights(node));
        ends.push(targets.len() as i64);
    }
    (
        PyArray1::from_vec(py, ends),
        PyArray1::from_vec(py, targets),
        PyArray1::from_vec(py, weights),
        PyArray1::from_slice(py, assignment),
    )
}

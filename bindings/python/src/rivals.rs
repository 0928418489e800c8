//! The methods that HG2V is compared with.

use hg2v::coarsen;
use hg2v::graph::WeightPolicy;
use hg2v::prepare::Collection;
use hg2v_baselines::embedders::graph2vec::{self, FittedGraph2Vec};
use hg2v_baselines::embedders::skip_gram::SkipGram;
use hg2v_baselines::kernels::wl_oa::WlOa;
use hg2v_baselines::kernels::wwl::{Nodes, Wwl};
use hg2v_eval::Matrix;
use numpy::{PyArray1, PyArray2, PyArrayMethods};
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::errors::unreadable;
use crate::graphs::Graphs;
use crate::model::text;
use crate::work::{self, Watch};

/// Skip-gram's settings as they are by default, as JSON.
#[pyfunction]
pub(crate) fn graph2vec_settings(py: Python<'_>) -> PyResult<String> {
    text(py, &SkipGram::default())
}

/// A fitted Graph2Vec.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Graph2Vec(FittedGraph2Vec);

#[pymethods]
impl Graph2Vec {
    /// Fits the vectors of labels; `skip_gram` is a JSON.
    #[staticmethod]
    #[pyo3(signature = (graphs, rounds, skip_gram, threads=0, progress=None))]
    fn fit(
        py: Python<'_>,
        graphs: &Graphs,
        rounds: usize,
        skip_gram: &str,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Graph2Vec> {
        let skip_gram: SkipGram =
            serde_json::from_str(skip_gram).map_err(|e| unreadable(py, &e))?;
        let fitted = work::run(py, threads, progress, |watch| {
            check_rounds(rounds)?;
            skip_gram.check()?;
            let method = graph2vec::Graph2Vec { rounds, skip_gram };
            let collection = flat(graphs, watch)?;
            watch.begin("training");
            method.fit(&collection, &|share| watch.share(share))
        })?;
        Ok(Graph2Vec(fitted))
    }

    /// A row for each graph.
    #[pyo3(signature = (graphs, threads=0))]
    fn embed<'py>(
        &self,
        py: Python<'py>,
        graphs: &Graphs,
        threads: usize,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let rows = work::run(py, threads, None, |watch| self.0.vectors(&flat(graphs, watch)?))?;
        let values = rows.values().iter().map(|&value| value as f32).collect();
        PyArray1::from_vec(py, values).reshape([rows.rows(), rows.columns()])
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let bytes = serde_json::to_vec(&self.0).map_err(|e| unreadable(py, &e))?;
        let restore = py.get_type::<Graph2Vec>().getattr("from_state")?;
        Ok((restore.unbind(), (PyBytes::new(py, &bytes),)))
    }

    /// What was pickled.
    #[staticmethod]
    fn from_state(py: Python<'_>, state: &[u8]) -> PyResult<Graph2Vec> {
        serde_json::from_slice(state).map(Graph2Vec).map_err(|e| unreadable(py, &e))
    }
}

/// The Weisfeiler–Lehman optimal assignment kernel among all graphs.
#[pyfunction]
#[pyo3(signature = (graphs, rounds, threads=0, progress=None))]
pub(crate) fn wl_optimal_assignment<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    rounds: usize,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let gram = work::run(py, threads, progress, |watch| {
        check_rounds(rounds)?;
        let collection = flat(graphs, watch)?;
        watch.begin("comparing");
        WlOa { rounds }.gram(&collection, &|share| watch.share(share))
    })?;
    array(py, &gram)
}

/// The Wasserstein Weisfeiler–Lehman distances among all graphs, attributes standardised by
/// the first `known` of them.
#[pyfunction]
#[pyo3(signature = (graphs, known, rounds, nodes, threads=0, progress=None))]
pub(crate) fn wwl<'py>(
    py: Python<'py>,
    graphs: &Graphs,
    known: usize,
    rounds: usize,
    nodes: &str,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<Bound<'py, PyArray2<f64>>> {
    let nodes = match nodes {
        "auto" => Ok(Nodes::Auto),
        "labels" => Ok(Nodes::Labels),
        "attributes" => Ok(Nodes::Attributes),
        other => {
            Err(hg2v::Error::parameter("nodes", other, "it must be auto, labels or attributes"))
        }
    };
    let distances = work::run(py, threads, progress, |watch| {
        check_rounds(rounds)?;
        let kernel = Wwl { nodes: nodes?, rounds: vec![rounds], ..Wwl::default() };
        let collection = flat(graphs, watch)?;
        watch.begin("comparing");
        let of_each = kernel.distances_by(&collection, known, &|share| watch.share(share));
        of_each.map(|mut of_each| of_each.swap_remove(0))
    })?;
    array(py, &distances)
}

/// Labels tell nothing more after as many rounds as a graph has nodes.
fn check_rounds(rounds: usize) -> hg2v::Result<()> {
    match rounds {
        ..=1000 => Ok(()),
        _ => Err(hg2v::Error::parameter("rounds", rounds, "it must be at most 1000")),
    }
}

/// Graphs for methods that look at no pyramids.
fn flat<'a>(graphs: &'a Graphs, watch: &Watch) -> hg2v::Result<Collection<'a>> {
    let none = coarsen::Params { ratio: 0.0, ..coarsen::Params::default() };
    let total = graphs.records.len() as u64;
    watch.begin("preparing");
    let watched = |done| watch.at(done as u64, total);
    Collection::watched(graphs.run(), WeightPolicy::Use, &none, watched)
}

fn array<'py>(py: Python<'py>, matrix: &Matrix) -> PyResult<Bound<'py, PyArray2<f64>>> {
    PyArray1::from_slice(py, matrix.values()).reshape([matrix.rows(), matrix.columns()])
}

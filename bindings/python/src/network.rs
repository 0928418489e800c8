//! The network as a layer of a larger model: forwards, backwards, and the loss that HG2V is
//! trained by, in single or double precision.

use std::sync::Arc;

use hg2v::Model as _;
use hg2v::coarsen;
use hg2v::graph::WeightPolicy;
use hg2v::layer::{self, Gradients, Layer, Real};
use hg2v::model::{Architecture, Example};
use hg2v::prepare::{Collection, Needs};
use hg2v::train::{Loss, Negatives};
use numpy::{Element, PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

use crate::errors::{raised, unreadable};
use crate::graphs::Graphs;
use crate::model::{Model, text};
use crate::work;

/// Graphs made ready: cleaned, coarsened, and with features where a model made them.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Examples(Arc<Vec<Example>>);

#[pymethods]
impl Examples {
    /// Graphs coarsened for a network of `levels` levels, without features. `coarsening`
    /// and `weights` are JSON.
    #[staticmethod]
    #[pyo3(signature = (graphs, levels, coarsening, weights, threads=0))]
    fn bare(
        py: Python<'_>,
        graphs: &Graphs,
        levels: usize,
        coarsening: &str,
        weights: &str,
        threads: usize,
    ) -> PyResult<Examples> {
        let coarsening: coarsen::Params =
            serde_json::from_str(coarsening).map_err(|e| unreadable(py, &e))?;
        let weights: WeightPolicy =
            serde_json::from_str(weights).map_err(|e| unreadable(py, &e))?;
        work::run(py, threads, None, |watch| {
            coarsening.check()?;
            let needs =
                Needs::default().weights(weights).coarsening(Some(coarsening)).features(None);
            let made = Collection::new(graphs.run(), &needs, &watch.context())?;
            let both = made.graphs.iter().zip(&made.pyramids);
            let examples = both.map(|(graph, up)| Example::new(graph, up, Vec::new(), levels));
            Ok::<_, hg2v::Error>(Examples(Arc::new(examples.collect())))
        })
    }

    /// Graphs made ready as a model does, with its features.
    #[staticmethod]
    #[pyo3(signature = (graphs, model, threads=0))]
    fn of_model(
        py: Python<'_>,
        graphs: &Graphs,
        model: &Model,
        threads: usize,
    ) -> PyResult<Examples> {
        work::run(py, threads, None, |watch| {
            let model = model.hg2v()?;
            let made = Collection::new(graphs.run(), &model.needs(), &watch.context())?;
            let (examples, _) = model.examples(&made)?;
            Ok::<_, hg2v::Error>(Examples(Arc::new(examples)))
        })
    }

    /// The nodes of each graph.
    fn num_nodes(&self) -> Vec<usize> {
        self.0.iter().map(Example::num_nodes).collect()
    }

    /// The features of all nodes, graph after graph.
    fn features<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let values: Vec<f32> = self.0.iter().flat_map(|e| e.features.iter().copied()).collect();
        let nodes: usize = self.0.iter().map(Example::num_nodes).sum();
        let dim = values.len().checked_div(nodes).unwrap_or(0);
        PyArray1::from_vec(py, values).reshape([nodes, dim])
    }

    /// Some of the graphs.
    fn take(&self, positions: Vec<usize>) -> PyResult<Examples> {
        let taken: Option<Vec<Example>> =
            positions.iter().map(|&at| self.0.get(at).cloned()).collect();
        taken.map(|taken| Examples(Arc::new(taken))).ok_or_else(|| {
            pyo3::exceptions::PyIndexError::new_err("no graph at one of the positions")
        })
    }

    fn __len__(&self) -> usize {
        self.0.len()
    }
}

/// A network without parameters: where they lie, and what is done with them.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Network(Layer);

/// Numbers of either precision, in a row or in rows.
#[derive(FromPyObject)]
enum Row<'py> {
    Single(PyReadonlyArray1<'py, f32>),
    Double(PyReadonlyArray1<'py, f64>),
}

#[derive(FromPyObject)]
enum Rows<'py> {
    Single(PyReadonlyArray2<'py, f32>),
    Double(PyReadonlyArray2<'py, f64>),
}

/// A parameter's name, first number, rows, columns and numbers from row to row.
type Tensor = (String, usize, usize, usize, usize);

#[pymethods]
impl Network {
    /// A network for nodes of `features` numbers; `architecture` is a JSON.
    #[new]
    fn new(py: Python<'_>, architecture: &str, features: usize) -> PyResult<Network> {
        let architecture: Architecture =
            serde_json::from_str(architecture).map_err(|e| unreadable(py, &e))?;
        Layer::new(&architecture, features).map(Network).map_err(|e| raised(py, e.into()))
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, usize))> {
        let class = py.get_type::<Network>().into_any().unbind();
        Ok((class, (text(py, self.0.architecture())?, self.0.num_features())))
    }

    /// Numbers a node, numbers an embedding, and numbers in all.
    fn sizes(&self) -> (usize, usize, usize) {
        (self.0.num_features(), self.0.embedding_dim(), self.0.num_parameters())
    }

    /// Where each parameter lies.
    fn tensors(&self) -> Vec<Tensor> {
        let tensors = self.0.tensors().into_iter();
        tensors.map(|(name, w)| (name, w.offset, w.rows, w.columns, w.stride)).collect()
    }

    /// The parameters before training.
    fn initial<'py>(&self, py: Python<'py>, seed: u64) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, self.0.initial(seed))
    }

    /// The embeddings, and what a backward pass needs.
    #[pyo3(signature = (parameters, features, examples, threads=0))]
    fn forward(
        &self,
        py: Python<'_>,
        parameters: Row<'_>,
        features: Rows<'_>,
        examples: &Examples,
        threads: usize,
    ) -> PyResult<(Py<PyAny>, Pass)> {
        match (parameters, features) {
            (Row::Single(parameters), Rows::Single(features)) => {
                let (e, pass) = self.embed(py, &parameters, &features, examples, threads)?;
                Ok((e, Pass { features: self.0.num_features(), kept: Kept::Single(pass) }))
            }
            (Row::Double(parameters), Rows::Double(features)) => {
                let (e, pass) = self.embed(py, &parameters, &features, examples, threads)?;
                Ok((e, Pass { features: self.0.num_features(), kept: Kept::Double(pass) }))
            }
            _ => Err(mixed(py)),
        }
    }

    /// The loss of every level, and the gradients of their sum for parameters and features.
    /// `loss` and `negatives` are JSON.
    #[pyo3(signature = (parameters, features, examples, loss, negatives, threads=0))]
    fn losses(
        &self,
        py: Python<'_>,
        parameters: Row<'_>,
        features: Rows<'_>,
        examples: &Examples,
        loss: &str,
        negatives: &str,
        threads: usize,
    ) -> PyResult<(Vec<f64>, Py<PyAny>, Py<PyAny>)> {
        let kind: Loss = serde_json::from_str(loss).map_err(|e| unreadable(py, &e))?;
        let negatives: Negatives =
            serde_json::from_str(negatives).map_err(|e| unreadable(py, &e))?;
        let pairs = (kind, negatives);
        match (parameters, features) {
            (Row::Single(parameters), Rows::Single(features)) => {
                self.pair_losses(py, &parameters, &features, examples, pairs, threads)
            }
            (Row::Double(parameters), Rows::Double(features)) => {
                self.pair_losses(py, &parameters, &features, examples, pairs, threads)
            }
            _ => Err(mixed(py)),
        }
    }
}

impl Network {
    /// Refuses features of another shape: the layer sees numbers in a row.
    fn check_shape<R: Real + Element>(
        &self,
        py: Python<'_>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
    ) -> PyResult<()> {
        let (nodes, width) =
            (examples.0.iter().map(Example::num_nodes).sum::<usize>(), self.0.num_features());
        let [rows, columns] = [features.as_array().nrows(), features.as_array().ncols()];
        if [rows, columns] == [nodes, width] {
            return Ok(());
        }
        let requirement =
            format!("the graphs have {nodes} nodes and the network takes {width} numbers of each");
        let error = hg2v::Error::parameter("x", format!("{rows} × {columns}"), requirement);
        Err(raised(py, error.into()))
    }

    fn embed<R: Real + Element>(
        &self,
        py: Python<'_>,
        parameters: &PyReadonlyArray1<'_, R>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
        threads: usize,
    ) -> PyResult<(Py<PyAny>, layer::Pass<R>)> {
        self.check_shape(py, features, examples)?;
        let (parameters, features) = (parameters.as_slice()?.to_vec(), features.as_slice()?);
        let (embeddings, pass) =
            work::run(py, threads, None, |_| self.0.forward(&examples.0, features, parameters))?;
        let shape = [examples.0.len(), self.0.embedding_dim()];
        let embeddings = PyArray1::from_vec(py, embeddings).reshape(shape)?;
        Ok((embeddings.into_any().unbind(), pass))
    }

    fn pair_losses<R: Real + Element>(
        &self,
        py: Python<'_>,
        parameters: &PyReadonlyArray1<'_, R>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
        pairs: (Loss, Negatives),
        threads: usize,
    ) -> PyResult<(Vec<f64>, Py<PyAny>, Py<PyAny>)> {
        self.check_shape(py, features, examples)?;
        let (parameters, features) = (parameters.as_slice()?.to_vec(), features.as_slice()?);
        let (losses, gradients) = work::run(py, threads, None, |_| {
            self.0.losses(&examples.0, features, parameters, pairs)
        })?;
        let losses = losses.iter().map(|loss| loss.total()).collect();
        let (parameters, features) = arrays(py, self.0.num_features(), gradients)?;
        Ok((losses, parameters, features))
    }
}

/// What a forward pass leaves for a backward pass.
#[pyclass(module = "hg2v._hg2v")]
pub(crate) struct Pass {
    features: usize,
    kept: Kept,
}

enum Kept {
    Single(layer::Pass<f32>),
    Double(layer::Pass<f64>),
}

#[pymethods]
impl Pass {
    /// The gradients for parameters and features, from those of the embeddings.
    #[pyo3(signature = (d_embeddings, threads=0))]
    fn backward(
        &mut self,
        py: Python<'_>,
        d_embeddings: Rows<'_>,
        threads: usize,
    ) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        match (&mut self.kept, d_embeddings) {
            (Kept::Single(pass), Rows::Single(de)) => {
                let gradients = vjp(py, pass, &de, threads)?;
                arrays(py, self.features, gradients)
            }
            (Kept::Double(pass), Rows::Double(de)) => {
                let gradients = vjp(py, pass, &de, threads)?;
                arrays(py, self.features, gradients)
            }
            _ => Err(mixed(py)),
        }
    }
}

fn vjp<R: Real + Element>(
    py: Python<'_>,
    pass: &mut layer::Pass<R>,
    d_embeddings: &PyReadonlyArray2<'_, R>,
    threads: usize,
) -> PyResult<Gradients<R>> {
    let de = d_embeddings.as_slice()?;
    work::run(py, threads, None, |_| pass.backward(de))
}

/// The gradients as arrays: of parameters in a row, of features in rows.
fn arrays<R: Element>(
    py: Python<'_>,
    dim: usize,
    Gradients { parameters, features }: Gradients<R>,
) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let nodes = features.len() / dim;
    let features = PyArray1::from_vec(py, features).reshape([nodes, dim])?;
    let parameters = PyArray1::from_vec(py, parameters);
    Ok((parameters.into_any().unbind(), features.into_any().unbind()))
}

fn mixed(py: Python<'_>) -> PyErr {
    let requirement = "parameters, features and gradients must be of one precision";
    raised(py, hg2v::Error::parameter("dtype", "mixed", requirement).into())
}

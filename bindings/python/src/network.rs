//! The network as a layer of a larger model: forwards, backwards, and the loss that HG2V is
//! trained by, in single or double precision.

use std::sync::Arc;

use hg2v::Model as _;
use hg2v::coarsen;
use hg2v::graph::WeightPolicy;
use hg2v::model::{Architecture, Example, Keep, Layout, Seeds, Tape, initial};
use hg2v::nn::pairs::{Negatives, Score};
use hg2v::nn::{Batch, Cpu, Device};
use hg2v::prepare::{Collection, Needs};
use hg2v_math::Real;
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
            let needs = Needs { weights, coarsening: Some(coarsening), features: None };
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
pub(crate) struct Network(hg2v::model::Network);

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
        let layout = Layout::new(&architecture, features).map_err(|e| raised(py, e.into()))?;
        Ok(Network(hg2v::model::Network { layout }))
    }

    fn __reduce__(&self, py: Python<'_>) -> PyResult<(Py<PyAny>, (String, usize))> {
        let layout = &self.0.layout;
        let class = py.get_type::<Network>().into_any().unbind();
        Ok((class, (text(py, &layout.architecture)?, layout.features)))
    }

    /// Numbers a node, numbers an embedding, and numbers in all.
    fn sizes(&self) -> (usize, usize, usize) {
        let layout = &self.0.layout;
        (layout.features, layout.embedding_dim(), layout.len)
    }

    /// Where each parameter lies.
    fn tensors(&self) -> Vec<Tensor> {
        let tensors = self.0.layout.tensors().into_iter();
        tensors.map(|(name, w)| (name, w.offset, w.rows, w.columns, w.stride)).collect()
    }

    /// The parameters before training.
    fn initial<'py>(&self, py: Python<'py>, seed: u64) -> Bound<'py, PyArray1<f32>> {
        PyArray1::from_vec(py, initial(&self.0.layout, seed))
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
                let (e, tape) = self.embed(py, &parameters, &features, examples, threads)?;
                Ok((e, Pass::new(&self.0, Kept::Single(tape))))
            }
            (Row::Double(parameters), Rows::Double(features)) => {
                let (e, tape) = self.embed(py, &parameters, &features, examples, threads)?;
                Ok((e, Pass::new(&self.0, Kept::Double(tape))))
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
        let score: Score = serde_json::from_str(loss).map_err(|e| unreadable(py, &e))?;
        let negatives: Negatives =
            serde_json::from_str(negatives).map_err(|e| unreadable(py, &e))?;
        let pairs = (score, negatives);
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
    fn placed<R: Real + Element>(
        &self,
        py: Python<'_>,
        parameters: &PyReadonlyArray1<'_, R>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
    ) -> PyResult<(Vec<R>, Tape<Cpu<R>>)> {
        let layout = &self.0.layout;
        let nodes: usize = examples.0.iter().map(Example::num_nodes).sum();
        let shape = [features.as_array().nrows(), features.as_array().ncols()];
        let refused = |name, value: String, requirement: String| {
            raised(py, hg2v::Error::parameter(name, value, requirement).into())
        };
        if shape != [nodes, layout.features] {
            let [rows, columns] = shape;
            let requirement = format!(
                "the graphs have {nodes} nodes and the network takes {} numbers of each",
                layout.features
            );
            return Err(refused("x", format!("{rows} × {columns}"), requirement));
        }
        let parameters = parameters.as_slice()?.to_vec();
        if parameters.len() != layout.len {
            let requirement = format!("the network has {}", layout.len);
            return Err(refused("parameters", parameters.len().to_string(), requirement));
        }
        if examples.0.iter().any(|e| e.batch.levels.len() != layout.architecture.levels) {
            let requirement = "the graphs were made ready for another number of levels";
            let levels = layout.architecture.levels.to_string();
            return Err(refused("levels", levels, requirement.to_owned()));
        }
        let device = Cpu::<R>::new();
        let mut tape = Tape::new(&device);
        let graphs: Vec<&Batch> = examples.0.iter().map(|example| &example.batch).collect();
        self.0.place_pieces(&device, &mut tape, &graphs, &[features.as_slice()?]);
        Ok((parameters, tape))
    }

    fn embed<R: Real + Element>(
        &self,
        py: Python<'_>,
        parameters: &PyReadonlyArray1<'_, R>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
        threads: usize,
    ) -> PyResult<(Py<PyAny>, Tape<Cpu<R>>)> {
        let (parameters, mut tape) = self.placed(py, parameters, features, examples)?;
        let (network, device) = (&self.0, Cpu::<R>::new());
        let (embeddings, tape) = work::run(py, threads, None, |_| {
            network.forward(&device, &parameters, &mut tape, Keep::Everything, true);
            Ok::<_, hg2v::Error>((network.embeddings(&device, &tape), tape))
        })?;
        let shape = [examples.0.len(), network.layout.embedding_dim()];
        let embeddings = PyArray1::from_vec(py, embeddings).reshape(shape)?;
        Ok((embeddings.into_any().unbind(), tape))
    }

    fn pair_losses<R: Real + Element>(
        &self,
        py: Python<'_>,
        parameters: &PyReadonlyArray1<'_, R>,
        features: &PyReadonlyArray2<'_, R>,
        examples: &Examples,
        pairs: (Score, Negatives),
        threads: usize,
    ) -> PyResult<(Vec<f64>, Py<PyAny>, Py<PyAny>)> {
        let (parameters, mut tape) = self.placed(py, parameters, features, examples)?;
        let (network, device) = (&self.0, Cpu::<R>::new());
        let (losses, gradients, d_features) = work::run(py, threads, None, |_| {
            let mut gradients = device.zeros(network.layout.len);
            network.forward(&device, &parameters, &mut tape, Keep::Everything, false);
            let seeds = Seeds { pairs: Some(pairs), embeddings: None, features: true };
            network.backward(&device, &parameters, &mut tape, seeds, &mut gradients);
            let losses = network.take_losses(&device, &mut tape);
            let losses = losses.iter().map(|loss| loss.total()).collect();
            let d_features = network.feature_gradients(&device, &tape);
            Ok::<_, hg2v::Error>((losses, gradients, d_features))
        })?;
        let (gradients, d_features) = both(py, network, gradients, d_features)?;
        Ok((losses, gradients, d_features))
    }
}

/// What a forward pass leaves for a backward pass.
#[pyclass(module = "hg2v._hg2v")]
pub(crate) struct Pass {
    network: hg2v::model::Network,
    kept: Kept,
}

enum Kept {
    Single(Tape<Cpu<f32>>),
    Double(Tape<Cpu<f64>>),
}

impl Pass {
    fn new(network: &hg2v::model::Network, kept: Kept) -> Pass {
        Pass { network: network.clone(), kept }
    }
}

#[pymethods]
impl Pass {
    /// The gradients for parameters and features, from those of the embeddings.
    #[pyo3(signature = (parameters, d_embeddings, threads=0))]
    fn backward(
        &mut self,
        py: Python<'_>,
        parameters: Row<'_>,
        d_embeddings: Rows<'_>,
        threads: usize,
    ) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
        match (&mut self.kept, parameters, d_embeddings) {
            (Kept::Single(tape), Row::Single(parameters), Rows::Single(de)) => {
                vjp(py, &self.network, tape, &parameters, &de, threads)
            }
            (Kept::Double(tape), Row::Double(parameters), Rows::Double(de)) => {
                vjp(py, &self.network, tape, &parameters, &de, threads)
            }
            _ => Err(mixed(py)),
        }
    }
}

fn vjp<R: Real + Element>(
    py: Python<'_>,
    network: &hg2v::model::Network,
    tape: &mut Tape<Cpu<R>>,
    parameters: &PyReadonlyArray1<'_, R>,
    d_embeddings: &PyReadonlyArray2<'_, R>,
    threads: usize,
) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let device = Cpu::<R>::new();
    let (parameters, de) = (parameters.as_slice()?.to_vec(), d_embeddings.as_slice()?);
    let (gradients, d_features) = work::run(py, threads, None, |_| {
        let mut gradients = device.zeros(network.layout.len);
        let seeds = Seeds { pairs: None, embeddings: Some(de), features: true };
        network.backward(&device, &parameters, tape, seeds, &mut gradients);
        Ok::<_, hg2v::Error>((gradients, network.feature_gradients(&device, tape)))
    })?;
    both(py, network, gradients, d_features)
}

/// The gradients as arrays: of parameters in a row, of features in rows.
fn both<R: Element>(
    py: Python<'_>,
    network: &hg2v::model::Network,
    gradients: Vec<R>,
    d_features: Vec<R>,
) -> PyResult<(Py<PyAny>, Py<PyAny>)> {
    let dim = network.layout.features;
    let nodes = d_features.len() / dim;
    let d_features = PyArray1::from_vec(py, d_features).reshape([nodes, dim])?;
    let gradients = PyArray1::from_vec(py, gradients);
    Ok((gradients.into_any().unbind(), d_features.into_any().unbind()))
}

fn mixed(py: Python<'_>) -> PyErr {
    let requirement = "parameters, features and gradients must be of one precision";
    raised(py, hg2v::Error::parameter("dtype", "mixed", requirement).into())
}

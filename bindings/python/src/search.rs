//! What is like a graph: indices of vectors, drift, and maps.

use std::path::Path;
use std::sync::Arc;

use hg2v::error::Error;
use hg2v::graph::Scalar;
use hg2v::prepare::{Collection, Run};
use hg2v::vectors::Vectors;
use hg2v::vocabulary::Named;
use hg2v::{Anatomy, Hg2v};
use hg2v_search::catalog::{Catalog, SearchOptions};
use hg2v_search::duplicates::{asked_for, duplicates};
use hg2v_search::outliers::{check_k, outliers, standing_out};
use hg2v_search::project::{MapOptions, ProjectionMethod, map};
use hg2v_search::surprise::surprises_to;
use hg2v_search::{IndexKind, Metric, Neighbor, explain};
use numpy::{PyArray1, PyArray2, PyArrayMethods, PyReadonlyArray2, PyUntypedArrayMethods};
use pyo3::prelude::*;

use crate::errors::{IN_MEMORY, raised};
use crate::graphs::Graphs;
use crate::model::{Model, text};
use crate::work;

type Positions<'py> = Bound<'py, PyArray1<i64>>;
type Numbers<'py> = Bound<'py, PyArray1<f64>>;

/// Vectors ready to be searched, and what they were made of as far as that is known.
#[pyclass(module = "hg2v._hg2v", frozen)]
pub(crate) struct Index {
    catalog: Catalog,
    options: SearchOptions,
    /// Whether somebody said how far apart vectors are.
    told: bool,
    model: Option<Arc<dyn hg2v::Model>>,
    graphs: Option<Graphs>,
}

/// A graph that is to be explained: one of the index, or another.
#[derive(FromPyObject)]
enum Side {
    Row(usize),
    Graph(Graphs),
}

#[pymethods]
impl Index {
    /// Indexes `rows`; `metric` and `standardise` are for outliers, too, where they are given.
    #[new]
    #[pyo3(signature = (rows, model, graphs, metric, standardise, index, seed, threads=0, progress=None))]
    fn new(
        py: Python<'_>,
        rows: PyReadonlyArray2<'_, f32>,
        model: Option<&Model>,
        graphs: Option<Graphs>,
        metric: Option<&str>,
        standardise: Option<bool>,
        index: &str,
        seed: u64,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Index> {
        let vectors = vectors_of(&rows, graphs.as_ref())?;
        let model = model.map(|model| Arc::clone(&model.model));
        let kind = match index {
            "exact" => IndexKind::Exact,
            "approximate" => IndexKind::Approximate,
            _ => IndexKind::BySize,
        };
        let told = metric.is_some() || standardise.is_some();
        work::run(py, threads, progress, |watch| {
            let own = SearchOptions::default();
            let options = own
                .metric(metric.map_or(Ok(own.metric), str::parse)?)
                .standardise(standardise.unwrap_or(own.standardise))
                .index(kind)
                .seed(seed);
            if let Some(model) = &model {
                vectors.check_made_by(&model.digest()?, model.dim(), Path::new(IN_MEMORY))?;
            }
            let catalog = Catalog::new(vectors, Path::new(IN_MEMORY), options, &watch.context())?;
            Ok::<_, Error>(Index { catalog, options, told, model, graphs })
        })
    }

    fn __len__(&self) -> usize {
        self.catalog.len()
    }

    /// Whether answers are exact.
    fn is_exact(&self) -> bool {
        self.catalog.index.is_exact()
    }

    /// All rows of that name.
    fn positions(&self, name: &str) -> Vec<usize> {
        self.catalog.positions(name)
    }

    /// The `k` nearest other rows of row `row`: their positions, and how far they are.
    fn nearest_to<'py>(
        &self,
        py: Python<'py>,
        row: usize,
        k: usize,
    ) -> PyResult<(Positions<'py>, Numbers<'py>)> {
        let near = work::run(py, 0, None, |_| self.catalog.index.nearest_to(row, k))?;
        Ok(neighbors(py, &near))
    }

    /// The `k` nearest rows of each of `queries`, one after the other.
    fn nearest<'py>(
        &self,
        py: Python<'py>,
        queries: PyReadonlyArray2<'_, f32>,
        k: usize,
        threads: usize,
    ) -> PyResult<(usize, Positions<'py>, Numbers<'py>)> {
        let queries = queries.as_slice()?.to_vec();
        let near = work::run(py, threads, None, |_| self.catalog.index.nearest(&queries, k))?;
        let each = near.first().map_or(0, Vec::len);
        let (positions, distances) = neighbors(py, &near.concat());
        Ok((each, positions, distances))
    }

    /// Pairs that are alike: at most how far apart, how many there are, and the nearest `most`.
    fn duplicates<'py>(
        &self,
        py: Python<'py>,
        threshold: Option<f64>,
        most: usize,
        threads: usize,
    ) -> PyResult<(f64, u64, [Positions<'py>; 2], Numbers<'py>)> {
        let space = self.catalog.index.space();
        let (within, found) = work::run(py, threads, None, |_| {
            let within = asked_for(space, threshold)?;
            Ok::<_, Error>((within, duplicates(space, within, most)?))
        })?;
        let ends = |of: fn(&hg2v_search::duplicates::Pair) -> usize| {
            PyArray1::from_iter(py, found.pairs.iter().map(|pair| of(pair) as i64))
        };
        let distances = PyArray1::from_iter(py, found.pairs.iter().map(|pair| pair.distance));
        Ok((within, found.count, [ends(|pair| pair.first), ends(|pair| pair.second)], distances))
    }

    /// All rows by how far they stand out: their positions, by what they do so where that is told by
    /// their graphs, too, and the distance to the `k`-th neighbour.
    fn outliers<'py>(
        &self,
        py: Python<'py>,
        k: usize,
        threads: usize,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Positions<'py>, Option<[Numbers<'py>; 3]>, Numbers<'py>)> {
        let (found, plain) = work::run(py, threads, progress, |watch| {
            check_k(k, self.catalog.len())?;
            let own;
            let index = match self.told {
                true => &self.catalog.index,
                false => {
                    let space = self.catalog.index.space();
                    let rows: Vec<f32> =
                        (0..space.len()).flat_map(|i| space.row(i)).copied().collect();
                    let vectors = Vectors {
                        dim: space.dim(),
                        values: rows,
                        ids: self.catalog.ids.clone(),
                        labels: self.catalog.labels.clone(),
                        model: None,
                    };
                    let options = self.options.for_outliers();
                    let context = watch.context();
                    own = Catalog::new(vectors, Path::new(IN_MEMORY), options, &context)?;
                    &own.index
                }
            };
            match self.graphs.as_ref().filter(|_| !self.told) {
                Some(graphs) => {
                    let model = self.model.as_deref();
                    let surprises = surprises_to(model, graphs.run(), &watch.context())?;
                    Ok((Some(standing_out(index, k, &surprises)?), Vec::new()))
                }
                None => Ok::<_, Error>((None, outliers(index, k)?)),
            }
        })?;
        let Some(found) = found else {
            let (positions, distances) = neighbors(py, &plain);
            return Ok((positions, None, distances));
        };
        let numbers = |of: fn(&hg2v_search::outliers::Outlier) -> f64| {
            PyArray1::from_iter(py, found.iter().map(of))
        };
        let positions = PyArray1::from_iter(py, found.iter().map(|one| one.position as i64));
        let parts =
            [numbers(|one| one.score), numbers(|one| one.neighbors), numbers(|one| one.unmet)];
        Ok((positions, Some(parts), numbers(|one| one.distance)))
    }

    /// Why two graphs are similar, as JSON.
    fn explain(&self, py: Python<'_>, first: Side, second: Side) -> PyResult<String> {
        let explanation = work::run(py, 0, None, |_| {
            let model = self.explained()?;
            let (first, second) = (self.anatomy(model, &first)?, self.anatomy(model, &second)?);
            explain::explain(self.catalog.index.space(), &first, &second)
        })?;
        text(py, &explanation)
    }
}

impl Index {
    /// The model whose vectors can be explained.
    fn explained(&self) -> hg2v::Result<&Hg2v> {
        let model = self.model.as_deref().ok_or_else(|| {
            Error::argument(
                "model",
                "missing",
                "only the model that made the vectors explains them",
            )
        })?;
        Hg2v::of(model).ok_or_else(|| {
            let requirement = "vectors of other methods than hg2v cannot be explained";
            Error::argument("model", model.method(), requirement)
        })
    }

    /// A graph, taken apart.
    fn anatomy<'a>(&self, model: &'a Hg2v, side: &Side) -> hg2v::Result<Anatomy<'a>> {
        let graphs = match (side, &self.graphs) {
            (Side::Graph(graphs), _) => graphs,
            (Side::Row(_), Some(graphs)) => graphs,
            (Side::Row(_), None) => {
                let requirement = "the graphs of the vectors must be there to be explained";
                return Err(Error::argument("graphs", "missing", requirement));
            }
        };
        let at = match side {
            Side::Row(row) => *row,
            Side::Graph(_) => 0,
        };
        let run = graphs.run();
        let one = run.records.get(at..=at).ok_or_else(|| {
            let requirement = format!("there are {} graphs, counted from 0", run.records.len());
            Error::argument("the position", at, requirement)
        })?;
        let run = Run { position: at as u64, ..Run::of(one, run.file) };
        let context = hg2v::context::Context::default();
        let collection = Collection::new(run, &hg2v::Model::needs(model), &context)?;
        Ok(model.anatomies(&collection, &context)?.swap_remove(0))
    }
}

fn neighbors<'py>(py: Python<'py>, near: &[Neighbor]) -> (Positions<'py>, Numbers<'py>) {
    let positions = near.iter().map(|neighbor| neighbor.position as i64);
    let distances = near.iter().map(|neighbor| neighbor.distance);
    (PyArray1::from_iter(py, positions), PyArray1::from_iter(py, distances))
}

/// Rows with the ids and classes of their graphs, where those are known.
fn vectors_of(rows: &PyReadonlyArray2<'_, f32>, graphs: Option<&Graphs>) -> PyResult<Vectors> {
    let [count, dim] = [rows.shape()[0], rows.shape()[1]];
    let records = graphs.map(|graphs| &graphs.records);
    let id = |i: usize| match records.and_then(|records| records.get(i)) {
        Some(record) => record.id_at(i as u64),
        None => Scalar::Int(i as i64),
    };
    let label = |i: usize| records.and_then(|records| records.get(i)?.label.clone());
    Ok(Vectors {
        dim,
        values: rows.as_slice()?.to_vec(),
        ids: (0..count).map(id).collect(),
        labels: (0..count).map(label).collect(),
        model: None,
    })
}

/// Whether two sets of vectors come from the same place, as JSON.
#[pyfunction]
pub(crate) fn drift(
    py: Python<'_>,
    old: PyReadonlyArray2<'_, f32>,
    new: PyReadonlyArray2<'_, f32>,
    metric: &str,
    standardise: bool,
    permutations: usize,
    seed: u64,
    threads: usize,
) -> PyResult<String> {
    let dim = old.shape()[1];
    let (mut old, mut new) = (old.as_slice()?.to_vec(), new.as_slice()?.to_vec());
    let found = work::run(py, threads, None, |_| {
        let metric: Metric = metric.parse()?;
        if standardise {
            hg2v_search::drift::standardise(dim, &mut old, &mut new);
        }
        hg2v_search::drift::drift(dim, &old, &new, metric, permutations, seed)
    })?;
    text(py, &found)
}

/// Two coordinates for each row, and the share of the variance that principal components keep.
#[pyfunction]
#[pyo3(signature = (rows, method, standardise, perplexity, neighbors, seed, threads=0, progress=None))]
pub(crate) fn project<'py>(
    py: Python<'py>,
    rows: PyReadonlyArray2<'_, f32>,
    method: &str,
    standardise: bool,
    perplexity: Option<f64>,
    neighbors: Option<usize>,
    seed: u64,
    threads: usize,
    progress: Option<Py<PyAny>>,
) -> PyResult<(Bound<'py, PyArray2<f64>>, Option<f64>)> {
    let method = ProjectionMethod::of_word(ProjectionMethod::OPTION, method);
    let method = method.map_err(|e| raised(py, e.into()))?;
    let options = MapOptions::default()
        .method(method)
        .standardise(standardise)
        .perplexity(perplexity)
        .neighbors(neighbors)
        .seed(seed);
    let (dim, values) = (rows.shape()[1], rows.as_slice()?.to_vec());
    let made =
        work::run(py, threads, progress, |watch| map(dim, values, &options, &watch.context()))?;
    let flat: Vec<f64> = made.points.iter().flatten().copied().collect();
    Ok((PyArray1::from_vec(py, flat).reshape([made.points.len(), 2])?, made.explained))
}

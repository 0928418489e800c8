//! Collections of graphs.

use std::collections::HashMap;
use std::io::Cursor;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, BooleanArray, Float64Array, Int64Array, LargeListArray, RecordBatch,
    StringArray,
};
use arrow_buffer::OffsetBuffer;
use arrow_schema::{Field, Schema};
use hg2v::dataset::{self, Format, Limits, jsonl, molecules};
use hg2v::error::Place;
use hg2v::graph::{GraphRecord, Scalar, WeightPolicy};
use hg2v::output::overwrite::{Destination, Overwrite};
use hg2v::prepare::{Run, graph_of};
use numpy::{PyArray1, PyReadonlyArray1, PyReadonlyArray2};
use pyo3::exceptions::{PyIndexError, PyTypeError, PyValueError};
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use pyo3_arrow::PyRecordBatch;
use pyo3_arrow::input::AnyRecordBatch;
use rayon::prelude::*;

use crate::errors::{IN_MEMORY, raised, told, unreadable};
use crate::refused::{self, Refused};
use crate::work::{self, Watch};

/// Graphs on the Rust side, and where they came from.
#[pyclass(module = "hg2v._hg2v", frozen, from_py_object)]
#[derive(Clone)]
pub(crate) struct Graphs {
    pub(crate) records: Arc<Vec<GraphRecord>>,
    file: PathBuf,
    /// The format of the file, and what it holds that graphs do not carry.
    pub(crate) read: Option<(Format, Vec<String>)>,
}

impl Graphs {
    fn new(records: Vec<GraphRecord>, file: impl Into<PathBuf>) -> Graphs {
        Graphs { records: Arc::new(records), file: file.into(), read: None }
    }

    /// The records, as the library takes them.
    pub(crate) fn run(&self) -> Run<'_> {
        Run::of(&self.records, &self.file)
    }
}

/// What a column of labels, ids or classes may be.
#[derive(FromPyObject)]
pub(crate) enum Column<'py> {
    Flags(Vec<bool>),
    Integers(PyReadonlyArray1<'py, i64>),
    Numbers(PyReadonlyArray1<'py, f64>),
    /// `None` where there is no value, which only ids and classes may lack.
    Texts(Vec<Option<String>>),
}

impl Column<'_> {
    pub(crate) fn array(&self) -> PyResult<ArrayRef> {
        Ok(match self {
            Column::Flags(flags) => Arc::new(BooleanArray::from(flags.clone())),
            Column::Integers(numbers) => Arc::new(Int64Array::from(numbers.as_slice()?.to_vec())),
            Column::Numbers(numbers) => Arc::new(Float64Array::from(numbers.as_slice()?.to_vec())),
            Column::Texts(texts) => Arc::new(StringArray::from_iter(texts)),
        })
    }
}

#[pymethods]
impl Graphs {
    /// The graphs of a file or folder of any known format, or of a set of that name in
    /// `data_dir`. With `skip`, those that cannot be used are left out, and told.
    #[staticmethod]
    fn read(
        py: Python<'_>,
        path: PathBuf,
        data_dir: Option<PathBuf>,
        skip: bool,
        atoms: bool,
    ) -> PyResult<(Graphs, Refused)> {
        work::run(py, 0, None, |watch| {
            let path = dataset::locate(&path, data_dir.as_deref())?;
            let limits = Limits::default().atom_attributes(atoms);
            let mut source = dataset::open(&path, &limits)?;
            let (mut graphs, refused) = Graphs::gathered(source.by_ref(), &path, skip, watch)?;
            graphs.read = Some((source.format, source.ignored()));
            Ok::<_, hg2v::Error>((graphs, refused))
        })
    }

    /// Graphs whose numbers lie one after the other: graph `i` has the edges
    /// `edge_ptr[i]..edge_ptr[i + 1]` between nodes counted from 0, and the nodes
    /// `node_ptr[i]..node_ptr[i + 1]`. Columns named in `json` are spelled as JSON.
    #[staticmethod]
    #[pyo3(signature = (node_ptr, edge_ptr, src, dst, *, weight=None, x=None, nodes=None,
        node_label=None, edge_label=None, edge_x=None, id=None, y=None, targets=Vec::new(),
        directed=None, json="", json_targets=Vec::new()))]
    fn stacked(
        py: Python<'_>,
        node_ptr: PyReadonlyArray1<'_, i64>,
        edge_ptr: PyReadonlyArray1<'_, i64>,
        src: PyReadonlyArray1<'_, i64>,
        dst: PyReadonlyArray1<'_, i64>,
        weight: Option<PyReadonlyArray1<'_, f64>>,
        x: Option<PyReadonlyArray2<'_, f64>>,
        nodes: Option<Column<'_>>,
        node_label: Option<Column<'_>>,
        edge_label: Option<Column<'_>>,
        edge_x: Option<PyReadonlyArray2<'_, f64>>,
        id: Option<Column<'_>>,
        y: Option<Column<'_>>,
        targets: Vec<(String, Column<'_>)>,
        directed: Option<Vec<bool>>,
        json: &str,
        json_targets: Vec<String>,
    ) -> PyResult<Graphs> {
        let (of_nodes, of_edges) =
            (offsets(&node_ptr, "node_ptr")?, offsets(&edge_ptr, "edge_ptr")?);
        if of_nodes.len() != of_edges.len() {
            return Err(PyValueError::new_err("node_ptr and edge_ptr are not equally long"));
        }
        let mut columns: Vec<(&str, ArrayRef)> = Vec::new();
        let counts = of_nodes.windows(2).map(|two| two[1] - two[0]);
        columns.push(("num_nodes", Arc::new(Int64Array::from_iter_values(counts))));
        let integers = |values: &PyReadonlyArray1<'_, i64>| -> PyResult<ArrayRef> {
            Ok(Arc::new(Int64Array::from(values.as_slice()?.to_vec())))
        };
        columns.push(("src", lists("src", &of_edges, integers(&src)?)?));
        columns.push(("dst", lists("dst", &of_edges, integers(&dst)?)?));
        if let Some(weight) = weight {
            let values = Float64Array::from(weight.as_slice()?.to_vec());
            columns.push(("weight", lists("weight", &of_edges, Arc::new(values))?));
        }
        for (name, x, of) in [("x", x, &of_nodes), ("edge_x", edge_x, &of_edges)] {
            let Some(x) = x else { continue };
            let (rows, dim) = (x.as_array().nrows(), x.as_array().ncols());
            let values = Arc::new(Float64Array::from(x.as_slice()?.to_vec()));
            let ends: Vec<i64> = (0..=rows).map(|row| (row * dim) as i64).collect();
            columns.push((name, lists(name, of, lists(name, &ends, values)?)?));
        }
        for (name, column, ends) in [
            ("nodes", nodes, &of_nodes),
            ("node_label", node_label, &of_nodes),
            ("edge_label", edge_label, &of_edges),
        ] {
            if let Some(column) = column {
                columns.push((name, lists(name, ends, column.array()?)?));
            }
        }
        for (name, column) in [("id", id), ("y", y), ("directed", directed.map(Column::Flags))] {
            if let Some(column) = column {
                columns.push((name, column.array()?));
            }
        }
        let targets: Vec<_> =
            targets.into_iter().map(|(name, column)| (format!("y.{name}"), column)).collect();
        for (name, column) in &targets {
            columns.push((name, column.array()?));
        }
        let field =
            |(name, array): &(&str, ArrayRef)| Field::new(*name, array.data_type().clone(), true);
        let schema = Schema::new(columns.iter().map(field).collect::<Vec<_>>());
        let json_targets = serde_json::to_string(&json_targets).map_err(|e| unreadable(py, &e))?;
        let notes = [("hg2v.json", json.to_owned()), ("hg2v.json_targets", json_targets)];
        let notes = notes.map(|(key, note)| (key.to_owned(), note));
        let schema = schema.with_metadata(notes.into());
        let columns = columns.into_iter().map(|(_, array)| array).collect();
        let batch = RecordBatch::try_new(Arc::new(schema), columns)
            .map_err(|e| PyValueError::new_err(e.to_string()))?;
        Ok(Graphs::of_batches(py, vec![batch], false, false)?.0)
    }

    /// Graphs spelled as lines of JSONL, one a line; `skip` as in `read`.
    #[staticmethod]
    fn from_lines(py: Python<'_>, lines: String, skip: bool) -> PyResult<(Graphs, Refused)> {
        let origin = Path::new(IN_MEMORY);
        work::run(py, 0, None, |watch| {
            let bytes = Cursor::new(lines.into_bytes());
            let source = jsonl::from_reader(origin, bytes, &Limits::default())?;
            Graphs::gathered(source, origin, skip, watch)
        })
    }

    /// Molecules by their SMILES; `skip` as in `read`, and `atoms` says whether atoms have numbers.
    #[staticmethod]
    fn from_smiles(
        py: Python<'_>,
        texts: Vec<String>,
        skip: bool,
        atoms: bool,
    ) -> PyResult<(Graphs, Refused)> {
        let origin = Path::new(IN_MEMORY);
        let limits = Limits::default().atom_attributes(atoms);
        work::run(py, 0, None, |watch| {
            let made = |(at, text): (usize, &String)| {
                let place = Place::Record(at as u64 + 1);
                molecules::from_smiles_at(origin, place, text, &limits)
            };
            let made: Vec<_> = texts.par_iter().enumerate().map(made).collect();
            Graphs::gathered(made, origin, skip, watch)
        })
    }

    /// The rows of an Arrow record batch, table or stream, of whichever library. With `skip`,
    /// rows that are no graphs are left out, and told.
    #[staticmethod]
    fn from_arrow(
        py: Python<'_>,
        table: AnyRecordBatch,
        skip: bool,
        atoms: bool,
    ) -> PyResult<(Graphs, Refused)> {
        let batches = table.into_reader()?.collect::<Result<Vec<_>, _>>();
        let batches = batches.map_err(|e| PyValueError::new_err(e.to_string()))?;
        Graphs::of_batches(py, batches, skip, atoms)
    }

    /// The graphs as an Arrow record batch, one a row.
    fn to_arrow(&self, py: Python<'_>) -> PyResult<Py<PyAny>> {
        let batch = py.detach(|| dataset::parquet::batch(&self.records));
        let batch = batch.map_err(|e| raised(py, e.into()))?;
        exported(py, batch)
    }

    /// Writes the graphs; the name tells the format. What is there is replaced only with
    /// `overwrite`.
    #[pyo3(signature = (path, overwrite=false))]
    fn write(&self, py: Python<'_>, path: PathBuf, overwrite: bool) -> PyResult<()> {
        let overwrite = if overwrite { Overwrite::Always } else { Overwrite::Never };
        work::run(py, 0, None, |watch| {
            let mut sink = dataset::create(Destination { path: &path, overwrite }, None)?;
            for record in self.records.iter() {
                sink.write(record)?;
                watch.go_on()?;
            }
            sink.finish()
        })
    }

    /// The graphs that no model could be fitted to, and why: those whose weights are refused, and,
    /// where all are to be `alike`, those without the features that most have. `weights` is JSON.
    fn unusable(&self, py: Python<'_>, weights: &str, alike: bool) -> PyResult<Refused> {
        let weights: WeightPolicy =
            serde_json::from_str(weights).map_err(|e| unreadable(py, &e))?;
        let Run { records, file, .. } = self.run();
        work::run(py, 0, None, |_| {
            let mut refused = refused::each(records, |record, position| {
                graph_of(record, weights, file, position).map(|_| ())
            });
            if alike {
                refused.extend(refused::unlike_most(records, &refused));
                refused.sort_unstable();
            }
            Ok::<_, hg2v::Error>(refused)
        })
    }

    /// Several collections one after the other.
    #[staticmethod]
    fn concat(parts: Vec<Graphs>) -> Graphs {
        let records = parts.iter().flat_map(|part| part.records.iter().cloned()).collect();
        Graphs::new(records, IN_MEMORY)
    }

    /// The graphs at these positions.
    fn take(&self, positions: Vec<usize>) -> PyResult<Graphs> {
        let taken = positions.iter().map(|&at| self.records.get(at).cloned());
        let taken: Option<Vec<_>> = taken.collect();
        taken
            .map(|records| Graphs::new(records, IN_MEMORY))
            .ok_or_else(|| PyIndexError::new_err("no graph at one of the positions"))
    }

    /// How many graphs the parts have whose pyramids are kept together.
    fn parts(&self) -> Vec<usize> {
        self.run().parts().map(|part| part.records.len()).collect()
    }

    fn __len__(&self) -> usize {
        self.records.len()
    }

    fn __repr__(&self) -> String {
        format!("<{} graphs of {}>", self.records.len(), self.file.display())
    }

    /// One graph, as a collection.
    fn __getitem__(&self, position: isize) -> PyResult<Graphs> {
        let at = if position < 0 { position + self.records.len() as isize } else { position };
        usize::try_from(at).map_or_else(
            |_| Err(PyIndexError::new_err(format!("there is no graph {position}"))),
            |at| self.take(vec![at]),
        )
    }

    /// The class of each graph, `None` where it has none.
    fn labels(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.records.iter().map(|record| scalar(py, record.label.as_ref())).collect()
    }

    /// What is to be predicted of each graph, where there are several numbers or classes, by name:
    /// an array of numbers, NaN where one is not known, or a list with `None` there.
    fn targets<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyDict>> {
        let mut names: Vec<&str> = Vec::new();
        let mut places: HashMap<&str, usize> = HashMap::new();
        for target in self.records.iter().flat_map(|record| &record.targets) {
            places.entry(&target.name).or_insert_with(|| {
                names.push(&target.name);
                names.len() - 1
            });
        }
        let mut columns = vec![vec![None; self.records.len()]; names.len()];
        for (at, record) in self.records.iter().enumerate() {
            for target in &record.targets {
                columns[places[&*target.name]][at] = target.value.as_ref();
            }
        }
        let table = PyDict::new(py);
        for (name, column) in names.into_iter().zip(columns) {
            let numbers: Option<Vec<f64>> = column.iter().map(|value| number(*value)).collect();
            match numbers {
                Some(numbers) => table.set_item(name, PyArray1::from_vec(py, numbers))?,
                None => {
                    let values = column.into_iter().map(|value| scalar(py, value));
                    table.set_item(name, values.collect::<PyResult<Vec<_>>>()?)?;
                }
            }
        }
        Ok(table)
    }

    /// The same graphs with these targets alone, by name: one becomes the class or number.
    fn choose(&self, py: Python<'_>, names: Vec<String>) -> PyResult<Graphs> {
        work::run(py, 0, None, |_| {
            let records = self.records.iter().cloned();
            let records = dataset::with_targets(records, &self.file, &names)?;
            Ok::<_, hg2v::Error>(Graphs::new(records, &self.file))
        })
    }

    /// The id of each graph, `None` where it has none.
    fn ids(&self, py: Python<'_>) -> PyResult<Vec<Py<PyAny>>> {
        self.records.iter().map(|record| scalar(py, record.id.as_ref())).collect()
    }

    /// Nodes a graph.
    fn num_nodes<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let nodes: Vec<i64> = self.records.iter().map(|r| i64::from(r.num_nodes)).collect();
        PyArray1::from_vec(py, nodes)
    }

    /// Edges a graph, as listed.
    fn num_edges<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let edges: Vec<i64> = self.records.iter().map(|r| r.edges.len() as i64).collect();
        PyArray1::from_vec(py, edges)
    }

    /// The positions of directed graphs.
    fn directed<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i64>> {
        let directed = self.records.iter().enumerate().filter(|(_, record)| record.directed);
        PyArray1::from_vec(py, directed.map(|(at, _)| at as i64).collect())
    }

    fn __getstate__<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyBytes>> {
        let bytes = serde_json::to_vec(&*self.records).map_err(|e| unreadable(py, &e))?;
        Ok(PyBytes::new(py, &bytes))
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Py<PyAny>, (Bound<'py, PyBytes>,))> {
        let restore = py.get_type::<Graphs>().getattr("from_state")?;
        Ok((restore.unbind(), (self.__getstate__(py)?,)))
    }

    /// What was pickled.
    #[staticmethod]
    fn from_state(py: Python<'_>, state: &[u8]) -> PyResult<Graphs> {
        let records: Vec<GraphRecord> =
            serde_json::from_slice(state).map_err(|e| unreadable(py, &e))?;
        // What a pickle says is believed no more than what a file says.
        let batch = dataset::parquet::batch(&records).map_err(|e| raised(py, e.into()))?;
        Ok(Graphs::of_batches(py, vec![batch], false, false)?.0)
    }
}

impl Graphs {
    fn of_batches(
        py: Python<'_>,
        batches: Vec<RecordBatch>,
        skip: bool,
        atoms: bool,
    ) -> PyResult<(Graphs, Refused)> {
        let origin = Path::new(IN_MEMORY);
        let limits = Limits::default().atom_attributes(atoms);
        work::run(py, 0, None, |watch| {
            let mut first = 0;
            let rows = batches.iter().map(|batch| {
                let rows = dataset::parquet::each_record(batch, origin, first, &limits);
                first += batch.num_rows() as u64;
                rows
            });
            let rows = rows.collect::<hg2v::Result<Vec<_>>>()?;
            Graphs::gathered(rows.into_iter().flatten(), origin, skip, watch)
        })
    }

    /// All graphs that can be used; with `skip`, those that cannot are told, where that is no
    /// reason to doubt the others.
    fn gathered(
        graphs: impl IntoIterator<Item = hg2v::Result<GraphRecord>>,
        file: &Path,
        skip: bool,
        watch: &Watch,
    ) -> hg2v::Result<(Graphs, Refused)> {
        let (mut records, mut refused) = (Vec::new(), Refused::new());
        for (position, graph) in graphs.into_iter().enumerate() {
            match graph {
                Ok(record) => records.push(record),
                Err(error) if skip && error.is_of_one_graph() => {
                    refused.push((position, told(&error)));
                }
                Err(error) => return Err(error),
            }
            watch.go_on()?;
        }
        // Positions are no longer those in the file, which messages would name.
        let file = if refused.is_empty() { file } else { Path::new(IN_MEMORY) };
        Ok((Graphs::new(records, file), refused))
    }
}

/// The labels of a molecule's atoms, the ends of its bonds, their labels, and the numbers of atoms.
type Molecule = (Vec<String>, Vec<i64>, Vec<i64>, Vec<String>, Vec<f64>);

/// The molecule of a SMILES, with numbers of its atoms, row after row, where `atoms` is said.
#[pyfunction]
pub(crate) fn molecule(py: Python<'_>, text: &str, atoms: bool) -> PyResult<Molecule> {
    let limits = Limits::default().atom_attributes(atoms);
    let made = molecules::from_smiles_at(Path::new(IN_MEMORY), Place::Whole, text, &limits);
    let made = made.map_err(|e| raised(py, e.into()))?;
    let texts = |labels: Option<Vec<Scalar>>| {
        labels.into_iter().flatten().map(|label| label.to_string()).collect()
    };
    let end = |side: usize| made.edges.iter().map(|edge| i64::from(edge[side])).collect();
    let numbers = made.features.as_ref().map_or_else(Vec::new, |rows| rows.values.clone());
    let (nodes, edges) = (texts(made.node_labels.clone()), texts(made.edge_labels.clone()));
    Ok((nodes, end(0), end(1), edges, numbers))
}

/// A batch as an object of which any Arrow library takes the rows.
pub(crate) fn exported(py: Python<'_>, batch: RecordBatch) -> PyResult<Py<PyAny>> {
    Ok(Py::new(py, PyRecordBatch::new(batch))?.into_any())
}

/// Ends of runs: ascending, from 0.
fn offsets(values: &PyReadonlyArray1<'_, i64>, name: &str) -> PyResult<Vec<i64>> {
    let values = values.as_slice()?.to_vec();
    let ascending = values.windows(2).all(|two| two[0] <= two[1]);
    if values.first() != Some(&0) || !ascending {
        return Err(PyValueError::new_err(format!("{name} must begin with 0 and never fall")));
    }
    Ok(values)
}

/// Lists over `values`, the `i`-th from `ends[i]` to `ends[i + 1]`.
fn lists(name: &str, ends: &[i64], values: ArrayRef) -> PyResult<ArrayRef> {
    if ends.last().copied() != Some(values.len() as i64) {
        return Err(PyValueError::new_err(format!(
            "{name} has {} entries where {} belong",
            values.len(),
            ends.last().copied().unwrap_or(0)
        )));
    }
    let field = Arc::new(Field::new("element", values.data_type().clone(), true));
    let made =
        LargeListArray::try_new(field, OffsetBuffer::new(ends.to_vec().into()), values, None);
    Ok(Arc::new(made.map_err(|e| PyTypeError::new_err(e.to_string()))?))
}

/// A number, NaN where it is not known; `None` where it is no number.
fn number(scalar: Option<&Scalar>) -> Option<f64> {
    match scalar {
        None => Some(f64::NAN),
        Some(Scalar::Int(int)) => Some(*int as f64),
        Some(Scalar::Float(float)) => Some(*float),
        Some(Scalar::Bool(_) | Scalar::Text(_)) => None,
    }
}

fn scalar(py: Python<'_>, scalar: Option<&Scalar>) -> PyResult<Py<PyAny>> {
    Ok(match scalar {
        None => py.None(),
        Some(Scalar::Bool(flag)) => flag.into_pyobject(py)?.to_owned().into_any().unbind(),
        Some(Scalar::Int(int)) => int.into_pyobject(py)?.into_any().unbind(),
        Some(Scalar::Float(float)) => float.into_pyobject(py)?.into_any().unbind(),
        Some(Scalar::Text(text)) => text.into_pyobject(py)?.into_any().unbind(),
    })
}

//! Columns as a table that any Arrow library takes.

use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::graphs::Column;

/// A table of columns that are equally long.
#[pyfunction]
pub(crate) fn arrow_table(
    py: Python<'_>,
    columns: Vec<(String, Column<'_>)>,
) -> PyResult<Py<PyAny>> {
    let refused = |e: &dyn std::fmt::Display| PyValueError::new_err(e.to_string());
    let arrays = columns.iter().map(|(_, column)| column.array()).collect::<PyResult<Vec<_>>>()?;
    let fields = columns.iter().zip(&arrays);
    let fields: Vec<Field> = fields
        .map(|((name, _), array)| Field::new(name, array.data_type().clone(), true))
        .collect();
    let schema = Arc::new(Schema::new(fields));
    let batch = RecordBatch::try_new(Arc::clone(&schema), arrays).map_err(|e| refused(&e))?;
    let table = PyTable::try_new(vec![batch], schema).map_err(|e| refused(&e))?;
    Ok(Py::new(py, table)?.into_any())
}

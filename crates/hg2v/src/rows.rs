//! Graphs that are rows of an Arrow table in memory, and their vectors.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};

use crate::context::Context;
use crate::dataset::{self, Limits};
use crate::error::{Error, Place, Result};
use crate::method::Model;
use crate::prepare::Run;
use crate::vectors;

/// The vectors of the graphs of a batch of rows laid out as in
/// [Parquet](crate::dataset::parquet): a row for each, with its `id` and `y` as they came
/// and its `embedding`. `origin` names the batch in messages, and its rows are called `first`
/// and on.
///
/// # Errors
/// Rows that are no graphs; graphs that the model refuses; [`Stopped`](Error::Stopped).
pub fn embed(
    model: &dyn Model,
    batch: &RecordBatch,
    origin: &Path,
    first: u64,
    limits: &Limits,
    context: &Context<'_>,
) -> Result<RecordBatch> {
    let records = dataset::parquet::records(batch, origin, first, limits)?;
    let run = Run { position: first, ..Run::of(&records, origin) };
    let (values, _) = model.embed_run(run, context)?;
    beside(batch, model.dim(), values, origin)
}

/// Vectors, row after row, of `dim` numbers each, as the `embedding` of a batch of rows, whose `id` and `y` stay.
///
/// # Errors
/// Another number of vectors than of rows, or more than a column holds.
pub fn beside(
    batch: &RecordBatch,
    dim: usize,
    values: Vec<f32>,
    origin: &Path,
) -> Result<RecordBatch> {
    let vectors = vectors::parquet::column(dim, values);
    let schema = batch.schema();
    let kept = ["id", "y"].into_iter().filter_map(|name| schema.column_with_name(name));
    let (mut fields, mut columns): (Vec<Field>, Vec<_>) =
        kept.map(|(at, field)| (field.clone(), batch.column(at).clone())).unzip();
    fields.push(vectors::parquet::field(dim));
    let made = vectors.and_then(|vectors| {
        columns.push(vectors);
        RecordBatch::try_new(Arc::new(Schema::new(fields)), columns)
    });
    made.map_err(|error| {
        let fix = "give fewer rows at a time";
        Error::input(origin, Place::Whole, error.to_string(), fix)
    })
}

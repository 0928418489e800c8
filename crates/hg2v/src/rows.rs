//! Graphs that are rows of an Arrow table in memory, and their vectors.

use std::path::Path;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_schema::{Field, Schema};

use crate::dataset::{self, Limits};
use crate::error::{Error, Place, Result};
use crate::estimator::Hg2v;
use crate::prepare::Run;
use crate::vectors;

impl Hg2v {
    /// The vectors of the graphs of a batch of rows laid out as in
    /// [Parquet](crate::dataset::parquet): a row for each, with its `id` and `y` as they came
    /// and its `embedding`. `origin` names the batch in messages.
    ///
    /// # Errors
    /// Rows that are no graphs; graphs whose features are not those of the model.
    pub fn embed_batch(
        &self,
        batch: &RecordBatch,
        origin: &Path,
        limits: &Limits,
    ) -> Result<RecordBatch> {
        self.embed_batch_watched(batch, 0, origin, limits, |_| Ok(()))
    }

    /// As [`embed_batch`](Hg2v::embed_batch) of rows that are called `first` and on in messages;
    /// `watch` hears how many are done, and stops it with an error.
    ///
    /// # Errors
    /// As [`embed_batch`](Hg2v::embed_batch); what `watch` returns.
    pub fn embed_batch_watched(
        &self,
        batch: &RecordBatch,
        first: u64,
        origin: &Path,
        limits: &Limits,
        watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<RecordBatch> {
        let records = dataset::parquet::records(batch, origin, first, limits)?;
        let run = Run { position: first, ..Run::of(&records, origin) };
        let (values, _) = self.embed_watched(run, watch)?;
        self.beside(batch, values, origin)
    }

    /// Vectors, row after row, as the `embedding` of a batch of rows, whose `id` and `y` stay.
    ///
    /// # Errors
    /// Another number of vectors than of rows, or more than a column holds.
    pub fn beside(
        &self,
        batch: &RecordBatch,
        values: Vec<f32>,
        origin: &Path,
    ) -> Result<RecordBatch> {
        let dim = self.network().layout.embedding_dim();
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
}

//! Records into row groups.

use std::mem;
use std::path::PathBuf;
use std::sync::Arc;

use arrow_array::{
    ArrayRef, BooleanArray, Float64Array, Int64Array, ListArray, RecordBatch, StringArray,
    UInt32Array,
};
use arrow_buffer::{NullBuffer, OffsetBuffer};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::columns::{Columns, Kind, entry};
use super::decode;
use crate::dataset::{Limits, Sink};
use crate::error::{Action, Error, Place, Result};
use crate::graph::{Features, GraphRecord, Scalar, Target};
use crate::output::OutputFile;
use crate::output::overwrite::Destination;

/// A row group is written when the records in hand take about this many bytes:
/// large enough to compress and scan well, small beside any machine's memory.
const GROUP_BYTES: usize = 32 << 20;

/// Begins writing a Parquet file; `-` is standard output.
///
/// # Errors
/// When the place cannot be written.
pub fn write<'a>(to: impl Into<Destination<'a>>) -> Result<Box<dyn Sink>> {
    let to = to.into();
    Ok(Box::new(Rows {
        held: Vec::new(),
        held_bytes: 0,
        columns: Columns::default(),
        file: None,
        unopened: Some(OutputFile::create(to)?),
        path: to.path.to_path_buf(),
    }))
}

/// Rows on their way to a file. The columns follow from the records; where a
/// later row group needs more than the file has, what is written is read back and
/// written again with all of them. Columns only grow, so that happens a few times
/// at most, and hardly ever after the first row group.
struct Rows {
    path: PathBuf,
    held: Vec<GraphRecord>,
    held_bytes: usize,
    /// What the rows so far need.
    columns: Columns,
    file: Option<Written>,
    /// The output before its first row group.
    unopened: Option<OutputFile>,
}

/// A file with some row groups in it, and the columns it has.
struct Written {
    columns: Columns,
    writer: ArrowWriter<OutputFile>,
}

impl Sink for Rows {
    fn write(&mut self, record: &GraphRecord) -> Result<()> {
        self.columns.add(record);
        self.held_bytes += bytes_of(record);
        self.held.push(record.clone());
        if self.held_bytes >= GROUP_BYTES {
            self.flush()?;
        }
        Ok(())
    }

    fn finish(mut self: Box<Self>) -> Result<()> {
        self.flush()?;
        let file = self.file.take().ok_or_else(|| self.failed_before())?;
        self.close(file)?.commit()
    }
}

impl Rows {
    /// Writes the records in hand as a row group.
    fn flush(&mut self) -> Result<()> {
        let mut file = match (self.file.take(), self.unopened.take()) {
            (Some(file), _) if file.columns == self.columns => file,
            (Some(file), _) => self.widened(file)?,
            (None, Some(out)) => self.begin(out)?,
            (None, None) => return Err(self.failed_before()),
        };
        let held = mem::take(&mut self.held);
        self.held_bytes = 0;
        self.group(&mut file, &held)?;
        self.file = Some(file);
        Ok(())
    }

    /// A file with the columns known now and no rows.
    fn begin(&self, out: OutputFile) -> Result<Written> {
        let notes = self.columns.notes().into_iter();
        let notes: Vec<_> = notes.map(|(key, names)| KeyValue::new(key, names)).collect();
        // On small graphs zstd takes a sixth less than snappy at the same speed, and
        // its higher levels gain one part in a hundred.
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_key_value_metadata((!notes.is_empty()).then_some(notes))
            .build();
        let schema = Arc::new(self.columns.schema());
        let writer =
            ArrowWriter::try_new(out, schema, Some(properties)).map_err(|e| self.refused(e))?;
        Ok(Written { columns: self.columns.clone(), writer })
    }

    fn group(&self, file: &mut Written, records: &[GraphRecord]) -> Result<()> {
        rows(&file.columns, records)
            .and_then(|batch| file.writer.write(&batch))
            .and_then(|()| file.writer.flush())
            .map_err(|e| self.refused(e))
    }

    fn close(&self, file: Written) -> Result<OutputFile> {
        file.writer.into_inner().map_err(|e| self.refused(e))
    }

    /// The same rows under the columns known now.
    fn widened(&self, narrow: Written) -> Result<Written> {
        let mut narrow = self.close(narrow)?;
        let reopened = narrow.reopen()?;
        let trusted = Limits {
            max_nodes: u64::MAX,
            max_record_bytes: u64::MAX,
            max_unpacked_bytes: u64::MAX,
            ..Limits::default()
        };
        let mut wide = self.begin(narrow.again()?)?;
        let mut held = Vec::new();
        let mut held_bytes = 0;
        for record in decode::open(&self.path, reopened, &trusted)? {
            let record = record?;
            held_bytes += bytes_of(&record);
            held.push(record);
            if held_bytes >= GROUP_BYTES {
                self.group(&mut wide, &held)?;
                held.clear();
                held_bytes = 0;
            }
        }
        self.group(&mut wide, &held)?;
        Ok(wide)
    }

    fn failed_before(&self) -> Error {
        let error = std::io::Error::other("an earlier row group could not be written");
        Error::io(&self.path, Action::Write, error)
    }

    fn refused(&self, error: ParquetError) -> Error {
        Error::io(&self.path, Action::Write, io_cause(error))
    }
}

/// What the disk said, where that is why Parquet could not be written.
pub(crate) fn io_cause(error: ParquetError) -> std::io::Error {
    match error {
        ParquetError::External(cause) => match cause.downcast::<std::io::Error>() {
            Ok(io) => *io,
            Err(other) => std::io::Error::other(other),
        },
        other => std::io::Error::other(other),
    }
}

/// About how much memory a record takes.
fn bytes_of(record: &GraphRecord) -> usize {
    let scalars = |scalars: &Option<Vec<Scalar>>| {
        scalars.iter().flatten().fold(0, |sum, scalar| {
            let text = match scalar {
                Scalar::Text(text) => text.len(),
                _ => 0,
            };
            sum + size_of::<Scalar>() + text
        })
    };
    size_of::<GraphRecord>()
        + record.edges.len() * 8
        + record.weights.as_ref().map_or(0, |w| w.len() * 8)
        + record.features.as_ref().map_or(0, |x| x.values.len() * 8)
        + record.edge_features.as_ref().map_or(0, |x| x.values.len() * 8)
        + record.targets.iter().map(|t| size_of::<Target>() + t.name.len()).sum::<usize>()
        + scalars(&record.node_ids)
        + scalars(&record.node_labels)
        + scalars(&record.edge_labels)
}

/// The records as one batch of rows, with the columns that they need.
///
/// # Errors
/// More edges, nodes or attributes than a list column holds.
pub fn batch(records: &[GraphRecord]) -> Result<RecordBatch> {
    let mut columns = Columns::default();
    records.iter().for_each(|record| columns.add(record));
    let made = rows(&columns, records).and_then(|batch| {
        let schema = columns.schema().with_metadata(columns.notes().into_iter().collect());
        Ok(batch.with_schema(Arc::new(schema))?)
    });
    made.map_err(|e| {
        let fix = "give fewer graphs at a time";
        Error::input("<graphs>", Place::Whole, e.to_string(), fix)
    })
}

/// The records as one batch of rows, columns in the order of the schema.
fn rows(columns: &Columns, records: &[GraphRecord]) -> parquet::errors::Result<RecordBatch> {
    let mut arrays: Vec<ArrayRef> = Vec::new();
    if let Some(kind) = columns.id {
        arrays.push(scalars(kind, records.iter().map(|r| r.id.as_ref())));
    }
    if let Some(kind) = columns.y {
        arrays.push(scalars(kind, records.iter().map(|r| r.label.as_ref())));
    }
    let targets: Vec<_> = match columns.target_kinds.is_empty() {
        true => Vec::new(),
        false => records.iter().map(|record| columns.targets.row(record)).collect(),
    };
    for (place, &kind) in columns.target_kinds.iter().enumerate() {
        arrays.push(scalars(kind, targets.iter().map(|row| row[place])));
    }
    arrays.push(Arc::new(UInt32Array::from_iter_values(records.iter().map(|r| r.num_nodes))));
    for end in [0, 1] {
        let ends = records.iter().flat_map(|r| r.edges.iter().map(|e| e[end]));
        let lengths = records.iter().map(|r| Some(r.edges.len()));
        arrays.push(lists(Arc::new(UInt32Array::from_iter_values(ends)), lengths)?);
    }
    if columns.weight {
        let weights = records.iter().filter_map(|r| r.weights.as_ref());
        let lengths = records.iter().map(|r| r.weights.as_ref().map(Vec::len));
        arrays.push(lists(numbers(weights.flatten()), lengths)?);
    }
    type Part = fn(&GraphRecord) -> Option<&Vec<Scalar>>;
    let parts: [(Option<Kind>, Part); 3] = [
        (columns.nodes, |r| r.node_ids.as_ref()),
        (columns.node_label, |r| r.node_labels.as_ref()),
        (columns.edge_label, |r| r.edge_labels.as_ref()),
    ];
    for (kind, part) in parts {
        if let Some(kind) = kind {
            let values = records.iter().filter_map(part).flatten().map(Some);
            let lengths = records.iter().map(|r| part(r).map(Vec::len));
            arrays.push(lists(scalars(kind, values), lengths)?);
        }
    }
    if columns.x {
        let parts = records.iter().map(|r| (r.features.as_ref(), r.num_nodes as usize));
        arrays.push(number_rows(parts)?);
    }
    if columns.edge_x {
        let parts = records.iter().map(|r| (r.edge_features.as_ref(), r.edges.len()));
        arrays.push(number_rows(parts)?);
    }
    if columns.directed {
        let directed: Vec<bool> = records.iter().map(|r| r.directed).collect();
        arrays.push(Arc::new(BooleanArray::from(directed)));
    }
    Ok(RecordBatch::try_new(Arc::new(columns.schema()), arrays)?)
}

/// The attributes of each graph, and how many rows they have.
fn number_rows<'a>(
    parts: impl Iterator<Item = (Option<&'a Features>, usize)> + Clone,
) -> parquet::errors::Result<ArrayRef> {
    let present = parts.clone().filter_map(|(features, rows)| Some((features?, rows)));
    let values = present.clone().flat_map(|(features, _)| &features.values);
    let rows = present.flat_map(|(features, rows)| (0..rows).map(|_| Some(features.dim)));
    let lengths = parts.map(|(features, rows)| features.map(|_| rows));
    lists(lists(numbers(values), rows)?, lengths)
}

fn numbers<'a>(values: impl Iterator<Item = &'a f64>) -> ArrayRef {
    Arc::new(Float64Array::from_iter_values(values.copied()))
}

/// Scalars that are all of a kind (or `None`).
pub(crate) fn scalars<'a>(
    kind: Kind,
    values: impl Iterator<Item = Option<&'a Scalar>>,
) -> ArrayRef {
    match kind {
        Kind::Bool => Arc::new(BooleanArray::from_iter(values.map(|value| match value {
            Some(Scalar::Bool(value)) => Some(*value),
            _ => None,
        }))),
        Kind::Empty | Kind::Int | Kind::Long => {
            Arc::new(Int64Array::from_iter(values.map(|value| match value {
                Some(Scalar::Int(value)) => Some(*value),
                _ => None,
            })))
        }
        Kind::Float => Arc::new(Float64Array::from_iter(values.map(|value| match value {
            Some(Scalar::Float(value)) => Some(*value),
            // Only those that are floats without rounding are among them.
            Some(Scalar::Int(value)) => Some(*value as f64),
            _ => None,
        }))),
        Kind::Text => Arc::new(StringArray::from_iter(values.map(|value| match value {
            Some(Scalar::Text(value)) => Some(value),
            _ => None,
        }))),
        Kind::Json => Arc::new(StringArray::from_iter(
            values.map(|value| value.and_then(|value| serde_json::to_string(value).ok())),
        )),
    }
}

/// Lists of the given lengths over `values`; a list without a length is null.
fn lists(
    values: ArrayRef,
    lengths: impl Iterator<Item = Option<usize>>,
) -> parquet::errors::Result<ArrayRef> {
    let lengths: Vec<_> = lengths.collect();
    if i32::try_from(values.len()).is_err() {
        return Err(ParquetError::General(
            "a graph has more entries than a Parquet list column holds; write it as JSONL".into(),
        ));
    }
    let present = NullBuffer::from_iter(lengths.iter().map(Option::is_some));
    let offsets = OffsetBuffer::from_lengths(lengths.into_iter().map(Option::unwrap_or_default));
    let field = entry(values.data_type().clone());
    let nulls = (present.null_count() > 0).then_some(present);
    Ok(Arc::new(ListArray::try_new(field, offsets, values, nulls)?))
}

//! Vectors as Parquet: `id`, `y`, `embedding: fixed_size_list<f32>`, as vector
//! databases and data frames expect them.

use std::fs::File;
use std::io::{BufReader, BufWriter, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use arrow_array::{
    Array, ArrayRef, FixedSizeListArray, Float32Array, Int64Array, ListArray, RecordBatch,
};
use arrow_cast::cast;
use arrow_schema::ArrowError;
use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::WriterProperties;

use super::{Key, Shape, VectorSink, Vectors};
use crate::dataset::Limits;
use crate::dataset::parquet::columns::Kind;
use crate::dataset::parquet::guard::guarded;
use crate::dataset::parquet::write::{io_cause, scalars};
use crate::error::{Error, Place, Result};
use crate::graph::Scalar;
use crate::output::{OutputFile, folder_of};

/// Bytes of vectors in a row group.
const GROUP_BYTES: usize = 16 << 20;

pub(super) fn create(path: &Path, shape: Shape) -> Result<Box<dyn VectorSink>> {
    let failed = |e| Error::io(path, "create", e);
    // The types of ids and labels are known at the end; until then the numbers
    // wait on the disk.
    let spool = tempfile::tempfile_in(folder_of(path)).map_err(failed)?;
    Ok(Box::new(Rows {
        path: path.to_path_buf(),
        file: OutputFile::create(path)?,
        spool: BufWriter::with_capacity(1 << 18, spool),
        shape,
        ids: Vec::new(),
        labels: Vec::new(),
        parts: Vec::new(),
    }))
}

struct Rows {
    path: PathBuf,
    file: OutputFile,
    spool: BufWriter<File>,
    shape: Shape,
    ids: Vec<Scalar>,
    labels: Vec<Option<Scalar>>,
    parts: Vec<i64>,
}

impl VectorSink for Rows {
    fn write(&mut self, key: Key<'_>, row: &[f32]) -> Result<()> {
        self.ids.push(key.id.clone());
        self.labels.push(key.label.cloned());
        self.parts.extend(key.part.map(|part| part as i64));
        let bytes: Vec<u8> = row.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.spool.write_all(&bytes).map_err(|e| Error::io(&self.path, "write", e))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Rows { path, file, spool, shape, ids, labels, parts } = *self;
        let failed = |e| Error::io(&path, "write", e);
        let refused = |e: ParquetError| failed(io_cause(e));
        let dim = shape.names.len();
        let kind = |values: &mut dyn Iterator<Item = &Scalar>| {
            values.map(Kind::of).fold(Kind::Empty, Kind::join)
        };
        // Of several kinds, all are text, as they would be in a CSV file.
        let text = |scalar: Scalar| Scalar::Text(scalar.to_string().into());
        let (mut ids, mut labels) = (ids, labels);
        if kind(&mut ids.iter()) == Kind::Json {
            ids = ids.into_iter().map(text).collect();
        }
        if kind(&mut labels.iter().flatten()) == Kind::Json {
            labels = labels.into_iter().map(|label| label.map(text)).collect();
        }
        let id_kind = kind(&mut ids.iter());
        let y_kind = kind(&mut labels.iter().flatten());
        let labelled = labels.iter().any(Option::is_some);

        let mut fields = vec![Field::new("id", id_kind.data_type(), false)];
        if labelled {
            fields.push(Field::new("y", y_kind.data_type(), true));
        }
        if let Some(part) = shape.part {
            fields.push(Field::new(part, DataType::Int64, false));
        }
        fields.push(field(dim));
        let schema = Arc::new(Schema::new(fields));
        let properties = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_dictionary_enabled(false)
            .build();
        let mut writer =
            ArrowWriter::try_new(file, Arc::clone(&schema), Some(properties)).map_err(refused)?;

        let mut spool = spool.into_inner().map_err(|e| failed(e.into_error()))?;
        spool.seek(SeekFrom::Start(0)).map_err(failed)?;
        let mut spool = BufReader::with_capacity(1 << 18, spool);
        let rows = (GROUP_BYTES / (4 * dim).max(1)).max(1);
        let mut bytes = Vec::new();
        for start in (0..ids.len()).step_by(rows) {
            let range = start..(start + rows).min(ids.len());
            bytes.resize(range.len() * dim * 4, 0);
            spool.read_exact(&mut bytes).map_err(failed)?;
            let numbers = bytes.chunks_exact(4);
            let numbers = numbers.map(|b| f32::from_le_bytes([b[0], b[1], b[2], b[3]]));
            let mut columns: Vec<ArrayRef> =
                vec![scalars(id_kind, ids[range.clone()].iter().map(Some))];
            if labelled {
                columns.push(scalars(y_kind, labels[range.clone()].iter().map(Option::as_ref)));
            }
            if shape.part.is_some() {
                columns.push(Arc::new(Int64Array::from(parts[range.clone()].to_vec())));
            }
            columns.push(column(dim, numbers.collect()).map_err(|e| refused(e.into()))?);
            let batch = RecordBatch::try_new(Arc::clone(&schema), columns);
            writer.write(&batch.map_err(|e| refused(e.into()))?).map_err(refused)?;
            writer.flush().map_err(refused)?;
        }
        writer.into_inner().map_err(refused)?.commit()
    }
}

/// One number of a vector.
fn item() -> Arc<Field> {
    Arc::new(Field::new("item", DataType::Float32, false))
}

/// The column of vectors of `dim` numbers.
pub(crate) fn field(dim: usize) -> Field {
    Field::new("embedding", DataType::FixedSizeList(item(), dim as i32), false)
}

/// Vectors of `dim` numbers, which lie one after the other in `values`.
pub(crate) fn column(dim: usize, values: Vec<f32>) -> std::result::Result<ArrayRef, ArrowError> {
    let values = Arc::new(Float32Array::from(values));
    Ok(Arc::new(FixedSizeListArray::try_new(item(), dim as i32, values, None)?))
}

/// Reads column `embedding` (or `vector`): lists of as many numbers each.
pub(super) fn read(path: &Path, limits: &Limits) -> Result<Vectors> {
    let file = File::open(path).map_err(|e| Error::io(path, "read", e))?;
    let refused = |problem: String, fix: &str| Error::input(path, Place::Whole, problem, fix);
    let damaged = |problem: String| {
        refused(
            format!("it cannot be read as Parquet: {problem}"),
            "the file may be cut short or damaged: write or download it again",
        )
    };
    let builder = guarded(|| ParquetRecordBatchReaderBuilder::try_new(file)).map_err(damaged)?;
    for group in builder.metadata().row_groups() {
        for column in group.columns() {
            let values = u64::try_from(column.num_values()).unwrap_or(u64::MAX);
            if values.saturating_mul(8) > limits.max_unpacked_bytes {
                return Err(refused(
                    format!("a row group claims {values} values in one column"),
                    "write it with smaller row groups, or raise --max-unpacked-bytes",
                ));
            }
        }
    }
    let mut reader = guarded(|| builder.with_batch_size(1024).build()).map_err(damaged)?;
    let mut vectors = Vectors::default();
    while let Some(batch) = guarded(|| reader.next().transpose()).map_err(damaged)? {
        let find = |names: &[&str]| names.iter().find_map(|name| batch.column_by_name(name));
        let lists = find(&["embedding", "vector"]).ok_or_else(|| {
            let names: Vec<_> = batch.schema().fields().iter().map(|f| f.name().clone()).collect();
            refused(
                format!("it has columns {} but no embedding", names.join(", ")),
                "name the column of vectors `embedding`",
            )
        })?;
        let ids = find(&["id"]).map(scalars_of);
        let labels = find(&["y", "label"]).map(scalars_of);
        let list_type = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
        let lists = cast(lists, &list_type).map_err(|e| {
            refused(format!("column embedding holds no vectors: {e}"), "store lists of numbers")
        })?;
        let lists = lists.as_any().downcast_ref::<ListArray>();
        for (row, list) in lists.into_iter().flat_map(|lists| lists.iter()).enumerate() {
            let position = vectors.ids.len();
            let numbers = list.as_deref().and_then(|list| list.as_any().downcast_ref());
            let numbers: &Float32Array =
                numbers.filter(|numbers: &&Float32Array| numbers.null_count() == 0).ok_or_else(
                    || refused(format!("vector {position} (from 0) is missing"), "fill it in"),
                )?;
            if position == 0 {
                vectors.dim = numbers.len();
            }
            if numbers.len() != vectors.dim {
                return Err(Error::input(
                    path,
                    Place::Record(position as u64 + 1),
                    format!("{} numbers, {} before it", numbers.len(), vectors.dim),
                    "all vectors must be equally long",
                ));
            }
            vectors.values.extend_from_slice(numbers.values());
            let at = |column: &Option<Vec<Option<Scalar>>>| {
                column.as_ref().and_then(|column| column.get(row).cloned().flatten())
            };
            vectors.ids.push(at(&ids).unwrap_or(Scalar::Int(position as i64)));
            vectors.labels.push(at(&labels));
        }
        if vectors.values.len() as u64 * 4 > limits.max_unpacked_bytes {
            let problem = format!("more than {} bytes of vectors", limits.max_unpacked_bytes);
            return Err(refused(problem, "raise --max-unpacked-bytes if it is right"));
        }
    }
    Ok(vectors)
}

/// The scalars of a column of integers, numbers or text; others have none.
fn scalars_of(column: &ArrayRef) -> Vec<Option<Scalar>> {
    use arrow_array::{Float64Array, StringArray};
    let as_type = |to: &DataType| cast(column, to).ok();
    match column.data_type() {
        kind if kind.is_integer() => {
            let ints = as_type(&DataType::Int64);
            let ints = ints.as_ref().and_then(|a| a.as_any().downcast_ref::<Int64Array>());
            ints.into_iter().flat_map(|a| a.iter().map(|v| v.map(Scalar::Int))).collect()
        }
        kind if kind.is_floating() => {
            let floats = as_type(&DataType::Float64);
            let floats = floats.as_ref().and_then(|a| a.as_any().downcast_ref::<Float64Array>());
            floats.into_iter().flat_map(|a| a.iter().map(|v| v.map(Scalar::Float))).collect()
        }
        _ => {
            let texts = as_type(&DataType::Utf8);
            let texts = texts.as_ref().and_then(|a| a.as_any().downcast_ref::<StringArray>());
            let scalar = |text: Option<&str>| text.map(|text| Scalar::Text(text.into()));
            texts.into_iter().flat_map(|a| a.iter().map(scalar)).collect()
        }
    }
}

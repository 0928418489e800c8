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
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::metadata::KeyValue;
use parquet::file::properties::WriterProperties;

use super::{Key, Shape, VectorSink, Vectors};
use crate::dataset::Limits;
use crate::dataset::parquet::columns::Kind;
use crate::dataset::parquet::guard::guarded;
use crate::dataset::parquet::open::Opened;
use crate::dataset::parquet::scalars::{ScalarColumn, TextBudget};
use crate::dataset::parquet::write::{io_cause, scalars};
use crate::error::{Action, Error, Limit, Place, Problem, Result};
use crate::graph::Scalar;
use crate::input::open_regular;
use crate::output::overwrite::Destination;
use crate::output::{OutputFile, folder_of};

/// The columns that hold vectors and labels are called one of these.
const VECTORS: &[&str] = &["embedding", "vector"];
const LABELS: &[&str] = &["y", "label"];

/// The file's note of the model that made its vectors.
const MODEL: &str = "hg2v.model";

/// Bytes of vectors in a row group.
const GROUP_BYTES: usize = 16 << 20;

pub(super) fn create(to: Destination<'_>, shape: Shape) -> Result<Box<dyn VectorSink>> {
    let path = to.path;
    let failed = |e| Error::io(path, Action::Create, e);
    let file = OutputFile::create(to)?;
    // The types of ids and labels are known at the end; until then the numbers
    // wait on the disk.
    let spool = tempfile::tempfile_in(folder_of(path)).map_err(failed)?;
    Ok(Box::new(Rows {
        path: path.to_path_buf(),
        file,
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
        self.spool.write_all(&bytes).map_err(|e| Error::io(&self.path, Action::Write, e))
    }

    fn finish(self: Box<Self>) -> Result<()> {
        let Rows { path, file, spool, shape, ids, labels, parts } = *self;
        let failed = |e| Error::io(&path, Action::Write, e);
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
            .set_key_value_metadata(
                shape.model.map(|model| vec![KeyValue::new(MODEL.to_owned(), model)]),
            )
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
    let file = open_regular(path).map_err(|e| Error::io(path, Action::Read, e))?;
    let refused =
        |problem: String, fix: &'static str| Error::input(path, Place::Whole, problem, fix);
    let mut opened = Opened::new(path, file, limits, |schema| {
        let find = |names: &[&str]| names.iter().find_map(|name| schema.index_of(name).ok());
        let vectors = find(VECTORS).ok_or_else(|| {
            let names: Vec<_> = schema.fields().iter().map(|f| f.name().as_str()).collect();
            refused(
                format!("it has columns {} but no embedding", names.join(", ")),
                "name the column of vectors `embedding`",
            )
        })?;
        Ok([Some(vectors), find(&["id"]), find(LABELS)].into_iter().flatten().collect())
    })?;
    let mut vectors = Vectors { model: opened.note(MODEL), ..Vectors::default() };
    let mut text = TextBudget::new(Limit::UnpackedBytes, limits.max_unpacked_bytes);
    let damaged = |problem: String| {
        refused(
            format!("it cannot be decoded: {problem}"),
            "the file may be cut short or damaged: write or download it again",
        )
    };
    while let Some(batch) = guarded(|| opened.reader.next().transpose()).map_err(damaged)? {
        let find = |names: &[&str]| names.iter().find_map(|name| batch.column_by_name(name));
        let scalars = |column: Option<&ArrayRef>, name: &str| {
            let column = column.map(|column| ScalarColumn::new(name, column, &[])).transpose();
            column.map_err(|problem| refused(problem, "store texts, numbers or booleans"))
        };
        let (ids, labels) = (scalars(find(&["id"]), "id")?, scalars(find(LABELS), "y")?);
        let lists = find(VECTORS);
        let list_type = DataType::List(Arc::new(Field::new("item", DataType::Float32, true)));
        let lists = lists.map(|lists| cast(lists, &list_type)).transpose().map_err(|e| {
            refused(format!("column embedding holds no vectors: {e}"), "store lists of numbers")
        })?;
        let lists = lists.as_ref().and_then(|lists| lists.as_any().downcast_ref::<ListArray>());
        for (row, list) in lists.into_iter().flat_map(|lists| lists.iter()).enumerate() {
            let position = vectors.ids.len() as u64;
            let place = Place::Record(position + 1);
            vectors
                .add_numbers(list.as_ref())
                .map_err(|(problem, fix)| Error::input(path, place, problem, fix))?;
            let mut scalar = |name: &str, column: &Option<ScalarColumn>| {
                ScalarColumn::row(name, column, row, &mut text)
                    .map_err(|fault| fault.at(path, place))
            };
            let id = scalar("id", &ids)?;
            vectors.ids.push(id.unwrap_or(Scalar::Int(position as i64)));
            vectors.labels.push(scalar("y", &labels)?);
        }
        let scalars = 2 * vectors.ids.len() * size_of::<Option<Scalar>>();
        if (4 * vectors.values.len() + scalars) as u64 > limits.max_unpacked_bytes {
            let problem = Problem::Beyond {
                limit: Limit::UnpackedBytes,
                found: None,
                allowed: limits.max_unpacked_bytes,
                what: "its vectors take more".into(),
                fix: None,
            };
            return Err(problem.at(path, Place::Whole));
        }
    }
    Ok(vectors)
}

impl Vectors {
    /// Adds a row's numbers, as many as those before it have.
    fn add_numbers(
        &mut self,
        list: Option<&ArrayRef>,
    ) -> std::result::Result<(), (String, &'static str)> {
        let numbers = list.and_then(|list| list.as_any().downcast_ref::<Float32Array>());
        let Some(numbers) = numbers.filter(|numbers| numbers.null_count() == 0) else {
            return Err(("the vector is missing".to_owned(), "fill it in"));
        };
        if self.ids.is_empty() {
            self.dim = numbers.len();
        }
        if numbers.is_empty() {
            return Err(("the vector has no numbers".to_owned(), "give it at least one"));
        }
        if numbers.len() != self.dim {
            let problem = format!("{} numbers, {} before it", numbers.len(), self.dim);
            return Err((problem, "all vectors must be equally long"));
        }
        self.values.extend_from_slice(numbers.values());
        Ok(())
    }
}

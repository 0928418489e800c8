//! Opening a file without believing what it claims: its types come from the columns themselves,
//! only what is asked for is read, and no row group may claim more than may be held.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::Path;
use std::sync::Arc;

use arrow_schema::{DataType, Field, Schema};
use parquet::arrow::ProjectionMask;
use parquet::arrow::arrow_reader::{
    ArrowReaderMetadata, ArrowReaderOptions, ParquetRecordBatchReader,
    ParquetRecordBatchReaderBuilder,
};
use parquet::basic::Compression;
use parquet::file::metadata::ParquetMetaData;

use super::grammar;
use super::guard::guarded;
use crate::dataset::Limits;
use crate::error::{Error, Limit, Place, Problem, Result, shown};

/// About how many decoded bytes of rows are held at a time, where rows are of
/// ordinary size; a single row may take more.
const BATCH_BYTES: u64 = 8 << 20;

/// The most rows decoded at a time.
const BATCH_ROWS: u64 = 4096;

/// An open file.
pub(crate) struct Opened {
    /// Its rows, a batch at a time.
    pub(crate) reader: ParquetRecordBatchReader,
    /// How many they are, as it says.
    pub(crate) rows: Option<u64>,
    metadata: Arc<ParquetMetaData>,
}

impl Opened {
    /// Opens a file whose name in messages is `path`; `choose` says which columns are read.
    pub(crate) fn new(
        path: &Path,
        file: File,
        limits: &Limits,
        choose: impl FnOnce(&Schema) -> Result<Vec<usize>>,
    ) -> Result<Opened> {
        let damaged = |problem: String| {
            Error::input(
                path,
                Place::Whole,
                format!("it cannot be read as Parquet: {problem}"),
                "the file may be cut short or damaged: write or download it again",
            )
        };
        if !footer_is_one(&file) {
            return Err(damaged(MALFORMED.to_owned()));
        }
        // The types come from the Parquet columns themselves, so that it does not
        // matter which program wrote the file or what it noted about its own types.
        let options = ArrowReaderOptions::new().with_skip_arrow_metadata(true);
        let metadata = guarded(|| ArrowReaderMetadata::load(&file, options)).map_err(damaged)?;
        let schema = metadata.schema().clone();
        let chosen = choose(&schema)?;
        let names: Vec<_> = chosen.iter().map(|&root| schema.field(root).name().as_str()).collect();
        known_compression(path, metadata.metadata(), &names)?;
        bound_memory(path, metadata.metadata(), &names, limits)?;
        if !pages_are_some(&file, metadata.metadata(), &names) {
            return Err(damaged(MALFORMED.to_owned()));
        }
        // Texts are read as views: a dictionary whose one long text stands in every
        // row is then held once.
        let viewed = Schema::new(schema.fields().iter().map(|f| viewing(f)).collect::<Vec<_>>());
        let options = ArrowReaderOptions::new().with_schema(Arc::new(viewed));
        let rows = rows_a_batch(metadata.metadata());
        let reader = guarded(|| {
            let metadata = ArrowReaderMetadata::try_new(Arc::clone(metadata.metadata()), options)?;
            let builder = ParquetRecordBatchReaderBuilder::new_with_metadata(file, metadata);
            let mask = ProjectionMask::roots(builder.parquet_schema(), chosen);
            builder.with_projection(mask).with_batch_size(rows).build()
        })
        .map_err(damaged)?;
        Ok(Opened {
            reader,
            rows: u64::try_from(metadata.metadata().file_metadata().num_rows()).ok(),
            metadata: Arc::clone(metadata.metadata()),
        })
    }

    /// What the file notes under `key`.
    pub(crate) fn note(&self, key: &str) -> Option<String> {
        let notes = self.metadata.file_metadata().key_value_metadata();
        notes.into_iter().flatten().find(|pair| pair.key == key).and_then(|pair| pair.value.clone())
    }
}

const MALFORMED: &str = "what it says about itself is not as it should be";

/// Whether the file ends in a footer; where it does not so much as claim one, the decoder
/// says why.
fn footer_is_one(mut file: &File) -> bool {
    let mut claim = || {
        let end = file.seek(SeekFrom::End(-8)).ok()?;
        let mut last = [0; 8];
        file.read_exact(&mut last).ok()?;
        let [length @ .., b'P', b'A', b'R', b'1'] = last else { return None };
        let length = u64::from(u32::from_le_bytes(length));
        file.seek(SeekFrom::Start(end.checked_sub(length)?)).ok()?;
        Some(length)
    };
    claim().is_none_or(|length| grammar::is_footer(file, length))
}

/// Whether the columns `used` are made of pages.
fn pages_are_some(mut file: &File, metadata: &ParquetMetaData, used: &[&str]) -> bool {
    let columns = metadata.row_groups().iter().flat_map(|group| group.columns());
    let used = columns.filter(|column| {
        let name = column.column_path().parts().first();
        name.is_some_and(|name| used.contains(&name.as_str()))
    });
    used.into_iter().all(|column| {
        let first = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
        let place = |at: i64| u64::try_from(at).ok();
        let (Some(first), Some(length)) = (place(first), place(column.compressed_size())) else {
            return false;
        };
        file.seek(SeekFrom::Start(first)).is_ok() && grammar::are_pages(file, length)
    })
}

/// The same field, its texts as views. Bytes stay bytes: the decoder looks into texts only where
/// the column says that it holds UTF-8.
fn viewing(field: &Field) -> Field {
    let data_type = match field.data_type() {
        DataType::Utf8 => DataType::Utf8View,
        DataType::Binary => DataType::BinaryView,
        DataType::List(entry) => DataType::List(Arc::new(viewing(entry))),
        DataType::Struct(fields) => DataType::Struct(fields.iter().map(|f| viewing(f)).collect()),
        other => other.clone(),
    };
    field.clone().with_data_type(data_type)
}

/// Refuses columns that are compressed in a way that is not compiled in.
fn known_compression(path: &Path, metadata: &ParquetMetaData, used: &[&str]) -> Result<()> {
    for column in metadata.row_groups().iter().flat_map(|group| group.columns()) {
        let name = column.column_path().parts().first();
        if name.is_none_or(|name| !used.contains(&name.as_str())) {
            continue;
        }
        let way = match column.compression() {
            Compression::BROTLI(_) => "Brotli",
            Compression::LZO => "LZO",
            Compression::UNCOMPRESSED
            | Compression::SNAPPY
            | Compression::GZIP(_)
            | Compression::LZ4
            | Compression::LZ4_RAW
            | Compression::ZSTD(_) => continue,
        };
        let column = shown(&column.column_path().string());
        return Err(Error::input(
            path,
            Place::Whole,
            format!("column {column} is compressed with {way}, which hg2v does not read"),
            "write the file with Zstandard, Snappy, gzip, LZ4 or no compression",
        ));
    }
    Ok(())
}

/// Refuses row groups whose columns claim more values than may be held: runs of
/// one value are stored in a few bytes, so the file's size bounds nothing.
fn bound_memory(
    path: &Path,
    metadata: &ParquetMetaData,
    used: &[&str],
    limits: &Limits,
) -> Result<()> {
    for (group, row_group) in metadata.row_groups().iter().enumerate() {
        for column in row_group.columns() {
            let name = column.column_path().parts().first();
            let used = name.is_some_and(|name| used.contains(&name.as_str()));
            let values = u64::try_from(column.num_values()).unwrap_or(u64::MAX);
            if used && values.saturating_mul(8) > limits.max_unpacked_bytes {
                let column = shown(&column.column_path().string());
                let what =
                    format!("row group {group} claims {values} values in column {column}, more");
                let problem = Problem::Beyond {
                    limit: Limit::UnpackedBytes,
                    found: None,
                    allowed: limits.max_unpacked_bytes,
                    what: what.into(),
                    fix: Some("write it again with smaller row groups"),
                };
                return Err(problem.at(path, Place::Whole));
            }
        }
    }
    Ok(())
}

/// How many rows make a batch of about [`BATCH_BYTES`], as far as the file tells.
fn rows_a_batch(metadata: &ParquetMetaData) -> usize {
    let sum = |of: &dyn Fn(usize) -> i64| {
        (0..metadata.num_row_groups())
            .map(|group| u64::try_from(of(group)).unwrap_or(0))
            .fold(0, u64::saturating_add)
    };
    let rows = sum(&|group| metadata.row_group(group).num_rows()).max(1);
    let bytes = sum(&|group| metadata.row_group(group).total_byte_size());
    (BATCH_BYTES / (bytes / rows).max(1)).clamp(1, BATCH_ROWS) as usize
}

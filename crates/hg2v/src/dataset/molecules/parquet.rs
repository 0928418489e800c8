//! Parquet files with a column of SMILES.

use std::fs::File;
use std::path::{Path, PathBuf};

use arrow_array::{Array, RecordBatch};
use arrow_schema::{DataType, Schema};
use parquet::arrow::arrow_reader::ParquetRecordBatchReader;
use rayon::prelude::*;

use super::of_smiles;
use super::properties::{self, IDS};
use super::table::STEREO;
use crate::dataset::fault::Fault;
use crate::dataset::parquet::guard::guarded;
use crate::dataset::parquet::open::Opened;
use crate::dataset::parquet::scalars::{ScalarColumn, TextBudget, is_bytes, plain};
use crate::dataset::{Format, Limits, Notes, Source};
use crate::error::{Error, Limit, Place, Problem, Result, shown};
use crate::graph::{GraphRecord, Scalar};

/// The columns of a file of molecules.
#[derive(Clone)]
struct Columns {
    smiles: String,
    id: Option<String>,
    properties: Vec<String>,
}

impl Columns {
    /// Those of a schema, where it has a text column `smiles` and no edges.
    fn of(schema: &Schema, ignored: &mut Vec<String>) -> Option<Columns> {
        let is_text = |t: &DataType| plain(t).is_string() || is_bytes(plain(t));
        let fields = schema.fields();
        let named = |name: &str| fields.iter().find(|field| field.name().to_lowercase() == name);
        let smiles = named("smiles").filter(|field| is_text(field.data_type()))?;
        if fields.iter().any(|field| field.name() == "src") {
            return None;
        }
        let id = IDS.iter().find_map(|id| named(id));
        let mut properties = Vec::new();
        for field in fields {
            let known = field == smiles || id == Some(field);
            let t = plain(field.data_type());
            let scalar = t.is_integer() || t.is_floating() || is_text(t);
            if !known && (scalar || matches!(t, DataType::Boolean | DataType::Null)) {
                properties.push(field.name().clone());
            } else if !known && ignored.len() < 32 {
                ignored.push(format!("column {}, which is no scalar", shown(field.name())));
            }
        }
        let (smiles, id) = (smiles.name().clone(), id.map(|field| field.name().clone()));
        Some(Columns { smiles, id, properties })
    }

    fn used(&self, schema: &Schema) -> Vec<usize> {
        let used = [&self.smiles].into_iter().chain(&self.id).chain(&self.properties);
        used.filter_map(|name| schema.index_of(name).ok()).collect()
    }
}

/// Opens a file that has molecules for rows; `None` where it has not.
pub(in crate::dataset) fn open(path: &Path, file: File, limits: &Limits) -> Result<Option<Source>> {
    let (mut columns, mut ignored) = (None, Vec::new());
    let opened = Opened::new(path, file, limits, |schema| {
        columns = Columns::of(schema, &mut ignored);
        Ok(columns.as_ref().map_or_else(Vec::new, |columns| columns.used(schema)))
    })?;
    let Some(columns) = columns else { return Ok(None) };
    let notes = Notes::default();
    let rows = opened.rows;
    let graphs = Rows {
        path: path.to_path_buf(),
        limits: *limits,
        columns,
        reader: Some(opened.reader),
        ready: Vec::new().into_iter(),
        row: 0,
        notes: notes.clone(),
    };
    let mut source = Source::new(path, Format::Parquet, graphs);
    (source.len, source.known, source.notes) = (rows, ignored, notes);
    Ok(Some(source))
}

/// The molecules of rows that are in memory, as [`each_record`](crate::dataset::parquet::each_record)
/// gives graphs; `None` where they are none.
pub(in crate::dataset) fn each_record<'a>(
    batch: &RecordBatch,
    origin: &'a Path,
    position: u64,
    limits: &'a Limits,
) -> Option<Result<Box<dyn Iterator<Item = Result<GraphRecord>> + 'a>>> {
    let columns = Columns::of(&batch.schema(), &mut Vec::new())?;
    let count = batch.num_rows();
    let rows = match guarded(|| Batch::new(batch, &columns)) {
        Ok(rows) => rows,
        Err(problem) => {
            let problem: String = problem.chars().take(300).collect();
            let place = Place::Record(position + 1);
            let fix = "give columns of texts and numbers";
            return Some(Err(Error::input(origin, place, problem, fix)));
        }
    };
    Some(Ok(Box::new((0..count).map(move |row| {
        let place = Place::Record(position + row as u64 + 1);
        let made = rows.record(row, limits).map_err(|fault| fault.at(origin, place));
        made.map(|(record, _)| record)
    }))))
}

struct Rows {
    path: PathBuf,
    limits: Limits,
    columns: Columns,
    /// `None` once it ended or failed.
    reader: Option<ParquetRecordBatchReader>,
    ready: std::vec::IntoIter<Result<(GraphRecord, bool)>>,
    /// Rows read so far.
    row: u64,
    notes: Notes,
}

impl Rows {
    fn advance(&mut self) -> Result<()> {
        let Some(reader) = self.reader.as_mut() else { return Ok(()) };
        let batch = guarded(|| reader.next().transpose());
        let unreadable = |problem: String| {
            let problem: String = problem.chars().take(300).collect();
            let fix = "the file may be cut short or damaged: write or download it again";
            Error::input(&self.path, Place::Record(self.row + 1), problem, fix)
        };
        let failed = |this: &mut Option<ParquetRecordBatchReader>, error: Error| {
            *this = None;
            error
        };
        let batch = match batch {
            Ok(Some(batch)) => batch,
            Ok(None) => {
                self.reader = None;
                let fix = "write one row a molecule".into();
                let none = Problem::NoGraphs { fix }.at(&self.path, Place::Whole);
                return if self.row == 0 { Err(none) } else { Ok(()) };
            }
            Err(problem) => {
                let error = unreadable(problem);
                return Err(failed(&mut self.reader, error));
            }
        };
        let made = match guarded(|| Batch::new(&batch, &self.columns)) {
            Ok(rows) => {
                let rows = &rows;
                let (path, limits, first) = (&self.path, &self.limits, self.row);
                let made = (0..batch.num_rows()).into_par_iter().with_min_len(16).map(|row| {
                    let place = Place::Record(first + row as u64 + 1);
                    rows.record(row, limits).map_err(|fault| fault.at(path, place))
                });
                made.collect::<Vec<_>>()
            }
            Err(problem) => {
                let error = unreadable(problem);
                return Err(failed(&mut self.reader, error));
            }
        };
        self.row += made.len() as u64;
        self.ready = made.into_iter();
        Ok(())
    }
}

impl Iterator for Rows {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready.next() {
                Some(Ok((record, stereo))) => {
                    if stereo {
                        self.notes.add(STEREO.to_owned());
                    }
                    return Some(Ok(record));
                }
                Some(Err(error)) => return Some(Err(error)),
                None if self.reader.is_none() => return None,
                None => {
                    if let Err(error) = self.advance() {
                        self.reader = None;
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

/// Rows in memory.
struct Batch {
    smiles: Option<ScalarColumn>,
    id: Option<ScalarColumn>,
    properties: Vec<(String, Option<ScalarColumn>)>,
}

impl Batch {
    fn new(batch: &RecordBatch, columns: &Columns) -> std::result::Result<Batch, String> {
        let column = |name: &str| match batch.column_by_name(name) {
            Some(column) if *column.data_type() == DataType::Null => Ok(None),
            Some(column) => ScalarColumn::new(name, column, &[]).map(Some),
            None => Ok(None),
        };
        let properties = columns.properties.iter();
        Ok(Batch {
            smiles: column(&columns.smiles)?,
            id: columns.id.as_deref().map_or(Ok(None), column)?,
            properties: properties
                .map(|name| Ok((name.clone(), column(name)?)))
                .collect::<std::result::Result<_, String>>()?,
        })
    }

    fn record(
        &self,
        row: usize,
        limits: &Limits,
    ) -> std::result::Result<(GraphRecord, bool), Fault> {
        let mut budget = TextBudget::new(Limit::RecordBytes, limits.max_record_bytes);
        let Some(Scalar::Text(smiles)) =
            ScalarColumn::row("smiles", &self.smiles, row, &mut budget)?
        else {
            return Err(Fault::new("`smiles` is missing", "fill it in, or leave the row out"));
        };
        let (mut record, stereo) = of_smiles(smiles.trim().as_bytes(), limits)?;
        record.id = match ScalarColumn::row("id", &self.id, row, &mut budget)? {
            // As cells of text files are.
            Some(Scalar::Text(text)) => Some(Scalar::Text(text.trim().into())),
            id => id,
        };
        for (name, column) in &self.properties {
            let value = match ScalarColumn::maybe(name, column, row, &mut budget)? {
                Some(Scalar::Text(text)) => properties::value(text.trim()),
                value => value,
            };
            properties::add(&mut record, name, value);
        }
        Ok((record, stereo))
    }
}

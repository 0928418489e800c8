//! Values of columns: whatever type they come in, one type a family, and lists of them.

use std::ops::Range;
use std::sync::Arc;

use arrow_array::cast::AsArray;
use arrow_array::types::{Float64Type, Int64Type};
use arrow_array::{Array, ArrayRef, LargeListArray};
use arrow_cast::{CastOptions, cast_with_options};
use arrow_schema::{DataType, Field};

use super::JSON_COLUMNS;
use crate::dataset::fault::Fault;
use crate::error::{Limit, Problem, shown};
use crate::graph::Scalar;

/// Scalars of one kind, and whether their texts are JSON.
pub(crate) struct ScalarColumn {
    values: ArrayRef,
    json: bool,
}

/// Lists of scalars.
pub(super) struct ScalarLists {
    pub(super) lists: LargeListArray,
    pub(super) values: ScalarColumn,
}

/// Bytes of text that a row, or a file, may still take. One text of a dictionary can stand
/// in a row any number of times, so the file's size does not bound them.
pub(crate) struct TextBudget {
    limit: Limit,
    allowed: u64,
    left: u64,
}

impl TextBudget {
    pub(crate) fn new(limit: Limit, allowed: u64) -> TextBudget {
        TextBudget { limit, allowed, left: allowed }
    }

    pub(super) fn spend(&mut self, name: &str, text: &[u8]) -> std::result::Result<(), Fault> {
        self.left = self.left.checked_sub(text.len() as u64).ok_or_else(|| Problem::Beyond {
            limit: self.limit,
            found: None,
            allowed: self.allowed,
            what: format!("with `{name}`, its texts are longer").into(),
            fix: Some("write shorter labels"),
        })?;
        Ok(())
    }
}

impl ScalarColumn {
    pub(crate) fn new(
        name: &str,
        column: &ArrayRef,
        json: &[&str],
    ) -> std::result::Result<ScalarColumn, String> {
        Ok(ScalarColumn {
            values: cast_along(name, column, &widened(column.data_type()))?,
            json: json.contains(&name),
        })
    }

    pub(crate) fn row(
        name: &str,
        column: &Option<ScalarColumn>,
        row: usize,
        text: &mut TextBudget,
    ) -> std::result::Result<Option<Scalar>, Fault> {
        column.as_ref().map_or(Ok(None), |column| column.of(name, row, text))
    }

    /// The scalar of a row; `None` where it is null.
    pub(super) fn of(
        &self,
        name: &str,
        row: usize,
        text: &mut TextBudget,
    ) -> std::result::Result<Option<Scalar>, Fault> {
        self.has(row).then(|| self.scalar(name, row, text)).transpose()
    }

    /// The value of a target at a place: none where it is null, or NaN, as tables of measurements
    /// have it where nothing was measured.
    pub(super) fn target(
        &self,
        name: &str,
        at: usize,
        text: &mut TextBudget,
    ) -> std::result::Result<Option<Scalar>, Fault> {
        let nan = self.values.as_primitive_opt::<Float64Type>();
        match self.has(at) && !nan.is_some_and(|values| values.value(at).is_nan()) {
            true => self.scalar(name, at, text).map(Some),
            false => Ok(None),
        }
    }

    /// As [`row`](ScalarColumn::row), where a number that is none is nothing.
    pub(crate) fn maybe(
        name: &str,
        column: &Option<ScalarColumn>,
        row: usize,
        text: &mut TextBudget,
    ) -> std::result::Result<Option<Scalar>, Fault> {
        match column {
            Some(ScalarColumn { values, .. })
                if *values.data_type() == DataType::Float64
                    && values.as_primitive::<Float64Type>().value(row).is_nan() =>
            {
                Ok(None)
            }
            column => ScalarColumn::row(name, column, row, text),
        }
    }

    fn has(&self, at: usize) -> bool {
        // A column of the null type has no validity bits of its own.
        *self.values.data_type() != DataType::Null && self.values.is_valid(at)
    }

    /// The scalar at a place that [`has`](ScalarColumn::has) one.
    fn scalar(
        &self,
        name: &str,
        at: usize,
        budget: &mut TextBudget,
    ) -> std::result::Result<Scalar, Fault> {
        match self.values.data_type() {
            DataType::Boolean => Ok(Scalar::Bool(self.values.as_boolean().value(at))),
            DataType::Int64 => Ok(Scalar::Int(self.values.as_primitive::<Int64Type>().value(at))),
            DataType::Float64 => {
                let value = self.values.as_primitive::<Float64Type>().value(at);
                finite(name, value).map(Scalar::Float)
            }
            _ => {
                let bytes = self.values.as_binary_view().value(at);
                budget.spend(name, bytes)?;
                let text = std::str::from_utf8(bytes).map_err(|_| not_utf8(name, bytes))?;
                if !self.json {
                    return Ok(Scalar::Text(text.into()));
                }
                serde_json::from_str(text).map_err(|_| {
                    Fault::new(
                        format!("`{name}` holds {}, which is no JSON scalar", shown(text)),
                        format!("spell each value as JSON, or drop it from `{JSON_COLUMNS}`"),
                    )
                })
            }
        }
    }
}

impl ScalarLists {
    pub(super) fn new(
        name: &str,
        column: &ArrayRef,
        json: &[&str],
    ) -> std::result::Result<ScalarLists, String> {
        let entries = entries(column.data_type()).unwrap_or(&DataType::Null);
        let way: Vec<DataType> = widened(entries).into_iter().map(large_list).collect();
        let lists: LargeListArray = cast_along(name, column, &way)?.as_list().clone();
        let values = ScalarColumn::new(name, lists.values(), json)?;
        Ok(ScalarLists { lists, values })
    }

    pub(super) fn row(
        name: &str,
        column: &Option<ScalarLists>,
        row: usize,
        budget: &mut TextBudget,
    ) -> std::result::Result<Option<Vec<Scalar>>, Fault> {
        let Some(column) = column else {
            return Ok(None);
        };
        let Some(range) = range(&column.lists, row) else {
            return Ok(None);
        };
        let mut scalars = Vec::new();
        for (position, at) in range.enumerate() {
            if !column.values.has(at) {
                return Err(null_entry(name, position));
            }
            scalars.push(column.values.scalar(name, at, budget)?);
        }
        Ok(Some(scalars))
    }
}

/// What the lists of a type hold; `None` where they are no lists.
pub(super) fn entries(data_type: &DataType) -> Option<&DataType> {
    match data_type {
        DataType::List(entry) | DataType::LargeList(entry) | DataType::FixedSizeList(entry, _) => {
            Some(entry.data_type())
        }
        _ => None,
    }
}

/// Whether a type is that of bytes, which may well be texts.
pub(crate) fn is_bytes(data_type: &DataType) -> bool {
    use DataType::{Binary, BinaryView, FixedSizeBinary, LargeBinary};
    matches!(data_type, Binary | LargeBinary | BinaryView | FixedSizeBinary(_))
}

/// What a dictionary stands for.
pub(crate) fn plain(data_type: &DataType) -> &DataType {
    match data_type {
        DataType::Dictionary(_, values) => values,
        other => other,
    }
}

/// The one type that every scalar type of a family is read as, and the types on the way to it.
/// Texts are read as bytes, whatever their column says of them, and looked into one by one.
fn widened(data_type: &DataType) -> Vec<DataType> {
    let is_dictionary = matches!(data_type, DataType::Dictionary(..));
    match plain(data_type) {
        t if t.is_integer() => vec![DataType::Int64],
        t if t.is_floating() => vec![DataType::Float64],
        DataType::Boolean => vec![DataType::Boolean],
        DataType::Null => vec![DataType::Null],
        // Dictionaries of these become views without a copy of every text.
        DataType::Utf8 if is_dictionary => vec![DataType::Utf8View, DataType::BinaryView],
        DataType::Binary if is_dictionary => vec![DataType::BinaryView],
        t if t.is_string() || is_bytes(t) => vec![t.clone(), DataType::BinaryView],
        // Dates and the like, spelled out.
        _ => vec![DataType::Utf8View, DataType::BinaryView],
    }
}

fn not_utf8(name: &str, bytes: &[u8]) -> Fault {
    let start = &bytes[..bytes.len().min(20)];
    Fault::new(
        format!("`{name}` holds `{}`, which is not UTF-8", start.escape_ascii()),
        "store texts in UTF-8, and other bytes spelled out, in hexadecimal for example",
    )
}

pub(super) fn large_list(entries: DataType) -> DataType {
    DataType::LargeList(Arc::new(Field::new("element", entries, true)))
}

/// Another type for the same values; an integer that does not fit is an error.
pub(super) fn cast(
    name: &str,
    column: &ArrayRef,
    to: &DataType,
) -> std::result::Result<ArrayRef, String> {
    let strict = CastOptions { safe: false, ..CastOptions::default() };
    cast_with_options(column, to, &strict).map_err(|error| format!("column `{name}`: {error}"))
}

/// As [`cast`], from one type of `way` to the next.
fn cast_along(
    name: &str,
    column: &ArrayRef,
    way: &[DataType],
) -> std::result::Result<ArrayRef, String> {
    way.iter().try_fold(Arc::clone(column), |column, to| cast(name, &column, to))
}

/// The entries of a row's list; `None` where it is null.
pub(super) fn range(lists: &LargeListArray, row: usize) -> Option<Range<usize>> {
    lists.is_valid(row).then(|| {
        let offsets = lists.value_offsets();
        // Offsets of an array are checked when it is made: ascending, in range.
        offsets[row] as usize..offsets[row + 1] as usize
    })
}

pub(super) fn no_nulls(
    name: &str,
    values: &ArrayRef,
    range: &Range<usize>,
) -> std::result::Result<(), Fault> {
    if values.null_count() == 0 {
        return Ok(());
    }
    match range.clone().position(|at| values.is_null(at)) {
        Some(position) => Err(null_entry(name, position)),
        None => Ok(()),
    }
}

fn null_entry(name: &str, position: usize) -> Fault {
    Fault::new(
        format!("`{name}[{position}]` is null"),
        "give every entry a value, or make the whole list null",
    )
}

pub(super) fn finite(name: &str, value: f64) -> std::result::Result<f64, Fault> {
    if value.is_finite() {
        return Ok(value);
    }
    Err(Fault::new(
        format!("`{name}` holds {}", shown(&value.to_string())),
        "fill in a finite number, or write null where there is none",
    ))
}

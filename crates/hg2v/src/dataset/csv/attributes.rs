//! Columns of numbers: the attributes of nodes, or of edges.

use std::path::Path;

use super::table::{Row, Table};
use crate::dataset::text::finite;
use crate::error::{Error, Place, Result, shown};
use crate::graph::Features;

/// The attributes of all rows of a table.
pub(super) struct Attributes {
    columns: Vec<usize>,
    names: Vec<String>,
    /// Row-major; NaN where the cell is empty.
    values: Vec<f64>,
    /// Which columns hold texts, as their first cells show: those are no attributes. Nothing where
    /// every column must hold numbers.
    texts: Vec<Option<bool>>,
}

impl Attributes {
    /// All columns of `table` but those `used` otherwise; each must hold numbers.
    pub(super) fn all(table: &Table, used: &[Option<usize>]) -> Attributes {
        let columns = (0..table.header.len()).filter(|&column| !used.contains(&Some(column)));
        let columns: Vec<usize> = columns.collect();
        let names = columns.iter().map(|&column| table.header[column].clone()).collect();
        Attributes { columns, names, values: Vec::new(), texts: Vec::new() }
    }

    /// As [`all`](Attributes::all), but for columns that begin with a text.
    pub(super) fn numbers(table: &Table, used: &[Option<usize>]) -> Attributes {
        let all = Attributes::all(table, used);
        Attributes { texts: vec![None; all.columns.len()], ..all }
    }

    /// Adds the cells of a row, or nothing.
    pub(super) fn add(&mut self, row: &Row) -> Result<()> {
        let before = self.values.len();
        for (place, &column) in self.columns.iter().enumerate() {
            if let Some(text) = self.texts.get_mut(place) {
                let cell = row.get(Some(column));
                let text = match cell.is_empty() {
                    true => *text,
                    false => Some(*text.get_or_insert(finite(cell).is_none())),
                };
                if text == Some(true) {
                    self.values.push(f64::NAN);
                    continue;
                }
            }
            match number_in(row, column) {
                Ok(value) => self.values.push(value),
                Err(error) => {
                    self.values.truncate(before);
                    return Err(error);
                }
            }
        }
        Ok(())
    }

    /// Leaves out the columns of texts, once all rows are added, and gives their names.
    pub(super) fn drop_texts(&mut self) -> Vec<String> {
        let is_text: Vec<bool> = self.texts.iter().map(|text| *text == Some(true)).collect();
        if !is_text.contains(&true) {
            return Vec::new();
        }
        let width = self.columns.len();
        let mut place = 0;
        self.values.retain(|_| {
            place += 1;
            !is_text[(place - 1) % width]
        });
        let mut texts = Vec::new();
        let mut kept = is_text.iter();
        self.names.retain(|name| {
            let text = kept.next() == Some(&true);
            texts.extend(text.then(|| name.clone()));
            !text
        });
        texts
    }

    /// The attributes of some rows: as many for each, the first so many.
    pub(super) fn of(
        &self,
        rows: &[u32],
        file: &Path,
        lines: &[u64],
        of: &str,
    ) -> Result<Option<Features>> {
        let width = self.names.len();
        let cells = |row: u32| &self.values[row as usize * width..(row as usize + 1) * width];
        let dim = rows.iter().map(|&row| {
            let filled = |value: &f64| !value.is_nan();
            cells(row).iter().rposition(filled).map_or(0, |last| last + 1)
        });
        let dim = dim.max().unwrap_or(0);
        let mut values = Vec::with_capacity(rows.len() * dim);
        for &row in rows {
            for (value, name) in cells(row)[..dim].iter().zip(&self.names) {
                if value.is_nan() {
                    return Err(missing(file, lines[row as usize], name, of));
                }
                values.push(*value);
            }
        }
        Ok((dim > 0).then_some(Features { dim, values }))
    }
}

/// The number in a cell; NaN where it is empty.
pub(super) fn number_in(row: &Row, column: usize) -> Result<f64> {
    match row.get(Some(column)) {
        "" => Ok(f64::NAN),
        cell => finite(cell).ok_or_else(|| {
            row.bad(
                column,
                "is not a finite number",
                "write a finite number; text belongs in the column `label`",
            )
        }),
    }
}

/// The error of a cell that is empty where others of its graph are not.
pub(super) fn missing(file: &Path, line: u64, column: &str, of: &str) -> Error {
    Error::input(
        file,
        Place::Line(line),
        format!(
            "column {}: the cell is empty (``), but not for every {of} of this graph",
            shown(column)
        ),
        "fill it in for all, or for none",
    )
}

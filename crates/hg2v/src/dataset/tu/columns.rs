//! The set's optional files, each a column: labels, numbers, ids.

use std::collections::HashMap;

use super::Listing;
use super::files::Held;
use crate::dataset::text::{self, finite, lines, utf8};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Features, Scalar};

/// A column of labels. Few differ, so each is kept once.
pub(super) struct Labels {
    pub(super) codes: Vec<u32>,
    pub(super) names: Vec<Scalar>,
}

impl Labels {
    /// Reads a label for each of `expected` things.
    pub(super) fn read(held: &Held, expected: usize, of: &str) -> Result<Labels> {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut labels = Labels { codes: Vec::new(), names: Vec::new() };
        let mut previous: (&[u8], u32) = (b"", u32::MAX);
        for (number, line) in lines(&held.bytes) {
            if previous.0 != line || previous.1 == u32::MAX {
                let code = match known.get(line) {
                    Some(&code) => code,
                    None => {
                        let code = labels.names.len() as u32;
                        labels.names.push(label_of(held, number, line)?);
                        known.insert(line, code);
                        code
                    }
                };
                previous = (line, code);
            }
            labels.codes.push(previous.1);
        }
        if labels.codes.len() != expected {
            return Err(wrong_count(held, labels.codes.len(), expected, of));
        }
        Ok(labels)
    }

    pub(super) fn get(&self, position: usize) -> &Scalar {
        &self.names[self.codes[position] as usize]
    }
}

fn label_of(held: &Held, number: u64, line: &[u8]) -> Result<Scalar> {
    let line = utf8(&held.path, number, line)?;
    if line.is_empty() {
        return Err(Error::input(
            &held.path,
            Place::Line(number),
            "the line is empty (``)",
            "write one label a line",
        ));
    }
    Ok(text::label(line))
}

/// A label a line.
pub(super) fn graph_labels_of(held: &Held) -> Result<Vec<Scalar>> {
    lines(&held.bytes).map(|(number, line)| label_of(held, number, line)).collect()
}

/// A column with a line for each of so many graphs or nodes, or for the first few; lines beyond
/// them are counted, not read.
pub(super) fn at_most<T>(
    held: &Held,
    most: usize,
    of: &str,
    read: impl Fn(&Held, usize) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let column = read(held, most)?;
    if column.len() > most {
        return Err(wrong_count(held, lines(&held.bytes).count(), most, of));
    }
    Ok(column)
}

/// An id a line, or none where it is empty; of `most` lines and one more, if there is one.
pub(super) fn ids_of(held: &Held, most: usize) -> Result<Vec<Option<Scalar>>> {
    lines(&held.bytes)
        .take(most.saturating_add(1))
        .map(|(number, line)| {
            let line = utf8(&held.path, number, line)?;
            Ok((!line.is_empty()).then(|| text::id(line)))
        })
        .collect()
}

/// How each graph's edges are listed; of `most` lines and one more, if there is one.
pub(super) fn listings_of(held: &Held, most: usize) -> Result<Vec<Listing>> {
    lines(&held.bytes)
        .take(most.saturating_add(1))
        .map(|(number, line)| {
            let word = Listing::ALL.into_iter().find(|listing| listing.word().as_bytes() == line);
            word.ok_or_else(|| {
                Error::input(
                    &held.path,
                    Place::Line(number),
                    format!("{} is no way to list edges", shown(&String::from_utf8_lossy(line))),
                    "write both, pairs or directed",
                )
            })
        })
        .collect()
}

/// A table of finite numbers with `expected` rows.
pub(super) fn numbers(held: &Held, expected: usize, of: &str) -> Result<Features> {
    let mut table = Features::default();
    let mut rows = 0;
    for (number, line) in lines(&held.bytes) {
        let line = utf8(&held.path, number, line)?;
        let before = table.values.len();
        for field in fields(line) {
            table.values.push(finite(field).ok_or_else(|| {
                Error::input(
                    &held.path,
                    Place::Line(number),
                    format!("{} is not a finite number", shown(field)),
                    "attributes are finite numbers separated by commas",
                )
            })?);
        }
        let width = table.values.len() - before;
        if rows == 0 {
            table.dim = width;
        }
        if width != table.dim {
            return Err(Error::input(
                &held.path,
                Place::Line(number),
                format!("{} has {width} numbers where line 1 has {}", shown(line), table.dim),
                "give every line as many",
            ));
        }
        rows += 1;
    }
    if rows != expected {
        return Err(wrong_count(held, rows, expected, of));
    }
    Ok(table)
}

/// The fields of a line, between commas, or between blanks where it has none.
fn fields(line: &str) -> impl Iterator<Item = &str> {
    let commas = line.contains(',');
    line.split(move |c: char| if commas { c == ',' } else { c.is_ascii_whitespace() })
        .map(str::trim)
        .filter(move |field| commas || !field.is_empty())
}

/// The error of a file whose lines do not match what they describe.
fn wrong_count(held: &Held, rows: usize, expected: usize, of: &str) -> Error {
    let place = Place::Line(rows.min(expected.saturating_add(1)) as u64);
    let place = if rows == 0 { Place::Whole } else { place };
    Error::input(
        &held.path,
        place,
        format!("the file has {rows} lines, but there are {expected} {of}"),
        "write one line for each: a file may be cut short, or belong to another set",
    )
}

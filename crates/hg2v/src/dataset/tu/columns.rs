//! The set's optional files, each a column: labels, numbers, ids.

use std::collections::HashMap;

use super::Listing;
use super::faults::Faults;
use super::files::Held;
use crate::dataset::text::{self, finite, lines, utf8};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{Features, Scalar};

/// A column of labels. Few differ, so each is kept once.
pub(super) struct Labels {
    pub(super) codes: Vec<u32>,
    pub(super) names: Vec<Scalar>,
}

/// Hears what is wrong with a line, counted from 0; an error that it returns ends the reading.
pub(super) type Bad<'a> = dyn FnMut(usize, Error) -> Result<()> + 'a;

impl Labels {
    /// Reads a label for each of `expected` things; in the place of a bad one stands an empty text.
    pub(super) fn read(
        held: &Held,
        expected: usize,
        of: &str,
        bad: &mut Bad<'_>,
    ) -> Result<Labels> {
        let mut known: HashMap<&[u8], u32> = HashMap::new();
        let mut labels = Labels { codes: Vec::new(), names: Vec::new() };
        let mut previous: (&[u8], u32) = (b"", u32::MAX);
        for (number, line) in lines(&held.bytes) {
            if previous.0 != line || previous.1 == u32::MAX {
                let code = match known.get(line) {
                    Some(&code) => code,
                    None => {
                        let code = labels.names.len() as u32;
                        match label_of(held, number, line) {
                            Ok(name) => {
                                labels.names.push(name);
                                known.insert(line, code);
                            }
                            Err(error) => {
                                bad(labels.codes.len(), error)?;
                                labels.names.push(Scalar::Text("".into()));
                                // The next line is bad too if it is the same.
                                labels.codes.push(code);
                                continue;
                            }
                        }
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

/// A label a line, each of a graph.
pub(super) fn graph_labels_of(held: &Held, faults: &mut Faults) -> Vec<Scalar> {
    let label = |(graph, (number, line))| match label_of(held, number, line) {
        Ok(label) => label,
        Err(error) => {
            faults.add(graph, error);
            Scalar::Text("".into())
        }
    };
    lines(&held.bytes).enumerate().map(label).collect()
}

/// A column with a line for each of so many graphs or nodes, or for the first few; lines beyond
/// them are counted, not read.
pub(super) fn at_most<T>(
    held: &Held,
    most: usize,
    of: &str,
    read: impl FnOnce(&Held, usize) -> Result<Vec<T>>,
) -> Result<Vec<T>> {
    let column = read(held, most)?;
    if column.len() > most {
        return Err(wrong_count(held, lines(&held.bytes).count(), most, of));
    }
    Ok(column)
}

/// An id a line, or none where it is empty; of `most` lines and one more, if there is one.
pub(super) fn ids_of(held: &Held, most: usize, bad: &mut Bad<'_>) -> Result<Vec<Option<Scalar>>> {
    let mut id = |(at, (number, line))| match utf8(&held.path, number, line) {
        Ok(line) => Ok((!line.is_empty()).then(|| text::id(line))),
        Err(error) => bad(at, error).map(|()| None),
    };
    lines(&held.bytes).take(most.saturating_add(1)).enumerate().map(&mut id).collect()
}

/// How each graph's edges are listed; of `most` lines and one more, if there is one.
pub(super) fn listings_of(held: &Held, most: usize, faults: &mut Faults) -> Vec<Listing> {
    lines(&held.bytes)
        .take(most.saturating_add(1))
        .enumerate()
        .map(|(graph, (number, line))| {
            let word = Listing::ALL.into_iter().find(|listing| listing.word().as_bytes() == line);
            word.unwrap_or_else(|| {
                let word = shown(&String::from_utf8_lossy(line));
                let problem = format!("{word} is no way to list edges");
                let fix = "write both, pairs or directed";
                faults.add(graph, Error::input(&held.path, Place::Line(number), problem, fix));
                Listing::Both
            })
        })
        .collect()
}

/// A table of finite numbers with `expected` rows; in the place of a bad row stand zeros.
pub(super) fn numbers(
    held: &Held,
    expected: usize,
    of: &str,
    bad: &mut Bad<'_>,
) -> Result<Features> {
    let mut table = Features::default();
    let mut rows = 0;
    for (number, line) in lines(&held.bytes) {
        if rows == 0 {
            table.dim = fields(&String::from_utf8_lossy(line)).count();
        }
        let before = table.values.len();
        if let Err(error) = row_of_numbers(held, number, line, &mut table) {
            bad(rows, error)?;
            table.values.truncate(before);
            table.values.resize(before + table.dim, 0.0);
        }
        rows += 1;
    }
    if rows != expected {
        return Err(wrong_count(held, rows, expected, of));
    }
    Ok(table)
}

fn row_of_numbers(held: &Held, number: u64, line: &[u8], table: &mut Features) -> Result<()> {
    let line = utf8(&held.path, number, line)?;
    let refused = |problem, fix: &'static str| {
        Err(Error::input(&held.path, Place::Line(number), problem, fix))
    };
    let before = table.values.len();
    for field in fields(line) {
        match finite(field) {
            Some(value) => table.values.push(value),
            None => {
                let problem = format!("{} is not a finite number", shown(field));
                return refused(problem, "attributes are finite numbers separated by commas");
            }
        }
    }
    let width = table.values.len() - before;
    if width != table.dim {
        let problem = format!("{} has {width} numbers where line 1 has {}", shown(line), table.dim);
        return refused(problem, "give every line as many");
    }
    Ok(())
}

/// The fields of a line, between commas, or between blanks where it has none.
pub(super) fn fields(line: &str) -> impl Iterator<Item = &str> {
    let commas = line.contains(',');
    line.split(move |c: char| if commas { c == ',' } else { c.is_ascii_whitespace() })
        .map(str::trim)
        .filter(move |field| commas || !field.is_empty())
}

/// The error of a file whose lines do not match what they describe.
pub(super) fn wrong_count(held: &Held, rows: usize, expected: usize, of: &str) -> Error {
    let place = Place::Line(rows.min(expected.saturating_add(1)) as u64);
    let place = if rows == 0 { Place::Whole } else { place };
    Error::input(
        &held.path,
        place,
        format!("the file has {rows} lines, but there are {expected} {of}"),
        "write one line for each: a file may be cut short, or belong to another set",
    )
}

//! Molecules a line: SMILES, alone, with an id, or in a table.

use std::borrow::Cow;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::vec;

use rayon::prelude::*;

use super::properties::{self, IDS};
use super::{of_smiles, stream};
use crate::dataset::fault::Fault;
use crate::dataset::lines::{Lines, too_long};
use crate::dataset::{Format, Limits, Notes, Source, folder};
use crate::error::{Action, Error, Place, Problem, Result, shown};
use crate::graph::GraphRecord;
use crate::input::open_regular;

/// Opens a file of SMILES, compressed or not.
///
/// # Errors
/// When the file cannot be opened. What is wrong with its lines comes out of the iteration, each
/// error with its line.
pub fn read_smiles(path: &Path, limits: &Limits) -> Result<Source> {
    let file = open_regular(path).map_err(|e| Error::io(path, Action::Read, e))?;
    let named = [".smi", ".smiles", ".smi.gz", ".smiles.gz"];
    from_reader(path, file, folder::ends_in(path, &named), limits)
}

/// Reads SMILES from anything; `path` is its name in messages, and `bare` whether it may have no
/// header.
pub(super) fn from_reader(
    path: &Path,
    reader: impl Read + Send + 'static,
    bare: bool,
    limits: &Limits,
) -> Result<Source> {
    let notes = Notes::default();
    let graphs = Rows {
        lines: stream::lines(path, reader, limits)?,
        path: path.to_path_buf(),
        limits: *limits,
        layout: None,
        bare,
        ready: Vec::new().into_iter(),
        any: false,
        ended: false,
        notes: notes.clone(),
    };
    let mut source = Source::new(path, Format::Smiles, graphs);
    source.notes = notes;
    Ok(source)
}

/// What a column is.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Column {
    Smiles,
    Id,
    Property(String),
    /// A column without a name, as tables have where somebody wrote row numbers.
    Nameless,
}

/// How the cells of a line are cut, and what they are.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    /// What separates cells; nothing where it is any blank.
    cut: Option<u8>,
    columns: Vec<Column>,
    /// The first name that two columns have.
    twice: Option<String>,
}

impl Layout {
    /// A line of SMILES and id.
    fn bare() -> Layout {
        Layout { cut: None, columns: vec![Column::Smiles, Column::Id], twice: None }
    }

    /// The layout that a header tells, if it is one: a column must be called `smiles`.
    pub(super) fn of_header(line: &str) -> Option<Layout> {
        let cut = [b'\t', b',', b';'].into_iter().find(|&cut| line.as_bytes().contains(&cut));
        let names: Vec<String> = cells(line, cut).ok()?.iter().map(|c| c.trim().into()).collect();
        let lower: Vec<String> = names.iter().map(|name| name.to_lowercase()).collect();
        let smiles = lower.iter().position(|name| name == "smiles")?;
        let id = IDS.iter().find_map(|id| lower.iter().position(|name| name == id));
        let twice =
            (0..names.len()).find(|&at| !names[at].is_empty() && names[..at].contains(&names[at]));
        let twice = twice.map(|at| names[at].clone());
        let column = |(at, name): (usize, String)| match name.as_str() {
            _ if at == smiles => Column::Smiles,
            _ if Some(at) == id => Column::Id,
            "" => Column::Nameless,
            _ => Column::Property(name),
        };
        Some(Layout { cut, columns: names.into_iter().enumerate().map(column).collect(), twice })
    }

    /// The molecule of a line, and whether it had stereo marks.
    fn record(
        &self,
        line: &str,
        limits: &Limits,
    ) -> std::result::Result<(GraphRecord, bool), Fault> {
        let cells = match self.cut {
            None => bare_cells(line, self.columns.len()),
            cut => cells(line, cut)?,
        };
        if cells.len() != self.columns.len() && self.cut.is_some() {
            let (found, named) = (cells.len(), self.columns.len());
            let what = format!("the line has {found} cells where the header has {named}");
            return Err(Fault::new(
                what,
                "give every line as many; quote a cell that holds the separator",
            ));
        }
        let smiles = self.columns.iter().position(|column| *column == Column::Smiles);
        let text = smiles.and_then(|at| cells.get(at)).map_or("", |cell| cell.trim());
        if text.is_empty() {
            return Err(Fault::new(
                "the cell `smiles` is empty",
                "fill it in, or leave the line out",
            ));
        }
        let (mut record, stereo) = of_smiles(text.as_bytes(), limits)?;
        for (column, cell) in self.columns.iter().zip(&cells) {
            match column {
                Column::Id => record.id = properties::id(cell.trim()),
                Column::Property(name) => {
                    properties::add(&mut record, name, properties::value(cell.trim()));
                }
                Column::Smiles | Column::Nameless => {}
            }
        }
        Ok((record, stereo))
    }
}

/// A SMILES and what follows it; an extension in bars (`|…|`) is none of it.
fn bare_cells(line: &str, columns: usize) -> Vec<Cow<'_, str>> {
    let mut cells: Vec<Cow<'_, str>> = Vec::new();
    let mut rest = line.trim();
    while cells.len() + 1 < columns && !rest.is_empty() {
        let (cell, after) = rest.split_once([' ', '\t']).unwrap_or((rest, ""));
        cells.push(cell.into());
        rest = after.trim_start();
        if let Some(end) = rest.strip_prefix('|').and_then(|inside| inside.find('|')) {
            rest = rest[end + 2..].trim_start();
        }
    }
    cells.push(rest.into());
    cells
}

/// The cells of a line: those in quotes without them, and `""` in them as one.
fn cells(line: &str, cut: Option<u8>) -> std::result::Result<Vec<Cow<'_, str>>, Fault> {
    let Some(cut) = cut else {
        return Ok(line.split_whitespace().map(Cow::from).collect());
    };
    if !line.contains('"') {
        return Ok(line.split(cut as char).map(Cow::from).collect());
    }
    let mut cells = Vec::new();
    let mut rest = line;
    loop {
        let (cell, after) = match rest.strip_prefix('"') {
            Some(inside) => quoted(inside, cut)?,
            None => match rest.split_once(cut as char) {
                Some((cell, after)) => (cell.into(), Some(after)),
                None => (rest.into(), None),
            },
        };
        cells.push(cell);
        match after {
            Some(after) => rest = after,
            None => return Ok(cells),
        }
    }
}

/// The cell whose opening quote was passed, and what follows its separator.
fn quoted(text: &str, cut: u8) -> std::result::Result<(Cow<'_, str>, Option<&str>), Fault> {
    let mut cell = String::new();
    let mut rest = text;
    loop {
        let Some((part, after)) = rest.split_once('"') else {
            let fix = "close it on the same line";
            return Err(Fault::new(
                format!("the quote before {} is never closed", shown(text)),
                fix,
            ));
        };
        cell.push_str(part);
        if let Some(after) = after.strip_prefix('"') {
            cell.push('"');
            rest = after;
        } else if after.is_empty() {
            return Ok((cell.into(), None));
        } else if let Some(after) = after.strip_prefix(cut as char) {
            return Ok((cell.into(), Some(after)));
        } else {
            let what = format!("{} follows a closing quote", shown(after));
            return Err(Fault::new(what, "write a quote inside a quoted cell twice"));
        }
    }
}

/// The molecules of a stream, a batch of lines ahead.
struct Rows {
    lines: Lines,
    path: PathBuf,
    limits: Limits,
    layout: Option<Layout>,
    /// Whether there may be no header.
    bare: bool,
    ready: vec::IntoIter<Result<(GraphRecord, bool)>>,
    any: bool,
    ended: bool,
    notes: Notes,
}

impl Rows {
    /// Reads the next batch of lines; `None` at the end.
    fn advance(&mut self) -> Result<Option<()>> {
        let Some(mut batch) = self.lines.next_batch()? else { return Ok(None) };
        batch.retain(|line| !line.text.trim_ascii().is_empty());
        if let (None, Some(first)) = (&self.layout, batch.first()) {
            let header = String::from_utf8_lossy(first.text);
            match Layout::of_header(&header) {
                Some(layout) => {
                    self.layout = Some(checked(layout, &self.path, first.number, &self.notes)?);
                    batch.remove(0);
                }
                None if self.bare => self.layout = Some(Layout::bare()),
                None => return Err(no_column(&self.path, first.number, &header)),
            }
        }
        let Some(layout) = &self.layout else { return Ok(Some(())) };
        let (path, limits) = (&self.path, &self.limits);
        let parsed: Vec<_> = batch
            .par_iter()
            .with_min_len(16)
            .map(|line| {
                let place = Place::Line(line.number);
                if line.text.len() as u64 > limits.max_record_bytes {
                    return Err(too_long(path, line.number, limits.max_record_bytes));
                }
                let text = std::str::from_utf8(line.text).map_err(|_| {
                    let text = shown(&String::from_utf8_lossy(line.text));
                    Fault::new(format!("{text} is not UTF-8"), "save the file in UTF-8")
                });
                text.and_then(|text| layout.record(text, limits))
                    .map_err(|fault| fault.at(path, place))
            })
            .collect();
        self.any |= !parsed.is_empty();
        self.ready = parsed.into_iter();
        Ok(Some(()))
    }
}

/// A layout whose columns all have names of their own, or none; those are said.
fn checked(layout: Layout, path: &Path, line: u64, notes: &Notes) -> Result<Layout> {
    if let Some(name) = &layout.twice {
        let problem = format!("two columns are called {}", shown(name));
        let fix = "give every column a name of its own";
        return Err(Error::input(path, Place::Line(line), problem, fix));
    }
    for at in (0..layout.columns.len()).filter(|&at| layout.columns[at] == Column::Nameless) {
        notes.add(format!("column {}, which has no name", at + 1));
    }
    Ok(layout)
}

fn no_column(path: &Path, line: u64, header: &str) -> Error {
    let problem = format!("the header {} has no column `smiles`", shown(header));
    let fix =
        "name the columns in the first line, or end the file's name in .smi where it has none";
    Error::input(path, Place::Line(line), problem, fix)
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
                None if self.ended => return None,
                None => match self.advance() {
                    Ok(Some(())) => {}
                    Ok(None) => {
                        self.ended = true;
                        if !self.any {
                            let fix = "write one SMILES a line, such as `CCO`".into();
                            return Some(Err(
                                Problem::NoGraphs { fix }.at(&self.path, Place::Whole)
                            ));
                        }
                    }
                    Err(error) => {
                        self.any = true;
                        self.ended = !error.is_of_one_graph();
                        return Some(Err(error));
                    }
                },
            }
        }
    }
}

/// What is said of stereo marks.
pub(super) const STEREO: &str = "stereo marks of molecules, which graphs do not carry";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headers_tell_columns_and_separators() {
        let layout = Layout::of_header("Compound ID;logP;SMILES;").unwrap();
        let property = |name: &str| Column::Property(name.to_owned());
        let expected = [Column::Id, property("logP"), Column::Smiles, Column::Nameless];
        assert_eq!((layout.cut, &layout.columns[..]), (Some(b';'), &expected[..]));
        assert!(Layout::of_header("CCO ethanol").is_none());
    }

    #[test]
    fn cells_may_be_quoted() {
        let found = cells("a,\"b,\"\"c\",,d", Some(b',')).unwrap();
        assert_eq!(found, ["a", "b,\"c", "", "d"]);
        assert!(cells("a,\"b", Some(b',')).is_err());
        assert!(cells("a,\"b\"c", Some(b',')).is_err());
    }

    #[test]
    fn a_bare_line_is_a_smiles_and_an_id_that_may_have_blanks() {
        assert_eq!(bare_cells("CCO  ethyl alcohol ", 2), ["CCO", "ethyl alcohol"]);
        assert_eq!(bare_cells("CCO |c:1| x", 2), ["CCO", "x"]);
        assert_eq!(bare_cells("CCO", 2), ["CCO", ""]);
    }
}

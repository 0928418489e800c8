//! One CSV table (RFC 4180), strictly: every row as wide as the header, every
//! quote closed.
//!
//! The csv crate, which writes, would forgive both, and not say on which line a quote was opened.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::{Path, PathBuf};

use crate::dataset::targets::PREFIX;
use crate::dataset::text::utf8_file;
use crate::error::{Error, Limit, Place, Problem, Result, shown};

/// A table held whole, with its header read.
pub(crate) struct Table<'a> {
    pub(crate) file: &'a Path,
    pub(crate) header: Vec<String>,
    rows: Rows<'a>,
}

/// A row of a table.
pub(crate) struct Row<'t, 'a> {
    file: &'t Path,
    header: &'t [String],
    /// The line it starts on, from 1.
    pub(crate) line: u64,
    cells: Vec<Cow<'a, str>>,
}

impl<'a> Table<'a> {
    /// Reads the header of the table in `bytes`.
    pub(crate) fn new(file: &'a Path, bytes: &'a [u8], max_row: u64) -> Result<Table<'a>> {
        let text = utf8_file(file, bytes)?;
        let mut rows = Rows { file: file.to_path_buf(), text, at: 0, line: 1, max_row };
        let Some((_, cells)) = rows.next()? else {
            return Err(Error::input(
                file,
                Place::Whole,
                "the file is empty (``)",
                "begin it with a header that names its columns",
            ));
        };
        let header: Vec<String> = cells.iter().map(|name| column_name(name.trim())).collect();
        let mut known = HashSet::new();
        for name in &header {
            if !known.insert(name) {
                let (problem, fix) = match name.parse::<f64>() {
                    Ok(_) => (
                        format!("{} is no name of a column: there is no header", shown(name)),
                        "begin it with a header that names its columns",
                    ),
                    Err(_) => (
                        format!("two columns are called {}", shown(name)),
                        "give every column a name of its own",
                    ),
                };
                return Err(Error::input(file, Place::Line(1), problem, fix));
            }
        }
        Ok(Table { file, header, rows })
    }

    /// The position of the column that goes by the first of `names` present.
    pub(crate) fn column(&self, names: &[&str]) -> Option<usize> {
        names.iter().find_map(|name| self.header.iter().position(|column| column == name))
    }

    /// The position of a column that must be there.
    pub(crate) fn required(&self, names: &[&str]) -> Result<usize> {
        self.column(names).ok_or_else(|| {
            Error::input(
                self.file,
                Place::Line(1),
                format!(
                    "the header {} has no column `{}`",
                    shown(&self.header.join(",")),
                    names.join("` or `")
                ),
                "name the columns in the first line, separated by commas",
            )
        })
    }

    /// The next row.
    pub(crate) fn next(&mut self) -> Result<Option<Row<'_, 'a>>> {
        let Some((line, cells)) = self.rows.next()? else {
            return Ok(None);
        };
        if cells.len() != self.header.len() {
            return Err(Error::input(
                self.file,
                Place::Line(line),
                format!(
                    "the row {} has {} cells where the header has {}",
                    shown(&cells.join(",")),
                    cells.len(),
                    self.header.len()
                ),
                "give every row as many; quote a cell that holds a comma",
            ));
        }
        Ok(Some(Row { file: self.file, header: &self.header, line, cells }))
    }
}

/// What a column is called: in lower case, but for the names of targets.
fn column_name(name: &str) -> String {
    let target = name.split_at_checked(PREFIX.len());
    match target.filter(|(prefix, _)| prefix.eq_ignore_ascii_case(PREFIX)) {
        Some((_, target)) => format!("{PREFIX}{target}"),
        None => name.to_lowercase(),
    }
}

impl Row<'_, '_> {
    /// The cell in `column`; empty where there is no such column.
    pub(crate) fn get(&self, column: Option<usize>) -> &str {
        column.and_then(|at| self.cells.get(at)).map_or("", |c| c)
    }

    /// The cell in `column`, which must not be empty.
    pub(crate) fn filled(&self, column: usize) -> Result<&str> {
        match self.get(Some(column)) {
            "" => Err(self.bad(column, "is empty", "fill the cell in")),
            cell => Ok(cell),
        }
    }

    /// An error about the cell in `column`.
    pub(crate) fn bad(&self, column: usize, problem: &str, fix: &'static str) -> Error {
        let name = self.header.get(column).map_or("", |name| name);
        Error::input(
            self.file,
            Place::Line(self.line),
            format!("column {}: {} {problem}", shown(name), shown(self.get(Some(column)))),
            fix,
        )
    }
}

/// Rows as they stand, cut into cells.
struct Rows<'a> {
    file: PathBuf,
    text: &'a str,
    /// The next byte to read.
    at: usize,
    /// The line it is on.
    line: u64,
    max_row: u64,
}

impl<'a> Rows<'a> {
    /// The next row that is not blank, and the line it starts on.
    fn next(&mut self) -> Result<Option<(u64, Vec<Cow<'a, str>>)>> {
        while let Some(rest) = self.text.get(self.at..).filter(|rest| !rest.is_empty()) {
            let (start, line) = (self.at, self.line);
            let mut cells = Vec::new();
            let mut more = true;
            while more {
                more = self.cell(&mut cells)?;
                if (self.at - start) as u64 <= self.max_row {
                    continue;
                }
                let problem = Problem::Beyond {
                    limit: Limit::RecordBytes,
                    found: None,
                    allowed: self.max_row,
                    what: format!("the row {} is longer", shown(rest)).into(),
                    fix: None,
                };
                return Err(problem.at(&self.file, Place::Line(line)));
            }
            if cells.len() > 1 || cells.first().is_some_and(|cell| !cell.is_empty()) {
                return Ok(Some((line, cells)));
            }
        }
        Ok(None)
    }

    /// Reads one cell; tells whether another follows on the row.
    fn cell(&mut self, cells: &mut Vec<Cow<'a, str>>) -> Result<bool> {
        let rest = &self.text[self.at..];
        let blanks = rest.len() - rest.trim_start_matches([' ', '\t']).len();
        if rest[blanks..].starts_with('"') {
            self.at += blanks + 1;
            cells.push(self.quoted()?);
        } else {
            let end = rest.bytes().position(|b| b == b',' || b == b'\n').unwrap_or(rest.len());
            cells.push(Cow::Borrowed(rest[..end].trim_ascii()));
            self.at += end;
        }
        let separator = self.text.as_bytes().get(self.at).copied();
        self.at += usize::from(separator.is_some());
        self.line += u64::from(separator == Some(b'\n'));
        Ok(separator == Some(b','))
    }

    /// Reads what follows an opening quote, and stops at the separator after it.
    fn quoted(&mut self) -> Result<Cow<'a, str>> {
        let opened = self.line;
        let mut cell = Cow::Borrowed("");
        loop {
            let rest = &self.text[self.at..];
            let Some(end) = rest.find('"') else {
                return Err(Error::input(
                    &self.file,
                    Place::Line(opened),
                    format!("the quote before {} is never closed", shown(rest)),
                    "close it, and write a quote inside a quoted cell twice",
                ));
            };
            let piece = &rest[..end];
            self.line += piece.bytes().filter(|&b| b == b'\n').count() as u64;
            self.at += end + 1;
            if cell.is_empty() {
                cell = Cow::Borrowed(piece);
            } else {
                cell.to_mut().push_str(piece);
            }
            let rest = &self.text[self.at..];
            if rest.starts_with('"') {
                cell.to_mut().push('"');
                self.at += 1;
                continue;
            }
            let after = rest.trim_start_matches([' ', '\t', '\r']);
            self.at += rest.len() - after.len();
            if !after.is_empty() && !after.starts_with([',', '\n']) {
                let end = after.find([',', '\n']).unwrap_or(after.len());
                return Err(Error::input(
                    &self.file,
                    Place::Line(self.line),
                    format!("{} follows a closing quote", shown(&after[..end])),
                    "quote the whole cell, and write a quote inside it twice",
                ));
            }
            return Ok(cell);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(text: &str) -> Result<Vec<(u64, Vec<String>)>> {
        let mut table = Table::new(Path::new("t.csv"), text.as_bytes(), 1 << 20)?;
        let mut rows = Vec::new();
        while let Some(row) = table.next()? {
            rows.push((row.line, row.cells.iter().map(|c| c.to_string()).collect()));
        }
        Ok(rows)
    }

    #[test]
    fn cells_are_cut_as_the_rules_say() {
        let text = "\u{feff}A,b\r\n 1 , x y\t\r\n\r\n\"a,\"\"b\nc\", \"\" \n\"\"\"\",";
        let expected = [(2, vec!["1", "x y"]), (4, vec!["a,\"b\nc", ""]), (6, vec!["\"", ""])];
        let found = rows(text).unwrap();
        assert_eq!(found.len(), expected.len());
        for ((line, cells), (expected_line, expected_cells)) in found.iter().zip(&expected) {
            assert_eq!((line, cells.len()), (expected_line, expected_cells.len()));
            assert!(cells.iter().zip(expected_cells).all(|(a, b)| a == b), "{cells:?}");
        }
    }

    #[test]
    fn quotes_must_close_and_end_their_cell() {
        let message = rows("a,b\n1,2\n3,\"4\n5,6\n").unwrap_err().to_string();
        assert!(message.contains("t.csv, line 3"), "{message}");
        assert!(message.contains("never closed"), "{message}");
        let message = rows("a,b\n\"1\"x,2\n").unwrap_err().to_string();
        assert!(message.contains("line 2: `x` follows a closing quote"), "{message}");
    }
}

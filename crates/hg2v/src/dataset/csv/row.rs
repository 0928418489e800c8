//! Rows of CSV on their way out, cell by cell.

use std::fmt::{self, Write as _};
use std::io::{self, Write};

use crate::dataset::text::spelled;
use crate::graph::Scalar;

/// Writes rows; cells are quoted where they must be.
pub(crate) struct RowWriter<W: Write> {
    out: csv::Writer<W>,
    /// Where numbers are spelled.
    digits: String,
}

impl<W: Write> RowWriter<W> {
    /// Rows of cells between commas.
    pub(crate) fn commas(out: W) -> RowWriter<W> {
        RowWriter::new(out, b',', csv::QuoteStyle::Necessary)
    }

    /// Rows of cells between tabs, which never stand in a cell: nothing is quoted.
    pub(crate) fn tabs(out: W) -> RowWriter<W> {
        RowWriter::new(out, b'\t', csv::QuoteStyle::Never)
    }

    fn new(out: W, separator: u8, quotes: csv::QuoteStyle) -> RowWriter<W> {
        // Rows need not be equally long: those of nodes are completed later.
        let mut builder = csv::WriterBuilder::new();
        let out = builder.delimiter(separator).quote_style(quotes).flexible(true).from_writer(out);
        RowWriter { out, digits: String::new() }
    }

    /// A cell of text.
    pub(crate) fn text(&mut self, text: &str) -> io::Result<()> {
        self.out.write_field(text).map_err(said)
    }

    /// A scalar, spelled so that it is read back; empty where there is none.
    pub(crate) fn scalar(&mut self, scalar: Option<&Scalar>) -> io::Result<()> {
        match scalar {
            Some(scalar) => self.text(&spelled(scalar)),
            None => self.text(""),
        }
    }

    /// A number, as it prints.
    pub(crate) fn number(&mut self, number: impl fmt::Display) -> io::Result<()> {
        self.digits.clear();
        write!(self.digits, "{number}").map_err(io::Error::other)?;
        self.out.write_field(&self.digits).map_err(said)
    }

    /// Ends the row.
    pub(crate) fn end(&mut self) -> io::Result<()> {
        self.out.write_record(None::<&[u8]>).map_err(said)
    }

    /// A whole row.
    pub(crate) fn row<'a>(&mut self, cells: impl IntoIterator<Item = &'a str>) -> io::Result<()> {
        self.out.write_record(cells).map_err(said)
    }

    /// Writes all that was held back, and gives back where it went.
    pub(crate) fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        self.out.into_inner().map_err(|error| io::Error::other(error.to_string()))
    }
}

/// What the disk said: nothing else can go wrong.
fn said(error: csv::Error) -> io::Error {
    match error.into_kind() {
        csv::ErrorKind::Io(error) => error,
        other => io::Error::other(format!("{other:?}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(mut rows: RowWriter<Vec<u8>>) -> String {
        rows.row(["a", "b,c", "say \"x\"", ""]).unwrap();
        rows.scalar(Some(&Scalar::from("7"))).unwrap();
        rows.scalar(None).unwrap();
        rows.number(0.5).unwrap();
        rows.number(format_args!("{:?}", 3.0)).unwrap();
        rows.end().unwrap();
        String::from_utf8(rows.finish().unwrap()).unwrap()
    }

    #[test]
    fn cells_are_quoted_where_they_must_be() {
        let text = written(RowWriter::commas(Vec::new()));
        assert_eq!(text, "a,\"b,c\",\"say \"\"x\"\"\",\n\"\"\"7\"\"\",,0.5,3.0\n");
        let text = written(RowWriter::tabs(Vec::new()));
        assert_eq!(text, "a\tb,c\tsay \"x\"\t\n\"7\"\t\t0.5\t3.0\n");
    }

    #[test]
    fn what_a_disk_says_is_passed_on() {
        struct Full;
        impl Write for Full {
            fn write(&mut self, _: &[u8]) -> io::Result<usize> {
                Err(io::ErrorKind::StorageFull.into())
            }

            fn flush(&mut self) -> io::Result<()> {
                Ok(())
            }
        }
        let mut rows = RowWriter::commas(Full);
        rows.text("held back").unwrap();
        rows.end().unwrap();
        assert_eq!(rows.finish().err().unwrap().kind(), io::ErrorKind::StorageFull);
        let mut rows = RowWriter::commas(Full);
        let refused = (0..1 << 16).find_map(|i| rows.number(i).err()).unwrap();
        assert_eq!(refused.kind(), io::ErrorKind::StorageFull);
    }
}

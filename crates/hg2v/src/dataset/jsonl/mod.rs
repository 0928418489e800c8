//! JSONL: one graph a line, plain or gzip-compressed.
//!
//! ```json
//! {"id": "g1", "y": 1, "edges": [[0, 1], [1, 2, 0.5]], "x": [[0.1], [0.2], [0.3]]}
//! ```
//!
//! | key | holds | when left out |
//! |---|---|---|
//! | `edges` | `[u, v]` or `[u, v, weight]` each; a missing weight is 1 | refused |
//! | `nodes` | the nodes' names, any JSON scalars, in order | names are 0 … n−1 |
//! | `n` | the number of nodes, where names are 0 … n−1 | from `x`, `node_labels`, or the highest name |
//! | `x` | a row of numbers a node | no attributes |
//! | `node_labels`, `edge_labels` | a scalar a node, an edge | no labels |
//! | `edge_x` | a number or a row of numbers an edge | no attributes of edges |
//! | `id` | a scalar: the graph's name | none |
//! | `y` | a scalar: its class or number; several in a list, or in an object by name | none |
//! | `directed` | `true` or `false` | `false` |
//!
//! Any other key is passed over and said once ([`Source::ignored`]). Blank lines
//! are skipped. Reading holds one chunk of the file at a time, whatever its
//! length; the lines of a chunk are parsed in parallel and come out in order.

mod parse;
mod write;

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::vec;

use rayon::prelude::*;

use super::gzip::{self, Gunzip};
use super::lines::{Lines, too_long};
use super::{Format, Limits, Notes, Source};
use crate::error::{Action, Error, Place, Problem, Result};
use crate::graph::GraphRecord;
use parse::{Parsed, Parser};
pub use write::{line_of, write};

/// Opens a JSONL file, compressed or not; `-` is standard input.
///
/// # Errors
/// When the file cannot be opened. What is wrong with its lines comes out of the
/// iteration, each error with its line.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    if path == Path::new("-") {
        return from_reader(Path::new("<stdin>"), io::stdin(), limits);
    }
    let file = File::open(path).map_err(|e| Error::io(path, Action::Read, e))?;
    from_reader(path, file, limits)
}

/// Reads JSONL, compressed or not, from anything; `path` is its name in messages.
///
/// # Errors
/// When the first bytes cannot be read.
pub fn from_reader(
    path: &Path,
    mut reader: impl Read + Send + 'static,
    limits: &Limits,
) -> Result<Source> {
    let mut magic = [0; gzip::MAGIC.len()];
    let length =
        super::read_up_to(&mut reader, &mut magic).map_err(|e| Error::io(path, Action::Read, e))?;
    let whole = Cursor::new(magic).take(length as u64).chain(reader);
    let (format, text): (_, Box<dyn Read + Send>) = if magic == gzip::MAGIC {
        let compressed = BufReader::with_capacity(1 << 16, whole);
        (Format::JsonlGz, Box::new(Gunzip::new(compressed)))
    } else {
        (Format::Jsonl, Box::new(whole))
    };
    let notes = Notes::default();
    let graphs = GraphLines {
        lines: Lines::new(path, text, limits.max_record_bytes),
        path: path.to_path_buf(),
        limits: *limits,
        ready: Vec::new().into_iter(),
        any: false,
        ended: false,
        notes: notes.clone(),
    };
    let mut source = Source::new(path, format, graphs);
    source.notes = notes;
    Ok(source)
}

/// The graph of one line, on this thread alone; `name` and `number` (from 1) say in
/// messages where it came from.
///
/// # Errors
/// A line that is no graph, or is longer or larger than `limits` allow.
pub fn from_line(name: &Path, number: u64, line: &[u8], limits: &Limits) -> Result<GraphRecord> {
    let place = Place::Line(number);
    if line.len() as u64 > limits.max_record_bytes {
        return Err(too_long(name, number, limits.max_record_bytes));
    }
    let parsed = Parser::new(limits).parse(line).map_err(|fault| fault.at(name, place))?;
    Ok(parsed.record)
}

/// The graphs of a stream, a batch of lines ahead.
struct GraphLines {
    lines: Lines,
    path: PathBuf,
    limits: Limits,
    ready: vec::IntoIter<Result<Parsed>>,
    any: bool,
    ended: bool,
    notes: Notes,
}

impl GraphLines {
    /// Parses the next batch of lines; `None` at the end.
    fn advance(&mut self) -> Result<Option<()>> {
        let Some(batch) = self.lines.next_batch()? else {
            return Ok(None);
        };
        let (path, limits) = (&self.path, &self.limits);
        let parsed: Vec<_> = batch
            .par_iter()
            .with_min_len(16)
            .map_init(
                || Parser::new(limits),
                |parser, line| {
                    let place = Place::Line(line.number);
                    if line.text.len() as u64 > limits.max_record_bytes {
                        return Err(too_long(path, line.number, limits.max_record_bytes));
                    }
                    parser.parse(line.text).map_err(|fault| fault.at(path, place))
                },
            )
            .collect();
        self.any |= !parsed.is_empty();
        self.ready = parsed.into_iter();
        Ok(Some(()))
    }
}

impl Iterator for GraphLines {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready.next() {
                Some(Ok(parsed)) => {
                    for key in parsed.unknown_keys {
                        self.notes.add(format!("key {key}, which is no part of the format"));
                    }
                    return Some(Ok(parsed.record));
                }
                Some(Err(error)) => return Some(Err(error)),
                None if self.ended => return None,
                None => match self.advance() {
                    Ok(Some(())) => {}
                    Ok(None) => {
                        self.ended = true;
                        if !self.any {
                            let fix = "write one JSON object a line, such as {\"edges\":[[0,1]]}";
                            let problem = Problem::NoGraphs { fix: fix.into() };
                            return Some(Err(problem.at(&self.path, Place::Whole)));
                        }
                    }
                    Err(error) => {
                        // A line that is too long is followed by others.
                        self.any = true;
                        self.ended = !error.is_of_one_graph();
                        return Some(Err(error));
                    }
                },
            }
        }
    }
}

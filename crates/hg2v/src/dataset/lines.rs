//! A stream of bytes as batches of whole lines, in bounded memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::gzip;
use crate::error::{Error, Limit, Place, Problem, Result};

/// A line without its end, and its number from 1.
pub(super) struct Line<'b> {
    pub(super) number: u64,
    pub(super) text: &'b [u8],
}

/// Batches of lines. A batch is what one read brings (with the start of its
/// first line from the read before), so that lines of a slow pipe are not held
/// back until a large buffer is full.
pub(super) struct Lines {
    path: PathBuf,
    reader: Box<dyn Read + Send>,
    longest: u64,
    buffer: Vec<u8>,
    /// The end of the last batch in `buffer`: what follows is the start of a line.
    used: usize,
    /// The number of the last line of the last batch.
    number: u64,
    /// Inside a line that is too long, the rest of which is passed over: bytes passed so far.
    passing: Option<u64>,
    ended: bool,
    /// Whether blanks around a line, and lines of nothing else, are part of the content.
    exact: bool,
}

/// Bytes asked of a read.
const CHUNK: usize = 1 << 20;

/// Bytes of a line that is too long that are passed over in search of its end.
const MOST_PASSED: u64 = 1 << 30;

impl Lines {
    pub(super) fn new(path: &Path, reader: Box<dyn Read + Send>, longest: u64) -> Lines {
        Lines {
            path: path.to_path_buf(),
            reader,
            longest,
            buffer: Vec::new(),
            used: 0,
            number: 0,
            passing: None,
            ended: false,
            exact: false,
        }
    }

    /// The same with all lines, blank ones too, and with all of each but its end.
    pub(super) fn exact(self) -> Lines {
        Lines { exact: true, ..self }
    }

    /// The next lines that are not blank; `None` at the end of the stream. An error that concerns
    /// one graph alone is followed by the lines after it.
    pub(super) fn next_batch(&mut self) -> Result<Option<Vec<Line<'_>>>> {
        if self.ended {
            return Ok(None);
        }
        self.buffer.drain(..self.used);
        self.used = loop {
            let mut held = self.buffer.len();
            self.fill()?;
            if let Some(passed) = self.passing {
                let end = self.buffer.iter().position(|&b| b == b'\n');
                let passed = passed + self.buffer.len() as u64;
                self.buffer.drain(..end.map_or(self.buffer.len(), |end| end + 1));
                if end.is_none() && passed > MOST_PASSED {
                    return Err(self.endless());
                }
                (self.passing, held) = (end.is_none().then_some(passed), 0);
            }
            if self.ended {
                break self.buffer.len();
            }
            if let Some(last) = self.buffer[held..].iter().rposition(|&b| b == b'\n') {
                break held + last + 1;
            }
            if self.buffer.len() as u64 > self.longest {
                (self.used, self.passing) = (self.buffer.len(), Some(0));
                self.number += 1;
                return Err(too_long(&self.path, self.number, self.longest));
            }
        };
        let mut whole = &self.buffer[..self.used];
        if self.number == 0 {
            whole = whole.strip_prefix(b"\xef\xbb\xbf").unwrap_or(whole);
        }
        let mut batch = Vec::new();
        let mut number = self.number;
        for text in whole.split_inclusive(|&b| b == b'\n') {
            number += 1;
            if self.exact {
                let text = text.strip_suffix(b"\n").unwrap_or(text);
                let text = text.strip_suffix(b"\r").unwrap_or(text);
                batch.push(Line { number, text });
                continue;
            }
            let text = text.trim_ascii();
            if !text.is_empty() {
                batch.push(Line { number, text });
            }
        }
        self.number = number;
        Ok(Some(batch))
    }

    /// Reads once, to the end of the buffer.
    fn fill(&mut self) -> Result<()> {
        let held = self.buffer.len();
        self.buffer.resize(held + CHUNK, 0);
        let read = loop {
            match self.reader.read(&mut self.buffer[held..]) {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        let place = Place::Line(self.number + 1);
        let more = read.map_err(|e| gzip::refused(&self.path, place, e))?;
        self.buffer.truncate(held + more);
        self.ended = more == 0;
        Ok(())
    }

    fn endless(&self) -> Error {
        let problem = format!("the line does not end within {MOST_PASSED} bytes");
        Error::input(&self.path, Place::Line(self.number), problem, "write one graph a line")
    }
}

pub(super) fn too_long(path: &Path, number: u64, longest: u64) -> Error {
    let problem = Problem::Beyond {
        limit: Limit::RecordBytes,
        found: None,
        allowed: longest,
        what: "the line is longer".into(),
        fix: Some("write one graph a line"),
    };
    problem.at(path, Place::Line(number)).of_one_graph()
}

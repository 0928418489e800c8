//! A stream of bytes as batches of whole lines, in bounded memory.

use std::io::{self, Read};
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result};

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
    ended: bool,
}

/// Bytes asked of a read.
const CHUNK: usize = 1 << 20;

impl Lines {
    pub(super) fn new(path: &Path, reader: Box<dyn Read + Send>, longest: u64) -> Lines {
        Lines {
            path: path.to_path_buf(),
            reader,
            longest,
            buffer: Vec::new(),
            used: 0,
            number: 0,
            ended: false,
        }
    }

    /// The next lines that are not blank; `None` at the end of the stream.
    pub(super) fn next_batch(&mut self) -> Result<Option<Vec<Line<'_>>>> {
        if self.ended {
            return Ok(None);
        }
        self.buffer.drain(..self.used);
        self.used = loop {
            let held = self.buffer.len();
            self.fill()?;
            if self.ended {
                break self.buffer.len();
            }
            if let Some(last) = self.buffer[held..].iter().rposition(|&b| b == b'\n') {
                break held + last + 1;
            }
            if self.buffer.len() as u64 > self.longest {
                return Err(self.too_long(self.number + 1));
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
            let text = text.trim_ascii();
            if text.len() as u64 > self.longest {
                return Err(self.too_long(number));
            }
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
        let more = read.map_err(|e| self.unreadable(e))?;
        self.buffer.truncate(held + more);
        self.ended = more == 0;
        Ok(())
    }

    /// A damaged gzip stream is bad input; anything else is the system's refusal.
    fn unreadable(&self, error: io::Error) -> Error {
        use io::ErrorKind::{InvalidData, InvalidInput, UnexpectedEof};
        let place = Place::Line(self.number + 1);
        match error.kind() {
            UnexpectedEof => Error::input(
                &self.path,
                place,
                "the compressed stream ends too soon",
                "the file was cut short: copy or download it again",
            ),
            InvalidData | InvalidInput => Error::input(
                &self.path,
                place,
                format!("the compressed stream is damaged ({error})"),
                "copy or download the file again; `gzip -t` checks it",
            ),
            _ => Error::io(&self.path, "read", error),
        }
    }

    fn too_long(&self, number: u64) -> Error {
        Error::input(
            &self.path,
            Place::Line(number),
            format!("the line is longer than {} bytes", self.longest),
            "write one graph a line; if a graph is this large, raise --max-record-bytes",
        )
    }
}

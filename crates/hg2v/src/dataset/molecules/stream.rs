//! A file as lines, compressed or not.

use std::io::{BufReader, Cursor, Read};
use std::path::Path;

use crate::dataset::gzip::{self, Gunzip};
use crate::dataset::lines::Lines;
use crate::dataset::{Limits, read_up_to};
use crate::error::{Action, Error, Result};

/// The lines of what `reader` reads; `path` is its name in messages.
pub(super) fn lines(
    path: &Path,
    mut reader: impl Read + Send + 'static,
    limits: &Limits,
) -> Result<Lines> {
    let mut magic = [0; gzip::MAGIC.len()];
    let length =
        read_up_to(&mut reader, &mut magic).map_err(|e| Error::io(path, Action::Read, e))?;
    let whole = Cursor::new(magic).take(length as u64).chain(reader);
    let text: Box<dyn Read + Send> = if magic == gzip::MAGIC {
        Box::new(Gunzip::new(BufReader::with_capacity(1 << 16, whole)))
    } else {
        Box::new(whole)
    };
    Ok(Lines::new(path, text, limits.max_record_bytes).exact())
}

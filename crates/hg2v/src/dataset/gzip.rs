//! Compressed files: one gzip stream after the other, and nothing after the last.

use std::io::{self, BufRead, ErrorKind, Read};
use std::path::Path;

use flate2::bufread::GzDecoder;

use crate::error::{Action, Error, Place};

/// How a compressed file begins.
pub(super) const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// What a file unfolds to.
pub(super) struct Gunzip<R> {
    /// `None` once it ended.
    member: Option<GzDecoder<R>>,
}

impl<R: BufRead> Gunzip<R> {
    pub(super) fn new(compressed: R) -> Gunzip<R> {
        Gunzip { member: Some(GzDecoder::new(compressed)) }
    }
}

impl<R: BufRead> Read for Gunzip<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        while let Some(mut member) = self.member.take() {
            let read = member.read(buffer)?;
            if read > 0 || buffer.is_empty() {
                self.member = Some(member);
                return Ok(read);
            }
            let mut rest = member.into_inner();
            match rest.fill_buf()? {
                [] => {}
                [first, ..] if *first == MAGIC[0] => self.member = Some(GzDecoder::new(rest)),
                _ => return Err(io::Error::new(ErrorKind::InvalidData, Trailing)),
            }
        }
        Ok(0)
    }
}

/// Something follows that is not compressed.
#[derive(Debug, thiserror::Error)]
#[error("bytes that are not compressed follow its end")]
struct Trailing;

/// What is wrong with a file that cannot be unfolded: it is bad input, unless the system refused.
pub(super) fn refused(file: &Path, place: Place, error: io::Error) -> Error {
    let trailing = error.get_ref().is_some_and(|error| error.is::<Trailing>());
    let (problem, fix) = match error.kind() {
        _ if trailing => (
            "the compressed stream is followed by bytes that are not compressed".to_owned(),
            "something was appended to the file: remove it, or compress it as well",
        ),
        ErrorKind::UnexpectedEof => (
            "the compressed stream ends too soon".to_owned(),
            "the file was cut short: copy or download it again; `gzip -t` checks it",
        ),
        ErrorKind::InvalidData | ErrorKind::InvalidInput => (
            format!("the compressed stream is damaged ({error})"),
            "copy or download the file again; `gzip -t` checks it",
        ),
        _ => return Error::io(file, Action::Read, error),
    };
    Error::input(file, place, problem, fix)
}

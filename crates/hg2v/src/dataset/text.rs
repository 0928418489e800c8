//! What the text formats share: files held whole within a bound, numbered
//! lines, and scalars spelled so that they read back as themselves.

use std::borrow::Cow;
use std::io::{self, Read};
use std::path::Path;

use crate::error::{Action, Error, Limit, Place, Problem, Result, shown};
use crate::graph::Scalar;
use crate::input::open_regular;

/// How many bytes of files may still be held in memory.
pub(crate) struct Budget {
    limit: Limit,
    allowed: u64,
    left: u64,
}

impl Budget {
    pub(crate) fn new(limit: Limit, allowed: u64) -> Budget {
        Budget { limit, allowed, left: allowed }
    }

    /// Reads to the end, refusing to hold more than what is left.
    pub(crate) fn read(
        &mut self,
        file: &Path,
        from: impl Read,
        failed: impl FnOnce(io::Error) -> Error,
    ) -> Result<Vec<u8>> {
        let mut bytes = Vec::new();
        from.take(self.left.saturating_add(1)).read_to_end(&mut bytes).map_err(failed)?;
        self.take(file, bytes.len() as u64)?;
        Ok(bytes)
    }

    /// Uses up `bytes` bytes for what is made of a file.
    pub(crate) fn take(&mut self, file: &Path, bytes: u64) -> Result<()> {
        self.claim(file, bytes)?;
        self.left -= bytes;
        Ok(())
    }

    /// Refuses a file of `bytes` bytes where that is more than what is left.
    pub(crate) fn claim(&self, file: &Path, bytes: u64) -> Result<()> {
        if bytes <= self.left {
            return Ok(());
        }
        let problem = Problem::Beyond {
            limit: self.limit,
            found: None,
            allowed: self.allowed,
            what: "holding it would take more".into(),
            fix: None,
        };
        Err(problem.at(file, Place::Whole))
    }

    /// Reads a file from disk.
    pub(crate) fn read_file(&mut self, path: &Path) -> Result<Vec<u8>> {
        let failed = |e| Error::io(path, Action::Read, e);
        let file = open_regular(path).map_err(failed)?;
        self.read(path, file, failed)
    }
}

/// As many of `sentences` as a person reads, and how many more there are.
pub(crate) fn few(mut sentences: Vec<String>) -> Vec<String> {
    const FEW: usize = 12;
    if sentences.len() > FEW {
        let more = sentences.len() - FEW;
        sentences.truncate(FEW);
        sentences.push(format!("… and {more} more like these"));
    }
    sentences
}

/// The lines of a file, numbered from 1, without the blanks around them. A byte
/// order mark and blank lines at the end are no part of the content.
pub(crate) fn lines(bytes: &[u8]) -> Lines<'_> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let bytes = bytes.trim_ascii_end();
    Lines { rest: (!bytes.is_empty()).then_some(bytes), number: 0 }
}

/// See [`lines`].
pub(crate) struct Lines<'a> {
    rest: Option<&'a [u8]>,
    number: u64,
}

impl<'a> Iterator for Lines<'a> {
    type Item = (u64, &'a [u8]);

    fn next(&mut self) -> Option<Self::Item> {
        let rest = self.rest?;
        let line = match rest.iter().position(|&byte| byte == b'\n') {
            Some(end) => {
                self.rest = Some(&rest[end + 1..]);
                &rest[..end]
            }
            None => {
                self.rest = None;
                rest
            }
        };
        self.number += 1;
        Some((self.number, line.trim_ascii()))
    }
}

/// A line as text.
pub(crate) fn utf8<'a>(file: &Path, number: u64, line: &'a [u8]) -> Result<&'a str> {
    std::str::from_utf8(line).map_err(|_| not_utf8(file, number, line))
}

/// A whole file as text.
pub(crate) fn utf8_file<'a>(file: &Path, bytes: &'a [u8]) -> Result<&'a str> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    std::str::from_utf8(bytes).map_err(|e| {
        let (before, after) = bytes.split_at(e.valid_up_to());
        let number = line_at(before);
        let start = before.iter().rposition(|&b| b == b'\n').map_or(0, |at| at + 1);
        let end = after.iter().position(|&b| b == b'\n');
        let end = end.map_or(bytes.len(), |at| before.len() + at);
        not_utf8(file, number, &bytes[start..end])
    })
}

/// The number of the line that follows `before`, from 1.
pub(crate) fn line_at(before: &[u8]) -> u64 {
    before.iter().filter(|&&b| b == b'\n').count() as u64 + 1
}

fn not_utf8(file: &Path, number: u64, line: &[u8]) -> Error {
    Error::input(
        file,
        Place::Line(number),
        format!("{} is not UTF-8", shown(&String::from_utf8_lossy(line))),
        "save the file in UTF-8",
    )
}

/// The unsigned integer that `digits` spells, if it is one and fits.
pub(crate) fn unsigned(digits: &[u8]) -> Option<u64> {
    if digits.is_empty() {
        return None;
    }
    digits.iter().try_fold(0u64, |value, &byte| {
        let digit = byte.wrapping_sub(b'0');
        if digit > 9 {
            return None;
        }
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// The finite number that `text` spells.
pub(crate) fn finite(text: &str) -> Option<f64> {
    text.parse().ok().filter(|x: &f64| x.is_finite())
}

/// The identifier that a cell spells.
///
/// | the cell | is |
/// |---|---|
/// | an integer as it prints, `7` | that integer |
/// | `true`, `false` | that boolean |
/// | a number as [`spelled`] writes it, `0.5`, `1e16` | that number |
/// | a JSON string, `"7"` | the text in it |
/// | anything else | the text itself |
pub(crate) fn id(cell: &str) -> Scalar {
    // Two ids must never fall together, so `0.5` is a number but `0.50` is text.
    scalar(cell, |text| finite(text).filter(|x| format!("{x:?}") == text))
}

/// The label that a cell spells: as [`id`], but any decimal number is a number.
pub(crate) fn label(cell: &str) -> Scalar {
    scalar(cell, |text| {
        let decimal = text.bytes().any(|b| matches!(b, b'.' | b'e' | b'E'));
        finite(text).filter(|_| decimal)
    })
}

/// The target that a cell spells: as [`label`], or nothing where it is empty or `nan`, as tables of
/// measurements have it where nothing was measured.
///
/// # Errors
/// A number that is infinite.
pub(crate) fn target(cell: &str) -> std::result::Result<Option<Scalar>, NotFinite> {
    match cell.parse::<f64>() {
        Ok(number) if number.is_nan() => Ok(None),
        Ok(number) if number.is_infinite() => Err(NotFinite),
        _ => Ok((!cell.is_empty()).then(|| label(cell))),
    }
}

/// What is wrong with an infinite number to predict.
pub(crate) struct NotFinite;

impl NotFinite {
    pub(crate) const PROBLEM: &str = "is not a finite number";
    pub(crate) const FIX: &str = "write a finite number, or nothing where it is not known";
}

/// The name that a part of a table spells: itself, or the text of a JSON string.
pub(crate) fn name(spelled: &str) -> String {
    let quoted = spelled.starts_with('"').then(|| serde_json::from_str(spelled).ok());
    quoted.flatten().unwrap_or_else(|| spelled.to_owned())
}

/// The text that [`name`] reads back as `name`, on one line and without blanks around it.
pub(crate) fn spelled_name(name: &str) -> Cow<'_, str> {
    let plain = !name.is_empty()
        && name.trim() == name
        && !name.starts_with(['"', '\u{feff}'])
        && !name.contains(char::is_control);
    match plain {
        true => Cow::Borrowed(name),
        false => Cow::Owned(serde_json::Value::from(name).to_string()),
    }
}

fn scalar(cell: &str, float: impl Fn(&str) -> Option<f64>) -> Scalar {
    match (cell, Scalar::from_text(cell)) {
        (_, Scalar::Int(int)) => Scalar::Int(int),
        ("true", _) => Scalar::Bool(true),
        ("false", _) => Scalar::Bool(false),
        (_, text) => {
            if cell.starts_with('"') {
                serde_json::from_str(cell).map_or(text, |inner: Box<str>| Scalar::Text(inner))
            } else {
                float(cell).map_or(text, Scalar::Float)
            }
        }
    }
}

/// The cell that [`id`] and [`label`] read back as `scalar`: text that could be
/// taken for something else, or that holds control characters, as a JSON string.
pub(crate) fn spelled(scalar: &Scalar) -> Cow<'_, str> {
    match scalar {
        Scalar::Text(text) if plain(text) => Cow::Borrowed(text),
        Scalar::Text(text) => Cow::Owned(serde_json::Value::from(&**text).to_string()),
        Scalar::Float(x) => Cow::Owned(format!("{x:?}")),
        other => Cow::Owned(other.to_string()),
    }
}

fn plain(text: &str) -> bool {
    !text.is_empty()
        && text.trim() == text
        && !text.starts_with(['"', '\u{feff}'])
        && !text.contains(char::is_control)
        && !matches!(text, "true" | "false")
        && text.parse::<f64>().is_err()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_numbered_and_trimmed() {
        let text = b"\xef\xbb\xbf1, 2 \r\n\r\n 3\n\n \n";
        let found: Vec<_> = lines(text).collect();
        assert_eq!(found, [(1, &b"1, 2"[..]), (2, b""), (3, b"3")]);
        assert_eq!(lines(b" \n\n").count(), 0);
    }

    #[test]
    fn integers_are_exact_or_refused() {
        assert_eq!(unsigned(b"18446744073709551615"), Some(u64::MAX));
        for bad in ["18446744073709551616", "", "-1", "+1", "1.0", "x"] {
            assert_eq!(unsigned(bad.as_bytes()), None, "{bad}");
        }
    }

    #[test]
    fn a_cell_is_what_it_looks_like() {
        assert_eq!(label("7"), Scalar::Int(7));
        assert_eq!(label("007"), Scalar::from("007"));
        assert_eq!(label("0.50"), Scalar::Float(0.5));
        assert_eq!(id("0.50"), Scalar::from("0.50"));
        assert_eq!(id("0.5"), Scalar::Float(0.5));
        assert_eq!(id("\"7\""), Scalar::from("7"));
        assert_eq!(label("nan"), Scalar::from("nan"));
        assert_eq!(label("true"), Scalar::Bool(true));
        assert_eq!(spelled(&Scalar::from("a, b")), "a, b");
        assert_eq!(spelled(&Scalar::from("7")), "\"7\"");
        assert_eq!(spelled(&Scalar::from("a\nb")), "\"a\\nb\"");
    }

    proptest! {
        #[test]
        fn spelled_scalars_read_back(text in "\\PC{0,6}|[-+0-9.e\" \\n,]{0,5}|true", int: i64,
                                     float in -1e300..1e300f64) {
            for scalar in [Scalar::from(&*text), Scalar::Int(int), Scalar::Float(float),
                           Scalar::Float(float.trunc()), Scalar::Bool(true)] {
                let cell = spelled(&scalar).into_owned();
                prop_assert!(!cell.contains(['\n', '\r']));
                // As it was spelled, too: `6` and `6.0` are equal.
                prop_assert_eq!(format!("{:?}", id(&cell)), format!("{scalar:?}"));
                prop_assert_eq!(format!("{:?}", label(&cell)), format!("{scalar:?}"));
            }
        }
    }
}

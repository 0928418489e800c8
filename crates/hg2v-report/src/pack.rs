//! JSON and arrays as one text that a browser unpacks.
//!
//! ```text
//! length of the head      32 bits, little-endian
//! head                    JSON; its member "arrays" says where each array is
//! arrays                  little-endian, one after the other
//! ```
//!
//! deflated (zlib) and in base64: no byte of what a file says can mean anything in HTML.

use std::io::{self, Write};

use flate2::Compression;
use flate2::write::ZlibEncoder;
use serde_json::{Map, Value, json};

/// What is to be packed.
#[derive(Debug, Default)]
pub struct Pack {
    head: Map<String, Value>,
    arrays: Map<String, Value>,
    bytes: Vec<u8>,
}

impl Pack {
    /// Adds a member of the head.
    pub fn value(&mut self, name: &str, value: impl Into<Value>) {
        self.head.insert(name.to_owned(), value.into());
    }

    /// Adds an array of bytes.
    pub fn bytes(&mut self, name: &str, values: &[u8]) {
        self.array(name, "u8", values);
    }

    /// Adds an array of counts.
    pub fn counts(&mut self, name: &str, values: &[u32]) {
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        self.array(name, "u32", &bytes);
    }

    /// Adds an array of numbers. One that is not finite becomes 0: a page has no other way
    /// to show it, and callers give none.
    pub fn numbers(&mut self, name: &str, values: &[f32]) {
        let finite = |value: &f32| if value.is_finite() { *value } else { 0.0 };
        let bytes: Vec<u8> = values.iter().flat_map(|value| finite(value).to_le_bytes()).collect();
        self.array(name, "f32", &bytes);
    }

    fn array(&mut self, name: &str, kind: &str, bytes: &[u8]) {
        let place = json!([kind, self.bytes.len(), bytes.len()]);
        self.arrays.insert(name.to_owned(), place);
        self.bytes.extend_from_slice(bytes);
    }

    /// The text.
    ///
    /// # Errors
    /// None that depend on what is packed.
    pub fn finish(mut self) -> io::Result<String> {
        self.head.insert("arrays".to_owned(), self.arrays.into());
        let head = serde_json::to_vec(&self.head)?;
        let length = u32::try_from(head.len()).map_err(io::Error::other)?;
        let mut out = ZlibEncoder::new(Vec::new(), Compression::new(7));
        out.write_all(&length.to_le_bytes())?;
        out.write_all(&head)?;
        out.write_all(&self.bytes)?;
        Ok(base64(&out.finish()?))
    }
}

pub(crate) fn base64(bytes: &[u8]) -> String {
    const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let byte = |i: usize| u32::from(chunk.get(i).copied().unwrap_or(0));
        let word = byte(0) << 16 | byte(1) << 8 | byte(2);
        for digit in 0..4 {
            match digit <= chunk.len() {
                true => text.push(DIGITS[(word >> (18 - 6 * digit) & 63) as usize] as char),
                false => text.push('='),
            }
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_base64() {
        // RFC 4648, section 10.
        let pairs =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (plain, coded) in pairs {
            assert_eq!(base64(plain.as_bytes()), coded);
        }
        assert_eq!(base64(&[0xff, 0xef, 0xbe]), "/+++");
    }

    #[test]
    fn nothing_in_a_pack_means_anything_in_html() {
        let mut pack = Pack::default();
        pack.value("id", "</script><b>\"&'");
        pack.numbers("x", &[1.0, f32::NAN, f32::INFINITY]);
        pack.counts("n", &[1, u32::MAX]);
        let text = pack.finish().unwrap();
        assert!(text.bytes().all(|b| b.is_ascii_alphanumeric() || b"+/=".contains(&b)));
    }
}

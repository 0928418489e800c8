#![no_main]
//! JSONL, plain and compressed (the first bytes tell).

#[allow(dead_code)]
mod reading;

use std::io::Cursor;
use std::path::Path;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = Path::new("fuzz.jsonl");
    let stream = Cursor::new(bytes.to_vec());
    reading::drain(hg2v::dataset::jsonl::from_reader(path, stream, &reading::limits()));
});

#![no_main]
//! A TU zip.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::file("NAME.zip", bytes);
    reading::drain(hg2v::dataset::tu::read(&path, &reading::limits()));
});

#![no_main]
//! Parquet.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::file("graphs.parquet", bytes);
    reading::drain(hg2v::dataset::parquet::read(&path, &reading::limits()));
});

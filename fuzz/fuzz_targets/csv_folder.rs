#![no_main]
//! A folder of CSV: `edges.csv`, `nodes.csv` and `graphs.csv`, cut at zero bytes.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::folder("set", &["edges.csv", "nodes.csv", "graphs.csv"], bytes);
    reading::drain(hg2v::dataset::csv::read(&path, &reading::limits()));
});

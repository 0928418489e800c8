#![no_main]
//! A GraphML file.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let path = reading::file("graph.graphml", bytes);
    reading::drain(hg2v::dataset::graphml::read(&path, &reading::limits()));
});

#![no_main]
//! Two idx files, labels and images: the first byte is the length of the labels.

#[allow(dead_code)]
mod reading;

use hg2v::dataset::images::{Params, open};

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let Some((&length, bytes)) = bytes.split_first() else { return };
    let (labels, images) = bytes.split_at(bytes.len().min(length.into()));
    let labels = reading::file("labels.idx", labels);
    let images = reading::file("images.idx", images);
    reading::drain(open(&images, &labels, Params::default(), &reading::limits()));
});

#![no_main]
//! Files of vectors: the first byte says which format the rest is read as.

#[allow(dead_code)]
mod reading;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [which, bytes @ ..] = bytes else { return };
    let name = ["v.npy", "v.parquet", "v.csv", "v.tsv"][usize::from(*which) % 4];
    let path = reading::file(name, bytes);
    if let Ok(vectors) = hg2v::vectors::read(&path, &reading::limits()) {
        assert_eq!(vectors.values.len(), vectors.dim * vectors.len());
        assert_eq!(vectors.ids.len(), vectors.labels.len());
    }
});

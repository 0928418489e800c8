#![no_main]
//! A model's folder: two bytes each for the lengths of `config.json` and
//! `model.safetensors`, then both, then `checkpoint.safetensors`.

#[allow(dead_code)]
mod reading;

use std::fs;

use hg2v::Hg2v;
use hg2v::graph::{Features, GraphRecord, Scalar};
use hg2v::model::Layout;
use hg2v::saved;

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let [a, b, c, d, bytes @ ..] = bytes else { return };
    let cut = |bytes: &[u8], length: [u8; 2]| bytes.len().min(u16::from_le_bytes(length).into());
    let (config, bytes) = bytes.split_at(cut(bytes, [*a, *b]));
    let (parameters, checkpoint) = bytes.split_at(cut(bytes, [*c, *d]));
    let path = reading::scratch("model");
    fs::create_dir_all(&path).expect("a temporary folder");
    for (name, bytes) in [
        (saved::CONFIG, config),
        (saved::PARAMETERS, parameters),
        (saved::CHECKPOINT, checkpoint),
    ] {
        fs::write(path.join(name), bytes).expect("a temporary file");
    }
    // A fuzzer finds no SHA-256: what makes sense is signed, so that it is looked at further.
    if let Ok(config) = serde_json::from_slice::<saved::Config>(config) {
        saved::write_config(&path, &config).expect("a temporary file");
    }
    if let Ok(config) = saved::read_config(&path) {
        let layout = Layout::new(&config.architecture, config.preparation.features.dim());
        let layout = layout.expect("a configuration that was checked");
        if let Err(error) = saved::read_checkpoint(&path, &layout) {
            assert!(error.to_string().contains("; "), "{error}");
        }
    }
    match Hg2v::load(&path) {
        Err(error) => assert!(error.to_string().contains("; "), "{error}"),
        // A graph that has all that the seeds' models ask for.
        Ok(model) => drop(model.embed(&[GraphRecord {
            num_nodes: 3,
            edges: vec![[0, 1], [1, 2]],
            node_labels: Some(vec![Scalar::Int(0); 3]),
            features: Some(Features { dim: 2, values: vec![0.5; 6] }),
            ..GraphRecord::default()
        }])),
    }
});

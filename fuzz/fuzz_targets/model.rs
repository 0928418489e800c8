#![no_main]
//! A folder of a model of any method: two bytes each for the lengths of `config.json` and
//! `model.safetensors`, then both, then `checkpoint.safetensors`.

#[allow(dead_code)]
mod reading;

use std::fs;

use hg2v::graph::{Features, GraphRecord, Scalar};
use hg2v::internals::{self, Layout};
use hg2v::{Hg2vConfig, saved};
use hg2v_baselines::registry;
use sha2::{Digest, Sha256};

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
    if let Ok(mut config) = serde_json::from_slice::<saved::Config>(config) {
        let digest = Sha256::digest(parameters);
        config.parameters_sha256 = Some(digest.iter().map(|byte| format!("{byte:02x}")).collect());
        saved::write_config(&path, &config).expect("a temporary file");
    }
    if let Ok(config) = saved::read_config::<Hg2vConfig>(&path)
        && config.model.check().is_ok()
    {
        let features = config.model.preparation.features.dim();
        if let Ok(layout) = Layout::new(&config.model.architecture, features)
            && let Err(error) = internals::read_checkpoint(&path, &layout)
        {
            assert!(error.to_string().contains("; "), "{error}");
        }
    }
    match registry::load(&path) {
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

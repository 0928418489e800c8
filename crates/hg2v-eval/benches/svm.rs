//! How fast a grid search is: `cargo bench -p hg2v-eval --bench svm [-- [large] [FOLDER]]`.
//!
//! Problems that look like embeddings: a few latent numbers a row that know the
//! class, spread over many correlated columns; one with wrong labels and few
//! columns, which takes many steps. With a FOLDER the
//! data, folds and predictions are written there for `peers/svm.py`, which does
//! the same with scikit-learn and compares. `large` measures problems
//! as large as NCI1, REDDIT-MULTI-5K and ten thousand images instead.

// A bench prints what it measured, and has no one to return errors to.
#![allow(clippy::print_stdout, clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::time::Instant;

use hg2v_eval::select::{self, Protocol};
use hg2v_eval::{Matrix, split};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let large = words.iter().any(|word| word == "large");
    let folder = words.iter().find(|word| *word != "large");
    let problems: &[(usize, usize, u32, u32)] = if large {
        &[(4110, 512, 2, 0), (4999, 512, 5, 0), (10_000, 512, 10, 0)]
    } else {
        &[(1000, 512, 6, 0), (2000, 256, 2, 0), (1100, 32, 2, 25)]
    };
    for &(rows, columns, classes, wrong) in problems {
        let name = format!("{rows}x{columns}x{classes}");
        let (values, labels) = embeddings(rows, columns, classes, wrong);
        let x = Matrix::from_f32(rows, columns, &values).unwrap();
        let outer = split::stratified_shuffle(&labels, 0.2, 1, 0).unwrap();
        let protocol = Protocol::default();
        let passes = (0..if large { 1 } else { 3 }).map(|_| {
            let started = Instant::now();
            let outcome = select::evaluate(&x, &labels, &outer, &protocol).unwrap();
            (started.elapsed().as_secs_f64(), outcome)
        });
        let (seconds, outcome) = passes.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
        let best = outcome.selection.chosen();
        println!(
            "{name}, {wrong} % wrong: {seconds:.2} s for {} settings on {} folds; C {}, {:?}, validation {:.4}, test {:.4}",
            outcome.selection.settings.len(),
            protocol.folds,
            best.c,
            best.kernel,
            best.mean,
            outcome.accuracy,
        );
        if let Some(folder) = folder {
            let Protocol { folds, seed, .. } = protocol;
            let folds = select::inner_folds(&labels, &outer, folds, seed).unwrap();
            let record = serde_json::json!({
                "rows": rows, "columns": columns, "labels": labels,
                "train": outer.train, "test": outer.test, "folds": folds, "grid": protocol.grid,
                "chosen": best, "predicted": outcome.predictions, "seconds": seconds,
            });
            let folder = Path::new(folder);
            fs::create_dir_all(folder).unwrap();
            let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
            fs::write(folder.join(format!("{name}.f32")), bytes).unwrap();
            fs::write(folder.join(format!("{name}.json")), record.to_string()).unwrap();
        }
    }
}

/// Rows and their classes, of which `wrong` percent are another's.
fn embeddings(rows: usize, columns: usize, classes: u32, wrong: u32) -> (Vec<f32>, Vec<u32>) {
    const LATENT: usize = 24;
    let mut rng = ChaCha8Rng::seed_from_u64(7);
    // Roughly normal: the sum of twelve uniform numbers.
    let mut normal = move || {
        (0..12).map(|_| (rng.next_u32() >> 8) as f32 / (1u32 << 24) as f32).sum::<f32>() - 6.0
    };
    let centers: Vec<f32> = (0..classes as usize * LATENT).map(|_| 0.35 * normal()).collect();
    let spread: Vec<f32> = (0..LATENT * columns).map(|_| normal()).collect();
    let mut values = Vec::with_capacity(rows * columns);
    let labels: Vec<u32> = (0..rows as u32).map(|row| row % classes).collect();
    for &label in &labels {
        let center = &centers[label as usize * LATENT..][..LATENT];
        let latent: Vec<f32> = center.iter().map(|center| center + normal()).collect();
        for column in 0..columns {
            let mixed: f32 = (0..LATENT).map(|l| latent[l] * spread[l * columns + column]).sum();
            values.push((0.3 * mixed).tanh() + 0.2 * normal());
        }
    }
    let given = |(row, &label): (usize, &u32)| {
        let is_wrong = row as u32 * 37 % 100 < wrong;
        (label + u32::from(is_wrong)) % classes
    };
    (values, labels.iter().enumerate().map(given).collect())
}

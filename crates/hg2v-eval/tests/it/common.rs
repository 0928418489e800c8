//! Fixtures and planted vectors.

use hg2v_eval::{Matrix, Split};
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What `fixtures/make.py` wrote about one set.
#[derive(Deserialize)]
pub(crate) struct Fixture {
    pub(crate) x: Vec<Vec<f64>>,
    pub(crate) y: Vec<u32>,
    pub(crate) outer: Split,
    pub(crate) folds: Vec<Split>,
    pub(crate) grid: GridFixture,
    pub(crate) scaler: Scaler,
    pub(crate) machines: Machines,
    pub(crate) polynomial: Vec<u32>,
    pub(crate) logistic: Logistic,
    pub(crate) neighbours: Neighbours,
}

#[derive(Deserialize)]
pub(crate) struct GridFixture {
    pub(crate) c: Vec<f64>,
    pub(crate) gamma: Vec<serde_json::Value>,
    pub(crate) scores: Vec<Vec<f64>>,
    pub(crate) means: Vec<f64>,
    pub(crate) best: usize,
    pub(crate) predictions: Vec<u32>,
}

#[derive(Deserialize)]
pub(crate) struct Scaler {
    pub(crate) means: Vec<f64>,
    pub(crate) scales: Vec<f64>,
}

#[derive(Deserialize)]
pub(crate) struct Machines {
    pub(crate) rbf: Machine,
    pub(crate) linear: Machine,
}

#[derive(Deserialize)]
pub(crate) struct Machine {
    pub(crate) gamma: f64,
    pub(crate) decisions: Vec<Vec<f64>>,
    pub(crate) support: Vec<usize>,
    pub(crate) predictions: Vec<u32>,
}

#[derive(Deserialize)]
pub(crate) struct Logistic {
    pub(crate) coefficients: Vec<Vec<f64>>,
    pub(crate) intercepts: Vec<f64>,
    pub(crate) predictions: Vec<u32>,
}

#[derive(Deserialize)]
pub(crate) struct Neighbours {
    pub(crate) euclidean: Vec<u32>,
    pub(crate) cosine: Vec<u32>,
}

/// The sets `fixtures/make.py` describes.
pub(crate) const SETS: [&str; 5] = ["iris", "digits", "binary", "imbalanced", "duplicates"];

/// A file under `fixtures`.
pub(crate) fn read<T: DeserializeOwned>(name: &str) -> T {
    let path = format!("{}/tests/fixtures/{name}.json", env!("CARGO_MANIFEST_DIR"));
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

impl Fixture {
    pub(crate) fn x(&self) -> Matrix {
        Matrix::new(self.x.len(), self.x[0].len(), self.x.concat()).unwrap()
    }

    /// Vectors and labels of rows.
    pub(crate) fn part(&self, rows: &[usize]) -> (Matrix, Vec<u32>) {
        (self.x().take(rows).unwrap(), rows.iter().map(|&row| self.y[row]).collect())
    }
}

/// Rows around one center a class, apart enough to learn and near enough to err.
pub(crate) fn planted(rows: usize, columns: usize, classes: u32) -> (Matrix, Vec<u32>) {
    let labels: Vec<u32> = (0..rows as u32).map(|row| row * 7 % classes).collect();
    let mut state = 1u64;
    let mut noise = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 11) as f64 / (1u64 << 52) as f64 - 1.0
    };
    let values = (0..rows * columns)
        .map(|at| {
            let (class, column) = (labels[at / columns] as usize, at % columns);
            0.7 * ((class * 13 + column * 5) as f64).sin() + noise()
        })
        .collect();
    (Matrix::new(rows, columns, values).unwrap(), labels)
}

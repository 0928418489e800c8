//! A model as a layer of a larger one: gradients through the embedding.
//!
//! ```sh
//! cargo run --release -p hg2v --example end_to_end
//! ```
//!
//! Machines stand in rings. Every machine reports six readings; rings that are about to
//! fail differ in one of the six, and nobody knows in which. Three parts follow each other,
//!
//! ```text
//! readings r ──A──▶ features z = A r ──HG2V──▶ embedding e ──w, b──▶ p = σ(wᵀe + b)
//! ```
//!
//! and the caller's own parts, the map `A` in front and the classifier `w`, `b` behind, are
//! trained together by the loss `−log p(right)`. What HG2V adds is one call: given the
//! gradient `∂loss/∂e`, [`Hg2v::vjp`] returns `∂loss/∂z`.

// An example is there to be read, and its output too.
#![allow(clippy::print_stdout)]

use std::error::Error;

use hg2v::context::Context;
use hg2v::graph::{Features, GraphRecord};
use hg2v::model::Example;
use hg2v::prepare::{Collection, Run};
use hg2v::{Hg2v, Model};

/// Readings a machine, and features that the model sees of them.
const READINGS: usize = 6;
const FEATURES: usize = 2;

/// The reading that tells, which the training below is not told.
const TELLING: usize = 4;

/// A ring of machines.
struct Ring {
    readings: Vec<[f32; READINGS]>,
    fails: bool,
}

/// The caller's own parameters: `A`, `w` and `b`. Their gradients look the same.
#[derive(Clone)]
struct Ours {
    map: [[f32; READINGS]; FEATURES],
    weights: Vec<f32>,
    bias: f32,
}

pub(crate) fn main() -> Result<(), Box<dyn Error>> {
    // 1. Forty rings of six to thirteen machines; every second one is about to fail.
    let rings: Vec<Ring> = (0..40).map(ring).collect();

    // 2. HG2V is fitted as always, without labels, on features by a first `A` that looks at
    //    all readings alike. It stays as it is from here on.
    let mut ours =
        Ours { map: [[0.2; READINGS], [-0.2; READINGS]], weights: Vec::new(), bias: 0.0 };
    let records: Vec<GraphRecord> = rings.iter().map(|ring| record(ring, &ours)).collect();
    let model = Hg2v::params().dim(8).hops(2).levels(2).epochs(5).seed(3).fit(&records)?;
    ours.weights = vec![0.0; model.layer().embedding_dim()];

    // 3. Coarsening needs to be done once: it depends on the rings, not on their features.
    let context = Context::default();
    let collection = Collection::new(Run::in_memory(&records), &model.needs(), &context)?;
    let (mut examples, _) = model.examples(&collection)?;

    // 4. Gradient descent on `A`, `w` and `b` together.
    println!("step   loss   right   how much A looks at each reading");
    let mut first = None;
    let mut last = f32::MAX;
    for step in 0..=200 {
        let (loss, right, gradients) = pass(&model, &rings, &mut examples, &ours)?;
        if step % 40 == 0 {
            println!("{step:>4}  {loss:.3}  {:>3} %   {}", 100 * right / rings.len(), looks(&ours));
        }
        first.get_or_insert(loss);
        last = loss;
        ours.descend(&gradients, 0.1);
    }

    let most = |a: &usize, b: &usize| ours.attention(*a).total_cmp(&ours.attention(*b));
    let found = (0..READINGS).max_by(most).unwrap_or_default();
    println!("\nthe reading that tells is number {TELLING}; A looks most at number {found}");
    assert!(last < 0.5 * first.unwrap_or(0.0), "the loss fell");
    assert_eq!(found, TELLING, "the map found the reading that tells");
    Ok(())
}

/// The loss of all rings, how many are told right, and the gradients.
fn pass(
    model: &Hg2v,
    rings: &[Ring],
    examples: &mut [Example],
    ours: &Ours,
) -> hg2v::Result<(f32, usize, Ours)> {
    // z = A r: the caller puts its features where the model's own preparation puts its.
    for (example, ring) in examples.iter_mut().zip(rings) {
        example.features = ours.features(ring);
    }
    let context = Context::default();
    let embeddings = model.embed_examples(examples, &context)?;
    let dim = ours.weights.len();

    let mut gradients =
        Ours { map: [[0.0; READINGS]; FEATURES], weights: vec![0.0; dim], bias: 0.0 };
    let mut d_embeddings = vec![0.0; embeddings.len()];
    let (mut loss, mut right) = (0.0, 0);
    let share = 1.0 / rings.len() as f32;
    for (i, ring) in rings.iter().enumerate() {
        let e = &embeddings[i * dim..(i + 1) * dim];
        // s = wᵀe + b, loss = ln(1 + exp(∓s)), ∂loss/∂s = σ(s) − y
        let s: f32 = ours.bias + e.iter().zip(&ours.weights).map(|(e, w)| e * w).sum::<f32>();
        let y = f32::from(u8::from(ring.fails));
        loss += share * (if ring.fails { -s } else { s }).exp().ln_1p();
        right += usize::from((s > 0.0) == ring.fails);
        let ds = share * (1.0 / (1.0 + (-s).exp()) - y);
        gradients.bias += ds;
        for column in 0..dim {
            gradients.weights[column] += ds * e[column];
            d_embeddings[i * dim + column] = ds * ours.weights[column];
        }
    }

    // Through the network: ∂loss/∂e in, ∂loss/∂z out, a row a node, ring after ring.
    let through = model.vjp(examples, &d_embeddings, &context)?;
    let nodes = rings.iter().flat_map(|ring| &ring.readings);
    // z = A r, so ∂loss/∂A = Σ ∂loss/∂z rᵀ
    for (dz, r) in through.features.chunks_exact(FEATURES).zip(nodes) {
        for (feature, row) in gradients.map.iter_mut().enumerate() {
            row.iter_mut().zip(r).for_each(|(d, r)| *d += dz[feature] * r);
        }
    }
    Ok((loss, right, gradients))
}

impl Ours {
    /// `A r` for every machine of a ring.
    fn features(&self, ring: &Ring) -> Vec<f32> {
        let product = |row: &[f32; READINGS], r: &[f32; READINGS]| -> f32 {
            row.iter().zip(r).map(|(a, r)| a * r).sum()
        };
        ring.readings.iter().flat_map(|r| self.map.iter().map(move |row| product(row, r))).collect()
    }

    fn descend(&mut self, gradients: &Ours, rate: f32) {
        for (row, by) in self.map.iter_mut().zip(&gradients.map) {
            row.iter_mut().zip(by).for_each(|(a, d)| *a -= rate * d);
        }
        self.weights.iter_mut().zip(&gradients.weights).for_each(|(w, d)| *w -= rate * d);
        self.bias -= rate * gradients.bias;
    }

    /// How large the entries of `A` are that belong to a reading.
    fn attention(&self, reading: usize) -> f32 {
        self.map.iter().map(|row| row[reading].abs()).sum()
    }
}

fn looks(ours: &Ours) -> String {
    let shown: Vec<String> =
        (0..READINGS).map(|reading| format!("{:.2}", ours.attention(reading))).collect();
    shown.join(" ")
}

/// The ring as the model's preparation takes it.
fn record(ring: &Ring, ours: &Ours) -> GraphRecord {
    let n = ring.readings.len() as u32;
    let values = ours.features(ring).into_iter().map(f64::from).collect();
    GraphRecord {
        num_nodes: n,
        edges: (0..n).map(|machine| [machine, (machine + 1) % n]).collect(),
        features: Some(Features { dim: FEATURES, values }),
        ..GraphRecord::default()
    }
}

/// The `i`-th ring: readings between −1 and 1 that look random, the telling one
/// higher by a half where the ring fails.
fn ring(i: u32) -> Ring {
    let fails = i % 2 == 1;
    let reading = |machine: u32, reading: usize| {
        let seed = (i * 1000 + machine * 10 + reading as u32 + 1) as f32;
        let random = 2.0 * (seed.sin() * 43758.547).fract().abs() - 1.0;
        if fails && reading == TELLING { random + 0.5 } else { random }
    };
    let readings =
        (0..6 + i % 8).map(|machine| std::array::from_fn(|r| reading(machine, r))).collect();
    Ring { readings, fails }
}

//! Networks: parameters with names, the layers that most share, and a pass over both.

use std::ops::Range;
use std::sync::Arc;

use hg2v_math::rng::{self, ChaCha8Rng};
use hg2v_math::{Real, adam};

use crate::tape::{Array, Graphs, Moments, Tape, Var};

/// How far a batch moves the moments that a network at work uses (PyTorch's).
const MOMENTUM: f64 = 0.1;

/// The parameters of a network, and what its batch norms have seen.
#[derive(Debug, Clone)]
pub struct Store<R> {
    seed: u64,
    /// All parameters, one matrix after the other.
    pub values: Vec<R>,
    /// Where each matrix begins, its rows and its columns.
    shapes: Vec<(usize, usize, usize)>,
    running: Vec<Moments<R>>,
}

/// A matrix of a [`Store`].
#[derive(Debug, Clone, Copy)]
pub struct Slot(usize);

/// `X·W + b`.
#[derive(Debug, Clone, Copy)]
pub struct Linear {
    /// `W`: as many rows as numbers come in, as many columns as go out.
    pub w: Slot,
    /// `b`.
    pub b: Slot,
}

/// [`Tape::batch_norm`] with its own `γ` and `β`.
#[derive(Debug, Clone, Copy)]
pub struct BatchNorm {
    gamma: Slot,
    beta: Slot,
    running: usize,
}

impl<R: Real> Store<R> {
    /// Nothing yet; `seed` decides what parameters will be.
    pub fn new(seed: u64) -> Store<R> {
        Store { seed, values: Vec::new(), shapes: Vec::new(), running: Vec::new() }
    }

    /// A matrix uniform within `±bound`, from a stream of its own.
    fn uniform(&mut self, rows: usize, columns: usize, bound: f64) -> Slot {
        let mut stream = rng::stream(self.seed, "baseline parameters", 0, self.shapes.len() as u64);
        self.push(rows, columns, |_| R::from_f64(bound * (2.0 * rng::unit(&mut stream) - 1.0)))
    }

    /// A matrix of one number.
    pub fn filled(&mut self, rows: usize, columns: usize, value: R) -> Slot {
        self.push(rows, columns, |_| value)
    }

    fn push(&mut self, rows: usize, columns: usize, value: impl FnMut(usize) -> R) -> Slot {
        self.shapes.push((self.values.len(), rows, columns));
        self.values.extend((0..rows * columns).map(value));
        Slot(self.shapes.len() - 1)
    }

    /// A layer from `inputs` to `outputs` numbers, within `±1/√inputs` at first as
    /// PyTorch has it.
    pub fn linear(&mut self, inputs: usize, outputs: usize) -> Linear {
        let bound = 1.0 / (inputs.max(1) as f64).sqrt();
        Linear { w: self.uniform(inputs, outputs, bound), b: self.uniform(1, outputs, bound) }
    }

    /// As [`linear`](Store::linear), without `b`.
    pub fn weights(&mut self, inputs: usize, outputs: usize) -> Slot {
        self.uniform(inputs, outputs, 1.0 / (inputs.max(1) as f64).sqrt())
    }

    /// A batch norm of `columns` numbers a row: `γ = 1`, `β = 0`.
    pub fn batch_norm(&mut self, columns: usize) -> BatchNorm {
        let (zero, one) = (vec![R::ZERO; columns], vec![R::ONE; columns]);
        self.running.push(Moments { mean: zero, variance: one });
        BatchNorm {
            gamma: self.filled(1, columns, R::ONE),
            beta: self.filled(1, columns, R::ZERO),
            running: self.running.len() - 1,
        }
    }

    /// Where in `values` a matrix lies.
    pub fn range(&self, slot: Slot) -> Range<usize> {
        let (start, rows, columns) = self.shapes[slot.0];
        start..start + rows * columns
    }

    /// What the batch norms have seen: means and variances, one after the other.
    pub fn moments(&self) -> Vec<R> {
        let both = |moments: &Moments<R>| [moments.mean.clone(), moments.variance.clone()].concat();
        self.running.iter().flat_map(both).collect()
    }

    /// Puts back parameters and [moments](Store::moments); whether they are this network's.
    #[must_use]
    pub fn restore(&mut self, values: Vec<R>, moments: Vec<R>) -> bool {
        let columns: usize = self.running.iter().map(|running| running.mean.len()).sum();
        if values.len() != self.values.len() || moments.len() != 2 * columns {
            return false;
        }
        self.values = values;
        let mut rest = &moments[..];
        for running in &mut self.running {
            for part in [&mut running.mean, &mut running.variance] {
                let (own, after) = rest.split_at(part.len());
                part.copy_from_slice(own);
                rest = after;
            }
        }
        true
    }

    /// Takes into account what the batch norms of a pass in training saw.
    pub fn absorb(&mut self, seen: &Seen<R>) {
        let share = R::from_f64(MOMENTUM);
        let toward = |old: &mut [R], new: &[R], scale: R| {
            old.iter_mut().zip(new).for_each(|(old, &new)| *old += share * (scale * new - *old));
        };
        for (at, rows, moments) in &seen.0 {
            let unbiased = R::from_f64(*rows as f64 / rows.saturating_sub(1).max(1) as f64);
            toward(&mut self.running[*at].mean, &moments.mean, R::ONE);
            toward(&mut self.running[*at].variance, &moments.variance, unbiased);
        }
    }
}

/// The moments that batch norms met, of how many rows.
#[derive(Debug, Clone)]
pub struct Seen<R>(Vec<(usize, usize, Moments<R>)>);

/// A network running over a batch.
pub struct Pass<'s, R> {
    /// What has been computed.
    pub tape: Tape<R>,
    store: &'s Store<R>,
    leaves: Vec<Option<Var>>,
    /// In training alone: where dropout draws from.
    training: Option<ChaCha8Rng>,
    seen: Seen<R>,
}

impl<'s, R: Real> Pass<'s, R> {
    /// A pass of a network in training: batch norms go by the batch, dropout drops
    /// what `stream` says, and gradients are kept.
    pub fn training(store: &'s Store<R>, stream: ChaCha8Rng) -> Pass<'s, R> {
        Pass { training: Some(stream), ..Pass::working(store) }
    }

    /// A pass of a network at work.
    pub fn working(store: &'s Store<R>) -> Pass<'s, R> {
        let leaves = vec![None; store.shapes.len()];
        Pass { tape: Tape::default(), store, leaves, training: None, seen: Seen(Vec::new()) }
    }

    /// A matrix of the store.
    pub fn parameter(&mut self, slot: Slot) -> Var {
        if let Some(var) = self.leaves[slot.0] {
            return var;
        }
        let (_, rows, columns) = self.store.shapes[slot.0];
        let value = Array::new(rows, columns, self.store.values[self.store.range(slot)].to_vec());
        let var = match self.training {
            Some(_) => self.tape.variable(value),
            None => self.tape.constant(value),
        };
        self.leaves[slot.0] = Some(var);
        var
    }

    /// `X·W + b`.
    pub fn linear(&mut self, layer: &Linear, x: Var) -> Var {
        let (w, b) = (self.parameter(layer.w), self.parameter(layer.b));
        self.tape.linear(x, w, b)
    }

    /// `γ ⊙ X̂ + β`.
    pub fn batch_norm(&mut self, layer: &BatchNorm, x: Var) -> Var {
        let (gamma, beta) = (self.parameter(layer.gamma), self.parameter(layer.beta));
        let rows = self.tape.value(x).rows;
        let working = self.training.is_none().then(|| &self.store.running[layer.running]);
        let (y, moments) = self.tape.batch_norm(x, gamma, beta, working);
        if working.is_none() {
            self.seen.0.push((layer.running, rows, moments));
        }
        y
    }

    /// In training, each number is 0 with probability `rate` and otherwise divided by
    /// `1 − rate` (Srivastava et al. 2014).
    pub fn dropout(&mut self, x: Var, rate: f64) -> Var {
        let Some(stream) = self.training.as_mut().filter(|_| rate > 0.0) else { return x };
        let keep = R::from_f64(1.0 / (1.0 - rate));
        let (rows, columns) = (self.tape.value(x).rows, self.tape.value(x).columns);
        let draw = |_| if rng::unit(stream) < rate { R::ZERO } else { keep };
        let mask = Array::new(rows, columns, (0..rows * columns).map(draw).collect());
        let mask = self.tape.constant(mask);
        self.tape.times(x, mask)
    }

    /// The gradient of `loss` by every parameter, as the store has them, and what the
    /// batch norms saw.
    pub fn finish(self, loss: Var) -> (Vec<R>, Seen<R>) {
        let gradients = self.tape.gradients(loss);
        let mut flat = vec![R::ZERO; self.store.values.len()];
        for (leaf, &(start, rows, columns)) in self.leaves.iter().zip(&self.store.shapes) {
            if let Some(gradient) = leaf.and_then(|leaf| gradients.of(leaf)) {
                flat[start..start + rows * columns].copy_from_slice(&gradient.values);
            }
        }
        (flat, self.seen)
    }
}

/// Adam's way down: its moments, and how many steps it has gone.
pub(crate) struct Descent<R> {
    m: Vec<R>,
    v: Vec<R>,
    /// Steps gone.
    pub(crate) steps: u64,
}

impl<R: Real> Descent<R> {
    pub(crate) fn new(store: &Store<R>) -> Descent<R> {
        let zeros = || vec![R::ZERO; store.values.len()];
        Descent { m: zeros(), v: zeros(), steps: 0 }
    }

    /// One step of rate `rate` against `gradient + decay·θ`.
    pub(crate) fn step(
        &mut self,
        rate: f64,
        decay: f64,
        store: &mut Store<R>,
        mut gradient: Vec<R>,
    ) {
        if decay > 0.0 {
            R::axpy(R::from_f64(decay), &store.values, &mut gradient);
        }
        self.steps += 1;
        let (m, v) = (&mut self.m, &mut self.v);
        adam::step(rate, self.steps, &mut store.values, &gradient, m, v);
    }
}

/// Says of each graph how much speaks for each class.
pub trait ClassifierNetwork<R>: Send + Sync {
    /// The scores of the classes, a row a graph, for nodes with the features `x`.
    fn forward(&self, pass: &mut Pass<'_, R>, graphs: &Arc<Graphs<R>>, x: Var) -> Output;
}

/// What a [`ClassifierNetwork`] says.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    /// Scores, before any softmax.
    pub scores: Var,
    /// What training lowers beside the cross-entropy.
    pub extra: Option<Var>,
}

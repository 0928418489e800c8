//! Logistic regression, the linear classifier, as scikit-learn's
//! `LogisticRegression` defines it.

use std::collections::VecDeque;

use hg2v_math::linalg::vector::dot;
use rayon::prelude::*;

use crate::error::{Result, positive, same_length};
use crate::gemm::{product, rows_of};
use crate::matrix::Matrix;
use crate::split::Classes;

/// Rows whose gradient one task computes; fixed, so that sums never depend on
/// the number of threads.
const BLOCK: usize = 256;

/// Steps that L-BFGS remembers.
const MEMORY: usize = 10;

/// What a logistic regression is trained with.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct LogisticParams {
    /// The price of errors: the inverse of the regularisation.
    pub c: f64,
    /// The largest entry of the gradient at which training ends.
    pub tolerance: f64,
    /// The most steps.
    pub steps: usize,
}

hg2v_math::setters!(LogisticParams { c: f64, tolerance: f64, steps: usize });

/// C = 1; a tolerance at which coefficients are exact to five digits or so.
impl Default for LogisticParams {
    fn default() -> LogisticParams {
        LogisticParams { c: 1.0, tolerance: 1e-6, steps: 1000 }
    }
}

/// A trained logistic regression.
#[derive(Debug, Clone)]
pub struct Logistic {
    classes: Vec<u32>,
    columns: usize,
    /// For each output, weights of all columns and then the intercept. Two
    /// classes have one output, for the second; more have one each.
    weights: Vec<f64>,
    /// Steps taken.
    pub steps: usize,
    /// Whether the tolerance was reached.
    pub converged: bool,
}

impl Logistic {
    /// Minimises, over weights `W` and intercepts `b`,
    ///
    /// ```text
    /// 1/n Σ_i −log p(y_i | x_i) + ‖W‖² / (2·C·n)
    /// ```
    ///
    /// where `p` is the softmax of `W·x + b`, or for two classes the logistic
    /// function of a single output. Intercepts are not regularised. By L-BFGS from
    /// zero with a backtracking line search; nothing here is random.
    ///
    /// # Errors
    /// Unequal lengths, fewer than two classes, parameters that are not above 0.
    ///
    /// # Complexity
    /// `O(rows · columns · classes)` a step.
    pub fn fit(x: &Matrix, labels: &[u32], params: &LogisticParams) -> Result<Logistic> {
        same_length("labels", x.rows(), labels.len())?;
        x.has_columns()?;
        positive("C", params.c)?;
        positive("tolerance", params.tolerance)?;
        let classes = Classes::of(labels, || "the training part".into())?;
        let outputs = if classes.names.len() == 2 { 1 } else { classes.names.len() };
        let problem = Problem::new(x, &classes.of_row, outputs, params.c);
        let (weights, steps, converged) = minimize(&problem, params.tolerance, params.steps);
        Ok(Logistic { classes: classes.names, columns: x.columns(), weights, steps, converged })
    }

    /// The class of each row of `x`: the one most likely, the first of equally likely ones.
    ///
    /// # Errors
    /// A wrong number of columns.
    pub fn predict(&self, x: &Matrix) -> Result<Vec<u32>> {
        same_length("columns", self.columns, x.columns())?;
        let outputs: Vec<&[f64]> = self.weights.chunks_exact(self.columns + 1).collect();
        let class = |row: usize| {
            let output = |weights: &&[f64]| {
                dot(&weights[..self.columns], x.row(row)) + weights[self.columns]
            };
            if let [only] = outputs[..] {
                return usize::from(output(&only) > 0.0);
            }
            let values: Vec<f64> = outputs.iter().map(output).collect();
            let most = values.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            values.iter().position(|&value| value == most).unwrap_or(0)
        };
        Ok((0..x.rows()).map(|row| self.classes[class(row)]).collect())
    }

    /// All classes, ascending.
    pub fn classes(&self) -> &[u32] {
        &self.classes
    }

    /// The weights of each column for each output: one output for two classes,
    /// which speaks for the second; else one for each class.
    pub fn coefficients(&self) -> impl Iterator<Item = &[f64]> {
        self.weights.chunks_exact(self.columns + 1).map(|output| &output[..self.columns])
    }

    /// The intercept of each output.
    pub fn intercepts(&self) -> impl Iterator<Item = f64> {
        self.weights.chunks_exact(self.columns + 1).map(|output| output[self.columns])
    }
}

/// What is minimised.
struct Problem<'a> {
    /// Rows with a 1 at their end, which the intercept multiplies.
    x: Vec<f64>,
    columns: usize,
    /// The class of each row.
    y: &'a [usize],
    outputs: usize,
    c: f64,
}

impl<'a> Problem<'a> {
    fn new(x: &Matrix, y: &'a [usize], outputs: usize, c: f64) -> Problem<'a> {
        let rows = (0..x.rows()).flat_map(|row| x.row(row).iter().copied().chain([1.0]));
        Problem { x: rows.collect(), columns: x.columns() + 1, y, outputs, c }
    }

    fn len(&self) -> usize {
        self.outputs * self.columns
    }

    /// The objective at `w`; its gradient goes to `gradient`.
    ///
    /// ```text
    /// ∂/∂W = 1/n Σ_i (p_i − e_{y_i})·x_iᵀ + W / (C·n)
    /// ```
    fn evaluate(&self, w: &[f64], gradient: &mut [f64]) -> f64 {
        let (columns, outputs) = (self.columns, self.outputs);
        let weights = rows_of(w, outputs, columns);
        let block = |(x, y): (&[f64], &[usize])| {
            let rows = rows_of(x, y.len(), columns);
            let mut scores = vec![0.0; y.len() * outputs];
            product(rows, weights.t(), &mut scores);
            let mut loss = 0.0;
            for (scores, &y) in scores.chunks_exact_mut(outputs).zip(y) {
                loss += loss_and_slope(scores, y);
            }
            let mut gradient = vec![0.0; outputs * columns];
            product(rows_of(&scores, y.len(), outputs).t(), rows, &mut gradient);
            (loss, gradient)
        };
        let blocks = self.x.par_chunks(BLOCK * columns).zip(self.y.par_chunks(BLOCK));
        let blocks: Vec<(f64, Vec<f64>)> = blocks.map(block).collect();
        let n = self.y.len() as f64;
        gradient.fill(0.0);
        let mut loss = 0.0;
        for (part, slopes) in &blocks {
            loss += part;
            for (sum, slope) in gradient.iter_mut().zip(slopes) {
                *sum += slope;
            }
        }
        let mut norm = 0.0;
        for (gradient, w) in gradient.chunks_exact_mut(columns).zip(w.chunks_exact(columns)) {
            for (at, (gradient, &w)) in gradient.iter_mut().zip(w).enumerate() {
                let regular = if at + 1 < columns { w } else { 0.0 };
                *gradient = (*gradient + regular / self.c) / n;
                norm += regular * regular;
            }
        }
        (loss + norm / (2.0 * self.c)) / n
    }
}

/// `−log p(y)` of one row's outputs, which its derivatives by them are written over.
fn loss_and_slope(scores: &mut [f64], y: usize) -> f64 {
    if let [score] = scores {
        // Class 1 with p = 1 / (1 + e^(−s)); −log p = log(1 + e^(−s)) without overflow.
        let s = if y == 1 { *score } else { -*score };
        let small = (-s.abs()).exp();
        let wrong = if s > 0.0 { small / (1.0 + small) } else { 1.0 / (1.0 + small) };
        *score = if y == 1 { -wrong } else { wrong };
        return small.ln_1p() + (-s).max(0.0);
    }
    let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let own = scores[y] - most;
    let mut sum = 0.0;
    for score in scores.iter_mut() {
        *score = (*score - most).exp();
        sum += *score;
    }
    scores.iter_mut().for_each(|score| *score /= sum);
    scores[y] -= 1.0;
    sum.ln() - own
}

/// L-BFGS (Nocedal and Wright, algorithm 7.5): weights, steps taken, and whether
/// no entry of the gradient is above `tolerance`.
fn minimize(problem: &Problem<'_>, tolerance: f64, most: usize) -> (Vec<f64>, usize, bool) {
    let mut w = vec![0.0; problem.len()];
    let mut gradient = w.clone();
    let mut value = problem.evaluate(&w, &mut gradient);
    let mut next_w = w.clone();
    let mut next_gradient = w.clone();
    // Last steps s and changes of gradient y, with 1 / sᵀy.
    let mut memory: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(MEMORY);
    for step in 0..most {
        if gradient.iter().all(|entry| entry.abs() <= tolerance) {
            return (w, step, true);
        }
        let mut direction = descent(&gradient, &memory);
        let mut slope = dot(&direction, &gradient);
        if slope.is_nan() || slope >= 0.0 {
            // Rounding has spoilt the memory: start again along the gradient.
            memory.clear();
            direction = descent(&gradient, &memory);
            slope = dot(&direction, &gradient);
        }
        // Near the minimum the value cannot tell steps apart; rounding is forgiven.
        let forgiven = 4.0 * f64::EPSILON * value.abs();
        let mut length = 1.0;
        let next_value = loop {
            for ((next, w), d) in next_w.iter_mut().zip(&w).zip(&direction) {
                *next = w + length * d;
            }
            let next = problem.evaluate(&next_w, &mut next_gradient);
            if next <= value + 1e-4 * length * slope + forgiven {
                break next;
            }
            length *= 0.5;
            if length < 1e-15 {
                return (w, step, false);
            }
        };
        let s: Vec<f64> = next_w.iter().zip(&w).map(|(next, w)| next - w).collect();
        let y: Vec<f64> = next_gradient.iter().zip(&gradient).map(|(next, g)| next - g).collect();
        let curvature = dot(&s, &y);
        if curvature > 0.0 {
            if memory.len() == MEMORY {
                memory.pop_front();
            }
            memory.push_back((s, y, 1.0 / curvature));
        }
        std::mem::swap(&mut w, &mut next_w);
        std::mem::swap(&mut gradient, &mut next_gradient);
        value = next_value;
    }
    let converged = gradient.iter().all(|entry| entry.abs() <= tolerance);
    (w, most, converged)
}

/// `−H·g`, with the inverse Hessian H as the remembered steps suggest it.
fn descent(gradient: &[f64], memory: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut d: Vec<f64> = gradient.iter().map(|entry| -entry).collect();
    let Some((s, y, _)) = memory.back() else {
        // Nothing remembered: a first step of length one at most.
        let length = dot(gradient, gradient).sqrt();
        d.iter_mut().for_each(|entry| *entry /= length.max(1.0));
        return d;
    };
    let scale = dot(s, y) / dot(y, y);
    let add = |d: &mut [f64], by: f64, v: &[f64]| {
        d.iter_mut().zip(v).for_each(|(d, v)| *d += by * v);
    };
    let mut alphas = Vec::with_capacity(memory.len());
    for (s, y, rho) in memory.iter().rev() {
        let alpha = rho * dot(s, &d);
        add(&mut d, -alpha, y);
        alphas.push(alpha);
    }
    d.iter_mut().for_each(|entry| *entry *= scale);
    for ((s, y, rho), alpha) in memory.iter().zip(alphas.into_iter().rev()) {
        let beta = rho * dot(y, &d);
        add(&mut d, alpha - beta, s);
    }
    d
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_gradient_is_that_of_the_objective() {
        let x: Vec<f64> = (0..60).map(|i| ((i * 29 % 31) as f64 - 15.0) / 9.0).collect();
        let x = Matrix::new(20, 3, x).unwrap();
        for (classes, outputs) in [(2, 1), (4, 4)] {
            let y: Vec<usize> = (0..20).map(|i| i * 7 % classes).collect();
            let problem = Problem::new(&x, &y, outputs, 0.7);
            let w: Vec<f64> = (0..problem.len()).map(|i| (i as f64 * 0.9).sin()).collect();
            let mut gradient = vec![0.0; w.len()];
            problem.evaluate(&w, &mut gradient);
            for at in 0..w.len() {
                let moved = |by: f64| {
                    let mut w = w.clone();
                    w[at] += by;
                    problem.evaluate(&w, &mut vec![0.0; w.len()])
                };
                let slope = (moved(1e-5) - moved(-1e-5)) / 2e-5;
                assert!((slope - gradient[at]).abs() < 1e-9, "{slope} {}", gradient[at]);
            }
        }
    }

    #[test]
    fn large_outputs_do_not_overflow() {
        let mut score = [800.0];
        assert_eq!(loss_and_slope(&mut score, 1), 0.0);
        let mut score = [800.0];
        assert_eq!(loss_and_slope(&mut score, 0), 800.0);
        assert_eq!(score, [1.0]);
        let mut scores = [800.0, 0.0, -800.0];
        assert_eq!(loss_and_slope(&mut scores, 2), 1600.0);
        assert_eq!(scores, [1.0, 0.0, -1.0]);
    }
}

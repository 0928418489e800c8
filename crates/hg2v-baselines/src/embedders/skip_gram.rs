//! Skip-gram with negative sampling between documents and their words.
//!
//! Mikolov et al. 2013 (*Distributed representations of words and phrases*), for whole
//! documents as in Le and Mikolov 2014 (PV-DBOW). A document `g` and a word `x` have
//! vectors `θ_g` and `φ_x`, fitted so that `σ(θ_g·φ_x)` tells words of the document from
//! words at random:
//!
//! ```text
//! max Σ_g Σ_x w_gx·log σ(θ_g·φ_x) + K·n_g·E_{x∼p} log σ(−θ_g·φ_x)
//! w_gx = c_gx·min(1, √(t/f_x) + t/f_x)      n_g = Σ_x w_gx      p_x ∝ f_x^¾
//! ```
//!
//! `c_gx` counts the word in the document, `f_x` is its share of all words. The factor of
//! `t` is the probability with which word2vec keeps an occurrence of a frequent word; here
//! it is a weight, so that nothing is left to chance, and a word that occurs often in a
//! document costs as much as one that occurs once.
//!
//! # Many threads, the same bits
//! A step takes a batch of documents and one draw of random words for all of them. Every
//! document's gradient depends on itself and on the words before the step; every word's
//! gradient is summed over the batch in its order. Both can be done by any thread. AdaGrad
//! scales the steps, since a sum over a batch is large for frequent words and small for
//! rare ones.
//!
//! # New documents
//! With the words' vectors given, a document's part of the objective is concave, and with a
//! ridge `λ·n_g·‖θ_g‖²/2` it has one maximum, which is its vector: nothing is drawn, and it
//! depends on the document alone. Documents that were trained on get their vectors in the
//! same way, so that a classifier cannot tell the two kinds apart.

use hg2v::context::Context;
use hg2v::error::{Error, Opt, Result};
use hg2v::progress::{Report, Stage};
use hg2v::saved::{Reader, Tensors};
use hg2v_math::rng::{shuffle_by_remainder, stream, unit};
use hg2v_math::simd::{axpy, dot};
use rand::Rng;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

/// The words of a document, each once, with how often they occur.
pub type Document = Vec<(u32, u32)>;

/// How vectors are fitted.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct SkipGram {
    /// Numbers a vector.
    pub dim: usize,
    /// How often every document is seen.
    pub epochs: usize,
    /// The first learning rate; it falls to a hundredth of itself.
    #[serde(alias = "rate")]
    pub lr: f32,
    /// `K`, random words to one of the document.
    pub negatives: f32,
    /// `t`, the share above which words are weighted down.
    pub sample: f64,
    /// Words that occur in fewer documents are left out.
    #[serde(alias = "least")]
    pub min_count: usize,
    /// Documents a step.
    pub batch: usize,
    /// Random words a step.
    pub drawn: usize,
    /// `λ` of new documents.
    pub ridge: f32,
    /// Steps towards the vector of a new document.
    pub steps: usize,
    /// Seeds every random decision.
    pub seed: u64,
}

hg2v_math::setters!(SkipGram {
    dim: usize,
    epochs: usize,
    lr: f32,
    negatives: f32,
    sample: f64,
    min_count: usize,
    batch: usize,
    drawn: usize,
    ridge: f32,
    steps: usize,
    seed: u64,
});

/// Chosen by validation accuracy inside the training parts of three splits of MUTAG, PTC_FR,
/// ENZYMES, PROTEINS and IMDB-BINARY and one of NCI1, among some thirty settings, few of them
/// crossed. It matters most that `K` is small (ENZYMES 53 % at 15, 55 % at 5, 58 % at 1, with
/// `dim` 128), that words of a single document are left out (PROTEINS 70 % with them, 73 %
/// without) and that frequent words are not weighted down far (PROTEINS 69 % at `t = 10⁻⁴`,
/// 72 % at 10⁻³, 73 % at 1, with `dim` 128 and `K` = 5). Learning rates from 0.1 to 1, 10 or 30
/// epochs, 32 to 256 words drawn, 10 to 100 steps and ridges from 0.001 to 0.1 moved it by up to
/// three points on ENZYMES and by less elsewhere, in no one direction.
impl Default for SkipGram {
    fn default() -> SkipGram {
        SkipGram {
            dim: 256,
            epochs: 10,
            lr: 0.1,
            negatives: 1.0,
            sample: 1e-2,
            min_count: 2,
            batch: 64,
            drawn: 32,
            ridge: 0.01,
            steps: 12,
            seed: 0,
        }
    }
}

/// The words of some documents and their vectors.
#[derive(Debug, Clone)]
pub struct Words {
    params: SkipGram,
    /// The row of each word; [`UNKNOWN`] where it has none.
    row_of: Vec<u32>,
    /// The weight of an occurrence of each row's word.
    keep: Vec<f32>,
    /// The rows' shares of random words, added up.
    noise: Vec<f64>,
    /// The rows.
    vectors: Vec<f32>,
}

const UNKNOWN: u32 = u32::MAX;

/// A batch's documents are shared out this many at a time.
const SHARE: usize = 8;

/// One document of so many tells its loss: that of all would cost a fifth of the fit.
const TOLD: usize = 8;

impl SkipGram {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        let positive = [
            ("dim", self.dim as f64),
            ("epochs", self.epochs as f64),
            ("lr", f64::from(self.lr)),
            ("negatives", f64::from(self.negatives)),
            ("sample", self.sample),
            ("batch", self.batch as f64),
            ("drawn", self.drawn as f64),
            ("ridge", f64::from(self.ridge)),
            ("steps", self.steps as f64),
        ];
        match positive.into_iter().find(|(_, value)| !(value.is_finite() && *value > 0.0)) {
            None => Ok(()),
            Some((name, value)) => {
                Err(Error::parameter(name, value, "it must be a finite number above 0"))
            }
        }
    }

    /// Fits the vectors of the words of `documents`; words are numbers below `words`.
    ///
    /// # Errors
    /// Parameters outside their domain; a fit that diverges; [`Stopped`](Error::Stopped).
    ///
    /// # Complexity
    /// Time O(epochs · dim · (Σ_g |g| + documents · drawn)).
    pub fn fit(
        &self,
        documents: &[Document],
        words: usize,
        context: &Context<'_>,
    ) -> Result<Words> {
        self.check()?;
        let mut model = Words::new(*self, documents, words);
        if model.keep.is_empty() {
            return Ok(model);
        }
        let corpus: Vec<Weighted> = documents.iter().map(|words| model.weighted(words)).collect();
        Training::new(&mut model, &corpus).run(context)?;
        match model.vectors.iter().find(|value| !value.is_finite()) {
            None => Ok(model),
            Some(value) => Err(Error::parameter(
                Opt::LR,
                self.lr,
                format!("it must be lower: a word's vector came to hold {value}"),
            )),
        }
    }
}

/// The rows of a document's known words, their weights, and the sum of those.
struct Weighted {
    rows: Vec<u32>,
    weights: Vec<f32>,
    total: f32,
}

impl Words {
    /// The words that occur in enough documents, with vectors at random.
    fn new(params: SkipGram, documents: &[Document], words: usize) -> Words {
        let mut counts = vec![0u64; words];
        let mut in_documents = vec![0usize; words];
        for &(word, count) in documents.iter().flat_map(|document| document.iter()) {
            counts[word as usize] += u64::from(count);
            in_documents[word as usize] += 1;
        }
        let mut row_of = vec![UNKNOWN; words];
        let mut known = Vec::new();
        for word in 0..words {
            if in_documents[word] >= params.min_count.max(1) {
                row_of[word] = known.len() as u32;
                known.push(counts[word]);
            }
        }
        let total = known.iter().sum::<u64>() as f64;
        let keep = |&count: &u64| {
            let rare = params.sample * total / count as f64;
            (rare.sqrt() + rare).min(1.0) as f32
        };
        let mut noise: Vec<f64> = known.iter().map(|&count| (count as f64).powf(0.75)).collect();
        for row in 1..noise.len() {
            noise[row] += noise[row - 1];
        }
        let mut rng = stream(params.seed, "skip-gram words", 0, 0);
        let vectors =
            (0..known.len() * params.dim).map(|_| centred(&mut rng) / params.dim as f32).collect();
        Words { params, row_of, keep: known.iter().map(keep).collect(), noise, vectors }
    }

    fn weighted(&self, document: &Document) -> Weighted {
        let known = document.iter().filter_map(|&(word, count)| {
            let row = self.row_of.get(word as usize).copied().filter(|&row| row != UNKNOWN)?;
            Some((row, count as f32 * self.keep[row as usize]))
        });
        let (rows, weights): (Vec<u32>, Vec<f32>) = known.unzip();
        Weighted { total: weights.iter().sum(), rows, weights }
    }

    fn vector(&self, row: u32) -> &[f32] {
        let dim = self.params.dim;
        &self.vectors[row as usize * dim..][..dim]
    }

    /// Random words of one step: distinct rows, ascending, with their shares of the draws.
    fn draw(&self, purpose: &str, epoch: u64, step: u64) -> Vec<(u32, f32)> {
        let mut rng = stream(self.params.seed, purpose, epoch, step);
        let total = self.noise[self.noise.len() - 1];
        let mut rows: Vec<u32> = (0..self.params.drawn)
            .map(|_| {
                let point = unit(&mut rng) * total;
                self.noise.partition_point(|&sum| sum <= point).min(self.noise.len() - 1) as u32
            })
            .collect();
        rows.sort_unstable();
        let share = 1.0 / rows.len() as f32;
        rows.chunk_by(|a, b| a == b).map(|run| (run[0], run.len() as f32 * share)).collect()
    }

    /// Numbers a vector.
    pub fn dim(&self) -> usize {
        self.params.dim
    }

    /// What was learnt, to be kept.
    pub(super) fn tensors(&self, tensors: Tensors) -> Tensors {
        let list = |len: usize| [len];
        tensors
            .with("row_of", &list(self.row_of.len()), self.row_of.iter().copied())
            .with("keep", &list(self.len()), self.keep.iter().copied())
            .with("noise", &list(self.len()), self.noise.iter().copied())
            .with("words", &[self.len(), self.dim()], self.vectors.iter().copied())
    }

    /// What was kept.
    ///
    /// # Errors
    /// Tensors that are none of such words.
    pub(super) fn of_tensors(params: SkipGram, tensors: &mut Reader<'_>) -> Result<Words> {
        params.check()?;
        let row_of: Vec<u32> = tensors.take_list("row_of")?;
        let keep: Vec<f32> = tensors.take_list("keep")?;
        let noise = tensors.take("noise", &[keep.len()])?;
        let vectors = tensors.take("words", &[keep.len(), params.dim])?;
        if row_of.iter().any(|&row| row != UNKNOWN && row as usize >= keep.len()) {
            return Err(tensors.refused("a word has a row that is not there"));
        }
        Ok(Words { params, row_of, keep, noise, vectors })
    }

    /// How many words have vectors.
    pub fn len(&self) -> usize {
        self.keep.len()
    }

    /// Whether no word has one.
    pub fn is_empty(&self) -> bool {
        self.keep.is_empty()
    }

    /// A vector for each document, new or not, one after the other; zeros for one without
    /// known words.
    pub fn infer(&self, documents: &[Document]) -> Vec<f32> {
        let dim = self.params.dim;
        let mut vectors = vec![0.0; documents.len() * dim];
        if self.is_empty() {
            return vectors;
        }
        let noise = self.draw("skip-gram inference", 0, 0);
        vectors
            .par_chunks_exact_mut(dim)
            .zip(documents)
            .for_each(|(vector, document)| self.climb(&self.weighted(document), &noise, vector));
        vectors
    }

    /// Accelerated gradient steps (Nesterov) from zero up to the maximum of
    ///
    /// ```text
    /// Σ_x (w_x/n)·log σ(θ·φ_x) + K·Σ_m s_m·log σ(−θ·φ_m) − λ‖θ‖²/2
    /// ```
    ///
    /// of steps `1/L`, where `L ≥ ¼·(Σ_x (w_x/n)·‖φ_x‖² + K·Σ_m s_m·‖φ_m‖²) + λ` bounds the
    /// curvature.
    fn climb(&self, document: &Weighted, noise: &[(u32, f32)], theta: &mut [f32]) {
        let SkipGram { negatives, ridge, steps, .. } = self.params;
        if document.total <= 0.0 {
            return;
        }
        let own = document.rows.iter().zip(&document.weights);
        let own = own.map(|(&row, weight)| (self.vector(row), weight / document.total, 1.0));
        let others = noise.iter().map(|&(row, share)| (self.vector(row), negatives * share, 0.0));
        let terms: Vec<(&[f32], f32, f32)> = own.chain(others).collect();
        let squares: f32 = terms.iter().map(|(phi, weight, _)| weight * dot(phi, phi)).sum();
        let step = 1.0 / (squares / 4.0 + ridge);
        let mut ahead = theta.to_vec();
        let mut gradient = vec![0.0; theta.len()];
        let mut before = theta.to_vec();
        for at in 0..steps {
            gradient.iter_mut().zip(&ahead).for_each(|(g, x)| *g = -ridge * x);
            for &(phi, weight, target) in &terms {
                axpy(weight * (target - sigmoid(dot(&ahead, phi))), phi, &mut gradient);
            }
            before.copy_from_slice(theta);
            theta.copy_from_slice(&ahead);
            axpy(step, &gradient, theta);
            let momentum = at as f32 / (at + 3) as f32;
            for ((ahead, now), before) in ahead.iter_mut().zip(&*theta).zip(&before) {
                *ahead = now + momentum * (now - before);
            }
        }
    }
}

/// A fit under way.
struct Training<'a> {
    words: &'a mut Words,
    corpus: &'a [Weighted],
    documents: Vec<f32>,
    /// Sums of squared gradients, a row.
    document_squares: Vec<f32>,
    word_squares: Vec<f32>,
    /// The place of each row among those of the batch.
    place_of: Vec<u32>,
}

/// The rows that a batch has to do with, and which of its terms have to do with each.
struct Touched {
    rows: Vec<u32>,
    /// Where each row's terms begin.
    starts: Vec<usize>,
    /// Document of the batch and place of the term, row by row.
    terms: Vec<(u32, u32)>,
}

impl<'a> Training<'a> {
    fn new(words: &'a mut Words, corpus: &'a [Weighted]) -> Training<'a> {
        let dim = words.params.dim;
        let mut rng = stream(words.params.seed, "skip-gram documents", 0, 0);
        let documents: Vec<f32> =
            (0..corpus.len() * dim).map(|_| centred(&mut rng) / dim as f32).collect();
        Training {
            document_squares: vec![0.0; corpus.len()],
            word_squares: vec![0.0; words.len()],
            place_of: vec![UNKNOWN; words.len()],
            documents,
            words,
            corpus,
        }
    }

    fn run(&mut self, context: &Context<'_>) -> Result<()> {
        let SkipGram { epochs, batch, seed, lr, .. } = self.words.params;
        let mut order: Vec<usize> = (0..self.corpus.len()).collect();
        let steps = order.len().div_ceil(batch);
        for epoch in 0..epochs {
            let mut rng = stream(seed, "skip-gram order", epoch as u64, 0);
            shuffle_by_remainder(&mut order, &mut rng);
            let (mut loss, mut words) = (0.0, 0.0);
            for (step, batch) in order.chunks(batch).enumerate() {
                let past = (epoch * steps + step) as f32 / (epochs * steps) as f32;
                let noise = self.words.draw("skip-gram noise", epoch as u64, step as u64);
                let (sum, weight) = self.step(batch, &noise, lr * (1.0 - 0.99 * past));
                loss += sum;
                words += weight;
                let mean = if words > 0.0 { loss / words } else { 0.0 };
                let (made, total) = ((epoch * steps + step + 1) as u64, (epochs * steps) as u64);
                let report = Report::of(Stage::Training, made, total);
                context.tell(&report.within(epoch as u64 + 1, step + 1 == steps, &[mean]))?;
            }
        }
        Ok(())
    }

    /// A step, and the loss of some of its documents before it: the sum over their words, and how
    /// many these are, as far as they count.
    fn step(&mut self, batch: &[usize], noise: &[(u32, f32)], lr: f32) -> (f64, f64) {
        let SkipGram { dim, negatives, .. } = self.words.params;
        let touched = self.touched(batch, noise);
        // What each document's terms pull with, and where they pull it.
        let pull = |(place, &at): (usize, &usize)| {
            let told = place % TOLD == 0;
            let Weighted { rows, weights, total } = &self.corpus[at];
            let theta = &self.documents[at * dim..][..dim];
            let mut gradient = vec![0.0; dim];
            let (mut pulls, mut loss) = (Vec::with_capacity(rows.len() + noise.len()), 0.0f32);
            let own = rows.iter().zip(weights).map(|(&row, &weight)| (row, weight, 1.0));
            let others = noise.iter().map(|&(row, share)| (row, negatives * total * share, 0.0));
            for (row, weight, target) in own.chain(others) {
                let phi = self.words.vector(row);
                let dot = dot(theta, phi);
                let share = sigmoid(dot);
                let pull = weight * (target - share);
                axpy(pull, phi, &mut gradient);
                pulls.push(pull);
                if told {
                    // −log σ(x) = |x| − log σ(|x|) for x < 0: no logarithm is of a rounded 0.
                    let beyond = if (target > 0.5) == (dot < 0.0) { dot.abs() } else { 0.0 };
                    loss += weight * (beyond - share.max(1.0 - share).ln());
                }
            }
            (gradient, pulls, loss)
        };
        let pulled: Vec<(Vec<f32>, Vec<f32>, f32)> =
            batch.par_iter().enumerate().with_min_len(SHARE).map(pull).collect();
        let documents = &self.documents;
        let Touched { rows, starts, terms } = &touched;
        let vectors = rows_of(&mut self.words.vectors, rows, dim);
        let squares = rows_of(&mut self.word_squares, rows, 1);
        vectors.into_par_iter().zip(squares).enumerate().with_min_len(SHARE).for_each_init(
            || vec![0.0; dim],
            |gradient, (place, (vector, squares))| {
                gradient.fill(0.0);
                for &(document, term) in &terms[starts[place]..starts[place + 1]] {
                    let pull = pulled[document as usize].1[term as usize];
                    let at = batch[document as usize];
                    axpy(pull, &documents[at * dim..][..dim], gradient);
                }
                adagrad(vector, &mut squares[0], gradient, lr);
            },
        );
        let (mut loss, mut words) = (0.0, 0.0);
        for (place, (&at, (gradient, _, own))) in batch.iter().zip(&pulled).enumerate() {
            let document = &mut self.documents[at * dim..][..dim];
            adagrad(document, &mut self.document_squares[at], gradient, lr);
            loss += f64::from(*own);
            words += if place % TOLD == 0 { f64::from(self.corpus[at].total) } else { 0.0 };
        }
        (loss, words)
    }

    fn touched(&mut self, batch: &[usize], noise: &[(u32, f32)]) -> Touched {
        let corpus = self.corpus;
        let rows_of = |at: usize| {
            corpus[at].rows.iter().copied().chain(noise.iter().map(|&(row, _)| row)).enumerate()
        };
        let mut rows = Vec::new();
        for (_, row) in batch.iter().flat_map(|&at| rows_of(at)) {
            if self.place_of[row as usize] == UNKNOWN {
                self.place_of[row as usize] = 0;
                rows.push(row);
            }
        }
        rows.sort_unstable();
        for (place, &row) in rows.iter().enumerate() {
            self.place_of[row as usize] = place as u32;
        }
        let place_of = |row: u32| self.place_of[row as usize] as usize;
        let mut starts = vec![0; rows.len() + 1];
        for (_, row) in batch.iter().flat_map(|&at| rows_of(at)) {
            starts[place_of(row) + 1] += 1;
        }
        for place in 0..rows.len() {
            starts[place + 1] += starts[place];
        }
        let mut next = starts.clone();
        let mut terms = vec![(0, 0); starts[rows.len()]];
        for (document, &at) in batch.iter().enumerate() {
            for (term, row) in rows_of(at) {
                let place = place_of(row);
                terms[next[place]] = (document as u32, term as u32);
                next[place] += 1;
            }
        }
        for &row in &rows {
            self.place_of[row as usize] = UNKNOWN;
        }
        Touched { rows, starts, terms }
    }
}

/// These rows of a matrix, which ascend, each to be written by another thread.
fn rows_of<'a>(matrix: &'a mut [f32], rows: &[u32], dim: usize) -> Vec<&'a mut [f32]> {
    let mut rest = matrix;
    let mut past = 0;
    let mut taken = Vec::with_capacity(rows.len());
    for &row in rows {
        let (own, others) = rest[(row as usize - past) * dim..].split_at_mut(dim);
        taken.push(own);
        rest = others;
        past = row as usize + 1;
    }
    taken
}

/// `s ← s + ‖g‖²/d`, `x ← x + rate·g/√s`.
fn adagrad(x: &mut [f32], squares: &mut f32, gradient: &[f32], rate: f32) {
    *squares += dot(gradient, gradient) / gradient.len() as f32;
    if *squares > 0.0 {
        axpy(rate / squares.sqrt(), gradient, x);
    }
}

fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// A number of [−½, ½).
fn centred(rng: &mut impl Rng) -> f32 {
    (unit(rng) - 0.5) as f32
}

//! The colours of a graph as one vector, learnt in closed form.
//!
//! A colour is a [Weisfeiler–Lehman label](crate::graph::wl): what a node and its surroundings of
//! so many rounds look like. A graph is a bag of words `(x, k)`, "at least `k` nodes have the
//! colour `x`", and two graphs are as alike as they have words in common, which is the
//! optimal assignment kernel of Kriege, Giscard and Wilson (2016), its rounds weighted:
//!
//! ```text
//! b(G)_(x,k) = √w_l · [c_G(x) ≥ k] / √(n·(H + 1)),    x a colour of round l ≤ H
//! ⟨b(G), b(G')⟩ = Σ_l w_l Σ_x min(c_G(x), c_G'(x)) / ((H + 1)·√(n·n'))
//! w_l = the share of the nodes of one half of the training graphs whose colour of round l
//!       occurs in the other half
//! ```
//!
//! `w` is how far a round generalises: colours that hardly any two graphs share tell a graph
//! apart from all others, and so nothing. The vector is the projection on the `d` directions
//! in which the bags of the training graphs differ most, their principal components:
//!
//! ```text
//! φ(G) = Vᵀ·(b(G) − μ)
//! ```
//!
//! So a word has a row of `V`, as in Graph2Vec, but there is no rate and there are no epochs:
//! the rows are what their products would have to be for the kernel to be met best. A word
//! that fewer than two training graphs have tells nothing of others, and has no row, nor has
//! one beyond the 2¹⁴ that most graphs have.

mod bag;
mod shares;

use hg2v_math::linalg::subspace::SparseRows;
use hg2v_math::parallel::try_map;
use hg2v_math::rng::{sample_without_replacement, shuffle, stream, unit};
use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::wl::{Refiner, Vocabulary};
use crate::graph::{Aspects, EdgeChoice, Graph, GraphRecord, Usage};
use crate::prepare::Collection;
use crate::saved::{Reader, Tensors};
use bag::{Bag, Words};

/// Training graphs that colours are learnt from, at most.
const GRAPHS: usize = 1 << 14;

/// The most that colours weigh, where nearly all are met again.
const MOST_ODDS: f64 = 16.0;

/// The most rounds: beyond, colours are as many as nodes.
const MOST_ROUNDS: usize = 64;

/// The most numbers.
const MOST_NUMBERS: usize = 4096;

/// How the colours of a graph become numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct ColourParams {
    /// `d`: how many numbers, at most; 0 for none. There are no more than training graphs differ in.
    pub dim: usize,
    /// `H`: rounds of refinement.
    pub rounds: usize,
}

hg2v_math::setters!(ColourParams { dim: usize, rounds: usize });

/// 384 numbers of three rounds.
impl Default for ColourParams {
    fn default() -> ColourParams {
        ColourParams { dim: 384, rounds: 3 }
    }
}

impl ColourParams {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        for (name, value, most) in
            [("colours", self.dim, MOST_NUMBERS), ("rounds", self.rounds, MOST_ROUNDS)]
        {
            if value > most {
                let requirement = format!("it must be between 0 and {most}");
                return Err(Error::parameter(name, value, requirement));
            }
        }
        Ok(())
    }
}

/// What was learnt of the colours of training graphs.
#[derive(Debug, Clone)]
pub struct Colours {
    refiner: Refiner,
    words: Words,
    /// `√w_l` of each round.
    weights: Vec<f64>,
    /// Numbers of a vector.
    dim: usize,
    /// For each word `(x, k)` the rows of `(x, 1)` to `(x, k)`, added up.
    table: Vec<f32>,
    /// `Vᵀ·μ`.
    origin: Vec<f32>,
}

/// What `config.json` says of them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SavedColours {
    dim: usize,
    vocabulary: Vocabulary,
}

impl Colours {
    /// Learns from the graphs `train` of a collection; of labels and directions, what is `seen`.
    ///
    /// # Errors
    /// More than 2³² − 1 distinct colours.
    ///
    /// # Complexity
    /// With `z` words in all graphs, of which 2¹⁴ are taken, and `d` numbers: time
    /// O((z + n·d)·d), space O((n + 2¹⁴)·d).
    pub fn fit(
        params: &ColourParams,
        seen: Aspects,
        collection: &Collection<'_>,
        train: &[usize],
        seed: u64,
    ) -> Result<Colours> {
        let drawn = &mut stream(seed, "graphs of colours", 0, 0);
        let sample = sample_without_replacement(train.len(), GRAPHS, drawn);
        let used = |used| if used { Usage::Use } else { Usage::Ignore };
        let edges =
            EdgeChoice::NOTHING.labels(used(seen.edge_labels)).direction(used(seen.direction));
        let mut refiner = Refiner::new(params.rounds).edges(edges).node_labels(seen.node_labels);
        let mut bags = Vec::with_capacity(sample.len());
        for &place in &sample {
            let i = train[place];
            bags.push(Bag::of(&refiner.refine(&collection.run.records[i], &collection.graphs[i])?));
        }
        let (words, kept) = Words::of(&bags, refiner.num_labels());
        bags.iter_mut().for_each(|bag| bag.renumber(&kept));
        let weights = weights(&bags, params.rounds, seed);
        let mut rows = SparseRows::new(words.len());
        for bag in &bags {
            rows.push(bag.words(&words).map(|(word, round)| (word, bag.scale() * weights[round])));
        }
        let found = rows.directions(params.dim, seed);
        let mut colours = Colours {
            refiner: refiner.retaining(&kept),
            words,
            weights,
            dim: found.count,
            table: Vec::new(),
            origin: Vec::new(),
        };
        colours.place(&found.rows, &found.means);
        Ok(colours)
    }

    /// The same with directions at random: what the words are worth with nothing learnt of them
    /// but their names.
    #[must_use]
    pub fn untrained(&self, seed: u64) -> Colours {
        let mut rng = stream(seed, "untrained colours", 0, 0);
        let count = self.words.len() * self.dim;
        let rows: Vec<f64> = (0..count).map(|_| unit(&mut rng) - 0.5).collect();
        let mut colours = Colours { table: Vec::new(), origin: Vec::new(), ..self.clone() };
        colours.place(&rows, &vec![0.0; self.words.len()]);
        colours
    }

    /// Takes a row for every word, and the mean bag.
    fn place(&mut self, rows: &[f64], means: &[f64]) {
        let dim = self.dim;
        let mut origin = vec![0.0; dim];
        let mut table = Vec::with_capacity(rows.len());
        for range in self.words.by_colour() {
            let mut sum = vec![0.0; dim];
            for word in range {
                let row = &rows[word * dim..][..dim];
                for ((sum, origin), value) in sum.iter_mut().zip(&mut origin).zip(row) {
                    *sum += value;
                    *origin += means[word] * value;
                }
                table.extend(sum.iter().map(|value| *value as f32));
            }
        }
        self.table = table;
        self.origin = origin.into_iter().map(|value| value as f32).collect();
    }

    /// How often a colour of other graphs is met again: `w`, the mean of `w_l` over the rounds.
    fn met(&self) -> f64 {
        self.weights.iter().map(|w| w * w).sum::<f64>() / self.weights.len() as f64
    }

    /// The same as odds: `w/(1 − w)`, up to 16.
    pub(crate) fn odds(&self) -> f64 {
        (self.met() / (1.0 - self.met())).min(MOST_ODDS)
    }

    /// What odds are worth where colours are of structure alone, which the network sees, too: `w³` of
    /// them, the chance to meet three colours again.
    pub(crate) fn odds_of_structure(&self) -> f64 {
        self.odds() * self.met().powi(3)
    }

    /// Numbers of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// `φ` of some graphs of a collection, one after the other. A graph without nodes is at the
    /// mean.
    ///
    /// # Errors
    /// As [`fit`](Colours::fit).
    ///
    /// # Complexity
    /// A graph costs O(H·edges) for its colours and O(d) for each that is known.
    pub fn vectors(&self, collection: &Collection<'_>, which: &[usize]) -> Result<Vec<f32>> {
        let rows =
            try_map(which, |&i| self.vector(&collection.run.records[i], &collection.graphs[i]))?;
        Ok(rows.concat())
    }

    fn vector(&self, record: &GraphRecord, graph: &Graph) -> Result<Vec<f32>> {
        let bag = Bag::of(&self.refiner.refine_unseen(record, graph)?.rounds);
        let mut sums = vec![0.0f32; self.dim];
        if bag.is_empty() {
            return Ok(sums);
        }
        for (range, round) in bag.ranges(&self.words) {
            let Some(last) = range.last() else { continue };
            let weight = (bag.scale() * self.weights[round]) as f32;
            let row = &self.table[last * self.dim..][..self.dim];
            sums.iter_mut().zip(row).for_each(|(sum, row)| *sum += weight * row);
        }
        sums.iter_mut().zip(&self.origin).for_each(|(sum, origin)| *sum -= origin);
        Ok(sums)
    }

    /// What a folder keeps of them.
    pub(crate) fn saved(&self, tensors: Tensors) -> (SavedColours, Tensors) {
        let (vocabulary, keys) = self.refiner.vocabulary();
        let starts = self.words.starts();
        let tensors = tensors
            .with("colours.keys", &[keys.len()], keys)
            .with("colours.starts", &[starts.len()], starts.iter().copied())
            .with("colours.weights", &[self.weights.len()], self.weights.iter().copied())
            .with("colours.table", &[self.words.len(), self.dim], self.table.iter().copied())
            .with("colours.origin", &[self.dim], self.origin.iter().copied());
        (SavedColours { dim: self.dim, vocabulary }, tensors)
    }

    /// What a folder kept.
    ///
    /// # Errors
    /// Tensors that are missing, or do not hold together.
    pub(crate) fn of_saved(saved: &SavedColours, tensors: &mut Reader<'_>) -> Result<Colours> {
        let SavedColours { dim, vocabulary } = saved;
        let keys: Vec<u32> = tensors.take_list("colours.keys")?;
        let starts: Vec<u32> = tensors.take_list("colours.starts")?;
        let weights: Vec<f64> = tensors.take_list("colours.weights")?;
        let refiner = Refiner::of_vocabulary(vocabulary, &keys);
        let words = Words::of_starts(starts);
        let (Some(refiner), Some(words)) = (refiner, words) else {
            return Err(tensors.refused("its colours do not hold together"));
        };
        if words.colours() != refiner.num_labels() || weights.len() != vocabulary.rounds + 1 {
            return Err(tensors.refused("its colours do not hold together"));
        }
        let table = tensors.take("colours.table", &[words.len(), *dim])?;
        let origin = tensors.take("colours.origin", &[*dim])?;
        Ok(Colours { refiner, words, weights, dim: *dim, table, origin })
    }
}

/// `√w_l` of each round.
fn weights(bags: &[Bag], rounds: usize, seed: u64) -> Vec<f64> {
    let mut order: Vec<usize> = (0..bags.len()).collect();
    shuffle(&mut order, &mut stream(seed, "halves of colours", 0, 0));
    let (first, second) = order.split_at(bags.len() / 2);
    let share = |round: usize| {
        let mut known: Vec<u32> = first.iter().flat_map(|&i| bags[i].colours(round)).collect();
        known.sort_unstable();
        known.dedup();
        let (mut met, mut all) = (0, 0);
        for (colour, count) in second.iter().flat_map(|&i| bags[i].round(round)) {
            all += u64::from(*count);
            if known.binary_search(colour).is_ok() {
                met += u64::from(*count);
            }
        }
        if all == 0 { 0.0 } else { (met as f64 / all as f64).sqrt() }
    };
    (0..=rounds).map(share).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::context::Context;
    use crate::prepare::{Needs, Run};

    fn ring(n: u32) -> GraphRecord {
        let edges = (0..n).map(|v| [v, (v + 1) % n]).collect();
        GraphRecord { num_nodes: n, edges, ..GraphRecord::default() }
    }

    fn path(n: u32) -> GraphRecord {
        let edges = (1..n).map(|v| [v - 1, v]).collect();
        GraphRecord { num_nodes: n, edges, ..GraphRecord::default() }
    }

    fn fitted(records: &[GraphRecord], params: &ColourParams) -> (Colours, Vec<Vec<f32>>) {
        let context = Context::default();
        let collection =
            Collection::new(Run::in_memory(records), &Needs::default(), &context).unwrap();
        let all = collection.all();
        let colours = Colours::fit(params, Aspects::default(), &collection, &all, 7).unwrap();
        let rows = colours.vectors(&collection, &all).unwrap();
        let rows = rows.chunks_exact(colours.dim().max(1)).map(<[f32]>::to_vec).collect();
        (colours, rows)
    }

    /// The weighted kernel of two graphs, by its definition.
    fn kernel(colours: &Colours, a: &GraphRecord, b: &GraphRecord) -> f64 {
        let of = |record: &GraphRecord| {
            let (graph, _) =
                Graph::from_record(record, crate::graph::WeightPolicy::default()).unwrap();
            colours.refiner.refine_unseen(record, &graph).unwrap().rounds
        };
        let (a, b) = (of(a), of(b));
        let norm = ((a[0].len() * b[0].len()) as f64).sqrt() * a.len() as f64;
        let mut sum = 0.0;
        for (round, (a, b)) in a.iter().zip(&b).enumerate() {
            for (colour, count) in crate::graph::wl::histogram(a) {
                // Colours that are not known mean nothing to other graphs.
                if (colour as usize) < colours.refiner.num_labels() {
                    let theirs = b.iter().filter(|&&other| other == colour).count();
                    sum += colours.weights[round].powi(2) * f64::from(count).min(theirs as f64);
                }
            }
        }
        sum / norm
    }

    /// With all directions, distances are those of the kernel.
    #[test]
    fn vectors_are_as_far_apart_as_the_kernel_says() {
        // Each twice, so that every word has its two graphs.
        let records: Vec<GraphRecord> = [3, 4, 5, 6, 7, 8]
            .into_iter()
            .flat_map(|n| [ring(n), ring(n), path(n), path(n)])
            .collect();
        let (colours, rows) = fitted(&records, &ColourParams::default());
        assert!(colours.dim() > 5 && colours.dim() < 24);
        for (i, a) in rows.iter().enumerate() {
            for (j, b) in rows.iter().enumerate() {
                let apart: f64 = a.iter().zip(b).map(|(a, b)| f64::from(a - b).powi(2)).sum();
                let k = |i: usize, j: usize| kernel(&colours, &records[i], &records[j]);
                let expected = k(i, i) + k(j, j) - 2.0 * k(i, j);
                assert!((apart - expected).abs() < 1e-5, "{i} {j}: {apart} {expected}");
            }
        }
        let mean = |c: usize| rows.iter().map(|row| f64::from(row[c])).sum::<f64>();
        assert!((0..colours.dim()).all(|c| mean(c).abs() < 1e-4), "they are centred");
    }

    #[test]
    fn rounds_count_as_far_as_they_generalise() {
        // Rings share every colour; of paths of all lengths the first half never has all.
        let rings: Vec<GraphRecord> = (10..40).map(ring).collect();
        assert!(fitted(&rings, &ColourParams::default()).0.weights.iter().all(|w| *w == 1.0));
        let paths: Vec<GraphRecord> = (0..30).map(|i| path(2 + i)).collect();
        let (colours, _) = fitted(&paths, &ColourParams::default());
        assert!(colours.weights.is_sorted_by(|a, b| a >= b), "{:?}", colours.weights);
    }

    #[test]
    fn what_was_never_met_is_at_the_mean_and_counts_for_nothing() {
        let records: Vec<GraphRecord> =
            (5..25).map(|n| ring(n % 7 + 3)).chain((5..25).map(path)).collect();
        let (colours, rows) = fitted(&records, &ColourParams::default().dim(4));
        assert_eq!(colours.dim(), 4);
        let star = GraphRecord { num_nodes: 9, edges: (1..9).map(|v| [0, v]).collect(), ..ring(9) };
        let empty = GraphRecord::default();
        let context = Context::default();
        let later = [star, empty, records[0].clone()];
        let collection =
            Collection::new(Run::in_memory(&later), &Needs::default(), &context).unwrap();
        let made = colours.vectors(&collection, &collection.all()).unwrap();
        assert!(made.iter().all(|value| value.is_finite()));
        assert_eq!(made[4..8], [0.0; 4]);
        assert_eq!(made[8..], rows[0][..], "alone and among others");
    }

    #[test]
    fn one_graph_and_none_have_no_numbers() {
        for records in [vec![ring(4)], vec![]] {
            let (colours, _) = fitted(&records, &ColourParams::default());
            assert_eq!(colours.dim(), 0);
        }
    }
}

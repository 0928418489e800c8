//! The Wasserstein Weisfeiler–Lehman kernel (Togninalli, Ghisu, Llinares-López, Rieck and
//! Borgwardt 2019, *Wasserstein Weisfeiler–Lehman graph kernels*).
//!
//! Every node gets a sequence `x⁰(u), …, x^H(u)`; graphs are as far apart as it costs to
//! carry the uniform distribution over the nodes of one to that of the other,
//!
//! ```text
//! 𝒲(g, g') = min_π Σ π(u,v)·d(u, v),    k(g, g') = exp(−γ·𝒲(g, g'))  (γ is their λ).
//! ```
//!
//! **Labels.** `x^h` are Weisfeiler–Lehman labels and `d` the Hamming distance, the share
//! of the `H + 1` rounds in which two nodes differ. That needs no solver:
//!
//! > `𝒲(g, g') = 1/(2(H+1)) · Σ_h Σ_l |p_h(l) − q_h(l)|`
//! >
//! > with `p_h(l)`, `q_h(l)` the shares of nodes labelled `l` after round `h`.
//!
//! *Proof.* A label's code holds the label of the round before, so equal labels have
//! equal histories: labels form a tree, whose root has the labels of round 0 as children
//! and in which the parent of a label of round `h + 1` is that of round `h`. Give every
//! edge the length `1/(2(H+1))`. Two nodes that first differ in round `h` differ in all of
//! `h, …, H`, that is in `H + 1 − h` rounds; and the path between their leaves goes up
//! `H + 1 − h` edges and down as many. So `d` is the length of that path. On a tree,
//! whatever mass the part below an edge has too much or too little must cross that edge,
//! and carrying just this much is possible on all edges at once, from the leaves up.
//! Hence `𝒲` is the sum over edges of length times `|p(below) − q(below)|`, and the mass
//! below the edge above `l` is `p_h(l)`. ∎
//!
//! As a scaled L1 distance, `𝒲` is conditionally negative definite, and `k` a kernel for
//! every `γ > 0`.
//!
//! **Attributes.** `x⁰` are the attributes, each column standardised over all nodes of the
//! collection (the degree, where there are none), then
//!
//! ```text
//! x^(h+1)(u) = ½·(x^h(u) + Σ_v W(u,v)·x^h(v) / Σ_v W(u,v))
//! ```
//!
//! and `d` is the Euclidean distance between the sequences as one long vector. Transport
//! is exact (`hg2v::distance::simplex`). `k` need not be positive definite here.
//!
//! A graph without nodes counts as one node like no other: at distance 1 from all labels;
//! with attributes, all zeros, which is the mean.
//!
//! # Complexity
//! Labels: `O(H·(n + n'))` a pair. Attributes: `O(H·n·n'·F)` and a transport problem a
//! pair and number of rounds.

use hg2v::context::Context;
use hg2v::dataset::features::{Applied, FeatureChoice, FeatureSchema, Origin, When};
use hg2v::distance::ground::Turned;
use hg2v::distance::simplex::Solver;
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{EdgeChoice, Features, Graph};
use hg2v::prepare::Collection;
use hg2v::progress::Stage;
use hg2v::saved::{Reader, Tensors};
use hg2v_eval::method::GraphKernel;
use hg2v_eval::{Matrix, Result};
use hg2v_math::parallel::try_map;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::wl;

/// The kernel, and the settings to choose from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Wwl {
    /// What nodes are compared by.
    pub nodes: Nodes,
    /// Numbers of rounds `H`.
    pub rounds: Vec<usize>,
    /// Numbers `γ`.
    #[serde(alias = "lambdas")]
    pub gammas: Vec<f64>,
    /// What is seen of edges where nodes are compared by labels.
    pub edges: EdgeChoice,
}

hg2v_math::setters!(Wwl {
    nodes: Nodes,
    rounds: Vec<usize>,
    gammas: Vec<f64>,
    edges: EdgeChoice,
});

/// What nodes are compared by.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Nodes {
    /// Attributes where all graphs have them, labels elsewhere.
    #[default]
    Auto,
    /// Labels; nodes without are alike.
    Labels,
    /// Attributes, or the degree.
    Attributes,
}

hg2v::vocabulary! { Nodes, "nodes":
    Auto => "auto", "attributes where all graphs have them, labels elsewhere";
    Labels => "labels", "labels; nodes without are alike";
    Attributes => "attributes", "attributes, or the degree";
}

impl Nodes {
    /// Whether nodes are compared by attributes, going by the graphs `train`.
    pub(super) fn by_attributes(self, collection: &Collection<'_>, train: &[usize]) -> bool {
        let records = collection.run.records;
        match self {
            Nodes::Auto => {
                !train.is_empty() && train.iter().all(|&i| records[i].features.is_some())
            }
            Nodes::Labels => false,
            Nodes::Attributes => true,
        }
    }
}

impl Default for Wwl {
    fn default() -> Wwl {
        Wwl {
            nodes: Nodes::Auto,
            rounds: vec![1, 3, 5],
            gammas: vec![0.01, 0.1, 1.0, 10.0],
            edges: EdgeChoice::default(),
        }
    }
}

impl Wwl {
    /// The `H` and `γ` of a variant: all `γ` of the first `H` come first.
    pub fn variant(&self, index: usize) -> (usize, f64) {
        (self.rounds[index / self.gammas.len()], self.gammas[index % self.gammas.len()])
    }

    /// `𝒲` between all graphs, for each number of rounds.
    ///
    /// # Errors
    /// No rounds to choose from; graphs that disagree on their attributes;
    /// [`Stopped`](hg2v::Error::Stopped).
    pub fn distances(
        &self,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Matrix>> {
        self.distances_by(collection, collection.len(), context)
    }

    /// As [`distances`](Wwl::distances), attributes standardised by the first `known`
    /// graphs alone, so that the others change nothing among those.
    ///
    /// # Errors
    /// As [`distances`](Wwl::distances).
    pub fn distances_by(
        &self,
        collection: &Collection<'_>,
        known: usize,
        context: &Context<'_>,
    ) -> Result<Vec<Matrix>> {
        let Some(most) = self.rounds.iter().copied().max() else {
            return Err(hg2v::Error::parameter("rounds", "none", "give at least one").into());
        };
        let (n, matrices, all) = (collection.len(), self.rounds.len(), collection.all());
        if self.nodes.by_attributes(collection, &all) {
            let propagation = Propagation::fit(collection, &all[..known], most)?;
            let sequences = propagation.sequences(collection, &all)?.all;
            pairs(n, matrices, context, Solver::default, |solver, i, j| {
                carried(solver, &sequences[i], &sequences[j], &self.rounds)
            })
        } else {
            let histograms = counted(collection, wl::refiner(most, self.edges, collection, &all)?)?;
            let along = |(): &mut (), i: usize, j: usize| {
                along_the_tree(&histograms[i], &histograms[j], &self.rounds)
            };
            pairs(n, matrices, context, || (), along)
        }
    }
}

impl GraphKernel for Wwl {
    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn variants(&self) -> usize {
        self.rounds.len() * self.gammas.len()
    }

    fn grams(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Vec<Matrix>> {
        if let Some(bad) = self.gammas.iter().find(|gamma| !(gamma.is_finite() && **gamma > 0.0)) {
            return Err(
                hg2v::Error::argument("γ", bad, "it must be a finite number above 0").into()
            );
        }
        let n = collection.len();
        let distances = self.distances(collection, context)?;
        let settings = distances.iter().flat_map(|w| self.gammas.iter().map(move |l| (w, l)));
        settings
            .map(|(w, gamma)| {
                let kernel = w.values().par_iter().map(|w| (-gamma * w).exp()).collect();
                Matrix::new(n, n, kernel)
            })
            .collect()
    }
}

/// Symmetric matrices of `distance(i, j)`, as many as it returns numbers, each pair
/// computed once; `memory` is made for each thread.
fn pairs<M>(
    n: usize,
    matrices: usize,
    context: &Context<'_>,
    memory: impl Fn() -> M + Sync + Send,
    distance: impl Fn(&mut M, usize, usize) -> Vec<f64> + Sync + Send,
) -> Result<Vec<Matrix>> {
    let counter = context.counter(Stage::Comparing, (n * n.saturating_sub(1) / 2) as u64);
    // Row i beside row n − 1 − i: every task has as many pairs.
    let rows = (0..n).map(|i| if i.is_multiple_of(2) { i / 2 } else { n - 1 - i / 2 });
    let mut computed: Vec<(usize, Vec<f64>)> = rows
        .collect::<Vec<_>>()
        .into_par_iter()
        .map_init(memory, |memory, i| {
            let row: Vec<f64> = (i + 1..n).flat_map(|j| distance(memory, i, j)).collect();
            counter.add((n - 1 - i) as u64).map(|()| (i, row))
        })
        .collect::<hg2v::Result<_>>()?;
    computed.sort_unstable_by_key(|&(i, _)| i);
    (0..matrices)
        .map(|which| {
            let mut values = vec![0.0; n * n];
            for (i, row) in &computed {
                for (at, numbers) in row.chunks_exact(matrices).enumerate() {
                    let j = i + 1 + at;
                    values[i * n + j] = numbers[which];
                    values[j * n + i] = numbers[which];
                }
            }
            Matrix::new(n, n, values)
        })
        .collect()
}

/// How often each label occurs in each round, by label.
struct Counted {
    nodes: u64,
    rounds: Vec<Vec<(u32, u32)>>,
}

fn counted(collection: &Collection<'_>, mut refiner: Refiner) -> Result<Vec<Counted>> {
    let mut all = Vec::with_capacity(collection.len());
    for (record, graph) in collection.run.records.iter().zip(&collection.graphs) {
        let labels = refiner.refine(record, graph)?;
        let mut rounds: Vec<_> = labels.iter().map(|labels| histogram(labels)).collect();
        if graph.num_nodes() == 0 {
            rounds.iter_mut().for_each(|round| round.push((u32::MAX, 1)));
        }
        all.push(Counted { nodes: graph.num_nodes().max(1) as u64, rounds });
    }
    Ok(all)
}

/// The closed form, for each number of rounds, in whole numbers until the last step.
fn along_the_tree(a: &Counted, b: &Counted, rounds: &[usize]) -> Vec<f64> {
    let most = a.rounds.len();
    // Σ |p − q|·n·n' up to each round.
    let mut sums = Vec::with_capacity(most);
    let mut sum = 0;
    for (p, q) in a.rounds.iter().zip(&b.rounds) {
        sum += apart(p, b.nodes, q, a.nodes);
        sums.push(sum);
    }
    let scale = 2.0 * (a.nodes * b.nodes) as f64;
    rounds.iter().map(|&h| sums[h] as f64 / (scale * (h + 1) as f64)).collect()
}

/// `Σ_l |s·p(l) − t·q(l)|` over all labels of either histogram.
fn apart(p: &[(u32, u32)], s: u64, q: &[(u32, u32)], t: u64) -> u64 {
    let (mut i, mut j, mut sum) = (0, 0, 0);
    while i < p.len() && j < q.len() {
        let ((x, a), (y, b)) = (p[i], q[j]);
        let left = if x <= y { s * u64::from(a) } else { 0 };
        let right = if y <= x { t * u64::from(b) } else { 0 };
        sum += left.abs_diff(right);
        i += usize::from(x <= y);
        j += usize::from(y <= x);
    }
    sum += s * p[i..].iter().map(|&(_, count)| u64::from(count)).sum::<u64>();
    sum + t * q[j..].iter().map(|&(_, count)| u64::from(count)).sum::<u64>()
}

/// How attributes become sequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Propagation {
    /// `x⁰`.
    pub(super) features: FeatureSchema,
    /// `H`.
    rounds: usize,
}

/// The sequences of some graphs.
#[derive(Debug, Clone)]
pub(super) struct Sequences {
    /// How they were made.
    pub(super) propagation: Propagation,
    all: Vec<Sequence>,
}

/// The rows of every node after each round, both ways round.
#[derive(Debug, Clone)]
struct Sequence {
    nodes: usize,
    /// What its features had to have resolved; nothing of those that were kept.
    applied: Applied,
    rounds: Vec<(Features, Turned)>,
}

impl Propagation {
    /// Attributes standardised by the graphs `train`.
    pub(super) fn fit(
        collection: &Collection<'_>,
        train: &[usize],
        rounds: usize,
    ) -> hg2v::Result<Propagation> {
        let choice = FeatureChoice::default()
            .attributes(true)
            .labels(false)
            .degree(When::Auto)
            .structure(When::Never)
            .edges(EdgeChoice::NOTHING);
        let run = collection.run;
        let subjects = train.iter().map(|&i| collection.subject(i));
        Ok(Propagation { features: FeatureSchema::fit(run.file, choice, subjects)?, rounds })
    }

    /// The sequences of the graphs `which`.
    pub(super) fn sequences(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
    ) -> hg2v::Result<Sequences> {
        let all = try_map(which, |&i| self.sequence(collection, i))?;
        Ok(Sequences { propagation: self.clone(), all })
    }

    fn sequence(&self, collection: &Collection<'_>, i: usize) -> hg2v::Result<Sequence> {
        let (run, graph) = (collection.run, &collection.graphs[i]);
        let origin = Origin { file: run.file, position: run.position_of(i) };
        let (rows, applied) = self.features.apply(collection.subject(i), origin)?;
        let nodes = graph.num_nodes().max(1);
        let mut values: Vec<f64> = rows.values.iter().copied().map(f64::from).collect();
        values.resize(nodes * rows.dim, 0.0);
        let mut all = Vec::with_capacity(self.rounds + 1);
        let mut current = Features { dim: rows.dim, values };
        for _ in 0..self.rounds {
            let next = averaged(graph, &current);
            all.push(current);
            current = next;
        }
        all.push(current);
        Ok(Sequence { applied, ..Sequence::new(nodes, all) })
    }
}

impl Sequence {
    fn new(nodes: usize, rounds: Vec<Features>) -> Sequence {
        let turned = |rows: Features| {
            let turned = Turned::new(&rows, nodes);
            (rows, turned)
        };
        let rounds = rounds.into_iter().map(turned).collect();
        Sequence { nodes, applied: Applied::default(), rounds }
    }
}

impl Sequences {
    /// How many graphs.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// What the features of graph `i` had to have resolved.
    pub(super) fn applied(&self, i: usize) -> Applied {
        self.all[i].applied
    }

    /// `𝒲` between graph `i` and each of the `others`.
    pub(super) fn distances(&self, i: usize, others: &Sequences) -> Vec<f64> {
        let (mut solver, rounds) = (Solver::default(), [self.propagation.rounds]);
        let apart = |other| carried(&mut solver, &self.all[i], other, &rounds)[0];
        others.all.iter().map(apart).collect()
    }

    /// What is kept of them.
    pub(super) fn tensors(&self) -> Tensors {
        let nodes = self.all.iter().map(|sequence| sequence.nodes as u32);
        let rows = self.all.iter().flat_map(|sequence| &sequence.rounds);
        let values: Vec<f64> = rows.flat_map(|(rows, _)| rows.values.iter().copied()).collect();
        Tensors::default().with("nodes", &[self.len()], nodes).with(
            "sequences",
            &[values.len()],
            values,
        )
    }

    /// What was kept.
    ///
    /// # Errors
    /// Tensors that are no such sequences'.
    pub(super) fn of_tensors(
        propagation: Propagation,
        tensors: &mut Reader<'_>,
    ) -> hg2v::Result<Sequences> {
        let nodes: Vec<u32> = tensors.take_list("nodes")?;
        let values: Vec<f64> = tensors.take_list("sequences")?;
        let dim = propagation.features.dim();
        let mut rest = &values[..];
        let mut all = Vec::with_capacity(nodes.len());
        for &nodes in &nodes {
            let mut rounds = Vec::new();
            for _ in 0..=propagation.rounds {
                let Some(own) = rest.split_off(..nodes as usize * dim) else {
                    return Err(tensors.refused("its landmarks do not hold together"));
                };
                rounds.push(Features { dim, values: own.to_vec() });
            }
            all.push(Sequence::new(nodes as usize, rounds));
        }
        match rest.is_empty() {
            true => Ok(Sequences { propagation, all }),
            false => Err(tensors.refused("its landmarks do not hold together")),
        }
    }
}

/// `½·(x(u) + mean of x over the neighbours of u, by weight)`; a node alone keeps half.
fn averaged(graph: &Graph, x: &Features) -> Features {
    let mut next = Features { dim: x.dim, values: vec![0.0; x.values.len()] };
    let Some(rows) = (x.dim > 0).then(|| next.values.chunks_exact_mut(x.dim)) else {
        return next;
    };
    for (node, row) in rows.enumerate().take(graph.num_nodes()) {
        let scale = 1.0 / graph.strength(node);
        for (&other, &weight) in graph.neighbors(node).iter().zip(graph.weights(node)) {
            let share = f64::from(weight) * scale;
            for (sum, x) in row.iter_mut().zip(x.row(other as usize)) {
                *sum += share * x;
            }
        }
        for (sum, x) in row.iter_mut().zip(x.row(node)) {
            *sum = 0.5 * (*sum + x);
        }
    }
    next
}

/// The cost of transport, for each number of rounds.
fn carried(solver: &mut Solver, a: &Sequence, b: &Sequence, rounds: &[usize]) -> Vec<f64> {
    let (n, m) = (a.nodes, b.nodes);
    let mut squares = vec![0.0; n * m];
    let mut costs = vec![0.0; n * m];
    let (supply, demand) = (vec![m as u64; n], vec![n as u64; m]);
    let mut found = vec![0.0; rounds.len()];
    for (h, ((rows, _), (_, turned))) in a.rounds.iter().zip(&b.rounds).enumerate() {
        turned.add_squares(rows, &mut squares);
        for (found, _) in found.iter_mut().zip(rounds).filter(|(_, wanted)| **wanted == h) {
            costs.iter_mut().zip(&squares).for_each(|(cost, square)| *cost = square.sqrt());
            *found = solver.solve(&costs, &supply, &demand);
        }
    }
    found
}

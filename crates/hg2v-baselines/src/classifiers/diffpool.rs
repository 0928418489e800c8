//! DiffPool, differentiable pooling (Ying, You, Morris, Ren, Hamilton & Leskovec 2018,
//! *Hierarchical graph representation learning with differentiable pooling*, NeurIPS).
//!
//! On each level one network embeds nodes and another shares them among `k` clusters,
//! which are the nodes of the next level:
//!
//! ```text
//! Z = GNN_embed(A, X)        S = softmax(GNN_pool(A, X))
//! X' = Sᵀ·Z                  A' = Sᵀ·A·S
//! ```
//!
//! with GraphSAGE's layers `X·W + max(D, 1)⁻¹·A·X·W' + b` (Hamilton et al. 2017), two of
//! them followed by relu and batch norm, the third plain, all three side by side. Training
//! also lowers, on each level,
//!
//! ```text
//! ℓ_link    = √(Σ_g ‖A_g − S_g·S_gᵀ‖²) / Σ_g n_g²
//! ℓ_entropy = mean_u Σ_j −S(u, j)·ln S(u, j)
//! ```
//!
//! The largest of each column on each level, side by side, goes through a perceptron to
//! the classes. Network and readout are those of Errica et al. 2020. Where others pad
//! every graph to the largest, we do not: `‖A − S·Sᵀ‖² = ‖A‖² − 2·tr(Sᵀ·A·S) + ‖Sᵀ·S‖²`
//! needs nothing of `n × n`, and `k` is a share of the mean number of nodes.
//!
//! Cost of a step with `N` nodes, `E` edges, `d` numbers a node and `k` clusters:
//! `O(E·(d + k) + N·(d² + d·k + k²))` time on the first level, `O(N·(d + k))` memory.

use std::fmt;
use std::sync::Arc;

use hg2v_math::Real;
use serde::{Deserialize, Serialize};

use super::pooling::{Adjacency, Both, Pooled, pool};
use super::training::{Design, Recipe, Task, Taught};
use crate::network::{BatchNorm, ClassifierNetwork, Linear, Output, Pass, Store};
use crate::tape::{Graphs, Var};

/// Numbers between the readout and the classes.
const HEAD: usize = 50;

/// `X·W + max(D, 1)⁻¹·A·X·W' + b`, where `mean` is the column `1 / max(D, 1)`.
fn sage<R: Real>(pass: &mut Pass<'_, R>, layer: &Both, a: &Adjacency<R>, mean: Var, x: Var) -> Var {
    let around = a.times(pass, x);
    let around = pass.tape.scale_rows(around, mean);
    layer.forward(pass, x, around)
}

/// Three layers side by side.
#[derive(Debug, Clone)]
struct Stack {
    inner: [(Both, BatchNorm); 2],
    last: Both,
}

impl Stack {
    fn new<R: Real>(store: &mut Store<R>, inputs: usize, hidden: usize, outputs: usize) -> Stack {
        let mut layer = |from| (Both::new(store, from, hidden), store.batch_norm(hidden));
        let inner = [layer(inputs), layer(hidden)];
        Stack { inner, last: Both::new(store, hidden, outputs) }
    }

    fn forward<R: Real>(&self, pass: &mut Pass<'_, R>, a: &Adjacency<R>, x: Var) -> Var {
        let degrees = a.degrees(pass);
        let mean = pass.tape.reciprocal(degrees, R::ONE);
        let mut layers = Vec::new();
        let mut h = x;
        for (layer, norm) in &self.inner {
            let y = sage(pass, layer, a, mean, h);
            let y = pass.tape.relu(y);
            h = pass.batch_norm(norm, y);
            layers.push(h);
        }
        layers.push(sage(pass, &self.last, a, mean, h));
        pass.tape.beside(&layers)
    }
}

/// [`dense_pool`]'s `X'` and `A'`, and what it adds to the loss.
#[derive(Debug, Clone)]
pub struct DiffPooled<R> {
    /// `X'`.
    pub x: Var,
    /// `A'`.
    pub a: Adjacency<R>,
    /// `ℓ_link`.
    pub link: Var,
    /// `ℓ_entropy`.
    pub entropy: Var,
}

/// Pools the embeddings `z` by the logits `s` of shares.
pub fn dense_pool<R: Real>(
    pass: &mut Pass<'_, R>,
    a: &Adjacency<R>,
    z: Var,
    s: Var,
) -> DiffPooled<R> {
    let s = pass.tape.softmax(s);
    let Pooled { x, a: pooled, overlap, inside, segments } = pool(pass, a, s, z);
    // ‖A‖² − 2·tr(Sᵀ·A·S) + ‖Sᵀ·S‖².
    let squared = a.squared(pass);
    let trace = pass.tape.sum(inside);
    let overlaps = pass.tape.row_dots(overlap, overlap);
    let overlaps = pass.tape.sum(overlaps);
    let distance = pass.tape.add_scaled(squared, R::from_f64(-2.0), trace);
    let distance = pass.tape.add(distance, overlaps);
    let distance = pass.tape.sqrt(distance, R::from_f64(1e-12));
    let pairs: f64 =
        a.segments().windows(2).map(|range| (range[1] - range[0]) as f64).map(|n| n * n).sum();
    DiffPooled {
        x,
        link: pass.tape.affine(distance, R::from_f64(1.0 / pairs.max(1.0)), R::ZERO),
        entropy: pass.tape.entropy(s),
        a: Adjacency::Dense(pooled, segments),
    }
}

/// One setting of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct DiffPoolParams {
    /// How often the graph is pooled.
    pub levels: usize,
    /// Clusters a node of the level below.
    pub ratio: f64,
    /// Numbers a node after the first two layers of a stack.
    pub hidden: usize,
    /// Numbers a node after the third.
    pub embedding: usize,
}

hg2v_math::setters!(DiffPoolParams { levels: usize, ratio: f64, hidden: usize, embedding: usize });

impl fmt::Display for DiffPoolParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let DiffPoolParams { levels, ratio, hidden, embedding } = self;
        write!(f, "DiffPool d={hidden},{embedding} L={levels} k={ratio}·n")
    }
}

impl Default for DiffPoolParams {
    fn default() -> DiffPoolParams {
        DiffPoolParams { levels: 1, ratio: 0.1, hidden: 32, embedding: 64 }
    }
}

/// The method.
pub type DiffPool = Taught<DiffPoolParams>;

impl Default for DiffPool {
    /// The paper's ratios: a tenth with one level, a quarter with two.
    fn default() -> DiffPool {
        let params = |levels, ratio| DiffPoolParams::default().levels(levels).ratio(ratio);
        DiffPool {
            grid: vec![params(1, 0.1), params(2, 0.25)],
            recipe: Recipe { lr: 1e-3, batch: 16, ..Recipe::default() },
        }
    }
}

impl Design for DiffPoolParams {
    fn build<R: Real>(&self, store: &mut Store<R>, task: &Task) -> Box<dyn ClassifierNetwork<R>> {
        let DiffPoolParams { levels, hidden, embedding, .. } = *self;
        let width = 2 * hidden + embedding;
        let (mut inputs, mut clusters) = (task.inputs, task.nodes);
        let mut pools = Vec::new();
        for _ in 0..levels {
            clusters = (clusters * self.ratio).ceil().max(1.0);
            let k = clusters as usize;
            let shares = Stack::new(store, inputs, hidden, k);
            let to_shares = store.linear(2 * hidden + k, k);
            pools.push((Stack::new(store, inputs, hidden, embedding), shares, to_shares));
            inputs = width;
        }
        Box::new(DiffPoolNetwork {
            pools,
            last: Stack::new(store, inputs, hidden, embedding),
            head: [store.linear((levels + 1) * width, HEAD), store.linear(HEAD, task.classes)],
        })
    }
}

struct DiffPoolNetwork {
    /// Of each level: the embedding, the shares, and what makes of three layers one.
    pools: Vec<(Stack, Stack, Linear)>,
    last: Stack,
    head: [Linear; 2],
}

impl<R: Real> ClassifierNetwork<R> for DiffPoolNetwork {
    fn forward(&self, pass: &mut Pass<'_, R>, graphs: &Arc<Graphs<R>>, x: Var) -> Output {
        let (mut a, mut x) = (Adjacency::Sparse(Arc::clone(graphs)), x);
        let (mut readouts, mut extra) = (Vec::new(), None);
        for (embed, shares, to_shares) in &self.pools {
            let z = embed.forward(pass, &a, x);
            let s = shares.forward(pass, &a, x);
            let s = pass.linear(to_shares, s);
            let pooled = dense_pool(pass, &a, z, s);
            let losses = pass.tape.add(pooled.link, pooled.entropy);
            extra = Some(extra.map_or(losses, |extra| pass.tape.add(extra, losses)));
            (a, x) = (pooled.a, pooled.x);
            readouts.push(pass.tape.segment_max(x, a.segments()));
        }
        let z = self.last.forward(pass, &a, x);
        readouts.push(pass.tape.segment_max(z, a.segments()));
        let all = pass.tape.beside(&readouts);
        let inner = pass.linear(&self.head[0], all);
        let inner = pass.tape.relu(inner);
        Output { scores: pass.linear(&self.head[1], inner), extra }
    }
}

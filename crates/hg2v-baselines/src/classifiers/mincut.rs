//! MinCutPool (Bianchi, Grattarola & Alippi 2020, *Spectral clustering with graph neural
//! networks for graph pooling*, ICML).
//!
//! A perceptron shares nodes among `k` clusters, and two losses make it a spectral
//! clustering. With `Ã = D^(−1/2)·A·D^(−1/2)`, a level is
//!
//! ```text
//! X̄ = relu(Ã·X·W_m + X·W_s + b)        S = softmax(relu(X̄·W₁ + b₁)·W₂ + b₂)
//! X' = Sᵀ·X̄                            A' = Sᵀ·Ã·S without its diagonal, Ã' of that
//! ℓ_cut   = −mean_g tr(Sᵀ·Ã·S) / tr(Sᵀ·D̃·S)
//! ℓ_ortho = mean_g ‖Sᵀ·S/‖Sᵀ·S‖ − I/√k‖
//! ```
//!
//! where `D̃` are the row sums of `Ã`. Two such levels, of half and a quarter of the mean
//! number of nodes, then `relu(Ã·X·W_m + X·W_s + b)` once more, the mean over nodes, and a
//! layer to the classes: the paper's network for graph classification.
//!
//! Since both matrices of `ℓ_ortho` have norm 1, it is `√(2 − 2·tr(SᵀS)/(‖SᵀS‖·√k))`.
//!
//! Cost of a step with `N` nodes, `E` edges, `d` numbers a node and `k` clusters:
//! `O(E·(d + k) + N·(d² + d·k + k²))` time on the first level, `O(N·(d + k))` memory.

use std::fmt;
use std::sync::Arc;

use hg2v_math::Real;
use serde::{Deserialize, Serialize};

use super::pooling::{Adjacency, Both, Pooled, pool};
use super::training::{Design, Recipe, Task, Taught};
use crate::network::{ClassifierNetwork, Linear, Output, Pass, Store};
use crate::tape::{Graphs, Var};

/// Keeps divisions and roots away from 0.
const LEAST: f64 = 1e-12;

/// `relu(Ã·X·W_m + X·W_s + b)`.
fn skip<R: Real>(pass: &mut Pass<'_, R>, layer: &Both, a: &Adjacency<R>, x: Var) -> Var {
    let around = a.times(pass, x);
    let sum = layer.forward(pass, x, around);
    pass.tape.relu(sum)
}

/// [`dense_pool`]'s `X'` and `Ã'`, and what it adds to the loss.
#[derive(Debug, Clone)]
pub struct MinCutPooled<R> {
    /// `X'`.
    pub x: Var,
    /// `Ã'`.
    pub a: Adjacency<R>,
    /// `ℓ_cut`.
    pub cut: Var,
    /// `ℓ_ortho`.
    pub ortho: Var,
}

/// Pools the nodes `x` by the logits `s` of shares.
pub fn dense_pool<R: Real>(
    pass: &mut Pass<'_, R>,
    a: &Adjacency<R>,
    x: Var,
    s: Var,
) -> MinCutPooled<R> {
    let least = R::from_f64(LEAST);
    let s = pass.tape.softmax(s);
    let k = pass.tape.value(s).columns;
    let Pooled { x, a: pooled, overlap, inside, segments } = pool(pass, a, s, x);
    // tr(SᵀAS) / tr(SᵀDS), where tr(SᵀDS) = Σ_u d(u)·‖S(u)‖².
    let degrees = a.degrees(pass);
    let lengths = pass.tape.row_dots(s, s);
    let weighted = pass.tape.times(degrees, lengths);
    let inside = pass.tape.segment_sum(inside, a.segments());
    let all = pass.tape.segment_sum(weighted, a.segments());
    let all = pass.tape.reciprocal(all, least);
    let cut = pass.tape.times(inside, all);
    let cut = pass.tape.mean(cut);
    // 2 − 2·tr(SᵀS) / (‖SᵀS‖·√k).
    let trace = pass.tape.segment_sum(lengths, a.segments());
    let norms = pass.tape.row_dots(overlap, overlap);
    let norms = pass.tape.segment_sum(norms, &segments);
    let norms = pass.tape.sqrt(norms, least);
    let norms = pass.tape.reciprocal(norms, least);
    let cosine = pass.tape.times(trace, norms);
    let ortho = pass.tape.affine(cosine, R::from_f64(-2.0 / (k as f64).sqrt()), R::from_f64(2.0));
    let ortho = pass.tape.sqrt(ortho, least);
    MinCutPooled {
        x,
        cut: pass.tape.affine(cut, -R::ONE, R::ZERO),
        ortho: pass.tape.mean(ortho),
        a: Adjacency::Dense(pass.tape.normalized_blocks(pooled), segments),
    }
}

/// One setting of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct MinCutParams {
    /// Numbers a node.
    pub hidden: usize,
    /// Numbers between a node and its shares.
    pub share: usize,
    /// How often the graph is pooled.
    pub levels: usize,
    /// Clusters a node of the level below.
    pub ratio: f64,
}

hg2v_math::setters!(MinCutParams { hidden: usize, share: usize, levels: usize, ratio: f64 });

impl fmt::Display for MinCutParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let MinCutParams { hidden, levels, ratio, .. } = self;
        write!(f, "MinCutPool d={hidden} L={levels} k={ratio}·n")
    }
}

impl Default for MinCutParams {
    fn default() -> MinCutParams {
        MinCutParams { hidden: 32, share: 16, levels: 2, ratio: 0.5 }
    }
}

/// The method.
pub type MinCut = Taught<MinCutParams>;

impl Default for MinCut {
    /// The paper's network, and one of twice its width.
    fn default() -> MinCut {
        let params = |hidden| MinCutParams::default().hidden(hidden);
        MinCut {
            grid: vec![params(32), params(64)],
            recipe: Recipe { lr: 1e-3, batch: 16, decay: 1e-4, ..Recipe::default() },
        }
    }
}

impl Design for MinCutParams {
    fn build<R: Real>(&self, store: &mut Store<R>, task: &Task) -> Box<dyn ClassifierNetwork<R>> {
        let MinCutParams { hidden, share, levels, .. } = *self;
        let (mut inputs, mut clusters) = (task.inputs, task.nodes);
        let mut pools = Vec::new();
        for _ in 0..levels {
            clusters = (clusters * self.ratio).floor().max(1.0);
            let layer = Both::new(store, inputs, hidden);
            let shares = [store.linear(hidden, share), store.linear(share, clusters as usize)];
            pools.push((layer, shares));
            inputs = hidden;
        }
        let last = Both::new(store, inputs, hidden);
        Box::new(MinCutNetwork { pools, last, head: store.linear(hidden, task.classes) })
    }
}

struct MinCutNetwork {
    /// Of each level: its layer, and the perceptron that shares nodes among clusters.
    pools: Vec<(Both, [Linear; 2])>,
    last: Both,
    head: Linear,
}

impl<R: Real> ClassifierNetwork<R> for MinCutNetwork {
    fn forward(&self, pass: &mut Pass<'_, R>, graphs: &Arc<Graphs<R>>, x: Var) -> Output {
        let (mut a, mut x) = (Adjacency::Sparse(graphs.normalized()), x);
        let mut extra = None;
        for (layer, shares) in &self.pools {
            let nodes = skip(pass, layer, &a, x);
            let s = pass.linear(&shares[0], nodes);
            let s = pass.tape.relu(s);
            let s = pass.linear(&shares[1], s);
            let pooled = dense_pool(pass, &a, nodes, s);
            let losses = pass.tape.add(pooled.cut, pooled.ortho);
            extra = Some(extra.map_or(losses, |extra| pass.tape.add(extra, losses)));
            (a, x) = (pooled.a, pooled.x);
        }
        let nodes = skip(pass, &self.last, &a, x);
        let pooled = pass.tape.segment_mean(nodes, a.segments());
        Output { scores: pass.linear(&self.head, pooled), extra }
    }
}

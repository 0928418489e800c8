//! GIN, the graph isomorphism network (Xu, Hu, Leskovec & Jegelka 2019, *How powerful
//! are graph neural networks?*, ICLR).
//!
//! A layer adds up a node's neighbours and itself, which keeps multisets apart, and
//! lets a perceptron make of them what it can:
//!
//! ```text
//! h⁽ˡ⁾(u) = relu(BN(MLP⁽ˡ⁾((1 + ε⁽ˡ⁾)·h⁽ˡ⁻¹⁾(u) + Σ_{v ~ u} h⁽ˡ⁻¹⁾(v))))
//! MLP(x) = relu(BN(x·W₁ + b₁))·W₂ + b₂
//! ```
//!
//! Where edges have kinds, numbers or directions `e(u, v)`, they speak too (GINE: Hu et al. 2020,
//! *Strategies for pre-training graph neural networks*, ICLR), and do not weigh:
//! `Σ_{v ~ u} relu(h⁽ˡ⁻¹⁾(v) + e(u, v)·Wₑ⁽ˡ⁾ + bₑ⁽ˡ⁾)` stands for the sum of the neighbours.
//!
//! `ε` is learnt (GIN-ε) or 0 (GIN-0). The scores of a graph's classes are a sum over
//! all layers, the input included: `Σ_l Dropout(Pool_u h⁽ˡ⁾(u)·W⁽ˡ⁾ + b⁽ˡ⁾)`, where
//! `Pool` is a sum or a mean. Edges count as much as they weigh.
//!
//! Cost of a step with `N` nodes, `E` edges, `d` numbers a node and `L` layers:
//! `O(L·(N·d² + E·d))` time, `O(L·N·d)` memory.

use std::fmt;
use std::sync::Arc;

use hg2v_math::Real;
use serde::{Deserialize, Serialize};

use super::training::{Design, Recipe, Task, Taught};
use crate::network::{BatchNorm, ClassifierNetwork, Linear, Output, Pass, Slot, Store};
use crate::tape::{Graphs, Var};

/// One layer.
#[derive(Debug, Clone)]
pub struct Layer {
    /// `ε`, where it is learnt.
    pub epsilon: Option<Slot>,
    /// `Wₑ` and `bₑ`, where edges have numbers.
    pub links: Option<Linear>,
    /// `W₁` and `b₁`.
    pub first: Linear,
    inner: BatchNorm,
    /// `W₂` and `b₂`.
    pub second: Linear,
    outer: BatchNorm,
}

impl Layer {
    /// A layer from `inputs` numbers a node to `hidden`, between which edges have `links` numbers.
    pub fn new<R: Real>(
        store: &mut Store<R>,
        inputs: usize,
        links: usize,
        hidden: usize,
        learnt: bool,
    ) -> Layer {
        Layer {
            epsilon: learnt.then(|| store.filled(1, 1, R::ZERO)),
            links: (links > 0).then(|| store.linear(links, inputs)),
            first: store.linear(inputs, hidden),
            inner: store.batch_norm(hidden),
            second: store.linear(hidden, hidden),
            outer: store.batch_norm(hidden),
        }
    }

    /// `MLP((1 + ε)·h(u) + Σ_{v ~ u} h(v))`, before the outer norm.
    pub fn convolve<R: Real>(
        &self,
        pass: &mut Pass<'_, R>,
        graphs: &Arc<Graphs<R>>,
        h: Var,
    ) -> Var {
        let mut sum = match (&self.links, &graphs.links) {
            (Some(layer), Some(links)) => {
                let e = pass.tape.constant(links.features.clone());
                let e = pass.linear(layer, e);
                pass.tape.messages(graphs, R::ONE, h, e)
            }
            _ => pass.tape.neighbours(graphs, R::ONE, h),
        };
        if let Some(epsilon) = self.epsilon {
            let epsilon = pass.parameter(epsilon);
            sum = pass.tape.add_times(sum, epsilon, h);
        }
        let inner = pass.linear(&self.first, sum);
        let inner = pass.batch_norm(&self.inner, inner);
        let inner = pass.tape.relu(inner);
        pass.linear(&self.second, inner)
    }
}

/// Layers one above the other.
#[derive(Debug, Clone)]
pub(crate) struct Encoder {
    layers: Vec<Layer>,
}

impl Encoder {
    pub(crate) fn new<R: Real>(
        store: &mut Store<R>,
        [inputs, links]: [usize; 2],
        hidden: usize,
        layers: usize,
        learnt: bool,
    ) -> Encoder {
        let width = |layer: usize| if layer == 0 { inputs } else { hidden };
        let layer = |layer| Layer::new(store, width(layer), links, hidden, learnt);
        Encoder { layers: (0..layers).map(layer).collect() }
    }

    /// What each layer makes of each node.
    pub(crate) fn forward<R: Real>(
        &self,
        pass: &mut Pass<'_, R>,
        graphs: &Arc<Graphs<R>>,
        x: Var,
    ) -> Vec<Var> {
        let mut h = x;
        let layer = |layer: &Layer| {
            let y = layer.convolve(pass, graphs, h);
            let y = pass.batch_norm(&layer.outer, y);
            h = pass.tape.relu(y);
            h
        };
        self.layers.iter().map(layer).collect()
    }
}

/// How a graph's nodes become one row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// Their sum.
    Sum,
    /// Their mean.
    Mean,
}

/// One setting of the network.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct GinParams {
    /// Numbers a node.
    pub hidden: usize,
    /// Layers.
    pub layers: usize,
    /// Whether `ε` is learnt.
    pub epsilon: bool,
    /// How a graph is read out.
    pub pool: Pool,
    /// The share of a readout that training drops.
    pub dropout: f64,
}

hg2v_math::setters!(GinParams {
    hidden: usize,
    layers: usize,
    epsilon: bool,
    pool: Pool,
    dropout: f64
});

impl fmt::Display for GinParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let GinParams { hidden, layers, dropout, .. } = self;
        let epsilon = if self.epsilon { "ε" } else { "0" };
        let pool = if self.pool == Pool::Sum { "sum" } else { "mean" };
        write!(f, "GIN-{epsilon} d={hidden} L={layers} {pool} dropout={dropout}")
    }
}

impl Default for GinParams {
    fn default() -> GinParams {
        GinParams { hidden: 32, layers: 4, epsilon: false, pool: Pool::Sum, dropout: 0.0 }
    }
}

/// The method.
pub type Gin = Taught<GinParams>;

impl Default for Gin {
    /// A part of the grid of Errica et al. 2020, with the training of Xu et al.
    fn default() -> Gin {
        let params = |pool, dropout| GinParams::default().pool(pool).dropout(dropout);
        let both = |pool| [params(pool, 0.0), params(pool, 0.5)];
        Gin {
            grid: [Pool::Sum, Pool::Mean].into_iter().flat_map(both).collect(),
            recipe: Recipe::default(),
        }
    }
}

impl Design for GinParams {
    fn build<R: Real>(&self, store: &mut Store<R>, task: &Task) -> Box<dyn ClassifierNetwork<R>> {
        let GinParams { hidden, layers, .. } = *self;
        let encoder = Encoder::new(store, [task.inputs, task.links], hidden, layers, self.epsilon);
        let width = |layer: usize| if layer == 0 { task.inputs } else { hidden };
        let readouts = (0..=layers).map(|layer| store.linear(width(layer), task.classes)).collect();
        Box::new(GinNetwork { encoder, readouts, pool: self.pool, dropout: self.dropout })
    }
}

struct GinNetwork {
    encoder: Encoder,
    readouts: Vec<Linear>,
    pool: Pool,
    dropout: f64,
}

impl<R: Real> ClassifierNetwork<R> for GinNetwork {
    fn forward(&self, pass: &mut Pass<'_, R>, graphs: &Arc<Graphs<R>>, x: Var) -> Output {
        let mut layers = vec![x];
        layers.extend(self.encoder.forward(pass, graphs, x));
        let score = |(h, readout): (Var, &Linear)| {
            let pooled = match self.pool {
                Pool::Sum => pass.tape.segment_sum(h, &graphs.starts),
                Pool::Mean => pass.tape.segment_mean(h, &graphs.starts),
            };
            let scores = pass.linear(readout, pooled);
            pass.dropout(scores, self.dropout)
        };
        let scores: Vec<Var> = layers.into_iter().zip(&self.readouts).map(score).collect();
        let add = |sum, &more| pass.tape.add(sum, more);
        Output { scores: scores[1..].iter().fold(scores[0], add), extra: None }
    }
}

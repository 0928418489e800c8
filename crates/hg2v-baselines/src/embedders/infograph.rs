//! InfoGraph (Sun, Hoffmann, Verma & Tang 2020, *InfoGraph: unsupervised and
//! semi-supervised graph-level representation learning via mutual information
//! maximization*, ICLR).
//!
//! A [GIN](crate::classifiers::gin) of `L` layers describes a node by all of them side by
//! side, and a graph by the sum of its nodes:
//!
//! ```text
//! h(u) = [h⁽¹⁾(u) | … | h⁽ᴸ⁾(u)]        H(g) = Σ_{u ∈ g} h(u)
//! ```
//!
//! Training raises the Jensen–Shannon bound on the mutual information between a node and
//! its graph, beside those of the other graphs of a batch, scored by
//! `T(u, g) = φ(h(u))·ψ(H(g))`:
//!
//! ```text
//! ℓ = mean_{u ∈ g} sp(−T(u, g)) + mean_{u ∉ g} sp(T(u, g)) − 2·ln 2
//! ```
//!
//! with `sp(t) = ln(1 + eᵗ)`. `φ` and `ψ` are perceptrons of three layers with a linear
//! shortcut. The vector of a graph is `H(g)`. No label is seen.
//!
//! Cost of a step with `N` nodes, `E` edges and `B` graphs:
//! `O(L·(N·d² + E·d) + N·(L·d)² + N·B·L·d)` time, `O(N·(L·d + B))` memory.

use std::sync::Arc;

use hg2v::dataset::features::FeatureChoice;
use hg2v::error::Opt;
use hg2v::nn::Real;
use hg2v::parallel::crew;
use hg2v::prepare::Collection;
use hg2v::rng;
use hg2v::train::schedule;
use hg2v_eval::method::Embedder;
use hg2v_eval::{Matrix, Result};

use crate::classifiers::gin::Encoder;
use crate::network::{Descent, Linear, Pass, Store};
use crate::prepared::{NODES, Prepared, default_features};
use crate::tape::{Graphs, Var};

/// The method and its settings.
#[derive(Debug, Clone, PartialEq)]
pub struct InfoGraph {
    /// `d`: numbers a node and layer.
    pub hidden: usize,
    /// `L`.
    pub layers: usize,
    /// How often every graph is seen.
    pub epochs: u64,
    /// Graphs a step.
    pub batch: usize,
    /// The learning rate.
    pub rate: f64,
    /// The node features.
    pub features: FeatureChoice,
    /// Seeds every random decision.
    pub seed: u64,
}

impl Default for InfoGraph {
    /// The authors' sizes and their middle learning rate.
    fn default() -> InfoGraph {
        InfoGraph {
            hidden: 32,
            layers: 4,
            epochs: 20,
            batch: 128,
            rate: 1e-3,
            features: default_features(),
            seed: 0,
        }
    }
}

/// Three layers and a shortcut: `MLP(x) + x·W + b`.
struct Head {
    layers: [Linear; 3],
    shortcut: Linear,
}

impl Head {
    fn new<R: Real>(store: &mut Store<R>, width: usize) -> Head {
        let mut layer = || store.linear(width, width);
        Head { layers: [layer(), layer(), layer()], shortcut: layer() }
    }

    fn forward<R: Real>(&self, pass: &mut Pass<'_, R>, x: Var) -> Var {
        let mut y = x;
        for layer in &self.layers {
            y = pass.linear(layer, y);
            y = pass.tape.relu(y);
        }
        let shortcut = pass.linear(&self.shortcut, x);
        pass.tape.add(y, shortcut)
    }
}

/// The encoder and both heads.
struct InfoGraphNetwork {
    encoder: Encoder,
    /// `φ` of nodes and `ψ` of graphs.
    heads: [Head; 2],
}

impl InfoGraphNetwork {
    /// `h` and `H`.
    fn encode<R: Real>(
        &self,
        pass: &mut Pass<'_, R>,
        graphs: &Arc<Graphs<R>>,
        x: Var,
    ) -> (Var, Var) {
        let layers = self.encoder.forward(pass, graphs, x);
        let h = pass.tape.beside(&layers);
        (h, pass.tape.segment_sum(h, &graphs.starts))
    }

    fn loss<R: Real>(&self, pass: &mut Pass<'_, R>, graphs: &Arc<Graphs<R>>, x: Var) -> Var {
        let (nodes, whole) = self.encode(pass, graphs, x);
        let nodes = self.heads[0].forward(pass, nodes);
        let whole = self.heads[1].forward(pass, whole);
        let scores = pass.tape.product_of_rows(nodes, whole);
        pass.tape.jensen_shannon(scores, &graphs.starts)
    }
}

impl Embedder for InfoGraph {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        self.check()?;
        let all: Vec<usize> = (0..collection.len()).collect();
        let train = train.unwrap_or(&all);
        let prepared = Prepared::new(collection, self.features, train)?;
        crew::together(|| {
            let (network, store) = self.train(&prepared, train)?;
            let mut values = Vec::with_capacity(all.len() * self.layers * self.hidden);
            for some in prepared.portions(&all, NODES) {
                let mut pass = Pass::working(&store);
                let (graphs, x) = prepared.batch(some, &mut pass);
                let (_, whole) = network.encode(&mut pass, &graphs, x);
                values.extend_from_slice(&pass.tape.value(whole).values);
            }
            Matrix::from_f32(all.len(), self.layers * self.hidden, &values)
        })
    }
}

impl InfoGraph {
    fn check(&self) -> Result<()> {
        let sizes = [("hidden", self.hidden), ("layers", self.layers), ("batch", self.batch)];
        match sizes.iter().find(|(_, value)| *value == 0) {
            None => Ok(()),
            Some((name, _)) => {
                Err(hg2v::Error::parameter(*name, 0, "it must be at least 1").into())
            }
        }
    }

    fn train(
        &self,
        prepared: &Prepared<'_>,
        train: &[usize],
    ) -> Result<(InfoGraphNetwork, Store<f32>)> {
        let mut store = Store::<f32>::new(self.seed);
        let encoder = Encoder::new(&mut store, prepared.dim, self.hidden, self.layers, false);
        let width = self.layers * self.hidden;
        let heads = [Head::new(&mut store, width), Head::new(&mut store, width)];
        let network = InfoGraphNetwork { encoder, heads };
        let mut descent = Descent::new(&store);
        for epoch in 0..self.epochs {
            let order = schedule::order(train.len(), self.seed, epoch);
            for graphs in order.chunks(self.batch) {
                let which: Vec<usize> = graphs.iter().map(|&i| train[i as usize]).collect();
                let stream = rng::stream(self.seed, "dropout", epoch, descent.steps);
                let mut pass = Pass::training(&store, stream);
                let (graphs, x) = prepared.batch(&which, &mut pass);
                let loss = network.loss(&mut pass, &graphs, x);
                if !pass.tape.value(loss).values[0].is_finite() {
                    let requirement =
                        format!("InfoGraph diverged in epoch {}: lower it", epoch + 1);
                    return Err(hg2v::Error::parameter(Opt::LR, self.rate, requirement).into());
                }
                let (gradient, seen) = pass.finish(loss);
                store.absorb(&seen);
                descent.step(self.rate, 0.0, &mut store, gradient);
            }
        }
        Ok((network, store))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::coarsen;
    use hg2v::graph::{GraphRecord, WeightPolicy};
    use hg2v::prepare::Run;

    #[test]
    fn training_tells_nodes_of_a_graph_from_others() {
        let cycle = |n: u32| GraphRecord {
            num_nodes: n + n % 3,
            edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
            ..GraphRecord::default()
        };
        let records: Vec<GraphRecord> = (4..20).map(cycle).collect();
        let run = Run::in_memory(&records);
        let coarsening = coarsen::Params::default();
        let collection = Collection::new(run, WeightPolicy::Use, &coarsening, None).unwrap();
        let all: Vec<usize> = (0..16).collect();
        let prepared = Prepared::new(&collection, default_features(), &all).unwrap();
        let loss = |epochs| {
            let method =
                InfoGraph { hidden: 8, layers: 2, epochs, rate: 0.01, ..InfoGraph::default() };
            let (network, store) = method.train(&prepared, &all).unwrap();
            let mut pass = Pass::training(&store, rng::stream(0, "dropout", 0, 0));
            let (graphs, x) = prepared.batch(&all, &mut pass);
            let loss = network.loss(&mut pass, &graphs, x);
            pass.tape.value(loss).values[0]
        };
        let (before, after) = (loss(0), loss(60));
        // Scores of nothing would have 0; perfect ones −2·ln 2.
        assert!(after < before && after < -0.3, "{before} before, {after} after");
    }
}

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

use hg2v::context::Context;
use hg2v::dataset::features::{EdgeSchema, FeatureChoice, FeatureSchema, Origin};
use hg2v::error::{Error, Result};
use hg2v::graph::{Aspects, GraphRecord};
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::progress::{Report, Stage};
use hg2v::saved::{Config, DataNote, Parts, Stored, Tensors};
use hg2v::{Method, Model};
use hg2v_math::parallel::crew;
use hg2v_math::{Real, rng, schedule};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::graph2vec::numbered;
use crate::classifiers::gin::Encoder;
use crate::network::{Descent, Linear, Pass, Store};
use crate::prepared::{NODES, Prepared, default_features, fitted_features};
use crate::tape::{Graphs, Var};

/// The method and its settings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct InfoGraph {
    /// `d`: numbers a node and layer.
    #[serde(alias = "hidden")]
    pub dim: usize,
    /// `L`.
    pub layers: usize,
    /// How often every graph is seen.
    pub epochs: u64,
    /// Graphs a step.
    pub batch: usize,
    /// The learning rate.
    #[serde(alias = "rate")]
    pub lr: f64,
    /// The node features.
    pub features: FeatureChoice,
    /// Seeds every random decision.
    pub seed: u64,
}

hg2v_math::setters!(InfoGraph {
    dim: usize,
    layers: usize,
    epochs: u64,
    batch: usize,
    lr: f64,
    features: FeatureChoice,
    seed: u64,
});

impl Default for InfoGraph {
    /// The authors' sizes and their middle learning rate.
    fn default() -> InfoGraph {
        InfoGraph {
            dim: 32,
            layers: 4,
            epochs: 20,
            batch: 128,
            lr: 1e-3,
            features: default_features(),
            seed: 0,
        }
    }
}

/// Three layers and a shortcut: `MLP(x) + x·W + b`.
#[derive(Debug, Clone)]
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
#[derive(Debug, Clone)]
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

const NAME: &str = "infograph";

impl Method for InfoGraph {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        let sizes = [("dim", self.dim), ("layers", self.layers), ("batch", self.batch)];
        match sizes.into_iter().find(|(_, value)| *value == 0) {
            None => Ok(()),
            Some((name, _)) => Err(Error::parameter(name, 0, "it must be at least 1")),
        }
    }

    fn needs(&self) -> Needs {
        Needs::default().features(Some(self.features))
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        self.check()?;
        let schema = fitted_features(collection, self.features, train)?;
        let (prepared, _) = Prepared::new(collection, &schema, train)?;
        let (network, store) = crew::together(|| self.train(&prepared, context))?;
        let data = DataNote::of(train.iter().map(|&i| &collection.run.records[i]));
        let settings = self.clone();
        Ok(Box::new(InfoGraphModel { settings, schema, network, store, data }))
    }
}

/// A trained encoder.
#[derive(Debug, Clone)]
pub struct InfoGraphModel {
    settings: InfoGraph,
    schema: FeatureSchema,
    network: InfoGraphNetwork,
    store: Store<f32>,
    data: DataNote,
}

/// What `config.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    settings: InfoGraph,
    features: FeatureSchema,
}

impl InfoGraphModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<InfoGraphModel> {
        let Config { model: Saved { settings, features: schema }, data, .. } = stored.config()?;
        settings.check().map_err(|e| stored.refused(e))?;
        let mut tensors = stored.tensors()?;
        let (parameters, moments) =
            (tensors.take_list("parameters")?, tensors.take_list("moments")?);
        let (layers, inputs) = (settings.layers, schema.dim());
        // The file has as many numbers: config.json alone must not choose an allocation.
        let least = settings.dim.checked_mul(settings.dim).and_then(|n| n.checked_mul(layers));
        let least = least.and_then(|n| n.checked_add(inputs.checked_mul(settings.dim)?));
        if least.is_none_or(|least| least > parameters.len()) {
            return Err(tensors.refused("it has fewer parameters than the network"));
        }
        let links = schema.edges().map_or(0, EdgeSchema::link_dim);
        let (network, mut store) = settings.network([inputs, links]);
        if !store.restore(parameters, moments) {
            return Err(tensors.refused("its parameters are those of another network"));
        }
        tensors.finish()?;
        Ok(InfoGraphModel { settings, schema, network, store, data })
    }
}

impl Model for InfoGraphModel {
    fn method(&self) -> &str {
        NAME
    }

    fn settings(&self) -> Value {
        self.settings.settings()
    }

    fn needs(&self) -> Needs {
        self.settings.needs()
    }

    fn sees(&self) -> Aspects {
        self.schema.sees()
    }

    fn columns(&self) -> Vec<String> {
        numbered(self.settings.layers * self.settings.dim)
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        self.schema.check(record, origin)
    }

    fn embed_collection(&self, collection: &Collection<'_>, _: &Context<'_>) -> Result<Rows> {
        let all = collection.all();
        let (prepared, applied) = Prepared::new(collection, &self.schema, &all)?;
        let mut values = Vec::with_capacity(all.len() * self.settings.layers * self.settings.dim);
        crew::together(|| {
            for some in prepared.portions(&all, NODES) {
                let mut pass = Pass::working(&self.store);
                let (graphs, x) = prepared.batch(some, &mut pass);
                let (_, whole) = self.network.encode(&mut pass, &graphs, x);
                values.extend_from_slice(&pass.tape.value(whole).values);
            }
        });
        Ok(Rows { values, applied })
    }

    fn parts(&self) -> Result<Parts> {
        let saved = Saved { settings: self.settings.clone(), features: self.schema.clone() };
        let config = Config::new(NAME, saved, self.data.clone());
        let (parameters, moments) = (&self.store.values, self.store.moments());
        let tensors = Tensors::default()
            .with("parameters", &[parameters.len()], parameters.iter().copied())
            .with("moments", &[moments.len()], moments);
        Parts::new(&config, &tensors)
    }
}

impl InfoGraph {
    /// The network for nodes and edges of so many numbers, and its first parameters.
    fn network(&self, inputs: [usize; 2]) -> (InfoGraphNetwork, Store<f32>) {
        let mut store = Store::<f32>::new(self.seed);
        let encoder = Encoder::new(&mut store, inputs, self.dim, self.layers, false);
        let width = self.layers * self.dim;
        let heads = [Head::new(&mut store, width), Head::new(&mut store, width)];
        (InfoGraphNetwork { encoder, heads }, store)
    }

    /// Trains on all prepared graphs.
    fn train(
        &self,
        prepared: &Prepared<'_>,
        context: &Context<'_>,
    ) -> Result<(InfoGraphNetwork, Store<f32>)> {
        let (network, mut store) = self.network([prepared.dim, prepared.link_dim]);
        let steps = prepared.len().div_ceil(self.batch) as u64;
        let mut descent = Descent::new(&store);
        for epoch in 0..self.epochs {
            let order = schedule::order(prepared.len(), self.seed, epoch);
            let mut sum = 0.0;
            for (step, graphs) in order.chunks(self.batch).enumerate() {
                let which: Vec<usize> = graphs.iter().map(|&i| i as usize).collect();
                let stream = rng::stream(self.seed, "dropout", epoch, descent.steps);
                let mut pass = Pass::training(&store, stream);
                let (graphs, x) = prepared.batch(&which, &mut pass);
                let loss = network.loss(&mut pass, &graphs, x);
                let value = pass.tape.value(loss).values[0];
                if !value.is_finite() {
                    let requirement =
                        format!("InfoGraph diverged in epoch {}: lower it", epoch + 1);
                    return Err(Error::parameter("lr", self.lr, requirement));
                }
                let (gradient, seen) = pass.finish(loss);
                store.absorb(&seen);
                descent.step(self.lr, 0.0, &mut store, gradient);
                sum += f64::from(value);
                let made = step as u64 + 1;
                let report = Report::of(Stage::Training, epoch * steps + made, self.epochs * steps);
                let losses = [sum / made as f64];
                context.tell(&report.within(epoch + 1, made == steps, &losses))?;
            }
        }
        Ok((network, store))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
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
        let context = Context::default();
        let collection = Collection::new(run, &Needs::default(), &context).unwrap();
        let all = collection.all();
        let schema = fitted_features(&collection, default_features(), &all).unwrap();
        let (prepared, _) = Prepared::new(&collection, &schema, &all).unwrap();
        let loss = |epochs| {
            let method = InfoGraph { dim: 8, layers: 2, epochs, lr: 0.01, ..InfoGraph::default() };
            let (network, store) = method.train(&prepared, &context).unwrap();
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

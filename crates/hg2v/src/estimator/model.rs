//! A model: graphs in, vectors out.

use std::any::Any;
use std::ops::Range;
use std::path::Path;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::beside::{Blocks, Learnt};
use super::params::Hg2vParams;
use crate::coarsen;
use crate::colours::ColourParams;
use crate::context::Context;
use crate::dataset::features::{Applied, EdgeSchema, FeatureChoice, FeatureSchema, Origin, When};
use crate::dataset::molecules::{AtomLabel, BondKind};
use crate::embed;
use crate::error::{Error, Result, shown};
use crate::finish;
use crate::graph::{Aspects, GraphRecord, Scalar};
use crate::layer::{Gradients, Layer};
use crate::method::{Method, Model, Rows};
use crate::model::{Architecture, Example, Keep, Network, Seeds, Workspace, initial};
use crate::nn::device::{Panel, Window};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};
use crate::prepare::{Collection, Needs, Preparation};
use crate::saved::{Config, Parts, Stored, Tensors};
use crate::train::Recipe;

/// A model: graphs in, vectors out.
///
/// The vectors of a graph are the same bits at any number of threads, alone or
/// among others.
#[derive(Debug, Clone)]
pub struct Hg2v {
    pub(super) config: Config<Hg2vConfig>,
    pub(super) network: Network,
    pub(super) parameters: Vec<f32>,
    pub(super) blocks: Blocks,
}

/// The methods whose model this network is: HG2V, the same untrained, and without coarsening.
const OWN: [&str; 3] = ["hg2v", "untrained", "graph2vec-gnn"];

/// What HG2V says of itself in `config.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hg2vConfig {
    /// The network.
    pub architecture: Architecture,
    /// How it was trained.
    pub recipe: Recipe,
    /// Which node features were asked for.
    pub feature_choice: FeatureChoice,
    /// How graphs are made ready for it.
    pub preparation: Preparation,
    /// How colours are counted beside the network.
    pub colours: ColourParams,
    /// When slices stand beside the network.
    pub slices: When,
    /// When a census stands beside the network.
    pub census: When,
    /// Numbers of a vector that are asked for.
    pub out_dim: Option<usize>,
    /// What was learnt beside the network.
    #[serde(default, skip_serializing_if = "Learnt::is_nothing")]
    pub(super) learnt: Learnt,
}

impl Hg2vConfig {
    /// What it was told to be.
    pub fn params(&self) -> Hg2vParams {
        Hg2vParams {
            architecture: self.architecture.clone(),
            recipe: self.recipe,
            coarsening: self.preparation.coarsening.unwrap_or_default(),
            weights: self.preparation.weights,
            features: self.feature_choice,
            colours: self.colours,
            slices: self.slices,
            census: self.census,
            out_dim: self.out_dim,
        }
    }

    /// Whether slices stand beside the network.
    pub(super) fn takes_slices(&self) -> bool {
        match self.slices {
            When::Always => true,
            When::Never => false,
            When::Auto => {
                let features = &self.preparation.features;
                features.attributes().is_some() && !are_atoms(features)
            }
        }
    }

    /// Whether a census stands beside the network.
    pub(super) fn takes_census(&self) -> bool {
        let labelled = self.preparation.features.labels().is_some();
        match self.census {
            When::Always => labelled,
            When::Never => false,
            When::Auto => are_atoms(&self.preparation.features),
        }
    }

    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        self.architecture.check()?;
        self.recipe.check()?;
        self.colours.check()?;
        self.out_dim.iter().try_for_each(|dim| finish::check(*dim))?;
        self.preparation.coarsening.iter().try_for_each(coarsen::Params::check)
    }
}

impl Hg2v {
    /// The parameters to start from.
    pub fn params() -> Hg2vParams {
        Hg2vParams::default()
    }

    /// A model of a configuration and its network's parameters.
    ///
    /// # Errors
    /// A configuration that does not make sense; parameters of another network, or that
    /// are not finite.
    pub fn from_parts(config: Config<Hg2vConfig>, parameters: Vec<f32>) -> Result<Hg2v> {
        config.model.check()?;
        let Hg2vConfig { architecture, preparation, .. } = &config.model;
        let layout = preparation.layout(architecture)?;
        if parameters.len() != layout.len {
            let requirement = format!("this network has {}", layout.len);
            return Err(Error::argument("the number of parameters", parameters.len(), requirement));
        }
        if let Some(bad) = parameters.iter().find(|value| !value.is_finite()) {
            return Err(Error::argument("a parameter", bad, "it must be a finite number"));
        }
        let own = &config.model;
        if own.colours.dim > 0 || own.takes_slices() || own.takes_census() || own.out_dim.is_some()
        {
            let requirement = "what it learnt beside the network is not among its parameters";
            return Err(Error::argument("the configuration", "of a saved model", requirement));
        }
        Ok(Hg2v { config, network: Network { layout }, parameters, blocks: Blocks::default() })
    }

    /// Reads a model's folder, and checks every byte of it.
    ///
    /// # Errors
    /// A file that is missing, damaged, of another version, or does not belong.
    pub fn load(path: &Path) -> Result<Hg2v> {
        Hg2v::from_stored(&Stored::read(path)?)
    }

    /// The model that was read, whichever method trained the network.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<Hg2v> {
        if !OWN.contains(&stored.method()) {
            let problem = format!("this is a model of {}, not of hg2v", shown(stored.method()));
            return Err(stored.refused(problem));
        }
        let config: Config<Hg2vConfig> = stored.config()?;
        config.model.check().map_err(|e| stored.refused(e))?;
        let Hg2vConfig { architecture, preparation, .. } = &config.model;
        let layout = preparation.layout(architecture)?;
        let mut tensors = stored.tensors()?;
        let parts: Vec<(Window, Vec<f32>)> = layout
            .tensors()
            .into_iter()
            .map(|(name, window)| Ok((window, tensors.take(&name, &shape(window))?)))
            .collect::<Result<_>>()?;
        let blocks = Blocks::of_saved(
            &config.model.learnt,
            &layout,
            &config.model.preparation.features,
            &mut tensors,
        )?;
        tensors.finish()?;
        // The file has as many numbers: config.json alone must not choose an allocation.
        let mut parameters = vec![0.0; layout.len];
        for (window, values) in parts {
            for (row, from) in rows(window).zip(values.chunks_exact(window.columns.max(1))) {
                parameters[row].copy_from_slice(from);
            }
        }
        Ok(Hg2v { config, network: Network { layout }, parameters, blocks })
    }

    /// HG2V's own model, where `model` is one: its vectors can be explained, and nodes have
    /// vectors too.
    pub fn of(model: &dyn Model) -> Option<&Hg2v> {
        (model as &dyn Any).downcast_ref()
    }

    /// Everything about the model but its parameters.
    pub fn config(&self) -> &Config<Hg2vConfig> {
        &self.config
    }

    /// How graphs are made ready for it.
    pub fn preparation(&self) -> &Preparation {
        &self.config.model.preparation
    }

    /// The network as a layer of a larger model, to be given parameters and features.
    pub fn layer(&self) -> Layer {
        Layer::of(&self.network)
    }

    /// The network's parameters, where [`Layer::tensors`] says.
    pub fn parameters(&self) -> &[f32] {
        &self.parameters
    }

    /// The same network before its training: the control that every result
    /// should stand beside.
    pub fn untrained(&self) -> Hg2v {
        let seed = self.config.model.recipe.seed;
        let parameters = initial(&self.network.layout, seed);
        Hg2v { parameters, blocks: self.blocks.untrained(seed), ..self.clone() }
    }

    /// Makes the graphs of a collection ready, which must have been made for the model's
    /// [needs](Model::needs), and what their features had to have resolved.
    ///
    /// # Errors
    /// Graphs whose features are not those of the model.
    pub fn examples(&self, collection: &Collection<'_>) -> Result<(Vec<Example>, Vec<Applied>)> {
        let Hg2vConfig { architecture, preparation, .. } = &self.config.model;
        preparation.examples(collection, &collection.all(), architecture)
    }

    /// What the network reads out of prepared graphs, row after row: their vectors, where
    /// nothing comes after it. GPUs round a little differently from processors, and from each other.
    ///
    /// # Errors
    /// A GPU that fails.
    pub fn embed_examples(&self, examples: &[Example], context: &Context<'_>) -> Result<Vec<f32>> {
        embed::graphs(&context.machine, &self.network, &self.parameters, examples)
    }

    /// Where in what the network [reads out](Hg2v::embed_examples) of a graph the numbers of each level
    /// are, from level 1: those of its nodes `g`, and of the neighbourhoods `x` that look up to it.
    pub fn level_numbers(&self) -> Vec<Vec<Range<usize>>> {
        let layer = self.layer();
        let parts = layer.parts();
        let of_level = |level: usize| {
            let own = parts.iter().filter(|part| match part.local {
                false => part.level == level,
                true => part.level + 1 == level,
            });
            own.map(|part| part.start..part.start + part.columns).collect()
        };
        (1..=layer.architecture().levels).map(of_level).collect()
    }

    /// The vectors of every node of a prepared graph: a row of [`node_dim`](Hg2v::node_dim)
    /// numbers for each, what its super-nodes say included.
    ///
    /// # Errors
    /// A GPU that fails.
    pub fn embed_nodes(&self, example: &Example, context: &Context<'_>) -> Result<Vec<f32>> {
        embed::nodes(&context.machine, &self.network, &self.parameters, example)
    }

    /// Numbers of a node's vector.
    pub fn node_dim(&self) -> usize {
        embed::node_dim(&self.network)
    }

    /// The gradients that `d_embeddings`, a row a graph, has for the parameters
    /// and for the features of the graphs: what a larger model needs to train
    /// this one, or whatever made its features.
    ///
    /// # Errors
    /// Gradients of another shape than the embeddings; a GPU that fails.
    pub fn vjp(
        &self,
        examples: &[Example],
        d_embeddings: &[f32],
        context: &Context<'_>,
    ) -> Result<Gradients> {
        let expected = examples.len() * self.network.layout.embedding_dim();
        if d_embeddings.len() != expected {
            let requirement = format!("the embeddings have {expected} numbers");
            return Err(Error::argument(
                "the number of gradients",
                d_embeddings.len(),
                requirement,
            ));
        }
        match &context.machine {
            Machine::Cpu => {
                let device = Cpu::<f32>::new();
                Ok(self.vjp_by(&device, &self.parameters, examples, d_embeddings))
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(gpu) => {
                let parameters = gpu.uploaded(&self.parameters);
                let gradients = self.vjp_by(gpu, &parameters, examples, d_embeddings);
                gpu.health().map(|()| gradients)
            }
        }
    }

    fn vjp_by<D: Device<Real = f32>>(
        &self,
        device: &D,
        parameters: &D::Buffer,
        examples: &[Example],
        d_embeddings: &[f32],
    ) -> Gradients {
        let network = &self.network;
        let mut workspace = Workspace::new(device);
        let mut gradients = device.zeros(network.layout.len);
        network.place(device, &mut workspace, examples);
        network.forward(device, parameters, &mut workspace, Keep::Everything, true);
        let seeds = Seeds { embeddings: Some(d_embeddings), features: true, ..Seeds::default() };
        network.backward(device, parameters, &mut workspace, seeds, &mut gradients);
        let all = Window::whole(0, 1, network.layout.len);
        Gradients {
            parameters: device.download(Panel(&gradients, all)),
            features: network.feature_gradients(device, &workspace),
        }
    }
}

impl Model for Hg2v {
    fn method(&self) -> &str {
        &self.config.method
    }

    fn settings(&self) -> Value {
        self.config.model.params().settings()
    }

    fn needs(&self) -> Needs {
        let Hg2vConfig { preparation, feature_choice, .. } = &self.config.model;
        Needs {
            weights: preparation.weights,
            coarsening: preparation.coarsening,
            features: Some(*feature_choice),
        }
    }

    fn sees(&self) -> Aspects {
        self.preparation().features.sees()
    }

    fn columns(&self) -> Vec<String> {
        self.blocks.columns(self.network.layout.embedding_names())
    }

    fn dim(&self) -> usize {
        self.blocks.dim(self.network.layout.embedding_dim())
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        self.preparation().features.check(record, origin)
    }

    fn embed_collection(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Rows> {
        let (examples, applied) = self.examples(collection)?;
        let read = self.embed_examples(&examples, context)?;
        let values = self.blocks.vectors(read, &examples, collection, &collection.all())?;
        Ok(Rows { values, applied })
    }

    fn parts(&self) -> Result<Parts> {
        let tensors = self.network.layout.tensors();
        let tensors = tensors.into_iter().fold(Tensors::default(), |tensors, (name, window)| {
            let values = rows(window).flat_map(|row| &self.parameters[row]);
            tensors.with(name, &shape(window), values.copied())
        });
        let (learnt, tensors) = self.blocks.saved(tensors);
        let mut config = self.config.clone();
        config.model.learnt = learnt;
        Parts::new(&config, &tensors)
    }
}

/// Whether nodes are atoms and edges bonds, whose attributes follow from what they are.
fn are_atoms(features: &FeatureSchema) -> bool {
    fn all<T: FromStr>(labels: Option<&[Scalar]>) -> bool {
        let known =
            |label: &Scalar| matches!(label, Scalar::Text(text) if text.parse::<T>().is_ok());
        labels.is_some_and(|labels| labels.iter().all(known))
    }
    let bonds = features.edges().and_then(EdgeSchema::labels);
    all::<AtomLabel>(features.labels()) && all::<BondKind>(bonds)
}

/// A bias is a vector, a weight a matrix.
fn shape(window: Window) -> Vec<usize> {
    if window.rows == 1 { vec![window.columns] } else { vec![window.rows, window.columns] }
}

fn rows(window: Window) -> impl Iterator<Item = Range<usize>> {
    let starts = (0..window.rows).map(move |row| window.offset + row * window.stride);
    starts.map(move |start| start..start + window.columns)
}

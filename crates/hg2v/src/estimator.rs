//! Hierarchical Graph2Vec behind one `fit` and one `embed`.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::coarsen;
use crate::coarsen::cache::Cache;
use crate::dataset::features::{Applied, FeatureChoice, FeatureSchema, When};
use crate::dataset::fingerprint::Fingerprint;
use crate::embed;
use crate::error::{Error, Place, Result};
use crate::graph::{GraphRecord, Scalar, WeightPolicy};
use crate::model::folder::{self, Config, DataNote};
use crate::model::{Architecture, Example, Keep, Layout, Network, Tape, initial};
use crate::nn::device::{Panel, Window};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};
use crate::output::OutputFolder;
use crate::prepare::{Collection, Notes, Preparation, Run};
use crate::train::{End, Flow, Recipe, State, Step, Trainer};

/// How a model is to be made.
///
/// ```
/// use hg2v::Hg2v;
/// let params = Hg2v::params().dim(16).hops(2).levels(2).epochs(3).seed(7);
/// assert!(params.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Hg2vParams {
    /// The network.
    pub architecture: Architecture,
    /// Its training.
    pub recipe: Recipe,
    /// How graphs are coarsened.
    pub coarsening: coarsen::Params,
    /// Which node features are used.
    pub features: FeatureChoice,
    /// What is done with edge weights.
    pub weights: WeightPolicy,
}

/// What serves best over the sets we know: the paper's network, with level 0, the
/// neighbourhoods and a logarithm in its readout, and with the structure around a
/// node as a feature where nodes have no attributes.
impl Default for Hg2vParams {
    fn default() -> Hg2vParams {
        let mut params = Hg2vParams::paper();
        params.architecture.finest = true;
        params.architecture.local = true;
        params.architecture.log = true;
        params.features.structure = When::Auto;
        params
    }
}

impl Hg2vParams {
    /// The paper's reading: sum and max of levels 1 to `L`, nothing more.
    pub fn paper() -> Hg2vParams {
        Hg2vParams {
            architecture: Architecture::default(),
            recipe: Recipe::default(),
            coarsening: coarsen::Params::default(),
            features: FeatureChoice::default(),
            weights: WeightPolicy::default(),
        }
    }

    /// `d`: numbers a node on every level.
    pub fn dim(mut self, dim: usize) -> Hg2vParams {
        self.architecture.dim = dim;
        self
    }

    /// `a`: how far a node looks.
    pub fn hops(mut self, hops: usize) -> Hg2vParams {
        self.architecture.hops = hops;
        self
    }

    /// `L`: how often the graph is coarsened.
    pub fn levels(mut self, levels: usize) -> Hg2vParams {
        self.architecture.levels = levels;
        self
    }

    /// How often every graph is seen.
    pub fn epochs(mut self, epochs: u64) -> Hg2vParams {
        self.recipe.epochs = epochs;
        self
    }

    /// Graphs a step.
    pub fn batch(mut self, batch: usize) -> Hg2vParams {
        self.recipe.batch = batch;
        self
    }

    /// The first learning rate.
    pub fn rate(mut self, rate: f64) -> Hg2vParams {
        self.recipe.rate = rate;
        self
    }

    /// Seeds every random decision.
    pub fn seed(mut self, seed: u64) -> Hg2vParams {
        self.recipe.seed = seed;
        self.coarsening.seed = seed;
        self
    }

    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        self.architecture.check()?;
        self.recipe.check()?;
        self.coarsening.check()
    }

    /// Trains a model on `graphs`; no labels are used.
    ///
    /// # Errors
    /// Parameters outside their domain; no graphs; graphs that disagree on their
    /// features; a training that diverges.
    ///
    /// # Example
    /// ```
    /// use hg2v::Hg2v;
    /// use hg2v::graph::GraphRecord;
    /// // Paths and cycles of ten to nineteen nodes.
    /// let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect::<Vec<_>>();
    /// let graph = |n: u32, edges| GraphRecord { num_nodes: n, edges, ..GraphRecord::default() };
    /// let paths = (10..20).map(|n| graph(n, path(n)));
    /// let cycles = (10..20).map(|n| graph(n, [path(n), vec![[n - 1, 0]]].concat()));
    /// let graphs: Vec<_> = paths.chain(cycles).collect();
    ///
    /// let model = Hg2v::params().dim(8).levels(2).epochs(2).fit(&graphs)?;
    /// let vectors = model.embed(&graphs[..1])?;
    /// // The sum and the largest of g⁰ (nine numbers of structure), g¹, g², x⁰ and x¹.
    /// assert_eq!(vectors.dim, 2 * (9 + 4 * 8));
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn fit(&self, graphs: &[GraphRecord]) -> Result<Hg2v> {
        let collection = self.collect(Run::in_memory(graphs), None)?;
        let fit = self.prepare(&collection, None)?;
        let (model, _) = fit.train(None, |_, _| Ok(Flow::Continue))?;
        Ok(model)
    }

    /// As [`collect`](Hg2vParams::collect), a part at a time; `watch` hears how many graphs
    /// are done, and stops it with an error.
    ///
    /// # Errors
    /// As [`collect`](Hg2vParams::collect); what `watch` returns.
    pub fn collect_watched<'a>(
        &self,
        run: Run<'a>,
        watch: impl FnMut(usize) -> Result<()>,
    ) -> Result<Collection<'a>> {
        self.check()?;
        Collection::watched(run, self.weights, &self.coarsening, watch)
    }

    /// Cleans and coarsens the graphs of `run` as this model will.
    ///
    /// # Errors
    /// Parameters outside their domain; a graph that cannot be used.
    pub fn collect<'a>(&self, run: Run<'a>, cache: Option<&Cache>) -> Result<Collection<'a>> {
        self.check()?;
        Collection::new(run, self.weights, &self.coarsening, cache)
    }

    /// Fits the features to graphs of a collection and makes them ready: all that
    /// comes before training. `train` names the graphs to train on; `None` takes all.
    ///
    /// # Errors
    /// As [`fit`](Hg2vParams::fit).
    pub fn prepare(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Fit> {
        self.check()?;
        let all: Vec<usize>;
        let train = match train {
            Some(train) => train,
            None => {
                all = (0..collection.len()).collect();
                &all
            }
        };
        let run = collection.run;
        if train.is_empty() {
            return Err(Error::input(
                run.file,
                Place::Whole,
                "there are no graphs to train on",
                "give a collection of at least one graph",
            ));
        }
        collection.look_around(self.features, train);
        let chosen = train.iter().map(|&i| (&run.records[i], &collection.graphs[i]));
        let features = FeatureSchema::fit(run.file, self.features, chosen)?;
        let preparation =
            Preparation { features, weights: self.weights, coarsening: self.coarsening };
        let levels = self.architecture.levels;
        let (examples, applied) = preparation.examples(collection, train, levels)?;
        let layout = Layout::new(&self.architecture, preparation.features.dim())?;
        let mut fingerprint = Fingerprint::new();
        train.iter().for_each(|&i| fingerprint.add(&run.records[i]));
        let config = Config {
            format: folder::FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            architecture: self.architecture.clone(),
            recipe: self.recipe,
            feature_choice: self.features,
            preparation,
            data: DataNote {
                graphs: train.len() as u64,
                nodes: examples.iter().map(|example| example.num_nodes() as u64).sum(),
                fingerprint: fingerprint.finish(),
            },
            parameters_sha256: None,
        };
        let notes = Notes { applied, ..collection.notes };
        let (network, machine) = (Network { layout }, Machine::Cpu);
        Ok(Fit { config, network, examples, notes, machine })
    }
}

/// A training that is ready to run.
pub struct Fit {
    /// What the model will be.
    pub config: Config,
    /// The network.
    pub network: Network,
    /// The graphs to train on.
    pub examples: Vec<Example>,
    /// What preparing them met.
    pub notes: Notes,
    /// Where it will run: the processor, unless something else is put here.
    pub machine: Machine,
}

/// A training that failed.
#[derive(Debug)]
pub struct Failure {
    /// Why.
    pub error: Error,
    /// The last state before that was good, where there is one.
    pub good: Option<Box<State>>,
}

impl Fit {
    /// The model before its training.
    pub fn untrained(&self) -> Hg2v {
        let parameters = initial(&self.network.layout, self.config.recipe.seed);
        Hg2v { config: self.config.clone(), network: self.network.clone(), parameters }
    }

    /// The network of `model`, which was trained on other graphs, with the features of
    /// these: each number a node comes with is centred and scaled as it is here.
    ///
    /// # Errors
    /// Nodes that come with another number of numbers than those `model` was trained on,
    /// or another network.
    pub fn transferred(&self, model: &Hg2v) -> Result<Hg2v> {
        let (here, there) = (&self.network.layout, &model.network.layout);
        if here.features != there.features {
            return Err(Error::parameter(
                "features",
                here.features,
                format!("the model was trained on nodes with {} numbers each", there.features),
            ));
        }
        if here.architecture != there.architecture {
            let requirement = "both models must have the same network";
            return Err(Error::parameter("model", "another network", requirement));
        }
        let parameters = model.parameters.clone();
        Ok(Hg2v { config: self.config.clone(), network: self.network.clone(), parameters })
    }

    /// Trains from the beginning, or from `state`; `watch` sees every step.
    ///
    /// # Errors
    /// A state of another network; a training that diverges; what `watch` returns.
    pub fn train(
        &self,
        state: Option<&State>,
        watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> Result<(Hg2v, End)> {
        self.train_keeping(state, watch).map_err(|failure| failure.error)
    }

    /// As [`train`](Fit::train); with an error comes the last good state.
    ///
    /// # Errors
    /// As [`train`](Fit::train).
    pub fn train_keeping(
        &self,
        state: Option<&State>,
        watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        match &self.machine {
            Machine::Cpu => self.train_on(&Cpu::<f32>::new(), state, watch),
            #[cfg(feature = "cuda")]
            Machine::Cuda(card) => self.train_on(card, state, watch),
        }
    }

    fn train_on<D: Device<Real = f32>>(
        &self,
        device: &D,
        state: Option<&State>,
        mut watch: impl FnMut(&dyn Fn() -> State, &Step) -> Result<Flow> + Send,
    ) -> std::result::Result<(Hg2v, End), Failure> {
        let recipe = self.config.recipe;
        let trainer = match state {
            None => Trainer::new(device, &self.network, recipe),
            Some(state) => Trainer::resume(device, &self.network, recipe, state),
        };
        let mut trainer = trainer.map_err(|error| Failure { error, good: None })?;
        let end = trainer
            .run(&self.examples, |trainer, step| watch(&|| trainer.state(), step))
            .map_err(|error| Failure { error, good: Some(Box::new(trainer.state())) })?;
        let model = Hg2v {
            config: self.config.clone(),
            network: self.network.clone(),
            parameters: trainer.state().parameters,
        };
        Ok((model, end))
    }
}

/// A model: graphs in, vectors out.
///
/// The vectors of a graph are the same bits at any number of threads, alone or
/// among others.
#[derive(Debug, Clone)]
pub struct Hg2v {
    config: Config,
    network: Network,
    parameters: Vec<f32>,
}

/// Vectors, a row a graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Embeddings {
    /// Numbers a row.
    pub dim: usize,
    /// The rows, one after the other.
    pub values: Vec<f32>,
    /// The graphs' ids, where they have them.
    pub ids: Vec<Option<Scalar>>,
    /// The graphs' labels, where they have them.
    pub labels: Vec<Option<Scalar>>,
}

impl Embeddings {
    /// The row of graph `i`.
    pub fn row(&self, i: usize) -> &[f32] {
        &self.values[i * self.dim..(i + 1) * self.dim]
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }
}

/// What a gradient of embeddings says about everything they were made from.
#[derive(Debug, Clone, PartialEq)]
pub struct Gradients {
    /// Of the parameters, in the order of [`Layout::tensors`].
    pub parameters: Vec<f32>,
    /// Of the prepared node features, graph after graph.
    pub features: Vec<f32>,
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
    pub fn from_parts(config: Config, parameters: Vec<f32>) -> Result<Hg2v> {
        config.recipe.check()?;
        config.preparation.coarsening.check()?;
        let layout = Layout::new(&config.architecture, config.preparation.features.dim())?;
        if parameters.len() != layout.len {
            let requirement = format!("this network has {}", layout.len);
            return Err(Error::parameter("parameters", parameters.len(), requirement));
        }
        if let Some(bad) = parameters.iter().find(|value| !value.is_finite()) {
            return Err(Error::parameter("parameters", bad, "each must be a finite number"));
        }
        Ok(Hg2v { config, network: Network { layout }, parameters })
    }

    /// Everything about the model but its parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// The network.
    pub fn network(&self) -> &Network {
        &self.network
    }

    /// The network's parameters, where [`Layout::tensors`] says.
    pub fn parameters(&self) -> &Vec<f32> {
        &self.parameters
    }

    /// The same network before its training: the control that every result
    /// should stand beside.
    pub fn untrained(&self) -> Hg2v {
        let parameters = initial(&self.network.layout, self.config.recipe.seed);
        Hg2v { parameters, ..self.clone() }
    }

    /// The vectors of `graphs`.
    ///
    /// # Errors
    /// Graphs whose features are not those of the model.
    pub fn embed(&self, graphs: &[GraphRecord]) -> Result<Embeddings> {
        let (examples, _) = self.examples(Run::in_memory(graphs), None)?;
        Ok(Embeddings {
            dim: self.network.layout.embedding_dim(),
            values: self.embed_examples(&examples),
            ids: graphs.iter().map(|record| record.id.clone()).collect(),
            labels: graphs.iter().map(|record| record.label.clone()).collect(),
        })
    }

    /// The vectors of the graphs of `run`, row after row, [a part](Run::parts) at a time;
    /// `watch` hears how many are done, and stops it with an error.
    ///
    /// # Errors
    /// As [`embed`](Hg2v::embed); what `watch` returns.
    pub fn embed_watched(
        &self,
        run: Run<'_>,
        mut watch: impl FnMut(u64) -> Result<()>,
    ) -> Result<(Vec<f32>, Notes)> {
        let mut values = Vec::new();
        let mut notes = Notes::default();
        for part in run.parts() {
            let (examples, met) = self.examples(part, None)?;
            values.extend(self.embed_examples(&examples));
            notes.add(&met);
            watch(notes.graphs)?;
        }
        Ok((values, notes))
    }

    /// Cleans, coarsens and makes ready the graphs of `run`.
    ///
    /// # Errors
    /// As [`embed`](Hg2v::embed).
    pub fn examples(&self, run: Run<'_>, cache: Option<&Cache>) -> Result<(Vec<Example>, Notes)> {
        let Preparation { weights, coarsening, .. } = &self.config.preparation;
        let collection = Collection::new(run, *weights, coarsening, cache)?;
        let all: Vec<usize> = (0..collection.len()).collect();
        let (examples, applied) = self.examples_of(&collection, &all)?;
        Ok((examples, Notes { applied, ..collection.notes }))
    }

    /// Makes graphs of a collection ready, which must have been cleaned and
    /// coarsened as this model does.
    ///
    /// # Errors
    /// Graphs whose features are not those of the model.
    pub fn examples_of(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<(Vec<Example>, Applied)> {
        self.config.preparation.examples(collection, which, self.config.architecture.levels)
    }

    /// The vectors of prepared graphs, row after row.
    pub fn embed_examples(&self, examples: &[Example]) -> Vec<f32> {
        embed::graphs(&self.network, &self.parameters, examples)
    }

    /// As [`embed_examples`](Hg2v::embed_examples), on any machine. Cards round a
    /// little differently from processors, and from each other.
    ///
    /// # Errors
    /// A card that fails.
    pub fn embed_examples_on(&self, machine: &Machine, examples: &[Example]) -> Result<Vec<f32>> {
        embed::graphs_on(machine, &self.network, &self.parameters, examples)
    }

    /// The gradients that `d_embeddings`, a row a graph, has for the parameters
    /// and for the features of the graphs: what a larger model needs to train
    /// this one, or whatever made its features.
    ///
    /// # Errors
    /// Gradients of another shape than the embeddings.
    pub fn vjp(&self, examples: &[Example], d_embeddings: &[f32]) -> Result<Gradients> {
        self.vjp_on(&Machine::Cpu, examples, d_embeddings)
    }

    /// As [`vjp`](Hg2v::vjp), on any machine.
    ///
    /// # Errors
    /// Gradients of another shape than the embeddings; a card that fails.
    pub fn vjp_on(
        &self,
        machine: &Machine,
        examples: &[Example],
        d_embeddings: &[f32],
    ) -> Result<Gradients> {
        let expected = examples.len() * self.network.layout.embedding_dim();
        if d_embeddings.len() != expected {
            let requirement = format!("the embeddings have {expected} numbers");
            return Err(Error::parameter("gradient", d_embeddings.len(), requirement));
        }
        match machine {
            Machine::Cpu => {
                let device = Cpu::<f32>::new();
                Ok(self.vjp_by(&device, &self.parameters, examples, d_embeddings))
            }
            #[cfg(feature = "cuda")]
            Machine::Cuda(card) => {
                let parameters = card.uploaded(&self.parameters);
                let gradients = self.vjp_by(card, &parameters, examples, d_embeddings);
                card.health().map(|()| gradients)
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
        let mut tape = Tape::new(device);
        let mut gradients = device.zeros(network.layout.len);
        let batch = crate::nn::Batch::concat(examples.iter().map(|example| &example.batch));
        let features: Vec<f32> =
            examples.iter().flat_map(|example| example.features.iter().copied()).collect();
        network.place(device, &mut tape, &batch, &features);
        network.forward(device, parameters, &mut tape, Keep::Everything, true);
        let de = Some(d_embeddings);
        network.backward(device, parameters, &mut tape, None, de, true, &mut gradients);
        let all = Window::whole(0, 1, network.layout.len);
        Gradients {
            parameters: device.download(Panel(&gradients, all)),
            features: network.feature_gradients(device, &tape),
        }
    }

    /// Writes the model as a new folder.
    ///
    /// # Errors
    /// When something that is not an empty folder stands there, or the disk refuses.
    pub fn save(&self, path: &Path) -> Result<()> {
        let folder = OutputFolder::create(path)?;
        self.save_into(folder.working_path()).map_err(|error| folder.named(error))?;
        folder.commit()
    }

    /// Writes the model into a folder that is there.
    ///
    /// # Errors
    /// When the disk refuses.
    pub fn save_into(&self, path: &Path) -> Result<()> {
        let sha256 = folder::write_parameters(path, &self.network.layout, &self.parameters)?;
        let config = Config { parameters_sha256: Some(sha256), ..self.config.clone() };
        folder::write_config(path, &config)
    }

    /// Reads a model's folder, and checks every byte of it.
    ///
    /// # Errors
    /// A file that is missing, damaged, of another version, or does not belong.
    pub fn load(path: &Path) -> Result<Hg2v> {
        if !fs::metadata(path).map_err(|e| Error::io(path, "read", e))?.is_dir() {
            let problem = "a model is a folder with config.json and model.safetensors";
            return Err(Error::input(path, Place::Whole, problem, "name the folder"));
        }
        let config = folder::read_config(path)?;
        let Some(sha256) = &config.parameters_sha256 else {
            return Err(Error::input(
                path,
                Place::Whole,
                "the training of this model is not finished",
                "finish it with hg2v fit --resume",
            ));
        };
        let layout = Layout::new(&config.architecture, config.preparation.features.dim())?;
        let parameters = folder::read_parameters(path, &layout, sha256)?;
        Ok(Hg2v { config, network: Network { layout }, parameters })
    }
}

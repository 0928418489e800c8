//! A model: graphs in, vectors out.

use super::params::Hg2vParams;
use crate::coarsen::cache::Cache;
use crate::dataset::features::Applied;
use crate::embed;
use crate::error::{Action, Error, Place, Problem, Result};
use crate::graph::{GraphRecord, Scalar};
use crate::model::{Example, Keep, Layout, Network, Seeds, Tape, initial};
use crate::nn::device::{Panel, Window};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};
use crate::output::OutputFolder;
use crate::prepare::{Collection, Notes, Preparation, Run};
use crate::saved::{self, Config};
use std::fs;
use std::path::Path;

/// A model: graphs in, vectors out.
///
/// The vectors of a graph are the same bits at any number of threads, alone or
/// among others.
#[derive(Debug, Clone)]
pub struct Hg2v {
    pub(super) config: Config,
    pub(super) network: Network,
    pub(super) parameters: Vec<f32>,
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
            return Err(Error::argument("the number of parameters", parameters.len(), requirement));
        }
        if let Some(bad) = parameters.iter().find(|value| !value.is_finite()) {
            return Err(Error::argument("a parameter", bad, "it must be a finite number"));
        }
        Ok(Hg2v { config, network: Network { layout }, parameters })
    }

    /// Everything about the model but its parameters.
    pub fn config(&self) -> &Config {
        &self.config
    }

    /// Which model this is: 16 hexadecimal digits of the SHA-256 of everything that determines its
    /// vectors. Files of vectors keep it, so that those of another model are told apart.
    ///
    /// # Errors
    /// Parameters that cannot be spelled, which does not happen.
    pub fn digest(&self) -> Result<String> {
        let sha256 = saved::parameters_digest(&self.network.layout, &self.parameters)?;
        Ok(self.config.clone().finished(sha256).digest()[..16].to_owned())
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
            return Err(Error::argument(
                "the number of gradients",
                d_embeddings.len(),
                requirement,
            ));
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
        let Example { batch, features } = Example::concat(examples);
        network.place(device, &mut tape, &batch, &features);
        network.forward(device, parameters, &mut tape, Keep::Everything, true);
        let seeds = Seeds { pairs: None, embeddings: Some(d_embeddings), features: true };
        network.backward(device, parameters, &mut tape, seeds, &mut gradients);
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
        let sha256 = saved::write_parameters(path, &self.network.layout, &self.parameters)?;
        saved::write_config(path, &self.config.clone().finished(sha256))
    }

    /// Reads a model's folder, and checks every byte of it.
    ///
    /// # Errors
    /// A file that is missing, damaged, of another version, or does not belong.
    pub fn load(path: &Path) -> Result<Hg2v> {
        if !fs::metadata(path).map_err(|e| Error::io(path, Action::Read, e))?.is_dir() {
            let problem = "a model is a folder with config.json and model.safetensors";
            return Err(Error::input(path, Place::Whole, problem, "name the folder"));
        }
        let config = saved::read_config(path)?;
        let Some(sha256) = &config.parameters_sha256 else {
            return Err(Problem::Unfinished.at(path, Place::Whole));
        };
        let layout = Layout::new(&config.architecture, config.preparation.features.dim())?;
        let parameters = saved::read_parameters(path, &layout, sha256)?;
        Ok(Hg2v { config, network: Network { layout }, parameters })
    }
}

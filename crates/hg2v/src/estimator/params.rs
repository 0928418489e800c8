//! What a model is to be, and how it is fitted.

use super::fit::Fit;
use super::model::Hg2v;
use crate::coarsen;
use crate::coarsen::cache::Cache;
use crate::dataset::features::{FeatureChoice, FeatureSchema, When};
use crate::error::{Place, Problem, Result};
use crate::graph::{GraphRecord, WeightPolicy};
use crate::model::{Architecture, Layout, Network};
use crate::nn::machine::Machine;
use crate::prepare::{Collection, Notes, Preparation, Run};
use crate::saved::{Config, DataNote};
use crate::train::{Flow, Recipe};
use serde::{Deserialize, Serialize};

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
            let fix = "give a collection of at least one graph".into();
            return Err(Problem::NoGraphs { fix }.at(run.file, Place::Whole));
        }
        collection.look_around(self.features, train);
        let chosen = train.iter().map(|&i| (&run.records[i], &collection.graphs[i]));
        let features = FeatureSchema::fit(run.file, self.features, chosen)?;
        let preparation =
            Preparation { features, weights: self.weights, coarsening: self.coarsening };
        let levels = self.architecture.levels;
        let (examples, applied) = preparation.examples(collection, train, levels)?;
        let layout = Layout::new(&self.architecture, preparation.features.dim())?;
        let data = DataNote::of(train.iter().map(|&i| &run.records[i]));
        let config =
            Config::new(self.architecture.clone(), self.recipe, self.features, preparation, data);
        let notes = Notes { applied, ..collection.notes };
        let (network, machine) = (Network { layout }, Machine::Cpu);
        Ok(Fit { config, network, examples, notes, machine })
    }
}

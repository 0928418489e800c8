//! What a model is to be, and how it is fitted.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::beside::{Beside, Learnt};
use super::fit::Fit;
use super::model::{Hg2v, Hg2vConfig};
use crate::coarsen;
use crate::colours::{ColourParams, Colours};
use crate::context::Context;
use crate::dataset::features::{FeatureChoice, FeatureSchema, When};
use crate::error::{Place, Problem, Result};
use crate::finish;
use crate::graph::{EdgeChoice, GraphRecord, WeightPolicy};
use crate::method::{Method, Model, Resumable};
use crate::model::{Architecture, Network};
use crate::prepare::{Collection, Needs, Preparation, Run};
use crate::saved::{Config, DataNote};
use crate::train::Recipe;

/// The method's name.
const NAME: &str = "hg2v";

/// The name of the control.
const UNTRAINED: &str = "untrained";

/// Settings to start from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Preset {
    /// [`Hg2vParams::default`].
    #[default]
    Default,
    /// The default's network, [alone](Hg2vParams::alone).
    Network,
    /// [`Hg2vParams::paper`].
    Paper,
}

crate::vocabulary! { Preset, "preset":
    Default => "default", "what serves best over all sets we know";
    Network => "network", "the default's network with nothing beside or after it";
    Paper => "paper", "the paper's reading: sum and max of levels 1 to L, nothing more";
}

impl Preset {
    /// The settings.
    pub fn params(self) -> Hg2vParams {
        match self {
            Preset::Default => Hg2vParams::default(),
            Preset::Network => Hg2vParams::default().alone(),
            Preset::Paper => Hg2vParams::paper(),
        }
    }
}

/// How a model is to be made.
///
/// ```
/// use hg2v::Hg2v;
/// let params = Hg2v::params().dim(16).hops(2).levels(2).epochs(3).seed(7);
/// assert!(params.check().is_ok());
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
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
    /// How the colours of nodes are counted beside what the network says.
    pub colours: ColourParams,
    /// When the distributions of nodes' features stand beside it, [slice by slice](crate::slices); `Auto` is
    /// where nodes have attributes, and are not the atoms of molecules, whose attributes follow from their labels.
    pub slices: When,
    /// When the nodes of each label are counted beside it, in a [census](crate::census); `Auto` is where
    /// they are the atoms of molecules.
    pub census: When,
    /// Numbers of a vector, at most, [mixed](crate::finish) of all that is said of a graph; `None`
    /// where it is left as it is.
    pub out_dim: Option<usize>,
}

hg2v_math::setters!(Hg2vParams {
    architecture: Architecture,
    recipe: Recipe,
    coarsening: coarsen::Params,
    features: FeatureChoice,
    weights: WeightPolicy,
    colours: ColourParams,
    slices: When,
    census: When,
    out_dim: Option<usize>,
});

/// What serves best over the sets we know: the paper's network, with level 0, the
/// neighbourhoods and a logarithm in its readout, and with the structure around a
/// node as a feature where nodes have no attributes, and what edges bring; beside it the
/// [colours](crate::colours) of the graph and, where nodes have attributes, their [slices](crate::slices), of the atoms of
/// molecules a [census](crate::census), all of it [mixed](crate::finish).
impl Default for Hg2vParams {
    fn default() -> Hg2vParams {
        let mut params = Hg2vParams::paper();
        params.architecture.finest = true;
        params.architecture.local = true;
        params.architecture.log = true;
        params.features.structure = When::Auto;
        params.features.edges = EdgeChoice::default();
        params.colours = ColourParams::default();
        params.slices = When::Auto;
        params.census = When::Auto;
        params.out_dim = Some(2048);
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
            features: FeatureChoice::default().edges(EdgeChoice::NOTHING),
            weights: WeightPolicy::default(),
            colours: ColourParams::default().dim(0),
            slices: When::Never,
            census: When::Never,
            out_dim: None,
        }
    }

    /// The same with nothing beside or after the network: vectors are what it reads out.
    #[must_use]
    pub fn alone(mut self) -> Hg2vParams {
        self.colours.dim = 0;
        self.slices = When::Never;
        self.census = When::Never;
        self.out_dim = None;
        self
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
    pub fn lr(mut self, lr: f64) -> Hg2vParams {
        self.recipe.lr = lr;
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
        self.colours.check()?;
        self.out_dim.iter().try_for_each(|dim| finish::check(*dim))?;
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
    /// use hg2v::graph::GraphRecord;
    /// use hg2v::{Hg2v, Model};
    /// // Paths and cycles of ten to nineteen nodes.
    /// let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect::<Vec<_>>();
    /// let graph = |n: u32, edges| GraphRecord { num_nodes: n, edges, ..GraphRecord::default() };
    /// let paths = (10..20).map(|n| graph(n, path(n)));
    /// let cycles = (10..20).map(|n| graph(n, [path(n), vec![[n - 1, 0]]].concat()));
    /// let graphs: Vec<_> = paths.chain(cycles).collect();
    ///
    /// let params = Hg2v::params().dim(8).levels(2).epochs(2);
    /// let vectors = params.fit(&graphs)?.embed(&graphs[..1])?;
    /// // What the network reads out and eight colours or so, mixed.
    /// assert_eq!(vectors.dim, 128);
    /// // The sum and the largest of g⁰ (nine numbers of structure), g¹, g², x⁰ and x¹.
    /// let vectors = params.alone().fit(&graphs)?.embed(&graphs[..1])?;
    /// assert_eq!(vectors.dim, 2 * (9 + 4 * 8));
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn fit(&self, graphs: &[GraphRecord]) -> Result<Hg2v> {
        let context = Context::default();
        let collection = self.collect(Run::in_memory(graphs), &context)?;
        self.prepare(&collection, &collection.all())?.train(&context)
    }

    /// Cleans and coarsens the graphs of `run` as this model will.
    ///
    /// # Errors
    /// Parameters outside their domain; a graph that cannot be used.
    pub fn collect<'a>(&self, run: Run<'a>, context: &Context<'_>) -> Result<Collection<'a>> {
        self.check()?;
        Collection::new(run, &self.needs(), context)
    }

    /// Fits the features to graphs of a collection and makes them ready: all that
    /// comes before training. `train` names the graphs to train on.
    ///
    /// # Errors
    /// As [`fit`](Hg2vParams::fit).
    pub fn prepare(&self, collection: &Collection<'_>, train: &[usize]) -> Result<Fit> {
        self.check()?;
        let run = collection.run;
        if train.is_empty() {
            let fix = "give a collection of at least one graph".into();
            return Err(Problem::NoGraphs { fix }.at(run.file, Place::Whole));
        }
        let chosen = train.iter().map(|&i| collection.subject(i));
        let features = FeatureSchema::fit(run.file, self.features, chosen)?;
        let preparation =
            Preparation { features, weights: self.weights, coarsening: Some(self.coarsening) };
        let layout = preparation.layout(&self.architecture)?;
        let (examples, applied) = preparation.examples(collection, train, &self.architecture)?;
        let data = DataNote::of(train.iter().map(|&i| &run.records[i]));
        let model = Hg2vConfig {
            architecture: self.architecture.clone(),
            recipe: self.recipe,
            feature_choice: self.features,
            preparation,
            colours: self.colours,
            slices: self.slices,
            census: self.census,
            out_dim: self.out_dim,
            learnt: Learnt::default(),
        };
        let mut notes = collection.notes;
        applied.iter().for_each(|applied| notes.applied.add(applied));
        let features = model.preparation.features.clone();
        let taken = [model.takes_slices(), model.takes_census()];
        let config = Config::new(NAME, model, data);
        let seed = self.recipe.seed;
        let colours = (self.colours.dim > 0)
            .then(|| Colours::fit(&self.colours, features.sees(), collection, train, seed));
        let graphs = (collection, train, &examples[..]);
        let beside =
            Beside::of(colours.transpose()?, &features, taken, self.out_dim, graphs, seed)?;
        Ok(Fit { config, network: Network { layout }, examples, notes, beside })
    }
}

/// The same network, never trained: the control that tells what training is worth.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Untrained(pub Hg2vParams);

impl Method for Untrained {
    fn name(&self) -> &'static str {
        UNTRAINED
    }

    fn settings(&self) -> Value {
        self.0.settings()
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn needs(&self) -> Needs {
        self.0.needs()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        let mut fit = self.0.prepare(collection, train)?;
        fit.config.method = UNTRAINED.to_owned();
        Ok(Box::new(fit.untrained(context)?))
    }
}

impl Method for Hg2vParams {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        Hg2vParams::check(self)
    }

    fn needs(&self) -> Needs {
        Needs {
            weights: self.weights,
            coarsening: Some(self.coarsening),
            features: Some(self.features),
        }
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        Ok(Box::new(self.prepare(collection, train)?.train(context)?))
    }

    fn resumable(&self) -> Option<&dyn Resumable> {
        Some(self)
    }
}

impl Resumable for Hg2vParams {
    fn prepare(&self, collection: &Collection<'_>, train: &[usize]) -> Result<Fit> {
        Hg2vParams::prepare(self, collection, train)
    }
}

//! Options that describe a model and its training, shared by the commands that train.

use clap::{Args, ValueEnum};
use hg2v::dataset::features::When;
use hg2v::graph::WeightPolicy;
use hg2v::model::{Activation, Layer, Readout};
use hg2v::train::{Negatives, Score};
use hg2v::{Error, Hg2vParams, Method, Result, Untrained, coarsen};
use hg2v_baselines::embedders::graph2vec_gnn::Graph2VecGnn;
use hg2v_baselines::registry;
use serde_json::{Value, json};

use crate::graphs::{MethodArg, WeightArg};

/// The model and its training. What is not given follows from the preset.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Model and training")]
pub(crate) struct NetworkArgs {
    /// Where to start from [default: default]
    #[arg(long, value_enum, value_name = "P")]
    preset: Option<Preset>,
    /// d: numbers a node, on every level [default: 128]
    #[arg(long, value_name = "D")]
    dim: Option<usize>,
    /// a: how far a node looks [default: 4]
    #[arg(long, value_name = "A")]
    hops: Option<usize>,
    /// L: how often a graph is coarsened [default: 3]
    #[arg(long, value_name = "L")]
    levels: Option<usize>,
    /// How a node looks around [default: krylov]
    #[arg(long, value_enum, value_name = "LAYER")]
    layer: Option<LayerArg>,
    /// A layer between the features and level 0 [default: none]
    #[arg(long, value_enum, value_name = "ACT")]
    input: Option<InputArg>,
    /// Whether θ₁ and θ₄ have biases [default: false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    bias: Option<bool>,
    /// How nodes become one vector: sum, max, mean, in the order given [default: sum,max]
    #[arg(long, value_enum, value_delimiter = ',', value_name = "R,…")]
    readout: Option<Vec<ReadoutArg>>,
    /// Whether level 0 is read out too [default: true; of --preset paper, false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    finest: Option<bool>,
    /// Whether the neighbourhoods x are read out too [default: true; of --preset paper, false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    local: Option<bool>,
    /// Whether each number e of an embedding becomes sign(e)·ln(1 + |e|) [default: true; of
    /// --preset paper, false]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    log: Option<bool>,
    /// How often every graph is seen [default: 10]
    #[arg(long, value_name = "N")]
    epochs: Option<u64>,
    /// Graphs a step [default: 8]; for more, multiply the learning rate by √(B/8)
    #[arg(long, value_name = "B")]
    batch: Option<usize>,
    /// The first learning rate [default: 1e-4]
    #[arg(long, value_name = "RATE", allow_negative_numbers = true)]
    lr: Option<f64>,
    /// How many times smaller the last learning rate is [default: 1000]
    #[arg(long, value_name = "X")]
    decay: Option<f64>,
    /// How pairs of neighbourhoods and super-nodes are scored [default: jsd]
    #[arg(long, value_enum, value_name = "LOSS")]
    loss: Option<LossArg>,
    /// τ, with --loss cosine [default: 0.2]
    #[arg(long, value_name = "T", requires = "loss")]
    temperature: Option<f64>,
    /// Which super-nodes a neighbourhood is to be told from [default: all]
    #[arg(long, value_enum, value_name = "WHICH")]
    negatives: Option<NegativesArg>,
    /// Whether the nodes' own attributes are features [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    attributes: Option<bool>,
    /// Whether the nodes' own labels are features [default: true]
    #[arg(long, value_name = "BOOL", num_args = 0..=1, default_missing_value = "true")]
    labels: Option<bool>,
    /// When the degree is a feature; auto: where nodes bring nothing else [default: auto]
    #[arg(long, value_enum, value_name = "WHEN")]
    degree: Option<WhenArg>,
    /// When a node's surroundings are features too (degree, returns of random
    /// walks, clustering); auto: where nodes have no attributes of their own [default: auto; of
    /// --preset paper, never]
    #[arg(long, value_enum, value_name = "WHEN", num_args = 0..=1, default_missing_value = "always")]
    structure: Option<WhenArg>,
    /// How graphs are coarsened [default: variation-neighborhoods]
    #[arg(long, value_enum, value_name = "M")]
    coarsening: Option<MethodArg>,
    /// How much smaller the last level of a pyramid is [default: 0.99]
    #[arg(long, value_name = "R")]
    ratio: Option<f64>,
    /// Eigenvectors that a coarsening keeps [default: 6]
    #[arg(long, value_name = "K")]
    k: Option<usize>,
    /// What to do with edge weights [default: use]
    #[arg(long, value_enum, value_name = "W")]
    weights: Option<WeightArg>,
    #[command(flatten)]
    others: OtherArgs,
}

/// What other methods than HG2V can be told.
#[derive(Args, Clone, Default)]
#[command(next_help_heading = "Other methods")]
pub(crate) struct OtherArgs {
    /// Rounds of Weisfeiler–Lehman refinement [default: 3 of graph2vec and wwl, 4 of the other kernels]
    #[arg(long, value_name = "H")]
    rounds: Option<usize>,
    /// Layers of infograph [default: 4]
    #[arg(long, value_name = "N")]
    layers: Option<usize>,
    /// Training graphs that a kernel's model compares others with [default: twice --dim]
    #[arg(long, value_name = "M")]
    landmarks: Option<usize>,
    /// λ of wwl [default: one over the median distance between landmarks]
    #[arg(long, value_name = "L")]
    lambda: Option<f64>,
}

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum Preset {
    /// what serves best over all sets we know
    Default,
    /// the paper's reading: sum and max of levels 1 to L, nothing more
    Paper,
}

#[derive(Clone, Copy, ValueEnum)]
enum LayerArg {
    /// truncated Krylov: [g, Ãg, …, Ãᵃg]
    Krylov,
    /// a graph convolution: Ãg
    Gcn,
}

#[derive(Clone, Copy, ValueEnum)]
enum InputArg {
    /// no layer: level 0 is the features
    None,
    Linear,
    Relu,
    Tanh,
}

#[derive(Clone, Copy, ValueEnum)]
enum ReadoutArg {
    Sum,
    Max,
    Mean,
}

#[derive(Clone, Copy, ValueEnum)]
enum LossArg {
    /// Jensen–Shannon, the paper's
    Jsd,
    /// InfoNCE
    Infonce,
    /// InfoNCE on cosines
    Cosine,
}

#[derive(Clone, Copy, ValueEnum)]
enum NegativesArg {
    /// all others of the batch
    All,
    /// those of other graphs
    Others,
}

#[derive(Clone, Copy, ValueEnum)]
enum WhenArg {
    /// where it is said to help
    Auto,
    /// beside everything else
    Always,
    /// nowhere
    Never,
}

impl From<WhenArg> for When {
    fn from(when: WhenArg) -> When {
        match when {
            WhenArg::Auto => When::Auto,
            WhenArg::Always => When::Always,
            WhenArg::Never => When::Never,
        }
    }
}

impl Preset {
    /// The model it means.
    pub(crate) fn params(self) -> Hg2vParams {
        match self {
            Preset::Default => Hg2vParams::default(),
            Preset::Paper => Hg2vParams::paper(),
        }
    }
}

impl OtherArgs {
    fn given(&self) -> Vec<(&'static str, Value)> {
        let options = [
            ("rounds", self.rounds.map(|v| json!(v))),
            ("layers", self.layers.map(|v| json!(v))),
            ("landmarks", self.landmarks.map(|v| json!(v))),
            ("lambda", self.lambda.map(|v| json!(v))),
        ];
        options.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }
}

impl NetworkArgs {
    /// The model that the options describe.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub(crate) fn params(&self, seed: u64) -> Result<Hg2vParams> {
        self.over(self.preset.unwrap_or(Preset::Default).params().seed(seed))
    }

    /// The method of this name with the options that were given.
    ///
    /// # Errors
    /// Options that contradict each other, or that the method does not have.
    pub(crate) fn method(&self, name: &str, seed: u64) -> Result<Box<dyn Method>> {
        match name {
            "untrained" | "graph2vec-gnn" => {
                self.refuse_others(name)?;
                let params = self.params(seed)?;
                params.check()?;
                Ok(match name {
                    "untrained" => Box::new(Untrained(params)),
                    _ => Box::new(Graph2VecGnn(params)),
                })
            }
            _ => {
                let entry = registry::find(name)?;
                let mut given = self.given();
                let seeded = entry.vectors.as_ref().is_some_and(|vectors| {
                    vectors.options.iter().any(|(option, _)| *option == "seed")
                });
                if seeded {
                    given.push(("seed", json!(seed)));
                }
                entry.method(&given)
            }
        }
    }

    /// Refuses what HG2V, or a method that is its network, cannot be told.
    pub(crate) fn refuse_others(&self, method: &str) -> Result<()> {
        match self.others.given().first() {
            None => Ok(()),
            Some((name, value)) => {
                Err(Error::parameter(*name, value, format!("{method} has no such option")))
            }
        }
    }

    /// The options that were given, by name.
    fn given(&self) -> Vec<(&'static str, Value)> {
        let mut given = self.others.given();
        let mut add = |name, value: Option<Value>| given.extend(value.map(|value| (name, value)));
        add("preset", self.preset.map(|_| json!(null)));
        add("dim", self.dim.map(|v| json!(v)));
        add("hops", self.hops.map(|v| json!(v)));
        add("levels", self.levels.map(|v| json!(v)));
        add("layer", self.layer.map(|_| json!(null)));
        add("input", self.input.map(|_| json!(null)));
        add("bias", self.bias.map(|v| json!(v)));
        add("readout", self.readout.as_ref().map(|_| json!(null)));
        add("finest", self.finest.map(|v| json!(v)));
        add("local", self.local.map(|v| json!(v)));
        add("log", self.log.map(|v| json!(v)));
        add("epochs", self.epochs.map(|v| json!(v)));
        add("batch", self.batch.map(|v| json!(v)));
        add("lr", self.lr.map(|v| json!(v)));
        add("decay", self.decay.map(|v| json!(v)));
        add("loss", self.loss.map(|_| json!(null)));
        add("negatives", self.negatives.map(|_| json!(null)));
        add("attributes", self.attributes.map(|v| json!(v)));
        add("labels", self.labels.map(|v| json!(v)));
        add("degree", self.degree.map(|v| json!(When::from(v))));
        add("structure", self.structure.map(|v| json!(When::from(v))));
        add("coarsening", self.coarsening.map(|v| json!(coarsen::Method::from(v))));
        add("ratio", self.ratio.map(|v| json!(v)));
        add("k", self.k.map(|v| json!(v)));
        add("weights", self.weights.map(|v| json!(WeightPolicy::from(v))));
        given
    }

    /// The model that the options describe to whoever started with `params`: the same, unless they
    /// say otherwise.
    ///
    /// # Errors
    /// Options that contradict each other.
    pub(crate) fn again(&self, params: &Hg2vParams) -> Result<Hg2vParams> {
        match self.preset {
            Some(_) => self.params(params.recipe.seed),
            None => self.over(params.clone()),
        }
    }

    /// `params`, with every option that was given put over it.
    ///
    /// # Errors
    /// Options that contradict each other.
    fn over(&self, mut params: Hg2vParams) -> Result<Hg2vParams> {
        fn put<T>(slot: &mut T, value: Option<T>) {
            if let Some(value) = value {
                *slot = value;
            }
        }
        let network = &mut params.architecture;
        put(&mut network.dim, self.dim);
        put(&mut network.hops, self.hops);
        put(&mut network.levels, self.levels);
        put(&mut network.bias, self.bias);
        put(&mut network.finest, self.finest);
        put(&mut network.local, self.local);
        put(&mut network.log, self.log);
        let layer = |layer| match layer {
            LayerArg::Krylov => Layer::Krylov,
            LayerArg::Gcn => Layer::Gcn,
        };
        put(&mut network.layer, self.layer.map(layer));
        let input = |input| match input {
            InputArg::None => None,
            InputArg::Linear => Some(Activation::Linear),
            InputArg::Relu => Some(Activation::Relu),
            InputArg::Tanh => Some(Activation::Tanh),
        };
        put(&mut network.input, self.input.map(input));
        let readout = |kind: &ReadoutArg| match kind {
            ReadoutArg::Sum => Readout::Sum,
            ReadoutArg::Max => Readout::Max,
            ReadoutArg::Mean => Readout::Mean,
        };
        put(
            &mut network.readout,
            self.readout.as_ref().map(|kinds| kinds.iter().map(readout).collect()),
        );
        let recipe = &mut params.recipe;
        put(&mut recipe.epochs, self.epochs);
        put(&mut recipe.batch, self.batch);
        put(&mut recipe.lr, self.lr);
        put(&mut recipe.decay, self.decay);
        let score = |loss| match loss {
            LossArg::Jsd => Score::JensenShannon,
            LossArg::Infonce => Score::InfoNce,
            LossArg::Cosine => Score::CosineInfoNce { temperature: 0.2 },
        };
        put(&mut recipe.loss, self.loss.map(score));
        match (&mut recipe.loss, self.temperature) {
            (Score::CosineInfoNce { temperature }, Some(given)) => *temperature = given,
            (_, Some(given)) => {
                return Err(Error::parameter("temperature", given, "it is τ of --loss cosine"));
            }
            (_, None) => {}
        }
        let negatives = |which| match which {
            NegativesArg::All => Negatives::All,
            NegativesArg::Others => Negatives::OtherGraphs,
        };
        put(&mut recipe.negatives, self.negatives.map(negatives));
        put(&mut params.features.attributes, self.attributes);
        put(&mut params.features.labels, self.labels);
        put(&mut params.features.degree, self.degree.map(Into::into));
        put(&mut params.features.structure, self.structure.map(Into::into));
        put(&mut params.coarsening.method, self.coarsening.map(Into::into));
        put(&mut params.coarsening.ratio, self.ratio);
        put(&mut params.coarsening.k, self.k);
        put(&mut params.weights, self.weights.map(Into::into));
        Ok(params)
    }
}

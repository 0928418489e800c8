//! The options of methods: what users call them, what they mean, which values they take, and where
//! in a method's settings each is.
//!
//! The command makes its flags of this table and Python its checks, so that an option has one name
//! and one meaning. Defaults are not here: they are those of the settings.

use hg2v::Preset;
use hg2v::coarsen::CoarsenMethod;
use hg2v::dataset::features::When;
use hg2v::error::{Opt, Result};
use hg2v::graph::{Usage, WeightPolicy};
use hg2v::model::{Activation, Readout};
use hg2v::model::{LayerKind, Relational};
use hg2v::train::{Loss, Negatives};
use hg2v::vocabulary::Named;
use serde::Serialize;
use serde_json::{Value, json};

/// An option of some methods.
pub struct MethodOption {
    /// Its name: in the library, in `config.json`, in the command and in Python.
    pub name: &'static str,
    /// What stands for its value in help.
    pub symbol: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Which values it takes.
    pub kind: Kind,
    /// What happens where its value is none.
    pub unset: &'static str,
}

/// Which values an option takes.
pub enum Kind {
    /// A whole number.
    Whole,
    /// A number.
    Number,
    /// Yes or no.
    Switch,
    /// One of a few words.
    Word(Words),
    /// Some of a few words, in an order.
    List(Words),
}

/// The words that an option takes.
pub struct Words {
    /// Each, and what it means.
    pub all: fn() -> Vec<(&'static str, &'static str)>,
    read: fn(Opt, &str) -> Result<Value>,
    /// The word that is meant where the option is given without one.
    pub alone: Option<&'static str>,
}

impl Words {
    /// Those of an enum.
    const fn of<T: Named + Serialize>() -> Words {
        Words {
            all: || T::ALL.iter().map(|known| (known.word, known.about)).collect(),
            read: |option, word| Ok(json!(T::of_word(option, word)?)),
            alone: None,
        }
    }

    /// Those of the input layer, which may be none at all.
    const fn of_input() -> Words {
        const NONE: &str = "none";
        Words {
            all: || {
                let none = (NONE, "no layer: level 0 is the features");
                [vec![none], (Words::of::<Activation>().all)()].concat()
            },
            read: |option, word| match word {
                NONE => Ok(Value::Null),
                _ => (Words::of::<Activation>().read)(option, word),
            },
            alone: None,
        }
    }

    const fn or_alone(mut self, word: &'static str) -> Words {
        self.alone = Some(word);
        self
    }

    fn value(&self, option: Opt, given: &Value) -> Result<Value> {
        given.as_str().map_or_else(|| Ok(given.clone()), |word| (self.read)(option, word))
    }
}

impl MethodOption {
    /// A value as settings hold it, of one as users give it.
    ///
    /// # Errors
    /// A word that the option does not take.
    pub fn value(&self, given: &Value) -> Result<Value> {
        let option = Opt::new(self.name);
        match (&self.kind, given) {
            (Kind::Word(words), given) => words.value(option, given),
            (Kind::List(words), Value::Array(given)) => {
                given.iter().map(|given| words.value(option, given)).collect()
            }
            _ => Ok(given.clone()),
        }
    }

    /// A value as users give it, of one as settings hold it.
    pub fn spelled(&self, value: &Value) -> String {
        match value {
            Value::Null => self.unset.to_owned(),
            Value::String(word) => word.clone(),
            Value::Array(values) => {
                values.iter().map(|value| self.spelled(value)).collect::<Vec<_>>().join(",")
            }
            // A word with parameters of its own.
            Value::Object(parts) => parts.keys().next().cloned().unwrap_or_default(),
            Value::Number(number) => match number.as_f64() {
                // A number of single precision has more digits than anybody gave.
                Some(number) if f64::from(number as f32) == number => (number as f32).to_string(),
                Some(number) => number.to_string(),
                None => number.to_string(),
            },
            Value::Bool(given) => given.to_string(),
        }
    }
}

/// The option of this name.
pub fn find(name: &str) -> Option<&'static MethodOption> {
    OPTIONS.iter().find(|option| option.name == name)
}

const fn option(
    name: &'static str,
    symbol: &'static str,
    kind: Kind,
    about: &'static str,
) -> MethodOption {
    MethodOption { name, symbol, about, kind, unset: "none" }
}

/// The option whose value is a whole set of others.
pub const PRESET: &str = "preset";

/// All options, in the order of help.
pub static OPTIONS: &[MethodOption] = &[
    option(PRESET, "P", Kind::Word(Words::of::<Preset>()), "Where to start from"),
    option(
        "dim",
        "D",
        Kind::Whole,
        "d: numbers a node, on every level; for other methods, numbers a vector",
    ),
    option("hops", "A", Kind::Whole, "a: how far a node looks"),
    option("levels", "L", Kind::Whole, "L: how often a graph is coarsened"),
    option("layer", "LAYER", Kind::Word(Words::of::<LayerKind>()), "How a node looks around"),
    option(
        "relations",
        "WHEN",
        Kind::Word(Words::of::<Relational>()),
        "When each kind and direction of edge has a hop of its own, on level 0",
    ),
    option(
        "input",
        "ACT",
        Kind::Word(Words::of_input()),
        "A layer between the features and level 0, and what follows its product",
    ),
    option("bias", "BOOL", Kind::Switch, "Whether θ₁ and θ₄ have biases"),
    option(
        "readout",
        "R,…",
        Kind::List(Words::of::<Readout>()),
        "How nodes become one vector, in the order given",
    ),
    option("finest", "BOOL", Kind::Switch, "Whether level 0 is read out too"),
    option("local", "BOOL", Kind::Switch, "Whether the neighbourhoods x are read out too"),
    option(
        "log",
        "BOOL",
        Kind::Switch,
        "Whether each number e of an embedding becomes sign(e)·ln(1 + |e|)",
    ),
    option("epochs", "N", Kind::Whole, "How often every graph is seen"),
    option(
        "batch",
        "B",
        Kind::Whole,
        "Graphs a step; for more than HG2V's default, multiply its learning rate by √(B/8)",
    ),
    option("lr", "RATE", Kind::Number, "The first learning rate"),
    option("decay", "X", Kind::Number, "How many times smaller the last learning rate is"),
    option(
        "loss",
        "LOSS",
        Kind::Word(Words::of::<Loss>()),
        "What pairs of neighbourhoods and super-nodes cost",
    ),
    option("temperature", "T", Kind::Number, "τ of the loss cosine"),
    option(
        "negatives",
        "WHICH",
        Kind::Word(Words::of::<Negatives>()),
        "Which super-nodes a neighbourhood is to be told from",
    ),
    option(
        "negative_sample",
        "N",
        Kind::Whole,
        "Super-nodes drawn to be told from, on levels where a batch has more than eight times as many; 0 \
         for all, in time that grows with the square of a batch",
    ),
    option("attributes", "BOOL", Kind::Switch, "Whether the nodes' own attributes are features"),
    option("labels", "BOOL", Kind::Switch, "Whether the nodes' own labels are features"),
    option(
        "degree",
        "WHEN",
        Kind::Word(Words::of::<When>()),
        "When the degree is a feature; auto: where nodes bring nothing else",
    ),
    option(
        "structure",
        "WHEN",
        Kind::Word(Words::of::<When>().or_alone("always")),
        "When a node's surroundings are features too (degree, returns of random walks, \
         clustering); auto: where nodes have no attributes of their own",
    ),
    option(
        "edge_labels",
        "USAGE",
        Kind::Word(Words::of::<Usage>()),
        "Whether kinds of edges are seen: by HG2V as how many of each a node has",
    ),
    option(
        "edge_attributes",
        "USAGE",
        Kind::Word(Words::of::<Usage>()),
        "Whether numbers of edges are seen, as their sums around a node",
    ),
    option(
        "direction",
        "USAGE",
        Kind::Word(Words::of::<Usage>()),
        "Whether edges that go out and that come in are told apart, in directed graphs",
    ),
    option("coarsening", "M", Kind::Word(Words::of::<CoarsenMethod>()), "How graphs are coarsened"),
    option("ratio", "R", Kind::Number, "How much smaller the last level of a pyramid is"),
    option("k", "K", Kind::Whole, "Eigenvectors that a coarsening keeps"),
    option("weights", "W", Kind::Word(Words::of::<WeightPolicy>()), "What to do with edge weights"),
    option(
        "colours",
        "N",
        Kind::Whole,
        "Numbers for the Weisfeiler–Lehman colours of a graph, beside what the network says; 0 for none",
    ),
    option(
        "slices",
        "WHEN",
        Kind::Word(Words::of::<When>().or_alone("always")),
        "When the distribution of nodes' features stands beside what the network says; auto: where nodes \
         have attributes and are no atoms",
    ),
    option(
        "census",
        "WHEN",
        Kind::Word(Words::of::<When>().or_alone("always")),
        "When the nodes of each label are counted beside what the network says; auto: where \
         nodes are atoms",
    ),
    option("rounds", "H", Kind::Whole, "Rounds of Weisfeiler–Lehman refinement"),
    MethodOption {
        unset: "all that there are",
        ..option(
            "out_dim",
            "N",
            Kind::Whole,
            "Numbers of a vector, at most, each a mixture of all others",
        )
    },
    option("layers", "N", Kind::Whole, "Layers of the network"),
    option("radius", "R", Kind::Whole, "How many bonds far the surroundings of atoms reach"),
    MethodOption {
        unset: "twice the numbers of a vector",
        ..option(
            "landmarks",
            "M",
            Kind::Whole,
            "Training graphs that a kernel's model compares others with",
        )
    },
    MethodOption {
        unset: "one over the median distance between landmarks",
        ..option("gamma", "G", Kind::Number, "γ of the kernel exp(−γ·𝒲)")
    },
];

/// Where in a method's settings its options are, as JSON pointers. One that is in several places
/// has the same value in all.
pub type Places = &'static [(&'static str, &'static str)];

pub(crate) const HG2V: Places = &[
    ("dim", "/architecture/dim"),
    ("hops", "/architecture/hops"),
    ("levels", "/architecture/levels"),
    ("layer", "/architecture/layer"),
    ("relations", "/architecture/relations"),
    ("input", "/architecture/input"),
    ("bias", "/architecture/bias"),
    ("readout", "/architecture/readout"),
    ("finest", "/architecture/finest"),
    ("local", "/architecture/local"),
    ("log", "/architecture/log"),
    ("epochs", "/recipe/epochs"),
    ("batch", "/recipe/batch"),
    ("lr", "/recipe/lr"),
    ("decay", "/recipe/decay"),
    ("loss", "/recipe/loss"),
    ("temperature", "/recipe/loss/cosine/temperature"),
    ("negatives", "/recipe/negatives"),
    ("negative_sample", "/recipe/negative_sample"),
    ("attributes", "/features/attributes"),
    ("labels", "/features/labels"),
    ("degree", "/features/degree"),
    ("structure", "/features/structure"),
    ("edge_labels", "/features/edges/labels"),
    ("edge_attributes", "/features/edges/attributes"),
    ("direction", "/features/edges/direction"),
    ("coarsening", "/coarsening/method"),
    ("ratio", "/coarsening/ratio"),
    ("k", "/coarsening/k"),
    ("weights", "/weights"),
    ("colours", "/colours/dim"),
    ("rounds", "/colours/rounds"),
    ("slices", "/slices"),
    ("census", "/census"),
    ("out_dim", "/out_dim"),
    ("seed", "/recipe/seed"),
    ("seed", "/coarsening/seed"),
];

pub(crate) const GRAPH2VEC: Places = &[
    ("dim", "/skip_gram/dim"),
    ("rounds", "/rounds"),
    ("epochs", "/skip_gram/epochs"),
    ("lr", "/skip_gram/lr"),
    ("batch", "/skip_gram/batch"),
    ("edge_labels", "/edges/labels"),
    ("direction", "/edges/direction"),
    ("seed", "/skip_gram/seed"),
];

pub(crate) const GRAPH2VEC_LOUKAS: Places = &[
    ("dim", "/graph2vec/skip_gram/dim"),
    ("rounds", "/graph2vec/rounds"),
    ("epochs", "/graph2vec/skip_gram/epochs"),
    ("lr", "/graph2vec/skip_gram/lr"),
    ("batch", "/graph2vec/skip_gram/batch"),
    ("edge_labels", "/graph2vec/edges/labels"),
    ("direction", "/graph2vec/edges/direction"),
    ("coarsening", "/coarsening/method"),
    ("ratio", "/coarsening/ratio"),
    ("k", "/coarsening/k"),
    ("seed", "/graph2vec/skip_gram/seed"),
    ("seed", "/coarsening/seed"),
];

pub(crate) const INFOGRAPH: Places = &[
    ("dim", "/dim"),
    ("layers", "/layers"),
    ("epochs", "/epochs"),
    ("batch", "/batch"),
    ("lr", "/lr"),
    ("attributes", "/features/attributes"),
    ("labels", "/features/labels"),
    ("degree", "/features/degree"),
    ("structure", "/features/structure"),
    ("edge_labels", "/features/edges/labels"),
    ("edge_attributes", "/features/edges/attributes"),
    ("direction", "/features/edges/direction"),
    ("seed", "/seed"),
];

pub(crate) const STATISTICS: Places = &[
    ("edge_labels", "/edges/labels"),
    ("edge_attributes", "/edges/attributes"),
    ("direction", "/edges/direction"),
];

pub(crate) const MORGAN: Places = &[("dim", "/dim"), ("radius", "/radius")];

pub(crate) const WL_SUBTREE: Places = &[
    ("dim", "/dim"),
    ("rounds", "/kernel/wl-subtree/rounds"),
    ("edge_labels", "/edges/labels"),
    ("direction", "/edges/direction"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

pub(crate) const WL_OA: Places = &[
    ("dim", "/dim"),
    ("rounds", "/kernel/wl-oa/rounds"),
    ("edge_labels", "/edges/labels"),
    ("direction", "/edges/direction"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

pub(crate) const WWL: Places = &[
    ("dim", "/dim"),
    ("rounds", "/kernel/wwl/rounds"),
    ("gamma", "/kernel/wwl/gamma"),
    ("edge_labels", "/edges/labels"),
    ("direction", "/edges/direction"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

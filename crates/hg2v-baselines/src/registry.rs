//! Every method by its name: what it learns vectors by, and what it is judged as.

use hg2v::error::{Error, Place, Result};
use hg2v::graph::EdgeChoice;
use hg2v::saved::Stored;
use hg2v::vocabulary::Named;
use hg2v::{Hg2v, Hg2vParams, Method, Model, Preset, Untrained};
use hg2v_eval::controls::Majority;
use hg2v_eval::method::{Candidate, GraphKernel, Learner};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::path::Path;

use crate::classifiers::diffpool::DiffPool;
use crate::classifiers::gin::Gin;
use crate::classifiers::mincut::MinCut;
use crate::embedders::graph2vec::{Graph2Vec, Graph2VecModel};
use crate::embedders::graph2vec_gnn::Graph2VecGnn;
use crate::embedders::graph2vec_loukas::{Graph2VecLoukas, Graph2VecLoukasModel};
use crate::embedders::infograph::{InfoGraph, InfoGraphModel};
use crate::embedders::morgan::{Morgan, MorganModel};
use crate::embedders::statistics::{Statistics, StatisticsModel};
use crate::kernels::vectors::{KernelModel, KernelVectors};
use crate::kernels::wl_oa::WlOa;
use crate::kernels::wl_subtree::WlSubtree;
use crate::kernels::wwl::Wwl;
use crate::options::{self, Places};

/// A method that can be asked for.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// How it learns vectors, where it does.
    pub vectors: Option<Vectors>,
    /// What it is compared as, where that is not by its vectors.
    judged: Option<fn(u64, EdgeChoice) -> Judged>,
}

/// How a method learns vectors.
pub struct Vectors {
    /// Its settings as they are by default.
    pub defaults: fn() -> Value,
    /// Where in them each option is that a user can give.
    pub options: Places,
    /// Its settings to start from, where there are several.
    pub(crate) presets: Option<fn(Preset) -> Value>,
    make: fn(Value) -> serde_json::Result<Box<dyn Method>>,
    load: fn(&Stored) -> Result<Box<dyn Model>>,
}

/// What is judged, with all it needs.
pub enum Judged {
    /// Learns vectors.
    Method(Box<dyn Method>),
    /// Compares graphs.
    Kernel(Box<dyn GraphKernel>),
    /// Learns classes.
    Learner(Box<dyn Learner>),
}

impl Judged {
    /// As a study takes it.
    pub fn candidate(&self) -> Candidate<'_> {
        match self {
            Judged::Method(method) => Candidate::Method(&**method),
            Judged::Kernel(kernel) => Candidate::Kernel(&**kernel),
            Judged::Learner(learner) => Candidate::Learner(&**learner),
        }
    }

    /// All its settings, by name: what results are told apart by.
    pub fn settings(&self) -> Value {
        match self {
            Judged::Method(method) => method.settings(),
            Judged::Kernel(kernel) => kernel.settings(),
            Judged::Learner(learner) => learner.settings(),
        }
    }
}

impl Entry {
    /// Whether it is for molecules alone, and refuses other graphs.
    pub fn is_of_molecules(&self) -> bool {
        self.name == MORGAN
    }

    /// The method with its options: names and values as users give them.
    ///
    /// # Errors
    /// A method that learns no vectors; an option that it does not have, or a value that the
    /// option cannot have.
    pub fn method(&self, options: &[(&str, Value)]) -> Result<Box<dyn Method>> {
        self.of_settings(self.settings(options)?)
    }

    /// The method's settings with these options; whether they are within their domains,
    /// [`of_settings`](Entry::of_settings) says.
    ///
    /// # Errors
    /// A method that learns no vectors; an option that it does not have, or a word that the
    /// option does not take.
    pub fn settings(&self, options: &[(&str, Value)]) -> Result<Value> {
        let vectors = self.learning()?;
        let mut settings = (vectors.defaults)();
        let (presets, others): (Vec<_>, Vec<_>) =
            options.iter().cloned().partition(|(name, _)| *name == options::PRESET);
        for (name, word) in presets {
            let preset = Preset::of_word(Preset::OPTION, word.as_str().unwrap_or_default())?;
            let start = vectors.presets.ok_or_else(|| self.lacks(name, &word, vectors))?;
            settings = start(preset);
        }
        self.put(&mut settings, &others)?;
        Ok(settings)
    }

    /// Puts options over settings, names and values as users give them.
    ///
    /// # Errors
    /// As [`settings`](Entry::settings).
    pub fn put(&self, settings: &mut Value, options: &[(&str, Value)]) -> Result<()> {
        let vectors = self.learning()?;
        if let Some((name, value)) = options.iter().find(|(name, _)| !vectors.takes(name)) {
            return Err(self.lacks(name, value, vectors));
        }
        // In the order of places: one may be inside another.
        for (option, place) in vectors.options {
            let Some((_, given)) = options.iter().find(|(name, _)| name == option) else {
                continue;
            };
            let known = options::find(option);
            let value = known.map_or_else(|| Ok(given.clone()), |known| known.value(given))?;
            let Some(slot) = settings.pointer_mut(place) else {
                let around: Vec<&str> = place.rsplit('/').skip(1).take(2).collect();
                let around: Vec<&str> = around.into_iter().rev().collect();
                let requirement = format!("it is for {}", around.join(" "));
                return Err(Error::parameter(*option, given, requirement));
            };
            *slot = value;
        }
        Ok(())
    }

    fn lacks(&self, name: &str, value: &Value, vectors: &Vectors) -> Error {
        let mut known: Vec<&str> = vectors.options.iter().map(|(option, _)| *option).collect();
        known.dedup();
        let known = known.join(", ");
        match options::find(name) {
            Some(option) => {
                let requirement = format!("{} has no such option; it has: {known}", self.name);
                Error::parameter(option.name, option.spelled(value), requirement)
            }
            None => {
                let requirement = format!("it has no option {name}; it has: {known}");
                Error::parameter("method", self.name, requirement)
            }
        }
    }

    /// The method with all its [settings](Method::settings).
    ///
    /// # Errors
    /// A method that learns no vectors; settings that are not its own, or outside their domain.
    pub fn of_settings(&self, settings: Value) -> Result<Box<dyn Method>> {
        let method = (self.learning()?.make)(settings)
            .map_err(|e| Error::parameter("method", self.name, e.to_string()))?;
        method.check()?;
        Ok(method)
    }

    /// How it learns vectors.
    ///
    /// # Errors
    /// A method that does not.
    pub fn learning(&self) -> Result<&Vectors> {
        self.vectors.as_ref().ok_or_else(|| {
            let known: Vec<&str> =
                METHODS.iter().filter(|entry| entry.vectors.is_some()).map(|e| e.name).collect();
            let requirement = format!("it learns no vectors; these do: {}", known.join(", "));
            Error::parameter("method", self.name, requirement)
        })
    }

    /// What it is compared as, with this seed, what is to be seen of edges, and all other settings
    /// as they are by default. Methods that have no such options are as they are.
    ///
    /// # Errors
    /// None for methods of the registry.
    pub fn judged(&self, seed: u64, edges: EdgeChoice) -> Result<Judged> {
        match (self.judged, &self.vectors) {
            (Some(judged), _) => Ok(judged(seed, edges)),
            (None, Some(vectors)) => {
                let mut options = vec![
                    ("seed", json(seed)),
                    ("edge_labels", json(edges.labels)),
                    ("edge_attributes", json(edges.attributes)),
                    ("direction", json(edges.direction)),
                ];
                options.retain(|(name, _)| vectors.takes(name));
                self.method(&options).map(Judged::Method)
            }
            (None, None) => Err(Error::parameter("method", self.name, "it makes nothing")),
        }
    }
}

impl Vectors {
    /// Whether it has this option.
    pub fn takes(&self, name: &str) -> bool {
        self.options.iter().any(|(option, _)| *option == name)
    }
}

/// The method called `name`.
///
/// # Errors
/// A name that no method has.
pub fn find(name: &str) -> Result<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| Error::Unknown {
        option: "method".into(),
        name: name.to_owned(),
        known: METHODS.iter().map(|entry| entry.name.to_owned()).collect(),
    })
}

/// Reads a model's folder, whichever method learnt it, and checks every byte.
///
/// # Errors
/// A file that is missing, damaged, of another version, or does not belong.
pub fn load(folder: &Path) -> Result<Box<dyn Model>> {
    model(&Stored::read(folder)?, folder)
}

/// The model that was read from `folder`.
///
/// # Errors
/// A method that this version does not know; what does not make sense.
pub fn model(stored: &Stored, folder: &Path) -> Result<Box<dyn Model>> {
    let known = find(stored.method()).ok().and_then(|entry| entry.vectors.as_ref());
    let Some(vectors) = known else {
        let method = hg2v::error::shown(stored.method());
        let problem = format!("this is a model of {method}, a method that this version lacks");
        let fix = "use the version of hg2v that wrote it, or fit the model again";
        return Err(Error::input(folder, Place::Whole, problem, fix));
    };
    (vectors.load)(stored)
}

/// A method that is made of its settings, and read by `load`.
const fn vectors<M>(
    defaults: fn() -> Value,
    options: Places,
    load: fn(&Stored) -> Result<Box<dyn Model>>,
) -> Option<Vectors>
where
    M: Method + DeserializeOwned + 'static,
{
    let make: fn(Value) -> serde_json::Result<Box<dyn Method>> =
        |settings| Ok(Box::new(serde_json::from_value::<M>(settings)?));
    Some(Vectors { defaults, options, presets: None, make, load })
}

/// A method whose settings are HG2V's, as they are or [alone](Hg2vParams::alone).
const fn hg2v_vectors<M>(defaults: fn() -> Value, presets: fn(Preset) -> Value) -> Option<Vectors>
where
    M: Method + DeserializeOwned + 'static,
{
    match vectors::<M>(defaults, options::HG2V, hg2v_model) {
        Some(vectors) => Some(Vectors { presets: Some(presets), ..vectors }),
        None => None,
    }
}

fn whole(preset: Preset) -> Value {
    json(preset.params())
}

fn alone(preset: Preset) -> Value {
    json(preset.params().alone())
}

fn json(value: impl Serialize) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn hg2v_model(stored: &Stored) -> Result<Box<dyn Model>> {
    Ok(Box::new(Hg2v::from_stored(stored)?))
}

fn kernel_model(stored: &Stored) -> Result<Box<dyn Model>> {
    Ok(Box::new(KernelModel::from_stored(stored)?))
}

const MORGAN: &str = "morgan";

/// All methods, in the order of tables: HG2V and its controls, then others by role.
pub static METHODS: &[Entry] = &[
    Entry {
        name: "hg2v",
        about: "Hierarchical Graph2Vec",
        vectors: hg2v_vectors::<Hg2vParams>(|| whole(Preset::Default), whole),
        judged: None,
    },
    Entry {
        name: "untrained",
        about: "the same network, never trained",
        vectors: hg2v_vectors::<Untrained>(|| whole(Preset::Default), whole),
        judged: None,
    },
    Entry {
        name: "statistics",
        about: "degree profiles and histograms of features",
        vectors: vectors::<Statistics>(
            || json(Statistics::default()),
            options::STATISTICS,
            |stored| Ok(Box::new(StatisticsModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "majority",
        about: "the largest class for every graph, or the mean of numbers",
        vectors: None,
        judged: Some(|_, _| Judged::Learner(Box::new(Majority))),
    },
    Entry {
        name: "graph2vec",
        about: "skip-gram over Weisfeiler–Lehman labels",
        vectors: vectors::<Graph2Vec>(
            || json(Graph2Vec::default()),
            options::GRAPH2VEC,
            |stored| Ok(Box::new(Graph2VecModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "graph2vec-gnn",
        about: "HG2V without coarsening",
        vectors: hg2v_vectors::<Graph2VecGnn>(|| alone(Preset::Default), alone),
        judged: None,
    },
    Entry {
        name: "graph2vec-loukas",
        about: "Graph2Vec over all levels of pyramids",
        vectors: vectors::<Graph2VecLoukas>(
            || json(Graph2VecLoukas::default()),
            options::GRAPH2VEC_LOUKAS,
            |stored| Ok(Box::new(Graph2VecLoukasModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "infograph",
        about: "nodes told from those of other graphs by what a graph says of itself",
        vectors: vectors::<InfoGraph>(
            || json(InfoGraph::default()),
            options::INFOGRAPH,
            |stored| Ok(Box::new(InfoGraphModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: MORGAN,
        about: "Morgan fingerprints, counted, of molecules",
        vectors: vectors::<Morgan>(
            || json(Morgan::default()),
            options::MORGAN,
            |stored| Ok(Box::new(MorganModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "wl-subtree",
        about: "the Weisfeiler–Lehman subtree kernel",
        vectors: vectors::<KernelVectors>(
            || json(KernelVectors::wl_subtree()),
            options::WL_SUBTREE,
            kernel_model,
        ),
        judged: Some(|_, edges| Judged::Kernel(Box::new(WlSubtree::default().edges(edges)))),
    },
    Entry {
        name: "wl-oa",
        about: "the Weisfeiler–Lehman optimal assignment kernel",
        vectors: vectors::<KernelVectors>(
            || json(KernelVectors::wl_oa()),
            options::WL_OA,
            kernel_model,
        ),
        judged: Some(|_, edges| Judged::Kernel(Box::new(WlOa::default().edges(edges)))),
    },
    Entry {
        name: "wwl",
        about: "the Wasserstein Weisfeiler–Lehman kernel",
        vectors: vectors::<KernelVectors>(
            || json(KernelVectors::wwl()),
            options::WWL,
            kernel_model,
        ),
        judged: Some(|_, edges| Judged::Kernel(Box::new(Wwl::default().edges(edges)))),
    },
    Entry {
        name: "gin",
        about: "the graph isomorphism network, taught by labels",
        vectors: None,
        judged: Some(|seed, edges| {
            let mut gin = Gin::default();
            gin.recipe.seed = seed;
            gin.recipe.features.edges = edges;
            Judged::Learner(Box::new(gin))
        }),
    },
    Entry {
        name: "diffpool",
        about: "pooling that is learnt, taught by labels",
        vectors: None,
        judged: Some(|seed, edges| {
            let mut diffpool = DiffPool::default();
            diffpool.recipe.seed = seed;
            diffpool.recipe.features.edges = edges;
            Judged::Learner(Box::new(diffpool))
        }),
    },
    Entry {
        name: "mincut",
        about: "pooling along cuts, taught by labels",
        vectors: None,
        judged: Some(|seed, edges| {
            let mut mincut = MinCut::default();
            mincut.recipe.seed = seed;
            mincut.recipe.features.edges = edges;
            Judged::Learner(Box::new(mincut))
        }),
    },
];

//! Every method by its name: what it learns vectors by, and what it is judged as.

use hg2v::error::{Error, Place, Result};
use hg2v::saved::Stored;
use hg2v::{Hg2v, Hg2vParams, Method, Model, Untrained};
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
use crate::embedders::statistics::{Statistics, StatisticsModel};
use crate::kernels::vectors::{KernelModel, KernelVectors};
use crate::kernels::wl_oa::WlOa;
use crate::kernels::wl_subtree::WlSubtree;
use crate::kernels::wwl::Wwl;

/// A method that can be asked for.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// How it learns vectors, where it does.
    pub vectors: Option<Vectors>,
    /// What it is compared as, where that is not by its vectors.
    judged: Option<fn(u64) -> Judged>,
}

/// How a method learns vectors.
pub struct Vectors {
    /// Its settings as they are by default.
    pub defaults: fn() -> Value,
    /// Where in them each option is that a user can give.
    pub options: &'static [(&'static str, &'static str)],
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
    /// The method with its options: names and values as users give them.
    ///
    /// # Errors
    /// A method that learns no vectors; an option that it does not have, or a value that the
    /// option cannot have.
    pub fn method(&self, options: &[(&str, Value)]) -> Result<Box<dyn Method>> {
        let vectors = self.learning()?;
        let mut settings = (vectors.defaults)();
        for (name, value) in options {
            let places: Vec<&str> = vectors
                .options
                .iter()
                .filter(|(option, _)| option == name)
                .map(|(_, place)| *place)
                .collect();
            if places.is_empty() {
                let known: Vec<&str> = vectors.options.iter().map(|(option, _)| *option).collect();
                return Err(Error::parameter(
                    "method",
                    self.name,
                    format!("it has no option {name}; it has: {}", known.join(", ")),
                ));
            }
            for place in places {
                if let Some(slot) = settings.pointer_mut(place) {
                    *slot = value.clone();
                }
            }
        }
        self.of_settings(settings)
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

    /// What it is compared as, with settings as they are by default and this seed.
    ///
    /// # Errors
    /// None for methods of the registry.
    pub fn judged(&self, seed: u64) -> Result<Judged> {
        match (self.judged, &self.vectors) {
            (Some(judged), _) => Ok(judged(seed)),
            (None, Some(vectors)) => {
                let seeded = vectors.options.iter().any(|(option, _)| *option == "seed");
                let options = [("seed", Value::from(seed))];
                self.method(&options[..usize::from(seeded)]).map(Judged::Method)
            }
            (None, None) => Err(Error::parameter("method", self.name, "it makes nothing")),
        }
    }
}

/// The method called `name`.
///
/// # Errors
/// A name that no method has.
pub fn find(name: &str) -> Result<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name).ok_or_else(|| {
        let known: Vec<&str> = METHODS.iter().map(|entry| entry.name).collect();
        let requirement = format!("it must be one of: {}", known.join(", "));
        Error::parameter("method", hg2v::error::shown(name), requirement)
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
    options: &'static [(&'static str, &'static str)],
    load: fn(&Stored) -> Result<Box<dyn Model>>,
) -> Option<Vectors>
where
    M: Method + DeserializeOwned + 'static,
{
    let make: fn(Value) -> serde_json::Result<Box<dyn Method>> =
        |settings| Ok(Box::new(serde_json::from_value::<M>(settings)?));
    Some(Vectors { defaults, options, make, load })
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

/// Options of HG2V's network, its training, its features and its coarsening.
const HG2V: &[(&str, &str)] = &[
    ("dim", "/architecture/dim"),
    ("hops", "/architecture/hops"),
    ("levels", "/architecture/levels"),
    ("layer", "/architecture/layer"),
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
    ("negatives", "/recipe/negatives"),
    ("attributes", "/features/attributes"),
    ("labels", "/features/labels"),
    ("degree", "/features/degree"),
    ("structure", "/features/structure"),
    ("coarsening", "/coarsening/method"),
    ("ratio", "/coarsening/ratio"),
    ("k", "/coarsening/k"),
    ("weights", "/weights"),
    ("seed", "/recipe/seed"),
    ("seed", "/coarsening/seed"),
];

const GRAPH2VEC: &[(&str, &str)] = &[
    ("rounds", "/rounds"),
    ("dim", "/skip_gram/dim"),
    ("epochs", "/skip_gram/epochs"),
    ("lr", "/skip_gram/lr"),
    ("batch", "/skip_gram/batch"),
    ("seed", "/skip_gram/seed"),
];

const GRAPH2VEC_LOUKAS: &[(&str, &str)] = &[
    ("rounds", "/graph2vec/rounds"),
    ("dim", "/graph2vec/skip_gram/dim"),
    ("epochs", "/graph2vec/skip_gram/epochs"),
    ("lr", "/graph2vec/skip_gram/lr"),
    ("batch", "/graph2vec/skip_gram/batch"),
    ("coarsening", "/coarsening/method"),
    ("ratio", "/coarsening/ratio"),
    ("k", "/coarsening/k"),
    ("seed", "/graph2vec/skip_gram/seed"),
    ("seed", "/coarsening/seed"),
];

const INFOGRAPH: &[(&str, &str)] = &[
    ("dim", "/hidden"),
    ("layers", "/layers"),
    ("epochs", "/epochs"),
    ("batch", "/batch"),
    ("lr", "/lr"),
    ("attributes", "/features/attributes"),
    ("labels", "/features/labels"),
    ("degree", "/features/degree"),
    ("structure", "/features/structure"),
    ("seed", "/seed"),
];

const WL_SUBTREE: &[(&str, &str)] = &[
    ("rounds", "/kernel/wl-subtree/rounds"),
    ("dim", "/dim"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

const WL_OA: &[(&str, &str)] = &[
    ("rounds", "/kernel/wl-oa/rounds"),
    ("dim", "/dim"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

const WWL: &[(&str, &str)] = &[
    ("rounds", "/kernel/wwl/rounds"),
    ("lambda", "/kernel/wwl/lambda"),
    ("dim", "/dim"),
    ("landmarks", "/landmarks"),
    ("seed", "/seed"),
];

/// All methods, in the order of tables: HG2V and its controls, then others by role.
pub static METHODS: &[Entry] = &[
    Entry {
        name: "hg2v",
        about: "Hierarchical Graph2Vec",
        vectors: vectors::<Hg2vParams>(|| json(Hg2vParams::default()), HG2V, hg2v_model),
        judged: None,
    },
    Entry {
        name: "untrained",
        about: "the same network, never trained",
        vectors: vectors::<Untrained>(|| json(Hg2vParams::default()), HG2V, hg2v_model),
        judged: None,
    },
    Entry {
        name: "statistics",
        about: "degree profiles and histograms of features",
        vectors: vectors::<Statistics>(
            || json(Statistics::default()),
            &[],
            |stored| Ok(Box::new(StatisticsModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "majority",
        about: "the largest class for every graph",
        vectors: None,
        judged: Some(|_| Judged::Learner(Box::new(Majority))),
    },
    Entry {
        name: "graph2vec",
        about: "skip-gram over Weisfeiler–Lehman labels",
        vectors: vectors::<Graph2Vec>(
            || json(Graph2Vec::default()),
            GRAPH2VEC,
            |stored| Ok(Box::new(Graph2VecModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "graph2vec-gnn",
        about: "HG2V without coarsening",
        vectors: vectors::<Graph2VecGnn>(|| json(Hg2vParams::default()), HG2V, hg2v_model),
        judged: None,
    },
    Entry {
        name: "graph2vec-loukas",
        about: "Graph2Vec over all levels of pyramids",
        vectors: vectors::<Graph2VecLoukas>(
            || json(Graph2VecLoukas::default()),
            GRAPH2VEC_LOUKAS,
            |stored| Ok(Box::new(Graph2VecLoukasModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "infograph",
        about: "nodes told from those of other graphs by what a graph says of itself",
        vectors: vectors::<InfoGraph>(
            || json(InfoGraph::default()),
            INFOGRAPH,
            |stored| Ok(Box::new(InfoGraphModel::from_stored(stored)?)),
        ),
        judged: None,
    },
    Entry {
        name: "wl-subtree",
        about: "the Weisfeiler–Lehman subtree kernel",
        vectors: vectors::<KernelVectors>(
            || json(KernelVectors::wl_subtree()),
            WL_SUBTREE,
            kernel_model,
        ),
        judged: Some(|_| Judged::Kernel(Box::new(WlSubtree::default()))),
    },
    Entry {
        name: "wl-oa",
        about: "the Weisfeiler–Lehman optimal assignment kernel",
        vectors: vectors::<KernelVectors>(|| json(KernelVectors::wl_oa()), WL_OA, kernel_model),
        judged: Some(|_| Judged::Kernel(Box::new(WlOa::default()))),
    },
    Entry {
        name: "wwl",
        about: "the Wasserstein Weisfeiler–Lehman kernel",
        vectors: vectors::<KernelVectors>(|| json(KernelVectors::wwl()), WWL, kernel_model),
        judged: Some(|_| Judged::Kernel(Box::new(Wwl::default()))),
    },
    Entry {
        name: "gin",
        about: "the graph isomorphism network, taught by labels",
        vectors: None,
        judged: Some(|seed| {
            let mut gin = Gin::default();
            gin.recipe.seed = seed;
            Judged::Learner(Box::new(gin))
        }),
    },
    Entry {
        name: "diffpool",
        about: "pooling that is learnt, taught by labels",
        vectors: None,
        judged: Some(|seed| {
            let mut diffpool = DiffPool::default();
            diffpool.recipe.seed = seed;
            Judged::Learner(Box::new(diffpool))
        }),
    },
    Entry {
        name: "mincut",
        about: "pooling along cuts, taught by labels",
        vectors: None,
        judged: Some(|seed| {
            let mut mincut = MinCut::default();
            mincut.recipe.seed = seed;
            Judged::Learner(Box::new(mincut))
        }),
    },
];

//! Every method by its name.

use std::fmt::Debug;

use hg2v::Hg2vParams;
use hg2v::nn::machine::Machine;
use hg2v_eval::controls::{Majority, Network, Statistics};
use hg2v_eval::method::{Embedder, GraphKernel, Learner, Role};

use crate::classifiers::diffpool::DiffPool;
use crate::classifiers::gin::Gin;
use crate::classifiers::mincut::MinCut;
use crate::classifiers::training::Recipe;
use crate::embedders::graph2vec::Graph2Vec;
use crate::embedders::graph2vec_gnn::Graph2VecGnn;
use crate::embedders::graph2vec_loukas::Graph2VecLoukas;
use crate::embedders::infograph::InfoGraph;
use crate::kernels::wl_oa::WlOa;
use crate::kernels::wl_subtree::WlSubtree;
use crate::kernels::wwl::Wwl;

/// What a method may depend on beside its own settings.
#[derive(Debug, Clone)]
pub struct Surroundings {
    /// Seeds every random decision.
    pub seed: u64,
    /// Where networks run.
    pub machine: Machine,
}

/// A method that can be asked for.
pub struct Entry {
    /// The name users type.
    pub name: &'static str,
    /// What it is, in a few words.
    pub about: &'static str,
    /// Whether it looks at pyramids; graphs need not be coarsened for the others.
    pub pyramids: bool,
    /// Makes it, with settings as they are by default.
    pub make: fn(&Surroundings) -> Method,
}

/// A method in its role.
pub struct Method {
    in_role: InRole,
    /// All its settings, to tell results of other settings apart.
    pub configuration: String,
}

enum InRole {
    Embedder(Box<dyn Embedder>),
    Kernel(Box<dyn GraphKernel>),
    Learner(Box<dyn Learner>),
}

impl Method {
    /// A method that makes vectors.
    pub fn embedder(method: impl Embedder + Debug + 'static) -> Method {
        let configuration = format!("{method:?}");
        Method { in_role: InRole::Embedder(Box::new(method)), configuration }
    }

    /// A method that compares graphs.
    pub fn kernel(method: impl GraphKernel + Debug + 'static) -> Method {
        let configuration = format!("{method:?}");
        Method { in_role: InRole::Kernel(Box::new(method)), configuration }
    }

    /// A method that learns classes.
    pub fn learner(method: impl Learner + Debug + 'static) -> Method {
        let configuration = format!("{method:?}");
        Method { in_role: InRole::Learner(Box::new(method)), configuration }
    }

    /// What it is judged as.
    pub fn role(&self) -> Role<'_> {
        match &self.in_role {
            InRole::Embedder(method) => Role::Embedder(&**method),
            InRole::Kernel(method) => Role::Kernel(&**method),
            InRole::Learner(method) => Role::Learner(&**method),
        }
    }
}

/// The method called `name`.
pub fn find(name: &str) -> Option<&'static Entry> {
    METHODS.iter().find(|entry| entry.name == name)
}

/// All methods, in the order of tables: HG2V and its controls, then others by role.
#[rustfmt::skip]
pub static METHODS: &[Entry] = &[
    Entry { name: "hg2v", about: "Hierarchical Graph2Vec", pyramids: true, make: |with| Method::embedder(hg2v(with)) },
    Entry { name: "untrained", about: "the same network, never trained", pyramids: true, make: |with| Method::embedder(Network { trained: false, ..hg2v(with) }) },
    Entry { name: "statistics", about: "degree profiles and histograms of features", pyramids: false, make: |_| Method::embedder(Statistics) },
    Entry { name: "majority", about: "the largest class for every graph", pyramids: false, make: |_| Method::learner(Majority) },
    Entry { name: "graph2vec", about: "skip-gram over Weisfeiler–Lehman labels", pyramids: false, make: |with| Method::embedder(graph2vec(with)) },
    Entry { name: "graph2vec-gnn", about: "HG2V without coarsening", pyramids: false, make: |with| Method::embedder(Graph2VecGnn { params: Hg2vParams::default().seed(with.seed), machine: with.machine.clone() }) },
    Entry { name: "graph2vec-loukas", about: "Graph2Vec over all levels of pyramids", pyramids: true, make: |with| Method::embedder(Graph2VecLoukas(graph2vec(with))) },
    Entry { name: "infograph", about: "nodes told from those of other graphs by what a graph says of itself", pyramids: false, make: |with| Method::embedder(InfoGraph { seed: with.seed, ..InfoGraph::default() }) },
    Entry { name: "wl-subtree", about: "the Weisfeiler–Lehman subtree kernel", pyramids: false, make: |_| Method::kernel(WlSubtree::default()) },
    Entry { name: "wl-oa", about: "the Weisfeiler–Lehman optimal assignment kernel", pyramids: false, make: |_| Method::kernel(WlOa::default()) },
    Entry { name: "wwl", about: "the Wasserstein Weisfeiler–Lehman kernel", pyramids: false, make: |_| Method::kernel(Wwl::default()) },
    Entry { name: "gin", about: "the graph isomorphism network, taught by labels", pyramids: false, make: |with| Method::learner(seeded(Gin::default(), |gin| &mut gin.recipe, with)) },
    Entry { name: "diffpool", about: "pooling that is learnt, taught by labels", pyramids: false, make: |with| Method::learner(seeded(DiffPool::default(), |diffpool| &mut diffpool.recipe, with)) },
    Entry { name: "mincut", about: "pooling along cuts, taught by labels", pyramids: false, make: |with| Method::learner(seeded(MinCut::default(), |mincut| &mut mincut.recipe, with)) },
];

fn seeded<L>(mut learner: L, recipe: fn(&mut L) -> &mut Recipe, with: &Surroundings) -> L {
    recipe(&mut learner).seed = with.seed;
    learner
}

fn hg2v(with: &Surroundings) -> Network {
    Network::trained(Hg2vParams::default().seed(with.seed)).on(&with.machine)
}

fn graph2vec(with: &Surroundings) -> Graph2Vec {
    let mut method = Graph2Vec::default();
    method.skip_gram.seed = with.seed;
    method
}

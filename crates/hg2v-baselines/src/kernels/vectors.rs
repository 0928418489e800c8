//! Graph kernels as vectors, by landmarks from the training graphs (Williams and Seeger 2001,
//! *Using the Nyström method to speed up kernel machines*).
//!
//! With `K` the kernel among `m` landmarks and `k(g)` the kernels of a graph with each of them,
//!
//! ```text
//! K = U·Λ·Uᵀ,    φ(g) = Qᵀ·Λ_d^(−1/2)·U_dᵀ·k(g),    ⟨φ(g), φ(h)⟩ ≈ k(g, h)
//! ```
//!
//! where `d` are the largest eigenvalues and `Q` is orthogonal, at random. Without `Q` the
//! columns of `φ` would have variances in proportion to the eigenvalues, and whoever
//! standardises columns would make noise as loud as what graphs differ in. With it all columns
//! vary about as much, so that standardising costs nothing; distances do not change.

use hg2v::context::Context;
use hg2v::dataset::features::{Applied, Origin};
use hg2v::error::{Error, Result};
use hg2v::graph::GraphRecord;
use hg2v::graph::wl::Vocabulary;
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::progress::Stage;
use hg2v::saved::{Config, DataNote, Parts, Stored};
use hg2v::{Method, Model};
use hg2v_math::parallel::try_map;
use hg2v_math::rng::{shuffle, stream};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::landmarks::{LabelIndex, Term};
use super::nystrom::Projection;
use super::wwl::{Nodes, Propagation, Sequences};
use crate::embedders::graph2vec::{check_rounds, numbered};
use crate::wl::Rounds;

/// The most landmarks: their kernels among each other are decomposed densely.
const MOST_LANDMARKS: usize = 8192;

/// Graphs whose kernels with all landmarks are in memory at once.
const AT_ONCE: usize = 1024;

/// A kernel with all its settings.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Kernel {
    /// [Weisfeiler–Lehman subtrees](super::wl_subtree).
    WlSubtree {
        /// `h`.
        rounds: usize,
    },
    /// [Weisfeiler–Lehman optimal assignment](super::wl_oa).
    WlOa {
        /// `h`.
        rounds: usize,
    },
    /// [Wasserstein Weisfeiler–Lehman](super::wwl).
    Wwl {
        /// `H`.
        rounds: usize,
        /// `λ`; one over the median distance between landmarks, unless it is given.
        lambda: Option<f64>,
        /// What nodes are compared by.
        nodes: Nodes,
    },
}

impl Kernel {
    fn name(self) -> &'static str {
        match self {
            Kernel::WlSubtree { .. } => "wl-subtree",
            Kernel::WlOa { .. } => "wl-oa",
            Kernel::Wwl { .. } => "wwl",
        }
    }

    fn rounds(self) -> usize {
        let (Kernel::WlSubtree { rounds } | Kernel::WlOa { rounds } | Kernel::Wwl { rounds, .. }) =
            self;
        rounds
    }

    fn term(self) -> Term {
        match self {
            Kernel::WlSubtree { .. } => |a, b| f64::from(a) * f64::from(b),
            Kernel::WlOa { .. } | Kernel::Wwl { .. } => |a, b| f64::from(a.min(b)),
        }
    }
}

/// A kernel as vectors.
///
/// # Complexity
/// With `m` landmarks and `d` numbers: fitting takes O(m³) time and O(m²) memory. A graph costs
/// O(H·edges) for its labels, one addition for each landmark that has one of them, and
/// O(m·d). By attributes it costs `m` transport problems.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct KernelVectors {
    /// The kernel.
    pub kernel: Kernel,
    /// `d`: numbers of a vector, at most; there are no more than landmarks differ.
    pub dim: usize,
    /// `m`: training graphs that others are compared with; twice `dim`, unless it is given.
    pub landmarks: Option<usize>,
    /// Seeds the choice of landmarks, and the rotation.
    pub seed: u64,
}

hg2v_math::setters!(KernelVectors {
    kernel: Kernel,
    dim: usize,
    landmarks: Option<usize>,
    seed: u64,
});

impl KernelVectors {
    /// Vectors of a kernel, with all else as it is by default.
    pub fn of(kernel: Kernel) -> KernelVectors {
        KernelVectors { kernel, dim: 512, landmarks: None, seed: 0 }
    }

    /// Weisfeiler–Lehman subtrees.
    pub fn wl_subtree() -> KernelVectors {
        KernelVectors::of(Kernel::WlSubtree { rounds: 4 })
    }

    /// Weisfeiler–Lehman optimal assignment.
    pub fn wl_oa() -> KernelVectors {
        KernelVectors::of(Kernel::WlOa { rounds: 4 })
    }

    /// Wasserstein Weisfeiler–Lehman.
    pub fn wwl() -> KernelVectors {
        KernelVectors::of(Kernel::Wwl { rounds: 3, lambda: None, nodes: Nodes::Auto })
    }

    fn most_landmarks(&self) -> usize {
        self.landmarks.unwrap_or(2 * self.dim).min(MOST_LANDMARKS)
    }
}

impl Method for KernelVectors {
    fn name(&self) -> &'static str {
        self.kernel.name()
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        check_rounds(self.kernel.rounds())?;
        for (name, value) in [("dim", Some(self.dim)), ("landmarks", self.landmarks)] {
            if let Some(value) = value.filter(|value| !(1..=MOST_LANDMARKS).contains(value)) {
                let requirement = format!("it must be between 1 and {MOST_LANDMARKS}");
                return Err(Error::parameter(name, value, requirement));
            }
        }
        match self.kernel {
            Kernel::Wwl { lambda: Some(lambda), .. } if !(lambda.is_finite() && lambda > 0.0) => {
                Err(Error::parameter("lambda", lambda, "it must be a finite number above 0"))
            }
            _ => Ok(()),
        }
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        self.check()?;
        let mut chosen = train.to_vec();
        shuffle(&mut chosen, &mut stream(self.seed, "landmarks", 0, 0));
        chosen.truncate(self.most_landmarks());
        let landmarks = self.landmarks_of(collection, train, &chosen)?;
        let mut model = KernelModel {
            settings: *self,
            landmarks,
            lambda: None,
            projection: Projection::default(),
            data: DataNote::of(train.iter().map(|&i| &collection.run.records[i])),
        };
        let compared = model.compared(collection, &chosen, context)?;
        if let Kernel::Wwl { lambda, .. } = self.kernel {
            model.lambda = Some(lambda.unwrap_or_else(|| 1.0 / median(&compared)));
        }
        let gram = model.kernels(compared);
        model.projection = Projection::new(&gram, chosen.len(), self.dim, self.seed)
            .ok_or_else(|| Error::argument("the kernel", self.name(), "it gave no numbers"))?;
        Ok(Box::new(model))
    }
}

impl KernelVectors {
    fn landmarks_of(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        chosen: &[usize],
    ) -> Result<Landmarks> {
        let rounds = self.kernel.rounds();
        Ok(match self.kernel {
            Kernel::Wwl { nodes, .. } if nodes.by_attributes(collection, train) => {
                let propagation = Propagation::fit(collection, train, rounds)?;
                Landmarks::Attributes(propagation.sequences(collection, chosen)?)
            }
            _ => {
                let term = self.kernel.term();
                Landmarks::Labels(LabelIndex::new(collection, chosen, rounds, term)?)
            }
        })
    }
}

/// `𝒲` between a graph of these labels and each landmark: what they do not share.
///
/// With `n` and `n'` nodes, `Σ_l |n'·c(l) − n·c'(l)| = 2·n·n' − 2·Σ_l min(n'·c(l), n·c'(l))`
/// in each round, so that only common labels have to be looked at. Sums are of whole numbers,
/// exact below 2⁵³. A graph without nodes is one node like no other.
fn along_the_tree(index: &LabelIndex, rounds: &Rounds, nodes: u32) -> Vec<f64> {
    let n = f64::from(nodes.max(1));
    let shared = index.shared(rounds, |count, landmark, theirs| {
        let other = f64::from(index.nodes[landmark].max(1));
        (other * f64::from(count)).min(n * f64::from(theirs))
    });
    let apart = shared.iter().zip(&index.nodes).map(|(shared, &theirs)| {
        if nodes == 0 && theirs == 0 {
            return 0.0;
        }
        let whole = n * f64::from(theirs.max(1)) * rounds.len() as f64;
        1.0 - shared / whole
    });
    apart.collect()
}

/// The median of all distances above zero; 1 where there are none.
fn median(distances: &[f64]) -> f64 {
    let mut apart: Vec<f64> =
        distances.iter().copied().filter(|distance| *distance > 0.0).collect();
    apart.sort_unstable_by(f64::total_cmp);
    apart.get(apart.len() / 2).copied().unwrap_or(1.0)
}

/// What graphs are compared with.
#[derive(Debug, Clone)]
enum Landmarks {
    Labels(LabelIndex),
    Attributes(Sequences),
}

impl Landmarks {
    fn len(&self) -> usize {
        match self {
            Landmarks::Labels(index) => index.len(),
            Landmarks::Attributes(sequences) => sequences.len(),
        }
    }
}

/// A kernel's landmarks, and the way from there to vectors.
#[derive(Debug, Clone)]
pub struct KernelModel {
    settings: KernelVectors,
    landmarks: Landmarks,
    /// `λ`, where distances become kernels by it.
    lambda: Option<f64>,
    projection: Projection,
    data: DataNote,
}

/// What `config.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    settings: KernelVectors,
    /// Numbers of a vector.
    columns: usize,
    /// `λ`, where there is one.
    lambda: Option<f64>,
    /// What graphs are compared by.
    compared: SavedLandmarks,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SavedLandmarks {
    Labels(Vocabulary),
    Attributes(Propagation),
}

impl KernelModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<KernelModel> {
        let Config { model: saved, data, .. } = stored.config::<Saved>()?;
        let Saved { settings, columns, lambda, compared } = saved;
        settings.check().map_err(|e| stored.refused(e))?;
        if lambda.is_some() != matches!(settings.kernel, Kernel::Wwl { .. }) {
            return Err(stored.refused("λ and its kernel do not belong together"));
        }
        let mut tensors = stored.tensors()?;
        let landmarks = match compared {
            SavedLandmarks::Labels(vocabulary) => {
                Landmarks::Labels(LabelIndex::of_tensors(&vocabulary, &mut tensors)?)
            }
            SavedLandmarks::Attributes(propagation) => {
                Landmarks::Attributes(Sequences::of_tensors(propagation, &mut tensors)?)
            }
        };
        let rows = tensors.take("projection", &[landmarks.len(), columns])?;
        tensors.finish()?;
        let projection = Projection { dim: columns, rows };
        Ok(KernelModel { settings, landmarks, lambda, projection, data })
    }

    /// Some graphs of a collection beside each landmark: distances, where the kernel is one of
    /// distances, and kernels elsewhere.
    fn compared(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
        context: &Context<'_>,
    ) -> Result<Vec<f64>> {
        let counter = context.counter(Stage::Comparing, which.len() as u64);
        let rows: Vec<Vec<f64>> = match &self.landmarks {
            Landmarks::Labels(index) => {
                let histograms = index.histograms(collection, which)?;
                try_map(0..which.len(), |i| {
                    let row = match self.settings.kernel {
                        Kernel::Wwl { .. } => {
                            let nodes = collection.graphs[which[i]].num_nodes() as u32;
                            along_the_tree(index, &histograms[i], nodes)
                        }
                        kernel => index.normalised(&histograms[i], kernel.term()),
                    };
                    counter.add(1).map(|()| row)
                })?
            }
            Landmarks::Attributes(landmarks) => {
                let own = landmarks.propagation.sequences(collection, which)?;
                try_map(0..which.len(), |i| counter.add(1).map(|()| own.distances(i, landmarks)))?
            }
        };
        Ok(rows.concat())
    }

    /// What was [compared](KernelModel::compared), as kernels.
    fn kernels(&self, compared: Vec<f64>) -> Vec<f64> {
        match self.lambda {
            None => compared,
            Some(lambda) => compared.into_iter().map(|w| (-lambda * w).exp()).collect(),
        }
    }
}

impl Model for KernelModel {
    fn method(&self) -> &str {
        self.settings.name()
    }

    fn needs(&self) -> Needs {
        self.settings.needs()
    }

    fn columns(&self) -> Vec<String> {
        numbered(self.projection.dim)
    }

    fn dim(&self) -> usize {
        self.projection.dim
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        match &self.landmarks {
            Landmarks::Labels(_) => Ok(()),
            Landmarks::Attributes(sequences) => {
                sequences.propagation.features.check(record, origin)
            }
        }
    }

    fn embed_collection(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Rows> {
        let (dim, landmarks) = (self.projection.dim, self.landmarks.len());
        let mut values = vec![0.0; collection.len() * dim];
        // Some at a time: their kernels are much longer than their vectors.
        let all = collection.all();
        for some in all.chunks(AT_ONCE) {
            let compared = self.compared(collection, some, &context.unwatched())?;
            let kernels = self.kernels(compared);
            values[some[0] * dim..][..some.len() * dim]
                .par_chunks_exact_mut(dim.max(1))
                .zip(kernels.par_chunks_exact(landmarks.max(1)))
                .for_each(|(vector, kernels)| self.projection.apply(kernels, vector));
        }
        Ok(Rows { values, applied: vec![Applied::default(); all.len()] })
    }

    fn parts(&self) -> Result<Parts> {
        let (compared, tensors) = match &self.landmarks {
            Landmarks::Labels(index) => {
                let (vocabulary, tensors) = index.tensors();
                (SavedLandmarks::Labels(vocabulary), tensors)
            }
            Landmarks::Attributes(sequences) => {
                let propagation = sequences.propagation.clone();
                (SavedLandmarks::Attributes(propagation), sequences.tensors())
            }
        };
        let Projection { dim, rows } = &self.projection;
        let shape = [self.landmarks.len(), *dim];
        let tensors = tensors.with("projection", &shape, rows.iter().copied());
        let saved = Saved { settings: self.settings, columns: *dim, lambda: self.lambda, compared };
        Parts::new(&Config::new(self.settings.name(), saved, self.data.clone()), &tensors)
    }
}

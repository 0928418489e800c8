//! Graph kernels as vectors, by landmarks from the training graphs (Williams and Seeger 2001,
//! *Using the Nyström method to speed up kernel machines*).
//!
//! With `K` the kernel among graphs of the training part and `k(g)` the kernels of a graph with
//! `m` of them,
//!
//! ```text
//! K ≈ F·Fᵀ,    Fᵀ·F = V·Λ·Vᵀ,    φ(g) = Qᵀ·V_dᵀ·L^(−1)·k(g),    ⟨φ(g), φ(h)⟩ ≈ k(g, h)
//! ```
//!
//! where `F` is a pivoted Cholesky factor, which draws the landmarks, `L` its
//! rows of the landmarks, `V_d` the directions in which training graphs differ most, and `Q`
//! orthogonal, at random. Without `Q` the columns of `φ` would have variances in proportion to
//! the eigenvalues, and whoever standardises columns would make noise as loud as what graphs
//! differ in. With it all columns vary about as much, so that standardising costs nothing;
//! distances do not change.

use std::collections::BTreeMap;

use hg2v::context::Context;
use hg2v::dataset::features::{Applied, Origin};
use hg2v::error::{Error, Result};
use hg2v::graph::wl::Vocabulary;
use hg2v::graph::{Aspects, EdgeChoice, GraphRecord};
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
use super::nystrom::{Factor, Projection};
use super::wwl::{Nodes, Propagation, Sequences};
use crate::embedders::graph2vec::{check_rounds, numbered};
use crate::wl::{self, Rounds};

/// The most landmarks: their kernels among each other are decomposed densely.
const MOST_LANDMARKS: usize = 8192;

/// The training graphs that landmarks are drawn from, at most: each has a row of the factor.
const POOL: usize = 4096;

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
        /// `γ`; one over the median distance between landmarks, unless it is given.
        #[serde(alias = "lambda")]
        gamma: Option<f64>,
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
/// With `n` training graphs, 4096 at most, `m` landmarks and `d` numbers: fitting takes
/// O(n·m·labels + n·m² + m³) time (O(n²·labels) where γ is to be found) and O(n·m) memory. A graph costs
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
    /// What is seen of edges.
    #[serde(default)]
    pub edges: EdgeChoice,
    /// Seeds the choice of landmarks, and the rotation.
    pub seed: u64,
}

hg2v_math::setters!(KernelVectors {
    kernel: Kernel,
    dim: usize,
    landmarks: Option<usize>,
    edges: EdgeChoice,
    seed: u64,
});

impl KernelVectors {
    /// Vectors of a kernel, with all else as it is by default.
    pub fn of(kernel: Kernel) -> KernelVectors {
        KernelVectors { kernel, dim: 512, landmarks: None, edges: EdgeChoice::default(), seed: 0 }
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
        KernelVectors::of(Kernel::Wwl { rounds: 3, gamma: None, nodes: Nodes::Auto })
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
            Kernel::Wwl { gamma: Some(gamma), .. } if !(gamma.is_finite() && gamma > 0.0) => {
                Err(Error::parameter("gamma", gamma, "it must be a finite number above 0"))
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
        let by_attributes = match self.kernel {
            Kernel::Wwl { nodes, .. } => nodes.by_attributes(collection, train),
            _ => false,
        };
        let mut pool = train.to_vec();
        shuffle(&mut pool, &mut stream(self.seed, "landmark pool", 0, 0));
        // Where comparing two graphs is a transport problem, all of the pool are landmarks.
        pool.truncate(self.most_landmarks().max(if by_attributes { 0 } else { POOL }));
        let landmarks = if by_attributes {
            let propagation = Propagation::fit(collection, train, self.kernel.rounds())?;
            Landmarks::Attributes(propagation.sequences(collection, &pool)?)
        } else {
            self.index(collection, [&pool, train])?
        };
        let mut model = KernelModel {
            settings: *self,
            landmarks,
            gamma: None,
            projection: Projection::default(),
            data: DataNote::of(train.iter().map(|&i| &collection.run.records[i])),
        };
        let factor = model.factor(collection, &pool, context)?;
        let chosen: Vec<usize> = factor.pivots.iter().map(|&pivot| pool[pivot]).collect();
        model.landmarks = match model.landmarks {
            Landmarks::Labels(_) => self.index(collection, [&chosen, train])?,
            Landmarks::Attributes(sequences) => {
                Landmarks::Attributes(sequences.propagation.sequences(collection, &chosen)?)
            }
        };
        model.projection = Projection::new(&factor, self.dim, self.seed)
            .ok_or_else(|| Error::argument("the kernel", self.name(), "it gave no numbers"))?;
        Ok(Box::new(model))
    }
}

impl KernelVectors {
    fn index(
        &self,
        collection: &Collection<'_>,
        [which, train]: [&[usize]; 2],
    ) -> Result<Landmarks> {
        let refiner = wl::refiner(self.kernel.rounds(), self.edges, collection, train)?;
        let index = LabelIndex::new(collection, [which, train], refiner, self.kernel.term())?;
        Ok(Landmarks::Labels(index))
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

/// A graph of these labels beside each landmark: its distance by `𝒲`, where the kernel is one of
/// distances, and its kernel elsewhere.
fn compared_by_labels(index: &LabelIndex, kernel: Kernel, rounds: &Rounds, nodes: u32) -> Vec<f64> {
    match kernel {
        Kernel::Wwl { .. } => along_the_tree(index, rounds, nodes),
        kernel => index.normalised(rounds, kernel.term()),
    }
}

/// The bits of a distance that do not tell its bin: there are 256 bins for each power of two.
const WITHIN_BIN: u32 = 44;

/// The median of all distances above zero in `n` rows; 1 where there are none. Each `row` is made
/// twice: once to count the distances of each bin, and once those of the bin that the median is in.
fn median(n: usize, row: impl Fn(usize) -> Result<Vec<f64>> + Sync) -> Result<f64> {
    // Of numbers above zero, the bits are in the numbers' order.
    let bins = counts(n, &row, |bits| Some(bits >> WITHIN_BIN))?;
    let middle = bins.values().sum::<usize>() / 2;
    let Some((bin, before)) = at_rank(&bins, middle) else { return Ok(1.0) };
    let inside = counts(n, &row, |bits| (bits >> WITHIN_BIN == bin).then_some(bits))?;
    Ok(at_rank(&inside, middle - before).map_or(1.0, |(bits, _)| f64::from_bits(bits)))
}

/// How many distances above zero have each key, among those that have one; keys are made of bits.
fn counts(
    n: usize,
    row: &(impl Fn(usize) -> Result<Vec<f64>> + Sync),
    key: impl Fn(u64) -> Option<u64> + Sync,
) -> Result<BTreeMap<u64, usize>> {
    let of_row = |i: usize| -> Result<BTreeMap<u64, usize>> {
        let mut counts = BTreeMap::new();
        let above = row(i)?.into_iter().filter(|distance| *distance > 0.0);
        above.filter_map(|distance| key(distance.to_bits())).for_each(|key| {
            *counts.entry(key).or_default() += 1;
        });
        Ok(counts)
    };
    let mut all = BTreeMap::new();
    for some in (0..n).step_by(AT_ONCE) {
        for counts in try_map(some..n.min(some + AT_ONCE), of_row)? {
            counts.into_iter().for_each(|(key, count)| *all.entry(key).or_default() += count);
        }
    }
    Ok(all)
}

/// The key of the counted thing of this rank, and how many things come before those of that key.
fn at_rank(counts: &BTreeMap<u64, usize>, rank: usize) -> Option<(u64, usize)> {
    let mut before = 0;
    for (&key, count) in counts {
        if before + count > rank {
            return Some((key, before));
        }
        before += count;
    }
    None
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
    /// `γ`, where distances become kernels by it.
    gamma: Option<f64>,
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
    /// `γ`, where there is one.
    #[serde(alias = "lambda")]
    gamma: Option<f64>,
    /// What graphs are compared by.
    compared: SavedLandmarks,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
enum SavedLandmarks {
    Labels(Vocabulary),
    Attributes(Box<Propagation>),
}

impl KernelModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<KernelModel> {
        let Config { model: saved, data, .. } = stored.config::<Saved>()?;
        let Saved { settings, columns, gamma, compared } = saved;
        settings.check().map_err(|e| stored.refused(e))?;
        if gamma.is_some() != matches!(settings.kernel, Kernel::Wwl { .. }) {
            return Err(stored.refused("γ and its kernel do not belong together"));
        }
        let mut tensors = stored.tensors()?;
        let landmarks = match compared {
            SavedLandmarks::Labels(vocabulary) => {
                Landmarks::Labels(LabelIndex::of_tensors(&vocabulary, &mut tensors)?)
            }
            SavedLandmarks::Attributes(propagation) => {
                Landmarks::Attributes(Sequences::of_tensors(*propagation, &mut tensors)?)
            }
        };
        let rows = tensors.take("projection", &[landmarks.len(), columns])?;
        tensors.finish()?;
        let projection = Projection { dim: columns, rows };
        Ok(KernelModel { settings, landmarks, gamma, projection, data })
    }

    /// The kernel's factor among the graphs of the pool, which are the landmarks still; finds γ,
    /// where there is none. Rows of graphs by labels are made when they are asked for, so that they
    /// are never all in memory.
    fn factor(
        &mut self,
        collection: &Collection<'_>,
        pool: &[usize],
        context: &Context<'_>,
    ) -> Result<Factor> {
        let KernelVectors { kernel, seed, .. } = self.settings;
        let (n, most) = (pool.len(), self.settings.most_landmarks());
        let given = match kernel {
            Kernel::Wwl { gamma, .. } => gamma,
            _ => None,
        };
        let unknown = given.is_none() && matches!(kernel, Kernel::Wwl { .. });
        self.gamma = given;
        let index = match &self.landmarks {
            Landmarks::Labels(index) => index.clone(),
            Landmarks::Attributes(_) => {
                let (compared, _) = self.compared(collection, pool, context)?;
                if unknown {
                    let row = |i: usize| Ok(compared[i * n..][..n].to_vec());
                    self.gamma = Some(1.0 / median(n, row)?);
                }
                let gram = self.kernels(compared);
                let diagonal = (0..n).map(|i| gram[i * n + i]).collect();
                return Factor::new(diagonal, |i| Ok(gram[i * n..][..n].to_vec()), most, seed);
            }
        };
        let histograms = index.histograms(collection, pool)?;
        let rows = most.min(n) + if unknown { 2 * n } else { 0 };
        let counter = context.counter(Stage::Comparing, rows as u64);
        let compared = |i: usize| -> Result<Vec<f64>> {
            let nodes = collection.graphs[pool[i]].num_nodes() as u32;
            let row = compared_by_labels(&index, kernel, &histograms[i].0, nodes);
            counter.add(1).map(|()| row)
        };
        if unknown {
            self.gamma = Some(1.0 / median(n, compared)?);
        }
        let diagonal = match kernel {
            // No graph is far from itself.
            Kernel::Wwl { .. } => vec![1.0; n],
            _ => index.diagonal(),
        };
        Factor::new(diagonal, |i| Ok(self.kernels(compared(i)?)), most, seed)
    }

    /// Some graphs of a collection beside each landmark: distances, where the kernel is one of
    /// distances, and kernels elsewhere; and what of each was never met.
    fn compared(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
        context: &Context<'_>,
    ) -> Result<(Vec<f64>, Vec<Applied>)> {
        let counter = context.counter(Stage::Comparing, which.len() as u64);
        let made: Vec<(Vec<f64>, Applied)> = match &self.landmarks {
            Landmarks::Labels(index) => {
                let found = index.histograms(collection, which)?;
                try_map(0..which.len(), |i| {
                    let (histograms, applied) = &found[i];
                    let nodes = collection.graphs[which[i]].num_nodes() as u32;
                    let kernel = self.settings.kernel;
                    let row = compared_by_labels(index, kernel, histograms, nodes);
                    counter.add(1).map(|()| (row, *applied))
                })?
            }
            Landmarks::Attributes(landmarks) => {
                let own = landmarks.propagation.sequences(collection, which)?;
                try_map(0..which.len(), |i| {
                    counter.add(1).map(|()| (own.distances(i, landmarks), own.applied(i)))
                })?
            }
        };
        let (rows, applied): (Vec<_>, Vec<_>) = made.into_iter().unzip();
        Ok((rows.concat(), applied))
    }

    /// What was [compared](KernelModel::compared), as kernels.
    fn kernels(&self, compared: Vec<f64>) -> Vec<f64> {
        match self.gamma {
            None => compared,
            Some(gamma) => compared.into_iter().map(|w| (-gamma * w).exp()).collect(),
        }
    }
}

impl Model for KernelModel {
    fn method(&self) -> &str {
        self.settings.name()
    }

    fn settings(&self) -> Value {
        self.settings.settings()
    }

    fn needs(&self) -> Needs {
        self.settings.needs()
    }

    fn sees(&self) -> Aspects {
        match &self.landmarks {
            Landmarks::Labels(index) => index.refiner().sees(),
            Landmarks::Attributes(sequences) => sequences.propagation.features.sees(),
        }
    }

    fn columns(&self) -> Vec<String> {
        numbered(self.projection.dim)
    }

    fn dim(&self) -> usize {
        self.projection.dim
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        match &self.landmarks {
            Landmarks::Labels(index) => wl::check(index.refiner(), record, origin),
            Landmarks::Attributes(sequences) => {
                sequences.propagation.features.check(record, origin)
            }
        }
    }

    fn embed_collection(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Rows> {
        let (dim, landmarks) = (self.projection.dim, self.landmarks.len());
        let mut values = vec![0.0; collection.len() * dim];
        // Some at a time: their kernels are much longer than their vectors.
        let (all, mut applied) = (collection.all(), Vec::with_capacity(collection.len()));
        for some in all.chunks(AT_ONCE) {
            let (compared, met) = self.compared(collection, some, &context.unwatched())?;
            applied.extend(met);
            let kernels = self.kernels(compared);
            values[some[0] * dim..][..some.len() * dim]
                .par_chunks_exact_mut(dim.max(1))
                .zip(kernels.par_chunks_exact(landmarks.max(1)))
                .for_each(|(vector, kernels)| self.projection.apply(kernels, vector));
        }
        Ok(Rows { values, applied })
    }

    fn parts(&self) -> Result<Parts> {
        let (compared, tensors) = match &self.landmarks {
            Landmarks::Labels(index) => {
                let (vocabulary, tensors) = index.tensors();
                (SavedLandmarks::Labels(vocabulary), tensors)
            }
            Landmarks::Attributes(sequences) => {
                let propagation = sequences.propagation.clone();
                (SavedLandmarks::Attributes(Box::new(propagation)), sequences.tensors())
            }
        };
        let Projection { dim, rows } = &self.projection;
        let shape = [self.landmarks.len(), *dim];
        let tensors = tensors.with("projection", &shape, rows.iter().copied());
        let saved = Saved { settings: self.settings, columns: *dim, gamma: self.gamma, compared };
        Parts::new(&Config::new(self.settings.name(), saved, self.data.clone()), &tensors)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_that_of_all_distances_above_zero() {
        for (n, spread) in [(1, 1.0), (2, 0.0), (3, 1e-300), (40, 1.0), (41, 1e-12)] {
            let rows: Vec<f64> = (0..n * n)
                .map(|i| if i % 3 == 0 { 0.0 } else { 0.5 + spread * ((i * 7919) % 1009) as f64 })
                .collect();
            let mut all: Vec<f64> = rows.iter().copied().filter(|w| *w > 0.0).collect();
            all.sort_unstable_by(f64::total_cmp);
            let expected = all.get(all.len() / 2).copied().unwrap_or(1.0);
            let found = median(n, |i| Ok(rows[i * n..][..n].to_vec())).unwrap();
            assert_eq!(found.to_bits(), expected.to_bits(), "{n} {spread}");
        }
    }
}

//! Spectral pyramids of graphs (Loukas 2019, *Graph reduction with spectral and
//! cut guarantees*).
//!
//! A pyramid is a sequence of ever smaller graphs. Each level contracts disjoint
//! sets of nodes of the level below, chosen so that the lowest part of the
//! Laplacian's spectrum changes as little as possible.
//!
//! 1. `basis`: the `k` lowest eigenpairs become the matrix `A` to be preserved;
//! 2. `variation` and `matching`: which sets to contract, cheapest first;
//! 3. `contract`: the sets become super-nodes;
//! 4. [`quality`]: how much of the spectrum survived; [`cache`]: nothing twice.

mod basis;
pub mod cache;
mod cliques;
pub(crate) mod contract;
mod kron;
mod matching;
pub mod quality;
mod variation;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};
use crate::graph::Graph;
use crate::linalg::spectrum::MOST_PAIRS;
use basis::Basis;
use contract::{assignment_of, contract};

/// How the sets to contract are chosen.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum CoarsenMethod {
    /// Closed neighbourhoods of least local variation. HG2V's.
    #[default]
    VariationNeighborhoods,
    /// Edges of least local variation, greedily matched.
    VariationEdges,
    /// Maximal cliques of least local variation.
    VariationCliques,
    /// Edges heavy for their ends, greedily matched.
    HeavyEdge,
    /// Edges of least algebraic distance after Jacobi relaxation (Ron, Safro & Brandt 2011).
    AlgebraicJc,
    /// Edges of largest affinity after a Gauss–Seidel sweep (Livne & Brandt 2012).
    AffinityGs,
    /// Kron reduction: half the nodes are kept, the others eliminated (Dörfler & Bullo 2013).
    Kron,
}

crate::vocabulary! { CoarsenMethod, "coarsening":
    VariationNeighborhoods => "variation-neighborhoods",
        "closed neighbourhoods of least local variation";
    VariationEdges => "variation-edges", "edges of least local variation";
    VariationCliques => "variation-cliques", "maximal cliques of least local variation";
    HeavyEdge => "heavy-edge", "edges heavy for their ends";
    AlgebraicJc => "algebraic-jc", "edges of least algebraic distance (Jacobi)";
    AffinityGs => "affinity-gs", "edges of largest affinity (Gauss–Seidel)";
    Kron => "kron", "Kron reduction: eliminate every second node";
}

impl CoarsenMethod {
    /// Whether the method weighs sets by local variation, and so needs eigenvectors.
    fn uses_spectrum(self) -> bool {
        matches!(
            self,
            CoarsenMethod::VariationNeighborhoods
                | CoarsenMethod::VariationEdges
                | CoarsenMethod::VariationCliques
        )
    }

    /// Whether the method starts from random test vectors.
    fn draws(self) -> bool {
        matches!(self, CoarsenMethod::AlgebraicJc | CoarsenMethod::AffinityGs)
    }

    /// Whether the method contracts sets, so that its matrix `C` gives a projection.
    pub fn contracts(self) -> bool {
        self != CoarsenMethod::Kron
    }
}

/// What [`coarsen`] is to do.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Params {
    /// How sets are chosen.
    pub method: CoarsenMethod,
    /// How many of the lowest eigenpairs to preserve, the constant one included.
    pub k: usize,
    /// How much smaller the last level is to be: `1 − n/N`.
    pub ratio: f64,
    /// The most levels above the graph itself.
    pub max_levels: usize,
    /// Seeds the test vectors of `algebraic-jc` and `affinity-gs`; the other
    /// methods draw nothing.
    pub seed: u64,
}

hg2v_math::setters!(Params {
    method: CoarsenMethod,
    k: usize,
    ratio: f64,
    max_levels: usize,
    seed: u64
});

impl Default for Params {
    /// HG2V's: neighbourhoods, `k = 6`, `r = 0.99`, at most ten levels.
    fn default() -> Params {
        Params {
            method: CoarsenMethod::VariationNeighborhoods,
            k: 6,
            ratio: 0.99,
            max_levels: 10,
            seed: 0,
        }
    }
}

impl Params {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        if self.k == 0 || self.k > MOST_PAIRS {
            let requirement = format!("it must be between 1 and {MOST_PAIRS}");
            return Err(Error::parameter("k", self.k, requirement));
        }
        if !(0.0..1.0).contains(&self.ratio) {
            let requirement = "it must be at least 0 and less than 1 (0.99 keeps a hundredth)";
            return Err(Error::parameter("ratio", self.ratio, requirement));
        }
        if self.max_levels > 100 {
            return Err(Error::parameter("max_levels", self.max_levels, "it must be at most 100"));
        }
        Ok(())
    }
}

/// A graph's coarser and coarser versions.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Pyramid {
    /// The nodes of the graph itself.
    pub num_nodes: usize,
    /// The levels above it, each smaller than the one below.
    pub levels: Vec<Level>,
    /// Whether every eigenproblem was solved to its tolerance.
    pub converged: bool,
}

impl Pyramid {
    /// A graph alone.
    pub fn without_levels(graph: &Graph) -> Pyramid {
        Pyramid { num_nodes: graph.num_nodes(), levels: Vec::new(), converged: true }
    }
}

/// One level of a [`Pyramid`].
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Level {
    /// The super-node of each node of the level below: surjective, and numbered by each
    /// super-node's smallest member (by the node that stays, where nodes are eliminated).
    pub assignment: Vec<u32>,
    /// The level's graph.
    pub graph: Graph,
}

/// The pyramid of `graph`.
///
/// Disconnected graphs need no care of the caller: every component brings its
/// own `k` eigenpairs, and the sets of all components compete in one queue.
/// Isolated nodes stay as they are on every level. A graph may have no level at
/// all: one that removes two nodes or fewer is not worth having.
///
/// # Examples
/// ```
/// use hg2v::coarsen::{Params, coarsen};
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// //  0 — 1 — 2 — 3 — 4 — 5
/// let path = GraphRecord {
///     num_nodes: 6,
///     edges: (0..5).map(|v| [v, v + 1]).collect(),
///     ..GraphRecord::default()
/// };
/// let (graph, _) = Graph::from_record(&path, WeightPolicy::Use).unwrap();
/// let pyramid = coarsen(&graph, &Params::default().ratio(0.5))?;
/// assert_eq!(pyramid.levels[0].assignment, [0, 0, 0, 1, 2, 2]);
/// # Ok::<(), hg2v::Error>(())
/// ```
///
/// # Errors
/// Parameters outside their domain; a Kron reduction or a clique family too
/// large to hold.
///
/// # Complexity
/// The eigenpairs take time linear in nodes and edges for practical graphs (see
/// `linalg`); a level's sets take `O(Σ_S (|S| + |E_S|)·k²)` over
/// the sets weighed, and a heap.
pub fn coarsen(graph: &Graph, params: &Params) -> Result<Pyramid> {
    params.check()?;
    if params.method.draws() {
        return best_of_draws(graph, params);
    }
    let basis = if params.method.uses_spectrum() && graph.num_nodes() > target(graph, params) {
        Basis::of(graph, params.k)
    } else {
        Basis::default()
    };
    build(graph, params, basis, 0)
}

/// How many draws of test vectors the drawing methods choose from.
const DRAWS: u64 = 8;

/// Methods that start from random test vectors are a lottery, on which one
/// unlucky contraction can spoil `ε`: several draws are made and the pyramid of
/// least `ε` is kept.
fn best_of_draws(graph: &Graph, params: &Params) -> Result<Pyramid> {
    let basis = Basis::of(graph, params.k);
    let mut best: Option<(f64, Pyramid)> = None;
    for draw in 0..DRAWS {
        let pyramid = build(graph, params, Basis::default(), draw)?;
        let epsilon = quality::epsilon(graph, &basis, &pyramid);
        if best.as_ref().is_none_or(|(least, _)| epsilon < *least) {
            best = Some((epsilon, pyramid));
        }
    }
    let pyramid = best.map(|(_, pyramid)| pyramid).unwrap_or_default();
    Ok(Pyramid { converged: basis.converged(), ..pyramid })
}

/// The size at which a pyramid ends.
fn target(graph: &Graph, params: &Params) -> usize {
    ((1.0 - params.ratio) * graph.num_nodes() as f64).ceil() as usize
}

/// Contracts level after level.
fn build(graph: &Graph, params: &Params, mut basis: Basis, draw: u64) -> Result<Pyramid> {
    let target = target(graph, params);
    let mut pyramid =
        Pyramid { num_nodes: graph.num_nodes(), levels: Vec::new(), converged: basis.converged() };
    for level in 1..=params.max_levels {
        let current = pyramid.levels.last().map_or(graph, |level| &level.graph);
        let size = current.num_nodes();
        if size <= target {
            break;
        }
        // How much of the current level is still to go.
        let reduction = (1.0 - target as f64 / size as f64).clamp(0.0, 0.99);
        let next = if params.method == CoarsenMethod::Kron {
            kron::reduce(current, reduction)?
        } else {
            let sets = match params.method {
                CoarsenMethod::VariationNeighborhoods => {
                    variation::neighborhoods(current, &basis, reduction)
                }
                CoarsenMethod::VariationCliques => variation::cliques(current, &basis, reduction)?,
                _ => matching::matching(current, &basis, reduction, params, draw, level),
            };
            let assignment = assignment_of(size, &sets);
            let graph = contract(current, &assignment);
            Level { assignment, graph }
        };
        // So few nodes are not worth a level.
        if size - next.graph.num_nodes() <= 2 {
            break;
        }
        if params.method.uses_spectrum() {
            basis.coarsen(&next.assignment, &next.graph);
        }
        pyramid.levels.push(next);
    }
    Ok(pyramid)
}

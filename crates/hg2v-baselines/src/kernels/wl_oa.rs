//! The Weisfeiler–Lehman optimal assignment kernel.
//!
//! Kriege, Giscard and Wilson 2016, *On valid optimal assignment kernels and
//! applications to graph classification*: the nodes of two graphs are matched one to
//! one so that as much as possible is alike, where two nodes are as alike as they share
//! labels over all rounds. Labels of later rounds refine those of earlier ones, so the
//! similarity is an ultrametric, and the best matching is what the histograms have in
//! common:
//!
//! ```text
//! k_h(G, H) = max_B Σ_{(u,v) ∈ B} Σ_{l ≤ h} [xˡ(u) = xˡ(v)]
//!           = Σ_{l ≤ h} Σ_x min(c_G^l(x), c_H^l(x))
//! ```
//!
//! `B` runs over the one-to-one matchings of nodes, `c_G^l(x)` counts the nodes of `G`
//! that are called `x` after round `l`. It is normalised to `k(G, G) = 1`.

use hg2v::context::Context;
use hg2v::graph::EdgeChoice;
use hg2v::prepare::Collection;
use hg2v_eval::Matrix;
use hg2v_eval::error::Result;
use hg2v_eval::method::GraphKernel;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::inverted::grams;
use crate::wl::Histograms;

/// The kernel; its variants are 0 to `rounds` rounds.
///
/// # Complexity
/// As the [subtree kernel](super::wl_subtree): no matching is searched for.
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v::graph::GraphRecord;
/// use hg2v::prepare::{Collection, Needs, Run};
/// use hg2v_baselines::kernels::wl_oa::WlOa;
/// use hg2v_eval::method::GraphKernel;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs = [ring(5), ring(5), ring(8)];
/// let context = Context::default();
/// let collection = Collection::new(Run::in_memory(&graphs), &Needs::default(), &context)?;
/// let grams = WlOa::default().rounds(2).grams(&collection, &context)?;
/// assert!((grams[0].row(0)[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), hg2v_eval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WlOa {
    /// `h`, the most rounds.
    pub rounds: usize,
    /// What is seen of edges.
    pub edges: EdgeChoice,
}

hg2v_math::setters!(WlOa { rounds: usize, edges: EdgeChoice });

/// Seven rounds, as in the paper.
impl Default for WlOa {
    fn default() -> WlOa {
        WlOa { rounds: 7, edges: EdgeChoice::default() }
    }
}

impl WlOa {
    /// The matrix of all rounds alone, in the memory of one.
    ///
    /// # Errors
    /// As [`grams`](GraphKernel::grams).
    pub fn gram(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Matrix> {
        Ok(self.grams_from(self.rounds, collection, context)?.swap_remove(0))
    }

    fn grams_from(
        &self,
        first: usize,
        collection: &Collection<'_>,
        context: &Context<'_>,
    ) -> Result<Vec<Matrix>> {
        let histograms = Histograms::of(collection, self.rounds, self.edges)?;
        grams(&histograms, first, |a, b| f64::from(a.min(b)), context)
    }
}

impl GraphKernel for WlOa {
    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn variants(&self) -> usize {
        self.rounds + 1
    }

    fn grams(&self, collection: &Collection<'_>, context: &Context<'_>) -> Result<Vec<Matrix>> {
        self.grams_from(0, collection, context)
    }
}

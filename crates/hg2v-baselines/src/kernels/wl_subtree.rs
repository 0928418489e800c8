//! The Weisfeiler–Lehman subtree kernel.
//!
//! Shervashidze, Schweitzer, van Leeuwen, Mehlhorn and Borgwardt 2011,
//! *Weisfeiler-Lehman graph kernels*: two graphs are as alike as they have rooted
//! subtrees in common,
//!
//! ```text
//! k_h(G, H) = Σ_{l ≤ h} Σ_x c_G^l(x) · c_H^l(x)
//! ```
//!
//! with `c_G^l(x)` the number of nodes of `G` that are called `x` after round `l` of
//! [refinement](hg2v::graph::wl): the inner product of histograms. It is normalised to
//! `k(G, G) = 1`.

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
/// Time O(h·m) for the labels of m edges in all, then one multiplication for each label
/// that two graphs have in common; memory 8·n² bytes a setting.
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v::graph::GraphRecord;
/// use hg2v::prepare::{Collection, Needs, Run};
/// use hg2v_baselines::kernels::wl_subtree::WlSubtree;
/// use hg2v_eval::method::GraphKernel;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs = [ring(5), ring(5), ring(8)];
/// let context = Context::default();
/// let collection = Collection::new(Run::in_memory(&graphs), &Needs::default(), &context)?;
/// let grams = WlSubtree::default().rounds(2).grams(&collection, &context)?;
/// assert!((grams[0].row(0)[1] - 1.0).abs() < 1e-12);
/// # Ok::<(), hg2v_eval::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct WlSubtree {
    /// `h`, the most rounds.
    pub rounds: usize,
    /// What is seen of edges.
    pub edges: EdgeChoice,
}

hg2v_math::setters!(WlSubtree { rounds: usize, edges: EdgeChoice });

/// Seven rounds, as in the papers that choose among them.
impl Default for WlSubtree {
    fn default() -> WlSubtree {
        WlSubtree { rounds: 7, edges: EdgeChoice::default() }
    }
}

impl WlSubtree {
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
        grams(&histograms, first, |a, b| f64::from(a) * f64::from(b), context)
    }
}

impl GraphKernel for WlSubtree {
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

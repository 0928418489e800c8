//! HG2V without coarsening: *Graph2Vec+GNN* of the paper's ablation (its Table 4).
//!
//! Every level of the pyramid is the graph itself, each node its own super-node. Then the
//! levels are what rounds of Weisfeiler–Lehman refinement are to [Graph2Vec](super::graph2vec),
//! computed by the network of HG2V from all features a node has, and trained by telling a
//! node's next level from those of the others.

use hg2v::context::Context;
use hg2v::error::Result;
use hg2v::prepare::{Collection, Needs};
use hg2v::{Fit, Hg2vParams, Method, Model, Resumable};
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The method: the model and its training; its coarsening is not used. What it learns is HG2V's
/// network, for graphs whose levels are all the graph itself.
///
/// # Complexity
/// As HG2V, but no level is smaller than the one below: a step compares each of the N nodes
/// of a batch with all others on every level, O(N²·d·L) time, as far as none are
/// [drawn](hg2v::train::Recipe::negative_sample).
///
/// # Examples
/// ```
/// use hg2v::Method;
/// use hg2v::graph::GraphRecord;
/// use hg2v_baselines::embedders::graph2vec_gnn::Graph2VecGnn;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
/// let model = Graph2VecGnn(hg2v::Hg2v::params().dim(4).levels(2).epochs(1)).fit(&graphs)?;
/// assert_eq!(model.embed(&[ring(20)])?.len(), 1);
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Graph2VecGnn(pub Hg2vParams);

/// The network alone: what the ablation is about.
impl Default for Graph2VecGnn {
    fn default() -> Graph2VecGnn {
        Graph2VecGnn(Hg2vParams::default().alone())
    }
}

const NAME: &str = "graph2vec-gnn";

impl Method for Graph2VecGnn {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        self.0.settings()
    }

    fn check(&self) -> Result<()> {
        self.0.check()
    }

    fn needs(&self) -> Needs {
        self.0.needs().coarsening(None)
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        Ok(Box::new(self.prepare(collection, train)?.train(context)?))
    }

    fn resumable(&self) -> Option<&dyn Resumable> {
        Some(self)
    }
}

impl Resumable for Graph2VecGnn {
    fn prepare(&self, collection: &Collection<'_>, train: &[usize]) -> Result<Fit> {
        // Of pyramids that others look at, nothing is to be seen.
        let flat = collection.without_pyramids();
        let mut fit = self.0.prepare(&flat, train)?;
        fit.config.method = NAME.to_owned();
        fit.config.model.preparation.coarsening = None;
        Ok(fit)
    }
}

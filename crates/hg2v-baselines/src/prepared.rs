//! Graphs with the features of their nodes, as HG2V sees them.

use std::sync::Arc;

use hg2v::Hg2vParams;
use hg2v::dataset::features::{
    Applied, EdgeSchema, FeatureChoice, FeatureSchema, LinkRows, Origin,
};
use hg2v::error::{Error, Result};
use hg2v::graph::Graph;
use hg2v::prepare::Collection;
use hg2v_math::Real;
use hg2v_math::parallel::try_map;
use rayon::prelude::*;

use crate::network::Pass;
use crate::tape::{Array, Graphs, Var};

/// Nodes that a network at work takes at once.
pub(crate) const NODES: usize = 1 << 13;

/// The node features that HG2V takes by default, so that all methods see the same.
pub fn default_features() -> FeatureChoice {
    Hg2vParams::default().features
}

/// The features of all graphs, fitted to the graphs `train`.
///
/// # Errors
/// Graphs that disagree on their features.
pub(crate) fn fitted_features(
    collection: &Collection<'_>,
    choice: FeatureChoice,
    train: &[usize],
) -> Result<FeatureSchema> {
    let chosen = train.iter().map(|&i| collection.subject(i));
    FeatureSchema::fit(collection.run.file, choice, chosen)
}

/// Graphs ready for a network.
pub(crate) struct Prepared<'a> {
    /// Numbers a node.
    pub(crate) dim: usize,
    graphs: Vec<&'a Graph>,
    /// The rows of each graph's nodes.
    features: Vec<Vec<f32>>,
    /// Numbers an edge, where edges have any.
    pub(crate) link_dim: usize,
    /// The rows of each graph's edges.
    links: Vec<LinkRows>,
}

impl<'a> Prepared<'a> {
    /// The graphs `which` of a collection, in their order, and what their features had to have
    /// resolved.
    ///
    /// # Errors
    /// Graphs whose features are not those of the schema.
    pub(crate) fn new(
        collection: &'a Collection<'_>,
        schema: &FeatureSchema,
        which: &[usize],
    ) -> Result<(Prepared<'a>, Vec<Applied>)> {
        let run = collection.run;
        let made = try_map(which, |&i| {
            let origin = Origin { file: run.file, position: run.position_of(i) };
            let (rows, applied) = schema.apply(collection.subject(i), origin)?;
            Ok::<_, Error>((rows.values, applied))
        })?;
        let (features, applied) = made.into_iter().unzip();
        let links = schema.edges().map_or_else(Vec::new, |edges| {
            let links = |&i: &usize| edges.links(&run.records[i], &collection.graphs[i]);
            which.par_iter().map(links).collect()
        });
        let link_dim = schema.edges().map_or(0, EdgeSchema::link_dim);
        let graphs = which.iter().map(|&i| &collection.graphs[i]).collect();
        Ok((Prepared { dim: schema.dim(), graphs, features, link_dim, links }, applied))
    }

    /// How many graphs.
    pub(crate) fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Some graphs, put on a pass.
    pub(crate) fn batch<R: Real>(
        &self,
        which: &[usize],
        pass: &mut Pass<'_, R>,
    ) -> (Arc<Graphs<R>>, Var) {
        let mut graphs = Graphs::new(which.iter().map(|&i| self.graphs[i]));
        if self.link_dim > 0 {
            graphs = graphs.with_links(self.link_dim, which.iter().map(|&i| &self.links[i]));
        }
        let values = which.iter().flat_map(|&i| &self.features[i]);
        let values: Vec<R> = values.map(|&x| R::from_f64(f64::from(x))).collect();
        let x = pass.tape.constant(Array::new(graphs.num_nodes(), self.dim, values));
        (graphs, x)
    }

    /// The same graphs in runs of at most `nodes` nodes, or of one graph.
    pub(crate) fn portions<'w>(&self, which: &'w [usize], nodes: usize) -> Vec<&'w [usize]> {
        let (mut runs, mut start, mut total) = (Vec::new(), 0, 0);
        for (at, &i) in which.iter().enumerate() {
            let own = self.graphs[i].num_nodes();
            if at > start && total + own > nodes {
                runs.push(&which[start..at]);
                (start, total) = (at, 0);
            }
            total += own;
        }
        runs.push(&which[start..]);
        runs
    }

    /// How many nodes these graphs have, in the mean.
    pub(crate) fn mean_nodes(&self, which: &[usize]) -> f64 {
        let nodes: usize = which.iter().map(|&i| self.graphs[i].num_nodes()).sum();
        nodes as f64 / which.len().max(1) as f64
    }
}

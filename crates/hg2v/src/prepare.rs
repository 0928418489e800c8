//! From records to what the network sees, the same way for every graph a model meets.

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::coarsen::cache::{Cache, Origin, pyramids};
use crate::coarsen::{self, Pyramid};
use crate::dataset::features;
use crate::dataset::features::{Applied, FeatureSchema};
use crate::error::{Error, Place, Result};
use crate::graph::{Findings, Graph, GraphRecord, WeightPolicy};
use crate::model::Example;

/// How records become [`Example`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// How nodes become rows of numbers.
    pub features: FeatureSchema,
    /// What is done with edge weights.
    pub weights: WeightPolicy,
    /// How graphs are coarsened.
    pub coarsening: coarsen::Params,
}

/// What preparing met, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Notes {
    /// Graphs.
    pub graphs: u64,
    /// Their nodes.
    pub nodes: u64,
    /// Their edges.
    pub edges: u64,
    /// What the graphs' records had to have resolved.
    pub found: Findings,
    /// What the features had to have resolved.
    pub applied: Applied,
    /// Graphs whose pyramids came from the cache.
    pub from_cache: u64,
    /// Graphs whose eigenvectors did not reach their tolerance.
    pub not_converged: u64,
}

impl Notes {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Notes) {
        self.graphs += other.graphs;
        self.nodes += other.nodes;
        self.edges += other.edges;
        self.found.add(&other.found);
        self.applied.add(&other.applied);
        self.from_cache += other.from_cache;
        self.not_converged += other.not_converged;
    }
}

/// The graph that a record describes; `position` (from 0) and `file` are for messages.
///
/// # Errors
/// A negative weight under [`WeightPolicy::Use`].
pub fn graph_of(
    record: &GraphRecord,
    weights: WeightPolicy,
    file: &Path,
    position: u64,
) -> Result<(Graph, Findings)> {
    Graph::from_record(record, weights).map_err(|refused| {
        let [u, v] = record.edges[refused.edge];
        let name = record.name(position);
        Error::input(
            file,
            Place::Record(position + 1),
            format!("the edge between nodes {u} and {v} of {name} weighs {}", refused.weight),
            "a Laplacian needs weights of at least 0: say --weights abs or --weights ignore",
        )
    })
}

/// A run of records of `file`, of which the first stands at `position` (from 0).
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The records.
    pub records: &'a [GraphRecord],
    /// Where they came from.
    pub file: &'a Path,
    /// The position of the first.
    pub position: u64,
}

impl Run<'_> {
    /// The graphs of the records, and what was met on the way.
    ///
    /// # Errors
    /// As [`graph_of`], for the first graph that fails.
    pub fn graphs(&self, weights: WeightPolicy) -> Result<(Vec<Graph>, Findings)> {
        let made: Vec<(Graph, Findings)> = self
            .records
            .par_iter()
            .enumerate()
            .map(|(i, record)| graph_of(record, weights, self.file, self.position + i as u64))
            .collect::<Result<_>>()?;
        let mut found = Findings::default();
        made.iter().for_each(|(_, findings)| found.add(findings));
        Ok((made.into_iter().map(|(graph, _)| graph).collect(), found))
    }
}

impl Preparation {
    /// Makes the records of `run` ready for a network of `levels` levels.
    ///
    /// # Errors
    /// A graph that the features or the weights refuse, or that cannot be coarsened.
    pub fn examples(
        &self,
        run: Run<'_>,
        levels: usize,
        cache: Option<&Cache>,
    ) -> Result<(Vec<Example>, Notes)> {
        let (graphs, found) = run.graphs(self.weights)?;
        self.examples_of(run, &graphs, found, levels, cache)
    }

    /// As [`examples`](Preparation::examples), where the graphs are there already.
    pub(crate) fn examples_of(
        &self,
        run: Run<'_>,
        graphs: &[Graph],
        found: Findings,
        levels: usize,
        cache: Option<&Cache>,
    ) -> Result<(Vec<Example>, Notes)> {
        let (made, origin) = pyramids(graphs, &self.coarsening, cache)?;
        let example = |i: usize| {
            let origin = features::Origin { file: run.file, position: run.position + i as u64 };
            let (rows, applied) = self.features.apply(&run.records[i], &graphs[i], origin)?;
            Ok((Example::new(&graphs[i], &made[i], rows.values, levels), applied))
        };
        let examples: Vec<(Example, Applied)> =
            (0..graphs.len()).into_par_iter().map(example).collect::<Result<_>>()?;
        let mut notes = Notes {
            graphs: graphs.len() as u64,
            nodes: graphs.iter().map(|graph| graph.num_nodes() as u64).sum(),
            edges: graphs.iter().map(|graph| graph.num_edges() as u64).sum(),
            found,
            from_cache: if origin == Origin::Cache { graphs.len() as u64 } else { 0 },
            not_converged: made.iter().filter(|pyramid: &&Pyramid| !pyramid.converged).count()
                as u64,
            ..Notes::default()
        };
        examples.iter().for_each(|(_, applied)| notes.applied.add(applied));
        Ok((examples.into_iter().map(|(example, _)| example).collect(), notes))
    }
}

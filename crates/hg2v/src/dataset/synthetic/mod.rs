//! Graphs made on purpose: classical families, random models,
//! diffusion-limited aggregation, calls of a program's functions, and molecules
//! with pictures for atoms.
//!
//! Every graph is a pure function of `(seed, model, index)`: it draws from its
//! own random stream, so a set comes out the same at any number of threads, and
//! its first graphs are those of any longer set.

pub mod calls;
pub mod dla;
pub mod families;
pub mod frankenstein;
pub mod noise;
pub mod random;

use std::ops::Range;

use super::Sink;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::{GraphRecord, Scalar};
use crate::progress::{Report, Stage};

use hg2v_math::parallel::try_map;
use hg2v_math::rng::{self, ChaCha8Rng};
use noise::Noise;

/// A way to make graphs.
pub trait Model: Sync {
    /// The model's name, which also names its random streams.
    fn name(&self) -> &'static str;

    /// Whether the parameters make sense.
    ///
    /// # Errors
    /// [`Error::Parameter`], naming the first that does not.
    fn check(&self) -> Result<()>;

    /// How many nodes a graph has.
    fn num_nodes(&self) -> u64;

    /// The `index`-th graph of a set, drawing from `rng` alone. The parameters
    /// have passed [`check`](Model::check).
    fn graph(&self, index: u64, rng: &mut ChaCha8Rng) -> GraphRecord;
}

/// A set of graphs of one model.
#[non_exhaustive]
pub struct SyntheticSet<'a> {
    /// What makes the graphs.
    pub model: &'a dyn Model,
    /// How many.
    pub graphs: u64,
    /// The seed of every random decision.
    pub seed: u64,
    /// What is done to each graph afterwards.
    pub noise: Noise,
    /// The label of every graph, in place of the model's own.
    pub label: Option<Scalar>,
}

impl<'a> SyntheticSet<'a> {
    /// So many graphs of a model as it makes them.
    pub fn new(model: &'a dyn Model, graphs: u64, seed: u64) -> SyntheticSet<'a> {
        SyntheticSet { model, graphs, seed, noise: Noise::default(), label: None }
    }

    /// The same with this done to each graph.
    #[must_use]
    pub fn noise(self, noise: Noise) -> SyntheticSet<'a> {
        SyntheticSet { noise, ..self }
    }

    /// The same with this label for every graph.
    #[must_use]
    pub fn label(self, label: Option<Scalar>) -> SyntheticSet<'a> {
        SyntheticSet { label, ..self }
    }

    /// The `index`-th graph; its id is its index.
    ///
    /// # Errors
    /// Bad parameters, or more noise than the graph has room for.
    pub fn graph(&self, index: u64) -> Result<GraphRecord> {
        self.model.check()?;
        let mut rng = rng::stream(self.seed, self.model.name(), 0, index);
        let mut record = self.model.graph(index, &mut rng);
        self.noise.apply(&mut record, &mut rng::stream(self.seed, "noise", 0, index))?;
        record.id = Some(Scalar::Int(index as i64));
        if self.label.is_some() {
            record.label.clone_from(&self.label);
        }
        Ok(record)
    }

    /// All graphs, made in parallel.
    ///
    /// # Errors
    /// As [`graph`](SyntheticSet::graph).
    pub fn records(&self) -> Result<Vec<GraphRecord>> {
        self.range(0..self.graphs)
    }

    fn range(&self, which: Range<u64>) -> Result<Vec<GraphRecord>> {
        let count = (which.end - which.start) as usize;
        try_map(0..count, |at| self.graph(which.start + at as u64))
    }

    /// Makes all graphs in parallel and hands them to `sink` in order, a bounded
    /// number at a time.
    ///
    /// # Errors
    /// As [`graph`](SyntheticSet::graph), and what the sink refuses; [`Stopped`](Error::Stopped).
    pub fn write(&self, sink: &mut dyn Sink, context: &Context<'_>) -> Result<Totals> {
        /// Nodes in memory at once, give or take a graph a thread.
        const NODES_AT_ONCE: u64 = 1 << 20;
        self.model.check()?;
        let threads = rayon::current_num_threads() as u64;
        let at_once = (NODES_AT_ONCE / self.model.num_nodes().max(1)).clamp(threads, 1024);
        let mut totals = Totals::default();
        let mut first = 0;
        while first < self.graphs {
            let next = self.graphs.min(first + at_once);
            for record in &self.range(first..next)? {
                sink.write(record)?;
                totals.graphs += 1;
                totals.nodes += u64::from(record.num_nodes);
                totals.edges += record.edges.len() as u64;
            }
            first = next;
            context.tell(&Report::of(Stage::Generating, first, self.graphs))?;
        }
        Ok(totals)
    }
}

/// What was written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, serde::Serialize)]
pub struct Totals {
    /// Graphs.
    pub graphs: u64,
    /// Nodes of all graphs.
    pub nodes: u64,
    /// Edges of all graphs.
    pub edges: u64,
}

/// Refuses a number below `least`.
fn at_least(name: &'static str, value: u32, least: u32) -> Result<()> {
    if value < least {
        return Err(Error::parameter(name, value, format!("it must be at least {least}")));
    }
    Ok(())
}

/// Refuses what is no probability.
fn probability(name: &'static str, value: f64) -> Result<()> {
    if !(0.0..=1.0).contains(&value) {
        return Err(Error::parameter(name, value, "it must be from 0 to 1"));
    }
    Ok(())
}

/// Refuses a graph that would not fit in memory.
fn room_for_edges(name: &'static str, value: impl std::fmt::Display, edges: f64) -> Result<()> {
    const MOST: f64 = (1u64 << 30) as f64;
    if edges > MOST {
        return Err(Error::parameter(
            name,
            value,
            format!("a graph would have about {edges:.1e} edges; at most {MOST:.1e} are made"),
        ));
    }
    Ok(())
}

/// A graph of nothing but nodes and edges.
fn plain(num_nodes: u32, edges: Vec<[u32; 2]>) -> GraphRecord {
    GraphRecord { num_nodes, edges, ..GraphRecord::default() }
}

//! From records to what the network sees, the same way for every graph a model meets.

use std::path::Path;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::coarsen::cache::{Cache, Told, pyramids_told};
use crate::coarsen::{self, Pyramid};
use crate::dataset::features::{self, Applied, FeatureChoice, FeatureSchema};
use crate::error::{Problem, Result};
use crate::graph::{Findings, Graph, GraphRecord, WeightPolicy};
use crate::model::Example;
use crate::parallel::try_map;

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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
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
/// A record that does not hold together; a negative weight under [`WeightPolicy::Use`].
pub fn graph_of(
    record: &GraphRecord,
    weights: WeightPolicy,
    file: &Path,
    position: u64,
) -> Result<(Graph, Findings)> {
    record.check().map_err(|what| Problem::Incoherent { what }.of(record.name(position), file))?;
    Graph::from_record(record, weights).map_err(|refused| {
        let (edge, weight) = (record.edges[refused.edge], refused.weight);
        Problem::NegativeWeight { edge, weight }.of(record.name(position), file)
    })
}

/// Records of a file, and where they stand in it.
#[derive(Debug, Clone, Copy)]
pub struct Run<'a> {
    /// The records.
    pub records: &'a [GraphRecord],
    /// Where they came from.
    pub file: &'a Path,
    /// The position of the first, from 0.
    pub position: u64,
    /// From the position of one to that of the next: 1, unless others were left out.
    pub step: u64,
}

impl<'a> Run<'a> {
    /// All records of `file`.
    pub fn of(records: &'a [GraphRecord], file: &'a Path) -> Run<'a> {
        Run { records, file, position: 0, step: 1 }
    }

    /// Records that came from no file.
    pub fn in_memory(records: &'a [GraphRecord]) -> Run<'a> {
        Run::of(records, Path::new("<graphs>"))
    }

    /// Where record `i` of the run stands.
    pub fn position_of(&self, i: usize) -> u64 {
        self.position + i as u64 * self.step
    }

    /// The same records in parts, as [`Cut`] cuts them.
    pub fn parts(self) -> impl Iterator<Item = Run<'a>> {
        let mut past = 0;
        std::iter::from_fn(move || {
            let (rest, mut cut) = (&self.records[past..], Cut::default());
            let end = rest.iter().position(|record| cut.ends_with(record));
            let count = end.map_or(rest.len(), |end| end + 1);
            let position = self.position_of(past);
            past += count;
            (count > 0).then(|| Run { records: &rest[..count], position, ..self })
        })
    }
}

/// The most graphs of a part: enough for all threads, few enough that somebody who asks to
/// stop between two parts is heard.
pub const PART: usize = 256;

/// The same for their nodes and edges, which bounds the memory that large graphs take.
const PART_SIZE: usize = 1 << 18;

/// Cuts a collection into parts of at most [`PART`] graphs and of bounded size.
///
/// Pyramids are kept a part at a time. Whoever takes whole parts at a time, however many,
/// cuts where everybody else does, and finds what others kept.
#[derive(Debug, Default)]
pub struct Cut {
    graphs: usize,
    size: usize,
}

impl Cut {
    /// Whether a part ends with this graph, the next of the collection; a large one ends
    /// its part.
    pub fn ends_with(&mut self, record: &GraphRecord) -> bool {
        self.graphs += 1;
        self.size += record.num_nodes as usize + record.edges.len();
        let ends = self.graphs >= PART || self.size >= PART_SIZE;
        if ends {
            *self = Cut::default();
        }
        ends
    }
}

/// Records with their graphs and pyramids: what does not depend on features.
#[derive(Debug)]
pub struct Collection<'a> {
    /// The records.
    pub run: Run<'a>,
    /// A graph for each.
    pub graphs: Vec<Graph>,
    /// A pyramid for each.
    pub pyramids: Vec<Pyramid>,
    /// What was met on the way.
    pub notes: Notes,
}

impl<'a> Collection<'a> {
    /// Cleans and coarsens the graphs of `run`.
    ///
    /// # Errors
    /// A graph that the weights refuse, or that cannot be coarsened.
    pub fn new(
        run: Run<'a>,
        weights: WeightPolicy,
        coarsening: &coarsen::Params,
        cache: Option<&Cache>,
    ) -> Result<Collection<'a>> {
        Collection::told(run, weights, coarsening, cache, &|_| ())
    }

    /// As [`new`](Collection::new); `told` hears how many more graphs are coarsened, from any
    /// thread.
    ///
    /// # Errors
    /// As [`new`](Collection::new).
    pub fn told(
        run: Run<'a>,
        weights: WeightPolicy,
        coarsening: &coarsen::Params,
        cache: Option<&Cache>,
        told: &Told<'_>,
    ) -> Result<Collection<'a>> {
        let made: Vec<(Graph, Findings)> = try_map(0..run.records.len(), |i| {
            graph_of(&run.records[i], weights, run.file, run.position_of(i))
        })?;
        let mut notes = Notes { graphs: made.len() as u64, ..Notes::default() };
        for (graph, found) in &made {
            notes.nodes += graph.num_nodes() as u64;
            notes.edges += graph.num_edges() as u64;
            notes.found.add(found);
        }
        let graphs: Vec<Graph> = made.into_iter().map(|(graph, _)| graph).collect();
        let mut rest = &graphs[..];
        let parts = run.parts().map(|part| rest.split_off(..part.records.len()));
        let parts: Vec<&[Graph]> = parts.map(Option::unwrap_or_default).collect();
        let (pyramids, from_cache) = pyramids_told(&parts, coarsening, cache, told)?;
        notes.from_cache = from_cache;
        notes.not_converged = pyramids.iter().filter(|pyramid| !pyramid.converged).count() as u64;
        Ok(Collection { run, graphs, pyramids, notes })
    }

    /// Cleans the graphs of `run`, for methods that need no pyramids.
    ///
    /// # Errors
    /// A graph that the weights refuse.
    pub fn flat(run: Run<'a>, weights: WeightPolicy) -> Result<Collection<'a>> {
        // Nothing is to be taken away, so no level is made.
        let none = coarsen::Params { ratio: 0.0, ..coarsen::Params::default() };
        Collection::new(run, weights, &none, None)
    }

    /// As [`new`](Collection::new), [a part](Run::parts) at a time; `watch` hears how many are
    /// done, and stops it with an error.
    ///
    /// # Errors
    /// As [`new`](Collection::new); what `watch` returns.
    pub fn watched(
        run: Run<'a>,
        weights: WeightPolicy,
        coarsening: &coarsen::Params,
        mut watch: impl FnMut(usize) -> Result<()>,
    ) -> Result<Collection<'a>> {
        let (graphs, pyramids) = (Vec::new(), Vec::new());
        let mut all = Collection { run, graphs, pyramids, notes: Notes::default() };
        for part in run.parts() {
            let part = Collection::new(part, weights, coarsening, None)?;
            all.graphs.extend(part.graphs);
            all.pyramids.extend(part.pyramids);
            all.notes.add(&part.notes);
            watch(all.len())?;
        }
        Ok(all)
    }

    /// Looks around every node of the graphs `which`, where `choice` will ask what is
    /// there: by all threads, and once for all that ask.
    pub fn look_around(&self, choice: FeatureChoice, which: &[usize]) {
        which.par_iter().for_each(|&i| {
            let features = self.run.records[i].features.as_ref().filter(|_| choice.attributes);
            if choice.takes_structure(features.map_or(0, |features| features.dim)) {
                self.graphs[i].structure();
            }
        });
    }

    /// How many graphs.
    pub fn len(&self) -> usize {
        self.graphs.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.graphs.is_empty()
    }
}

impl Preparation {
    /// Whether a record can be made ready; `position` (from 0) and `file` are for messages.
    ///
    /// # Errors
    /// As [`graph_of`]; a record whose features are not those the schema was fitted to.
    pub fn check(&self, record: &GraphRecord, file: &Path, position: u64) -> Result<()> {
        graph_of(record, self.weights, file, position)?;
        self.features.check(record, features::Origin { file, position })
    }

    /// Makes some graphs of a collection ready for a network of `levels` levels,
    /// in the order of `which`.
    ///
    /// # Errors
    /// A graph whose features are not those the schema was fitted to.
    pub fn examples(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
        levels: usize,
    ) -> Result<(Vec<Example>, Applied)> {
        let run = collection.run;
        let example = |&i: &usize| -> Result<_> {
            let origin = features::Origin { file: run.file, position: run.position_of(i) };
            let (graph, pyramid) = (&collection.graphs[i], &collection.pyramids[i]);
            let (rows, applied) = self.features.apply(&run.records[i], graph, origin)?;
            Ok((Example::new(graph, pyramid, rows.values, levels), applied))
        };
        let made: Vec<(Example, Applied)> = try_map(which, example)?;
        let mut applied = Applied::default();
        made.iter().for_each(|(_, of_one)| applied.add(of_one));
        Ok((made.into_iter().map(|(example, _)| example).collect(), applied))
    }
}

//! From records to what the network sees, the same way for every graph a model meets.

use std::path::Path;

use hg2v_math::parallel::try_map;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::coarsen::cache::pyramids;
use crate::coarsen::{self, Pyramid};
use crate::context::Context;
use crate::dataset::features::{self, Applied, EdgeSchema, FeatureChoice, FeatureSchema, Subject};
use crate::error::{Problem, Result};
use crate::graph::{Aspects, Findings, Graph, GraphRecord, Structure, WeightPolicy};
use crate::model::{Architecture, Example, Layout, Relational};
use crate::progress::Stage;

/// What is done to graphs before a model sees them.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct Needs {
    /// What becomes of edge weights.
    pub weights: WeightPolicy,
    /// How graphs are coarsened; `None` where the model looks at no pyramids.
    pub coarsening: Option<coarsen::Params>,
    /// Which node features it takes; `None` where it takes none that are computed.
    pub features: Option<FeatureChoice>,
}

hg2v_math::setters!(Needs {
    weights: WeightPolicy,
    coarsening: Option<coarsen::Params>,
    features: Option<FeatureChoice>,
});

/// How records become [`Example`]s.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Preparation {
    /// How nodes become rows of numbers.
    pub features: FeatureSchema,
    /// What is done with edge weights.
    pub weights: WeightPolicy,
    /// How graphs are coarsened; where they are not, every level is the graph itself.
    pub coarsening: Option<coarsen::Params>,
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
    /// What the graphs bring.
    #[serde(default)]
    pub brought: Aspects,
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
        self.brought.add(other.brought);
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

    /// The same records in parts, cut alike for everybody, so that what one keeps another finds.
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
pub(crate) const PART: usize = 256;

/// The same for their nodes and edges, which bounds the memory that large graphs take.
const PART_SIZE: usize = 1 << 18;

/// Cuts a collection into parts of at most [`PART`] graphs and of bounded size.
///
/// Pyramids are kept a part at a time. Whoever takes whole parts at a time, however many,
/// cuts where everybody else does, and finds what others kept.
#[derive(Debug, Default)]
pub(crate) struct Cut {
    graphs: usize,
    size: usize,
}

impl Cut {
    /// Whether a part ends with this graph, the next of the collection; a large one ends
    /// its part.
    pub(crate) fn ends_with(&mut self, record: &GraphRecord) -> bool {
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
    /// The structure of each, where somebody has [looked around](Collection::with_structures).
    pub structures: Vec<Option<Structure>>,
    /// What was met on the way.
    pub notes: Notes,
}

/// What was made of the records of a [`Collection`], on its way without them.
#[doc(hidden)]
#[derive(Debug)]
pub struct Ready {
    graphs: Vec<Graph>,
    pyramids: Vec<Pyramid>,
    structures: Vec<Option<Structure>>,
    notes: Notes,
}

impl Ready {
    /// Lets go of the records.
    pub fn new(collection: Collection<'_>) -> Ready {
        let Collection { graphs, pyramids, structures, notes, .. } = collection;
        Ready { graphs, pyramids, structures, notes }
    }

    /// Several as one, in their order.
    pub fn concat(parts: impl IntoIterator<Item = Ready>) -> Ready {
        let (graphs, pyramids, structures) = (Vec::new(), Vec::new(), Vec::new());
        let mut all = Ready { graphs, pyramids, structures, notes: Notes::default() };
        for part in parts {
            all.graphs.extend(part.graphs);
            all.pyramids.extend(part.pyramids);
            all.structures.extend(part.structures);
            all.notes.add(&part.notes);
        }
        all
    }

    /// What making it met.
    pub fn notes(&self) -> &Notes {
        &self.notes
    }

    /// The same with the records that it was made of.
    pub fn of(self, run: Run<'_>) -> Collection<'_> {
        let Ready { graphs, pyramids, structures, notes } = self;
        Collection { run, graphs, pyramids, structures, notes }
    }
}

impl<'a> Collection<'a> {
    /// Cleans the graphs of `run`, and coarsens them where there is need of pyramids.
    ///
    /// # Errors
    /// A graph that the weights refuse, or that cannot be coarsened;
    /// [`Stopped`](crate::Error::Stopped).
    pub fn new(run: Run<'a>, needs: &Needs, context: &Context<'_>) -> Result<Collection<'a>> {
        let made: Vec<(Graph, Findings)> = try_map(0..run.records.len(), |i| {
            graph_of(&run.records[i], needs.weights, run.file, run.position_of(i))
        })?;
        let mut notes = Notes { graphs: made.len() as u64, ..Notes::default() };
        for (graph, found) in &made {
            notes.nodes += graph.num_nodes() as u64;
            notes.edges += graph.num_edges() as u64;
            notes.found.add(found);
        }
        run.records.iter().for_each(|record| notes.brought.add(Aspects::of(record)));
        let graphs: Vec<Graph> = made.into_iter().map(|(graph, _)| graph).collect();
        let Some(coarsening) = &needs.coarsening else {
            let pyramids = graphs.iter().map(Pyramid::without_levels).collect();
            return Ok(Collection { run, graphs, pyramids, structures: Vec::new(), notes }
                .with_structures(needs.features));
        };
        let mut rest = &graphs[..];
        let parts = run.parts().map(|part| rest.split_off(..part.records.len()));
        let parts: Vec<&[Graph]> = parts.map(Option::unwrap_or_default).collect();
        let counter = context.counter(Stage::Coarsening, graphs.len() as u64);
        let (pyramids, from_cache) =
            pyramids(&parts, coarsening, context.cache.as_ref(), &counter)?;
        notes.from_cache = from_cache;
        notes.not_converged = pyramids.iter().filter(|pyramid| !pyramid.converged).count() as u64;
        let made = Collection { run, graphs, pyramids, structures: Vec::new(), notes };
        Ok(made.with_structures(needs.features))
    }

    /// The same graphs, for whoever looks at no pyramids.
    #[must_use]
    pub fn without_pyramids(&self) -> Collection<'a> {
        Collection {
            run: self.run,
            graphs: self.graphs.clone(),
            pyramids: self.graphs.iter().map(Pyramid::without_levels).collect(),
            structures: self.structures.clone(),
            notes: self.notes,
        }
    }

    /// The places of all graphs.
    pub fn all(&self) -> Vec<usize> {
        (0..self.len()).collect()
    }

    /// The same collection, with the structure of each graph for which `choice` will ask: once
    /// for all who fit features to it or make examples of it, by all threads.
    #[must_use]
    pub fn with_structures(mut self, choice: Option<FeatureChoice>) -> Collection<'a> {
        let structure = |(record, graph): (&GraphRecord, &Graph)| {
            let choice = choice?;
            let features = record.features.as_ref().filter(|_| choice.attributes);
            let taken = choice.takes_structure(features.map_or(0, |features| features.dim));
            taken.then(|| Structure::of(graph))
        };
        let both = self.run.records.par_iter().zip(&self.graphs);
        self.structures = both.map(structure).collect();
        self
    }

    /// Graph `i`, as features see it.
    pub fn subject(&self, i: usize) -> Subject<'_> {
        let structure = self.structures[i].as_ref();
        Subject { record: &self.run.records[i], graph: &self.graphs[i], structure }
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
    /// Makes some graphs of a collection ready for a network of such an architecture,
    /// in the order of `which`.
    ///
    /// # Errors
    /// A graph whose features are not those the schema was fitted to.
    pub fn examples(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
        architecture: &Architecture,
    ) -> Result<(Vec<Example>, Vec<Applied>)> {
        let (run, levels) = (collection.run, architecture.levels);
        let related = self.related(architecture);
        let example = |&i: &usize| -> Result<_> {
            let origin = features::Origin { file: run.file, position: run.position_of(i) };
            let graph = &collection.graphs[i];
            let (rows, applied) = self.features.apply(collection.subject(i), origin)?;
            // Others may look at the same graphs, and at their pyramids.
            let mut made = match self.coarsening {
                Some(_) => Example::new(graph, &collection.pyramids[i], rows.values, levels),
                None => Example::new(graph, &Pyramid::without_levels(graph), rows.values, levels),
            };
            if let Some(edges) = related {
                made.batch.relations = edges.relate(&run.records[i], graph);
            }
            Ok((made, applied))
        };
        let made: Vec<(Example, Applied)> = try_map(which, example)?;
        Ok(made.into_iter().unzip())
    }

    /// What tells the relations of edges, where a network looks at them and there are any.
    fn related(&self, architecture: &Architecture) -> Option<&EdgeSchema> {
        let edges = self.features.edges().filter(|edges| edges.relations() > 0);
        edges.filter(|_| architecture.relations == Relational::Always)
    }

    /// Where the parameters of a network for these graphs lie.
    ///
    /// # Errors
    /// An architecture outside its domain; more relations than a network can have.
    pub(crate) fn layout(&self, architecture: &Architecture) -> Result<Layout> {
        let relations = self.related(architecture).map_or(0, EdgeSchema::relations);
        Layout::related(architecture, self.features.dim(), relations)
    }
}

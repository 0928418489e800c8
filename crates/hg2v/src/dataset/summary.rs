//! What is in a collection: one pass, a few numbers a graph.
//!
//! Graphs are read in chunks; while one chunk is analysed in parallel the next is
//! read. What the graphs of a chunk gave is then added up in their order, so the
//! summary is the same at any number of threads. Kept a graph: its two sizes, and
//! two digests with its class when duplicates are asked for. Kept in all: the
//! degrees' histogram and vocabularies, which stop growing at
//! [`MAX_VOCABULARY`] labels and say so.
//!
//! Serialised, the field names are the keys of `hg2v info --json`.

mod targets;

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Serialize, Serializer};

use super::duplicates::{Groups, Members, content_digest};
use super::features::{FeatureChoice, FeatureFitter, Subject};
use super::ids::{Ids, RepeatedIds};
use super::{Format, Source, name_of};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::graph::{
    Components, Features, Findings, Graph, GraphRecord, Scalar, WeightPolicy, wl_digest,
};
use crate::progress::{Report, Stage};
use crate::vocabulary::Named;
pub use targets::TargetSummary;
use targets::Targets;

/// Distinct labels that are counted; those that come later are not.
pub const MAX_VOCABULARY: usize = 100_000;

/// Bytes of text that a vocabulary may hold, for the same reason.
const MAX_VOCABULARY_BYTES: usize = 64 << 20;

/// Labels that a summary lists, the commonest first.
pub const MAX_LISTED: usize = 100;

/// A chunk is full at this many graphs, or at this many nodes and edges.
const CHUNK_GRAPHS: usize = 4096;
const CHUNK_SIZE: usize = 1 << 20;

/// What to look at, and how closely.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SummaryOptions {
    /// Look for duplicates and for graphs alike to Weisfeiler–Lehman.
    pub duplicates: bool,
    /// Rounds of Weisfeiler–Lehman after which graphs count as alike.
    pub wl_rounds: usize,
    /// The features that the plan is made for.
    pub features: FeatureChoice,
}

hg2v_math::setters!(SummaryOptions { duplicates: bool, wl_rounds: usize, features: FeatureChoice });

impl Default for SummaryOptions {
    fn default() -> SummaryOptions {
        SummaryOptions { duplicates: true, wl_rounds: 5, features: FeatureChoice::default() }
    }
}

/// What is in a collection.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Summary {
    /// What the collection is called.
    pub name: String,
    /// The file or folder.
    pub path: String,
    /// Its format.
    pub format: &'static str,
    /// Graphs.
    pub graphs: u64,
    /// Nodes of all graphs.
    pub nodes: u64,
    /// Undirected edges of all graphs, without self-loops and repeats.
    pub edges: u64,
    /// Nodes a graph.
    pub nodes_per_graph: Option<Spread>,
    /// Edges a graph.
    pub edges_per_graph: Option<Spread>,
    /// Neighbours a node.
    pub degree: Option<Spread>,
    /// Mean over graphs of two nodes or more of 2m / (n (n − 1)).
    pub mean_density: Option<f64>,
    /// Graphs without nodes.
    pub empty_graphs: u64,
    /// Graphs without edges, those without nodes among them.
    pub edgeless_graphs: u64,
    /// Connected components.
    pub components: ComponentSummary,
    /// Nodes without neighbours.
    pub isolated_nodes: IsolatedSummary,
    /// Continuous node attributes.
    pub attributes: Option<AttributeSummary>,
    /// Labels of nodes.
    pub node_labels: Option<Vocabulary>,
    /// Labels of edges.
    pub edge_labels: Option<Vocabulary>,
    /// Continuous edge attributes.
    pub edge_attributes: Option<AttributeSummary>,
    /// Weights of edges, as the file has them.
    pub weights: Option<WeightSummary>,
    /// Labels of graphs.
    pub classes: Option<Vocabulary>,
    /// What is to be predicted, where graphs have several numbers or classes by name.
    pub targets: Option<Vec<TargetSummary>>,
    /// Graphs that are the same; `None` when not asked for.
    pub duplicates: Option<Groups>,
    /// Graphs that Weisfeiler–Lehman cannot tell apart; `None` when not asked for.
    pub wl_equivalent: Option<WlEquivalent>,
    /// Ids that several graphs have; `None` where there are none.
    pub repeated_ids: Option<RepeatedIds>,
    /// What had to be resolved to get simple undirected graphs.
    pub findings: Findings,
    /// What the format holds that is not used, each a sentence.
    pub ignored: Vec<String>,
    /// What training would use as node features.
    pub features: FeaturePlan,
}

/// How a quantity is spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Spread {
    /// The mean.
    pub mean: f64,
    /// The median, exact.
    pub median: f64,
    /// The smallest.
    pub min: u64,
    /// The largest.
    pub max: u64,
}

/// Connected components.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct ComponentSummary {
    /// Components of all graphs.
    pub total: u64,
    /// Most components of one graph.
    pub max: u64,
    /// Graphs of more than one component.
    pub disconnected_graphs: u64,
}

/// Nodes without neighbours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct IsolatedSummary {
    /// Such nodes.
    pub nodes: u64,
    /// Graphs with at least one.
    pub graphs: u64,
}

/// Continuous attributes of nodes, or of edges.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct AttributeSummary {
    /// Attributes a node, or an edge, in the first graph that has any.
    pub dim: u64,
    /// Graphs that have attributes.
    pub graphs: u64,
}

/// Labels and how often each occurs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Vocabulary {
    /// Distinct labels; a lower bound unless `complete`.
    pub distinct: u64,
    /// Whether every distinct label was counted.
    pub complete: bool,
    /// Graphs that have such labels.
    pub graphs: u64,
    /// Labels in all, repeats counted.
    pub total: u64,
    /// The commonest, at most [`MAX_LISTED`].
    pub top: Vec<LabelCount>,
}

/// A label and how often it occurs.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LabelCount {
    /// The label.
    pub label: Scalar,
    /// How often.
    pub count: u64,
}

/// Edge weights.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct WeightSummary {
    /// Graphs that have weights.
    pub graphs: u64,
    /// The smallest weight.
    pub min: f64,
    /// The largest weight.
    pub max: f64,
}

/// Graphs with equal label histograms in every round of Weisfeiler–Lehman over
/// node labels; attributes, edge labels and weights are not seen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct WlEquivalent {
    /// How many rounds.
    pub rounds: usize,
    /// The groups.
    #[serde(flatten)]
    pub groups: Groups,
}

/// What training would use as node features.
#[derive(Debug, Clone, Serialize)]
pub struct FeaturePlan {
    /// Columns; `None` when there is a problem.
    pub dim: Option<u64>,
    /// The plan in words; empty when there is a problem.
    pub plan: String,
    /// Why there is no plan.
    #[serde(serialize_with = "in_words")]
    pub problem: Option<Arc<Error>>,
}

/// Problems are the same that say the same.
impl PartialEq for FeaturePlan {
    fn eq(&self, other: &FeaturePlan) -> bool {
        let said = |plan: &FeaturePlan| plan.problem.as_ref().map(ToString::to_string);
        (self.dim, &self.plan, said(self)) == (other.dim, &other.plan, said(other))
    }
}

fn in_words<S: Serializer>(
    problem: &Option<Arc<Error>>,
    to: S,
) -> std::result::Result<S::Ok, S::Error> {
    problem.as_ref().map(ToString::to_string).serialize(to)
}

/// Reads all graphs of `source` and says what is in them.
///
/// # Errors
/// Whatever reading refuses; [`Stopped`](Error::Stopped). Nothing that is read makes a summary fail: graphs
/// that training would refuse are described in it.
pub fn summarize(
    source: &mut Source,
    options: &SummaryOptions,
    context: &Context<'_>,
) -> Result<Summary> {
    let mut tally = Tally::new(&source.path, options);
    let mut chunk = read_chunk(source)?;
    while !chunk.is_empty() {
        let (facts, next) = rayon::join(|| Facts::of_all(&chunk, options), || read_chunk(source));
        tally.add_all(&chunk, facts);
        let total = source.len.unwrap_or(0).max(tally.graphs);
        context.tell(&Report::of(Stage::Summarizing, tally.graphs, total))?;
        chunk = next?;
    }
    Ok(tally.finish(&source.path, source.format, source.ignored(), options))
}

/// As [`summarize`], of graphs that were read already, with what reading them
/// [ignored](Source::ignored).
pub fn summarize_records(
    path: &Path,
    format: Format,
    ignored: Vec<String>,
    records: &[GraphRecord],
    options: &SummaryOptions,
) -> Summary {
    let mut tally = Tally::new(path, options);
    for chunk in records.chunks(CHUNK_GRAPHS) {
        tally.add_all(chunk, Facts::of_all(chunk, options));
    }
    tally.finish(path, format, ignored, options)
}

fn read_chunk(source: &mut Source) -> Result<Vec<GraphRecord>> {
    let mut chunk = Vec::new();
    let mut size = 0;
    while chunk.len() < CHUNK_GRAPHS && size < CHUNK_SIZE {
        let Some(record) = source.next() else { break };
        let record = record?;
        size += record.num_nodes as usize + record.edges.len();
        chunk.push(record);
    }
    Ok(chunk)
}

/// What one graph gives, found independently of all others.
struct Facts<'a> {
    graph: Graph,
    findings: Findings,
    components: u64,
    isolated: u64,
    degrees: BTreeMap<u32, u64>,
    node_labels: BTreeMap<&'a Scalar, u64>,
    edge_labels: BTreeMap<&'a Scalar, u64>,
    digests: Option<Digests>,
}

struct Digests {
    content: [u8; 32],
    wl: [u8; 32],
}

impl<'a> Facts<'a> {
    fn of_all(records: &'a [GraphRecord], options: &SummaryOptions) -> Vec<Facts<'a>> {
        records.par_iter().map(|record| Facts::of(record, options)).collect()
    }

    fn of(record: &'a GraphRecord, options: &SummaryOptions) -> Facts<'a> {
        // A negative weight must not end the summary: `Abs` counts it and refuses nothing.
        let (graph, findings) = Graph::from_record(record, WeightPolicy::Abs).unwrap_or_default();
        let mut degrees = BTreeMap::new();
        for node in 0..graph.num_nodes() {
            *degrees.entry(graph.degree(node) as u32).or_insert(0) += 1;
        }
        Facts {
            components: Components::of(&graph).count() as u64,
            isolated: degrees.get(&0).copied().unwrap_or(0),
            degrees,
            node_labels: counted(record.node_labels.iter().flatten()),
            edge_labels: counted(record.edge_labels.iter().flatten()),
            digests: options.duplicates.then(|| Digests {
                content: content_digest(record),
                wl: wl_digest(record, &graph, options.features.edges, options.wl_rounds),
            }),
            findings,
            graph,
        }
    }
}

fn counted<'a>(labels: impl Iterator<Item = &'a Scalar>) -> BTreeMap<&'a Scalar, u64> {
    let mut counts = BTreeMap::new();
    for label in labels {
        *counts.entry(label).or_insert(0) += 1;
    }
    counts
}

/// The sums so far.
struct Tally {
    graphs: u64,
    sizes: Vec<u32>,
    edges: Vec<u32>,
    degrees: BTreeMap<u32, u64>,
    densities: (f64, u64),
    empty_graphs: u64,
    edgeless_graphs: u64,
    components: ComponentSummary,
    isolated: IsolatedSummary,
    attributes: Option<AttributeSummary>,
    edge_attributes: Option<AttributeSummary>,
    weights: Option<WeightSummary>,
    targets: Targets,
    node_labels: Counter,
    edge_labels: Counter,
    classes: Counter,
    identical: Members,
    alike: Members,
    ids: Ids,
    findings: Findings,
    features: std::result::Result<FeatureFitter, Error>,
}

impl Tally {
    fn new(path: &Path, options: &SummaryOptions) -> Tally {
        Tally {
            graphs: 0,
            sizes: Vec::new(),
            edges: Vec::new(),
            degrees: BTreeMap::new(),
            densities: (0.0, 0),
            empty_graphs: 0,
            edgeless_graphs: 0,
            components: ComponentSummary::default(),
            isolated: IsolatedSummary::default(),
            attributes: None,
            edge_attributes: None,
            weights: None,
            targets: Targets::default(),
            node_labels: Counter::default(),
            edge_labels: Counter::default(),
            classes: Counter::default(),
            identical: Members::default(),
            alike: Members::default(),
            ids: Ids::default(),
            findings: Findings::default(),
            features: Ok(FeatureFitter::new(path, options.features)),
        }
    }

    fn add_all(&mut self, records: &[GraphRecord], facts: Vec<Facts<'_>>) {
        for (record, facts) in records.iter().zip(facts) {
            self.add(record, facts);
        }
    }

    fn add(&mut self, record: &GraphRecord, facts: Facts<'_>) {
        let position = self.graphs;
        self.graphs += 1;
        let (n, m) = (facts.graph.num_nodes(), facts.graph.num_edges());
        self.sizes.push(n as u32);
        self.edges.push(u32::try_from(m).unwrap_or(u32::MAX));
        for (degree, count) in facts.degrees {
            *self.degrees.entry(degree).or_insert(0) += count;
        }
        if n > 1 {
            let pairs = n as f64 * (n as f64 - 1.0) / 2.0;
            self.densities.0 += m as f64 / pairs;
            self.densities.1 += 1;
        }
        self.empty_graphs += u64::from(n == 0);
        self.edgeless_graphs += u64::from(m == 0);
        self.components.total += facts.components;
        self.components.max = self.components.max.max(facts.components);
        self.components.disconnected_graphs += u64::from(facts.components > 1);
        self.isolated.nodes += facts.isolated;
        self.isolated.graphs += u64::from(facts.isolated > 0);
        self.findings.add(&facts.findings);
        add_attributes(&mut self.attributes, record.features.as_ref());
        let any_edge = !record.edges.is_empty();
        add_attributes(
            &mut self.edge_attributes,
            record.edge_features.as_ref().filter(|_| any_edge),
        );
        self.add_weights(record);
        self.targets.add(record);

        self.node_labels.add(&facts.node_labels);
        self.edge_labels.add(&facts.edge_labels);
        self.classes.add(&counted(record.label.iter()));
        if let Some(id) = &record.id {
            self.ids.add(id, position);
        }
        if let Some(digests) = facts.digests {
            let class = record.label.as_ref().and_then(|label| self.classes.number(label));
            self.identical.push(digests.content, class, position);
            self.alike.push(digests.wl, class, position);
        }
        if let Ok(fitter) = &mut self.features
            && let Err(disagreement) = fitter.push(Subject::new(record, &facts.graph))
        {
            self.features = Err(disagreement);
        }
    }

    fn add_weights(&mut self, record: &GraphRecord) {
        let Some([first, ..]) = record.weights.as_deref() else {
            return;
        };
        let found =
            self.weights.get_or_insert(WeightSummary { graphs: 0, min: *first, max: *first });
        found.graphs += 1;
        for weight in record.weights.iter().flatten() {
            found.min = found.min.min(*weight);
            found.max = found.max.max(*weight);
        }
    }

    fn finish(
        self,
        path: &Path,
        format: Format,
        ignored: Vec<String>,
        options: &SummaryOptions,
    ) -> Summary {
        let plan = self.features.and_then(FeatureFitter::finish);
        let classes_known = self.classes.complete();
        Summary {
            name: name_of(path),
            path: path.display().to_string(),
            format: format.word(),
            graphs: self.graphs,
            nodes: self.sizes.iter().map(|&n| u64::from(n)).sum(),
            edges: self.edges.iter().map(|&m| u64::from(m)).sum(),
            nodes_per_graph: Spread::of(self.sizes),
            edges_per_graph: Spread::of(self.edges),
            degree: Spread::of_histogram(&self.degrees),
            mean_density: (self.densities.1 > 0)
                .then(|| self.densities.0 / self.densities.1 as f64),
            empty_graphs: self.empty_graphs,
            edgeless_graphs: self.edgeless_graphs,
            components: self.components,
            isolated_nodes: self.isolated,
            attributes: self.attributes,
            node_labels: self.node_labels.finish(),
            edge_labels: self.edge_labels.finish(),
            edge_attributes: self.edge_attributes,
            weights: self.weights,
            classes: self.classes.finish(),
            targets: self.targets.finish(),
            duplicates: options.duplicates.then(|| self.identical.groups(classes_known)),
            wl_equivalent: options.duplicates.then(|| WlEquivalent {
                rounds: options.wl_rounds,
                groups: self.alike.groups(classes_known),
            }),
            repeated_ids: self.ids.finish(),
            findings: self.findings,
            ignored,
            features: match plan {
                Ok(schema) => FeaturePlan {
                    dim: Some(schema.dim() as u64),
                    plan: schema.to_string(),
                    problem: None,
                },
                Err(error) => {
                    FeaturePlan { dim: None, plan: String::new(), problem: Some(Arc::new(error)) }
                }
            },
        }
    }
}

fn add_attributes(found: &mut Option<AttributeSummary>, features: Option<&Features>) {
    if let Some(features) = features.filter(|features| features.dim > 0) {
        let first = AttributeSummary { dim: features.dim as u64, graphs: 0 };
        found.get_or_insert(first).graphs += 1;
    }
}

impl Spread {
    fn of(mut values: Vec<u32>) -> Option<Spread> {
        values.sort_unstable();
        let (first, last) = (values.first()?, values.last()?);
        let sum: u64 = values.iter().map(|&value| u64::from(value)).sum();
        let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
        Some(Spread {
            mean: sum as f64 / values.len() as f64,
            median: (f64::from(low) + f64::from(high)) / 2.0,
            min: u64::from(*first),
            max: u64::from(*last),
        })
    }

    /// The spread of values given as value → how often.
    fn of_histogram(counts: &BTreeMap<u32, u64>) -> Option<Spread> {
        let (first, last) = (counts.keys().next()?, counts.keys().next_back()?);
        let total: u64 = counts.values().sum();
        let sum: u64 = counts.iter().map(|(&value, count)| u64::from(value) * count).sum();
        // The value at a place of the sorted list that the histogram stands for.
        let at = |place: u64| {
            let mut before = 0;
            let mut values = counts.iter();
            values.find(|&(_, count)| {
                before += count;
                before > place
            })
        };
        let (low, _) = at((total - 1) / 2)?;
        let (high, _) = at(total / 2)?;
        Some(Spread {
            mean: sum as f64 / total as f64,
            median: (f64::from(*low) + f64::from(*high)) / 2.0,
            min: u64::from(*first),
            max: u64::from(*last),
        })
    }
}

/// Counts labels, up to [`MAX_VOCABULARY`] distinct ones.
#[derive(Debug, Default)]
struct Counter {
    /// Each label's number, in order of first use, and count.
    counts: BTreeMap<Scalar, (u32, u64)>,
    bytes: usize,
    overflowed: bool,
    graphs: u64,
    total: u64,
}

impl Counter {
    fn add(&mut self, labels: &BTreeMap<&Scalar, u64>) {
        self.graphs += u64::from(!labels.is_empty());
        for (&label, &count) in labels {
            self.total += count;
            if let Some((_, known)) = self.counts.get_mut(label) {
                *known += count;
                continue;
            }
            let bytes = match label {
                Scalar::Text(text) => text.len(),
                _ => 0,
            };
            let full = self.counts.len() >= MAX_VOCABULARY;
            if full || self.bytes + bytes > MAX_VOCABULARY_BYTES {
                self.overflowed = true;
                continue;
            }
            self.bytes += bytes;
            let number = self.counts.len() as u32;
            self.counts.insert(label.clone(), (number, count));
        }
    }

    fn number(&self, label: &Scalar) -> Option<u32> {
        self.counts.get(label).map(|(number, _)| *number)
    }

    fn complete(&self) -> bool {
        !self.overflowed
    }

    fn finish(self) -> Option<Vocabulary> {
        if self.graphs == 0 {
            return None;
        }
        let distinct = self.counts.len() as u64;
        let complete = self.complete();
        let counts = self.counts.into_iter();
        let mut top: Vec<LabelCount> =
            counts.map(|(label, (_, count))| LabelCount { label, count }).collect();
        // Stable: labels of equal count stay in their own order.
        top.sort_by_key(|entry| std::cmp::Reverse(entry.count));
        top.truncate(MAX_LISTED);
        Some(Vocabulary { distinct, complete, graphs: self.graphs, total: self.total, top })
    }
}

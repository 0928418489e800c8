//! Node features as the paper prepares them: fitted on training graphs, kept
//! with the model, applied to every later graph.
//!
//! A node's row is the concatenation
//!
//! ```text
//! [ (attributes − mean) / std | one-hot label | (degree − mean) / std | (structure − mean) / std | (edges − mean) / std ]
//! ```
//!
//! of the parts that the collection has and the [`FeatureChoice`] takes:
//!
//! - attributes are standardised a column: mean and population standard
//!   deviation over all training nodes. A column that does not vary there, but for rounding, is
//!   centred and not scaled: zeros, and on a later graph by how much it differs;
//! - labels are one-hot over the sorted vocabulary of the training nodes; a label
//!   that training never met is a row of zeros, and is counted;
//! - the degree, a number of neighbours, is standardised like an attribute, and by
//!   default stands in only when there is nothing else;
//! - structure, when asked for, are the numbers of [`Structure`],
//!   standardised likewise; they then stand in for the degree;
//! - edges, where they have kinds, numbers or directions, are what a node has around it of each:
//!   see [`EdgeSchema`].

mod edges;
mod fitter;
mod relations;
mod stored;

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Problem, Result, counted};
use crate::graph::{Aspects, EdgeChoice, Features, Graph, GraphRecord, Scalar, Structure};

pub use edges::{EdgeSchema, LinkRows};
pub(crate) use fitter::FeatureFitter;
use stored::Stored;

/// Most columns a row may have. A vocabulary beyond it is one of names, not of
/// kinds, and would ask for a matrix of terabytes.
pub const MAX_DIM: usize = 1 << 16;

/// What counts as rounding, beside the size of the numbers that were added or subtracted.
const ROUNDING: f64 = 16.0 * f64::EPSILON;

/// Which of a collection's features are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct FeatureChoice {
    /// Continuous node attributes, where there are any.
    pub attributes: bool,
    /// Node labels, where there are any.
    pub labels: bool,
    /// The degree; `Auto` is when there is nothing else.
    pub degree: When,
    /// What a node's surroundings look like; `Auto` is when there are no attributes.
    pub structure: When,
    /// What edges bring, as numbers of the nodes that they join.
    pub edges: EdgeChoice,
}

hg2v_math::setters!(FeatureChoice {
    attributes: bool,
    labels: bool,
    degree: When,
    structure: When,
    edges: EdgeChoice,
});

/// When something is a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub enum When {
    /// Where it has proved useful.
    Auto,
    /// Beside everything else.
    Always,
    /// Not even when there is nothing else.
    Never,
}

crate::vocabulary! { When, "structure":
    Auto => "auto", "where it has proved useful";
    Always => "always", "beside everything else";
    Never => "never", "nowhere";
}

impl FeatureChoice {
    /// Whether the structure is a feature of graphs with so many attributes a node.
    pub fn takes_structure(&self, attributes: usize) -> bool {
        match self.structure {
            When::Always => true,
            When::Never => false,
            When::Auto => attributes == 0,
        }
    }
}

impl Default for FeatureChoice {
    /// What the graphs bring, and the degree where they bring nothing.
    fn default() -> FeatureChoice {
        FeatureChoice {
            attributes: true,
            labels: true,
            degree: When::Auto,
            structure: When::Never,
            edges: EdgeChoice::default(),
        }
    }
}

/// A graph whose nodes get rows.
#[derive(Debug, Clone, Copy)]
pub struct Subject<'a> {
    /// As its file has it: attributes and labels.
    pub record: &'a GraphRecord,
    /// As algorithms want it: degrees.
    pub graph: &'a Graph,
    /// Its structure, where that is known; otherwise it is computed where it is needed.
    pub structure: Option<&'a Structure>,
}

impl<'a> Subject<'a> {
    /// A graph whose structure is not known.
    pub fn new(record: &'a GraphRecord, graph: &'a Graph) -> Subject<'a> {
        Subject { record, graph, structure: None }
    }

    /// The structure that is known, or a new one.
    fn structure(self) -> Cow<'a, Structure> {
        match self.structure {
            Some(known) => Cow::Borrowed(known),
            None => Cow::Owned(Structure::of(self.graph)),
        }
    }
}

/// Where a graph came from, for messages.
#[derive(Debug, Clone, Copy)]
pub struct Origin<'a> {
    /// The file or folder.
    pub file: &'a Path,
    /// The graph's position in it, from 0.
    pub position: u64,
}

/// How to turn a graph's nodes into rows of numbers.
///
/// Serialised, every number is exact; deserialised, it is checked before it is believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Stored", into = "Stored")]
pub struct FeatureSchema {
    attributes: Option<Scaler>,
    /// Strictly ascending.
    labels: Option<Vec<Scalar>>,
    degree: Option<Scaler>,
    structure: Option<Scaler>,
    edges: Option<EdgeSchema>,
}

/// The centre and width of every column; widths are positive.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scaler {
    /// What is subtracted from each column.
    pub mean: Vec<f64>,
    /// What each column is then divided by.
    pub std: Vec<f64>,
}

/// A row of numbers for each node, row-major.
#[derive(Debug, Clone, PartialEq)]
pub struct NodeFeatures {
    /// Numbers a node.
    pub dim: usize,
    /// `n × dim` finite numbers.
    pub values: Vec<f32>,
}

impl NodeFeatures {
    /// The row of `node`.
    pub fn row(&self, node: usize) -> &[f32] {
        &self.values[node * self.dim..(node + 1) * self.dim]
    }
}

/// What [`FeatureSchema::apply`] had to resolve, counted.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Applied {
    /// Nodes whose label training never met; their one-hot part is zero.
    pub unseen_labels: u64,
    /// Edges whose label training never met, each counted at both ends; they are of no kind.
    #[serde(default)]
    pub unseen_edge_labels: u64,
    /// Numbers beyond what an `f32` holds after scaling, cut to its largest.
    pub clipped: u64,
}

impl Applied {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Applied) {
        self.unseen_labels += other.unseen_labels;
        self.unseen_edge_labels += other.unseen_edge_labels;
        self.clipped += other.clipped;
    }
}

impl FeatureSchema {
    /// Fits a schema to training graphs in one pass; `file` is for messages.
    ///
    /// # Errors
    /// Graphs that disagree in what their nodes have, none at all, nothing that is left to use, more
    /// than [`MAX_DIM`] columns, or attributes so large that their spread is not a finite number.
    pub fn fit<'a>(
        file: &Path,
        choice: FeatureChoice,
        graphs: impl IntoIterator<Item = Subject<'a>>,
    ) -> Result<FeatureSchema> {
        let mut fitter = FeatureFitter::new(file, choice);
        for graph in graphs {
            fitter.push(graph)?;
        }
        fitter.finish()
    }

    /// Numbers a node.
    pub fn dim(&self) -> usize {
        let width = |scaler: &Option<Scaler>| scaler.as_ref().map_or(0, |s| s.mean.len());
        let scaled = [&self.attributes, &self.degree, &self.structure];
        scaled.into_iter().map(width).sum::<usize>()
            + self.labels.as_ref().map_or(0, Vec::len)
            + self.edges.as_ref().map_or(0, EdgeSchema::dim)
    }

    /// How attributes are scaled, where they are used.
    pub fn attributes(&self) -> Option<&Scaler> {
        self.attributes.as_ref()
    }

    /// The vocabulary of node labels, ascending, where they are used.
    pub fn labels(&self) -> Option<&[Scalar]> {
        self.labels.as_deref()
    }

    /// The columns of a row that say which label of the vocabulary a node has.
    pub(crate) fn label_columns(&self) -> Option<Range<usize>> {
        let start = self.attributes.as_ref().map_or(0, |scaler| scaler.mean.len());
        self.labels.as_ref().map(|labels| start..start + labels.len())
    }

    /// How the degree is scaled, where it is used.
    pub fn degree(&self) -> Option<&Scaler> {
        self.degree.as_ref()
    }

    /// How the numbers of a node's surroundings are scaled, where they are used.
    pub fn structure(&self) -> Option<&Scaler> {
        self.structure.as_ref()
    }

    /// What of edges is used, and how.
    pub fn edges(&self) -> Option<&EdgeSchema> {
        self.edges.as_ref()
    }

    /// What of graphs becomes numbers.
    pub fn sees(&self) -> Aspects {
        let edges = self.edges.as_ref().map(EdgeSchema::sees).unwrap_or_default();
        Aspects {
            node_labels: self.labels.is_some(),
            node_attributes: self.attributes.is_some(),
            ..edges
        }
    }

    /// The rows of a graph's nodes, and what had to be resolved.
    ///
    /// # Errors
    /// When the graph lacks the attributes or labels that the schema was fitted
    /// to, of nodes or of edges, or has another number of attributes. A graph without nodes never fails.
    pub fn apply(
        &self,
        subject: Subject<'_>,
        origin: Origin<'_>,
    ) -> Result<(NodeFeatures, Applied)> {
        let Subject { record, graph, .. } = subject;
        let (n, dim) = (graph.num_nodes(), self.dim());
        let mut values = Vec::new();
        let mut applied = Applied::default();
        if n == 0 {
            return Ok((NodeFeatures { dim, values }, applied));
        }
        let attributes = match &self.attributes {
            None => None,
            Some(scaler) => Some((scaler, expected_attributes(record, scaler, origin)?)),
        };
        let labels = match &self.labels {
            None => None,
            Some(vocabulary) => Some((vocabulary, expected_labels(record, origin)?)),
        };
        values
            .try_reserve_exact(n.saturating_mul(dim))
            .map_err(|_| mismatch(Problem::Memory { rows: n, columns: dim }, record, origin))?;
        let surroundings = self.structure.as_ref().map(|scaler| (scaler, subject.structure()));
        let edges = match &self.edges {
            None => None,
            Some(schema) => {
                schema.check(record, origin)?;
                Some((schema, schema.rows(record, graph, &mut applied)))
            }
        };
        for node in 0..n {
            if let Some((scaler, features)) = attributes {
                let row = features.row(node);
                scaler.scale(row.iter().copied(), &mut values, &mut applied);
            }
            if let Some((vocabulary, labels)) = labels {
                let start = values.len();
                values.resize(start + vocabulary.len(), 0.0);
                match vocabulary.binary_search(&labels[node]) {
                    Ok(column) => values[start + column] = 1.0,
                    Err(_) => applied.unseen_labels += 1,
                }
            }
            if let Some(scaler) = &self.degree {
                scaler.scale([graph.degree(node) as f64], &mut values, &mut applied);
            }
            if let Some((scaler, surroundings)) = &surroundings {
                scaler.scale(surroundings.rows()[node], &mut values, &mut applied);
            }
            if let Some((schema, around)) = &edges {
                let row = &around[node * schema.dim()..(node + 1) * schema.dim()];
                schema.scale(row, &mut values, &mut applied);
            }
        }
        Ok((NodeFeatures { dim, values }, applied))
    }

    /// Whether a graph has what the schema was fitted to.
    ///
    /// # Errors
    /// As [`apply`](FeatureSchema::apply).
    pub fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        if record.num_nodes == 0 {
            return Ok(());
        }
        if let Some(scaler) = &self.attributes {
            expected_attributes(record, scaler, origin)?;
        }
        if self.labels.is_some() {
            expected_labels(record, origin)?;
        }
        self.edges.as_ref().map_or(Ok(()), |edges| edges.check(record, origin))
    }

    /// Reads a schema back; `file` is for messages.
    ///
    /// # Errors
    /// When it is not JSON, of another version, or does not make sense.
    pub fn from_json(json: &[u8], file: &Path) -> Result<FeatureSchema> {
        serde_json::from_slice(json).map_err(|e| {
            let place = match e.line() {
                0 => Place::Whole,
                line => Place::Line(line as u64),
            };
            let problem = format!("this is no feature schema: {e}");
            Error::input(file, place, problem, "fit the model again, or restore the file")
        })
    }
}

/// The plan in words: `18 attributes, standardised + 3 labels, one-hot = 21 columns`.
impl fmt::Display for FeatureSchema {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut parts = Vec::new();
        if let Some(scaler) = &self.attributes {
            parts.push(format!("{}, standardised", counted(scaler.mean.len(), "attribute")));
        }
        if let Some(labels) = &self.labels {
            parts.push(format!("{}, one-hot", counted(labels.len(), "label")));
        }
        if self.degree.is_some() {
            parts.push("the degree, standardised".to_owned());
        }
        if let Some(scaler) = &self.structure {
            parts.push(format!("{} of structure, standardised", scaler.mean.len()));
        }
        if let Some(edges) = &self.edges {
            parts.push(format!("{} of edges ({edges})", edges.dim()));
        }
        write!(f, "{} = {}", parts.join(" + "), counted(self.dim(), "column"))
    }
}

impl Scaler {
    /// What differs from the mean by rounding alone does not differ: no number of a row is noise.
    fn scale(&self, row: impl IntoIterator<Item = f64>, out: &mut Vec<f32>, applied: &mut Applied) {
        for ((x, mean), std) in row.into_iter().zip(&self.mean).zip(&self.std) {
            let same = (x - mean).abs() <= ROUNDING * mean.abs();
            let scaled = if same { 0.0 } else { ((x - mean) / std) as f32 };
            applied.clipped += u64::from(scaled.is_infinite());
            out.push(scaled.clamp(f32::MIN, f32::MAX));
        }
    }
}

fn expected_attributes<'a>(
    record: &'a GraphRecord,
    scaler: &Scaler,
    origin: Origin<'_>,
) -> Result<&'a Features> {
    let expected = scaler.mean.len();
    match &record.features {
        Some(features) if features.dim == expected => Ok(features),
        other => {
            let found = other.as_ref().map_or(0, |features| features.dim);
            Err(mismatch(Problem::Attributes { expected, found }, record, origin))
        }
    }
}

fn expected_labels<'a>(record: &'a GraphRecord, origin: Origin<'_>) -> Result<&'a [Scalar]> {
    record.node_labels.as_deref().ok_or_else(|| mismatch(Problem::Labels, record, origin))
}

fn mismatch(problem: Problem, record: &GraphRecord, origin: Origin<'_>) -> Error {
    problem.of(record.name(origin.position), origin.file)
}

//! Node features as the paper prepares them: fitted on training graphs, kept
//! with the model, applied to every later graph.
//!
//! A node's row is the concatenation
//!
//! ```text
//! [ (attributes − mean) / std | one-hot label | (degree − mean) / std | (structure − mean) / std ]
//! ```
//!
//! of the parts that the collection has and the [`FeatureChoice`] takes:
//!
//! - attributes are standardised a column: mean and population standard
//!   deviation over all training nodes; a constant column becomes zeros;
//! - labels are one-hot over the sorted vocabulary of the training nodes; a label
//!   that training never met is a row of zeros, and is counted;
//! - the degree, a number of neighbours, is standardised like an attribute, and by
//!   default stands in only when there is nothing else;
//! - structure, when asked for, are the numbers of [`structure`](crate::graph::structure),
//!   standardised likewise; they then stand in for the degree.

use std::borrow::Borrow;
use std::collections::BTreeSet;
use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::error::{Error, Place, Result, shown};
use crate::graph::structure::COLUMNS;
use crate::graph::{Features, Graph, GraphRecord, Scalar};

/// Most columns a row may have. A vocabulary beyond it is one of names, not of
/// kinds, and would ask for a matrix of terabytes.
pub const MAX_DIM: usize = 1 << 16;

/// The layout of a stored schema that this version reads and writes.
const VERSION: u32 = 1;

/// Which of a collection's features are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FeatureChoice {
    /// Continuous node attributes, where there are any.
    pub attributes: bool,
    /// Node labels, where there are any.
    pub labels: bool,
    /// The degree; `Auto` is when there is nothing else.
    pub degree: When,
    /// What a node's surroundings look like; `Auto` is when there are no attributes.
    pub structure: When,
}

/// When something is a feature.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum When {
    /// Where it has proved useful.
    Auto,
    /// Beside everything else.
    Always,
    /// Not even when there is nothing else.
    Never,
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
        FeatureChoice { attributes: true, labels: true, degree: When::Auto, structure: When::Never }
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Applied {
    /// Nodes whose label training never met; their one-hot part is zero.
    pub unseen_labels: u64,
    /// Numbers beyond what an `f32` holds after scaling, cut to its largest.
    pub clipped: u64,
}

impl Applied {
    /// Adds the counts of `other`.
    pub fn add(&mut self, other: &Applied) {
        self.unseen_labels += other.unseen_labels;
        self.clipped += other.clipped;
    }
}

impl FeatureSchema {
    /// Fits a schema to training graphs in one pass; `file` is for messages.
    ///
    /// # Errors
    /// As [`FeatureFitter::push`] and [`FeatureFitter::finish`].
    pub fn fit<R, G>(
        file: &Path,
        choice: FeatureChoice,
        graphs: impl IntoIterator<Item = (R, G)>,
    ) -> Result<FeatureSchema>
    where
        R: Borrow<GraphRecord>,
        G: Borrow<Graph>,
    {
        let mut fitter = FeatureFitter::new(file, choice);
        for (record, graph) in graphs {
            fitter.push(record.borrow(), graph.borrow())?;
        }
        fitter.finish()
    }

    /// Numbers a node.
    pub fn dim(&self) -> usize {
        let width = |scaler: &Option<Scaler>| scaler.as_ref().map_or(0, |s| s.mean.len());
        let scaled = [&self.attributes, &self.degree, &self.structure];
        scaled.into_iter().map(width).sum::<usize>() + self.labels.as_ref().map_or(0, Vec::len)
    }

    /// How attributes are scaled, where they are used.
    pub fn attributes(&self) -> Option<&Scaler> {
        self.attributes.as_ref()
    }

    /// The vocabulary of node labels, ascending, where they are used.
    pub fn labels(&self) -> Option<&[Scalar]> {
        self.labels.as_deref()
    }

    /// How the degree is scaled, where it is used.
    pub fn degree(&self) -> Option<&Scaler> {
        self.degree.as_ref()
    }

    /// How the numbers of a node's surroundings are scaled, where they are used.
    pub fn structure(&self) -> Option<&Scaler> {
        self.structure.as_ref()
    }

    /// The rows of a graph's nodes, and what had to be resolved.
    ///
    /// # Errors
    /// When the graph lacks the attributes or labels that the schema was fitted
    /// to, or has another number of attributes. A graph without nodes never fails.
    pub fn apply(
        &self,
        record: &GraphRecord,
        graph: &Graph,
        origin: Origin<'_>,
    ) -> Result<(NodeFeatures, Applied)> {
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
            .map_err(|_| too_much_memory(record, n, dim, origin))?;
        let surroundings = self.structure.as_ref().map(|scaler| (scaler, graph.structure()));
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
                scaler.scale(surroundings[node], &mut values, &mut applied);
            }
        }
        Ok((NodeFeatures { dim, values }, applied))
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
            parts.push(format!("{}, standardised", count(scaler.mean.len(), "attribute")));
        }
        if let Some(labels) = &self.labels {
            parts.push(format!("{}, one-hot", count(labels.len(), "label")));
        }
        if self.degree.is_some() {
            parts.push("the degree, standardised".to_owned());
        }
        if let Some(scaler) = &self.structure {
            parts.push(format!("{} of structure, standardised", scaler.mean.len()));
        }
        write!(f, "{} = {}", parts.join(" + "), count(self.dim(), "column"))
    }
}

fn count(n: usize, thing: &str) -> String {
    format!("{n} {thing}{}", if n == 1 { "" } else { "s" })
}

impl Scaler {
    fn scale(&self, row: impl IntoIterator<Item = f64>, out: &mut Vec<f32>, applied: &mut Applied) {
        for ((x, mean), std) in row.into_iter().zip(&self.mean).zip(&self.std) {
            let scaled = ((x - mean) / std) as f32;
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
        other => Err(mismatch(
            record,
            origin,
            match other {
                Some(features) => format!("has {} a node", count(features.dim, "attribute")),
                None => "has no node attributes".to_owned(),
            },
            format!(
                "the model expects {expected}: give the graph the attributes the model was fitted \
                 to, or fit a model without attributes"
            ),
        )),
    }
}

fn expected_labels<'a>(record: &'a GraphRecord, origin: Origin<'_>) -> Result<&'a [Scalar]> {
    record.node_labels.as_deref().ok_or_else(|| {
        mismatch(
            record,
            origin,
            "has no node labels".to_owned(),
            "the model expects them: give the graph node labels, or fit a model without labels"
                .to_owned(),
        )
    })
}

fn too_much_memory(record: &GraphRecord, n: usize, dim: usize, origin: Origin<'_>) -> Error {
    mismatch(
        record,
        origin,
        format!("needs a matrix of {n} × {dim} numbers, more than there is memory for"),
        "use fewer features".to_owned(),
    )
}

fn mismatch(record: &GraphRecord, origin: Origin<'_>, problem: String, fix: String) -> Error {
    let name = shown_name(record, origin.position);
    let place = Place::Record(origin.position + 1);
    Error::input(origin.file, place, format!("{name} {problem}"), fix)
}

/// A graph's name, safe to print whatever its id holds.
fn shown_name(record: &GraphRecord, position: u64) -> String {
    match &record.id {
        Some(id) => format!("graph {}", shown(&id.to_string())),
        None => record.name(position),
    }
}

/// Fits a [`FeatureSchema`] graph by graph, holding the vocabulary and nothing else.
#[derive(Debug)]
pub struct FeatureFitter {
    file: PathBuf,
    choice: FeatureChoice,
    graphs: u64,
    /// What the first graph with nodes has, and its name: all others must agree.
    first: Option<(Has, String)>,
    attributes: Moments,
    degree: Moments,
    structure: Moments,
    vocabulary: BTreeSet<Scalar>,
}

/// Which of the chosen features a graph has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Has {
    /// Attributes a node; 0 for none.
    attributes: usize,
    labels: bool,
}

impl FeatureFitter {
    /// A fitter for the graphs of `file`.
    pub fn new(file: &Path, choice: FeatureChoice) -> FeatureFitter {
        FeatureFitter {
            file: file.to_path_buf(),
            choice,
            graphs: 0,
            first: None,
            attributes: Moments::default(),
            degree: Moments::default(),
            structure: Moments::default(),
            vocabulary: BTreeSet::new(),
        }
    }

    /// Takes one training graph into account.
    ///
    /// # Errors
    /// When it disagrees with the graphs before it on having attributes, how many,
    /// or labels, or when there are more than [`MAX_DIM`] columns.
    pub fn push(&mut self, record: &GraphRecord, graph: &Graph) -> Result<()> {
        let position = self.graphs;
        self.graphs += 1;
        if graph.num_nodes() == 0 {
            return Ok(());
        }
        let features = record.features.as_ref().filter(|_| self.choice.attributes);
        let labels = record.node_labels.as_ref().filter(|_| self.choice.labels);
        let has = Has {
            attributes: features.map_or(0, |features| features.dim),
            labels: labels.is_some(),
        };
        match &self.first {
            None => self.first = Some((has, shown_name(record, position))),
            Some((first, _)) if *first == has => {}
            Some((first, name)) => {
                let name = name.clone();
                return Err(self.disagreement(*first, &name, has, record, position));
            }
        }
        if has.attributes > MAX_DIM {
            return Err(self.too_wide(format!("{} attributes a node", has.attributes), position));
        }
        if let Some(features) = features {
            for node in 0..graph.num_nodes() {
                self.attributes.push(features.row(node));
            }
        }
        for label in labels.into_iter().flatten() {
            if !self.vocabulary.contains(label) {
                self.vocabulary.insert(label.clone());
            }
        }
        if has.attributes + self.vocabulary.len() > MAX_DIM {
            let many = format!("more than {MAX_DIM} different node labels and attributes");
            return Err(self.too_wide(many, position));
        }
        for node in 0..graph.num_nodes() {
            self.degree.push(&[graph.degree(node) as f64]);
        }
        if self.choice.takes_structure(has.attributes) {
            graph.structure().iter().for_each(|row| self.structure.push(row));
        }
        Ok(())
    }

    /// The schema of all graphs seen.
    ///
    /// # Errors
    /// When there was no graph, when nothing is left to use as a feature, or when
    /// attributes are so large that their spread is not a finite number.
    pub fn finish(self) -> Result<FeatureSchema> {
        if self.graphs == 0 {
            return Err(Error::input(
                self.file,
                Place::Whole,
                "there are no graphs to learn features from",
                "give a collection of at least one graph",
            ));
        }
        let has = self.first.as_ref().map(|(has, _)| *has);
        let attributes = has.filter(|has| has.attributes > 0);
        let labels = has.filter(|has| has.labels);
        // Graphs without nodes have nothing that could tell.
        let structure = has.is_some_and(|has| self.choice.takes_structure(has.attributes));
        let degree = match self.choice.degree {
            When::Always => true,
            When::Never => false,
            When::Auto => attributes.is_none() && labels.is_none() && !structure,
        };
        if attributes.is_none() && labels.is_none() && !degree && !structure {
            return Err(Error::input(
                self.file,
                Place::Whole,
                "nothing is left to use as a node feature",
                "take the degree or the structure, or the attributes or labels where the collection has them",
            ));
        }
        let attributes = match attributes {
            Some(has) => Some(self.attributes.scaler(&self.file, has.attributes)?),
            None => None,
        };
        let degree = match degree {
            true => Some(self.degree.scaler(&self.file, 1)?),
            false => None,
        };
        let structure = match structure {
            true => Some(self.structure.scaler(&self.file, COLUMNS)?),
            false => None,
        };
        Ok(FeatureSchema {
            attributes,
            labels: labels.map(|_| self.vocabulary.into_iter().collect()),
            degree,
            structure,
        })
    }

    fn disagreement(
        &self,
        first: Has,
        first_name: &str,
        has: Has,
        record: &GraphRecord,
        position: u64,
    ) -> Error {
        // Speak of attributes when they differ, of labels otherwise.
        let describe = |which: Has| {
            if first.attributes != has.attributes {
                match which.attributes {
                    0 => "no node attributes".to_owned(),
                    n => format!("{} a node", count(n, "attribute")),
                }
            } else if which.labels {
                "node labels".to_owned()
            } else {
                "no node labels".to_owned()
            }
        };
        let fix = match first.attributes != has.attributes {
            true => "make all graphs alike, or train without attributes: --attributes false",
            false => "make all graphs alike, or train without node labels: --labels false",
        };
        let name = shown_name(record, position);
        Error::input(
            &self.file,
            Place::Record(position + 1),
            format!("{name} has {}, but {first_name} has {}", describe(has), describe(first)),
            fix,
        )
    }

    fn too_wide(&self, what: String, position: u64) -> Error {
        Error::input(
            &self.file,
            Place::Record(position + 1),
            what,
            format!(
                "a row may have {MAX_DIM} columns at most: if the labels are names rather than \
                 kinds, leave them out"
            ),
        )
    }
}

/// Running mean and squared deviation of each column (Welford 1962).
#[derive(Debug, Default)]
struct Moments {
    rows: u64,
    mean: Vec<f64>,
    squares: Vec<f64>,
}

impl Moments {
    fn push(&mut self, row: &[f64]) {
        if self.rows == 0 {
            self.mean = vec![0.0; row.len()];
            self.squares = vec![0.0; row.len()];
        }
        self.rows += 1;
        let rows = self.rows as f64;
        for ((x, mean), squares) in row.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let before = x - *mean;
            *mean += before / rows;
            *squares += before * (x - *mean);
        }
    }

    /// A column without spread gets width 1, so that it becomes zeros.
    fn scaler(self, file: &Path, columns: usize) -> Result<Scaler> {
        if self.rows == 0 {
            return Ok(Scaler { mean: vec![0.0; columns], std: vec![1.0; columns] });
        }
        let deviations = self.squares.iter().map(|squares| (squares / self.rows as f64).sqrt());
        let std: Vec<f64> = deviations.map(|std| if std == 0.0 { 1.0 } else { std }).collect();
        for (column, (mean, std)) in self.mean.iter().zip(&std).enumerate() {
            if !(mean.is_finite() && std.is_finite()) {
                return Err(Error::input(
                    file,
                    Place::Whole,
                    format!("node attribute {column} (from 0) is too large to standardise"),
                    "rescale it: its squares must stay below 1e308",
                ));
            }
        }
        Ok(Scaler { mean: self.mean, std })
    }
}

/// A schema as files hold it: checked before it is believed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Stored {
    version: u32,
    attributes: Option<Scaler>,
    labels: Option<Vec<Scalar>>,
    degree: Option<Scaler>,
    #[serde(default)]
    structure: Option<Scaler>,
}

impl From<FeatureSchema> for Stored {
    fn from(schema: FeatureSchema) -> Stored {
        Stored {
            version: VERSION,
            attributes: schema.attributes,
            labels: schema.labels,
            degree: schema.degree,
            structure: schema.structure,
        }
    }
}

impl TryFrom<Stored> for FeatureSchema {
    type Error = String;

    fn try_from(stored: Stored) -> std::result::Result<FeatureSchema, String> {
        if stored.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", stored.version));
        }
        for (name, scaler) in [
            ("attributes", &stored.attributes),
            ("degree", &stored.degree),
            ("structure", &stored.structure),
        ] {
            let Some(scaler) = scaler else { continue };
            if scaler.mean.len() != scaler.std.len() {
                let (mean, std) = (scaler.mean.len(), scaler.std.len());
                return Err(format!("{name} has {mean} means but {std} deviations"));
            }
            if let Some(mean) = scaler.mean.iter().find(|mean| !mean.is_finite()) {
                return Err(format!("{name} has a mean of {mean}"));
            }
            if let Some(std) = scaler.std.iter().find(|std| !(std.is_finite() && **std > 0.0)) {
                return Err(format!("{name} has a deviation of {std}"));
            }
        }
        if stored.attributes.as_ref().is_some_and(|scaler| scaler.mean.is_empty()) {
            return Err("attributes has no columns".to_owned());
        }
        if stored.degree.as_ref().is_some_and(|scaler| scaler.mean.len() != 1) {
            return Err("degree is one column, not more or less".to_owned());
        }
        if stored.structure.as_ref().is_some_and(|scaler| scaler.mean.len() != COLUMNS) {
            return Err(format!("structure is {COLUMNS} columns, not more or less"));
        }
        let labels = stored.labels.as_deref().unwrap_or_default();
        if let Some(pair) = labels.windows(2).find(|pair| pair[0] >= pair[1]) {
            let (a, b) = (shown(&pair[0].to_string()), shown(&pair[1].to_string()));
            return Err(format!("labels are not sorted: {a} comes before {b}"));
        }
        let schema = FeatureSchema {
            attributes: stored.attributes,
            labels: stored.labels,
            degree: stored.degree,
            structure: stored.structure,
        };
        match schema.dim() {
            0 => Err("it has no columns".to_owned()),
            dim if dim > MAX_DIM => Err(format!("it has {dim} columns, above {MAX_DIM}")),
            _ => Ok(schema),
        }
    }
}

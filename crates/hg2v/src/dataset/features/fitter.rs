//! From the graphs of a collection to the schema of their features.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use super::edges::EdgeFitter;
use super::{FeatureChoice, FeatureSchema, MAX_DIM, ROUNDING, Scaler, Subject, When};
use crate::error::{Brings, Error, GraphName, Place, Problem, Result};
use crate::graph::Scalar;
use crate::graph::structure::COLUMNS;

/// Fits a [`FeatureSchema`] graph by graph, holding the vocabulary and nothing else.
#[derive(Debug)]
pub(crate) struct FeatureFitter {
    file: PathBuf,
    choice: FeatureChoice,
    graphs: u64,
    /// Which of the chosen features the first graph with nodes has, and its name: all others must
    /// agree.
    first: Option<(Brings, GraphName)>,
    /// The same for its edges, of the first graph that has any.
    first_edges: Option<(Brings, GraphName)>,
    attributes: Moments,
    degree: Moments,
    structure: Moments,
    vocabulary: BTreeSet<Scalar>,
    edges: EdgeFitter,
}

impl FeatureFitter {
    /// A fitter for the graphs of `file`.
    pub(crate) fn new(file: &Path, choice: FeatureChoice) -> FeatureFitter {
        FeatureFitter {
            file: file.to_path_buf(),
            choice,
            graphs: 0,
            first: None,
            first_edges: None,
            attributes: Moments::default(),
            degree: Moments::default(),
            structure: Moments::default(),
            vocabulary: BTreeSet::new(),
            edges: EdgeFitter::new(choice.edges),
        }
    }

    /// Takes one training graph into account.
    ///
    /// # Errors
    /// When it disagrees with the graphs before it on having attributes, how many,
    /// or labels, or when there are more than [`MAX_DIM`] columns.
    pub(crate) fn push(&mut self, subject: Subject<'_>) -> Result<()> {
        let Subject { record, graph, .. } = subject;
        let position = self.graphs;
        self.graphs += 1;
        if graph.num_nodes() == 0 {
            return Ok(());
        }
        let features = record.features.as_ref().filter(|_| self.choice.attributes);
        let labels = record.node_labels.as_ref().filter(|_| self.choice.labels);
        let has = Brings {
            attributes: features.map_or(0, |features| features.dim),
            labels: labels.is_some(),
            ..Brings::default()
        };
        let name = || record.name(position);
        alike(&mut self.first, has, name, &self.file)?;
        if !record.edges.is_empty() {
            let edges = self.choice.edges;
            let numbers = record.edge_features.as_ref().filter(|_| edges.attributes.is_used());
            let bring = Brings {
                edge_attributes: numbers.map_or(0, |features| features.dim),
                edge_labels: edges.labels.is_used() && record.edge_labels.is_some(),
                ..Brings::default()
            };
            alike(&mut self.first_edges, bring, name, &self.file)?;
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
        self.edges.push(record, graph);
        if self.edges.kinds() > MAX_DIM {
            return Err(
                self.too_wide(format!("more than {MAX_DIM} different edge labels"), position)
            );
        }
        for node in 0..graph.num_nodes() {
            self.degree.push(&[graph.degree(node) as f64]);
        }
        if self.choice.takes_structure(has.attributes) {
            subject.structure().rows().iter().for_each(|row| self.structure.push(row));
        }
        Ok(())
    }

    /// The schema of all graphs seen.
    ///
    /// # Errors
    /// When there was no graph, when nothing is left to use as a feature, or when
    /// attributes are so large that their spread is not a finite number.
    pub(crate) fn finish(self) -> Result<FeatureSchema> {
        if self.graphs == 0 {
            let fix = "give a collection of at least one graph".into();
            return Err(Problem::NoGraphs { fix }.at(self.file, Place::Whole));
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
        let edges = self.edges.finish(&self.file)?;
        if attributes.is_none() && labels.is_none() && !degree && !structure && edges.is_none() {
            return Err(Error::input(
                self.file,
                Place::Whole,
                "nothing is left to use as a node feature",
                "take the degree or the structure, or the attributes or labels where the collection has them",
            ));
        }
        let attributes = match attributes {
            Some(has) => {
                Some(self.attributes.scaler(&self.file, has.attributes, "node attribute")?)
            }
            None => None,
        };
        let degree = match degree {
            true => Some(self.degree.scaler(&self.file, 1, "degree")?),
            false => None,
        };
        let structure = match structure {
            true => Some(self.structure.scaler(&self.file, COLUMNS, "number of structure")?),
            false => None,
        };
        let schema = FeatureSchema {
            attributes,
            labels: labels.map(|_| self.vocabulary.into_iter().collect()),
            degree,
            structure,
            edges,
        };
        if schema.dim() > MAX_DIM {
            let problem = format!("its nodes have {} features", schema.dim());
            return Err(Error::input(self.file, Place::Whole, problem, too_wide_fix()));
        }
        Ok(schema)
    }

    fn too_wide(&self, what: String, position: u64) -> Error {
        Error::input(&self.file, Place::Record(position + 1), what, too_wide_fix())
    }
}

/// Refuses a graph that brings something else than the first one.
fn alike(
    first: &mut Option<(Brings, GraphName)>,
    found: Brings,
    name: impl Fn() -> GraphName,
    file: &Path,
) -> Result<()> {
    match first {
        None => *first = Some((found, name())),
        Some((expected, _)) if *expected == found => {}
        Some((expected, first)) => {
            let (expected, first) = (*expected, first.clone());
            return Err(Problem::Unlike { found, expected, first }.of(name(), file));
        }
    }
    Ok(())
}

fn too_wide_fix() -> String {
    format!(
        "a row may have {MAX_DIM} columns at most: if the labels are names rather than kinds, \
         leave them out"
    )
}

/// Running mean, squared deviation (Welford 1962) and largest size of each column.
#[derive(Debug, Default)]
pub(super) struct Moments {
    rows: u64,
    mean: Vec<f64>,
    squares: Vec<f64>,
    largest: Vec<f64>,
}

impl Moments {
    pub(super) fn push(&mut self, row: &[f64]) {
        if self.rows == 0 {
            self.mean = vec![0.0; row.len()];
            self.squares = vec![0.0; row.len()];
            self.largest = vec![0.0; row.len()];
        }
        self.rows += 1;
        let rows = self.rows as f64;
        for ((x, mean), squares) in row.iter().zip(&mut self.mean).zip(&mut self.squares) {
            let before = x - *mean;
            *mean += before / rows;
            *squares += before * (x - *mean);
        }
        for (x, largest) in row.iter().zip(&mut self.largest) {
            *largest = largest.max(x.abs());
        }
    }

    /// A mean that is rounding, beside the largest number of its column, is zero; a column whose
    /// spread is rounding is constant and gets width 1, so that it becomes zeros.
    pub(super) fn scaler(self, file: &Path, columns: usize, what: &str) -> Result<Scaler> {
        if self.rows == 0 {
            return Ok(Scaler { mean: vec![0.0; columns], std: vec![1.0; columns] });
        }
        let rounding = |largest: &f64| ROUNDING * largest;
        let deviations = self.squares.iter().map(|squares| (squares / self.rows as f64).sqrt());
        let deviations = deviations.zip(self.largest.iter().map(rounding));
        let std: Vec<f64> =
            deviations.map(|(std, rounding)| if std <= rounding { 1.0 } else { std }).collect();
        let means = self.mean.into_iter().zip(self.largest.iter().map(rounding));
        let mean: Vec<f64> =
            means.map(|(mean, rounding)| if mean.abs() <= rounding { 0.0 } else { mean }).collect();
        for (column, (mean, std)) in mean.iter().zip(&std).enumerate() {
            if !(mean.is_finite() && std.is_finite()) {
                return Err(Error::input(
                    file,
                    Place::Whole,
                    format!("{what} {column} (from 0) is too large to standardise"),
                    "rescale it: its squares must stay below 1e308",
                ));
            }
        }
        Ok(Scaler { mean, std })
    }
}

//! Graphs as hand-made statistics: the control that every learned vector should beat.
//!
//! The *local degree profile* (Cai & Wang 2018, *A simple yet effective baseline
//! for non-attributed graph classification*) describes a node by its degree and by
//! the least, largest, mean and standard deviation of its neighbours' degrees. A
//! graph is the histogram of each of the five over its nodes, and of each of the
//! features its nodes come with: counts of node labels, histograms of attributes.
//!
//! Bins are fitted to training graphs: quantiles, so that each holds about as
//! many training nodes as another.

use hg2v::context::Context;
use hg2v::dataset::features::{Applied, EdgeSchema, Origin};
use hg2v::error::{Error, Place, Result};
use hg2v::graph::{Aspects, EdgeChoice, Graph, GraphRecord, Scalar};
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::saved::{Config, DataNote, Parts, Stored, Tensors};
use hg2v::{Method, Model};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Bins a histogram has at most.
const BINS: usize = 16;

/// Statistics of a node that its neighbours' degrees give.
const PROFILE: usize = 5;

/// What [`PROFILE`] are, in their order.
const PROFILE_NAMES: [&str; PROFILE] = [
    "degree",
    "neighbours' least",
    "neighbours' largest",
    "neighbours' mean",
    "neighbours' spread",
];

/// The method. Edge weights count for no statistic: an edge of weight zero is none.
///
/// # Complexity
/// Time O(m) for m edges, and O(n·log n) to fit the bins of n nodes.
///
/// # Examples
/// ```
/// use hg2v::Method;
/// use hg2v::graph::GraphRecord;
/// use hg2v_baselines::embedders::statistics::Statistics;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
/// let model = Statistics::default().fit(&graphs)?;
/// assert_eq!(model.embed(&[ring(20)])?.len(), 1);
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Statistics {
    /// What is seen of edges: how many of each kind a node has, sums of their numbers.
    pub edges: EdgeChoice,
}

hg2v_math::setters!(Statistics { edges: EdgeChoice });

const NAME: &str = "statistics";

impl Method for Statistics {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        _: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        let records = collection.run.records;
        let subjects = train.iter().map(|&i| collection.subject(i));
        let around = EdgeSchema::fit(collection.run.file, self.edges, subjects)?;
        let run = collection.run;
        if let Some(around) = &around {
            train.iter().try_for_each(|&i| {
                around.check(&records[i], Origin { file: run.file, position: run.position_of(i) })
            })?;
        }
        let columns = |&i: &usize| {
            let (graph, record) = (&collection.graphs[i], &records[i]);
            node_columns(graph, record, around.as_ref(), &mut Applied::default())
        };
        let columns: Vec<Vec<Vec<f64>>> = train.par_iter().map(columns).collect();
        let width = columns.iter().map(Vec::len).max().unwrap_or(PROFILE);
        let edges: Vec<Vec<f64>> = (0..width)
            .into_par_iter()
            .map(|column| {
                let values = columns.iter().filter_map(|columns| columns.get(column)).flatten();
                quantiles(values.copied().collect())
            })
            .collect();
        let labels = train.iter().filter_map(|&i| records[i].node_labels.as_ref()).flatten();
        let mut vocabulary: Vec<Scalar> = labels.cloned().collect();
        vocabulary.sort_unstable();
        vocabulary.dedup();
        let data = DataNote::of(train.iter().map(|&i| &records[i]));
        let attributes = width - PROFILE - around.as_ref().map_or(0, EdgeSchema::dim);
        let bins = Bins { settings: *self, attributes, around, edges, vocabulary };
        Ok(Box::new(StatisticsModel { bins, data }))
    }
}

/// The bins that were fitted.
#[derive(Debug, Clone)]
pub struct StatisticsModel {
    bins: Bins,
    data: DataNote,
}

/// What is counted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Bins {
    settings: Statistics,
    /// Numbers a node.
    attributes: usize,
    /// What nodes have of edges.
    around: Option<EdgeSchema>,
    /// The edges of the bins of each column.
    edges: Vec<Vec<f64>>,
    /// The node labels, ascending.
    vocabulary: Vec<Scalar>,
}

impl StatisticsModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<StatisticsModel> {
        let Config { model: bins, data, .. } = stored.config::<Bins>()?;
        let ascending = |edges: &Vec<f64>| edges.is_sorted_by(|a, b| a < b);
        let around = bins.around.as_ref().map_or(0, EdgeSchema::dim);
        let width = PROFILE.saturating_add(bins.attributes).saturating_add(around);
        if bins.edges.len() != width || !bins.edges.iter().all(ascending) {
            return Err(stored.refused("its bins are no statistics'"));
        }
        if !bins.vocabulary.is_sorted() {
            return Err(stored.refused("its labels are not in order"));
        }
        stored.tensors()?.finish()?;
        Ok(StatisticsModel { bins, data })
    }

    /// The numbers of nodes and edges, the histogram of each column, how often each label.
    fn row(&self, graph: &Graph, record: &GraphRecord) -> (Vec<f32>, Applied) {
        let mut applied = Applied::default();
        let columns = node_columns(graph, record, self.bins.around.as_ref(), &mut applied);
        let mut row = vec![graph.num_nodes() as f32, graph.num_edges() as f32];
        for (column, edges) in self.bins.edges.iter().enumerate() {
            let mut counts = vec![0.0; edges.len() + 1];
            for value in columns.get(column).into_iter().flatten() {
                counts[edges.partition_point(|edge| edge < value)] += 1.0;
            }
            row.extend(counts);
        }
        let mut counts = vec![0.0; self.bins.vocabulary.len()];
        for label in record.node_labels.iter().flatten() {
            match self.bins.vocabulary.binary_search(label) {
                Ok(at) => counts[at] += 1.0,
                Err(_) => applied.unseen_labels += 1,
            }
        }
        row.extend(counts);
        (row, applied)
    }
}

impl Model for StatisticsModel {
    fn method(&self) -> &str {
        NAME
    }

    fn settings(&self) -> Value {
        self.bins.settings.settings()
    }

    fn needs(&self) -> Needs {
        self.bins.settings.needs()
    }

    fn sees(&self) -> Aspects {
        let edges = self.bins.around.as_ref().map(EdgeSchema::sees).unwrap_or_default();
        Aspects {
            node_labels: !self.bins.vocabulary.is_empty(),
            node_attributes: self.bins.attributes > 0,
            ..edges
        }
    }

    fn columns(&self) -> Vec<String> {
        let mut names = vec!["nodes".to_owned(), "edges".to_owned()];
        for (column, edges) in self.bins.edges.iter().enumerate() {
            let of = match PROFILE_NAMES.get(column) {
                Some(name) => (*name).to_owned(),
                None if column < PROFILE + self.bins.attributes => format!("x{}", column - PROFILE),
                None => format!("edges {}", column - PROFILE - self.bins.attributes),
            };
            names.extend((0..=edges.len()).map(|bin| format!("{of}, bin {bin}")));
        }
        names.extend(self.bins.vocabulary.iter().map(|label| format!("label {label}")));
        names
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        let fitted = self.bins.attributes;
        if let Some(around) = &self.bins.around {
            around.check(record, origin)?;
        }
        match &record.features {
            Some(features) if features.dim != fitted => Err(Error::input(
                origin.file,
                Place::Record(origin.position + 1),
                format!(
                    "the nodes of {} have {} attributes each, the model expects {fitted}",
                    record.name(origin.position),
                    features.dim
                ),
                "give the attributes that the model was trained with",
            )),
            _ => Ok(()),
        }
    }

    fn embed_collection(&self, collection: &Collection<'_>, _: &Context<'_>) -> Result<Rows> {
        let run = collection.run;
        for (i, record) in run.records.iter().enumerate() {
            self.check(record, Origin { file: run.file, position: run.position_of(i) })?;
        }
        let rows: Vec<(Vec<f32>, Applied)> = collection
            .graphs
            .par_iter()
            .zip(run.records)
            .map(|(graph, record)| self.row(graph, record))
            .collect();
        let (rows, applied): (Vec<_>, Vec<_>) = rows.into_iter().unzip();
        Ok(Rows { values: rows.concat(), applied })
    }

    fn parts(&self) -> Result<Parts> {
        let config = Config::new(NAME, self.bins.clone(), self.data.clone());
        Parts::new(&config, &Tensors::default())
    }
}

/// The local degree profile, the attributes, and what edges bring, column by column; `applied`
/// counts edges of kinds that training never met.
fn node_columns(
    graph: &Graph,
    record: &GraphRecord,
    around: Option<&EdgeSchema>,
    applied: &mut Applied,
) -> Vec<Vec<f64>> {
    let n = graph.num_nodes();
    let attributes = record.features.as_ref().map_or(0, |features| features.dim);
    let edges = around.map_or(0, EdgeSchema::dim);
    let mut columns = vec![Vec::with_capacity(n); PROFILE + attributes + edges];
    let rows = around.map(|around| around.rows(record, graph, applied)).unwrap_or_default();
    for row in rows.chunks(edges.max(1)) {
        for (column, value) in row.iter().enumerate() {
            columns[PROFILE + attributes + column].push(*value);
        }
    }
    for node in 0..n {
        for (column, value) in profile(graph, node).into_iter().enumerate() {
            columns[column].push(value);
        }
        if let Some(features) = &record.features {
            for (column, value) in features.row(node).iter().enumerate() {
                columns[PROFILE + column].push(*value);
            }
        }
    }
    columns
}

/// A node's degree, and the least, largest, mean and deviation of its neighbours'.
fn profile(graph: &Graph, node: usize) -> [f64; PROFILE] {
    let degrees = || graph.neighbors(node).iter().map(|&v| graph.degree(v as usize) as f64);
    let count = graph.degree(node) as f64;
    if count == 0.0 {
        return [0.0; PROFILE];
    }
    let mean = degrees().sum::<f64>() / count;
    let variance = degrees().map(|degree| (degree - mean).powi(2)).sum::<f64>() / count;
    let least = degrees().fold(f64::INFINITY, f64::min);
    let most = degrees().fold(0.0, f64::max);
    [count, least, most, mean, variance.sqrt()]
}

/// Edges that cut `values` into at most [`BINS`] parts of about equal size.
fn quantiles(mut values: Vec<f64>) -> Vec<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let mut edges: Vec<f64> =
        (1..BINS).filter_map(|bin| values.get(bin * values.len() / BINS).copied()).collect();
    edges.dedup();
    // Nothing lies above the largest value.
    if edges.last() == values.last() {
        edges.pop();
    }
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v::graph::WeightPolicy;

    #[test]
    fn the_profile_of_a_star_with_a_tail() {
        // 1, 2, 3 — 0, and 3 — 4
        let record = GraphRecord {
            num_nodes: 6,
            edges: vec![[0, 1], [0, 2], [0, 3], [3, 4]],
            ..GraphRecord::default()
        };
        let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
        let third = (2.0f64 / 9.0).sqrt();
        assert_eq!(profile(&graph, 0), [3.0, 1.0, 2.0, 4.0 / 3.0, third]);
        assert_eq!(profile(&graph, 1), [1.0, 3.0, 3.0, 3.0, 0.0]);
        assert_eq!(profile(&graph, 3), [2.0, 1.0, 3.0, 2.0, 1.0]);
        assert_eq!(profile(&graph, 5), [0.0; 5]);
    }

    #[test]
    fn quantiles_split_evenly_and_skip_repeats() {
        assert_eq!(quantiles((0..32).map(f64::from).collect()).len(), 15);
        assert_eq!(quantiles(vec![1.0; 20]), Vec::<f64>::new());
        assert_eq!(quantiles(vec![0.0, 0.0, 0.0, 1.0]), [0.0]);
        assert_eq!(quantiles(Vec::new()), Vec::<f64>::new());
    }
}

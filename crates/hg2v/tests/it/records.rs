//! What the tests of formats share: reading a collection whole, arbitrary
//! records, small folders of text, and the real sets.

#![allow(dead_code, reason = "each test file uses a part")]

use std::collections::BTreeMap;
use std::io::Write;
use std::path::{Path, PathBuf};

use hg2v::dataset::{Limits, Sink, Source};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;
use proptest::sample::select;

/// Every record of a source that must be readable.
pub(crate) fn all(source: hg2v::Result<Source>) -> Vec<GraphRecord> {
    source
        .unwrap_or_else(|e| panic!("{e}"))
        .map(|record| record.unwrap_or_else(|e| panic!("{e}")))
        .collect()
}

/// The error a source ends in, at once or along the way.
pub(crate) fn refusal(source: hg2v::Result<Source>) -> String {
    match source {
        Err(e) => e.to_string(),
        Ok(source) => match source.collect::<hg2v::Result<Vec<_>>>() {
            Err(e) => e.to_string(),
            Ok(records) => panic!("read {} graphs where an error was due", records.len()),
        },
    }
}

/// Writes records to a sink that must accept them.
pub(crate) fn put(sink: hg2v::Result<Box<dyn Sink>>, records: &[GraphRecord]) {
    let mut sink = sink.unwrap_or_else(|e| panic!("{e}"));
    for record in records {
        sink.write(record).unwrap_or_else(|e| panic!("{e}"));
    }
    sink.finish().unwrap_or_else(|e| panic!("{e}"));
}

/// A folder with these files.
pub(crate) fn folder(files: &[(&str, &[u8])]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        std::fs::write(folder.path().join(name), content).unwrap();
    }
    folder
}

pub(crate) fn limits() -> Limits {
    Limits::default()
}

/// Records as written and read back: what the file's layout repeats by
/// convention is not counted again.
pub(crate) fn unfolded(mut records: Vec<GraphRecord>) -> Vec<GraphRecord> {
    for record in &mut records {
        record.folded_repeats = 0;
    }
    records
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z]{1,3}",
        "\\PC{0,4}",
        "[-+0-9.eE]{0,4}",
        "[ ,;\"'\\\\\n\r\t]{0,4}",
        Just("true".to_owned()),
        Just("null".to_owned()),
        Just("NaN".to_owned()),
    ]
}

fn float() -> impl Strategy<Value = f64> {
    prop_oneof![select(vec![0.0, -0.0, 1.0, 0.1, 1e300, -5e-324, 1e16, 123456789.0]), -1e3..1e3f64,]
}

pub(crate) fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        3 => text().prop_map(|text| Scalar::from(&*text)),
        3 => (-3i64..12).prop_map(Scalar::Int),
        1 => any::<i64>().prop_map(Scalar::Int),
        1 => float().prop_map(Scalar::Float),
        1 => any::<bool>().prop_map(Scalar::Bool),
    ]
}

/// What every graph of a collection has, or none.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Carries {
    pub(crate) label: bool,
    pub(crate) node_labels: bool,
    pub(crate) edge_labels: bool,
    pub(crate) weights: bool,
    pub(crate) dim: usize,
    pub(crate) edge_dim: usize,
    /// How many targets, and whether they have names.
    pub(crate) targets: (usize, bool),
}

fn carries() -> impl Strategy<Value = Carries> {
    let flags = (any::<bool>(), any::<bool>(), any::<bool>(), any::<bool>());
    let sizes = (0usize..3, 0usize..3, (0usize..4, any::<bool>()));
    (flags, sizes).prop_map(|((label, node_labels, edge_labels, weights), sizes)| Carries {
        label,
        node_labels,
        edge_labels,
        weights,
        dim: sizes.0,
        edge_dim: sizes.1,
        targets: sizes.2,
    })
}

/// Names of targets that trip a table.
const NAMES: [&str; 4] = ["logp", "LogP", "a, \"b\"\n", " "];

/// A graph; only where `texts` is set do targets hold anything but numbers.
fn record(carries: Carries, texts: bool) -> impl Strategy<Value = GraphRecord> {
    let number = prop_oneof![any::<i64>().prop_map(Scalar::Int), float().prop_map(Scalar::Float)];
    let value = if texts { scalar().boxed() } else { number.boxed() };
    let (count, named) = carries.targets;
    let name = move |at: usize| if named { NAMES[at].to_owned() } else { at.to_string() };
    let targets = proptest::collection::vec(proptest::option::of(value), count);
    let targets = targets.prop_map(move |values| {
        let target = |(at, value)| Target { name: name(at), value };
        values.into_iter().enumerate().map(target).collect::<Vec<_>>()
    });
    (graph(carries), targets).prop_map(|(graph, targets)| GraphRecord { targets, ..graph })
}

fn graph(carries: Carries) -> impl Strategy<Value = GraphRecord> {
    (0u32..6).prop_flat_map(move |n| {
        let most = if n == 0 { 0 } else { 8 };
        let node_ids = proptest::collection::btree_set(scalar(), n as usize);
        (
            (proptest::option::of(scalar()), scalar()),
            proptest::option::of(node_ids.prop_map(|ids| ids.into_iter().rev().collect())),
            proptest::collection::vec(
                ((0..n.max(1), 0..n.max(1)), float(), scalar(), [float(), float()]),
                0..=most,
            ),
            proptest::collection::vec(scalar(), n as usize),
            proptest::collection::vec(float(), n as usize * carries.dim),
            any::<bool>(),
        )
            .prop_map(move |((id, label), ids, edges, node_labels, values, directed)| {
                let ids: Option<Vec<Scalar>> = ids;
                let plain = |ids: &Vec<Scalar>| (0..).zip(ids).all(|(k, id)| *id == Scalar::Int(k));
                let any_edge = !edges.is_empty();
                GraphRecord {
                    targets: Vec::new(),
                    edge_features: (carries.edge_dim > 0 && any_edge).then(|| Features {
                        dim: carries.edge_dim,
                        values: edges
                            .iter()
                            .flat_map(|e| e.3[..carries.edge_dim].iter().copied())
                            .collect(),
                    }),
                    id,
                    label: carries.label.then_some(label),
                    num_nodes: n,
                    node_ids: ids.filter(|ids| !plain(ids)),
                    weights: (carries.weights && any_edge)
                        .then(|| edges.iter().map(|e| e.1).collect()),
                    edge_labels: (carries.edge_labels && any_edge)
                        .then(|| edges.iter().map(|e| e.2.clone()).collect()),
                    edges: edges.iter().map(|e| [e.0.0, e.0.1]).collect(),
                    node_labels: (carries.node_labels && n > 0).then_some(node_labels),
                    features: (carries.dim > 0 && n > 0)
                        .then_some(Features { dim: carries.dim, values }),
                    directed,
                    folded_repeats: 0,
                }
            })
    })
}

/// A collection whose graphs all carry the same things, and have numbers to predict, if any.
pub(crate) fn alike() -> impl Strategy<Value = Vec<GraphRecord>> {
    carries().prop_flat_map(|carries| proptest::collection::vec(record(carries, false), 0..5))
}

/// A collection whose graphs carry different things.
pub(crate) fn mixed() -> impl Strategy<Value = Vec<GraphRecord>> {
    proptest::collection::vec(carries().prop_flat_map(|carries| record(carries, true)), 0..5)
}

/// As a table has them: every graph has all targets, in the order they were first met in, and those
/// that it had not are not known.
pub(crate) fn tabled(mut records: Vec<GraphRecord>) -> Vec<GraphRecord> {
    let mut names: Vec<String> = Vec::new();
    for target in records.iter().flat_map(|record| &record.targets) {
        if !names.contains(&target.name) {
            names.push(target.name.clone());
        }
    }
    for record in &mut records {
        let own = std::mem::take(&mut record.targets);
        let value = |name: &String| own.iter().find(|t| t.name == *name)?.value.clone();
        let target = |name: &String| Target { name: name.clone(), value: value(name) };
        record.targets = names.iter().map(target).collect();
    }
    records
}

/// A real set: what its table says of it.
pub(crate) struct Known {
    pub(crate) name: &'static str,
    pub(crate) graphs: usize,
    pub(crate) classes: &'static [(i64, usize)],
    /// Averages to three decimals.
    pub(crate) nodes: &'static str,
    pub(crate) edges: &'static str,
    /// Distinct labels (0: none), and attributes a node.
    pub(crate) node_labels: usize,
    pub(crate) dim: usize,
    pub(crate) edge_labels: usize,
    pub(crate) isolated: usize,
    /// Lines of `A` an edge.
    pub(crate) lines: u64,
}

#[rustfmt::skip]
pub(crate) const KNOWN: [Known; 15] = [
    Known { name: "MUTAG", graphs: 188, classes: &[(-1, 63), (1, 125)], nodes: "17.931", edges: "19.793", node_labels: 7, dim: 0, edge_labels: 4, isolated: 0, lines: 2 },
    Known { name: "PTC_FR", graphs: 351, classes: &[(-1, 230), (1, 121)], nodes: "14.558", edges: "15.003", node_labels: 19, dim: 0, edge_labels: 4, isolated: 0, lines: 2 },
    Known { name: "FRANKENSTEIN", graphs: 4337, classes: &[(-1, 1936), (1, 2401)], nodes: "16.897", edges: "17.877", node_labels: 0, dim: 0, edge_labels: 0, isolated: 298, lines: 2 },
    Known { name: "BURSI", graphs: 4337, classes: &[(-1, 1936), (1, 2401)], nodes: "16.897", edges: "17.877", node_labels: 13, dim: 0, edge_labels: 3, isolated: 298, lines: 2 },
    Known { name: "IMDB-BINARY", graphs: 1000, classes: &[(0, 500), (1, 500)], nodes: "19.773", edges: "96.531", node_labels: 0, dim: 0, edge_labels: 0, isolated: 0, lines: 4 },
    Known { name: "IMDB-MULTI", graphs: 1500, classes: &[(1, 500), (2, 500), (3, 500)], nodes: "13.001", edges: "65.935", node_labels: 0, dim: 0, edge_labels: 0, isolated: 0, lines: 4 },
    Known { name: "NCI1", graphs: 4110, classes: &[(0, 2053), (1, 2057)], nodes: "29.865", edges: "32.300", node_labels: 37, dim: 0, edge_labels: 0, isolated: 428, lines: 2 },
    Known { name: "NCI109", graphs: 4127, classes: &[(0, 2048), (1, 2079)], nodes: "29.681", edges: "32.131", node_labels: 38, dim: 0, edge_labels: 0, isolated: 474, lines: 2 },
    Known { name: "ENZYMES", graphs: 600, classes: &[(1, 100), (2, 100), (3, 100), (4, 100), (5, 100), (6, 100)], nodes: "32.633", edges: "62.137", node_labels: 3, dim: 18, edge_labels: 0, isolated: 106, lines: 2 },
    Known { name: "PROTEINS", graphs: 1113, classes: &[(1, 663), (2, 450)], nodes: "39.058", edges: "72.816", node_labels: 3, dim: 1, edge_labels: 0, isolated: 5, lines: 2 },
    Known { name: "DD", graphs: 1178, classes: &[(1, 691), (2, 487)], nodes: "284.317", edges: "715.659", node_labels: 82, dim: 0, edge_labels: 0, isolated: 0, lines: 2 },
    Known { name: "REDDIT-BINARY", graphs: 2000, classes: &[(-1, 1000), (1, 1000)], nodes: "429.627", edges: "497.754", node_labels: 0, dim: 0, edge_labels: 0, isolated: 21, lines: 4 },
    Known { name: "REDDIT-MULTI-5K", graphs: 4999, classes: &[(1, 1000), (2, 1000), (3, 1000), (4, 1000), (5, 999)], nodes: "508.516", edges: "594.875", node_labels: 0, dim: 0, edge_labels: 0, isolated: 45, lines: 2 },
    Known { name: "DLA", graphs: 1002, classes: &[(1, 501), (2, 501)], nodes: "100.000", edges: "99.000", node_labels: 0, dim: 2, edge_labels: 0, isolated: 0, lines: 2 },
    Known { name: "DLA2", graphs: 1002, classes: &[(1, 501), (2, 501)], nodes: "100.000", edges: "99.000", node_labels: 0, dim: 2, edge_labels: 0, isolated: 0, lines: 2 },
];

/// The real sets' folder; says so where it is not given.
pub(crate) fn real_sets(test: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("HG2V_DATA").map(PathBuf::from);
    if folder.is_none() {
        let _ =
            writeln!(std::io::stderr(), "skipped: set HG2V_DATA to run {test} over the real sets");
    }
    folder
}

impl Known {
    pub(crate) fn zip(&self, folder: &Path) -> PathBuf {
        folder.join(format!("{}.zip", self.name))
    }

    /// Holds a collection against the table.
    pub(crate) fn check(&self, records: &[GraphRecord]) {
        let name = self.name;
        assert_eq!(records.len(), self.graphs, "{name}: graphs");
        let mut classes = BTreeMap::new();
        let mut isolated = 0;
        let (mut nodes, mut edges, mut repeats) = (0u64, 0u64, 0u64);
        let mut node_labels = std::collections::BTreeSet::new();
        let mut edge_labels = std::collections::BTreeSet::new();
        for record in records {
            *classes.entry(record.label.clone().unwrap()).or_insert(0) += 1;
            nodes += u64::from(record.num_nodes);
            edges += record.edges.len() as u64;
            repeats += record.folded_repeats;
            let mut touched = vec![false; record.num_nodes as usize];
            for &[u, v] in &record.edges {
                touched[u as usize] = true;
                touched[v as usize] = true;
                assert_ne!(u, v, "{name}: a self-loop");
            }
            isolated += touched.iter().filter(|&&touched| !touched).count();
            node_labels.extend(record.node_labels.iter().flatten().cloned());
            edge_labels.extend(record.edge_labels.iter().flatten().cloned());
            assert_eq!(record.features.as_ref().map_or(0, |f| f.dim), self.dim, "{name}: dim");
        }
        let expected: Vec<_> = self.classes.iter().map(|&(y, n)| (Scalar::Int(y), n)).collect();
        assert_eq!(classes.into_iter().collect::<Vec<_>>(), expected, "{name}: classes");
        let average = |total: u64| format!("{:.3}", total as f64 / self.graphs as f64);
        assert_eq!(average(nodes), self.nodes, "{name}: nodes");
        assert_eq!(average(edges), self.edges, "{name}: edges");
        assert_eq!(node_labels.len(), self.node_labels, "{name}: node labels");
        assert_eq!(edge_labels.len(), self.edge_labels, "{name}: edge labels");
        assert_eq!(isolated, self.isolated, "{name}: isolated nodes");
        assert_eq!(repeats, edges * (self.lines - 2), "{name}: repeated lines");
    }
}

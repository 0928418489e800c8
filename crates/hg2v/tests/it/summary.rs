//! Summaries: known answers, the naive computation, and the published numbers of real sets.

use std::collections::{BTreeMap, BTreeSet};
use std::io::{self, Write};
use std::path::Path;

use hg2v::Error;
use hg2v::context::Context;
use hg2v::dataset::summary::{MAX_VOCABULARY, Spread, Summary, SummaryOptions, summarize};
use hg2v::dataset::{self, Format, Limits, Source};
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{EdgeChoice, Features, Graph, GraphRecord, Scalar, WeightPolicy};
use hg2v::progress::{Flow, Report};
use proptest::prelude::*;

fn summary_of(records: Vec<GraphRecord>) -> Summary {
    let graphs = records.into_iter().map(Ok);
    let mut source = Source::new(Path::new("set.jsonl"), Format::Jsonl, graphs);
    summarize(&mut source, &SummaryOptions::default(), &Context::default()).unwrap()
}

fn graph(num_nodes: u32, edges: &[[u32; 2]], label: i64) -> GraphRecord {
    GraphRecord {
        num_nodes,
        edges: edges.to_vec(),
        label: Some(label.into()),
        ..GraphRecord::default()
    }
}

const HEXAGON: [[u32; 2]; 6] = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]];
const TRIANGLES: [[u32; 2]; 6] = [[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]];

#[test]
fn a_small_collection_by_hand() {
    let found = summary_of(vec![
        graph(6, &HEXAGON, 1),
        graph(6, &TRIANGLES, 2),
        graph(6, &HEXAGON, 1),
        graph(3, &[[0, 1]], 1),
        graph(0, &[], 1),
    ]);
    assert_eq!((found.graphs, found.nodes, found.edges), (5, 21, 19));
    let spread = |mean, median, min, max| Some(Spread { mean, median, min, max });
    assert_eq!(found.nodes_per_graph, spread(4.2, 6.0, 0, 6));
    assert_eq!(found.edges_per_graph, spread(3.8, 6.0, 0, 6));
    assert_eq!(found.degree, spread(38.0 / 21.0, 2.0, 0, 2));
    // 6/15 three times and 1/3 once; the empty graph has no density.
    assert!((found.mean_density.unwrap() - (3.0 * 0.4 + 1.0 / 3.0) / 4.0).abs() < 1e-15);
    assert_eq!((found.empty_graphs, found.edgeless_graphs), (1, 1));
    assert_eq!(found.components.total, 1 + 2 + 1 + 2);
    assert_eq!(found.components.max, 2);
    assert_eq!(found.components.disconnected_graphs, 2);
    assert_eq!((found.isolated_nodes.nodes, found.isolated_nodes.graphs), (1, 1));
    assert_eq!(found.features.plan, "the degree, standardised = 1 column");

    let classes = found.classes.unwrap();
    assert_eq!((classes.distinct, classes.graphs, classes.total), (2, 5, 5));
    assert_eq!((classes.top[0].label.clone(), classes.top[0].count), (1.into(), 4));

    // The two hexagons are the same; two triangles look like them, in another class.
    let same = found.duplicates.unwrap();
    assert_eq!((same.groups, same.graphs, same.largest), (1, 2, 2));
    assert_eq!(same.example, Some([0, 2]));
    assert_eq!((same.mixed_classes, same.best_accuracy), (Some(0), Some(1.0)));
    let alike = found.wl_equivalent.unwrap().groups;
    assert_eq!((alike.groups, alike.graphs, alike.largest), (1, 3, 3));
    assert_eq!(alike.example, Some([0, 1]));
    assert_eq!((alike.mixed_classes, alike.best_accuracy), (Some(1), Some(0.8)));
}

#[test]
fn content_is_compared_whatever_the_order_of_edges_and_the_names() {
    let first = GraphRecord {
        id: Some("a".into()),
        weights: Some(vec![2.0, 3.0]),
        edge_labels: Some(vec!["s".into(), "d".into()]),
        edge_features: Some(Features { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0] }),
        ..graph(3, &[[0, 1], [1, 2]], 1)
    };
    let turned = GraphRecord {
        id: Some("b".into()),
        weights: Some(vec![3.0, 2.0]),
        edge_labels: Some(vec!["d".into(), "s".into()]),
        edge_features: Some(Features { dim: 2, values: vec![3.0, 4.0, 1.0, 2.0] }),
        ..graph(3, &[[2, 1], [1, 0]], 2)
    };
    let same = |other: &GraphRecord| {
        let found = summary_of(vec![first.clone(), other.clone()]);
        found.duplicates.unwrap().groups == 1
    };
    assert!(same(&turned));
    let changes: [fn(&mut GraphRecord); 9] = [
        |r| r.edge_features = None,
        |r| r.edge_features = Some(Features { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0] }),
        |r| r.num_nodes = 4,
        |r| r.weights = Some(vec![3.0, 2.5]),
        |r| r.edge_labels = Some(vec!["s".into(), "d".into()]),
        |r| r.edge_labels = None,
        |r| r.node_labels = Some(vec![1.into(), 1.into(), 1.into()]),
        |r| r.edges[0] = [2, 0],
        |r| {
            let (dim, values) = (1, vec![0.0; 3]);
            r.features = Some(Features { dim, values });
        },
    ];
    for (number, change) in changes.iter().enumerate() {
        let mut other = turned.clone();
        change(&mut other);
        assert!(!same(&other), "change {number} went unnoticed");
    }
}

#[test]
fn what_training_would_refuse_is_described() {
    let negative = GraphRecord { weights: Some(vec![-1.5, 4.0]), ..graph(2, &[[0, 1], [0, 0]], 1) };
    let labelled = GraphRecord { node_labels: Some(vec![7.into()]), ..graph(1, &[], 1) };
    let found = summary_of(vec![negative, labelled]);
    assert_eq!((found.findings.negative_weights, found.findings.self_loops), (1, 1));
    let weights = found.weights.unwrap();
    assert_eq!((weights.graphs, weights.min, weights.max), (1, -1.5, 4.0));
    assert_eq!(found.features.dim, None);
    let problem = found.features.problem.unwrap().to_string();
    assert!(problem.contains("record 2") && problem.contains("no node labels"), "{problem}");
}

#[test]
fn an_empty_collection_has_a_summary() {
    let found = summary_of(Vec::new());
    assert_eq!((found.graphs, found.nodes_per_graph, found.degree), (0, None, None));
    assert_eq!(found.duplicates.unwrap().best_accuracy, None);
    assert!(found.features.problem.unwrap().to_string().contains("no graphs"));
}

#[test]
fn vocabularies_stop_growing_and_say_so() {
    let many = MAX_VOCABULARY as u32 + 5;
    let record = GraphRecord {
        num_nodes: many,
        node_labels: Some((0..i64::from(many)).map(Scalar::Int).collect()),
        ..GraphRecord::default()
    };
    let found = summary_of(vec![record]).node_labels.unwrap();
    assert_eq!((found.distinct, found.complete), (MAX_VOCABULARY as u64, false));
    assert_eq!(found.total, u64::from(many));
}

#[test]
fn reading_that_fails_fails_the_summary() {
    let graphs = [Ok(graph(1, &[], 1)), Err(hg2v::Error::parameter("x", 1, "not"))];
    let mut source = Source::new(Path::new("set.jsonl"), Format::Jsonl, graphs.into_iter());
    assert!(summarize(&mut source, &SummaryOptions::default(), &Context::default()).is_err());
}

/// Small graphs over small alphabets, so that some are equal and some look it.
fn any_graph() -> impl Strategy<Value = GraphRecord> {
    (0u32..5, prop::option::of(0i64..3), any::<bool>()).prop_flat_map(|(n, class, labelled)| {
        let end = 0..n.max(1);
        let most = if n == 0 { 0 } else { 5 };
        let edges = prop::collection::vec([end.clone(), end], 0..=most);
        let labels = prop::collection::vec((0i64..2).prop_map(Scalar::Int), n as usize);
        (edges, labels).prop_map(move |(edges, labels)| GraphRecord {
            num_nodes: n,
            edges,
            label: class.map(Scalar::Int),
            node_labels: labelled.then_some(labels),
            ..GraphRecord::default()
        })
    })
}

fn median(values: &mut [u64]) -> f64 {
    values.sort_unstable();
    let (low, high) = (values[(values.len() - 1) / 2], values[values.len() / 2]);
    (low + high) as f64 / 2.0
}

proptest! {
    #[test]
    fn a_summary_is_what_the_naive_computation_gives(
        records in prop::collection::vec(any_graph(), 1..20),
    ) {
        let found = summary_of(records.clone());
        let mut refiner = Refiner::new(5).edges(EdgeChoice::default());
        let (mut edges, mut degrees) = (Vec::new(), Vec::new());
        let (mut identical, mut alike) = (BTreeMap::new(), BTreeMap::new());
        for record in &records {
            let ends = |&[u, v]: &[u32; 2]| (u.min(v), u.max(v));
            let proper = record.edges.iter().filter(|[u, v]| u != v);
            let simple: BTreeSet<_> = proper.map(ends).collect();
            edges.push(simple.len() as u64);
            for node in 0..record.num_nodes {
                let at_node = simple.iter().filter(|(u, v)| *u == node || *v == node);
                degrees.push(at_node.count() as u64);
            }
            let (clean, _) = Graph::from_record(record, WeightPolicy::Use).unwrap();
            let rows = refiner.refine(record, &clean).unwrap();
            let rows: Vec<_> = rows.iter().map(|row| histogram(row)).collect();
            let mut all: Vec<_> = record.edges.iter().map(ends).collect();
            all.sort_unstable();
            let content = (record.num_nodes, all, record.node_labels.clone());
            identical.entry(content).or_insert_with(Vec::new).push(record.label.clone());
            alike.entry(rows).or_insert_with(Vec::new).push(record.label.clone());
        }
        prop_assert_eq!(found.edges, edges.iter().sum::<u64>());
        prop_assert_eq!(found.edges_per_graph.unwrap().median, median(&mut edges));
        prop_assert_eq!(found.isolated_nodes.nodes, degrees.iter().filter(|d| **d == 0).count() as u64);
        if let Some(degree) = found.degree {
            let mean = degrees.iter().sum::<u64>() as f64 / degrees.len() as f64;
            prop_assert_eq!(degree.mean, mean);
            prop_assert_eq!(degree.median, median(&mut degrees));
            prop_assert_eq!(Some(&degree.max), degrees.last());
        }
        let identical: Vec<_> = identical.into_values().collect();
        let alike: Vec<_> = alike.into_values().collect();
        let both = [(found.duplicates.unwrap(), identical), (found.wl_equivalent.unwrap().groups, alike)];
        for (groups, expected) in both {
            let sizes = expected.iter().map(Vec::len).filter(|size| *size > 1);
            prop_assert_eq!(groups.groups, sizes.clone().count() as u64);
            prop_assert_eq!(groups.graphs, sizes.clone().sum::<usize>() as u64);
            prop_assert_eq!(groups.largest, sizes.max().unwrap_or(0) as u64);
            let (mut right, mut labelled, mut mixed) = (0, 0, 0);
            for classes in &expected {
                let mut counts = BTreeMap::new();
                for class in classes.iter().flatten() {
                    *counts.entry(class).or_insert(0u64) += 1;
                }
                right += counts.values().max().unwrap_or(&0);
                labelled += counts.values().sum::<u64>();
                mixed += u64::from(counts.len() > 1);
            }
            let bound = (labelled > 0).then(|| right as f64 / labelled as f64);
            prop_assert_eq!(groups.best_accuracy, bound);
            prop_assert_eq!(groups.mixed_classes, (labelled > 0).then_some(mixed));
        }
    }
}

#[test]
fn any_number_of_threads_gives_the_same_summary() {
    // More than one chunk, of graphs of many shapes.
    let records: Vec<GraphRecord> = (0..9000u32)
        .map(|i| {
            let n = i % 13;
            let edges: Vec<[u32; 2]> = (1..n).map(|v| [v, (v * i) % v]).collect();
            GraphRecord {
                node_labels: Some((0..n).map(|v| Scalar::Int(i64::from(v * i % 5))).collect()),
                ..graph(n, &edges, i64::from(i % 3))
            }
        })
        .collect();
    let with = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let found = pool.install(|| summary_of(records.clone()));
        serde_json::to_string(&found).unwrap()
    };
    let one = with(1);
    assert_eq!(with(2), one);
    assert_eq!(with(4), one);
}

/// A real set, summarised; `None` (said on standard error) where there are no data.
fn real(name: &str) -> Option<Summary> {
    let Some(folder) = std::env::var_os("HG2V_DATA") else {
        let _ = writeln!(io::stderr(), "skipped: set HG2V_DATA to run over {name}");
        return None;
    };
    let path = dataset::locate(Path::new(name), Some(Path::new(&folder))).unwrap();
    let mut source = dataset::open(&path, &Limits::default()).unwrap();
    Some(summarize(&mut source, &SummaryOptions::default(), &Context::default()).unwrap())
}

#[test]
fn mutag_is_as_published() {
    let Some(found) = real("MUTAG") else { return };
    assert_eq!((found.graphs, found.name.as_str()), (188, "MUTAG"));
    assert_eq!(format!("{:.3}", found.nodes_per_graph.unwrap().mean), "17.931");
    assert_eq!(format!("{:.3}", found.edges_per_graph.unwrap().mean), "19.793");
    assert_eq!(found.isolated_nodes.nodes, 0);
    assert_eq!(found.components.disconnected_graphs, 0);
    assert_eq!(found.node_labels.unwrap().distinct, 7);
    assert_eq!(found.edge_labels.unwrap().distinct, 4);
    let classes = found.classes.unwrap().top;
    let classes: Vec<_> = classes.iter().map(|c| (c.label.clone(), c.count)).collect();
    assert_eq!(classes, [(1.into(), 125), ((-1).into(), 63)]);
    assert_eq!(
        found.features.plan,
        "7 labels, one-hot + 4 of edges (shares of 4 kinds) = 11 columns"
    );
    assert_eq!(found.findings, Default::default());
}

#[test]
fn enzymes_is_as_published() {
    let Some(found) = real("ENZYMES") else { return };
    assert_eq!(found.graphs, 600);
    assert_eq!(format!("{:.3}", found.nodes_per_graph.unwrap().mean), "32.633");
    assert_eq!(format!("{:.3}", found.edges_per_graph.unwrap().mean), "62.137");
    assert_eq!(found.isolated_nodes.nodes, 106);
    assert_eq!(found.components.disconnected_graphs, 31);
    assert_eq!(found.classes.unwrap().distinct, 6);
    let plan = "18 attributes, standardised + 3 labels, one-hot = 21 columns";
    assert_eq!(found.features.plan, plan);
}

#[test]
fn repeated_edges_of_imdb_are_counted_once() {
    let Some(found) = real("IMDB-BINARY") else {
        return;
    };
    assert_eq!((found.graphs, found.nodes, found.edges), (1000, 19_773, 96_531));
    // Every edge stands on four lines where two would do.
    assert!(found.findings.repeated_edges > 0);
}

#[test]
fn whoever_waits_for_a_summary_can_stop_it() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("graphs.jsonl");
    std::fs::write(&file, "{\"edges\":[[0,1]]}\n").unwrap();
    let mut source = dataset::open(&file, &Limits::default()).unwrap();
    let stop = |_: &Report<'_>| Flow::Stop;
    let context = Context::default().watched_by(&stop);
    let stopped = summarize(&mut source, &SummaryOptions::default(), &context);
    assert!(matches!(stopped, Err(Error::Stopped)), "{stopped:?}");
}

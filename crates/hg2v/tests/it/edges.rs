//! What nodes see of edges: known answers, the definition, disagreements.

use std::collections::BTreeMap;
use std::path::Path;

use hg2v::dataset::features::{
    Applied, EdgeSchema, FeatureChoice, FeatureSchema, Origin, Subject, When,
};
use hg2v::graph::{EdgeChoice, Features, Graph, GraphRecord, Scalar, Usage, WeightPolicy};
use proptest::prelude::*;

const FILE: &str = "train.jsonl";

fn clean(record: &GraphRecord) -> Graph {
    Graph::from_record(record, WeightPolicy::Use).unwrap().0
}

fn edge_schema(choice: EdgeChoice, records: &[GraphRecord]) -> Option<EdgeSchema> {
    let graphs: Vec<Graph> = records.iter().map(clean).collect();
    let subjects = records.iter().zip(&graphs).map(|(record, graph)| Subject::new(record, graph));
    EdgeSchema::fit(Path::new(FILE), choice, subjects).unwrap()
}

fn around(schema: &EdgeSchema, record: &GraphRecord) -> Vec<f64> {
    schema.rows(record, &clean(record), &mut Applied::default())
}

fn fit(choice: FeatureChoice, records: &[GraphRecord]) -> hg2v::Result<FeatureSchema> {
    let graphs: Vec<Graph> = records.iter().map(clean).collect();
    let subjects = records.iter().zip(&graphs).map(|(record, graph)| Subject::new(record, graph));
    FeatureSchema::fit(Path::new(FILE), choice, subjects)
}

fn only_edges() -> FeatureChoice {
    FeatureChoice::default().attributes(false).labels(false).degree(When::Never)
}

/// a -1-> b -2-> c, and c -1-> a.
fn ring(directed: bool) -> GraphRecord {
    GraphRecord {
        num_nodes: 3,
        edges: vec![[0, 1], [1, 2], [2, 0]],
        edge_labels: Some(vec![1.into(), 2.into(), 1.into()]),
        edge_features: Some(Features { dim: 1, values: vec![10.0, 20.0, 40.0] }),
        directed,
        ..GraphRecord::default()
    }
}

#[test]
fn kinds_are_counted_and_numbers_added_up() {
    let schema = edge_schema(EdgeChoice::default(), &[ring(false)]).unwrap();
    assert_eq!(schema.labels().unwrap(), [1.into(), 2.into()]);
    let rows = around(&schema, &ring(false));
    assert_eq!(rows, [2.0, 0.0, 50.0, 1.0, 1.0, 30.0, 1.0, 1.0, 60.0]);
    let schema = edge_schema(EdgeChoice::default(), &[ring(true)]).unwrap();
    let rows = around(&schema, &ring(true));
    let expected = [
        [1.0, 0.0, 10.0, 1.0, 0.0, 40.0],
        [0.0, 1.0, 20.0, 1.0, 0.0, 10.0],
        [1.0, 0.0, 40.0, 0.0, 1.0, 20.0],
    ];
    assert_eq!(rows, expected.concat());
    // An undirected graph under the same schema: every edge goes both ways.
    let rows = around(&schema, &ring(false));
    assert_eq!(rows[..6], [2.0, 0.0, 50.0, 2.0, 0.0, 50.0]);
}

#[test]
fn directions_alone_are_degrees() {
    let choice = EdgeChoice::NOTHING.direction(Usage::Use);
    let star = GraphRecord {
        num_nodes: 3,
        edges: vec![[0, 1], [0, 2]],
        directed: true,
        ..GraphRecord::default()
    };
    let schema = edge_schema(choice, std::slice::from_ref(&star)).unwrap();
    assert_eq!(around(&schema, &star), [2.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
    let turned = GraphRecord { edges: vec![[1, 0], [2, 0]], ..star.clone() };
    assert_eq!(around(&schema, &turned), [0.0, 2.0, 1.0, 0.0, 1.0, 0.0]);
    assert_eq!(edge_schema(EdgeChoice::NOTHING, &[star]), None);
    let plain = GraphRecord { directed: false, ..turned };
    assert_eq!(edge_schema(choice, &[plain]), None);
}

#[test]
fn an_unknown_kind_is_counted_and_is_of_none() {
    let schema = fit(only_edges(), &[ring(false)]).unwrap();
    let mut other = ring(false);
    other.edge_labels = Some(vec![1.into(), 9.into(), 1.into()]);
    let origin = Origin { file: Path::new(FILE), position: 0 };
    let (_, applied) = schema.apply(Subject::new(&other, &clean(&other)), origin).unwrap();
    assert_eq!(applied, Applied { unseen_edge_labels: 2, ..Applied::default() });
}

#[test]
fn graphs_that_disagree_are_refused() {
    let without = |change: fn(&mut GraphRecord)| {
        let mut record = ring(false);
        change(&mut record);
        record
    };
    let unlabelled = without(|record| record.edge_labels = None);
    let plain = without(|record| record.edge_features = None);
    let wide = without(|record| {
        record.edge_features = Some(Features { dim: 2, values: vec![0.0; 6] });
    });
    // Without edges there is nothing to disagree about.
    let empty = GraphRecord { num_nodes: 2, ..GraphRecord::default() };
    fit(only_edges(), &[empty.clone(), ring(false), empty]).unwrap();
    let refused = [
        (&unlabelled, "has no edge labels, but graph number 0 (from 0) has edge labels"),
        (&plain, "has no edge attributes, but graph number 0 (from 0) has 1 attribute an edge"),
        (&wide, "has 2 attributes an edge, but graph number 0 (from 0) has 1 attribute an edge"),
    ];
    for (record, expected) in refused {
        let error = fit(only_edges(), &[ring(false), record.clone()]).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
    let schema = fit(only_edges(), &[ring(false)]).unwrap();
    let origin = Origin { file: Path::new(FILE), position: 0 };
    for (record, expected) in [
        (&unlabelled, "has no edge labels, but the model expects them"),
        (&wide, "has 2 attributes an edge, but the model expects 1"),
    ] {
        let error = schema.check(record, origin).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn a_schema_survives_its_file_and_a_bent_one_does_not() {
    let schema = fit(only_edges(), &[ring(true)]).unwrap();
    let text = serde_json::to_string(&schema).unwrap();
    assert_eq!(FeatureSchema::from_json(text.as_bytes(), Path::new(FILE)).unwrap(), schema);
    for (from, to) in
        [("[1,2]", "[2,1]"), ("\"attributes\":1", "\"attributes\":2"), ("true", "false")]
    {
        let bent = text.replacen(from, to, 1);
        assert_ne!(bent, text);
        assert!(FeatureSchema::from_json(bent.as_bytes(), Path::new(FILE)).is_err(), "{bent}");
    }
}

/// The definition, edge by edge: distinct edges of a kind and way at each node.
fn naive(record: &GraphRecord, kinds: &[Scalar], directed: bool) -> Vec<f64> {
    let mut counts: BTreeMap<(u32, usize, usize), Vec<u32>> = BTreeMap::new();
    for (edge, &[u, v]) in record.edges.iter().enumerate() {
        let kind = &record.edge_labels.as_ref().unwrap()[edge];
        let kind = kinds.iter().position(|known| known == kind).unwrap();
        let apart = record.directed && directed;
        for (node, other, way) in [(u, v, 0), (v, u, 1)] {
            let ways = if apart {
                vec![way]
            } else if directed {
                vec![0, 1]
            } else {
                vec![0]
            };
            for way in ways {
                counts.entry((node, way, kind)).or_default().push(other);
            }
        }
    }
    let mut rows = Vec::new();
    for node in 0..record.num_nodes {
        for way in 0..1 + usize::from(directed) {
            for kind in 0..kinds.len() {
                let mut others = counts.get(&(node, way, kind)).cloned().unwrap_or_default();
                others.sort_unstable();
                others.dedup();
                rows.push(others.iter().filter(|&&other| other != node).count() as f64);
            }
        }
    }
    rows
}

fn any_graph() -> impl Strategy<Value = GraphRecord> {
    (1u32..7, any::<bool>()).prop_flat_map(|(n, directed)| {
        let edge = (0..n, 0..n, 0i64..3);
        prop::collection::vec(edge, 1..12).prop_map(move |edges| GraphRecord {
            num_nodes: n,
            edges: edges.iter().map(|&(u, v, _)| [u, v]).collect(),
            edge_labels: Some(edges.iter().map(|&(.., kind)| kind.into()).collect()),
            directed,
            ..GraphRecord::default()
        })
    })
}

proptest! {
    #[test]
    fn counts_are_those_of_the_definition(records in prop::collection::vec(any_graph(), 1..5)) {
        let Some(schema) = edge_schema(EdgeChoice::default(), &records) else {
            let is_loop = |record: &GraphRecord| record.edges.iter().all(|[u, v]| u == v);
            prop_assert!(records.iter().all(is_loop));
            return Ok(());
        };
        let directed = records.iter().any(|record| record.directed);
        prop_assert_eq!(schema.direction(), directed);
        let kinds: Vec<Scalar> = (0..3).map(Scalar::Int).collect();
        let known: Vec<usize> = (0..3).filter(|&k| schema.labels().unwrap().contains(&kinds[k])).collect();
        for record in &records {
            let rows = schema.rows(record, &clean(record), &mut Applied::default());
            let all = naive(record, &kinds, directed);
            // Kinds that only self-loops have are not met.
            let expected: Vec<f64> = all.chunks(3).flat_map(|row| known.iter().map(|&k| row[k])).collect();
            prop_assert_eq!(&rows, &expected);
        }
        // As features these are shares: of a node with edges of known kinds they add up to 1.
        let features = fit(only_edges(), &records).unwrap();
        let origin = Origin { file: Path::new(FILE), position: 0 };
        for record in &records {
            let graph = clean(record);
            let (shares, _) = features.apply(Subject::new(record, &graph), origin).unwrap();
            let rows = schema.rows(record, &graph, &mut Applied::default());
            for (shares, counts) in shares.values.chunks(schema.dim()).zip(rows.chunks(schema.dim())) {
                let all: f64 = counts.iter().sum();
                let expected: Vec<f32> = counts.iter().map(|count| if all > 0.0 { count / all } else { 0.0 } as f32).collect();
                prop_assert_eq!(shares, &expected[..]);
            }
        }
    }

    #[test]
    fn degrees_of_directed_graphs_are_standardised(records in prop::collection::vec(any_graph(), 1..5)) {
        let choice = EdgeChoice::default().labels(Usage::Ignore);
        let Some(schema) = edge_schema(choice, &records) else {
            prop_assert!(!records.iter().any(|record| record.directed));
            return Ok(());
        };
        // Each column has mean 0 and deviation 1, or is 0.
        let features = fit(only_edges().edges(choice), &records).unwrap();
        let origin = Origin { file: Path::new(FILE), position: 0 };
        let mut sums = vec![[0.0f64; 2]; schema.dim()];
        let mut nodes = 0.0;
        for record in &records {
            let (rows, _) = features.apply(Subject::new(record, &clean(record)), origin).unwrap();
            for row in rows.values.chunks(schema.dim()) {
                nodes += 1.0;
                for (sum, &x) in sums.iter_mut().zip(row) {
                    sum[0] += f64::from(x);
                    sum[1] += f64::from(x).powi(2);
                }
            }
        }
        for [sum, squares] in sums {
            prop_assert!((sum / nodes).abs() < 1e-5);
            prop_assert!(squares == 0.0 || (squares / nodes - 1.0).abs() < 1e-5);
        }
    }
}

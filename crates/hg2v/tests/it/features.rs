//! Node features: known answers, round trips, disagreements and hostile schemas.

use std::path::Path;

use crate::records::{all, folder};
use hg2v::dataset::features::{
    Applied, FeatureChoice, FeatureSchema, MAX_DIM, NodeFeatures, Origin, Subject, When,
};
use hg2v::dataset::{self, Limits};
use hg2v::graph::{Features, Graph, GraphRecord, Scalar, WeightPolicy};
use proptest::prelude::*;

const FILE: &str = "train.jsonl";

fn origin() -> Origin<'static> {
    Origin { file: Path::new(FILE), position: 4 }
}

fn path_of(n: u32) -> GraphRecord {
    GraphRecord {
        num_nodes: n,
        edges: (1..n).map(|v| [v - 1, v]).collect(),
        ..GraphRecord::default()
    }
}

fn with_attributes(dim: usize, values: &[f64]) -> GraphRecord {
    GraphRecord {
        features: Some(Features { dim, values: values.to_vec() }),
        ..path_of((values.len() / dim) as u32)
    }
}

fn with_labels(labels: &[&str]) -> GraphRecord {
    GraphRecord {
        node_labels: Some(labels.iter().map(|&l| l.into()).collect()),
        ..path_of(labels.len() as u32)
    }
}

fn clean(record: &GraphRecord) -> Graph {
    Graph::from_record(record, WeightPolicy::Use).unwrap().0
}

fn fit(choice: FeatureChoice, records: &[GraphRecord]) -> hg2v::Result<FeatureSchema> {
    let graphs: Vec<Graph> = records.iter().map(clean).collect();
    let subjects = records.iter().zip(&graphs).map(|(record, graph)| Subject::new(record, graph));
    FeatureSchema::fit(Path::new(FILE), choice, subjects)
}

fn apply(schema: &FeatureSchema, record: &GraphRecord) -> (NodeFeatures, Applied) {
    schema.apply(Subject::new(record, &clean(record)), origin()).unwrap()
}

fn refusal(schema: &FeatureSchema, record: &GraphRecord) -> String {
    let refused = schema.apply(Subject::new(record, &clean(record)), origin());
    refused.unwrap_err().to_string()
}

/// Files of a folder, by name.
type Files<'a> = &'a [(&'a str, &'a [u8])];

/// A graph whose nodes have the labels `first` and 7, in every text format.
fn labelled_in_every_format(first: &str) -> Vec<(&'static str, Vec<GraphRecord>)> {
    let line = format!(r#"{{"edges":[[0,1]],"node_labels":[{first},7]}}"#);
    let nodes = format!("node,label\n0,{first}\n1,7\n");
    let kind = if first.contains('.') { "double" } else { "long" };
    let document = format!(
        r#"<graphml><key id="l" for="node" attr.name="label" attr.type="{kind}"/><graph>
           <node id="a"><data key="l">{first}</data></node><node id="b"><data key="l">7</data></node>
           <edge source="a" target="b"/></graph></graphml>"#
    );
    let labels = format!("{first}\n7\n");
    let files: [(&str, Files<'_>); 4] = [
        ("g.jsonl", &[("g.jsonl", line.as_bytes())]),
        ("", &[("edges.csv", b"src,dst\n0,1\n"), ("nodes.csv", nodes.as_bytes())]),
        ("g.graphml", &[("g.graphml", document.as_bytes())]),
        (
            "",
            &[
                ("S_A.txt", b"1, 2\n2, 1\n"),
                ("S_graph_indicator.txt", b"1\n1\n"),
                ("S_node_labels.txt", labels.as_bytes()),
            ],
        ),
    ];
    let read = |(name, files): (&str, Files<'_>)| {
        let folder = folder(files);
        all(dataset::open(&folder.path().join(name), &Limits::default()))
    };
    ["JSONL", "CSV", "GraphML", "TU"].into_iter().zip(files.map(read)).collect()
}

#[test]
fn six_and_six_point_zero_are_one_label_in_every_format() {
    let (whole, upcast) = (labelled_in_every_format("6"), labelled_in_every_format("6.0"));
    for (format, fitted) in &whole {
        let schema = fit(FeatureChoice::default(), fitted).unwrap();
        let expected = apply(&schema, &fitted[0]).0;
        // In GraphML a label that is declared a float is an attribute.
        for (other, records) in upcast.iter().filter(|(other, _)| *other != "GraphML") {
            let (rows, applied) = apply(&schema, &records[0]);
            assert_eq!((&rows, applied.unseen_labels), (&expected, 0), "{format}, {other}");
        }
    }
    // Both spellings in one collection are one column.
    let both: Vec<_> = [&whole[0].1, &upcast[0].1].into_iter().flatten().cloned().collect();
    assert_eq!(fit(FeatureChoice::default(), &both).unwrap().labels().unwrap().len(), 2);
}

#[test]
fn structure_is_taken_where_nodes_have_no_attributes() {
    let auto = FeatureChoice::default().structure(When::Auto);
    let labels = fit(auto, &[with_labels(&["a", "b"])]).unwrap();
    assert!(labels.structure().is_some() && labels.degree().is_none());
    let bare = fit(auto, &[path_of(3)]).unwrap();
    assert!(bare.structure().is_some() && bare.degree().is_none());
    let attributes = fit(auto, &[with_attributes(2, &[0.0, 1.0])]).unwrap();
    assert!(attributes.structure().is_none());
}

#[test]
fn attributes_are_centred_and_normalised_over_all_nodes() {
    // Column 0 over both graphs: 1, 3, 5, 7: mean 4, population deviation √5.
    // Column 1 is constant.
    let records =
        [with_attributes(2, &[1.0, 9.0, 3.0, 9.0]), with_attributes(2, &[5.0, 9.0, 7.0, 9.0])];
    let schema = fit(FeatureChoice::default(), &records).unwrap();
    let scaler = schema.attributes().unwrap();
    assert_eq!(scaler.mean, [4.0, 9.0]);
    assert_eq!(scaler.std, [5f64.sqrt(), 1.0]);
    let (rows, applied) = apply(&schema, &records[0]);
    let expected = |x: f64| ((x - 4.0) / 5f64.sqrt()) as f32;
    assert_eq!(rows.values, [expected(1.0), 0.0, expected(3.0), 0.0]);
    assert_eq!(applied, Applied::default());
    assert_eq!(schema.to_string(), "2 attributes, standardised = 2 columns");
}

/// Charges of ±1 that cancel over all training graphs: the mean is 0 and no rounding, so that a
/// neutral graph's sum is 0, whatever standardises it afterwards.
#[test]
fn no_number_is_rounding_noise() {
    let charges = |seed: u64| {
        let charge = move |i: u64| match (i * 7919 + seed) % 10 {
            0 => 1.0,
            1 => -1.0,
            _ => 0.0,
        };
        (0..50).map(charge).collect::<Vec<f64>>()
    };
    let records: Vec<GraphRecord> = (0..40).map(|i| with_attributes(1, &charges(i))).collect();
    let schema = fit(FeatureChoice::default(), &records).unwrap();
    assert_eq!(schema.attributes().unwrap().mean, [0.0]);
    let (rows, _) = apply(&schema, &records[3]);
    assert!(rows.values.iter().all(|&x| x == 0.0 || x.abs() > 1.0), "{:?}", rows.values);

    // Constant but for the last bits, as 0.1 + 0.2 and 0.3 are.
    let almost = [0.1 + 0.2, 0.3, 0.3, 0.1 + 0.2, 0.3];
    let schema = fit(FeatureChoice::default(), &[with_attributes(1, &almost)]).unwrap();
    assert_eq!(schema.attributes().unwrap().std, [1.0]);
    assert_eq!(apply(&schema, &with_attributes(1, &almost)).0.values, [0.0; 5]);
    // What varies less than others is kept, however small it is.
    let small = [1e-30, 2e-30, 3e-30];
    let schema = fit(FeatureChoice::default(), &[with_attributes(1, &small)]).unwrap();
    let (rows, _) = apply(&schema, &with_attributes(1, &small));
    assert!((rows.values[0] + 1.5f32.sqrt()).abs() < 1e-6, "{:?}", rows.values);
}

#[test]
fn a_column_that_never_varied_tells_by_how_much_a_later_graph_differs() {
    let neutral = with_attributes(2, &[0.0, 5.0, 0.0, 5.0]);
    let schema = fit(FeatureChoice::default(), &[neutral.clone(), neutral.clone()]).unwrap();
    assert_eq!(apply(&schema, &neutral).0.values, [0.0; 4]);
    let (rows, _) = apply(&schema, &with_attributes(2, &[1.0, 5.0, 0.0, 5.5]));
    assert_eq!(rows.values, [1.0, 0.0, 0.0, 0.5]);
}

#[test]
fn labels_are_one_hot_over_the_sorted_vocabulary() {
    let records = [with_labels(&["O", "C"]), with_labels(&["N", "C", "C"])];
    let schema = fit(FeatureChoice::default(), &records).unwrap();
    assert_eq!(schema.labels().unwrap(), ["C".into(), "N".into(), "O".into()]);
    let (rows, applied) = apply(&schema, &with_labels(&["O", "Xe", "C"]));
    assert_eq!(rows.row(0), [0.0, 0.0, 1.0]);
    assert_eq!(rows.row(1), [0.0, 0.0, 0.0]);
    assert_eq!(rows.row(2), [1.0, 0.0, 0.0]);
    assert_eq!(applied.unseen_labels, 1);
    assert_eq!(schema.to_string(), "3 labels, one-hot = 3 columns");
}

#[test]
fn the_degree_stands_in_when_there_is_nothing_else() {
    // Degrees 1, 2, 1 and 0: mean 1, deviation √(1/2).
    let records = [path_of(3), path_of(1)];
    let schema = fit(FeatureChoice::default(), &records).unwrap();
    assert_eq!(schema.degree().unwrap().mean, [1.0]);
    assert_eq!(schema.degree().unwrap().std, [0.5f64.sqrt()]);
    let (rows, _) = apply(&schema, &records[0]);
    assert_eq!(rows.values, [0.0, 2f32.sqrt(), 0.0]);
    assert_eq!(schema.to_string(), "the degree, standardised = 1 column");
}

#[test]
fn every_choice_is_kept() {
    let both = GraphRecord {
        features: with_attributes(1, &[0.0, 2.0]).features,
        ..with_labels(&["a", "b"])
    };
    let all = FeatureChoice::default().degree(When::Always);
    let schema = fit(all, std::slice::from_ref(&both)).unwrap();
    // [attribute | one-hot | degree]; both degrees are 1, so that column is constant.
    let (rows, _) = apply(&schema, &both);
    assert_eq!(rows.row(0), [-1.0, 1.0, 0.0, 0.0]);
    assert_eq!(rows.row(1), [1.0, 0.0, 1.0, 0.0]);
    let labels = FeatureChoice::default().attributes(false);
    assert_eq!(fit(labels, std::slice::from_ref(&both)).unwrap().dim(), 2);
    let nothing = FeatureChoice::default()
        .attributes(false)
        .labels(false)
        .degree(When::Never)
        .structure(When::Never);
    let refused = fit(nothing, &[both]).unwrap_err().to_string();
    assert!(refused.contains("nothing is left"), "{refused}");
}

#[test]
fn graphs_that_disagree_are_both_named() {
    let mut named = with_attributes(2, &[0.0, 1.0]);
    named.id = Some("g1".into());
    let refused = fit(
        FeatureChoice::default(),
        &[GraphRecord::default(), named.clone(), with_attributes(3, &[0.0, 1.0, 2.0])],
    );
    assert_eq!(
        refused.unwrap_err().to_string(),
        "train.jsonl, record 3: graph number 2 (from 0) has 3 attributes a node, but graph `g1` \
         has 2 attributes a node; make all graphs alike, or set attributes to false"
    );
    let refused = fit(FeatureChoice::default(), &[named, path_of(1)]).unwrap_err().to_string();
    assert!(refused.contains("has no node attributes, but graph `g1` has 2"), "{refused}");
    let refused = fit(FeatureChoice::default(), &[path_of(1), with_labels(&["a"])]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("has node labels, but graph number 0 (from 0) has no"), "{refused}");
    let refused = fit(FeatureChoice::default(), &[]).unwrap_err().to_string();
    assert!(refused.contains("no graphs"), "{refused}");
}

#[test]
fn a_graph_unlike_the_training_graphs_is_refused_by_name() {
    let attributes = fit(FeatureChoice::default(), &[with_attributes(2, &[0.0, 1.0])]).unwrap();
    assert_eq!(
        refusal(&attributes, &with_attributes(1, &[0.0])),
        "train.jsonl, record 5: graph number 4 (from 0) has 1 attribute a node, but the model \
         expects 2; give the graph the attributes that the model was fitted to, or fit a model without \
         attributes"
    );
    let refused = refusal(&attributes, &path_of(2));
    assert!(refused.contains("has no node attributes, but the model expects 2"), "{refused}");
    let labels = fit(FeatureChoice::default(), &[with_labels(&["a"])]).unwrap();
    let refused = refusal(&labels, &path_of(2));
    assert!(refused.contains("has no node labels, but the model expects them"), "{refused}");
    // A graph without nodes has nothing to miss.
    let empty = GraphRecord::default();
    assert_eq!(apply(&labels, &empty).0.values, [0f32; 0]);
}

#[test]
fn a_vocabulary_of_names_is_refused() {
    let with_names = |names: usize| GraphRecord {
        num_nodes: names as u32,
        node_labels: Some((0..names as i64).map(Scalar::Int).collect()),
        ..GraphRecord::default()
    };
    let refused =
        fit(FeatureChoice::default(), &[with_names(MAX_DIM + 1)]).unwrap_err().to_string();
    assert!(refused.contains("more than 65536 different node labels"), "{refused}");
    // What is added to the labels counts, too: such a model could not be loaded.
    let choice = FeatureChoice::default().degree(When::Always);
    assert_eq!(fit(choice, &[with_names(MAX_DIM - 1)]).unwrap().dim(), MAX_DIM);
    let refused = fit(choice, &[with_names(MAX_DIM)]).unwrap_err().to_string();
    assert!(refused.contains("65537 features"), "{refused}");
}

#[test]
fn numbers_beyond_all_bounds_stay_finite() {
    let schema = fit(FeatureChoice::default(), &[with_attributes(1, &[0.0, 1e-30])]).unwrap();
    let (rows, applied) = apply(&schema, &with_attributes(1, &[1e300, -1e300, 0.0]));
    assert_eq!(rows.values[..2], [f32::MAX, f32::MIN]);
    assert_eq!(applied.clipped, 2);
    let refused = fit(FeatureChoice::default(), &[with_attributes(1, &[1e308, -1e308])]);
    let refused = refused.unwrap_err().to_string();
    assert!(refused.contains("attribute 0 (from 0) is too large"), "{refused}");
}

#[test]
fn hostile_schemas_are_refused() {
    let scaler = |mean: &str, std: &str| format!(r#"{{"mean":{mean},"std":{std}}}"#);
    let schema = |version: u32, attributes: &str, labels: &str, degree: &str| {
        format!(
            r#"{{"version":{version},"attributes":{attributes},"labels":{labels},"degree":{degree}}}"#
        )
    };
    let wide = serde_json::to_string(&(0..=MAX_DIM).collect::<Vec<_>>()).unwrap();
    let cases = [
        (String::new(), "EOF"),
        ("[1,2]".to_owned(), "no feature schema"),
        (r#"{"version":1,"surprise":2}"#.to_owned(), "surprise"),
        (schema(2, "null", "[1]", "null"), "its version is 2, not 1"),
        (schema(1, "null", "null", "null"), "no columns"),
        (schema(1, &scaler("[1]", "[1,2]"), "null", "null"), "1 means but 2 deviations"),
        (schema(1, &scaler("[]", "[]"), "null", "null"), "no columns"),
        (schema(1, &scaler("[1]", "[0]"), "null", "null"), "a deviation of 0"),
        (schema(1, &scaler("[1]", "[-1]"), "null", "null"), "a deviation of -1"),
        (schema(1, &scaler("[1]", "[null]"), "null", "null"), "null"),
        (schema(1, &scaler("[1e999]", "[1]"), "null", "null"), "out of range"),
        (schema(1, "null", "null", &scaler("[1,2]", "[1,1]")), "degree is one column"),
        (schema(1, "null", "[2,1]", "null"), "not sorted: `2` comes before `1`"),
        (schema(1, "null", "[1,1]", "null"), "not sorted"),
        (schema(1, "null", &wide, "null"), "65537 columns"),
    ];
    for (json, expected) in cases {
        let refused = FeatureSchema::from_json(json.as_bytes(), Path::new("config.json"));
        let refused = refused.unwrap_err().to_string();
        assert!(refused.starts_with("config.json"), "{refused}");
        assert!(refused.contains(expected), "{refused} should say {expected}");
    }
}

proptest! {
    #[test]
    fn storing_a_schema_loses_nothing(
        values in prop::collection::vec(-1e6f64..1e6, 1..20),
        labels in prop::collection::vec(any::<i64>(), 20),
    ) {
        let mut record = with_attributes(1, &values);
        record.node_labels = Some(labels[..values.len()].iter().map(|&l| l.into()).collect());
        let choice = FeatureChoice::default().degree(When::Always);
        let schema = fit(choice, &[record]).unwrap();
        let json = serde_json::to_string(&schema).unwrap();
        let back = FeatureSchema::from_json(json.as_bytes(), Path::new("x")).unwrap();
        prop_assert_eq!(back, schema);
    }

    #[test]
    fn standardising_is_what_it_says(
        graphs in prop::collection::vec(prop::collection::vec(-1e3f64..1e3, 1..9), 1..9),
    ) {
        // The textbook's two passes, against the one pass.
        let all: Vec<f64> = graphs.concat();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let variance = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let records: Vec<_> = graphs.iter().map(|values| with_attributes(1, values)).collect();
        let schema = fit(FeatureChoice::default(), &records).unwrap();
        let scaler = schema.attributes().unwrap();
        prop_assert!((scaler.mean[0] - mean).abs() < 1e-9);
        if variance > 1e-12 {
            prop_assert!((scaler.std[0] / variance.sqrt() - 1.0).abs() < 1e-9);
        }
    }
}

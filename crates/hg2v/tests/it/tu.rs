//! The TU layout: known answers, lossless round trips, real sets, malformed sets.

use std::io::{Cursor, Write};
use std::path::Path;

use crate::records::{KNOWN, all, folder, limits, put, real_sets, refusal, tabled, unfolded};
use hg2v::dataset::{Format, Limits, detect, name_of, tu};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;
use zip::ZipWriter;
use zip::write::SimpleFileOptions;

const A: &str = "S_A.txt";
const INDICATOR: &str = "S_graph_indicator.txt";

fn read(files: &[(&str, &[u8])]) -> Vec<GraphRecord> {
    all(tu::read(folder(files).path(), &limits()))
}

fn zipped(entries: &[(&str, &[u8])]) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in entries {
        zip.start_file(*name, SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

fn refused_zip(bytes: &[u8], limits: &Limits) -> String {
    let folder = folder(&[("set.zip", bytes)]);
    refusal(tu::read(&folder.path().join("set.zip"), limits))
}

#[test]
fn a_set_with_everything() {
    let found = folder(&[
        // CRLF, a byte order mark, both kinds of separator, blank lines at the end.
        (A, b"\xef\xbb\xbf1, 2\r\n2,1\r\n2 3\r\n3\t2\r\n5, 5\r\n\r\n\r\n"),
        (INDICATOR, b"1\n1\n1\n3\n3"),
        ("S_graph_labels.txt", b"1\n-1\n0.50\n"),
        ("S_node_labels.txt", b"3, 0\n3, 1\nC\n7\n007"),
        ("S_node_attributes.txt", b"1, 2.5\n-1e3,0\n0 4\n1,1\n2, 2\n"),
        ("S_edge_labels.txt", b"4\n4\n5\n6\n7\n"),
        ("S_edge_attributes.txt", b"0.5\n0.5\n1\n1\n2\n"),
        ("S_graph_attributes.txt", b"1, 0.5\nnan,\n1e3,-7\n"),
        ("README.txt", b"hello"),
    ]);
    let source = tu::read(found.path(), &limits()).unwrap();
    assert_eq!((source.format, source.len), (Format::TuFolder, Some(3)));
    assert_eq!(
        source.ignored(),
        [
            "`README.txt`: not a file of the TU layout",
            "1 lines of A repeat an edge with another label; the first line's holds",
        ]
    );
    let text = |text: &str| Scalar::from(text);
    let targets = |values: [Option<Scalar>; 2]| {
        let names = ["0", "1"].into_iter().zip(values);
        names.map(|(name, value)| Target { name: name.to_owned(), value }).collect()
    };
    let expected = [
        GraphRecord {
            label: Some(Scalar::Int(1)),
            targets: targets([Some(Scalar::Int(1)), Some(Scalar::Float(0.5))]),
            num_nodes: 3,
            edges: vec![[0, 1], [1, 2]],
            weights: Some(vec![0.5, 1.0]),
            edge_labels: Some(vec![Scalar::Int(4), Scalar::Int(5)]),
            node_labels: Some(vec![text("3, 0"), text("3, 1"), text("C")]),
            features: Some(Features { dim: 2, values: vec![1.0, 2.5, -1000.0, 0.0, 0.0, 4.0] }),
            ..GraphRecord::default()
        },
        GraphRecord {
            label: Some(Scalar::Int(-1)),
            targets: targets([None, None]),
            ..GraphRecord::default()
        },
        GraphRecord {
            label: Some(Scalar::Float(0.5)),
            targets: targets([Some(Scalar::Float(1000.0)), Some(Scalar::Int(-7))]),
            num_nodes: 2,
            edges: vec![[1, 1]],
            weights: Some(vec![2.0]),
            edge_labels: Some(vec![Scalar::Int(7)]),
            node_labels: Some(vec![Scalar::Int(7), text("007")]),
            features: Some(Features { dim: 2, values: vec![1.0, 1.0, 2.0, 2.0] }),
            ..GraphRecord::default()
        },
    ];
    assert_eq!(source.map(Result::unwrap).collect::<Vec<_>>(), expected);
}

#[test]
fn edges_are_folded_and_repeats_counted() {
    // 2-1 on four lines, a loop on two, 3-1 in one direction only.
    let found = read(&[(A, b"2,1\n1,2\n3,3\n2,1\n1,2\n3,1\n3,3\n"), (INDICATOR, b"1\n1\n1\n")]);
    assert_eq!(found[0].edges, [[1, 0], [2, 2], [2, 0]]);
    assert_eq!(found[0].folded_repeats, 3);
}

#[test]
fn nodes_of_a_graph_need_not_be_together() {
    let found = read(&[
        (A, b"4,2\n1,3\n2,4\n3,1\n"),
        (INDICATOR, b"2\n1\n2\n1\n1\n"),
        ("S_node_labels.txt", b"10\n20\n30\n40\n50\n"),
        ("S_node_attributes.txt", b"1\n2\n3\n4\n5\n"),
    ]);
    assert_eq!((found[0].num_nodes, found[1].num_nodes), (3, 2));
    assert_eq!(found[0].edges, [[1, 0]]);
    assert_eq!(found[1].edges, [[0, 1]]);
    let labels: Vec<_> = [20, 40, 50].map(Scalar::Int).into();
    assert_eq!(found[0].node_labels, Some(labels));
    assert_eq!(found[1].features.as_ref().unwrap().values, [1.0, 3.0]);
}

#[test]
fn graphs_without_nodes_count() {
    let labels: (&str, &[u8]) = ("S_graph_labels.txt", b"1\n2\n3\n");
    let found = read(&[(A, b""), (INDICATOR, b"2\n"), labels]);
    let sizes: Vec<_> = found.iter().map(|record| record.num_nodes).collect();
    assert_eq!(sizes, [0, 1, 0]);
    assert!(read(&[(A, b""), (INDICATOR, b"")]).is_empty());
}

#[test]
fn a_zip_may_hold_the_files_anywhere() {
    for inside in ["", "S/", "deep/er/"] {
        let name = |file: &str| format!("{inside}{file}");
        let zip = zipped(&[
            (&name(A), b"1,2\n2,1\n"),
            (&name(INDICATOR), b"1\n1\n"),
            ("__MACOSX/._S_graph_indicator.txt", b"junk"),
            ("README.md", b"words"),
        ]);
        let folder = folder(&[("other-name.zip", &zip)]);
        let path = folder.path().join("other-name.zip");
        assert_eq!(detect(&path).unwrap(), Format::TuZip);
        let source = tu::read(&path, &limits()).unwrap();
        assert_eq!(name_of(&source.path), "other-name");
        assert_eq!(source.ignored(), ["`README.md`: not a file of the TU layout"]);
        assert_eq!(all(Ok(source))[0].edges, [[0, 1]]);
    }
}

#[test]
fn several_numbers_an_edge_are_attributes_and_the_first_lines_hold() {
    let files: [(&str, &[u8]); 3] = [
        (A, b"1,2\n2,3\n2,1\n3,2\n"),
        (INDICATOR, b"1\n1\n1\n"),
        ("S_edge_attributes.txt", b"1,2\n3,4\n1,2\n3,5\n"),
    ];
    let source = tu::read(folder(&files).path(), &limits()).unwrap();
    let said = "1 lines of A repeat an edge with other attributes; the first line's hold";
    assert_eq!(source.ignored(), [said]);
    let record = all(Ok(source)).remove(0);
    assert_eq!(record.weights, None);
    let features = Features { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
    assert_eq!(record.edge_features, Some(features));
    // With weights of their own, a single column holds attributes.
    let single = ("S_edge_attributes.txt", &b"5\n6\n5\n6\n"[..]);
    for (weights, expected) in [(&b"1\n2\n1\n2\n"[..], Some(vec![1.0, 2.0])), (b"", None)] {
        let files = [files[0], files[1], single, ("S_edge_weights.txt", weights)];
        let record = all(tu::read(folder(&files).path(), &limits())).remove(0);
        assert_eq!(record.weights, expected);
        let features = Features { dim: 1, values: vec![5.0, 6.0] };
        assert_eq!(record.edge_features, Some(features));
    }
}

#[test]
fn a_single_number_a_graph_is_the_label_where_there_is_none() {
    let graph_attributes = ("S_graph_attributes.txt", &b"0.5\nnan\n"[..]);
    let files = [(A, &b"1,2\n"[..]), (INDICATOR, b"1\n1\n"), graph_attributes];
    let found = read(&files);
    assert_eq!(found.len(), 2);
    assert_eq!((&found[0].label, &found[1].label), (&Some(Scalar::Float(0.5)), &None));
    assert!(found.iter().all(|record| record.targets.is_empty()));
    let named = [&files[..], &[("S_target_names.txt", b"gap\n")]].concat();
    let record = read(&named).remove(0);
    let gap = Target { name: "gap".to_owned(), value: Some(Scalar::Float(0.5)) };
    assert_eq!((record.label, record.targets), (None, vec![gap]));
}

#[test]
fn plain_graphs_are_written_plainly() {
    let record = GraphRecord {
        label: Some(Scalar::Int(1)),
        num_nodes: 3,
        edges: vec![[0, 2], [1, 1]],
        ..GraphRecord::default()
    };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("SET");
    put(tu::write(&path, false), &[record.clone(), record]);
    let text = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(text("SET_A.txt"), "1, 3\n3, 1\n2, 2\n4, 6\n6, 4\n5, 5\n");
    assert_eq!(text("SET_graph_indicator.txt"), "1\n1\n1\n2\n2\n2\n");
    assert_eq!(text("SET_graph_labels.txt"), "1\n1\n");
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 3);
}

#[test]
fn what_the_layout_cannot_hold_is_refused() {
    let with = GraphRecord {
        num_nodes: 1,
        node_labels: Some(vec![Scalar::Int(1)]),
        id: Some(Scalar::from("b")),
        ..GraphRecord::default()
    };
    let without = GraphRecord { node_labels: None, ..with.clone() };
    let folder = tempfile::tempdir().unwrap();
    let mut sink = tu::write(&folder.path().join("x.zip"), true).unwrap();
    sink.write(&without).unwrap();
    let refused = sink.write(&with).unwrap_err().to_string();
    assert!(
        refused.contains("graph `b`: it has node labels, and graphs before it have not"),
        "{refused}"
    );
    drop(sink);
    let target = |value| vec![Target { name: "toxic".to_owned(), value }];
    let words = GraphRecord { targets: target(Some("yes".into())), ..without.clone() };
    let mut sink = tu::write(&folder.path().join("x.zip"), true).unwrap();
    let refused = sink.write(&words).unwrap_err().to_string();
    assert!(refused.contains("predicted as `toxic` is `yes`, which is no number"), "{refused}");
    drop(sink);
    let edges = |dim: usize| GraphRecord {
        edges: vec![[0, 0]],
        edge_features: Some(Features { dim, values: vec![1.0; dim] }),
        ..without.clone()
    };
    let mut sink = tu::write(&folder.path().join("x.zip"), true).unwrap();
    sink.write(&edges(2)).unwrap();
    let refused = sink.write(&edges(1)).unwrap_err().to_string();
    assert!(refused.contains("1 attributes an edge where graphs before it have 2"), "{refused}");
    drop(sink);
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn everything_reads_back(records in crate::records::alike(), zip: bool) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        put(tu::write(&path, zip), &records);
        let found = tu::read(&path, &limits()).unwrap();
        prop_assert!(found.ignored().is_empty(), "{:?}", found.ignored());
        prop_assert_eq!(all(Ok(found)), tabled(records));
    }

    #[test]
    fn no_bytes_make_it_panic(a: Vec<u8>, labels: Vec<u8>,
                              indicator in "[0-9\n, ]{0,20}", edges in "[0-9\n, ]{0,20}") {
        for a in [&a[..], edges.as_bytes()] {
            let found = folder(&[(A, a), (INDICATOR, indicator.as_bytes()),
                ("S_node_labels.txt", &labels), ("S_edge_lines.txt", b"pairs\n")]);
            if let Ok(source) = tu::read(found.path(), &limits()) {
                let _ = source.count();
            }
        }
        let _ = tu::read(folder(&[("x.zip", &labels)]).path().join("x.zip").as_path(), &limits());
    }
}

#[test]
fn the_same_graphs_make_the_same_zip() {
    let record = GraphRecord { num_nodes: 2, edges: vec![[0, 1]], ..GraphRecord::default() };
    let folder = tempfile::tempdir().unwrap();
    let make = |sub: &str| {
        let inside = folder.path().join(sub);
        std::fs::create_dir(&inside).unwrap();
        put(tu::write(&inside.join("set.zip"), true), std::slice::from_ref(&record));
        std::fs::read(inside.join("set.zip")).unwrap()
    };
    assert_eq!(make("a"), make("b"));
}

#[test]
fn real_sets_agree_with_their_table() {
    let Some(data) = real_sets("real_sets_agree_with_their_table") else {
        return;
    };
    for known in &KNOWN {
        let source = tu::read(&known.zip(&data), &limits()).unwrap();
        assert_eq!(source.len, Some(known.graphs as u64));
        known.check(&all(Ok(source)));
    }
}

#[test]
fn real_sets_read_back_as_written() {
    let Some(data) = real_sets("real_sets_read_back_as_written") else {
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    for known in &KNOWN {
        let records = unfolded(all(tu::read(&known.zip(&data), &limits())));
        for (name, zip) in [("set", false), ("set.zip", true)] {
            let path = folder.path().join(format!("{}-{name}", known.name));
            put(tu::write(&path, zip), &records);
            assert!(all(tu::read(&path, &limits())) == records, "{} as {name}", known.name);
        }
    }
}

#[test]
fn malformed_sets_are_refused_by_name_line_and_value() {
    type Files<'a> = &'a [(&'a str, &'a [u8])];
    const GOOD_A: (&str, &[u8]) = (A, b"1, 2\n2, 1\n");
    const GOOD: (&str, &[u8]) = (INDICATOR, b"1\n1\n");
    #[rustfmt::skip]
    let cases: &[(Files, &[&str])] = &[
        (&[], &["no `NAME_graph_indicator.txt`"]),
        (&[GOOD_A], &["no `NAME_graph_indicator.txt`"]),
        (&[GOOD], &["`S_A.txt` is missing"]),
        (&[GOOD_A, GOOD, ("T_graph_indicator.txt", b"1\n")], &["several sets", "`S_graph_indicator.txt`", "`T_graph_indicator.txt`"]),
        (&[(A, b"1, 2\n2, 3\n"), GOOD], &["S_A.txt, line 2", "`3` is not a node", "1 to 2"]),
        (&[(A, b"0, 1\n"), GOOD], &["S_A.txt, line 1", "`0` is not a node"]),
        (&[(A, b"1, -1\n"), GOOD], &["S_A.txt, line 1", "`-1` is not a node"]),
        (&[(A, b"1, 99999999999999999999\n"), GOOD], &["line 1", "`99999999999999999999` is not a node"]),
        (&[(A, b"1, 2\n1\n"), GOOD], &["S_A.txt, line 2", "`1` is not two node ids"]),
        (&[(A, b"1, 2, 3\n"), GOOD], &["S_A.txt, line 1", "`1, 2, 3` is not two node ids"]),
        (&[(A, b"1,,2\n"), GOOD], &["S_A.txt, line 1", "`1,,2` is not two node ids"]),
        (&[(A, b"1, 2\n\n2, 1\n"), GOOD], &["S_A.txt, line 2", "`` is not two node ids"]),
        (&[(A, b"1, \xff\n"), GOOD], &["S_A.txt, line 1", "is not a node"]),
        (&[(A, b"1, 2\n"), (INDICATOR, b"1\n2\n")], &["S_A.txt, line 1", "`1, 2` joins a node of graph 1 and one of graph 2"]),
        (&[(A, b"1, 2\n"), (INDICATOR, b"")], &["S_A.txt, line 1", "`1` is not a node", "lists no nodes"]),
        (&[GOOD_A, (INDICATOR, b"1\n0\n")], &["S_graph_indicator.txt, line 2", "`0` is no number of a graph"]),
        (&[GOOD_A, (INDICATOR, b"1\nx\n")], &["S_graph_indicator.txt, line 2", "`x`"]),
        (&[GOOD_A, (INDICATOR, b"1\n\n1\n")], &["S_graph_indicator.txt, line 2", "``"]),
        (&[GOOD_A, (INDICATOR, b"1\n4000000000\n")], &["S_graph_indicator.txt, line 2", "graph `4000000000`", "2 nodes are too few"]),
        (&[GOOD_A, (INDICATOR, b"1\n18446744073709551616\n")], &["line 2", "`18446744073709551616`"]),
        (&[GOOD_A, GOOD, ("S_graph_labels.txt", b"")], &["S_graph_indicator.txt, line 1", "lines for 0 graphs"]),
        (&[GOOD_A, (INDICATOR, b"1\n2\n"), ("S_graph_labels.txt", b"1\n")], &["S_graph_indicator.txt, line 2", "lines for 1 graphs"]),
        (&[GOOD_A, GOOD, ("S_graph_labels.txt", b"\n1\n")], &["S_graph_labels.txt, line 1", "empty"]),
        (&[GOOD_A, GOOD, ("S_graph_labels.txt", b"caf\xe9\n")], &["S_graph_labels.txt, line 1", "caf", "not UTF-8"]),
        (&[GOOD_A, GOOD, ("S_node_labels.txt", b"1\n")], &["S_node_labels.txt, line 1", "1 lines", "2 nodes"]),
        (&[GOOD_A, GOOD, ("S_node_labels.txt", b"1\n2\n3\n")], &["S_node_labels.txt, line 3", "3 lines", "2 nodes"]),
        (&[GOOD_A, GOOD, ("S_node_labels.txt", b"")], &["S_node_labels.txt", "0 lines", "2 nodes"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1, 2\n1\n")], &["S_node_attributes.txt, line 2", "`1` has 1 numbers where line 1 has 2"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1\nnan\n")], &["S_node_attributes.txt, line 2", "`nan` is not a finite number"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1\n-inf\n")], &["line 2", "`-inf` is not a finite number"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1e999\n1\n")], &["line 1", "`1e999` is not a finite number"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1,,2\n1,2,3\n")], &["line 1", "`` is not a finite number"]),
        (&[GOOD_A, GOOD, ("S_node_attributes.txt", b"1\n")], &["S_node_attributes.txt", "1 lines", "2 nodes"]),
        (&[GOOD_A, GOOD, ("S_edge_labels.txt", b"1\n")], &["S_edge_labels.txt", "1 lines", "2 lines of A"]),
        (&[GOOD_A, GOOD, ("S_edge_attributes.txt", b"1\ninf\n")], &["S_edge_attributes.txt, line 2", "`inf`"]),
        (&[GOOD_A, GOOD, ("S_edge_attributes.txt", b"1,2\n1\n")], &["S_edge_attributes.txt, line 2", "`1` has 1 numbers where line 1 has 2"]),
        (&[GOOD_A, GOOD, ("S_edge_attributes.txt", b"1,2\n")], &["S_edge_attributes.txt", "1 lines", "2 lines of A"]),
        (&[GOOD_A, GOOD, ("S_edge_weights.txt", b"1,2\n1,2\n")], &["S_edge_weights.txt, line 1", "2 numbers"]),
        (&[GOOD_A, GOOD, ("S_graph_attributes.txt", b"1,inf\n")], &["S_graph_attributes.txt, line 1", "`inf` is not a finite number"]),
        (&[GOOD_A, GOOD, ("S_graph_attributes.txt", b"1,high\n")], &["S_graph_attributes.txt, line 1", "`high` is not a finite number"]),
        (&[GOOD_A, (INDICATOR, b"1\n1\n2\n"), ("S_graph_attributes.txt", b"1,2\n3\n")], &["S_graph_attributes.txt, line 2", "`3` has 1 numbers where line 1 has 2"]),
        (&[GOOD_A, GOOD, ("S_graph_labels.txt", b"1\n"), ("S_graph_attributes.txt", b"1\n3\n")], &["S_graph_attributes.txt, line 2", "2 lines", "1 graphs"]),
        (&[GOOD_A, GOOD, ("S_graph_attributes.txt", b"1,2\n"), ("S_target_names.txt", b"a\n")], &["S_target_names.txt", "1 lines", "2 targets"]),
        (&[GOOD_A, GOOD, ("S_graph_attributes.txt", b"1,2\n"), ("S_target_names.txt", b"a\na\n")], &["S_target_names.txt, line 2", "`a`"]),
        (&[GOOD_A, GOOD, ("S_edge_lines.txt", b"twice\n")], &["S_edge_lines.txt, line 1", "`twice`"]),
        (&[(A, b"1, 2\n1, 2\n"), GOOD, ("S_edge_lines.txt", b"pairs\n")], &["S_A.txt, line 1", "pairs"]),
        (&[GOOD_A, GOOD, ("S_node_ids.txt", b"a\n")], &["S_node_ids.txt", "graph 1: some nodes have an id"]),
        (&[GOOD_A, GOOD, ("S_node_ids.txt", b"a\na\n")], &["S_node_ids.txt", "graph 1: two nodes have the id `a`"]),
        (&[GOOD_A, GOOD, ("S_graph_ids.txt", b"a\nb\n")], &["S_graph_ids.txt, line 2", "2 lines", "1 graphs"]),
        (&[GOOD_A, GOOD, ("S_graph_labels.txt", b"1\n"), ("S_edge_lines.txt", b"both\nboth\n")], &["S_edge_lines.txt, line 2", "1 graphs"]),
        (&[GOOD_A, GOOD, ("S_node_ids.txt", b"a\nb\nc\n")], &["S_node_ids.txt, line 3", "2 nodes"]),
    ];
    for (files, parts) in cases {
        for zip in [false, true] {
            let message = if zip {
                refused_zip(&zipped(files), &limits())
            } else {
                refusal(tu::read(folder(files).path(), &limits()))
            };
            for part in *parts {
                assert!(message.contains(part), "{files:?}: {message}\nlacks: {part}");
            }
            assert!(message.contains("; "), "no advice: {message}");
        }
    }
}

#[test]
fn limits_are_kept() {
    let files: &[(&str, &[u8])] = &[(A, b"1, 2\n2, 1\n"), (INDICATOR, b"1\n1\n2\n")];
    let few_nodes = limits().max_nodes(1);
    let message = refusal(tu::read(folder(files).path(), &few_nodes));
    assert!(message.contains("graph 1 has 2 nodes, more than the 1 allowed"), "{message}");
    let few_bytes = limits().max_unpacked_bytes(10);
    for message in [
        refusal(tu::read(folder(files).path(), &few_bytes)),
        refused_zip(&zipped(files), &few_bytes),
    ] {
        assert!(message.contains("S_A.txt"), "{message}");
        assert!(message.contains("more than the 10 bytes allowed"), "{message}");
        assert!(message.contains("raise max_unpacked_bytes"), "{message}");
    }
}

/// A zip whose indicator unfolds to `bytes` zeros, a thousandth of that on disk.
fn bomb(bytes: u64) -> Vec<u8> {
    let mut zip = ZipWriter::new(Cursor::new(Vec::new()));
    zip.start_file(INDICATOR, SimpleFileOptions::default().large_file(true)).unwrap();
    let block = vec![b'0'; 1 << 20];
    for _ in 0..bytes >> 20 {
        zip.write_all(&block).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Overwrites the claimed unpacked size wherever `claimed` stands in the headers.
fn claim(zip: &mut [u8], real: u32, claimed: u32) {
    for at in 0..zip.len() - 4 {
        if zip[at..at + 4] == real.to_le_bytes() {
            zip[at..at + 4].copy_from_slice(&claimed.to_le_bytes());
        }
    }
}

#[test]
fn bombs_do_not_go_off() {
    // Three GB by its own header: refused before a byte is unfolded.
    let message = refused_zip(&bomb(3 << 30), &limits());
    assert!(message.contains("S_graph_indicator.txt"), "{message}");
    assert!(message.contains("more than the 2147483648 bytes allowed"), "{message}");

    // A header that lies about 64 MB: stopped while unfolding.
    let small = limits().max_unpacked_bytes(1 << 20);
    let mut lying = zipped(&[(A, b""), (INDICATOR, &vec![b'1'; 64 << 20])]);
    claim(&mut lying, 64 << 20, 100);
    let message = refused_zip(&lying, &small);
    assert!(message.contains("S_graph_indicator.txt"), "{message}");
    assert!(message.contains("cannot be unfolded"), "{message}");

    // A header that claims four GB for a few.
    let mut boasting = zipped(&[(A, b""), (INDICATOR, b"11111111111111111")]);
    claim(&mut boasting, 17, u32::MAX - 1);
    let message = refused_zip(&boasting, &limits());
    assert!(message.contains("S_graph_indicator.txt"), "{message}");
    assert!(message.contains("more than the 2147483648 bytes allowed"), "{message}");
}

#[test]
fn damaged_zips_are_refused() {
    let whole = zipped(&[(A, b"1, 2\n2, 1\n"), (INDICATOR, b"1\n1\n")]);
    for cut in [0, 3, 30, whole.len() / 2, whole.len() - 1] {
        let message = refused_zip(&whole[..cut], &limits());
        assert!(message.contains("set.zip"), "{cut}: {message}");
        assert!(message.contains("no whole zip"), "{cut}: {message}");
        assert!(message.contains("again"), "{cut}: {message}");
    }
    let empty = refused_zip(&zipped(&[]), &limits());
    assert!(empty.contains("no `NAME_graph_indicator.txt`"), "{empty}");
    // Every single damaged byte: an error or a graph, never a panic.
    let folder = folder(&[]);
    let path = folder.path().join("set.zip");
    for at in 0..whole.len() {
        let mut damaged = whole.clone();
        damaged[at] ^= 0x55;
        std::fs::write(&path, &damaged).unwrap();
        if let Ok(source) = tu::read(Path::new(&path), &limits()) {
            let _ = source.count();
        }
    }
}

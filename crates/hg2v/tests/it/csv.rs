//! The folder of CSV: known answers, lossless round trips, malformed tables.

use crate::records::{KNOWN, all, folder, limits, put, real_sets, refusal, tabled, unfolded};
use hg2v::dataset::{Format, Limits, csv, detect, tu};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;

const EDGES: &str = "edges.csv";
const NODES: &str = "nodes.csv";
const GRAPHS: &str = "graphs.csv";

fn read(files: &[(&str, &[u8])]) -> Vec<GraphRecord> {
    all(csv::read(folder(files).path(), &limits()))
}

#[test]
fn a_folder_with_everything() {
    let found = folder(&[
        (
            EDGES,
            b"Source,Target,graph,weight,Id,label,when,Type,note,length\r\n\
              b,a,g1,2,1,x,9,Directed,,0.5\r\na,a,g1,0.5,2,y,10,Directed,new,-1\r\n",
        ),
        (
            NODES,
            b"graph,node,mass,label,charge\ng1,a,1,C,-1\ng1,b,12.5,\"N, \"\"O\"\"\",0\ng1,7,1e3,H,1\n",
        ),
        (GRAPHS, b"id,label,note,y.LogP,Y.logp\ng0,5,none,nan,3\ng1,-1.50,,-0.5,\n"),
    ]);
    assert_eq!(detect(found.path()).unwrap(), Format::CsvFolder);
    let source = csv::read(found.path(), &limits()).unwrap();
    assert_eq!(source.len, Some(2));
    assert_eq!(
        source.ignored(),
        [
            "graphs.csv: the column `note` is not used",
            "edges.csv: the column `id` is not used",
            "edges.csv: the column `type` is not used",
            "edges.csv: the column `note` is not used"
        ]
    );
    let text = |text: &str| Scalar::from(text);
    let targets = |first, second| {
        let names = ["LogP", "logp"].into_iter().zip([first, second]);
        names.map(|(name, value)| Target { name: name.to_owned(), value }).collect()
    };
    let expected = [
        GraphRecord {
            id: Some(text("g0")),
            label: Some(Scalar::Int(5)),
            targets: targets(None, Some(Scalar::Int(3))),
            ..GraphRecord::default()
        },
        GraphRecord {
            id: Some(text("g1")),
            label: Some(Scalar::Float(-1.5)),
            num_nodes: 3,
            node_ids: Some(vec![text("a"), text("b"), Scalar::Int(7)]),
            edges: vec![[1, 0], [0, 0]],
            weights: Some(vec![2.0, 0.5]),
            edge_labels: Some(vec![text("x"), text("y")]),
            edge_features: Some(Features { dim: 2, values: vec![9.0, 0.5, 10.0, -1.0] }),
            targets: targets(Some(Scalar::Float(-0.5)), None),
            node_labels: Some(vec![text("C"), text("N, \"O\""), text("H")]),
            features: Some(Features { dim: 2, values: vec![1.0, -1.0, 12.5, 0.0, 1000.0, 1.0] }),
            ..GraphRecord::default()
        },
    ];
    assert_eq!(all(Ok(source)), expected);
}

#[test]
fn attributes_of_edges_are_numbers_all_along() {
    for (edges, words) in [
        (&b"u,v,length\n0,1,2\n1,2,far\n"[..], &["line 3", "`length`", "`far`"][..]),
        (b"u,v,length\n0,1,2\n1,2,inf\n", &["line 3", "`length`", "`inf`"]),
        (b"u,v,length\n0,1,2\n1,2,\n", &["line 3", "`length`", "every edge"]),
        (b"u,v,a,b\n0,1,2,\n1,2,2,3\n", &["line 2", "`b`", "every edge"]),
    ] {
        let message = refusal(csv::read(folder(&[(EDGES, edges)]).path(), &limits()));
        for word in ["edges.csv"].iter().chain(words) {
            assert!(message.contains(word), "{message}");
        }
    }
    // Those of a graph that has none are absent, and so is a column that is empty all along.
    let found = read(&[(EDGES, b"graph,u,v,a,b,c\n1,0,1,2,3,\n2,0,1,4,,\n3,0,1,,,\n")]);
    let rows = |record: &GraphRecord| record.edge_features.as_ref().map(|f| f.values.clone());
    assert_eq!(
        found.iter().map(rows).collect::<Vec<_>>(),
        [Some(vec![2.0, 3.0]), Some(vec![4.0]), None]
    );
}

#[test]
fn targets_are_refused_by_line_and_value() {
    for (graphs, words) in [
        (&b"graph,y.gap\n0,1e999\n"[..], &["line 2", "`y.gap`", "`1e999` is not a finite"][..]),
        (b"graph,y.a,y.\"a\"\n0,1,2\n", &["line 1", "`a`"]),
        (b"graph,y,y.y\n0,1,2\n", &["line 1", "two columns hold the target `y`"]),
    ] {
        let files = [(EDGES, &b"graph,u,v\n0,0,1\n"[..]), (GRAPHS, graphs)];
        let message = refusal(csv::read(folder(&files).path(), &limits()));
        for word in ["graphs.csv"].iter().chain(words) {
            assert!(message.contains(word), "{message}");
        }
    }
}

#[test]
fn edges_alone_are_enough() {
    let found = read(&[(EDGES, b"u,v\n2,0\n0,1\n")]);
    let expected =
        GraphRecord { num_nodes: 3, edges: vec![[2, 0], [0, 1]], ..GraphRecord::default() };
    assert_eq!(found, [expected]);
    // Not 0..n: the order of first appearance.
    let found = read(&[(EDGES, b"u,v\n3,0\n0,1\n")]);
    assert_eq!(found[0].node_ids, Some([3, 0, 1].map(Scalar::Int).into()));
    assert_eq!(found[0].edges, [[0, 1], [1, 2]]);
    // A column that pandas made one of floats, because some other cell was empty.
    let found = read(&[(EDGES, b"u,v\n2,0.0\n0,1.0\n"), (NODES, b"node\n0\n1\n2\n")]);
    assert_eq!((found[0].num_nodes, &found[0].edges[..]), (3, &[[2, 0], [0, 1]][..]));
    // Interleaved graphs, in the order they appear in.
    let found = read(&[(EDGES, b"graph,src,dst\nb,0,1\na,x,y\nb,1,2\n")]);
    let ids: Vec<_> = found.iter().map(|record| record.id.clone().unwrap()).collect();
    assert_eq!(ids, ["b", "a"].map(Scalar::from));
    assert_eq!(found[0].edges, [[0, 1], [1, 2]]);
}

#[test]
fn a_single_graph_may_have_isolated_nodes_and_a_label() {
    let found = read(&[
        (EDGES, b"src,dst\n0,1\n"),
        (NODES, b"id\n0\n1\n2\n"),
        (GRAPHS, b"graph,y\nwhole,3\n"),
    ]);
    assert_eq!((found.len(), found[0].num_nodes), (1, 3));
    assert_eq!(found[0].label, Some(Scalar::Int(3)));
    assert_eq!(found[0].node_ids, None);
}

#[test]
fn the_tables_are_what_one_would_write_by_hand() {
    let record = GraphRecord {
        id: Some(Scalar::from("7")),
        label: Some(Scalar::from("a,b")),
        num_nodes: 2,
        edges: vec![[0, 1]],
        weights: Some(vec![0.1]),
        features: Some(Features { dim: 1, values: vec![1.0, -2.5] }),
        ..GraphRecord::default()
    };
    let bare = GraphRecord { num_nodes: 1, ..GraphRecord::default() };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.csv");
    put(csv::write(&path), &[bare, record]);
    let text = |name: &str| std::fs::read_to_string(path.join(name)).unwrap();
    assert_eq!(text(GRAPHS), "graph,id,y,directed\n0,,,false\n1,\"\"\"7\"\"\",\"a,b\",false\n");
    assert_eq!(text(NODES), "graph,node,label,x0\n0,0,,\n1,0,,1.0\n1,1,,-2.5\n");
    assert_eq!(text(EDGES), "graph,src,dst,weight,label\n1,0,1,0.1,\n");
    assert_eq!(std::fs::read_dir(&path).unwrap().count(), 3);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]
    #[test]
    fn everything_reads_back(records in crate::records::mixed()) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("set");
        put(csv::write(&path), &records);
        let found = csv::read(&path, &limits()).unwrap();
        prop_assert!(found.ignored().is_empty(), "{:?}", found.ignored());
        prop_assert_eq!(all(Ok(found)), tabled(records));
    }

    #[test]
    fn no_bytes_make_it_panic(bytes: Vec<u8>, rows in "[0-9a\n,\" ]{0,30}") {
        let edges = format!("graph,src,dst\n{rows}");
        for (edges, nodes) in [(&bytes[..], &b"node\n"[..]), (edges.as_bytes(), &bytes[..])] {
            let found = folder(&[(EDGES, edges), (NODES, nodes)]);
            if let Ok(source) = csv::read(found.path(), &limits()) {
                let _ = source.count();
            }
        }
        if let Ok(source) = csv::read(folder(&[(EDGES, edges.as_bytes())]).path(), &limits()) {
            let _ = source.count();
        }
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
        let path = folder.path().join(known.name);
        put(csv::write(&path), &records);
        assert!(all(csv::read(&path, &limits())) == records, "{}", known.name);
    }
}

#[test]
fn malformed_tables_are_refused_by_name_line_and_value() {
    type Files<'a> = &'a [(&'a str, &'a [u8])];
    const GOOD: (&str, &[u8]) = (EDGES, b"graph,src,dst\ng,0,1\n");
    #[rustfmt::skip]
    let cases: &[(Files, &[&str])] = &[
        (&[], &["edges.csv", "cannot read"]),
        (&[(NODES, b"graph,node\n")], &["edges.csv", "cannot read"]),
        (&[(EDGES, b"")], &["edges.csv", "empty", "header"]),
        (&[(EDGES, b"\n\n \n")], &["edges.csv", "empty", "header"]),
        (&[(EDGES, b"graph,src\n")], &["edges.csv, line 1", "`graph,src`", "`dst` or `target` or `v`"]),
        (&[(EDGES, b"graph;src;dst\n")], &["edges.csv, line 1", "`graph;src;dst`", "separated by commas"]),
        (&[(EDGES, b"src,dst,src\n")], &["edges.csv, line 1", "two columns are called `src`"]),
        (&[(EDGES, b"src,dst\n0,1\n0\n")], &["edges.csv, line 3", "`0` has 1 cells where the header has 2"]),
        (&[(EDGES, b"src,dst\n0,1,2\n")], &["edges.csv, line 2", "`0,1,2` has 3 cells"]),
        (&[(EDGES, b"src,dst\n0,\n")], &["edges.csv, line 2", "column `dst`", "is empty"]),
        (&[(EDGES, b"graph,src,dst\n,0,1\n")], &["edges.csv, line 2", "column `graph`", "is empty"]),
        (&[(EDGES, b"src,dst\n0,\"1\n2,3\n")], &["edges.csv, line 2", "never closed", "1\\n2,3"]),
        (&[(EDGES, b"src,dst\n0,\"1\"2\n")], &["edges.csv, line 2", "`2` follows a closing quote"]),
        (&[(EDGES, b"src,dst\n0,1\n0,caf\xe9\n")], &["edges.csv, line 3", "caf", "not UTF-8"]),
        (&[(EDGES, b"src,dst,weight\n0,1,heavy\n")], &["edges.csv, line 2", "column `weight`", "`heavy` is not a finite number"]),
        (&[(EDGES, b"src,dst,weight\n0,1,NaN\n")], &["edges.csv, line 2", "`NaN` is not a finite number"]),
        (&[(EDGES, b"src,dst,weight\n0,1,1e999\n")], &["edges.csv, line 2", "`1e999` is not a finite number"]),
        (&[(EDGES, b"src,dst,weight\n0,1,1\n0,1,\n")], &["edges.csv, line 3", "column `weight`", "empty", "every edge"]),
        (&[(EDGES, b"src,dst,label\n0,1,\n0,1,x\n")], &["edges.csv, line 2", "column `label`", "empty", "every edge"]),
        (&[GOOD, (NODES, b"")], &["nodes.csv", "empty"]),
        (&[GOOD, (NODES, b"graph,x\ng,0\n")], &["nodes.csv, line 1", "`node` or `id`"]),
        (&[GOOD, (NODES, b"node\n0\n")], &["edges.csv, line 1", "column `graph`"]),
        (&[(EDGES, b"src,dst\n"), (NODES, b"graph,node\ng,0\n")], &["edges.csv, line 1", "column `graph`"]),
        (&[GOOD, (NODES, b"graph,node\ng,0\n")], &["edges.csv, line 2", "`1` is no node of this graph"]),
        (&[GOOD, (NODES, b"graph,node\ng,a\ng,b\n")], &["edges.csv, line 2", "`0` is no node of this graph"]),
        (&[GOOD, (NODES, b"graph,node\ng,a\ng,a\n")], &["nodes.csv, line 3", "`a` is listed twice"]),
        (&[GOOD, (NODES, b"graph,node,x\ng,0,1\ng,1,red\n")], &["nodes.csv, line 3", "column `x`", "`red` is not a finite number"]),
        (&[GOOD, (NODES, b"graph,node,x\ng,0,inf\ng,1,1\n")], &["nodes.csv, line 2", "`inf`"]),
        (&[GOOD, (NODES, b"graph,node,x,y\ng,0,1,2\ng,1,1,\n")], &["nodes.csv, line 3", "column `y`", "empty", "every node"]),
        (&[GOOD, (NODES, b"graph,node,label\ng,0,C\ng,1,\n")], &["nodes.csv, line 3", "column `label`", "every node"]),
        (&[GOOD, (NODES, b"graph,node,x\ng,0,1\ng,1\n")], &["nodes.csv, line 3", "2 cells where the header has 3"]),
        (&[GOOD, (GRAPHS, b"")], &["graphs.csv", "empty"]),
        (&[GOOD, (GRAPHS, b"name\n")], &["graphs.csv, line 1", "`graph` or `graph_id` or `id`"]),
        (&[GOOD, (GRAPHS, b"graph\nh\n")], &["edges.csv, line 2", "column `graph`", "`g` is no graph that graphs.csv lists"]),
        (&[GOOD, (GRAPHS, b"graph\ng\ng\n")], &["graphs.csv, line 3", "`g` is listed twice"]),
        (&[GOOD, (GRAPHS, b"graph,directed\ng,maybe\n")], &["graphs.csv, line 2", "`maybe`", "true or false"]),
        (&[(EDGES, b"src,dst\n"), (GRAPHS, b"graph\na\nb\n")], &["edges.csv, line 1", "column `graph`"]),
    ];
    for (files, parts) in cases {
        let message = refusal(csv::read(folder(files).path(), &limits()));
        for part in *parts {
            assert!(message.contains(part), "{files:?}: {message}\nlacks: {part}");
        }
    }
}

#[test]
fn limits_are_kept() {
    let files: &[(&str, &[u8])] = &[(EDGES, b"src,dst\n0,1\n1,2\n")];
    let message = |limits: Limits| refusal(csv::read(folder(files).path(), &limits));
    let nodes = message(limits().max_nodes(2));
    assert!(nodes.contains("edges.csv, line 2"), "{nodes}");
    assert!(nodes.contains("has 3 nodes, more than the 2 allowed"), "{nodes}");
    let bytes = message(limits().max_unpacked_bytes(10));
    assert!(bytes.contains("edges.csv: holding it would take more than the 10 bytes"), "{bytes}");
    let row = message(limits().max_record_bytes(3));
    assert!(row.contains("edges.csv, line 1"), "{row}");
    assert!(row.contains("longer than the 3 bytes allowed"), "{row}");
}

#[test]
#[cfg(unix)]
fn nobody_waits_for_a_table_that_is_a_pipe() {
    let folder = folder(&[]);
    let pipe = folder.path().join("edges.csv");
    assert!(std::process::Command::new("mkfifo").arg(pipe).status().unwrap().success());
    let refused = refusal(csv::read(folder.path(), &limits()));
    assert!(refused.contains("edges.csv") && refused.contains("pipe or a device"), "{refused}");
}

//! `hg2v info` over small files with every kind of problem in them.

use std::path::Path;

use assert_cmd::Command;
use serde_json::{Value, json};

/// Two equal triangles of different class; a graph with a repeated edge of
/// another weight, a self-loop, a weight of zero, a negative weight and an
/// isolated node; a directed graph without class; a graph without nodes; and one
/// with labels, which the others lack.
const TROUBLED: &str = r#"{"id":"triangle","y":"ring","edges":[[0,1],[1,2],[2,0]]}
{"id":"again","y":"path","edges":[[1,0],[2,1],[0,2]]}
{"id":"weights","y":"ring","n":4,"edges":[[0,1,2.0],[1,0,3.0],[2,2,1.0],[1,2,0.0],[0,2,-1.5]]}
{"id":"arrow","directed":true,"edges":[[0,1]]}
{"id":"empty","y":"path","n":0,"edges":[]}
{"id":"labelled","y":"path","node_labels":["C\u001b","O"],"edges":[[0,1]],"edge_labels":["="],"edge_x":[[1,2]]}
"#;

const MOLECULES: &str = r#"{"y":1,"node_labels":["C","O"],"x":[[0.5],[1.5]],"edges":[[0,1]]}
{"y":1,"node_labels":["C","C","N"],"x":[[1],[2],[3]],"edges":[[0,1],[1,2]]}
"#;

/// Standard output of `hg2v info set.jsonl` and further arguments.
fn info(content: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("set.jsonl"), content).unwrap();
    let output = hg2v(folder.path()).arg("set.jsonl").args(arguments).output().unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
    String::from_utf8(output.stdout).unwrap()
}

fn hg2v(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("hg2v").unwrap();
    command.current_dir(folder).env_remove("HG2V_DATA").arg("info");
    command
}

#[test]
fn the_features_are_those_that_fit_takes() {
    let folder = tempfile::tempdir().unwrap();
    let path = r#"{"edges":[[0,1],[1,2],[2,3]]}"#;
    std::fs::write(folder.path().join("set.jsonl"), format!("{path}\n{path}\n")).unwrap();
    let planned = hg2v(folder.path()).arg("set.jsonl").output().unwrap().stdout;
    let planned = String::from_utf8(planned).unwrap();
    let planned = planned.lines().find_map(|line| line.strip_prefix("training uses")).unwrap();
    let mut fit = Command::cargo_bin("hg2v").unwrap();
    fit.current_dir(folder.path()).args(["fit", "set.jsonl", "--out", "m", "--epochs", "1"]);
    let said = String::from_utf8(fit.output().unwrap().stderr).unwrap();
    assert!(said.contains(planned.trim()), "planned {planned}, but fit says {said}");
}

#[test]
fn every_problem_is_on_the_page() {
    insta::assert_snapshot!(info(TROUBLED, &[]), @r"
    set: JSONL, set.jsonl

            total  mean  median  min  max
    graphs      6
    nodes      14  2.33     2.5    0    4
    edges      10  1.67     1.5    0    3
    degree         1.43     1.5    0    2

    density          0.8667 on average
    components       6; 1 graph with more than one, 2 at most
    isolated         1 node in 1 graph
    attributes       none
    node labels      2: C\u{1b} × 1, O × 1, in 1 graph only
    edge labels      1: = × 1, in 1 graph only
    edge attributes  2 an edge, in 1 graph only
    direction        1 directed graph of 6
    weights          from -1.5 to 3, in 1 graph only
    duplicates       2 graphs in 1 group of up to 2 (such as numbers 0 and 1); 1 group mixes classes
    look-alikes      5 Weisfeiler–Lehman rounds: 2 graphs in 1 group of up to 2 (such as numbers 0 and 1); 1 group mixes classes
    accuracy         at most 80.0 % if no numbers are seen

    class   graphs   share
    path         3  50.0 %
    ring         2  33.3 %
    (none)       1  16.7 %

    problems
      1 graph without nodes: kept, with nothing to learn from
      1 self-loop left out
      1 repeated edge merged
      1 repeat of another weight: the largest counts
      1 edge of weight zero: left out
      1 negative weight met: refused unless told otherwise
      set.jsonl, record 6: graph `labelled` has node labels, but graph `triangle` has no node labels; make all graphs alike, or train without node labels: --labels false
    ");
}

#[test]
fn a_clean_collection_has_a_plan() {
    insta::assert_snapshot!(info(MOLECULES, &["--no-duplicates"]), @r"
    set: JSONL, set.jsonl

            total  mean  median  min  max
    graphs      2
    nodes       5  2.50     2.5    2    3
    edges       3  1.50     1.5    1    2
    degree         1.20     1.0    1    2

    density          0.8333 on average
    components       2; no graph has more than one
    isolated         none
    attributes       1 a node
    node labels      3: C × 3, N × 1, O × 1
    edge labels      none
    edge attributes  none
    direction        none
    weights          none
    training uses    1 attribute, standardised + 3 labels, one-hot = 4 columns

    class  graphs    share
    1           2  100.0 %

    problems: none
    ");
}

#[test]
fn several_targets_are_a_table() {
    let set = "{\"y\":{\"logp\":1.5,\"class\":\"a\"},\"edges\":[]}\n\
               {\"y\":{\"logp\":-2,\"class\":null},\"edges\":[]}\n\
               {\"y\":{\"logp\":null},\"edges\":[]}\n";
    let page = info(set, &[]);
    let table: Vec<_> =
        page.lines().skip_while(|line| !line.starts_with("target")).take(3).collect();
    insta::assert_snapshot!(table.join("\n"), @r"
    target  graphs   share  min  max
    logp         2  66.7 %   -2  1.5
    class        1  33.3 %
    ");
    let found: Value = serde_json::from_str(&info(set, &["--json"])).unwrap();
    let expected = json!([
        {"name": "logp", "graphs": 2, "min": -2.0, "max": 1.5},
        {"name": "class", "graphs": 1, "min": null, "max": null},
    ]);
    assert_eq!(found["targets"], expected);
}

#[test]
fn json_holds_exact_numbers() {
    let found: Value = serde_json::from_str(&info(TROUBLED, &["--json"])).unwrap();
    let expected = [
        ("/graphs", json!(6)),
        ("/nodes", json!(14)),
        ("/edges", json!(10)),
        ("/nodes_per_graph/mean", json!(14.0 / 6.0)),
        ("/nodes_per_graph/median", json!(2.5)),
        ("/edges_per_graph/median", json!(1.5)),
        ("/degree/max", json!(2)),
        ("/empty_graphs", json!(1)),
        ("/components/total", json!(6)),
        ("/components/disconnected_graphs", json!(1)),
        ("/isolated_nodes/nodes", json!(1)),
        ("/attributes", json!(null)),
        ("/edge_attributes", json!({"dim": 2, "graphs": 1})),
        ("/targets", json!(null)),
        ("/findings/directed_graphs", json!(1)),
        ("/node_labels/top/0/label", json!("C\u{1b}")),
        ("/weights", json!({"graphs": 1, "min": -1.5, "max": 3.0})),
        ("/classes/top/0", json!({"label": "path", "count": 3})),
        ("/duplicates/example", json!([0, 1])),
        ("/wl_equivalent/rounds", json!(5)),
        ("/wl_equivalent/mixed_classes", json!(1)),
        ("/wl_equivalent/best_accuracy", json!(0.8)),
        (
            "/findings",
            json!({
                "self_loops": 1,
                "repeated_edges": 1,
                "parallel_edges": 0,
                "conflicting_weights": 1,
                "zero_weights": 1,
                "negative_weights": 1,
                "directed_graphs": 1
            }),
        ),
        ("/features/dim", json!(null)),
    ];
    for (pointer, value) in expected {
        assert_eq!(found.pointer(pointer), Some(&value), "{pointer}");
    }
    let found: Value =
        serde_json::from_str(&info(MOLECULES, &["--json", "--no-duplicates"])).unwrap();
    assert_eq!(found["features"]["dim"], 4);
    assert_eq!((&found["duplicates"], &found["wl_equivalent"]), (&Value::Null, &Value::Null));
}

#[test]
fn keys_that_are_not_used_are_named() {
    let page = info(r#"{"edges":[[0,1]],"colour":"red"}"#, &[]);
    assert!(page.contains("colour"), "{page}");
}

#[test]
fn a_missing_file_is_wrong_usage() {
    let folder = tempfile::tempdir().unwrap();
    let output = hg2v(folder.path()).arg("nowhere.jsonl").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("nowhere.jsonl: no such file or folder"), "{said}");
}

#[test]
fn a_broken_line_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("set.jsonl");
    std::fs::write(path, "{\"edges\":[[0,1]]}\n{\"edges\":[[0,\n").unwrap();
    let output = hg2v(folder.path()).arg("set.jsonl").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with("error: set.jsonl, line 2"), "{said}");
}

#[test]
fn ids_that_graphs_share_are_reported() {
    let ids = ["\"a\"", "7", "\"b\"", "\"7\"", "\"b\"", "\"c\"", "7"];
    let content = ids.map(|id| format!("{{\"id\":{id},\"edges\":[[0,1]]}}\n")).concat();
    let page = info(&content, &[]);
    assert!(page.contains("5 graphs share 2 ids (such as numbers 1 and 3)"), "{page}");
    let found: Value = serde_json::from_str(&info(&content, &["--json"])).unwrap();
    assert_eq!(found["repeated_ids"], json!({"ids": 2, "graphs": 5, "example": [1, 3]}));
}

#[test]
fn what_is_left_out_for_want_of_a_flag_names_it() {
    let gephi =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../hg2v/tests/fixtures/graphml/gephi.graphml");
    let said = |more: &[&str]| {
        let output = hg2v(Path::new(".")).arg(gephi).args(more).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(said(&[]).contains("(Gephi's drawing) are not used (graphs: 1); --drawing reads them"));
    assert!(!said(&["--drawing"]).contains("drawing"));
}

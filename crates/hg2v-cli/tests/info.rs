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
{"id":"labelled","y":"path","node_labels":["C\u001b","O"],"edges":[[0,1]],"edge_labels":["="]}
"#;

const MOLECULES: &str = r#"{"y":1,"node_labels":["C","O"],"x":[[0.5],[1.5]],"edges":[[0,1]]}
{"y":1,"node_labels":["C","C","N"],"x":[[1],[2],[3]],"edges":[[0,1],[1,2]]}
"#;

/// Standard output of `hg2v info set.jsonl` and further arguments.
fn info(content: &str, arguments: &[&str]) -> String {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("set.jsonl"), content).unwrap();
    let output = hg2v(folder.path())
        .arg("set.jsonl")
        .args(arguments)
        .output()
        .unwrap();
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(output.status.success(), "{said}");
    assert_eq!(said, "");
    String::from_utf8(output.stdout).unwrap()
}

fn hg2v(folder: &Path) -> Command {
    let mut command = Command::cargo_bin("hg2v").unwrap();
    command
        .current_dir(folder)
        .env_remove("HG2V_DATA")
        .arg("info");
    command
}

#[test]
fn every_problem_is_on_the_page() {
    insta::assert_snapshot!(info(TROUBLED, &[]), @r"");
}

#[test]
fn a_clean_collection_has_a_plan() {
    insta::assert_snapshot!(info(MOLECULES, &["--no-duplicates"]), @r"");
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
    assert_eq!(
        (&found["duplicates"], &found["wl_equivalent"]),
        (&Value::Null, &Value::Null)
    );
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
    assert!(
        said.contains("nowhere.jsonl: no such file or folder"),
        "{said}"
    );
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

//! `hg2v coarsen`.

use std::fs;
use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

/// A path of eight nodes, two triangles and an isolated node, and nothing at all.
const GRAPHS: &str = r#"{"id":"path","edges":[[0,1],[1,2],[2,3],[3,4],[4,5],[5,6],[6,7]]}
{"edges":[[0,1],[1,2],[2,0],[3,4],[4,5],[5,3]],"n":7}
{"id":3,"n":0,"edges":[]}
"#;

fn hg2v(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output = Command::new(assert_cmd::cargo::cargo_bin!("hg2v"))
        .current_dir(folder)
        .env_remove("HG2V_DATA")
        .env("HG2V_CACHE", folder.join("cache"))
        .args(arguments)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn folder_with(content: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("graphs.jsonl"), content).unwrap();
    folder
}

#[test]
fn pyramids_have_the_documented_form() {
    let folder = folder_with(GRAPHS);
    let arguments = ["coarsen", "graphs.jsonl", "--ratio", "0.5", "--quality", "--out", "p.jsonl"];
    let (code, out, err) = hg2v(folder.path(), &arguments);
    assert_eq!((code, out.as_str()), (0, ""), "{err}");
    assert!(err.starts_with("3 graphs, 5.0 nodes each, coarsened to "), "{err}");
    let text = fs::read_to_string(folder.path().join("p.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 3);
    assert_eq!((&lines[0]["id"], &lines[0]["n"]), (&Value::from("path"), &Value::from(8)));
    let level = &lines[0]["levels"][0];
    assert_eq!(level["n"], 4);
    assert_eq!(level["assignment"], serde_json::json!([0, 0, 0, 1, 2, 3, 3, 3]));
    assert_eq!(level["edges"], serde_json::json!([[0, 1, 1.0], [1, 2, 1.0], [2, 3, 1.0]]));
    assert!(lines[0]["quality"]["epsilon"].as_f64().unwrap() > 0.0);
    // The smallest non-zero eigenvalue of a path of eight.
    let value = lines[0]["quality"]["eigenvalues"][1].as_f64().unwrap();
    assert!((value - (2.0 - 2.0 * (std::f64::consts::PI / 8.0).cos())).abs() < 1e-9);
    // A graph without an id has its position; one without nodes has no levels.
    assert_eq!(lines[1]["id"], 1);
    assert_eq!(
        lines[2],
        serde_json::json!({
            "id": 3, "n": 0, "levels": [], "quality": lines[2]["quality"],
        })
    );
}

#[test]
fn the_second_time_comes_from_the_cache_and_is_the_same() {
    let folder = folder_with(GRAPHS);
    let run = |out: &str, more: &[&str]| {
        let arguments = [&["coarsen", "graphs.jsonl", "--out", out, "--json"], more].concat();
        let (code, stdout, err) = hg2v(folder.path(), &arguments);
        assert_eq!(code, 0, "{err}");
        let result: Value = serde_json::from_str(&stdout).unwrap();
        let cached = result["tally"]["from_cache"].as_u64().unwrap();
        (fs::read(folder.path().join(out)).unwrap(), cached)
    };
    let (first, cached) = run("1.jsonl", &[]);
    assert_eq!(cached, 0);
    let (second, cached) = run("2.jsonl", &[]);
    assert_eq!((second == first, cached), (true, 3));
    let (third, cached) = run("3.jsonl", &["--no-cache"]);
    assert_eq!((third == first, cached), (true, 0));
    // A damaged cache is not trusted.
    for entry in fs::read_dir(folder.path().join("cache")).unwrap() {
        for file in fs::read_dir(entry.unwrap().path()).unwrap() {
            fs::write(file.unwrap().path(), b"nonsense").unwrap();
        }
    }
    let (fourth, cached) = run("4.jsonl", &[]);
    assert_eq!((fourth == first, cached), (true, 0));
}

#[test]
fn every_method_and_nonsense() {
    let folder = folder_with(GRAPHS);
    for method in [
        "variation-neighborhoods",
        "variation-edges",
        "variation-cliques",
        "heavy-edge",
        "algebraic-jc",
        "affinity-gs",
        "kron",
    ] {
        let arguments = ["coarsen", "graphs.jsonl", "--method", method, "--out", "-"];
        let (code, out, err) = hg2v(folder.path(), &arguments);
        assert_eq!((code, out.lines().count()), (0, 3), "{method}: {err}");
    }
    for (arguments, said) in [
        (&["--method", "variation-neighbourhood"][..], "invalid value 'variation-neighbourhood'"),
        (&["--ratio", "1.5"], "ratio is 1.5, but it must be at least 0 and less than 1"),
        (&["--k", "0"], "k is 0, but it must be between 1 and 30"),
    ] {
        let arguments = [&["coarsen", "graphs.jsonl", "--out", "x.jsonl"], arguments].concat();
        let (code, _, err) = hg2v(folder.path(), &arguments);
        assert_eq!(code, 2);
        assert!(err.contains(said), "{err}");
        assert!(!folder.path().join("x.jsonl").exists());
    }
}

#[test]
fn a_negative_weight_names_the_graph_and_the_way_out() {
    let folder = folder_with("{\"edges\":[[0,1]]}\n{\"id\":\"odd\",\"edges\":[[0,1],[1,2,-2]]}\n");
    let (code, _, err) = hg2v(folder.path(), &["coarsen", "graphs.jsonl", "--out", "p.jsonl"]);
    assert_eq!(code, 2);
    assert_eq!(
        err,
        "error: graphs.jsonl, record 2: the edge between nodes 1 and 2 of graph `odd` weighs -2, \
         but a Laplacian needs weights of at least 0; use --weights abs or --weights ignore\n"
    );
    assert!(!folder.path().join("p.jsonl").exists());
    let arguments = ["coarsen", "graphs.jsonl", "--out", "p.jsonl", "--weights", "abs"];
    let (code, _, err) = hg2v(folder.path(), &arguments);
    assert_eq!(code, 0);
    assert!(err.contains("1 negative weight made positive"), "{err}");
}

//! `hg2v generate`, as a user runs it.

use std::fs;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn hg2v(args: &[&str]) -> Output {
    Command::cargo_bin("hg2v").unwrap().env_remove("HG2V_DATA").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Makes a set and gives its lines as JSON.
fn made(folder: &Path, args: &[&str]) -> Vec<serde_json::Value> {
    let out = folder.join("set.jsonl");
    let run = hg2v(&[&["generate"], args, &["--out", out.to_str().unwrap(), "--force"]].concat());
    assert!(run.status.success(), "{}", text(&run.stderr));
    let lines = fs::read_to_string(&out).unwrap();
    lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn every_kind_is_made() {
    let folder = tempfile::tempdir().unwrap();
    let kinds: [(&[&str], usize); 15] = [
        (&["dla", "--nodes", "30"], 29),
        (&["calls", "--nodes", "2", "--made", "1"], 1),
        (&["cycle", "--nodes", "30"], 30),
        (&["tree", "--nodes", "30", "--branching", "3"], 29),
        (&["wheel", "--nodes", "30"], 58),
        (&["ladder", "--nodes", "30"], 43),
        (&["path", "--nodes", "30"], 29),
        (&["star", "--nodes", "30"], 29),
        (&["complete", "--nodes", "30"], 435),
        (&["grid", "--rows", "5", "--columns", "6"], 49),
        (&["erdos-renyi", "--nodes", "30", "-p", "1"], 435),
        (&["barabasi-albert", "--nodes", "30", "-m", "3"], 81),
        (&["watts-strogatz", "--nodes", "30", "-k", "4"], 60),
        (&["random-geometric", "--nodes", "30", "--radius", "2"], 435),
        (&["stochastic-block", "--sizes", "10,20", "--p-in", "1", "--p-out", "0"], 235),
    ];
    for (kind, edges) in kinds {
        let graphs = made(folder.path(), &[kind, &["--graphs", "3"]].concat());
        assert_eq!(graphs.len(), 3, "{kind:?}");
        for graph in graphs {
            assert_eq!(graph["edges"].as_array().unwrap().len(), edges, "{kind:?}");
        }
    }
}

#[test]
fn classes_labels_and_noise_are_as_asked() {
    let folder = tempfile::tempdir().unwrap();
    let dla = made(folder.path(), &["dla", "--nodes", "20", "--graphs", "4"]);
    let labels: Vec<_> = dla.iter().map(|graph| graph["y"].as_i64().unwrap()).collect();
    assert_eq!(labels, [1, 2, 1, 2]);
    assert_eq!(dla[0]["x"].as_array().unwrap().len(), 20);
    // Another program has other calls, and the same functions.
    let calls = |program| {
        made(folder.path(), &["calls", "--graphs", "7", "--made", "1", "--program", program])
    };
    let (calls, other) = (calls("0"), calls("1"));
    assert_eq!(
        (&calls[0]["y"], &calls[6]["y"], &calls[5]["y"]),
        (&"v1".into(), &"v1".into(), &"v6".into())
    );
    assert_eq!(calls[0]["node_labels"], other[0]["node_labels"]);
    assert_ne!(calls[0]["edges"], other[0]["edges"]);
    let noise = ["--remove-edges", "4", "--add-edges", "1", "--label", "ring"];
    let cycles = made(folder.path(), &[&["cycle", "--graphs", "2"], &noise[..]].concat());
    assert_eq!(cycles[1]["edges"].as_array().unwrap().len(), 497);
    assert_eq!(cycles[1]["y"], "ring");
}

#[test]
fn the_seed_decides_and_the_threads_do_not() {
    let with = |args: &[&str]| {
        let common = ["generate", "dla", "--nodes", "50", "--graphs", "6", "--out", "-"];
        let run = hg2v(&[&common[..], args].concat());
        assert!(run.status.success(), "{}", text(&run.stderr));
        run.stdout
    };
    let one = with(&["--threads", "1", "--seed", "4"]);
    assert_eq!(one.iter().filter(|&&byte| byte == b'\n').count(), 6);
    assert_eq!(with(&["--threads", "2", "--seed", "4"]), one);
    assert_eq!(with(&["--threads", "4", "--seed", "4"]), one);
    assert_ne!(with(&["--seed", "5"]), one);
}

#[test]
fn molecules_get_pictures_for_atoms() {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name).to_str().unwrap().to_owned();
    let molecule = "{\"node_labels\":[\"C\",\"O\",\"C\"],\"edges\":[[0,1],[1,2]],\"y\":1}\n";
    fs::write(at("bursi.jsonl"), molecule.repeat(2)).unwrap();
    // A white 0 and a grey 1.
    let header = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 28, 0, 0, 0, 28];
    fs::write(at("images"), [&header[..], &[255; 784], &[51; 784]].concat()).unwrap();
    fs::write(at("labels"), [0, 0, 8, 1, 0, 0, 0, 2, 0, 1]).unwrap();
    let (bursi, images, labels) = (at("bursi.jsonl"), at("images"), at("labels"));
    let files = |bursi: &str| {
        ["frankenstein", "--bursi", bursi, "--images", &images, "--labels", &labels]
            .map(String::from)
    };
    let args = files(&bursi);
    let graphs = made(folder.path(), &args.each_ref().map(String::as_str));
    assert_eq!(graphs.len(), 2);
    let x = graphs[1]["x"].as_array().unwrap();
    let corner: Vec<f64> = x.iter().map(|row| row[779].as_f64().unwrap()).collect();
    assert_eq!(corner, [1.0, 0.2, 1.0]);
    assert_eq!(x[0].as_array().unwrap().len(), 780);
    assert_eq!((&graphs[1]["y"], graphs[1].get("node_labels")), (&serde_json::json!(1), None));

    let out = at("none.jsonl");
    let refused = |bursi: &str, says: &str| {
        let args = files(bursi);
        let args = args.each_ref().map(String::as_str);
        let run = hg2v(&[&["generate"], &args[..], &["--out", &out]].concat());
        assert_eq!(run.status.code(), Some(2));
        assert!(text(&run.stderr).contains(says), "{}", text(&run.stderr));
        assert!(!Path::new(&out).exists());
    };
    refused(&at("absent.jsonl"), "absent.jsonl");
    fs::write(at("bare.jsonl"), "{\"edges\":[[0,1]]}\n").unwrap();
    refused(&at("bare.jsonl"), "has no node labels");
    fs::write(at("empty.jsonl"), "").unwrap();
    refused(&at("empty.jsonl"), "it holds no graphs");
}

#[test]
fn json_gives_the_totals() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set.jsonl");
    let args = ["generate", "path", "--nodes", "9", "--graphs", "2", "--json", "--out"];
    let run = hg2v(&[&args[..], &[out.to_str().unwrap()]].concat());
    let said: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(said["command"], "generate path");
    let totals = ["graphs", "nodes", "edges"].map(|key| said[key].as_u64());
    assert_eq!(totals, [Some(2), Some(18), Some(16)]);
    assert!(text(&run.stderr).contains("2 path graphs, 18 nodes, 16 edges"));
}

#[test]
fn impossible_parameters_are_wrong_usage_and_leave_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("set.jsonl");
    let cases: [(&[&str], &str); 6] = [
        (&["cycle", "--nodes", "2"], "--nodes is 2, but it must be at least 3"),
        (&["ladder", "--nodes", "7"], "it must be even"),
        (&["dla", "--stick", "1,0"], "--stick is 0"),
        (&["erdos-renyi", "-p", "1.5"], "it must be from 0 to 1"),
        (&["complete", "--nodes", "4000000000"], "edges"),
        (&["cycle", "--remove-edges", "501"], "the graph has 500 edges"),
    ];
    for (args, says) in cases {
        let run = hg2v(&[&["generate"], args, &["--out", out.to_str().unwrap()]].concat());
        assert_eq!(run.status.code(), Some(2), "{args:?}");
        assert!(text(&run.stderr).contains(says), "{}", text(&run.stderr));
        assert!(fs::read_dir(folder.path()).unwrap().next().is_none(), "{args:?}");
    }
}

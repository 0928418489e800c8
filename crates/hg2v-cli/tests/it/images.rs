//! `hg2v images`, as a user runs it.

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;

fn images(images: &Path, labels: &Path, more: &[&str]) -> Output {
    let mut command = Command::cargo_bin("hg2v").unwrap();
    command.arg("images").args([images, labels]).args(more).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

/// Two images of 1 × 2 pixels, the second blank, and their classes.
fn fixture(folder: &Path) -> [PathBuf; 2] {
    let paths = ["images", "labels"].map(|name| folder.join(name));
    let images = [0, 0, 8, 3, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 2, 51, 255, 0, 0];
    fs::write(&paths[0], images).unwrap();
    fs::write(&paths[1], [0, 0, 8, 1, 0, 0, 0, 2, 4, 5]).unwrap();
    paths
}

#[test]
fn pictures_become_graphs_and_blank_ones_are_said() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = fixture(folder.path());
    let out = folder.path().join("set.jsonl");
    let run = images(&a, &b, &["--threshold", "0", "--json", "--out", out.to_str().unwrap()]);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(result["graphs"], 2);
    assert_eq!(result["nodes"], 2);
    assert_eq!(result["edges"], 1);
    assert_eq!(result["empty_graphs"], 1);
    assert!(text(&run.stderr).contains("1 images have no pixel"), "{}", text(&run.stderr));
    let lines = fs::read_to_string(&out).unwrap();
    let first: serde_json::Value = serde_json::from_str(lines.lines().next().unwrap()).unwrap();
    assert_eq!(first["y"], 4);
    assert_eq!(first["edges"], serde_json::json!([[0, 1]]));
    let x = first["x"].as_array().unwrap();
    let row: Vec<f64> = x[0].as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).collect();
    assert_eq!(row, [0.0, 0.0, 0.2]);
}

#[test]
fn bad_files_are_unreadable_input() {
    let folder = tempfile::tempdir().unwrap();
    let [a, b] = fixture(folder.path());
    let out = folder.path().join("set.jsonl");
    let with = |a: &Path, b: &Path, threshold: &str| {
        let run = images(a, b, &["--threshold", threshold, "--out", out.to_str().unwrap()]);
        assert!(!out.exists());
        assert_eq!(run.status.code(), Some(2), "{}", text(&run.stderr));
        text(&run.stderr)
    };
    assert!(with(&b, &a, "0").contains("byte 3"));
    assert!(with(&a, &folder.path().join("none"), "0").contains("cannot read"));
    assert!(with(&a, &b, "NaN").contains("--threshold"));
    let cut = folder.path().join("cut");
    fs::write(&cut, &fs::read(&a).unwrap()[..18]).unwrap();
    assert!(with(&cut, &b, "0").contains("byte 18"));
}

#[test]
fn mnist_has_the_size_the_paper_says() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run mnist_has_the_size_the_paper_says");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let out = folder.path().join("MNIST.jsonl");
    let file = |name: &str| Path::new(&data).join(format!("MNIST-t10k-{name}-ubyte.gz"));
    let args = ["--threshold", "0", "--out", out.to_str().unwrap()];
    let run = images(&file("images-idx3"), &file("labels-idx1"), &args);
    assert!(run.status.success(), "{}", text(&run.stderr));
    let said = text(&run.stderr);
    assert!(said.contains("10000 graphs, 151.12 nodes and 252.20 edges on average"), "{said}");
    assert_eq!(fs::read_to_string(&out).unwrap().lines().count(), 10_000);
}

//! Numbers to predict, as a user has them judged.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{done, hg2v};

const SMALL: [&str; 8] = ["--dim", "4", "--levels", "1", "--epochs", "1", "--splits", "2"];

/// Cycles with a tail; the number is their nodes and a half.
fn write_graphs(at: &Path, y: impl Fn(u32) -> Option<String>) {
    let mut text = String::new();
    for i in 0..40u32 {
        let n = 3 + i * 7 % 20;
        let edges: Vec<String> = (1..n).map(|v| format!("[{},{v}]", v - 1)).collect();
        let y = y(n).map_or_else(String::new, |y| format!(",\"y\":{y}"));
        writeln!(text, "{{\"id\":\"g{i}\",\"edges\":[{},[2,0]]{y}}}", edges.join(",")).unwrap();
    }
    fs::write(at.join("graphs.jsonl"), text).unwrap();
}

fn json(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|e| panic!("{e}: {text}"))
}

#[test]
fn numbers_are_judged_beside_the_mean() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_graphs(at, |n| Some(format!("{n}.5")));
    let run = [&["evaluate", "graphs.jsonl", "--predictions", "p.jsonl"], &SMALL[..]].concat();
    let (out, _) = done(at, &run);
    for part in ["RMSE", "MAE", "R²", "kernel ridge", "ridge", "the mean", "40 graphs, numbers"] {
        assert!(out.contains(part), "{part}: {out}");
    }
    let (told, _) = done(at, &[&["evaluate", "graphs.jsonl", "--json"], &SMALL[..]].concat());
    let told = json(&told);
    assert_eq!((&told["task"], &told["majority"]), (&"numbers".into(), &Value::Null));
    assert_eq!(told["methods"].as_array().unwrap().len(), 3);
    let own = &told["methods"][0]["result"];
    let rmse = own["errors"]["rmse"]["mean"].as_f64().unwrap();
    assert_eq!(own["test"], own["errors"]["rmse"]);
    assert!(rmse < 0.5 * told["mean"]["rmse"]["mean"].as_f64().unwrap(), "{told}");
    assert_eq!(own["also"][0]["classifier"], "linear");
    // What was predicted is what was scored.
    let lines = fs::read_to_string(at.join("p.jsonl")).unwrap();
    let line = json(lines.lines().next().unwrap());
    let of = |key: &str| -> Vec<f64> {
        line[key].as_array().unwrap().iter().map(|value| value.as_f64().unwrap()).collect()
    };
    let (truth, said) = (of("truth"), of("predicted"));
    assert_eq!(truth.len(), 8);
    let squares: f64 = truth.iter().zip(&said).map(|(a, b)| (a - b).powi(2)).sum();
    let found = own["splits"][0]["errors"]["rmse"].as_f64().unwrap();
    assert!(((squares / 8.0).sqrt() - found).abs() < 1e-12);
    // The same numbers at any number of threads.
    let threads = ["--threads", "1", "--json"];
    let (one, _) = done(at, &[&["evaluate", "graphs.jsonl"], &SMALL[..], &threads].concat());
    assert_eq!(json(&one)["methods"][0]["result"]["errors"], own["errors"]);
    // Whoever asks for classes has classes.
    let classes = ["evaluate", "graphs.jsonl", "--task", "classes", "--json"];
    let (told, _) = done(at, &[&classes, &SMALL[..]].concat());
    assert_eq!(json(&told)["task"], "classes");
}

#[test]
fn values_that_are_missing_are_left_out_and_counted() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_graphs(at, |n| (!n.is_multiple_of(4)).then(|| format!("{n}.25")));
    let run = [&["evaluate", "graphs.jsonl", "--json"], &SMALL[..]].concat();
    let told = json(&done(at, &run).0);
    assert_eq!((&told["graphs"], &told["known"]), (&40.into(), &30.into()));
    let (out, _) = done(at, &[&["evaluate", "graphs.jsonl"], &SMALL[..]].concat());
    assert!(out.contains("30 graphs (10 more without a value), numbers"), "{out}");
}

#[test]
fn what_cannot_be_predicted_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let refused = |extra: &[&str], parts: &[&str]| {
        let run = [&["evaluate", "graphs.jsonl"], &SMALL[..], extra].concat();
        let (code, _, err) = hg2v(at, &run);
        assert_eq!(code, 2, "{err}");
        parts.iter().for_each(|part| assert!(err.contains(part), "{part}: {err}"));
    };
    write_graphs(at, |n| Some(if n == 10 { "\"ten\"".to_owned() } else { format!("{n}.5") }));
    let mixed = ["y is the number 3.5 for graph 0 and ten for graph 1", "--task classes"];
    refused(&[], &mixed);
    refused(&["--task", "numbers"], &["y of graph 1 (from 0) is ten", "--task classes"]);
    write_graphs(at, |_| Some("1.5".to_owned()));
    refused(&[], &["y is 1.5 for all 40 graphs", "nothing to predict", "--target"]);
    write_graphs(at, |_| None);
    refused(&[], &["40 of 40 graphs have no label"]);
    write_graphs(at, |n| Some(format!("{n}.5")));
    refused(&["--also", "logistic"], &["--also is logistic", "it tells classes apart"]);
    let graph = "{\"edges\":[[0,1]],\"y\":0.5}\n{\"edges\":[[0,1]],\"y\":1.5}\n";
    fs::write(at.join("graphs.jsonl"), graph).unwrap();
    refused(&[], &["2 graphs have a value of y, too few for a split"]);
}

#[test]
fn methods_are_compared_by_errors_and_set_against_one_another() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    write_graphs(at, |n| Some(format!("{n}.5")));
    let run = |more: &[&'static str]| {
        let own = ["compare", "graphs.jsonl", "--splits", "3", "--out", "results", "--json"];
        [&own[..], more].concat()
    };
    let methods = ["--methods", "statistics,majority,wl-subtree"];
    let (told, _) = done(at, &run(&methods));
    let told = json(&told);
    let mean = |cell: usize| told["cells"][cell]["test"]["mean"].as_f64().unwrap();
    assert_eq!(told["cells"][0]["task"], "numbers");
    assert!(mean(0) < mean(1), "{told}");
    // The smallest error is the first place, and the mean has the last.
    assert_eq!(told["methods"][1]["rank"], 3.0);
    // Ridge judges the vectors, and neither the kernel nor the mean.
    let judges = |cell: usize| told["cells"][cell]["also"].as_array().map_or(0, Vec::len);
    assert_eq!([judges(0), judges(1), judges(2)], [1, 0, 0]);

    // The same results, now set against the mean, and one more judge.
    let more = [&methods[..], &["--against", "majority", "--also", "knn"]].concat();
    let (against, _) = done(at, &run(&more));
    let against = json(&against);
    assert_eq!(against["against"], "majority");
    assert_eq!(against["cells"][0]["test"], told["cells"][0]["test"]);
    assert_eq!(against["cells"][0]["also"][1]["classifier"], "knn");
    let apart = &against["cells"][0]["difference"];
    assert!((apart["mean"].as_f64().unwrap() - (mean(0) - mean(1))).abs() < 1e-12);
    assert_eq!(apart["n"], 3);
    assert!(against["cells"][1]["difference"].is_null());
    let markdown = fs::read_to_string(at.join("results/compare.md")).unwrap();
    assert!(markdown.contains("| less majority | graphs RMSE |"), "{markdown}");
    assert!(markdown.contains("| by ridge | graphs RMSE |"), "{markdown}");
    let csv = fs::read_to_string(at.join("results/compare.csv")).unwrap();
    // Three judges of statistics, two of the kernel, one of the mean.
    assert_eq!(against["cells"][2]["also"][0]["classifier"], "knn");
    assert_eq!(csv.lines().count(), 1 + 3 + 2 + 1, "{csv}");

    // Those that learn classes alone are left out, unless somebody named them.
    let gin = ["compare", "graphs.jsonl", "--splits", "1", "--methods", "statistics,gin"];
    let (code, out, err) = hg2v(at, &gin);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("graphs: gin: it learns classes, and y is numbers"), "{err}");
    assert!(out.lines().any(|line| line.starts_with("gin") && line.contains("failed")), "{out}");
    // Results of numbers are none of classes.
    let (code, _, err) = hg2v(at, &[&run(&methods)[..], &["--task", "classes"]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("protocol"), "{err}");
}

#[test]
fn classes_are_set_against_one_another_too() {
    let folder = crate::common::folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let run = ["compare", "graphs.jsonl", "--methods", "statistics", "--against", "majority"];
    let (out, _) = done(folder.path(), &[&run[..], &["--splits", "3", "--also", "knn"]].concat());
    for part in ["by nearest neighbours", "less majority", "in points of percent"] {
        assert!(out.contains(part), "{part}: {out}");
    }
}

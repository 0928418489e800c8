//! `hg2v reproduce fig-…`, as a user runs it, on tiny sets.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{done, hg2v};

/// A folder with small sets under the names that figures look for.
fn folder_with_sets() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    for (name, graphs) in
        [("ENZYMES", "12"), ("IMDB-BINARY", "30"), ("MNIST", "16"), ("PTC_FR", "9")]
    {
        let out = format!("data/{name}.jsonl");
        let make = ["generate", "dla", "--graphs", graphs, "--nodes", "25", "--out", &out];
        done(folder.path(), &make);
    }
    folder
}

/// Makes a figure twice, on one thread and on two: the same files but for times.
fn made(folder: &Path, name: &str, more: &[&str], drawings: &[&str], tables: &[&str]) -> Value {
    let run = |out: &'static str, threads: &'static str| {
        let start = ["reproduce", name, "--quick", "--data-dir", "data"];
        done(folder, &[&start, more, &["--out", out, "--threads", threads]].concat())
    };
    let (said, _) = run("one", "1");
    assert!(said.contains(&format!("one/figures/{name}")), "{said}");
    run("two", "2");
    let read =
        |out: &str, file: &str| fs::read(folder.join(out).join("figures").join(file)).unwrap();
    for part in drawings {
        let (svg, png) = (format!("{name}{part}.svg"), format!("{name}{part}.png"));
        let text = String::from_utf8(read("one", &svg)).unwrap();
        assert!(text.starts_with("<svg") && text.ends_with("</svg>\n"), "{svg}");
        assert!(text.contains("<circle") && text.contains("<text"), "{svg}");
        assert!(!text.contains("NaN") && !text.contains("inf"), "{svg}");
        assert!(read("one", &png).starts_with(b"\x89PNG\r\n\x1a\n"), "{png}");
        assert_eq!(read("one", &svg), read("two", &svg), "{svg}");
        assert_eq!(read("one", &png), read("two", &png), "{png}");
    }
    for part in tables {
        let file = format!("{name}{part}.csv");
        let text = String::from_utf8(read("one", &file)).unwrap();
        let columns = text.lines().next().unwrap().split(',').count();
        assert!(text.lines().all(|line| line.split(',').count() == columns), "{file}");
        assert_eq!(text.as_bytes(), read("two", &file), "{file}");
    }
    let record: Value = serde_json::from_slice(&read("one", &format!("{name}.json"))).unwrap();
    assert_eq!((&record["figure"], &record["quick"]), (&name.into(), &true.into()));
    assert!(record["command"].as_str().unwrap().starts_with(&format!("hg2v reproduce {name}")));
    assert!(record["seconds"].as_f64().unwrap() > 0.0 && record["machine"]["cores"].is_u64());
    assert!(!record.to_string().contains(folder.to_str().unwrap()), "a path of this machine");
    let rows = |part: &str| {
        let text = String::from_utf8(read("one", &format!("{name}{part}.csv"))).unwrap();
        text.lines().count() - 1
    };
    let counts: Vec<usize> = tables.iter().map(|part| rows(part)).collect();
    serde_json::json!({ "record": record, "rows": counts, "said": said })
}

#[test]
fn labels_of_graphs_that_lose_edges() {
    let folder = tempfile::tempdir().unwrap();
    let found = made(folder.path(), "fig-wl", &[], &[""], &[""]);
    // Four families, five stages, ten numbers of edges.
    assert_eq!(found["rows"][0], 200);
    // One edge less in a cycle changes 2l of 500 labels: known exactly.
    let cycle = &found["record"]["results"]["cycle"]["similarity_by_stage"];
    for stage in 1..=5usize {
        let expected = 100.0 * (500 - 2 * stage) as f64 / (500 + 2 * stage) as f64;
        let similarity = cycle[stage - 1][0].as_f64().unwrap();
        assert!((similarity - expected).abs() < 1e-9, "{similarity} {expected}");
    }
    assert!(found["said"].as_str().unwrap().contains("16 of 16 lie nowhere above"));
}

#[test]
fn spectra_before_and_after() {
    let folder = folder_with_sets();
    let found = made(folder.path(), "fig-spectra", &[], &[""], &[""]);
    assert_eq!(found["rows"][0], 4 * 200);
    for set in ["ENZYMES", "IMDB-BINARY", "MNIST", "PTC_FR"] {
        let correlations = &found["record"]["results"][set]["correlations"];
        for level in correlations.as_array().unwrap() {
            let mean = level["mean"].as_f64().unwrap();
            assert!((-1.0..=1.0).contains(&mean), "{set} {mean}");
            assert_eq!(level["runs"].as_array().unwrap().len(), 2);
        }
    }
    let found = made(folder.path(), "fig-spectra", &["--sets", "ptc_fr"], &[""], &[""]);
    assert_eq!(found["rows"][0], 200);
}

#[test]
fn digits_level_after_level() {
    let folder = folder_with_sets();
    let found = made(folder.path(), "fig-coarsening", &[], &[""], &["-nodes", "-edges"]);
    let digits = found["record"]["results"].as_array().unwrap();
    let classes: Vec<&Value> = digits.iter().map(|digit| &digit["class"]).collect();
    assert_eq!(classes[0], classes[1]);
    assert_eq!(classes[2], classes[3]);
    assert_ne!(classes[0], classes[2]);
    for digit in digits {
        let nodes: Vec<u64> =
            digit["nodes"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!(nodes[0], 25);
        assert!(nodes.len() > 1 && nodes.windows(2).all(|pair| pair[1] < pair[0]), "{nodes:?}");
    }
}

#[test]
fn graphs_and_their_neighbours() {
    let folder = folder_with_sets();
    let sets = ["-IMDB-BINARY", "-MNIST", "-PTC_FR"];
    let found = made(folder.path(), "fig-neighbors", &[], &sets, &[""]);
    // Ten, four and six graphs, each with six others.
    assert_eq!(found["rows"][0], (10 + 4 + 6) * 7);
    let result = &found["record"]["results"]["IMDB-BINARY"];
    assert_eq!(result["graphs"], 30);
    // Aggregates of two kinds: neighbours are of one kind more often than by chance.
    assert!(result["same_class"].as_f64() > result["by_chance"].as_f64(), "{result}");
    let text = fs::read_to_string(folder.path().join("one/figures/fig-neighbors.csv")).unwrap();
    for rows in text.lines().skip(1).collect::<Vec<_>>().chunks(7) {
        let cell = |row: &str, column: usize| row.split(',').nth(column).unwrap().to_owned();
        let distances: Vec<f64> = rows.iter().map(|row| cell(row, 4).parse().unwrap()).collect();
        assert!(distances.windows(2).all(|pair| pair[0] <= pair[1]), "{rows:?}");
        assert!(rows[1..].iter().all(|row| cell(row, 3) != cell(rows[0], 3)), "{rows:?}");
    }
}

#[test]
fn nonsense_is_wrong_usage() {
    let folder = folder_with_sets();
    let at = folder.path();
    fs::create_dir(at.join("empty")).unwrap();
    fs::write(at.join("empty/PTC_FR.jsonl"), "").unwrap();
    fs::write(at.join("empty/MNIST.jsonl"), "{\"edges\":[[0,1]],\"y\":1}\n").unwrap();
    let cases: [(&[&str], &str); 10] = [
        (&["fig-wl", "--splits", "3"], "--splits"),
        (&["fig-wl", "--fresh"], "--fresh"),
        (&["fig-wl", "--sets", "PTC_FR"], "--sets is given"),
        (&["fig-coarsening", "--preset", "paper"], "--preset is given"),
        (&["fig-spectra", "--device", "cuda"], "--device is given"),
        (&["fig-spectra", "--data-dir", "data", "--sets", "MOO"], "--sets is `MOO`"),
        (&["fig-spectra", "--data-dir", "empty"], "hg2v datasets get ENZYMES"),
        (&["fig-spectra", "--data-dir", "empty", "--sets", "PTC_FR"], "no graphs"),
        (&["fig-coarsening", "--data-dir", "empty"], "no two classes"),
        (&["fig-neighbors", "--data-dir", "empty", "--sets", "PTC_FR"], "no graphs"),
    ];
    for (arguments, word) in cases {
        let (code, out, err) = hg2v(at, &[&["reproduce"], arguments].concat());
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
        assert!(!at.join("experiments").exists());
    }
}

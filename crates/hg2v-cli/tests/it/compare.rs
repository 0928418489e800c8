//! `hg2v compare`, as a user runs it.

use std::fs;
use std::path::Path;
use std::time::{Duration, Instant};

use hg2v::graph::EdgeChoice;
use hg2v_baselines::registry::METHODS;
use serde_json::Value;

use crate::common::{command, done, folder_with_graphs, hg2v, kill_after_lines};

const FAST: &str = "statistics,majority,graph2vec,wl-subtree,wl-oa";

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A file without what may differ between runs.
fn timeless(path: &Path) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(object) => {
                let other = ["seconds", "threads", "peak_bytes"];
                object.retain(|key, _| !other.contains(&key.as_str()));
                object.values_mut().for_each(forget);
            }
            Value::Array(array) => array.iter_mut().for_each(forget),
            _ => {}
        }
    }
    let mut value = read(path);
    forget(&mut value);
    value
}

#[test]
fn what_is_seen_of_edges_is_said_to_every_method_and_kept_apart() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let at = folder.path();
    let methods = ["--methods", "statistics,wl-oa,gin,majority", "--splits", "1"];
    let blind = ["--edge-labels", "ignore", "--direction", "ignore"];
    let run = [&["compare", "graphs.jsonl", "--out", "results"], &methods[..]].concat();
    done(at, &[&run[..], &blind].concat());
    let (code, _, err) = hg2v(at, &run);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("made with another settings"), "{err}");
    for (method, place) in [
        ("statistics", "/settings/edges"),
        ("wl-oa", "/settings/edges"),
        ("gin", "/settings/recipe/features/edges"),
    ] {
        let record = read(&at.join(format!("results/graphs.{method}.json")));
        let edges = serde_json::json!({
            "labels": "ignore", "attributes": "use", "direction": "ignore",
        });
        assert_eq!(record.pointer(place), Some(&edges), "{record}");
    }
}

#[test]
fn all_methods_stand_in_one_table() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let at = folder.path();
    let (out, err) = done(at, &["compare", "graphs.jsonl", "--splits", "2", "--out", "results"]);
    let listed = hg2v(at, &["compare", "--help"]).1;
    let methods: Vec<&str> =
        out.lines().skip(1).take_while(|line| !line.is_empty()).filter_map(first_word).collect();
    // These are no molecules.
    let for_all = METHODS.iter().filter(|entry| !entry.is_of_molecules());
    assert_eq!(methods.len(), for_all.count(), "{out}");
    for method in &methods {
        assert!(listed.contains(&format!("- {method}:")), "{method} is not in the help: {listed}");
        assert!(err.contains(&format!("graphs: {method}: ")), "{err}");
        let record = read(&at.join(format!("results/graphs.{method}.json")));
        assert_eq!(record["method"], *method);
        assert_eq!(record["result"]["splits"].as_array().unwrap().len(), 2);
        assert!(record["settings"].is_object());
        #[cfg(target_os = "linux")]
        assert!(record["peak_bytes"].as_u64().unwrap() > 1 << 20, "{record}");
        // No path of this machine.
        assert!(!record.to_string().contains(at.to_str().unwrap()));
    }
    assert!(out.lines().next().unwrap().contains("graphs  rank  seconds  MiB"), "{out}");
    assert!(out.contains("over 2 80/20 splits"), "{out}");
    // Everybody was judged on these.
    let splits = read(&at.join("results/graphs.splits.json"));
    assert_eq!(splits["test"].as_array().unwrap().len(), 2);
    assert_eq!(splits["test"][0].as_array().unwrap().len(), 6);
    // The same table in every format.
    let markdown = fs::read_to_string(at.join("results/compare.md")).unwrap();
    assert!(markdown.starts_with("| method | graphs | rank | seconds | MiB |\n| --- |"));
    let csv = fs::read_to_string(at.join("results/compare.csv")).unwrap();
    assert_eq!(csv.lines().count(), 1 + methods.len());
    let json = read(&at.join("results/compare.json"));
    let ranks: f64 =
        json["methods"].as_array().unwrap().iter().map(|row| row["rank"].as_f64().unwrap()).sum();
    let places = (methods.len() * (methods.len() + 1) / 2) as f64;
    assert!((ranks - places).abs() < 1e-9, "all places are shared out: {json}");
    let cells = json["cells"].as_array().unwrap();
    let majority = cells.iter().find(|cell| cell["method"] == "majority").unwrap();
    assert_eq!(majority["test"]["mean"], 0.5);
    // The same vectors and splits give what `evaluate` gives.
    let (evaluated, _) = done(at, &["evaluate", "graphs.jsonl", "--splits", "2", "--json"]);
    let evaluated: Value = serde_json::from_str(&evaluated).unwrap();
    for (cell, method) in evaluated["methods"].as_array().unwrap().iter().enumerate() {
        assert_eq!(json["cells"][cell]["test"], method["result"]["test"], "{}", method["name"]);
    }
}

fn first_word(line: &str) -> Option<&str> {
    line.split_whitespace().next()
}

#[test]
fn a_method_that_fails_does_not_stop_the_others() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let at = folder.path();
    // A set whose second graph no network accepts: the first has attributes, this has none.
    let graphs = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let mut lines: Vec<String> = graphs.lines().map(str::to_owned).collect();
    lines[1] = "{\"nodes\":[0,1],\"edges\":[[0,1]],\"y\":1}".to_owned();
    fs::write(at.join("odd.jsonl"), lines.join("\n")).unwrap();
    let run = ["compare", "graphs.jsonl", "odd.jsonl", "--methods", "untrained,wl-oa"];
    let (code, out, err) = hg2v(at, &[&run[..], &["--splits", "1", "--out", "results"]].concat());
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("1 of 4 runs failed\nodd: untrained: odd.jsonl, record 2"), "{err}");
    let row = out.lines().find(|line| line.starts_with("untrained")).unwrap();
    assert!(row.contains("failed"), "{row}");
    let json = read(&at.join("results/compare.json"));
    assert!(json["cells"][2]["error"].as_str().unwrap().contains("record 2"), "{json}");
    assert!(json["cells"][3]["test"]["mean"].is_f64());
    let csv = fs::read_to_string(at.join("results/compare.csv")).unwrap();
    assert!(csv.contains("odd,untrained,,,,,,,,\"odd.jsonl, record 2"), "{csv}");
}

#[cfg(target_os = "linux")]
#[test]
fn running_out_of_memory_is_a_failure_like_others() {
    use crate::common::output_of;
    // Three thousand graphs have kernels of 72 megabytes, eight of them.
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let graph = |i: u32| format!("{{\"edges\":[[0,1],[1,{}]],\"y\":{}}}\n", 2 + i % 3, i % 2);
    fs::write(at.join("many.jsonl"), (0..3000).map(graph).collect::<String>()).unwrap();
    let limited = command(at, &[]);
    let mut shell = std::process::Command::new("sh");
    let run = "ulimit -v 400000; exec \"$0\" compare many.jsonl --methods majority,wl-oa \
               --splits 1 --threads 1";
    shell.current_dir(at).args(["-c", run]).arg(limited.get_program());
    let (code, out, err) = output_of(shell);
    assert_eq!(code, 1, "{out}{err}");
    assert!(out.lines().any(|line| line.starts_with("majority") && line.contains("50.0")), "{out}");
    assert!(err.contains("many: wl-oa: memory allocation of"), "{err}");
}

#[cfg(unix)]
#[test]
fn a_stopped_comparison_goes_on_to_the_same_numbers() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "12"]);
    let at = folder.path();
    let run = |out: &'static str, splits: &'static str| {
        let methods = ["--methods", "hg2v,wl-oa", "--splits", splits, "--out", out];
        [&["compare", "graphs.jsonl", "--threads", "1"], &methods[..]].concat()
    };
    done(at, &run("whole", "8"));
    let files = ["graphs.hg2v.json", "graphs.wl-oa.json", "graphs.splits.json", "compare.json"];
    let same = |out: &str| {
        for file in files {
            assert_eq!(timeless(&at.join(out).join(file)), timeless(&at.join("whole").join(file)));
        }
    };
    let mut child = command(at, &run("stopped", "8")).spawn().unwrap();
    let partial = at.join("stopped/graphs.hg2v.partial.jsonl");
    kill_after_lines(&mut child, &partial, 3);
    // The method's own process ends with it, in the middle of its splits.
    done(at, &run("stopped", "8"));
    same("stopped");
    // Few splits first, then more; then fewer of those that are there.
    done(at, &run("grown", "2"));
    done(at, &run("grown", "8"));
    same("grown");
    let (out, _) = done(at, &run("grown", "2"));
    assert!(out.contains("over 2 80/20 splits"), "{out}");
    // Results of another seed are not taken for these.
    let (code, _, err) = hg2v(at, &[&run("grown", "2")[..], &["--seed", "1"]].concat());
    assert_eq!(code, 1);
    assert!(err.contains("made with another") && err.contains("--fresh"), "{err}");
}

#[test]
fn threads_and_protocols() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let at = folder.path();
    for protocol in ["inductive", "transductive", "tenfold"] {
        let run = |threads: &'static str, out: &str| {
            let run = ["compare", "graphs.jsonl", "--methods", FAST];
            let splits: &[&str] = if protocol == "tenfold" { &[] } else { &["--splits", "2"] };
            let more = ["--protocol", protocol, "--threads", threads, "--out", out];
            done(at, &[&run[..], splits, &more].concat());
            timeless(&at.join(out).join("compare.json"))
        };
        let one = run("1", &format!("{protocol}1"));
        assert_eq!(one, run("4", &format!("{protocol}4")));
        let splits = if protocol == "tenfold" { 10 } else { 2 };
        assert_eq!(one["cells"][0]["test"]["n"], splits);
    }
}

#[test]
fn nonsense_is_wrong_usage() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "8"]);
    let at = folder.path();
    fs::create_dir(at.join("other")).unwrap();
    fs::copy(at.join("graphs.jsonl"), at.join("other/graphs.jsonl")).unwrap();
    let cases: [(&[&str], &str); 8] = [
        (&["compare"], "<DATA>"),
        (&["compare", "nowhere.jsonl"], "no such file"),
        (&["compare", "graphs.jsonl", "--methods", "magic"], "wl-oa"),
        (&["compare", "graphs.jsonl", "--methods", "wl-oa,wl-oa"], "--methods is wl-oa"),
        (&["compare", "graphs.jsonl", "--splits", "0"], "--splits is 0"),
        (&["compare", "graphs.jsonl", "other/graphs.jsonl"], "two collections are called"),
        (&["compare", "-"], "standard input"),
        (&["compare", "graphs.jsonl", "--fresh"], "--out"),
    ];
    for (arguments, word) in cases {
        let (code, out, err) = hg2v(at, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
    }
}

/// Otherwise `compare` would run again what is there.
#[test]
fn kept_results_are_of_the_methods_as_they_are() {
    let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../experiments/results/lab");
    let mut found = 0;
    for entry in METHODS {
        let settings = entry.judged(0, EdgeChoice::default()).unwrap().settings();
        for set in ["MUTAG", "PTC_FR", "IMDB-BINARY", "ENZYMES", "PROTEINS", "NCI1"] {
            let path = kept.join(format!("{set}.{}.json", entry.name));
            if path.exists() {
                assert_eq!(read(&path)["settings"], settings, "{}", path.display());
                found += 1;
            }
        }
    }
    assert!(found > 80, "{found} results");
}

#[cfg(target_os = "linux")]
#[test]
fn who_is_told_to_end_takes_its_process_and_its_folder_along() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let scratch = at.join("scratch");
    fs::create_dir(&scratch).unwrap();
    let arguments = ["compare", "graphs.jsonl", "--methods", "hg2v", "--splits", "500"];
    let mut parent = command(at, &arguments).env("TMPDIR", &scratch).spawn().unwrap();
    let children = format!("/proc/{0}/task/{0}/children", parent.id());
    let started = Instant::now();
    let child = loop {
        let listed = fs::read_to_string(&children).unwrap();
        if let Some(child) = listed.split_whitespace().next() {
            break child.to_owned();
        }
        assert!(started.elapsed() < Duration::from_secs(60), "no process was started");
        std::thread::sleep(Duration::from_millis(5));
    };
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 1);
    let id = parent.id().to_string();
    assert!(std::process::Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    assert_eq!(parent.wait().unwrap().code(), Some(143));
    assert_eq!(fs::read_dir(&scratch).unwrap().count(), 0);
    // Whoever inherits it may take a while to bury it.
    let lives = || {
        let status = fs::read_to_string(format!("/proc/{child}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("Z (zombie)")
    };
    let started = Instant::now();
    while lives() {
        assert!(started.elapsed() < Duration::from_secs(60), "its process goes on");
        std::thread::sleep(Duration::from_millis(5));
    }
}

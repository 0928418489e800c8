//! `hg2v reproduce`, as a user runs it.

use std::fs;
use std::io::Write;
use std::path::Path;

use serde_json::Value;

use crate::common::{command, hg2v, kill_after_lines};

fn table2(folder: &Path, more: &[&str]) -> (i32, String, String) {
    hg2v(folder, &[&["reproduce", "table2", "--data-dir", "data"], more].concat())
}

/// A folder with two sets under names of the table, the second one damaged.
fn folder_with_sets() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let make = ["generate", "dla", "--graphs", "30", "--nodes", "8", "--out", "data/MUTAG.jsonl"];
    let (code, _, err) = hg2v(folder.path(), &make);
    assert_eq!(code, 0, "{err}");
    fs::write(data.join("PTC_FR.jsonl"), "{\"edges\":[[0,1]],\"y\":1}\n{\"edges\":[[0,").unwrap();
    folder
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// A record without what may differ between runs: times and threads.
fn timeless(mut record: Value) -> Value {
    fn forget(value: &mut Value) {
        match value {
            Value::Object(object) => {
                object.retain(|key, _| key != "seconds" && key != "threads");
                object.values_mut().for_each(forget);
            }
            Value::Array(array) => array.iter_mut().for_each(forget),
            _ => {}
        }
    }
    forget(&mut record);
    record
}

#[test]
fn a_set_that_fails_does_not_stop_the_others() {
    let folder = folder_with_sets();
    let at = folder.path();
    let (code, out, err) = table2(at, &["--splits", "2", "--sets", "mutag,PTC_FR,ENZYMES"]);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("2 of 3 runs failed"), "{err}");
    assert!(err.contains("PTC_FR: data/PTC_FR.jsonl, line 2"), "{err}");
    assert!(err.contains("hg2v datasets get ENZYMES"), "{err}");
    let row = out.lines().find(|line| line.starts_with("MUTAG")).unwrap();
    assert!(row.contains("default") && row.contains("81.8 ± 1.8"), "{row}");
    let record = read(&at.join("experiments/results/table2/MUTAG.default.json"));
    assert_eq!(record["set"], "MUTAG");
    assert_eq!(record["data"]["graphs"], 30);
    assert_eq!(record["mode"], "inductive");
    assert_eq!(record["configuration"]["architecture"]["dim"], 128);
    assert_eq!(record["majority"], 0.5);
    let kinds: Vec<_> = record["rows"].as_array().unwrap().iter().map(|row| &row["kind"]).collect();
    assert_eq!(kinds, ["hg2v", "untrained", "statistics"]);
    for row in record["rows"].as_array().unwrap() {
        let splits = row["result"]["splits"].as_array().unwrap();
        assert_eq!(splits.len(), 2);
        assert!(splits[1]["chosen"]["c"].is_f64());
        assert!(splits[1]["seconds"][0].is_f64());
    }
    // No path of this machine.
    assert!(!record.to_string().contains(at.to_str().unwrap()));
    // Without names, what is not there is left out, and DLA is not grown alone.
    fs::remove_file(at.join("data/PTC_FR.jsonl")).unwrap();
    let (code, out, err) = table2(at, &["--quick", "--json", "--out", "quick"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("ENZYMES: left out"), "{err}");
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["records"].as_array().unwrap().len(), 1);
    assert_eq!(result["records"][0]["splits"], 3);
    assert_eq!(result["failed"], Value::Array(Vec::new()));
}

#[cfg(unix)]
#[test]
fn a_killed_run_goes_on_to_the_same_numbers() {
    let folder = folder_with_sets();
    let at = folder.path();
    let run = |out: &'static str, splits: &'static str| {
        [
            "reproduce",
            "table2",
            "--data-dir",
            "data",
            "--sets",
            "MUTAG",
            "--splits",
            splits,
            "--out",
            out,
        ]
    };
    let (code, _, err) = hg2v(at, &run("whole", "12"));
    assert_eq!(code, 0, "{err}");
    let record = |out: &str| at.join(out).join("table2/MUTAG.default.json");
    let whole = timeless(read(&record("whole")));

    // Killed after a split or two, and its last line cut.
    let mut child =
        command(at, &[&run("killed", "12")[..], &["--threads", "1"]].concat()).spawn().unwrap();
    let partial = at.join("killed/table2/MUTAG.default.partial.jsonl");
    kill_after_lines(&mut child, &partial, 3);
    assert!(!record("killed").exists(), "the run ended before it was killed");
    let mut file = fs::OpenOptions::new().append(true).open(&partial).unwrap();
    file.write_all(b"{\"kind\":\"hg2v\",\"sha").unwrap();
    let (code, _, err) = hg2v(at, &run("killed", "12"));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("MUTAG: going on"), "{err}");
    assert_eq!(timeless(read(&record("killed"))), whole);
    assert!(!partial.exists());

    // Few splits first, then more; then fewer are there already.
    assert_eq!(hg2v(at, &run("grown", "2")).0, 0);
    let (code, _, err) = hg2v(at, &run("grown", "12"));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("going on; 6 results are there already"), "{err}");
    assert_eq!(timeless(read(&record("grown"))), whole);
    let bytes = fs::read(record("grown")).unwrap();
    let (code, _, err) = hg2v(at, &run("grown", "2"));
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("12 splits are there already"), "{err}");
    assert_eq!(fs::read(record("grown")).unwrap(), bytes);
}

#[test]
fn results_of_other_options_are_not_reused() {
    let folder = folder_with_sets();
    let at = folder.path();
    let run = |more: &[&str]| table2(at, &[&["--sets", "MUTAG", "--splits", "2"], more].concat());
    assert_eq!(run(&[]).0, 0);
    let file = at.join("experiments/results/table2/MUTAG.default.json");
    let before = fs::read(&file).unwrap();
    let (code, _, err) = run(&["--seed", "1"]);
    assert_eq!(code, 1);
    assert!(err.contains("MUTAG.default.json: its results were made with another "), "{err}");
    assert!(err.contains("seed") && err.contains("--fresh") && err.contains("--out"), "{err}");
    assert_eq!(fs::read(&file).unwrap(), before);
    // Other graphs under the same name.
    let graphs = fs::read_to_string(at.join("data/MUTAG.jsonl")).unwrap();
    let fewer: Vec<&str> = graphs.lines().take(28).collect();
    fs::write(at.join("data/MUTAG.jsonl"), fewer.join("\n")).unwrap();
    let (code, _, err) = run(&[]);
    assert_eq!(code, 1);
    assert!(err.contains("made with another data.fingerprint, data.graphs (30, not 28)"), "{err}");
    let (code, _, err) = run(&["--fresh", "--seed", "1"]);
    assert_eq!(code, 0, "{err}");
    assert_eq!(read(&file)["seed"], 1);
    // Another model, and a grid, have files of their own.
    let paper = ["--sets", "MUTAG", "--splits", "1", "--preset", "paper", "--grid", "small"];
    let (code, out, err) = table2(at, &paper);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("paper, grid small: d="), "{out}");
    let record = read(&file.with_file_name("MUTAG.paper.grid-small.json"));
    assert_eq!(record["rows"].as_array().unwrap().len(), 4 + 2);
    let best = |row: &&Value| row["shape"] == record["chosen"] && row["kind"] == "hg2v";
    let rows = record["rows"].as_array().unwrap();
    let validation = |row: &Value| row["result"]["validation"]["mean"].as_f64().unwrap();
    let most = rows[..4].iter().map(validation).fold(0.0, f64::max);
    assert_eq!(validation(rows.iter().find(best).unwrap()), most);
    // A damaged file is named, with its line.
    fs::write(&file, "{\"format\": 1,\n oops").unwrap();
    let (code, _, err) = hg2v(at, &["reproduce", "table2", "--markdown"]);
    assert_eq!(code, 2);
    assert!(err.contains("MUTAG.default.json, line 2"), "{err}");
    fs::write(&file, "{\"format\": 7}").unwrap();
    let (code, _, err) = hg2v(at, &["reproduce", "table2", "--markdown"]);
    assert_eq!(code, 2);
    assert!(err.contains("its format is 7, this version knows 1"), "{err}");
}

#[test]
fn nonsense_is_wrong_usage() {
    let folder = folder_with_sets();
    let at = folder.path();
    fs::create_dir(at.join("empty")).unwrap();
    let cases: [(&[&str], &str); 13] = [
        (&["reproduce", "table9"], "table2"),
        (&["reproduce"], "<WHAT>"),
        (&["reproduce", "table2", "--data-dir", "data", "--sets", "MOO"], "--sets is `MOO`"),
        (&["reproduce", "table2", "--data-dir", "data", "--splits", "0"], "--splits is 0"),
        (&["reproduce", "table2", "--quick", "--splits", "3"], "cannot be used with"),
        (&["reproduce", "table2", "--markdown", "--quick"], "cannot be used with"),
        (&["reproduce", "table2", "--preset", "best"], "paper"),
        (&["reproduce", "table2", "--data-dir", "empty"], "no set of the table"),
        (&["reproduce", "table2", "--data-dir", "empty", "--rivals"], "no set of the table"),
        (&["reproduce", "table3", "--data-dir", "empty"], "no set of the table"),
        (&["reproduce", "table4", "--data-dir", "empty"], "no set of the table"),
        (&["reproduce", "table4", "--grid", "paper"], "--grid is given"),
        (&["reproduce", "table3", "--rivals"], "--rivals is given"),
    ];
    for (arguments, word) in cases {
        let (code, out, err) = hg2v(at, arguments);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.contains(word), "{arguments:?}: {err}");
        assert!(!at.join("experiments").exists());
    }
}

/// A folder with graphs under each of these names, of the same kind but not the same.
fn folder_with(names: &[&str], kinds: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("data")).unwrap();
    for (seed, (name, kind)) in names.iter().zip(kinds.iter().cycle()).enumerate() {
        let (out, seed) = (format!("data/{name}.jsonl"), seed.to_string());
        let words = ["generate", kind, "--graphs", "40", "--nodes", "9", "--seed", &seed];
        let (code, _, err) = hg2v(folder.path(), &[&words[..], &["--out", &out]].concat());
        assert_eq!(code, 0, "{err}");
    }
    folder
}

#[test]
fn a_model_of_one_set_is_judged_on_another() {
    let folder = folder_with(&["REDDIT-BINARY", "IMDB-BINARY"], &["dla"]);
    let at = folder.path();
    let table3 = ["reproduce", "table3", "--data-dir", "data", "--splits", "2"];
    let (code, out, err) = hg2v(at, &table3);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("MNIST → USPS: left out"), "{err}");
    let rows: Vec<&str> = out.lines().skip(1).take_while(|line| !line.is_empty()).collect();
    assert_eq!(rows.len(), 1, "{out}");
    assert!(rows[0].starts_with("REDDIT-BINARY  IMDB-BINARY"), "{out}");
    assert!(rows[0].contains("69.0") && rows[0].contains("71.3"), "the paper's: {out}");
    let path = at.join("experiments/results/table3/REDDIT-BINARY-IMDB-BINARY.default.json");
    let record = read(&path);
    assert_eq!(record["from_data"]["graphs"], 40);
    assert_ne!(record["from_data"]["fingerprint"], record["to_data"]["fingerprint"]);
    // Vectors of a trained model and of one that was not are not the same.
    let vectors = |who: &str| record[who]["splits"].clone();
    assert_ne!(timeless(vectors("transferred")), timeless(vectors("untrained")));
    // What is there is not run again.
    let (code, again, err) = hg2v(at, &table3);
    assert_eq!((code, again), (0, out));
    assert!(err.contains("2 splits are there already"), "{err}");
    assert_eq!(read(&path), record);
}

#[test]
fn a_model_refuses_nodes_of_another_kind() {
    let folder = folder_with(&["MNIST"], &["dla"]);
    let graph = |i: usize| format!("{{\"edges\":[[0,1]],\"x\":[[0],[{i}]],\"y\":{}}}\n", i % 2);
    let graphs: String = (0..40).map(graph).collect();
    fs::write(folder.path().join("data/USPS.jsonl"), graphs).unwrap();
    let words = ["reproduce", "table3", "--data-dir", "data", "--sets", "MNIST,USPS", "--quick"];
    let (code, _, err) = hg2v(folder.path(), &words);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("the model was trained on nodes with"), "{err}");
    let words = ["reproduce", "table3", "--data-dir", "data", "--sets", "MNIST,DD"];
    let (code, _, err) = hg2v(folder.path(), &words);
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("both sets of a row"), "{err}");
}

#[test]
fn methods_stand_beside_the_papers_numbers() {
    let folder = folder_with(&["IMDB-BINARY"], &["dla"]);
    let at = folder.path();
    let words = ["reproduce", "table4", "--data-dir", "data", "--splits", "2"];
    let (code, out, err) = hg2v(at, &words);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("NCI1: left out"), "{err}");
    let row = out.lines().find(|line| line.starts_with("IMDB-BINARY")).unwrap();
    for paper in ["[2] (70.8)", "[2] (70.7)", "[2] (57.5)", "[2] (63.1)"] {
        assert!(row.contains(paper), "{row}");
    }
    // The same results as `compare` has.
    let compare = ["compare", "data/IMDB-BINARY.jsonl", "--splits", "2", "--methods", "graph2vec"];
    let (code, out, err) = hg2v(at, &[&compare[..], &["--out", "other"]].concat());
    assert_eq!(code, 0, "{out}{err}");
    let of = |folder: &str| timeless(read(&at.join(folder).join("IMDB-BINARY.graph2vec.json")));
    let (mut ours, mut theirs) = (of("experiments/results/lab"), of("other"));
    for record in [&mut ours, &mut theirs] {
        record.as_object_mut().unwrap().remove("peak_bytes");
    }
    assert_eq!(ours, theirs);
    let (code, out, _) = hg2v(at, &["reproduce", "table4", "--markdown"]);
    assert_eq!(code, 0);
    assert!(out.starts_with("| set | hg2v | graph2vec-gnn |"), "{out}");
    assert_eq!(out.lines().count(), 3, "{out}");
}

#[test]
fn documents_have_the_tables_of_the_results() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let of_readme =
        ["table2", "table2 --rivals", "table3", "table4"].map(|name| ("README.md", name));
    for (file, name) in of_readme.into_iter().chain([("docs/results.md", "lab")]) {
        let readme = fs::read_to_string(root.join(file)).unwrap();
        let words: Vec<&str> = name.split(' ').collect();
        let (code, out, err) = hg2v(&root, &[&["reproduce"], &words[..], &["--markdown"]].concat());
        assert_eq!(code, 0, "{err}");
        let (_, rest) = readme.split_once(&format!("<!-- {name} -->\n")).unwrap();
        let (block, _) = rest.split_once(&format!("<!-- end of {name} -->")).unwrap();
        assert_eq!(block, out, "{name} is not that of the results: `make tables`");
    }
}

//! `search`, `drift` and `project`, as a user runs them.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::{done, folder_with_graphs, hg2v, output_of};

/// A folder with graphs, a model of them and their vectors in every format.
fn folder() -> tempfile::TempDir {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "25"]);
    let at = folder.path();
    done(
        at,
        &[
            "fit",
            "graphs.jsonl",
            "--out",
            "m",
            "--preset",
            "network",
            "--dim",
            "8",
            "--levels",
            "2",
            "--epochs",
            "1",
        ],
    );
    for out in ["e.parquet", "e.csv", "e.npy"] {
        done(at, &["embed", "m", "graphs.jsonl", "--out", out]);
    }
    folder
}

fn json(folder: &Path, line: &str) -> Value {
    let arguments: Vec<&str> = line.split_whitespace().chain(["--json", "-q"]).collect();
    let mut said: Value = serde_json::from_str(&done(folder, &arguments).0).unwrap();
    // The one thing that differs from run to run.
    said.as_object_mut().unwrap().remove("seconds");
    said
}

fn refused(folder: &Path, line: &str, words: &[&str]) {
    let arguments: Vec<&str> = line.split_whitespace().collect();
    let (code, _, err) = hg2v(folder, &arguments);
    assert_eq!(code, 2, "{line}: {err}");
    for word in words {
        assert!(err.contains(word), "{line}: no {word:?} in: {err}");
    }
}

#[test]
fn neighbours_are_the_same_from_every_file_and_from_the_model() {
    let folder = folder();
    let at = folder.path();
    let ids: Vec<String> = fs::read_to_string(at.join("e.ids.csv"))
        .unwrap()
        .lines()
        .skip(1)
        .map(|line| line.split(',').next().unwrap().to_owned())
        .collect();
    let id = &ids[4];
    let expected = json(at, &format!("search e.parquet {id} --top 5"));
    assert_eq!(expected["exact"], true);
    assert_eq!(expected["graphs"], 30);
    let neighbors = expected["queries"][0]["neighbors"].as_array().unwrap();
    assert_eq!(neighbors.len(), 5);
    let distances: Vec<f64> = neighbors.iter().map(|n| n["distance"].as_f64().unwrap()).collect();
    assert!(distances.windows(2).all(|pair| pair[0] <= pair[1]));
    assert!(neighbors.iter().all(|n| n["position"] != 4
        && ids[n["position"].as_u64().unwrap() as usize] == n["id"].to_string().trim_matches('"')));
    for from in ["e.csv", "e.npy", "m --data graphs.jsonl"] {
        let (from, more) = from.split_once(' ').unwrap_or((from, ""));
        assert_eq!(json(at, &format!("search {from} {id} --top 5 {more}")), expected, "{from}");
    }
    // Through links: the same answer in so small a set.
    let linked = json(at, &format!("search e.npy {id} --top 5 --approximate"));
    assert_eq!(linked["exact"], false);
    assert_eq!(linked["queries"], expected["queries"]);
    // The graph itself, as if it were new, is its own neighbour at distance 0.
    let line =
        fs::read_to_string(at.join("graphs.jsonl")).unwrap().lines().nth(4).unwrap().to_owned();
    fs::write(at.join("new.jsonl"), line).unwrap();
    let found = json(at, "search e.parquet new.jsonl --model m --metric euclidean");
    let first = &found["queries"][0]["neighbors"][0];
    assert_eq!((&first["position"], &first["distance"]), (&4.into(), &0.0.into()));
    // Threads change nothing, and standard input is a file like others.
    let many = done(at, &["search", "e.parquet", "new.jsonl", "--model", "m", "--threads", "1"]).0;
    assert_eq!(
        done(at, &["search", "e.parquet", "new.jsonl", "--model", "m", "--threads", "3"]).0,
        many
    );
    let mut command = crate::common::command(at, &["search", "e.parquet", "-", "--model", "m"]);
    command.stdin(fs::File::open(at.join("new.jsonl")).unwrap());
    assert_eq!(output_of(command).1, many);
}

/// The graph of a vector is the one that it was made of, whatever graphs are called.
#[test]
fn explanations_are_of_the_graphs_that_were_found() {
    let folder = folder_with_graphs(&["--graphs", "12", "--nodes", "20"]);
    let at = folder.path();
    // 1, 2, …, and at the end `7`, "7" and another 7.
    let graphs = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let named: String = graphs
        .lines()
        .enumerate()
        .map(|(i, line)| {
            let mut graph: Value = serde_json::from_str(line).unwrap();
            graph["id"] = match i {
                9 | 11 => 7.into(),
                10 => "7".into(),
                _ => (i + 1).into(),
            };
            format!("{graph}\n")
        })
        .collect();
    fs::write(at.join("named.jsonl"), named).unwrap();
    let network = ["--preset", "network", "--dim", "4", "--levels", "1", "--epochs", "1"];
    done(at, &[&["fit", "named.jsonl", "--out", "m"][..], &network].concat());
    done(at, &["embed", "m", "named.jsonl", "--out", "e.npy"]);
    // Without the file that names its rows, they are called by their positions.
    fs::create_dir(at.join("bare")).unwrap();
    fs::copy(at.join("e.npy"), at.join("bare/e.npy")).unwrap();
    for line in [
        "search m 3 --data named.jsonl --explain --top 11",
        "search bare/e.npy 3 --data named.jsonl --model m --explain --top 11",
    ] {
        let found = json(at, line);
        for near in found["queries"][0]["neighbors"].as_array().unwrap() {
            let distance = near["distance"].as_f64().unwrap();
            let why = near["explanation"]["similarity"].as_f64().unwrap();
            assert!((1.0 - distance - why).abs() < 1e-5, "{line}: {near}");
        }
    }
    // Who has the name of another is told by position.
    let twins = ["`7`", "at the positions 6, 9, 10, 11", "--position 6"];
    refused(at, "search e.npy 7", &[&["e.npy: 4 graphs are called"][..], &twins].concat());
    let found = json(at, "search e.npy --position 10");
    assert_eq!(found["queries"][0]["id"], "7");
    assert!(
        found["queries"][0]["neighbors"].as_array().unwrap().iter().all(|n| n["position"] != 10)
    );
    // Of other graphs, those of a name that several have cannot be told apart.
    let some: String = fs::read_to_string(at.join("named.jsonl")).unwrap();
    let some: Vec<&str> = some.lines().skip(1).collect();
    fs::write(at.join("some.jsonl"), some.join("\n")).unwrap();
    let line = "search e.npy --position 9 --data some.jsonl --model m --explain";
    refused(at, line, &["some.jsonl", "4 graphs are called `7`"]);
}

/// That the explanations of an answer add up to its distances, with what belongs to no node or without.
fn add_up(query: &Value, metric: &str, rest: bool) {
    let near = query["neighbors"].as_array().unwrap();
    assert!(!near.is_empty());
    for near in near {
        let why = &near["explanation"];
        let distance = near["distance"].as_f64().unwrap();
        let expected = if metric == "cosine" { 1.0 - distance } else { -distance * distance };
        let numbers = |value: &Value| -> f64 {
            value.as_array().unwrap().iter().map(|v| v.as_f64().unwrap()).sum()
        };
        let parts: f64 =
            why["parts"].as_array().unwrap().iter().map(|p| p["share"].as_f64().unwrap()).sum();
        let side = |side: &str, at: usize| {
            numbers(&why[side]) + if rest { why["rest"][at].as_f64().unwrap() } else { 0.0 }
        };
        let [first, second] = [side("first", 0), side("second", 1)];
        let nodes = if metric == "cosine" { first } else { first + second };
        for sum in [parts, nodes] {
            assert!((sum - expected).abs() < 1e-4 * (1.0 + expected.abs()), "{sum} {expected}");
        }
    }
}

#[test]
fn explanations_add_up() {
    let folder = folder();
    for metric in ["cosine", "euclidean"] {
        let line = format!("search m 3 --data graphs.jsonl --explain --top 2 --metric {metric}");
        let found = json(folder.path(), &line);
        add_up(&found["queries"][0], metric, false);
        let part = &found["queries"][0]["neighbors"][0]["explanation"]["parts"][0];
        let keys: Vec<&String> = part.as_object().unwrap().keys().collect();
        assert_eq!(keys, ["level", "local", "of", "readout", "share"]);
    }
    let (text, _) = done(
        folder.path(),
        &["search", "m", "3", "--data", "graphs.jsonl", "--explain", "--top", "1"],
    );
    assert!(
        text.contains("sum of nodes") && text.contains("nodes of it that count most"),
        "{text}"
    );
}

/// Whatever stands beside the network, however distances are told, and of odd graphs, too.
#[test]
fn explanations_of_the_default_add_up() {
    let folder = folder_with_graphs(&["--graphs", "30", "--nodes", "25"]);
    let at = folder.path();
    let fit = "fit graphs.jsonl --out m --dim 8 --levels 2 --epochs 1 --slices always --out-dim 64";
    done(at, &fit.split(' ').collect::<Vec<_>>());
    let odd = [
        r#"{"edges":[],"nodes":[]}"#,
        r#"{"edges":[],"nodes":[0],"x":[[1,2]]}"#,
        r#"{"edges":[],"nodes":[0,1,2],"x":[[0,1],[0,1],[3,3]]}"#,
        r#"{"edges":[[0,1],[1,1]],"x":[[0,0],[1e30,-5]]}"#,
    ];
    fs::write(at.join("odd.jsonl"), odd.join("\n")).unwrap();
    for metric in ["cosine", "euclidean"] {
        for standardise in ["", " --standardise"] {
            let how = format!("--explain --metric {metric}{standardise}");
            let found = json(at, &format!("search m 3 --data graphs.jsonl --top 2 {how}"));
            add_up(&found["queries"][0], metric, true);
            let found = json(at, &format!("search m odd.jsonl --data graphs.jsonl --top 2 {how}"));
            let queries = found["queries"].as_array().unwrap();
            assert_eq!(queries.len(), 4);
            queries.iter().for_each(|query| add_up(query, metric, true));
        }
    }
    let found = json(at, "search m 3 --data graphs.jsonl --top 1 --explain --standardise");
    let parts = &found["queries"][0]["neighbors"][0]["explanation"]["parts"];
    let parts: Vec<String> = parts.as_array().unwrap()[10..]
        .iter()
        .map(|part| {
            let mut part = part.as_object().unwrap().clone();
            assert!(part.remove("share").unwrap().is_number());
            Value::from(part).to_string()
        })
        .collect();
    let expected = [
        r#"{"hops":0,"of":"slices"}"#,
        r#"{"hops":2,"of":"slices"}"#,
        r#"{"hops":4,"of":"slices"}"#,
        r#"{"of":"slices-mean"}"#,
        r#"{"of":"colours","round":0}"#,
        r#"{"of":"colours","round":1}"#,
        r#"{"of":"colours","round":2}"#,
        r#"{"of":"colours","round":3}"#,
        r#"{"of":"colours-mean"}"#,
        r#"{"of":"mean"}"#,
    ];
    assert_eq!(parts, expected);
    let (text, _) = done(at, &["search", "m", "3", "--data", "graphs.jsonl", "--explain"]);
    for words in ["sum of nodes", "2 hops", "round 1", "mean", "colours"] {
        assert!(text.contains(words), "{words}: {text}");
    }
    // Another method's vectors have no such parts.
    done(at, &["fit", "graphs.jsonl", "--out", "s", "--method", "statistics"]);
    refused(at, "search s 3 --data graphs.jsonl --explain", &["statistics", "only those of hg2v"]);
}

#[test]
fn duplicates_and_outliers() {
    let folder = folder();
    let at = folder.path();
    // The fifth graph again, under another name.
    let text = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let mut again: Value = serde_json::from_str(text.lines().nth(4).unwrap()).unwrap();
    again["id"] = "again".into();
    fs::write(at.join("more.jsonl"), format!("{text}{again}\n")).unwrap();
    done(at, &["embed", "m", "more.jsonl", "--out", "more.parquet"]);
    let found = json(at, "search more.parquet --duplicates 1 --outliers 3 --metric cosine");
    assert_eq!(found["duplicates"]["count"], 1);
    assert_eq!(found["duplicates"]["pairs"][0]["positions"], serde_json::json!([4, 30]));
    let outliers = found["outliers"]["rows"].as_array().unwrap();
    assert_eq!(outliers.len(), 31);
    assert!(outliers[0]["distance"].as_f64() >= outliers[1]["distance"].as_f64());
    let (text, _) = done(at, &["search", "more.parquet", "--duplicates"]);
    assert!(text.contains("alike") && text.contains("again"), "{text}");
    let (text, _) = done(at, &["search", "more.parquet", "--outliers", "--top", "2"]);
    assert_eq!(text.lines().count(), 4, "a head, two graphs, and how many more: {text}");
    assert!(text.contains("(Euclidean, columns standardised)"), "{text}");
    // Outliers are measured in their own way, unless somebody says how.
    let told = json(at, "search more.parquet --outliers 3");
    let same = ["--metric euclidean --standardise", "--standardise"];
    for options in same {
        assert_eq!(json(at, &format!("search more.parquet --outliers 3 {options}")), told);
    }
    let other = json(at, "search more.parquet --outliers 3 --metric euclidean");
    assert_eq!((&other["metric"], &other["standardised"]), (&"euclidean".into(), &false.into()));
    assert_ne!(other["outliers"], told["outliers"]);
}

/// Where the graphs are named, a graph stands out by what of it no other has, whether vectors come
/// from a file or from a model, and what it stands out by adds up.
#[test]
fn outliers_are_told_by_graphs_where_they_are_named() {
    let folder = folder();
    let at = folder.path();
    let text = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let mut odd: Value = serde_json::from_str(text.lines().next().unwrap()).unwrap();
    odd["id"] = 99.into();
    // The trees' edges are gone, and one node has all that are left.
    odd["edges"] = (1..25).map(|v| serde_json::json!([0, v])).collect();
    fs::write(at.join("more.jsonl"), format!("{text}{odd}\n")).unwrap();
    done(at, &["embed", "m", "more.jsonl", "--out", "more.parquet"]);
    let found = json(at, "search more.parquet --outliers 3 --data more.jsonl");
    let rows = found["outliers"]["rows"].as_array().unwrap();
    assert_eq!((rows.len(), &rows[0]["id"]), (31, &99.into()));
    assert_eq!((&found["metric"], &found["standardised"]), (&"euclidean".into(), &true.into()));
    for row in rows {
        let part = |name: &str| row["parts"][name].as_f64().unwrap();
        let sum = part("neighbors") + part("unmet") + part("distance");
        assert!((row["score"].as_f64().unwrap() - sum).abs() < 1e-9, "{row}");
        assert!(part("distance") >= 0.0);
    }
    assert!(rows.is_sorted_by(|a, b| a["score"].as_f64() >= b["score"].as_f64()));
    let by = |vectors: &str| {
        json(at, &format!("search {vectors} --outliers 3 --data more.jsonl"))["outliers"].clone()
    };
    assert_eq!(by("more.parquet --model m"), by("m"));
    let (text, _) = done(
        at,
        &["search", "more.parquet", "--outliers", "3", "--data", "more.jsonl", "--top", "1"],
    );
    assert!(text.contains("stands out by") && text.contains("99"), "{text}");
    // By distances alone where somebody says which, as without graphs.
    for options in ["--metric cosine", "--metric euclidean --standardise", "--standardise"] {
        let line = |vectors: &str| format!("search {vectors} --outliers 3 {options}");
        assert_eq!(
            json(at, &line("m --data more.jsonl"))["outliers"],
            json(at, &line("more.parquet"))["outliers"]
        );
    }
    let (_, said) = done(at, &["search", "more.parquet", "--outliers"]);
    assert!(said.contains("--data DATA"), "{said}");
}

/// Copies whose nodes are only numbered otherwise are found by either metric, and other graphs are
/// not.
#[test]
fn copies_are_duplicates_by_either_metric() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let make = ["erdos-renyi", "--graphs", "30", "--nodes", "25", "-p", "0.2"];
    done(at, &[&["generate"], &make[..], &["--out", "graphs.jsonl"]].concat());
    let text = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let (mut lines, mut copies) = (Vec::new(), Vec::new());
    for (i, line) in text.lines().enumerate() {
        let mut graph: Value = serde_json::from_str(line).unwrap();
        // Weights without a tie, so that coarsening chooses the same sets.
        let edges = graph["edges"].as_array_mut().unwrap();
        for (e, edge) in edges.iter_mut().enumerate() {
            edge.as_array_mut().unwrap().push((1.0 + ((e * 37) % 101) as f64 / 101.0).into());
        }
        lines.push(graph.to_string());
        if i < 10 {
            // Node v becomes 24 − v, and the edges come in another order.
            let edges = graph["edges"].as_array_mut().unwrap();
            edges.reverse();
            for edge in edges {
                let ends = edge.as_array_mut().unwrap().iter_mut().take(2);
                ends.for_each(|node| *node = (24 - node.as_u64().unwrap()).into());
            }
            graph["id"] = format!("copy {i}").into();
            copies.push(graph.to_string());
        }
    }
    lines.extend(copies);
    fs::write(at.join("copies.jsonl"), lines.join("\n")).unwrap();
    done(at, &["fit", "copies.jsonl", "--out", "m", "--dim", "8", "--levels", "2"]);
    done(at, &["embed", "m", "copies.jsonl", "--out", "e.npy"]);
    for options in ["", "--standardise", "--metric euclidean", "--metric euclidean --standardise"] {
        let found = json(at, &format!("search e.npy --duplicates {options}"));
        let pairs = found["duplicates"]["pairs"].as_array().unwrap();
        let positions = pairs.iter().map(|pair| {
            let of = |i: usize| pair["positions"][i].as_u64().unwrap();
            assert_eq!(of(0) + 30, of(1), "{options}: {pair}");
            of(0)
        });
        let mut found: Vec<u64> = positions.collect();
        found.sort_unstable();
        assert_eq!(found, (0..10).collect::<Vec<_>>(), "{options}");
    }
}

#[test]
fn drift_tells_the_same_from_the_other() {
    let folder = folder();
    let at = folder.path();
    let same = json(at, "drift e.parquet e.csv --permutations 99");
    assert_eq!(same["p_value"], 1.0);
    done(at, &["generate", "dla", "--graphs", "30", "--nodes", "400", "--out", "larger.jsonl"]);
    done(at, &["embed", "m", "larger.jsonl", "--out", "larger.csv"]);
    let other = json(at, "drift e.parquet larger.csv --permutations 99 --metric euclidean");
    assert_eq!(other["p_value"], 0.01);
    assert!(other["energy"].as_f64().unwrap() > 0.0);
    let said = |line: &str| done(at, &line.split(' ').collect::<Vec<_>>()).0;
    let same = said("drift e.parquet e.csv");
    assert!(same.starts_with("30 vectors against 30:"), "{same}");
    assert!(same.ends_with(": no sign that they differ\n"), "{same}");
    let other = said("drift e.parquet larger.csv --metric euclidean");
    assert!(other.ends_with(": they differ\n"), "{other}");
}

#[test]
fn maps_repeat_and_are_written_in_every_format() {
    let folder = folder();
    let at = folder.path();
    for method in ["pca", "tsne", "umap"] {
        for (threads, out) in [("1", "one.csv"), ("3", "three.csv")] {
            done(
                at,
                &[
                    "project",
                    "e.parquet",
                    "--method",
                    method,
                    "--threads",
                    threads,
                    "--out",
                    out,
                    "--force",
                ],
            );
        }
        let one = fs::read_to_string(at.join("one.csv")).unwrap();
        assert_eq!(one, fs::read_to_string(at.join("three.csv")).unwrap(), "{method}");
        assert_eq!(one.lines().next(), Some("id,y,x0,x1"));
        assert_eq!(one.lines().count(), 31);
    }
    done(at, &["project", "e.npy", "--out", "map.tsv", "--standardise"]);
    let rows = fs::read_to_string(at.join("map.tsv")).unwrap();
    let keys = fs::read_to_string(at.join("map.metadata.tsv")).unwrap();
    assert_eq!((rows.lines().count(), keys.lines().count()), (30, 31));
    assert!(rows.lines().all(|row| row.split('\t').all(|x| x.parse::<f32>().is_ok())));
    assert_eq!(keys.lines().next(), Some("id\ty"));
    done(at, &["project", "e.npy", "--out", "map.parquet"]);
    let told = json(at, "project map.parquet --out again.csv");
    assert!(told["explained_variance"].as_f64().unwrap() > 0.999);
}

/// A model's vectors of graphs are those that `embed` writes.
#[test]
fn a_model_is_projected_as_its_vectors_are() {
    let folder = folder();
    let at = folder.path();
    let read = |name: &str| fs::read_to_string(at.join(name)).unwrap();
    for method in ["pca", "umap"] {
        done(at, &["project", "e.parquet", "--method", method, "--out", "file.csv", "--force"]);
        let line =
            format!("project m --data graphs.jsonl --method {method} --out model.csv --force");
        assert_eq!(json(at, &line)["graphs"], 30);
        assert_eq!(read("file.csv"), read("model.csv"), "{method}");
    }
}

#[test]
fn nonsense_is_refused_with_what_to_do() {
    let folder = folder();
    let at = folder.path();
    fs::write(at.join("empty.csv"), "id,y,e0\n").unwrap();
    fs::write(at.join("narrow.csv"), "id,y,e0\na,,1\nb,,2\n").unwrap();
    for (line, words) in [
        ("search e.parquet", &["QUERY is missing", "--duplicates"][..]),
        ("search e.parquet nobody", &["no graph `nobody`", "name an id such as"]),
        ("search e.parquet graphs.jsonl", &["graphs.jsonl", "--model MODEL"]),
        ("search m 3", &["no vectors of its own", "--data DATA"]),
        ("search e.parquet 3 --top 0", &["top is 0", "at least 1"]),
        ("search e.parquet 3 --explain", &["--explain", "--model MODEL"]),
        ("search e.parquet 3 --explain --model m", &["--explain", "--data DATA"]),
        ("search e.parquet --outliers 0", &["--outliers is 0", "at least 1"]),
        // Options that would mean nothing, and two questions that are answered differently.
        ("search e.parquet 3 --outliers", &["--metric is missing", "--outliers alone"]),
        ("search e.parquet --duplicates --explain", &["--explain is given", "QUERY"]),
        ("search e.parquet --duplicates --approximate", &["--approximate is given", "all pairs"]),
        ("search m 3 --data graphs.jsonl --model m", &["--model is given", "a model itself"]),
        ("search e.parquet 3 --data graphs.jsonl", &["--data is given", "--explain"]),
        (
            "search e.parquet --outliers --standardise --data graphs.jsonl",
            &["--data is given", "by distances alone"],
        ),
        ("search e.parquet 3 --device cuda", &["--device is given", "on the processor"]),
        ("search e.parquet --position 30", &["--position is 30", "30 vectors, counted from 0"]),
        ("search e.parquet 3 --position 3", &["cannot be used with"]),
        ("project e.csv --out x.csv --perplexity 3", &["--perplexity is given", "t-SNE"]),
        ("project e.csv --out x.csv --method tsne --neighbors 3", &["--neighbors is", "UMAP"]),
        ("project e.csv --out e.csv", &["the input itself"]),
        ("project m --out x.csv", &["no vectors of its own", "--data DATA"]),
        ("project m --data graphs.jsonl --out graphs.jsonl", &["the input itself"]),
        ("project e.csv --data graphs.jsonl --out x.csv", &["--data is given", "for a model"]),
        ("project e.csv --device cuda --out x.csv", &["--device is given", "for a model"]),
        ("embed m graphs.jsonl --out graphs.jsonl", &["the input itself"]),
        (
            "search narrow.csv graphs.jsonl --model m",
            &["1 numbers", "name the model that made them"],
        ),
        ("search empty.csv 3", &["holds no vectors", "hg2v embed"]),
        ("search e.parquet --duplicates 2", &["--duplicates is 2", "between −1 and 1"]),
        ("search e.parquet --duplicates -1 --metric euclidean", &["threshold is -1", "at least 0"]),
        ("search e.parquet --outliers 30", &["--outliers is 30", "at most 29"]),
        ("search e.parquet 3 --exact --approximate", &["cannot be used with"]),
        ("search e.parquet 3 --metric manhattan", &["manhattan", "cosine, euclidean"]),
        ("search missing.npy 3", &["missing.npy", "check the name"]),
        ("drift e.parquet narrow.csv", &["1 numbers", "same model"]),
        ("drift e.parquet empty.csv", &["holds no vectors"]),
        ("drift e.parquet e.csv --permutations 0", &["permutations is 0"]),
        ("project e.parquet --out x.png", &["x.png", "does not tell a format"]),
        ("project e.parquet --method tsne --perplexity 0 --out x.csv", &["perplexity is 0"]),
        ("project e.parquet --method umap --neighbors 1 --out x.csv", &["neighbors is 1"]),
        ("serve missing", &["missing", "check the name"]),
        ("serve m --listen 0.0.0.0:0", &["--listen is 0.0.0.0:0", "--token"]),
        ("serve m --listen nowhere", &["nowhere"]),
        ("serve m --index narrow.csv --listen 127.0.0.1:0", &["1 numbers", "again with this one"]),
        ("serve m --queue 0", &["--queue is 0"]),
    ] {
        refused(at, line, words);
    }
    assert!(!at.join("x.csv").exists());
}

/// Distances between vectors of two models mean nothing, even where they are equally long.
#[test]
fn vectors_and_model_must_belong_together() {
    let folder = folder();
    let at = folder.path();
    let shape = ["--preset", "network", "--dim", "8", "--levels", "2", "--epochs", "1"];
    let line = [&["fit", "graphs.jsonl", "--out", "other", "--seed", "9"][..], &shape].concat();
    done(at, &line);
    for file in ["e.parquet", "e.npy"] {
        done(at, &["search", file, "graphs.jsonl", "--model", "m"]);
        refused(
            at,
            &format!("search {file} graphs.jsonl --model other"),
            &[file, "made its vectors", "name the model that made them"],
        );
        refused(
            at,
            &format!("report other --data graphs.jsonl --embeddings {file} --out page.html"),
            &[file, "made its vectors"],
        );
        refused(at, &format!("serve other --index {file}"), &[file, "made its vectors"]);
    }
    done(at, &["embed", "other", "graphs.jsonl", "--out", "o.parquet"]);
    let words = ["o.parquet", "made its vectors", "those of e.npy", "with the same model"];
    refused(at, "drift e.npy o.parquet", &words);
    // CSV does not say whose vectors it holds.
    done(at, &["search", "e.csv", "graphs.jsonl", "--model", "other"]);
}

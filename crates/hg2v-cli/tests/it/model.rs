//! `hg2v fit`, `embed`, `evaluate` and `demo`.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{command, done, folder_with_graphs, hg2v, wait_for_checkpoint};

const SMALL: [&str; 8] = ["--dim", "8", "--hops", "2", "--levels", "2", "--epochs", "4"];

fn fit(folder: &Path, out: &str, more: &[&str]) -> (i32, String, String) {
    let mut arguments = vec!["fit", "graphs.jsonl", "--out", out];
    arguments.extend(SMALL);
    arguments.extend(more);
    hg2v(folder, &arguments)
}

#[test]
fn a_model_is_trained_and_embeds_the_same_bits_in_every_way() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let (code, out, err) = fit(at, "m", &["--json"]);
    assert_eq!(code, 0, "{err}");
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["losses"].as_array().unwrap().len(), 2);
    let names: Vec<_> = {
        let entries = fs::read_dir(at.join("m")).unwrap();
        let mut names: Vec<_> = entries.map(|e| e.unwrap().file_name()).collect();
        names.sort();
        names
    };
    assert_eq!(names, ["config.json", "log.jsonl", "model.safetensors", "run.json"]);
    let log = fs::read_to_string(at.join("m/log.jsonl")).unwrap();
    assert_eq!(log.lines().count(), 4);

    // Another number of threads, an empty folder that is there: the same bytes.
    fs::create_dir(at.join("again")).unwrap();
    let (code, _, err) = fit(at, "again", &["--threads", "1"]);
    assert_eq!(code, 0, "{err}");
    for name in ["model.safetensors", "config.json"] {
        let read = |model: &str| fs::read(at.join(model).join(name)).unwrap();
        assert_eq!(read("m"), read("again"), "{name}");
    }

    // Whole, in shards, from a pipe, one at a time.
    done(at, &["embed", "m", "graphs.jsonl", "--out", "all.csv"]);
    let all = fs::read_to_string(at.join("all.csv")).unwrap();
    assert_eq!(all.lines().count(), 61);
    assert!(all.starts_with("id,y,0,1,"), "{}", &all[..40]);
    let mut parts: Vec<Vec<String>> = Vec::new();
    for part in 1..=3 {
        let (shard, out) = (format!("{part}/3"), format!("part{part}.csv"));
        done(at, &["embed", "m", "graphs.jsonl", "--shard", &shard, "--out", &out]);
        let text = fs::read_to_string(at.join(out)).unwrap();
        parts.push(text.lines().skip(1).map(str::to_owned).collect());
    }
    for (position, line) in all.lines().skip(1).enumerate() {
        assert_eq!(line, parts[position % 3][position / 3]);
    }
    let fifth = fs::read_to_string(at.join("graphs.jsonl")).unwrap();
    let fifth = fifth.lines().nth(5).unwrap().to_owned();
    let mut child = command(at, &["embed", "m", "-", "--out", "-", "-q"])
        .stdin(Stdio::piped())
        .spawn()
        .unwrap();
    child.stdin.take().unwrap().write_all(fifth.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let alone = String::from_utf8(output.stdout).unwrap();
    assert_eq!(alone.lines().nth(1), all.lines().nth(6));

    // Untrained is another vector; nodes and levels have rows of their own.
    done(at, &["embed", "m", "graphs.jsonl", "--untrained", "--out", "untrained.csv"]);
    assert_ne!(fs::read_to_string(at.join("untrained.csv")).unwrap(), all);
    done(at, &["embed", "m", "graphs.jsonl", "--per", "node", "--out", "nodes.tsv"]);
    assert_eq!(fs::read_to_string(at.join("nodes.tsv")).unwrap().lines().count(), 1 + 60 * 40);
    done(at, &["embed", "m", "graphs.jsonl", "--per", "level", "--out", "levels.csv"]);
    let levels = fs::read_to_string(at.join("levels.csv")).unwrap();
    assert_eq!(levels.lines().count(), 1 + 60 * 2);
    // A level's row is its part of what the network reads out of the graph.
    assert_eq!(fit(at, "network", &["--preset", "network"]).0, 0);
    done(at, &["embed", "network", "graphs.jsonl", "--out", "network.csv"]);
    let network = fs::read_to_string(at.join("network.csv")).unwrap();
    assert!(network.starts_with("id,y,g0.sum.0,"), "{}", &network[..40]);
    let cells = |line: &str| line.split(',').map(str::to_owned).collect::<Vec<_>>();
    let (graph, level) =
        (cells(network.lines().nth(1).unwrap()), cells(levels.lines().nth(2).unwrap()));
    // id, y, then g0 (2 numbers a node), g1, g2, x0 and x1 (8), each summed and largest.
    let (g2, x1) = (2 + 4 + 16, 2 + 4 + 3 * 16);
    assert_eq!(level[3..], [&graph[g2..g2 + 16], &graph[x1..x1 + 16]].concat());
}

#[test]
fn vectors_of_every_format_are_judged_alike() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    assert_eq!(fit(at, "m", &[]).0, 0);
    let mut results = Vec::new();
    for out in ["v.npy", "v.parquet", "v.csv", "v.tsv"] {
        done(at, &["embed", "m", "graphs.jsonl", "--out", out]);
        let judge = ["evaluate", "graphs.jsonl", "--embeddings", out, "--splits", "2", "--json"];
        let (text, _) = done(at, &judge);
        let result: Value = serde_json::from_str(&text).unwrap();
        results.push(result["methods"][0]["result"]["test"].clone());
    }
    assert!(results.windows(2).all(|pair| pair[0] == pair[1]), "{results:?}");
}

#[test]
fn vectors_of_other_graphs_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let graph = |id: &str, y: u8| format!("{{\"id\":\"{id}\",\"y\":{y},\"edges\":[[0,1]]}}\n");
    let graphs: String = (0..20).map(|i| graph(&format!("g{i}"), i % 2)).collect();
    fs::write(at.join("graphs.jsonl"), graphs).unwrap();
    let row = |id: usize, y: usize| format!("g{id},{y},{}\n", (id * 7) % 5);
    let rows = |order: &dyn Fn(usize) -> usize, y: &dyn Fn(usize) -> usize| -> String {
        "id,y,e0\n".to_owned() + &(0..20).map(|i| row(order(i), y(i))).collect::<String>()
    };
    let judged = |content: String| {
        fs::write(at.join("v.csv"), content).unwrap();
        let words = ["evaluate", "graphs.jsonl", "--embeddings", "v.csv", "--splits", "2"];
        hg2v(at, &[&words[..], &["--no-controls"]].concat())
    };
    let (code, _, said) = judged(rows(&|i| i, &|i| i % 2));
    assert_eq!(code, 0, "{said}");
    let (code, _, said) = judged(rows(&|i| 19 - i, &|i| i % 2));
    assert_eq!(code, 2);
    assert!(said.contains("v.csv, record 1: its id is g19, that of the graph g0;"), "{said}");
    let (code, _, said) = judged(rows(&|i| i, &|i| (i + 1) % 2));
    assert_eq!(code, 2);
    assert!(said.contains("its class is 1, that of the graph 0;"), "{said}");
}

#[test]
fn an_evaluation_stands_beside_its_controls() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    for protocol in ["inductive", "transductive", "tenfold"] {
        let mut arguments = vec!["evaluate", "graphs.jsonl", "--json", "--protocol", protocol];
        if protocol != "tenfold" {
            arguments.extend(["--splits", "2"]);
        }
        arguments.extend(SMALL);
        let (text, _) = done(at, &arguments);
        let result: Value = serde_json::from_str(&text).unwrap();
        let names: Vec<_> =
            result["methods"].as_array().unwrap().iter().map(|m| m["name"].clone()).collect();
        assert_eq!(names, ["HG2V", "the same, untrained", "statistics"]);
        let splits = if protocol == "tenfold" { 10 } else { 2 };
        for method in result["methods"].as_array().unwrap() {
            assert_eq!(method["result"]["splits"].as_array().unwrap().len(), splits);
            let mean = method["result"]["test"]["mean"].as_f64().unwrap();
            // Sticky and slippery aggregates are easy to tell apart.
            assert!((0.6..=1.0).contains(&mean), "{method}");
        }
        assert_eq!(result["majority"], 0.5);
    }
    let (_, err) = {
        let (code, out, err) = hg2v(at, &["evaluate", "graphs.jsonl", "--splits", "0"]);
        assert_eq!(code, 2);
        (out, err)
    };
    assert_eq!(err, "error: --splits is 0, but it must be at least 1\n");
}

#[test]
fn further_classifiers_judge_the_same_vectors() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let mut arguments = vec!["evaluate", "graphs.jsonl", "--splits", "2"];
    arguments.extend(SMALL);
    let (text, _) = done(at, &[&arguments[..], &["--json"]].concat());
    let alone: Value = serde_json::from_str(&text).unwrap();
    arguments.extend(["--also", "knn,linear,logistic"]);
    let (text, _) = done(at, &[&arguments[..], &["--json"]].concat());
    let result: Value = serde_json::from_str(&text).unwrap();
    for (method, alone) in
        result["methods"].as_array().unwrap().iter().zip(alone["methods"].as_array().unwrap())
    {
        // The C-SVM is what it is without them.
        assert_eq!(method["result"]["test"], alone["result"]["test"]);
        assert_eq!(alone["result"].get("also"), None);
        let also = method["result"]["also"].as_array().unwrap();
        let names: Vec<_> = also.iter().map(|also| also["classifier"].clone()).collect();
        assert_eq!(names, ["knn", "linear", "logistic"]);
        for (at, also) in also.iter().enumerate() {
            let mean = also["test"]["mean"].as_f64().unwrap();
            assert!((0.6..=1.0).contains(&mean), "{also}");
            let splits = method["result"]["splits"].as_array().unwrap();
            let each = splits.iter().map(|split| split["also"][at]["test"].as_f64().unwrap());
            assert!((each.sum::<f64>() / 2.0 - mean).abs() < 1e-12);
        }
    }
    let (text, _) = done(at, &arguments);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].trim_start().starts_with("classifier"), "{text}");
    assert_eq!(text.matches("logistic regression").count(), 3, "{text}");
    assert_eq!(text.matches("C-SVM, radial").count(), 3, "{text}");
    for (value, word) in [("knn,knn", "only once"), ("forest", "logistic")] {
        let (code, _, err) = hg2v(at, &["evaluate", "graphs.jsonl", "--also", value]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("--also") && err.contains(word), "{err}");
    }
}

#[test]
fn what_was_predicted_can_be_judged_again() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    done(at, &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--epochs", "1"]);
    done(at, &["embed", "m", "graphs.jsonl", "--out", "all.csv"]);
    let judge = ["evaluate", "graphs.jsonl", "--embeddings", "all.csv", "--splits", "3"];
    let judge = [&judge[..], &["--predictions", "p.jsonl", "--json"]].concat();
    let (out, _) = done(at, &judge);
    let result: Value = serde_json::from_str(&out).unwrap();
    let text = fs::read_to_string(at.join("p.jsonl")).unwrap();
    let lines: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let methods = result["methods"].as_array().unwrap();
    assert_eq!(lines.len(), 3 * methods.len());
    let rows = |value: &Value| -> Vec<u64> {
        value.as_array().unwrap().iter().map(|row| row.as_u64().unwrap()).collect()
    };
    for (position, line) in lines.iter().enumerate() {
        let (method, split) = (&methods[position / 3], &line["split"]);
        assert_eq!((&line["method"], split), (&method["name"], &serde_json::json!(position % 3)));
        let said = &method["result"]["splits"][position % 3];
        let pairs: Vec<_> =
            rows(&line["truth"]).into_iter().zip(rows(&line["predicted"])).collect();
        let right = pairs.iter().filter(|(truth, predicted)| truth == predicted).count();
        assert_eq!(said["test"].as_f64().unwrap(), right as f64 / pairs.len() as f64);
        assert_eq!(line["chosen"], said["chosen"]);
        // Who is tested is not trained on; the folds divide who is trained on.
        let mut everyone = [rows(&line["train"]), rows(&line["test"])].concat();
        everyone.sort_unstable();
        assert_eq!(everyone, (0..60).collect::<Vec<_>>());
        let folds = line["folds"].as_array().unwrap();
        let mut dealt: Vec<u64> = folds.iter().flat_map(|fold| rows(&fold["test"])).collect();
        dealt.sort_unstable();
        assert_eq!(dealt, rows(&line["train"]));
    }
}

#[test]
fn nodes_of_different_kinds_are_refused_unless_their_kinds_are_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let mixed = r#"{"id":"ethanol","node_labels":["C","C","O"],"edges":[[0,1],[1,2]]}
{"id":"call","edges":[[0,1],[1,2]]}
"#;
    std::fs::write(folder.path().join("graphs.jsonl"), mixed).unwrap();
    let (code, _, said) = fit(folder.path(), "m", &[]);
    assert_eq!(code, 2);
    assert!(
        said.contains("`call` has no node labels") && said.contains("--labels false"),
        "{said}"
    );
    let (code, _, said) = fit(folder.path(), "m", &["--labels", "false"]);
    assert_eq!(code, 0, "{said}");
}

#[test]
fn graphs_without_labels_cannot_be_judged() {
    let folder = tempfile::tempdir().unwrap();
    let judged = |graphs: &str| {
        fs::write(folder.path().join("graphs.jsonl"), graphs).unwrap();
        let (code, _, err) = hg2v(folder.path(), &["evaluate", "graphs.jsonl"]);
        assert_eq!(code, 2, "{err}");
        err
    };
    let err = judged("{\"edges\":[[0,1]]}\n{\"edges\":[[0,1],[1,2]]}\n");
    assert!(err.contains("2 of 2 graphs have no label"), "{err}");
    let err = judged("{\"edges\":[[0,1]]}\n{\"edges\":[[0,1],[1,2]],\"y\":1}\n");
    assert!(err.contains("1 is the only label of 1 graph"), "{err}");
}

#[test]
fn what_lines_hold_beyond_graphs_is_said_by_whoever_reads_them() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    assert_eq!(fit(at, "m", &[]).0, 0);
    let line = "{\"edges\":[[0,1]],\"x\":[[0,0],[1,1]],\"colour\":\"red\"}\n";
    fs::write(at.join("more.jsonl"), line).unwrap();
    let (_, err) = done(at, &["embed", "m", "more.jsonl", "--out", "v.csv"]);
    assert!(err.contains("not used: key `colour`"), "{err}");
}

#[cfg(unix)]
#[test]
fn who_is_told_to_end_leaves_nothing_half_written() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    assert_eq!(fit(at, "m", &[]).0, 0);
    let before = fs::read_dir(at).unwrap().count();
    for (signal, code) in [("-INT", 130), ("-TERM", 143)] {
        let mut child = command(at, &["embed", "m", "-", "--out", "v.csv"])
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        // Graphs that never end: the pipe stays open.
        let mut graphs = child.stdin.take().unwrap();
        graphs.write_all(b"{\"edges\":[[0,1]],\"x\":[[0,0],[1,1]]}\n").unwrap();
        let started = std::time::Instant::now();
        while fs::read_dir(at).unwrap().count() == before {
            assert!(started.elapsed() < Duration::from_secs(60), "nothing is written");
            std::thread::sleep(Duration::from_millis(5));
        }
        let id = child.id().to_string();
        assert!(Command::new("kill").args([signal, &id]).status().unwrap().success());
        assert_eq!(child.wait().unwrap().code(), Some(code));
        drop(graphs);
        assert_eq!(fs::read_dir(at).unwrap().count(), before, "{signal}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn a_run_that_nohup_started_outlives_its_terminal() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let mut arguments = vec!["fit", "graphs.jsonl", "--out", "m", "--checkpoint-every", "0.5"];
    arguments.extend(["--dim", "16", "--hops", "2", "--levels", "2", "--epochs", "300"]);
    let shell = format!("trap '' HUP; exec \"$0\" {}", arguments.join(" "));
    let hg2v = command(at, &[]).get_program().to_owned();
    let mut child =
        Command::new("sh").arg("-c").arg(shell).arg(hg2v).current_dir(at).spawn().unwrap();
    wait_for_checkpoint(&mut child, &at.join("m"));
    let id = child.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    assert_eq!(child.wait().unwrap().code(), Some(0));
}

#[cfg(unix)]
#[test]
fn a_killed_run_and_an_interrupted_run_resume_to_the_same_bytes() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    // Long enough that a checkpoint comes well before the end.
    let options = ["--dim", "16", "--hops", "2", "--levels", "2", "--epochs", "1000"];
    let arguments = |model: &'static str, more: &[&'static str]| {
        let mut arguments = vec!["fit", "graphs.jsonl", "--out", model];
        arguments.extend(options);
        arguments.extend(more);
        arguments
    };
    done(at, &arguments("whole", &[]));

    let often = ["--checkpoint-every", "0.5"];
    let mut child = command(at, &arguments("killed", &often)).spawn().unwrap();
    wait_for_checkpoint(&mut child, &at.join("killed"));
    child.kill().unwrap();
    child.wait().unwrap();
    // As it is where the end came while a checkpoint was written.
    fs::write(at.join("killed/.hg2v-half"), "half").unwrap();
    let (code, _, err) = hg2v(at, &["embed", "killed", "graphs.jsonl", "--out", "v.csv"]);
    assert_eq!(code, 2);
    assert!(err.contains("not finished") && err.contains("--resume"), "{err}");
    let (code, _, err) = hg2v(at, &arguments("killed", &[]));
    assert_eq!(code, 2);
    assert!(err.contains("not finished") && err.contains("--resume"), "{err}");
    let (code, _, err) = hg2v(at, &arguments("whole", &[]));
    assert_eq!(code, 2);
    assert!(err.contains("not empty") && !err.contains("--resume"), "{err}");
    let (code, _, err) =
        hg2v(at, &["fit", "graphs.jsonl", "--out", "killed", "--resume", "--dim", "32"]);
    assert_eq!(code, 2);
    assert!(err.contains("other options"), "{err}");
    for other in [["--preset", "paper"], ["--seed", "7"]] {
        let mut arguments = vec!["fit", "graphs.jsonl", "--out", "killed", "--resume"];
        arguments.extend(other);
        let (code, _, err) = hg2v(at, &arguments);
        assert!(code == 2 && err.contains("other options"), "{other:?}: {err}");
    }
    let (_, err) = done(at, &["fit", "graphs.jsonl", "--out", "killed", "--resume"]);
    assert!(err.contains("going on after step"), "{err}");

    let child = command(at, &arguments("stopped", &[])).spawn().unwrap();
    std::thread::sleep(Duration::from_millis(700));
    let pid = child.id().to_string();
    Command::new("kill").args(["-INT", &pid]).status().unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(130), "{err}");
    assert!(err.contains("fit graphs.jsonl --out stopped --resume"), "{err}");
    done(at, &["fit", "graphs.jsonl", "--out", "stopped", "--resume"]);

    for model in ["killed", "stopped"] {
        for name in ["model.safetensors", "config.json"] {
            let read = |model: &str| fs::read(at.join(model).join(name)).unwrap();
            assert_eq!(read(model), read("whole"), "{model}/{name}");
        }
        let names = |model: &str| {
            let entries = fs::read_dir(at.join(model)).unwrap();
            let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name()).collect();
            names.sort();
            names
        };
        assert_eq!(names(model), names("whole"), "{model}");
        let log = |model: &str| {
            let text = fs::read_to_string(at.join(model).join("log.jsonl")).unwrap();
            text.lines()
                .map(|line| {
                    let mut line: Value = serde_json::from_str(line).unwrap();
                    line["seconds"] = Value::Null;
                    line
                })
                .collect::<Vec<_>>()
        };
        assert_eq!(log(model), log("whole"), "{model}");
    }
    let (code, _, err) = hg2v(at, &["fit", "graphs.jsonl", "--out", "whole", "--resume"]);
    assert_eq!(code, 2);
    assert!(err.contains("finished"), "{err}");
}

/// Without coarsening, HG2V is resumed as HG2V is: a stopped run knows its own method.
#[cfg(unix)]
#[test]
fn a_killed_run_without_coarsening_resumes_to_the_same_bytes() {
    let folder = folder_with_graphs(&["--graphs", "20", "--nodes", "30"]);
    let at = folder.path();
    let method = ["--method", "graph2vec-gnn"];
    let options = ["--dim", "8", "--hops", "2", "--levels", "2", "--epochs", "1000"];
    let fit = |model: &'static str, more: &[&'static str]| {
        [&["fit", "graphs.jsonl", "--out", model], more].concat()
    };
    let whole = [&method[..], &options].concat();
    done(at, &fit("whole", &whole));
    let often = [&whole[..], &["--checkpoint-every", "0.01"]].concat();
    let mut child = command(at, &fit("killed", &often)).spawn().unwrap();
    wait_for_checkpoint(&mut child, &at.join("killed"));
    child.kill().unwrap();
    child.wait().unwrap();
    let (code, _, err) = hg2v(at, &fit("killed", &["--resume", "--method", "hg2v"]));
    assert!(code == 2 && err.contains("other options"), "{err}");
    let (_, err) = done(at, &fit("killed", &["--resume"]));
    assert!(err.contains("going on after step"), "{err}");
    for name in ["model.safetensors", "config.json"] {
        let read = |model: &str| fs::read(at.join(model).join(name)).unwrap();
        assert_eq!(read("killed"), read("whole"), "{name}");
    }
}

/// Methods that learn in epochs say their losses, and those that are not kept say so.
#[test]
fn other_methods_log_their_epochs_and_refuse_checkpoints() {
    let folder = folder_with_graphs(&["--graphs", "12", "--nodes", "12"]);
    let at = folder.path();
    for method in ["graph2vec", "graph2vec-loukas", "infograph"] {
        let fit = ["fit", "graphs.jsonl", "--method", method, "--dim", "8", "--epochs", "4"];
        let out = ["--out", method];
        let (told, _) = done(at, &[&fit[..], &out, &["--json"]].concat());
        let told: Value = serde_json::from_str(&told).unwrap();
        let log = fs::read_to_string(at.join(method).join("log.jsonl")).unwrap();
        let losses: Vec<f64> = log
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap()["loss"].as_f64().unwrap())
            .collect();
        assert_eq!((losses.len(), &told["epochs"]), (4, &json!(4)), "{method}");
        assert!(losses.iter().all(|loss| *loss > 0.0) && losses[3] != losses[0], "{losses:?}");
        assert_eq!(told["losses"], json!([losses[3]]), "{method}");
        for option in [&["--resume"][..], &["--checkpoint-every", "1"]] {
            let (code, _, err) = hg2v(at, &[&fit[..], &["--out", "x"], option].concat());
            assert!(code == 2 && err.contains(option[0]) && err.contains("in one go"), "{err}");
        }
    }
}

#[test]
fn nonsense_gets_one_error_and_exit_code_two() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    assert_eq!(fit(at, "m", &[]).0, 0);
    fs::write(at.join("bare.jsonl"), "{\"id\":\"a\",\"edges\":[[0,1]]}\n").unwrap();
    fs::write(at.join("none.jsonl"), "").unwrap();
    for (arguments, word) in [
        (vec!["fit", "graphs.jsonl", "--out", "x", "--dim", "0"], "dim is 0"),
        (vec!["fit", "graphs.jsonl", "--out", "x", "--lr", "-1"], "lr is -1"),
        (vec!["fit", "graphs.jsonl", "--out", "x", "--readout", "sum,sum"], "readout"),
        (vec!["fit", "graphs.jsonl", "--out", "x", "--lr", "1e30"], "diverged"),
        (vec!["fit", "graphs.jsonl", "--out", "y", "--device", "gpu"], "it must be cpu, cuda"),
        (vec!["fit", "none.jsonl", "--out", "y"], "no graphs"),
        (vec!["fit", "absent.jsonl", "--out", "y"], "absent.jsonl"),
        (vec!["fit", "absent.jsonl", "--out", "y/deep/m"], "absent.jsonl"),
        (vec!["fit", "none.jsonl", "--out", "y/deep/m"], "no graphs"),
        (vec!["embed", "absent", "graphs.jsonl", "--out", "v.csv"], "absent"),
        (vec!["embed", "m", "bare.jsonl", "--out", "v.csv"], "graph `a` has no node attributes"),
        (vec!["embed", "m", "graphs.jsonl", "--out", "v.txt"], ".npy, .parquet, .csv or .tsv"),
        (vec!["embed", "m", "graphs.jsonl", "--out", "v.csv", "--shard", "4/3"], "I/N"),
        (vec!["evaluate", "graphs.jsonl", "--embeddings", "none.csv"], "none.csv"),
    ] {
        let quiet: Vec<&str> = arguments.iter().copied().chain(["-q"]).collect();
        let (code, out, err) = hg2v(at, &quiet);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(word), "{arguments:?}: {err}");
        assert!(!at.join("v.csv").exists() && !at.join("y").exists(), "{arguments:?}");
    }
}

#[test]
fn a_card_that_is_not_there_is_an_error_that_says_what_to_do() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    assert_eq!(fit(at, "m", &[]).0, 0);
    let kept = fs::read_dir(at).unwrap().count();
    // All that train or embed.
    for command in [
        "fit graphs.jsonl --out x",
        "embed m graphs.jsonl --out x.csv",
        "evaluate graphs.jsonl",
        "compare graphs.jsonl --methods hg2v --out x",
        "reproduce table2 --quick --out x",
        "report m --data graphs.jsonl --out x.html",
        "search m graphs.jsonl --data graphs.jsonl",
        "search m --outliers --data graphs.jsonl",
        "serve m --listen 127.0.0.1:0",
        "demo --out x",
    ] {
        let arguments: Vec<&str> =
            command.split(' ').chain(["--device", "cuda:99", "-q"]).collect();
        let (code, out, err) = hg2v(at, &arguments);
        assert_eq!((code, out.as_str()), (1, ""), "{command}: {err}");
        assert!(err.starts_with("error: cuda:99: "), "{command}: {err}");
        assert!(err.contains("--device cpu"), "{command}: {err}");
        assert_eq!(fs::read_dir(at).unwrap().count(), kept, "{command} left something");
    }
}

/// Kinds and numbers of edges, directions, labels of nodes.
const RICH: &str = r#"{"edges":[[0,1],[1,2],[2,3]],"edge_labels":["a","b","a"],"edge_x":[[1],[2],[4]],"node_labels":["C","C","O","C"],"directed":true}
{"edges":[[0,1],[1,2],[2,0]],"edge_labels":["a","a","b"],"edge_x":[[1],[3],[2]],"node_labels":["C","O","O"],"directed":true}
{"edges":[[0,1],[0,2],[0,3]],"edge_labels":["b","b","b"],"edge_x":[[0],[1],[2]],"node_labels":["O","C","O","C"],"directed":true}
"#;

#[test]
fn what_of_graphs_is_used_is_said_for_every_method() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("rich.jsonl"), RICH).unwrap();
    let small = ["--dim", "2", "--levels", "1", "--epochs", "1"];
    let ignoring =
        ["--edge-labels", "ignore", "--direction", "ignore", "--edge-attributes", "ignore"];
    let labels = "labels of nodes";
    for (name, options, used, unused) in [
        ("m", &small[..], "labels of nodes, labels, attributes and directions of edges", ""),
        (
            "blind",
            &[&small[..], &ignoring].concat()[..],
            labels,
            "labels, attributes and directions of edges",
        ),
        (
            "paper",
            &[&["--preset", "paper"], &small[..]].concat()[..],
            labels,
            "labels, attributes and directions of edges",
        ),
        (
            "oa",
            &["--method", "wl-oa"],
            "labels of nodes, labels and directions of edges",
            "attributes of edges",
        ),
        (
            "s",
            &["--method", "statistics"],
            "labels of nodes, labels, attributes and directions of edges",
            "",
        ),
    ] {
        let run = [&["fit", "rich.jsonl", "--out", name, "--json"], options].concat();
        let (out, err) = done(at, &run);
        let said = match unused {
            "" => format!("used: {used}"),
            unused => format!("used: {used}; not used: {unused}"),
        };
        assert!(err.lines().any(|line| line == said), "{name}: {err}");
        assert_eq!(err.contains("coarsened as undirected"), !["oa", "s"].contains(&name), "{err}");
        let told: Value = serde_json::from_str(&out).unwrap();
        let vectors = format!("{name}.csv");
        let (out, err) = done(at, &["embed", name, "rich.jsonl", "--out", &vectors, "--json"]);
        assert!(err.lines().any(|line| line == said), "{name}: {err}");
        let again: Value = serde_json::from_str(&out).unwrap();
        assert_eq!([&told["used"], &told["unused"]], [&again["used"], &again["unused"]]);
        let known =
            told["used"].as_array().unwrap().len() + told["unused"].as_array().unwrap().len();
        assert_eq!(known, 4, "{told}");
    }
    let (_, err) = done(at, &["coarsen", "rich.jsonl", "--out", "p.jsonl"]);
    assert!(err.contains("not used: labels of nodes, labels and attributes of edges"), "{err}");
    assert!(err.contains("3 directed graphs coarsened as undirected"), "{err}");
}

#[test]
fn a_model_of_atoms_with_attributes_says_how_to_read_others() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("m.smi"), "CCO\nCCN\nc1ccccc1\n").unwrap();
    let small = ["--dim", "2", "--levels", "1", "--epochs", "1"];
    let fit = [&["fit", "m.smi", "--out", "m", "--atom-attributes"], &small[..]].concat();
    done(at, &fit);
    let (code, _, err) = hg2v(at, &["embed", "m", "m.smi", "--out", "v.csv"]);
    assert_eq!(code, 2);
    assert!(err.contains("has no node attributes") && err.contains("--atom-attributes"), "{err}");
    done(at, &["embed", "m", "m.smi", "--out", "v.csv", "--atom-attributes"]);
}

#[test]
fn the_demo_does_its_job() {
    let folder = tempfile::tempdir().unwrap();
    let arguments = ["demo", "--graphs", "40", "--nodes", "40", "--json"];
    let (out, _) = done(folder.path(), &arguments);
    let result: Value = serde_json::from_str(&out).unwrap();
    assert_eq!(result["methods"].as_array().unwrap().len(), 3);
    let lines = |name: &str| -> Vec<Value> {
        let text = fs::read_to_string(folder.path().join("hg2v-demo").join(name)).unwrap();
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
    };
    assert_eq!(lines("pyramids.jsonl").len(), 40);
    let graphs = lines("graphs.jsonl");
    let nodes = |graph: &Value| graph["node_labels"].as_array().unwrap().len();
    assert_eq!((graphs.len(), &result["graphs"]), (40, &json!(40)));
    // A run has those functions that it reaches, and its nodes are those that are told.
    assert!(graphs.iter().all(|graph| (1..=40).contains(&nodes(graph))));
    assert_eq!(result["nodes"], json!(graphs.iter().map(nodes).sum::<usize>()));
    let page = fs::read_to_string(folder.path().join("hg2v-demo/page.html")).unwrap();
    assert!(page.contains("<h1>Runs of a program, as call graphs</h1>"));
    // The folder is one that `report` reads.
    done(folder.path(), &["report", "hg2v-demo", "--out", "page.html"]);
    // What it wrote is a model that works.
    let embed = ["embed", "hg2v-demo/model", "hg2v-demo/graphs.jsonl", "--out", "v.parquet"];
    done(folder.path(), &embed);
    let read = |path: &str| fs::read(folder.path().join(path)).unwrap();
    assert_eq!(read("v.parquet"), read("hg2v-demo/vectors.parquet"));
    // It never writes over what is there.
    let (code, _, err) = hg2v(folder.path(), &arguments);
    assert_eq!(code, 2);
    assert!(err.contains("the folder is not empty"), "{err}");
}

/// What the demo is to show: on runs of a program that the defaults were not chosen on, the default model
/// tells versions apart better than its untrained control does, and both better than statistics.
#[test]
fn the_demo_ends_with_hg2v_ahead_of_both_controls() {
    let folder = tempfile::tempdir().unwrap();
    let mut means = [0.0; 3];
    for seed in ["0", "1"] {
        let (out, _) =
            done(folder.path(), &["demo", "--seed", seed, "--json", "--force", "--out", "d"]);
        let result: Value = serde_json::from_str(&out).unwrap();
        for (mean, method) in means.iter_mut().zip(result["methods"].as_array().unwrap()) {
            *mean += method["result"]["test"]["mean"].as_f64().unwrap() / 2.0;
        }
    }
    let [hg2v, untrained, statistics] = means;
    assert!(hg2v < 0.97, "not trivial: {means:?}");
    assert!(hg2v > untrained + 0.03 && untrained > statistics + 0.2, "{means:?}");
}

/// What is said of a model that is there is its own, and a control is not judged twice.
#[test]
fn an_evaluation_says_which_model_was_judged() {
    let folder = folder_with_graphs(&["--graphs", "12", "--nodes", "12"]);
    let at = folder.path();
    let fit = |options: &[&str]| {
        done(at, &[&["fit", "graphs.jsonl", "--out", "m", "--force"], options].concat());
    };
    let judge = |model: &[&str]| -> Value {
        let told =
            done(at, &[&["evaluate", "graphs.jsonl", "--splits", "1", "--json"], model].concat());
        serde_json::from_str(&told.0).unwrap()
    };
    let names = |told: &Value| -> Vec<String> {
        let rows = told["methods"].as_array().unwrap().iter();
        rows.map(|row| row["name"].as_str().unwrap().to_owned()).collect()
    };
    let small = ["--dim", "4", "--levels", "1", "--epochs", "1"];
    for (method, controls) in [
        ("hg2v", &["the same, untrained", "statistics"][..]),
        ("untrained", &["statistics"]),
        ("graph2vec-gnn", &["the same, untrained", "statistics"]),
    ] {
        fit(&[&["--method", method][..], &small].concat());
        let told = judge(&["--model", "m"]);
        assert_eq!(told["method"], method);
        assert_eq!(
            (&told["architecture"]["dim"], &told["recipe"]["epochs"]),
            (&json!(4), &json!(1))
        );
        assert_eq!(told["settings"]["architecture"], told["architecture"]);
        assert_eq!(names(&told), [&[method], controls].concat());
    }
    for (method, options, controls) in
        [("statistics", &[][..], &[][..]), ("graph2vec", &["--dim", "8"], &["statistics"])]
    {
        fit(&[&["--method", method], options].concat());
        let told = judge(&["--model", "m"]);
        assert_eq!((&told["method"], told["settings"].is_object()), (&json!(method), true));
        assert!(told.get("architecture").is_none() && told.get("recipe").is_none(), "{told}");
        assert_eq!(names(&told), [&[method], controls].concat());
    }
    done(at, &["embed", "m", "graphs.jsonl", "--out", "e.csv"]);
    let told = judge(&["--embeddings", "e.csv"]);
    assert!(told.get("method").is_none() && told.get("settings").is_none(), "{told}");
}

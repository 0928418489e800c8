//! Experiments as a program runs them: nothing is printed, values come back, results are kept.

// A test may fail loudly.
#![allow(clippy::unwrap_used)]

use std::fs;
use std::path::Path;
use std::sync::Mutex;

use hg2v::Hg2vParams;
use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::graph::{EdgeChoice, GraphRecord, Scalar, Target};
use hg2v::progress::{Flow, Report, Stage};
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::goal::Task;
use hg2v_eval::study::Mode;
use hg2v_experiments::compare::{CellOutcome, Plan};
use hg2v_experiments::reproduce::{self, Experiment};
use hg2v_experiments::{Environment, Error, Event};
use serde_json::json;

/// Paths of two lengths, a class each.
fn write_paths(file: &Path) {
    let graph = |i: usize| match i % 2 {
        0 => "{\"edges\":[[0,1],[1,2]],\"y\":0}\n",
        _ => "{\"edges\":[[0,1],[1,2],[2,3],[3,4]],\"y\":1}\n",
    };
    fs::write(file, (0..30).map(graph).collect::<String>()).unwrap();
}

/// Runs an experiment on what `folder` has, and says which events it told of.
fn run_in<T>(
    folder: &Path,
    context: &Context<'_>,
    experiment: impl FnOnce(&Environment<'_>) -> T,
) -> (T, Vec<String>) {
    run_with(folder, context, |_| {}, experiment)
}

/// As [`run_in`], on graphs as `change` makes them.
fn run_with<T>(
    folder: &Path,
    context: &Context<'_>,
    change: impl Fn(&mut GraphRecord) + Sync,
    experiment: impl FnOnce(&Environment<'_>) -> T,
) -> (T, Vec<String>) {
    let heard = Mutex::new(Vec::new());
    let limits = Limits::default();
    let environment = Environment {
        context,
        device: None,
        data_dir: Some(folder),
        limits: &limits,
        seed: 0,
        read: &|path: &Path| {
            let mut records: Vec<GraphRecord> =
                dataset::open(path, &limits)?.collect::<hg2v::Result<_>>()?;
            records.iter_mut().for_each(&change);
            Ok(records)
        },
        tell: &|event: &Event<'_>| {
            let name = format!("{event:?}");
            let name = name.split_whitespace().next().unwrap_or_default().to_owned();
            heard.lock().unwrap().push(name);
        },
    };
    let found = experiment(&environment);
    (found, heard.into_inner().unwrap())
}

fn comparison(data: &Path) -> Plan {
    Plan {
        data: vec![data.to_path_buf()],
        methods: ["statistics", "majority", "wl-subtree"].map(str::to_owned).to_vec(),
        named: true,
        task: Task::Auto,
        edges: EdgeChoice::default(),
        also: Vec::new(),
        against: None,
        mode: Mode::Inductive,
        splits: 2,
        fresh: false,
    }
}

#[test]
fn methods_are_compared_without_a_command() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("paths.jsonl"), folder.path().join("results"));
    write_paths(&data);
    let plan = comparison(&data);
    // Cells are filled here, the second not at all.
    let run = |environment: &Environment<'_>| {
        plan.run(&out, environment, |cell| match cell.method {
            1 => Ok(Err("killed".to_owned())),
            _ => plan.fill(cell, &out, environment).map(Ok),
        })
    };
    let (found, heard) = run_in(folder.path(), &Context::default(), run);
    let found = found.unwrap();
    let judged = ["Filling", "Judging", "Judged", "Judged"];
    assert_eq!(heard, [&judged[..], &["Filling", "Failed"], &judged].concat());
    let CellOutcome::Judged(scores) = &found.outcomes[0] else { panic!("statistics failed") };
    let test = &scores[0].main.test;
    assert_eq!((scores[0].graphs, test.n, test.mean), (30, 2, 1.0));
    assert_eq!(found.failures(), ["paths: majority: killed"]);
    let told = json!(found);
    assert_eq!(
        told["cells"][1],
        json!({ "set": "paths", "method": "majority", "error": "killed" })
    );
    assert_eq!(told["methods"][0]["rank"], 1.5);
    let table = found.table();
    assert_eq!(table.rows.len(), 3);
    assert_eq!(table.rows[1][..2], ["majority".to_owned(), "failed".to_owned()]);
    // What is kept is not run again.
    let (_, heard) = run_in(folder.path(), &Context::default(), run);
    assert_eq!(heard.iter().filter(|event| *event == "Kept").count(), 2);
    assert!(!heard.contains(&"Judging".to_owned()), "{heard:?}");
}

/// A number and a class instead of the label.
fn several(record: &mut GraphRecord) {
    let target = |name: &str, value| Target { name: name.to_owned(), value };
    let length = Scalar::Float(f64::from(record.num_nodes) + 0.5);
    record.targets = vec![target("length", Some(length)), target("class", record.label.take())];
}

#[test]
fn several_targets_are_columns_of_their_own() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("paths.jsonl"), folder.path().join("results"));
    write_paths(&data);
    let methods = ["statistics", "gin", "wl-subtree", "majority"].map(str::to_owned).to_vec();
    let against = Some("majority".to_owned());
    let plan = Plan { methods, named: false, against, ..comparison(&data) };
    let run = |environment: &Environment<'_>| {
        plan.run(&out, environment, |cell| plan.fill(cell, &out, environment).map(Ok))
    };
    let (found, _) = run_with(folder.path(), &Context::default(), several, run);
    let found = found.unwrap();
    let table = found.table();
    assert_eq!(table.header[..3], ["method", "paths length RMSE", "paths class"]);
    // A network that learns classes is left out, which is no failure.
    assert_eq!(table.rows[1][1..3], ["–", "–"]);
    assert!(found.failures().is_empty());
    let told = json!(found);
    let cells = told["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 7);
    assert_eq!((&cells[0]["target"], &cells[1]["target"]), (&json!("length"), &json!("class")));
    assert_eq!((&cells[0]["task"], &cells[1]["task"]), (&json!("numbers"), &json!("classes")));
    assert!(cells[2]["left_out"].is_string(), "{told}");
    let apart = |cell: usize| cells[cell]["difference"]["mean"].as_f64().unwrap();
    assert!(apart(0) < -0.5 && apart(1) > 0.3, "{told}");
    // Ridge has a table, and so have the differences of both judges.
    let firsts: Vec<String> =
        found.more_tables().into_iter().map(|table| table.header[0].clone()).collect();
    assert_eq!(firsts, ["by ridge", "less majority", "less majority, by ridge"]);
    // All of it is kept, and read again: nothing is judged twice.
    let (again, heard) = run_with(folder.path(), &Context::default(), several, run);
    assert_eq!(json!(again.unwrap())["cells"], told["cells"]);
    assert!(!heard.contains(&"Judging".to_owned()), "{heard:?}");
    // Another judge is, of statistics and of the kernel: it needs vectors and distances again.
    let plan = Plan { also: vec![Classifier::NearestNeighbors], ..plan.clone() };
    let run = |environment: &Environment<'_>| {
        plan.run(&out, environment, |cell| plan.fill(cell, &out, environment).map(Ok))
    };
    let (more, heard) = run_with(folder.path(), &Context::default(), several, run);
    assert_eq!(heard.iter().filter(|event| *event == "Judging").count(), 2);
    let more = json!(more.unwrap());
    assert_eq!(more["cells"][0]["also"][1]["classifier"], "knn");
    assert_eq!(more["cells"][0]["test"], told["cells"][0]["test"]);
}

#[test]
fn whoever_is_told_can_stop_an_experiment() {
    let folder = tempfile::tempdir().unwrap();
    let (data, out) = (folder.path().join("paths.jsonl"), folder.path().join("results"));
    write_paths(&data);
    let plan = Plan { methods: vec!["statistics".to_owned()], ..comparison(&data) };
    let stop = |report: &Report<'_>| match (report.stage, report.done) {
        (Stage::Judging, 1..) => Flow::Stop,
        _ => Flow::Continue,
    };
    let run = |environment: &Environment<'_>| {
        plan.run(&out, environment, |cell| plan.fill(cell, &out, environment).map(Ok))
    };
    let watched = Context::default().watched_by(&stop);
    let (stopped, _) = run_in(folder.path(), &watched, run);
    let is_stopped =
        |error: &Error| matches!(error, Error::Eval(hg2v_eval::Error::Hg2v(hg2v::Error::Stopped)));
    assert!(is_stopped(&stopped.unwrap_err()));
    // What was judged by then is kept, and the rest is judged later.
    let partial = fs::read_to_string(out.join("paths.statistics.partial.jsonl")).unwrap();
    assert!((2..=3).contains(&partial.lines().count()), "{partial}");
    let (found, _) = run_in(folder.path(), &Context::default(), run);
    assert_eq!(json!(found.unwrap())["cells"][0]["test"]["n"], 2);
}

fn reproduction(experiment: Experiment, out: &Path) -> reproduce::Plan {
    reproduce::Plan {
        experiment,
        all_methods: false,
        out: out.to_path_buf(),
        quick: true,
        datasets: Vec::new(),
        methods: Vec::new(),
        splits: None,
        model: Hg2vParams::default(),
        model_name: "default".to_owned(),
        grid: None,
        fresh: false,
        command: "again".to_owned(),
    }
}

#[test]
fn a_stop_is_no_failure_of_a_dataset() {
    let folder = tempfile::tempdir().unwrap();
    write_paths(&folder.path().join("MUTAG.jsonl"));
    let stop = |report: &Report<'_>| match report.stage {
        Stage::Judging => Flow::Stop,
        _ => Flow::Continue,
    };
    let watched = Context::default().watched_by(&stop);
    for all_methods in [false, true] {
        let plan = reproduction(Experiment::Table2, &folder.path().join("results"));
        let plan = reproduce::Plan { all_methods, ..plan };
        let run = |environment: &Environment<'_>| reproduce::run(&plan, environment);
        let (found, heard) = run_in(folder.path(), &watched, run);
        assert!(found.is_err_and(|error| error.is_stop()), "all methods: {all_methods}");
        assert!(!heard.contains(&"Failed".to_owned()), "{heard:?}");
    }
}

#[test]
fn a_figure_comes_back_with_its_files() {
    let folder = tempfile::tempdir().unwrap();
    let plan = reproduction(Experiment::FigWl, folder.path());
    let run = |environment: &Environment<'_>| reproduce::run(&plan, environment);
    let (found, _) = run_in(folder.path(), &Context::default(), run);
    let found = found.unwrap();
    assert_eq!(found.records[0]["command"], "again");
    // Four families, five stages.
    assert_eq!(found.tables[0].rows.len(), 20);
    let endings: Vec<&str> =
        found.files.iter().map(|file| file.extension().unwrap().to_str().unwrap()).collect();
    assert_eq!(endings, ["svg", "png", "csv", "json"]);
    assert!(found.files.iter().all(|file| file.exists()));
}

#[test]
fn tables_without_datasets_say_so() {
    let folder = tempfile::tempdir().unwrap();
    for experiment in [Experiment::Table2, Experiment::Table3, Experiment::Table4] {
        let plan = reproduction(experiment, &folder.path().join("results"));
        let run = |environment: &Environment<'_>| reproduce::run(&plan, environment);
        let (found, heard) = run_in(folder.path(), &Context::default(), run);
        assert!(matches!(found, Err(Error::NoDatasets { .. })), "{experiment}");
        assert!(!heard.is_empty() && heard.iter().all(|event| event == "LeftOut"), "{heard:?}");
        assert!(!folder.path().join("results").exists());
    }
}

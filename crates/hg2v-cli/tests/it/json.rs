//! `--json`, held against the tables of docs/command.md.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::Path;

use serde_json::Value;

use crate::common::{command, folder_with_graphs, hg2v, write_idx};
use crate::server::{Serve, Server};

const DOCUMENT: &str = include_str!("../../../../docs/command.md");

/// The rows of the table with that header, cell by cell.
fn table(header: &str, which: usize) -> Vec<Vec<String>> {
    let start = DOCUMENT.match_indices(header).nth(which).unwrap().0;
    let rows = DOCUMENT[start..].lines().skip(2).take_while(|line| line.starts_with('|'));
    let cells = |row: &str| {
        let cells = row.trim_matches('|').split('|').map(|cell| cell.trim().to_owned());
        cells.collect::<Vec<String>>()
    };
    rows.map(cells).collect()
}

/// What stands between backticks.
fn quoted(cell: &str) -> BTreeSet<String> {
    cell.split('`').skip(1).step_by(2).map(str::to_owned).collect()
}

const KEYS: &str = "| key | type | what it is |";

/// The types that a key may have, by key.
fn types(which: usize) -> BTreeMap<String, String> {
    let row = |row: Vec<String>| (row[0].trim_matches('`').to_owned(), row[1].clone());
    table(KEYS, which).into_iter().map(row).collect()
}

fn type_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "text",
        Value::Array(_) => "list",
        Value::Object(_) => "object",
    }
}

fn check_types(object: &Value, types: &BTreeMap<String, String>, of: &str) {
    for (key, value) in object.as_object().unwrap() {
        let allowed = types.get(key).unwrap_or_else(|| panic!("{of}: {key} has no meaning"));
        let allowed = allowed.replace(" or ", ", ");
        let found = type_of(value);
        assert!(
            allowed.split(", ").any(|one| one == found),
            "{of}: {key} is {found}, not {allowed}"
        );
    }
}

/// The commands of a document's row, each in one or several ways.
fn lines(name: &str, at: &Path, server: &Server) -> Vec<String> {
    let lines: &[&str] = match name {
        "demo" => &["demo --graphs 12 --nodes 12 --out d"],
        "info" => &["info graphs.jsonl", "info graphs.jsonl --no-duplicates"],
        "generate" => &["generate path --graphs 2 --out p.jsonl"],
        "images" => &["images images labels --threshold 0 --out i.jsonl"],
        "datasets list" => &["datasets list", "datasets list --data-dir ."],
        "datasets get" => return vec![format!("datasets get MUTAG --base {}", server.base)],
        "convert" => &["convert graphs.jsonl c.csv"],
        "coarsen" => &["coarsen graphs.jsonl --out q.jsonl --quality"],
        "fit" => &["fit graphs.jsonl --out n --dim 4 --levels 1 --epochs 1"],
        "embed" => {
            &["embed m graphs.jsonl --out v.npy", "embed m graphs.jsonl --per node --out n.csv"]
        }
        "evaluate" => &[
            "evaluate graphs.jsonl --embeddings e.csv --splits 1 --predictions r.jsonl",
            "evaluate numbers.jsonl --dim 4 --levels 1 --epochs 1 --splits 1",
            "evaluate graphs.jsonl --model statistics --splits 1",
        ],
        "compare" => &[
            "compare graphs.jsonl --methods statistics --splits 1",
            "compare bad.jsonl --methods statistics --splits 1",
            "compare numbers.jsonl --methods statistics --against majority --splits 1",
        ],
        "reproduce" => &[
            "reproduce fig-wl --quick --out figures",
            "reproduce table2 --sets MUTAG --splits 1 --data-dir . --out tables",
            "reproduce table2 --sets MUTAG,PTC_FR --splits 1 --data-dir . --out tables",
        ],
        "report" => &["report m --out page.html"],
        "search" => &[
            "search e.csv 3",
            "search e.csv --duplicates",
            "search e.csv --outliers 2",
            "search e.csv --outliers 2 --data graphs.jsonl",
            "search e.csv 3 --duplicates --outliers --metric euclidean",
            "search m 3 --data graphs.jsonl --explain --top 1",
        ],
        "drift" => &["drift e.csv e.csv"],
        "project" => &["project e.csv --out x.csv", "project e.csv --method umap --out y.csv"],
        "completions" => &["completions bash"],
        "man" => &["man pages"],
        other => panic!("no line for {other} in {}", at.display()),
    };
    lines.iter().map(ToString::to_string).collect()
}

fn folder() -> tempfile::TempDir {
    let folder = folder_with_graphs(&["--graphs", "12", "--nodes", "12"]);
    let at = folder.path();
    let done = |line: &str| {
        let (code, _, err) = hg2v(at, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 0, "{line}: {err}");
    };
    done("fit graphs.jsonl --out m --preset network --dim 4 --levels 1 --epochs 1");
    done("fit graphs.jsonl --out statistics --method statistics");
    done("embed m graphs.jsonl --out e.csv");
    done("generate dla --graphs 30 --nodes 8 --out MUTAG.jsonl");
    fs::write(at.join("bad.jsonl"), "{\"edges\":[[0,1]]}\n").unwrap();
    let graph = |i: u32| format!("{{\"edges\":[[0,1],[1,{}]],\"y\":{}.5}}\n", 2 + i % 5, i);
    fs::write(at.join("numbers.jsonl"), (0..12).map(graph).collect::<String>()).unwrap();
    write_idx(at);
    folder
}

/// One object on standard output, and nothing else.
fn told(text: &str, line: &str) -> Value {
    let value: Value = serde_json::from_str(text).unwrap_or_else(|e| panic!("{line}: {e}: {text}"));
    assert!(value.is_object(), "{line}: {text}");
    value
}

#[test]
fn every_command_tells_what_its_row_says() {
    let folder = folder();
    let at = folder.path();
    // Of datasets get what fails is told, too: this server has nothing.
    let server = Server::start(Vec::new(), "\"none\"", &[Serve::Status(404)]);
    let rows = table("| command | always | at times |", 0);
    let types = types(0);
    let mut used = BTreeSet::from(["command", "seconds", "skipped"].map(str::to_owned));
    let mut commands = BTreeSet::new();
    for row in rows {
        let name = row[0].trim_matches('`').to_owned();
        let (always, at_times) = (quoted(&row[1]), quoted(&row[2]));
        used.extend(always.iter().chain(&at_times).cloned());
        commands.insert(name.split(' ').next().unwrap().to_owned());
        let mut seen = BTreeSet::new();
        if name == "serve" {
            check_row(&served(at), "serve", &always, &at_times, &mut seen, &types);
            continue;
        }
        for line in lines(&name, at, &server) {
            let words: Vec<&str> = line.split(' ').chain(["--json", "-q"]).collect();
            let (code, out, err) = hg2v(at, &words);
            let object = told(&out, &line);
            if name == "datasets get" {
                assert_eq!((code, &object["error"]["kind"]), (1, &"download".into()), "{object}");
                continue;
            }
            assert_eq!(code != 0, object.get("error").is_some(), "{line}: {code}, {err}");
            check_row(&object, &name, &always, &at_times, &mut seen, &types);
            if object.get("graphs").is_some() {
                assert!(object["graphs"].is_number(), "{line}");
            }
        }
        if name != "datasets get" {
            assert!(at_times.is_subset(&seen), "{name}: never met: {at_times:?}, {seen:?}");
        }
    }
    // Neither table has what the other lacks, and no command is missing.
    assert_eq!(used, types.into_keys().collect());
    let (_, help, _) = hg2v(at, &["-h"]);
    let list = help.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    for line in list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   ")) {
        let name = line.split_whitespace().next().unwrap();
        assert!(name == "help" || commands.contains(name), "{name} has no row");
    }
}

fn check_row(
    object: &Value,
    name: &str,
    always: &BTreeSet<String>,
    at_times: &BTreeSet<String>,
    seen: &mut BTreeSet<String>,
    types: &BTreeMap<String, String>,
) {
    let words = object["command"].as_str().unwrap_or_else(|| panic!("{name}: {object}"));
    assert!(words == name || words.starts_with(&format!("{name} ")), "{name}: {words}");
    let mut keys: BTreeSet<String> = object.as_object().unwrap().keys().cloned().collect();
    assert!(keys.remove("command") && keys.remove("seconds"), "{name}: {object}");
    assert!(always.is_subset(&keys), "{name} lacks some of {always:?}: {keys:?}");
    let more: BTreeSet<String> = keys.difference(always).cloned().collect();
    assert!(more.is_subset(at_times), "{name}: {more:?} are not documented");
    seen.extend(more);
    check_types(object, types, name);
}

/// What a server says when it listens.
fn served(at: &Path) -> Value {
    let words = ["serve", "m", "--listen", "127.0.0.1:0", "--json", "-q"];
    let mut child = command(at, &words).spawn().unwrap();
    let mut line = String::new();
    BufReader::new(child.stdout.take().unwrap()).read_line(&mut line).unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    told(&line, "serve")
}

#[test]
fn errors_are_told_as_they_are_documented() {
    let folder = folder();
    let at = folder.path();
    let types = types(1);
    let documented = quoted(&table(KEYS, 1).into_iter().find(|row| row[0] == "`kind`").unwrap()[2]);
    fs::write(at.join("torn.jsonl"), "{\"edges\":[[0,1]]}\n{\"edges\":[[0,\n").unwrap();
    for (line, code, kind, file, place) in [
        ("info torn.jsonl", 2, "input", Some("torn.jsonl"), Some(("line", 2))),
        ("info absent.jsonl", 2, "input", Some("absent.jsonl"), None),
        ("convert graphs.jsonl e.csv --format jsonl", 2, "exists", Some("e.csv"), None),
        ("convert graphs.jsonl no/where.jsonl", 1, "output", Some("no/where.jsonl"), None),
        ("fit graphs.jsonl --out x --dim 0", 2, "usage", None, None),
        ("fit graphs.jsonl --out x --dim many", 2, "usage", None, None),
        ("fit graphs.jsonl", 2, "usage", None, None),
        ("nonsense", 2, "usage", None, None),
        ("embed m graphs.jsonl --out -", 2, "usage", None, None),
        ("generate path --out -", 2, "usage", None, None),
        ("images images labels --threshold 0 --out -", 2, "usage", None, None),
        ("reproduce table2 --markdown", 2, "usage", None, None),
        ("evaluate bad.jsonl", 2, "input", None, None),
        ("fit graphs.jsonl --out x --device cuda", 1, "device", None, None),
    ] {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        let (found, out, err) = hg2v(at, &words);
        let object = told(&out, line);
        let error = &object["error"];
        assert_eq!(object.as_object().unwrap().len(), 1, "{line}: {object}");
        assert_eq!((found, &error["code"]), (code, &code.into()), "{line}: {object}");
        assert_eq!(error["kind"], kind, "{line}: {object}");
        assert!(documented.contains(kind), "{kind} is not documented");
        assert_eq!(error["file"].as_str(), file, "{line}: {object}");
        if let Some((key, number)) = place {
            assert_eq!(error[key], number, "{line}: {object}");
        }
        assert_eq!(error.as_object().unwrap().len(), types.len(), "{line}: {object}");
        check_types(error, &types, line);
        // The same for people.
        let message = error["message"].as_str().unwrap();
        assert!(err.contains(message), "{line}: {message:?} is not in {err:?}");
    }
}

#[test]
fn programs_get_as_many_as_they_ask_for() {
    let folder = folder();
    let at = folder.path();
    let found = |line: &str| {
        let words: Vec<&str> = line.split(' ').chain(["--json"]).collect();
        told(&hg2v(at, &words).1, line)
    };
    let length = |value: &Value| value.as_array().unwrap().len();
    let some = found("search e.csv --duplicates=-1 --outliers --metric cosine --top 3");
    assert_eq!(length(&some["duplicates"]["pairs"]), 3);
    assert_eq!(length(&some["outliers"]["rows"]), 3);
    assert_eq!(
        (&some["duplicates"]["count"], &some["outliers"]["count"]),
        (&66.into(), &12.into())
    );
    let all = found("search e.csv --duplicates=-1 --outliers --metric cosine");
    assert_eq!(length(&all["duplicates"]["pairs"]), 66);
    assert_eq!(length(&all["outliers"]["rows"]), 12);
}

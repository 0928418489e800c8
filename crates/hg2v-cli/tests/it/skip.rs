//! `--skip-invalid`: one bad graph does not end a run, and nobody misses it unawares.

use std::fs;

use serde_json::Value;

use crate::common::{done, folder_with_graphs, hg2v};

/// The graphs of `graphs.jsonl`, with bad ones at the places 3, 10 and 20.
fn spoiled() -> tempfile::TempDir {
    let folder = folder_with_graphs(&["--graphs", "24", "--nodes", "20"]);
    let good = fs::read_to_string(folder.path().join("graphs.jsonl")).unwrap();
    let mut lines: Vec<&str> = good.lines().collect();
    lines[3] = "{\"edges\":[[0,1]";
    lines[10] = r#"{"edges":[[0,"nobody"]],"n":2}"#;
    lines[20] = r#"{"id":"heavy","edges":[[0,1,-2.5]]}"#;
    fs::write(folder.path().join("spoiled.jsonl"), lines.join("\n")).unwrap();
    folder
}

fn json(text: &str) -> Value {
    serde_json::from_str(text.trim()).unwrap()
}

#[test]
fn every_command_goes_on_and_counts() {
    let folder = spoiled();
    let at = folder.path();
    let fit = ["fit", "spoiled.jsonl", "--out", "m", "--epochs", "1", "--dim", "16"];
    let (code, _, err) = hg2v(at, &fit);
    assert_eq!(code, 2);
    assert!(err.contains("spoiled.jsonl, line 4"), "{err}");
    let (out, err) = done(at, &[&fit[..], &["--skip-invalid", "--json"]].concat());
    assert_eq!(json(&out)["skipped"], 3);
    for said in ["line 4", "line 11", "record 21", "weighs -2.5", "3 graphs skipped", "21 graphs,"]
    {
        assert!(err.contains(said), "{said}: {err}");
    }
    let embed = ["embed", "m", "spoiled.jsonl", "--out", "e.csv", "--skip-invalid", "--json"];
    let (out, _) = done(at, &embed);
    assert_eq!(json(&out)["skipped"], 3);
    let rows = fs::read_to_string(at.join("e.csv")).unwrap();
    assert_eq!(rows.lines().count(), 22);
    for (arguments, skipped) in [
        (&["evaluate", "spoiled.jsonl", "--embeddings", "e.csv", "--splits", "1"][..], 3),
        (&["coarsen", "spoiled.jsonl", "--out", "p.jsonl"], 3),
        // Each of its processes reads them; they are counted once.
        (&["compare", "spoiled.jsonl", "--methods", "majority,statistics", "--splits", "2"], 3),
        // A negative weight can be read, written and described.
        (&["convert", "spoiled.jsonl", "c.jsonl"], 2),
        (&["info", "spoiled.jsonl"], 2),
        (&["search", "m", "spoiled.jsonl", "--data", "graphs.jsonl"], 3),
    ] {
        let (code, _, err) = hg2v(at, arguments);
        // Where processes fail, the table says so.
        let expected = if arguments[0] == "compare" { 1 } else { 2 };
        assert_eq!(code, expected, "{arguments:?}: {err}");
        let (out, err) = done(at, &[arguments, &["--skip-invalid", "--json"]].concat());
        assert_eq!(json(&out)["skipped"], skipped, "{arguments:?}");
        assert_eq!(err.matches(&format!("{skipped} graphs skipped")).count(), 1, "{err}");
        assert_eq!(err.matches("skipped: ").count(), skipped, "{arguments:?}: {err}");
    }
}

#[test]
fn every_graph_left_out_is_named_where_that_is_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let lines = [&[r#"{"edges":[[0,1]]}"#][..], &["no"; 12]].concat();
    fs::write(folder.path().join("g.jsonl"), lines.join("\n")).unwrap();
    let named = |more: &[&str]| {
        let (_, err) =
            done(folder.path(), &[&["info", "g.jsonl", "--skip-invalid"], more].concat());
        assert!(err.contains("12 graphs skipped"), "{err}");
        err.lines().filter(|line| line.starts_with("skipped: ")).count()
    };
    assert_eq!((named(&[]), named(&["-v"])), (10, 12));
}

#[test]
fn a_graph_keeps_the_number_it_has_in_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let good = r#"{"edges":[[0,1],[1,2]]}"#;
    fs::write(at.join("train.jsonl"), [good; 4].join("\n")).unwrap();
    done(at, &["fit", "train.jsonl", "--out", "m", "--epochs", "1", "--dim", "8"]);
    fs::write(at.join("g.jsonl"), [good, "no", good, good, "no", good, good].join("\n")).unwrap();
    let ids = |file: &str| -> Vec<String> {
        let rows = fs::read_to_string(at.join(file)).unwrap();
        rows.lines().skip(1).map(|row| row.split(',').next().unwrap().to_owned()).collect()
    };
    done(at, &["embed", "m", "g.jsonl", "--out", "e.csv", "--skip-invalid"]);
    assert_eq!(ids("e.csv"), ["0", "2", "3", "5", "6"]);
    for (shard, expected) in [("1/2", &["0", "2", "6"][..]), ("2/2", &["3", "5"])] {
        let (out, _) = done(
            at,
            &[
                "embed",
                "m",
                "g.jsonl",
                "--out",
                "s.csv",
                "--force",
                "--skip-invalid",
                "--shard",
                shard,
                "--json",
            ],
        );
        assert_eq!(ids("s.csv"), expected);
        assert_eq!(json(&out)["skipped"], 1, "{shard}");
    }
    done(at, &["convert", "g.jsonl", "c.jsonl", "--skip-invalid"]);
    assert!(fs::read_to_string(at.join("c.jsonl")).unwrap().contains("\"id\":6"));
}

#[test]
fn a_graph_that_the_model_cannot_take_is_left_out() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let two = r#"{"edges":[[0,1]],"x":[[1,2],[3,4]]}"#;
    let three = r#"{"id":"wide","edges":[[0,1]],"x":[[1,2,3],[3,4,5]]}"#;
    fs::write(at.join("train.jsonl"), [two; 4].join("\n")).unwrap();
    done(at, &["fit", "train.jsonl", "--out", "m", "--epochs", "1", "--dim", "8"]);
    fs::write(at.join("g.jsonl"), [two, three, two].join("\n")).unwrap();
    let embed = ["embed", "m", "g.jsonl", "--out", "e.csv"];
    assert_eq!(hg2v(at, &embed).0, 2);
    assert!(!at.join("e.csv").exists());
    let (_, err) = done(at, &[&embed[..], &["--skip-invalid"]].concat());
    assert!(err.contains("record 2: graph `wide` has 3 attributes a node"), "{err}");
    assert!(err.contains("1 graph skipped"), "{err}");
}

#[test]
fn of_many_the_first_are_named_and_of_none_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::write(at.join("g.jsonl"), format!("{}{{\"edges\":[]}}\n", "no\n".repeat(30))).unwrap();
    let (_, err) = done(at, &["convert", "g.jsonl", "c.jsonl", "--skip-invalid"]);
    assert_eq!(err.matches("skipped: ").count(), 10, "{err}");
    assert!(err.contains("30 graphs skipped, the first 10 named above"), "{err}");
    fs::write(at.join("none.jsonl"), "no\n".repeat(30)).unwrap();
    let (code, _, err) = hg2v(at, &["convert", "none.jsonl", "d.jsonl", "--skip-invalid"]);
    assert_eq!(code, 2);
    assert!(err.contains("none of its 30 graphs can be used"), "{err}");
    assert!(!at.join("d.jsonl").exists());
}

#[test]
fn files_beside_a_set_are_news_for_info_alone() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    fs::create_dir(at.join("S")).unwrap();
    for (name, text) in [
        ("S_graph_indicator.txt", "1\n1\n2\n2\n"),
        ("S_A.txt", "1, 2\n3, 4\n4, 3\n"),
        ("S_edge_attributes.txt", "1, 2\n3, 4\n3, 5\n"),
        ("README.txt", "hello"),
    ] {
        fs::write(at.join("S").join(name), text).unwrap();
    }
    let fit = |model| ["fit", "S", "--out", model, "--epochs", "1", "--dim", "8"];
    let (_, err) = done(at, &fit("m"));
    // Numbers that are not used are worth a word.
    let other = "1 lines of A repeat an edge with other attributes";
    assert!(err.contains(other) && !err.contains("README"), "{err}");
    let (_, err) = done(at, &[&fit("n")[..], &["-v"]].concat());
    assert!(err.contains("not used: `README.txt`"), "{err}");
    let (out, _) = done(at, &["info", "S"]);
    assert!(out.contains("README.txt"), "{out}");
    let (_, err) = done(at, &["convert", "S", "s.jsonl"]);
    assert!(err.contains(other) && !err.contains("README"), "{err}");
}

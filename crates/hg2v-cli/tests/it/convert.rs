//! `hg2v convert`, as a user meets it.

use std::fs;
use std::io::{Read, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const TWO: &str = "{\"id\":\"a\",\"edges\":[[0,1],[1,2,0.5]]}\n{\"y\":3,\"edges\":[]}\n";

/// Runs a conversion and gives its exit code, standard output and error.
fn convert(folder: &Path, arguments: &[&str], stdin: &str) -> (i32, String, String) {
    let output = assert_cmd::Command::new(assert_cmd::cargo::cargo_bin!("hg2v"))
        .env_remove("HG2V_DATA")
        .current_dir(folder)
        .arg("convert")
        .args(arguments)
        .write_stdin(stdin)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    let code = output.status.code().unwrap();
    (code, text(output.stdout), text(output.stderr))
}

/// A conversion of standard input that is still under way.
fn running(out: &Path, stdout: Stdio) -> Child {
    Command::new(assert_cmd::cargo::cargo_bin!("hg2v"))
        .args(["convert", "-"])
        .arg(out)
        .arg("--force")
        .stdin(Stdio::piped())
        .stdout(stdout)
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> =
        entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

#[test]
fn every_streaming_format_leads_back() {
    let folder = tempfile::tempdir().unwrap();
    let written = "{\"id\":\"a\",\"edges\":[[0,1,1],[1,2,0.5]]}\n{\"y\":3,\"edges\":[]}\n";
    fs::write(folder.path().join("a.jsonl"), TWO).unwrap();
    for (from, to) in
        [("a.jsonl", "b.jsonl.gz"), ("b.jsonl.gz", "c.parquet"), ("c.parquet", "d.jsonl")]
    {
        let (code, out, err) = convert(folder.path(), &[from, to], "");
        assert_eq!((code, out.as_str()), (0, ""), "{err}");
        assert!(err.starts_with("2 graphs (3 nodes, 2 edges), "), "{err}");
    }
    let back = fs::read_to_string(folder.path().join("d.jsonl")).unwrap();
    assert_eq!(back, written);
}

#[test]
fn standard_input_to_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = convert(folder.path(), &["-", "-", "--ids"], TWO);
    assert_eq!(code, 0, "{err}");
    assert_eq!(
        out,
        "{\"id\":\"a\",\"edges\":[[0,1,1],[1,2,0.5]]}\n{\"id\":1,\"y\":3,\"edges\":[]}\n"
    );
    assert_eq!(err, "2 graphs (3 nodes, 2 edges), jsonl → jsonl\n");
    assert!(names(folder.path()).is_empty());
}

/// A pipe by name, such as a shell's `<(…)`, gives its bytes only once.
#[test]
#[cfg(target_os = "linux")]
fn a_named_pipe_is_read_whole() {
    let folder = tempfile::tempdir().unwrap();
    let (code, out, err) = convert(folder.path(), &["/dev/stdin", "-"], TWO);
    assert_eq!(code, 0, "{err}");
    assert!(out.starts_with("{\"id\":\"a\","), "{out}");
    assert_eq!(out.lines().count(), 2);
}

#[test]
fn the_result_for_machines_has_every_count() {
    let folder = tempfile::tempdir().unwrap();
    let line = "{\"edges\":[[0,1]],\"colour\":\"red\"}\n";
    let (code, out, err) = convert(folder.path(), &["-", "a.jsonl", "--json", "-q"], line);
    assert_eq!((code, err.as_str()), (0, ""));
    let mut result: serde_json::Value = serde_json::from_str(&out).unwrap();
    assert!(result.as_object_mut().unwrap().remove("seconds").unwrap().is_number());
    let expected = serde_json::json!({
        "command": "convert", "data": "<stdin>", "data_format": "jsonl",
        "out": "a.jsonl", "format": "jsonl",
        "graphs": 1, "nodes": 2, "edges": 1, "bytes": 18,
        "ignored": ["key `colour`, which is no part of the format"],
    });
    assert_eq!(result, expected);
}

#[test]
fn a_named_format_wins_over_the_name() {
    let folder = tempfile::tempdir().unwrap();
    let (code, _, err) = convert(folder.path(), &["-", "a.dat", "--format", "parquet"], TWO);
    assert_eq!(code, 0, "{err}");
    assert_eq!(&fs::read(folder.path().join("a.dat")).unwrap()[..4], b"PAR1");
}

#[test]
fn bad_input_is_exit_2_with_its_place_and_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    for (text, problem) in [
        (
            "{\"edges\":[[0,1]]}\n{\"edges\":[[0,-1]]}\n",
            "<stdin>, line 2: `edges[0]` names node `-1`",
        ),
        ("", "<stdin>: it holds no graphs"),
        ("nonsense", "<stdin>, line 1, column 2: not JSON"),
    ] {
        for out in ["a.jsonl", "a.jsonl.gz", "a.parquet"] {
            let (code, stdout, err) = convert(folder.path(), &["-", out], text);
            assert_eq!((code, stdout.as_str()), (2, ""), "{err}");
            assert!(err.starts_with(&format!("error: {problem}")), "{err}");
            assert_eq!(err.lines().count(), 1, "{err}");
            assert!(names(folder.path()).is_empty());
        }
    }
}

#[test]
fn wrong_usage_is_exit_2() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("a.jsonl"), TWO).unwrap();
    for (arguments, problem) in [
        (&["a.jsonl"][..], "<OUT>"),
        (&["nothing.jsonl", "b.jsonl"], "nothing.jsonl: no such file"),
        (&["a.jsonl", "a.jsonl"], "the input itself"),
        (&["a.jsonl", "./a.jsonl"], "the input itself"),
        (&["a.jsonl", "b.docx"], "`.docx` tells no format"),
        (&["a.jsonl", "b.jsonl", "--format", "docx"], "invalid value 'docx'"),
        (&["a.jsonl", "b.graphml"], "GraphML is read but not written"),
        (&["a.jsonl", "-", "--json"], "standard output"),
    ] {
        let (code, _, err) = convert(folder.path(), arguments, "");
        assert_eq!(code, 2, "{err}");
        assert!(err.contains(problem), "{arguments:?}: {err}");
        let input = fs::read_to_string(folder.path().join("a.jsonl")).unwrap();
        assert_eq!(input, TWO);
        assert_eq!(names(folder.path()), ["a.jsonl"]);
    }
}

#[test]
fn an_output_that_cannot_be_written_is_exit_1() {
    let folder = tempfile::tempdir().unwrap();
    for out in ["no/such/folder/a.jsonl", "no/such/folder/a.parquet"] {
        let (code, _, err) = convert(folder.path(), &["-", out], TWO);
        assert_eq!(code, 1, "{err}");
        assert!(err.contains(out) && err.contains("cannot create"), "{err}");
    }
}

/// A full disk, where the system has a device that plays one.
#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_is_exit_1() {
    let full = fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let mut child = running(Path::new("-"), full.into());
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(TWO.as_bytes()).unwrap();
    drop(stdin);
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(1), "{err}");
    assert!(err.contains("cannot write"), "{err}");
}

#[test]
fn a_killed_run_leaves_the_old_output() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["a.jsonl", "a.jsonl.gz", "a.parquet"] {
        let out = folder.path().join(name);
        fs::write(&out, "old").unwrap();
        let mut child = running(&out, Stdio::null());
        // More than a pipe holds: once it is taken, the command is at work.
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(TWO.repeat(20_000).as_bytes()).unwrap();
        child.kill().unwrap();
        assert!(!child.wait().unwrap().success());
        assert_eq!(fs::read_to_string(&out).unwrap(), "old");
    }
}

#[test]
fn a_reader_that_leaves_early_is_no_failure() {
    let mut child = running(Path::new("-"), Stdio::piped());
    let mut stdin = child.stdin.take().unwrap();
    let feeding = std::thread::spawn(move || {
        // The command may stop reading at any time.
        let _ = stdin.write_all(TWO.repeat(100_000).as_bytes());
    });
    let mut first = [0; 10];
    child.stdout.take().unwrap().read_exact(&mut first).unwrap();
    feeding.join().unwrap();
    let output = child.wait_with_output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(0), "{err}");
    assert_eq!(err, "");
}

//! Nothing that exists is written over, unless `--force` is given: every command.

use std::fs;
use std::io::Write;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use crate::common::{command, done, folder_with_graphs, hg2v, wait_for_checkpoint, write_idx};

const MODEL: &str = "--dim 4 --levels 1 --epochs 1";

fn run(at: &Path, line: &str) -> (i32, String, String) {
    hg2v(at, &line.split(' ').collect::<Vec<_>>())
}

fn must(at: &Path, line: &str) -> String {
    let (code, out, err) = run(at, line);
    assert_eq!(code, 0, "{line}: {err}");
    out
}

/// Refused with exit code 2, by an error that names what is there and the way out.
fn refused(at: &Path, line: &str, path: &str) {
    let (code, _, err) = run(at, line);
    assert_eq!(code, 2, "{line}: {err}");
    assert!(err.contains(path) && err.contains("replace it with --force"), "{line}: {err}");
}

fn folder() -> tempfile::TempDir {
    let folder = folder_with_graphs(&["--graphs", "12", "--nodes", "12"]);
    let at = folder.path();
    must(at, &format!("fit graphs.jsonl --out m {MODEL}"));
    must(at, "embed m graphs.jsonl --out e.csv");
    write_idx(at);
    folder
}

#[test]
fn no_command_writes_over_a_file_unless_told_to() {
    let folder = folder();
    let at = folder.path();
    for (line, files) in [
        ("generate path --graphs 2 --nodes 5 --out OUT.jsonl", &["OUT.jsonl"][..]),
        ("generate path --graphs 2 --nodes 5 --out OUT.parquet", &["OUT.parquet"]),
        ("generate path --graphs 2 --nodes 5 --out OUT.zip", &["OUT.zip"]),
        ("images images labels --threshold 0 --out OUT.jsonl.gz", &["OUT.jsonl.gz"]),
        ("convert graphs.jsonl OUT.jsonl", &["OUT.jsonl"]),
        ("coarsen graphs.jsonl --out OUT.jsonl", &["OUT.jsonl"]),
        ("embed m graphs.jsonl --out OUT.csv", &["OUT.csv"]),
        ("embed m graphs.jsonl --out OUT.tsv", &["OUT.tsv"]),
        ("embed m graphs.jsonl --out OUT.parquet", &["OUT.parquet"]),
        ("embed m graphs.jsonl --out OUT.npy", &["OUT.npy", "OUT.ids.csv"]),
        ("project e.csv --out OUT.csv", &["OUT.csv"]),
        ("project e.csv --out OUT.tsv", &["OUT.tsv", "OUT.metadata.tsv"]),
        ("report m --out OUT.html", &["OUT.html"]),
        (
            "evaluate graphs.jsonl --embeddings e.csv --splits 1 --predictions OUT.jsonl",
            &["OUT.jsonl"],
        ),
        ("man OUT", &["OUT/hg2v.1", "OUT/hg2v-fit.1"]),
    ] {
        for (i, file) in files.iter().enumerate() {
            let own = format!("{}{i}", line.split(' ').next().unwrap());
            let (line, file) = (line.replace("OUT", &own), file.replace("OUT", &own));
            let path = at.join(&file);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, "mine").unwrap();
            refused(at, &line, &file);
            assert_eq!(fs::read(&path).unwrap(), b"mine", "{line}");
            must(at, &format!("{line} --force"));
            assert_ne!(fs::read(&path).unwrap(), b"mine", "{line}");
            fs::remove_file(&path).unwrap();
            let _ = fs::remove_dir_all(at.join(&own));
            for other in files {
                let _ = fs::remove_file(at.join(other.replace("OUT", &own)));
            }
            must(at, &line);
            assert!(path.exists(), "{line}");
            for other in files {
                let _ = fs::remove_file(at.join(other.replace("OUT", &own)));
            }
        }
    }
    let left = fs::read_dir(at).unwrap().map(|entry| entry.unwrap().file_name());
    let left: Vec<_> = left.filter(|name| name.to_string_lossy().starts_with(".hg2v")).collect();
    assert!(left.is_empty(), "{left:?}");
}

/// A folder is replaced only where nothing else is lost with it.
#[test]
fn no_command_writes_over_a_folder_unless_told_to() {
    let folder = folder();
    let at = folder.path();
    for (line, out, some_file) in [
        ("convert graphs.jsonl SET", "SET", "SET_A.txt"),
        ("convert graphs.jsonl SET --format csv", "SET", "edges.csv"),
        ("generate path --graphs 2 --nodes 5 --out SET", "SET", "SET_A.txt"),
        ("demo --graphs 12 --nodes 12 --out SET", "SET", "page.html"),
        (&format!("fit graphs.jsonl --out SET {MODEL}"), "SET", "config.json"),
    ] {
        must(at, line);
        let file = at.join(out).join(some_file);
        fs::write(&file, fs::read(&file).unwrap()).unwrap();
        let written = |path: &Path| fs::metadata(path).unwrap().modified().unwrap();
        let before = written(&file);
        refused(at, line, out);
        assert_eq!(written(&file), before);
        let force = format!("{line} --force");
        must(at, &force);
        assert_ne!(written(&file), before, "{line}");
        // Somebody's notes are no part of it.
        fs::write(at.join(out).join("notes.txt"), "mine").unwrap();
        let (code, _, err) = run(at, &force);
        assert_eq!(code, 2, "{line}: {err}");
        assert!(err.contains("notes.txt") && err.contains("not replaced"), "{line}: {err}");
        assert_eq!(fs::read(at.join(out).join("notes.txt")).unwrap(), b"mine");
        fs::remove_dir_all(at.join(out)).unwrap();
        // A file is no folder, with --force or without.
        fs::write(at.join(out), "mine").unwrap();
        let (code, _, err) = run(at, &force);
        assert_eq!((code, fs::read(at.join(out)).unwrap()), (2, b"mine".to_vec()), "{line}: {err}");
        fs::remove_file(at.join(out)).unwrap();
    }
    // Nor is a folder a file; and what holds no model is no model.
    fs::create_dir(at.join("dir")).unwrap();
    for line in ["embed m graphs.jsonl --out dir --force", "report m --out dir --force"] {
        let (code, _, err) = run(at, line);
        assert_eq!(code, 2, "{line}: {err}");
    }
    fs::write(at.join("dir/config.json"), "{}").unwrap();
    let (code, _, err) = run(at, &format!("fit graphs.jsonl --out dir --force {MODEL}"));
    assert_eq!(code, 2, "{err}");
    assert!(err.contains("holds no model"), "{err}");
    assert_eq!(fs::read_dir(at.join("dir")).unwrap().count(), 1);
}

/// A model is there until the one that replaces it is trained; a run that was stopped goes on.
#[test]
fn a_model_that_is_replaced_works_until_then() {
    let folder = folder_with_graphs(&["--graphs", "40", "--nodes", "30"]);
    let at = folder.path();
    must(at, &format!("fit graphs.jsonl --out m {MODEL}"));
    must(at, "embed m graphs.jsonl --out before.csv");
    let line = "fit graphs.jsonl --out m --force --epochs 400 --dim 32 --checkpoint-every 0.1";
    let mut child = command(at, &line.split(' ').collect::<Vec<_>>()).spawn().unwrap();
    wait_for_checkpoint(&mut child, &at.join("m.new"));
    child.kill().unwrap();
    child.wait().unwrap();
    must(at, "embed m graphs.jsonl --out after.csv");
    let read = |name: &str| fs::read(at.join(name)).unwrap();
    assert_eq!(read("before.csv"), read("after.csv"));
    // Without --force it is as if nothing had begun.
    refused(at, &format!("fit graphs.jsonl --out m {MODEL}"), "m: the folder is not empty");
    let (_, err) = done(at, &["fit", "graphs.jsonl", "--out", "m", "--force", "--resume"]);
    assert!(err.contains("going on after step"), "{err}");
    assert!(!at.join("m.new").exists());
    must(at, "fit graphs.jsonl --out same --epochs 400 --dim 32");
    assert_eq!(read("m/model.safetensors"), read("same/model.safetensors"));

    // A run that was stopped and is not gone on with is begun anew.
    let mut child = command(at, &line.split(' ').collect::<Vec<_>>()).spawn().unwrap();
    wait_for_checkpoint(&mut child, &at.join("m.new"));
    child.kill().unwrap();
    child.wait().unwrap();
    must(at, &format!("fit graphs.jsonl --out m --force {MODEL}"));
    assert!(!at.join("m.new").exists());
    must(at, "embed m graphs.jsonl --out again.csv");
    assert_eq!(read("before.csv"), read("again.csv"));

    // However it is named.
    #[cfg(unix)]
    std::os::unix::fs::symlink("m", at.join("link")).unwrap();
    let names = if cfg!(unix) { &["m/", "./m", "link", "link/"][..] } else { &["m/", "./m"] };
    for (seed, name) in names.iter().enumerate() {
        must(at, &format!("fit graphs.jsonl --out {name} --force --seed {seed} {MODEL}"));
        let config: serde_json::Value = serde_json::from_slice(&read("m/config.json")).unwrap();
        assert_eq!(config["model"]["recipe"]["seed"], seed, "{name}");
        let left = fs::read_dir(at.join("m")).unwrap().count();
        assert_eq!((left, at.join("m.new").exists()), (4, false), "{name}");
    }
}

/// A file that appears while a command works is somebody's, and stays.
#[test]
fn a_file_that_appears_meanwhile_stays() {
    let folder = folder();
    let at = folder.path();
    let graphs = fs::read(at.join("graphs.jsonl")).unwrap();
    for (line, file) in [
        ("embed m - --out v.csv", "v.csv"),
        ("embed m - --out v.npy", "v.npy"),
        ("convert - c.parquet", "c.parquet"),
        ("coarsen - --out p.jsonl", "p.jsonl"),
    ] {
        let mut child = command(at, &line.split(' ').collect::<Vec<_>>())
            .stdin(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(&graphs).unwrap();
        // It has begun when its temporary file is there.
        let started = Instant::now();
        let begun = || {
            let mut entries = fs::read_dir(at).unwrap().flatten();
            entries.any(|entry| entry.file_name().to_string_lossy().starts_with(".hg2v-"))
        };
        while !begun() {
            assert!(started.elapsed() < Duration::from_secs(60), "{line}");
            std::thread::sleep(Duration::from_millis(5));
        }
        fs::write(at.join(file), "theirs").unwrap();
        drop(stdin);
        let ended = child.wait_with_output().unwrap();
        let err = String::from_utf8(ended.stderr).unwrap();
        assert_eq!(ended.status.code(), Some(2), "{line}: {err}");
        assert!(err.contains(file) && err.contains("--force"), "{line}: {err}");
        assert_eq!(fs::read(at.join(file)).unwrap(), b"theirs", "{line}");
        assert!(!begun() && !at.join("v.ids.csv").exists(), "{line}: something is left");
    }
}

#[cfg(unix)]
#[test]
fn pipes_devices_and_links_are_what_they_were() {
    let folder = folder();
    let at = folder.path();
    must(at, "embed m graphs.jsonl --out - -q");
    std::os::unix::fs::symlink("/dev/null", at.join("null.csv")).unwrap();
    must(at, "embed m graphs.jsonl --out null.csv");
    // A link to a file stands for it, and one to nothing for nothing that may go.
    std::os::unix::fs::symlink("e.csv", at.join("link.csv")).unwrap();
    std::os::unix::fs::symlink("nowhere", at.join("dangling.csv")).unwrap();
    for name in ["link.csv", "dangling.csv"] {
        refused(at, &format!("embed m graphs.jsonl --out {name}"), name);
        assert!(at.join(name).is_symlink());
    }
    must(at, "embed m graphs.jsonl --out link.csv --untrained --force");
    assert!(at.join("link.csv").is_symlink());
}

/// Who has an output has the option, and nobody else.
#[test]
fn every_command_with_an_output_knows_the_option() {
    let (_, list, _) = hg2v(".".as_ref(), &["-h"]);
    let list = list.split("Commands:").nth(1).unwrap().split("\n\n").next().unwrap();
    let names = list.lines().filter(|line| line.starts_with("  ") && !line.starts_with("   "));
    let names = names.filter_map(|line| line.split_whitespace().next());
    // Those that write something, but have no --out; and stores, which grow.
    let [writers, stores] = [["convert", "man", "evaluate"].as_slice(), &["compare", "reproduce"]];
    for name in names.filter(|name| *name != "help") {
        let words: &[&str] = match name {
            "generate" => &["generate", "dla", "--help"],
            "datasets" => &["datasets", "get", "--help"],
            name => &[name, "--help"],
        };
        let (_, help, _) = hg2v(".".as_ref(), words);
        let writes = help.contains("--out ") || writers.contains(&name) || name == "datasets";
        let expected = writes && !stores.contains(&name);
        // The option, and not its name in a text.
        let known = help.lines().any(|line| line.trim_start().starts_with("--force"));
        assert_eq!(known, expected, "{name}: {help}");
    }
}

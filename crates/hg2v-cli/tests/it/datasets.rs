//! `hg2v datasets`, as a user runs it.

use crate::server;

use std::env;
use std::fs;
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

use assert_cmd::Command;
use server::{Serve, Server};

fn datasets(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("hg2v").unwrap();
    command.env_remove("HG2V_DATA").env_remove("HG2V_BASE_URL").env_remove("http_proxy");
    command.arg("datasets").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

#[test]
fn the_list_says_what_is_there() {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("ENZYMES.zip"), "").unwrap();
    let at = ["--data-dir", folder.path().to_str().unwrap()];
    let table = text(&datasets(&[&["list"], &at[..]].concat()).stdout);
    let line = |name: &str| table.lines().find(|line| line.starts_with(name)).unwrap().to_owned();
    assert!(
        line("MUTAG")
            .split_whitespace()
            .eq("MUTAG 188 2 17.93 19.79 no molecules: mutagenic on a bacterium or not".split(' '))
    );
    assert!(line("ENZYMES").contains(" yes "));
    assert!(table.contains("DLA: hg2v generate dla"));
    let run = datasets(&[&["list", "--json"], &at[..]].concat());
    let sets: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    let sets = sets["sets"].as_array().unwrap();
    assert_eq!(sets.len(), 17);
    let enzymes = sets.iter().find(|set| set["name"] == "ENZYMES").unwrap();
    assert_eq!(enzymes["graphs"], 600);
    assert!(enzymes["path"].as_str().unwrap().ends_with("ENZYMES.zip"));
    assert_eq!(sets[0]["path"], serde_json::Value::Null);
}

#[test]
fn unknown_names_are_wrong_usage() {
    let run = datasets(&["get", "MUTAG", "MOO"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("`MOO`"), "{}", text(&run.stderr));
    let run = datasets(&["get", "DLA"]);
    assert_eq!(run.status.code(), Some(2));
    assert!(text(&run.stderr).contains("hg2v generate dla"), "{}", text(&run.stderr));
}

#[test]
fn being_offline_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let at = folder.path().to_str().unwrap();
    let run = datasets(&["get", "MUTAG", "--base", &base, "--data-dir", at]);
    assert_eq!(run.status.code(), Some(1));
    let said = text(&run.stderr);
    assert!(said.contains(&format!("{base}/MUTAG.zip")), "{said}");
    assert!(said.contains("by hand to") && said.contains("--base"), "{said}");
}

#[test]
fn mutag_is_fetched_resumed_and_checked() {
    let Some(data) = env::var_os("HG2V_DATA") else {
        eprintln!("skipped: set HG2V_DATA to run mutag_is_fetched_resumed_and_checked");
        return;
    };
    let mutag = fs::read(Path::new(&data).join("MUTAG.zip")).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path().to_str().unwrap();

    let server = Server::start(mutag.clone(), "\"m\"", &[Serve::CutAfter(9000), Serve::Well]);
    let get = ["get", "mutag", "--base", &server.base, "--data-dir", at, "--json"];
    let run = datasets(&get);
    assert!(run.status.success(), "{}", text(&run.stderr));
    assert_eq!(fs::read(folder.path().join("MUTAG.zip")).unwrap(), mutag);
    assert_eq!(server.body_bytes(), mutag.len());
    assert!(server.requests()[1].contains("range: bytes=9000-"));
    let result: serde_json::Value = serde_json::from_slice(&run.stdout).unwrap();
    assert_eq!(result["sets"][0]["bytes"], mutag.len());
    assert_eq!(result["sets"][0]["already_there"], false);

    let again = datasets(&get);
    assert!(text(&again.stderr).contains("already there and right"));
    assert_eq!(server.requests().len(), 2);

    // A file that is not the set stays, unless it is to be replaced.
    fs::write(folder.path().join("MUTAG.zip"), "mine").unwrap();
    let refused = datasets(&get);
    assert_eq!(refused.status.code(), Some(2), "{}", text(&refused.stderr));
    assert!(text(&refused.stderr).contains("--force"), "{}", text(&refused.stderr));
    assert_eq!(fs::read(folder.path().join("MUTAG.zip")).unwrap(), b"mine");
    assert!(datasets(&[&get[..], &["--force"]].concat()).status.success());
    assert_eq!(fs::read(folder.path().join("MUTAG.zip")).unwrap(), mutag);

    // A byte in the middle of the archive.
    let mut damaged = mutag.clone();
    damaged[mutag.len() / 2] ^= 0xff;
    let server = Server::start(damaged, "\"d\"", &[Serve::Well]);
    fs::remove_file(folder.path().join("MUTAG.zip")).unwrap();
    let run = datasets(&["get", "MUTAG", "--base", &server.base, "--data-dir", at]);
    assert_eq!(run.status.code(), Some(1), "{}", text(&run.stderr));
    assert!(text(&run.stderr).contains("MUTAG.zip.bad"), "{}", text(&run.stderr));
    assert!(!folder.path().join("MUTAG.zip").exists());
}

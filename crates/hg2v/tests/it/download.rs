//! Downloads, against a real server that can misbehave.

use crate::server;

use std::fs;
use std::io::{Cursor, Write};
use std::net::TcpListener;
use std::path::Path;
use std::time::Duration;

use hg2v::dataset::catalog::{KnownSet, Origin};
use hg2v::dataset::download::{Got, Patience, get};
use hg2v::dataset::fingerprint::Fingerprint;
use hg2v::dataset::{Limits, open};
use hg2v::output::overwrite::{Destination, Overwrite};
use hg2v::{Error, Result};
use server::{Serve, Server};

const ETAG: &str = "\"v1\"";

fn zip_of(files: &[(&str, &str)]) -> Vec<u8> {
    let mut zip = zip::ZipWriter::new(Cursor::new(Vec::new()));
    for (name, content) in files {
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        zip.start_file(format!("TINY/TINY_{name}.txt"), stored).unwrap();
        zip.write_all(content.as_bytes()).unwrap();
    }
    zip.finish().unwrap().into_inner()
}

/// Two graphs: a triangle of class 1 and an edge of class 2.
fn tiny_zip() -> Vec<u8> {
    zip_of(&[
        ("A", "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n"),
        ("graph_indicator", "1\n1\n1\n2\n2\n"),
        ("graph_labels", "1\n2\n"),
        ("node_attributes", "0.5\n1.5\n2.5\n3.5\n4.5\n"),
    ])
}

/// The catalog's entry of that set.
fn tiny() -> KnownSet {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("TINY.zip");
    fs::write(&path, tiny_zip()).unwrap();
    let mut fingerprint = Fingerprint::new();
    for record in open(&path, &Limits::default()).unwrap() {
        fingerprint.add(&record.unwrap());
    }
    KnownSet {
        name: "TINY",
        origin: Origin::Downloaded,
        about: "two small graphs",
        graphs: 2,
        classes: 2,
        mean_nodes: 2.5,
        mean_edges: 2.0,
        fingerprint: Some(fingerprint.finish().leak()),
    }
}

/// Impatient, so that failures come soon.
fn impatient() -> Patience {
    Patience::default()
        .connect(Duration::from_secs(5))
        .silence(Duration::from_millis(300))
        .attempts(2)
        .pause(Duration::from_millis(1))
}

fn fetch(folder: &Path, base: &str) -> Result<Got> {
    let limits = Limits::default();
    get(&tiny(), folder, base, &limits, &impatient(), &mut |_, _| ())
}

/// The files of a folder, sorted.
fn files(folder: &Path) -> Vec<String> {
    let mut names: Vec<_> = fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

fn message(result: Result<Got>) -> String {
    match result {
        Err(error @ Error::Download { .. }) => error.to_string(),
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_set_is_fetched_once() {
    let folder = tempfile::tempdir().unwrap();
    // The folder need not exist.
    let data = folder.path().join("data");
    let server = Server::start(tiny_zip(), ETAG, &[Serve::Well]);
    let path = data.join("TINY.zip");
    let expected =
        Got::Fetched { path: path.clone(), bytes: tiny_zip().len() as u64, resumed_from: 0 };
    assert_eq!(fetch(&data, &server.base).unwrap(), expected);
    assert_eq!(fs::read(&path).unwrap(), tiny_zip());
    assert_eq!(files(&data), ["TINY.zip"]);
    assert_eq!(fetch(&data, &server.base).unwrap(), Got::Already(path));
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert!(requests[0].starts_with("get /tiny.zip "), "{}", requests[0]);
    assert!(!requests[0].contains("range:"), "{}", requests[0]);
}

#[test]
fn a_cut_connection_is_taken_up_where_it_stopped() {
    for stop in [Serve::CutAfter(100), Serve::HangAfter(100)] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(tiny_zip(), ETAG, &[stop, Serve::Well]);
        fetch(folder.path(), &server.base).unwrap();
        assert_eq!(fs::read(folder.path().join("TINY.zip")).unwrap(), tiny_zip());
        let requests = server.requests();
        assert_eq!(requests.len(), 2);
        assert!(requests[1].contains("\r\nrange: bytes=100-\r\n"), "{}", requests[1]);
        assert!(requests[1].contains("\r\nif-range: \"v1\"\r\n"), "{}", requests[1]);
        // No byte was sent twice.
        assert_eq!(server.body_bytes(), tiny_zip().len());
    }
}

#[test]
fn a_connection_cut_again_and_again_still_ends_well() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(tiny_zip(), ETAG, &[Serve::CutAfter(70)]);
    fetch(folder.path(), &server.base).unwrap();
    assert_eq!(server.requests().len(), tiny_zip().len().div_ceil(70));
}

#[test]
fn a_later_run_resumes() {
    let folder = tempfile::tempdir().unwrap();
    let first = Server::start(tiny_zip(), ETAG, &[Serve::CutAfter(100), Serve::Status(500)]);
    let said = message(fetch(folder.path(), &first.base));
    assert!(said.contains("500") && said.contains("try again"), "{said}");
    assert_eq!(files(folder.path()), ["TINY.zip.part", "TINY.zip.part.etag"]);
    let second = Server::start(tiny_zip(), ETAG, &[Serve::Well]);
    match fetch(folder.path(), &second.base).unwrap() {
        Got::Fetched { resumed_from, .. } => assert_eq!(resumed_from, 100),
        other => panic!("{other:?}"),
    }
    assert_eq!(second.body_bytes(), tiny_zip().len() - 100);
    assert_eq!(files(folder.path()), ["TINY.zip"]);
}

#[test]
fn two_versions_are_never_mixed() {
    // The first version is of the same length but other bytes.
    let other: Vec<u8> = tiny_zip().iter().map(|byte| !byte).collect();
    for (etag, how) in [("\"v2\"", Serve::Well), (ETAG, Serve::IgnoringRanges)] {
        let folder = tempfile::tempdir().unwrap();
        let old = Server::start(other.clone(), ETAG, &[Serve::CutAfter(100), Serve::Status(503)]);
        message(fetch(folder.path(), &old.base));
        let new = Server::start(tiny_zip(), etag, &[how]);
        fetch(folder.path(), &new.base).unwrap();
        assert_eq!(fs::read(folder.path().join("TINY.zip")).unwrap(), tiny_zip());
        assert_eq!(new.requests().len(), 1);
        assert_eq!(new.body_bytes(), tiny_zip().len());
    }
}

#[test]
fn a_part_that_is_whole_or_too_long_is_settled() {
    let mut too_long = tiny_zip();
    too_long.extend([0; 10]);
    for (part, requests) in [(tiny_zip(), 1), (too_long, 2)] {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("TINY.zip.part"), part).unwrap();
        let server = Server::start(tiny_zip(), ETAG, &[Serve::Well]);
        fetch(folder.path(), &server.base).unwrap();
        assert_eq!(server.requests().len(), requests);
        assert_eq!(files(folder.path()), ["TINY.zip"]);
    }
}

#[test]
fn a_corrupted_file_does_not_get_its_name() {
    let zip = tiny_zip();
    let attribute = zip.windows(3).position(|bytes| bytes == b"2.5").unwrap();
    // The first header, an attribute, and the record that ends a zip.
    for damaged in [0, attribute, zip.len() - 22] {
        let mut content = zip.clone();
        content[damaged] ^= 1;
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(content, ETAG, &[Serve::Well]);
        let said = message(fetch(folder.path(), &server.base));
        assert!(said.contains("TINY.zip.bad"), "{said}");
        assert_eq!(files(folder.path()), ["TINY.zip.bad"]);
        // Nothing of it is used again.
        let good = Server::start(tiny_zip(), ETAG, &[Serve::Well]);
        fetch(folder.path(), &good.base).unwrap();
        assert!(!good.requests()[0].contains("range:"));
    }
}

#[test]
fn another_content_is_told_by_its_counts_and_its_fingerprint() {
    let files = [
        ("A", "1, 2\n2, 1\n2, 3\n3, 2\n1, 3\n3, 1\n4, 5\n5, 4\n"),
        ("graph_indicator", "1\n1\n1\n2\n2\n"),
        ("graph_labels", "1\n2\n"),
        ("node_attributes", "0.5\n1.5\n2.5\n3.5\n4.25\n"),
    ];
    let mut one_class = files;
    one_class[2].1 = "1\n1\n";
    let mut fewer_edges = files;
    fewer_edges[0].1 = "1, 2\n2, 1\n4, 5\n5, 4\n";
    let cases = [
        (files, "fingerprint"),
        (one_class, "it has 1 classes where 2 are known"),
        (fewer_edges, "it has 1.00 edges a graph where 2 are known"),
    ];
    for (files, expected) in cases {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(zip_of(&files), ETAG, &[Serve::Well]);
        let said = message(fetch(folder.path(), &server.base));
        assert!(said.contains(expected), "{said}");
    }
}

#[test]
fn a_wrong_file_of_that_name_is_left_alone_unless_it_is_to_be_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("TINY.zip");
    fs::write(&path, "mine").unwrap();
    let server = Server::start(tiny_zip(), ETAG, &[Serve::Well]);
    let refused = fetch(folder.path(), &server.base).unwrap_err();
    assert!(matches!(refused, Error::Exists { replaceable: true, .. }), "{refused}");
    assert!(refused.to_string().contains("it is there already, but"), "{refused}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "mine");
    assert!(server.requests().is_empty());
    let over = Destination { path: folder.path(), overwrite: Overwrite::Always };
    let (set, limits) = (tiny(), Limits::default());
    get(&set, over, &server.base, &limits, &impatient(), &mut |_, _| ()).unwrap();
    assert_eq!(fs::read(&path).unwrap(), tiny_zip());
}

#[test]
fn what_is_not_there_is_asked_once_and_what_may_come_back_again() {
    for (status, requests) in [(404, 1), (403, 1), (500, 2), (503, 2), (429, 2)] {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::start(tiny_zip(), ETAG, &[Serve::Status(status)]);
        let said = message(fetch(folder.path(), &server.base));
        assert!(said.contains(&status.to_string()), "{said}");
        assert!(said.contains("/TINY.zip:") && said.contains("another address as base"), "{said}");
        assert_eq!(server.requests().len(), requests, "{status}");
    }
}

#[test]
fn a_silent_server_is_given_up() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(tiny_zip(), ETAG, &[Serve::Nothing]);
    let said = message(fetch(folder.path(), &server.base));
    assert!(said.contains("the server is silent"), "{said}");
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn nobody_there_is_said_with_what_to_do() {
    let folder = tempfile::tempdir().unwrap();
    // A port that was free a moment ago.
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let base = format!("http://{}", listener.local_addr().unwrap());
    drop(listener);
    let said = message(fetch(folder.path(), &base));
    assert!(said.starts_with(&format!("{base}/TINY.zip: ")), "{said}");
    assert!(said.contains("refused"), "{said}");
    assert!(said.contains("download it by hand to"), "{said}");
    assert!(files(folder.path()).is_empty(), "nothing arrived, nothing is left");
    let said = message(fetch(folder.path(), "no address"));
    assert!(said.contains("no address/TINY.zip"), "{said}");
}

#[test]
fn a_server_that_never_ends_is_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(vec![b'x'; 200_000], ETAG, &[Serve::Well]);
    let limits = Limits::default().max_unpacked_bytes(100_000);
    let got = get(&tiny(), folder.path(), &server.base, &limits, &impatient(), &mut |_, _| ());
    let said = message(got);
    assert!(said.contains("more than the 100000 bytes"), "{said}");
}

#[test]
fn a_set_that_is_made_is_not_fetched() {
    let set = KnownSet { origin: Origin::Made, ..tiny() };
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits::default();
    let said = get(&set, folder.path(), "", &limits, &impatient(), &mut |_, _| ())
        .unwrap_err()
        .to_string();
    assert!(said.contains("is made, not downloaded"), "{said}");
}

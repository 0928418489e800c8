//! A model that is replaced while the server runs.

use std::fs;
use std::path::Path;
use std::time::Duration;

use crate::common::done;
use crate::process::{Server, bits, fit, folder, lines, rows};

/// Puts the files of one model in the place of another's.
fn replace(folder: &Path, by: &str) {
    for file in ["model.safetensors", "config.json"] {
        put(folder, file, &fs::read(folder.join(by).join(file)).unwrap());
    }
}

/// Puts a file of the model in the place of another: nobody sees half of it.
fn put(folder: &Path, file: &str, bytes: &[u8]) {
    fs::write(folder.join("new"), bytes).unwrap();
    fs::rename(folder.join("new"), folder.join("m").join(file)).unwrap();
}

#[test]
fn a_new_model_is_taken_without_a_request_lost_and_a_damaged_one_is_not() {
    let folder = folder();
    let at = folder.path();
    fit(at, "other", 1);
    done(at, &["embed", "other", "graphs.jsonl", "--out", "other.npy"]);
    let (old, new) = (rows(&at.join("e.npy")), rows(&at.join("other.npy")));
    assert_ne!(old[0], new[0]);
    let server = Server::start(at, "--data graphs.jsonl");
    let graph = &lines(at)[0];
    let vector = || bits(&server.post("/embed", graph).json());
    assert_eq!(vector(), old[0]);
    let page = server.get("/").body;
    replace(at, "other");
    // Every answer is one model's or the other's, and never anything else.
    server.until(|| {
        let vector = vector();
        assert!(vector == old[0] || vector == new[0]);
        vector == new[0]
    });
    assert_eq!(server.counter("hg2v_reloads_total"), 1);
    // The page and the index are the new model's, too.
    let afresh = Server::start(at, "--data graphs.jsonl");
    assert_ne!(server.get("/").body, page);
    assert_eq!(server.get("/").body, afresh.get("/").body);
    drop(afresh);
    let near = server.post("/search?top=1", graph).json();
    assert_eq!(near["neighbors"][0]["position"], 0);
    assert!(near["neighbors"][0]["distance"].as_f64().unwrap() < 1e-12, "{near}");
    // Damage is said and changes nothing.
    let parameters = at.join("m/model.safetensors");
    let mut bytes = fs::read(&parameters).unwrap();
    let last = bytes.len() - 1;
    bytes[last] ^= 1;
    fs::write(&parameters, bytes).unwrap();
    let config = fs::read_to_string(at.join("m/config.json")).unwrap();
    fs::write(at.join("m/config.json"), config + "\n").unwrap();
    server.signal("-HUP");
    server.until(|| server.counter("hg2v_failed_reloads_total") >= 1);
    assert_eq!(vector(), new[0]);
    server.until(|| server.said().contains("not loaded, the old one is served on"));
    // And once it is mended it is taken.
    replace(at, "other");
    replace(at, "other");
    server.until(|| {
        fs::write(at.join("m/config.json"), fs::read(at.join("other/config.json")).unwrap())
            .unwrap();
        server.counter("hg2v_failed_reloads_total") >= 1 && vector() == new[0]
    });
}

#[test]
fn who_wants_errors_alone_hears_of_damage_and_not_of_new_models() {
    let folder = folder();
    let at = folder.path();
    fit(at, "other", 1);
    let mut server = Server::start(at, "--quiet");
    replace(at, "other");
    server.until(|| server.counter("hg2v_reloads_total") == 1);
    assert_eq!(server.said(), "");
    put(at, "model.safetensors", b"none");
    let config = fs::read(at.join("m/config.json")).unwrap();
    put(at, "config.json", &[&config[..], b"\n"].concat());
    server.until(|| server.said().starts_with("error: not loaded, the old one is served on"));
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    assert_eq!(server.said().lines().count(), 1, "{}", server.said());
}

#[test]
fn what_cannot_be_loaded_is_tried_again_when_it_changes_and_not_before() {
    let folder = folder();
    let at = folder.path();
    let server = Server::start(at, "");
    let of = |file: &str| fs::read(at.join("m").join(file)).unwrap();
    let failed = |times: u64| server.until(|| server.counter("hg2v_failed_reloads_total") >= times);
    let (sound, mut config) = (of("model.safetensors"), of("config.json"));
    config.push(b'\n');
    put(at, "model.safetensors", &sound[1..]);
    put(at, "config.json", &config);
    failed(1);
    // Some looks later it is still the first time.
    std::thread::sleep(Duration::from_millis(2500));
    assert_eq!(server.counter("hg2v_failed_reloads_total"), 1);
    // Whoever asks for it is not refused.
    server.signal("-HUP");
    failed(2);
    // Other damage, and none.
    put(at, "model.safetensors", &sound[2..]);
    failed(3);
    put(at, "model.safetensors", &sound);
    server.until(|| server.counter("hg2v_reloads_total") == 1);
    assert_eq!(server.counter("hg2v_failed_reloads_total"), 3);
}

#[test]
fn who_asks_as_soon_as_the_address_is_said_is_heard() {
    let folder = folder();
    for _ in 0..8 {
        let server = Server::start(folder.path(), "--index e.csv");
        server.signal("-HUP");
        assert_eq!(server.get("/healthz").status, 200);
    }
}

#[test]
fn a_new_model_waits_for_its_index() {
    let folder = folder();
    let at = folder.path();
    fit(at, "other", 1);
    done(at, &["embed", "other", "graphs.jsonl", "--out", "other.csv"]);
    done(at, &["embed", "other", "graphs.jsonl", "--out", "other.npy"]);
    let server = Server::start(at, "--index e.csv");
    let graph = &lines(at)[0];
    replace(at, "other");
    server.signal("-HUP");
    server.until(|| server.said().contains("when the index is replaced too"));
    assert_eq!(bits(&server.post("/embed", graph).json()), rows(&at.join("e.npy"))[0]);
    fs::rename(at.join("other.csv"), at.join("e.csv")).unwrap();
    server.signal("-HUP");
    let new = rows(&at.join("other.npy"));
    server.until(|| bits(&server.post("/embed", graph).json()) == new[0]);
    let near = server.post("/search?top=1", graph).json();
    assert_eq!(near["neighbors"][0]["position"], 0);
    assert!(near["neighbors"][0]["distance"].as_f64().unwrap() < 1e-12, "{near}");
}

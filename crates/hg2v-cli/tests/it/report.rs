//! `hg2v report`, as far as no browser is needed; what the page does is tried in one.

use std::fs;

use serde_json::Value;

use crate::common::{done, folder_with_graphs, hg2v};

#[test]
fn a_model_becomes_a_page() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    done(at, &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--epochs", "1", "-q"]);
    let (out, err) = done(at, &["report", "m", "--out", "page.html", "--json"]);
    let said: Value = serde_json::from_str(&out).unwrap();
    let html = fs::read_to_string(at.join("page.html")).unwrap();
    assert_eq!((&said["graphs"], &said["shown"]), (&60.into(), &60.into()));
    assert_eq!(said["bytes"], html.len());
    assert!(err.contains("open it in a browser"), "{err}");
    assert!(html.starts_with("<!doctype html>") && html.contains("<h1>graphs</h1>"));
    // The same again, byte for byte, at any number of threads.
    done(at, &["report", "m", "--out", "again.html", "--threads", "1", "-q"]);
    assert_eq!(fs::read(at.join("again.html")).unwrap(), html.as_bytes());
    // Vectors from a file, some graphs, another name.
    done(at, &["embed", "m", "graphs.jsonl", "--out", "v.npy", "-q"]);
    let some = ["report", "m", "--embeddings", "v.npy", "--sample", "7", "--title", "A & B"];
    let (_, err) = done(at, &[&some[..], &["--out", "some.html"]].concat());
    assert!(err.contains("7 graphs of 60"), "{err}");
    assert!(fs::read_to_string(at.join("some.html")).unwrap().contains("<h1>A &amp; B</h1>"));
    // Another program's vectors say that they are.
    assert!(!err.contains("numbers"), "{err}");
    let rows: String = (0..60).map(|row| format!("{},{}\n", row % 7, row % 5)).collect();
    fs::write(at.join("own.csv"), "a,b\n".to_owned() + &rows).unwrap();
    let (_, err) = done(at, &["report", "m", "--embeddings", "own.csv", "--out", "own.html"]);
    assert!(err.contains("the vectors have 2 numbers, the model's "), "{err}");
    assert!(fs::read_to_string(at.join("own.html")).unwrap().len() > 10_000);
}

#[test]
fn pages_refuse_what_does_not_belong() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    done(at, &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--epochs", "1", "-q"]);
    let fewer =
        ["generate", "dla", "--graphs", "20", "--nodes", "20", "--out", "fewer.jsonl", "-q"];
    done(at, &fewer);
    done(at, &["embed", "m", "fewer.jsonl", "--out", "fewer.npy", "-q"]);
    let judged =
        ["evaluate", "fewer.jsonl", "--splits", "2", "--dim", "4", "--epochs", "1", "--json"];
    let (evaluation, _) = done(at, &judged);
    fs::write(at.join("fewer.json"), evaluation).unwrap();
    fs::write(at.join("none.jsonl"), "").unwrap();
    fs::write(at.join("bad.json"), "{\"graphs\": 3}").unwrap();
    fs::create_dir(at.join("empty")).unwrap();
    fs::create_dir(at.join("damaged")).unwrap();
    for file in ["config.json", "model.safetensors", "run.json"] {
        fs::copy(at.join("m").join(file), at.join("damaged").join(file)).unwrap();
    }
    fs::write(at.join("damaged/log.jsonl"), "{\"epoch\": 1}\n").unwrap();
    fs::create_dir(at.join("silent")).unwrap();
    for file in ["config.json", "model.safetensors"] {
        fs::copy(at.join("m").join(file), at.join("silent").join(file)).unwrap();
    }
    for (arguments, word) in [
        (&["empty"][..], "there is no model in it"),
        (&["absent"], "there is no model in it"),
        (&["silent"], "--data"),
        (&["damaged"], "log.jsonl, line 1"),
        (&["m", "--data", "none.jsonl"], "no graphs"),
        (&["m", "--data", "absent.jsonl"], "absent.jsonl"),
        (&["m", "--embeddings", "fewer.npy"], "20 vectors for 60 graphs"),
        (&["m", "--evaluation", "bad.json"], "bad.json, line 1: this is no evaluation"),
        (&["m", "--evaluation", "fewer.json"], "it judges 20 graphs, these are 60"),
        (&["m", "--sample", "0"], "at least one graph"),
    ] {
        let all = [&["report"], arguments, &["--out", "page.html", "-q"]].concat();
        let (code, out, err) = hg2v(at, &all);
        assert_eq!((code, out.as_str()), (2, ""), "{arguments:?}: {err}");
        assert!(err.starts_with("error: ") && err.contains(word), "{arguments:?}: {err}");
        assert!(!at.join("page.html").exists(), "{arguments:?}");
    }
    // Other graphs than the model's own are welcome, and the page says so.
    done(
        at,
        &["report", "m", "--data", "fewer.jsonl", "--evaluation", "fewer.json", "--out", "p.html"],
    );
}

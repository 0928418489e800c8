//! Nonsense typed at `fit`, `embed` and `evaluate`: every error names the file or the
//! option, the value, and what to do.

use std::fs;
use std::path::Path;

use crate::common::{done, folder_with_graphs, hg2v};

/// The command ends with exit code 2, an error with all of `words`, and no output.
fn refused(folder: &Path, line: &str, words: &[&str]) {
    let arguments: Vec<&str> = line.split_whitespace().chain(["-q"]).collect();
    let (code, out, err) = hg2v(folder, &arguments);
    assert_eq!((code, out.as_str()), (2, ""), "{line}: {err}");
    assert!(err.starts_with("error: "), "{line}: {err}");
    for word in words {
        assert!(err.contains(word), "{line}: no {word:?} in: {err}");
    }
    for output in ["x", "v.csv"] {
        assert!(!folder.join(output).exists(), "{line} left {output}");
    }
}

#[test]
fn hyper_parameters_out_of_range() {
    let folder = folder_with_graphs(&[]);
    for (option, words) in [
        ("--dim 0", ["dim is 0", "between 1 and 16384"]),
        ("--dim 99999", ["dim is 99999", "between 1 and 16384"]),
        ("--dim -3", ["'-3' for '--dim <D>'", "a whole number of at least 0"]),
        ("--dim many", ["'many' for '--dim <D>'", "a whole number of at least 0"]),
        ("--dim 99999999999999999999", ["--dim <D>", "it is too large"]),
        ("--hops 65", ["hops is 65", "between 1 and 64"]),
        ("--levels 0", ["levels is 0", "between 1 and 32"]),
        ("--epochs 10000000", ["epochs is 10000000", "at most 1000000"]),
        ("--batch 0", ["batch is 0", "between 1 and 1048576"]),
        ("--lr 0", ["lr is 0", "a positive number"]),
        ("--lr nan", ["'nan' for '--lr <RATE>'", "a finite number"]),
        ("--lr fast", ["'fast' for '--lr <RATE>'", "it must be a number"]),
        ("--decay 0.5", ["decay is 0.5", "at least 1"]),
        ("--decay -1", ["decay is -1", "at least 1"]),
        ("--loss cosine --temperature 0", ["temperature is 0", "must be positive"]),
        ("--loss jsd --temperature 0.2", ["temperature is 0.2", "it is for loss cosine"]),
        ("--temperature 0.2", ["temperature is 0.2", "it is for loss cosine"]),
        ("--ratio 1", ["ratio is 1", "less than 1"]),
        ("--ratio -1", ["ratio is -1", "at least 0"]),
        ("--k 31", ["k is 31", "between 1 and 30"]),
        ("--readout sum,sum", ["readout is sum,sum", "each at most once"]),
        ("--readout none", ["'none' for '--readout", "sum, max, mean"]),
        ("--preset best", ["'best' for '--preset", "default, network, paper"]),
        ("--threads -1", ["'-1' for '--threads <N>'", "a whole number of at least 0"]),
    ] {
        refused(folder.path(), &format!("fit graphs.jsonl --out x {option}"), &words);
        refused(folder.path(), &format!("evaluate graphs.jsonl {option}"), &words);
    }
}

#[test]
fn collections_that_cannot_be_used() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    let write = |name: &str, text: &str| fs::write(at.join(name), text).unwrap();
    write("none.jsonl", "");
    write("one.jsonl", "{\"edges\":[[0,1]],\"y\":7}\n");
    write("few.jsonl", &"{\"edges\":[[0,1]],\"y\":0}\n{\"edges\":[[0,1]],\"y\":1}\n".repeat(3));
    let labelled = "{\"id\":\"a\",\"edges\":[[0,1]],\"node_labels\":[\"C\",\"O\"]}\n";
    let three = "{\"id\":\"b\",\"edges\":[[0,1]],\"x\":[[1,2,3],[4,5,6]]}\n";
    write("labelled.jsonl", labelled);
    write("three.jsonl", three);
    write("mixed.jsonl", &format!("{labelled}{three}"));
    done(at, &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--epochs", "1"]);

    refused(at, "fit none.jsonl --out x", &["none.jsonl", "no graphs", "one JSON object a line"]);
    refused(at, "fit absent --out x", &["absent: no such file", "--data-dir"]);
    refused(
        at,
        "fit mixed.jsonl --out x",
        &["mixed.jsonl, record 2", "graph `b` has 3 attributes", "make all graphs alike"],
    );
    refused(
        at,
        "fit one.jsonl --out x --degree never --structure never",
        &["one.jsonl", "nothing is left to use", "take the degree"],
    );
    refused(at, "fit one.jsonl --out one.jsonl", &["one.jsonl", "name a folder"]);
    refused(at, "fit graphs.jsonl --out m --resume", &["m: ", "finished", "another folder"]);

    refused(at, "embed m none.jsonl --out v.csv", &["none.jsonl", "no graphs"]);
    refused(
        at,
        "embed m three.jsonl --out v.csv",
        &["three.jsonl, record 1", "graph `b` has 3 attributes", "the model expects 2"],
    );
    refused(
        at,
        "embed m labelled.jsonl --out v.csv",
        &["labelled.jsonl, record 1", "graph `a` has no node attributes", "the model expects 2"],
    );

    // What is read is not written over, not even by force; what cannot be written is said before
    // anything is done.
    let before = fs::read(at.join("graphs.jsonl")).unwrap();
    for line in [
        "coarsen graphs.jsonl --out ./graphs.jsonl",
        "evaluate graphs.jsonl --predictions graphs.jsonl",
        "report m --data graphs.jsonl --out graphs.jsonl",
        "report m --data graphs.jsonl --out m/config.json",
        "evaluate graphs.jsonl --embeddings one.jsonl --predictions one.jsonl --force",
        "images graphs.jsonl one.jsonl --threshold 0 --out one.jsonl --force",
        "embed m graphs.jsonl --out graphs.jsonl --force",
    ] {
        refused(at, line, &["the input itself"]);
    }
    for out in ["-", "/dev/stdout"] {
        let (code, _, err) = hg2v(at, &["embed", "m", "graphs.jsonl", "--out", out, "--json"]);
        assert_eq!(code, 2, "{err}");
        assert!(err.contains("OUT is standard output"), "{err}");
    }
    assert_eq!(fs::read(at.join("graphs.jsonl")).unwrap(), before);
    for (line, place) in [
        ("evaluate graphs.jsonl --predictions nowhere/x.jsonl -q", "nowhere/x.jsonl: "),
        ("fit absent.jsonl --out /proc/m", "/proc/m: "),
        ("report m --data absent.jsonl --out nowhere/page.html", "nowhere/page.html: "),
        ("project absent.csv --out nowhere/p.csv", "nowhere/p.csv: "),
        ("project absent.csv --out nowhere/p.tsv", "nowhere/p.metadata.tsv: "),
    ] {
        let (code, _, err) = hg2v(at, &line.split(' ').collect::<Vec<_>>());
        assert_eq!(code, 1, "{line}: {err}");
        assert!(err.contains(place) && !err.contains("absent"), "{line}: {err}");
    }

    refused(at, "evaluate none.jsonl", &["none.jsonl", "no graphs"]);
    refused(at, "evaluate one.jsonl", &["7 is the only label of 1 graph", "two classes"]);
    refused(at, "evaluate three.jsonl", &["1 of 1 graphs have no label", "give it as `y`"]);
    refused(
        at,
        "evaluate few.jsonl --epochs 1",
        &["folds is 5", "4, the graphs there are to divide"],
    );

    // One graph, and graphs that are all the same, are trained on and embedded.
    write("same.jsonl", &"{\"edges\":[[0,1],[1,2]]}\n".repeat(5));
    for name in ["one", "same"] {
        let (data, model, out) =
            (format!("{name}.jsonl"), format!("{name}.model"), format!("{name}.csv"));
        done(at, &["fit", &data, "--out", &model, "--dim", "4"]);
        done(at, &["embed", &model, &data, "--out", &out]);
        let text = fs::read_to_string(at.join(&out)).unwrap();
        let rows: Vec<&str> =
            text.lines().skip(1).map(|line| line.split_once(',').unwrap().1).collect();
        assert!(rows.iter().all(|row| *row == rows[0] && !row.contains("NaN")), "{text}");
    }
}

/// A model's folder with one thing wrong in it.
#[test]
fn models_that_cannot_be_used() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    done(
        at,
        &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--levels", "1", "--epochs", "1"],
    );
    refused(at, "embed absent graphs.jsonl --out v.csv", &["absent", "check the name"]);
    refused(
        at,
        "embed graphs.jsonl graphs.jsonl --out v.csv",
        &["graphs.jsonl", "name the folder"],
    );
    let config = fs::read_to_string(at.join("m/config.json")).unwrap();
    let parameters = fs::read(at.join("m/model.safetensors")).unwrap();
    let broken = |name: &str, content: Option<&[u8]>, words: &[&str]| {
        fs::write(at.join("m/config.json"), &config).unwrap();
        fs::write(at.join("m/model.safetensors"), &parameters).unwrap();
        let path = at.join("m").join(name);
        match content {
            Some(content) => fs::write(path, content).unwrap(),
            None => fs::remove_file(path).unwrap(),
        }
        let words = [&[name][..], words].concat();
        refused(at, "embed m graphs.jsonl --out v.csv", &words);
    };
    let again = "fit the model again";
    let edited = |from: &str, to: &str| {
        assert!(config.contains(from), "{config}");
        config.replacen(from, to, 1).into_bytes()
    };
    broken("config.json", None, &["no such file", again]);
    broken("config.json", Some(b""), &["line 1", "no configuration of a model", again]);
    broken("config.json", Some(&config.as_bytes()[..300]), &["no configuration of a model", again]);
    let future = edited("\"format\": 3", "\"format\": 7");
    broken("config.json", Some(&future), &["format is 7", "knows 3", "use the version"]);
    let many = edited("\"hops\": 4", "\"hops\": 99");
    broken("config.json", Some(&many), &["changed or damaged", again]);
    broken("model.safetensors", None, &["no such file", again]);
    broken("model.safetensors", Some(b""), &["no whole safetensors file", again]);
    broken("model.safetensors", Some(&parameters[..100]), &["no whole safetensors file", again]);
    let mut nan = parameters.clone();
    let end = nan.len();
    nan[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
    broken("model.safetensors", Some(&nan), &["not what config.json was written with", again]);
    // The parameters of another network: the same names, other shapes.
    done(
        at,
        &["fit", "graphs.jsonl", "--out", "n", "--dim", "5", "--levels", "1", "--epochs", "1"],
    );
    let other = fs::read(at.join("n/model.safetensors")).unwrap();
    broken("model.safetensors", Some(&other), &["not what config.json was written with", again]);
}

#[test]
fn vectors_that_cannot_be_judged() {
    let folder = folder_with_graphs(&[]);
    let at = folder.path();
    done(at, &["fit", "graphs.jsonl", "--out", "m", "--dim", "4", "--epochs", "1"]);
    done(at, &["embed", "m", "graphs.jsonl", "--out", "all.csv"]);
    let all = fs::read_to_string(at.join("all.csv")).unwrap();
    let lines: Vec<&str> = all.lines().collect();
    let third = lines[3].rsplit_once(',').unwrap().0;
    let with = |cell: &str| {
        let mut lines: Vec<String> = lines.iter().map(ToString::to_string).collect();
        lines[3] = format!("{third},{cell}");
        lines.join("\n")
    };
    for (name, text, words) in [
        ("short.csv", lines[..5].join("\n"), ["4 vectors for 60 graphs", "one for each graph"]),
        ("nan.csv", with("NaN"), ["record 3", "must be finite"]),
        ("word.csv", with("abc"), ["line 4", "`abc` is not a number"]),
        ("empty.npy", String::new(), ["NUMPY", "save it with numpy.save"]),
        ("all.txt", all.clone(), ["does not tell a format", ".npy, .parquet, .csv or .tsv"]),
    ] {
        fs::write(at.join(name), text).unwrap();
        let line = format!("evaluate graphs.jsonl --embeddings {name}");
        refused(at, &line, &[&[name][..], &words].concat());
    }
    refused(at, "evaluate graphs.jsonl --embeddings absent.npy", &["absent.npy", "check the name"]);
    refused(at, "evaluate graphs.jsonl --splits many", &["'many' for '--splits <N>'", "whole"]);
    // What would mean nothing is not passed over.
    for command in ["evaluate", "compare"] {
        let line = format!("{command} graphs.jsonl --protocol tenfold --splits 3");
        refused(at, &line, &["--splits is 3", "ten folds"]);
    }
    let line = "evaluate graphs.jsonl --embeddings all.csv --dim 8";
    refused(at, line, &["--embeddings is given", "options of a model"]);
    refused(at, "evaluate graphs.jsonl --force", &["--force is given", "--predictions"]);
    refused(at, "embed m graphs.jsonl --out x.csv --precision tf32", &["--precision", "cuda"]);
    // A place that cannot be written is no wrong usage, but says as much.
    let write =
        ["evaluate", "graphs.jsonl", "--embeddings", "all.csv", "--predictions", "no/p.jsonl"];
    let (code, _, err) = hg2v(at, &write);
    assert_eq!(code, 1);
    assert!(err.contains("no/p.jsonl: cannot create") && err.contains("make the folder"), "{err}");
    assert!(!err.contains(".hg2v-") && err.matches("No such file").count() == 1, "{err}");
}

//! `hg2v reproduce lab`, as a user runs it.

use std::fs;
use std::path::Path;

use serde_json::Value;

use crate::common::hg2v;

/// A folder with a set of classes and one of molecules with numbers.
fn folder_with_sets() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let data = folder.path().join("data");
    fs::create_dir(&data).unwrap();
    let make = ["generate", "dla", "--graphs", "30", "--nodes", "8", "--out", "data/MUTAG.jsonl"];
    let (code, _, err) = hg2v(folder.path(), &make);
    assert_eq!(code, 0, "{err}");
    let molecule = |n: usize| {
        let chain = "C".repeat(1 + n % 7) + if n.is_multiple_of(3) { "O" } else { "N" };
        format!("{chain}\t{}.5\n", n % 7 + 2 * usize::from(n.is_multiple_of(3)))
    };
    let rows: String = (0..30).map(molecule).collect();
    fs::write(data.join("ESOL.smi"), format!("smiles\ty\n{rows}")).unwrap();
    folder
}

fn lab(folder: &Path, out: &str, more: &[&str]) -> (i32, String, String) {
    let words = ["reproduce", "lab", "--data-dir", "data", "--out", out];
    hg2v(folder, &[&words, more].concat())
}

fn kept(folder: &Path, out: &str, file: &str) -> Value {
    let path = folder.join(out).join("lab").join(format!("{file}.json"));
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

/// The cells of the row that begins so, in the table under this title, or the one below that.
fn cells<'a>(text: &'a str, title: &str, below: usize, row: &str) -> Vec<&'a str> {
    let (_, rest) =
        text.split_once(&format!("### {title}\n\n")).unwrap_or_else(|| panic!("{text}"));
    let table = rest.split("\n\n").nth(below).unwrap();
    let line = table.lines().find(|line| line.starts_with(&format!("| {row} |"))).unwrap();
    line.trim_matches('|').split('|').map(str::trim).collect()
}

/// What a judge gave, split by split: the first, or one beside it.
fn tests(record: &Value, judge: Option<&str>) -> Vec<f64> {
    let of = |split: &Value| match judge {
        None => split["test"].as_f64().unwrap(),
        Some(judge) => {
            let also = split["also"].as_array().unwrap();
            let own = also.iter().find(|also| also["classifier"] == judge).unwrap();
            own["test"].as_f64().unwrap()
        }
    };
    record["result"]["splits"].as_array().unwrap().iter().map(of).collect()
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// The mean of the differences and its standard error.
fn apart(own: &[f64], other: &[f64]) -> (f64, f64) {
    let apart: Vec<f64> = own.iter().zip(other).map(|(a, b)| a - b).collect();
    let (middle, n) = (mean(&apart), apart.len() as f64);
    let variance = apart.iter().map(|x| (x - middle).powi(2)).sum::<f64>() / (n - 1.0);
    (middle, (variance / n).sqrt())
}

#[test]
fn every_judge_has_a_table_from_what_is_kept() {
    let folder = folder_with_sets();
    let at = folder.path();
    let methods = ["hg2v", "untrained", "statistics", "morgan", "wl-subtree", "gin"];
    // Without names, what is not there is left out.
    let (code, _, err) = lab(at, "quick", &["--quick", "--methods", "majority"]);
    assert_eq!(code, 0, "{err}");
    assert!(err.contains("PTC_FR: left out") && err.contains("MUTAG: majority"), "{err}");
    let words = ["--sets", "MUTAG,ESOL", "--splits", "3", "--methods", &methods.join(",")];
    let (code, out, err) = lab(at, "out", &words);
    assert_eq!(code, 0, "{err}");
    assert!(out.contains("By C-SVM, radial") && out.contains("mean rank, 1 set"), "{out}");
    let (code, markdown, err) = hg2v(at, &["reproduce", "lab", "--markdown", "--out", "out"]);
    assert_eq!(code, 0, "{err}");

    // Of classes, fingerprints are not there; of numbers, what learns classes is not.
    let titles: Vec<&str> = markdown.lines().filter_map(|line| line.strip_prefix("### ")).collect();
    let (accuracies, errors) = ("accuracies in percent", "root mean square errors");
    let judges = ["C-SVM, radial", "linear SVM", "nearest neighbours"];
    let of_classes = judges.map(|judge| format!("By {judge}: {accuracies}"));
    let judges = ["kernel ridge", "ridge", "nearest neighbours"];
    let of_numbers = judges.map(|judge| format!("By {judge}: {errors}"));
    assert_eq!(titles, [of_classes.clone(), of_numbers.clone()].concat());
    let header = |title: &str| cells(&markdown, title, 0, "set")[1..].join(",");
    assert_eq!(header(&of_classes[0]), "hg2v,untrained,statistics,wl-subtree,gin");
    assert_eq!(header(&of_classes[1]), "hg2v,untrained,statistics");
    assert_eq!(header(&of_classes[2]), "hg2v,untrained,statistics,wl-subtree");
    assert_eq!(header(&of_numbers[2]), "hg2v,untrained,statistics,morgan,wl-subtree");

    // Every number is that of the files, on the three splits that there are of thirty and of ten.
    for (set, judge, title, percent) in [
        ("MUTAG", None, &of_classes[0], true),
        ("MUTAG", Some("knn"), &of_classes[2], true),
        ("ESOL", None, &of_numbers[0], false),
        ("ESOL", Some("knn"), &of_numbers[2], false),
    ] {
        let names = header(title);
        let given: Vec<(&str, Vec<f64>)> = names
            .split(',')
            .map(|name| (name, tests(&kept(at, "out", &format!("{set}.{name}")), judge)))
            .collect();
        let sign = if percent { 1.0 } else { -1.0 };
        let best = given.iter().map(|(_, own)| sign * mean(own)).fold(f64::MIN, f64::max);
        let shown = cells(&markdown, title, 0, set);
        for (cell, (name, own)) in shown[1..].iter().zip(&given) {
            assert_eq!(cell.starts_with("**"), sign * mean(own) == best, "{name}: {shown:?}");
            let plain = cell.trim_matches('*');
            assert!(plain.ends_with(" [3]"), "{cell}");
            let number: f64 = plain.split(' ').next().unwrap().parse().unwrap();
            let scale = if percent { 100.0 } else { 1.0 };
            assert!((number - scale * mean(own)).abs() < 0.051 * scale, "{name}: {cell}");
        }
        let place = |own: &[f64]| {
            let ahead = |other: &&(&str, Vec<f64>)| sign * mean(&other.1) > sign * mean(own);
            let equal = |other: &&(&str, Vec<f64>)| mean(&other.1) == mean(own);
            let ahead = given.iter().filter(ahead).count() as f64;
            ahead + (given.iter().filter(equal).count() as f64 + 1.0) / 2.0
        };
        let ranks: Vec<String> =
            given.iter().map(|(_, own)| format!("{:.1}", place(own))).collect();
        assert_eq!(cells(&markdown, title, 0, "mean rank, 1 set")[1..], ranks);

        // Against the control, and against the first of the best that is neither.
        let differences = cells(&markdown, title, 1, set);
        let rivals = || given[2..].iter();
        let most = rivals().map(|(_, own)| sign * mean(own)).fold(f64::MIN, f64::max);
        let rival = rivals().find(|(_, own)| sign * mean(own) == most).unwrap();
        assert_eq!(differences[2], rival.0);
        let others = [(differences[1], &given[1].1), (differences[3], &rival.1)];
        for (cell, other) in others {
            let (middle, error) = apart(&given[0].1, other);
            let scale = if percent { 100.0 } else { 1.0 };
            let numbers: Vec<f64> =
                cell.split(" ± ").map(|number| number.parse().unwrap()).collect();
            assert!((numbers[0] - scale * middle).abs() < 0.051, "{cell}, not {middle}");
            assert!((numbers[1] - scale * error).abs() < 0.051, "{cell}, not {error}");
        }
    }
}

/// As two machines would do it.
#[test]
fn parts_make_the_whole() {
    let folder = folder_with_sets();
    let at = folder.path();
    let run = |out: &str, methods: &str| {
        let sets = ["--sets", "mutag,ESOL", "--splits", "2", "--methods", methods];
        let (code, _, err) = lab(at, out, &sets);
        assert_eq!(code, 0, "{err}");
        err
    };
    run("whole", "hg2v,statistics,wl-oa");
    run("part", "hg2v");
    run("other", "statistics,wl-oa");
    for entry in fs::read_dir(at.join("other/lab")).unwrap() {
        let path = entry.unwrap().path();
        fs::copy(&path, at.join("part/lab").join(path.file_name().unwrap())).unwrap();
    }
    let markdown = |out: &str| hg2v(at, &["reproduce", "lab", "--markdown", "--out", out]).1;
    assert_eq!(markdown("part"), markdown("whole"));
    assert!(markdown("part").contains("| MUTAG |"));
    // All of it is there, and nothing is run again.
    let said = run("part", "hg2v,statistics,wl-oa");
    assert_eq!(said.matches("2 splits are there already").count(), 6, "{said}");
}

#[test]
fn nonsense_is_wrong_usage() {
    let folder = folder_with_sets();
    let at = folder.path();
    let cases: [(&[&str], &str); 6] = [
        (&["--methods", "magic"], "--methods is `magic`"),
        (&["--sets", "MOO"], "--sets is `MOO`"),
        (&["--sets", "Melting"], "make lab-data"),
        (&["--preset", "paper"], "default settings"),
        (&["--grid", "small"], "--grid is given"),
        (&["--rivals"], "--rivals is given"),
    ];
    for (more, word) in cases {
        let (code, out, err) = lab(at, "out", more);
        assert_eq!((code, out.as_str()), (2, ""), "{more:?}: {err}");
        assert!(err.contains(word), "{more:?}: {err}");
        assert!(!at.join("out").exists());
    }
    let methods = ["reproduce", "table2", "--methods", "hg2v"];
    let (code, _, err) = hg2v(at, &methods);
    assert_eq!(code, 2);
    assert!(err.contains("it is for lab"), "{err}");
    // A set that cannot be read does not stop the others.
    fs::write(at.join("data/PTC_FR.jsonl"), "{\"edges\":[[0,").unwrap();
    let words = ["--sets", "PTC_FR,MUTAG", "--splits", "2", "--methods", "statistics"];
    let (code, _, err) = lab(at, "out", &words);
    assert_eq!(code, 1, "{err}");
    assert!(err.contains("1 of 2 runs failed") && err.contains("PTC_FR.jsonl, line 1"), "{err}");
    assert!(at.join("out/lab/MUTAG.statistics.json").exists());
}

//! Files of vectors: written, read back, and refused when they are not what they say.

use std::fs;
use std::path::Path;

use hg2v::dataset::Limits;
use hg2v::graph::Scalar;
use hg2v::vectors::{Key, Shape, Vectors, create, read};

fn sample() -> Vectors {
    let text = |text: &str| Scalar::Text(text.into());
    let values: Vec<f32> = (0..12).map(|i| (i as f32 - 5.5) * 1.1e-3f32.powi(i % 3)).collect();
    Vectors {
        dim: 3,
        values,
        ids: vec![text("a, \"b\""), text("07"), text("tab\there"), text("ü")],
        labels: vec![Some(Scalar::Int(1)), None, Some(Scalar::Int(-1)), Some(Scalar::Int(1))],
        model: Some("00ff12ab34cd56ef".to_owned()),
    }
}

fn write(path: &Path, vectors: &Vectors) {
    let names = (0..vectors.dim).map(|i| format!("e{i}")).collect();
    let mut sink = create(path, Shape { names, part: None, model: vectors.model.clone() }).unwrap();
    for i in 0..vectors.len() {
        let key = Key { id: &vectors.ids[i], label: vectors.labels[i].as_ref(), part: None };
        sink.write(key, vectors.row(i)).unwrap();
    }
    sink.finish().unwrap();
}

#[cfg(feature = "parquet")]
const NAMES: &[&str] = &["v.npy", "v.parquet", "v.csv", "v.tsv"];
#[cfg(not(feature = "parquet"))]
const NAMES: &[&str] = &["v.npy", "v.csv", "v.tsv"];

#[test]
fn every_format_gives_back_what_was_written() {
    let folder = tempfile::tempdir().unwrap();
    for vectors in [
        sample(),
        Vectors { dim: 2, ..Vectors::default() },
        Vectors { ids: (0..4).map(Scalar::Int).collect(), labels: vec![None; 4], ..sample() },
    ] {
        for name in NAMES {
            let path = folder.path().join(name);
            write(&path, &vectors);
            let read = read(&path, &Limits::default()).unwrap();
            let expected = match (*name, vectors.len()) {
                // Parquet says how long vectors are only where there is one.
                ("v.parquet", 0) => Vectors::default(),
                // Of text no one but people and other programs would know what to make of it.
                ("v.csv" | "v.tsv", _) => Vectors { model: None, ..vectors.clone() },
                _ => vectors.clone(),
            };
            assert_eq!(read, expected, "{name}");
        }
    }
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_keeps_the_kinds_of_labels_and_bounds_what_a_file_asks_for() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.parquet");
    let labels = [true, false, true, true].map(|flag| Some(Scalar::Bool(flag)));
    let vectors = Vectors { labels: labels.to_vec(), ..sample() };
    write(&path, &vectors);
    assert_eq!(read(&path, &Limits::default()).unwrap(), vectors);
    let few = Limits::default().max_unpacked_bytes(100);
    let error = read(&path, &few).unwrap_err().to_string();
    assert!(error.contains("max_unpacked_bytes"), "{error}");
}

#[cfg(feature = "parquet")]
#[test]
fn ids_of_several_kinds_are_the_texts_they_were() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.parquet");
    let text = |text: &str| Scalar::Text(text.into());
    let mixed =
        Vectors { ids: vec![text("g5"), Scalar::Int(1), text("7"), text("ü")], ..sample() };
    write(&path, &mixed);
    let read = read(&path, &Limits::default()).unwrap();
    assert_eq!(read.ids, [text("g5"), text("1"), text("7"), text("ü")]);
}

#[test]
fn nothing_appears_before_it_is_whole() {
    let folder = tempfile::tempdir().unwrap();
    for name in NAMES {
        let path = folder.path().join(name);
        let shape = Shape { names: vec!["e0".into()], part: Some("node"), model: None };
        let mut sink = create(&path, shape).unwrap();
        let id = Scalar::Int(1);
        sink.write(Key { id: &id, label: None, part: Some(0) }, &[1.0]).unwrap();
        drop(sink);
        assert!(!path.exists(), "{name}");
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0, "something was left behind");
}

#[test]
fn a_table_without_a_header_loses_no_row() {
    for (name, bytes) in [
        ("v.csv", &b"0.5,1.5\n2.5,3.5\n"[..]),
        ("v.csv", b"g1,0.5,1.5\ng2,2.5,3.5\n"),
        ("v.csv", b"1,1\n2,2\n"),
        ("v.tsv", b"0.5\t0.5\n2.5\t3.5\n"),
        ("v.tsv", b"3\t4\n2.5\t3.5\n"),
        // It may count the columns, and it may be the first vector.
        ("v.csv", b"0,1\n2.5,3.5\n"),
        ("v.tsv", b"1\t2\n2.5\t3.5\n"),
    ] {
        let refused = refused(name, bytes);
        assert!(refused.contains("line 1") && refused.contains("there is no header"), "{refused}");
    }
    assert!(refused("v.csv", b",0,1\n0,2.5,3.5\n").contains("column 1 has no name"));
    // Beside a name that is one, numbers are names.
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.csv");
    fs::write(&path, "id,7,9\ng,2.5,3.5\n").unwrap();
    assert_eq!(read(&path, &Limits::default()).unwrap().values, [2.5, 3.5]);
}

#[test]
#[cfg(feature = "parquet")]
fn ids_that_are_no_text_are_refused() {
    use arrow_array::{ArrayRef, BinaryArray, FixedSizeListArray, RecordBatch, types::Float32Type};
    use std::sync::Arc;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("e.parquet");
    let ids: ArrayRef = Arc::new(BinaryArray::from_iter_values([&b"ab"[..], b"c\xff"]));
    let rows = [Some(vec![Some(1.0)]), Some(vec![Some(2.0)])];
    let rows: ArrayRef =
        Arc::new(FixedSizeListArray::from_iter_primitive::<Float32Type, _, _>(rows, 1));
    for name in ["id", "y"] {
        let columns = [(name, ids.clone()), ("embedding", rows.clone())];
        let batch = RecordBatch::try_from_iter(columns).unwrap();
        let file = fs::File::create(&path).unwrap();
        let mut writer = parquet::arrow::ArrowWriter::try_new(file, batch.schema(), None).unwrap();
        writer.write(&batch).unwrap();
        writer.close().unwrap();
        let refused = read(&path, &Limits::default()).unwrap_err().to_string();
        assert!(refused.contains(&format!("record 2: `{name}` holds")), "{refused}");
    }
}

#[test]
fn a_name_without_a_format_is_refused() {
    let error = read(Path::new("vectors.txt"), &Limits::default()).unwrap_err().to_string();
    assert!(error.contains(".npy, .parquet, .csv or .tsv"), "{error}");
}

/// What reading says of `bytes` under `name`.
fn refused(name: &str, bytes: &[u8]) -> String {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    fs::write(&path, bytes).unwrap();
    read(&path, &Limits::default()).unwrap_err().to_string()
}

#[test]
fn damaged_files_are_refused_with_a_reason() {
    let header = |text: &str| {
        let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
        bytes.extend((text.len() as u16).to_le_bytes());
        bytes.extend(text.bytes());
        bytes
    };
    let npy = |text: &str| refused("v.npy", &header(text));
    for (error, word) in [
        (refused("v.npy", b""), "does not begin"),
        (refused("v.npy", b"\x93NUMPY\x01\x00"), "cut short"),
        (refused("v.npy", b"\x93NUMPY\x01\x00\xff\xff{"), "cut short"),
        (npy("{'descr': '<i8', 'fortran_order': False, 'shape': (1, 1), }"), "of type"),
        (npy("{'descr': '<f4', 'fortran_order': True, 'shape': (1, 1), }"), "column by column"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"), "1 dimensions"),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9, 9), }"), "0 bytes follow"),
        (
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999, 9999999999), }"),
            "bytes follow",
        ),
        (npy("{'descr': '<f4', 'fortran_order': False, 'shape': (-1, x), }"), "shape"),
        (
            npy("{'descr': '<f4', 'fortran_order': False, 'shape': (999999999999, 0), }"),
            "vectors of no numbers",
        ),
        (refused("v.csv", b""), "empty"),
        (refused("v.csv", b"id,y,e0\na,1\n"), "2 cells"),
        (refused("v.csv", b"id,y,e0\na,1,zero\n"), "`zero` is not a number"),
        (refused("v.csv", b"id,y,e0\na,1,NaN\n"), "NaN"),
        (refused("v.csv", b"id,y,e0\na,1,1e99\n"), "inf"),
        (refused("v.tsv", b"id\ty\te0\na\t1\n"), "2 cells"),
        (refused("v.tsv", b"id\ty\te0\na\t1\t-inf\n"), "-inf"),
        (refused("v.parquet", b"PAR1"), "Parquet"),
        (refused("v.parquet", b""), "Parquet"),
    ] {
        assert!(error.contains(word), "{word:?} not in: {error}");
    }
}

#[cfg(feature = "parquet")]
#[test]
fn cut_parquet_never_panics() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.parquet");
    write(&path, &sample());
    let whole = fs::read(&path).unwrap();
    for keep in (0..whole.len()).step_by(11) {
        fs::write(&path, &whole[..keep]).unwrap();
        assert!(read(&path, &Limits::default()).is_err(), "cut at {keep}");
    }
}

#[test]
fn vectors_of_another_model_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("v.npy");
    write(&path, &sample());
    let vectors = read(&path, &Limits::default()).unwrap();
    let refused = |digest: &str, dim: usize| vectors.check_made_by(digest, dim, &path).unwrap_err();
    vectors.check_made_by("00ff12ab34cd56ef", 3, &path).unwrap();
    let error = refused("0123456789abcdef", 3).to_string();
    for part in ["v.npy", "`00ff12ab34cd56ef` made its vectors", "0123456789abcdef", "embed"] {
        assert!(error.contains(part), "{error}");
    }
    assert!(refused("00ff12ab34cd56ef", 4).to_string().contains("3 numbers, the model's 4"));
    // Those that do not say whose they are can only be counted.
    let unknown = Vectors { model: None, ..vectors.clone() };
    unknown.check_made_by("0123456789abcdef", 3, &path).unwrap();

    // Parts of two models put together.
    let keys = path.with_extension("ids.csv");
    let mixed = fs::read_to_string(&keys).unwrap().replacen("00ff12ab34cd56ef", "ffff", 1);
    fs::write(&keys, mixed).unwrap();
    let error = read(&path, &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("line 3") && error.contains("`ffff`"), "{error}");
}

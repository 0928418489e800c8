//! Parquet: what goes in comes out, other programs' files are read, and what is
//! wrong is said with its place.

#[allow(dead_code)]
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::records::tabled;
use arrow_array::types::{Float64Type, Int32Type, Int64Type};
use arrow_array::{
    Array, ArrayRef, BinaryArray, BinaryViewArray, DictionaryArray, FixedSizeBinaryArray,
    Float64Array, Int32Array, Int64Array, LargeBinaryArray, ListArray, RecordBatch, StringArray,
    TimestampMillisecondArray, UInt64Array,
};
use hg2v::dataset::{self, Limits};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use parquet::arrow::ArrowWriter;
use proptest::prelude::*;

fn read(path: &Path) -> hg2v::Result<Vec<GraphRecord>> {
    dataset::parquet::read(path, &Limits::default())?.collect()
}

fn written(records: &[GraphRecord]) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graphs.parquet");
    let mut sink = dataset::parquet::write(&path).unwrap();
    for record in records {
        sink.write(record).unwrap();
    }
    sink.finish().unwrap();
    (folder, path)
}

#[test]
fn a_folder_is_read_file_after_file_as_engines_write_them() {
    let (folder, empty) = written(&[]);
    let graph = |id: i64| GraphRecord {
        id: Some(Scalar::Int(id)),
        num_nodes: 2,
        edges: vec![[0, 1]],
        ..GraphRecord::default()
    };
    let lake = folder.path().join("lake");
    for (name, ids) in [
        ("month=2026-10/part-0.parquet", [4, 5]),
        ("month=2026-9/part-10.parquet", [2, 3]),
        ("month=2026-9/part-2.parquet", [0, 1]),
        ("_temporary/part-0.parquet", [8, 9]),
    ] {
        let (_folder, path) = written(&ids.map(graph));
        let to = lake.join(name);
        fs::create_dir_all(to.parent().unwrap()).unwrap();
        fs::copy(path, to).unwrap();
    }
    fs::write(lake.join("_SUCCESS"), "").unwrap();
    fs::copy(empty, lake.join("month=2026-9/part-3.parquet")).unwrap();
    let source = dataset::open(&lake, &Limits::default()).unwrap();
    assert_eq!((source.format, source.len), (dataset::Format::Parquet, Some(6)));
    let ids: Vec<_> = source.map(|record| record.unwrap().id.unwrap()).collect();
    assert_eq!(ids, (0..6).map(Scalar::Int).collect::<Vec<_>>());
    // What is wrong names the file it is in.
    fs::write(lake.join("month=2026-9/part-11.parquet"), b"PAR1 but no more").unwrap();
    let error = dataset::open(&lake, &Limits::default()).map(|_| ()).unwrap_err().to_string();
    assert!(error.contains("part-11.parquet"), "{error}");
}

type Columns = Vec<(&'static str, ArrayRef)>;

/// Writes columns as they are and gives what reading them says.
fn read_columns(columns: Columns) -> hg2v::Result<Vec<GraphRecord>> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graphs.parquet");
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), None).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    read(&path)
}

type Entries = Option<Vec<Option<i64>>>;

fn ints(rows: &[Entries]) -> ArrayRef {
    Arc::new(ListArray::from_iter_primitive::<Int64Type, _, _>(rows.to_vec()))
}

fn list(row: &[i64]) -> Entries {
    Some(row.iter().copied().map(Some).collect())
}

fn floats(row: &[f64]) -> ArrayRef {
    let row = row.iter().copied().map(Some).collect::<Vec<_>>();
    Arc::new(ListArray::from_iter_primitive::<Float64Type, _, _>([Some(row)]))
}

fn texts(values: &[&str]) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(values))
}

fn fixture(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(name)
}

/// Made by pyarrow 26:
/// ```python
/// import pyarrow as pa, pyarrow.parquet as pq
/// table = pa.table({
///     "y": pa.array(["mutagen", None, "inert"]).dictionary_encode(),
///     "dst": pa.array([[1, 2], [], [0]], pa.large_list(pa.int16())),
///     "src": pa.array([[0, 1], [], [1]], pa.list_(pa.uint64())),
///     "x": pa.array([[[0.5, 1], [2, 3], [4, 5]], [], [[6, 7], [8, 9]]],
///                   pa.list_(pa.list_(pa.float32(), 2))),
///     "weight": pa.array([[0.5, 2.0], None, [1.0]], pa.list_(pa.float32())),
///     "node_label": pa.array([["C", "N", "C"], [], ["O", "O"]], pa.list_(pa.large_string())),
///     "source": pa.array(["a", "b", "c"]),
///     "id": pa.array([10, 11, 12], pa.uint8()),
/// })
/// pq.write_table(table, "pyarrow.parquet", compression="snappy")
/// ```
#[test]
fn a_file_of_pyarrow_is_read() {
    let source = dataset::open(&fixture("pyarrow.parquet"), &Limits::default()).unwrap();
    assert_eq!(source.len, Some(3));
    assert_eq!(source.ignored(), ["column `source`, which is no part of the format"]);
    let records: Vec<_> = source.map(Result::unwrap).collect();
    let text = |labels: &[&str]| Some(labels.iter().map(|&label| label.into()).collect());
    let rows = |values: &[f64]| Some(Features { dim: 2, values: values.to_vec() });
    let expected = [
        GraphRecord {
            id: Some(10.into()),
            label: Some("mutagen".into()),
            num_nodes: 3,
            edges: vec![[0, 1], [1, 2]],
            weights: Some(vec![0.5, 2.0]),
            node_labels: text(&["C", "N", "C"]),
            features: rows(&[0.5, 1.0, 2.0, 3.0, 4.0, 5.0]),
            ..GraphRecord::default()
        },
        GraphRecord {
            id: Some(11.into()),
            node_labels: Some(vec![]),
            features: Some(Features::default()),
            ..GraphRecord::default()
        },
        GraphRecord {
            id: Some(12.into()),
            label: Some("inert".into()),
            num_nodes: 2,
            edges: vec![[1, 0]],
            weights: Some(vec![1.0]),
            node_labels: text(&["O", "O"]),
            features: rows(&[6.0, 7.0, 8.0, 9.0]),
            ..GraphRecord::default()
        },
    ];
    assert_eq!(records, expected);
}

/// Made by polars 2:
/// ```python
/// import polars as pl
/// pl.DataFrame({
///     "src": [[0, 0], [], [0]], "dst": [[1, 2], [], [0]],
///     "num_nodes": [4, 1, 1],
///     "x": [[[0.0], [1.0], [2.0], [3.0]], [[0.5]], [[0.25]]],
///     "node_label": [[1, 2, 3, 4], [5], [6]],
///     "id": ["a", "b", None], "y": [0.5, None, -1.0],
///     "directed": [False, True, None],
/// }, schema_overrides={"y": pl.Float32, "x": pl.List(pl.Array(pl.Float64, 1))}
/// ).write_parquet("polars.parquet")
/// ```
#[test]
fn a_file_of_polars_is_read() {
    let records = read(&fixture("polars.parquet")).unwrap();
    let labels = |labels: &[i64]| Some(labels.iter().map(|&label| label.into()).collect());
    let rows = |values: &[f64]| Some(Features { dim: 1, values: values.to_vec() });
    let expected = [
        GraphRecord {
            id: Some("a".into()),
            label: Some(Scalar::Float(0.5)),
            num_nodes: 4,
            edges: vec![[0, 1], [0, 2]],
            node_labels: labels(&[1, 2, 3, 4]),
            features: rows(&[0.0, 1.0, 2.0, 3.0]),
            ..GraphRecord::default()
        },
        GraphRecord {
            id: Some("b".into()),
            num_nodes: 1,
            node_labels: labels(&[5]),
            features: rows(&[0.5]),
            directed: true,
            ..GraphRecord::default()
        },
        GraphRecord {
            label: Some(Scalar::Float(-1.0)),
            num_nodes: 1,
            edges: vec![[0, 0]],
            node_labels: labels(&[6]),
            features: rows(&[0.25]),
            ..GraphRecord::default()
        },
    ];
    assert_eq!(records, expected);
}

#[test]
fn a_row_with_something_wrong_is_named() {
    let pair = || vec![("src", ints(&[list(&[0, 1])])), ("dst", ints(&[list(&[1, 2])]))];
    let with = |name: &'static str, column: ArrayRef| {
        let mut columns = pair();
        columns.push((name, column));
        columns
    };
    let edges = |src: Entries, dst: Entries| vec![("src", ints(&[src])), ("dst", ints(&[dst]))];
    let count = |count: i64| -> ArrayRef { Arc::new(Int64Array::from(vec![count])) };
    let labels = |labels: &[i64]| ints(&[list(labels)]);
    let x = |rows: &[&[f64]]| -> ArrayRef {
        let values = Arc::new(Float64Array::from(rows.concat()));
        let lengths = rows.iter().map(|row| row.len());
        let inner = nested(values, lengths.collect());
        nested(inner, vec![rows.len()])
    };
    let table: Vec<(Columns, &[&str])> = vec![
        (edges(list(&[0, 1]), list(&[1])), &["record 1", "`src` has 2", "`dst` has 1"]),
        (edges(Some(vec![Some(0), None]), list(&[1, 2])), &["record 1", "`src[1]` is null"]),
        (edges(list(&[0]), None), &["record 1", "`dst` is null"]),
        (edges(list(&[0]), list(&[-7])), &["record 1", "`dst[0]`", "`-7`", "negative"]),
        (
            edges(list(&[0]), list(&[1_000_000_000_000])),
            &["`dst[0]`", "`1000000000000`", "max_nodes"],
        ),
        (with("num_nodes", count(-1)), &["record 1", "`num_nodes` is `-1`"]),
        (with("num_nodes", count(1_000_000_000_000)), &["record 1", "1000000000000", "max_nodes"]),
        (with("num_nodes", count(2)), &["record 1", "`dst[1]`", "`2`", "2 nodes"]),
        (
            [with("num_nodes", count(2)), vec![("id", texts(&["g7"]))]].concat(),
            &["record 1: graph `g7`: `dst[1]`"],
        ),
        (with("node_label", labels(&[5])), &["record 1", "`dst[0]`", "`node_label`"]),
        (with("edge_label", labels(&[5])), &["record 1", "`edge_label` has 1", "2 edges"]),
        (with("weight", floats(&[1.0])), &["record 1", "`weight` has 1", "2 edges"]),
        (with("weight", floats(&[1.0, f64::NAN])), &["record 1", "`weight`", "`NaN`"]),
        (with("nodes", labels(&[4, 4, 5])), &["record 1", "`nodes` names `4` twice"]),
        (
            with("x", x(&[&[1.0], &[1.0, 2.0], &[3.0]])),
            &["record 1", "`x[1]` has 2", "`x[0]` has 1"],
        ),
        (with("x", x(&[&[1.0], &[f64::INFINITY], &[3.0]])), &["record 1", "`x`", "`inf`"]),
        (with("x", floats(&[1.0, 2.0])), &["column `x`", "Float64", "a node"]),
        (
            with("id", Arc::new(UInt64Array::from(vec![u64::MAX]))),
            &["record 1", "`id`", "18446744073709551615"],
        ),
        (
            with("y", Arc::new(TimestampMillisecondArray::from(vec![0]))),
            &["column `y`", "Timestamp", "texts"],
        ),
        (with("num_nodes", texts(&["3"])), &["column `num_nodes`", "Utf8", "integers"]),
        (with("directed", count(1)), &["column `directed`", "Int64", "booleans"]),
        (
            vec![("src", texts(&["0"])), ("dst", texts(&["1"]))],
            &["column `src`", "Utf8", "lists of integers"],
        ),
        (
            vec![("src", count(0)), ("dst", count(1))],
            &["column `src`", "Int64", "lists of integers"],
        ),
        (
            vec![("src", floats(&[0.0])), ("dst", floats(&[1.0]))],
            &["column `src`", "Float64", "lists of integers"],
        ),
        (vec![("dst", ints(&[list(&[0])]))], &["no column `src`"]),
        (vec![("a", count(1))], &["no column `src`"]),
        (vec![("src", ints(&[])), ("dst", ints(&[]))], &["holds no graphs"]),
    ];
    for (columns, words) in table {
        let names: Vec<_> = columns.iter().map(|column| column.0).collect();
        let message = read_columns(columns).unwrap_err().to_string();
        for word in ["graphs.parquet"].iter().chain(words) {
            assert!(message.contains(word), "{names:?} lacks {word:?}: {message}");
        }
    }
}

fn nested(values: ArrayRef, lengths: Vec<usize>) -> ArrayRef {
    let field = arrow_schema::Field::new("item", values.data_type().clone(), true);
    let offsets = arrow_buffer::OffsetBuffer::from_lengths(lengths);
    Arc::new(ListArray::new(Arc::new(field), offsets, values, None))
}

#[test]
fn columns_of_nothing_are_absent() {
    let nothing: ArrayRef = arrow_array::new_null_array(&arrow_schema::DataType::Null, 1);
    let records = read_columns(vec![
        ("src", ints(&[list(&[0])])),
        ("dst", ints(&[list(&[1])])),
        ("y", nothing.clone()),
        ("x", nothing.clone()),
        ("node_label", nothing.clone()),
        ("weight", nothing),
    ]);
    let expected = GraphRecord { num_nodes: 2, edges: vec![[0, 1]], ..GraphRecord::default() };
    assert_eq!(records.unwrap(), [expected]);
}

/// Later row groups may need columns, and kinds of scalars, that earlier ones
/// did not have: the file is then written again with all of them.
#[test]
fn later_rows_may_need_more_columns() {
    let large = |label: Option<Scalar>| GraphRecord {
        label,
        num_nodes: 10,
        edges: vec![[0, 1]; 4_200_000],
        ..GraphRecord::default()
    };
    let mut last = large(Some("text".into()));
    last.features = Some(Features { dim: 1, values: vec![0.5; 10] });
    let records = [large(None), large(Some(Scalar::Int(1))), large(Some(Scalar::Float(0.5))), last];
    let (_folder, path) = written(&records);
    let back = read(&path).unwrap();
    assert!(back == records, "a record changed");
}

#[test]
fn a_lying_row_count_is_bounded() {
    let limits = Limits::default().max_unpacked_bytes(1000);
    let graph = GraphRecord { num_nodes: 1, edges: vec![[0, 0]; 1_000], ..GraphRecord::default() };
    let (_folder, path) = written(&[graph]);
    let message = dataset::parquet::read(&path, &limits).err().unwrap().to_string();
    assert!(message.contains("1000 values"), "{message}");
    assert!(message.contains("max_unpacked_bytes"), "{message}");
}

/// One long text that a dictionary holds once and a row repeats.
#[test]
fn repeated_long_texts_are_bounded() {
    let limits = Limits::default().max_record_bytes(1 << 20);
    let graph = GraphRecord {
        num_nodes: 2_000,
        node_labels: Some(vec![Scalar::Text("x".repeat(1_000).into()); 2_000]),
        ..GraphRecord::default()
    };
    let (_folder, path) = written(&[graph]);
    let mut source = dataset::parquet::read(&path, &limits).unwrap();
    let message = source.next().unwrap().unwrap_err().to_string();
    assert!(
        message.contains("record 1: with `node_label`, its texts are longer than the"),
        "{message}"
    );
}

fn small_file() -> Vec<u8> {
    let graph = |id: &str, nodes: u32| GraphRecord {
        id: Some(id.into()),
        label: Some(Scalar::Int(1)),
        num_nodes: nodes,
        edges: (1..nodes).map(|node| [0, node]).collect(),
        weights: Some((1..nodes).map(f64::from).collect()),
        node_labels: Some((0..nodes).map(|_| "C".into()).collect()),
        features: Some(Features { dim: 2, values: vec![0.5; 2 * nodes as usize] }),
        ..GraphRecord::default()
    };
    let (_folder, path) = written(&[graph("a", 4), graph("b", 5), graph("c", 6)]);
    fs::read(path).unwrap()
}

fn drain(path: &Path) -> Option<String> {
    match read(path) {
        Ok(_) => None,
        Err(error) => Some(error.to_string()),
    }
}

#[test]
fn a_cut_file_is_refused() {
    let bytes = small_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cut.parquet");
    for length in 0..bytes.len() {
        fs::write(&path, &bytes[..length]).unwrap();
        let message = drain(&path).unwrap();
        assert!(
            message.contains("cut.parquet: it cannot be read as Parquet"),
            "{length}: {message}"
        );
    }
    for start in 1..bytes.len() {
        fs::write(&path, &bytes[start..]).unwrap();
        assert!(drain(&path).is_some(), "{start}");
    }
}

/// The decoder would pass over two hundred thousand million booleans, one by one.
#[test]
fn a_footer_of_endless_lists_is_refused_at_once() {
    let mut bytes = small_file();
    let end = bytes.len() - 8;
    let length = u32::from_le_bytes(bytes[end..end + 4].try_into().unwrap());
    // Field 40: a list of a hundred lists of 2³¹ − 1 booleans each.
    let lists = [0xf1, 0xff, 0xff, 0xff, 0xff, 7].repeat(100);
    let more = [&[0x09, 80, 0xf9, 100], &lists[..]].concat();
    bytes[end..end + 4].copy_from_slice(&(length + more.len() as u32).to_le_bytes());
    // Before the byte that ends the footer.
    bytes.splice(end - 1..end - 1, more);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("endless.parquet");
    fs::write(&path, &bytes).unwrap();
    let message = drain(&path).unwrap();
    assert!(message.contains("what it says about itself is not as it should be"), "{message}");
}

/// Damage anywhere gives graphs or an error, never a panic; most of it is found.
#[test]
fn a_flipped_byte_is_survived() {
    let bytes = small_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("flipped.parquet");
    for at in 0..bytes.len() {
        for flip in [0xff, 0x01, 0x80] {
            let mut damaged = bytes.clone();
            damaged[at] ^= flip;
            fs::write(&path, &damaged).unwrap();
            if let Some(message) = drain(&path) {
                assert!(message.contains("flipped.parquet"), "{message}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn records_survive(records in proptest::collection::vec(crate::common::record(), 1..8)) {
        let (_folder, path) = written(&records);
        prop_assert_eq!(read(&path).unwrap(), tabled(records));
    }

    #[test]
    fn records_survive_in_memory(records in proptest::collection::vec(crate::common::record(), 1..8)) {
        let batch = dataset::parquet::batch(&records).unwrap();
        let read = dataset::parquet::records(&batch, Path::new("<rows>"), 0, &Limits::default());
        prop_assert_eq!(read.unwrap(), tabled(records));
    }
}

fn target(name: &str, value: Option<Scalar>) -> Target {
    Target { name: name.to_owned(), value }
}

#[test]
fn several_targets_come_in_columns_a_struct_or_a_list() {
    use arrow_array::StructArray;
    use arrow_schema::{DataType, Field};
    let ends = || ints(&[list(&[0]), list(&[0])]);
    let read = |more: Columns| {
        let columns: Columns = vec![("src", ends()), ("dst", ends())];
        read_columns(columns.into_iter().chain(more).collect()).unwrap()
    };
    let numbers = Float64Array::from(vec![Some(0.5), Some(f64::NAN)]);
    let words = StringArray::from(vec![None, Some("low")]);
    let numbers: ArrayRef = Arc::new(numbers);
    let words: ArrayRef = Arc::new(words);
    let half = Some(Scalar::Float(0.5));
    let first = vec![target("gap", half.clone()), target("a,b", None)];
    let second = vec![target("gap", None), target("a,b", Some("low".into()))];

    let found = read(vec![
        ("y.gap", Arc::clone(&numbers)),
        ("y.a,b", Arc::clone(&words)),
        ("y", Arc::new(Int64Array::from(vec![3, 4]))),
    ]);
    assert_eq!((&found[0].label, &found[0].targets), (&Some(3.into()), &first));
    assert_eq!((&found[1].label, &found[1].targets), (&Some(4.into()), &second));

    let field =
        |name: &str, of: &ArrayRef| Arc::new(Field::new(name, of.data_type().clone(), true));
    let together = StructArray::from(vec![
        (field("gap", &numbers), Arc::clone(&numbers)),
        (field("a,b", &words), Arc::clone(&words)),
        (field("y", &words), Arc::clone(&words)),
    ]);
    let found = read(vec![("y", Arc::new(together))]);
    assert_eq!((&found[0].label, &found[0].targets), (&None, &first));
    assert_eq!((&found[1].label, &found[1].targets), (&Some("low".into()), &second));

    let lists = ints(&[Some(vec![Some(7), None]), None]);
    let found = read(vec![("y", lists)]);
    assert_eq!(found[0].targets, [target("0", Some(7.into())), target("1", None)]);
    assert_eq!((&found[1].label, &found[1].targets), (&None, &vec![]));

    let refused = |more: Columns| {
        let columns: Columns = vec![("src", ends()), ("dst", ends())];
        let read = read_columns(columns.into_iter().chain(more).collect());
        read.unwrap_err().to_string()
    };
    let said = refused(vec![("y.gap", ints(&[list(&[1]), list(&[1])]))]);
    assert!(said.contains("column `y.gap` is `List("), "{said}");
    let said = refused(vec![("y.y", Arc::clone(&numbers)), ("y", Arc::clone(&numbers))]);
    assert!(said.contains("two columns hold the target `y`"), "{said}");
    let infinite = Float64Array::from(vec![0.5, f64::INFINITY]);
    let said = refused(vec![("y.gap", Arc::new(infinite))]);
    assert!(said.contains("record 2") && said.contains("`y.gap` holds `inf`"), "{said}");
    let nested = StructArray::from(vec![(
        Arc::new(Field::new("gap", DataType::Struct(vec![field("a", &numbers)].into()), true)),
        Arc::new(StructArray::from(vec![(field("a", &numbers), numbers)])) as ArrayRef,
    )]);
    let said = refused(vec![("y", Arc::new(nested))]);
    assert!(said.contains("column `y` is `Struct("), "{said}");
}

#[test]
fn numbers_to_predict_are_numbers_in_the_file() {
    let record = |y: Scalar, more: Scalar| GraphRecord {
        label: Some(y),
        targets: vec![target("big", Some(more))],
        ..GraphRecord::default()
    };
    let long = Scalar::Int(i64::MAX);
    let records = [record(1.into(), long.clone()), record(Scalar::Float(0.5), 0.into())];
    let batch = dataset::parquet::batch(&records).unwrap();
    let kind = |batch: &RecordBatch, name: &str| {
        batch.column_by_name(name).unwrap().data_type().to_string()
    };
    assert_eq!([kind(&batch, "y"), kind(&batch, "y.big")], ["Float64", "Int64"]);
    // A whole number that is no float keeps its digits.
    let records = [record(1.into(), long), record(1.into(), Scalar::Float(0.5))];
    let batch = dataset::parquet::batch(&records).unwrap();
    assert_eq!(kind(&batch, "y.big"), "Utf8");
    let read = dataset::parquet::records(&batch, Path::new("<rows>"), 0, &Limits::default());
    assert_eq!(read.unwrap(), records);
}

#[test]
fn edges_have_rows_of_numbers_or_numbers() {
    let read = |edge_x: ArrayRef| {
        let ends = |row: &[i64]| ints(&[list(row)]);
        read_columns(vec![("src", ends(&[0, 1])), ("dst", ends(&[1, 2])), ("edge_x", edge_x)])
    };
    let found = read(floats(&[0.5, 2.0])).unwrap();
    assert_eq!(found[0].edge_features, Some(Features { dim: 1, values: vec![0.5, 2.0] }));
    let rows = |rows: &[&[f64]]| -> ArrayRef {
        let row = |row: &&[f64]| Some(row.iter().copied().map(Some).collect::<Vec<_>>());
        let inner = ListArray::from_iter_primitive::<Float64Type, _, _>(rows.iter().map(row));
        let field = arrow_schema::Field::new("item", inner.data_type().clone(), true);
        let offsets = arrow_buffer::OffsetBuffer::from_lengths([rows.len()]);
        Arc::new(ListArray::new(Arc::new(field), offsets, Arc::new(inner), None))
    };
    let found = read(rows(&[&[1.0, 2.0], &[3.0, 4.0]])).unwrap();
    let features = Features { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0] };
    assert_eq!(found[0].edge_features, Some(features));
    for (edge_x, said) in [
        (rows(&[&[1.0, 2.0], &[3.0]]), "`edge_x[1]` has 1 numbers, but `edge_x[0]` has 2"),
        (rows(&[&[1.0]]), "`edge_x` has 1 entries, but the graph has 2 edges"),
        (rows(&[&[1.0], &[f64::NAN]]), "`edge_x` holds `NaN`"),
        (floats(&[1.0]), "`edge_x` has 1 entries, but the graph has 2 edges"),
        (texts(&["a"]), "column `edge_x` is `Utf8`"),
    ] {
        let refused = read(edge_x).unwrap_err().to_string();
        assert!(refused.contains(said), "{refused}");
    }
}

#[test]
fn rows_in_memory_may_be_of_any_list_and_text_type() {
    use arrow_cast::cast;
    use arrow_schema::{DataType, Field};
    let field = |inner: DataType| Arc::new(Field::new("item", inner, true));
    let x = DataType::LargeList(field(DataType::FixedSizeList(field(DataType::Float32), 2)));
    let ends = ints(&[list(&[0, 1]), list(&[])]);
    let rows = ListArray::from_iter_primitive::<Float64Type, _, _>(
        (0..3).map(|node| Some(vec![Some(f64::from(node)), Some(0.5)])),
    );
    let offsets = arrow_buffer::OffsetBuffer::from_lengths([3, 0]);
    let x_rows: ArrayRef =
        Arc::new(ListArray::new(field(rows.data_type().clone()), offsets, Arc::new(rows), None));
    let ids: ArrayRef = Arc::new(StringArray::from(vec!["a", "b"]));
    let dictionary = DataType::Dictionary(Box::new(DataType::Int8), Box::new(DataType::Utf8));
    let batch = RecordBatch::try_from_iter([
        ("src", cast(&ends, &DataType::LargeList(field(DataType::UInt16))).unwrap()),
        ("dst", cast(&ends, &DataType::LargeList(field(DataType::Int32))).unwrap()),
        ("x", cast(&x_rows, &x).unwrap()),
        ("id", cast(&ids, &dictionary).unwrap()),
    ])
    .unwrap();
    let read = |rows: &RecordBatch, position| {
        dataset::parquet::records(rows, Path::new("<rows>"), position, &Limits::default())
    };
    let records = read(&batch, 0).unwrap();
    assert_eq!(records[0].edges, [[0, 0], [1, 1]]);
    assert_eq!(records[0].features.as_ref().unwrap().values, [0.0, 0.5, 1.0, 0.5, 2.0, 0.5]);
    assert_eq!((records[1].num_nodes, &records[1].id), (0, &Some(Scalar::from("b"))));
    assert_eq!(read(&batch.slice(1, 1), 1).unwrap(), records[1..]);
    let negative = ints(&[list(&[0]), list(&[-1])]);
    let bad = RecordBatch::try_from_iter([("src", negative.clone()), ("dst", negative)]).unwrap();
    let error = read(&bad, 10).unwrap_err().to_string();
    assert!(error.starts_with("<rows>, record 12: ") && error.contains("-1"), "{error}");
    let none = RecordBatch::try_from_iter([("src", ids)]).unwrap();
    assert!(read(&none, 0).unwrap_err().to_string().contains("write it as lists of integers"));
}

#[test]
fn rows_in_memory_with_smiles_are_molecules() {
    let smiles: ArrayRef = Arc::new(StringArray::from(vec!["CCO", "c1ccccc1", "C(("]));
    let names: ArrayRef = Arc::new(StringArray::from(vec!["ethanol", "benzene", "none"]));
    let numbers: ArrayRef = Arc::new(Float64Array::from(vec![Some(0.5), None, Some(1.0)]));
    let batch = RecordBatch::try_from_iter([
        ("name", names),
        ("smiles", smiles.clone()),
        ("logS", numbers),
    ]);
    let batch = batch.unwrap();
    let read = |rows: &RecordBatch, position| {
        dataset::parquet::records(rows, Path::new("<rows>"), position, &Limits::default())
    };
    let records = read(&batch.slice(0, 2), 0).unwrap();
    assert_eq!((records[0].num_nodes, records[1].edges.len()), (3, 6));
    assert_eq!(records[0].id, Some("ethanol".into()));
    let value = |record: &GraphRecord| record.targets[0].value.clone();
    assert_eq!([value(&records[0]), value(&records[1])], [Some(Scalar::Float(0.5)), None]);
    let error = read(&batch, 10).unwrap_err().to_string();
    assert!(error.starts_with("<rows>, record 13: ") && error.contains("no molecule"), "{error}");
}

/// Bytes of every kind of column that can hold a text, one of them no UTF-8.
fn bytes_of_every_kind() -> Vec<ArrayRef> {
    use arrow_array::types::Int8Type;
    let values: [&[u8]; 3] = [b"ab", b"c\xff", b"de"];
    let plain = BinaryArray::from_iter_values(values);
    let keys = arrow_array::Int8Array::from(vec![0, 1, 2]);
    vec![
        Arc::new(LargeBinaryArray::from_iter_values(values)),
        Arc::new(BinaryViewArray::from_iter_values(values)),
        Arc::new(FixedSizeBinaryArray::try_from_iter(values.into_iter()).unwrap()),
        Arc::new(DictionaryArray::<Int8Type>::new(keys, Arc::new(plain.clone()))),
        Arc::new(plain),
    ]
}

#[test]
fn bytes_that_are_no_text_are_refused_where_they_stand() {
    let ends = ints(&[list(&[0]), list(&[0]), list(&[0])]);
    for column in bytes_of_every_kind() {
        for name in ["id", "y"] {
            let columns =
                vec![("src", ends.clone()), ("dst", ends.clone()), (name, column.clone())];
            let batch = RecordBatch::try_from_iter(columns.clone()).unwrap();
            let origin = Path::new("rows");
            let memory = dataset::parquet::records(&batch, origin, 0, &Limits::default());
            for refused in [memory, read_columns(columns)] {
                let refused = refused.unwrap_err();
                assert!(refused.is_of_one_graph());
                let refused = refused.to_string();
                let said = format!("record 2: `{name}` holds `c\\xff`, which is not UTF-8");
                assert!(refused.contains(&said), "{:?}: {refused}", column.data_type());
            }
            // The others are as good as ever.
            let good = RecordBatch::try_from_iter([
                ("src", ends.slice(0, 1)),
                ("dst", ends.slice(0, 1)),
                (name, column.slice(0, 1)),
            ]);
            let good = dataset::parquet::records(&good.unwrap(), origin, 0, &Limits::default());
            let good = good.unwrap().remove(0);
            assert_eq!(good.id.or(good.label), Some(Scalar::from("ab")));
        }
        // A list of them is the labels of a graph's nodes.
        for name in ["nodes", "node_label", "edge_label"] {
            let lists = nested(column.clone(), vec![1, 1, 1]);
            let refused =
                read_columns(vec![("src", ends.clone()), ("dst", ends.clone()), (name, lists)]);
            let refused = refused.unwrap_err().to_string();
            assert!(refused.contains(&format!("record 2: `{name}` holds")), "{refused}");
        }
    }
}

/// The writer takes a text's word for it; a file whose column says UTF-8, or JSON, may still lie.
#[test]
fn a_column_that_lies_about_its_texts_is_refused() {
    let ends = ints(&[list(&[0])]);
    let plain: ArrayRef = Arc::new(StringArray::from(vec!["a longer text than a view holds"]));
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("graphs.parquet");
    let batch = RecordBatch::try_from_iter([("src", ends.clone()), ("dst", ends), ("id", plain)]);
    let batch = batch.unwrap();
    let properties = parquet::file::properties::WriterProperties::builder()
        .set_dictionary_enabled(false)
        .set_statistics_enabled(parquet::file::properties::EnabledStatistics::None)
        .build();
    let file = File::create(&path).unwrap();
    let mut writer = ArrowWriter::try_new(file, batch.schema(), Some(properties)).unwrap();
    writer.write(&batch).unwrap();
    writer.close().unwrap();
    let mut bytes = fs::read(&path).unwrap();
    let text = b"a longer text";
    let at = bytes.windows(text.len()).position(|window| window == text).unwrap();
    bytes[at] = 0xff;
    fs::write(&path, bytes).unwrap();
    assert!(read(&path).unwrap_err().to_string().contains("record 1"));
}

/// Made by pyarrow 26:
/// ```python
/// table = pa.table({"src": [[0]], "dst": [[1]], "note": ["x"]})
/// pq.write_table(table, "brotli.parquet", compression="brotli")
/// ```
#[test]
fn a_compression_that_is_not_compiled_in_is_named() {
    let refused = read(&fixture("brotli.parquet")).unwrap_err().to_string();
    assert!(refused.contains("`src.list.element` is compressed with Brotli"), "{refused}");
    assert!(!refused.contains("damaged"), "{refused}");
}

#[test]
fn an_integer_that_is_too_large_is_no_damage() {
    let ends = ints(&[list(&[0]), list(&[0])]);
    let ids: ArrayRef = Arc::new(UInt64Array::from(vec![1, u64::MAX]));
    let refused = read_columns(vec![("src", ends.clone()), ("dst", ends), ("id", ids)]);
    let refused = refused.unwrap_err().to_string();
    assert!(
        refused.contains("column `id`") && refused.contains("18446744073709551615"),
        "{refused}"
    );
    assert!(!refused.contains("damaged"), "{refused}");
}

#[test]
fn integers_of_any_width_are_read() {
    let small: ArrayRef =
        Arc::new(ListArray::from_iter_primitive::<Int32Type, _, _>([Some(vec![Some(1)])]));
    let records = read_columns(vec![
        ("src", small.clone()),
        ("dst", small),
        ("y", Arc::new(Int32Array::from(vec![3]))),
    ]);
    assert_eq!(records.unwrap()[0].label, Some(Scalar::Int(3)));
}

proptest! {
    #[test]
    fn damaged_files_give_whole_graphs_or_errors(
        ours in crate::common::damaged(small_file()),
        pyarrow in crate::common::damaged(fs::read(fixture("pyarrow.parquet")).unwrap()),
        polars in crate::common::damaged(fs::read(fixture("polars.parquet")).unwrap()),
    ) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("damaged.parquet");
        for bytes in [ours, pyarrow, polars] {
            fs::write(&path, bytes).unwrap();
            match read(&path) {
                Ok(records) => prop_assert!(records.iter().all(crate::common::is_whole)),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
    }
}

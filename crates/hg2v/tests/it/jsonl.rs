//! JSONL: what goes in comes out, and what is wrong is said with its place.

#[allow(dead_code)]
use std::io::Write;
use std::path::Path;

use flate2::Compression;
use flate2::write::GzEncoder;
use hg2v::dataset::{self, Format, Limits, jsonl};
use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;

/// Reads bytes as a file of that name would be read.
fn read(bytes: &[u8], limits: &Limits) -> hg2v::Result<Vec<GraphRecord>> {
    let bytes = std::io::Cursor::new(bytes.to_vec());
    dataset::jsonl::from_reader(Path::new("graphs.jsonl"), bytes, limits)?.collect()
}

fn one(line: &str) -> GraphRecord {
    let mut records = read(line.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(records.len(), 1);
    records.remove(0)
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Writes records to a file and gives its path's folder and its content.
fn written(records: &[GraphRecord], name: &str) -> (tempfile::TempDir, std::path::PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    let mut sink = dataset::create(&path, None).unwrap();
    for record in records {
        sink.write(record).unwrap();
    }
    sink.finish().unwrap();
    (folder, path)
}

#[test]
fn what_is_to_be_predicted_comes_alone_in_lists_or_by_name() {
    let read = |y: &str| one(&format!(r#"{{"edges":[[0,1],[1,2]],"y":{y},"edge_x":[1,2.5]}}"#));
    let target = |name: &str, value| Target { name: name.to_owned(), value };
    let list = read("[1.5,null,\"high\"]");
    let (number, text) = (Some(Scalar::Float(1.5)), Some(Scalar::from("high")));
    let listed = [target("0", number.clone()), target("1", None), target("2", text.clone())];
    assert_eq!((&list.label, &list.targets[..]), (&None, &listed[..]));
    assert_eq!(list.edge_features, Some(Features { dim: 1, values: vec![1.0, 2.5] }));
    let named = read(r#"{"logp":1.5,"y":7,"class":"high","gap":null}"#);
    let expected = [target("logp", number), target("class", text), target("gap", None)];
    assert_eq!((named.label, named.targets), (Some(7.into()), expected.into()));
    for nothing in ["null", "[]", "{}"] {
        let record = read(nothing);
        assert_eq!((record.label, record.targets), (None, vec![]), "{nothing}");
    }
    assert_eq!(read("true").label, Some(Scalar::Bool(true)));
    // As they are written: a list only where their names are its places.
    let line = |record| String::from_utf8(jsonl::line_of(&record).unwrap()).unwrap();
    let written = line(list);
    assert!(written.starts_with(r#"{"y":[1.5,null,"high"],"#), "{written}");
    assert!(written.ends_with(",\"edge_x\":[[1],[2.5]]}\n"), "{written}");
    let swapped = GraphRecord {
        targets: vec![target("1", Some(1.into())), target("0", None)],
        ..GraphRecord::default()
    };
    assert_eq!(line(swapped), "{\"y\":{\"1\":1,\"0\":null},\"edges\":[]}\n");
}

#[test]
fn every_key_is_understood() {
    let record = one(
        r#"{"id":"g1","y":-1,"directed":true,"nodes":["a","b",3],"edges":[["a","b"],["b",3,0.5]],
            "x":[[1,2.5],[0,0],[-1,1e-3]],"node_labels":[6,6,7],"edge_labels":["s","d"],"edge_x":[[0.5,-1],[2,1e-3]]}"#
            .replace('\n', "")
            .as_str(),
    );
    let expected = GraphRecord {
        targets: Vec::new(),
        edge_features: Some(Features { dim: 2, values: vec![0.5, -1.0, 2.0, 1e-3] }),
        id: Some("g1".into()),
        label: Some(Scalar::Int(-1)),
        num_nodes: 3,
        node_ids: Some(vec!["a".into(), "b".into(), Scalar::Int(3)]),
        edges: vec![[0, 1], [1, 2]],
        weights: Some(vec![1.0, 0.5]),
        edge_labels: Some(vec!["s".into(), "d".into()]),
        node_labels: Some(vec![6.into(), 6.into(), 7.into()]),
        features: Some(Features { dim: 2, values: vec![1.0, 2.5, 0.0, 0.0, -1.0, 1e-3] }),
        directed: true,
        folded_repeats: 0,
    };
    assert_eq!(record, expected);
}

#[test]
fn the_number_of_nodes_follows_from_what_is_there() {
    for (line, nodes) in [
        (r#"{"edges":[]}"#, 0),
        (r#"{"edges":[[0,4]]}"#, 5),
        (r#"{"edges":[[0,1]],"n":12}"#, 12),
        (r#"{"edges":[[0,1]],"x":[[1],[2],[3]]}"#, 3),
        (r#"{"edges":[],"node_labels":["C","N"]}"#, 2),
        (r#"{"edges":[[5,7]],"nodes":[5,6,7]}"#, 3),
        (r#"{"edges":[[1,0]],"nodes":[0,1,2,3]}"#, 4),
    ] {
        assert_eq!(one(line).num_nodes, nodes, "{line}");
    }
    assert_eq!(one(r#"{"edges":[[1,0]],"nodes":[0,1]}"#).node_ids, None);
}

#[test]
fn blank_lines_a_byte_order_mark_and_windows_ends_are_no_matter() {
    let text = "\u{feff}{\"edges\":[[0,1]]}\r\n\r\n   \n{\"edges\":[[0,2]]}";
    let records = read(text.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(records.iter().map(|r| r.num_nodes).collect::<Vec<_>>(), [2, 3]);
}

#[test]
fn gzip_members_one_after_the_other_are_one_stream() {
    let mut bytes = gzip(b"{\"edges\":[[0,1]]}\n{\"edges\"");
    bytes.extend(gzip(b":[[0,2]]}\n"));
    assert_eq!(read(&bytes, &Limits::default()).unwrap().len(), 2);
}

#[test]
fn unknown_keys_are_said_once() {
    let text = "{\"edges\":[],\"colour\":{\"deep\":[1,[2]]}}\n{\"edges\":[],\"colour\":1}\n";
    let bytes = std::io::Cursor::new(text);
    let mut source =
        dataset::jsonl::from_reader(Path::new("a.jsonl"), bytes, &Limits::default()).unwrap();
    assert_eq!(source.by_ref().filter(Result::is_ok).count(), 2);
    assert_eq!(source.ignored(), ["key `colour`, which is no part of the format"]);
}

#[test]
fn numbers_and_names_are_kept_to_the_bit() {
    let record = one(r#"{"id":9007199254740993,"y":0.30000000000000004,"nodes":[1,2.5,"1",true],
            "edges":[["1",2.5,5e-324]]}"#
        .replace('\n', "")
        .as_str());
    assert_eq!(record.id, Some(Scalar::Int(9_007_199_254_740_993)));
    assert_eq!(record.label, Some(Scalar::Float(0.1 + 0.2)));
    assert_eq!(record.edges, [[2, 1]]);
    assert_eq!(record.weights, Some(vec![f64::from_bits(1)]));
    assert_eq!(one(r#"{"edges":[],"y":null,"id":null}"#).label, None);
}

#[test]
fn lines_are_as_short_as_they_can_be() {
    let graph = GraphRecord {
        num_nodes: 3,
        edges: vec![[0, 1], [1, 1]],
        weights: Some(vec![2.0, 0.1]),
        ..GraphRecord::default()
    };
    let (_folder, path) = written(&[graph], "a.jsonl");
    let text = std::fs::read_to_string(path).unwrap();
    assert_eq!(text, "{\"nodes\":[0,1,2],\"edges\":[[0,1,2],[1,1,0.1]]}\n");
}

/// Each malformed line is the second of its file; the message must hold the
/// file, the line, and every given word.
#[test]
fn malformed_lines_are_refused_with_place_and_value() {
    let table: &[(&str, &[&str])] = &[
        ("hello", &["not JSON", "column 1", "`hello`"]),
        ("[1,2]", &["sequence", "an object"]),
        ("42", &["integer `42`", "an object"]),
        (r#"{"y":1}"#, &["no `edges`"]),
        (r#"{"edges":null}"#, &["`edges`", "null"]),
        (r#"{"edges":[[0,1]]"#, &["not JSON", "EOF"]),
        (r#"{"edges":[[0,1]]} trailing"#, &["not JSON", "trailing"]),
        (r#"{"edges":[[0,1]],"edges":[]}"#, &["`edges` twice"]),
        (r#"{"edges":[[0]]}"#, &["`edges[0]`", "fewer than two"]),
        (r#"{"nodes":[1,"1",1.0],"edges":[]}"#, &["`nodes[2]` is `1`, as `nodes[0]` is"]),
        (r#"{"edges":[[0,1],[0,1,2,3]]}"#, &["`edges[1]`", "more than three"]),
        (r#"{"edges":[7]}"#, &["`edges[0]`", "integer `7`"]),
        (r#"{"edges":[[0,1,"w"]]}"#, &["`edges[0]`", "\"w\"", "a number"]),
        (r#"{"edges":[[0,1,null]]}"#, &["`edges[0]`", "null"]),
        (r#"{"edges":[[0,null]]}"#, &["`edges[0]`", "null"]),
        (r#"{"edges":[[0,-3]]}"#, &["`edges[0]`", "`-3`", "negative"]),
        (r#"{"edges":[[0,1.5]]}"#, &["`edges[0]`", "`1.5`", "nodes"]),
        (r#"{"edges":[[0,1],["a",1]]}"#, &["`edges[1]`", "`a`", "add \"nodes\""]),
        (r#"{"edges":[["a","z"]],"nodes":["a","b"]}"#, &["`edges[0]`", "`z`", "not in `nodes`"]),
        (r#"{"edges":[],"nodes":["a","b","a"]}"#, &["`nodes[2]`", "`a`", "`nodes[0]`"]),
        (r#"{"edges":[],"nodes":[null]}"#, &["`nodes[0]`", "null"]),
        (r#"{"edges":[],"nodes":[[1]]}"#, &["`nodes[0]`", "sequence"]),
        (r#"{"edges":[[0,9]],"n":5}"#, &["`edges[0]`", "`9`", "5 nodes"]),
        (r#"{"edges":[[0,3]],"x":[[1],[2]]}"#, &["`edges[0]`", "`3`", "`x`"]),
        (r#"{"edges":[],"n":-1}"#, &["`n`", "-1"]),
        (r#"{"edges":[],"n":3,"nodes":[7,8]}"#, &["`n` stands for 3", "`nodes` for 2"]),
        (r#"{"edges":[],"x":[[1,2],[3]]}"#, &["`x[1]` has 1", "`x[0]` has 2"]),
        (r#"{"edges":[],"x":[[1],["b"]]}"#, &["`x[1]`", "\"b\"", "a number"]),
        (r#"{"edges":[],"x":[1,2]}"#, &["`x[0]`", "integer `1`"]),
        (r#"{"edges":[],"x":[[NaN]]}"#, &["`x[0]`", "`NaN`", "no such number"]),
        (r#"{"edges":[],"x":[[-Infinity]]}"#, &["`x[0]`", "Infinity`"]),
        (r#"{"edges":[],"x":[[1e999]]}"#, &["`x[0]`", "`1e999`", "out of range"]),
        (
            r#"{"edges":[],"x":[[1]],"node_labels":[1,2]}"#,
            &["`node_labels` stands for 2", "`x` for 1"],
        ),
        (r#"{"edges":[[0,1]],"edge_labels":[]}"#, &["`edge_labels` has 0", "1 edges"]),
        (r#"{"edges":[],"node_labels":[null]}"#, &["`node_labels[0]`", "null"]),
        (r#"{"edges":[[0,999999999999]]}"#, &["`edges[0]`", "`999999999999`", "max_nodes"]),
        (r#"{"edges":[],"n":1000000000}"#, &["1000000000", "max_nodes"]),
        (
            r#"{"edges":[[0,9223372036854775808]]}"#,
            &["`edges[0]`", "`9223372036854775808`", "quotes"],
        ),
        (
            r#"{"edges":[],"id":123456789012345678901}"#,
            &["`id`", "`123456789012345678901`", "quotes"],
        ),
        (r#"{"edges":[],"y":{"a":[1]}}"#, &["`y.a`", "sequence"]),
        (r#"{"edges":[],"y":{"a":1,"a":2}}"#, &["`y` has `a` twice"]),
        (r#"{"edges":[],"y":[1,[2]]}"#, &["`y[1]`", "sequence"]),
        (r#"{"edges":[],"y":[1,NaN]}"#, &["`y[1]`", "`NaN`", "no such number"]),
        (
            r#"{"edges":[],"y":{"a":123456789012345678901}}"#,
            &["`y.a`", "`123456789012345678901`", "quotes"],
        ),
        (r#"{"edges":[[0,1]],"edge_x":[]}"#, &["`edge_x` has 0", "1 edges"]),
        (r#"{"edges":[[0,1]],"edge_x":[[1],[2]]}"#, &["`edge_x` has 2", "1 edges"]),
        (
            r#"{"edges":[[0,1],[0,2]],"edge_x":[[1,2],[3]]}"#,
            &["`edge_x[1]` has 1", "`edge_x[0]` has 2", "every edge"],
        ),
        (
            r#"{"edges":[[0,1],[0,2]],"edge_x":[1,[3]]}"#,
            &["`edge_x[1]` has 1", "`edge_x[0]` is a number alone"],
        ),
        (r#"{"edges":[[0,1]],"edge_x":["b"]}"#, &["`edge_x[0]`", "\"b\"", "a number"]),
        (r#"{"edges":[[0,1]],"edge_x":[[null]]}"#, &["`edge_x[0]`", "null"]),
        (r#"{"edges":[[0,1]],"edge_x":[[NaN]]}"#, &["`edge_x[0]`", "`NaN`", "no such number"]),
        (r#"{"edges":[[0,1]],"edge_x":3}"#, &["`edge_x`", "integer `3`"]),
        (r#"{"edges":[],"directed":"yes"}"#, &["`directed`", "\"yes\""]),
        ("{\"edges\":[]\0}", &["not JSON"]),
    ];
    for (line, words) in table {
        let text = format!("{{\"edges\":[[0,1]]}}\n{line}\n{{\"edges\":[[0,1]]}}\n");
        let message = read(text.as_bytes(), &Limits::default()).unwrap_err().to_string();
        for word in ["graphs.jsonl, line 2"].iter().chain(*words) {
            assert!(message.contains(word), "{line}\n  lacks {word:?}: {message}");
        }
    }
}

#[test]
fn a_bad_line_comes_in_its_place() {
    let bytes = std::io::Cursor::new("{\"edges\":[]}\nwrong\n{\"edges\":[]}\n");
    let source =
        dataset::jsonl::from_reader(Path::new("a.jsonl"), bytes, &Limits::default()).unwrap();
    let outcomes: Vec<bool> = source.map(|graph| graph.is_ok()).collect();
    assert_eq!(outcomes, [true, false, true]);
}

#[test]
fn broken_utf8_is_refused_with_its_byte() {
    let message = read(b"{\"edges\":[],\"id\":\"\xff\"}", &Limits::default());
    let message = message.unwrap_err().to_string();
    for word in ["line 1", "byte 19", "xff", "UTF-8"] {
        assert!(message.contains(word), "{message}");
    }
}

#[test]
fn an_empty_stream_holds_no_graphs() {
    for bytes in [&b""[..], b"\n\n", &gzip(b"")] {
        let message = read(bytes, &Limits::default()).unwrap_err().to_string();
        assert!(message.contains("holds no graphs"), "{message}");
    }
}

#[test]
fn deep_nesting_is_an_error_not_a_crash() {
    let deep = "[".repeat(100_000);
    for line in [
        deep.clone(),
        format!("{{\"edges\":{deep}"),
        format!("{{\"edges\":[],\"x\":{deep}"),
        format!("{{\"edges\":[],\"other\":{deep}"),
        format!("{{\"edges\":[],\"y\":{}", "{\"a\":".repeat(100_000)),
    ] {
        let message = read(line.as_bytes(), &Limits::default()).unwrap_err().to_string();
        assert!(message.contains("line 1"), "{message}");
        assert!(message.len() < 600, "{}", message.len());
    }
}

#[test]
fn damaged_gzip_is_refused() {
    let whole = gzip("{\"edges\":[[0,1]]}\n".repeat(5000).as_bytes());
    let cut = &whole[..whole.len() / 2];
    let message = read(cut, &Limits::default()).unwrap_err().to_string();
    assert!(message.contains("ends too soon"), "{message}");
    let followed = [&whole[..], b"garbage"].concat();
    let message = read(&followed, &Limits::default()).unwrap_err().to_string();
    assert!(message.contains("graphs.jsonl, line 5001: the compressed stream"), "{message}");
    let mut wrong = whole.clone();
    let middle = whole.len() - 6;
    wrong[middle] ^= 0x55;
    let message = read(&wrong, &Limits::default()).unwrap_err().to_string();
    assert!(message.contains("damaged"), "{message}");
}

/// An endless line, compressed to almost nothing, must stop at the limit.
#[test]
fn an_endless_line_is_refused_at_the_limit() {
    struct Endless;
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            buffer.fill(b' ');
            Ok(buffer.len())
        }
    }
    let limits = Limits::default().max_record_bytes(5 << 20);
    let bombs: [Box<dyn std::io::Read + Send>; 2] =
        [Box::new(Endless), Box::new(std::io::Cursor::new(gzip(&vec![b'['; 40 << 20])))];
    for bomb in bombs {
        let mut source = dataset::jsonl::from_reader(Path::new("b.jsonl"), bomb, &limits).unwrap();
        let message = source.next().unwrap().unwrap_err().to_string();
        // Whoever asks for what follows is not kept for ever.
        assert!(source.last().is_none_or(|end| !end.unwrap_err().is_of_one_graph()));
        assert!(
            message.contains("b.jsonl, line 1: the line is longer than the 5242880"),
            "{message}"
        );
    }
    let limits = Limits::default().max_record_bytes(20);
    let text = "{\"edges\":[[0,1]]}\n{\"edges\":[[0,1],[0,2]]}\n";
    let message = read(text.as_bytes(), &limits).unwrap_err().to_string();
    assert!(message.contains("line 2: the line is longer than the 20"), "{message}");
}

#[test]
fn order_is_kept_over_many_batches() {
    let text: String =
        (0..60_000).map(|i| format!("{{\"id\":{i},\"edges\":[[0,1],[1,2]]}}\n")).collect();
    let records = read(&gzip(text.as_bytes()), &Limits::default()).unwrap();
    assert_eq!(records.len(), 60_000);
    for (position, record) in (0i64..).zip(&records) {
        assert_eq!(record.id, Some(Scalar::Int(position)));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn records_survive(records in proptest::collection::vec(crate::common::record(), 1..8)) {
        for (name, format) in [("a.jsonl", Format::Jsonl), ("a.jsonl.gz", Format::JsonlGz)] {
            let (_folder, path) = written(&records, name);
            let source = dataset::open(&path, &Limits::default()).unwrap();
            prop_assert_eq!(source.format, format);
            let back: Vec<_> = source.map(Result::unwrap).collect();
            prop_assert_eq!(&back, &records);
        }
    }
}

/// Looking through the line for each of them would take hours.
#[test]
fn many_numbers_beyond_64_bits_are_read_in_one_look() {
    let numbers = vec!["1e19"; 400_000].join(",");
    let line = format!(r#"{{"edges":[],"n":400000,"node_labels":[{numbers}]}}"#);
    let records = read(line.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(records[0].node_labels.as_ref().unwrap()[399_999], Scalar::Float(1e19));
    let line = line.replace("[1e19,", "[10000000000000000000,");
    let error = read(line.as_bytes(), &Limits::default()).unwrap_err().to_string();
    assert!(error.contains("10000000000000000000"), "{error}");
}

const EVERY_KEY: &str = r#"{"id":"a","y":1,"n":3,"edges":[[0,1],[1,2,0.5]],"x":[[1,2e-3],[3,4],[5,6]],"node_labels":["C","N","\u00e9\n"],"edge_labels":[1,true]}
{"id":7,"y":-2.5,"directed":true,"edges":[["p","q"],[12345678901,"q"]],"nodes":["p","q",12345678901]}
"#;

proptest! {
    #[test]
    fn damaged_lines_give_whole_graphs_or_errors(
        plain in crate::common::damaged(EVERY_KEY.as_bytes().to_vec()),
        packed in crate::common::damaged(gzip(EVERY_KEY.as_bytes())),
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
    ) {
        for bytes in [plain, packed, bytes] {
            match read(&bytes, &Limits::default()) {
                Ok(records) => prop_assert!(records.iter().all(crate::common::is_whole)),
                Err(error) => prop_assert!(error.to_string().len() < 1000),
            }
        }
    }
}

#[test]
fn bytes_after_a_compressed_stream_are_named() {
    let line = b"{\"edges\":[[0,1]]}\n";
    let two = [gzip(line), gzip(line)].concat();
    assert_eq!(read(&two, &Limits::default()).unwrap().len(), 2);
    for more in [&b"plain"[..], b"\0\0"] {
        let refused = read(&[&two, more].concat(), &Limits::default()).unwrap_err().to_string();
        assert!(refused.contains("followed by bytes that are not compressed"), "{refused}");
    }
    let refused = read(&[&two[..], &two[..20]].concat(), &Limits::default()).unwrap_err();
    assert!(refused.to_string().contains("ends too soon"), "{refused}");
}

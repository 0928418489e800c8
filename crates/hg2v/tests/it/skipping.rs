//! One bad graph among good ones: every reader says it, goes on behind it, and can leave it out.

use std::fs;
use std::path::Path;

use hg2v::dataset::{self, Limits, Skipped};
use hg2v::graph::Scalar;

/// The ids of the graphs that are left at `path`, and what was said of the others.
fn left(path: &Path, limits: &Limits) -> (Vec<String>, Skipped) {
    let skipped = Skipped::default();
    let source = dataset::open(path, limits).unwrap().skipping(&skipped, |_, _| Ok(()));
    let ids = source.map(|record| record.unwrap().id.unwrap().to_string()).collect();
    (ids, skipped)
}

/// Reads files that lie in a folder together; `name` is the one to open.
#[track_caller]
fn check(files: &[(&str, &str)], name: &str, kept: &[&str], said: &[&str]) {
    let folder = tempfile::tempdir().unwrap();
    for (name, content) in files {
        fs::write(folder.path().join(name), content).unwrap();
    }
    let path = folder.path().join(name);
    let (ids, skipped) = left(&path, &Limits::default().max_nodes(50));
    assert_eq!(ids, kept, "{:?}", skipped.named());
    assert_eq!(skipped.count(), said.len() as u64, "{:?}", skipped.named());
    for (found, expected) in skipped.named().iter().zip(said) {
        assert!(found.to_string().contains(expected), "{found}");
    }
    // Without asking for it, the first one ends the reading.
    let all: hg2v::Result<Vec<_>> = dataset::open(&path, &Limits::default()).unwrap().collect();
    assert!(all.unwrap_err().is_of_one_graph());
}

#[test]
fn lines_of_jsonl() {
    let lines = [
        r#"{"edges":[[0,1]]}"#,
        r#"{"edges":[[0,1"#,
        r#"{"id":"named","edges":[[0,1]]}"#,
        r#"{"edges":[[0,7]],"n":2}"#,
        r#"{"edges":[[0,1]]}"#,
    ];
    // Ids are positions in the file.
    check(
        &[("g.jsonl", &lines.join("\n"))],
        "g.jsonl",
        &["0", "named", "4"],
        &["line 2", "line 4"],
    );
}

#[test]
fn a_line_that_is_too_long_is_passed_over_whole() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.jsonl");
    // Longer than what is read at once, so that its end comes much later.
    let long = format!(r#"{{"id":"{}","edges":[]}}"#, "x".repeat(5 << 20));
    let good = r#"{"edges":[[0,1]]}"#;
    for text in [
        format!("{good}\n{long}\n{good}\n{good}\n"),
        format!("{good}\n{long}\r\n\n{good}\n{good}"),
        format!("{good}\n{}\n{good}\n{good}", r#"{"edges":[[0,1]],"node_labels":["a","b"]}"#),
    ] {
        fs::write(&path, text).unwrap();
        let limits = Limits::default().max_record_bytes(30);
        let (ids, skipped) = left(&path, &limits);
        assert_eq!(ids, ["0", "2", "3"], "{:?}", skipped.named());
        let said = skipped.named()[0].to_string();
        assert!(said.contains("line 2: the line is longer"), "{said}");
    }
}

#[test]
fn graphs_of_csv() {
    check(
        &[
            ("graphs.csv", "graph,y,directed\na,1,\nb,1,\nc,2,maybe\nd,2,\ne,1,\n"),
            (
                "nodes.csv",
                "graph,node,x\na,0,1\na,1,2\nb,0,1\nb,1,oops\nc,0,1\nd,0,1\nd,0,2\ne,0,1\ne,1,1\n",
            ),
            ("edges.csv", "graph,src,dst,weight\na,0,1,1\nb,0,1,1\ne,0,9,1\n"),
        ],
        "",
        &["a"],
        &[
            "nodes.csv, line 5: column `x`: `oops`",
            "graphs.csv, line 4: column `directed`: `maybe`",
            "listed twice",
            "edges.csv, line 4: `9` is no node",
        ],
    );
}

#[test]
fn graphs_of_a_tu_set() {
    check(
        &[
            ("S_graph_indicator.txt", "1\n1\n2\n2\n3\n3\n4\n4\n5\n5\n"),
            ("S_A.txt", "1, 2\n2, 1\n3, 4\n4, 3\n5, 99\n6, 5\n7, 8\n8, 7\n9, 10\n10, 9\n"),
            ("S_node_attributes.txt", "1\n2\n1\nnan\n1\n1\n1\n1, 2\n1\n1\n"),
            ("S_graph_labels.txt", "1\n1\n1\n1\n1\n"),
            ("S_edge_labels.txt", "a\na\na\na\na\na\na\na\na\n\u{0}b\n"),
        ],
        "",
        &["0", "4"],
        &[
            "attributes.txt, line 4: `nan` is not a finite number",
            "A.txt, line 5: `99` is not a node",
            "line 8: `1, 2` has 2 numbers where line 1 has 1",
        ],
    );
}

#[test]
fn an_edge_between_two_graphs_spoils_both() {
    check(
        &[("S_graph_indicator.txt", "1\n1\n2\n2\n3\n"), ("S_A.txt", "1, 2\n2, 3\n3, 4\n")],
        "",
        &["2"],
        &["graph 1 and one of graph 2", "graph 1 and one of graph 2"],
    );
}

#[test]
fn files_of_a_folder_of_graphml() {
    let good = r#"<graphml><graph><node id="a"/></graph></graphml>"#;
    let bad = r#"<graphml><graph><node id="a"/><edge source="a" target="b"/></graph></graphml>"#;
    check(
        &[
            ("1.graphml", good),
            ("2.graphml", bad),
            ("3.graphml", "<graphml><gra"),
            ("4.graphml", good),
        ],
        "",
        &["1", "4"],
        &["2.graphml, line 1: the edge's end `b`", "3.graphml"],
    );
}

#[test]
#[cfg(feature = "parquet")]
fn rows_of_parquet() {
    use arrow_array::builder::{Int64Builder, ListBuilder};
    use arrow_array::{ArrayRef, RecordBatch};
    use parquet::arrow::ArrowWriter;
    use std::sync::Arc;

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.parquet");
    let column = |rows: &[&[i64]]| -> ArrayRef {
        let mut lists = ListBuilder::new(Int64Builder::new());
        rows.iter().for_each(|row| lists.append_value(row.iter().copied().map(Some)));
        Arc::new(lists.finish())
    };
    let src = column(&[&[0], &[0, 1], &[-1], &[0]]);
    let dst = column(&[&[1], &[1], &[1], &[1]]);
    let batch = RecordBatch::try_from_iter([("src", src), ("dst", dst)]).unwrap();
    let mut file = ArrowWriter::try_new(fs::File::create(&path).unwrap(), batch.schema(), None);
    file.as_mut().unwrap().write(&batch).unwrap();
    file.unwrap().close().unwrap();
    let (ids, skipped) = left(&path, &Limits::default());
    assert_eq!(ids, ["0", "3"]);
    let named: Vec<String> = skipped.named().iter().map(ToString::to_string).collect();
    assert!(named[0].contains("record 2") && named[1].contains("record 3"), "{named:?}");
}

#[test]
fn a_part_hears_nothing_of_the_others() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.jsonl");
    fs::write(&path, "{\"edges\":[]}\nno\n{\"edges\":[]}\nno\n{\"edges\":[]}\n{\"edges\":[]}\n")
        .unwrap();
    let part = |part| {
        let skipped = Skipped::default();
        let source = dataset::open(&path, &Limits::default()).unwrap().part(part, 2);
        let source = source.skipping(&skipped, |_, _| Ok(()));
        let ids: Vec<Scalar> = source.map(|record| record.unwrap().id.unwrap()).collect();
        (ids, skipped.count())
    };
    assert_eq!(part(1), (vec![0.into(), 2.into(), 4.into()], 0));
    assert_eq!(part(2), (vec![5.into()], 2));
}

#[test]
fn what_a_caller_refuses_is_left_out_too_and_nothing_left_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.jsonl");
    fs::write(&path, "{\"edges\":[]}\n{\"edges\":[[0,1]]}\nno\n").unwrap();
    let skipped = Skipped::default();
    let open = || dataset::open(&path, &Limits::default()).unwrap();
    let refuse = |_: &hg2v::graph::GraphRecord, _| Err(hg2v::Error::Stopped);
    let kept = open().skipping(&skipped, move |record, position| match record.edges.len() {
        0 => refuse(record, position),
        _ => Ok(()),
    });
    assert_eq!(kept.map(Result::unwrap).count(), 1);
    assert_eq!(skipped.count(), 2);
    let mut none = open().skipping(&skipped, refuse);
    let error = none.next().unwrap().unwrap_err().to_string();
    assert!(error.contains("none of its 3 graphs can be used"), "{error}");
    assert!(none.next().is_none());
}

#[test]
fn a_damaged_stream_ends_all_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("g.jsonl.gz");
    let mut file = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
    std::io::Write::write_all(&mut file, b"{\"edges\":[]}\nno\n{\"edges\":[]}\n").unwrap();
    let mut bytes = file.finish().unwrap();
    bytes.truncate(bytes.len() - 9);
    fs::write(&path, bytes).unwrap();
    let skipped = Skipped::default();
    let source = dataset::open(&path, &Limits::default()).unwrap();
    let last = source.skipping(&skipped, |_, _| Ok(())).last().unwrap().unwrap_err();
    assert!(!last.is_of_one_graph() && last.to_string().contains("ends too soon"), "{last}");
}

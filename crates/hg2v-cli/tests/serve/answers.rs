//! What the server says, beside what `embed` and `search` say.

use std::fs;
use std::io::Write;

use serde_json::{Value, json};

use crate::common::{done, hg2v};
use crate::process::{Server, bits, fit, folder, lines, rows, stream};

#[test]
fn vectors_are_those_of_embed_to_the_bit() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let expected = rows(&folder.path().join("e.npy"));
    let graphs = lines(folder.path());
    // One by one, all at once, and as a stream.
    for (line, expected) in graphs.iter().zip(&expected).take(5) {
        let answer = server.post("/embed", line);
        assert_eq!(answer.status, 200, "{answer:?}");
        assert_eq!(&bits(&answer.json()), expected);
        let graph: Value = serde_json::from_str(line).unwrap();
        assert_eq!((&answer.json()["id"], &answer.json()["y"]), (&graph["id"], &graph["y"]));
    }
    std::thread::scope(|scope| {
        for (line, expected) in graphs.iter().zip(&expected) {
            let server = &server;
            scope.spawn(move || assert_eq!(&bits(&server.post("/embed", line).json()), expected));
        }
    });
    let answer = server.ask(&stream(&graphs.join("\n")));
    assert_eq!(answer.status, 200);
    let answered: Vec<Value> =
        answer.body.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answered.iter().map(bits).collect::<Vec<_>>(), expected);
    // What came together was embedded together.
    let (graphs, batches) =
        (server.counter("hg2v_graphs_total"), server.counter("hg2v_batches_total"));
    assert_eq!(graphs, 5 + 24 + 24);
    assert!(batches < graphs, "{batches} batches of {graphs} graphs");
}

#[test]
fn every_line_of_a_stream_is_answered_by_a_line() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let graphs = lines(folder.path());
    // The last can be read and not be embedded.
    let body = format!(
        "{}\n\n{{\"edges\":[[0]]}}\nnonsense\n{}\r\n\n{{\"edges\":[[0,1,-1]]}}",
        graphs[0], graphs[1]
    );
    let answer = server.ask(&stream(&body));
    let answered: Vec<Value> =
        answer.body.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let expected = rows(&folder.path().join("e.npy"));
    assert_eq!(answered.len(), 5);
    assert_eq!(
        (bits(&answered[0]), bits(&answered[3])),
        (expected[0].clone(), expected[1].clone())
    );
    for (i, line, place) in [(1, 3, "line 3"), (2, 4, "line 4"), (4, 7, "record 7")] {
        assert_eq!(answered[i]["line"], line, "{answered:?}");
        assert!(answered[i]["error"].as_str().unwrap().contains(place), "{answered:?}");
    }
    // Answers come while the stream goes on, over a chunked body.
    let mut connection = server.connect();
    let chunk = |text: &str| format!("{:x}\r\n{text}\r\n", text.len());
    let head = "POST /embed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Content-Type: application/x-ndjson\r\nTransfer-Encoding: chunked\r\n\r\n";
    connection
        .write_all((head.to_owned() + &chunk(&format!("{}\n", graphs[2]))).as_bytes())
        .unwrap();
    let mut seen = String::new();
    let mut buffer = [0; 1 << 14];
    while !seen.contains("\"embedding\"") {
        let n = std::io::Read::read(&mut connection, &mut buffer).unwrap();
        assert!(n > 0, "{seen}");
        seen += std::str::from_utf8(&buffer[..n]).unwrap();
    }
    connection.write_all((chunk(&graphs[3]) + "0\r\n\r\n").as_bytes()).unwrap();
    let mut rest = String::new();
    std::io::Read::read_to_string(&mut connection, &mut rest).unwrap();
    assert!(rest.contains("\"embedding\"") && rest.ends_with("0\r\n\r\n"), "{rest:?}");
}

/// Long ones are parsed on other threads than short ones.
#[test]
fn long_and_short_lines_of_a_stream_keep_their_places() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let (graphs, expected) = (lines(folder.path()), rows(&folder.path().join("e.npy")));
    let pad = |length: usize| " ".repeat(length);
    let body = format!(
        "{}\n{}{}\nnonsense\n{}nonsense\n{}\n{}{}",
        graphs[0],
        pad(70_000),
        graphs[1],
        pad(300_000),
        graphs[2],
        graphs[3],
        pad(1 << 20)
    );
    let answer = server.ask(&stream(&body));
    let answered: Vec<Value> =
        answer.body.lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!(answered.len(), 6);
    for (line, graph) in [(0, 0), (1, 1), (4, 2), (5, 3)] {
        assert_eq!(bits(&answered[line]), expected[graph], "line {}", line + 1);
    }
    assert_eq!((&answered[2]["line"], &answered[3]["line"]), (&json!(3), &json!(4)));
}

#[test]
fn pyramids_are_kept_where_the_options_say() {
    let folder = folder();
    let kept = |name: &str| folder.path().join(name).exists();
    Server::start(folder.path(), "--data graphs.jsonl --no-page --cache-dir here");
    assert!(kept("here"));
    Server::start(folder.path(), "--data graphs.jsonl --no-page --no-cache --cache-dir there");
    assert!(!kept("there"));
}

#[test]
fn neighbours_are_those_of_search() {
    let folder = folder();
    let at = folder.path();
    let graphs = lines(at);
    let id: Value = serde_json::from_str::<Value>(&graphs[7]).unwrap()["id"].clone();
    let name = id.to_string().trim_matches('"').to_owned();
    for (options, search) in [
        ("--index e.npy --data graphs.jsonl", "e.npy"),
        ("--data graphs.jsonl --metric euclidean", "e.npy --metric euclidean"),
        ("--index e.csv --standardise", "e.csv --standardise"),
    ] {
        let server = Server::start(at, options);
        let line = format!("search {search} {name} --top 4 --json");
        let expected = done(at, &line.split_whitespace().collect::<Vec<_>>()).0;
        let expected: Value = serde_json::from_str(&expected).unwrap();
        let found = server.post("/search?top=4", &json!({ "id": id }).to_string()).json();
        assert_eq!(found["neighbors"], expected["queries"][0]["neighbors"], "{options}");
        assert_eq!((&found["metric"], &found["exact"]), (&expected["metric"], &expected["exact"]));
        // The graph itself is its own nearest, then the same others.
        let by_graph = server.post("/search?top=5", &graphs[7]).json();
        assert_eq!(by_graph["neighbors"][0]["position"], 7);
        assert_eq!(by_graph["neighbors"][1], found["neighbors"][0]);
    }
}

#[test]
fn graphs_that_cannot_be_used_are_left_out_where_that_is_asked_for() {
    let folder = folder();
    let at = folder.path();
    let mut graphs: Vec<Value> =
        lines(at).iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    graphs.iter_mut().for_each(|graph| drop(graph.as_object_mut().unwrap().remove("id")));
    let mut rows: Vec<String> = graphs.iter().map(Value::to_string).collect();
    // One that cannot be read, and one that cannot be embedded.
    rows.insert(3, "no".to_owned());
    rows.insert(9, r#"{"edges":[[0,1,-2.5]]}"#.to_owned());
    fs::write(at.join("spoiled.jsonl"), rows.join("\n")).unwrap();
    let (code, _, err) = hg2v(at, &["serve", "m", "--data", "spoiled.jsonl"]);
    assert!(code == 2 && err.contains("spoiled.jsonl, line 4"), "{code}: {err}");
    done(at, &["embed", "m", "spoiled.jsonl", "--out", "s.npy", "--skip-invalid"]);
    for options in ["", "--index s.npy"] {
        let server = Server::start(at, &format!("--data spoiled.jsonl {options} --skip-invalid"));
        server.until(|| server.said().contains("2 graphs skipped"));
        for place in [3, 9] {
            assert_eq!(server.get(&format!("/graphs/{place}")).status, 404);
        }
        // Graphs keep the numbers of their lines, as in the index.
        for (place, graph) in [(2, &graphs[2]), (5, &graphs[4]), (12, &graphs[10])] {
            let mut found = server.get(&format!("/graphs/{place}")).json();
            assert_eq!(found.as_object_mut().unwrap().remove("id"), Some(json!(place)));
            assert_eq!(&found, graph);
            let search = ["search", "s.npy", &place.to_string(), "--top", "4", "--json"];
            let expected: Value = serde_json::from_str(&done(at, &search).0).unwrap();
            let found = server.post("/search?top=4", &json!({ "id": place }).to_string()).json();
            assert_eq!(found["neighbors"], expected["queries"][0]["neighbors"], "{options}");
        }
        assert!(server.get("/").body.len() > 20_000 && !server.said().contains("no page"));
    }
}

/// Of graphs of the same name none is meant more than another.
#[test]
fn a_name_that_several_have_is_not_answered() {
    let folder = folder();
    let at = folder.path();
    let mut rows: Vec<String> =
        fs::read_to_string(at.join("e.csv")).unwrap().lines().map(str::to_owned).collect();
    let first = rows[1].split(',').next().unwrap().to_owned();
    let rest = rows[5].split_once(',').unwrap().1.to_owned();
    rows[5] = format!("{first},{rest}");
    fs::write(at.join("twins.csv"), rows.join("\n")).unwrap();
    let server = Server::start(at, "--index twins.csv");
    let answer = server.post("/search", &format!("{{\"id\":{first}}}"));
    assert_eq!(answer.status, 422, "{}", answer.body);
    assert!(answer.body.contains("2 graphs of the index are called"), "{}", answer.body);
}

#[test]
fn graphs_health_and_descriptions() {
    let folder = folder();
    let graphs = lines(folder.path());
    let server = Server::start(folder.path(), "--data graphs.jsonl");
    let graph: Value = serde_json::from_str(&graphs[3]).unwrap();
    let id = graph["id"].to_string().trim_matches('"').to_owned();
    assert_eq!(server.get(&format!("/graphs/{id}")).json(), graph);
    for path in ["/graphs/nobody", "/graphs/..%2f..%2fetc%2fpasswd", "/graphs/%00", "/nowhere"] {
        let answer = server.get(path);
        assert_eq!(answer.status, 404, "{path}");
        assert!(answer.json()["error"].is_string());
    }
    assert_eq!(server.get("/embed").status, 405);
    assert_eq!(server.get("/healthz").body, "ok\n");
    assert_eq!(server.get("/readyz").status, 200);
    let page = server.get("/");
    assert!(page.head.contains("text/html") && page.body.contains("hg2v"));
    assert!(page.head.to_ascii_lowercase().contains("content-security-policy"));
    // Every route is described, and nothing else is.
    let described = server.get("/openapi.json").json();
    let paths: Vec<&String> = described["paths"].as_object().unwrap().keys().collect();
    let known = [
        "/",
        "/embed",
        "/graphs/{id}",
        "/healthz",
        "/login",
        "/metrics",
        "/openapi.json",
        "/readyz",
        "/search",
    ];
    assert_eq!(paths, known);
    let counted = server.get("/metrics").body;
    for word in [
        "hg2v_requests_total{route=\"/graphs\",status=\"404\"} 3",
        "hg2v_requests_total{route=\"other\",status=\"404\"} 1",
        "# TYPE hg2v_request_seconds histogram",
        "hg2v_request_seconds_bucket{le=\"+Inf\"}",
        "hg2v_waiting 0",
    ] {
        assert!(counted.contains(word), "no {word} in {counted}");
    }
    let without = Server::start(folder.path(), "");
    assert!(without.get(&format!("/graphs/{id}")).body.contains("--data"));
    let answer = without.post("/search", &graphs[0]);
    assert_eq!(answer.status, 404);
    assert!(answer.body.contains("--index"));
}

/// The command warns of it; here it stands beside the vector.
#[test]
fn labels_that_training_never_met_are_told_in_the_answer() {
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    let graph = |id: usize, labels: &str| {
        format!("{{\"id\":{id},\"edges\":[[0,1],[1,2],[2,3]],\"node_labels\":[{labels}]}}")
    };
    let (known, unseen) =
        (graph(0, "\"C\",\"C\",\"O\",\"C\""), graph(1, "\"C\",\"Xx\",\"O\",\"Yy\""));
    let graphs: Vec<String> = (0..8).map(|i| graph(i, "\"C\",\"O\",\"C\",\"N\"")).collect();
    fs::write(at.join("graphs.jsonl"), [graphs, vec![known.clone()]].concat().join("\n")).unwrap();
    fit(at, "m", 0);
    let server = Server::start(at, "--data graphs.jsonl");
    let said = json!({ "unseen_labels": 2 });
    for path in ["/embed", "/search"] {
        assert_eq!(server.post(path, &unseen).json()["notes"], said, "{path}");
        assert_eq!(server.post(path, &known).json().get("notes"), None, "{path}");
    }
    // Each line has its own, whoever it was embedded with.
    let looped = known.replace("[[0,1],", "[[0,0],[0,1],[1,0],");
    let answer = server.ask(&stream(&[&*known, &*unseen, &*looped, &*known].join("\n")));
    let notes: Vec<Value> = (answer.body.lines())
        .map(|line| serde_json::from_str::<Value>(line).unwrap()["notes"].clone())
        .collect();
    let looped = json!({ "self_loops": 1, "repeated_edges": 1 });
    assert_eq!(notes, [Value::Null, said.clone(), looped, Value::Null]);
    // The command counts the same.
    fs::write(at.join("new.jsonl"), unseen).unwrap();
    let counted = done(at, &["embed", "m", "new.jsonl", "--out", "new.npy", "--json"]).0;
    let counted: Value = serde_json::from_str(&counted).unwrap();
    assert_eq!(counted["notes"]["applied"]["unseen_labels"], said["unseen_labels"]);
}

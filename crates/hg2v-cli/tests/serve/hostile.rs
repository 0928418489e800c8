//! What nobody should send: each gets a refusal, or nothing, and the next is served.

use std::io::Write;
use std::time::Duration;

use hg2v_serve::Options;

use crate::process::{Answer, Server, asked, folder, lines, post, soon, stream, within};

#[test]
fn bodies_that_are_no_graphs_are_refused_by_name() {
    let folder = folder();
    let server = Server::start(
        folder.path(),
        "--index e.npy --max-request-bytes 20000 --max-request-nodes 1000",
    );
    let deep = "[".repeat(9000);
    let long = format!("{{\"edges\":[[0,1]],\"id\":\"{}\"}}", "x".repeat(30_000));
    let cases: [(&str, u16, &str); 16] = [
        ("", 400, "line 1"),
        ("nonsense", 400, "line 1"),
        ("{", 400, "line 1"),
        ("[]", 400, "line 1"),
        ("null", 400, "line 1"),
        ("{\"edges\":[[0,1,2,3]]}", 400, "edge"),
        ("{\"edges\":[[0]]}", 400, "edge"),
        ("{\"edges\":[[0,1]],\"n\":1}", 400, "n"),
        ("{\"edges\":[],\"n\":4000000000}", 400, "1000"),
        ("{\"edges\":[],\"n\":2000}", 400, "1000"),
        ("{\"edges\":[],\"n\":-1}", 400, "n"),
        ("{\"edges\":[[0,1e999]]}", 400, "line 1"),
        ("{\"edges\":[[0,1]],\"x\":[[1]]}", 400, "x"),
        ("{\"edges\":[[0,1]]}{\"edges\":[[0,1]]}", 400, "line 1"),
        (&deep, 400, "line 1"),
        (&long, 413, "20000 bytes"),
    ];
    for (body, status, word) in cases {
        for path in ["/embed", "/search"] {
            let answer = server.post(path, body);
            let shown: String = body.chars().take(60).collect();
            assert_eq!(answer.status, status, "{path} {shown}: {answer:?}");
            assert!(answer.json()["error"].as_str().unwrap().contains(word), "{shown}: {answer:?}");
        }
    }
    for (path, status) in [
        ("/search?top=0", 400),
        ("/search?top=1001", 400),
        ("/search?top=-1", 400),
        ("/search?top=x", 400),
        ("/search?bottom=1", 400),
    ] {
        assert_eq!(server.post(path, &lines(folder.path())[0]).status, status, "{path}");
    }
    let missing = server.post("/search", "{\"id\":\"nobody\"}");
    assert_eq!(missing.status, 404);
    assert!(missing.body.contains("`nobody`"));
    let misplaced = server.post("/search", "{\"id\":0,\"top\":3}");
    assert_eq!(misplaced.status, 400);
    assert!(misplaced.body.contains("/search?top=N"), "{misplaced:?}");
    alive(&server, folder.path());
}

fn alive(server: &Server, folder: &std::path::Path) {
    assert_eq!(server.post("/embed", &lines(folder)[0]).status, 200);
    assert_eq!(server.counter("hg2v_waiting"), 0);
}

#[test]
fn heads_that_make_no_sense_end_the_connection() {
    let folder = folder();
    let server = Server::start(folder.path(), "");
    let many: String = (0..5000).map(|i| format!("X-{i}: y\r\n")).collect();
    let wide = format!("GET /{} HTTP/1.1\r\nHost: localhost\r\n\r\n", "a".repeat(200_000));
    let cases: Vec<Vec<u8>> = vec![
        b"\x16\x03\x01\x02\x00\x01\x00".to_vec(),
        b"GET\r\n\r\n".to_vec(),
        b"\0\0\0\0\r\n\r\n".to_vec(),
        b"GET / HTTP/9.9\r\n\r\n".to_vec(),
        format!("GET / HTTP/1.1\r\nHost: localhost\r\n{many}\r\n").into_bytes(),
        wide.into_bytes(),
        b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: -5\r\n\r\n".to_vec(),
        b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999999\r\n\r\n".to_vec(),
        b"POST /embed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef".to_vec(),
        b"POST /embed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n".to_vec(),
        b"POST /embed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nffffffffffffffffff\r\n".to_vec(),
        b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".to_vec(),
    ];
    for request in cases {
        let shown = String::from_utf8_lossy(&request[..request.len().min(80)]).into_owned();
        // A refusal, or the end of the connection: never an answer of success.
        if let Ok(answer) = asked(&server.address, &request) {
            assert!((400..600).contains(&answer.status), "{shown}: {answer:?}");
        }
    }
    alive(&server, folder.path());
}

#[test]
fn bodies_shorter_than_they_say_and_chunked_ones() {
    let folder = folder();
    let server = Server::start(folder.path(), "--timeout 1 --max-request-bytes 5000");
    let graph = &lines(folder.path())[0];
    // Longer than said: the rest is no request.
    let cut = post("/embed", graph).replace(&format!("Length: {}", graph.len()), "Length: 10");
    assert_eq!(server.ask(&cut).status, 400);
    // Shorter than said, and the connection closed.
    let short = post("/embed", graph).replace(&format!("Length: {}", graph.len()), "Length: 4999");
    let mut connection = server.connect();
    connection.write_all(short.as_bytes()).unwrap();
    connection.shutdown(std::net::Shutdown::Write).unwrap();
    let answer = Answer::read(connection).unwrap();
    assert!(matches!(answer.status, 0 | 400), "{answer:?}");
    // Shorter than said, and held open: told so after the time that a request may take.
    let mut connection = server.connect();
    connection.write_all(short.as_bytes()).unwrap();
    assert_eq!(Answer::read(connection).unwrap().status, 408);
    // In chunks, whole and too long.
    let head = "POST /embed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    let (a, b) = graph.split_at(graph.len() / 2);
    let chunks = format!("{head}{:x}\r\n{a}\r\n{:x}\r\n{b}\r\n0\r\n\r\n", a.len(), b.len());
    assert_eq!(server.ask(&chunks).status, 200);
    let endless = format!("{head}{}", format!("800\r\n{}\r\n", " ".repeat(0x800)).repeat(20));
    assert_eq!(server.ask(&endless).status, 413);
    alive(&server, folder.path());
}

#[test]
fn bodies_and_heads_that_drip_end_in_time() {
    let folder = folder();
    let server = Server::start(folder.path(), "--timeout 1");
    let graph = &lines(folder.path())[0];
    std::thread::scope(|scope| {
        // A byte of a body at a time.
        scope.spawn(|| {
            let mut connection = server.connect();
            let request = post("/embed", graph);
            let (head, body) = request.split_once("\r\n\r\n").unwrap();
            connection.write_all(format!("{head}\r\n\r\n").as_bytes()).unwrap();
            for byte in body.bytes().take(30) {
                if connection.write_all(&[byte]).is_err() {
                    break;
                }
                std::thread::sleep(Duration::from_millis(100));
            }
            let answer = Answer::read(connection).unwrap_or(Answer {
                status: 0,
                head: String::new(),
                body: String::new(),
            });
            assert!(matches!(answer.status, 0 | 408), "{answer:?}");
        });
        // A byte of a head at a time.
        scope.spawn(|| {
            let mut connection = server.connect();
            let mut sent = 0;
            for byte in
                b"POST /embed HTTP/1.1\r\nHost: localhost\r\nX: ".iter().chain([b'y'; 40].iter())
            {
                if connection.write_all(&[*byte]).is_err() {
                    break;
                }
                sent += 1;
                std::thread::sleep(Duration::from_millis(100));
            }
            assert!(sent < 80, "it was let drip on");
        });
        // A stream that stops.
        scope.spawn(|| {
            let mut connection = server.connect();
            let head = "POST /embed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                        Content-Type: application/x-ndjson\r\nContent-Length: 100000\r\n\r\n";
            connection.write_all(format!("{head}{graph}\n").as_bytes()).unwrap();
            let answer = Answer::read(connection).unwrap();
            assert_eq!(answer.status, 200);
            assert!(answer.body.contains("did not arrive in time"), "{answer:?}");
        });
        // A stream that goes on for ever, and never comes to the end of a line.
        scope.spawn(|| {
            let mut connection = server.connect();
            let head = stream("").replace("Length: 0", "Length: 100000");
            connection.write_all(format!("{head}{graph}\n").as_bytes()).unwrap();
            let answering = connection.try_clone().unwrap();
            let answer = scope.spawn(|| Answer::read(answering).unwrap());
            let mut sent = 0;
            while sent < 80 && !answer.is_finished() && connection.write_all(b" ").is_ok() {
                sent += 1;
                std::thread::sleep(Duration::from_millis(100));
            }
            assert!(sent < 80, "it was let drip on");
            let answer = answer.join().unwrap();
            assert!(answer.body.contains("\"embedding\""), "{answer:?}");
            assert!(answer.body.contains("did not arrive in time"), "{answer:?}");
        });
        // Others are served meanwhile.
        for _ in 0..20 {
            assert_eq!(server.post("/embed", graph).status, 200);
        }
    });
    alive(&server, folder.path());
}

#[test]
fn streams_and_bodies_share_what_may_be_held() {
    let folder = folder();
    let bytes = 64 << 10;
    let model = folder.path().join("m");
    let address = within(Options::new(model).max_request_bytes(bytes).max_held_bytes(bytes));
    let graph = &lines(folder.path())[0];
    let ask = |request: String| asked(&address, request.as_bytes()).unwrap();
    let large = || post("/embed", &format!("{graph}{}", " ".repeat(10_000)));
    assert_eq!(ask(large()).status, 200);
    // Most of a line, and nothing more. It is turned away where it meets a body that asks
    // whether it is there, and then comes again.
    let held = (0..100).find_map(|_| {
        let mut connection = std::net::TcpStream::connect(&address).unwrap();
        let head = stream("").replace("Length: 0", "Length: 100000");
        connection.write_all(format!("{head}{}", " ".repeat(60_000)).as_bytes()).unwrap();
        let counted = (0..40).any(|_| {
            std::thread::sleep(Duration::from_millis(5));
            ask(large()).status == 429
        });
        counted.then_some(connection)
    });
    let mut connection = held.expect("what a stream holds is not counted");
    let refused = ask(stream(&" ".repeat(10_000)));
    assert_eq!(refused.status, 200);
    assert!(refused.json()["error"].as_str().unwrap().contains("try again"), "{refused:?}");
    // There is room for a small one all the same, and for all once the line has ended.
    assert_eq!(ask(post("/embed", graph)).status, 200);
    connection.write_all(b"\n").unwrap();
    assert!(soon(|| ask(large()).status == 200), "what a stream held is not given back");
}

#[test]
fn who_keeps_to_the_bounds_alone_is_not_told_to_come_again() {
    let folder = folder();
    let most = 256 << 10;
    let bounds =
        Options::new(folder.path().join("m")).max_request_bytes(most).max_held_bytes(64 << 10);
    let address = within(bounds);
    let ask = |request: &str| asked(&address, request.as_bytes()).unwrap();
    let graph = &lines(folder.path())[0];
    // As long as may be, though longer than what may be held is said to be.
    let longest = format!("{}{graph}", " ".repeat(most as usize - graph.len()));
    assert_eq!(ask(&post("/embed", &longest)).status, 200);
    // The same as a line of a stream, more of which arrives with its end.
    let answer = ask(&stream(&format!("{longest}\n{}", format!("{graph}\n").repeat(100))));
    assert_eq!(answer.body.matches("\"embedding\"").count(), 101, "{answer:?}");
    // In pieces of a byte.
    let body: String = graph.chars().map(|byte| format!("1\r\n{byte}\r\n")).collect();
    let head = "POST /embed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Transfer-Encoding: chunked\r\n\r\n";
    assert!(graph.len() as u64 > most >> 10, "it is too short to tell");
    assert_eq!(ask(&format!("{head}{body}0\r\n\r\n")).status, 200);
}

/// Bytes that look random, in the place of a body and of a whole request.
#[test]
fn noise_changes_nothing() {
    let folder = folder();
    let server = Server::start(folder.path(), "--index e.npy");
    let mut state = 7u64;
    let mut byte = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 56) as u8
    };
    let graph = lines(folder.path())[0].clone().into_bytes();
    for round in 0..60 {
        let mut body = graph.clone();
        for _ in 0..=round % 7 {
            let at = (usize::from(byte()) * 256 + usize::from(byte())) % body.len();
            body[at] = byte();
        }
        let path = ["/embed", "/search"][round % 2];
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Length: {}\r\n\r\n",
            body.len()
        );
        let answer = asked(&server.address, &[head.into_bytes(), body].concat()).unwrap();
        assert!(matches!(answer.status, 200 | 400 | 422), "{answer:?}");
    }
    assert!(!server.said().contains("broke down"), "{}", server.said());
    alive(&server, folder.path());
}

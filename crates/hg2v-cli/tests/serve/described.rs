//! Every answer there is stands in `/openapi.json`.

use std::io::{Read, Write};

use hg2v_serve::Options;
use serde_json::Value;

use crate::process::{Answer, Server, asked, folder, lines, soon, within};

/// Each route for each kind of refusal that a request can bring about, and whether it says so.
#[test]
fn every_answer_is_described() {
    let folder = folder();
    let at = folder.path();
    let graph = &lines(at)[0];
    let open = Server::start(
        at,
        "--index e.npy --data graphs.jsonl --timeout 0.4 --max-request-bytes 16000000 --max-request-nodes 500000",
    );
    let closed = Server::start(at, "--token swordfish --timeout 0.4");
    let described = open.get("/openapi.json").json();
    let is_described = |path: &str, method: &str, answer: &Answer| {
        let status = answer.status;
        let operation = &described["paths"][path][method];
        let known = &operation["responses"][status.to_string()];
        assert!(known.is_object(), "{method} {path} does not tell of {status}");
        // What is said has the form that is described.
        let known = match known["$ref"].as_str() {
            Some(name) => described.pointer(name.strip_prefix('#').unwrap()).unwrap(),
            None => known,
        };
        if known["content"]["application/json"].is_object() && status >= 400 {
            assert!(answer.body.is_empty() || answer.json()["error"].is_string(), "{answer:?}");
        }
        for header in known["headers"].as_object().into_iter().flatten() {
            let head = answer.head.to_ascii_lowercase();
            assert!(head.contains(&format!("{}:", header.0.to_ascii_lowercase())), "{answer:?}");
        }
    };
    let check = |path: &str, method: &str, address: &str, request: &str, status: u16| {
        let answer = asked(address, request.as_bytes()).unwrap();
        let shown: String = request.chars().take(90).collect();
        assert_eq!(answer.status, status, "{shown:?}: {answer:?}");
        is_described(path, method, &answer);
    };
    let ask = |method: &str, path: &str, head: &str, body: &str| {
        let (method, length) = (method.to_ascii_uppercase(), body.len());
        format!(
            "{method} {path} HTTP/1.1\r\nConnection: close\r\n{head}Content-Length: {length}\r\n\r\n{body}"
        )
    };
    let (here, elsewhere) = ("Host: localhost\r\n", "Host: evil.example\r\n");
    let wide = format!("{here}X: {}\r\n", "x".repeat(200_000));

    for (path, operations) in described["paths"].as_object().unwrap() {
        let method = operations.as_object().unwrap().keys().next().unwrap();
        let url = path.replace("{id}", "nobody");
        let other = if method == "get" { "delete" } else { "get" };
        check(path, method, &open.address, &ask(method, &url, "", ""), 400);
        check(path, method, &open.address, &ask(other, &url, here, ""), 405);
        check(path, method, &open.address, &ask(method, &url, elsewhere, ""), 421);
        check(path, method, &open.address, &ask(method, &url, &wide, ""), 431);
        let long = format!("{url}?{}", "x".repeat(66_000));
        let long = asked(&open.address, ask(method, &long, here, "").as_bytes()).unwrap().status;
        assert!(operations[method]["responses"][long.to_string()].is_object(), "{path} {long}");
        if !matches!(&**path, "/healthz" | "/readyz" | "/login") {
            check(path, method, &closed.address, &ask(method, &url, here, ""), 401);
        }
    }
    for path in ["/", "/healthz", "/readyz", "/metrics", "/openapi.json"] {
        check(path, "get", &open.address, &ask("get", path, here, ""), 200);
    }
    check("/graphs/{id}", "get", &open.address, &ask("get", "/graphs/nobody", here, ""), 404);
    check("/graphs/{id}", "get", &open.address, &ask("get", "/graphs/%ff", here, ""), 400);
    let id: Value = serde_json::from_str::<Value>(graph).unwrap()["id"].clone();
    let known = format!("/graphs/{}", id.to_string().trim_matches('"'));
    check("/graphs/{id}", "get", &open.address, &ask("get", &known, here, ""), 200);

    let negative = graph.replacen("[[", "[[0,1,-1],[", 1);
    // How large a graph has to be to be late is a question of the machine.
    let larger = [250, 400, 600, 700].map(crate::load::large);
    for path in ["/embed", "/search"] {
        let check = |body: &str, status| {
            check(path, "post", &open.address, &ask("post", path, here, body), status);
        };
        check(graph, 200);
        check("nonsense", 400);
        check(&negative, 422);
        check(&" ".repeat(16_000_001), 413);
        let answer =
            |body: &String| asked(&open.address, ask("post", path, here, body).as_bytes()).unwrap();
        // This very answer: the same graph may be in time when it is asked for again.
        let late = larger.iter().map(answer).find(|answer| answer.status == 503);
        is_described(path, "post", &late.expect("a graph is late"));
    }
    // Late, and with nowhere to wait.
    let short = |path: &str| {
        let request = ask("post", path, here, "token=");
        request.replace("Length: 6", "Length: 100")
    };
    check("/embed", "post", &open.address, &short("/embed"), 408);
    check("/search", "post", &open.address, &short("/search"), 408);
    check("/search", "post", &open.address, &ask("post", "/search", here, "{\"id\":\"x\"}"), 404);

    let form = |body: &str| ask("post", "/login", here, body);
    check("/login", "post", &closed.address, &form("token=swordfish"), 303);
    check("/login", "post", &closed.address, &form("token=x"), 401);
    check("/login", "post", &closed.address, &form("nonsense"), 400);
    check("/login", "post", &closed.address, &form(&"x".repeat(20_000)), 413);
    check("/login", "post", &closed.address, &short("/login"), 408);
    check("/login", "post", &open.address, &form("token=x"), 404);

    // Two beginnings of bodies are all that there is room for.
    let full = within(
        Options::new(at.join("m"))
            .max_request_bytes(8 << 10)
            .max_held_bytes(8 << 10)
            .token(Some("swordfish".to_owned())),
    );
    let hold = || {
        let mut connection = std::net::TcpStream::connect(&full).unwrap();
        connection.write_all(short("/login").as_bytes()).unwrap();
        connection
    };
    let token = format!("{here}Authorization: Bearer swordfish\r\n");
    let busy = |path: &str| ask("post", path, &token, "token=x");
    let (mut held, mut attempts) = (Vec::new(), 0);
    for path in ["/login", "/embed", "/search"] {
        let mut refused = None;
        let found = soon(|| {
            // On a slow machine the wait for their bodies ends before somebody asks.
            if attempts % 200 == 0 {
                held = vec![hold(), hold()];
            }
            attempts += 1;
            let answer = asked(&full, busy(path).as_bytes()).unwrap();
            refused = Some(answer).filter(|answer| answer.status == 429);
            refused.is_some()
        });
        assert!(found, "{path}");
        is_described(path, "post", &refused.unwrap());
    }
    drop(held);

    // About to end: who came before may still ask.
    let mut connection = open.connect();
    open.signal("-TERM");
    let ready = "GET /readyz HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let (mut buffer, mut status) = ([0; 1000], String::new());
    while !status.starts_with("HTTP/1.1 503") {
        connection.write_all(ready.as_bytes()).unwrap();
        let length = connection.read(&mut buffer).unwrap();
        status = String::from_utf8_lossy(&buffer[..length]).into_owned();
        assert!(length > 0, "it ends without a word");
    }
    assert!(described["paths"]["/readyz"]["get"]["responses"]["503"].is_object());
}

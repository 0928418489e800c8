//! Who may ask: the token, the login, and names that point here.

use crate::common::hg2v;
use crate::process::{Answer, Server, asked, folder, lines};

fn get(address: &str, path: &str, head: &str) -> Answer {
    let request =
        format!("GET {path} HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n{head}\r\n");
    asked(address, request.as_bytes()).unwrap()
}

fn log_in(address: &str, form: &str, head: &str) -> Answer {
    let length = form.len();
    let request = format!(
        "POST /login HTTP/1.1\r\nHost: example.org\r\nConnection: close\r\n{head}\
         Content-Type: application/x-www-form-urlencoded\r\nContent-Length: {length}\r\n\r\n{form}"
    );
    asked(address, request.as_bytes()).unwrap()
}

/// The value of a header.
fn header(answer: &Answer, name: &str) -> Option<String> {
    let mut lines = answer.head.lines().filter_map(|line| line.split_once(": "));
    let found = lines.find(|(key, _)| key.eq_ignore_ascii_case(name));
    found.map(|(_, value)| value.to_owned())
}

#[test]
fn a_token_is_asked_for_and_names_that_point_here_are_not_believed() {
    let folder = folder();
    let server = Server::start_at(folder.path(), "--token swordfish", "0.0.0.0:0");
    let address = server.address.replace("0.0.0.0", "127.0.0.1");
    let ask = |head: &str| get(&address, "/metrics", head).status;
    assert_eq!(ask(""), 401);
    assert_eq!(ask("Authorization: Bearer sword\r\n"), 401);
    assert_eq!(ask("Authorization: Bearer swordfishes\r\n"), 401);
    assert_eq!(ask("Authorization: Basic swordfish\r\n"), 401);
    assert_eq!(ask("Authorization: swordfish\r\n"), 401);
    for scheme in ["Bearer", "bearer", "BEARER", "Bearer "] {
        assert_eq!(ask(&format!("Authorization: {scheme} swordfish\r\n")), 200, "{scheme}");
    }
    let refused = get(&address, "/metrics", "");
    assert_eq!(header(&refused, "WWW-Authenticate").unwrap(), "Bearer realm=\"hg2v\"");
    assert_eq!(get(&address, "/healthz", "").status, 200);
    server.until(|| server.said().contains("plain HTTP"));

    let server = Server::start(folder.path(), "");
    for (host, status) in [
        ("localhost", 200),
        ("127.0.0.1:8080", 200),
        ("[::1]:80", 200),
        ("evil.example", 421),
        ("127.0.0.1.evil.example", 421),
        ("localhost\r\nHost: localhost", 400),
    ] {
        let request = format!("GET /metrics HTTP/1.1\r\nHost: {host}\r\nConnection: close\r\n\r\n");
        assert_eq!(server.ask(&request).status, status, "{host}");
    }
    // The name in the first line counts, where there is one.
    let elsewhere = "GET http://evil.example/metrics HTTP/1.1\r\nHost: localhost\r\n\
                     Connection: close\r\n\r\n";
    assert_eq!(server.ask(elsewhere).status, 421);
    // Before HTTP/1.1 nobody had to say it.
    assert_eq!(server.ask("GET /metrics HTTP/1.0\r\n\r\n").status, 200);
    let without = server.ask("GET /metrics HTTP/1.1\r\nConnection: close\r\n\r\n");
    assert_eq!(without.status, 400);
    assert!(without.body.contains("Host"), "{without:?}");
}

#[test]
fn who_knows_the_token_opens_the_page_in_a_browser() {
    let folder = folder();
    let server = Server::start(folder.path(), "--token sword+fish%20 --data graphs.jsonl");
    let address = &server.address;
    let browser = "Accept: text/html,application/xhtml+xml,*/*;q=0.8\r\n";
    // A page that asks for the token, and nothing of the one behind it.
    let asks = get(address, "/", browser);
    assert_eq!(asks.status, 401);
    assert!(asks.body.contains("<form method=\"post\" action=\"login\">"), "{asks:?}");
    assert_eq!(header(&asks, "WWW-Authenticate").unwrap(), "Bearer realm=\"hg2v\"");
    // Programs hear it in their way.
    assert!(get(address, "/", "").json()["error"].is_string());
    assert!(get(address, "/metrics", browser).json()["error"].is_string());

    for wrong in ["token=swordfish", "token=", "token=sword+fish%20"] {
        let refused = log_in(address, wrong, "");
        assert_eq!(refused.status, 401, "{wrong}");
        assert!(refused.body.contains("That is not the token."), "{refused:?}");
        assert_eq!(header(&refused, "Set-Cookie"), None);
    }
    assert_eq!(log_in(address, "tok=1", "").status, 400);
    assert_eq!(log_in(address, &format!("token={}", "x".repeat(100_000)), "").status, 413);

    let form = "token=sword%2Bfish%2520";
    let entered = log_in(address, form, "");
    assert_eq!((entered.status, header(&entered, "Location").as_deref()), (303, Some("./")));
    let cookie = header(&entered, "Set-Cookie").unwrap();
    assert!(cookie.contains("; HttpOnly; SameSite=Strict"), "{cookie}");
    assert!(cookie.contains("Max-Age=43200") && !cookie.contains("Secure"), "{cookie}");
    assert!(!cookie.contains("sword"), "{cookie}");
    let behind_tls = log_in(address, form, "X-Forwarded-Proto: https, http\r\n");
    let secure = header(&behind_tls, "Set-Cookie").unwrap();
    assert!(secure.ends_with("; Secure"), "{secure}");
    // Each login is a session of its own, and both hold.
    let pair = |cookie: &str| cookie.split(';').next().unwrap().to_owned();
    assert_ne!(pair(&cookie), pair(&secure));
    for cookie in [pair(&cookie), pair(&secure)] {
        // Beside one of the same name that somebody else set.
        let name = cookie.split('=').next().unwrap();
        let head = format!("{browser}Cookie: other=1; {name}=0; {cookie}\r\n");
        let page = get(address, "/", &head);
        assert_eq!(page.status, 200);
        assert!(page.body.contains("Put a graph on the map"), "it is not the page");
        assert_eq!(get(address, "/metrics", &head).status, 200);
    }
    let mut forged = pair(&cookie);
    let last = forged.pop().unwrap();
    forged.push(if last == '0' { '1' } else { '0' });
    assert_eq!(get(address, "/metrics", &format!("Cookie: {forged}\r\n")).status, 401);
    // A session ends with the process, though another has the same token.
    let port = address.rsplit(':').next().unwrap().to_owned();
    drop(server);
    let listen = format!("127.0.0.1:{port}");
    let again = Server::start_at(folder.path(), "--token sword+fish%20", &listen);
    let head = format!("Cookie: {}\r\n", pair(&cookie));
    assert_eq!(get(&again.address, "/metrics", &head).status, 401);

    let open = Server::start(folder.path(), "");
    let request = "POST /login HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                   Content-Length: 7\r\n\r\ntoken=x";
    assert_eq!(open.ask(request).status, 404);
}

#[test]
fn tokens_that_no_header_can_carry_are_refused_at_the_start() {
    let folder = folder();
    let long = "x".repeat(5000);
    for (token, word) in [
        ("", "it must say something"),
        ("schlüssel", "no header can carry"),
        ("two\nlines", "no header can carry"),
        ("a\u{1}b", "no header can carry"),
        ("secret\n", "at an end"),
        (&long, "4096"),
    ] {
        let arguments = ["serve", "m", "--token", token, "--listen", "127.0.0.1:0"];
        let (code, _, err) = hg2v(folder.path(), &arguments);
        assert_eq!(code, 2, "{token:?}: {err}");
        assert!(err.contains("--token") && err.contains(word), "{token:?}: {err}");
        assert!(!err.contains("secret") && !err.contains("schl"), "it is told: {err}");
    }
}

#[test]
fn it_listens_at_names_too() {
    let folder = folder();
    let server = Server::start_at(folder.path(), "", "localhost:0");
    assert_eq!(server.post("/embed", &lines(folder.path())[0]).status, 200);
    for (listen, word) in [
        ("localhost", "a port"),
        ("8080", "a port"),
        ("localhost:http", "a port"),
        ("localhost:99999", "a port"),
        ("no.such.name.invalid:80", "nobody here knows"),
    ] {
        let (code, _, err) = hg2v(folder.path(), &["serve", "m", "--listen", listen]);
        assert_eq!(code, 2, "{listen}: {err}");
        assert!(err.contains(word), "{listen}: {err}");
    }
}

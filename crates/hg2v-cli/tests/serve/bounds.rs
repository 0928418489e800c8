//! Who does not read, drips or idles keeps no place from who asks.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Answer, Server, asked, folder, lines, post, soon};

const HEALTH: &str = "GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n";

/// Asks again and again without reading, until nothing more can be sent.
fn deaf(server: &Server) -> TcpStream {
    let mut connection = server.connect();
    connection.set_write_timeout(Some(Duration::from_millis(200))).unwrap();
    let many = HEALTH.repeat(1000);
    while connection.write_all(many.as_bytes()).is_ok() {}
    connection
}

#[test]
fn an_answer_that_nobody_reads_ends_its_connection() {
    let folder = folder();
    let server = Server::start(folder.path(), "--write-timeout 0.3");
    let mut connection = deaf(&server);
    // The other end is gone once writing is refused, instead of having to wait.
    let refused = |error: std::io::Error| error.kind() != std::io::ErrorKind::WouldBlock;
    assert!(soon(|| connection.write(b"x").is_err_and(refused)), "it is waited for");
}

#[test]
fn strangers_keep_nobody_out_who_knows_the_token_and_delay_no_end() {
    let folder = folder();
    let mut server = Server::start(folder.path(), "--token swordfish --connections 4");
    let graph = &lines(folder.path())[0];
    let deaf: Vec<TcpStream> = (0..10).map(|_| deaf(&server)).collect();
    let idle: Vec<TcpStream> = (0..10).map(|_| server.connect()).collect();
    let token = "\r\nAuthorization: Bearer swordfish\r\n\r\n";
    for _ in 0..5 {
        let request = post("/embed", graph).replace("\r\n\r\n", token);
        assert_eq!(server.ask(&request).status, 200);
    }
    server.signal("-TERM");
    assert_eq!(server.ended(), Some(0));
    assert!(!server.said().contains("did not end in time"), "{}", server.said());
    drop((deaf, idle));
}

#[test]
fn who_idles_or_drips_makes_room_and_who_drips_hears_why() {
    let folder = folder();
    let server = Server::start(folder.path(), "--connections 4");
    let graph = &lines(folder.path())[0];
    let dripping: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut connection = server.connect();
            let request = post("/embed", graph);
            connection.write_all(&request.as_bytes()[..request.len() - 9]).unwrap();
            connection
        })
        .collect();
    let idle: Vec<TcpStream> = (0..2)
        .map(|_| {
            let mut connection = server.connect();
            connection.write_all(HEALTH.as_bytes()).unwrap();
            assert!(connection.read(&mut [0; 1000]).unwrap() > 0);
            connection
        })
        .collect();
    // Each of these needs a place while all before it keep theirs.
    let mut kept = Vec::new();
    for _ in 0..4 {
        let mut connection = server.connect();
        connection.write_all(HEALTH.as_bytes()).unwrap();
        assert!(connection.read(&mut [0; 1000]).unwrap() > 0);
        kept.push(connection);
    }
    for connection in dripping {
        let answer = Answer::read(connection).unwrap();
        assert_eq!(answer.status, 429, "{answer:?}");
    }
    assert!(server.counter("hg2v_evicted_total") >= 4);
    drop((idle, kept));
}

#[test]
fn bodies_that_drip_take_no_place_among_those_who_wait() {
    let folder = folder();
    let server = Server::start(folder.path(), "--queue 1");
    let graph = &lines(folder.path())[0];
    let request = post("/embed", graph);
    let mut dripping: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    for connection in &mut dripping {
        connection.write_all(&request.as_bytes()[..request.len() - 9]).unwrap();
    }
    server.until(|| server.counter("hg2v_connections_total") >= 9);
    for _ in 0..20 {
        assert_eq!(server.post("/embed", graph).status, 200);
    }
    // Once they are there they are answered.
    for mut connection in dripping {
        connection.write_all(&request.as_bytes()[request.len() - 9..]).unwrap();
        assert_eq!(Answer::read(connection).unwrap().status, 200);
    }
}

#[test]
fn small_graphs_do_not_wait_behind_large_ones() {
    let folder = folder();
    let server = Server::start(folder.path(), "--threads 1 --timeout 600");
    let (small, large) = (&lines(folder.path())[0], crate::load::large(200));
    let done = AtomicUsize::new(0);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                let answer = asked(&server.address, post("/embed", &large).as_bytes()).unwrap();
                assert_eq!(answer.status, 200, "{answer:?}");
                done.fetch_add(1, Ordering::Relaxed);
            });
        }
        server.until(|| server.counter("hg2v_waiting") == 3);
        assert_eq!(server.post("/embed", small).status, 200);
        assert_eq!(done.load(Ordering::Relaxed), 0, "it waited for a large one");
    });
}

#[test]
fn who_is_refused_before_a_long_body_is_there_hears_why() {
    let folder = folder();
    let server = Server::start(folder.path(), "--token swordfish");
    let body = " ".repeat(8 << 20);
    for _ in 0..10 {
        let mut connection = server.connect();
        // All of it is taken, and then there is an answer: no broken pipe, no reset.
        connection.write_all(post("/embed", &body).as_bytes()).unwrap();
        assert_eq!(Answer::read(connection).unwrap().status, 401);
    }
    let endless = " ".repeat(64 << 20);
    let mut connection = server.connect();
    let sent = connection.write_all(post("/embed", &endless).as_bytes());
    assert!(sent.is_err(), "there is no bound to what is thrown away");
    assert!(soon(|| server.counter("hg2v_waiting") == 0));
}

#[test]
fn who_just_came_when_the_server_ends_is_answered() {
    let folder = folder();
    let mut server = Server::start(folder.path(), "");
    let connections: Vec<TcpStream> = (0..8).map(|_| server.connect()).collect();
    server.until(|| server.counter("hg2v_connections_total") >= 9);
    server.signal("-TERM");
    std::thread::sleep(Duration::from_millis(700));
    for mut connection in connections {
        connection.write_all(HEALTH.as_bytes()).unwrap();
        assert_eq!(Answer::read(connection).unwrap().status, 200);
    }
    assert_eq!(server.ended(), Some(0));
}

/// Clients come and come, each on a connection of its own. Who is let in is answered.
#[test]
fn nobody_who_got_in_is_lost_at_the_end() {
    let folder = folder();
    for _ in 0..5 {
        let mut server = Server::start(folder.path(), "--connections 8");
        let (address, answered) = (server.address.clone(), AtomicUsize::new(0));
        std::thread::scope(|scope| {
            for _ in 0..24 {
                scope.spawn(|| {
                    // Until nobody listens any longer.
                    while let Ok(mut connection) = TcpStream::connect(&address) {
                        let request = HEALTH.replace("\r\n\r\n", "\r\nConnection: close\r\n\r\n");
                        connection.write_all(request.as_bytes()).unwrap();
                        let answer = Answer::read(connection).unwrap();
                        assert_eq!(answer.status, 200, "{answer:?}");
                        answered.fetch_add(1, Ordering::Relaxed);
                    }
                });
            }
            server.until(|| answered.load(Ordering::Relaxed) > 1000);
            server.signal("-TERM");
            assert_eq!(server.ended(), Some(0));
        });
    }
}

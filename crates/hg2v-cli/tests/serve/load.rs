//! More than the server can take, and its end in the midst of it.

use std::collections::BTreeMap;
use std::fs;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::Duration;

use crate::process::{Server, asked, bits, folder, lines, post, rows};

/// A graph that takes a while: a grid.
pub(crate) fn large(side: usize) -> String {
    let mut edges = Vec::new();
    for i in 0..side * side {
        if i % side + 1 < side {
            edges.push(format!("[{i},{}]", i + 1));
        }
        if i + side < side * side {
            edges.push(format!("[{i},{}]", i + side));
        }
    }
    let places: Vec<String> =
        (0..side * side).map(|i| format!("[{},{}]", i % side, i / side)).collect();
    format!("{{\"edges\":[{}],\"x\":[{}]}}", edges.join(","), places.join(","))
}

#[test]
fn beyond_its_queue_it_says_so_and_answers_all_that_it_took() {
    let folder = folder();
    let server = Server::start(folder.path(), "--queue 4");
    let (body, statuses) = (large(60), Mutex::new(BTreeMap::<u16, usize>::new()));
    std::thread::scope(|scope| {
        for _ in 0..40 {
            scope.spawn(|| {
                let answer = server.post("/embed", &body);
                if answer.status == 429 {
                    assert!(
                        answer.head.to_ascii_lowercase().contains("retry-after: 1"),
                        "{answer:?}"
                    );
                }
                *statuses.lock().unwrap().entry(answer.status).or_default() += 1;
            });
        }
    });
    let statuses = statuses.into_inner().unwrap();
    let of = |status| statuses.get(&status).copied().unwrap_or(0);
    assert_eq!(of(200) + of(429), 40, "{statuses:?}");
    assert!(of(200) >= 4 && of(429) >= 1, "{statuses:?}");
    assert_eq!(server.counter("hg2v_waiting"), 0);
    assert_eq!(server.post("/embed", &lines(folder.path())[0]).status, 200);
}

#[test]
fn a_minute_of_work_in_a_second_does_not_grow_it() {
    let folder = folder();
    let server = Server::start(folder.path(), "--queue 8");
    let body = large(20);
    let resident = || -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", server.child.id()));
        let Ok(status) = status else { return 0 };
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    };
    let flood = |requests: usize| {
        std::thread::scope(|scope| {
            for _ in 0..16 {
                scope.spawn(|| {
                    for _ in 0..requests {
                        let answer = server.post("/embed", &body);
                        assert!(matches!(answer.status, 200 | 429), "{answer:?}");
                    }
                });
            }
        });
    };
    flood(15);
    let before = resident();
    flood(45);
    let after = resident();
    assert!(after < before + (32 << 10), "{before} KiB, then {after} KiB");
}

/// Clients ask again and again, each on a connection of its own, until told to stop; who
/// finds nobody, or is cut off before the first byte of an answer, asks again.
fn clients(
    address: &str,
    graphs: &[String],
    expected: &[Vec<u32>],
    stop: &AtomicBool,
    answered: &AtomicUsize,
) {
    std::thread::scope(|scope| {
        for client in 0..4 {
            scope.spawn(move || {
                for i in (client..).map(|i| i % graphs.len()) {
                    if stop.load(Ordering::Relaxed) {
                        break;
                    }
                    loop {
                        match asked(address, post("/embed", &graphs[i]).as_bytes()) {
                            Ok(answer) => {
                                assert_eq!(answer.status, 200, "{answer:?}");
                                // Whole, and right.
                                assert_eq!(bits(&answer.json()), expected[i]);
                                break;
                            }
                            Err(_) if stop.load(Ordering::Relaxed) => return,
                            Err(_) => std::thread::sleep(Duration::from_millis(5)),
                        }
                    }
                    answered.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
}

/// Tells clients to stop, also when the test fails: it would wait for them for ever.
struct Stop<'a>(&'a AtomicBool);

impl Drop for Stop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An address to come back to. Ports that systems give out by themselves (from 32768 on) will
/// not do: while the server is away, a client that asks for one may be given the very same.
fn address_to_come_back_to() -> String {
    let first = 20_000 + std::process::id() % 10_000;
    let free = |port: &u32| std::net::TcpListener::bind(format!("127.0.0.1:{port}")).is_ok();
    format!("127.0.0.1:{}", (first..32_000).find(free).unwrap())
}

#[test]
fn an_end_in_the_midst_of_work_finishes_what_was_accepted_and_a_restart_goes_on() {
    let folder = folder();
    let address = address_to_come_back_to();
    let mut server = Server::start_at(folder.path(), "", &address);
    let (graphs, expected) = (lines(folder.path()), rows(&folder.path().join("e.npy")));
    let (stop, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        scope.spawn(|| clients(&address, &graphs, &expected, &stop, &answered));
        let _stop = Stop(&stop);
        for signal in ["-TERM", "-INT", "-KILL"] {
            let so_far = answered.load(Ordering::Relaxed);
            server.until(|| answered.load(Ordering::Relaxed) > so_far + 30);
            server.signal(signal);
            let code = server.ended();
            // Killed it has no code; otherwise it ended well.
            assert_eq!(code, if signal == "-KILL" { None } else { Some(0) }, "{}", server.said());
            server = Server::start_at(folder.path(), "", &address);
        }
        let so_far = answered.load(Ordering::Relaxed);
        server.until(|| answered.load(Ordering::Relaxed) > so_far + 30);
    });
}

#[test]
fn what_is_under_way_at_the_end_is_answered() {
    let folder = folder();
    let mut server = Server::start(folder.path(), "");
    let body = large(120);
    let address = server.address.clone();
    std::thread::scope(|scope| {
        let asking: Vec<_> = (0..6)
            .map(|_| scope.spawn(|| asked(&address, post("/embed", &body).as_bytes()).unwrap()))
            .collect();
        server.until(|| server.counter("hg2v_waiting") >= 1);
        server.until(|| server.counter("hg2v_connections_total") >= 7);
        std::thread::sleep(Duration::from_millis(50));
        server.signal("-TERM");
        for asking in asking {
            assert_eq!(asking.join().unwrap().status, 200);
        }
    });
    assert_eq!(server.ended(), Some(0));
    server.until(|| server.said().contains("ended"));
}

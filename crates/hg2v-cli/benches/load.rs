//! How much the server takes, beside `hg2v embed` on the same graphs, in the same run.
//!
//! `HG2V_DATA=DIR cargo bench --workspace --bench load`: MUTAG, fifty times over, with the
//! default model. The clients are in this process and share the machine with the server.
//!
//! 1. `hg2v embed` of all graphs, its start and its output included, pyramids not kept;
//! 2. the same graphs as four streams;
//! 3. the same graphs as single requests on kept connections, as fast as they are answered;
//! 4. single requests at 35 % of the rate of `embed`, each at its time, five times over: how
//!    late answers are, beside how late a thread of this process wakes that only sleeps;
//! 5. a minute of more than it can take: what is refused, and how memory grows;
//! 6. a minute of hostile clients beside honest ones: what of the latter is refused or lost, how
//!    long they wait, and how memory grows. `-- hostile SECONDS` does this alone.

// A bench prints what it measures.
#![allow(clippy::print_stdout)]

mod hostile;

use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};

const HG2V: &str = env!("CARGO_BIN_EXE_hg2v");

/// How often the set is repeated.
const TIMES: usize = 50;

fn run(folder: &Path, arguments: &[&str]) {
    let status = Command::new(HG2V).current_dir(folder).args(arguments).arg("-q").status();
    assert!(status.unwrap().success(), "{arguments:?}");
}

/// A server that is killed when it is dropped.
struct Server {
    child: Child,
    address: String,
}

impl Server {
    fn start(folder: &Path, options: &[&str]) -> Server {
        let mut child = Command::new(HG2V)
            .current_dir(folder)
            .args(["serve", "m", "--listen", "127.0.0.1:0"])
            .args(options)
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(child.stderr.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().rsplit('/').next().unwrap().to_owned();
        Server { child, address }
    }

    fn resident_mib(&self) -> f64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.child.id()));
        let status = status.unwrap_or_default();
        let line = status.lines().find(|line| line.starts_with("VmRSS")).unwrap_or("VmRSS: 0");
        line.split_whitespace().nth(1).unwrap().parse::<f64>().unwrap() / 1024.0
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A connection that is kept.
struct Client {
    stream: BufReader<TcpStream>,
    token: Option<&'static str>,
}

impl Client {
    fn new(address: &str) -> Client {
        Client::try_new(address, None).unwrap()
    }

    fn try_new(address: &str, token: Option<&'static str>) -> io::Result<Client> {
        let stream = TcpStream::connect(address)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        Ok(Client { stream: BufReader::with_capacity(1 << 16, stream), token })
    }

    /// The status of the answer to one graph.
    fn embed(&mut self, graph: &str) -> u16 {
        self.try_embed(graph).unwrap()
    }

    fn try_embed(&mut self, graph: &str) -> io::Result<u16> {
        let token = self.token.map(|token| format!("Authorization: Bearer {token}\r\n"));
        let token = token.unwrap_or_default();
        let head = format!("POST /embed HTTP/1.1\r\nHost: localhost\r\n{token}Content-Length:");
        let request = format!("{head} {}\r\n\r\n{graph}", graph.len());
        self.stream.get_mut().write_all(request.as_bytes())?;
        let (mut status, mut length) = (0, 0);
        let mut line = String::new();
        while line != "\r\n" {
            line.clear();
            if self.stream.read_line(&mut line)? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if line.starts_with("HTTP/") {
                status = line.split(' ').nth(1).unwrap().parse().unwrap();
            }
            if let Some(text) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = text.trim().parse().unwrap();
            }
        }
        let mut body = vec![0; length];
        self.stream.read_exact(&mut body)?;
        Ok(status)
    }
}

/// Sends graphs as a stream, and counts the lines that come back.
fn stream(address: &str, graphs: &[String]) -> usize {
    let mut write = TcpStream::connect(address).unwrap();
    let read = write.try_clone().unwrap();
    let body = graphs.join("\n");
    let head = "POST /embed HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
                Content-Type: application/x-ndjson\r\nContent-Length:";
    std::thread::scope(|scope| {
        scope.spawn(move || {
            write.write_all(format!("{head} {}\r\n\r\n{body}", body.len()).as_bytes()).unwrap()
        });
        let mut found = 0;
        let mut read = BufReader::with_capacity(1 << 18, read);
        let mut line = Vec::new();
        while read.read_until(b'\n', &mut line).unwrap() > 0 {
            // Lines of chunk sizes and of the head are none.
            found += usize::from(line.starts_with(b"{"));
            line.clear();
        }
        found
    })
}

fn main() {
    let Ok(data) = std::env::var("HG2V_DATA") else {
        println!("skipped: the load needs HG2V_DATA, a folder of TU zips");
        return;
    };
    let folder = tempfile::tempdir().unwrap();
    let at = folder.path();
    run(at, &["convert", "MUTAG", "mutag.jsonl", "--data-dir", &data]);
    run(at, &["fit", "mutag.jsonl", "--out", "m", "--epochs", "2"]);
    let lines: Vec<String> =
        fs::read_to_string(at.join("mutag.jsonl")).unwrap().lines().map(str::to_owned).collect();
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let Some(at_word) = arguments.iter().position(|word| word == "hostile") {
        let seconds = arguments.get(at_word + 1).and_then(|word| word.parse().ok()).unwrap_or(60);
        return beside_hostile(at, &lines, Duration::from_secs(seconds));
    }
    let graphs: Vec<String> = lines.iter().cycle().take(TIMES * lines.len()).cloned().collect();
    fs::write(at.join("all.jsonl"), graphs.join("\n")).unwrap();
    let count = graphs.len() as f64;

    let server = Server::start(at, &[]);
    let (mut batch, mut streams, mut single) = (0f64, 0f64, 0f64);
    for _ in 0..3 {
        let started = Instant::now();
        run(at, &["embed", "m", "all.jsonl", "--no-cache", "--out", "all.npy", "--force"]);
        batch = batch.max(count / started.elapsed().as_secs_f64());

        let started = Instant::now();
        std::thread::scope(|scope| {
            let parts: Vec<_> = graphs
                .chunks(graphs.len().div_ceil(4))
                .map(|part| scope.spawn(|| stream(&server.address, part)))
                .collect();
            let lines: usize = parts.into_iter().map(|part| part.join().unwrap()).sum();
            assert!(lines >= graphs.len(), "{lines} lines for {} graphs", graphs.len());
        });
        streams = streams.max(count / started.elapsed().as_secs_f64());

        let (next, started) = (AtomicUsize::new(0), Instant::now());
        std::thread::scope(|scope| {
            for _ in 0..64 {
                scope.spawn(|| {
                    let mut client = Client::new(&server.address);
                    while let Some(graph) = graphs.get(next.fetch_add(1, Ordering::Relaxed)) {
                        assert_eq!(client.embed(graph), 200);
                    }
                });
            }
        });
        single = single.max(count / started.elapsed().as_secs_f64());
    }
    println!("{} graphs, best of three runs each", graphs.len());
    println!("hg2v embed, in batch: {batch:.0} graphs a second");
    println!(
        "four streams: {streams:.0} graphs a second ({:.0} % of batch)",
        100.0 * streams / batch
    );
    println!(
        "single requests, 64 connections: {single:.0} a second ({:.0} % of batch)",
        100.0 * single / batch
    );

    let rate = 0.35 * batch;
    println!("{rate:.0} single requests a second, and a thread that sleeps, in ms late:");
    for _ in 0..5 {
        let (stolen, done) = (stolen(), AtomicBool::new(false));
        let (late, slept) = std::thread::scope(|scope| {
            let sleeper = scope.spawn(|| sleeps(&done));
            let late = paced(&server.address, &graphs, rate, Duration::from_secs(10));
            done.store(true, Ordering::Relaxed);
            (late, sleeper.join().unwrap())
        });
        println!(
            "  answers {}; the sleeper {}; the host took {:.1} s of the processors",
            quantiles(late),
            quantiles(slept),
            self::stolen() - stolen
        );
    }
    drop(server);

    let server = Server::start(at, &["--queue", "8"]);
    let (taken, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let mut memory = Vec::new();
    let started = Instant::now();
    std::thread::scope(|scope| {
        for client in 0..64 {
            let (graphs, server, taken, refused) = (&graphs, &server, &taken, &refused);
            scope.spawn(move || {
                let mut connection = Client::new(&server.address);
                for graph in graphs.iter().cycle().skip(client) {
                    match connection.embed(graph) {
                        200 => taken.fetch_add(1, Ordering::Relaxed),
                        429 => refused.fetch_add(1, Ordering::Relaxed),
                        other => panic!("{other}"),
                    };
                    if started.elapsed() > Duration::from_secs(60) {
                        break;
                    }
                }
            });
        }
        while started.elapsed() < Duration::from_secs(60) {
            std::thread::sleep(Duration::from_secs(5));
            memory.push(server.resident_mib());
        }
    });
    println!(
        "a minute of overload: {} answered, {} refused; memory {:.0} MiB after 5 s, {:.0} MiB after 60 s",
        taken.into_inner(),
        refused.into_inner(),
        memory[0],
        memory[memory.len() - 1]
    );
    drop(server);
    beside_hostile(at, &lines, Duration::from_secs(60));
}

fn beside_hostile(folder: &Path, graphs: &[String], long: Duration) {
    let server = Server::start(folder, &["--token", hostile::TOKEN]);
    hostile::run(&server, graphs, long);
}

/// How late a thread wakes that sleeps for a millisecond at a time, until it is told to stop.
fn sleeps(done: &AtomicBool) -> Vec<Duration> {
    let nap = Duration::from_millis(1);
    let mut late = Vec::new();
    while !done.load(Ordering::Relaxed) {
        let started = Instant::now();
        std::thread::sleep(nap);
        late.push(started.elapsed().saturating_sub(nap));
    }
    late
}

/// Seconds of all processors that the machine's host gave to others.
fn stolen() -> f64 {
    let stat = fs::read_to_string("/proc/stat").unwrap_or_default();
    let ticks = stat.split_whitespace().nth(8).and_then(|ticks| ticks.parse::<f64>().ok());
    ticks.unwrap_or(0.0) / 100.0
}

fn quantiles(mut late: Vec<Duration>) -> String {
    late.sort_unstable();
    let at = |q: f64| late[((late.len() - 1) as f64 * q) as usize].as_secs_f64() * 1e3;
    format!("median {:.1}, p99 {:.1}, most {:.1}", at(0.5), at(0.99), at(1.0))
}

/// Requests at a steady rate, and how long after its time each was answered.
fn paced(address: &str, graphs: &[String], rate: f64, long: Duration) -> Vec<Duration> {
    let total = (rate * long.as_secs_f64()) as usize;
    let (next, started) = (AtomicUsize::new(0), Instant::now());
    std::thread::scope(|scope| {
        let clients: Vec<_> = (0..16)
            .map(|_| {
                scope.spawn(|| {
                    let mut client = Client::new(address);
                    let mut late = Vec::new();
                    loop {
                        let i = next.fetch_add(1, Ordering::Relaxed);
                        if i >= total {
                            return late;
                        }
                        let due = Duration::from_secs_f64(i as f64 / rate);
                        std::thread::sleep(due.saturating_sub(started.elapsed()));
                        assert_eq!(client.embed(&graphs[i % graphs.len()]), 200);
                        late.push(started.elapsed().saturating_sub(due));
                    }
                })
            })
            .collect();
        clients.into_iter().flat_map(|client| client.join().unwrap()).collect()
    })
}

//! A server as a process of its own, and what is asked of it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use hg2v_serve::Options;
use serde_json::Value;

use crate::common::{command, done, folder_with_graphs};

/// A folder with 24 graphs, a small model `m` of them, and their vectors `e.npy` and `e.csv`.
pub(crate) fn folder() -> tempfile::TempDir {
    let folder = folder_with_graphs(&["--graphs", "24", "--nodes", "20"]);
    fit(folder.path(), "m", 0);
    for out in ["e.npy", "e.csv"] {
        done(folder.path(), &["embed", "m", "graphs.jsonl", "--out", out]);
    }
    folder
}

pub(crate) fn fit(folder: &Path, out: &str, seed: u64) {
    let seed = seed.to_string();
    let options = ["--dim", "8", "--levels", "2", "--epochs", "1", "--seed", &seed];
    done(folder, &[&["fit", "graphs.jsonl", "--out", out][..], &options].concat());
}

/// The lines of `graphs.jsonl`.
pub(crate) fn lines(folder: &Path) -> Vec<String> {
    let text = fs::read_to_string(folder.join("graphs.jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

/// A server that is killed when it is dropped.
pub(crate) struct Server {
    pub(crate) child: Child,
    pub(crate) address: String,
    said: Arc<Mutex<String>>,
}

impl Server {
    pub(crate) fn start(folder: &Path, options: &str) -> Server {
        Server::start_at(folder, options, "127.0.0.1:0")
    }

    pub(crate) fn start_at(folder: &Path, options: &str, listen: &str) -> Server {
        let mut arguments = vec!["serve", "m", "--json", "--listen", listen];
        arguments.extend(options.split_whitespace());
        let mut command: Command = command(folder, &arguments);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let log = BufReader::new(child.stderr.take().unwrap());
        let said = Arc::new(Mutex::new(String::new()));
        let keep = Arc::clone(&said);
        std::thread::spawn(move || {
            for line in log.lines().map_while(Result::ok) {
                keep.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut first = String::new();
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        let first: Value = serde_json::from_str(&first).unwrap_or_default();
        let address = first["address"].as_str().and_then(|said| said.strip_prefix("http://"));
        let address = address.unwrap_or_else(|| panic!("{}", said.lock().unwrap())).to_owned();
        Server { child, address, said }
    }

    /// What it said on standard error.
    pub(crate) fn said(&self) -> String {
        self.said.lock().unwrap().clone()
    }

    /// Waits for something that happens soon.
    pub(crate) fn until(&self, what: impl Fn() -> bool) {
        assert!(soon(what), "it never happens: {}", self.said());
    }

    pub(crate) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(&self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub(crate) fn get(&self, path: &str) -> Answer {
        self.ask(&format!("GET {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n"))
    }

    pub(crate) fn post(&self, path: &str, body: &str) -> Answer {
        self.ask(&post(path, body))
    }

    pub(crate) fn ask(&self, request: &str) -> Answer {
        asked(&self.address, request.as_bytes()).unwrap()
    }

    /// A counter of `/metrics`.
    pub(crate) fn counter(&self, name: &str) -> u64 {
        let text = self.get("/metrics").body;
        let line = text.lines().find(|line| line.starts_with(&format!("{name} ")));
        line.map_or(0, |line| line.rsplit(' ').next().unwrap().parse().unwrap())
    }

    pub(crate) fn signal(&self, name: &str) {
        let id = self.child.id().to_string();
        assert!(Command::new("kill").args([name, &id]).status().unwrap().success());
    }

    /// Waits for the end, and returns the exit code.
    pub(crate) fn ended(&mut self) -> Option<i32> {
        let started = Instant::now();
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status.code();
            }
            assert!(started.elapsed() < Duration::from_secs(60), "it does not end");
            std::thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whether something happens soon.
pub(crate) fn soon(mut what: impl FnMut() -> bool) -> bool {
    let started = Instant::now();
    while !what() {
        if started.elapsed() > Duration::from_secs(60) {
            return false;
        }
        std::thread::sleep(Duration::from_millis(5));
    }
    true
}

/// A server within this process, for bounds that the command has no options for; it ends
/// with the process. Where it listens.
pub(crate) fn within(options: Options) -> String {
    let server = hg2v_serve::Server::bind(options).unwrap();
    let address = server.address().to_string();
    std::thread::spawn(move || server.run());
    address
}

/// A request with a body, on a connection of its own.
pub(crate) fn post(path: &str, body: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\
         Content-Length: {length}\r\n\r\n{body}"
    )
}

/// A request with a stream of lines as its body.
pub(crate) fn stream(body: &str) -> String {
    post("/embed", body).replace("\r\n\r\n", "\r\nContent-Type: application/x-ndjson\r\n\r\n")
}

/// Sends a request on a connection of its own and reads the answer to its end.
pub(crate) fn asked(address: &str, request: &[u8]) -> std::io::Result<Answer> {
    let mut stream = TcpStream::connect(address)?;
    stream.set_read_timeout(Some(Duration::from_secs(60)))?;
    // Who refuses a request may not read all of it.
    let sent = stream.write_all(request);
    let answer = Answer::read(stream)?;
    match answer.status {
        0 => sent.and(Err(std::io::ErrorKind::UnexpectedEof.into())),
        _ => Ok(answer),
    }
}

/// An answer; `status` is 0 where there was none.
#[derive(Debug)]
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) head: String,
    pub(crate) body: String,
}

impl Answer {
    pub(crate) fn read(mut stream: TcpStream) -> std::io::Result<Answer> {
        let mut bytes = Vec::new();
        let read = stream.read_to_end(&mut bytes);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else {
            return read.map(|_| Answer { status: 0, head: String::new(), body: text });
        };
        let status = head.split(' ').nth(1).and_then(|status| status.parse().ok()).unwrap_or(0);
        let body = match head.to_ascii_lowercase().contains("transfer-encoding: chunked") {
            true => unchunked(body),
            false => body.to_owned(),
        };
        Ok(Answer { status, head: head.to_owned(), body })
    }

    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }
}

/// The text of a chunked body, which must be whole.
fn unchunked(mut body: &str) -> String {
    let mut text = String::new();
    loop {
        let (size, rest) = body.split_once("\r\n").expect("a chunk's size");
        let size = usize::from_str_radix(size, 16).unwrap();
        if size == 0 {
            return text;
        }
        text.push_str(&rest[..size]);
        body = &rest[size + 2..];
    }
}

/// The numbers of an answered vector, to the bit.
pub(crate) fn bits(answer: &Value) -> Vec<u32> {
    let numbers = answer["embedding"].as_array().unwrap_or_else(|| panic!("{answer}"));
    // Through the text of each: that is what is answered.
    numbers.iter().map(|v| v.to_string().parse::<f32>().unwrap().to_bits()).collect()
}

/// The rows of a NumPy file that `embed` wrote, to the bit.
pub(crate) fn rows(path: &Path) -> Vec<Vec<u32>> {
    let found = hg2v::vectors::read(path, &hg2v::dataset::Limits::default()).unwrap();
    (0..found.len()).map(|i| found.row(i).iter().map(|v| v.to_bits()).collect()).collect()
}

//! A small HTTP server that can misbehave: one file, and a script that says how
//! each connection in turn is served.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// How a connection is served; the last of a script serves all that follow.
#[derive(Clone, Copy)]
#[allow(dead_code)]
pub(crate) enum Serve {
    /// As asked, ranges included.
    Well,
    /// The whole file, whatever range was asked.
    IgnoringRanges,
    /// As asked, but the connection is cut after so many bytes of the body.
    CutAfter(usize),
    /// As asked, but nothing comes after so many bytes of the body.
    HangAfter(usize),
    /// Not a byte, not even of the headers.
    Nothing,
    /// This status and no content.
    Status(u16),
}

/// A server that runs until the test ends.
pub(crate) struct Server {
    pub(crate) base: String,
    log: Arc<Mutex<Log>>,
}

#[derive(Default)]
struct Log {
    requests: Vec<String>,
    body_bytes: usize,
}

impl Server {
    /// Serves `content`, under any path, with the entity tag `etag`.
    pub(crate) fn start(content: Vec<u8>, etag: &'static str, script: &[Serve]) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let log = Arc::new(Mutex::new(Log::default()));
        let script = script.to_vec();
        let shared = Arc::clone(&log);
        thread::spawn(move || {
            for (turn, stream) in listener.incoming().enumerate() {
                let how = script[turn.min(script.len() - 1)];
                let (content, log) = (content.clone(), Arc::clone(&shared));
                thread::spawn(move || serve(stream.unwrap(), &content, etag, how, &log));
            }
        });
        Server { base, log }
    }

    /// The requests so far, in lower case.
    pub(crate) fn requests(&self) -> Vec<String> {
        self.log.lock().unwrap().requests.clone()
    }

    /// Bytes of content sent so far.
    #[allow(dead_code)]
    pub(crate) fn body_bytes(&self) -> usize {
        self.log.lock().unwrap().body_bytes
    }
}

fn serve(mut stream: TcpStream, content: &[u8], etag: &str, how: Serve, log: &Mutex<Log>) {
    let mut request = Vec::new();
    let mut byte = [0];
    while !request.ends_with(b"\r\n\r\n") {
        if stream.read(&mut byte).unwrap_or(0) == 0 {
            return;
        }
        request.push(byte[0]);
    }
    let request = String::from_utf8(request).unwrap().to_lowercase();
    let header = |name: &str| {
        let line = request.lines().find_map(|line| line.strip_prefix(name))?;
        Some(line.trim().to_owned())
    };
    log.lock().unwrap().requests.push(request.clone());

    let same_version = header("if-range:").is_none_or(|tag| tag == etag);
    let first = header("range:")
        .filter(|_| same_version && !matches!(how, Serve::IgnoringRanges))
        .map(|range| {
            let first = range.strip_prefix("bytes=").unwrap().trim_end_matches('-');
            first.parse::<usize>().unwrap()
        });
    let total = content.len();
    let (status, range, body) = match (how, first) {
        (Serve::Nothing, _) => return wait_for_the_end(stream),
        (Serve::Status(status), _) => (status, String::new(), &content[..0]),
        (_, Some(first)) if first >= total => {
            (416, format!("content-range: bytes */{total}\r\n"), &content[..0])
        }
        (_, Some(first)) => {
            let range = format!("content-range: bytes {first}-{}/{total}\r\n", total - 1);
            (206, range, &content[first..])
        }
        (_, None) => (200, String::new(), content),
    };
    let length = body.len();
    let body = match how {
        Serve::CutAfter(bytes) | Serve::HangAfter(bytes) => &body[..bytes.min(length)],
        _ => body,
    };
    log.lock().unwrap().body_bytes += body.len();
    let head = format!(
        "HTTP/1.1 {status} as scripted\r\ncontent-length: {length}\r\netag: {etag}\r\n\
         {range}connection: close\r\n\r\n"
    );
    let _ = stream.write_all(head.as_bytes());
    let _ = stream.write_all(body);
    let _ = stream.flush();
    if let Serve::HangAfter(_) = how {
        wait_for_the_end(stream);
    }
}

/// Holds the connection until the other side gives up.
fn wait_for_the_end(mut stream: TcpStream) {
    let mut byte = [0];
    while stream.read(&mut byte).unwrap_or(0) > 0 {}
}

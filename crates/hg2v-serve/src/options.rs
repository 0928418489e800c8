//! What is served, where, and within which bounds.

use std::fmt;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use hg2v::coarsen::cache::Cache;
use hg2v::context::Machine;
use hg2v::dataset::{Limits, Skipped};
use hg2v::error::{Error, Opt, Result};
use hg2v::vectors::Vectors;
use hg2v_search::catalog::SearchOptions;

use crate::state::NamedGraphs;

/// What is served, where, and within which bounds.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub struct Options {
    /// The model's folder. It is loaded again when it is replaced.
    pub model: PathBuf,
    /// A file of vectors to search, by the same model.
    pub index: Option<PathBuf>,
    /// The graphs that can be asked for; searched, too, where there is no `index`.
    pub data: Option<PathBuf>,
    /// How vectors are searched.
    pub search: SearchOptions,
    /// Where graphs are embedded.
    pub machine: Machine,
    /// Where to listen; port 0 takes one that is free.
    pub listen: SocketAddr,
    /// What every request must bear; needed to listen beyond this machine.
    pub token: Option<String>,
    /// The page at `/`.
    pub page: Page,
    /// Requests that wait or are worked on, small and large ones apart, and streams at a
    /// time; more are told to come again.
    pub queue: usize,
    /// Connections at a time. Beyond that, who keeps one without being worked for makes room:
    /// first who has not shown a token yet, then who idles, drips or does not read.
    pub connections: usize,
    /// Bytes of one body, or of one line of a stream.
    pub max_request_bytes: u64,
    /// Bytes of all bodies, and of lines of streams, together that are held at a time; at
    /// least those of the longest that may be sent.
    pub max_held_bytes: u64,
    /// Nodes of one graph that is sent.
    pub max_request_nodes: u64,
    /// How long a request may take, its body included; a stream, from one line to the next.
    pub timeout: Duration,
    /// How long a connection may wait for its next request, and the head of one may take.
    pub idle_timeout: Duration,
    /// How long an answer may wait for its reader to take some of it, and a connection that
    /// was closed here to be closed there.
    pub write_timeout: Duration,
    /// How long a shutdown waits for what was accepted.
    pub grace: Duration,
    /// Whether the log has nothing but errors.
    pub quiet: bool,
    /// How files of vectors and graphs are read.
    pub limits: Limits,
    /// Where the pyramids of `data` are kept, for the next start and the next model.
    pub cache: Option<Cache>,
    /// Counts graphs of `data` that cannot be read, or that the model cannot take, which are then
    /// left out; without it the first one is an error.
    pub skipped: Option<Skipped>,
}

hg2v_math::setters!(Options {
    model: PathBuf,
    index: Option<PathBuf>,
    data: Option<PathBuf>,
    search: SearchOptions,
    machine: Machine,
    listen: SocketAddr,
    token: Option<String>,
    page: Page,
    queue: usize,
    connections: usize,
    max_request_bytes: u64,
    max_held_bytes: u64,
    max_request_nodes: u64,
    timeout: Duration,
    idle_timeout: Duration,
    write_timeout: Duration,
    grace: Duration,
    quiet: bool,
    limits: Limits,
    cache: Option<Cache>,
    skipped: Option<Skipped>,
});

/// What a page shows: all graphs and their vectors.
#[derive(Debug)]
pub struct Shown<'a> {
    /// The graphs.
    pub graphs: &'a NamedGraphs,
    /// A vector for each, or whatever the index holds.
    pub vectors: &'a Vectors,
}

/// Makes the page at `/`: at the start, and again when what it shows was replaced.
#[derive(Clone)]
pub struct Page(Arc<dyn Fn(Shown<'_>) -> Option<String> + Send + Sync>);

impl Page {
    /// A page without a map.
    pub fn plain() -> Page {
        Page::new(|_| None)
    }

    /// What `make` makes; without anything, or without graphs, the plain one.
    pub fn new(make: impl Fn(Shown<'_>) -> Option<String> + Send + Sync + 'static) -> Page {
        Page(Arc::new(make))
    }

    pub(crate) fn make(&self, shown: Option<Shown<'_>>) -> Bytes {
        let made = shown.and_then(|shown| (self.0)(shown));
        made.map_or(Bytes::from_static(include_bytes!("page.html")), Bytes::from)
    }
}

impl fmt::Debug for Page {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Page")
    }
}

impl Options {
    /// What [`queue`](Options::queue) is unless said otherwise.
    pub const QUEUE: usize = 256;
    /// What [`connections`](Options::connections) is unless said otherwise.
    pub const CONNECTIONS: usize = 512;
    /// What [`max_request_bytes`](Options::max_request_bytes) is unless said otherwise.
    pub const MAX_REQUEST_BYTES: u64 = 16 << 20;
    /// What [`max_request_nodes`](Options::max_request_nodes) is unless said otherwise.
    pub const MAX_REQUEST_NODES: u64 = 100_000;
    /// What [`timeout`](Options::timeout) is unless said otherwise.
    pub const TIMEOUT: Duration = Duration::from_secs(30);
    /// What [`idle_timeout`](Options::idle_timeout) is unless said otherwise.
    pub const IDLE_TIMEOUT: Duration = Duration::from_secs(10);
    /// What [`write_timeout`](Options::write_timeout) is unless said otherwise.
    pub const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

    /// Serves `model` on a free port of this machine.
    pub fn new(model: impl Into<PathBuf>) -> Options {
        Options {
            model: model.into(),
            index: None,
            data: None,
            search: SearchOptions::default(),
            machine: Machine::Cpu,
            listen: SocketAddr::from(([127, 0, 0, 1], 0)),
            token: None,
            page: Page::plain(),
            queue: Options::QUEUE,
            connections: Options::CONNECTIONS,
            max_request_bytes: Options::MAX_REQUEST_BYTES,
            max_held_bytes: 256 << 20,
            max_request_nodes: Options::MAX_REQUEST_NODES,
            timeout: Options::TIMEOUT,
            idle_timeout: Options::IDLE_TIMEOUT,
            write_timeout: Options::WRITE_TIMEOUT,
            grace: Duration::from_secs(30),
            quiet: false,
            limits: Limits::default(),
            cache: None,
            skipped: None,
        }
    }

    /// Checks each field.
    ///
    /// # Errors
    /// One for the first that cannot be: above all an address beyond this machine
    /// without a token.
    pub fn check(&self) -> Result<()> {
        let refused = |name, value: String, requirement: &str| {
            Err(Error::parameter(Opt::new(name), value, requirement))
        };
        if let Some(token) = &self.token {
            // The token itself must not end up in a log.
            if let Some((what, requirement)) = wrong_with(token) {
                return refused("token", what.to_owned(), requirement);
            }
        }
        if !self.listen.ip().is_loopback() && self.token.is_none() {
            return refused(
                "listen",
                self.listen.to_string(),
                "others can reach that address: set a --token (or HG2V_TOKEN) that they must know, \
                 or listen on 127.0.0.1",
            );
        }
        for (name, value) in [("queue", self.queue), ("connections", self.connections)] {
            if !(1..=1 << 16).contains(&value) {
                return refused(name, value.to_string(), "it must be between 1 and 65536");
            }
        }
        for (name, value) in [
            ("max_request_bytes", self.max_request_bytes),
            ("max_request_nodes", self.max_request_nodes),
            ("timeout", self.timeout.as_millis() as u64),
            ("idle_timeout", self.idle_timeout.as_millis() as u64),
            ("write_timeout", self.write_timeout.as_millis() as u64),
        ] {
            if value == 0 {
                return refused(name, value.to_string(), "it must be at least 1");
            }
        }
        Ok(())
    }

    /// Bounds of a graph that is sent.
    pub(crate) fn request_limits(&self) -> Limits {
        Limits::default()
            .max_nodes(self.max_request_nodes)
            .max_record_bytes(self.max_request_bytes)
            .max_unpacked_bytes(self.max_request_bytes)
    }
}

/// What is wrong with a token, without telling it, and what it must be: what no header can
/// carry nobody could ever send.
fn wrong_with(token: &str) -> Option<(&'static str, &'static str)> {
    const LONGEST: usize = 4096;
    if token.trim().is_empty() {
        return Some(("empty", "it must say something; leave it out to need none"));
    }
    if token.len() > LONGEST {
        return Some(("longer than 4096 characters", "no header may be that long; 64 are plenty"));
    }
    if token.trim() != token {
        return Some((
            "text with a space or a line break at an end",
            "headers lose those: take them away",
        ));
    }
    if !token.bytes().all(|byte| matches!(byte, b' '..=b'~')) {
        let requirement = "headers carry letters, digits and signs of ASCII alone: \
                           take another, such as openssl rand -hex 32 makes";
        return Some(("text that no header can carry", requirement));
    }
    None
}

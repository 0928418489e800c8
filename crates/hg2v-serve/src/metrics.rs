//! What happened so far, as Prometheus reads it.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

/// Upper ends of the buckets of durations, in seconds.
const BUCKETS: [f64; 12] = [0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 5.0, 30.0];

/// Counters of a server.
#[derive(Debug, Default)]
pub(crate) struct Metrics {
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    durations: [AtomicU64; BUCKETS.len() + 1],
    duration_micros: AtomicU64,
    /// Connections accepted.
    pub(crate) connections: AtomicU64,
    /// Connections ended to make room for others.
    pub(crate) evicted: AtomicU64,
    /// Graphs embedded.
    pub(crate) graphs: AtomicU64,
    /// Calls that embedded them.
    pub(crate) batches: AtomicU64,
    /// Models and indices loaded after the first.
    pub(crate) reloads: AtomicU64,
    /// Models and indices that could not be loaded.
    pub(crate) failed_reloads: AtomicU64,
}

impl Metrics {
    /// Adds `amount`.
    pub(crate) fn add(counter: &AtomicU64, amount: u64) {
        counter.fetch_add(amount, Relaxed);
    }

    /// Counts an answer.
    pub(crate) fn answered(&self, route: &'static str, status: u16, took: Duration) {
        if let Ok(mut requests) = self.requests.lock() {
            *requests.entry((route, status)).or_default() += 1;
        }
        let bucket = BUCKETS.partition_point(|end| *end < took.as_secs_f64());
        Metrics::add(&self.durations[bucket], 1);
        Metrics::add(&self.duration_micros, took.as_micros() as u64);
    }

    /// All of it as text; `waiting` requests wait or are worked on.
    pub(crate) fn text(&self, waiting: usize) -> String {
        let mut text = String::new();
        let head = |text: &mut String, name: &str, kind: &str, help: &str| {
            let _ = writeln!(text, "# HELP {name} {help}\n# TYPE {name} {kind}");
        };
        head(&mut text, "hg2v_requests_total", "counter", "Answers, by route and status.");
        if let Ok(requests) = self.requests.lock() {
            for ((route, status), count) in requests.iter() {
                let labels = format!("route=\"{route}\",status=\"{status}\"");
                let _ = writeln!(text, "hg2v_requests_total{{{labels}}} {count}");
            }
        }
        let name = "hg2v_request_seconds";
        head(&mut text, name, "histogram", "From the head of a request to that of its answer.");
        let mut sum = 0;
        for (i, bucket) in self.durations.iter().enumerate() {
            sum += bucket.load(Relaxed);
            let end = BUCKETS.get(i).map_or("+Inf".to_owned(), ToString::to_string);
            let _ = writeln!(text, "{name}_bucket{{le=\"{end}\"}} {sum}");
        }
        let seconds = self.duration_micros.load(Relaxed) as f64 / 1e6;
        let _ = writeln!(text, "{name}_sum {seconds}\n{name}_count {sum}");
        for (name, counter, help) in [
            ("hg2v_connections_total", &self.connections, "Connections accepted."),
            ("hg2v_evicted_total", &self.evicted, "Connections ended to make room for others."),
            ("hg2v_graphs_total", &self.graphs, "Graphs embedded."),
            ("hg2v_batches_total", &self.batches, "Calls that embedded them."),
            ("hg2v_reloads_total", &self.reloads, "Models and indices loaded after the first."),
            ("hg2v_failed_reloads_total", &self.failed_reloads, "Those that could not be loaded."),
        ] {
            head(&mut text, name, "counter", help);
            let _ = writeln!(text, "{name} {}", counter.load(Relaxed));
        }
        head(&mut text, "hg2v_waiting", "gauge", "Requests that wait or are worked on.");
        let _ = writeln!(text, "hg2v_waiting {waiting}");
        text
    }
}

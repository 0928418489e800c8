//! How fast graphs become pyramids: `make bench`, or
//! `cargo bench --workspace --bench coarsen [-- sets|growth]`.
//!
//! - `sets`: time a graph on one core, on the real sets under `HG2V_DATA` where it
//!   is set (the best of several passes over each), else on graphs made to look
//!   like them;
//! - `growth`: time and peak memory of one graph of 10³ to 10⁶ nodes, on all
//!   cores, each in a process of its own so that its peak is its own.

// A bench prints what it measured.
#![allow(clippy::print_stdout)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use hg2v::coarsen::cache::pyramids;
use hg2v::coarsen::{Params, coarsen};
use hg2v::dataset::synthetic::dla::Dla;
use hg2v::dataset::synthetic::families::Family;
use hg2v::dataset::synthetic::random::{BarabasiAlbert, WattsStrogatz};
use hg2v::dataset::synthetic::{Model, SyntheticSet};
use hg2v::dataset::{self, Limits};
use hg2v::graph::{Graph, WeightPolicy};
use hg2v::progress::{Counter, Silent, Stage};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    match words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["one", kind, exponent] => one(kind, exponent.parse().unwrap()),
        ["sets"] => sets(),
        ["growth"] => growth(),
        _ => {
            sets();
            growth();
        }
    }
}

/// Time a graph on one core.
fn sets() {
    println!("{:<18} {:>7} {:>9} {:>12} {:>12}", "set", "graphs", "nodes", "ms a graph", "at most");
    let folder = std::env::var_os("HG2V_DATA").map(PathBuf::from);
    if folder.is_none() {
        println!("HG2V_DATA is not set: graphs made to look like the sets");
    }
    for (name, most) in
        [("MUTAG", 0.07), ("ENZYMES", 0.12), ("DLA", 0.39), ("REDDIT-MULTI-5K", 6.0)]
    {
        let graphs = match &folder {
            Some(folder) => read(&folder.join(format!("{name}.zip"))),
            None => stand_in(name),
        };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        let passes = if name == "REDDIT-MULTI-5K" { 3 } else { 15 };
        let best = pool.install(|| {
            let counter = Counter::new(&Silent, Stage::Coarsening, 0);
            let pass = |_| {
                let started = Instant::now();
                std::hint::black_box(
                    pyramids(&[&graphs], &Params::default(), None, &counter).unwrap(),
                );
                started.elapsed().as_secs_f64()
            };
            (0..passes).map(pass).fold(f64::INFINITY, f64::min)
        });
        let nodes: usize = graphs.iter().map(Graph::num_nodes).sum();
        println!(
            "{name:<18} {:>7} {:>9.1} {:>12.4} {most:>12}",
            graphs.len(),
            nodes as f64 / graphs.len() as f64,
            1e3 * best / graphs.len() as f64,
        );
    }
}

fn read(path: &Path) -> Vec<Graph> {
    let records = dataset::open(path, &Limits::default()).unwrap();
    records.map(|record| clean(&record.unwrap())).collect()
}

fn clean(record: &hg2v::graph::GraphRecord) -> Graph {
    Graph::from_record(record, WeightPolicy::Use).unwrap().0
}

fn made(model: &dyn Model, graphs: u64) -> Vec<Graph> {
    let set = SyntheticSet::new(model, graphs, 0);
    (0..graphs).map(|index| clean(&set.graph(index).unwrap())).collect()
}

fn stand_in(name: &str) -> Vec<Graph> {
    match name {
        "MUTAG" => made(&Dla::default().nodes(18), 188),
        "ENZYMES" => made(&WattsStrogatz::default().nodes(33).neighbors(4).probability(0.1), 600),
        "DLA" => made(&Dla::default().nodes(100), 1002),
        _ => made(&BarabasiAlbert::default().nodes(508).attach(1), 1000),
    }
}

/// Time and memory from 10³ to 10⁶ nodes.
fn growth() {
    println!(
        "\n{:<18} {:>9} {:>10} {:>10} {:>9}",
        "graph", "nodes", "seconds", "peak MiB", "exponent"
    );
    for kind in ["grid", "barabasi-albert"] {
        let mut last: Option<(f64, f64)> = None;
        for exponent in 3..=6 {
            let output = Command::new(std::env::current_exe().unwrap())
                .args(["one", kind, &exponent.to_string()])
                .output()
                .unwrap();
            let text = String::from_utf8(output.stdout).unwrap();
            let numbers: Vec<f64> =
                text.split_whitespace().map(|word| word.parse().unwrap()).collect();
            let [nodes, seconds, peak] = numbers[..] else { panic!("{text}") };
            let slope = last.map_or(String::new(), |(n, s)| {
                format!("{:.2}", (seconds / s).ln() / (nodes / n).ln())
            });
            println!("{kind:<18} {nodes:>9} {seconds:>10.3} {peak:>10.0} {slope:>9}");
            last = Some((nodes, seconds));
        }
    }
}

/// Coarsens one graph and prints its nodes, the seconds, and the peak memory in MiB.
fn one(kind: &str, exponent: u32) {
    let nodes = 10u32.pow(exponent);
    let side = f64::from(nodes).sqrt().round() as u32;
    let graphs = match kind {
        "grid" => made(&Family::Grid { rows: side, columns: side }, 1),
        _ => made(&BarabasiAlbert::default().nodes(nodes).attach(2), 1),
    };
    // Short runs are repeated, and the best counts.
    let passes = if exponent >= 6 { 1 } else { 5 };
    let best = (0..passes)
        .map(|_| {
            let started = Instant::now();
            std::hint::black_box(coarsen(&graphs[0], &Params::default()).unwrap());
            started.elapsed().as_secs_f64()
        })
        .fold(f64::INFINITY, f64::min);
    println!("{} {best} {}", graphs[0].num_nodes(), peak_mib());
}

/// The most memory this process has held, as Linux counts it; 0 elsewhere.
fn peak_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().trim_end_matches(" kB").parse::<f64>().ok());
    kib.unwrap_or(0.0) / 1024.0
}

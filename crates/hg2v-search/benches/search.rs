//! How fast neighbours are found: 1000 and all of 10 000 vectors of 768 numbers among all
//! of them, the best ten, exactly; and through links among 100 000.
//!
//! `cargo bench --workspace --bench search -- FOLDER` leaves the vectors and our times in
//! FOLDER, for `peers/neighbors.py` to do the same with scikit-learn.

// A bench prints what it measures.
#![allow(clippy::print_stdout)]

use hg2v::context::Context;
use std::env;
use std::path::PathBuf;
use std::time::Instant;

use hg2v::graph::Scalar;
use hg2v::vectors::{self, Key, Shape};
use hg2v_math::linalg::vector::start_value;
use hg2v_search::hnsw::{Hnsw, Params};
use hg2v_search::{Metric, Space, exact};

const TOP: usize = 10;

/// Vectors like those of graphs of some kinds: sums of a few directions, and a little of
/// everything.
fn made(n: usize, dim: usize, directions: usize) -> Vec<f32> {
    let number = |i: usize, j: usize, salt: u64| start_value((i * dim + j) as u64 ^ (salt << 44));
    let bases: Vec<f64> =
        (0..directions).flat_map(|i| (0..dim).map(move |j| number(i, j, 1))).collect();
    let mut rows = Vec::with_capacity(n * dim);
    for i in 0..n {
        let mut row: Vec<f64> = (0..dim).map(|j| 0.1 * number(i, j, 2)).collect();
        for k in 0..directions {
            let weight = number(i, k, 3);
            row.iter_mut().zip(&bases[k * dim..]).for_each(|(x, base)| *x += weight * base);
        }
        rows.extend(row.iter().map(|x| *x as f32));
    }
    rows
}

/// The best of some runs, in seconds.
fn best<T>(runs: usize, mut job: impl FnMut() -> T) -> (f64, T) {
    let mut run = || {
        let started = Instant::now();
        let made = job();
        (started.elapsed().as_secs_f64(), made)
    };
    let mut least = run();
    for _ in 1..runs {
        let next = run();
        if next.0 < least.0 {
            least = next;
        }
    }
    least
}

fn main() {
    let folder =
        env::args().nth(1).filter(|argument| !argument.starts_with("--")).map(PathBuf::from);
    let (n, dim) = (10_000, 768);
    let rows = made(n, dim, 24);
    println!(
        "exact: {n} vectors of {dim} numbers, the {TOP} nearest, {} threads",
        rayon::current_num_threads()
    );
    let mut lines = Vec::new();
    for metric in [Metric::Cosine, Metric::Euclidean] {
        let (making, space) = best(3, || Space::new(dim, rows.clone(), metric).unwrap());
        let queries = &rows[..1000 * dim];
        let (some, _) = best(5, || exact::nearest(&space, queries, TOP).unwrap());
        let (all, _) = best(3, || exact::nearest_others(&space, TOP).unwrap());
        let flops = |queries: usize| 2.0 * queries as f64 * n as f64 * dim as f64 / 1e9;
        println!(
            "{metric:?}: space made in {making:.3} s; 1000 queries in {some:.3} s ({:.0} Gflop/s), \
             all against all in {all:.3} s ({:.0} Gflop/s)",
            flops(1000) / some,
            flops(n) / all
        );
        lines.push(format!("{metric:?},{making},{some},{all}"));
    }
    if let Some(folder) = folder {
        std::fs::create_dir_all(&folder).unwrap();
        let names = (0..dim).map(|i| format!("e{i}")).collect();
        let shape = Shape { names, part: None, model: None };
        let mut sink = vectors::create(&folder.join("vectors.npy"), shape).unwrap();
        for (i, row) in rows.chunks_exact(dim).enumerate() {
            let id = Scalar::Int(i as i64);
            sink.write(Key { id: &id, label: None, part: None }, row).unwrap();
        }
        sink.finish().unwrap();
        std::fs::write(folder.join("times.csv"), lines.join("\n") + "\n").unwrap();
    }

    let (n, dim) = (100_000, 128);
    let rows = made(n, dim, 16);
    let space = Space::new(dim, rows.clone(), Metric::Cosine).unwrap();
    let started = Instant::now();
    let links = Hnsw::new(&space, Params::default(), &Context::default()).unwrap();
    let linking = started.elapsed().as_secs_f64();
    // Rows that are not in the space, of the same kind.
    let queries = &made(n + 1000, dim, 16)[n * dim..];
    let (linked, near) = best(3, || links.nearest(&space, queries, TOP).unwrap());
    let (looking, truth) = best(3, || exact::nearest(&space, queries, TOP).unwrap());
    let hits: usize =
        near.iter().zip(&truth).map(|(a, b)| a.iter().filter(|x| b.contains(x)).count()).sum();
    let one_by_one = |job: &dyn Fn(&[f32])| {
        let (all, ()) = best(3, || queries.chunks_exact(dim).take(100).for_each(job));
        all / 100.0 * 1e3
    };
    let walking = one_by_one(&|query| drop(links.nearest(&space, query, TOP).unwrap()));
    let scanning = one_by_one(&|query| drop(exact::nearest(&space, query, TOP).unwrap()));
    println!("one query at a time: {walking:.2} ms through links, {scanning:.2} ms exactly");
    println!(
        "links: {n} vectors of {dim} numbers linked in {linking:.1} s; 1000 queries in {linked:.3} s \
         (exactly: {looking:.3} s), recall@{TOP} {:.4}",
        hits as f64 / (1000 * TOP) as f64
    );
}

//! Vectors and graphs for the tests.

use hg2v::graph::{GraphRecord, Scalar};
use hg2v_math::linalg::vector::start_value;

/// `n` vectors of `dim` numbers that look random.
pub(crate) fn numbers(n: usize, dim: usize, salt: u64) -> Vec<f32> {
    (0..(n * dim) as u64).map(|i| start_value(i ^ (salt << 40)) as f32).collect()
}

/// `n` vectors of `dim` numbers around `groups` far points, one after the other.
pub(crate) fn clusters(n: usize, dim: usize, groups: usize) -> Vec<f32> {
    let centres = numbers(groups, dim, 77);
    let own = numbers(n, dim, 78);
    let value = |i: usize| 8.0 * centres[i / dim % groups * dim + i % dim] + own[i];
    (0..n * dim).map(value).collect()
}

/// Runs `job` with so many threads.
pub(crate) fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
}

/// Paths, cycles and stars with labelled nodes.
pub(crate) fn graphs() -> Vec<GraphRecord> {
    let graph = |id: String, n: u32, edges: Vec<[u32; 2]>| GraphRecord {
        id: Some(Scalar::from_text(&id)),
        num_nodes: n,
        edges,
        node_labels: Some((0..n).map(|v| Scalar::Int(i64::from(v % 3))).collect()),
        ..GraphRecord::default()
    };
    let path = |n: u32| (1..n).map(|v| [v - 1, v]).collect::<Vec<_>>();
    let sizes = 5..13;
    let paths = sizes.clone().map(|n| graph(format!("path-{n}"), n, path(n)));
    let cycles =
        sizes.clone().map(|n| graph(format!("cycle-{n}"), n, [path(n), vec![[n - 1, 0]]].concat()));
    let stars = sizes.map(|n| graph(format!("star-{n}"), n, (1..n).map(|v| [0, v]).collect()));
    paths.chain(cycles).chain(stars).collect()
}

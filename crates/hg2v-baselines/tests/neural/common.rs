//! Graphs with planted classes.

use hg2v::context::Context;
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::{Collection, Needs, Run};

/// Cycles with a chord and trees, of 6 to 15 nodes, turn by turn.
pub(crate) fn planted(count: usize) -> Vec<GraphRecord> {
    (0..count as u32)
        .map(|i| {
            let (class, n) = (i % 2, 6 + i * 7 % 10);
            let edges: Vec<[u32; 2]> = match class {
                0 => (0..n).map(|v| [v, (v + 1) % n]).chain([[0, n / 2]]).collect(),
                _ => (1..n).map(|v| [v / 2, v]).collect(),
            };
            let label = Some(Scalar::Int(i64::from(class)));
            GraphRecord { num_nodes: n, edges, label, ..GraphRecord::default() }
        })
        .collect()
}

/// The classes of [`planted`].
pub(crate) fn classes(count: usize) -> Vec<u32> {
    (0..count as u32).map(|i| i % 2).collect()
}

/// Graphs cleaned; no method here asks for pyramids.
pub(crate) fn collect(records: &[GraphRecord]) -> Collection<'_> {
    Collection::new(Run::in_memory(records), &Needs::default(), &Context::default()).unwrap()
}

/// `job` with so many threads.
pub(crate) fn at<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
}

//! Collections, small and real.

use std::path::Path;

use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::graph::{GraphRecord, WeightPolicy};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::{Method, Result};
use hg2v_eval::Matrix;
use proptest::prelude::*;

/// The graphs as they are, without pyramids.
pub(crate) fn flat(records: &[GraphRecord]) -> Collection<'_> {
    let needs = Needs::default().weights(WeightPolicy::Ignore);
    Collection::new(Run::in_memory(records), &needs, &Context::default()).unwrap()
}

/// A row for each graph, by what a method learns from the graphs `train`.
pub(crate) fn vectors(
    method: &dyn Method,
    collection: &Collection<'_>,
    train: &[usize],
) -> Result<Matrix> {
    let context = Context::default();
    let model = method.fit_collection(collection, train, &context)?;
    let rows = model.embed_collection(collection, &context)?;
    Ok(Matrix::from_f32(collection.len(), model.dim(), &rows.values).unwrap())
}

/// A graph with labelled nodes.
pub(crate) fn labelled(labels: &[i64], edges: &[[u32; 2]]) -> GraphRecord {
    GraphRecord {
        num_nodes: labels.len() as u32,
        edges: edges.to_vec(),
        node_labels: Some(labels.iter().map(|&label| label.into()).collect()),
        ..GraphRecord::default()
    }
}

/// Any graph of up to `most` nodes with labels 0 to 2.
pub(crate) fn any_graph(most: u32) -> impl Strategy<Value = GraphRecord> {
    (0..=most).prop_flat_map(move |n| {
        let labels = prop::collection::vec(0i64..3, n as usize);
        let node = 0..n.max(1);
        let edges = prop::collection::vec([node.clone(), node], 0..=(2 * n as usize));
        (labels, edges).prop_map(|(labels, edges)| {
            let none = labels.is_empty();
            labelled(&labels, if none { &[] } else { &edges })
        })
    })
}

/// A real set, where there is one; a test that has none says so.
pub(crate) fn real(name: &str) -> Option<Vec<GraphRecord>> {
    let Some(folder) = std::env::var_os("HG2V_DATA") else {
        eprintln!("skipped: HG2V_DATA names no folder with {name}");
        return None;
    };
    let path = dataset::locate(Path::new(name), Some(folder.as_ref())).unwrap();
    let records = dataset::open(&path, &Limits::default()).unwrap();
    Some(records.collect::<hg2v::Result<_>>().unwrap())
}

/// What `job` gives in pools of 1, 2 and 4 threads, which must be the same.
pub(crate) fn at_any_thread_count<T: PartialEq + Send>(job: impl Fn() -> T + Sync) -> T {
    let at = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(&job)
    };
    let one = at(1);
    assert!(one == at(2) && one == at(4), "results depend on the number of threads");
    one
}

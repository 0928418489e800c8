//! Whole networks: their gradients, and what must not matter to them.

use std::sync::Arc;

use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v_baselines::classifiers::diffpool::DiffPoolParams;
use hg2v_baselines::classifiers::gin::{GinParams, Pool};
use hg2v_baselines::classifiers::mincut::MinCutParams;
use hg2v_baselines::classifiers::training::{Design, Task};
use hg2v_baselines::network::{ClassifierNetwork, Pass, Store};
use hg2v_baselines::tape::{Array, Graphs, Var};
use hg2v_math::rng;

const TASK: Task = Task { inputs: 3, links: 0, classes: 2, nodes: 6.0 };

fn gin() -> GinParams {
    GinParams::default().hidden(4).layers(2).epsilon(true).pool(Pool::Mean).dropout(0.5)
}

fn diffpool() -> DiffPoolParams {
    DiffPoolParams::default().levels(2).ratio(0.5).hidden(3).embedding(4)
}

fn mincut() -> MinCutParams {
    MinCutParams::default().hidden(4).share(3).levels(2).ratio(0.5)
}

/// A cycle and a tree, their nodes in the order that `place` says.
fn graphs(place: impl Fn(u32, u32) -> u32) -> Arc<Graphs<f64>> {
    let graph = |n: u32, edges: Vec<[u32; 2]>| {
        let edges = edges.into_iter().map(|[u, v]| [place(n, u), place(n, v)]).collect();
        let record = GraphRecord { num_nodes: n, edges, ..GraphRecord::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    };
    let cycle = graph(5, (0..5).map(|v| [v, (v + 1) % 5]).collect());
    let tree = graph(7, (1..7).map(|v| [v / 2, v]).collect());
    Graphs::new(&[cycle, tree])
}

fn features(place: impl Fn(u32, u32) -> u32) -> Array<f64> {
    let mut x = Array::zeros(12, 3);
    for (first, n) in [(0, 5), (5, 7)] {
        for v in 0..n {
            let row = x.row_mut(first + place(n, v) as usize);
            row.iter_mut().enumerate().for_each(|(j, x)| {
                *x = ((first as f64 + f64::from(v)) * 1.7 + j as f64 * 2.3).sin();
            });
        }
    }
    x
}

fn loss(network: &dyn ClassifierNetwork<f64>, store: &Store<f64>) -> (f64, Vec<f64>) {
    let mut pass = Pass::training(store, rng::stream(1, "dropout", 0, 0));
    let (graphs, x) = (graphs(|_, v| v), pass.tape.constant(features(|_, v| v)));
    let output = network.forward(&mut pass, &graphs, x);
    let mut loss = pass.tape.cross_entropy(output.scores, &[0, 1]);
    if let Some(extra) = output.extra {
        loss = pass.tape.add(loss, extra);
    }
    let value = pass.tape.value(loss).values[0];
    (value, pass.finish(loss).0)
}

fn check(design: &impl Design) {
    let mut store = Store::new(3);
    let network = design.build(&mut store, &TASK);
    let (_, gradient) = loss(network.as_ref(), &store);
    let step = 1e-6;
    for at in 0..store.values.len() {
        let moved = |by: f64| {
            let mut store = store.clone();
            store.values[at] += by;
            loss(network.as_ref(), &store).0
        };
        let expected = (moved(step) - moved(-step)) / (2.0 * step);
        let close = (gradient[at] - expected).abs() <= 1e-6 * (1.0 + expected.abs());
        assert!(close, "{design}, parameter {at}: {}, not {expected}", gradient[at]);
    }
    assert!(gradient.iter().any(|g| g.abs() > 1e-3), "{design}: nothing to learn");
}

#[test]
fn gradients_are_those_of_finite_differences() {
    check(&gin());
    check(&diffpool());
    check(&mincut());
}

#[test]
fn the_numbering_of_nodes_does_not_matter() {
    fn scores(design: &impl Design, place: impl Fn(u32, u32) -> u32) -> Vec<f64> {
        let mut store = Store::new(3);
        let network = design.build(&mut store, &TASK);
        let mut pass = Pass::working(&store);
        let x: Var = pass.tape.constant(features(&place));
        let output = network.forward(&mut pass, &graphs(&place), x);
        pass.tape.value(output.scores).values.clone()
    }
    fn check(design: &impl Design) {
        let (one, other) = (scores(design, |_, v| v), scores(design, |n, v| (3 * v + 2) % n));
        let off = one.iter().zip(&other).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
        assert!(off < 1e-12, "{design}: off by {off}");
        assert!((one[0] - one[2]).abs() > 1e-6, "{design} cannot tell a cycle from a tree");
    }
    check(&gin());
    check(&diffpool());
    check(&mincut());
}

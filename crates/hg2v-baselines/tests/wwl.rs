//! The Wasserstein Weisfeiler–Lehman kernel against its definition.

// A test may fail loudly, and a skipped one says so.
#![allow(clippy::unwrap_used, clippy::print_stderr)]

use std::path::Path;
use std::sync::Mutex;

use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::distance::transport::uniform;
use hg2v::graph::wl::Refiner;
use hg2v::graph::{EdgeChoice, Features, GraphRecord, Scalar};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::progress::{Flow, Report};
use hg2v_baselines::kernels::wwl::{Nodes, Wwl};
use hg2v_eval::Matrix;
use hg2v_eval::method::GraphKernel;
use proptest::prelude::*;

fn collect(records: &[GraphRecord]) -> Collection<'_> {
    Collection::new(Run::in_memory(records), &Needs::default(), &Context::default()).unwrap()
}

fn kernel(nodes: Nodes, rounds: &[usize]) -> Wwl {
    Wwl::default().nodes(nodes).rounds(rounds.to_vec())
}

fn distances(records: &[GraphRecord], kernel: &Wwl) -> Vec<Matrix> {
    kernel.distances(&collect(records), &Context::default()).unwrap()
}

/// `𝒲` by the definition: Hamming distances between sequences, an exact solver.
fn defined(records: &[GraphRecord], rounds: usize) -> Vec<Vec<f64>> {
    let collection = collect(records);
    let mut refiner = Refiner::new(rounds).edges(EdgeChoice::default());
    let both = records.iter().zip(&collection.graphs);
    let sequences: Vec<Vec<Vec<u32>>> =
        both.map(|(record, graph)| refiner.refine(record, graph).unwrap()).collect();
    let apart = |a: &Vec<Vec<u32>>, b: &Vec<Vec<u32>>| {
        let mut costs = Vec::new();
        for u in 0..a[0].len() {
            for v in 0..b[0].len() {
                let differing = (0..=rounds).filter(|&h| a[h][u] != b[h][v]).count();
                costs.push(differing as f64 / (rounds + 1) as f64);
            }
        }
        uniform(&costs, a[0].len(), b[0].len()).unwrap().cost
    };
    sequences.iter().map(|a| sequences.iter().map(|b| apart(a, b)).collect()).collect()
}

/// Graphs with a few labels and two attributes.
fn graphs() -> impl Strategy<Value = Vec<GraphRecord>> {
    let graph = (1u32..9).prop_flat_map(|n| {
        let edges = proptest::collection::vec([0..n, 0..n], 0..12);
        let labels = proptest::collection::vec((0i64..3).prop_map(Scalar::Int), n as usize);
        let values = proptest::collection::vec(-2.0..2.0f64, 2 * n as usize);
        (edges, labels, values).prop_map(move |(edges, labels, values)| GraphRecord {
            num_nodes: n,
            edges,
            node_labels: Some(labels),
            features: Some(Features { dim: 2, values }),
            ..GraphRecord::default()
        })
    });
    proptest::collection::vec(graph, 2..7)
}

proptest! {
    #[test]
    fn labels_are_carried_along_their_tree(records in graphs()) {
        let found = distances(&records, &kernel(Nodes::Labels, &[0, 3, 1]));
        for (matrix, rounds) in found.iter().zip([0, 3, 1]) {
            let defined = defined(&records, rounds);
            for i in 0..records.len() {
                for j in 0..records.len() {
                    let (fast, exact) = (matrix.row(i)[j], defined[i][j]);
                    prop_assert!((fast - exact).abs() < 1e-12, "{fast} {exact}");
                }
            }
        }
    }

    #[test]
    fn both_are_metrics_that_forget_the_order_of_nodes(records in graphs()) {
        let n = records.len();
        let mut turned = records.clone();
        for record in &mut turned {
            let last = record.num_nodes - 1;
            record.edges.iter_mut().for_each(|edge| *edge = edge.map(|v| last - v));
            record.node_labels.as_mut().unwrap().reverse();
            let values = &mut record.features.as_mut().unwrap().values;
            *values = values.chunks_exact(2).rev().flatten().copied().collect();
        }
        let both: Vec<GraphRecord> = records.iter().chain(&turned).cloned().collect();
        for nodes in [Nodes::Labels, Nodes::Attributes] {
            let w = distances(&both, &kernel(nodes, &[2])).swap_remove(0);
            for i in 0..2 * n {
                prop_assert!(w.row(i)[(i + n) % (2 * n)] < 1e-6);
                for j in 0..2 * n {
                    prop_assert!(w.row(i)[j] >= 0.0);
                    prop_assert_eq!(w.row(i)[j], w.row(j)[i]);
                    for k in 0..2 * n {
                        prop_assert!(w.row(i)[k] <= w.row(i)[j] + w.row(j)[k] + 1e-9);
                    }
                }
            }
        }
    }
}

#[test]
fn known_answers() {
    let path = |n: u32, label: i64| GraphRecord {
        num_nodes: n,
        edges: (1..n).map(|v| [v - 1, v]).collect(),
        node_labels: Some(vec![Scalar::Int(label); n as usize]),
        ..GraphRecord::default()
    };
    // One label: alike in round 0; in round 1 the shares of ends are 2/3 and 2/4.
    let records = [path(3, 0), path(4, 0), path(4, 1), path(0, 0)];
    let w = distances(&records, &kernel(Nodes::Labels, &[1])).swap_remove(0);
    assert!((w.row(0)[1] - (1.0 / 6.0 + 1.0 / 6.0) / 4.0).abs() < 1e-15);
    // Another label: different in every round. No nodes: likewise.
    assert_eq!(w.row(1)[2], 1.0);
    assert_eq!((w.row(0)[3], w.row(3)[3]), (1.0, 0.0));

    // Two nodes at −1 and 1, joined, and one at 0: after a round both are at 0.
    let point = |values: &[f64], edges: &[[u32; 2]]| GraphRecord {
        num_nodes: values.len() as u32,
        edges: edges.to_vec(),
        features: Some(Features { dim: 1, values: values.to_vec() }),
        ..GraphRecord::default()
    };
    let records = [point(&[-1.0, 1.0], &[[0, 1]]), point(&[0.0, 0.0], &[])];
    let [before, after] =
        <[Matrix; 2]>::try_from(distances(&records, &kernel(Nodes::Auto, &[0, 1]))).unwrap();
    // The deviation of −1, 1, 0, 0 is √½.
    assert!((before.row(0)[1] - 2f64.sqrt()).abs() < 1e-6);
    assert!((after.row(0)[1] - 2f64.sqrt()).abs() < 1e-6);
}

#[test]
fn kernels_fall_with_the_distance_and_say_how_far_they_are() {
    let records: Vec<GraphRecord> = (3..30)
        .map(|n| GraphRecord {
            num_nodes: n,
            edges: (1..n).map(|v| [v / 2, v]).collect(),
            ..GraphRecord::default()
        })
        .collect();
    let wwl = Wwl::default().rounds(vec![1, 2]).gammas(vec![0.5, 2.0]);
    let heard = Mutex::new(Vec::new());
    let listen = |report: &Report<'_>| {
        heard.lock().unwrap().push((report.done, report.total));
        Flow::Continue
    };
    let watched = Context::default().watched_by(&listen);
    let grams = wwl.grams(&collect(&records), &watched).unwrap();
    let heard = heard.into_inner().unwrap();
    assert_eq!(heard.into_iter().max(), Some((351, 351)));
    assert_eq!((grams.len(), wwl.variants()), (4, 4));
    assert_eq!((wwl.variant(1), wwl.variant(2)), ((1, 2.0), (2, 0.5)));
    let w = distances(&records, &wwl);
    for (setting, gram) in grams.iter().enumerate() {
        let (_, gamma) = wwl.variant(setting);
        assert_eq!(gram.row(3)[7], (-gamma * w[setting / 2].row(3)[7]).exp());
        assert_eq!(gram.row(5)[5], 1.0);
    }
    let nothing = Wwl::default().rounds(Vec::new());
    assert!(nothing.grams(&collect(&records), &Context::default()).is_err());
    let negative = Wwl::default().gammas(vec![-1.0]);
    assert!(
        negative
            .grams(&collect(&records), &Context::default())
            .unwrap_err()
            .to_string()
            .contains("-1")
    );
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let values = |n: u32| (0..n).map(|v| f64::from(v * v % 7)).collect();
    let records: Vec<GraphRecord> = (3..20)
        .map(|n| GraphRecord {
            num_nodes: n,
            edges: (1..n).map(|v| [v / 3, v]).collect(),
            features: Some(Features { dim: 1, values: values(n) }),
            ..GraphRecord::default()
        })
        .collect();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| distances(&records, &kernel(Nodes::Attributes, &[1, 2])))
    };
    assert_eq!(with(1), with(3));
}

/// On real sets, with the labels of chemists and biologists.
#[test]
fn real_labels_are_carried_along_their_tree() {
    let Ok(folder) = std::env::var("HG2V_DATA") else {
        eprintln!("skipped: HG2V_DATA is not set");
        return;
    };
    for name in ["MUTAG", "ENZYMES"] {
        let path = Path::new(&folder).join(format!("{name}.zip"));
        let graphs = dataset::open(&path, &Limits::default()).unwrap();
        let records: Vec<GraphRecord> = graphs.map(Result::unwrap).take(60).collect();
        let found = distances(&records, &kernel(Nodes::Labels, &[4])).swap_remove(0);
        let defined = defined(&records, 4);
        for i in 0..records.len() {
            for j in 0..records.len() {
                assert!((found.row(i)[j] - defined[i][j]).abs() < 1e-12, "{name} {i} {j}");
            }
        }
    }
}

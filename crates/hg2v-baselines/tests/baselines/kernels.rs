//! Kernels against their definitions.

use hg2v::context::Context;
use hg2v::graph::GraphRecord;
use hg2v::graph::wl::Refiner;
use hg2v::progress::{Flow, Report, Stage};
use hg2v_baselines::kernels::wl_oa::WlOa;
use hg2v_baselines::kernels::wl_subtree::WlSubtree;
use hg2v_eval::method::GraphKernel;
use hg2v_eval::{Error, Matrix};
use proptest::prelude::*;

use crate::common::{any_graph, at_any_thread_count, flat, labelled, real};

fn grams(kernel: &dyn GraphKernel, records: &[GraphRecord]) -> Vec<Matrix> {
    let grams = kernel.grams(&flat(records), &Context::default()).unwrap();
    assert_eq!(grams.len(), kernel.variants());
    grams
}

/// The labels of each node of each graph in each round.
fn labels(records: &[GraphRecord], rounds: usize) -> Vec<Vec<Vec<u32>>> {
    let mut refiner = Refiner::new(rounds);
    let collection = flat(records);
    let graphs = records.iter().zip(&collection.graphs);
    graphs.map(|(record, graph)| refiner.refine(record, graph).unwrap()).collect()
}

/// The pairs of nodes, one of each graph, that are called the same in a round.
fn pairs_alike(a: &[Vec<u32>], b: &[Vec<u32>]) -> f64 {
    let in_round = |(a, b): (&Vec<u32>, &Vec<u32>)| {
        a.iter().map(|x| b.iter().filter(|y| *y == x).count()).sum::<usize>()
    };
    a.iter().zip(b).map(in_round).sum::<usize>() as f64
}

/// The best one-to-one matching of the nodes of two graphs, by trying all.
fn best_matching(a: &[Vec<u32>], b: &[Vec<u32>]) -> f64 {
    fn best(a: &[Vec<u32>], b: &[Vec<u32>], node: usize, taken: &mut Vec<bool>) -> usize {
        if node == a[0].len() {
            return 0;
        }
        let mut most = best(a, b, node + 1, taken);
        for other in 0..taken.len() {
            if !taken[other] {
                taken[other] = true;
                let alike = a.iter().zip(b).filter(|(a, b)| a[node] == b[other]).count();
                most = most.max(alike + best(a, b, node + 1, taken));
                taken[other] = false;
            }
        }
        most
    }
    best(a, b, 0, &mut vec![false; b[0].len()]) as f64
}

/// The labels of one graph, round after round.
type Labels = [Vec<u32>];

/// `k` of all pairs, normalised.
fn naive(labels: &[Vec<Vec<u32>>], rounds: usize, k: fn(&Labels, &Labels) -> f64) -> Vec<f64> {
    let k = |i: usize, j: usize| k(&labels[i][..=rounds], &labels[j][..=rounds]);
    let n = labels.len();
    let mut values = Vec::new();
    for i in 0..n {
        for j in 0..n {
            let scale = (k(i, i) * k(j, j)).sqrt();
            values.push(if scale > 0.0 { k(i, j) / scale } else { 0.0 });
        }
    }
    values
}

fn close(gram: &Matrix, expected: &[f64]) {
    for (value, expected) in gram.values().iter().zip(expected) {
        assert!((value - expected).abs() < 1e-12, "{gram:?} is not {expected:?}");
    }
}

#[test]
fn a_path_and_a_triangle_by_hand() {
    // a - b - a, and a triangle of a, a, b.
    let path = labelled(&[0, 1, 0], &[[0, 1], [1, 2]]);
    let triangle = labelled(&[0, 0, 1], &[[0, 1], [1, 2], [2, 0]]);
    let records = [path, triangle];
    // Round 0: {a: 2, b: 1} in both. Round 1: path {a(b): 2, b(aa): 1}, triangle
    // {a(ab): 2, b(aa): 1}.
    let subtree = grams(&WlSubtree::default().rounds(1), &records);
    close(&subtree[0], &[1.0; 4]);
    close(&subtree[1], &[1.0, 0.6, 0.6, 1.0]);
    let assignment = grams(&WlOa::default().rounds(1), &records);
    close(&assignment[1], &[1.0, 4.0 / 6.0, 4.0 / 6.0, 1.0]);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn they_are_what_they_say(records in prop::collection::vec(any_graph(5), 1..6)) {
        let labels = labels(&records, 3);
        let subtree = grams(&WlSubtree::default().rounds(3), &records);
        let assignment = grams(&WlOa::default().rounds(3), &records);
        let last = WlOa::default().rounds(3).gram(&flat(&records), &Context::default()).unwrap();
        assert_eq!(Some(&last), assignment.last());
        for rounds in 0..=3 {
            close(&subtree[rounds], &naive(&labels, rounds, pairs_alike));
            close(&assignment[rounds], &naive(&labels, rounds, best_matching));
        }
    }
}

#[test]
fn no_graphs_and_empty_ones_have_kernels_too() {
    assert!(grams(&WlOa::default(), &[]).iter().all(|gram| gram.values().is_empty()));
    let empty = GraphRecord::default();
    let one = labelled(&[4], &[]);
    for kernel in [&WlOa::default() as &dyn GraphKernel, &WlSubtree::default()] {
        for gram in grams(kernel, &[empty.clone(), one.clone(), one.clone()]) {
            close(&gram, &[0.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 1.0, 1.0]);
        }
    }
}

#[test]
fn threads_change_nothing_and_progress_is_heard() {
    let Some(records) = real("MUTAG") else { return };
    at_any_thread_count(|| grams(&WlOa::default().rounds(3), &records));
    let heard = std::sync::Mutex::new(Vec::new());
    let listen = |report: &Report<'_>| {
        assert_eq!((report.stage, report.total), (Stage::Comparing, 188));
        heard.lock().unwrap().push(report.done);
        Flow::Continue
    };
    let watched = Context::default().watched_by(&listen);
    WlOa::default().rounds(1).grams(&flat(&records), &watched).unwrap();
    let mut heard = heard.into_inner().unwrap();
    heard.sort_unstable();
    assert_eq!(heard, (1..=188).collect::<Vec<_>>());
    let stop = |_: &Report<'_>| Flow::Stop;
    let stopped =
        WlOa::default().rounds(1).grams(&flat(&records), &Context::default().watched_by(&stop));
    assert!(matches!(stopped, Err(Error::Hg2v(hg2v::Error::Stopped))));
}

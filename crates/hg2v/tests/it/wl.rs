//! Weisfeiler–Lehman: known answers, the naive specification, and invariance.

use std::collections::{BTreeMap, BTreeSet};

use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{EdgeChoice, Graph, GraphRecord, Scalar, Usage, WeightPolicy, wl_digest};
use proptest::prelude::*;

fn graph(num_nodes: u32, edges: &[[u32; 2]]) -> GraphRecord {
    GraphRecord { num_nodes, edges: edges.to_vec(), ..GraphRecord::default() }
}

fn clean(record: &GraphRecord) -> Graph {
    Graph::from_record(record, WeightPolicy::Ignore).unwrap().0
}

/// The histograms of each graph's rows, under one shared dictionary.
fn histograms(refiner: Refiner, records: &[GraphRecord]) -> Vec<Vec<Vec<(u32, u32)>>> {
    let mut refiner = refiner;
    let mut of_graph = |record| {
        let rows = refiner.refine(record, &clean(record)).unwrap();
        rows.iter().map(|row| histogram(row)).collect()
    };
    records.iter().map(&mut of_graph).collect()
}

/// The specification: a label is the whole rooted subtree, spelled out.
fn naive(record: &GraphRecord, rounds: usize, choice: EdgeChoice) -> Vec<Vec<String>> {
    let n = record.num_nodes as usize;
    let mut adjacency: Vec<BTreeSet<(usize, String)>> = vec![BTreeSet::new(); n];
    for (position, &[u, v]) in record.edges.iter().enumerate() {
        if u == v {
            continue;
        }
        let label = record.edge_labels.as_ref().filter(|_| choice.labels.is_used());
        let label = label.map(|labels| labels[position].clone());
        let [out, into] =
            if record.directed && choice.direction.is_used() { ["->", "<-"] } else { ["--", "--"] };
        for (from, to, way) in [(u, v, out), (v, u, into)] {
            adjacency[from as usize].insert((to as usize, format!("{way}{label:?}")));
        }
    }
    let first = (0..n).map(|u| match &record.node_labels {
        Some(labels) => format!("{:?}", labels[u]),
        None => "-".to_owned(),
    });
    let mut rows = vec![first.collect::<Vec<String>>()];
    for round in 0..rounds {
        let row = (0..n).map(|u| {
            let below = adjacency[u].iter();
            let mut below: Vec<String> =
                below.map(|(v, e)| format!("{e}/{}", rows[round][*v])).collect();
            below.sort();
            format!("{}({})", rows[round][u], below.join(","))
        });
        let row = row.collect();
        rows.push(row);
    }
    rows
}

fn digest(record: &GraphRecord, edges: EdgeChoice, rounds: usize) -> [u8; 32] {
    wl_digest(record, &clean(record), edges, rounds)
}

#[test]
fn a_hexagon_and_two_triangles_look_alike() {
    let hexagon = graph(6, &[[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 0]]);
    let triangles = graph(6, &[[0, 1], [1, 2], [2, 0], [3, 4], [4, 5], [5, 3]]);
    let found = histograms(Refiner::new(5), &[hexagon.clone(), triangles.clone()]);
    assert_eq!(found[0], found[1]);
    // One label a round, six nodes each.
    let expected: Vec<_> = (0..6).map(|label| vec![(label, 6)]).collect();
    assert_eq!(found[0], expected);
    assert_eq!(
        digest(&hexagon, EdgeChoice::NOTHING, 5),
        digest(&triangles, EdgeChoice::NOTHING, 5)
    );
}

#[test]
fn a_path_and_a_star_differ_from_the_first_round() {
    let path = graph(4, &[[0, 1], [1, 2], [2, 3]]);
    let star = graph(4, &[[0, 1], [0, 2], [0, 3]]);
    let found = histograms(Refiner::new(2), &[path.clone(), star.clone()]);
    assert_eq!(found[0][0], found[1][0]);
    // Path: two ends, two inner nodes. Star: a hub and three ends, which are
    // called like the path's ends until the second round sees what they hang on.
    assert_eq!(found[0][1], [(1, 2), (2, 2)]);
    assert_eq!(found[1][1], [(1, 3), (5, 1)]);
    assert!(found[1][2].iter().all(|(label, _)| *label > 5));
    assert_ne!(digest(&path, EdgeChoice::NOTHING, 1), digest(&star, EdgeChoice::NOTHING, 1));
    assert_eq!(digest(&path, EdgeChoice::NOTHING, 0), digest(&star, EdgeChoice::NOTHING, 0));
}

#[test]
fn node_labels_edge_labels_and_their_absence_are_told_apart() {
    let plain = graph(2, &[[0, 1]]);
    let labelled =
        GraphRecord { node_labels: Some(vec![Scalar::Int(0), Scalar::Int(0)]), ..plain.clone() };
    let single = GraphRecord { edge_labels: Some(vec!["single".into()]), ..plain.clone() };
    let double = GraphRecord { edge_labels: Some(vec!["double".into()]), ..plain.clone() };
    let all = [plain, labelled, single, double];
    let found = histograms(Refiner::new(1).edges(EdgeChoice::default()), &all);
    assert_ne!(found[0][0], found[1][0], "unlabelled is not label 0");
    assert_eq!(found[0][0], found[2][0]);
    assert_ne!(found[0][1], found[2][1]);
    assert_ne!(found[2][1], found[3][1]);
    let blind = histograms(Refiner::new(1).node_labels(false), &all);
    assert!(blind.iter().all(|one| *one == blind[0]));
}

#[test]
fn edges_of_two_kinds_are_two_in_any_order() {
    let labels = |first: i64, second: i64| GraphRecord {
        edge_labels: Some(vec![first.into(), second.into()]),
        ..graph(2, &[[0, 1], [1, 0]])
    };
    let all = [labels(1, 2), labels(2, 1), labels(1, 1)];
    let found = histograms(Refiner::new(1).edges(EdgeChoice::default()), &all);
    assert_eq!(found[0], found[1]);
    assert_ne!(found[0], found[2]);
}

/// A circle and a pair of opposite arcs: without directions both are circles of three.
#[test]
fn directions_are_seen_where_they_are_asked_for() {
    let directed = |edges: &[[u32; 2]]| GraphRecord { directed: true, ..graph(3, edges) };
    let all = [directed(&[[0, 1], [1, 2], [2, 0]]), directed(&[[0, 1], [1, 2], [0, 2]])];
    let found = histograms(Refiner::new(1).edges(EdgeChoice::default()), &all);
    assert_eq!(found[0][1], [(1, 3)]);
    assert_eq!(found[1][1], [(1, 1), (2, 1), (3, 1)]);
    let blind = histograms(Refiner::new(3), &all);
    assert_eq!(blind[0], blind[1]);
}

#[test]
fn no_nodes_and_no_edges_are_graphs_too() {
    let mut refiner = Refiner::new(3);
    let empty = graph(0, &[]);
    assert_eq!(refiner.refine(&empty, &clean(&empty)).unwrap(), vec![Vec::<u32>::new(); 4]);
    let isolated = graph(2, &[]);
    let rows = refiner.refine(&isolated, &clean(&isolated)).unwrap();
    assert_eq!(rows, [[0, 0], [1, 1], [2, 2], [3, 3]]);
    assert_ne!(digest(&empty, EdgeChoice::NOTHING, 3), digest(&isolated, EdgeChoice::NOTHING, 3));
}

#[test]
fn a_hub_of_a_hundred_thousand_neighbours_is_no_trouble() {
    let edges: Vec<[u32; 2]> = (1..100_001).map(|leaf| [0, leaf]).collect();
    let star = graph(100_001, &edges);
    let found = histograms(Refiner::new(3), std::slice::from_ref(&star));
    assert_eq!(found[0][3].iter().map(|(_, count)| *count).collect::<Vec<_>>(), [1, 100_000]);
}

/// A small graph, with labels of each kind or none: small alphabets, so that
/// graphs of a pair are often alike.
fn any_graph() -> impl Strategy<Value = GraphRecord> {
    let kinds = (0u32..7, any::<bool>(), any::<bool>(), any::<bool>());
    kinds.prop_flat_map(|(n, nodes, edges, directed)| {
        let end = 0..n.max(1);
        let most = if n == 0 { 0 } else { 9 };
        let edge = ([end.clone(), end], 0i64..2);
        let labels = prop::collection::vec((0i64..2).prop_map(Scalar::Int), n as usize);
        (prop::collection::vec(edge, 0..=most), labels).prop_map(move |(list, labels)| {
            GraphRecord {
                num_nodes: n,
                edges: list.iter().map(|(edge, _)| *edge).collect(),
                edge_labels: edges.then(|| list.iter().map(|(_, l)| (*l).into()).collect()),
                node_labels: nodes.then_some(labels),
                directed,
                ..GraphRecord::default()
            }
        })
    })
}

/// The same graph with its nodes renumbered and its edges listed backwards.
fn permuted(record: &GraphRecord, new_of: &[u32]) -> GraphRecord {
    let mut other = record.clone();
    for [u, v] in &mut other.edges {
        (*u, *v) = match record.directed {
            true => (new_of[*u as usize], new_of[*v as usize]),
            false => (new_of[*v as usize], new_of[*u as usize]),
        };
    }
    other.edges.reverse();
    if let Some(labels) = &mut other.edge_labels {
        labels.reverse();
    }
    if let (Some(new), Some(old)) = (&mut other.node_labels, &record.node_labels) {
        for (node, label) in old.iter().enumerate() {
            new[new_of[node] as usize] = label.clone();
        }
    }
    other
}

proptest! {
    #[test]
    fn equal_labels_are_equal_subtrees(
        records in prop::collection::vec(any_graph(), 1..5),
        labels in any::<bool>(),
        direction in any::<bool>(),
    ) {
        let used = |used| if used { Usage::Use } else { Usage::Ignore };
        let (labels, direction) = (used(labels), used(direction));
        let choice = EdgeChoice::NOTHING.labels(labels).direction(direction);
        let mut refiner = Refiner::new(3).edges(choice);
        let mut label_of = BTreeMap::new();
        let mut subtree_of = BTreeMap::new();
        for record in &records {
            let rows = refiner.refine(record, &clean(record)).unwrap();
            for (labels, subtrees) in rows.iter().zip(naive(record, 3, choice)) {
                for (&label, subtree) in labels.iter().zip(subtrees) {
                    prop_assert_eq!(*label_of.entry(subtree.clone()).or_insert(label), label);
                    let known = subtree_of.entry(label).or_insert(subtree.clone());
                    prop_assert_eq!(&*known, &subtree);
                }
            }
        }
        prop_assert_eq!(refiner.num_labels(), label_of.len());
        prop_assert!(subtree_of.keys().copied().eq(0..label_of.len() as u32), "dense");
    }

    #[test]
    fn renumbering_nodes_changes_no_histogram(
        (record, new_of) in any_graph().prop_flat_map(|record| {
            let nodes: Vec<u32> = (0..record.num_nodes).collect();
            (Just(record), Just(nodes).prop_shuffle())
        }),
    ) {
        let other = permuted(&record, &new_of);
        let refiner = Refiner::new(3).edges(EdgeChoice::default());
        let found = histograms(refiner, &[record.clone(), other.clone()]);
        prop_assert_eq!(&found[0], &found[1]);
        let of = |record| digest(record, EdgeChoice::default(), 3);
        prop_assert_eq!(of(&record), of(&other));
    }

    #[test]
    fn digests_agree_exactly_when_histograms_do(
        records in prop::collection::vec(any_graph(), 2..12),
        rounds in 0usize..5,
        seen in any::<[bool; 2]>(),
    ) {
        let [labels, direction] = seen.map(|seen| if seen { Usage::Use } else { Usage::Ignore });
        let edges = EdgeChoice::NOTHING.labels(labels).direction(direction);
        let found = histograms(Refiner::new(rounds).edges(edges), &records);
        let digests: Vec<_> = records.iter().map(|record| digest(record, edges, rounds)).collect();
        for i in 0..records.len() {
            for j in 0..i {
                prop_assert_eq!(found[i] == found[j], digests[i] == digests[j]);
            }
        }
    }
}

//! Graphs that stand out, by what of them no other has and by their distances.

use std::collections::{BTreeMap, BTreeSet};

use hg2v::context::Context;
use hg2v::dataset::synthetic::SyntheticSet;
use hg2v::dataset::synthetic::calls::Calls;
use hg2v::graph::{Aspects, GraphRecord};
use hg2v::prepare::{Collection, Needs, Run};
use hg2v::{Hg2v, Model};
use hg2v_math::linalg::vector::start_value;
use hg2v_search::outliers::{outliers, standing_out};
use hg2v_search::surprise::{Surprise, surprises};
use hg2v_search::{Index, IndexKind, Metric, Space};

use crate::common::{graphs, in_pool, numbers};

const LABELS: Aspects = Aspects {
    node_labels: true,
    node_attributes: false,
    edge_labels: false,
    edge_attributes: false,
    direction: true,
};

fn surprising(graphs: &[GraphRecord], seen: Aspects) -> Vec<Surprise> {
    let run = Run::in_memory(graphs);
    let collection = Collection::new(run, &Needs::default(), &Context::default()).unwrap();
    surprises(&collection, seen).unwrap()
}

fn euclidean(dim: usize, rows: Vec<f32>) -> Index {
    let space = Space::standardised(dim, rows, Metric::Euclidean).unwrap();
    Index::new(space, IndexKind::Exact, 0, &Context::default()).unwrap()
}

/// The colour of a node as all that it is made of, spelled out.
fn spelled(graph: &GraphRecord, v: u32, rounds: usize) -> String {
    let Some(before) = rounds.checked_sub(1) else {
        return graph.node_labels.as_ref().unwrap()[v as usize].to_string();
    };
    let mut around: Vec<String> = Vec::new();
    for &[a, b] in &graph.edges {
        around.extend((a == v).then(|| format!("{}>", spelled(graph, b, before))));
        around.extend((b == v).then(|| format!("<{}", spelled(graph, a, before))));
    }
    around.sort();
    format!("{}({})", spelled(graph, v, before), around.join(","))
}

/// Both surprises, by their definition.
fn defined(graphs: &[GraphRecord]) -> Vec<[f64; 2]> {
    let colours: Vec<Vec<Vec<String>>> = graphs
        .iter()
        .map(|graph| {
            let of = |l| (0..graph.num_nodes).map(|v| spelled(graph, v, l)).collect();
            (0..=3).map(of).collect()
        })
        .collect();
    let in_others = |g: usize, l: usize, colour: &String| -> usize {
        let others = (0..graphs.len()).filter(|&other| other != g);
        others.map(|other| colours[other][l].iter().filter(|own| *own == colour).count()).sum()
    };
    let each_node = |x: &dyn Fn(usize, usize) -> f64| -> Vec<Vec<f64>> {
        let of = |g: usize| (0..colours[g][0].len()).map(|v| x(g, v)).collect();
        (0..graphs.len()).map(of).collect()
    };
    let mut kinds = BTreeMap::<&String, BTreeSet<&String>>::new();
    for rows in &colours {
        for (before, after) in rows[0].iter().zip(&rows[1]) {
            kinds.entry(before).or_default().insert(after);
        }
    }
    let s = each_node(&|g, v| {
        let [before, after] = [0, 1].map(|l| in_others(g, l, &colours[g][l][v]) as f64);
        let m = kinds[&colours[g][0][v]].len() as f64;
        -((after + 0.5) / (before + 0.5 * (m + 1.0))).ln()
    });
    let met = |l: usize| each_node(&|g, v| f64::from(in_others(g, l, &colours[g][l][v]) > 0));
    let weights = [0, 1, 2, 3].map(|l| {
        let all = met(l).concat();
        all.iter().sum::<f64>() / all.len() as f64
    });
    let u = each_node(&|g, v| {
        let unmet = |l: usize| in_others(g, l, &colours[g][l][v]) == 0;
        (0..=3).map(|l| if unmet(l) { weights[l] } else { 0.0 }).sum()
    });
    let scores = |x: &[Vec<f64>]| -> Vec<f64> {
        let all = x.concat();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let square = all.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / all.len() as f64;
        let own = |x: &Vec<f64>| x.iter().map(|x| x - mean).sum::<f64>() / (x.len() as f64).sqrt();
        x.iter().map(|x| if x.is_empty() { 0.0 } else { own(x) / square.sqrt() }).collect()
    };
    scores(&s).into_iter().zip(scores(&u)).map(|(s, u)| [s, u]).collect()
}

#[test]
fn surprises_are_what_their_definition_says() {
    let mut graphs: Vec<GraphRecord> = graphs();
    graphs.push(GraphRecord { node_labels: Some(Vec::new()), ..GraphRecord::default() });
    let runs = SyntheticSet::new(&Calls::default().nodes(12), 20, 3).records().unwrap();
    for graphs in [&graphs, &runs] {
        let directed = graphs.iter().all(|graph| graph.directed);
        // Undirected edges are met at both ends alike.
        let mut spelt = graphs.clone();
        if !directed {
            for graph in &mut spelt {
                let back: Vec<[u32; 2]> = graph.edges.iter().map(|&[a, b]| [b, a]).collect();
                graph.edges.extend(back);
            }
        }
        let expected = defined(&spelt);
        let found = surprising(graphs, LABELS);
        for (found, expected) in found.iter().zip(&expected) {
            assert!((found.neighbors - expected[0]).abs() < 1e-9, "{found:?} {expected:?}");
            assert!((found.unmet - expected[1]).abs() < 1e-9, "{found:?} {expected:?}");
        }
        assert!(found.iter().any(|one| one.unmet > 1.0));
    }
}

#[test]
fn graphs_that_are_all_alike_surprise_nobody() {
    let ring = |_| GraphRecord {
        num_nodes: 6,
        edges: (0..6).map(|v| [v, (v + 1) % 6]).collect(),
        ..GraphRecord::default()
    };
    let rings: Vec<GraphRecord> = (0..5).map(ring).collect();
    assert_eq!(surprising(&rings, LABELS), [Surprise::default(); 5]);
    let found = standing_out(&euclidean(2, vec![1.0; 10]), 2, &[Surprise::default(); 5]).unwrap();
    assert!(found.iter().all(|one| one.score == 0.0));
    assert!(found.iter().map(|one| one.position).eq(0..5));
    assert_eq!(surprising(&[], LABELS), []);
}

#[test]
fn the_score_counts_each_in_usual_deviations() {
    // d₁ is 1 of five, 3 of one and 7 of one; surprises of 0, 1, …, 6.
    let index = {
        let rows = vec![0.0f32, 1.0, 2.0, 3.0, 4.0, 7.0, 14.0];
        let space = Space::new(1, rows, Metric::Euclidean).unwrap();
        Index::new(space, IndexKind::Exact, 0, &Context::default()).unwrap()
    };
    let given: Vec<Surprise> =
        (0..7).map(|i| Surprise { neighbors: f64::from(i), unmet: 0.0 }).collect();
    let found = standing_out(&index, 1, &given).unwrap();
    // A median of 3, absolute deviations 3, 2, 1, 0, 1, 2, 3 of median 2, σ = 2.
    let scale = 1.4826 * 2.0 + 0.05 * 2.0;
    // A median of 1, absolute deviations of median 0, σ² = (5 + 9 + 49)/7 − (15/7)².
    let distances = 0.05 * (9.0f64 - (15.0f64 / 7.0).powi(2)).sqrt();
    for one in &found {
        let neighbors = (one.position as f64 - 3.0) / scale;
        let distance = [0.0, 0.0, 0.0, 0.0, 0.0, 2.0 / distances, 6.0 / distances][one.position];
        assert!((one.neighbors - neighbors).abs() < 1e-9 && one.unmet == 0.0, "{one:?}");
        assert!((one.distance - distance).abs() < 1e-9, "{one:?}");
        assert_eq!(one.score, one.neighbors + one.unmet + one.distance);
    }
    assert!(found.is_sorted_by(|a, b| a.score >= b.score));
    assert_eq!(found.len(), 7);
    assert!(
        standing_out(&index, 1, &given[1..]).is_err() && standing_out(&index, 0, &given).is_err()
    );
}

/// The area under the ROC curve: how often a changed graph comes before one that is not.
fn area(order: impl Iterator<Item = usize>, changed: impl Fn(usize) -> bool) -> f64 {
    let (mut before, mut pairs, mut all) = (0, 0, 0);
    for position in order {
        if changed(position) {
            before += 1;
        } else {
            pairs += before;
            all += 1;
        }
    }
    f64::from(pairs) / f64::from(before * all)
}

/// Of runs of a program, one of twenty has two of five calls moved. Its vector lies nearer to the
/// others than theirs do.
#[test]
fn rewired_graphs_stand_out_where_distances_do_not_tell_them() {
    let changed = |i: usize| i % 20 == 7;
    for program in [1, 2] {
        // Runs that hardly begin have nothing that could be moved.
        let model = Calls::default().versions(1).program(program).made(0.9);
        let mut graphs = SyntheticSet::new(&model, 200, program).records().unwrap();
        for (i, graph) in graphs.iter_mut().enumerate().filter(|(i, _)| changed(*i)) {
            let n = graph.num_nodes;
            for (j, edge) in graph.edges.iter_mut().enumerate().filter(|(j, _)| j % 5 < 2) {
                let drawn = |salt: u64| {
                    let place = ((i * 1000 + j) as u64) ^ (salt << 40);
                    ((start_value(place) + 1.0) / 2.0 * f64::from(n)) as u32
                };
                *edge = [drawn(program).min(n - 1), drawn(program + 9).min(n - 1)];
            }
        }
        let vectors = Hg2v::params().seed(program).fit(&graphs).unwrap().embed(&graphs).unwrap();
        let index = euclidean(vectors.dim, vectors.values);
        let by_distance = outliers(&index, 5).unwrap();
        let found = standing_out(&index, 5, &surprising(&graphs, LABELS)).unwrap();
        let before = area(by_distance.iter().map(|one| one.position), changed);
        let now = area(found.iter().map(|one| one.position), changed);
        assert!(now > 0.95 && before < 0.7, "{before} {now}");
    }
}

#[test]
fn the_same_at_any_number_of_threads() {
    let graphs = SyntheticSet::new(&Calls::default(), 60, 5).records().unwrap();
    let all = |threads| {
        in_pool(threads, || {
            standing_out(&euclidean(3, numbers(60, 3, 4)), 4, &surprising(&graphs, LABELS)).unwrap()
        })
    };
    assert_eq!(all(1), all(3));
}

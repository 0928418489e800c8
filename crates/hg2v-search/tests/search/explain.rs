//! Explanations add up to what they explain.

use std::path::PathBuf;

use hg2v::context::Context;
use hg2v::dataset::features::When;
use hg2v::dataset::{self, Limits};
use hg2v::graph::{Features, GraphRecord};
use hg2v::model::Readout;
use hg2v::prepare::{Collection, Run};
use hg2v::shares::{PartShare, VectorPart};
use hg2v::{Anatomy, Hg2v, Hg2vParams, Model};
use hg2v_search::explain::{Explanation, explain};
use hg2v_search::{Metric, Space};

use crate::common::graphs;

fn fitted(graphs: &[GraphRecord], change: impl Fn(Hg2vParams) -> Hg2vParams) -> Hg2v {
    change(Hg2v::params().dim(6).levels(2).epochs(1)).fit(graphs).unwrap()
}

fn apart<'a>(model: &'a Hg2v, graphs: &[GraphRecord]) -> Vec<Anatomy<'a>> {
    let context = Context::default();
    let collection = Collection::new(Run::in_memory(graphs), &model.needs(), &context).unwrap();
    let anatomies = model.anatomies(&collection, &context).unwrap();
    let values = model.embed_collection(&collection, &context).unwrap().values;
    let vectors: Vec<f32> = anatomies.iter().flat_map(Anatomy::vector).copied().collect();
    assert_eq!(vectors, values, "they are taken apart as they are embedded");
    anatomies
}

fn space(graphs: &[Anatomy<'_>], metric: Metric, standardised: bool) -> Space {
    let values: Vec<f32> = graphs.iter().flat_map(Anatomy::vector).copied().collect();
    let dim = graphs[0].vector().len();
    match standardised {
        true => Space::standardised(dim, values, metric).unwrap(),
        false => Space::new(dim, values, metric).unwrap(),
    }
}

fn readouts(kinds: &[Readout], log: bool) -> impl Fn(Hg2vParams) -> Hg2vParams {
    move |mut params| {
        params.architecture.readout = kinds.to_vec();
        params.architecture.log = log;
        params
    }
}

/// The default with or without slices, and with so many numbers after a last step.
fn beside(slices: When, out_dim: Option<usize>) -> impl Fn(Hg2vParams) -> Hg2vParams {
    move |params| params.slices(slices).out_dim(out_dim)
}

fn sum(parts: &[PartShare]) -> f64 {
    parts.iter().map(|part| part.share).sum()
}

/// The sums of an explanation beside the distance that the space reports.
fn adds_up(why: &Explanation, distance: f64, metric: Metric) {
    let expected = match metric {
        Metric::Cosine => 1.0 - distance,
        Metric::Euclidean => -distance * distance,
    };
    let scale = 1.0 + expected.abs();
    let near = |a: f64| assert!((a - expected).abs() < 2e-5 * scale, "{a} {expected}: {why:?}");
    near(why.similarity);
    near(sum(&why.parts));
    let [first, second] = [&why.first, &why.second].map(|nodes| nodes.iter().sum::<f64>());
    match metric {
        Metric::Cosine => {
            near(first + why.rest[0]);
            near(second + why.rest[1]);
        }
        Metric::Euclidean => near(first + second + why.rest[0] + why.rest[1]),
    }
}

/// Some pairs of graphs in every kind of space.
fn all_add_up(graphs: &[Anatomy<'_>], pairs: &[[usize; 2]]) {
    for metric in [Metric::Cosine, Metric::Euclidean] {
        for standardised in [false, true] {
            let space = space(graphs, metric, standardised);
            for &[i, j] in pairs {
                let why = explain(&space, &graphs[i], &graphs[j]).unwrap();
                adds_up(&why, space.distance(i, j), metric);
                let again = explain(&space, &graphs[j], &graphs[i]).unwrap();
                assert_eq!((&again.first, &again.second), (&why.second, &why.first));
            }
        }
    }
}

#[test]
fn shares_of_parts_and_of_nodes_add_up() {
    let graphs = graphs();
    for (kinds, log) in [
        (&[Readout::Sum][..], false),
        (&[Readout::Sum, Readout::Max], true),
        (&[Readout::Mean, Readout::Max], false),
        (&[Readout::Mean, Readout::Sum], true),
    ] {
        let model = fitted(&graphs, |params| readouts(kinds, log)(params.alone()));
        let apart = apart(&model, &graphs);
        all_add_up(&apart, &[[3, 12], [0, 23], [5, 5]]);
        // Without a mean taken off nothing is left over.
        let space = space(&apart, Metric::Cosine, false);
        let why = explain(&space, &apart[3], &apart[12]).unwrap();
        assert_eq!(why.rest, [0.0, 0.0]);
        assert_eq!(why.first.len(), graphs[3].num_nodes as usize);
    }
}

/// Every mixture of blocks, with and without a last step that loses some of it.
#[test]
fn shares_of_mixed_vectors_add_up() {
    let graphs = graphs();
    let mixtures: [fn(Hg2vParams) -> Hg2vParams; 5] = [
        |params| params,
        |params| beside(When::Always, Some(16))(params),
        |params| beside(When::Always, None)(params),
        |params| beside(When::Never, Some(4096))(params.alone()),
        |params| beside(When::Never, Some(1))(params.alone()),
    ];
    for mixture in mixtures {
        let model = fitted(&graphs, mixture);
        all_add_up(&apart(&model, &graphs), &[[3, 12], [0, 23]]);
        let control = model.untrained();
        all_add_up(&apart(&control, &graphs), &[[3, 12]]);
    }
}

/// A known set, its nodes with labels, attributes or both.
#[test]
fn shares_of_real_graphs_add_up() {
    let Some(folder) = std::env::var_os("HG2V_DATA").map(PathBuf::from) else {
        eprintln!("skipped: set HG2V_DATA to run shares_of_real_graphs_add_up");
        return;
    };
    for name in ["MUTAG", "ENZYMES", "IMDB-BINARY"] {
        let file = folder.join(name).with_extension("zip");
        let source = dataset::open(&file, &Limits::default()).unwrap();
        let graphs: Vec<GraphRecord> = source.step_by(3).map(Result::unwrap).take(60).collect();
        let model = Hg2v::params().epochs(1).fit(&graphs).unwrap();
        all_add_up(&apart(&model, &graphs), &[[0, 1], [7, 31], [20, 59]]);
    }
}

#[test]
fn odd_graphs_are_explained() {
    let train = graphs();
    let graph = |num_nodes: u32, edges: Vec<[u32; 2]>| GraphRecord {
        num_nodes,
        edges,
        node_labels: Some((0..num_nodes).map(|v| i64::from(v % 5).into()).collect()),
        ..GraphRecord::default()
    };
    let odd = [
        graph(0, vec![]),
        graph(1, vec![]),
        graph(1, vec![[0, 0]]),
        graph(4, vec![]),
        graph(6, vec![[0, 1], [0, 1], [3, 4]]),
        train[2].clone(),
    ];
    let pairs = [[0, 1], [0, 5], [1, 2], [3, 4], [4, 5], [0, 0], [1, 1]];
    for slices in [When::Always, When::Never] {
        for out_dim in [Some(64), None] {
            let model = fitted(&train, beside(slices, out_dim));
            all_add_up(&apart(&model, &odd), &pairs);
        }
    }
    let model = fitted(&train, beside(When::Always, Some(2048)));
    let odd = apart(&model, &odd);
    let why = explain(&space(&odd, Metric::Cosine, false), &odd[0], &odd[1]).unwrap();
    assert_eq!((why.first.len(), why.second.len()), (0, 1));
}

/// For a sum, a node's share is its row's inner product with the other graph's vector.
#[test]
fn a_share_is_an_inner_product_of_rows() {
    let graphs = graphs();
    let model = fitted(&graphs, |params| {
        let mut params = readouts(&[Readout::Sum], false)(params.alone());
        params.architecture.levels = 1;
        params.architecture.finest = true;
        params.architecture.local = false;
        params
    });
    let apart = apart(&model, &graphs);
    let layer = model.layer();
    let (dim, width) = (layer.embedding_dim(), layer.width(0));
    let space = space(&apart, Metric::Cosine, false);
    let (a, b) = (apart[0].vector(), apart[1].vector());
    let why = explain(&space, &apart[0], &apart[1]).unwrap();
    let dot = |x: &[f32], y: &[f32]| {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    // Level 0 by hand: a node's features with the part of the other vector made of level 0.
    let level0 = dot(&a[..width], &b[..width]) / lengths;
    assert!((why.parts[0].share - level0).abs() < 1e-9);
    let of = VectorPart::Network { level: 0, local: false, readout: Readout::Sum };
    assert_eq!(why.parts[0].part, of);
    let context = Context::default();
    let collection =
        Collection::new(Run::in_memory(&graphs[..1]), &model.needs(), &context).unwrap();
    let example = &model.examples(&collection).unwrap().0[0];
    let nodes = model.embed_nodes(example, &context).unwrap();
    let row = model.node_dim();
    let parents = example.parents(0);
    for v in 0..example.num_nodes() {
        let own = dot(&nodes[v * row..][..width], &b[..width]);
        let size = parents.iter().filter(|p| **p == parents[v]).count() as f64;
        let above = dot(&nodes[v * row + width..][..dim - width], &b[width..]) / size;
        assert!((why.first[v] - (own + above) / lengths).abs() < 1e-6, "node {v}");
    }
}

/// A last step that is a rotation changes nothing but how much a block weighs.
#[test]
fn rotated_parts_are_weighted_parts() {
    let graphs = graphs();
    let mixed = fitted(&graphs, beside(When::Always, Some(1 << 12)));
    let plain = fitted(&graphs, beside(When::Always, None));
    let (mixed, plain) = (apart(&mixed, &graphs), apart(&plain, &graphs));
    let spaces = [&mixed, &plain].map(|graphs| space(graphs, Metric::Euclidean, false));
    let pairs = [[0, 1], [3, 12], [8, 20], [2, 17], [5, 22]];
    let whys = pairs.map(|[i, j]| {
        [(&spaces[0], &mixed), (&spaces[1], &plain)]
            .map(|(space, graphs)| explain(space, &graphs[i], &graphs[j]).unwrap())
    });
    let mut seen = 0;
    for at in 0..whys[0][0].parts.len() {
        let part = whys[0][0].parts[at].part;
        let [mixed, plain] =
            [0, 1].map(|side| whys.each_ref().map(|why| why[side].parts[at].share));
        match part {
            VectorPart::Slices { .. } | VectorPart::Colours { .. } => {
                seen += 1;
                let largest = plain.iter().fold(0.0f64, |most, share| most.max(share.abs()));
                let of_largest = plain.iter().position(|share| share.abs() == largest).unwrap();
                let weight = mixed[of_largest] / plain[of_largest];
                assert!(weight > 0.0, "{part:?} {mixed:?} {plain:?}");
                for (mixed, plain) in mixed.iter().zip(&plain) {
                    let apart = (mixed - weight * plain).abs();
                    assert!(apart < 1e-4 * weight * largest, "{part:?} {mixed} {plain}");
                }
            }
            // Both vectors have the same taken off.
            VectorPart::SlicesMean | VectorPart::ColoursMean => assert_eq!(mixed, [0.0; 5]),
            _ => {}
        }
    }
    assert_eq!(seen, 3 + 4);
}

/// What belongs to no node does not depend on the graph.
#[test]
fn the_rest_is_what_is_taken_off_every_vector() {
    let graphs = graphs();
    for out_dim in [Some(16), None] {
        let model = fitted(&graphs, beside(When::Always, out_dim));
        let apart = apart(&model, &graphs);
        let slopes: Vec<f64> = (0..model.dim()).map(|c| (c as f64).sin()).collect();
        let means: Vec<f64> = (0..model.dim()).map(|c| (c as f64).cos()).collect();
        let off: f64 = slopes.iter().zip(&means).map(|(slope, mean)| slope * mean).sum();
        let rest = apart[0].shares(&slopes, None).unwrap().rest;
        for graph in &apart {
            let shares = graph.shares(&slopes, Some(&means)).unwrap();
            assert!((shares.rest - (rest - off)).abs() < 1e-9 * (1.0 + rest.abs()));
            let value = |(v, slope): (&f32, &f64)| f64::from(*v) * slope;
            let whole = graph.vector().iter().zip(&slopes).map(value).sum::<f64>() - off;
            assert!((sum(&shares.parts) - whole).abs() < 1e-4);
            assert!((shares.nodes.iter().sum::<f64>() + shares.rest - whole).abs() < 1e-4);
        }
    }
}

/// A node moved far out changes no colour, and an edge no slice before the first hop.
#[test]
fn what_differs_is_found_in_its_part_and_node() {
    let path = |bend: Option<u32>, far: Option<u32>| {
        let mut edges: Vec<[u32; 2]> = (1..12).map(|v| [v - 1, v]).collect();
        edges.extend(bend.map(|v| [v, v + 3]));
        let value = |v: u32| f64::from(v % 4) + if far == Some(v) { 40.0 } else { 0.0 };
        let features = Features { dim: 1, values: (0..12).map(value).collect() };
        GraphRecord { num_nodes: 12, edges, features: Some(features), ..GraphRecord::default() }
    };
    let mut graphs: Vec<GraphRecord> = (0..8).map(|v| path(Some(v), None)).collect();
    graphs.extend((0..12).map(|v| path(None, Some(v))));
    graphs.push(path(None, None));
    let model = fitted(&graphs, beside(When::Auto, Some(1 << 12)));
    let graphs = apart(&model, &graphs);
    let space = space(&graphs, Metric::Euclidean, false);
    let share = |why: &Explanation, of: fn(&VectorPart) -> bool| -> f64 {
        why.parts.iter().filter(|part| of(&part.part)).map(|part| part.share).sum()
    };
    // Node 5 far out.
    let why = explain(&space, &graphs[8 + 5], &graphs[20]).unwrap();
    assert!(share(&why, |part| matches!(part, VectorPart::Colours { .. })).abs() < 1e-9);
    assert!(share(&why, |part| matches!(part, VectorPart::Slices { .. })) < -0.1);
    let most = (0..12).max_by(|&a, &b| why.first[a].abs().total_cmp(&why.first[b].abs()));
    assert_eq!(most, Some(5), "{:?}", why.first);
    // An edge from 2 to 5.
    let why = explain(&space, &graphs[2], &graphs[20]).unwrap();
    assert!(share(&why, |part| matches!(part, VectorPart::Colours { round: 0 })).abs() < 1e-9);
    assert!(share(&why, |part| matches!(part, VectorPart::Colours { round: 1 })) < -1e-3);
    assert!(share(&why, |part| matches!(part, VectorPart::Slices { hops: 0 })).abs() < 1e-9);
}

#[test]
fn threads_change_nothing() {
    let graphs = graphs();
    let model = fitted(&graphs, beside(When::Always, Some(2048)));
    let why = || {
        let apart = apart(&model, &graphs);
        explain(&space(&apart, Metric::Cosine, true), &apart[1], &apart[9]).unwrap()
    };
    assert_eq!(crate::common::in_pool(1, why), crate::common::in_pool(3, why));
}

#[test]
fn another_models_vectors_are_refused() {
    let graphs = graphs();
    let model = fitted(&graphs, |params| params);
    let other = model.clone();
    let (own, others) = (apart(&model, &graphs[..1]), apart(&other, &graphs[..1]));
    let narrow = Space::new(3, vec![1.0; 6], Metric::Cosine).unwrap();
    let refused = explain(&narrow, &own[0], &own[0]).unwrap_err().to_string();
    assert!(refused.contains("is 3"), "{refused}");
    let space = space(&own, Metric::Cosine, false);
    let refused = explain(&space, &own[0], &others[0]).unwrap_err().to_string();
    assert!(refused.contains("one model"), "{refused}");
    for (slopes, means) in [(vec![1.0], None), (vec![1.0; model.dim()], Some(&[1.0][..]))] {
        let refused = own[0].shares(&slopes, means).unwrap_err().to_string();
        assert!(refused.contains("is 1") && refused.contains("numbers"), "{refused}");
    }
}

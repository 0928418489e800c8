//! Explanations add up to what they explain.

use hg2v::context::Context;
use hg2v::model::{Example, Readout};
use hg2v::prepare::{Collection, Run};
use hg2v::{Hg2v, Hg2vParams, Model};
use hg2v_search::explain::explain;
use hg2v_search::{Metric, Space};

use crate::common::graphs;

fn fitted(change: impl Fn(&mut Hg2vParams)) -> (Hg2v, Vec<Example>, Vec<f32>) {
    let graphs = graphs();
    let mut params = Hg2v::params().alone().dim(6).levels(2).epochs(1);
    change(&mut params);
    let model = params.fit(&graphs).unwrap();
    let context = Context::default();
    let collection = Collection::new(Run::in_memory(&graphs), &model.needs(), &context).unwrap();
    let (examples, _) = model.examples(&collection).unwrap();
    let vectors = model.embed(&graphs).unwrap();
    assert_eq!(vectors.ids[0], "path-5".into());
    (model, examples, vectors.values)
}

fn readouts(kinds: &[Readout], log: bool) -> impl Fn(&mut Hg2vParams) {
    move |params| {
        params.architecture.readout = kinds.to_vec();
        params.architecture.log = log;
    }
}

#[test]
fn shares_of_parts_and_of_nodes_add_up() {
    for (kinds, log) in [
        (&[Readout::Sum][..], false),
        (&[Readout::Sum, Readout::Max], true),
        (&[Readout::Mean, Readout::Max], false),
        (&[Readout::Mean, Readout::Sum], true),
    ] {
        let (model, examples, values) = fitted(readouts(kinds, log));
        let dim = model.layer().embedding_dim();
        for metric in [Metric::Cosine, Metric::Euclidean] {
            let plain = Space::new(dim, values.clone(), metric).unwrap();
            let scaled = Space::standardised(dim, values.clone(), metric).unwrap();
            for (space, standard) in [(&plain, false), (&scaled, true)] {
                let (i, j) = (3, 12);
                let why = explain(&model, space, &examples[i], &examples[j]).unwrap();
                let distance = space.distance(i, j);
                let expected = match metric {
                    Metric::Cosine => 1.0 - distance,
                    Metric::Euclidean => -distance * distance,
                };
                let scale = 1.0 + expected.abs();
                let near = |a: f64, b: f64| (a - b).abs() < 2e-5 * scale;
                assert!(near(why.similarity, expected), "{} {expected}", why.similarity);
                let parts: f64 = why.parts.iter().map(|part| part.share).sum();
                assert!(near(parts, expected));
                let [first, second] =
                    [&why.first, &why.second].map(|nodes| nodes.iter().sum::<f64>());
                match metric {
                    Metric::Cosine => {
                        assert!(near(first + why.rest[0], expected));
                        assert!(near(second + why.rest[1], expected));
                    }
                    Metric::Euclidean => {
                        assert!(near(first + second + why.rest[0] + why.rest[1], expected));
                    }
                }
                // Without a mean taken off nothing is left over.
                if !standard {
                    assert!(
                        near(why.rest[0], 0.0) && near(why.rest[1], 0.0),
                        "{kinds:?} {log} {:?}",
                        why.rest
                    );
                }
                assert_eq!(why.first.len(), examples[i].num_nodes());
            }
        }
    }
}

/// For a sum, a node's share is its row's inner product with the other graph's vector.
#[test]
fn a_share_is_an_inner_product_of_rows() {
    let (model, examples, values) = fitted(|params| {
        readouts(&[Readout::Sum], false)(params);
        params.architecture.levels = 1;
        params.architecture.finest = true;
        params.architecture.local = false;
    });
    let layer = model.layer();
    let (dim, width) = (layer.embedding_dim(), layer.width(0));
    let space = Space::new(dim, values.clone(), Metric::Cosine).unwrap();
    let (a, b) = (&values[..dim], &values[dim..2 * dim]);
    let why = explain(&model, &space, &examples[0], &examples[1]).unwrap();
    let dot = |x: &[f32], y: &[f32]| {
        x.iter().zip(y).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>()
    };
    let lengths = (dot(a, a) * dot(b, b)).sqrt();
    // Level 0 by hand: a node's features with the part of the other vector made of level 0.
    let level0 = dot(&a[..width], &b[..width]) / lengths;
    assert!((why.parts[0].share - level0).abs() < 1e-9);
    let nodes = model.embed_nodes(&examples[0], &Context::default()).unwrap();
    let row = model.node_dim();
    let n = examples[0].num_nodes();
    let parents = examples[0].parents(0);
    for v in 0..n {
        let own = dot(&nodes[v * row..][..width], &b[..width]);
        let size = parents.iter().filter(|p| **p == parents[v]).count() as f64;
        let above = dot(&nodes[v * row + width..][..dim - width], &b[width..]) / size;
        assert!((why.first[v] - (own + above) / lengths).abs() < 1e-6, "node {v}");
    }
}

#[test]
fn vectors_that_are_mixed_are_refused() {
    let (model, examples, values) = fitted(|params| params.out_dim = Some(8));
    let space = Space::new(8, values, Metric::Cosine).unwrap();
    let refused = explain(&model, &space, &examples[0], &examples[1]).unwrap_err().to_string();
    assert!(refused.contains("preset network"), "{refused}");
}

#[test]
fn another_models_vectors_are_refused() {
    let (model, examples, _) = fitted(|_| {});
    let space = Space::new(3, vec![1.0; 6], Metric::Cosine).unwrap();
    let refused = explain(&model, &space, &examples[0], &examples[1]).unwrap_err().to_string();
    assert!(refused.contains("is 3"), "{refused}");
}

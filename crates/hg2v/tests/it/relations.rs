//! Networks that hear each kind and direction of edges apart.

use hg2v::graph::{GraphRecord, Scalar};
use hg2v::layer::Layer;
use hg2v::model::Relational;
use hg2v::{Hg2v, Hg2vParams, Model};

fn params(relations: Relational) -> Hg2vParams {
    let mut params = Hg2v::params().dim(6).hops(2).levels(2).epochs(2).batch(2).seed(3);
    params.architecture.relations = relations;
    params
}

/// A ring of nodes with these labels whose edges have these kinds.
fn ring(labels: &[i64], kinds: &[i64], directed: bool) -> GraphRecord {
    let n = labels.len() as u32;
    let scalars = |values: &[i64]| values.iter().copied().map(Scalar::Int).collect();
    GraphRecord {
        num_nodes: n,
        edges: (0..n).map(|u| [u, (u + 1) % n]).collect(),
        node_labels: Some(scalars(labels)),
        edge_labels: (!kinds.is_empty()).then(|| scalars(kinds)),
        directed,
        ..GraphRecord::default()
    }
}

/// Rings that differ in which labels are joined by which kind and in nothing that a node could
/// count: each has an edge of each kind.
fn by_kind() -> Vec<GraphRecord> {
    let labels = [7, 7, 8, 8];
    vec![ring(&labels, &[1, 2, 1, 2], false), ring(&labels, &[2, 1, 2, 1], false)]
}

/// The same with directions: around three labels, or the other way around.
fn by_direction() -> Vec<GraphRecord> {
    let around = ring(&[7, 8, 9], &[], true);
    let mut other = around.clone();
    other.edges.iter_mut().for_each(|edge| edge.reverse());
    vec![around, other]
}

#[test]
fn what_no_node_can_count_is_heard() {
    for graphs in [by_kind(), by_direction()] {
        let vectors = |relations| {
            let model = params(relations).fit(&graphs).unwrap();
            let vectors = model.embed(&graphs).unwrap();
            let rows = vectors.values.chunks(vectors.dim).map(<[f32]>::to_vec).collect::<Vec<_>>();
            (rows[0].clone(), rows[1].clone())
        };
        let (first, second) = vectors(Relational::Never);
        // The same sums, in another order.
        let apart = first.iter().zip(&second).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart < 1e-5, "{apart}");
        let (first, second) = vectors(Relational::Always);
        let apart = first.iter().zip(&second).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
        assert!(apart > 1e-2, "{apart}");
    }
}

#[test]
fn the_coefficients_learn_and_are_saved() {
    let graphs = [by_kind(), vec![ring(&[7, 8, 8, 7, 7], &[1, 1, 2, 2, 1], false)]].concat();
    let model = params(Relational::Always).fit(&graphs).unwrap();
    let layer = model.layer();
    let tensors = layer.tensors();
    let (name, window) = tensors.last().unwrap();
    assert_eq!(name, "level.0.relations.weight");
    // A row for each kind, a number for each that a node comes with.
    assert_eq!((window.rows, window.columns), (2, layer.num_features()));
    let range = window.offset..window.offset + window.len();
    let before = model.untrained().parameters()[range.clone()].to_vec();
    let after = &model.parameters()[range];
    // Numbers that are 0 at all nodes teach nothing.
    let rows = before.chunks(window.columns).zip(after.chunks(window.columns));
    rows.for_each(|(before, after)| assert_ne!(before, after));
    assert!(before.iter().all(|c| c.abs() <= 3f32.sqrt()), "{before:?}");

    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model");
    model.save(&path).unwrap();
    let again = Hg2v::load(&path).unwrap();
    assert_eq!(again.config().model.architecture.relations, Relational::Always);
    assert_eq!(again.embed(&graphs).unwrap(), model.embed(&graphs).unwrap());
}

#[test]
fn graphs_without_kinds_have_no_relations() {
    let graphs = [ring(&[7, 8, 9, 9], &[], false), ring(&[7, 8, 8], &[], false)];
    let never = params(Relational::Never).fit(&graphs).unwrap();
    let always = params(Relational::Always).fit(&graphs).unwrap();
    assert_eq!(never.parameters(), always.parameters());
    let vectors = |model: &Hg2v| model.embed(&graphs).unwrap().values;
    assert_eq!(vectors(&never), vectors(&always));
    assert_eq!(Hg2vParams::paper().architecture.relations, Relational::Never);
    assert_eq!(Hg2vParams::default().architecture.relations, Relational::Never);
}

#[test]
fn kinds_that_training_never_met_are_of_no_relation() {
    let model = params(Relational::Always).fit(&by_kind()).unwrap();
    let vectors = |kinds: &[i64]| model.embed(&[ring(&[7, 7, 8, 8], kinds, false)]).unwrap();
    assert_eq!(vectors(&[1, 5, 1, 5]), vectors(&[1, 6, 1, 6]));
    assert_ne!(vectors(&[1, 5, 1, 5]), vectors(&[5, 1, 5, 1]));
}

#[test]
fn layers_and_graphs_of_other_relations_are_refused() {
    use hg2v::context::Context;
    use hg2v::prepare::{Collection, Run};
    let graphs = by_kind();
    let model = params(Relational::Always).alone().fit(&graphs).unwrap();
    let run = Run::in_memory(&graphs);
    let collection = Collection::new(run, &model.needs(), &Context::default()).unwrap();
    let (examples, _) = model.examples(&collection).unwrap();
    let features: Vec<f32> = examples.iter().flat_map(|graph| graph.features.clone()).collect();
    let own = model.layer();
    let vectors = own.embed(&examples, &features, model.parameters().to_vec()).unwrap();
    assert_eq!(vectors, model.embed(&graphs).unwrap().values);
    let other = Layer::new(own.architecture(), own.num_features()).unwrap();
    let refused = other.embed(&examples, &features, other.initial(0)).unwrap_err().to_string();
    assert!(refused.contains("another number of relations"), "{refused}");

    let names: Vec<i64> = (0..1100).collect();
    let refused = params(Relational::Always).fit(&[ring(&names, &names, false)]).unwrap_err();
    assert!(refused.to_string().contains("at most 1024"), "{refused}");
}

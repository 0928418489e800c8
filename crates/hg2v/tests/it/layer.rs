//! The network as a layer of a larger model.

use hg2v::context::Context;
use hg2v::graph::GraphRecord;
use hg2v::layer::Layer;
use hg2v::model::Example;
use hg2v::prepare::{Collection, Run};
use hg2v::train::{Loss, Negatives};
use hg2v::{Hg2v, Model};

/// Two rings with a chord and a model of them.
fn setting() -> (Hg2v, Vec<Example>, Vec<f32>) {
    let ring = |n: u32| GraphRecord {
        num_nodes: n,
        edges: (0..n).map(|i| [i, (i + 1) % n]).chain([[0, n / 2]]).collect(),
        ..GraphRecord::default()
    };
    let graphs = [ring(7), ring(12)];
    let model = Hg2v::params().dim(3).hops(2).levels(2).epochs(1).seed(5).fit(&graphs).unwrap();
    let run = Run::in_memory(&graphs);
    let collection = Collection::new(run, &model.needs(), &Context::default()).unwrap();
    let (examples, _) = model.examples(&collection).unwrap();
    let features = examples.iter().flat_map(|graph| graph.features.clone()).collect();
    (model, examples, features)
}

#[test]
fn a_layer_computes_what_its_model_does_to_the_bit() {
    let (model, examples, features) = setting();
    let (layer, context) = (model.layer(), Context::default());
    let parameters = || model.parameters().to_vec();
    let expected = model.embed_examples(&examples, &context).unwrap();
    assert_eq!(layer.embed(&examples, &features, parameters()).unwrap(), expected);
    let (vectors, mut pass) = layer.forward(&examples, &features, parameters()).unwrap();
    assert_eq!(vectors, expected);
    let d: Vec<f32> = (0..vectors.len()).map(|i| (i as f32).sin()).collect();
    assert_eq!(pass.backward(&d).unwrap(), model.vjp(&examples, &d, &context).unwrap());
    assert_eq!(layer.initial(5), model.untrained().parameters());
}

#[test]
fn the_gradients_of_the_losses_are_slopes() {
    let (model, examples, features) = setting();
    let layer = model.layer();
    let double = |values: &[f32]| values.iter().copied().map(f64::from).collect::<Vec<f64>>();
    let (z, theta) = (double(&features), double(model.parameters()));
    let pairs = (Loss::InfoNce, Negatives::All);
    let loss = |z: &[f64], theta: &[f64]| {
        let (losses, _) = layer.losses(&examples, z, theta.to_vec(), pairs).unwrap();
        losses.iter().map(|level| level.total()).sum::<f64>()
    };
    let (_, gradients) = layer.losses(&examples, &z, theta.clone(), pairs).unwrap();
    let h = 1e-5;
    let moved = |values: &[f64], i: usize, by: f64| {
        let mut values = values.to_vec();
        values[i] += by;
        values
    };
    let close = |found: f64, slope: f64| (found - slope).abs() < 1e-6 * (1.0 + slope.abs());
    for i in 0..z.len() {
        let ends = [h, -h].map(|by| loss(&moved(&z, i, by), &theta));
        assert!(close(gradients.features[i], (ends[0] - ends[1]) / (2.0 * h)), "feature {i}");
    }
    for i in 0..theta.len() {
        let ends = [h, -h].map(|by| loss(&z, &moved(&theta, i, by)));
        assert!(close(gradients.parameters[i], (ends[0] - ends[1]) / (2.0 * h)), "parameter {i}");
    }
}

#[test]
fn arrays_of_another_shape_are_refused_with_the_right_one() {
    let (model, examples, features) = setting();
    let (layer, parameters) = (model.layer(), model.parameters().to_vec());
    let says = |refused: hg2v::Result<Vec<f32>>, what: &str| {
        let refused = refused.unwrap_err().to_string();
        assert!(refused.contains(what), "{refused}");
    };
    says(layer.embed(&examples, &features[1..], parameters.clone()), "the graphs have 19 nodes");
    let has = format!("the network has {}", layer.num_parameters());
    says(layer.embed(&examples, &features, parameters[1..].to_vec()), &has);
    let deeper = layer.architecture().clone().levels(3);
    let deeper = Layer::new(&deeper, layer.num_features()).unwrap();
    says(deeper.embed(&examples, &features, deeper.initial(0)), "another number of levels");
    let (_, mut pass) = layer.forward(&examples, &features, parameters).unwrap();
    says(pass.backward(&[1.0]).map(|made| made.features), "the embeddings have");
    assert!(Layer::new(layer.architecture(), 0).is_err());
}

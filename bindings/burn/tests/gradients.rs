//! Gradients against finite differences in f64, and against the core's in f32.

use burn::tensor::{DType, Device, Tensor, TensorData};
use hg2v::context::Context;
use hg2v::graph::GraphRecord;
use hg2v::model::Example;
use hg2v::prepare::{Collection, Run};
use hg2v::train::{Loss, Negatives};
use hg2v::{Hg2v, Model};
use hg2v_burn::{Layer, parameters};

/// Three graphs and a model of them.
fn setting() -> (Hg2v, Vec<Example>, Layer) {
    let ring = |n: u32| GraphRecord {
        num_nodes: n,
        edges: (0..n).map(|i| [i, (i + 1) % n]).chain([[0, n / 2]]).collect(),
        ..GraphRecord::default()
    };
    let star = GraphRecord {
        num_nodes: 6,
        edges: (1..6).map(|leaf| [0, leaf]).collect(),
        ..GraphRecord::default()
    };
    let graphs = [ring(7), ring(12), star];
    let model = Hg2v::params().dim(3).hops(2).levels(2).epochs(1).seed(5).fit(&graphs).unwrap();
    let run = Run::in_memory(&graphs);
    let collection = Collection::new(run, &model.needs(), &Context::default()).unwrap();
    let (examples, _) = model.examples(&collection).unwrap();
    let layer = Layer::of(&model, &examples);
    (model, examples, layer)
}

/// Numbers between −1 and 1 that look random, and tell places apart.
fn numbers(len: usize, salt: f64) -> Vec<f64> {
    (0..len).map(|i| ((i as f64 + salt) * 12.9898).sin()).collect()
}

fn tensor<const D: usize>(values: &[f64], shape: [usize; D], device: &Device) -> Tensor<D> {
    Tensor::from_data(TensorData::new(values.to_vec(), shape), (device, DType::F64))
}

fn read<const D: usize>(tensor: Tensor<D>) -> Vec<f64> {
    tensor.into_data().try_to_vec::<f64>().unwrap()
}

fn single<const D: usize>(tensor: Tensor<D>) -> Vec<f32> {
    tensor.into_data().try_to_vec::<f32>().unwrap()
}

/// Compares gradients of `value` with central differences, along every coordinate.
fn check(value: impl Fn(Tensor<2>, Tensor<1>) -> Tensor<1>, layer: &Layer) {
    let device = Device::flex().autodiff();
    let shape = [layer.num_nodes(), layer.num_features()];
    let (z, theta) = (numbers(shape[0] * shape[1], 0.3), numbers(layer.num_parameters(), 7.1));
    let at = |z: &[f64], theta: &[f64]| {
        let plain = Device::flex();
        let of = value(tensor(z, shape, &plain), tensor(theta, [theta.len()], &plain));
        read(of)[0]
    };
    let features = tensor(&z, shape, &device).require_grad();
    let weights = tensor(&theta, [theta.len()], &device).require_grad();
    let gradients = value(features.clone(), weights.clone()).backward();
    let dz = read(features.grad(&gradients).unwrap());
    let dtheta = read(weights.grad(&gradients).unwrap());

    let h = 1e-5;
    let differ = |of: &dyn Fn(f64) -> f64| (of(h) - of(-h)) / (2.0 * h);
    let moved = |values: &[f64], i: usize, by: f64| {
        let mut values = values.to_vec();
        values[i] += by;
        values
    };
    for (i, &d) in dz.iter().enumerate() {
        let expected = differ(&|h| at(&moved(&z, i, h), &theta));
        assert!(
            (d - expected).abs() < 1e-7 * (1.0 + expected.abs()),
            "feature {i}: {d} {expected}"
        );
    }
    for (i, &d) in dtheta.iter().enumerate() {
        let expected = differ(&|h| at(&z, &moved(&theta, i, h)));
        assert!((d - expected).abs() < 1e-7 * (1.0 + expected.abs()), "θ {i}: {d} {expected}");
    }
    assert!(dz.iter().chain(&dtheta).any(|d| d.abs() > 1e-3), "all gradients vanish");
}

#[test]
fn the_gradients_of_every_loss_are_its_slopes() {
    let (_, _, layer) = setting();
    let losses = [Loss::Jsd, Loss::InfoNce, Loss::Cosine { temperature: 0.5 }];
    for loss in losses {
        for negatives in [Negatives::All, Negatives::Others] {
            check(|z, theta| layer.loss(z, theta, (loss, negatives)), &layer);
        }
    }
}

#[test]
fn a_scaled_loss_scales_its_gradients() {
    let (_, _, layer) = setting();
    let pairs = (Loss::Jsd, Negatives::All);
    check(|z, theta| layer.loss(z, theta, pairs).powi_scalar(2) * 3.0, &layer);
}

#[test]
fn gradients_of_embeddings_are_slopes_of_what_reads_them() {
    let (_, _, layer) = setting();
    let weights = numbers(layer.num_graphs() * layer.embedding_dim(), 2.2);
    check(
        |z, theta| {
            let e = layer.embed(z, theta);
            let w = tensor(&weights, [layer.num_graphs(), layer.embedding_dim()], &e.device());
            // A network after it would do the same: something that is not linear.
            (e * w).tanh().sum()
        },
        &layer,
    );
}

#[test]
fn embeddings_and_gradients_are_the_cores_to_the_bit() {
    let (model, examples, layer) = setting();
    let device = Device::flex().autodiff();
    let features = layer.features(&examples, &device).require_grad();
    let theta = parameters(&model, &device).require_grad();
    let e = layer.embed(features.clone(), theta.clone());
    let context = Context::default();
    assert_eq!(single(e.clone()), model.embed_examples(&examples, &context).unwrap());

    let d: Vec<f32> = numbers(e.dims().iter().product(), 0.9).iter().map(|&d| d as f32).collect();
    let along = Tensor::from_data(TensorData::new(d.clone(), e.dims()), &device);
    let gradients = (e * along).sum().backward();
    let expected = model.vjp(&examples, &d, &context).unwrap();
    assert_eq!(single(features.grad(&gradients).unwrap()), expected.features);
    assert_eq!(single(theta.grad(&gradients).unwrap()), expected.parameters);
}

#[test]
#[should_panic(expected = "the graphs' nodes want")]
fn features_of_another_shape_are_refused() {
    let (model, _, layer) = setting();
    let device = Device::flex();
    layer.embed(Tensor::zeros([2, 2], &device), parameters(&model, &device));
}

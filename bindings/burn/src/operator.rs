//! The function among burn's tensors, with its place in burn's graph of operations.

use burn::backend::autodiff::checkpoint::base::Checkpointer;
use burn::backend::autodiff::checkpoint::strategy::CheckpointStrategy;
use burn::backend::autodiff::grads::Gradients;
use burn::backend::autodiff::ops::{Backward, Ops, OpsKind};
use burn::backend::tensor::FloatTensor;
use burn::backend::{
    Autodiff, Backend, DType, Dispatch, Element, Flex, TensorData, TensorMetadata,
    backend_extension, try_read_sync,
};
use burn::tensor::{Device, Tensor};
use hg2v::Hg2v;
use hg2v::layer::{self, Real};
use hg2v::model::Example;
use hg2v::train::{Negatives, Loss};

use crate::layer::Layer;

/// The parameters of a model, where it has them: [`Layer::loss`] and [`Layer::embed`] take them.
pub fn parameters(model: &Hg2v, device: &Device) -> Tensor<1> {
    let values = model.parameters().to_vec();
    let len = values.len();
    Tensor::from_data(TensorData::new(values, [len]), device)
}

impl Layer {
    /// The vectors of the graphs, a row each; gradients go to both inputs.
    ///
    /// # Panics
    /// Tensors of another shape than [`num_nodes`](Layer::num_nodes) ×
    /// [`num_features`](Layer::num_features) and [`num_parameters`](Layer::num_parameters), or
    /// of another type than f32 or f64.
    pub fn embed(&self, features: Tensor<2>, parameters: Tensor<1>) -> Tensor<2> {
        Tensor::from_dispatch(self.call(Value::Embeddings, features, parameters))
    }

    /// HG2V's loss of the graphs, one number; gradients go to both inputs.
    ///
    /// # Panics
    /// As [`embed`](Layer::embed).
    pub fn loss(
        &self,
        features: Tensor<2>,
        parameters: Tensor<1>,
        (loss, negatives): (Loss, Negatives),
    ) -> Tensor<1> {
        Tensor::from_dispatch(self.call(Value::Loss(loss, negatives), features, parameters))
    }

    /// The features that the graphs were given, as a tensor to start from.
    pub fn features(&self, graphs: &[Example], device: &Device) -> Tensor<2> {
        let values: Vec<f32> = graphs.iter().flat_map(|graph| graph.features.clone()).collect();
        Tensor::from_data(TensorData::new(values, [self.num_nodes(), self.num_features()]), device)
    }

    fn call(
        &self,
        value: Value,
        features: Tensor<2>,
        parameters: Tensor<1>,
    ) -> FloatTensor<Dispatch> {
        let (shape, expected) = (features.dims(), [self.num_nodes(), self.num_features()]);
        assert!(shape == expected, "features are {shape:?}, the graphs' nodes want {expected:?}");
        let (len, expected) = (parameters.dims()[0], self.num_parameters());
        assert!(len == expected, "there are {len} parameters, the network wants {expected}");
        let call = Call { layer: self.clone(), value };
        Dispatch::hg2v(features.into_dispatch(), parameters.into_dispatch(), call)
    }
}

/// What is asked of a layer.
#[derive(Debug, Clone, Copy)]
pub enum Value {
    /// A row a graph.
    Embeddings,
    /// One number.
    Loss(Loss, Negatives),
}

/// A layer and what is asked of it.
#[derive(Debug, Clone)]
pub struct Call {
    layer: Layer,
    value: Value,
}

/// A backend of burn with HG2V among its operations. [`Layer`] is the way to it.
#[backend_extension(Flex, Autodiff)]
pub trait Hg2vBackend: Backend {
    /// The value of a call.
    fn hg2v(
        features: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self>;
}

impl Hg2vBackend for Flex {
    fn hg2v(
        features: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        value::<Flex>(features, parameters, &call).0
    }
}

impl<C: CheckpointStrategy> Hg2vBackend for Autodiff<Flex, C> {
    fn hg2v(
        features: FloatTensor<Self>,
        parameters: FloatTensor<Self>,
        call: Call,
    ) -> FloatTensor<Self> {
        let ((features, features_node), (parameters, parameters_node)) =
            (features.into_parts(), parameters.into_parts());
        let kept = (features.clone(), parameters.clone());
        let (output, gradients) = value::<Flex>(features, parameters, &call);
        match Hg2vStep.prepare::<C>([features_node, parameters_node]).compute_bound().stateful() {
            OpsKind::UnTracked(step) => step.finish(output),
            OpsKind::Tracked(step) => {
                let state = match gradients {
                    Some(gradients) => State::Gradients(gradients),
                    None => State::Inputs(kept, call.layer),
                };
                step.finish(state, output)
            }
        }
    }
}

/// The way back.
#[derive(Debug)]
struct Hg2vStep;

/// Two tensors: of the features, and of the parameters.
type Both<B> = (FloatTensor<B>, FloatTensor<B>);

/// What the way back needs.
#[derive(Debug, Clone)]
enum State<B: Backend> {
    /// A loss has its gradients from the pass that computed it.
    Gradients(Both<B>),
    /// Embeddings wait for a gradient of their own.
    Inputs(Both<B>, Layer),
}

impl<B: Backend> Backward<B, 2> for Hg2vStep {
    type State = State<B>;

    fn backward(self, ops: Ops<State<B>, 2>, grads: &mut Gradients, _: &mut Checkpointer) {
        let d_output = grads.consume::<B>(&ops.node);
        let (d_features, d_parameters) = match ops.state {
            State::Gradients((features, parameters)) => {
                let scaled = |gradient: FloatTensor<B>| {
                    let ones = vec![1; gradient.shape().num_dims()];
                    let factor = B::float_reshape(d_output.clone(), ones.into());
                    B::float_mul(gradient, factor)
                };
                (scaled(features), scaled(parameters))
            }
            State::Inputs((features, parameters), layer) => {
                embeddings_vjp::<B>(&layer, features, parameters, d_output)
            }
        };
        let [features, parameters] = ops.parents;
        if let Some(node) = features {
            grads.register::<B>(node.id, d_features);
        }
        if let Some(node) = parameters {
            grads.register::<B>(node.id, d_parameters);
        }
    }
}

/// The value of a call, and its gradients where they come with it.
fn value<B: Backend>(
    features: FloatTensor<B>,
    parameters: FloatTensor<B>,
    call: &Call,
) -> (FloatTensor<B>, Option<Both<B>>) {
    let device = features.device();
    let (features, parameters) = (numbers::<B>(features), numbers::<B>(parameters));
    match kind(&features) {
        Kind::Single => value_in::<B, f32>(&features, &parameters, call, &device),
        Kind::Double => value_in::<B, f64>(&features, &parameters, call, &device),
    }
}

fn value_in<B: Backend, R: Real + Element>(
    features: &TensorData,
    parameters: &TensorData,
    Call { layer, value }: &Call,
    device: &B::Device,
) -> (FloatTensor<B>, Option<Both<B>>) {
    let (features, parameters) = (values::<R>(features), values::<R>(parameters));
    match *value {
        Value::Embeddings => {
            let rows = layer.embeddings(&features, parameters);
            let shape = [layer.num_graphs(), layer.embedding_dim()];
            (B::float_from_data(TensorData::new(rows, shape), device), None)
        }
        Value::Loss(loss, negatives) => {
            let (loss, gradients) =
                layer.loss_and_gradients(&features, parameters, (loss, negatives));
            let loss = B::float_from_data(TensorData::new(vec![loss], [1]), device);
            (loss, Some(both::<B, R>(layer, gradients, device)))
        }
    }
}

fn embeddings_vjp<B: Backend>(
    layer: &Layer,
    features: FloatTensor<B>,
    parameters: FloatTensor<B>,
    d_embeddings: FloatTensor<B>,
) -> Both<B> {
    fn of<B: Backend, R: Real + Element>(
        layer: &Layer,
        [features, parameters, d]: [TensorData; 3],
        device: &B::Device,
    ) -> Both<B> {
        let (features, parameters, d) =
            (values::<R>(&features), values::<R>(&parameters), values::<R>(&d));
        both::<B, R>(layer, layer.embeddings_vjp(&features, parameters, &d), device)
    }
    let device = features.device();
    let data = [features, parameters, d_embeddings].map(numbers::<B>);
    match kind(&data[0]) {
        Kind::Single => of::<B, f32>(layer, data, &device),
        Kind::Double => of::<B, f64>(layer, data, &device),
    }
}

fn both<B: Backend, R: Element>(
    layer: &Layer,
    gradients: layer::Gradients<R>,
    device: &B::Device,
) -> Both<B> {
    let layer::Gradients { features, parameters } = gradients;
    let features = TensorData::new(features, [layer.num_nodes(), layer.num_features()]);
    let parameters = TensorData::new(parameters, [layer.num_parameters()]);
    (B::float_from_data(features, device), B::float_from_data(parameters, device))
}

enum Kind {
    Single,
    Double,
}

fn kind(data: &TensorData) -> Kind {
    match data.dtype() {
        DType::F32 => Kind::Single,
        DType::F64 => Kind::Double,
        other => panic!("HG2V computes in f32 or f64, not in {other:?}: cast the tensors first"),
    }
}

fn numbers<B: Backend>(tensor: FloatTensor<B>) -> TensorData {
    match try_read_sync(B::float_into_data(tensor)) {
        Some(Ok(data)) => data,
        Some(Err(e)) => panic!("a tensor cannot be read: {e:?}"),
        None => panic!("this backend cannot be read from here: use one on the processor"),
    }
}

fn values<R: Element>(data: &TensorData) -> Vec<R> {
    match data.as_slice::<R>() {
        Ok(values) => values.to_vec(),
        Err(_) => panic!("features, parameters and gradients must be of one type: cast them"),
    }
}

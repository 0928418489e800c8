//! A CNN that learns to look, from HG2V's unsupervised loss.
//!
//! ```sh
//! HG2V_DATA=… cargo run --release --example frankenstein [-- --quick]
//! ```
//!
//! FRANKENSTEIN-R are molecules whose atoms are handwritten digits. A CNN of two layers looks at
//! each digit, HG2V at the molecule,
//!
//! ```text
//! picture ──CNN──▶ features of an atom ──HG2V──▶ loss (training), vector of a molecule (after)
//! ```
//!
//! and no label is seen: the loss asks that the neighbourhood of an atom be told from those of
//! other molecules by the super-node that it belongs to, and its gradient reaches the CNN. The
//! paper reports 66.5 % with such a CNN and 65.3 % without. A support vector machine judges the
//! vectors of three pipelines on the same splits: pixels as they are, a CNN that stays as it was
//! drawn, and a CNN that is trained.

use std::path::Path;

use anyhow::{Context, Result};
use burn::module::{Module, Param};
use burn::nn::conv::{Conv2d, Conv2dConfig};
use burn::optim::{AdamConfig, GradientsParams};
use burn::tensor::activation::relu;
use burn::tensor::{Device, Tensor, TensorData};
use hg2v::Hg2v;
use hg2v::context::Context as Work;
use hg2v::dataset::Limits;
use hg2v::dataset::synthetic::Model;
use hg2v::dataset::synthetic::SyntheticSet;
use hg2v::dataset::synthetic::frankenstein::{ATTRIBUTES, Frankenstein};
use hg2v::graph::GraphRecord;
use hg2v::layer::Layer as Network;
use hg2v::model::{Architecture, Example};
use hg2v::prepare::Run;
use hg2v::train::{Loss, Negatives, Recipe};
use hg2v_burn::Layer;
use hg2v_eval::matrix::Matrix;
use hg2v_eval::method::Candidate;
use hg2v_eval::study::{Mode, Study};

/// Pixels a side.
const SIDE: usize = 28;
/// What the CNN says of a picture: sixteen channels of 4 × 4.
const FEATURES: usize = 16 * 4 * 4;

/// Two layers that look at pictures.
#[derive(Module, Debug)]
struct Eye {
    first: Conv2d,
    second: Conv2d,
}

impl Eye {
    fn new(device: &Device) -> Eye {
        Eye {
            first: Conv2dConfig::new([1, 8], [5, 5]).with_stride([2, 2]).init(device),
            second: Conv2dConfig::new([8, 16], [5, 5]).with_stride([2, 2]).init(device),
        }
    }

    /// A row a picture.
    fn look(&self, pictures: Tensor<4>) -> Tensor<2> {
        let seen = relu(self.second.forward(relu(self.first.forward(pictures))));
        seen.flatten(1, 3)
    }
}

/// The whole: an eye, and HG2V's parameters.
#[derive(Module, Debug)]
struct Pipeline {
    eye: Eye,
    theta: Param<Tensor<1>>,
}

fn main() -> Result<()> {
    let quick = std::env::args().any(|argument| argument == "--quick");
    let Some(folder) = std::env::var_os("HG2V_DATA") else {
        println!("skipped: this needs HG2V_DATA, a folder with BURSI.zip and MNIST's test images");
        return Ok(());
    };
    let (graphs, epochs, splits) = if quick { (150, 1, 2) } else { (usize::MAX, 10, 10) };
    let records = molecules(Path::new(&folder), graphs)?;
    let params = Hg2v::params().alone().epochs(epochs);
    let work = Work::default();
    let collection = params.collect(Run::in_memory(&records), &work)?;
    let study = Study::new(&collection, Mode::Transductive, splits, Default::default())?;
    println!("{} molecules, {splits} splits, vectors made without labels", records.len());

    let judge = |what: &str, dim: usize, vectors: Vec<f32>| -> Result<()> {
        let vectors = vectors.into_iter().map(f64::from).collect();
        let vectors = Matrix::new(records.len(), dim, vectors)?;
        let result = study.judge(Candidate::Vectors(&vectors), &[], |_| Ok(()))?;
        println!("{what:<28} {}", result.test);
        Ok(())
    };

    // 1. Pixels as they are.
    let fit = params.prepare(&collection, &collection.all())?;
    let model = fit.train(&work)?;
    let dim = model.layer().embedding_dim();
    judge("pixels", dim, model.embed_examples(&fit.examples, &work)?)?;

    // 2. and 3. The same molecules, an eye in front. Its network is the default one, for as
    // many features as the eye has.
    let network = Network::new(&Architecture::default(), FEATURES)?;
    for (what, learns) in [("a CNN as it was drawn", false), ("a CNN that learnt", true)] {
        let pipeline = train(&network, &fit.examples, &records, &params.recipe, learns)?;
        let vectors = embed(&pipeline, &network, &fit.examples, &records)?;
        judge(what, network.embedding_dim(), vectors)?;
    }
    let majority = study.majority();
    println!("{:<28} {:.1}", "the largest class", 100.0 * majority);
    Ok(())
}

/// The first molecules, with pictures for atoms.
fn molecules(folder: &Path, graphs: usize) -> Result<Vec<GraphRecord>> {
    let file = |name: &str| folder.join(name);
    let model = Frankenstein::open(
        &file("BURSI.zip"),
        &file("MNIST-t10k-images-idx3-ubyte.gz"),
        &file("MNIST-t10k-labels-idx1-ubyte.gz"),
        &Limits::default(),
    )?;
    model.check()?;
    let graphs = model.len().min(graphs as u64);
    let set = SyntheticSet::new(&model, graphs, 0);
    (0..graphs).map(|index| set.graph(index).context("a molecule")).collect()
}

/// Trains HG2V, and the eye where it learns, by HG2V's loss: the recipe of `hg2v fit`.
fn train(
    network: &Network,
    examples: &[Example],
    records: &[GraphRecord],
    recipe: &Recipe,
    learns: bool,
) -> Result<Pipeline> {
    let device = Device::flex().autodiff();
    device.seed(recipe.seed);
    let theta = network.initial(recipe.seed);
    let len = theta.len();
    let theta = Tensor::from_data(TensorData::new(theta, [len]), &device);
    let mut pipeline = Pipeline { eye: Eye::new(&device), theta: Param::from_tensor(theta) };
    let mut adam = AdamConfig::new().init();
    let total = recipe.epochs * recipe.steps_per_epoch(examples.len());
    let mut step = 0;
    for epoch in 0..recipe.epochs {
        for chosen in recipe.order(examples.len(), epoch).chunks(recipe.batch) {
            let batch: Vec<Example> =
                chosen.iter().map(|&i| examples[i as usize].clone()).collect();
            let pictures = pictures(chosen.iter().map(|&i| &records[i as usize]), &device);
            let mut features = pipeline.eye.look(pictures);
            if !learns {
                features = features.detach();
            }
            let layer = Layer::new(network, &batch);
            let pairs = (Loss::Jsd, Negatives::All);
            let loss = layer.loss(features, pipeline.theta.val(), pairs);
            let gradients = GradientsParams::from_grads(loss.backward(), &pipeline);
            let rate = recipe.rate(step, total);
            pipeline = adam.step(rate, pipeline, gradients);
            step += 1;
        }
    }
    Ok(pipeline)
}

/// The molecules' vectors.
fn embed(
    pipeline: &Pipeline,
    network: &Network,
    examples: &[Example],
    records: &[GraphRecord],
) -> Result<Vec<f32>> {
    let pipeline = pipeline.valid();
    let device = pipeline.theta.val().device();
    let mut vectors = Vec::new();
    for (examples, records) in examples.chunks(64).zip(records.chunks(64)) {
        let features = pipeline.eye.look(pictures(records.iter(), &device));
        let rows = Layer::new(network, examples).embed(features, pipeline.theta.val());
        vectors.extend(rows.into_data().try_to_vec::<f32>()?);
    }
    Ok(vectors)
}

/// The pictures of all atoms, whole again: a record has their first 780 pixels.
fn pictures<'a>(records: impl Iterator<Item = &'a GraphRecord>, device: &Device) -> Tensor<4> {
    let mut pixels: Vec<f32> = Vec::new();
    for record in records {
        let values = record.features.as_ref().map_or(&[][..], |features| &features.values);
        for picture in values.chunks_exact(ATTRIBUTES) {
            pixels.extend(picture.iter().map(|&pixel| pixel as f32));
            pixels.resize(pixels.len() + SIDE * SIDE - ATTRIBUTES, 0.0);
        }
    }
    let count = pixels.len() / (SIDE * SIDE);
    Tensor::from_data(TensorData::new(pixels, [count, 1, SIDE, SIDE]), device)
}

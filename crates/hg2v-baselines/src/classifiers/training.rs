//! How supervised networks are trained and chosen, without a look at test labels.
//!
//! As Errica, Podda, Bacciu & Micheli 2020 (*A fair comparison of graph neural
//! networks for graph classification*, ICLR) have it: a stratified tenth of the training
//! graphs is held out. Every setting is trained on the others by Adam until the
//! accuracy on the tenth has not risen for a while, and kept as it was when that was
//! highest (where equal: when the loss was lowest). The best setting by the same measure
//! names the classes of the test graphs.

use std::fmt;

use hg2v::dataset::features::FeatureChoice;
use hg2v::error::Opt;
use hg2v::prepare::Collection;
use hg2v_eval::method::{Learner, Learnt};
use hg2v_eval::split::stratified_shuffle;
use hg2v_eval::{Error, Result, Split};
use hg2v_math::parallel::{crew, try_map};
use hg2v_math::{Real, rng, schedule};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::network::{ClassifierNetwork, Descent, Pass, Store};
use crate::prepared::{NODES, Prepared, default_features, fitted_features};

/// What a network is for.
#[derive(Debug, Clone, Copy)]
pub struct Task {
    /// Numbers a node.
    pub inputs: usize,
    /// Numbers an edge.
    pub links: usize,
    /// Classes.
    pub classes: usize,
    /// Nodes of a training graph, in the mean.
    pub nodes: f64,
}

/// One setting of a network; shown, it says what a reader must know of it.
pub trait Design: fmt::Display + Sync {
    /// The network, its parameters put into `store`.
    fn build<R: Real>(&self, store: &mut Store<R>, task: &Task) -> Box<dyn ClassifierNetwork<R>>;
}

/// How a network is trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
#[non_exhaustive]
pub struct Recipe {
    /// The first learning rate.
    #[serde(alias = "rate")]
    pub lr: f64,
    /// Epochs after which the rate is halved, again and again.
    pub halve: u64,
    /// Graphs a step.
    pub batch: usize,
    /// Epochs at most.
    pub epochs: u64,
    /// Epochs without a better validation after which training ends.
    pub patience: u64,
    /// `λ`: the loss has `λ/2·‖θ‖²` added.
    pub decay: f64,
    /// The share of the training graphs that is held out.
    pub held_out: f64,
    /// The node features.
    pub features: FeatureChoice,
    /// Seeds every random decision.
    pub seed: u64,
}

hg2v_math::setters!(Recipe {
    lr: f64,
    halve: u64,
    batch: usize,
    epochs: u64,
    patience: u64,
    decay: f64,
    held_out: f64,
    features: FeatureChoice,
    seed: u64,
});

impl Default for Recipe {
    fn default() -> Recipe {
        Recipe {
            lr: 0.01,
            halve: 50,
            batch: 32,
            epochs: 200,
            patience: 50,
            decay: 0.0,
            held_out: 0.1,
            features: default_features(),
            seed: 0,
        }
    }
}

impl Recipe {
    /// Checks each field.
    ///
    /// # Errors
    /// One for the first field outside its domain.
    pub fn check(&self) -> Result<()> {
        let wrong = |name, value: String, requirement: &str| {
            Err(hg2v::Error::parameter(Opt::new(name), value, requirement).into())
        };
        if !(self.lr.is_finite() && self.lr > 0.0) {
            return wrong("lr", self.lr.to_string(), "it must be a finite number above 0");
        }
        if !(self.decay.is_finite() && self.decay >= 0.0) {
            return wrong(
                "decay",
                self.decay.to_string(),
                "it must be a finite number of at least 0",
            );
        }
        if self.batch == 0 {
            return wrong("batch", "0".into(), "a step needs at least one graph");
        }
        if self.epochs == 0 || self.halve == 0 {
            return wrong("epochs", "0".into(), "give at least one, also to halve the rate after");
        }
        Ok(())
    }
}

/// How well a network does on the graphs held out.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Standing {
    accuracy: f64,
    loss: f64,
}

impl Standing {
    fn better_than(&self, other: &Standing) -> bool {
        let accuracies = self.accuracy.total_cmp(&other.accuracy);
        accuracies.then(other.loss.total_cmp(&self.loss)).is_gt()
    }
}

/// A network as it was at its best.
struct Trained {
    network: Box<dyn ClassifierNetwork<f32>>,
    store: Store<f32>,
    standing: Standing,
    epoch: u64,
}

/// A network that labels teach: settings to choose from, and how each is trained.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Taught<D> {
    /// What is chosen from.
    pub grid: Vec<D>,
    /// How each is trained.
    pub recipe: Recipe,
}

impl<D: Design + Serialize + Send> Learner for Taught<D> {
    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn learn(
        &self,
        collection: &Collection<'_>,
        labels: &[u32],
        classes: usize,
        split: &Split,
    ) -> Result<Learnt> {
        learn(&self.grid, &self.recipe, collection, labels, classes, split)
    }
}

/// [`Learner::learn`] for networks: the best of `grid`.
///
/// # Errors
/// A recipe outside its domain; an empty grid; graphs that disagree on their features;
/// a single class among the training graphs; training that diverges.
fn learn<D: Design>(
    grid: &[D],
    recipe: &Recipe,
    collection: &Collection<'_>,
    labels: &[u32],
    classes: usize,
    split: &Split,
) -> Result<Learnt> {
    recipe.check()?;
    split.check(collection.len())?;
    let taught: Vec<u32> = split.train.iter().map(|&i| labels[i]).collect();
    let inner = stratified_shuffle(&taught, recipe.held_out, recipe.seed, 0)?;
    let of = |rows: &[usize]| -> Vec<(usize, u32)> {
        rows.iter().map(|&row| (split.train[row], taught[row])).collect()
    };
    let (train, held_out) = (of(&inner.train), of(&inner.test));
    let schema = fitted_features(collection, recipe.features, &split.train)?;
    let (prepared, _) = Prepared::new(collection, &schema, &collection.all())?;
    let nodes = prepared.mean_nodes(&split.train);
    let task = Task { inputs: prepared.dim, links: prepared.link_dim, classes, nodes };
    let run = |design: &D| train_one(design, recipe, &prepared, &task, &train, &held_out);
    // Settings beside each other, unless others of our kind run beside us already.
    let trained: Vec<Trained> = if crew::threads() > 1 && grid.len() > 1 {
        try_map(grid, |design| crew::alone(|| run(design)))?
    } else {
        crew::together(|| grid.iter().map(run).collect::<Result<_>>())?
    };
    let better = |best: usize, at: usize| {
        if trained[at].standing.better_than(&trained[best].standing) { at } else { best }
    };
    let Some(best) = (0..trained.len()).reduce(better) else {
        return Err(Error::Empty { what: "the grid of settings" });
    };
    let Trained { network, store, standing, epoch } = &trained[best];
    let scores = scores(network.as_ref(), store, &prepared, &split.test);
    Ok(Learnt {
        validation: standing.accuracy,
        predictions: scores.iter().map(|row| largest(row)).collect(),
        chosen: format!("{}, epoch {epoch}", grid[best]),
    })
}

fn train_one<D: Design>(
    design: &D,
    recipe: &Recipe,
    prepared: &Prepared<'_>,
    task: &Task,
    train: &[(usize, u32)],
    held_out: &[(usize, u32)],
) -> Result<Trained> {
    let mut store = Store::<f32>::new(recipe.seed);
    let network = design.build(&mut store, task);
    let mut descent = Descent::new(&store);
    let mut best: Option<(Standing, Store<f32>, u64)> = None;
    for epoch in 0..recipe.epochs {
        let rate = recipe.lr * 0.5f64.powf((epoch / recipe.halve) as f64);
        let order = schedule::order(train.len(), recipe.seed, epoch);
        for graphs in order.chunks(recipe.batch) {
            let batch: Vec<(usize, u32)> = graphs.iter().map(|&i| train[i as usize]).collect();
            let (which, classes): (Vec<usize>, Vec<u32>) = batch.into_iter().unzip();
            let stream = rng::stream(recipe.seed, "dropout", epoch, descent.steps);
            let mut pass = Pass::training(&store, stream);
            let (graphs, x) = prepared.batch(&which, &mut pass);
            let output = network.forward(&mut pass, &graphs, x);
            let mut loss = pass.tape.cross_entropy(output.scores, &classes);
            if let Some(extra) = output.extra {
                loss = pass.tape.add(loss, extra);
            }
            let value = pass.tape.value(loss).values[0];
            if !value.is_finite() {
                return Err(diverged(design, recipe, epoch));
            }
            let (gradient, seen) = pass.finish(loss);
            store.absorb(&seen);
            descent.step(rate, recipe.decay, &mut store, gradient);
        }
        let now = standing(network.as_ref(), &store, prepared, held_out);
        match &best {
            Some((before, _, at)) if !now.better_than(before) => {
                if epoch - at >= recipe.patience {
                    break;
                }
            }
            _ => best = Some((now, store.clone(), epoch)),
        }
    }
    let Some((standing, store, epoch)) = best else {
        return Err(diverged(design, recipe, 0));
    };
    Ok(Trained { network, store, standing, epoch: epoch + 1 })
}

fn diverged(design: &impl Design, recipe: &Recipe, epoch: u64) -> Error {
    let requirement = format!("training {design} diverged in epoch {}: lower it", epoch + 1);
    hg2v::Error::parameter(Opt::LR, recipe.lr, requirement).into()
}

fn standing(
    network: &dyn ClassifierNetwork<f32>,
    store: &Store<f32>,
    prepared: &Prepared<'_>,
    graphs: &[(usize, u32)],
) -> Standing {
    let which: Vec<usize> = graphs.iter().map(|&(i, _)| i).collect();
    let scores = scores(network, store, prepared, &which);
    let (mut right, mut loss) = (0, 0.0);
    for (row, &(_, class)) in scores.iter().zip(graphs) {
        right += usize::from(largest(row) == class);
        let top = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = row.iter().map(|&s| f64::from(s - top).exp()).sum();
        loss += sum.ln() - f64::from(row[class as usize] - top);
    }
    let count = graphs.len().max(1) as f64;
    Standing { accuracy: right as f64 / count, loss: loss / count }
}

/// What a network at work says of each graph.
fn scores(
    network: &dyn ClassifierNetwork<f32>,
    store: &Store<f32>,
    prepared: &Prepared<'_>,
    which: &[usize],
) -> Vec<Vec<f32>> {
    let mut all = Vec::with_capacity(which.len());
    for some in prepared.portions(which, NODES) {
        let mut pass = Pass::working(store);
        let (graphs, x) = prepared.batch(some, &mut pass);
        let output = network.forward(&mut pass, &graphs, x);
        all.extend(pass.tape.value(output.scores).each_row().map(<[f32]>::to_vec));
    }
    all
}

/// The class with the highest score, the first among equals.
fn largest(scores: &[f32]) -> u32 {
    let better = |best: usize, at: usize| if scores[at] > scores[best] { at } else { best };
    (0..scores.len()).reduce(better).unwrap_or(0) as u32
}

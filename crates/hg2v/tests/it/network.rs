//! The network against its specification: the golden step, a naive twin that
//! reads like the paper, finite differences, and the promise of equal bits.

mod naive;

use std::collections::BTreeMap;

use hg2v::coarsen::{Level, Params, Pyramid, coarsen};
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v::internals::{
    Batch, Cpu, Device, Draw, Keep, Layout, Network, Relations, Seeds, Window, Workspace, contract,
};
use hg2v::model::{Activation, Architecture, LayerKind, Readout, Relational};
use hg2v::train::{LevelLoss, Loss, Negatives};
use hg2v_math::Real;
use serde::Deserialize;

/// A graph, its pyramid and its features.
#[derive(Clone)]
pub(crate) struct Sample {
    pub(crate) graph: Graph,
    pub(crate) pyramid: Pyramid,
    pub(crate) features: Vec<f64>,
    /// All `(u, v, r)`: `u` has the neighbour `v` by relation `r`.
    pub(crate) related: Vec<(u32, u32, u32)>,
}

/// What one pass gives.
struct Pass<R> {
    local: Vec<Vec<R>>,
    nodes: Vec<Vec<R>>,
    losses: Vec<LevelLoss>,
    gradients: Vec<R>,
    features: Vec<R>,
    embeddings: Vec<R>,
}

fn batch_of(samples: &[Sample], layout: &Layout) -> Batch {
    let (levels, count) = (layout.architecture.levels, layout.num_relations());
    let batch = |s: &Sample| {
        let mut batch = Batch::of_graph(&s.graph, &s.pyramid, levels);
        if count > 0 {
            batch.relations = Relations::new(&s.graph, count, PAIRED, s.related.clone());
        }
        batch
    };
    let parts: Vec<Batch> = samples.iter().map(batch).collect();
    Batch::concat(&parts)
}

/// Relations 0 and 1 are the two directions of one kind of edge, 2 and 3 of another.
const RELATIONS: usize = 4;
const PAIRED: bool = true;

/// Every edge but each fifth gets a kind and a direction, each third goes both ways.
fn related(graph: &Graph) -> Vec<(u32, u32, u32)> {
    let mut related = Vec::new();
    for u in 0..graph.num_nodes() as u32 {
        for &v in graph.neighbors(u as usize).iter().filter(|&&v| v > u) {
            let (kind, salt) = (2 * ((u + v) % 2), (3 * u + v) % 5);
            if salt != 4 {
                related.extend([(u, v, kind), (v, u, kind + 1)]);
            }
            if salt % 3 == 0 {
                related.extend([(v, u, kind), (u, v, kind + 1)]);
            }
        }
    }
    related.sort_unstable();
    related
}

/// A layout, with relations where the architecture takes them.
fn layout_of(architecture: &Architecture, features: usize) -> Layout {
    let relations = usize::from(architecture.relations == Relational::Always) * RELATIONS;
    Layout::related(architecture, features, relations).unwrap()
}

fn cast<R: Real>(values: &[f64]) -> Vec<R> {
    values.iter().map(|&value| R::from_f64(value)).collect()
}

/// Forward, backward from `pairs` and from `d_embeddings`, and everything they left.
fn pass<R: Real>(
    network: &Network,
    parameters: &[f64],
    samples: &[Sample],
    pairs: Option<(Loss, Negatives)>,
    d_embeddings: Option<&[f64]>,
) -> Pass<R> {
    pass_drawn(network, parameters, samples, (pairs, Draw::default()), d_embeddings)
}

/// As [`pass`], with negatives that are drawn.
fn pass_drawn<R: Real>(
    network: &Network,
    parameters: &[f64],
    samples: &[Sample],
    (pairs, draw): (Option<(Loss, Negatives)>, Draw),
    d_embeddings: Option<&[f64]>,
) -> Pass<R> {
    let device = Cpu::<R>::new();
    let levels = network.layout.architecture.levels;
    let parameters = cast::<R>(parameters);
    let features: Vec<f64> = samples.iter().flat_map(|s| s.features.clone()).collect();
    let mut workspace = Workspace::new(&device);
    let batch = batch_of(samples, &network.layout);
    network.place_pieces(&device, &mut workspace, &[&batch], &[&cast::<R>(&features)]);
    network.forward(&device, &parameters, &mut workspace, Keep::Everything, true);
    let mut gradients = device.zeros(network.layout.len);
    let de = d_embeddings.map(cast::<R>);
    let seeds = Seeds { pairs, draw, embeddings: de.as_deref(), features: true };
    network.backward(&device, &parameters, &mut workspace, seeds, &mut gradients);
    Pass {
        local: (0..levels).map(|l| network.neighborhoods(&device, &workspace, l)).collect(),
        nodes: (0..=levels).map(|l| network.nodes(&device, &workspace, l)).collect(),
        losses: network.take_losses(&device, &mut workspace),
        features: network.feature_gradients(&device, &workspace),
        embeddings: network.embeddings(&device, &workspace),
        gradients,
    }
}

fn assert_close<R: Real>(what: &str, ours: &[R], expected: &[f64], tolerance: f64) {
    assert_eq!(ours.len(), expected.len(), "{what}");
    // Relative to the largest: a number that is small by cancellation has no
    // more digits than those it came from.
    let scale = expected.iter().fold(1e-12f64, |most, e| most.max(e.abs()));
    for (i, (ours, expected)) in ours.iter().zip(expected).enumerate() {
        let error = (ours.to_f64() - expected).abs() / scale;
        assert!(error <= tolerance, "{what}[{i}]: {ours} instead of {expected}");
    }
}

/// Two ends and a weight.
type Edge = (u32, u32, f64);

fn graph_of(n: u32, edges: &[Edge]) -> Graph {
    let record = GraphRecord {
        num_nodes: n,
        edges: edges.iter().map(|&(u, v, _)| [u, v]).collect(),
        weights: Some(edges.iter().map(|&(_, _, w)| w).collect()),
        ..GraphRecord::default()
    };
    Graph::from_record(&record, WeightPolicy::Use).unwrap().0
}

/// The rows of a window, one after the other.
fn read(values: &[f64], window: Window) -> Vec<f64> {
    let row = |r: usize| &values[window.offset + r * window.stride..][..window.columns];
    (0..window.rows).flat_map(|r| row(r).to_vec()).collect()
}

fn write(values: &mut [f64], window: Window, from: &[f64]) {
    for (r, row) in from.chunks_exact(window.columns).enumerate() {
        values[window.offset + r * window.stride..][..window.columns].copy_from_slice(row);
    }
}

#[derive(Deserialize)]
struct Golden {
    input_dim: usize,
    dim: usize,
    hops: usize,
    levels: usize,
    graphs: Vec<GoldenGraph>,
    weights: BTreeMap<String, serde_json::Value>,
    local: Vec<Vec<Vec<f64>>>,
    pooled: Vec<Vec<Vec<f64>>>,
    level_losses: Vec<[f64; 2]>,
    grads: BTreeMap<String, serde_json::Value>,
    embeddings: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct GoldenGraph {
    n: u32,
    edges: Vec<Edge>,
    pool: Vec<Vec<u32>>,
    /// Ends and kind, with relations.
    #[serde(default)]
    directed: Vec<[u32; 3]>,
    features: Vec<Vec<f64>>,
}

/// All numbers of nested lists, in order.
fn flat(value: &serde_json::Value) -> Vec<f64> {
    match value {
        serde_json::Value::Array(items) => items.iter().flat_map(flat).collect(),
        number => vec![number.as_f64().unwrap()],
    }
}

/// The paper's network, and the same with relations: `fixtures/relations_step.py`.
const GOLDEN: [(&str, Relational); 2] = [
    (include_str!("../fixtures/hg2v_step.json"), Relational::Never),
    (include_str!("../fixtures/hg2v_relations_step.json"), Relational::Always),
];

fn golden((text, relations): (&str, Relational)) -> (Golden, Network, Vec<Sample>, Vec<f64>) {
    let golden: Golden = serde_json::from_str(text).unwrap();
    let architecture = Architecture::default()
        .dim(golden.dim)
        .hops(golden.hops)
        .levels(golden.levels)
        .relations(relations)
        .input(Some(Activation::Relu))
        .bias(true);
    let network = Network { layout: layout_of(&architecture, golden.input_dim) };
    let samples = golden
        .graphs
        .iter()
        .map(|g| {
            let graph = graph_of(g.n, &g.edges);
            let mut pyramid = Pyramid { num_nodes: g.n as usize, ..Pyramid::default() };
            for assignment in &g.pool {
                let below = pyramid.levels.last().map_or(&graph, |level| &level.graph);
                let graph = contract(below, assignment);
                pyramid.levels.push(Level { assignment: assignment.clone(), graph });
            }
            let ways = |&[u, v, kind]: &[u32; 3]| [(u, v, 2 * kind), (v, u, 2 * kind + 1)];
            let mut related: Vec<_> = g.directed.iter().flat_map(ways).collect();
            related.sort_unstable();
            Sample { graph, pyramid, features: g.features.concat(), related }
        })
        .collect();
    let mut parameters = vec![f64::NAN; network.layout.len];
    for (name, window) in network.layout.tensors() {
        write(&mut parameters, window, &flat(&golden.weights[&name]));
    }
    (golden, network, samples, parameters)
}

fn check_golden<R: Real>(step: (&str, Relational), tolerance: f64) {
    let (golden, network, samples, parameters) = golden(step);
    let pairs = (Loss::Jsd, Negatives::All);
    let ours = pass::<R>(&network, &parameters, &samples, Some(pairs), None);
    for level in 0..golden.levels {
        assert_close("x", &ours.local[level], &golden.local[level].concat(), tolerance);
        assert_close("g", &ours.nodes[level + 1], &golden.pooled[level].concat(), tolerance);
        let loss = ours.losses[level];
        let parts = [loss.positive, loss.negative];
        assert_close("loss", &parts, &golden.level_losses[level], tolerance);
    }
    let gradients: Vec<f64> = ours.gradients.iter().map(|g| g.to_f64()).collect();
    for (name, window) in network.layout.tensors() {
        assert_close(&name, &read(&gradients, window), &flat(&golden.grads[&name]), tolerance);
    }
    assert_close("features", &ours.features, &flat(&golden.grads["features"]), tolerance);
    assert_close("embeddings", &ours.embeddings, &golden.embeddings.concat(), tolerance);
}

#[test]
fn the_golden_step_in_f64() {
    GOLDEN.into_iter().for_each(|step| check_golden::<f64>(step, 1e-7));
}

#[test]
fn the_golden_step_in_f32() {
    GOLDEN.into_iter().for_each(|step| check_golden::<f32>(step, 1e-5));
}

/// Numbers that look random and never change.
pub(crate) fn noise(n: usize, salt: u64) -> Vec<f64> {
    let hash = |i: u64| {
        let mut x = (i + 1 + (salt << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        x ^= x >> 29;
        x.wrapping_mul(0xbf58_476d_1ce4_e5b9) >> 11
    };
    (0..n as u64).map(|i| hash(i) as f64 / (1u64 << 52) as f64 - 1.0).collect()
}

/// A path, a star with a tail, two triangles apart, an isolated node.
fn samples(features: usize) -> Vec<Sample> {
    let shapes: [(u32, &[Edge]); 4] = [
        (7, &[(0, 1, 1.0), (1, 2, 2.0), (2, 3, 1.0), (3, 4, 0.5), (4, 5, 1.0), (5, 6, 1.0)]),
        (6, &[(0, 1, 1.0), (0, 2, 1.0), (0, 3, 1.0), (3, 4, 1.5), (4, 5, 1.0)]),
        (6, &[(0, 1, 1.0), (1, 2, 1.0), (0, 2, 1.0), (3, 4, 1.0), (4, 5, 3.0), (3, 5, 1.0)]),
        (1, &[]),
    ];
    let sample = |(salt, (n, edges)): (usize, (u32, &[Edge]))| {
        let graph = graph_of(n, edges);
        let pyramid = coarsen(&graph, &Params::default().ratio(0.7)).unwrap();
        let features = noise(n as usize * features, salt as u64);
        Sample { related: related(&graph), graph, pyramid, features }
    };
    shapes.into_iter().enumerate().map(sample).collect()
}

/// Every choice of architecture and loss at least once.
fn variants() -> Vec<(Architecture, Loss, Negatives)> {
    let small = Architecture::default().dim(3).hops(2).levels(2);
    let all = vec![Readout::Mean, Readout::Sum, Readout::Max];
    vec![
        (small.clone(), Loss::Jsd, Negatives::All),
        (small.clone().bias(true).finest(true).local(true).log(true), Loss::Jsd, Negatives::Others),
        (
            small.clone().input(Some(Activation::Tanh)).readout(all).finest(true),
            Loss::InfoNce,
            Negatives::All,
        ),
        (
            small.clone().input(Some(Activation::Relu)).levels(4).local(true),
            Loss::Cosine { temperature: 0.3 },
            Negatives::Others,
        ),
        (
            small.clone().layer(LayerKind::Gcn).input(Some(Activation::Linear)),
            Loss::InfoNce,
            Negatives::Others,
        ),
        (
            small.clone().layer(LayerKind::Gcn).finest(true).levels(1),
            Loss::Cosine { temperature: 1.5 },
            Negatives::All,
        ),
        (
            small.clone().relations(Relational::Always).finest(true).local(true),
            Loss::Jsd,
            Negatives::All,
        ),
        (
            small.clone().relations(Relational::Always).input(Some(Activation::Tanh)),
            Loss::Jsd,
            Negatives::Others,
        ),
        (
            small.relations(Relational::Always).layer(LayerKind::Gcn).bias(true).local(true),
            Loss::InfoNce,
            Negatives::All,
        ),
    ]
}

/// All negatives, and one super-node or two of a level that has enough of them.
const DRAWS: [Draw; 3] = [
    Draw { sample: 0, seed: 0, step: 0 },
    Draw { sample: 1, seed: 3, step: 5 },
    Draw { sample: 2, seed: 4, step: 0 },
];

#[test]
fn losses_and_embeddings_are_those_of_the_naive_twin() {
    // Of many graphs, so that levels above have super-nodes to draw from, too.
    let samples = [(); 4].map(|()| samples(2)).concat();
    for (architecture, loss, negatives) in variants() {
        let network = Network { layout: layout_of(&architecture, 2) };
        let parameters = noise(network.layout.len, 9);
        for draw in DRAWS {
            let pairs = (loss, negatives);
            let ours =
                pass_drawn::<f64>(&network, &parameters, &samples, (Some(pairs), draw), None);
            let twin = naive::run(&network.layout, &parameters, &samples, pairs, draw);
            for (level, (ours, twin)) in ours.losses.iter().zip(&twin.losses).enumerate() {
                let error = (ours.total() - twin).abs();
                assert!(error < 1e-6, "{architecture:?} {draw:?} level {level}: {ours:?} {twin}");
            }
            assert_eq!(ours.losses.len(), twin.losses.len());
            assert_close("embeddings", &ours.embeddings, &twin.embeddings, 1e-6);
        }
    }
}

/// `∂f/∂x_i` by central differences.
fn differences(x: &[f64], f: impl Fn(&[f64]) -> f64) -> Vec<f64> {
    let step = 1e-5;
    let mut x = x.to_vec();
    (0..x.len())
        .map(|i| {
            let at = x[i];
            x[i] = at + step;
            let above = f(&x);
            x[i] = at - step;
            let below = f(&x);
            x[i] = at;
            (above - below) / (2.0 * step)
        })
        .collect()
}

#[test]
fn gradients_are_those_of_finite_differences_of_the_naive_twin() {
    let samples = samples(2);
    let with = |features: &[f64]| {
        let mut rest = features;
        let take = |sample: &Sample| {
            let (own, after) = rest.split_at(sample.features.len());
            rest = after;
            Sample { features: own.to_vec(), ..sample.clone() }
        };
        samples.iter().map(take).collect::<Vec<_>>()
    };
    let features: Vec<f64> = samples.iter().flat_map(|s| s.features.clone()).collect();
    for (architecture, loss, negatives) in variants() {
        let network = Network { layout: layout_of(&architecture, 2) };
        let parameters = noise(network.layout.len, 9);
        let pairs = (loss, negatives);
        // The loss alone, a function of the embeddings alone, and both.
        let de = noise(samples.len() * network.layout.embedding_dim(), 5);
        for (loss, of_embeddings) in [(1.0, 0.0), (0.0, 1.0), (1.0, 1.0)] {
            let value = |parameters: &[f64], samples: &[Sample]| {
                let twin = naive::run(&network.layout, parameters, samples, pairs, Draw::default());
                let inner: f64 = twin.embeddings.iter().zip(&de).map(|(e, d)| e * d).sum();
                loss * twin.losses.iter().sum::<f64>() + of_embeddings * inner
            };
            let de = (of_embeddings > 0.0).then_some(&de[..]);
            let ours =
                pass::<f64>(&network, &parameters, &samples, (loss > 0.0).then_some(pairs), de);
            let what = format!("{architecture:?} {pairs:?} {loss} {of_embeddings}");
            let by_parameters = differences(&parameters, |p| value(p, &samples));
            assert_close(&format!("{what} parameters"), &ours.gradients, &by_parameters, 2e-5);
            let by_features = differences(&features, |x| value(&parameters, &with(x)));
            assert_close(&format!("{what} features"), &ours.features, &by_features, 2e-5);
        }
    }
}

#[test]
fn gradients_of_drawn_negatives_are_those_of_finite_differences_of_the_naive_twin() {
    let samples = [(); 4].map(|()| samples(2)).concat();
    let all = [Loss::Jsd, Loss::InfoNce, Loss::Cosine { temperature: 0.3 }];
    for (loss, negatives) in
        all.into_iter().flat_map(|loss| [(loss, Negatives::All), (loss, Negatives::Others)])
    {
        let architecture = Architecture::default().dim(3).hops(2).levels(2);
        let network = Network { layout: layout_of(&architecture, 2) };
        let parameters = noise(network.layout.len, 9);
        for draw in DRAWS {
            let pairs = (loss, negatives);
            let ours =
                pass_drawn::<f64>(&network, &parameters, &samples, (Some(pairs), draw), None);
            let expected = differences(&parameters, |p| {
                naive::run(&network.layout, p, &samples, pairs, draw).losses.iter().sum()
            });
            let what = format!("{pairs:?} {draw:?}");
            assert_close(&what, &ours.gradients, &expected, 2e-5);
            let whole = pass::<f64>(&network, &parameters, &samples, Some(pairs), None);
            assert_eq!(draw.sample == 0, ours.losses == whole.losses, "{what}: what was drawn?");
        }
    }
}

fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
    rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
}

/// Graphs large enough that work is shared among threads.
fn larger_samples() -> Vec<Sample> {
    let shapes = [40u32, 700, 33, 1500];
    let sample = |(salt, n): (usize, u32)| {
        let links = noise(n as usize, 40 + salt as u64);
        let edges: Vec<_> = (1..n)
            .map(|v| (((links[v as usize] + 1.0) / 2.0 * f64::from(v)) as u32, v, 1.0))
            .collect();
        let graph = graph_of(n, &edges);
        let pyramid = coarsen(&graph, &Params::default()).unwrap();
        let features = noise(n as usize * 3, salt as u64);
        Sample { related: related(&graph), graph, pyramid, features }
    };
    shapes.into_iter().enumerate().map(sample).collect()
}

#[test]
fn a_step_gives_the_same_bits_at_any_number_of_threads() {
    let samples = larger_samples();
    for (relations, sample) in
        [(Relational::Never, 0), (Relational::Always, 0), (Relational::Never, 40)]
    {
        let architecture = Architecture::default().dim(48).local(true).relations(relations);
        let network = Network { layout: layout_of(&architecture, 3) };
        let parameters: Vec<f64> = noise(network.layout.len, 3).iter().map(|p| 0.2 * p).collect();
        let pairs = (Some((Loss::Jsd, Negatives::All)), Draw { sample, ..Draw::default() });
        let run = |threads| {
            in_pool(threads, || {
                let pass = pass_drawn::<f32>(&network, &parameters, &samples, pairs, None);
                (pass.losses, pass.gradients, pass.features, pass.embeddings)
            })
        };
        let one = run(1);
        assert!(one.1.iter().all(|g| g.is_finite()) && one.1.iter().any(|g| *g != 0.0));
        assert!(one == run(2), "two threads differ from one");
        assert!(one == run(4), "four threads differ from one");
    }
}

#[test]
fn a_graph_has_the_same_embedding_alone_and_among_others_with_or_without_a_tape() {
    let samples = larger_samples();
    for (local, relations) in
        [(false, Relational::Never), (true, Relational::Never), (false, Relational::Always)]
    {
        let architecture = Architecture::default().dim(48).local(local).relations(relations);
        let network = Network { layout: layout_of(&architecture, 3) };
        let parameters: Vec<f64> = noise(network.layout.len, 3).iter().map(|p| 0.2 * p).collect();
        let parameters = cast::<f32>(&parameters);
        let embed = |samples: &[Sample], keep: Keep| {
            let device = Cpu::<f32>::new();
            let mut workspace = Workspace::new(&device);
            let features: Vec<f64> = samples.iter().flat_map(|s| s.features.clone()).collect();
            let batch = batch_of(samples, &network.layout);
            network.place_pieces(&device, &mut workspace, &[&batch], &[&cast::<f32>(&features)]);
            network.forward(&device, &parameters, &mut workspace, keep, true);
            network.embeddings(&device, &workspace)
        };
        let together = embed(&samples, Keep::Everything);
        assert_eq!(together, embed(&samples, Keep::OneLevel));
        let rows = together.chunks_exact(network.layout.embedding_dim());
        for (sample, row) in samples.iter().zip(rows) {
            assert_eq!(embed(std::slice::from_ref(sample), Keep::OneLevel), row);
        }
    }
}

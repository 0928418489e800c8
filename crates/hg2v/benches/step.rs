//! How fast one training step is, and how far from the arithmetic it needs:
//! `cargo bench --workspace --bench step [-- NODES DIM]`.
//!
//! Eight graphs of mean degree 2.2 with `NODES` nodes in all, the nodes halving
//! from level to level, as many features as `DIM`; four hops, three levels. The
//! limit is what one large product reaches on the same threads in the same run.
//! `twin.py` times PyTorch on the same shapes.

// A bench prints what it measured.
#![allow(clippy::print_stdout)]

use std::time::Instant;

use hg2v::coarsen::{Level, Pyramid};
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v::model::{Architecture, Keep, Layout, Network, Tape, initial};
use hg2v::nn::device::Device;
use hg2v::nn::gemm::{View, ViewMut, product};
use hg2v::nn::pairs::{Negatives, Score};
use hg2v::nn::{Batch, Cpu, crew};

const GRAPHS: usize = 8;
const HOPS: usize = 4;
const LEVELS: usize = 3;

fn main() {
    let words = std::env::args().skip(1).filter(|word| word != "--bench");
    let sizes: Vec<usize> = words.map(|word| word.parse().unwrap()).collect();
    let sizes = if sizes.is_empty() { vec![240, 128, 1200, 256, 4000, 256] } else { sizes };
    println!("{} threads", rayon::current_num_threads());
    println!(
        "{:>6} {:>4} {:>9} {:>9} {:>8} {:>9} {:>6} {:>9} {:>7} {:>7}",
        "nodes",
        "dim",
        "mean ms",
        "best ms",
        "forward",
        "backward",
        "Adam",
        "Mflop",
        "GF/s",
        "limit"
    );
    for size in sizes.chunks_exact(2) {
        crew::together(|| one(size[0], size[1]));
    }
}

fn one(nodes: usize, dim: usize) {
    let batch = batch(nodes);
    let architecture = Architecture { dim, hops: HOPS, levels: LEVELS, ..Architecture::default() };
    let network = Network { layout: Layout::new(&architecture, dim).unwrap() };
    let device = Cpu::<f32>::new();
    let features = numbers(nodes * dim);
    let mut parameters = initial(&network.layout, 0);
    let mut gradients = device.zeros(parameters.len());
    let (mut m, mut v) = (device.zeros(parameters.len()), device.zeros(parameters.len()));
    let mut tape = Tape::new(&device);
    let pairs = Some((Score::JensenShannon, Negatives::All));

    let flops = flops(&batch, dim);
    let mut best = [f64::INFINITY; 4];
    let mut all = 0.0;
    let repeats = ((4e10 / flops) as u64).clamp(5, 2_000);
    for step in 1..=repeats {
        let times = [
            timed(|| network.place(&device, &mut tape, &batch, &features)),
            timed(|| network.forward(&device, &parameters, &mut tape, Keep::Everything, false)),
            timed(|| {
                let gradients = &mut gradients;
                network.backward(&device, &parameters, &mut tape, pairs, None, false, gradients);
                network.take_losses(&device, &mut tape);
            }),
            timed(|| device.adam(1e-4, step, &mut parameters, &gradients, &mut m, &mut v)),
        ];
        if times.iter().sum::<f64>() < best.iter().sum() {
            best = times;
        }
        all += times.iter().sum::<f64>();
    }
    let whole: f64 = best.iter().sum();
    println!(
        "{nodes:>6} {dim:>4} {:>9.3} {:>9.3} {:>8.3} {:>9.3} {:>6.3} {:>9.0} {:>7.1} {:>7.1}",
        1e3 * all / repeats as f64,
        1e3 * whole,
        1e3 * best[1],
        1e3 * best[2],
        1e3 * best[3],
        flops / 1e6,
        flops / whole / 1e9,
        limit()
    );
}

fn timed<T>(job: impl FnOnce() -> T) -> f64 {
    let started = Instant::now();
    std::hint::black_box(job());
    started.elapsed().as_secs_f64()
}

/// GF/s of a large product.
fn limit() -> f64 {
    let (m, k, n) = (960, 512, 512);
    let (a, b, mut c) = (numbers(m * k), numbers(k * n), vec![0f32; m * n]);
    let mut run = || {
        let (a, b) = (View::new(&a, m, k, k), View::new(&b, k, n, n));
        timed(|| product(a, b, 0.0, ViewMut::new(&mut c, m, n, n)))
    };
    let best = (0..10).map(|_| run()).fold(f64::INFINITY, f64::min);
    2.0 * (m * k * n) as f64 / best / 1e9
}

/// What a step multiplies and adds: the three products of every layer (two on the
/// finest level, whose features need no gradient) and of every pair loss.
fn flops(batch: &Batch, dim: usize) -> f64 {
    (0..LEVELS)
        .map(|level| {
            let (n, m) = (batch.num_nodes(level) as f64, batch.num_nodes(level + 1) as f64);
            let d = dim as f64;
            let krylov = n * (HOPS + 1) as f64 * d * 2.0 * d * if level == 0 { 2.0 } else { 3.0 };
            2.0 * (krylov + 3.0 * m * d * d + 3.0 * n * m * d)
        })
        .sum()
}

/// Trees with some more edges, node `2i` and `2i + 1` one node of the next level.
fn batch(nodes: usize) -> Batch {
    let graphs = (0..GRAPHS).map(|graph| {
        let n = nodes / GRAPHS;
        let mut edges: Vec<[u32; 2]> = Vec::new();
        for i in 1..n {
            let near = |step: usize| (i - 1 - (i * 7 + graph * 3 + step) % i.min(4)) as u32;
            edges.push([near(0), i as u32]);
            if i % 10 == 0 {
                edges.push([near(1), i as u32]);
            }
        }
        let graph = graph_of(n, &edges);
        let mut levels = Vec::new();
        let mut below = n;
        for _ in 0..LEVELS {
            edges.iter_mut().for_each(|edge| *edge = edge.map(|node| node / 2));
            let assignment = (0..below as u32).map(|node| node / 2).collect();
            below = below.div_ceil(2);
            levels.push(Level { assignment, graph: graph_of(below, &edges) });
        }
        Batch::of_graph(&graph, &Pyramid { num_nodes: n, levels, converged: true }, LEVELS)
    });
    Batch::concat(&graphs.collect::<Vec<_>>())
}

fn graph_of(n: usize, edges: &[[u32; 2]]) -> Graph {
    let record =
        GraphRecord { num_nodes: n as u32, edges: edges.to_vec(), ..GraphRecord::default() };
    Graph::from_record(&record, WeightPolicy::Use).unwrap().0
}

fn numbers(n: usize) -> Vec<f32> {
    (0..n as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 8_388_608.0 - 1.0)
        .collect()
}

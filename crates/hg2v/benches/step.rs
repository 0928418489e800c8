//! How fast one training step is, and how far from the arithmetic it needs:
//! `cargo bench --workspace --bench step [-- NODES DIM]`.
//!
//! Eight graphs of mean degree 2.2 with `NODES` nodes in all, the nodes halving
//! from level to level, as many features as `DIM`; four hops, three levels. The
//! limit is what one large product reaches on the same threads in the same run.
//! `twin.py` times PyTorch on the same shapes.

// A bench prints what it measured.
#![allow(clippy::print_stdout)]

mod shapes;

use std::time::Instant;

use hg2v::internals::{Batch, Cpu, Device, Keep, Seeds, Workspace, initial};
use hg2v::train::{Loss, Negatives};
use hg2v_math::gemm::{View, ViewMut, product};
use hg2v_math::parallel::crew;

use shapes::{flops, graphs, network, numbers};

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
    let parts = graphs(nodes, 0);
    let parts: Vec<&Batch> = parts.iter().collect();
    let network = network(dim);
    let device = Cpu::<f32>::new();
    let features = numbers(nodes * dim);
    let mut parameters = initial(&network.layout, 0);
    let mut gradients = device.zeros(parameters.len());
    let (mut m, mut v) = (device.zeros(parameters.len()), device.zeros(parameters.len()));
    let mut workspace = Workspace::new(&device);
    let pairs = Some((Loss::Jsd, Negatives::All));

    let flops = flops(&Batch::concat(parts.iter().copied()), dim);
    let mut best = [f64::INFINITY; 4];
    let mut all = 0.0;
    let repeats = ((4e10 / flops) as u64).clamp(5, 2_000);
    for step in 1..=repeats {
        let times = [
            timed(|| network.place_pieces(&device, &mut workspace, &parts, &[&features])),
            timed(|| {
                network.forward(&device, &parameters, &mut workspace, Keep::Everything, false)
            }),
            timed(|| {
                let gradients = &mut gradients;
                let seeds = Seeds { pairs, ..Seeds::default() };
                network.backward(&device, &parameters, &mut workspace, seeds, gradients);
                network.take_losses(&device, &mut workspace);
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

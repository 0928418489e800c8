//! Whether an NVIDIA GPU computes what the processor does, and how fast:
//! `cargo bench --workspace --features hg2v/cuda --bench cuda [-- check [small] full time [NODES]]`.
//!
//! `check`: activations, losses, gradients and embeddings of many networks, with all negatives and
//! with some drawn, against `f64` on the processor, that the same work gives the same bits, that a graph has the same
//! vector alone and among others, that a run may move between devices; with `small`, without the
//! products whose kernels in cuBLAS compute-sanitizer's racecheck fails on. `full`: what a full
//! memory says (apart, since compute-sanitizer counts it as a failure). `time`: whole steps,
//! batches put together and losses read included; "asking" is the processor's part of
//! them, while the GPU works already. Ends with 1 where something fails; without a GPU
//! it says so and ends with 0. `gpu.py` runs it beside PyTorch.

// A bench prints what it measured.
#![allow(clippy::print_stdout)]

mod shapes;

use std::process::ExitCode;
use std::time::Instant;

use hg2v::context::Precision;
use hg2v::internals::{
    Batch, Cpu, Cuda, Device, Draw, Keep, Layout, Network, Panel, PanelMut, Relations, Seeds,
    State, Trainer, Window, Workspace, initial,
};
use hg2v::model::{Activation, Architecture, Example, LayerKind, Readout, Relational};
use hg2v::progress::Flow;
use hg2v::train::{Loss, Negatives, Recipe};
use hg2v_math::Real;

use shapes::{flops, graphs, network, numbers};

/// How far a result may be from the processor's, relative to its size.
const CLOSE: f64 = 1e-4;

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).filter(|word| word != "--bench").collect();
    let wants = |word: &str| words.is_empty() || words.iter().any(|given| given == word);
    let started = Instant::now();
    let gpu = match Cuda::open(0, Precision::F32) {
        Ok(gpu) => gpu,
        Err(error) => {
            println!("nothing checked: {error}");
            return ExitCode::SUCCESS;
        }
    };
    println!("{}, opened in {:.2} s", gpu.describe(), started.elapsed().as_secs_f64());
    let mut fine = true;
    if wants("check") {
        let mut networks = networks();
        if words.iter().any(|word| word == "small") {
            networks.pop();
        } else {
            fine &= check_precisions(networks.last().unwrap());
        }
        fine &= check_networks(&gpu, &networks);
        fine &= check_signed_log(&gpu);
        fine &= check_store(&gpu, &networks[1]);
        fine &= check_steady(&gpu, &networks);
        fine &= check_training(&gpu, &networks[0]);
    }
    if wants("time") {
        let nodes: Vec<usize> = words.iter().filter_map(|word| word.parse().ok()).collect();
        time_steps(&nodes);
    }
    if wants("full") {
        // Last, since a GPU does nothing after a failure.
        fine &= check_failure(&gpu);
    }
    println!("{}", if fine { "all as it should be" } else { "FAILED" });
    if fine { ExitCode::SUCCESS } else { ExitCode::FAILURE }
}

/// What one pass gives, in parts that have a name.
type Parts = Vec<(String, Vec<f64>)>;

/// Forward, backward from the pairs and from the embeddings, and all that they left.
fn pass<D: Device>(
    device: &D,
    network: &Network,
    (pairs, draw): ((Loss, Negatives), Draw),
    batch: &Batch,
    features: &[f32],
) -> Parts {
    let cast = |values: &[f32]| -> Vec<D::Real> {
        values.iter().map(|&value| D::Real::from_f64(value.into())).collect()
    };
    let layout = &network.layout;
    let all = Window::whole(0, 1, layout.len);
    let mut parameters = device.zeros(layout.len);
    device.upload(&[&cast(&initial(layout, 7))], PanelMut(&mut parameters, all));
    let mut gradients = device.zeros(layout.len);
    let mut workspace = Workspace::new(device);
    let levels = layout.architecture.levels;
    let de = cast(&numbers(batch.num_graphs() * layout.embedding_dim()));
    network.place_pieces(device, &mut workspace, &[batch], &[&cast(features)]);
    network.forward(device, &parameters, &mut workspace, Keep::Everything, true);
    let seeds = Seeds { pairs: Some(pairs), draw, embeddings: Some(&de[..]), features: true };
    network.backward(device, &parameters, &mut workspace, seeds, &mut gradients);
    let losses = network.take_losses(device, &mut workspace);
    let gradients = device.download(Panel(&gradients, all));
    let wide = |values: &[D::Real]| values.iter().map(|value| value.to_f64()).collect();
    let mut parts = vec![
        ("losses".to_owned(), losses.iter().flat_map(|l| [l.positive, l.negative]).collect()),
        ("embeddings".to_owned(), wide(&network.embeddings(device, &workspace))),
        ("d features".to_owned(), wide(&network.feature_gradients(device, &workspace))),
    ];
    for level in 0..levels {
        parts.push((format!("g{level}"), wide(&network.nodes(device, &workspace, level))));
        parts.push((format!("x{level}"), wide(&network.neighborhoods(device, &workspace, level))));
    }
    for (name, window) in layout.tensors() {
        let rows = (0..window.rows).flat_map(|row| {
            let start = window.offset + row * window.stride;
            gradients[start..start + window.columns].iter().map(|value| value.to_f64())
        });
        parts.push((format!("d {name}"), rows.collect()));
    }
    parts
}

/// `‖a − b‖ / ‖b‖`; NaN where either is not a number.
fn distance(a: &[f64], b: &[f64]) -> f64 {
    let norm = |values: &mut dyn Iterator<Item = f64>| values.map(|v| v * v).sum::<f64>().sqrt();
    let size = norm(&mut b.iter().copied());
    let apart = norm(&mut a.iter().zip(b).map(|(a, b)| a - b));
    if size == 0.0 { apart } else { apart / size }
}

fn networks() -> Vec<(Network, usize)> {
    let plain = Architecture::default().dim(24).hops(3).levels(3);
    let all = vec![Readout::Mean, Readout::Max, Readout::Sum];
    let input = Some(Activation::Tanh);
    let variants = [
        (plain.clone(), 5),
        (plain.clone().dim(33).bias(true).readout(all.clone()).log(true), 7),
        (plain.clone().input(Some(Activation::Relu)).finest(true), 9),
        (plain.clone().input(input).layer(LayerKind::Gcn).local(true).log(true), 3),
        (plain.clone().input(Some(Activation::Linear)).readout(all), 64),
        (plain.clone().layer(LayerKind::Gcn).dim(130).local(true).finest(true), 130),
        (plain.clone().relations(Relational::Always).finest(true), 11),
        (plain.clone().relations(Relational::Always).layer(LayerKind::Gcn).input(input), 6),
        // Wide enough for products in parts.
        (plain.dim(256).hops(4), 256),
    ];
    let layout = |(a, features): (Architecture, usize)| {
        let relations = if a.relations == Relational::Always { RELATIONS } else { 0 };
        (Network { layout: Layout::related(&a, features, relations).unwrap() }, features)
    };
    variants.into_iter().map(layout).collect()
}

const RELATIONS: usize = 4;

/// The batch with relations, where the network has some: two kinds of edges, each out and in.
fn related(mut batch: Batch, network: &Network) -> Batch {
    let mut relations = Relations { count: RELATIONS, paired: true, ..Relations::default() };
    relations.offsets.push(0);
    let level = &batch.levels[0];
    for (u, ends) in level.offsets.windows(2).enumerate() {
        for entry in ends[0]..ends[1] {
            let (v, value) = (level.targets[entry] as usize, level.values[entry]);
            if v != u {
                relations.targets.push(v as u32);
                relations.kinds.push((2 * ((u + v) % 2) + usize::from(u > v)) as u32);
                relations.values.push(value);
            }
        }
        relations.offsets.push(relations.targets.len());
    }
    if network.layout.num_relations() > 0 {
        batch.relations = relations;
    }
    batch
}

fn check_networks(gpu: &Cuda, networks: &[(Network, usize)]) -> bool {
    let exact = Cpu::<f64>::new();
    let mut fine = true;
    let (mut worst, mut of, mut count) = (0.0, String::new(), 0);
    let losses = [Loss::Jsd, Loss::InfoNce, Loss::Cosine { temperature: 0.2 }];
    for &(ref network, features) in networks {
        for nodes in [8, 200, 1104] {
            let batch = related(Batch::concat(&graphs(nodes, nodes)), network);
            let z = numbers(nodes * features);
            for (loss, negatives) in losses
                .into_iter()
                .flat_map(|loss| [(loss, Negatives::All), (loss, Negatives::Others)])
            {
                // Some super-nodes are drawn where there are more than eight times as many.
                for sample in [0, 21] {
                    let draw = Draw { sample, seed: 7, step: nodes as u64 };
                    let pairs = ((loss, negatives), draw);
                    let ours = pass(gpu, network, pairs, &batch, &z);
                    let again = pass(gpu, network, pairs, &batch, &z);
                    let expected = pass(&exact, network, pairs, &batch, &z);
                    for (((name, ours), (_, again)), (_, expected)) in
                        ours.iter().zip(&again).zip(&expected)
                    {
                        let apart = distance(ours, expected);
                        let what = format!(
                            "{name}, {nodes} nodes, {features} features, {loss:?} {negatives:?}, \
                         {sample} drawn"
                        );
                        let close = apart <= CLOSE;
                        if ours.len() != expected.len() || !close {
                            println!("{what}: {apart:.1e} from the processor");
                            fine = false;
                        }
                        let bits = |values: &[f64]| -> Vec<u64> {
                            values.iter().map(|value| value.to_bits()).collect()
                        };
                        if bits(ours) != bits(again) {
                            println!("{what}: other bits the second time");
                            fine = false;
                        }
                        if apart > worst {
                            (worst, of) = (apart, what);
                        }
                        count += 1;
                    }
                }
            }
        }
    }
    fine &= healthy(gpu);
    println!("{count} results against f64; the furthest is {worst:.1e} away: {of}");
    fine
}

/// Fewer bits are fewer: each precision is as far from `f64` as its digits say.
fn check_precisions((network, features): &(Network, usize)) -> bool {
    let batch = Batch::concat(&graphs(1104, 0));
    let z = numbers(1104 * features);
    let pairs = ((Loss::Jsd, Negatives::All), Draw::default());
    let exact = pass(&Cpu::<f64>::new(), network, pairs, &batch, &z);
    let mut fine = true;
    for (precision, least, most) in
        [(Precision::F32, 0.0, 1e-5), (Precision::Tf32, 1e-4, 3e-3), (Precision::Bf16, 3e-3, 3e-2)]
    {
        let gpu = Cuda::open(0, precision).unwrap();
        let found = pass(&gpu, network, pairs, &batch, &z);
        let of =
            |parts: &Parts| parts.iter().find(|part| part.0 == "embeddings").unwrap().1.clone();
        let apart = distance(&of(&found), &of(&exact));
        println!("embeddings in {precision:?} are {apart:.1e} from f64's");
        fine &= (least..most).contains(&apart) && healthy(&gpu);
    }
    fine
}

fn healthy(gpu: &Cuda) -> bool {
    gpu.health().inspect_err(|error| println!("{error}")).is_ok()
}

fn examples(nodes: usize, features: usize, batches: usize) -> Vec<Example> {
    let all: Vec<Batch> = (0..batches).flat_map(|which| graphs(nodes, which)).collect();
    let numbers = numbers(all.iter().map(|batch| batch.num_nodes(0) * features).sum());
    let mut rest = &numbers[..];
    all.into_iter()
        .map(|batch| {
            let (own, after) = rest.split_at(batch.num_nodes(0) * features);
            rest = after;
            Example { batch, features: own.to_vec() }
        })
        .collect()
}

fn parts(examples: &[Example]) -> Vec<(&Batch, &[f32])> {
    examples.iter().map(|example| (&example.batch, &example.features[..])).collect()
}

/// The signed logarithm of numbers of every size, in some columns of a matrix.
fn check_signed_log(gpu: &Cuda) -> bool {
    fn both<D: Device<Real = f32>>(device: &D) -> Vec<f32> {
        let numbers: [f32; 12] =
            [0.0, -0.0, 1e-30, -1e-30, 0.5, -0.5, 3.0, -3.0, 1e10, -1e10, f32::MAX, f32::MIN];
        let all = Window::whole(0, 3, 4);
        let some = all.columns(1, 3);
        let [mut e, mut y, mut d] = [(); 3].map(|()| device.zeros(all.len()));
        device.upload(&[&numbers], PanelMut(&mut e, all));
        device.upload(&[&[2.0; 12]], PanelMut(&mut d, all));
        device.signed_log(Panel(&e, some), PanelMut(&mut y, some));
        device.signed_log_vjp(Panel(&e, some), PanelMut(&mut d, some));
        [y, d].iter().flat_map(|buffer| device.download(Panel(buffer, all))).collect()
    }
    let close = |(ours, expected): (&f32, &f32)| (ours - expected).abs() <= 1e-6 * expected.abs();
    let fine = both(gpu).iter().zip(&both(&Cpu::<f32>::new())).all(close) && healthy(gpu);
    println!("signed logarithms are {}", if fine { "the same" } else { "OTHERS" });
    fine
}

/// A batch put together on the GPU is the one that is sent.
fn check_store(gpu: &Cuda, (network, features): &(Network, usize)) -> bool {
    let examples = examples(96, *features, 4);
    let store = gpu.store(&parts(&examples)).unwrap();
    let chosen = [29u32, 3, 3, 17, 0, 31];
    let embed = |stored: bool| {
        let mut workspace = Workspace::new(gpu);
        let mut parameters = gpu.zeros(network.layout.len);
        let all = Window::whole(0, 1, network.layout.len);
        gpu.upload(&[&initial(&network.layout, 7)], PanelMut(&mut parameters, all));
        if stored {
            network.place_stored(gpu, &mut workspace, &store, &chosen);
        } else {
            network.place(gpu, &mut workspace, chosen.iter().map(|&i| &examples[i as usize]));
        }
        let mut gradients = gpu.zeros(network.layout.len);
        let pairs = Some((Loss::Jsd, Negatives::Others));
        let draw = Draw { sample: 2, ..Draw::default() };
        network.forward(gpu, &parameters, &mut workspace, Keep::Everything, true);
        let seeds = Seeds { pairs, draw, ..Seeds::default() };
        network.backward(gpu, &parameters, &mut workspace, seeds, &mut gradients);
        let losses = network.take_losses(gpu, &mut workspace);
        (losses, network.embeddings(gpu, &workspace), gpu.download(Panel(&gradients, all)))
    };
    let fine = embed(true) == embed(false) && healthy(gpu);
    println!("a batch put together on the GPU is {}", if fine { "the same" } else { "ANOTHER" });
    fine
}

/// A graph has the same vector alone and among others.
fn check_steady(gpu: &Cuda, networks: &[(Network, usize)]) -> bool {
    let gpu = gpu.steady();
    let mut fine = true;
    for &(ref network, features) in networks {
        let mut examples = examples(1304, features, 2);
        for example in &mut examples {
            example.batch = related(std::mem::take(&mut example.batch), network);
        }
        let mut parameters = gpu.zeros(network.layout.len);
        let all = Window::whole(0, 1, network.layout.len);
        gpu.upload(&[&initial(&network.layout, 7)], PanelMut(&mut parameters, all));
        let embed = |examples: &[Example]| {
            let mut workspace = Workspace::new(&gpu);
            network.place(&gpu, &mut workspace, examples);
            network.forward(&gpu, &parameters, &mut workspace, Keep::OneLevel, true);
            network.embeddings(&gpu, &workspace)
        };
        let alone: Vec<f32> =
            examples.iter().flat_map(|example| embed(std::slice::from_ref(example))).collect();
        fine &= embed(&examples) == alone;
    }
    fine &= healthy(&gpu);
    println!("a graph among others has {} vector", if fine { "the same" } else { "ANOTHER" });
    fine
}

fn train<D: Device<Real = f32>>(
    device: &D,
    network: &Network,
    examples: &[Example],
    from: Option<&State>,
    until: u64,
) -> (State, Vec<f64>) {
    let recipe = Recipe::default().epochs(3).lr(1e-3).decay(10.0);
    let mut trainer = match from {
        None => Trainer::new(device, network, recipe).unwrap(),
        Some(state) => Trainer::resume(device, network, recipe, state).unwrap(),
    };
    let mut losses = Vec::new();
    let end = trainer.run(examples, |_, step| {
        losses.extend(step.losses.iter().map(|loss| loss.total()));
        Ok(if step.step + 1 == until { Flow::Stop } else { Flow::Continue })
    });
    if let Err(error) = end {
        println!("{error}");
    }
    (trainer.state(), losses)
}

/// Runs on both devices, a run that moves, and the same run twice.
fn check_training(gpu: &Cuda, (network, features): &(Network, usize)) -> bool {
    let examples = examples(160, *features, 5);
    let cpu = Cpu::<f32>::new();
    let in_use = || {
        gpu.wait();
        gpu.memory_in_use()
    };
    let (there, losses) = train(gpu, network, &examples, None, u64::MAX);
    let after_one = in_use();
    let (again, _) = train(gpu, network, &examples, None, u64::MAX);
    let (here, expected) = train(&cpu, network, &examples, None, u64::MAX);
    let (half, _) = train(gpu, network, &examples, None, 7);
    let (moved, _) = train(&cpu, network, &examples, Some(&half), u64::MAX);
    let (half, _) = train(gpu, network, &examples, None, 7);
    let (resumed, _) = train(gpu, network, &examples, Some(&half), u64::MAX);
    let wide = |values: &[f32]| -> Vec<f64> { values.iter().map(|&v| v.into()).collect() };
    let losses = distance(&losses, &expected);
    let apart = distance(&wide(&there.parameters), &wide(&here.parameters));
    let of_moved = distance(&wide(&moved.parameters), &wide(&here.parameters));
    println!(
        "15 steps end this far from the processor's: losses {losses:.1e}, parameters {apart:.1e}, \
         parameters of a run that moved there half-way {of_moved:.1e}"
    );
    let same = there == again && there == resumed;
    println!(
        "the same run twice, and stopped and resumed: {}",
        if same { "the same bits" } else { "OTHER BITS" }
    );
    let steady = in_use() == after_one;
    println!(
        "memory in use after five runs: {} after one",
        if steady { "as much as" } else { "NOT AS MUCH AS" }
    );
    losses <= CLOSE && apart <= 1e-2 && of_moved <= 1e-2 && same && steady && healthy(gpu)
}

/// More memory than there is.
fn check_failure(gpu: &Cuda) -> bool {
    let mut buffer = gpu.zeros(1);
    gpu.reserve(&mut buffer, 1 << 40);
    let window = Window::whole(0, 1, 4);
    gpu.upload(&[&[1.0; 4]], PanelMut(&mut buffer, window));
    let _ = gpu.download(Panel(&buffer, window));
    let said = gpu.health().map_err(|error| error.to_string());
    println!("a full memory says: {said:?}");
    said.is_err_and(|text| text.contains("memory is full"))
}

/// Steps of the shapes of the bench `step`, or of those with as many nodes as are
/// `wanted`; another batch every time.
fn time_steps(wanted: &[usize]) {
    println!(
        "{:>9} {:>6} {:>4} {:>10} {:>10} {:>10} {:>8} {:>8}",
        "products", "nodes", "dim", "median ms", "best ms", "asking ms", "TF/s", "MiB"
    );
    for precision in [Precision::F32, Precision::Tf32, Precision::Bf16] {
        for (nodes, dim) in [(240, 128), (1200, 256), (4000, 256)] {
            if !wanted.is_empty() && !wanted.contains(&nodes) {
                continue;
            }
            let gpu = match Cuda::open(0, precision) {
                Ok(gpu) => gpu,
                Err(error) => return println!("{error}"),
            };
            let before = gpu.memory_in_use();
            let network = network(dim);
            let examples = examples(nodes, dim, 16);
            let store = gpu.store(&parts(&examples)).unwrap();
            let mut buffers = [(); 4].map(|()| gpu.zeros(network.layout.len));
            let [parameters, gradients, m, v] = &mut buffers;
            let all = Window::whole(0, 1, network.layout.len);
            gpu.upload(&[&initial(&network.layout, 0)], PanelMut(parameters, all));
            let mut workspace = Workspace::new(&gpu);
            let pairs = Some((Loss::Jsd, Negatives::All));
            let seeds = Seeds { pairs, ..Seeds::default() };
            let (mut times, mut asking) = (Vec::new(), Vec::new());
            for step in 0..400u64 {
                let started = Instant::now();
                let first = (step as u32 % 16) * 8;
                let chosen: Vec<u32> = (first..first + 8).collect();
                network.place_stored(&gpu, &mut workspace, &store, &chosen);
                network.forward(&gpu, parameters, &mut workspace, Keep::Everything, false);
                network.backward(&gpu, parameters, &mut workspace, seeds, gradients);
                gpu.adam(1e-4, step + 1, parameters, gradients, m, v);
                let asked = started.elapsed().as_secs_f64();
                std::hint::black_box(network.take_losses(&gpu, &mut workspace));
                if step >= 100 {
                    times.push(started.elapsed().as_secs_f64());
                    asking.push(asked);
                }
            }
            times.sort_by(f64::total_cmp);
            asking.sort_by(f64::total_cmp);
            let (median, best) = (times[times.len() / 2], times[0]);
            let flops = flops(&Batch::concat(&graphs(nodes, 0)), dim);
            println!(
                "{:>9} {nodes:>6} {dim:>4} {:>10.3} {:>10.3} {:>10.3} {:>8.1} {:>8}",
                format!("{precision:?}"),
                1e3 * median,
                1e3 * best,
                1e3 * asking[asking.len() / 2],
                flops / median / 1e12,
                (gpu.memory_in_use() - before) >> 20,
            );
            if let Err(error) = gpu.health() {
                println!("{error}");
            }
        }
    }
}

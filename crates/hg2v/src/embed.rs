//! Vectors for graphs, many at a time.
//!
//! A graph's vector is the same bits whatever it is embedded beside, so graphs
//! are gathered into whatever batches are fast.

use rayon::prelude::*;

use crate::model::{Example, Keep, Network, Tape};
use crate::nn::{Batch, Cpu, crew};

/// Nodes gathered into one batch: enough rows that a product's preparation is
/// paid for, little enough that a batch stays in the caches.
const BATCH_NODES: usize = 512;

/// The vectors of `examples`, in their order: a row of
/// [`embedding_dim`](crate::model::Layout::embedding_dim) numbers for each.
pub fn graphs(network: &Network, parameters: &Vec<f32>, examples: &[Example]) -> Vec<f32> {
    let device = Cpu::<f32>::new();
    let begin = || (Tape::new(&device), Batch::default(), Vec::new());
    let embed = |(tape, batch, features): &mut (_, _, _), range| {
        place(network, &device, tape, batch, features, &examples[range]);
        network.forward(&device, parameters, tape, Keep::OneLevel, true);
        network.embeddings(&device, tape)
    };
    let batches = batches(examples);
    // A thread a batch where there are enough of them, else all threads for each.
    let rows: Vec<Vec<f32>> = if batches.len() < rayon::current_num_threads() {
        let mut memory = begin();
        batches.into_iter().map(|range| embed(&mut memory, range)).collect()
    } else {
        let alone = |memory: &mut _, range| crew::alone(|| embed(memory, range));
        batches.into_par_iter().map_init(begin, alone).collect()
    };
    rows.concat()
}

/// The vectors of every node of one graph: a row of [`node_dim`] numbers for each
/// node, what its super-nodes say included.
pub fn nodes(network: &Network, parameters: &Vec<f32>, example: &Example) -> Vec<f32> {
    let device = Cpu::<f32>::new();
    let mut tape = Tape::new(&device);
    let examples = std::slice::from_ref(example);
    place(network, &device, &mut tape, &mut Batch::default(), &mut Vec::new(), examples);
    network.forward(&device, parameters, &mut tape, Keep::Everything, false);
    let layout = &network.layout;
    let levels = layout.architecture.levels;
    let g: Vec<Vec<f32>> = (0..=levels).map(|l| network.nodes(&device, &tape, l)).collect();
    let x: Vec<Vec<f32>> = (0..levels).map(|l| network.neighborhoods(&device, &tape, l)).collect();
    let mut rows = Vec::with_capacity(example.num_nodes() * node_dim(network));
    for node in 0..example.num_nodes() {
        let mut above = vec![node];
        for level in &example.batch.levels {
            above.push(level.parent[above[above.len() - 1]] as usize);
        }
        for (level, g) in g.iter().enumerate() {
            let width = layout.width(level);
            rows.extend_from_slice(&g[above[level] * width..][..width]);
        }
        for (level, x) in x.iter().enumerate() {
            let width = layout.architecture.dim;
            rows.extend_from_slice(&x[above[level] * width..][..width]);
        }
    }
    rows
}

/// Numbers of a node's vector.
pub fn node_dim(network: &Network) -> usize {
    let layout = &network.layout;
    let levels = layout.architecture.levels;
    (0..=levels).map(|level| layout.width(level)).sum::<usize>() + levels * layout.architecture.dim
}

/// Runs of examples with some hundred nodes each.
fn batches(examples: &[Example]) -> Vec<std::ops::Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut nodes) = (0, 0);
    for (i, example) in examples.iter().enumerate() {
        nodes += example.num_nodes();
        if nodes >= BATCH_NODES {
            batches.push(start..i + 1);
            (start, nodes) = (i + 1, 0);
        }
    }
    if start < examples.len() {
        batches.push(start..examples.len());
    }
    batches
}

fn place(
    network: &Network,
    device: &Cpu<f32>,
    tape: &mut Tape<Cpu<f32>>,
    batch: &mut Batch,
    features: &mut Vec<f32>,
    examples: &[Example],
) {
    batch.concat_from(examples.iter().map(|example| &example.batch));
    features.clear();
    examples.iter().for_each(|example| features.extend_from_slice(&example.features));
    network.place(device, tape, batch, features);
}

//! Vectors for graphs, many at a time.
//!
//! A graph's vector is the same bits whatever it is embedded beside, so graphs
//! are gathered into whatever batches are fast.

use std::borrow::Borrow;
use std::ops::Range;

use hg2v_math::parallel::crew;
use rayon::prelude::*;

use crate::error::Result;
use crate::model::{Example, Keep, Network, Workspace};
use crate::nn::machine::Machine;
use crate::nn::{Cpu, Device};

/// Nodes gathered into one batch: enough rows that a product's preparation is
/// paid for, little enough that a batch stays in the caches.
const BATCH_NODES: usize = 512;

/// The same for a GPU, which has less to do at once with less.
#[cfg(feature = "cuda")]
const GPU_NODES: usize = 1 << 14;

/// The vectors of `examples`, in their order: a row of
/// [`embedding_dim`](crate::model::Layout::embedding_dim) numbers for each.
///
/// # Errors
/// A GPU that fails.
pub(crate) fn graphs(
    machine: &Machine,
    network: &Network,
    parameters: &Vec<f32>,
    examples: &[impl Borrow<Example> + Sync],
) -> Result<Vec<f32>> {
    match machine {
        Machine::Cpu => Ok(on_processor(network, parameters, examples)),
        #[cfg(feature = "cuda")]
        Machine::Cuda(gpu) => on_gpu(&gpu.steady(), network, parameters, examples),
    }
}

#[cfg(feature = "cuda")]
fn on_gpu(
    gpu: &crate::nn::cuda::Cuda,
    network: &Network,
    parameters: &[f32],
    examples: &[impl Borrow<Example>],
) -> Result<Vec<f32>> {
    let buffer = gpu.uploaded(parameters);
    let mut workspace = Workspace::new(gpu);
    let mut rows = Vec::with_capacity(examples.len() * network.layout.embedding_dim());
    for range in batches(examples, GPU_NODES) {
        network.place(gpu, &mut workspace, examples[range].iter().map(Borrow::borrow));
        network.forward(gpu, &buffer, &mut workspace, Keep::OneLevel, true);
        rows.extend(network.embeddings(gpu, &workspace));
        gpu.health()?;
    }
    Ok(rows)
}

fn on_processor(
    network: &Network,
    parameters: &Vec<f32>,
    examples: &[impl Borrow<Example> + Sync],
) -> Vec<f32> {
    let device = Cpu::<f32>::new();
    let begin = || Workspace::new(&device);
    let embed = |workspace: &mut Workspace<_>, range: Range<usize>| {
        network.place(&device, workspace, examples[range].iter().map(Borrow::borrow));
        network.forward(&device, parameters, workspace, Keep::OneLevel, true);
        network.embeddings(&device, workspace)
    };
    let batches = batches(examples, BATCH_NODES);
    // A thread a batch where there are enough of them, else all threads for each.
    let rows: Vec<Vec<f32>> = if batches.len() < rayon::current_num_threads() {
        let mut workspace = begin();
        batches.into_iter().map(|range| embed(&mut workspace, range)).collect()
    } else {
        let alone = |workspace: &mut _, range| crew::alone(|| embed(workspace, range));
        batches.into_par_iter().map_init(begin, alone).collect()
    };
    rows.concat()
}

/// The vectors of every node of one graph: a row of [`node_dim`] numbers for each
/// node, what its super-nodes say included.
///
/// # Errors
/// A GPU that fails.
pub(crate) fn nodes(
    machine: &Machine,
    network: &Network,
    parameters: &Vec<f32>,
    example: &Example,
) -> Result<Vec<f32>> {
    match machine {
        Machine::Cpu => Ok(nodes_by(&Cpu::<f32>::new(), network, parameters, example)),
        #[cfg(feature = "cuda")]
        Machine::Cuda(gpu) => {
            let gpu = gpu.steady();
            let rows = nodes_by(&gpu, network, &gpu.uploaded(parameters), example);
            gpu.health().map(|()| rows)
        }
    }
}

fn nodes_by<D: Device<Real = f32>>(
    device: &D,
    network: &Network,
    parameters: &D::Buffer,
    example: &Example,
) -> Vec<f32> {
    let mut workspace = Workspace::new(device);
    network.place(device, &mut workspace, [example]);
    network.forward(device, parameters, &mut workspace, Keep::Everything, false);
    let layout = &network.layout;
    let levels = layout.architecture.levels;
    let g: Vec<Vec<f32>> = (0..=levels).map(|l| network.nodes(device, &workspace, l)).collect();
    let x: Vec<Vec<f32>> =
        (0..levels).map(|l| network.neighborhoods(device, &workspace, l)).collect();
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
pub(crate) fn node_dim(network: &Network) -> usize {
    let layout = &network.layout;
    let levels = layout.architecture.levels;
    (0..=levels).map(|level| layout.width(level)).sum::<usize>() + levels * layout.architecture.dim
}

/// Runs of examples with `least` nodes each, or a little more.
fn batches(examples: &[impl Borrow<Example>], least: usize) -> Vec<Range<usize>> {
    let mut batches = Vec::new();
    let (mut start, mut nodes) = (0, 0);
    for (i, example) in examples.iter().enumerate() {
        nodes += example.borrow().num_nodes();
        if nodes >= least {
            batches.push(start..i + 1);
            (start, nodes) = (i + 1, 0);
        }
    }
    if start < examples.len() {
        batches.push(start..examples.len());
    }
    batches
}

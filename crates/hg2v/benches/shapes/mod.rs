//! What the benches of a training step run on.

use hg2v::coarsen::{Level, Pyramid};
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v::internals::{Batch, Layout, Network};
use hg2v::model::Architecture;

const GRAPHS: usize = 8;
const HOPS: usize = 4;
const LEVELS: usize = 3;

/// The network, for as many features as `dim`.
pub(crate) fn network(dim: usize) -> Network {
    let architecture = Architecture::default().dim(dim).hops(HOPS).levels(LEVELS);
    Network { layout: Layout::new(&architecture, dim).unwrap() }
}

/// What a step multiplies and adds: the three products of every layer (two on the
/// finest level, whose features need no gradient) and of every pair loss.
pub(crate) fn flops(batch: &Batch, dim: usize) -> f64 {
    (0..LEVELS)
        .map(|level| {
            let (n, m) = (batch.num_nodes(level) as f64, batch.num_nodes(level + 1) as f64);
            let d = dim as f64;
            let krylov = n * (HOPS + 1) as f64 * d * 2.0 * d * if level == 0 { 2.0 } else { 3.0 };
            2.0 * (krylov + 3.0 * m * d * d + 3.0 * n * m * d)
        })
        .sum()
}

/// A batch of trees with some more edges, node `2i` and `2i + 1` one node of the next
/// level; another batch for another `which`.
pub(crate) fn graphs(nodes: usize, which: usize) -> Vec<Batch> {
    let graph = |graph: usize| {
        let graph = graph + GRAPHS * which;
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
    };
    (0..GRAPHS).map(graph).collect()
}

fn graph_of(n: usize, edges: &[[u32; 2]]) -> Graph {
    let record =
        GraphRecord { num_nodes: n as u32, edges: edges.to_vec(), ..GraphRecord::default() };
    Graph::from_record(&record, WeightPolicy::Use).unwrap().0
}

pub(crate) fn numbers(n: usize) -> Vec<f32> {
    (0..n as u64)
        .map(|i| (i.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40) as f32 / 8_388_608.0 - 1.0)
        .collect()
}

//! Contracting pairs: a greedy matching of the edges that tie their ends closest.

use hg2v_math::rng;
use rayon::prelude::*;

use super::basis::Basis;
use super::contract::Sets;
use super::{CoarsenMethod, Params, variation};
use crate::graph::Graph;

/// Jacobi sweeps before algebraic distances are taken.
const JACOBI_SWEEPS: usize = 20;

/// Takes the closest edge whose ends are both free, again and again, until a
/// fraction `reduction` of the nodes is gone. Ties go to the heavier edge, then to
/// the smaller node numbers.
pub(crate) fn matching(
    graph: &Graph,
    basis: &Basis,
    reduction: f64,
    params: &Params,
    draw: u64,
    level: usize,
) -> Sets {
    let n = graph.num_nodes();
    // How far apart the ends of each edge are, by ascending (u, v).
    let distances = match params.method {
        CoarsenMethod::HeavyEdge => heavy_edge(graph),
        CoarsenMethod::AlgebraicJc => {
            algebraic_distance(graph, test_vectors(graph, params, draw, level), params.k)
        }
        CoarsenMethod::AffinityGs => {
            affinity(graph, test_vectors(graph, params, draw, level), params.k)
        }
        _ => variation::edge_costs(graph, basis),
    };
    let mut order: Vec<(f64, f32, u32, u32)> = graph
        .edges()
        .zip(distances)
        .map(|((u, v, weight), distance)| (distance, -weight, u, v))
        .collect();
    order.par_sort_unstable_by(|a, b| {
        a.0.total_cmp(&b.0).then(a.1.total_cmp(&b.1)).then((a.2, a.3).cmp(&(b.2, b.3)))
    });
    let mut free = vec![true; n];
    let mut left = n as f64;
    let target = (1.0 - reduction) * left;
    let mut sets = Sets::default();
    for (_, _, u, v) in order {
        if free[u as usize] && free[v as usize] {
            free[u as usize] = false;
            free[v as usize] = false;
            sets.push(&[u, v]);
            left -= 1.0;
            if left <= target {
                break;
            }
        }
    }
    sets
}

/// Heavy edges are close: `−w_uv / max(heaviest at u, heaviest at v)`.
fn heavy_edge(graph: &Graph) -> Vec<f64> {
    let heaviest: Vec<f32> = (0..graph.num_nodes())
        .map(|node| graph.weights(node).iter().copied().fold(0.0, f32::max))
        .collect();
    graph
        .edges()
        .map(|(u, v, weight)| {
            -f64::from(weight) / f64::from(heaviest[u as usize].max(heaviest[v as usize]))
        })
        .collect()
}

/// Test vectors: `k` random ones, a row for each node.
fn test_vectors(graph: &Graph, params: &Params, draw: u64, level: usize) -> Vec<f64> {
    let mut stream = rng::stream(params.seed, "coarsening test vectors", draw, level as u64);
    // Uniform on [-1, 1): what relaxation leaves of them is all that counts.
    (0..graph.num_nodes() * params.k).map(|_| 2.0 * rng::unit(&mut stream) - 1.0).collect()
}

/// The weighted mean of vector `c` over the neighbours of `node`; an isolated
/// node has none.
fn neighbor_mean(graph: &Graph, x: &[f64], k: usize, node: usize, c: usize) -> Option<f64> {
    let row = graph.neighbors(node).iter().zip(graph.weights(node));
    let sum: f64 = row.map(|(&v, &w)| f64::from(w) * x[v as usize * k + c]).sum();
    let strength = graph.strength(node);
    (strength > 0.0).then(|| sum / strength)
}

/// Algebraic distance: how much the ends still differ, in the worst of `k` test
/// vectors, after relaxation by `x ← (x + D⁻¹Wx)/2`.
fn algebraic_distance(graph: &Graph, mut x: Vec<f64>, k: usize) -> Vec<f64> {
    let mut next = x.clone();
    for _ in 0..JACOBI_SWEEPS {
        next.par_chunks_mut(k).enumerate().with_min_len(512).for_each(|(node, next)| {
            for c in 0..k {
                if let Some(mean) = neighbor_mean(graph, &x, k, node, c) {
                    next[c] = 0.5 * (x[node * k + c] + mean);
                }
            }
        });
        std::mem::swap(&mut x, &mut next);
    }
    let row = |node: u32| &x[node as usize * k..(node as usize + 1) * k];
    let farthest = |(u, v, _): (u32, u32, f32)| {
        row(u).iter().zip(row(v)).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
    };
    graph.edges().map(farthest).collect()
}

/// Affinity `c_uv = (x_u·x_v)² / ((x_u·x_u)(x_v·x_v))` after one Gauss–Seidel sweep
/// on `L·x = 0`, relative to the best affinity of either end; large is close.
fn affinity(graph: &Graph, mut x: Vec<f64>, k: usize) -> Vec<f64> {
    for node in 0..graph.num_nodes() {
        for c in 0..k {
            if let Some(mean) = neighbor_mean(graph, &x, k, node, c) {
                x[node * k + c] = mean;
            }
        }
    }
    let row = |node: u32| &x[node as usize * k..(node as usize + 1) * k];
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(x, y)| x * y).sum::<f64>();
    let affinities: Vec<f64> = graph
        .edges()
        .map(|(u, v, _)| {
            let (u, v) = (row(u), row(v));
            let scale = dot(u, u) * dot(v, v);
            if scale > 0.0 { dot(u, v).powi(2) / scale } else { 0.0 }
        })
        .collect();
    let mut best = vec![0.0f64; graph.num_nodes()];
    for ((u, v, _), &affinity) in graph.edges().zip(&affinities) {
        best[u as usize] = best[u as usize].max(affinity);
        best[v as usize] = best[v as usize].max(affinity);
    }
    let relative = |((u, v, _), affinity): ((u32, u32, f32), f64)| {
        let scale = best[u as usize] * best[v as usize];
        if scale > 0.0 { -affinity / scale } else { 0.0 }
    };
    graph.edges().zip(affinities.iter().copied()).map(relative).collect()
}

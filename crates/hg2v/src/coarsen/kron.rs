//! Kron reduction: half the nodes stay, the others are eliminated.
//!
//! The nodes kept are those where the Laplacian's largest eigenvector is largest
//! (two neighbours tend to differ there, so every second node stays). The coarse
//! Laplacian is the Schur complement `L_kk − L_ke·L_ee⁻¹·L_ek`: a node is removed
//! by joining its neighbours pairwise with weights `w_vu·w_vu' / d_v`.

use std::collections::BTreeMap;

use hg2v_math::linalg::vector::{axpy, dot, normalize, start_value};

use super::Level;
use crate::error::{Error, Result};
use crate::graph::{Components, Graph};
use crate::group::Groups;

/// The most edges that eliminations may make: the Schur complement of a large
/// graph is dense, and a dense matrix is not what it was reduced for.
const MOST_UPDATES: usize = 200_000_000;

/// Weights below this, relative to the largest at either end, are dropped.
const NEGLIGIBLE: f64 = 1e-10;

/// Keeps the larger of half the nodes and a fraction `1 − reduction`, in each component.
///
/// An eliminated node is assigned to the kept node it leans on most: the one with
/// the largest share in the harmonic extension that the elimination computes.
///
/// # Errors
/// When the eliminations fill the graph beyond what can be held.
pub(crate) fn reduce(graph: &Graph, reduction: f64) -> Result<Level> {
    let n = graph.num_nodes();
    let kept = choose(graph, reduction);
    let mut rows: Vec<BTreeMap<u32, f64>> = (0..n)
        .map(|node| {
            let weights = graph.weights(node).iter().map(|&w| f64::from(w));
            graph.neighbors(node).iter().copied().zip(weights).collect()
        })
        .collect();
    // Least degree first, as it stands now: exact minimum degree would cost
    // more than the fill it saves here.
    let mut order: Vec<u32> = (0..n as u32).filter(|&v| !kept[v as usize]).collect();
    order.sort_by_key(|&node| graph.degree(node as usize));
    let mut updates = 0usize;
    // What each eliminated node saw when it was removed, for the assignment.
    let mut leaned: Vec<(u32, Vec<(u32, f64)>)> = Vec::with_capacity(order.len());
    for &node in &order {
        let row: Vec<(u32, f64)> = std::mem::take(&mut rows[node as usize]).into_iter().collect();
        let strength: f64 = row.iter().map(|&(_, weight)| weight).sum();
        updates += row.len() * row.len();
        if updates > MOST_UPDATES {
            return Err(Error::parameter(
                "coarsening",
                "kron",
                "reducing this graph makes it dense; use variation-neighborhoods",
            ));
        }
        for (i, &(u, weight)) in row.iter().enumerate() {
            rows[u as usize].remove(&node);
            for &(v, other) in &row[..i] {
                let added = weight * other / strength;
                *rows[u as usize].entry(v).or_insert(0.0) += added;
                *rows[v as usize].entry(u).or_insert(0.0) += added;
            }
        }
        leaned.push((node, row));
    }
    Ok(Level { assignment: assign(n, &kept, &leaned), graph: remaining(&kept, &rows) })
}

/// Which nodes stay.
fn choose(graph: &Graph, reduction: f64) -> Vec<bool> {
    let parts = Components::of(graph);
    let members = Groups::new(parts.count(), parts.of_node());
    let vector = largest_eigenvectors(graph, parts.of_node(), parts.count());
    let mut kept = vec![false; graph.num_nodes()];
    for component in 0..parts.count() {
        let mut nodes = members.of(component).to_vec();
        let sign = vector[nodes[0] as usize];
        let height = |node: u32| vector[node as usize] * sign.signum();
        nodes.sort_by(|&a, &b| height(b).total_cmp(&height(a)).then(a.cmp(&b)));
        let size = nodes.len();
        let target = ((1.0 - reduction) * size as f64).ceil() as usize;
        for &node in &nodes[..target.max(size / 2).max(1).min(size)] {
            kept[node as usize] = true;
        }
    }
    kept
}

/// The eigenvector of the largest Laplacian eigenvalue, within each component, by
/// power steps accelerated as Lanczos does; its order is needed, not its digits.
fn largest_eigenvectors(graph: &Graph, component: &[u32], count: usize) -> Vec<f64> {
    const STEPS: usize = 60;
    let n = graph.num_nodes();
    let apply = |x: &[f64]| -> Vec<f64> {
        (0..n)
            .map(|node| {
                let row = graph.neighbors(node).iter().zip(graph.weights(node));
                row.map(|(&v, &w)| f64::from(w) * (x[node] - x[v as usize])).sum()
            })
            .collect()
    };
    let mut x: Vec<f64> = (0..n as u64).map(start_value).collect();
    if count > 1 {
        // Components mix in one Krylov space; plain power steps keep them apart.
        for _ in 0..4 * STEPS {
            x = apply(&x);
            let mut norms = vec![0.0f64; count];
            for (value, &c) in x.iter().zip(component) {
                norms[c as usize] = norms[c as usize].max(value.abs());
            }
            for (value, &c) in x.iter_mut().zip(component) {
                *value = if norms[c as usize] > 0.0 { *value / norms[c as usize] } else { 1.0 };
            }
        }
        return x;
    }
    normalize(&mut x);
    let mut basis: Vec<Vec<f64>> = Vec::new();
    let (mut alphas, mut betas) = (Vec::new(), Vec::new());
    for _ in 0..STEPS.min(n) {
        let mut next = apply(&x);
        alphas.push(dot(&next, &x));
        basis.push(x);
        for _ in 0..2 {
            for vector in &basis {
                let along = dot(vector, &next);
                axpy(-along, vector, &mut next);
            }
        }
        let beta = normalize(&mut next);
        if beta <= 1e-12 {
            break;
        }
        betas.push(beta);
        x = next;
    }
    let steps = alphas.len();
    betas.truncate(steps - 1);
    let mut z: Vec<f64> =
        (0..steps * steps).map(|i| f64::from(u8::from(i / steps == i % steps))).collect();
    hg2v_math::linalg::tridiagonal::eigen(&mut alphas, &mut betas, &mut z, steps);
    let mut vector = vec![0.0; n];
    for (weight, basis) in z[(steps - 1) * steps..].iter().zip(&basis) {
        axpy(*weight, basis, &mut vector);
    }
    vector
}

/// The kept node of each node, numbered by position among the kept.
///
/// The harmonic extension of a kept node's indicator is followed backwards
/// through the eliminations; only the largest share is carried on.
fn assign(n: usize, kept: &[bool], leaned: &[(u32, Vec<(u32, f64)>)]) -> Vec<u32> {
    let mut number = vec![0; n];
    let mut count = 0;
    for node in 0..n {
        if kept[node] {
            number[node] = count;
            count += 1;
        }
    }
    // The last eliminated leaned on kept nodes only, so its choice is known first.
    for (node, row) in leaned.iter().rev() {
        let mut shares: BTreeMap<u32, f64> = BTreeMap::new();
        for &(other, weight) in row {
            *shares.entry(number[other as usize]).or_insert(0.0) += weight;
        }
        let best = shares.iter().max_by(|a, b| a.1.total_cmp(b.1).then(b.0.cmp(a.0)));
        number[*node as usize] = best.map_or(0, |(&kept, _)| kept);
    }
    number
}

/// The graph among the kept nodes.
fn remaining(kept: &[bool], rows: &[BTreeMap<u32, f64>]) -> Graph {
    let mut number = vec![0u32; kept.len()];
    let mut count = 0;
    for node in 0..kept.len() {
        if kept[node] {
            number[node] = count;
            count += 1;
        }
    }
    let largest: Vec<f64> =
        rows.iter().map(|row| row.values().copied().fold(0.0, f64::max)).collect();
    let mut edges = Vec::new();
    for (u, row) in rows.iter().enumerate().filter(|&(u, _)| kept[u]) {
        for (&v, &weight) in row.range(u as u32 + 1..) {
            // What is too little for 32 bits is nothing.
            let rounded = (weight as f32).min(f32::MAX);
            if weight > NEGLIGIBLE * largest[u].max(largest[v as usize]) && rounded > 0.0 {
                edges.push((number[u], number[v as usize], rounded));
            }
        }
    }
    Graph::from_sorted_edges(count as usize, &edges)
}

//! Our eigenpairs beside those of faer, on random Laplacians and on degenerate ones.

use faer::{Mat, Side};
use hg2v_math::linalg::vector::{dot, start_value};
use hg2v_math::linalg::{dense, tridiagonal};

use super::ldl::Factor;
use super::{Operator, lanczos, lobpcg};
use crate::graph::Graph;

type Edges = Vec<(u32, u32, f32)>;

/// A random tree with some edges more, a ring, a star and a square grid: of the last three, most
/// eigenvalues have several vectors.
fn graphs(n: u32) -> Vec<Graph> {
    let draw = |i: u32| 0.5 * (start_value(i.into()) + 1.0);
    let tree = (1..n).map(|v| ((draw(v) * f64::from(v)) as u32 % v, v));
    let more = (2..n).step_by(3).map(|v| ((draw(n + v) * f64::from(v)) as u32 % v, v));
    let weigh = |(i, (u, v)): (usize, (u32, u32))| (u, v, 0.5 + draw(3 * n + i as u32) as f32);
    let random: Edges = tree.chain(more).enumerate().map(weigh).collect();
    let ring = (0..n).map(|v| (v.min((v + 1) % n), v.max((v + 1) % n), 1.0)).collect();
    let star = (1..n).map(|v| (0, v, 1.0)).collect();
    let side = n.isqrt();
    let right = (0..side * side).filter(|v| v % side + 1 < side).map(|v| (v, v + 1, 1.0));
    let grid = right.chain((0..side * (side - 1)).map(|v| (v, v + side, 1.0))).collect();
    let graph = |(n, mut edges): (u32, Edges)| {
        edges.sort_unstable_by_key(|edge| (edge.0, edge.1));
        edges.dedup_by_key(|edge| (edge.0, edge.1));
        Graph::from_sorted_edges(n as usize, &edges)
    };
    [(n, random), (n, ring), (n, star), (side * side, grid)].map(graph).into()
}

fn matrix(operator: &Operator) -> Mat<f64> {
    let n = operator.len();
    let mut matrix = Mat::zeros(n, n);
    for node in 0..n {
        operator.row(node).for_each(|(target, entry)| matrix[(node, target)] = -entry);
        matrix[(node, node)] = operator.diagonal[node];
    }
    matrix
}

/// Whether these are eigenvalues of `matrix` from number `first` on, and the vectors, one after
/// the other, a basis within the spaces of their eigenvalues. Where residuals are at most `residual`
/// of their values, the part of a vector outside a space is at most the residual over the gap
/// (Davis & Kahan).
fn assert_pairs(
    matrix: &Mat<f64>,
    first: usize,
    values: &[f64],
    vectors: &[f64],
    (close, residual): (f64, f64),
) {
    let n = matrix.nrows();
    let theirs = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    let (s, u) = (theirs.S(), theirs.U());
    let scale = s[n - 1];
    let vectors: Vec<&[f64]> = vectors.chunks_exact(n).take(values.len()).collect();
    assert_eq!(vectors.len(), values.len());
    for (i, (&value, vector)) in values.iter().zip(&vectors).enumerate() {
        let near = close * scale + residual * value;
        assert!((value - s[first + i]).abs() < near, "{i}: {value} {}", s[first + i]);
        let gap = (100.0 * close * scale).max(10.0 * residual * value);
        let same = (0..n).filter(|&j| (s[j] - value).abs() < gap);
        let along = |j: usize| (0..n).map(|k| u[(k, j)] * vector[k]).sum::<f64>();
        let share: f64 = same.map(|j| along(j).powi(2)).sum();
        let outside = (residual * value / gap).powi(2);
        assert!((share - 1.0).abs() < 1e-6 + outside, "{i}: {share} of {value} lies in its space");
        for (j, other) in vectors.iter().enumerate().take(i) {
            assert!(dot(vector, other).abs() < 1e-6, "{j} and {i} are not orthogonal");
        }
    }
}

#[test]
fn dense_pairs_are_those_of_faer() {
    for graph in graphs(36) {
        let matrix = matrix(&Operator::laplacian(&graph, None));
        let n = matrix.nrows();
        let mut copy: Vec<f64> = (0..n * n).map(|at| matrix[(at / n, at % n)]).collect();
        let (values, vectors) = dense::symmetric_eigen(&mut copy, n, n).unwrap();
        assert_pairs(&matrix, 0, &values[..n], &vectors, (1e-12, 0.0));
    }
}

#[test]
fn tridiagonal_pairs_are_those_of_faer() {
    let n = 50;
    let d: Vec<f64> = (0..n as u64).map(start_value).collect();
    let e: Vec<f64> = (0..n as u64 - 1).map(|i| 0.6 + 0.5 * start_value(900 + i)).collect();
    let mut matrix = Mat::zeros(n, n);
    for i in 0..n {
        matrix[(i, i)] = d[i];
        if i + 1 < n {
            (matrix[(i, i + 1)], matrix[(i + 1, i)]) = (e[i], e[i]);
        }
    }
    let theirs = matrix.self_adjoint_eigen(Side::Lower).unwrap();
    let values: Vec<f64> = (0..n).map(|i| theirs.S()[i]).collect();
    let vectors = tridiagonal::eigenvectors(&d, &e, &values).unwrap();
    assert_pairs(&matrix, 0, &values, &vectors, (1e-12, 0.0));
}

#[test]
fn lanczos_pairs_are_those_of_faer() {
    for graph in graphs(196) {
        let operator = Operator::laplacian(&graph, None);
        let n = operator.len();
        let factor = Factor::new(&operator, 1 << 24).unwrap();
        let (values, ordered) = lanczos::smallest(&factor, 8).unwrap();
        let mut vectors = vec![0.0; ordered.len()];
        for (vector, ordered) in vectors.chunks_exact_mut(n).zip(ordered.chunks_exact(n)) {
            let nodes = factor.order().iter().zip(ordered);
            nodes.for_each(|(&node, &value)| vector[node as usize] = value);
        }
        assert_pairs(&matrix(&operator), 1, &values, &vectors, (1e-9, 0.0));
    }
}

#[test]
fn lobpcg_pairs_are_those_of_faer() {
    // Not the star, of which it takes the null vector for a pair: trees have a cheap factor, and
    // never get here.
    for graph in graphs(196).into_iter().filter(|graph| graph.degree(0) < 195) {
        let operator = Operator::laplacian(&graph, None);
        let found = lobpcg::smallest(&operator, 8);
        assert!(found.converged);
        assert_pairs(
            &matrix(&operator),
            1,
            &found.values,
            &found.vectors,
            (1e-9, lobpcg::TOLERANCE),
        );
    }
}

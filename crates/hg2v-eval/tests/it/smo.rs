//! The two-class machine by its definition.

use hg2v_eval::Matrix;
use hg2v_eval::svm::smo::solve;
use hg2v_eval::svm::{Gamma, Gram, Kernel, Svc, SvcParams};
use proptest::prelude::*;

use crate::common::planted;

/// `X·Xᵀ + ridge·I` of arbitrary vectors: positive definite for a ridge above 0.
fn kernel(points: &[[i8; 3]], ridge: f64) -> Matrix {
    let n = points.len();
    let mut values = Vec::new();
    for (i, j) in (0..n).flat_map(|i| (0..n).map(move |j| (i, j))) {
        let product: i32 = (0..3).map(|d| i32::from(points[i][d]) * i32::from(points[j][d])).sum();
        values.push(f64::from(product) / 4.0 + if i == j { ridge } else { 0.0 });
    }
    Matrix::new(n, n, values).unwrap()
}

fn sign(row: usize, positives: usize) -> f64 {
    if row < positives { 1.0 } else { -1.0 }
}

/// `½·βᵀKβ − Σ|β|`
fn objective(kernel: &Matrix, beta: &[f64]) -> f64 {
    let n = beta.len();
    let quadratic: f64 =
        (0..n).map(|i| (0..n).map(|j| beta[i] * kernel.row(i)[j] * beta[j]).sum::<f64>()).sum();
    quadratic / 2.0 - beta.iter().map(|b| b.abs()).sum::<f64>()
}

/// Tries every choice of which α are 0, which are C and which lie between.
fn brute_force(kernel: &Matrix, positives: usize, c: f64) -> f64 {
    let n = kernel.rows();
    let mut least = f64::INFINITY;
    for code in 0..3usize.pow(n as u32) {
        let state = |row: usize| code / 3usize.pow(row as u32) % 3;
        let mut beta: Vec<f64> = (0..n)
            .map(|row| if state(row) == 1 { c * sign(row, positives) } else { 0.0 })
            .collect();
        let free: Vec<usize> = (0..n).filter(|&row| state(row) == 2).collect();
        // Between bounds (K·β)_i − ρ = y_i, and Σ β = 0.
        let size = free.len() + 1;
        let mut a = vec![vec![0.0; size + 1]; size];
        for (at, &i) in free.iter().enumerate() {
            for (to, &j) in free.iter().enumerate() {
                a[at][to] = kernel.row(i)[j];
            }
            a[at][size - 1] = -1.0;
            let fixed: f64 = (0..n).map(|j| kernel.row(i)[j] * beta[j]).sum();
            a[at][size] = sign(i, positives) - fixed;
            a[size - 1][at] = 1.0;
        }
        let sum: f64 = beta.iter().sum();
        a[size - 1][size] = -sum;
        if free.is_empty() {
            if sum.abs() > 1e-12 {
                continue;
            }
        } else {
            let Some(solution) = eliminate(a) else { continue };
            for (at, &i) in free.iter().enumerate() {
                beta[i] = solution[at];
            }
        }
        let inside = |row: usize| (-1e-9..=c + 1e-9).contains(&(beta[row] * sign(row, positives)));
        if (0..n).all(inside) {
            least = least.min(objective(kernel, &beta));
        }
    }
    least
}

/// Gauss with pivoting on `[A | b]`.
fn eliminate(mut a: Vec<Vec<f64>>) -> Option<Vec<f64>> {
    let n = a.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs()))?;
        a.swap(k, pivot);
        if a[k][k].abs() < 1e-10 {
            return None;
        }
        for i in (0..n).filter(|&i| i != k) {
            let factor = a[i][k] / a[k][k];
            for j in k..=n {
                a[i][j] -= factor * a[k][j];
            }
        }
    }
    Some((0..n).map(|k| a[k][n] / a[k][k]).collect())
}

/// Feasible, and no pair of rows gains more than the tolerance:
/// `max −F over rows that can rise + max F over rows that can fall < tolerance`.
fn optimality(gram: &Gram, positives: usize, c: f64, beta: &[f64]) -> f64 {
    let (mut rise, mut fall) = (f64::NEG_INFINITY, f64::NEG_INFINITY);
    for row in 0..gram.len() {
        let y = sign(row, positives);
        let product: f64 = gram.row(row).iter().zip(beta).map(|(k, b)| f64::from(*k) * b).sum();
        let f = product - y;
        let (lower, upper) = if y > 0.0 { (0.0, c) } else { (-c, 0.0) };
        assert!((lower..=upper).contains(&beta[row]), "β {} with C {c}", beta[row]);
        if beta[row] < upper {
            rise = rise.max(-f);
        }
        if beta[row] > lower {
            fall = fall.max(f);
        }
    }
    let sum: f64 = beta.iter().sum();
    assert!(sum.abs() < 1e-9 * c * beta.len() as f64, "Σβ = {sum}");
    rise + fall
}

proptest! {
    #[test]
    fn nothing_is_better_than_the_solution(
        points in prop::collection::vec(prop::array::uniform3(-4i8..=4), 2..=6),
        positives in 1usize..5,
        c in prop::sample::select(vec![0.01, 0.3, 1.0, 20.0]),
    ) {
        let positives = positives.min(points.len() - 1);
        let kernel = kernel(&points, 0.125);
        let gram = Gram::precomputed(&kernel).unwrap();
        let solution = solve(&gram, positives, c, 1e-9).unwrap();
        prop_assert!(solution.converged);
        let (found, least) = (objective(&kernel, &solution.beta), brute_force(&kernel, positives, c));
        prop_assert!((found - least).abs() <= 1e-7 * (1.0 + least.abs()), "{} {}", found, least);
    }

    // Also where the kernel is singular and points occur twice, with either label.
    #[test]
    fn solutions_are_feasible_and_optimal_within_the_tolerance(
        points in prop::collection::vec(prop::array::uniform3(-4i8..=4), 2..60),
        positives in 1usize..50,
        c in prop::sample::select(vec![1e-3, 0.3, 1.0, 10.0]),
        tolerance in prop::sample::select(vec![1e-3, 1e-5]),
    ) {
        let positives = positives.min(points.len() - 1);
        let gram = Gram::precomputed(&kernel(&points, 0.0)).unwrap();
        let solution = solve(&gram, positives, c, tolerance).unwrap();
        prop_assert!(solution.converged);
        // F is summed in another order here.
        prop_assert!(optimality(&gram, positives, c, &solution.beta) < tolerance + 1e-8);
    }

    #[test]
    fn predictions_do_not_depend_on_the_order_of_test_rows(seed in 0usize..1000, swap in 1usize..40) {
        let (x, labels) = planted(60, 4, 3);
        let svc = Svc::fit(&x, &labels, &SvcParams::default()).unwrap();
        let order: Vec<usize> = (0..40).map(|at| (at * 7 + seed + swap * at) % 60).collect();
        let shuffled = svc.predict(&x.take(&order).unwrap()).unwrap();
        let straight = svc.predict(&x).unwrap();
        for (at, &row) in order.iter().enumerate() {
            prop_assert_eq!(shuffled[at], straight[row]);
        }
    }
}

/// Of equal points the last carries the weight, as in LIBSVM.
#[test]
fn ties_take_the_last_row() {
    let k = |i: usize, j: usize| if i / 100 == j / 100 { 1.0 } else { 0.5 };
    let values = (0..40_000).map(|at| k(at / 200, at % 200)).collect();
    let gram = Gram::precomputed(&Matrix::new(200, 200, values).unwrap()).unwrap();
    // (F_j − F_i) / a = 2 / (1 + 1 − 2·0.5)
    let solution = solve(&gram, 100, 10.0, 1e-3).unwrap();
    let mut beta = [0.0; 200];
    (beta[99], beta[199]) = (2.0, -2.0);
    assert_eq!(solution.beta, beta);
    assert_eq!((solution.rho, solution.iterations), (0.0, 1));
}

/// What lets a grid solve several C at once.
#[test]
fn a_c_that_is_never_met_changes_no_bit() {
    let (x, labels) = planted(120, 5, 2);
    let order: Vec<usize> =
        [0, 1].iter().flat_map(|&of| (0..120).filter(move |row| row * 7 % 2 == of)).collect();
    assert!(order.iter().map(|&row| labels[row]).is_sorted());
    let x = x.take(&order).unwrap();
    let mut values = Vec::new();
    for (i, j) in (0..120).flat_map(|i| (0..120).map(move |j| (i, j))) {
        let square: f64 = x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
        values.push((-0.3 * square).exp());
    }
    let gram = Gram::precomputed(&Matrix::new(120, 120, values).unwrap()).unwrap();
    let largest = solve(&gram, 60, 1e6, 1e-3).unwrap();
    assert!(largest.peak < 1e6, "classes that can be separated: {}", largest.peak);
    let above = solve(&gram, 60, largest.peak * 1.0001, 1e-3).unwrap();
    assert_eq!(above, largest);
    let below = solve(&gram, 60, largest.peak * 0.9, 1e-3).unwrap();
    assert_ne!(below.beta, largest.beta);
}

/// Enough rows and steps that rows are left out on the way and taken back in.
#[test]
fn shrinking_keeps_the_optimum() {
    let (x, labels) = planted(900, 6, 2);
    let order: Vec<usize> = {
        let mut order: Vec<usize> = (0..900).collect();
        order.sort_by_key(|&row| labels[row]);
        order
    };
    let positives = labels.iter().filter(|&&label| label == 0).count();
    let x = x.take(&order).unwrap();
    for (gamma, c) in [(0.05, 1.0), (0.05, 100.0), (0.5, 10.0), (5.0, 0.1)] {
        let mut values = Vec::new();
        for (i, j) in (0..900).flat_map(|i| (0..900).map(move |j| (i, j))) {
            let square: f64 = x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
            values.push((-gamma * square).exp());
        }
        let gram = Gram::precomputed(&Matrix::new(900, 900, values).unwrap()).unwrap();
        let solution = solve(&gram, positives, c, 1e-3).unwrap();
        assert!(solution.converged);
        let violation = optimality(&gram, positives, c, &solution.beta);
        assert!(violation < 1e-3 + 1e-8, "γ {gamma}, C {c}: {violation}");

        // The machine trained from vectors by one matrix product is the same.
        let labels: Vec<u32> = (0..900).map(|row| u32::from(row >= positives)).collect();
        let kernel = Kernel::Rbf(Gamma::Value(gamma));
        let svc = Svc::fit(&x, &labels, &SvcParams::default().c(c).kernel(kernel).tolerance(1e-3))
            .unwrap();
        let machine = &svc.machines()[0];
        assert!(optimality(&gram, positives, c, &machine.beta) < 1.1e-3);
        let objective = |beta: &[f64]| -> f64 {
            let f = |row: usize| -> f64 {
                gram.row(row).iter().zip(beta).map(|(k, b)| f64::from(*k) * b).sum()
            };
            (0..900).map(|row| beta[row] * f(row) / 2.0 - beta[row].abs()).sum()
        };
        let (a, b) = (objective(&machine.beta), objective(&solution.beta));
        assert!((a - b).abs() <= 1e-5 * b.abs(), "{a} {b}");
    }
}

//! Ridge regressions against their definitions.

use hg2v_eval::Matrix;
use hg2v_eval::metrics::errors;
use hg2v_eval::regress::{self, Grid, Protocol};
use hg2v_eval::ridge::{KernelRidge, Ridge};
use hg2v_eval::select::Chosen;
use hg2v_eval::split::{plain_folds, shuffle};
use hg2v_eval::svm::{Gamma, Kernel};

/// `A·x = b` by Gaussian elimination with row exchanges.
fn solved(mut a: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let n = b.len();
    for k in 0..n {
        let pivot = (k..n).max_by(|&i, &j| a[i][k].abs().total_cmp(&a[j][k].abs())).unwrap();
        a.swap(k, pivot);
        b.swap(k, pivot);
        for i in k + 1..n {
            let factor = a[i][k] / a[k][k];
            for j in k..n {
                a[i][j] -= factor * a[k][j];
            }
            b[i] -= factor * b[k];
        }
    }
    for k in (0..n).rev() {
        for j in k + 1..n {
            b[k] -= a[k][j] * b[j];
        }
        b[k] /= a[k][k];
    }
    b
}

/// Rows that look random, and numbers that depend on them.
fn some(rows: usize, columns: usize) -> (Matrix, Vec<f64>) {
    let value = |at: usize| (at as f64 * 12.9898).sin() * 2.0 + ((at * at) as f64 * 0.37).cos();
    let x = Matrix::new(rows, columns, (0..rows * columns).map(value).collect()).unwrap();
    let y = (0..rows).map(|row| {
        let x = x.row(row);
        3.0 + x[0] - 0.5 * x[columns - 1] + (x[0] * 2.0).sin() + 0.1 * value(row + 9999)
    });
    let y = y.collect();
    (x, y)
}

/// The normal equations with a column of ones that is not regularised.
fn by_normal_equations(x: &Matrix, y: &[f64], alpha: f64) -> (Vec<f64>, f64) {
    let p = x.columns();
    let row = |i: usize| x.row(i).iter().copied().chain([1.0]).collect::<Vec<f64>>();
    let mut a = vec![vec![0.0; p + 1]; p + 1];
    let mut b = vec![0.0; p + 1];
    for i in 0..x.rows() {
        let row = row(i);
        for j in 0..=p {
            b[j] += row[j] * y[i];
            (0..=p).for_each(|k| a[j][k] += row[j] * row[k]);
        }
    }
    (0..p).for_each(|j| a[j][j] += alpha);
    let mut weights = solved(a, b);
    let intercept = weights.pop().unwrap();
    (weights, intercept)
}

#[test]
fn a_line_through_three_points_by_hand() {
    // x = −1, 0, 1 and y = 1, 2, 6: slope Σxy / (Σx² + α) = 5 / (2 + α), intercept 3.
    let x = Matrix::new(3, 1, vec![-1.0, 0.0, 1.0]).unwrap();
    let y = [1.0, 2.0, 6.0];
    for (alpha, slope) in [(0.5, 2.0), (3.0, 1.0), (8.0, 0.5)] {
        let model = Ridge::fit(&x, &y, alpha).unwrap();
        assert!((model.weights[0] - slope).abs() < 1e-14);
        assert!((model.intercept - 3.0).abs() < 1e-14);
    }
}

#[test]
fn ridge_solves_the_normal_equations_of_wide_and_of_long_matrices() {
    for (rows, columns) in [(40, 3), (40, 39), (40, 41), (12, 60), (5, 1), (1, 4)] {
        let (x, y) = some(rows, columns);
        for alpha in [0.01, 1.0, 100.0] {
            let model = Ridge::fit(&x, &y, alpha).unwrap();
            let (weights, intercept) = by_normal_equations(&x, &y, alpha);
            assert!((model.intercept - intercept).abs() < 1e-8, "{rows}×{columns}, {alpha}");
            for (own, naive) in model.weights.iter().zip(&weights) {
                assert!((own - naive).abs() < 1e-8, "{rows}×{columns}, {alpha}: {own} {naive}");
            }
        }
    }
}

#[test]
fn kernel_ridge_of_two_points_by_hand() {
    // k = e^(−γ·4); y − ȳ = (−1, 1); a = (−1, 1) / (1 + α − k).
    let x = Matrix::new(2, 1, vec![0.0, 2.0]).unwrap();
    let (alpha, gamma) = (0.5, 0.25);
    let model = KernelRidge::fit(&x, &[4.0, 6.0], alpha, Gamma::Value(gamma)).unwrap();
    let weight = 1.0 / (1.0 + alpha - (-1.0f64).exp());
    let at = Matrix::new(3, 1, vec![0.0, 1.0, 2.0]).unwrap();
    let said = model.predict(&at).unwrap();
    let apart = weight * (1.0 - (-1.0f64).exp());
    for (said, expected) in said.iter().zip([5.0 - apart, 5.0, 5.0 + apart]) {
        assert!((said - expected).abs() < 1e-14, "{said} {expected}");
    }
}

#[test]
fn kernel_ridge_is_its_definition() {
    let (x, y) = some(70, 4);
    let (alpha, gamma) = (0.03, 0.1);
    let mean = y.iter().sum::<f64>() / 70.0;
    let kernel = |i: usize, j: usize| {
        let square: f64 = x.row(i).iter().zip(x.row(j)).map(|(a, b)| (a - b).powi(2)).sum();
        (-gamma * square).exp()
    };
    let entry = |i: usize, j: usize| kernel(i, j) + if i == j { alpha } else { 0.0 };
    let a = (0..70).map(|i| (0..70).map(|j| entry(i, j)).collect()).collect();
    let dual = solved(a, y.iter().map(|y| y - mean).collect());
    let model = KernelRidge::fit(&x, &y, alpha, Gamma::Value(gamma)).unwrap();
    for (i, said) in model.predict(&x).unwrap().iter().enumerate() {
        let expected = mean + (0..70).map(|j| dual[j] * kernel(i, j)).sum::<f64>();
        assert!((said - expected).abs() < 1e-9, "{said} {expected}");
    }
}

fn small() -> Protocol {
    let kernels = [Gamma::Scale, Gamma::Value(0.01), Gamma::Value(0.1)].map(Kernel::Rbf).to_vec();
    let grid =
        Grid::default().alpha(vec![0.01, 0.1, 1.0]).kernels(kernels).ridge(vec![0.1, 1.0, 10.0]);
    Protocol::default().grid(grid)
}

#[test]
fn what_is_chosen_is_best_on_the_folds_and_learns_from_the_training_part_alone() {
    let (x, mut y) = some(60, 5);
    let split = shuffle(60, 0.2, 3, 0).unwrap();
    let outcome = regress::evaluate(&x, &y, &split, &small()).unwrap();
    let least = outcome.selection.settings.iter().map(|setting| setting.mean);
    assert_eq!(outcome.selection.chosen().mean, least.fold(f64::INFINITY, f64::min));
    // Fold by fold, with scaling and mean of the fold's own training part.
    let folds = regress::inner_folds(60, &split, 5, 0).unwrap();
    let chosen = outcome.selection.chosen();
    let Chosen::Vectors(Kernel::Rbf(gamma)) = chosen.kernel else { panic!("{chosen:?}") };
    for (fold, rmse) in folds.iter().zip(&chosen.rmses) {
        let (mut train, mut test) = (x.take(&fold.train).unwrap(), x.take(&fold.test).unwrap());
        let scaler = hg2v_eval::scale::fit(&train).unwrap();
        hg2v_eval::scale::standardise(&mut train, &scaler).unwrap();
        hg2v_eval::scale::standardise(&mut test, &scaler).unwrap();
        let of = |rows: &[usize]| rows.iter().map(|&row| y[row]).collect::<Vec<f64>>();
        let model = KernelRidge::fit(&train, &of(&fold.train), chosen.alpha, gamma).unwrap();
        let naive = errors(&of(&fold.test), &model.predict(&test).unwrap()).unwrap().rmse;
        assert!((naive - rmse).abs() < 1e-10, "{naive} {rmse}");
    }
    let ridge = regress::ridge(&x, &y, &split, &small()).unwrap();
    let near = regress::nearest(&x, &y, &split, &small()).unwrap();
    // Nobody looks at the numbers of the test part.
    split.test.iter().for_each(|&row| y[row] = 1e6);
    assert_eq!(
        regress::evaluate(&x, &y, &split, &small()).unwrap().predictions,
        outcome.predictions
    );
    assert_eq!(regress::ridge(&x, &y, &split, &small()).unwrap().predictions, ridge.predictions);
    assert_eq!(regress::nearest(&x, &y, &split, &small()).unwrap().predictions, near.predictions);
}

#[test]
fn shifted_and_scaled_numbers_are_predicted_alike() {
    let (x, y) = some(60, 5);
    let split = shuffle(60, 0.2, 3, 0).unwrap();
    let moved: Vec<f64> = y.iter().map(|y| 1000.0 - 7.0 * y).collect();
    let own = regress::evaluate(&x, &y, &split, &small()).unwrap();
    let other = regress::evaluate(&x, &moved, &split, &small()).unwrap();
    assert_eq!(own.selection.best, other.selection.best);
    for (own, other) in own.predictions.iter().zip(&other.predictions) {
        assert!((1000.0 - 7.0 * own - other).abs() < 1e-8);
    }
    assert!((own.errors.r2 - other.errors.r2).abs() < 1e-9);
    assert!((7.0 * own.errors.mae - other.errors.mae).abs() < 1e-9);
    let ridge = regress::ridge(&x, &y, &split, &small()).unwrap();
    let other = regress::ridge(&x, &moved, &split, &small()).unwrap();
    assert_eq!(ridge.chosen, other.chosen);
    assert!((7.0 * ridge.errors.rmse - other.errors.rmse).abs() < 1e-9);
}

#[test]
fn a_kernel_given_in_any_size_is_judged_like_its_vectors() {
    let (x, y) = some(60, 5);
    let split = shuffle(60, 0.2, 3, 0).unwrap();
    let kernels = vec![Kernel::Rbf(Gamma::Value(0.1))];
    let protocol = Protocol::default().grid(small().grid.kernels(kernels)).standardize(false);
    let vectors = regress::evaluate(&x, &y, &split, &protocol).unwrap();
    let entry = |at: usize| {
        let (a, b) = (x.row(at / 60), x.row(at % 60));
        let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
        250.0 * (-0.1 * square).exp()
    };
    let gram = Matrix::new(60, 60, (0..3600).map(entry).collect()).unwrap();
    let given = regress::evaluate_precomputed(&[gram], &y, &split, &protocol).unwrap();
    assert_eq!(given.selection.best, vectors.selection.best);
    for (given, own) in given.predictions.iter().zip(&vectors.predictions) {
        assert!((given - own).abs() < 1e-9, "{given} {own}");
    }
    // What is no kernel says the mean.
    let none = Matrix::new(60, 60, vec![-1.0; 3600]).unwrap();
    let mean = split.train.iter().map(|&row| y[row]).sum::<f64>() / split.train.len() as f64;
    let said = regress::evaluate_precomputed(&[none], &y, &split, &protocol).unwrap();
    assert!(said.predictions.iter().all(|said| (said - mean).abs() < 1e-12));
}

#[test]
fn threads_change_no_bit() {
    let (x, y) = some(150, 12);
    let split = shuffle(150, 0.2, 0, 1).unwrap();
    let of = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ridge = regress::ridge(&x, &y, &split, &Protocol::default()).unwrap();
            (regress::evaluate(&x, &y, &split, &Protocol::default()).unwrap(), ridge)
        })
    };
    let one = of(1);
    assert_eq!(one, of(2));
    assert_eq!(one, of(4));
}

#[test]
fn constant_columns_and_rows_that_are_equal_are_no_trouble() {
    let x = Matrix::new(12, 2, vec![1.0; 24]).unwrap();
    let y: Vec<f64> = (0..12).map(f64::from).collect();
    let split = shuffle(12, 0.2, 0, 0).unwrap();
    let mean = split.train.iter().map(|&row| y[row]).sum::<f64>() / split.train.len() as f64;
    let outcome = regress::evaluate(&x, &y, &split, &Protocol::default()).unwrap();
    assert!(outcome.predictions.iter().all(|said| (said - mean).abs() < 1e-9));
    let outcome = regress::ridge(&x, &y, &split, &Protocol::default()).unwrap();
    assert!(outcome.predictions.iter().all(|said| (said - mean).abs() < 1e-9));
}

#[test]
fn plain_splits_have_every_row_once() {
    let folds = plain_folds(23, 5, 7, 0).unwrap();
    let mut tested: Vec<usize> = folds.iter().flat_map(|fold| fold.test.clone()).collect();
    tested.sort_unstable();
    assert_eq!(tested, (0..23).collect::<Vec<_>>());
    for fold in &folds {
        fold.check(23).unwrap();
        assert!((4..=5).contains(&fold.test.len()));
    }
    let one = shuffle(23, 0.2, 7, 0).unwrap();
    assert_eq!((one.train.len(), one.test.len()), (18, 5));
    assert_eq!(one, shuffle(23, 0.2, 7, 0).unwrap());
    assert_ne!(one, shuffle(23, 0.2, 7, 1).unwrap());
    assert!(shuffle(1, 0.2, 0, 0).is_err() && plain_folds(3, 5, 0, 0).is_err());
}

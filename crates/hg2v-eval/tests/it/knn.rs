//! Nearest neighbours by their definition.

use hg2v_eval::classifiers::{Classifier, evaluate, evaluate_kernels, evaluate_numbers};
use hg2v_eval::goal::Truth;
use hg2v_eval::knn::{
    Distance, predict, predict_each, predict_each_by_kernel, predict_numbers_each,
    predict_numbers_each_by_kernel,
};
use hg2v_eval::select::Protocol;
use hg2v_eval::split::{shuffle, stratified_shuffle};
use hg2v_eval::{Matrix, Split, regress};
use proptest::prelude::*;

use crate::common::planted;

/// All distances, sorted; small whole numbers make them exact.
fn naive(train: &Matrix, labels: &[u32], test: &[f64], k: usize, distance: Distance) -> u32 {
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let far = |row: usize| match distance {
        Distance::Euclidean => {
            let differences: Vec<f64> =
                train.row(row).iter().zip(test).map(|(a, b)| a - b).collect();
            dot(&differences, &differences)
        }
        Distance::Cosine => {
            let norms = dot(train.row(row), train.row(row)).sqrt() * dot(test, test).sqrt();
            if norms > 0.0 { 1.0 - dot(train.row(row), test) / norms } else { 1.0 }
        }
    };
    let mut order: Vec<usize> = (0..train.rows()).collect();
    // Cosines of parallel vectors are equal up to rounding.
    let key = |row: usize| (far(row) * 1e9).round();
    order.sort_by(|&a, &b| key(a).total_cmp(&key(b)).then(a.cmp(&b)));
    let votes = |class: u32| order[..k].iter().filter(|&&row| labels[row] == class).count();
    let mut classes = labels.to_vec();
    classes.sort_unstable();
    let most = classes.iter().map(|&class| votes(class)).max().unwrap();
    classes.into_iter().find(|&class| votes(class) == most).unwrap()
}

proptest! {
    #[test]
    fn neighbours_are_those_of_the_definition(
        rows in prop::collection::vec((prop::collection::vec(-3i8..=3, 3), 0u32..4), 6..40),
        k in 1usize..6,
    ) {
        let matrix = |rows: &[(Vec<i8>, u32)]| {
            let values = rows.iter().flat_map(|(row, _)| row.iter().map(|&v| f64::from(v)));
            Matrix::new(rows.len(), 3, values.collect()).unwrap()
        };
        let (test, train) = rows.split_at(rows.len() / 2 - 2);
        let (test, train_x) = (matrix(test), matrix(train));
        let labels: Vec<u32> = train.iter().map(|(_, label)| *label).collect();
        let k = k.min(labels.len());
        let ours = predict(&train_x, &labels, &test, k, Distance::Euclidean).unwrap();
        for row in 0..test.rows() {
            prop_assert_eq!(ours[row], naive(&train_x, &labels, test.row(row), k, Distance::Euclidean));
        }
        let ks: Vec<usize> = (1..=k).rev().collect();
        let each = predict_each(&train_x, &labels, &test, &ks, Distance::Euclidean).unwrap();
        for (k, votes) in ks.into_iter().zip(each) {
            prop_assert_eq!(votes, predict(&train_x, &labels, &test, k, Distance::Euclidean).unwrap());
        }
    }
}

/// The lower triangle of the inner products of all rows, which is what counts.
fn products(x: &Matrix) -> Matrix {
    let n = x.rows();
    let dot = |i: usize, j: usize| x.row(i).iter().zip(x.row(j)).map(|(a, b)| a * b).sum::<f64>();
    let value = |at: usize| if at % n > at / n { 1e9 } else { dot(at / n, at % n) };
    Matrix::new(n, n, (0..n * n).map(value).collect()).unwrap()
}

proptest! {
    /// Inner products are a kernel whose distance is Euclid's; whole numbers make both exact.
    #[test]
    fn near_by_a_kernel_is_near_by_its_distance(
        rows in prop::collection::vec((prop::collection::vec(-3i8..=3, 3), 0u32..4), 8..40),
        every in 2usize..5,
    ) {
        let values = rows.iter().flat_map(|(row, _)| row.iter().map(|&v| f64::from(v)));
        let x = Matrix::new(rows.len(), 3, values.collect()).unwrap();
        let labels: Vec<u32> = rows.iter().map(|(_, label)| *label).collect();
        let numbers: Vec<f64> = labels.iter().map(|&label| f64::from(label * label)).collect();
        let (test, train) = (0..rows.len()).partition(|row| row.is_multiple_of(every));
        let split = Split { train, test };
        let (train, test) = (x.take(&split.train).unwrap(), x.take(&split.test).unwrap());
        let ks: Vec<usize> = (1..=split.train.len()).collect();
        let labels_of = |rows: &[usize]| rows.iter().map(|&row| labels[row]).collect::<Vec<_>>();
        let numbers_of = |rows: &[usize]| rows.iter().map(|&row| numbers[row]).collect::<Vec<_>>();
        let (known, far) = (labels_of(&split.train), Distance::Euclidean);
        prop_assert_eq!(
            predict_each_by_kernel(&products(&x), &labels, &split, &ks).unwrap(),
            predict_each(&train, &known, &test, &ks, far).unwrap()
        );
        let known = numbers_of(&split.train);
        prop_assert_eq!(
            predict_numbers_each_by_kernel(&products(&x), &numbers, &split, &ks).unwrap(),
            predict_numbers_each(&train, &known, &test, &ks, far).unwrap()
        );
        // One more than there are.
        let many = [split.train.len() + 1];
        prop_assert!(predict_each_by_kernel(&products(&x), &labels, &split, &many).is_err());
    }
}

/// k is that of the vectors whose inner products the kernel has, and so is all else; a kernel that
/// takes all for the same is passed over.
#[test]
fn k_and_kernel_are_chosen_inside_the_training_part() {
    let (x, labels) = planted(120, 6, 3);
    let kernels = [Matrix::new(120, 120, vec![1.0; 120 * 120]).unwrap(), products(&x)];
    let (near, protocol) = (Classifier::NearestNeighbors, Protocol::default().standardize(false));
    let numbers: Vec<f64> =
        (0..120).map(|row| x.row(row).iter().sum::<f64>() + f64::from(labels[row])).collect();
    for index in 0..3 {
        let split = stratified_shuffle(&labels, 0.2, 5, index).unwrap();
        let of_vectors = evaluate(&x, &labels, &split, &protocol, near).unwrap();
        let truth = Truth::Classes { labels: labels.clone(), classes: Vec::new() };
        let found = evaluate_kernels(&kernels, &truth, &split, &protocol, near).unwrap();
        let said = (found.validation, found.test, found.chosen, found.kernel);
        assert_eq!(said, (of_vectors.validation, of_vectors.test, of_vectors.chosen, Some(1)));
        assert!(found.errors.is_none(), "{found:?}");

        let split = shuffle(120, 0.2, 5, index).unwrap();
        let like = regress::Protocol::like(&protocol);
        let of_vectors = evaluate_numbers(&x, &numbers, &split, &like, near).unwrap();
        let truth = Truth::Numbers(numbers.clone());
        let found = evaluate_kernels(&kernels, &truth, &split, &protocol, near).unwrap();
        let said = (found.chosen, found.kernel, found.errors);
        assert_eq!(said, (of_vectors.chosen, Some(1), of_vectors.errors));
        assert_eq!(found.validation, of_vectors.validation);
        assert_eq!(found.test, found.errors.unwrap().rmse);

        // What needs columns is refused, and so is nothing to choose from.
        let linear = Classifier::LinearSvm;
        let said = evaluate_kernels(&kernels, &truth, &split, &protocol, linear).unwrap_err();
        assert!(said.to_string().contains("it is for vectors"), "{said}");
        assert!(evaluate_kernels(&[], &truth, &split, &protocol, near).is_err());
        assert!(
            evaluate_kernels(std::slice::from_ref(&x), &truth, &split, &protocol, near).is_err()
        );
    }
}

/// Cosine takes no note of lengths.
#[test]
fn cosine_sees_directions_only() {
    let train = Matrix::new(3, 2, vec![100.0, 1.0, 0.1, 1.0, 0.0, 0.0]).unwrap();
    let test = Matrix::new(3, 2, vec![0.001, 0.0, 60.0, 90.0, 0.0, 0.0]).unwrap();
    let labels = [4, 5, 6];
    assert_eq!(predict(&train, &labels, &test, 1, Distance::Cosine).unwrap(), [4, 5, 4]);
    for row in 0..2 {
        let naive = naive(&train, &labels, test.row(row), 1, Distance::Cosine);
        assert_eq!(predict(&train, &labels, &test, 1, Distance::Cosine).unwrap()[row], naive);
    }
    assert_eq!(predict(&train, &labels, &test, 1, Distance::Euclidean).unwrap(), [6, 4, 6]);
}

//! Nearest neighbours by their definition.

use hg2v_eval::Matrix;
use hg2v_eval::knn::{Distance, predict, predict_each};
use proptest::prelude::*;

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

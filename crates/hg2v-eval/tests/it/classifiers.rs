//! Further classifiers, beside the same thing written out.

use hg2v_eval::classifiers::{self, Classifier};
use hg2v_eval::knn::{self, Distance};
use hg2v_eval::logistic::{Logistic, LogisticParams};
use hg2v_eval::metrics::accuracy;
use hg2v_eval::scale::{fit, standardise};
use hg2v_eval::select::Protocol;
use hg2v_eval::split::{Split, stratified_folds, stratified_shuffle};
use hg2v_eval::svm::{Kernel, Svc, SvcParams};
use hg2v_eval::{Matrix, Score};

use crate::common::{Fixture, planted, read};

const ALL: [Classifier; 3] =
    [Classifier::LinearSvm, Classifier::Logistic, Classifier::NearestNeighbors];

/// Trains with one setting, on standardised rows, and counts what is right.
fn score(x: &Matrix, labels: &[u32], split: &Split, classifier: Classifier, setting: f64) -> f64 {
    let (mut train, mut test) = (x.take(&split.train).unwrap(), x.take(&split.test).unwrap());
    let scaler = fit(&train).unwrap();
    standardise(&mut train, &scaler).unwrap();
    standardise(&mut test, &scaler).unwrap();
    let of = |rows: &[usize]| rows.iter().map(|&row| labels[row]).collect::<Vec<u32>>();
    let (own, truth) = (of(&split.train), of(&split.test));
    let predicted = match classifier {
        Classifier::LinearSvm => {
            let params = SvcParams::default().c(setting).kernel(Kernel::Linear);
            Svc::fit(&train, &own, &params).unwrap().predict(&test).unwrap()
        }
        Classifier::Logistic => {
            let params = LogisticParams::default().c(setting).tolerance(1e-4);
            Logistic::fit(&train, &own, &params).unwrap().predict(&test).unwrap()
        }
        Classifier::NearestNeighbors => {
            knn::predict(&train, &own, &test, setting as usize, Distance::Euclidean).unwrap()
        }
    };
    accuracy(&truth, &predicted).unwrap()
}

#[test]
fn the_setting_is_chosen_on_folds_of_the_training_part() {
    let iris: Fixture = read("iris");
    let (x, labels) = (iris.x(), iris.y);
    let split = stratified_shuffle(&labels, 0.2, 5, 0).unwrap();
    let protocol = Protocol::default().seed(5);
    let train_labels: Vec<u32> = split.train.iter().map(|&row| labels[row]).collect();
    let outer = |rows: &[usize]| rows.iter().map(|&row| split.train[row]).collect();
    let folds: Vec<Split> = stratified_folds(&train_labels, 5, 5, 0)
        .unwrap()
        .iter()
        .map(|fold| Split { train: outer(&fold.train), test: outer(&fold.test) })
        .collect();
    for classifier in ALL {
        let settings: &[f64] = match classifier {
            Classifier::NearestNeighbors => &[1.0, 3.0, 5.0, 7.0, 9.0, 15.0, 25.0],
            _ => &[1e-4, 1e-3, 1e-2, 1e-1, 1.0, 10.0],
        };
        let mean = |setting: f64| {
            let each = folds.iter().map(|fold| score(&x, &labels, fold, classifier, setting));
            Score::of(&each.collect::<Vec<f64>>()).unwrap().mean
        };
        let most = settings.iter().map(|&setting| mean(setting)).fold(0.0, f64::max);
        let first = settings.iter().copied().find(|&setting| mean(setting) == most).unwrap();
        let judged = classifiers::evaluate(&x, &labels, &split, &protocol, classifier).unwrap();
        assert_eq!((judged.chosen, judged.validation), (first, most), "{classifier}");
        assert_eq!(judged.test, score(&x, &labels, &split, classifier, first), "{classifier}");
        // Any of them tells iris apart but for a few flowers of thirty.
        assert!(judged.test >= 0.85, "{classifier}: {}", judged.test);
    }
}

#[test]
fn the_test_part_decides_nothing_but_its_own_score() {
    let (x, labels) = planted(120, 5, 2);
    let split = stratified_shuffle(&labels, 0.2, 1, 0).unwrap();
    let mut values = x.values().to_vec();
    for &row in &split.test {
        values[row * 5..(row + 1) * 5].iter_mut().for_each(|value| *value = *value * 1e6 - 3e7);
    }
    let moved = Matrix::new(120, 5, values).unwrap();
    for classifier in ALL {
        let judge = |x| classifiers::evaluate(x, &labels, &split, &Protocol::default(), classifier);
        let (before, after) = (judge(&x).unwrap(), judge(&moved).unwrap());
        assert_eq!((before.chosen, before.validation), (after.chosen, after.validation));
        assert_ne!(before.test, after.test, "{classifier}");
    }
}

#[test]
fn few_rows_leave_few_neighbours() {
    let x = Matrix::new(10, 1, (0..10).map(f64::from).collect()).unwrap();
    let labels: Vec<u32> = (0..10).map(|row| row / 5).collect();
    let split = stratified_shuffle(&labels, 0.2, 0, 0).unwrap();
    let protocol = Protocol::default().folds(2);
    let near = classifiers::evaluate(&x, &labels, &split, &protocol, Classifier::NearestNeighbors);
    assert!(near.unwrap().chosen <= 4.0);
}

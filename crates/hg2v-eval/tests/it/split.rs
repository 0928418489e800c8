//! Splits partition, stratify, and depend on nothing but their arguments.

use hg2v_eval::Split;
use hg2v_eval::select::{self, Protocol};
use hg2v_eval::split::{stratified_folds, stratified_shuffle};
use proptest::prelude::*;

/// Labels of at least two classes, some of them with one member.
fn labels() -> impl Strategy<Value = Vec<u32>> {
    prop::collection::vec(prop::sample::select(vec![0, 0, 0, 0, 5, 5, 5, 8, 100]), 10..120)
        .prop_filter("two classes", |labels| labels.iter().any(|label| *label != labels[0]))
}

fn count(labels: &[u32], rows: &[usize], class: u32) -> usize {
    rows.iter().filter(|&&row| labels[row] == class).count()
}

fn is_partition(split: &Split, rows: usize) -> bool {
    let mut all = [&split.train[..], &split.test].concat();
    all.sort_unstable();
    all.into_iter().eq(0..rows)
}

proptest! {
    #[test]
    fn shuffles_partition_and_stratify(
        labels in labels(), seed: u64, index: u64, share in 0.1f64..0.9,
    ) {
        let split = stratified_shuffle(&labels, share, seed, index).unwrap();
        prop_assert!(is_partition(&split, labels.len()));
        prop_assert!(split.train.is_sorted() && split.test.is_sorted());
        prop_assert_eq!(split.test.len(), (share * labels.len() as f64).ceil() as usize);
        for class in [0, 5, 8, 100] {
            let size = labels.iter().filter(|&&label| label == class).count();
            let fair = (size * split.test.len()) as f64 / labels.len() as f64;
            let found = count(&labels, &split.test, class) as f64;
            prop_assert!((found - fair).abs() < 1.0 + 1e-9, "{} of {}", found, fair);
        }
    }

    #[test]
    fn folds_partition_and_stratify(
        labels in labels(), seed: u64, index: u64, folds in 2usize..10,
    ) {
        let splits = stratified_folds(&labels, folds, seed, index).unwrap();
        prop_assert_eq!(splits.len(), folds);
        let mut tested: Vec<usize> = splits.iter().flat_map(|split| split.test.clone()).collect();
        tested.sort_unstable();
        prop_assert!(tested.into_iter().eq(0..labels.len()));
        let sizes = |of: &dyn Fn(&Split) -> usize| {
            let sizes: Vec<usize> = splits.iter().map(of).collect();
            sizes.iter().max().unwrap() - sizes.iter().min().unwrap()
        };
        prop_assert!(splits.iter().all(|split| is_partition(split, labels.len())));
        prop_assert!(sizes(&|split| split.test.len()) <= 1);
        for class in [0, 5, 8, 100] {
            prop_assert!(sizes(&|split| count(&labels, &split.test, class)) <= 1);
        }
    }
}

#[test]
fn seeds_and_indices_decide() {
    let labels: Vec<u32> = (0..60).map(|row| row % 3).collect();
    let split = |seed, index| stratified_shuffle(&labels, 0.2, seed, index).unwrap();
    assert_eq!(split(1, 2), split(1, 2));
    assert_ne!(split(1, 2), split(1, 3));
    assert_ne!(split(1, 2), split(2, 2));
    let folds = |seed, index| stratified_folds(&labels, 5, seed, index).unwrap();
    assert_eq!(folds(1, 2), folds(1, 2));
    assert_ne!(folds(1, 2), folds(1, 3));
    assert_ne!(folds(1, 2), folds(2, 2));
}

/// One member of a class, and fewer members than folds: no reason to give up.
#[test]
fn rare_classes_are_allowed() {
    let (x, mut labels) = crate::common::planted(41, 3, 2);
    labels[7] = 9;
    labels[11] = 12;
    labels[30] = 12;
    for index in 0..5 {
        let outer = stratified_shuffle(&labels, 0.2, 1, index).unwrap();
        let outcome = select::evaluate(&x, &labels, &outer, &Protocol::default()).unwrap();
        assert_eq!(outcome.predictions.len(), outer.test.len());
    }
}

/// Published splits are files: a seed must keep its meaning.
#[test]
fn a_seed_keeps_its_meaning() {
    let labels = [0, 1, 0, 1, 0, 1, 0, 1, 0, 1];
    let split = stratified_shuffle(&labels, 0.2, 42, 0).unwrap();
    let text = serde_json::to_string(&split).unwrap();
    assert_eq!(text, r#"{"train":[0,1,2,3,4,7,8,9],"test":[5,6]}"#);
    assert_eq!(serde_json::from_str::<Split>(&text).unwrap(), split);
    let folds = stratified_folds(&labels, 5, 42, 0).unwrap();
    let tests: Vec<&[usize]> = folds.iter().map(|fold| &fold.test[..]).collect();
    assert_eq!(tests, [[2, 9], [0, 3], [5, 8], [1, 4], [6, 7]]);
}

/// Every member is as likely to be tested as any other of its class.
#[test]
fn no_row_is_favoured() {
    let labels: Vec<u32> = (0..50).map(|row| u32::from(row < 20)).collect();
    let mut tested = [0; 50];
    for index in 0..2000 {
        for row in stratified_shuffle(&labels, 0.2, 3, index).unwrap().test {
            tested[row] += 1;
        }
    }
    // 2000 draws of probability 0.2: 400 ± 18; six of those.
    assert!(tested.iter().all(|&times| (292..=508).contains(&times)), "{tested:?}");
}

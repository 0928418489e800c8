//! The energy distance, by its definition and by what it must tell.

use hg2v_search::Metric;
use hg2v_search::drift::drift;

use crate::common::{in_pool, numbers};

#[test]
fn the_distance_is_that_of_the_definition() {
    let (dim, a, b) = (3, numbers(40, 3, 1), numbers(25, 3, 2));
    let far = |x: &[f32], y: &[f32]| -> f64 {
        x.iter().zip(y).map(|(x, y)| f64::from(x - y).powi(2)).sum::<f64>().sqrt()
    };
    let mean = |a: &[f32], b: &[f32]| -> f64 {
        let pairs = a.chunks_exact(dim).flat_map(|x| b.chunks_exact(dim).map(move |y| far(x, y)));
        pairs.sum::<f64>() / ((a.len() / dim) * (b.len() / dim)) as f64
    };
    let expected = 2.0 * mean(&a, &b) - mean(&a, &a) - mean(&b, &b);
    let found = drift(dim, &a, &b, Metric::Euclidean, 9, 0).unwrap();
    assert!((found.energy - expected).abs() < 1e-6, "{} {expected}", found.energy);
    assert!((found.share - expected / (2.0 * mean(&a, &b))).abs() < 1e-6);
    assert_eq!((found.first, found.second), (40, 25));
}

#[test]
fn a_known_answer_on_the_line() {
    let found = drift(1, &[0.0, 1.0, 3.0], &[5.0, 6.0, 8.0], Metric::Euclidean, 1, 0).unwrap();
    // mean |x − y| = 5, mean |x − x'| = mean |y − y'| = 12/9.
    assert!((found.energy - (10.0 - 24.0 / 9.0)).abs() < 1e-12);
}

#[test]
fn equal_sets_do_not_drift_and_moved_ones_do() {
    let (dim, a, b) = (8, numbers(120, 8, 3), numbers(90, 8, 4));
    for metric in [Metric::Cosine, Metric::Euclidean] {
        let same = drift(dim, &a, &a, metric, 199, 1).unwrap();
        assert!(same.energy < 1e-9 && same.p_value == 1.0, "{same:?}");
        let alike = drift(dim, &a, &b, metric, 199, 1).unwrap();
        assert!(alike.p_value > 0.02, "{alike:?}");
        let moved: Vec<f32> = b.iter().map(|x| x + 0.5).collect();
        let moved = drift(dim, &a, &moved, metric, 199, 1).unwrap();
        assert_eq!(moved.p_value, 1.0 / 200.0, "{moved:?}");
    }
}

/// Under the null hypothesis p-values are uniform.
#[test]
fn chance_is_called_chance_about_as_often_as_it_should() {
    let low = (0..60u64).filter(|&run| {
        let (a, b) = (numbers(15, 2, 100 + run), numbers(20, 2, 200 + run));
        drift(2, &a, &b, Metric::Euclidean, 99, run).unwrap().p_value <= 0.25
    });
    let low = low.count();
    assert!((5..=27).contains(&low), "{low} of 60 below 0.25");
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (a, b) = (numbers(150, 5, 5), numbers(100, 5, 6));
    let run = || drift(5, &a, &b, Metric::Cosine, 49, 7).unwrap();
    let one = in_pool(1, run);
    assert_eq!(in_pool(3, run), one);
}

#[test]
fn nonsense_is_refused() {
    let said = |result: hg2v::Result<_>| -> String {
        let result: hg2v::Result<hg2v_search::drift::Drift> = result;
        result.unwrap_err().to_string()
    };
    assert!(said(drift(2, &[], &[1.0, 2.0], Metric::Cosine, 9, 0)).contains("first set is empty"));
    assert!(said(drift(1, &[1.0], &[1.0], Metric::Cosine, 0, 0)).contains("between 1 and"));
}

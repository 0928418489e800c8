//! Neighbours, duplicates and outliers.

use hg2v::context::Context;
use hg2v_search::duplicates::{Pair, duplicates};
use hg2v_search::hnsw::{Hnsw, Params};
use hg2v_search::outliers::outliers;
use hg2v_search::{Index, IndexKind, Metric, Neighbor, Space, exact};
use proptest::prelude::*;

use crate::common::{clusters, in_pool, numbers};

const METRICS: [Metric; 2] = [Metric::Cosine, Metric::Euclidean];

fn far(metric: Metric, x: &[f32], y: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| -> f64 {
        a.iter().zip(b).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum()
    };
    match metric {
        Metric::Euclidean => {
            let squares = x.iter().zip(y).map(|(a, b)| (f64::from(*a) - f64::from(*b)).powi(2));
            squares.sum::<f64>().sqrt()
        }
        Metric::Cosine => {
            let lengths = (dot(x, x) * dot(y, y)).sqrt();
            if lengths > 0.0 { (1.0 - dot(x, y) / lengths).max(0.0) } else { 1.0 }
        }
    }
}

/// All distances, sorted.
fn naive(dim: usize, rows: &[f32], query: &[f32], metric: Metric, k: usize) -> Vec<(usize, f64)> {
    let rows = rows.chunks_exact(dim).enumerate();
    let mut all: Vec<(usize, f64)> = rows.map(|(i, row)| (i, far(metric, query, row))).collect();
    all.sort_by(|a, b| a.1.total_cmp(&b.1).then(a.0.cmp(&b.0)));
    all.truncate(k);
    all
}

fn agrees(found: &[Neighbor], expected: &[(usize, f64)]) -> bool {
    let positions = found.iter().map(|near| near.position).eq(expected.iter().map(|near| near.0));
    let near = |(a, b): (&Neighbor, &(usize, f64))| (a.distance - b.1).abs() <= 1e-12 * (1.0 + b.1);
    positions && found.iter().zip(expected).all(near)
}

#[test]
fn neighbours_are_those_of_the_definition_over_several_blocks() {
    for (n, dim) in [(2500, 17), (1, 3), (40, 1), (600, 300)] {
        let (rows, queries) = (numbers(n, dim, 1), numbers(210, dim, 2));
        for metric in METRICS {
            let space = Space::new(dim, rows.clone(), metric).unwrap();
            let found = exact::nearest(&space, &queries, 7).unwrap();
            for (query, found) in queries.chunks_exact(dim).zip(&found) {
                assert!(
                    agrees(found, &naive(dim, &rows, query, metric, 7)),
                    "{n} {dim} {metric:?}"
                );
            }
        }
    }
}

#[test]
fn a_known_answer_on_the_line() {
    let rows = [0.0, 5.0, 1.0, 3.0, -1.0, 9.0, 2.0, 4.0, 50.0].map(|x| [x, 0.0f32]).concat();
    let space = Space::new(2, rows, Metric::Euclidean).unwrap();
    let near = &exact::nearest_others(&space, 6).unwrap()[0];
    // 1 and −1 are equally near: the earlier row comes first.
    assert_eq!(near.iter().map(|near| near.position).collect::<Vec<_>>(), [2, 4, 6, 3, 7, 1]);
    assert_eq!(near[5].distance, 5.0);
    let alone = Space::new(2, vec![1.0f32, 2.0], Metric::Euclidean).unwrap();
    assert_eq!(exact::nearest_others(&alone, 6).unwrap(), [[]]);
}

/// Each product serves two rows where all are asked for; the answers are those of asking
/// one by one.
#[test]
fn all_at_once_is_the_same_as_one_by_one() {
    let (n, dim) = (1300, 9);
    let rows = clusters(n, dim, 30);
    for metric in METRICS {
        let space = Space::new(dim, rows.clone(), metric).unwrap();
        let index = Index::new(space.clone(), IndexKind::Exact, 0, &Context::default()).unwrap();
        let all = exact::nearest_others(&space, 7).unwrap();
        for row in (0..n).step_by(11) {
            assert_eq!(all[row], index.nearest_to(row, 7).unwrap());
        }
    }
}

/// Far from the origin, products of single precision tell nothing apart; the answer must
/// not suffer.
#[test]
fn neighbours_are_right_where_products_cancel() {
    let (n, dim) = (700, 24);
    let rows: Vec<f32> = numbers(n, dim, 3).iter().map(|x| 1e4 + x * 0.01).collect();
    for metric in METRICS {
        let space = Space::new(dim, rows.clone(), metric).unwrap();
        let found = exact::nearest(&space, &rows[..50 * dim], 5).unwrap();
        for (query, found) in rows.chunks_exact(dim).zip(&found) {
            assert!(agrees(found, &naive(dim, &rows, query, metric, 5)), "{metric:?}");
        }
    }
    // One row is a million times longer than all others.
    let mut rows = numbers(n, dim, 4);
    rows[..dim].iter_mut().for_each(|x| *x *= 1e6);
    let space = Space::new(dim, rows.clone(), Metric::Euclidean).unwrap();
    for (query, found) in rows.chunks_exact(dim).zip(exact::nearest(&space, &rows, 4).unwrap()) {
        assert!(agrees(&found, &naive(dim, &rows, query, Metric::Euclidean, 4)));
    }
}

#[test]
fn the_largest_numbers_there_are_are_no_trouble() {
    let rows = vec![f32::MAX, 0.0, f32::MIN, 0.0, 0.0, f32::MAX, 1.0, 1.0, f32::MIN_POSITIVE, 0.0];
    for metric in METRICS {
        let space = Space::new(2, rows.clone(), metric).unwrap();
        let queries = [rows.clone(), vec![f32::MAX, f32::MAX, 0.0, 0.0]].concat();
        for (query, found) in
            queries.chunks_exact(2).zip(exact::nearest(&space, &queries, 3).unwrap())
        {
            assert!(
                agrees(&found, &naive(2, &rows, query, metric, 3)),
                "{metric:?} {query:?} {found:?}"
            );
        }
    }
}

proptest! {
    #[test]
    fn ties_go_to_the_earlier_row(
        rows in prop::collection::vec(prop::collection::vec(-2i8..=2, 3), 1..60),
        k in 1usize..9,
    ) {
        let values: Vec<f32> = rows.iter().flatten().map(|&v| f32::from(v)).collect();
        let space = Space::new(3, values.clone(), Metric::Euclidean).unwrap();
        let found = exact::nearest(&space, &values, k).unwrap();
        for (query, found) in values.chunks_exact(3).zip(&found) {
            prop_assert!(agrees(found, &naive(3, &values, query, Metric::Euclidean, k)));
        }
        // The others of a row are all but itself, by the same order.
        let others = exact::nearest_others(&space, k).unwrap();
        for (i, (query, found)) in values.chunks_exact(3).zip(&others).enumerate() {
            let mut expected = naive(3, &values, query, Metric::Euclidean, rows.len());
            expected.retain(|(j, _)| *j != i);
            expected.truncate(k);
            prop_assert!(agrees(found, &expected));
        }
    }
}

#[test]
fn standardised_distances_are_those_of_standardised_vectors() {
    let dim = 5;
    let mut rows = numbers(300, dim, 5);
    // Columns of very different sizes, and one that is constant.
    for row in rows.chunks_exact_mut(dim) {
        row[0] *= 1000.0;
        row[1] = 7.5;
    }
    let query = [20.0, 7.5, 0.3, -0.2, 0.9];
    let mut scaled = rows.clone();
    let scale = hg2v_search::scale::StandardScaler::of(&rows, dim);
    scale.apply(&mut scaled);
    let mut scaled_query = query;
    scale.apply(&mut scaled_query);
    let space = Space::standardised(dim, rows, Metric::Cosine).unwrap();
    let found = exact::nearest(&space, &query, 6).unwrap();
    assert!(agrees(&found[0], &naive(dim, &scaled, &scaled_query, Metric::Cosine, 6)));
    assert_eq!(scale.scales[1], 1.0);
}

#[test]
fn links_lead_to_nearly_all_neighbours_and_exactly_measured() {
    let (n, dim) = (6000, 24);
    let rows = clusters(n, dim, 40);
    for metric in METRICS {
        let space = Space::new(dim, rows.clone(), metric).unwrap();
        let links = Hnsw::new(&space, Params::default(), &Context::default()).unwrap();
        let queries = &rows[..500 * dim];
        let (near, truth) = (
            links.nearest(&space, queries, 10).unwrap(),
            exact::nearest(&space, queries, 10).unwrap(),
        );
        let mut hits = 0;
        for (near, truth) in near.iter().zip(&truth) {
            hits += near.iter().filter(|found| truth.contains(found)).count();
        }
        assert!(hits >= 4950, "{hits} of 5000, {metric:?}");
    }
}

#[test]
fn a_far_group_of_rows_that_come_together_is_found() {
    // 300 rows of a group of their own stand at the end.
    let dim = 8;
    let mut rows = numbers(4000, dim, 6);
    rows.extend(numbers(300, dim, 7).iter().map(|x| x * 0.1 + 50.0));
    let space = Space::new(dim, rows.clone(), Metric::Euclidean).unwrap();
    let links = Hnsw::new(&space, Params::default(), &Context::default()).unwrap();
    let queries = &rows[4000 * dim..];
    let near = links.nearest(&space, queries, 5).unwrap();
    let truth = exact::nearest(&space, queries, 5).unwrap();
    let hits: usize =
        near.iter().zip(&truth).map(|(a, b)| a.iter().filter(|x| b.contains(x)).count()).sum();
    assert!(hits >= 1470, "{hits} of 1500");
}

#[test]
fn the_same_bits_at_any_number_of_threads() {
    let (n, dim) = (1500, 20);
    let rows = clusters(n, dim, 10);
    let run = |kind: IndexKind| {
        let space = Space::new(dim, rows.clone(), Metric::Cosine).unwrap();
        let index = Index::new(space, kind, 3, &Context::default()).unwrap();
        (index.neighbor_graph(6).unwrap(), duplicates(index.space(), 0.02, 100).unwrap())
    };
    for kind in [IndexKind::Exact, IndexKind::Approximate] {
        let one = in_pool(1, || run(kind));
        assert!(in_pool(2, || run(kind)) == one);
        assert!(in_pool(5, || run(kind)) == one);
    }
}

#[test]
fn an_index_is_approximate_only_where_it_is_large_or_told_to() {
    let space = || Space::new(1, vec![0.0f32, 1.0, 5.0], Metric::Euclidean).unwrap();
    assert!(Index::new(space(), IndexKind::BySize, 0, &Context::default()).unwrap().is_exact());
    let linked = Index::new(space(), IndexKind::Approximate, 0, &Context::default()).unwrap();
    assert!(!linked.is_exact());
    let positions: Vec<usize> =
        linked.nearest_to(2, 9).unwrap().iter().map(|n| n.position).collect();
    assert_eq!(positions, [1, 0]);
    assert!(linked.nearest_to(3, 1).unwrap_err().to_string().contains("there are 3 rows"));
    assert!(linked.nearest(&[0.5], 0).unwrap_err().to_string().contains("at least 1"));
}

#[test]
fn duplicates_are_all_pairs_within_a_distance() {
    let (n, dim) = (500, 6);
    let mut rows = numbers(n, dim, 8);
    // Row 450 is row 3, row 451 nearly so.
    rows.copy_within(3 * dim..4 * dim, 450 * dim);
    rows.copy_within(3 * dim..4 * dim, 451 * dim);
    rows[451 * dim] += 1e-6;
    for (metric, within) in
        [(Metric::Euclidean, 0.4), (Metric::Cosine, 0.01), (Metric::Euclidean, 0.0)]
    {
        let space = Space::new(dim, rows.clone(), metric).unwrap();
        let found = duplicates(&space, within, 10_000).unwrap();
        let mut expected: Vec<Pair> = Vec::new();
        for first in 0..n {
            for second in first + 1..n {
                let distance = space.distance(first, second);
                if distance <= within {
                    expected.push(Pair { first, second, distance });
                }
            }
        }
        expected.sort_by(|a, b| a.distance.total_cmp(&b.distance));
        assert_eq!(found.count, expected.len() as u64);
        assert_eq!(found.pairs, expected);
        assert_eq!((found.pairs[0].first, found.pairs[0].second), (3, 450));
        let few = duplicates(&space, within, 1).unwrap();
        assert_eq!((few.count, few.pairs.len()), (found.count, 1));
    }
    let space = Space::new(dim, rows, Metric::Cosine).unwrap();
    assert!(duplicates(&space, f64::NAN, 1).is_err());
}

#[test]
fn the_outlier_is_the_row_far_from_all() {
    let mut rows = numbers(200, 4, 9);
    rows[40..44].fill(30.0);
    let index = Index::new(
        Space::new(4, rows, Metric::Euclidean).unwrap(),
        IndexKind::Exact,
        0,
        &Context::default(),
    )
    .unwrap();
    let found = outliers(&index, 5).unwrap();
    assert_eq!(found[0].position, 10);
    assert!(found[0].distance > 50.0 && found[1].distance < 5.0);
    assert_eq!(found.len(), 200);
    let near = index.nearest_to(10, 5).unwrap();
    assert_eq!(near[4].distance, found[0].distance);
}

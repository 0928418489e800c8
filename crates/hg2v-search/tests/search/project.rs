//! Maps of vectors.

use std::sync::atomic::{AtomicU64, Ordering};

use hg2v::Error;
use hg2v::context::Context;
use hg2v::graph::Scalar;
use hg2v::progress::{Flow, Report};
use hg2v::vectors::Vectors;
use hg2v_search::catalog::{Catalog, SearchOptions};
use hg2v_search::hnsw::{Hnsw, Params};
use hg2v_search::project::{Pca, Point, Tsne, Umap, pca, tsne, umap};
use hg2v_search::{Index, IndexKind, Metric, NeighborGraph, Space};

use crate::common::{clusters, in_pool, numbers};

/// Neighbours and principal components, of which maps are made.
fn seen(dim: usize, vectors: &[f32], k: usize) -> (NeighborGraph, Vec<Point>) {
    let space = Space::new(dim, vectors.to_vec(), Metric::Euclidean).unwrap();
    let index = Index::new(space, IndexKind::Exact, 0, &Context::default()).unwrap();
    (index.neighbor_graph(k).unwrap(), pca(dim, vectors, 2).unwrap().points())
}

/// Components are orthonormal, coordinates have their variances and are uncorrelated, and
/// no other direction has more variance than the last left out.
fn holds(dim: usize, vectors: &[f32], found: &Pca, tolerance: f64) {
    let Pca { count, components, variances, coordinates, .. } = found;
    let dot = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
    let component = |c: usize| &components[c * dim..(c + 1) * dim];
    let n = vectors.len() / dim;
    for c in 0..*count {
        for d in 0..=c {
            let expected = if c == d { 1.0 } else { 0.0 };
            assert!((dot(component(c), component(d)) - expected).abs() < tolerance);
            let products = (0..n).map(|i| coordinates[i * count + c] * coordinates[i * count + d]);
            let expected = if c == d { variances[c] } else { 0.0 };
            let covariance = products.sum::<f64>() / (n - 1) as f64;
            assert!((covariance - expected).abs() < tolerance * variances[0]);
        }
        let largest =
            component(c).iter().copied().fold(0.0f64, |a, b| if b.abs() > a.abs() { b } else { a });
        assert!(largest > 0.0, "the sign is fixed");
    }
    assert!(variances.windows(2).all(|pair| pair[0] >= pair[1] * (1.0 - 1e-9)));
    assert!(variances.iter().sum::<f64>() <= found.total_variance * (1.0 + 1e-9));
}

#[test]
fn components_are_principal_whichever_way_they_are_computed() {
    // Columns of falling size, so that the order is known: wide, tall, and by steps.
    for (n, dim) in [(50, 20), (20, 50), (900, 800)] {
        let mut vectors = numbers(n, dim, 1);
        for row in vectors.chunks_exact_mut(dim) {
            row.iter_mut().enumerate().for_each(|(c, x)| *x = *x * 0.8f32.powi(c as i32) + 5.0);
        }
        let found = pca(dim, &vectors, 4).unwrap();
        holds(dim, &vectors, &found, 1e-7);
        // No four directions keep more, the first four columns not either.
        let columns = hg2v_search::scale::StandardScaler::of(&vectors, dim).scales;
        let of_columns: f64 = columns[..4].iter().map(|s| s * s * n as f64 / (n - 1) as f64).sum();
        let kept: f64 = found.variances.iter().sum();
        assert!(kept >= of_columns && kept <= found.total_variance, "{kept} {of_columns}");
    }
}

/// sklearn.decomposition.PCA(2).fit([[2, 0], [0, 1], [-2, 0], [0, -1]]): variances 8/3 and
/// 2/3, components [1, 0] and [0, 1].
#[test]
fn a_known_answer() {
    let found = pca(2, &[2.0, 0.0, 0.0, 1.0, -2.0, 0.0, 0.0, -1.0], 2).unwrap();
    let near = |a: &[f64], b: &[f64]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-12);
    assert!(near(&found.variances, &[8.0 / 3.0, 2.0 / 3.0]), "{found:?}");
    assert!(near(&found.components, &[1.0, 0.0, 0.0, 1.0]), "{found:?}");
    assert!(near(&found.coordinates[..2], &[2.0, 0.0]));
}

/// The share of points whose nearest other point is of the same cluster.
fn together(points: &[Point], groups: usize) -> f64 {
    let far = |a: Point, b: Point| (a[0] - b[0]).powi(2) + (a[1] - b[1]).powi(2);
    let same = (0..points.len()).filter(|&i| {
        let others = (0..points.len()).filter(|&j| j != i);
        let nearest =
            others.min_by(|&a, &b| far(points[a], points[i]).total_cmp(&far(points[b], points[i])));
        nearest.unwrap() % groups == i % groups
    });
    same.count() as f64 / points.len() as f64
}

#[test]
fn neighbours_stay_neighbours_and_threads_change_nothing() {
    let (n, dim, groups) = (240, 12, 6);
    let vectors = clusters(n, dim, groups);
    let run = || {
        let t = Tsne::default().perplexity(12.0).steps(300);
        let u = Umap::default().epochs(Some(120));
        let (graph, places) = seen(dim, &vectors, 36);
        let maps = [
            tsne(&graph, &places, &t, &Context::default()).unwrap(),
            umap(&graph, &places, &u, &Context::default()).unwrap(),
        ];
        // Neighbours that a method does not need change nothing.
        let (own, _) = seen(dim, &vectors, u.neighbors_needed(n).unwrap());
        assert!(umap(&own, &places, &u, &Context::default()).unwrap() == maps[1]);
        let (more, _) = seen(dim, &vectors, 50);
        assert!(tsne(&more, &places, &t, &Context::default()).unwrap() == maps[0]);
        maps
    };
    let one = in_pool(1, run);
    for points in &one {
        assert!(points.iter().flatten().all(|x| x.is_finite()));
        let share = together(points, groups);
        assert!(share > 0.95, "{share}");
    }
    assert!(in_pool(3, run) == one);
}

#[test]
fn seeds_move_umap_and_nothing_else() {
    let vectors = clusters(60, 4, 3);
    let (graph, places) = seen(4, &vectors, 14);
    let by = |seed| {
        let params = Umap::default().seed(seed).epochs(Some(20));
        umap(&graph, &places, &params, &Context::default()).unwrap()
    };
    assert!(by(0) == by(0));
    assert!(by(0) != by(1));
}

#[test]
fn few_equal_and_no_vectors_have_places_too() {
    for n in 0..5 {
        for vectors in [numbers(n, 3, 2), vec![1.5; 3 * n]] {
            let (graph, places) = seen(3, &vectors, 5);
            let t = Tsne::default().steps(20);
            let u = Umap::default().epochs(Some(20));
            for points in [
                tsne(&graph, &places, &t, &Context::default()).unwrap(),
                umap(&graph, &places, &u, &Context::default()).unwrap(),
                places,
            ] {
                assert_eq!(points.len(), n);
                assert!(points.iter().flatten().all(|x| x.is_finite()));
            }
        }
    }
    assert!(pca(3, &[1.0; 4], 2).is_err());
    let (graph, places) = seen(1, &[1.0; 4], 3);
    let nonsense = Tsne::default().perplexity(f64::NAN);
    assert!(tsne(&graph, &places, &nonsense, &Context::default()).is_err());
    assert!(umap(&graph, &places, &Umap::default().neighbors(1), &Context::default()).is_err());
}

#[test]
fn a_neighbour_graph_that_does_not_fit_is_refused() {
    let vectors = clusters(40, 4, 3);
    let (graph, places) = seen(4, &vectors, 5);
    let t = Tsne::default().perplexity(4.0);
    let told = |result: hg2v::Result<Vec<Point>>| result.unwrap_err().to_string();
    let few = told(tsne(&graph, &places, &t, &Context::default()));
    assert!(few.contains("neighbors is 5") && few.contains("12 of each row"), "{few}");
    let few = told(umap(&graph, &places, &Umap::default(), &Context::default()));
    assert!(few.contains("14 of each row"), "{few}");
    let t = t.perplexity(1.0);
    let other = told(tsne(&graph, &places[1..], &t, &Context::default()));
    assert!(other.contains("rows is 39") && other.contains("40 rows"), "{other}");
    let space = Space::new(4, vectors, Metric::Cosine).unwrap();
    let cosine = Index::new(space, IndexKind::Exact, 0, &Context::default())
        .unwrap()
        .neighbor_graph(5)
        .unwrap();
    let angles = told(tsne(&cosine, &places, &t, &Context::default()));
    assert!(angles.contains("Euclidean"), "{angles}");
}

/// Vectors of which some are equal, so that ties are met, too.
#[test]
fn the_first_of_many_neighbours_are_the_few() {
    let mut vectors = clusters(700, 6, 5);
    vectors.copy_within(0..6 * 40, 6 * 300);
    for metric in [Metric::Euclidean, Metric::Cosine] {
        let space = Space::new(6, vectors.clone(), metric).unwrap();
        let index = Index::new(space, IndexKind::Exact, 0, &Context::default()).unwrap();
        let many = index.neighbor_graph(90).unwrap();
        for k in [1, 6, 14, 89] {
            let few = index.neighbor_graph(k).unwrap();
            for row in 0..700 {
                assert_eq!(many.nearest(row, k), few.nearest(row, k));
                assert_eq!(few.nearest(row, 90).len(), k);
            }
            assert_eq!(many.clone().into_lists(k), few.into_lists(k));
        }
    }
}

/// Eighty vectors of a few distinct rows: nearly all of the spectrum is rounding.
#[test]
fn components_of_low_rank_settle() {
    for (distinct, scale) in [(5, 1.0f32), (5, 3e4), (2, 1e-3), (9, 100.0)] {
        for (n, dim) in [(80, 128), (128, 80), (900, 800)] {
            let rows = clusters(distinct, dim, distinct);
            let vectors: Vec<f32> = (0..n)
                .flat_map(|i| &rows[i * i % distinct * dim..][..dim])
                .map(|x| x * scale)
                .collect();
            let found = pca(dim, &vectors, 2).unwrap();
            assert!(found.coordinates.iter().all(|x| x.is_finite()));
            assert!(
                found.variances[0] > 0.0 && found.variances[0] <= 1.0001 * found.total_variance
            );
        }
    }
}

#[test]
fn whoever_waits_for_links_and_maps_can_stop_them() {
    let rows = numbers(200, 3, 5);
    let asked = AtomicU64::new(0);
    let stop = |_: &Report<'_>| match asked.fetch_add(1, Ordering::Relaxed) {
        0 | 1 => Flow::Continue,
        _ => Flow::Stop,
    };
    let context = Context::default().watched_by(&stop);
    let space = || Space::new(3, rows.clone(), Metric::Euclidean).unwrap();
    let graph = Index::new(space(), IndexKind::Exact, 0, &context).unwrap();
    let graph = graph.neighbor_graph(90).unwrap();
    let places = pca(3, &rows, 2).unwrap().points();
    let vectors = || Vectors {
        dim: 3,
        values: rows.clone(),
        ids: (0..200).map(Scalar::Int).collect(),
        labels: vec![None; 200],
        model: None,
    };
    let linked = SearchOptions::default().index(IndexKind::Approximate);
    let works: [&dyn Fn() -> hg2v::Result<()>; 5] = [
        &|| Hnsw::new(&space(), Params::default(), &context).map(drop),
        &|| Index::new(space(), IndexKind::Approximate, 0, &context).map(drop),
        &|| Catalog::new(vectors(), "e.csv".as_ref(), linked, &context).map(drop),
        &|| tsne(&graph, &places, &Tsne::default(), &context).map(drop),
        &|| umap(&graph, &places, &Umap::default(), &context).map(drop),
    ];
    for (which, work) in works.iter().enumerate() {
        asked.store(0, Ordering::Relaxed);
        let stopped = work();
        assert!(matches!(stopped, Err(Error::Stopped)), "{which}: {stopped:?}");
        assert_eq!(asked.load(Ordering::Relaxed), 3, "{which}: nothing is done after the answer");
    }
}

//! What must hold of every pyramid, on random graphs and at the edges of the domain.

use hg2v::coarsen::cache::pyramids;
use hg2v::coarsen::quality::quality;
use hg2v::coarsen::{CoarsenMethod, Params, Pyramid, coarsen};
use hg2v::graph::{Components, Graph, GraphRecord, WeightPolicy};
use hg2v::progress::{Counter, Silent, Stage};
use hg2v::vocabulary::Named;
use proptest::prelude::*;

fn graph(num_nodes: u32, edges: Vec<[u32; 2]>, weights: Option<Vec<f64>>) -> Graph {
    let record = GraphRecord { num_nodes, edges, weights, ..GraphRecord::default() };
    Graph::from_record(&record, WeightPolicy::Use).unwrap().0
}

/// Any graph: sparse or dense, connected or not, with isolated nodes, weighted.
fn any_graph() -> impl Strategy<Value = Graph> {
    (0u32..60).prop_flat_map(|n| {
        let pair = (0..n.max(1), 0..n.max(1), 0.1f64..5.0);
        prop::collection::vec(pair, 0..if n == 0 { 1 } else { 150 }).prop_map(move |pairs| {
            let pairs: Vec<_> = pairs.into_iter().filter(|_| n > 0).collect();
            let edges = pairs.iter().map(|&(u, v, _)| [u, v]).collect();
            graph(n, edges, Some(pairs.iter().map(|p| p.2).collect()))
        })
    })
}

fn any_method() -> impl Strategy<Value = CoarsenMethod> {
    prop::sample::select(CoarsenMethod::values().collect::<Vec<_>>())
}

fn levels(graph: &Graph, pyramid: &Pyramid) -> Vec<(Graph, Vec<u32>, Graph)> {
    let mut below = graph.clone();
    let mut all = Vec::new();
    for level in &pyramid.levels {
        all.push((below, level.assignment.clone(), level.graph.clone()));
        below = level.graph.clone();
    }
    all
}

fn total_weight(graph: &Graph) -> f64 {
    graph.edges().map(|(_, _, weight)| f64::from(weight)).sum()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    /// The paper's definition: a surjective homomorphism onto a smaller graph, no
    /// coarse edge without a fine one, weights conserved but within super-nodes.
    #[test]
    fn levels_are_surjective_homomorphisms(
        graph in any_graph(),
        method in any_method(),
        ratio in 0.0f64..0.999,
        k in 1usize..12,
    ) {
        let params = Params::default().method(method).k(k).ratio(ratio);
        let pyramid = coarsen(&graph, &params).unwrap();
        prop_assert!(pyramid.converged);
        for (fine, assignment, coarse) in levels(&graph, &pyramid) {
            prop_assert_eq!(assignment.len(), fine.num_nodes());
            prop_assert!(coarse.num_nodes() + 2 < fine.num_nodes());
            let mut hit = vec![false; coarse.num_nodes()];
            assignment.iter().for_each(|&a| hit[a as usize] = true);
            prop_assert!(hit.iter().all(|&hit| hit), "not surjective");
            // Every fine edge maps to a coarse one or inside a super-node.
            let mut images = std::collections::BTreeMap::new();
            let mut inside = 0.0;
            for (u, v, weight) in fine.edges() {
                let (a, b) = (assignment[u as usize], assignment[v as usize]);
                if a == b {
                    inside += f64::from(weight);
                } else {
                    prop_assert!(coarse.neighbors(a as usize).contains(&b));
                    *images.entry((a.min(b), a.max(b))).or_insert(0.0) += f64::from(weight);
                }
            }
            if method.contracts() {
                // And every coarse edge is the sum of its fine ones.
                for (a, b, weight) in coarse.edges() {
                    let sum: f64 = images.get(&(a, b)).copied().unwrap_or(f64::NAN);
                    prop_assert!((sum - f64::from(weight)).abs() <= 1e-5 * sum);
                }
                let kept = total_weight(&coarse);
                prop_assert!((kept + inside - total_weight(&fine)).abs() <= 1e-4 * (1.0 + kept));
                // Super-nodes are numbered by their smallest member.
                let mut seen = 0;
                for &a in &assignment {
                    prop_assert!(a <= seen);
                    seen = seen.max(a + 1);
                }
            }
            prop_assert_eq!(Components::of(&fine).count(), Components::of(&coarse).count());
        }
    }

    /// `C` has orthonormal rows, so `C·C⁺ = I` with `C⁺ = Cᵀ`.
    #[test]
    fn coarsening_matrices_have_orthonormal_rows(graph in any_graph()) {
        let pyramid = coarsen(&graph, &Params::default().ratio(0.6)).unwrap();
        for (_, assignment, coarse) in levels(&graph, &pyramid) {
            let m = coarse.num_nodes();
            let mut sizes = vec![0.0f64; m];
            assignment.iter().for_each(|&a| sizes[a as usize] += 1.0);
            let entry = |row: usize, node: usize| {
                if assignment[node] as usize == row { 1.0 / sizes[row].sqrt() } else { 0.0 }
            };
            for i in 0..m {
                for j in 0..m {
                    let dot: f64 = (0..assignment.len()).map(|v| entry(i, v) * entry(j, v)).sum();
                    let expected = f64::from(u8::from(i == j));
                    prop_assert!((dot - expected).abs() < 1e-12);
                }
            }
        }
    }

    /// The coarse Laplacian's spectrum lies above the fine one's (interlacing), and
    /// `|x|_L` shrinks by at most ε on the preserved subspace: `λ̃ ≥ λ`.
    #[test]
    fn one_level_never_lowers_an_eigenvalue(graph in any_graph()) {
        let params = Params::default().ratio(0.4).max_levels(1);
        let pyramid = coarsen(&graph, &params).unwrap();
        let measured = quality(&graph, &pyramid, params.k, true);
        let coarse = measured.coarse_eigenvalues.unwrap();
        for (fine, coarse) in measured.eigenvalues.iter().zip(&coarse) {
            prop_assert!(*coarse >= fine - 1e-9 * (1.0 + fine), "{} {}", fine, coarse);
        }
    }

    /// Relabelling the nodes relabels the pyramid, where costs do not tie: random
    /// weights break the ties.
    #[test]
    fn relabelling_gives_the_same_pyramid(
        n in 12u32..50,
        weights in prop::collection::vec(0.5f64..2.0, 200),
        shuffle in any::<u64>(),
        method in prop::sample::select(vec![
            CoarsenMethod::VariationNeighborhoods, CoarsenMethod::VariationEdges,
            CoarsenMethod::VariationCliques, CoarsenMethod::HeavyEdge,
        ]),
    ) {
        let mut edges: Vec<[u32; 2]> = (1..n).map(|v| [v / 2, v]).collect();
        edges.extend((0..n).map(|v| [v, (v * 7 + 3) % n]));
        let weights: Vec<f64> = weights[..edges.len()].to_vec();
        // Each node's new name: sorted by a hash of its old one.
        let mut order: Vec<u32> = (0..n).collect();
        order.sort_by_key(|&v| (u64::from(v) ^ shuffle).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20);
        let mut name = vec![0; n as usize];
        order.iter().enumerate().for_each(|(new, &old)| name[old as usize] = new as u32);
        let renamed = edges.iter().map(|e| e.map(|v| name[v as usize])).collect();
        let params = Params::default().method(method).ratio(0.7);
        let first = coarsen(&graph(n, edges, Some(weights.clone())), &params).unwrap();
        let second = coarsen(&graph(n, renamed, Some(weights)), &params).unwrap();
        prop_assert_eq!(first.levels.len(), second.levels.len());
        let (mut a, mut b): (Vec<u32>, Vec<u32>) = ((0..n).collect(), name);
        for (one, two) in first.levels.iter().zip(&second.levels) {
            a.iter_mut().for_each(|v| *v = one.assignment[*v as usize]);
            b.iter_mut().for_each(|v| *v = two.assignment[*v as usize]);
            for u in 0..n as usize {
                for v in 0..u {
                    prop_assert_eq!(a[u] == a[v], b[u] == b[v], "nodes {} and {}", u, v);
                }
            }
        }
    }
}

/// The same bytes at 1, 2 and 4 threads, for many small graphs and for one that
/// is large enough to be split inside.
#[test]
fn threads_change_nothing() {
    let mut graphs: Vec<Graph> = (2..60u32)
        .map(|n| graph(n, (0..2 * n).map(|e| [e % n, (e * e + 3) % n]).collect(), None))
        .collect();
    // A grid, which fills when factored, and a preferential-attachment graph.
    let side = 150;
    let at = |row: u32, column: u32| row * side + column;
    let grid = (0..side).flat_map(|row| {
        (0..side).flat_map(move |column| {
            let right = (column + 1 < side).then(|| [at(row, column), at(row, column + 1)]);
            let down = (row + 1 < side).then(|| [at(row, column), at(row + 1, column)]);
            right.into_iter().chain(down)
        })
    });
    graphs.push(graph(side * side, grid.collect(), None));
    let n = 20_000u32;
    let older = |v: u32, salt: u64| {
        let mixed = (u64::from(v) + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        let unit = mixed as f64 / (1u64 << 53) as f64;
        (unit * unit * f64::from(v)) as u32
    };
    let edges = (1..n).flat_map(|v| [[v, older(v, 1)], [v, older(v, 99)]]).collect();
    graphs.push(graph(n, edges, None));
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| pyramids(&[&graphs], &Params::default(), None, &counter()).unwrap().0)
    };
    let one = run(1);
    assert!(one == run(2), "two threads differ from one");
    assert!(one == run(4), "four threads differ from one");
    assert!(one.iter().all(|pyramid| pyramid.converged));
}

/// Graphs on which the reference fails or that have no room for a pyramid.
#[test]
fn the_edges_of_the_domain() {
    let star = |n: u32| graph(n, (1..n).map(|v| [0, v]).collect(), None);
    for method in CoarsenMethod::values() {
        for k in [1, 2, 6, 30] {
            let params = Params::default().method(method).k(k);
            // No nodes, one, no edges, a pair: nothing to contract that is worth a level.
            for n in [0, 1, 2, 50] {
                assert!(coarsen(&graph(n, vec![], None), &params).unwrap().levels.is_empty());
            }
            assert!(coarsen(&graph(2, vec![[0, 1]], None), &params).unwrap().levels.is_empty());
            // k far beyond n; the eigenvalue 1 of a star is as large as its leaves. Its one
            // large neighbourhood may remove more than is left to remove, and then
            // nothing is worth contracting, as in the reference.
            for n in [5, 30, 300] {
                let pyramid = coarsen(&star(n), &params).unwrap();
                assert!(pyramid.converged, "{} {k} {n}", method);
            }
            let caterpillar = graph(90, (1..90).map(|v| [v / 3, v]).collect(), None);
            assert!(!coarsen(&caterpillar, &params).unwrap().levels.is_empty());
            // A hundred triangles and as many isolated nodes.
            let triangles = (0..100).flat_map(|t| {
                let t = 4 * t;
                [[t, t + 1], [t + 1, t + 2], [t + 2, t]]
            });
            let pyramid = coarsen(&graph(400, triangles.collect(), None), &params).unwrap();
            let last = pyramid.levels.last().unwrap();
            assert!(last.graph.num_nodes() >= 200, "a component disappeared");
        }
    }
}

/// Two hubs that share fifty thousand leaves: no step may look at every leaf of a
/// hub for every leaf.
#[test]
fn hubs_with_many_leaves() {
    let n = 50_002;
    let edges = (2..n).flat_map(|v| [[0, v], [1, v]]).collect();
    let pyramid = coarsen(&graph(n, edges, None), &Params::default()).unwrap();
    assert!(pyramid.converged);
}

#[test]
fn parameters_are_checked_one_by_one() {
    let triangle = graph(3, vec![[0, 1], [1, 2], [2, 0]], None);
    let refused = |params: Params| coarsen(&triangle, &params).unwrap_err().to_string();
    let fine = Params::default();
    assert_eq!(refused(fine.k(0)), "k is 0, but it must be between 1 and 30");
    assert!(refused(fine.k(31)).starts_with("k is 31"));
    assert!(refused(fine.ratio(1.0)).starts_with("ratio is 1, but it must be"));
    assert!(refused(fine.ratio(f64::NAN)).starts_with("ratio is NaN"));
    assert!(refused(fine.ratio(-0.1)).starts_with("ratio is -0.1"));
    assert!(refused(fine.max_levels(101)).starts_with("max_levels is 101"));
}

fn counter() -> Counter<'static> {
    Counter::new(&Silent, Stage::Coarsening, 0)
}

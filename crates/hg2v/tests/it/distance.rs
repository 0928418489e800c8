//! Distances between graphs: against brute force, certificates and the axioms of a
//! metric; and the paper's lemma, that the embedding is continuous where labels are not.

use hg2v::distance::fgw::{Attributed, Discrepancy, Params, descend, fgw};
use hg2v::distance::simplex::Solver;
use hg2v::distance::spectra::{MOST_NODES, spectrum, wasserstein};
use hg2v::distance::transport::{Plan, transport, uniform};
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{Features, Graph, GraphRecord, Scalar, WeightPolicy};
use hg2v::{Hg2v, Model};
use proptest::prelude::*;
use proptest::strategy::ValueTree;

/// Whether `plan` moves `rows` to `columns` and its potentials prove that nothing is cheaper.
fn certify(plan: &Plan, costs: &[f64], rows: &[f64], columns: &[f64]) {
    let m = columns.len();
    let scale = costs.iter().fold(1.0f64, |most, cost| most.max(cost.abs()));
    let (row_sum, column_sum) = (rows.iter().sum::<f64>(), columns.iter().sum::<f64>());
    let (mut left, mut room) = (rows.to_vec(), columns.to_vec());
    let mut cost = 0.0;
    for &(row, column, mass) in &plan.flows {
        let (row, column) = (row as usize, column as usize);
        assert!(mass > 0.0);
        left[row] -= mass * row_sum;
        room[column] -= mass * column_sum;
        cost += mass * costs[row * m + column];
        let (u, v) = (plan.row_potentials[row], plan.column_potentials[column]);
        assert!((costs[row * m + column] - u - v).abs() <= 1e-12 * scale, "an arc is slack");
    }
    assert!(left.iter().all(|mass| mass.abs() <= 1e-12 * row_sum), "{left:?}");
    assert!(room.iter().all(|mass| mass.abs() <= 1e-12 * column_sum), "{room:?}");
    for (row, u) in plan.row_potentials.iter().enumerate() {
        for (column, v) in plan.column_potentials.iter().enumerate() {
            assert!(u + v <= costs[row * m + column] + 1e-12 * scale, "{row} {column}");
        }
    }
    assert!((cost - plan.cost).abs() <= 1e-12 * scale);
    assert!(plan.gap.abs() <= 1e-12 * scale, "{}", plan.gap);
}

/// All orders of `0..n`.
fn permutations(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let insert = |shorter: &Vec<usize>, at: usize| {
        let mut longer = shorter.clone();
        longer.insert(at, last);
        longer
    };
    let shorter = permutations(last);
    shorter.iter().flat_map(|p| (0..n).map(move |at| insert(p, at))).collect()
}

/// Sizes, costs with many ties or with none, and masses with zeros among them.
fn problems() -> impl Strategy<Value = (Vec<f64>, Vec<f64>, Vec<f64>)> {
    (1usize..14, 1usize..14, any::<bool>(), 0u8..3).prop_flat_map(|(n, m, ties, kind)| {
        let cost = if ties { (-3i32..4).prop_map(f64::from).boxed() } else { (-9.0..9.0).boxed() };
        let mass = move || match kind {
            0 => Just(1.0).boxed(),
            1 => (0u8..4).prop_map(f64::from).boxed(),
            _ => prop_oneof![Just(0.0), 1e-9..1.0, Just(0.1)].boxed(),
        };
        let masses = move |count| {
            proptest::collection::vec(mass(), count)
                .prop_filter("some mass", |masses| masses.iter().sum::<f64>() > 0.0)
        };
        let costs = proptest::collection::vec(cost, n * m);
        (costs, masses(n), masses(m)).prop_map(|(costs, rows, mut columns)| {
            let factor = rows.iter().sum::<f64>() / columns.iter().sum::<f64>();
            columns.iter_mut().for_each(|mass| *mass *= factor);
            (costs, rows, columns)
        })
    })
}

proptest! {
    #[test]
    fn plans_prove_themselves((costs, rows, columns) in problems()) {
        let plan = transport(&costs, &rows, &columns).unwrap();
        certify(&plan, &costs, &rows, &columns);
    }

    #[test]
    fn equal_masses_are_an_assignment(
        (n, costs) in (1usize..7).prop_flat_map(|n| {
            (Just(n), proptest::collection::vec(-9.0..9.0f64, n * n))
        })
    ) {
        let plan = uniform(&costs, n, n).unwrap();
        let cost = |p: &Vec<usize>| -> f64 {
            p.iter().enumerate().map(|(i, &j)| costs[i * n + j]).sum::<f64>() / n as f64
        };
        let best = permutations(n).iter().map(cost).fold(f64::INFINITY, f64::min);
        prop_assert!((plan.cost - best).abs() < 1e-12, "{} {best}", plan.cost);
    }

    #[test]
    fn one_memory_serves_many_problems(
        problems in proptest::collection::vec(problems(), 1..5)
    ) {
        let mut solver = Solver::default();
        for (costs, rows, columns) in problems {
            // Equal masses, whatever the problem's: whole numbers of equal sums.
            let (n, m) = (rows.len(), columns.len());
            let cost = solver.solve(&costs, &vec![m as u64; n], &vec![n as u64; m]);
            prop_assert_eq!(cost.to_bits(), uniform(&costs, n, m).unwrap().cost.to_bits());
        }
    }

    #[test]
    fn spectra_are_transported_along_the_line(
        mut a in proptest::collection::vec(0.0..9.0f64, 1..20),
        mut b in proptest::collection::vec(0.0..9.0f64, 1..20),
        mut c in proptest::collection::vec(0.0..9.0f64, 1..20),
    ) {
        for values in [&mut a, &mut b, &mut c] {
            values.sort_unstable_by(f64::total_cmp);
        }
        let costs: Vec<f64> =
            a.iter().flat_map(|x| b.iter().map(move |y| (x - y).abs())).collect();
        let exact = uniform(&costs, a.len(), b.len()).unwrap().cost;
        prop_assert!((wasserstein(&a, &b) - exact).abs() < 1e-12);
        // A metric.
        prop_assert_eq!(wasserstein(&a, &a), 0.0);
        prop_assert!((wasserstein(&a, &b) - wasserstein(&b, &a)).abs() < 1e-12);
        prop_assert!(wasserstein(&a, &c) <= wasserstein(&a, &b) + wasserstein(&b, &c) + 1e-12);
    }
}

#[test]
fn transport_of_one_row_is_the_mean() {
    let plan = transport(&[1.0, 2.0, 6.0], &[7.0], &[3.5, 1.75, 1.75]).unwrap();
    assert_eq!(plan.cost, 2.5);
    let plan = transport(&[1.0, 2.0, 6.0], &[0.0, 2.0, 0.0], &[2.0]).unwrap();
    assert_eq!((plan.cost, plan.flows), (2.0, vec![(1, 0, 1.0)]));
}

#[test]
fn impossible_transports_are_refused() {
    let refused = |costs: &[f64], rows: &[f64], columns: &[f64]| {
        transport(costs, rows, columns).unwrap_err().to_string()
    };
    let cases = [
        (refused(&[1.0; 3], &[1.0], &[0.5, 0.5]), "there must be 1 × 2"),
        (refused(&[1.0, f64::NAN], &[1.0], &[0.5, 0.5]), "row 0, column 1"),
        (refused(&[1.0, 1.0], &[1.0], &[1.5, -0.5]), "a mass is -0.5"),
        (refused(&[1.0, 1.0], &[1.0], &[0.5, 0.4]), "the columns' is 0.9"),
        (refused(&[1.0, 1.0], &[0.0], &[0.0, 0.0]), "above 0"),
        (refused(&[], &[], &[]), "above 0"),
        (refused(&[1.0], &[f64::INFINITY], &[1.0]), "a mass is inf"),
    ];
    for (said, word) in cases {
        assert!(said.contains(word), "{said}");
    }
    // Sums that differ by rounding are the same.
    let thirds = [0.1 + 0.2, 0.3, 0.4];
    let plan = transport(&[0.0, 1.0, 2.0], &[1.0], &thirds).unwrap();
    assert!((plan.cost - 1.1).abs() < 1e-15);
}

fn record(num_nodes: u32, edges: &[[u32; 2]]) -> GraphRecord {
    GraphRecord { num_nodes, edges: edges.to_vec(), ..GraphRecord::default() }
}

fn graph(record: &GraphRecord) -> Graph {
    Graph::from_record(record, WeightPolicy::Use).unwrap().0
}

#[test]
fn spectra_of_known_graphs() {
    // A triangle, an edge and a lonely node: 0 3 3, 0 2, 0.
    let parts = record(6, &[[0, 1], [1, 2], [0, 2], [3, 5]]);
    let found = spectrum(&graph(&parts)).unwrap();
    for (value, expected) in found.iter().zip([0.0, 0.0, 0.0, 2.0, 3.0, 3.0]) {
        assert!((value - expected).abs() < 1e-12, "{found:?}");
    }
    assert_eq!(spectrum(&graph(&record(0, &[]))).unwrap(), [0.0; 0]);
    assert_eq!(wasserstein(&[], &[1.0, 3.0]), 2.0);
    let path: Vec<[u32; 2]> = (0..MOST_NODES as u32).map(|v| [v, v + 1]).collect();
    let refused = spectrum(&graph(&record(MOST_NODES as u32 + 1, &path))).unwrap_err();
    assert!(refused.to_string().contains("5001"), "{refused}");
}

/// Connected graphs of `n` nodes with weights and one attribute.
fn attributed(n: u32) -> impl Strategy<Value = (GraphRecord, Features)> {
    let n_edges = (n * (n - 1) / 2) as usize;
    let weights = proptest::collection::vec(prop_oneof![Just(0.0), 0.1..2.0f64], n_edges);
    let values = proptest::collection::vec(-1.0..1.0f64, n as usize);
    (weights, values).prop_map(move |(weights, values)| {
        let edges = (0..n).flat_map(|u| (u + 1..n).map(move |v| [u, v])).collect();
        let record =
            GraphRecord { num_nodes: n, edges, weights: Some(weights), ..GraphRecord::default() };
        (record, Features { dim: 1, values })
    })
}

/// `E` of a coupling by its definition, four sums and all.
fn energy(a: (&Graph, &Features), b: (&Graph, &Features), plan: &[f64], params: &Params) -> f64 {
    let weight = |graph: &Graph, u: usize, v: usize| {
        let at = graph.neighbors(u).binary_search(&(v as u32));
        at.map_or(0.0, |at| f64::from(graph.weights(u)[at]))
    };
    let (n, m) = (a.0.num_nodes(), b.0.num_nodes());
    let power = |x: f64| match params.discrepancy {
        Discrepancy::Absolute => x.abs(),
        Discrepancy::Square => x * x,
        other => panic!("{other:?} has no definition here"),
    };
    let mut sum = 0.0;
    for (u, v) in (0..n).flat_map(|u| (0..m).map(move |v| (u, v))) {
        let apart = power(a.1.values[u] - b.1.values[v]);
        sum += params.attributes * plan[u * m + v] * apart;
        for (x, y) in (0..n).flat_map(|x| (0..m).map(move |y| (x, y))) {
            let loss = power(weight(a.0, u, x) - weight(b.0, v, y));
            sum += params.structure * plan[u * m + v] * plan[x * m + y] * loss;
        }
    }
    sum
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, ..ProptestConfig::default() })]

    #[test]
    fn fused_distances_are_what_they_say(
        ((one, z1), (two, z2)) in (2u32..6, 2u32..6)
            .prop_flat_map(|(n, m)| (attributed(n), attributed(m))),
        absolute in any::<bool>(),
    ) {
        let params = if absolute { Params::paper() } else { Params::square(0.6) };
        let (g1, g2) = (graph(&one), graph(&two));
        let (a, b) = (
            Attributed { graph: &g1, attributes: &z1 },
            Attributed { graph: &g2, attributes: &z2 },
        );
        let found = fgw(a, b, &params).unwrap();
        let (n, m) = (g1.num_nodes(), g2.num_nodes());
        // A coupling, and its energy.
        for row in found.plan.chunks_exact(m) {
            prop_assert!((row.iter().sum::<f64>() - 1.0 / n as f64).abs() < 1e-12);
        }
        for v in 0..m {
            let column: f64 = (0..n).map(|u| found.plan[u * m + v]).sum();
            prop_assert!((column - 1.0 / m as f64).abs() < 1e-12);
        }
        let defined = energy((&g1, &z1), (&g2, &z2), &found.plan, &params);
        prop_assert!((found.distance - defined).abs() < 1e-10, "{} {defined}", found.distance);
        prop_assert!(found.gap <= 1e-9 * (1.0 + found.distance) || found.steps == 1000);
        // Never worse than the first start alone; and at least what attributes alone cost.
        let first = descend(a, b, &params, None).unwrap();
        prop_assert!(found.distance <= first.distance);
        let alone = params.structure(0.0);
        let least = fgw(a, b, &alone).unwrap().distance;
        prop_assert!(found.distance >= least - 1e-12);
    }

    #[test]
    fn the_same_graph_is_no_distance_away(
        ((record, z), order) in (2u32..7).prop_flat_map(|n| {
            (attributed(n), Just((0..n).collect::<Vec<u32>>()).prop_shuffle())
        }),
    ) {
        // Nodes in another order; distinct attributes say which is which.
        let n = record.num_nodes as usize;
        let mut renamed = record.clone();
        for edge in &mut renamed.edges {
            *edge = edge.map(|v| order[v as usize]);
        }
        let mut values = vec![0.0; n];
        (0..n).for_each(|v| values[order[v] as usize] = z.values[v]);
        let other = Features { dim: 1, values };
        let (g1, g2) = (graph(&record), graph(&renamed));
        let (a, b) = (
            Attributed { graph: &g1, attributes: &z },
            Attributed { graph: &g2, attributes: &other },
        );
        for params in [Params::paper(), Params::square(0.5)] {
            prop_assert!(fgw(a, b, &params).unwrap().distance < 1e-12);
        }
    }
}

/// From every assignment of five nodes as a start, nothing better is found than from
/// the few starts of `fgw`, or hardly.
#[test]
fn few_starts_are_nearly_as_good_as_all() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let strategy = (attributed(5), attributed(5));
    let (mut equal, count) = (0, 40);
    for _ in 0..count {
        let ((one, z1), (two, z2)) = strategy.new_tree(&mut runner).unwrap().current();
        let (g1, g2) = (graph(&one), graph(&two));
        let (a, b) = (
            Attributed { graph: &g1, attributes: &z1 },
            Attributed { graph: &g2, attributes: &z2 },
        );
        let params = Params::paper();
        let found = fgw(a, b, &params).unwrap().distance;
        let best = permutations(5).into_iter().map(|p| {
            let mut start = vec![0.0; 25];
            p.iter().enumerate().for_each(|(u, &v)| start[u * 5 + v] = 0.2);
            descend(a, b, &params, Some(start)).unwrap().distance
        });
        let best = best.fold(f64::INFINITY, f64::min);
        assert!(found <= 1.25 * best, "{found} {best}");
        equal += usize::from(found <= best + 1e-9);
    }
    assert!(equal >= count / 2, "{equal} of {count}");
}

#[test]
fn impossible_graphs_are_refused() {
    let (empty, one) = (graph(&record(0, &[])), graph(&record(1, &[])));
    let (none, two) = (Features::default(), Features { dim: 2, values: vec![1.0, 2.0] });
    let of = |graph, attributes| Attributed { graph, attributes };
    let refused = |a, b| fgw(a, b, &Params::paper()).unwrap_err().to_string();
    assert!(refused(of(&one, &none), of(&empty, &none)).contains("the second graph"));
    assert!(refused(of(&one, &two), of(&one, &none)).contains("attributes a node is 2"));
    let short = Features { dim: 2, values: vec![1.0] };
    assert!(refused(of(&one, &short), of(&one, &two)).contains("2 for each of 1 nodes"));
    let wrong = Params::paper().structure(-1.0);
    assert!(fgw(of(&one, &two), of(&one, &two), &wrong).is_err());
    let start = descend(of(&one, &two), of(&one, &two), &Params::paper(), Some(vec![0.5; 2]));
    assert!(start.unwrap_err().to_string().contains("1 × 1"));
}

/// Graphs on rings, no two weights or attributes alike, so that nothing is decided by a tie.
fn rings() -> Vec<GraphRecord> {
    let draw = |seed: u64| hg2v_math::linalg::vector::start_value(seed);
    (0..12u64)
        .map(|which| {
            let n = 20 + which as u32;
            let edges: Vec<[u32; 2]> = (0..n)
                .map(|v| [v, (v + 1) % n])
                .chain((0..n / 3).map(|v| [v, (v + n / 2) % n]))
                .collect();
            let number = |i: usize| draw(1000 * which + i as u64);
            GraphRecord {
                num_nodes: n,
                weights: Some((0..edges.len()).map(|i| 1.5 + 0.5 * number(i)).collect()),
                features: Some(Features {
                    dim: 2,
                    values: (0..2 * n as usize).map(|i| number(500 + i)).collect(),
                }),
                edges,
                ..GraphRecord::default()
            }
        })
        .collect()
}

/// The paper's continuity lemma: as a graph comes nearer to another in the fused
/// distance, so do their vectors, trained or not. Weisfeiler–Lehman labels do not.
#[test]
fn embeddings_are_continuous_and_labels_are_not() {
    let graphs = rings();
    let params = Hg2v::params().dim(8).levels(2).epochs(2).seed(3);
    let collection =
        params.collect(hg2v::prepare::Run::in_memory(&graphs), &Default::default()).unwrap();
    let untrained = params
        .prepare(&collection, &collection.all())
        .unwrap()
        .untrained(&Default::default())
        .unwrap();
    let trained = params.fit(&graphs).unwrap();
    // Attributes or weights, moved by ε.
    let moved = |record: &GraphRecord, epsilon: f64, weights: bool| {
        let mut other = record.clone();
        let values = match weights {
            true => other.weights.as_mut().unwrap(),
            false => &mut other.features.as_mut().unwrap().values,
        };
        for (i, value) in values.iter_mut().enumerate() {
            *value += epsilon * hg2v_math::linalg::vector::start_value(7_000_000 + i as u64);
        }
        other
    };
    let length = |x: &[f32]| x.iter().map(|x| f64::from(*x).powi(2)).sum::<f64>().sqrt();
    for (model, weights) in [(&untrained, false), (&trained, false), (&trained, true)] {
        for record in &graphs {
            let mut ratios = Vec::new();
            for epsilon in [1e-2, 1e-3, 1e-4] {
                let other = moved(record, epsilon, weights);
                let vectors = model.embed(&[record.clone(), other.clone()]).unwrap();
                let apart: Vec<f32> =
                    vectors.row(0).iter().zip(vectors.row(1)).map(|(x, y)| x - y).collect();
                let [(g, z), (h, y)] =
                    [record, &other].map(|r| (graph(r), r.features.clone().unwrap()));
                let (a, b) = (
                    Attributed { graph: &g, attributes: &z },
                    Attributed { graph: &h, attributes: &y },
                );
                let distance = fgw(a, b, &Params::paper()).unwrap().distance;
                assert!(distance > 0.0 && distance <= 3.0 * epsilon, "{distance}");
                let change = length(&apart) / length(vectors.row(0));
                ratios.push(change / distance);
                // Attributes as labels, or weights as those of edges: all is new at once.
                if !weights {
                    let labelled = |r: &GraphRecord| GraphRecord {
                        node_labels: r.features.as_ref().map(|x| {
                            x.values.chunks_exact(2).map(|x| Scalar::Float(x[0])).collect()
                        }),
                        ..r.clone()
                    };
                    let mut refiner = Refiner::new(1);
                    let [one, two] = [record, &other]
                        .map(|r| refiner.refine(&labelled(r), &graph(r)).unwrap().swap_remove(1));
                    let (one, two) = (histogram(&one), histogram(&two));
                    assert!(one.iter().all(|label| !two.contains(label)));
                }
            }
            // In proportion to the distance, however small that is. (A pyramid may choose
            // other sets where weights change by a hundredth; not by less, here.)
            let ratios = if weights { &ratios[1..] } else { &ratios };
            for pair in ratios.windows(2) {
                assert!(pair[0] < 100.0 && pair[1] < 100.0, "{ratios:?}");
                assert!((0.5..2.0).contains(&(pair[1] / pair[0])), "{ratios:?}");
            }
        }
    }
}

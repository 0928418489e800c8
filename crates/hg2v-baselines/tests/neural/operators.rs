//! Every operator's gradient against finite differences, in `f64`.

use std::sync::Arc;

use hg2v::dataset::features::LinkRows;
use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
use hg2v_baselines::tape::{Array, Graphs, Segments, Tape, Var, blocks};

/// Numbers between −1 and 1, none of them near 0.
fn numbers(rows: usize, columns: usize, salt: u64) -> Array<f64> {
    let number = |i: u64| {
        let bits = (i + 1000 * salt + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 11;
        let x = bits as f64 / (1u64 << 52) as f64 - 1.0;
        x + 0.05f64.copysign(x)
    };
    Array::new(rows, columns, (0..(rows * columns) as u64).map(number).collect())
}

/// As [`numbers`], but above 0.
fn positive(rows: usize, columns: usize, salt: u64) -> Array<f64> {
    let mut x = numbers(rows, columns, salt);
    x.values.iter_mut().for_each(|x| *x = x.abs() + 0.1);
    x
}

/// Compares the gradient of `Σ weights ⊙ operator(inputs)` by every number of every
/// input with its finite difference.
fn check(inputs: &[Array<f64>], operator: impl Fn(&mut Tape<f64>, &[Var]) -> Var) {
    let value = |inputs: &[Array<f64>]| {
        let mut tape = Tape::default();
        let vars: Vec<Var> = inputs.iter().map(|x| tape.variable(x.clone())).collect();
        let y = operator(&mut tape, &vars);
        let (rows, columns) = (tape.value(y).rows, tape.value(y).columns);
        let weights = tape.constant(numbers(rows, columns, 99));
        let weighted = tape.times(y, weights);
        let loss = tape.sum(weighted);
        (tape, vars, loss)
    };
    let (tape, vars, loss) = value(inputs);
    let gradients = tape.gradients(loss);
    let step = 1e-6;
    for (which, var) in vars.iter().enumerate() {
        let gradient = gradients.of(*var).expect("every input has a part");
        for at in 0..inputs[which].values.len() {
            let moved = |by: f64| {
                let mut inputs = inputs.to_vec();
                inputs[which].values[at] += by;
                let (tape, _, loss) = value(&inputs);
                tape.value(loss).values[0]
            };
            let expected = (moved(step) - moved(-step)) / (2.0 * step);
            let found = gradient.values[at];
            let close = (found - expected).abs() <= 1e-7 * (1.0 + expected.abs());
            assert!(close, "number {at} of input {which}: {found}, not {expected}");
        }
    }
}

fn segments() -> Segments {
    [0, 3, 3, 4, 9].into()
}

/// A weighted path, a single node, nothing, and a triangle with a tail.
fn graphs() -> Arc<Graphs<f64>> {
    let graph = |num_nodes: u32, edges: &[[u32; 2]]| {
        let weights = (1..=edges.len()).map(|w| w as f64 / 2.0).collect();
        let record = GraphRecord {
            num_nodes,
            edges: edges.to_vec(),
            weights: Some(weights),
            ..GraphRecord::default()
        };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    };
    let all = [
        graph(3, &[[0, 1], [1, 2]]),
        graph(0, &[]),
        graph(1, &[]),
        graph(5, &[[0, 1], [1, 2], [2, 0], [2, 3], [3, 4]]),
    ];
    Graphs::new(&all)
}

#[test]
fn products() {
    check(&[numbers(5, 4, 1), numbers(4, 3, 2)], |t, x| t.product(x[0], x[1]));
    check(&[numbers(5, 4, 1), numbers(3, 4, 2)], |t, x| t.product_of_rows(x[0], x[1]));
    check(&[numbers(5, 4, 1), numbers(4, 3, 2), numbers(1, 3, 3)], |t, x| {
        t.linear(x[0], x[1], x[2])
    });
    check(&[numbers(9, 3, 1)], |t, x| t.neighbours(&graphs(), 1.5, x[0]));
    check(&[numbers(9, 3, 1)], |t, x| t.neighbours(&graphs().normalized(), 0.0, x[0]));
    check(&[numbers(9, 3, 1), numbers(9, 2, 2)], |t, x| t.gather(x[0], x[1], &segments()));
    check(&[numbers(9, 3, 1), numbers(12, 2, 2)], |t, x| t.spread(x[0], x[1], &segments()));
}

/// Edges at both ends: the path and the triangle with its tail, and between the
/// first two nodes of the path a second edge, which the adjacency does not have.
fn linked() -> Arc<Graphs<f64>> {
    let rows = |starts: &[usize], others: &[u32]| LinkRows {
        starts: starts.to_vec(),
        others: others.to_vec(),
        values: vec![0.5; others.len()],
    };
    let all = [
        rows(&[0, 2, 5, 6], &[1, 1, 0, 0, 2, 1]),
        rows(&[0], &[]),
        rows(&[0, 0], &[]),
        rows(&[0, 2, 4, 7, 9, 10], &[1, 2, 0, 2, 0, 1, 3, 2, 4, 3]),
    ];
    graphs().with_links(1, &all)
}

#[test]
fn messages_along_edges() {
    let graphs = linked();
    let (x, e) = (numbers(9, 3, 1), numbers(16, 3, 2));
    check(&[x.clone(), e.clone()], |t, v| t.messages(&graphs, 1.5, v[0], v[1]));
    // The equation itself, for the middle of the path: two edges from node 0, one from node 2.
    let mut tape = Tape::default();
    let vars = [tape.constant(x.clone()), tape.constant(e.clone())];
    let y = tape.messages(&graphs, 1.5, vars[0], vars[1]);
    for column in 0..3 {
        let along = |from: usize, edge: usize| (x.row(from)[column] + e.row(edge)[column]).max(0.0);
        let expected = 1.5 * x.row(1)[column] + along(0, 2) + along(0, 3) + along(2, 4);
        assert!((tape.value(y).row(1)[column] - expected).abs() < 1e-12);
    }
}

#[test]
fn a_variable_used_twice_gets_both_gradients() {
    check(&[numbers(4, 4, 1)], |t, x| t.product(x[0], x[0]));
    check(&[numbers(9, 3, 1)], |t, x| t.gather(x[0], x[0], &segments()));
    check(&[numbers(4, 3, 1)], |t, x| t.times(x[0], x[0]));
    check(&[numbers(4, 3, 1)], |t, x| t.row_dots(x[0], x[0]));
}

#[test]
fn pointwise() {
    let pair = [numbers(4, 3, 1), numbers(4, 3, 2)];
    check(&pair, |t, x| t.add(x[0], x[1]));
    check(&pair, |t, x| t.add_scaled(x[0], -0.7, x[1]));
    check(&pair, |t, x| t.times(x[0], x[1]));
    check(&pair, |t, x| t.row_dots(x[0], x[1]));
    check(&pair, |t, x| t.beside(&[x[0], x[1], x[0]]));
    check(&[numbers(4, 3, 1), numbers(1, 1, 3), numbers(4, 3, 2)], |t, x| {
        t.add_times(x[0], x[1], x[2])
    });
    check(&[numbers(4, 3, 1), numbers(4, 1, 2)], |t, x| t.scale_rows(x[0], x[1]));
    check(&pair[..1], |t, x| t.affine(x[0], 3.0, -1.0));
    check(&pair[..1], |t, x| t.relu(x[0]));
    check(&pair[..1], |t, x| t.row_sums(x[0]));
    check(&pair[..1], |t, x| t.mean(x[0]));
    check(&[positive(4, 3, 1)], |t, x| t.sqrt(x[0], 0.3));
    check(&[positive(4, 3, 1)], |t, x| t.reciprocal(x[0], 0.3));
}

#[test]
fn segments_of_rows() {
    check(&[numbers(9, 3, 1)], |t, x| t.segment_sum(x[0], &segments()));
    check(&[numbers(9, 3, 1)], |t, x| t.segment_mean(x[0], &segments()));
    check(&[numbers(9, 3, 1)], |t, x| t.segment_max(x[0], &segments()));
}

#[test]
fn norms() {
    let inputs = [numbers(70, 3, 1), numbers(1, 3, 2), numbers(1, 3, 3)];
    check(&inputs, |t, x| t.batch_norm(x[0], x[1], x[2], None).0);
    check(&inputs, |t, x| {
        let other = hg2v_baselines::tape::Moments::of(&numbers(20, 3, 4));
        t.batch_norm(x[0], x[1], x[2], Some(&other)).0
    });
    check(&[numbers(4, 3, 1)], |t, x| t.softmax(x[0]));
    check(&[positive(9, 3, 1)], |t, x| t.normalized_blocks(x[0]));
}

#[test]
fn losses() {
    check(&[numbers(4, 3, 1)], |t, x| t.cross_entropy(x[0], &[0, 2, 1, 1]));
    check(&[positive(4, 3, 1)], |t, x| t.entropy(x[0]));
    check(&[numbers(9, 4, 1)], |t, x| t.jensen_shannon(x[0], &segments()));
}

#[test]
fn what_operators_compute_is_what_their_equations_say() {
    let mut t = Tape::default();
    let x = t.constant(Array::new(2, 2, vec![1.0, 3.0, -1.0, 0.0]));
    let softmax = t.softmax(x);
    let e2 = 2f64.exp();
    assert!((t.value(softmax).row(0)[1] - e2 / (1.0 + e2)).abs() < 1e-15);
    let loss = t.cross_entropy(x, &[1, 0]);
    let expected = ((1.0 + (-2f64).exp()).ln() + (1.0 + 1f64.exp()).ln()) / 2.0;
    assert!((t.value(loss).values[0] - expected).abs() < 1e-15);
    // Scores that say nothing carry no information: 2·ln 2 − 2·ln 2.
    let scores = t.constant(Array::zeros(9, 4));
    let loss = t.jensen_shannon(scores, &segments());
    assert!(t.value(loss).values[0].abs() < 1e-15);
    // Two clusters with one edge of weight 4 between them: degrees 2 and 2.
    let a = t.constant(Array::new(2, 2, vec![9.0, 4.0, 4.0, 7.0]));
    let a = t.normalized_blocks(a);
    let off = t.value(a).values.iter().zip([0.0, 1.0, 1.0, 0.0]).map(|(a, b)| (a - b).abs());
    assert!(off.fold(0.0, f64::max) < 1e-14);
    let largest = t.segment_max(x, &blocks(1, 2));
    assert_eq!(t.value(largest).values, [1.0, 3.0]);
    // Mean 1 and variance 4.
    let column = t.constant(Array::new(2, 1, vec![3.0, -1.0]));
    let (one, zero) = (t.constant(Array::scalar(1.0)), t.constant(Array::scalar(0.0)));
    let (y, moments) = t.batch_norm(column, one, zero, None);
    assert_eq!((moments.mean[0], moments.variance[0]), (1.0, 4.0));
    assert!((t.value(y).values[0] - 2.0 / 4.00001f64.sqrt()).abs() < 1e-15);
}

#[test]
fn empty_graphs_and_lonely_nodes_give_finite_numbers() {
    let mut t = Tape::default();
    let x = t.variable(numbers(9, 3, 1));
    let y = t.neighbours(&graphs().normalized(), 0.0, x);
    let means = t.segment_mean(y, &graphs().starts);
    let largest = t.segment_max(y, &graphs().starts);
    assert_eq!(t.value(means).row(1), [0.0; 3]);
    assert_eq!(t.value(largest).row(1), [0.0; 3]);
    // A single cluster has no edge to another.
    let s = t.softmax(x);
    let a = t.neighbours(&graphs(), 0.0, s);
    let a = t.gather(s, a, &graphs().starts);
    let a = t.normalized_blocks(a);
    let both = t.times(a, a);
    let loss = t.sum(both);
    let gradients = t.gradients(loss);
    assert!(gradients.of(x).unwrap().values.iter().all(|g| g.is_finite()));
}

#[test]
fn nothing_is_kept_where_no_gradient_is_wanted() {
    let mut t = Tape::default();
    let (a, b) = (t.constant(numbers(2, 2, 1)), t.variable(numbers(2, 2, 2)));
    let y = t.product(a, b);
    let loss = t.sum(y);
    let gradients = t.gradients(loss);
    assert!(gradients.of(a).is_none() && gradients.of(b).is_some());
}

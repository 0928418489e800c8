//! Arbitrary graphs: whatever a record can hold, formats must carry.

use hg2v::graph::{Features, GraphRecord, Scalar, Target};
use proptest::prelude::*;

/// Texts with everything that trips a format: quotes, separators, line ends,
/// control characters, and characters of one to four bytes.
pub(crate) fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        Just(String::new()),
        Just("7".to_owned()),
        Just("null".to_owned()),
        Just("a \"quoted\", word\nand\ta line\\end".to_owned()),
        proptest::collection::vec(any::<char>(), 0..6).prop_map(String::from_iter),
    ]
}

/// Finite numbers: whole, negative zero, and of every magnitude.
pub(crate) fn number() -> impl Strategy<Value = f64> {
    prop_oneof![
        (-50i32..50).prop_map(f64::from),
        Just(-0.0),
        Just(9_007_199_254_740_993.0),
        any::<f64>().prop_filter("finite", |value| value.is_finite()),
    ]
}

/// Scalars of every kind.
pub(crate) fn scalar() -> impl Strategy<Value = Scalar> {
    prop_oneof![
        any::<bool>().prop_map(Scalar::Bool),
        (-5i64..5).prop_map(Scalar::Int),
        any::<i64>().prop_map(Scalar::Int),
        number().prop_map(Scalar::Float),
        text().prop_map(|text| Scalar::Text(text.into())),
    ]
}

/// `length` scalars, half of the time all of one kind, as real files have them.
fn scalars(length: usize) -> impl Strategy<Value = Vec<Scalar>> {
    prop_oneof![
        proptest::collection::vec((-5i64..5).prop_map(Scalar::Int), length),
        proptest::collection::vec(text().prop_map(|text| Scalar::Text(text.into())), length),
        proptest::collection::vec(scalar(), length),
    ]
}

/// Attributes of so many nodes or edges; none of them has no row that could tell a dimension.
fn rows(rows: usize) -> impl Strategy<Value = Features> {
    (0..if rows == 0 { 1 } else { 5usize }).prop_flat_map(move |dim| {
        proptest::collection::vec(number(), rows * dim)
            .prop_map(move |values| Features { dim, values })
    })
}

/// No targets, a list of them, or some by name.
fn targets() -> impl Strategy<Value = Vec<Target>> {
    let values = proptest::collection::vec(proptest::option::of(scalar()), 0..4);
    let listed = values.prop_map(|values| {
        let target = |(at, value): (usize, _)| Target { name: at.to_string(), value };
        values.into_iter().enumerate().map(target).collect()
    });
    // `y` is the label.
    let name = text().prop_filter("another name", |name| name != "y");
    let named = proptest::collection::btree_map(name, proptest::option::of(scalar()), 0..4);
    let named = named.prop_map(|targets| {
        targets.into_iter().rev().map(|(name, value)| Target { name, value }).collect()
    });
    prop_oneof![Just(Vec::new()), listed, named]
}

/// Any graph: empty, with isolated nodes, self-loops and parallel edges, and any
/// choice of names, weights, labels and attributes.
pub(crate) fn record() -> impl Strategy<Value = GraphRecord> {
    (0u32..9, 0usize..12).prop_flat_map(|(num_nodes, num_edges)| {
        let num_edges = if num_nodes == 0 { 0 } else { num_edges };
        let nodes = num_nodes as usize;
        let end = 0..num_nodes.max(1);
        let edges = proptest::collection::vec([end.clone(), end], num_edges);
        let weights = proptest::option::of(proptest::collection::vec(number(), num_edges));
        let (features, edge_features) = (rows(nodes), rows(num_edges));
        (
            proptest::option::of(scalar()),
            proptest::option::of(scalar()),
            proptest::option::of(scalars(nodes)),
            (edges, weights),
            proptest::option::of(scalars(num_edges)),
            proptest::option::of(scalars(nodes)),
            proptest::option::of(features),
            (any::<bool>(), targets(), proptest::option::of(edge_features)),
        )
            .prop_map(
                move |(
                    id,
                    label,
                    names,
                    (edges, weights),
                    edge_labels,
                    node_labels,
                    features,
                    (directed, targets, edge_features),
                )| {
                    GraphRecord {
                        id,
                        label,
                        targets,
                        edge_features,
                        num_nodes,
                        node_ids: names.and_then(as_names),
                        weights: weights.filter(|_| !edges.is_empty()),
                        edges,
                        edge_labels,
                        node_labels,
                        features,
                        directed,
                        folded_repeats: 0,
                    }
                },
            )
    })
}

/// Names that differ and are not the plain positions, which records leave out.
fn as_names(names: Vec<Scalar>) -> Option<Vec<Scalar>> {
    let mut sorted = names.clone();
    sorted.sort();
    sorted.dedup();
    let positions = (0i64..).zip(&names).all(|(i, name)| *name == Scalar::Int(i));
    (sorted.len() == names.len() && !positions).then_some(names)
}

/// Damages a file as transmission and editors do: bytes flipped, cut out,
/// doubled, or set to a chosen value. `PROPTEST_CASES` says how often to try.
pub(crate) fn damaged(bytes: Vec<u8>) -> impl Strategy<Value = Vec<u8>> {
    let damage = (0u8..4, any::<prop::sample::Index>(), 1usize..9, any::<u8>());
    proptest::collection::vec(damage, 1..6).prop_map(move |damages| {
        let mut bytes = bytes.clone();
        for (kind, at, length, value) in damages {
            if bytes.is_empty() {
                break;
            }
            let start = at.index(bytes.len());
            let end = (start + length).min(bytes.len());
            match kind {
                0 => bytes[start] ^= value,
                1 => drop(bytes.drain(start..end)),
                2 => {
                    let copy = bytes[start..end].to_vec();
                    bytes.splice(start..start, copy);
                }
                _ => bytes[start..end].fill(value),
            }
        }
        bytes
    })
}

/// Whether what came out of a damaged file still holds together.
pub(crate) fn is_whole(record: &GraphRecord) -> bool {
    record.check().is_ok()
}

//! A checksum of what a collection says, whatever the file it stands in.
//!
//! SHA-256 over a canonical form, graph after graph (their order counts):
//!
//! ```text
//! "hg2v collection 1\n"
//! then for each graph, every number little-endian:
//!   u64 nodes · u8 directed · label
//!   u64 edges · per edge, ascending: u32 u · u32 v · f64 weight · label
//!   u8 has node labels · a label a node
//!   u64 feature dimension · nodes × dimension f64
//!   where edges have attributes: u64 2⁶⁴ − 1 · u64 their dimension · edges × dimension f64
//!   where targets are known: u64 2⁶⁴ − 2 · u64 targets · per target, ascending: label of its
//!     name · label of its value
//! label = u8 0 where there is none, else u8 1 · u64 length · its text in UTF-8
//! ```
//!
//! So that every format gives the same answer: the ends of an undirected edge
//! stand in ascending order and edges are sorted; an edge without a weight
//! weighs 1; a label counts as its text (`7` and `"7"` are one label). Names of
//! graphs and nodes are left out, because some formats have none and make them up.

use sha2::{Digest, Sha256};

use crate::graph::{GraphRecord, Scalar};

/// The running checksum of a collection.
///
/// ```
/// use hg2v::dataset::fingerprint::Fingerprint;
/// use hg2v::graph::GraphRecord;
///
/// let of = |edges: Vec<[u32; 2]>| {
///     let record = GraphRecord { num_nodes: 3, edges, ..GraphRecord::default() };
///     Fingerprint::new().with(&record).finish()
/// };
/// assert_eq!(of(vec![[0, 1], [1, 2]]), of(vec![[2, 1], [0, 1]]));
/// assert_ne!(of(vec![[0, 1], [1, 2]]), of(vec![[0, 1], [0, 2]]));
/// ```
#[derive(Debug, Clone)]
pub struct Fingerprint {
    hash: Sha256,
    /// The canonical form of one graph, kept to reuse its memory.
    form: Vec<u8>,
}

impl Default for Fingerprint {
    fn default() -> Fingerprint {
        let mut hash = Sha256::new();
        hash.update(b"hg2v collection 1\n");
        Fingerprint { hash, form: Vec::new() }
    }
}

impl Fingerprint {
    /// The fingerprint of no graphs yet.
    pub fn new() -> Fingerprint {
        Fingerprint::default()
    }

    /// The fingerprint of these graphs, as text.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a GraphRecord>) -> String {
        let mut fingerprint = Fingerprint::new();
        records.into_iter().for_each(|record| fingerprint.add(record));
        fingerprint.finish()
    }

    /// Takes in the next graph.
    pub fn add(&mut self, record: &GraphRecord) {
        self.form.clear();
        self.put_u64(u64::from(record.num_nodes));
        self.form.push(u8::from(record.directed));
        self.put_label(record.label.as_ref());
        self.put_edges(record);
        // A graph without nodes has no labels to say and no dimension to have.
        let node_labels = record.node_labels.as_ref().filter(|_| record.num_nodes > 0);
        self.form.push(u8::from(node_labels.is_some()));
        for label in node_labels.into_iter().flatten() {
            self.put_label(Some(label));
        }
        let features = record.features.as_ref().filter(|_| record.num_nodes > 0);
        self.put_u64(features.map_or(0, |features| features.dim as u64));
        for value in features.into_iter().flat_map(|features| &features.values) {
            self.form.extend(value.to_bits().to_le_bytes());
        }
        self.put_edge_features(record);
        self.put_targets(record);
        self.hash.update(&self.form);
    }

    /// Takes in the next graph, and gives itself back.
    pub fn with(mut self, record: &GraphRecord) -> Fingerprint {
        self.add(record);
        self
    }

    /// The checksum in hexadecimal: 64 lower-case digits.
    pub fn finish(self) -> String {
        let digest = self.hash.finalize();
        digest.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// No graph has so many nodes, so that what follows it cannot be taken for another graph.
    fn put_edge_features(&mut self, record: &GraphRecord) {
        let any = !record.edges.is_empty();
        let Some(features) = record.edge_features.as_ref().filter(|f| any && f.dim > 0) else {
            return;
        };
        self.put_u64(EDGE_FEATURES);
        self.put_u64(features.dim as u64);
        for edge in in_order(record) {
            for value in features.row(edge) {
                self.form.extend(value.to_bits().to_le_bytes());
            }
        }
    }

    /// A target that is not known is none.
    fn put_targets(&mut self, record: &GraphRecord) {
        let known = record.targets.iter().filter(|target| target.value.is_some());
        let mut known: Vec<_> = known.collect();
        if known.is_empty() {
            return;
        }
        known.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        self.put_u64(TARGETS);
        self.put_u64(known.len() as u64);
        for target in known {
            self.put_label(Some(&Scalar::from(&*target.name)));
            self.put_label(target.value.as_ref());
        }
    }

    fn put_edges(&mut self, record: &GraphRecord) {
        self.put_u64(record.edges.len() as u64);
        for edge in in_order(record) {
            let [u, v] = ends(record, edge);
            self.form.extend(u.to_le_bytes());
            self.form.extend(v.to_le_bytes());
            self.form.extend(weight(record, edge).to_bits().to_le_bytes());
            self.put_label(label(record, edge));
        }
    }

    fn put_u64(&mut self, value: u64) {
        self.form.extend(value.to_le_bytes());
    }

    fn put_label(&mut self, label: Option<&Scalar>) {
        self.form.push(u8::from(label.is_some()));
        if let Some(text) = text(label) {
            self.put_u64(text.len() as u64);
            self.form.extend(text.as_bytes());
        }
    }
}

/// Marks of what follows a graph.
const EDGE_FEATURES: u64 = u64::MAX;
const TARGETS: u64 = u64::MAX - 1;

fn weight(record: &GraphRecord, edge: usize) -> f64 {
    record.weights.as_ref().map_or(1.0, |weights| weights[edge])
}

fn label(record: &GraphRecord, edge: usize) -> Option<&Scalar> {
    record.edge_labels.as_ref().map(|labels| &labels[edge])
}

fn ends(record: &GraphRecord, edge: usize) -> [u32; 2] {
    match record.edges[edge] {
        [u, v] if record.directed || u <= v => [u, v],
        [u, v] => [v, u],
    }
}

/// The edges in ascending order; parallel ones are told apart by what else is said of them.
fn in_order(record: &GraphRecord) -> Vec<usize> {
    let weight = |edge| weight(record, edge).to_bits();
    let label = |edge| text(label(record, edge));
    let bits = |edge| {
        let row = record.edge_features.iter().flat_map(move |features| features.row(edge));
        row.map(|value| value.to_bits())
    };
    let mut order: Vec<usize> = (0..record.edges.len()).collect();
    order.sort_unstable_by(|&a, &b| {
        let by_ends = ends(record, a).cmp(&ends(record, b));
        let by_weight = by_ends.then_with(|| weight(a).cmp(&weight(b)));
        let by_label = by_weight.then_with(|| label(a).cmp(&label(b)));
        by_label.then_with(|| bits(a).cmp(bits(b)))
    });
    order
}

fn text(label: Option<&Scalar>) -> Option<String> {
    label.map(Scalar::to_string)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::graph::{Features, Target};

    fn of(records: &[GraphRecord]) -> String {
        let mut fingerprint = Fingerprint::new();
        for record in records {
            fingerprint.add(record);
        }
        fingerprint.finish()
    }

    /// Everything a record can say.
    fn full() -> GraphRecord {
        GraphRecord {
            id: Some("g".into()),
            label: Some(1.into()),
            targets: vec![Target { name: "logp".into(), value: Some(Scalar::Float(0.5)) }],
            edge_features: Some(Features { dim: 2, values: vec![1.0, 2.0, 3.0, 4.0] }),
            num_nodes: 3,
            node_ids: None,
            edges: vec![[0, 1], [1, 2]],
            weights: Some(vec![2.0, 3.0]),
            edge_labels: Some(vec![5.into(), 6.into()]),
            node_labels: Some(vec![7.into(), 8.into(), "c".into()]),
            features: Some(Features { dim: 1, values: vec![0.5, 1.5, 2.5] }),
            directed: false,
            folded_repeats: 0,
        }
    }

    #[test]
    fn the_form_is_as_documented() {
        // python3 -c "import hashlib, struct; print(hashlib.sha256(b'hg2v collection 1\n'
        //   + struct.pack('<QBBQ', 2, 0, 1, 2) + b'-1'
        //   + struct.pack('<QIIdB', 1, 0, 1, 1.0, 0)
        //   + struct.pack('<BQ', 0, 1) + struct.pack('<dd', 0.5, -2.0)).hexdigest())"
        let record = GraphRecord {
            label: Some((-1).into()),
            num_nodes: 2,
            edges: vec![[1, 0]],
            features: Some(Features { dim: 1, values: vec![0.5, -2.0] }),
            ..GraphRecord::default()
        };
        assert_eq!(
            of(&[record]),
            "61860e7feee6a90210689cdd01d1b99c88f040d082f610241e6b64abdc87be3a"
        );
        assert_eq!(of(&[]).len(), 64);
    }

    #[test]
    fn what_formats_make_up_does_not_count() {
        let mut other = full();
        other.id = None;
        other.node_ids = Some(vec![10.into(), 11.into(), 12.into()]);
        other.folded_repeats = 4;
        other.targets.insert(0, Target { name: "unknown".into(), value: None });
        other.label = Some("1".into());
        assert_eq!(of(&[other]), of(&[full()]));
        let unweighted = GraphRecord { weights: None, ..full() };
        let weighing_one = GraphRecord { weights: Some(vec![1.0, 1.0]), ..full() };
        assert_eq!(of(&[unweighted]), of(&[weighing_one]));
    }

    #[test]
    fn everything_else_counts() {
        let changes: [fn(&mut GraphRecord); 16] = [
            |r| r.targets.clear(),
            |r| r.targets[0].name = "logs".into(),
            |r| r.targets[0].value = Some(1.into()),
            |r| r.edge_features = None,
            |r| r.edge_features.iter_mut().for_each(|f| f.values.swap(1, 3)),
            |r| r.edge_features.iter_mut().for_each(|f| f.values[0] = 0.0),
            |r| r.label = None,
            |r| r.label = Some(2.into()),
            |r| r.num_nodes = 4,
            |r| r.edges[1] = [0, 2],
            |r| r.weights = None,
            |r| r.edge_labels = Some(vec![6.into(), 5.into()]),
            |r| r.node_labels = None,
            |r| r.features = None,
            |r| r.features.iter_mut().for_each(|f| f.values[2] = 2.25),
            |r| r.directed = true,
        ];
        let mut seen = vec![of(&[full()])];
        for change in changes {
            let mut record = full();
            change(&mut record);
            seen.push(of(&[record]));
        }
        let mut two = full();
        two.num_nodes = 5;
        seen.push(of(&[full(), two.clone()]));
        seen.push(of(&[two, full()]));
        let distinct: std::collections::BTreeSet<_> = seen.iter().collect();
        assert_eq!(distinct.len(), seen.len());
    }

    proptest! {
        #[test]
        fn the_order_and_orientation_of_edges_do_not_count(
            mut edges in prop::collection::vec((0u32..6, 0u32..6, 0u8..3, 0i64..3, any::<bool>()), 0..20),
            seed in any::<prop::sample::Index>(),
        ) {
            let record = |edges: &[(u32, u32, u8, i64, bool)], turn: bool| GraphRecord {
                num_nodes: 6,
                edges: edges
                    .iter()
                    .map(|e| if turn && e.4 { [e.1, e.0] } else { [e.0, e.1] })
                    .collect(),
                weights: Some(edges.iter().map(|e| f64::from(e.2)).collect()),
                edge_labels: Some(edges.iter().map(|e| e.3.into()).collect()),
                edge_features: Some(Features {
                    dim: 1,
                    values: edges.iter().map(|e| f64::from(e.0 % 2 + e.1 % 2)).collect(),
                }),
                ..GraphRecord::default()
            };
            let before = of(&[record(&edges, false)]);
            if !edges.is_empty() {
                let turns = seed.index(edges.len());
                edges.rotate_left(turns);
                edges.reverse();
            }
            prop_assert_eq!(of(&[record(&edges, true)]), before);
        }
    }
}

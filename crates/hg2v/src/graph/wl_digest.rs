//! Whether two graphs look alike to Weisfeiler–Lehman, told from 32 bytes each.
//!
//! [`Refiner`](super::wl::Refiner) answers the question with a dictionary that
//! grows with the collection. Here each graph is refined alone, with codes that
//! mean the same in every graph: after each round the distinct keys are sorted
//! and numbered by rank. The sorted keys and how often each occurs are the
//! round's transcript; since a key is written in ranks of the round before, two
//! transcripts agree up to a round exactly when the label histograms do. What is
//! kept of a transcript is its SHA-256.
//!
//! Refinement ends early at the first round that splits no class: if two graphs
//! agree until there, they agree for ever.

use sha2::{Digest, Sha256};

use super::{EdgeChoice, Graph, GraphRecord, Link, Links, Scalar};

/// The digest of a graph's label histograms over `rounds` rounds: equal exactly
/// when [`Refiner`](super::wl::Refiner) gives two graphs equal histograms, where it sees of
/// edges what is in `edges`. `graph` is the clean graph of `record`, which brings the labels.
///
/// # Complexity
/// Time O((n + m) log (n + m)) a round, space O(n + m).
///
/// # Examples
/// ```
/// use hg2v::graph::{EdgeChoice, Graph, GraphRecord, WeightPolicy, wl_digest};
/// let digest = |edges| {
///     let record = GraphRecord { num_nodes: 6, edges, ..GraphRecord::default() };
///     let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
///     wl_digest(&record, &graph, EdgeChoice::default(), 5)
/// };
/// // Two triangles and a ring of six: every node has two neighbours that look alike.
/// let triangles = digest(vec![[0, 1], [1, 2], [0, 2], [3, 4], [4, 5], [3, 5]]);
/// assert_eq!(triangles, digest((0..6).map(|v| [v, (v + 1) % 6]).collect()));
/// ```
pub fn wl_digest(
    record: &GraphRecord,
    graph: &Graph,
    edges: EdgeChoice,
    rounds: usize,
) -> [u8; 32] {
    let mut transcript = Sha256::new();
    let node_labels = record.node_labels.as_deref();
    let (mut codes, mut classes) = initial_codes(graph.num_nodes(), node_labels, &mut transcript);
    let kinds = edges.labels.is_used() && record.edge_labels.is_some();
    let apart = rounds > 0 && (kinds || edges.direction.is_used() && record.directed);
    let links = apart.then(|| Links::of(record, graph, edges));
    // Labels of what is no edge, such as a self-loop, tell nothing.
    let links = links.filter(|links| !links.all().is_empty()).map(|links| {
        let codes = link_codes(&links, &mut transcript);
        (links, codes)
    });
    let mut keys = Keys::default();
    for _ in 0..rounds {
        match &links {
            None => keys.fill(graph, &codes),
            Some((links, kinds)) => keys.fill_linked(links, kinds, &codes),
        }
        let split = keys.rank(&mut codes, &mut transcript);
        if split == classes {
            break;
        }
        classes = split;
    }
    transcript.finalize().into()
}

/// Feeds a scalar to a digest so that no two different ones feed the same bytes, and equal
/// ones do.
pub(crate) fn digest_scalar(scalar: &Scalar, digest: &mut Sha256) {
    let integer = scalar.integer().map(Scalar::Int);
    match integer.as_ref().unwrap_or(scalar) {
        Scalar::Bool(value) => digest.update([0, u8::from(*value)]),
        Scalar::Int(value) => {
            digest.update([1]);
            digest.update(value.to_le_bytes());
        }
        Scalar::Float(value) => {
            digest.update([2]);
            digest.update(value.to_bits().to_le_bytes());
        }
        Scalar::Text(text) => {
            digest.update([3]);
            digest.update((text.len() as u64).to_le_bytes());
            digest.update(text.as_bytes());
        }
    }
}

/// The rank of every node's label among the graph's labels, and how many there are.
fn initial_codes(
    num_nodes: usize,
    node_labels: Option<&[Scalar]>,
    transcript: &mut Sha256,
) -> (Vec<u32>, usize) {
    let Some(labels) = node_labels.filter(|labels| !labels.is_empty()) else {
        transcript.update([0]);
        transcript.update((num_nodes as u64).to_le_bytes());
        return (vec![0; num_nodes], num_nodes.min(1));
    };
    let mut order: Vec<u32> = (0..num_nodes as u32).collect();
    order.sort_unstable_by_key(|&node| &labels[node as usize]);
    let mut codes = vec![0; num_nodes];
    let mut classes = 0;
    for class in order.chunk_by(|&a, &b| labels[a as usize] == labels[b as usize]) {
        transcript.update([1]);
        digest_scalar(&labels[class[0] as usize], transcript);
        transcript.update((class.len() as u64).to_le_bytes());
        for &node in class {
            codes[node as usize] = classes;
        }
        classes += 1;
    }
    transcript.update([2]);
    (codes, classes as usize)
}

/// A code for what each link is, its kind and its way, by the rank of the kind among the graph's.
fn link_codes(links: &Links<'_>, transcript: &mut Sha256) -> Vec<u32> {
    let mut kinds: Vec<&Scalar> = links.all().iter().filter_map(|link| link.kind).collect();
    kinds.sort_unstable();
    kinds.dedup();
    transcript.update((kinds.len() as u64).to_le_bytes());
    kinds.iter().for_each(|kind| digest_scalar(kind, transcript));
    let rank = |kind: &Scalar| kinds.partition_point(|&known| known < kind) as u32 + 1;
    let code = |link: &Link<'_>| 3 * link.kind.map_or(0, rank) + link.way as u32;
    links.all().iter().map(code).collect()
}

/// Stands in keys of nodes whose links are told apart, and is no code.
const LINKED: u32 = u32::MAX;

/// Every node's key, `[own code, neighbours' codes ascending]`, end to end; where links are told
/// apart `[own code, LINKED, (link's code, neighbour's code) ascending]`.
#[derive(Default)]
struct Keys {
    values: Vec<u32>,
    pairs: Vec<[u32; 2]>,
    starts: Vec<usize>,
    order: Vec<u32>,
    bytes: Vec<u8>,
}

impl Keys {
    fn fill(&mut self, graph: &Graph, codes: &[u32]) {
        self.values.clear();
        self.starts.clear();
        self.starts.push(0);
        for node in 0..graph.num_nodes() {
            let start = self.values.len();
            self.values.push(codes[node]);
            let neighbors = graph.neighbors(node).iter();
            self.values.extend(neighbors.map(|&v| codes[v as usize]));
            self.values[start + 1..].sort_unstable();
            self.starts.push(self.values.len());
        }
    }

    fn fill_linked(&mut self, links: &Links<'_>, kinds: &[u32], codes: &[u32]) {
        self.values.clear();
        self.starts.clear();
        self.starts.push(0);
        let mut kinds = kinds;
        for (node, &own) in codes.iter().enumerate() {
            let links = links.at(node);
            let own_kinds = kinds.split_off(..links.len()).unwrap_or_default();
            self.pairs.clear();
            let pairs = links.iter().zip(own_kinds);
            self.pairs.extend(pairs.map(|(link, &kind)| [kind, codes[link.to as usize]]));
            self.pairs.sort_unstable();
            self.values.push(own);
            if !links.is_empty() {
                self.values.push(LINKED);
                self.values.extend_from_slice(self.pairs.as_flattened());
            }
            self.starts.push(self.values.len());
        }
    }

    /// Replaces every code by the rank of its node's key, writes the distinct
    /// keys to the transcript, and says how many there are.
    fn rank(&mut self, codes: &mut [u32], transcript: &mut Sha256) -> usize {
        let (values, starts) = (&self.values, &self.starts);
        let key = |node: u32| &values[starts[node as usize]..starts[node as usize + 1]];
        self.order.clear();
        self.order.extend(0..codes.len() as u32);
        // By own code, then length, then content: any total order would do, and
        // this one rarely compares two long keys.
        self.order.sort_unstable_by(|&a, &b| {
            let (a, b) = (key(a), key(b));
            (a[0], a.len()).cmp(&(b[0], b.len())).then_with(|| a.cmp(b))
        });
        let mut classes = 0;
        for class in self.order.chunk_by(|&a, &b| key(a) == key(b)) {
            let key = key(class[0]);
            self.bytes.clear();
            for value in [class.len() as u32, key.len() as u32].iter().chain(key) {
                self.bytes.extend_from_slice(&value.to_le_bytes());
            }
            transcript.update(&self.bytes);
            for &node in class {
                codes[node as usize] = classes;
            }
            classes += 1;
        }
        // Marks the end of the round: no key has length 0.
        transcript.update([0; 8]);
        classes as usize
    }
}

//! Weisfeiler–Lehman refinement with exact labels.
//!
//! Every node begins with its own label and, round after round, takes a new one
//! for what it and its neighbours were called before (Shervashidze et al. 2011):
//!
//! ```text
//! x⁰(u)   = Z(u)
//! xˡ⁺¹(u) = code(xˡ(u), {{ (e(u,v), xˡ(v)) : v ∈ N(u) }})
//! ```
//!
//! `{{ }}` is a multiset, `e` what the edges are, their labels and which way they go (left
//! out where it is not asked for), and `code` an injection: a dictionary, not a hash, so that
//! equal labels always mean equal rooted subtrees. One [`Refiner`] serves a whole
//! collection, and the labels of all its graphs and rounds share one numbering:
//! a label of one round is never that of another, because its key holds a label
//! of the round before.
//!
//! ```
//! use hg2v::graph::wl::{Refiner, histogram};
//! use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
//!
//! // a - b - c: the ends look alike, the middle does not.
//! let path = GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2]], ..Default::default() };
//! let (graph, _) = Graph::from_record(&path, WeightPolicy::Use).unwrap();
//! let rounds = Refiner::new(1).refine(&path, &graph)?;
//! assert_eq!(rounds, [vec![0, 0, 0], vec![1, 2, 1]]);
//! assert_eq!(histogram(&rounds[1]), [(1, 2), (2, 1)]);
//! # Ok::<(), hg2v::Error>(())
//! ```

use std::collections::HashMap;

use serde::{Deserialize, Serialize};

use super::intern::{FREE, Interner};
use super::{Aspects, EdgeChoice, Graph, GraphRecord, Link, Links, Scalar, Usage};
use crate::error::{Error, Result};

/// Refines graph after graph with one dictionary.
///
/// Labels are numbered densely from 0 in order of first use (graph by graph,
/// round by round, node by node), so they depend on nothing but the graphs and
/// their order.
#[derive(Debug, Clone)]
pub struct Refiner {
    rounds: usize,
    node_labels: bool,
    edges: EdgeChoice,
    labels: Interner,
    node_codes: Codes,
    edge_codes: Codes,
}

/// What a [`Refiner`] knows, to be kept.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vocabulary {
    /// How many rounds.
    pub rounds: usize,
    /// The labels of nodes, where they are seen.
    pub node_labels: Option<Vec<Scalar>>,
    /// The labels of edges, where they are seen.
    pub edge_labels: Option<Vec<Scalar>>,
    /// Whether it is seen which way edges go.
    #[serde(default)]
    pub direction: bool,
}

/// What [`Refiner::refine_unseen`] gave a graph.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unseen {
    /// The labels of every node before the first round and after each.
    pub rounds: Vec<Vec<u32>>,
    /// Nodes whose own labels were never met.
    pub nodes: u64,
    /// Edges whose labels were never met, each counted at both ends.
    pub links: u64,
}

impl Refiner {
    /// A refiner of `rounds` rounds that begins from node labels where a graph
    /// has them and sees no more of edges than that they are there.
    pub fn new(rounds: usize) -> Refiner {
        Refiner {
            rounds,
            node_labels: true,
            edges: EdgeChoice::NOTHING,
            labels: Interner::new(),
            node_codes: Codes::default(),
            edge_codes: Codes::default(),
        }
    }

    /// Whether node labels are seen; without them every node begins alike.
    pub fn node_labels(mut self, seen: bool) -> Refiner {
        self.node_labels = seen;
        self
    }

    /// What is seen of edges: their labels, and which way they go. Attributes are not.
    pub fn edges(mut self, seen: EdgeChoice) -> Refiner {
        self.edges = seen;
        self
    }

    /// How many rounds.
    pub fn rounds(&self) -> usize {
        self.rounds
    }

    /// How many distinct labels were given so far, over all graphs and rounds.
    pub fn num_labels(&self) -> usize {
        self.labels.len()
    }

    /// What it saw of the graphs so far, and sees of later ones.
    pub fn sees(&self) -> Aspects {
        Aspects {
            node_labels: self.node_labels && !self.node_codes.labels.is_empty(),
            edge_labels: self.edges.labels.is_used() && !self.edge_codes.labels.is_empty(),
            direction: self.edges.direction.is_used(),
            ..Aspects::default()
        }
    }

    /// Takes the labels of a graph for known, without refining it.
    pub fn meet(&mut self, record: &GraphRecord) {
        for label in record.node_labels.iter().flatten().filter(|_| self.node_labels) {
            self.node_codes.of(Some(label));
        }
        for label in record.edge_labels.iter().flatten().filter(|_| self.edges.labels.is_used()) {
            self.edge_codes.of(Some(label));
        }
    }

    /// What it knows: labels as files have them, and the keys of all labels, one after the
    /// other, each after its length.
    pub fn vocabulary(&self) -> (Vocabulary, Vec<u32>) {
        let kept = |seen: bool, codes: &Codes| seen.then(|| codes.labels.clone());
        let vocabulary = Vocabulary {
            rounds: self.rounds,
            node_labels: kept(self.node_labels, &self.node_codes),
            edge_labels: kept(self.edges.labels.is_used(), &self.edge_codes),
            direction: self.edges.direction.is_used(),
        };
        let mut keys = Vec::new();
        for key in self.labels.sequences() {
            keys.push(key.len() as u32);
            keys.extend_from_slice(key);
        }
        (vocabulary, keys)
    }

    /// The refiner that knew this; `None` where the keys are no refiner's.
    pub fn of_vocabulary(vocabulary: &Vocabulary, keys: &[u32]) -> Option<Refiner> {
        let Vocabulary { rounds, node_labels, edge_labels, direction } = vocabulary;
        let used = |used: bool| if used { Usage::Use } else { Usage::Ignore };
        let edges = EdgeChoice {
            labels: used(edge_labels.is_some()),
            direction: used(*direction),
            ..EdgeChoice::NOTHING
        };
        let mut refiner = Refiner::new(*rounds).node_labels(node_labels.is_some()).edges(edges);
        refiner.node_codes = Codes::of_labels(node_labels.as_deref().unwrap_or_default());
        refiner.edge_codes = Codes::of_labels(edge_labels.as_deref().unwrap_or_default());
        let mut rest = keys;
        while let Some((&length, after)) = rest.split_first() {
            let (key, after) = after.split_at_checked(length as usize)?;
            // Each once, in its order.
            let number = refiner.labels.len() as u32;
            refiner.labels.intern(key).filter(|&given| given == number)?;
            rest = after;
        }
        Some(refiner)
    }

    /// What is left of it where only some labels are kept, which are numbered anew: `kept` has
    /// the new number of each, in the order of the old ones. A label is kept only with those
    /// that it is made of.
    pub(crate) fn retaining(&self, kept: &[Option<u32>]) -> Refiner {
        let mut left = Refiner { labels: Interner::new(), ..self.clone() };
        let mut key = Vec::new();
        for (sequence, new) in self.labels.sequences().zip(kept) {
            if new.is_none() {
                continue;
            }
            key.clear();
            key.extend_from_slice(sequence);
            let whole = labels_of(&mut key).all(|label| match kept[*label as usize] {
                Some(new) => {
                    *label = new;
                    true
                }
                None => false,
            });
            debug_assert!(whole, "a label is kept with those that it is made of");
            let number = left.labels.intern(&key);
            debug_assert_eq!(number, *new);
        }
        left
    }

    /// The labels of every node before the first round and after each:
    /// `rounds + 1` rows of `n`.
    ///
    /// `graph` is the clean graph of `record`, which brings the labels. A graph
    /// without node labels begins with one label that no labelled node has.
    ///
    /// # Errors
    /// When there are more than 2³² − 1 distinct labels.
    ///
    /// # Complexity
    /// Time O(m log d) a round for m edges and largest degree d; the dictionary
    /// grows by the distinct rooted subtrees only.
    ///
    /// # Examples
    /// ```
    /// use hg2v::graph::wl::Refiner;
    /// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
    /// let star = GraphRecord { num_nodes: 4, edges: vec![[0, 1], [0, 2], [0, 3]], ..Default::default() };
    /// let (graph, _) = Graph::from_record(&star, WeightPolicy::Use).unwrap();
    /// let mut refiner = Refiner::new(1);
    /// assert_eq!(refiner.refine(&star, &graph)?, [vec![0; 4], vec![1, 2, 2, 2]]);
    /// // The same labels again: the dictionary is the collection's.
    /// assert_eq!(refiner.refine(&star, &graph)?[1], [1, 2, 2, 2]);
    /// assert_eq!(refiner.num_labels(), 3);
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn refine(&mut self, record: &GraphRecord, graph: &Graph) -> Result<Vec<Vec<u32>>> {
        let seen = Seen { node_labels: self.node_labels, edges: self.edges };
        refined(self, self.rounds, seen, record, graph)
    }

    /// As [`refine`](Refiner::refine), and nothing is learnt: labels that were never met get
    /// numbers from [`num_labels`](Refiner::num_labels) on, which mean nothing to other
    /// graphs. What a graph gets depends on nothing but itself and what was known before.
    ///
    /// # Errors
    /// As [`refine`](Refiner::refine).
    ///
    /// # Complexity
    /// As [`refine`](Refiner::refine).
    ///
    /// # Examples
    /// ```
    /// use hg2v::graph::wl::Refiner;
    /// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
    /// let graph = |edges: Vec<[u32; 2]>| {
    ///     let record = GraphRecord { num_nodes: 4, edges, ..GraphRecord::default() };
    ///     let (graph, _) = Graph::from_record(&record, WeightPolicy::Use).unwrap();
    ///     (record, graph)
    /// };
    /// let (star, path) = (graph(vec![[0, 1], [0, 2], [0, 3]]), graph(vec![[0, 1], [1, 2], [2, 3]]));
    /// let mut refiner = Refiner::new(1);
    /// refiner.refine(&star.0, &star.1)?;
    /// let known = refiner.num_labels() as u32;
    /// // Ends of a path look like leaves of the star, its middle like nothing that is known.
    /// let labels = refiner.refine_unseen(&path.0, &path.1)?.rounds;
    /// assert_eq!(labels[1].iter().map(|label| *label < known).collect::<Vec<_>>(), [true, false, false, true]);
    /// # Ok::<(), hg2v::Error>(())
    /// ```
    pub fn refine_unseen(&self, record: &GraphRecord, graph: &Graph) -> Result<Unseen> {
        let seen = Seen { node_labels: self.node_labels, edges: self.edges };
        let mut beyond = Beyond {
            known: self,
            labels: Interner::new(),
            node_codes: Codes::default(),
            edge_codes: Codes::default(),
            nodes: 0,
            links: 0,
        };
        let rounds = refined(&mut beyond, self.rounds, seen, record, graph)?;
        Ok(Unseen { rounds, nodes: beyond.nodes, links: beyond.links })
    }
}

/// Gives labels, of files and of rounds, their numbers.
trait Numbering {
    fn node(&mut self, label: Option<&Scalar>) -> u32;
    fn edge(&mut self, label: Option<&Scalar>) -> u32;
    /// `None` when all numbers are taken.
    fn key(&mut self, key: &[u32]) -> Option<u32>;
}

impl Numbering for Refiner {
    fn node(&mut self, label: Option<&Scalar>) -> u32 {
        self.node_codes.of(label)
    }

    fn edge(&mut self, label: Option<&Scalar>) -> u32 {
        self.edge_codes.of(label)
    }

    fn key(&mut self, key: &[u32]) -> Option<u32> {
        self.labels.intern(key)
    }
}

/// What a refiner knows, and beyond it the labels of one graph.
struct Beyond<'a> {
    known: &'a Refiner,
    labels: Interner,
    node_codes: Codes,
    edge_codes: Codes,
    /// How often nodes and edges had labels beyond.
    nodes: u64,
    links: u64,
}

impl Numbering for Beyond<'_> {
    fn node(&mut self, label: Option<&Scalar>) -> u32 {
        let code = self.known.node_codes.or_beyond(label, &mut self.node_codes);
        self.nodes += u64::from(self.known.node_codes.is_beyond(code));
        code
    }

    fn edge(&mut self, label: Option<&Scalar>) -> u32 {
        let code = self.known.edge_codes.or_beyond(label, &mut self.edge_codes);
        self.links += u64::from(self.known.edge_codes.is_beyond(code));
        code
    }

    fn key(&mut self, key: &[u32]) -> Option<u32> {
        match self.known.labels.get(key) {
            Some(number) => Some(number),
            None => {
                let first = self.known.labels.len() as u32;
                self.labels.intern(key)?.checked_add(first).filter(|&number| number != FREE)
            }
        }
    }
}

/// What is seen of a graph.
#[derive(Clone, Copy)]
struct Seen {
    node_labels: bool,
    edges: EdgeChoice,
}

fn refined(
    numbers: &mut impl Numbering,
    rounds: usize,
    seen: Seen,
    record: &GraphRecord,
    graph: &Graph,
) -> Result<Vec<Vec<u32>>> {
    let all_taken = || {
        Error::argument(
            "the number of distinct Weisfeiler–Lehman labels",
            "more than 4,294,967,295",
            "labels are numbered in 32 bits; use fewer rounds or fewer graphs",
        )
    };
    let node_labels = record.node_labels.as_deref().filter(|_| seen.node_labels);
    let mut current = Vec::with_capacity(graph.num_nodes());
    for node in 0..graph.num_nodes() {
        let code = numbers.node(node_labels.and_then(|l| l.get(node)));
        // `FREE` is no label, so no key of a later round looks like this one.
        current.push(numbers.key(&[FREE, code]).ok_or_else(all_taken)?);
    }
    let edge_labels = seen.edges.labels.is_used() && record.edge_labels.is_some();
    let direction = seen.edges.direction.is_used() && record.directed;
    let links = (edge_labels || direction).then(|| Links::of(record, graph, seen.edges));
    let codes: Option<Vec<u32>> = links.as_ref().map(|links| {
        // Three ways a kind; 2³² kinds of edges fit no memory.
        let code = |link: &Link<'_>| 3 * numbers.edge(link.kind) + link.way as u32;
        links.all().iter().map(code).collect()
    });
    let mut rows = vec![current];
    let mut key = Key::default();
    for round in 0..rounds {
        let mut next = Vec::with_capacity(graph.num_nodes());
        let mut seen = 0;
        for node in 0..graph.num_nodes() {
            let below = &rows[round];
            match (&links, &codes) {
                (Some(links), Some(codes)) => {
                    let links = links.at(node);
                    key.fill_linked(below[node], links, &codes[seen..][..links.len()], below);
                    seen += links.len();
                }
                _ => key.fill(below[node], graph.neighbors(node), below),
            }
            next.push(numbers.key(&key.values).ok_or_else(all_taken)?);
        }
        rows.push(next);
    }
    Ok(rows)
}

/// The key of a node: its label, then its neighbours' in ascending order, each
/// after its edge's code where edges are looked at. Filled again and again, so
/// that a node costs no allocation.
#[derive(Default)]
struct Key {
    values: Vec<u32>,
    pairs: Vec<[u32; 2]>,
}

impl Key {
    fn fill(&mut self, own: u32, neighbors: &[u32], labels: &[u32]) {
        self.values.clear();
        self.values.push(own);
        self.values.extend(neighbors.iter().map(|&v| labels[v as usize]));
        self.values[1..].sort_unstable();
    }

    fn fill_linked(&mut self, own: u32, links: &[Link<'_>], codes: &[u32], labels: &[u32]) {
        self.pairs.clear();
        let pairs = links.iter().zip(codes).map(|(link, &code)| [code, labels[link.to as usize]]);
        self.pairs.extend(pairs);
        self.pairs.sort_unstable();
        self.values.clear();
        self.values.push(own);
        if !links.is_empty() {
            // `FREE` is no label, so no key of neighbours alone looks like this one.
            self.values.push(FREE);
            self.values.extend_from_slice(self.pairs.as_flattened());
        }
    }
}

/// The labels of the round before in the key of a node: none before the first, all where edges
/// have no codes, and else its own and those that come after a code.
fn labels_of(key: &mut [u32]) -> impl Iterator<Item = &mut u32> {
    let (own, rest, every) = match key {
        [FREE, ..] | [] => (None, &mut [][..], 1),
        [own, FREE, pairs @ ..] => (Some(own), pairs, 2),
        [own, neighbors @ ..] => (Some(own), neighbors, 1),
    };
    own.into_iter().chain(rest.iter_mut().skip(every - 1).step_by(every))
}

/// The distinct labels of a row, ascending, with how often each occurs.
///
/// # Complexity
/// `O(n log n)`.
pub fn histogram(labels: &[u32]) -> Vec<(u32, u32)> {
    let mut sorted = labels.to_vec();
    sorted.sort_unstable();
    let runs = sorted.chunk_by(|a, b| a == b);
    runs.map(|run| (run[0], run.len() as u32)).collect()
}

/// Numbers for labels in order of first use; 0 is for no label.
#[derive(Debug, Clone, Default)]
struct Codes {
    numbers: HashMap<Scalar, u32>,
    /// The labels by their numbers, for whoever keeps them.
    labels: Vec<Scalar>,
}

impl Codes {
    fn of_labels(labels: &[Scalar]) -> Codes {
        let mut codes = Codes::default();
        labels.iter().for_each(|label| {
            codes.of(Some(label));
        });
        codes
    }

    fn of(&mut self, label: Option<&Scalar>) -> u32 {
        let Some(label) = label else { return 0 };
        if let Some(&code) = self.numbers.get(label) {
            return code;
        }
        self.labels.push(label.clone());
        let code = self.labels.len() as u32;
        self.numbers.insert(label.clone(), code);
        code
    }

    fn is_beyond(&self, code: u32) -> bool {
        code as usize > self.labels.len()
    }

    /// The number of a label, which is `beyond` these where it is not one of them.
    fn or_beyond(&self, label: Option<&Scalar>, beyond: &mut Codes) -> u32 {
        match label.map(|label| self.numbers.get(label)) {
            None => 0,
            Some(Some(&code)) => code,
            Some(None) => beyond.of(label) + self.labels.len() as u32,
        }
    }
}

//! The sets of the paper: what they are, and how to know that one is right.
//!
//! A downloaded set is recognised by its published statistics and by the
//! [fingerprint](super::fingerprint) of its content, which does not depend on how
//! the archive was packed or in which order its lines stand.

use std::collections::BTreeSet;
use std::path::Path;

use serde::Serialize;

use super::fingerprint::Fingerprint;
use super::{Limits, open};

/// A set that the paper uses.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct KnownSet {
    /// Its name, which is also the name of its file.
    pub name: &'static str,
    /// How to come by it.
    pub origin: Origin,
    /// What its graphs are.
    pub about: &'static str,
    /// Graphs.
    pub graphs: u64,
    /// Distinct labels of the graphs.
    pub classes: u64,
    /// Nodes of a graph, on average, as published (two decimals).
    pub mean_nodes: f64,
    /// Undirected edges of a graph, on average, as published (two decimals).
    pub mean_edges: f64,
    /// The fingerprint of its content, where it is known.
    pub fingerprint: Option<&'static str>,
}

/// How to come by a set.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Origin {
    /// `BASE/NAME.zip` is a TU zip.
    Downloaded,
    /// It is made of other files, or of nothing.
    Made,
}

/// The sets of the paper, in the order of its tables.
pub const KNOWN: &[KnownSet] = &[
    KnownSet {
        name: "MUTAG",
        origin: Origin::Downloaded,
        about: "molecules: mutagenic on a bacterium or not",
        graphs: 188,
        classes: 2,
        mean_nodes: 17.93,
        mean_edges: 19.79,
        fingerprint: Some("0975b65cdf19729736bb4cf63c2fd0d6c0f094eef5a8047924e12bbf0d6764d9"),
    },
    KnownSet {
        name: "PTC_FR",
        origin: Origin::Downloaded,
        about: "molecules: carcinogenic for female rats or not",
        graphs: 351,
        classes: 2,
        mean_nodes: 14.56,
        mean_edges: 15.00,
        fingerprint: Some("41e48813ebd3940f3c89703538193f02ab654caae29e4f3a8da0f9332361364f"),
    },
    KnownSet {
        name: "FRANKENSTEIN",
        origin: Origin::Downloaded,
        about: "molecules with pictures of digits for atoms: mutagenic or not",
        graphs: 4337,
        classes: 2,
        mean_nodes: 16.90,
        mean_edges: 17.88,
        // The fingerprint of the original, with its 780 node attributes, is not
        // known: only the statistics are checked.
        fingerprint: None,
    },
    KnownSet {
        name: "FRANKENSTEIN-R",
        origin: Origin::Made,
        about: "FRANKENSTEIN with other pictures: the original ones are lost",
        graphs: 4337,
        classes: 2,
        mean_nodes: 16.90,
        mean_edges: 17.88,
        fingerprint: None,
    },
    KnownSet {
        name: "IMDB-BINARY",
        origin: Origin::Downloaded,
        about: "actors around an actor: action or romance",
        graphs: 1000,
        classes: 2,
        mean_nodes: 19.77,
        mean_edges: 96.53,
        fingerprint: Some("35bef7cfa9141d00078b5dc74c57f354eea7e191150683e63be2edb0413fac1b"),
    },
    KnownSet {
        name: "IMDB-MULTI",
        origin: Origin::Downloaded,
        about: "actors around an actor: comedy, romance or science fiction",
        graphs: 1500,
        classes: 3,
        mean_nodes: 13.00,
        mean_edges: 65.94,
        fingerprint: Some("560a87a9b02f4623263bdfd71ceeb35e3bbe95d4c9165d0db8b36baa62eec2b0"),
    },
    KnownSet {
        name: "NCI1",
        origin: Origin::Downloaded,
        about: "molecules: active against lung cancer cells or not",
        graphs: 4110,
        classes: 2,
        mean_nodes: 29.87,
        mean_edges: 32.30,
        fingerprint: Some("fcbbbb7d9182deda4d8221841544c2835f03c3894d67cf59fbf17ee19b8e7eb2"),
    },
    KnownSet {
        name: "NCI109",
        origin: Origin::Downloaded,
        about: "molecules: active against ovarian cancer cells or not",
        graphs: 4127,
        classes: 2,
        mean_nodes: 29.68,
        mean_edges: 32.13,
        fingerprint: Some("29aea5ac53073da52d6bf3c9040d939a433eb11b4afef083b499dca797dded85"),
    },
    KnownSet {
        name: "ENZYMES",
        origin: Origin::Downloaded,
        about: "proteins: six classes of enzymes",
        graphs: 600,
        classes: 6,
        mean_nodes: 32.63,
        mean_edges: 62.14,
        fingerprint: Some("8c0c738a1224b567aa1f70160a6dc5747a6f775e2c1e3a4c450596f1bf1ebfed"),
    },
    KnownSet {
        name: "PROTEINS",
        origin: Origin::Downloaded,
        about: "proteins: enzyme or not",
        graphs: 1113,
        classes: 2,
        mean_nodes: 39.06,
        mean_edges: 72.82,
        fingerprint: Some("73fff6759dc620bc13880f26fcdb615db9f33360ad00dadbfe87169c0cfbde13"),
    },
    KnownSet {
        name: "DD",
        origin: Origin::Downloaded,
        about: "proteins, amino acid by amino acid: enzyme or not",
        graphs: 1178,
        classes: 2,
        mean_nodes: 284.32,
        mean_edges: 715.66,
        fingerprint: Some("292930d2db42ec37e31b031af207a15360ca711a0a1e082c73d718b05a754b75"),
    },
    KnownSet {
        name: "REDDIT-BINARY",
        origin: Origin::Downloaded,
        about: "threads: question and answer, or discussion",
        graphs: 2000,
        classes: 2,
        mean_nodes: 429.63,
        mean_edges: 497.75,
        fingerprint: Some("467e508c326caea11f93e1a2cdc0534869ad98c8aa095be936b19d3099e99bba"),
    },
    KnownSet {
        name: "REDDIT-MULTI-5K",
        origin: Origin::Downloaded,
        about: "threads: five communities",
        graphs: 4999,
        classes: 5,
        mean_nodes: 508.52,
        mean_edges: 594.87,
        fingerprint: Some("94eb2c0503e68c252d3f7bfdffb2e3176390410cc65dbe88209147f4c4614264"),
    },
    KnownSet {
        name: "DLA",
        origin: Origin::Made,
        about: "clusters of particles: sticky or not",
        graphs: 1000,
        classes: 2,
        mean_nodes: 500.00,
        mean_edges: 499.00,
        fingerprint: None,
    },
    KnownSet {
        name: "MNIST",
        origin: Origin::Made,
        about: "handwritten digits, the test images",
        graphs: 10000,
        classes: 10,
        mean_nodes: 151.12,
        mean_edges: 252.20,
        fingerprint: None,
    },
    KnownSet {
        name: "USPS",
        origin: Origin::Made,
        about: "handwritten digits of envelopes",
        graphs: 9298,
        classes: 10,
        mean_nodes: 77.64,
        mean_edges: 115.89,
        fingerprint: None,
    },
    KnownSet {
        name: "FASHION-MNIST",
        origin: Origin::Made,
        about: "pictures of clothes, the test images",
        graphs: 10000,
        classes: 10,
        mean_nodes: 392.08,
        mean_edges: 702.70,
        fingerprint: None,
    },
];

/// The known set of that name; upper and lower case are the same.
pub fn find(name: &str) -> Option<&'static KnownSet> {
    KNOWN.iter().find(|set| set.name.eq_ignore_ascii_case(name))
}

impl KnownSet {
    /// Whether the collection at `path` is this set.
    ///
    /// # Errors
    /// What is wrong with it, as the rest of a sentence: "it has 187 graphs…".
    pub fn verify(&self, path: &Path, limits: &Limits) -> Result<(), String> {
        let mut fingerprint = Fingerprint::new();
        let (mut graphs, mut nodes, mut edges) = (0u64, 0u64, 0u64);
        let mut classes = BTreeSet::new();
        let damaged = |error| format!("it cannot be read as a set of graphs ({error})");
        for record in open(path, limits).map_err(damaged)? {
            let record = record.map_err(damaged)?;
            fingerprint.add(&record);
            graphs += 1;
            nodes += u64::from(record.num_nodes);
            edges += record.edges.len() as u64;
            classes.extend(record.label);
        }
        let count = |what, found, expected| match found == expected {
            true => Ok(()),
            false => Err(format!("it has {found} {what} where {expected} are known")),
        };
        // Published means are rounded to two decimals, some of them downwards.
        let mean = |what, found: u64, expected: f64| {
            let found = found as f64 / graphs.max(1) as f64;
            match (found - expected).abs() <= 0.0101 {
                true => Ok(()),
                false => {
                    Err(format!("it has {found:.2} {what} a graph where {expected} are known"))
                }
            }
        };
        count("graphs", graphs, self.graphs)?;
        count("classes", classes.len() as u64, self.classes)?;
        mean("nodes", nodes, self.mean_nodes)?;
        mean("edges", edges, self.mean_edges)?;
        let found = fingerprint.finish();
        match self.fingerprint {
            Some(expected) if expected != found => {
                Err(format!("its content has the fingerprint {found} where {expected} is known"))
            }
            _ => Ok(()),
        }
    }
}

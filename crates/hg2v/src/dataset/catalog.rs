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
    /// It is made, and this is how.
    Made(&'static str),
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
        fingerprint: None,
    },
    KnownSet {
        name: "PTC_FR",
        origin: Origin::Downloaded,
        about: "molecules: carcinogenic for female rats or not",
        graphs: 351,
        classes: 2,
        mean_nodes: 14.56,
        mean_edges: 15.00,
        fingerprint: None,
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
        name: "IMDB-BINARY",
        origin: Origin::Downloaded,
        about: "actors around an actor: action or romance",
        graphs: 1000,
        classes: 2,
        mean_nodes: 19.77,
        mean_edges: 96.53,
        fingerprint: None,
    },
    KnownSet {
        name: "IMDB-MULTI",
        origin: Origin::Downloaded,
        about: "actors around an actor: comedy, romance or science fiction",
        graphs: 1500,
        classes: 3,
        mean_nodes: 13.00,
        mean_edges: 65.94,
        fingerprint: None,
    },
    KnownSet {
        name: "NCI1",
        origin: Origin::Downloaded,
        about: "molecules: active against lung cancer cells or not",
        graphs: 4110,
        classes: 2,
        mean_nodes: 29.87,
        mean_edges: 32.30,
        fingerprint: None,
    },
    KnownSet {
        name: "NCI109",
        origin: Origin::Downloaded,
        about: "molecules: active against ovarian cancer cells or not",
        graphs: 4127,
        classes: 2,
        mean_nodes: 29.68,
        mean_edges: 32.13,
        fingerprint: None,
    },
    KnownSet {
        name: "ENZYMES",
        origin: Origin::Downloaded,
        about: "proteins: six classes of enzymes",
        graphs: 600,
        classes: 6,
        mean_nodes: 32.63,
        mean_edges: 62.14,
        fingerprint: None,
    },
    KnownSet {
        name: "PROTEINS",
        origin: Origin::Downloaded,
        about: "proteins: enzyme or not",
        graphs: 1113,
        classes: 2,
        mean_nodes: 39.06,
        mean_edges: 72.82,
        fingerprint: None,
    },
    KnownSet {
        name: "DD",
        origin: Origin::Downloaded,
        about: "proteins, amino acid by amino acid: enzyme or not",
        graphs: 1178,
        classes: 2,
        mean_nodes: 284.32,
        mean_edges: 715.66,
        fingerprint: None,
    },
    KnownSet {
        name: "REDDIT-BINARY",
        origin: Origin::Downloaded,
        about: "threads: question and answer, or discussion",
        graphs: 2000,
        classes: 2,
        mean_nodes: 429.63,
        mean_edges: 497.75,
        fingerprint: None,
    },
    KnownSet {
        name: "REDDIT-MULTI-5K",
        origin: Origin::Downloaded,
        about: "threads: five communities",
        graphs: 4999,
        classes: 5,
        mean_nodes: 508.52,
        mean_edges: 594.87,
        fingerprint: None,
    },
    KnownSet {
        name: "DLA",
        origin: Origin::Made("hg2v generate dla --out DLA.jsonl"),
        about: "clusters of particles: sticky or not",
        graphs: 1000,
        classes: 2,
        mean_nodes: 500.00,
        mean_edges: 499.00,
        fingerprint: None,
    },
    KnownSet {
        name: "MNIST",
        origin: Origin::Made(
            "fetch the idx files of its test images, then hg2v images \
             t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz --threshold 0 --out \
             MNIST.parquet",
        ),
        about: "handwritten digits, the test images",
        graphs: 10000,
        classes: 10,
        mean_nodes: 151.12,
        mean_edges: 252.20,
        fingerprint: None,
    },
    KnownSet {
        name: "USPS",
        origin: Origin::Made(
            "fetch its idx files, then hg2v images USPS-images-idx3-short.gz \
             USPS-labels-idx1-ubyte.gz --threshold 0.3 --out USPS.parquet",
        ),
        about: "handwritten digits of envelopes",
        graphs: 9298,
        classes: 10,
        mean_nodes: 77.64,
        mean_edges: 115.89,
        fingerprint: None,
    },
    KnownSet {
        name: "FASHION-MNIST",
        origin: Origin::Made(
            "fetch the idx files of its test images, then hg2v images \
             t10k-images-idx3-ubyte.gz t10k-labels-idx1-ubyte.gz --threshold 0 --out \
             FASHION-MNIST.parquet",
        ),
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
                false => Err(format!(
                    "it has {found:.2} {what} a graph where {expected} are known"
                )),
            }
        };
        count("graphs", graphs, self.graphs)?;
        count("classes", classes.len() as u64, self.classes)?;
        mean("nodes", nodes, self.mean_nodes)?;
        mean("edges", edges, self.mean_edges)?;
        let found = fingerprint.finish();
        match self.fingerprint {
            Some(expected) if expected != found => Err(format!(
                "its content has the fingerprint {found} where {expected} is known"
            )),
            _ => Ok(()),
        }
    }
}

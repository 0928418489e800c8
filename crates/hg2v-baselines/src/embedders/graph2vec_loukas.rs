//! Graph2Vec on pyramids: *Graph2Vec+Loukas* of the paper's ablation (its Table 4).
//!
//! The words of a graph are the Weisfeiler–Lehman labels of all levels of its pyramid. A
//! super-node begins with a label for the multiset of its members' first labels, "like a WL
//! iteration would do"; the paper hashes them, here an exact dictionary numbers them.
//! Attributes and weights are not seen.

use std::collections::BTreeMap;

use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::prepare::Collection;
use hg2v_eval::Matrix;
use hg2v_eval::error::Result;
use hg2v_eval::method::Embedder;

use super::graph2vec::{Graph2Vec, embedded};
use super::skip_gram::Document;

/// The method, with the settings of [`Graph2Vec`].
///
/// # Complexity
/// As [`Graph2Vec`], over the nodes of all levels.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Graph2VecLoukas(pub Graph2Vec);

impl Embedder for Graph2VecLoukas {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let Graph2Vec { rounds, skip_gram } = &self.0;
        let (documents, words) = documents(collection, *rounds)?;
        embedded(&documents, words, train, skip_gram)
    }
}

/// The labels of one level of all graphs.
struct LevelLabels {
    refiner: Refiner,
    /// A number for each multiset of labels of the level below.
    pooled: BTreeMap<Vec<u32>, i64>,
}

/// The words of each graph, and how many there are in all. Labels of different levels are
/// different words.
fn documents(collection: &Collection<'_>, rounds: usize) -> Result<(Vec<Document>, usize)> {
    let mut levels: Vec<LevelLabels> = Vec::new();
    let mut of_graphs: Vec<Vec<Document>> = Vec::with_capacity(collection.len());
    let graphs = collection.run.records.iter().zip(&collection.graphs);
    for ((record, graph), pyramid) in graphs.zip(&collection.pyramids) {
        while levels.len() <= pyramid.levels.len() {
            levels.push(LevelLabels { refiner: Refiner::new(rounds), pooled: BTreeMap::new() });
        }
        let mut rows = levels[0].refiner.refine(record, graph)?;
        let mut of_levels = vec![counted(&rows)];
        for (level, labels) in pyramid.levels.iter().zip(&mut levels[1..]) {
            let mut members = vec![Vec::new(); level.graph.num_nodes()];
            for (&label, &node) in rows[0].iter().zip(&level.assignment) {
                members[node as usize].push(label);
            }
            let pooled = members.into_iter().map(|members| labels.number(members)).collect();
            let record = GraphRecord { node_labels: Some(pooled), ..GraphRecord::default() };
            rows = labels.refiner.refine(&record, &level.graph)?;
            of_levels.push(counted(&rows));
        }
        of_graphs.push(of_levels);
    }
    let mut firsts = vec![0];
    for level in &levels {
        firsts.push(firsts[firsts.len() - 1] + level.refiner.num_labels());
    }
    let numbered = |of_levels: Vec<Document>| {
        let levels = of_levels.into_iter().zip(&firsts);
        let words = levels.flat_map(|(words, &first)| {
            words.into_iter().map(move |(word, count)| (word + first as u32, count))
        });
        words.collect()
    };
    Ok((of_graphs.into_iter().map(numbered).collect(), firsts[levels.len()]))
}

impl LevelLabels {
    fn number(&mut self, mut members: Vec<u32>) -> Scalar {
        members.sort_unstable();
        let next = self.pooled.len() as i64;
        Scalar::Int(*self.pooled.entry(members).or_insert(next))
    }
}

fn counted(rows: &[Vec<u32>]) -> Document {
    rows.iter().flat_map(|row| histogram(row)).collect()
}

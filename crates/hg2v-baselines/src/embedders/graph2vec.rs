//! Graph2Vec.
//!
//! Narayanan et al. 2017, *graph2vec: Learning distributed representations of graphs*: a
//! graph is a document, its [Weisfeiler–Lehman labels](hg2v::graph::wl) of all rounds are
//! the words, and [skip-gram](super::skip_gram) gives both of them vectors.

use hg2v::prepare::Collection;
use hg2v_eval::Matrix;
use hg2v_eval::error::Result;
use hg2v_eval::method::Embedder;

use super::skip_gram::{Document, SkipGram};
use crate::wl::Histograms;

/// The method; a graph gets `skip_gram.dim` numbers.
///
/// # Complexity
/// Time O(h·m) for the labels of m edges in all, then as [`SkipGram::fit`], with at most
/// h + 1 words a node.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Graph2Vec {
    /// `h`, rounds of refinement.
    pub rounds: usize,
    /// How vectors are fitted.
    pub skip_gram: SkipGram,
}

impl Default for Graph2Vec {
    fn default() -> Graph2Vec {
        Graph2Vec { rounds: 3, skip_gram: SkipGram::default() }
    }
}

impl Embedder for Graph2Vec {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let histograms = Histograms::of(collection, self.rounds)?;
        let documents: Vec<Document> =
            histograms.of_graph.into_iter().map(|rounds| rounds.concat()).collect();
        embedded(&documents, histograms.labels, train, &self.skip_gram)
    }
}

/// A row for each document, by what was learnt from those of `train` (`None`: all).
pub(super) fn embedded(
    documents: &[Document],
    words: usize,
    train: Option<&[usize]>,
    skip_gram: &SkipGram,
) -> Result<Matrix> {
    let seen: Vec<&Document> = match train {
        Some(train) => train.iter().map(|&at| &documents[at]).collect(),
        None => documents.iter().collect(),
    };
    let words = skip_gram.fit(&seen, words)?;
    Matrix::from_f32(documents.len(), skip_gram.dim, &words.infer(documents))
}

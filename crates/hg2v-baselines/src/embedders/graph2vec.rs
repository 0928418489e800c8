//! Graph2Vec.
//!
//! Narayanan et al. 2017, *graph2vec: Learning distributed representations of graphs*: a
//! graph is a document, its [Weisfeiler–Lehman labels](hg2v::graph::wl) of all rounds are
//! the words, and [skip-gram](super::skip_gram) gives both of them vectors.

use hg2v::graph::wl::Refiner;
use hg2v::prepare::Collection;
use hg2v_eval::Matrix;
use hg2v_eval::error::Result;
use hg2v_eval::method::Embedder;

use serde::{Deserialize, Serialize};

use super::skip_gram::{Document, SkipGram, Words};
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

impl Graph2Vec {
    /// What is learnt from all graphs of a collection; `done` hears what share is done.
    ///
    /// # Errors
    /// Parameters outside their domain; a fit that diverges.
    pub fn fit(&self, collection: &Collection<'_>, done: &dyn Fn(f64)) -> Result<FittedGraph2Vec> {
        let mut refiner = Refiner::new(self.rounds);
        let documents = documents(&mut refiner, collection)?;
        let seen: Vec<&Document> = documents.iter().collect();
        let words = self.skip_gram.fit(&seen, refiner.num_labels(), done)?;
        Ok(FittedGraph2Vec { refiner, words })
    }
}

/// A fitted model: new graphs get the vectors that they would have had as graphs outside
/// the training part.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct FittedGraph2Vec {
    refiner: Refiner,
    words: Words,
}

impl FittedGraph2Vec {
    /// A row for each graph, by what was learnt; labels never met are passed over.
    ///
    /// # Errors
    /// More than 2³² − 1 distinct labels.
    pub fn vectors(&self, collection: &Collection<'_>) -> Result<Matrix> {
        let documents = documents(&mut self.refiner.clone(), collection)?;
        Matrix::from_f32(documents.len(), self.words.dim(), &self.words.infer(&documents))
    }
}

/// The labels of all rounds of each graph, counted.
fn documents(refiner: &mut Refiner, collection: &Collection<'_>) -> Result<Vec<Document>> {
    let histograms = Histograms::by(refiner, collection)?;
    Ok(histograms.of_graph.into_iter().map(|rounds| rounds.concat()).collect())
}

impl Embedder for Graph2Vec {
    fn vectors(&self, collection: &Collection<'_>, train: Option<&[usize]>) -> Result<Matrix> {
        let mut refiner = Refiner::new(self.rounds);
        let documents = documents(&mut refiner, collection)?;
        embedded(&documents, refiner.num_labels(), train, &self.skip_gram)
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
    let words = skip_gram.fit(&seen, words, &|_| ())?;
    Matrix::from_f32(documents.len(), skip_gram.dim, &words.infer(documents))
}

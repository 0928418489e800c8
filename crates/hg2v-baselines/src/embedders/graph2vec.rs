//! Graph2Vec.
//!
//! Narayanan et al. 2017, *graph2vec: Learning distributed representations of graphs*: a
//! graph is a document, its [Weisfeiler–Lehman labels](hg2v::graph::wl) of all rounds are
//! the words, and [skip-gram](super::skip_gram) gives both of them vectors.

use hg2v::context::Context;
use hg2v::dataset::features::Origin;
use hg2v::error::{Error, Result};
use hg2v::graph::wl::{Refiner, Vocabulary};
use hg2v::graph::{Aspects, EdgeChoice, GraphRecord};
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::saved::{Config, DataNote, Parts, Stored, Tensors};
use hg2v::{Method, Model};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::skip_gram::{Document, SkipGram, Words};
use crate::wl::{self, Rounds};

/// The most rounds of refinement: a graph's labels tell nothing more after as many rounds as
/// it has nodes.
const MOST_ROUNDS: usize = 1000;

/// The method; a graph gets `skip_gram.dim` numbers.
///
/// # Complexity
/// Time O(h·m) for the labels of m edges in all, then as [`SkipGram::fit`], with at most
/// h + 1 words a node.
///
/// # Examples
/// ```
/// use hg2v::Method;
/// use hg2v::graph::GraphRecord;
/// use hg2v_baselines::embedders::graph2vec::Graph2Vec;
/// use hg2v_baselines::embedders::skip_gram::SkipGram;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
/// let model = Graph2Vec::default().skip_gram(SkipGram::default().dim(8)).fit(&graphs)?;
/// assert_eq!(model.embed(&[ring(20)])?.dim, 8);
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Graph2Vec {
    /// `h`, rounds of refinement.
    pub rounds: usize,
    /// What labels see of edges.
    pub edges: EdgeChoice,
    /// How vectors are fitted.
    pub skip_gram: SkipGram,
}

hg2v_math::setters!(Graph2Vec { rounds: usize, edges: EdgeChoice, skip_gram: SkipGram });

impl Default for Graph2Vec {
    fn default() -> Graph2Vec {
        Graph2Vec { rounds: 3, edges: EdgeChoice::default(), skip_gram: SkipGram::default() }
    }
}

impl Graph2Vec {
    /// Checks each setting.
    ///
    /// # Errors
    /// One for the first setting outside its domain.
    pub fn check(&self) -> Result<()> {
        check_rounds(self.rounds)?;
        self.skip_gram.check()
    }

    /// What gives the nodes of the graphs `train` their labels.
    pub(super) fn refiner(&self, collection: &Collection<'_>, train: &[usize]) -> Result<Refiner> {
        wl::refiner(self.rounds, self.edges, collection, train)
    }
}

/// Refuses more rounds than tell anything.
///
/// # Errors
/// More than a thousand.
pub(crate) fn check_rounds(rounds: usize) -> Result<()> {
    match rounds {
        ..=MOST_ROUNDS => Ok(()),
        _ => Err(Error::parameter("rounds", rounds, format!("it must be at most {MOST_ROUNDS}"))),
    }
}

const NAME: &str = "graph2vec";

impl Method for Graph2Vec {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        Graph2Vec::check(self)
    }

    fn needs(&self) -> Needs {
        Needs::default()
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        self.check()?;
        let (refiner, histograms) =
            wl::learnt(collection, train, self.refiner(collection, train)?)?;
        let documents: Vec<Document> = histograms.into_iter().map(document).collect();
        let words = self.skip_gram.fit(&documents, refiner.num_labels(), context)?;
        let data = DataNote::of(train.iter().map(|&i| &collection.run.records[i]));
        Ok(Box::new(Graph2VecModel { settings: *self, refiner, words, data }))
    }
}

/// What Graph2Vec learnt: the vectors of labels. A graph gets the vector that fits its own
/// labels best; those never met are passed over.
#[derive(Debug, Clone)]
pub struct Graph2VecModel {
    settings: Graph2Vec,
    refiner: Refiner,
    words: Words,
    data: DataNote,
}

/// What `config.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    settings: Graph2Vec,
    vocabulary: Vocabulary,
}

impl Graph2VecModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<Graph2VecModel> {
        let Config { model: Saved { settings, vocabulary }, data, .. } = stored.config()?;
        settings.check().map_err(|e| stored.refused(e))?;
        let mut tensors = stored.tensors()?;
        let keys: Vec<u32> = tensors.take_list("keys")?;
        let refiner = Refiner::of_vocabulary(&vocabulary, &keys)
            .ok_or_else(|| tensors.refused("its labels are no refiner's"))?;
        let words = Words::of_tensors(settings.skip_gram, &mut tensors)?;
        tensors.finish()?;
        Ok(Graph2VecModel { settings, refiner, words, data })
    }
}

impl Model for Graph2VecModel {
    fn method(&self) -> &str {
        NAME
    }

    fn settings(&self) -> Value {
        self.settings.settings()
    }

    fn needs(&self) -> Needs {
        self.settings.needs()
    }

    fn sees(&self) -> Aspects {
        self.refiner.sees()
    }

    fn columns(&self) -> Vec<String> {
        numbered(self.words.dim())
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        wl::check(&self.refiner, record, origin)
    }

    fn embed_collection(&self, collection: &Collection<'_>, _: &Context<'_>) -> Result<Rows> {
        let found = wl::unseen(&self.refiner, collection, &collection.all())?;
        let (histograms, applied): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let documents: Vec<Document> = histograms.into_iter().map(document).collect();
        Ok(Rows { values: self.words.infer(&documents), applied })
    }

    fn parts(&self) -> Result<Parts> {
        let (vocabulary, keys) = self.refiner.vocabulary();
        let saved = Saved { settings: self.settings, vocabulary };
        let config = Config::new(NAME, saved, self.data.clone());
        let tensors = Tensors::default().with("keys", &[keys.len()], keys);
        Parts::new(&config, &self.words.tensors(tensors))
    }
}

/// The labels of all rounds as words.
fn document(rounds: Rounds) -> Document {
    rounds.concat()
}

/// Names for numbers that have no other.
pub(crate) fn numbered(dim: usize) -> Vec<String> {
    (0..dim).map(|i| format!("e{i}")).collect()
}

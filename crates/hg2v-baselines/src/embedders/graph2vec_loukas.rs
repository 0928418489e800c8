//! Graph2Vec on pyramids: *Graph2Vec+Loukas* of the paper's ablation (its Table 4).
//!
//! The words of a graph are the Weisfeiler–Lehman labels of all levels of its pyramid. A
//! super-node begins with a label for the multiset of its members' first labels, "like a WL
//! iteration would do"; the paper hashes them, here an exact dictionary numbers them.
//! Attributes and weights are not seen; edges have kinds and directions on level 0 alone.

use std::collections::BTreeMap;

use hg2v::coarsen;
use hg2v::context::Context;
use hg2v::dataset::features::{Applied, Origin};
use hg2v::error::Result;
use hg2v::graph::wl::{Refiner, Vocabulary, histogram};
use hg2v::graph::{Aspects, GraphRecord, Scalar};
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::saved::{Config, DataNote, Parts, Stored, Tensors};
use hg2v::{Method, Model};
use hg2v_math::parallel::try_map;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::graph2vec::{Graph2Vec, numbered};
use super::skip_gram::{Document, Words};
use crate::wl;

/// The method, with the settings of [`Graph2Vec`].
///
/// # Complexity
/// As [`Graph2Vec`], over the nodes of all levels.
///
/// # Examples
/// ```
/// use hg2v::Method;
/// use hg2v::graph::GraphRecord;
/// use hg2v_baselines::embedders::graph2vec_loukas::Graph2VecLoukas;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let graphs: Vec<GraphRecord> = (4..12).map(ring).collect();
/// let model = Graph2VecLoukas::default().fit(&graphs)?;
/// assert_eq!(model.embed(&[ring(20)])?.dim, 256);
/// # Ok::<(), hg2v::Error>(())
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Graph2VecLoukas {
    /// Labels and their vectors.
    pub graph2vec: Graph2Vec,
    /// How graphs are coarsened.
    pub coarsening: coarsen::Params,
}

hg2v_math::setters!(Graph2VecLoukas { graph2vec: Graph2Vec, coarsening: coarsen::Params });

const NAME: &str = "graph2vec-loukas";

impl Method for Graph2VecLoukas {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        self.graph2vec.check()?;
        self.coarsening.check()
    }

    fn needs(&self) -> Needs {
        Needs::default().coarsening(Some(self.coarsening))
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        context: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        self.check()?;
        let (levels, documents) = learnt(collection, train, &self.graph2vec)?;
        let words = levels.iter().map(|level| level.refiner.num_labels()).sum();
        let words = self.graph2vec.skip_gram.fit(&documents, words, context)?;
        let data = DataNote::of(train.iter().map(|&i| &collection.run.records[i]));
        Ok(Box::new(Graph2VecLoukasModel { settings: *self, levels, words, data }))
    }
}

/// What it learnt: the vectors of labels, level by level.
#[derive(Debug, Clone)]
pub struct Graph2VecLoukasModel {
    settings: Graph2VecLoukas,
    levels: Vec<LevelLabels>,
    words: Words,
    data: DataNote,
}

/// What `config.json` says.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Saved {
    settings: Graph2VecLoukas,
    vocabularies: Vec<Vocabulary>,
}

impl Graph2VecLoukasModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<Graph2VecLoukasModel> {
        let Config { model: Saved { settings, vocabularies }, data, .. } = stored.config()?;
        settings.check().map_err(|e| stored.refused(e))?;
        let mut tensors = stored.tensors()?;
        let mut levels = Vec::new();
        for (at, vocabulary) in vocabularies.iter().enumerate() {
            let keys: Vec<u32> = tensors.take_list(&format!("keys.{at}"))?;
            let pooled: Vec<u32> = tensors.take_list(&format!("pooled.{at}"))?;
            let level = LevelLabels::of_lists(vocabulary, &keys, &pooled);
            levels.push(level.ok_or_else(|| tensors.refused("its labels are no refiner's"))?);
        }
        let words = Words::of_tensors(settings.graph2vec.skip_gram, &mut tensors)?;
        tensors.finish()?;
        Ok(Graph2VecLoukasModel { settings, levels, words, data })
    }
}

impl Model for Graph2VecLoukasModel {
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
        self.levels.first().map(|level| level.refiner.sees()).unwrap_or_default()
    }

    fn columns(&self) -> Vec<String> {
        numbered(self.words.dim())
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        self.levels.first().map_or(Ok(()), |level| wl::check(&level.refiner, record, origin))
    }

    fn embed_collection(&self, collection: &Collection<'_>, _: &Context<'_>) -> Result<Rows> {
        let found = try_map(0..collection.len(), |i| self.document(collection, i))?;
        let (documents, applied): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        Ok(Rows { values: self.words.infer(&documents), applied })
    }

    fn parts(&self) -> Result<Parts> {
        let mut vocabularies = Vec::new();
        let mut tensors = Tensors::default();
        for (at, level) in self.levels.iter().enumerate() {
            let (vocabulary, keys) = level.refiner.vocabulary();
            let pooled = level.pooled_list();
            vocabularies.push(vocabulary);
            tensors = tensors.with(format!("keys.{at}"), &[keys.len()], keys).with(
                format!("pooled.{at}"),
                &[pooled.len()],
                pooled,
            );
        }
        let saved = Saved { settings: self.settings, vocabularies };
        let config = Config::new(NAME, saved, self.data.clone());
        Parts::new(&config, &self.words.tensors(tensors))
    }
}

impl Graph2VecLoukasModel {
    /// The known words of a graph, and what of it was never met.
    fn document(&self, collection: &Collection<'_>, i: usize) -> Result<(Document, Applied)> {
        let refine = |level: usize, record: &GraphRecord, graph: &_| {
            self.levels[level].refiner.refine_unseen(record, graph)
        };
        let (run, record) = (collection.run, &collection.run.records[i]);
        self.check(record, Origin { file: run.file, position: run.position_of(i) })?;
        let found = refine(0, record, &collection.graphs[i])?;
        let (unseen_labels, unseen_edge_labels) = (found.nodes, found.links);
        let applied = Applied { unseen_labels, unseen_edge_labels, ..Applied::default() };
        let mut rows = found.rounds;
        let (mut first, mut words) = (0, Document::new());
        let mut add = |rows: &[Vec<u32>], labels: &LevelLabels| {
            let known = labels.refiner.num_labels() as u32;
            let counted = counted(rows).into_iter().filter(|(word, _)| *word < known);
            words.extend(counted.map(|(word, count)| (word + first, count)));
            first += known;
        };
        add(&rows, &self.levels[0]);
        let levels =
            collection.pyramids[i].levels.iter().zip(self.levels.iter().enumerate().skip(1));
        for (level, (at, labels)) in levels {
            // What is pooled of labels never met, or never met together, is beyond what is known.
            let mut beyond = BTreeMap::new();
            let known = labels.pooled.len() as i64;
            let number = |mut members: Vec<u32>| {
                members.sort_unstable();
                if let Some(&number) = labels.pooled.get(&members) {
                    return Scalar::Int(number);
                }
                let next = known + beyond.len() as i64;
                Scalar::Int(*beyond.entry(members).or_insert(next))
            };
            let pooled = members_of(&rows[0], level).into_iter().map(number).collect();
            let record = GraphRecord { node_labels: Some(pooled), ..GraphRecord::default() };
            rows = refine(at, &record, &level.graph)?.rounds;
            add(&rows, labels);
        }
        Ok((words, applied))
    }
}

/// The labels of one level of all graphs.
#[derive(Debug, Clone)]
struct LevelLabels {
    refiner: Refiner,
    /// A number for each multiset of labels of the level below.
    pooled: BTreeMap<Vec<u32>, i64>,
}

impl LevelLabels {
    fn number(&mut self, mut members: Vec<u32>) -> Scalar {
        members.sort_unstable();
        let next = self.pooled.len() as i64;
        Scalar::Int(*self.pooled.entry(members).or_insert(next))
    }

    /// The multisets by their numbers, each after its length.
    fn pooled_list(&self) -> Vec<u32> {
        let mut by_number: Vec<(i64, &Vec<u32>)> =
            self.pooled.iter().map(|(members, &number)| (number, members)).collect();
        by_number.sort_unstable();
        let lists = by_number.into_iter().flat_map(|(_, members)| {
            std::iter::once(members.len() as u32).chain(members.iter().copied())
        });
        lists.collect()
    }

    fn of_lists(vocabulary: &Vocabulary, keys: &[u32], pooled: &[u32]) -> Option<LevelLabels> {
        let refiner = Refiner::of_vocabulary(vocabulary, keys)?;
        let mut level = LevelLabels { refiner, pooled: BTreeMap::new() };
        let mut rest = pooled;
        while let Some((&length, after)) = rest.split_first() {
            let (members, after) = after.split_at_checked(length as usize)?;
            level.number(members.to_vec());
            rest = after;
        }
        Some(level)
    }
}

/// The labels of some graphs, and the words of each. Labels of different levels are different
/// words.
fn learnt(
    collection: &Collection<'_>,
    which: &[usize],
    settings: &Graph2Vec,
) -> Result<(Vec<LevelLabels>, Vec<Document>)> {
    let mut levels: Vec<LevelLabels> = Vec::new();
    let refiner = settings.refiner(collection, which)?;
    let mut of_graphs: Vec<Vec<Document>> = Vec::with_capacity(which.len());
    for &i in which {
        let pyramid = &collection.pyramids[i];
        while levels.len() <= pyramid.levels.len() {
            levels.push(LevelLabels { refiner: refiner.clone(), pooled: BTreeMap::new() });
        }
        let (record, graph) = (&collection.run.records[i], &collection.graphs[i]);
        let mut rows = levels[0].refiner.refine(record, graph)?;
        let mut of_levels = vec![counted(&rows)];
        for (level, labels) in pyramid.levels.iter().zip(&mut levels[1..]) {
            let members = members_of(&rows[0], level);
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
    Ok((levels, of_graphs.into_iter().map(numbered).collect()))
}

/// The first labels of the members of each super-node of a level.
fn members_of(labels: &[u32], level: &coarsen::Level) -> Vec<Vec<u32>> {
    let mut members = vec![Vec::new(); level.graph.num_nodes()];
    for (&label, &node) in labels.iter().zip(&level.assignment) {
        members[node as usize].push(label);
    }
    members
}

fn counted(rows: &[Vec<u32>]) -> Document {
    rows.iter().flat_map(|row| histogram(row)).collect()
}

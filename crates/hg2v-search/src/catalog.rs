//! Vectors with the names and classes of their graphs, ready to be searched.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use hg2v::Hg2v;
use hg2v::coarsen::cache::Cache;
use hg2v::error::{Advice, Error, Job, Place, Result};
use hg2v::graph::{GraphRecord, Scalar};
use hg2v::nn::machine::Machine;
use hg2v::prepare::Run;
use hg2v::vectors::Vectors;

use crate::index::{Index, Way};
use crate::space::{Metric, Space};

/// How vectors are to be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Choice {
    /// How far two are apart.
    pub metric: Metric,
    /// Whether every column is brought to mean 0 and variance 1 first.
    pub standardise: bool,
    /// Whether all are looked at.
    pub way: Way,
    /// Seeds the links of an approximate index.
    pub seed: u64,
}

impl Default for Choice {
    fn default() -> Choice {
        Choice { metric: Metric::Cosine, standardise: false, way: Way::BySize, seed: 0 }
    }
}

/// Vectors with names and classes, and an index of them.
#[derive(Debug, Clone)]
pub struct Catalog {
    /// A name for each row.
    pub ids: Vec<Scalar>,
    /// A class for each row that has one.
    pub labels: Vec<Option<Scalar>>,
    /// The vectors.
    pub index: Index,
    /// The first row of a name, and the further ones where several have it.
    by_name: BTreeMap<String, usize>,
    further: BTreeMap<String, Vec<usize>>,
}

impl Catalog {
    /// Indexes `vectors`, which came from `file`; `watch` is told how many are linked.
    ///
    /// # Errors
    /// No vectors, or vectors without numbers.
    pub fn new(
        vectors: Vectors,
        file: &Path,
        choice: Choice,
        watch: impl FnMut(usize),
    ) -> Result<Catalog> {
        let Vectors { dim, values, ids, labels, .. } = vectors;
        if ids.is_empty() || dim == 0 {
            let (problem, fix) = ("it holds no vectors", Advice::Run(Job::Embed));
            return Err(Error::input(file, Place::Whole, problem, fix));
        }
        let space = match choice.standardise {
            true => Space::standardised(dim, values, choice.metric)?,
            false => Space::new(dim, values, choice.metric)?,
        };
        let index = Index::new(space, choice.way, choice.seed, watch)?;
        let mut by_name = BTreeMap::new();
        let mut further = BTreeMap::<String, Vec<usize>>::new();
        for (position, id) in ids.iter().enumerate() {
            match by_name.entry(id.to_string()) {
                Entry::Vacant(free) => {
                    free.insert(position);
                }
                Entry::Occupied(taken) => {
                    further.entry(taken.key().clone()).or_default().push(position);
                }
            }
        }
        Ok(Catalog { ids, labels, index, by_name, further })
    }

    /// How many vectors.
    pub fn len(&self) -> usize {
        self.ids.len()
    }

    /// Whether there are none, which cannot be.
    pub fn is_empty(&self) -> bool {
        self.ids.is_empty()
    }

    /// All rows of that name, in order: a name may be a number in one and a text in another.
    pub fn positions(&self, name: &str) -> Vec<usize> {
        let further = self.further.get(name).into_iter().flatten();
        self.by_name.get(name).into_iter().chain(further).copied().collect()
    }
}

/// The vectors of records of `file` by `model`, as `hg2v embed` writes them on that
/// machine; `watch` is told how many are done.
///
/// # Errors
/// Graphs that the model cannot embed; a card that fails.
pub fn embedded(
    machine: &Machine,
    model: &Hg2v,
    records: &[GraphRecord],
    file: &Path,
    cache: Option<&Cache>,
    mut watch: impl FnMut(usize),
) -> Result<Vectors> {
    let dim = model.network().layout.embedding_dim();
    let mut vectors = Vectors { dim, model: Some(model.digest()?), ..Vectors::default() };
    for part in Run::of(records, file).parts() {
        let (examples, _) = model.examples(part, cache)?;
        vectors.values.extend(model.embed_examples_on(machine, &examples)?);
        for (i, record) in part.records.iter().enumerate() {
            vectors.ids.push(record.id_at(part.position_of(i)));
            vectors.labels.push(record.label.clone());
        }
        watch(vectors.ids.len());
    }
    Ok(vectors)
}

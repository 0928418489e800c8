//! Vectors with the names and classes of their graphs, ready to be searched.

use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::path::Path;

use hg2v::context::Context;
use hg2v::error::{Advice, Error, Job, Place, Result};
use hg2v::graph::Scalar;
use hg2v::vectors::Vectors;

use crate::index::{Index, IndexKind};
use crate::space::{Metric, Space};

/// How vectors are to be searched.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct SearchOptions {
    /// How far two are apart.
    pub metric: Metric,
    /// Whether every column is brought to mean 0 and variance 1 first.
    pub standardise: bool,
    /// Whether all are looked at.
    pub index: IndexKind,
    /// Seeds the links of an approximate index.
    pub seed: u64,
}

hg2v_math::setters!(SearchOptions {
    metric: Metric,
    standardise: bool,
    index: IndexKind,
    seed: u64,
});

impl Default for SearchOptions {
    fn default() -> SearchOptions {
        SearchOptions {
            metric: Metric::Cosine,
            standardise: false,
            index: IndexKind::BySize,
            seed: 0,
        }
    }
}

impl SearchOptions {
    /// The same where distances to a neighbour are compared with each other, and not neighbours:
    /// an angle does not tell how far out a graph is, nor do the columns of the largest numbers.
    #[must_use]
    pub fn for_outliers(self) -> SearchOptions {
        self.metric(Metric::Euclidean).standardise(true)
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
    /// Indexes `vectors`, which came from `file`.
    ///
    /// # Errors
    /// No vectors, or vectors without numbers; [`Stopped`](Error::Stopped).
    pub fn new(
        vectors: Vectors,
        file: &Path,
        options: SearchOptions,
        context: &Context<'_>,
    ) -> Result<Catalog> {
        let Vectors { dim, values, ids, labels, .. } = vectors;
        if ids.is_empty() || dim == 0 {
            let (problem, fix) = ("it holds no vectors", Advice::Run(Job::Embed));
            return Err(Error::input(file, Place::Whole, problem, fix));
        }
        let space = match options.standardise {
            true => Space::standardised(dim, values, options.metric)?,
            false => Space::new(dim, values, options.metric)?,
        };
        let index = Index::new(space, options.index, options.seed, context)?;
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

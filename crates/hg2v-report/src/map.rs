//! Vectors as maps, and who is near whom.

use hg2v::error::Result;
use hg2v_search::catalog::Choice;
use hg2v_search::project::{Point, Tsne, Umap, pca, tsne, umap};
use hg2v_search::scale::Scale;
use hg2v_search::{Index, Metric, Neighbor, Space};

/// How vectors become places.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// Principal components.
    Pca,
    /// t-SNE.
    Tsne,
    /// UMAP.
    Umap,
}

impl Method {
    /// The name users type.
    pub fn name(self) -> &'static str {
        match self {
            Method::Pca => "pca",
            Method::Tsne => "tsne",
            Method::Umap => "umap",
        }
    }

    fn points(self, dim: usize, values: &[f32], seed: u64) -> Result<Vec<Point>> {
        match self {
            Method::Pca => Ok(pca(dim, values, 2)?.points()),
            Method::Tsne => tsne(dim, values, &Tsne { seed, ..Tsne::default() }, |_| ()),
            Method::Umap => umap(dim, values, &Umap { seed, ..Umap::default() }, |_| ()),
        }
    }
}

/// A place for each graph.
#[derive(Debug, Clone, PartialEq)]
pub struct Projection {
    /// How it was found.
    pub name: String,
    /// The places, in any unit; y grows upwards.
    pub points: Vec<Point>,
}

/// Neighbours of a graph that a page shows.
pub const NEIGHBORS: usize = 6;

/// What vectors say about their graphs.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Map {
    /// Numbers a vector.
    pub dim: usize,
    /// Maps of the graphs, the first of which is shown first.
    pub projections: Vec<Projection>,
    /// The graphs nearest to each, nearest first: one list for each graph, or none at all.
    pub neighbors: Vec<Vec<Neighbor>>,
    /// How distances are measured, in words.
    pub metric: String,
}

impl Map {
    /// Maps of vectors of `dim` numbers each, and the [six](NEIGHBORS) nearest to each, exact or
    /// through links as `choice` says. Of a standardised choice, maps are of the standardised
    /// vectors, too. `watch` hears what is being done.
    ///
    /// # Errors
    /// Vectors without numbers, or of which no map can be made.
    pub fn new(
        dim: usize,
        mut values: Vec<f32>,
        choice: Choice,
        methods: &[Method],
        mut watch: impl FnMut(&'static str),
    ) -> Result<Map> {
        let Choice { metric, standardise, way, seed } = choice;
        watch("neighbours");
        let space = match standardise {
            true => Space::standardised(dim, values.clone(), metric)?,
            false => Space::new(dim, values.clone(), metric)?,
        };
        let neighbors = Index::new(space, way, seed, |_| ())?.nearest_others(NEIGHBORS)?;
        if standardise {
            Scale::of(&values, dim).apply(&mut values);
        }
        let mut projections = Vec::new();
        for method in methods {
            watch(method.name());
            let points = method.points(dim, &values, seed)?;
            projections.push(Projection { name: method.name().to_owned(), points });
        }
        let words = match metric {
            Metric::Euclidean => "Euclidean",
            Metric::Cosine => "1 less the cosine",
        };
        let after = if standardise { ", columns standardised" } else { "" };
        Ok(Map { dim, projections, neighbors, metric: format!("{words}{after}") })
    }
}

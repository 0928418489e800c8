//! Two coordinates for each vector, to look at.
//!
//! | method | keeps | repeats because |
//! |---|---|---|
//! | [`pca`](fn@pca) | distances, as well as a plane can | nothing is random; signs are fixed |
//! | [`tsne`](fn@tsne) | who is near whom | it starts from PCA, and sums run in a fixed order |
//! | [`umap`](fn@umap) | who is near whom, and more of the whole | it starts from PCA, and one thread draws from one seeded stream |
//!
//! t-SNE and UMAP see vectors only through their [`NeighborGraph`] and the
//! points they begin at, so that several maps of the same vectors share both.
//!
//! ```
//! use hg2v::context::Context;
//! use hg2v_search::project::{Tsne, Umap, pca, tsne, umap};
//! use hg2v_search::{Index, IndexKind, Metric, Space};
//!
//! let vectors: Vec<f32> = (0..40).map(|i| (i * i % 17) as f32).collect();
//! let rows = vectors.len() / 4;
//! let (t, u) = (Tsne::default(), Umap::default().neighbors(5));
//! let k = t.neighbors_needed(rows)?.max(u.neighbors_needed(rows)?);
//! let space = Space::new(4, vectors.clone(), Metric::Euclidean)?;
//! let context = Context::default();
//! let graph = Index::new(space, IndexKind::BySize, 0, &context)?.neighbor_graph(k)?;
//! let places = pca(4, &vectors, 2)?.points();
//! let maps = [tsne(&graph, &places, &t, &context)?, umap(&graph, &places, &u, &context)?];
//! assert!(maps.iter().all(|points| points.len() == rows));
//! # Ok::<(), hg2v::Error>(())
//! ```

mod pca;
mod tree;
mod tsne;
mod umap;

use hg2v::context::Context;
use hg2v::error::{Error, Result};

use crate::index::{Index, IndexKind};
use crate::neighbor_graph::NeighborGraph;
use crate::scale::StandardScaler;
use crate::space::{Metric, Space};

pub use pca::{Pca, pca};
pub use tsne::{Tsne, tsne};
pub use umap::{Umap, umap};

/// How vectors become points.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ProjectionMethod {
    /// [Principal components](fn@pca).
    #[default]
    Pca,
    /// [t-SNE](fn@tsne).
    Tsne,
    /// [UMAP](fn@umap).
    Umap,
}

hg2v::vocabulary! { ProjectionMethod, "method":
    Pca => "pca", "principal components: distances, as well as a plane can keep them";
    Tsne => "tsne", "t-SNE: who is near whom";
    Umap => "umap", "UMAP: who is near whom, and more of the whole";
}

/// Two coordinates.
pub type Point = [f64; 2];

/// How vectors become points, in full.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
#[non_exhaustive]
pub struct MapOptions {
    /// How.
    pub method: ProjectionMethod,
    /// Whether every column is brought to mean 0 and variance 1 first.
    pub standardise: bool,
    /// [`Tsne::perplexity`], if not its own.
    pub perplexity: Option<f64>,
    /// [`Umap::neighbors`], if not its own.
    pub neighbors: Option<usize>,
    /// Seeds UMAP, and links where there are many vectors.
    pub seed: u64,
}

hg2v_math::setters!(MapOptions {
    method: ProjectionMethod,
    standardise: bool,
    perplexity: Option<f64>,
    neighbors: Option<usize>,
    seed: u64,
});

impl MapOptions {
    /// # Errors
    /// An option of another method.
    pub fn check(&self) -> Result<()> {
        let is = |method| self.method == method;
        for (name, given, of, method) in [
            ("perplexity", self.perplexity.is_some(), is(ProjectionMethod::Tsne), "t-SNE"),
            ("neighbors", self.neighbors.is_some(), is(ProjectionMethod::Umap), "UMAP"),
        ] {
            if given && !of {
                return Err(Error::parameter(name, "given", format!("it is for {method}")));
            }
        }
        Ok(())
    }
}

/// Points of vectors.
#[derive(Debug, Clone, PartialEq)]
pub struct PointMap {
    /// A point for each.
    pub points: Vec<Point>,
    /// The share of the variance that two principal components keep.
    pub explained: Option<f64>,
}

/// A point for each of the vectors of `dim` numbers, which lie one after the other.
///
/// # Errors
/// As [`MapOptions::check`]; too few vectors for what was asked; [`Stopped`](Error::Stopped).
///
/// # Complexity
/// That of [`pca`](fn@pca), and of [`tsne`](fn@tsne) and [`umap`](fn@umap) that of a
/// [neighbour graph](Index::neighbor_graph), too.
pub fn map(
    dim: usize,
    mut vectors: Vec<f32>,
    options: &MapOptions,
    context: &Context<'_>,
) -> Result<PointMap> {
    options.check()?;
    if options.standardise {
        StandardScaler::of(&vectors, dim).apply(&mut vectors);
    }
    let rows = count(dim, &vectors)?;
    let components = pca(dim, &vectors, 2)?;
    let places = components.points();
    let graph = |k: usize| -> Result<NeighborGraph> {
        let space = Space::new(dim, vectors, Metric::Euclidean)?;
        Index::new(space, IndexKind::BySize, options.seed, context)?.neighbor_graph(k)
    };
    Ok(match options.method {
        ProjectionMethod::Pca => {
            let share = components.variances.iter().sum::<f64>() / components.total_variance;
            PointMap { points: places, explained: Some(share).filter(|share| share.is_finite()) }
        }
        ProjectionMethod::Tsne => {
            let own = Tsne::default();
            let params = own.perplexity(options.perplexity.unwrap_or(own.perplexity));
            let points = tsne(&graph(params.neighbors_needed(rows)?)?, &places, &params, context)?;
            PointMap { points, explained: None }
        }
        ProjectionMethod::Umap => {
            let own = Umap::default();
            let neighbors = options.neighbors.unwrap_or(own.neighbors);
            let params = own.neighbors(neighbors).seed(options.seed);
            let points = umap(&graph(params.neighbors_needed(rows)?)?, &places, &params, context)?;
            PointMap { points, explained: None }
        }
    })
}

/// How many vectors of `dim` numbers there are, which must be whole.
fn count(dim: usize, vectors: &[f32]) -> Result<usize> {
    if dim == 0 || !vectors.len().is_multiple_of(dim) {
        let requirement = format!("it must be a multiple of {dim}, the numbers a vector");
        return Err(Error::argument("the number of numbers", vectors.len(), requirement));
    }
    Ok(vectors.len() / dim)
}

/// Where points begin: at their places on another map, say PCA's, the first coordinates with a
/// deviation of `spread`.
fn start(places: &[Point], spread: f64) -> Vec<Point> {
    let n = places.len().max(1) as f64;
    let deviation = (places.iter().map(|p| p[0] * p[0]).sum::<f64>() / n).sqrt();
    let scale = if deviation > 0.0 { spread / deviation } else { 0.0 };
    // Equal vectors would never part: each gets a little of its own.
    let own =
        |i: usize, c: u64| 1e-3 * spread * hg2v_math::linalg::vector::start_value(2 * i as u64 + c);
    let placed = places.iter().enumerate();
    placed.map(|(i, p)| [p[0] * scale + own(i, 0), p[1] * scale + own(i, 1)]).collect()
}

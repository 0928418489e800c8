//! Two coordinates for each vector, to look at.
//!
//! | method | keeps | repeats because |
//! |---|---|---|
//! | [`pca`](fn@pca) | distances, as well as a plane can | nothing is random; signs are fixed |
//! | [`tsne`](fn@tsne) | who is near whom | it starts from PCA, and sums run in a fixed order |
//! | [`umap`](fn@umap) | who is near whom, and more of the whole | it starts from PCA, and one thread draws from one seeded stream |
//!
//! t-SNE and UMAP see vectors only through their [`NeighborGraph`](crate::NeighborGraph) and the
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

use hg2v::error::{Error, Result};

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

//! Two coordinates for each vector, to look at.
//!
//! | method | keeps | repeats because |
//! |---|---|---|
//! | [`pca`](fn@pca) | distances, as well as a plane can | nothing is random; signs are fixed |
//! | [`tsne`](fn@tsne) | who is near whom | it starts from PCA, and sums run in a fixed order |
//! | [`umap`](fn@umap) | who is near whom, and more of the whole | it starts from PCA, and one thread draws from one seeded stream |

mod pca;
mod tree;
mod tsne;
mod umap;

use hg2v::error::{Error, Result};

pub use pca::{Pca, pca};
pub use tsne::{Tsne, tsne};
pub use umap::{Umap, umap};

/// Two coordinates.
pub type Point = [f64; 2];

/// Vectors of `dim` numbers each must be whole.
pub(crate) fn check(dim: usize, vectors: &[f32]) -> Result<usize> {
    if dim == 0 || !vectors.len().is_multiple_of(dim) {
        let requirement = format!("it must be a multiple of {dim}, the numbers a vector");
        return Err(Error::argument("the number of numbers", vectors.len(), requirement));
    }
    Ok(vectors.len() / dim)
}

/// The first two principal components, the first of them with a deviation of `spread`.
fn start(dim: usize, vectors: &[f32], spread: f64) -> Result<Vec<Point>> {
    let points = pca(dim, vectors, 2)?.points();
    let n = points.len().max(1) as f64;
    let deviation = (points.iter().map(|p| p[0] * p[0]).sum::<f64>() / n).sqrt();
    let scale = if deviation > 0.0 { spread / deviation } else { 0.0 };
    // Equal vectors would never part: each gets a little of its own.
    let own =
        |i: usize, c: u64| 1e-3 * spread * hg2v::linalg::vector::start_value(2 * i as u64 + c);
    let placed = points.iter().enumerate();
    Ok(placed.map(|(i, p)| [p[0] * scale + own(i, 0), p[1] * scale + own(i, 1)]).collect())
}

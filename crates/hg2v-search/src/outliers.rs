//! Rows that are like no other.

use hg2v::error::Result;
use hg2v_math::Real;

use crate::index::Index;
use crate::space::Neighbor;

/// Every row with the distance to its `k`-th nearest other, furthest first; of rows
/// equally far out the earlier first. Where there are fewer others the last counts,
/// and a row alone is at distance 0.
///
/// # Errors
/// `k` of 0.
///
/// # Complexity
/// That of [`Index::neighbor_graph`].
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v_search::outliers::outliers;
/// use hg2v_search::{Index, IndexKind, Metric, Space};
/// let space = Space::new(1, vec![0.0f32, 1.0, 2.0, 50.0], Metric::Euclidean)?;
/// let index = Index::new(space, IndexKind::Exact, 0, &Context::default())?;
/// assert_eq!(outliers(&index, 1)?[0].position, 3);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn outliers<R: Real>(index: &Index<R>, k: usize) -> Result<Vec<Neighbor>> {
    let graph = index.neighbor_graph(k)?;
    let furthest = |row: usize| Neighbor {
        position: row,
        distance: graph.nearest(row, k).last().map_or(0.0, |last| last.distance),
    };
    let mut all: Vec<Neighbor> = (0..graph.len()).map(furthest).collect();
    all.sort_by(|a, b| b.distance.total_cmp(&a.distance).then(a.position.cmp(&b.position)));
    Ok(all)
}

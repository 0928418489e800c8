//! A space that answers quickly, whatever its size.

use hg2v::context::Context;
use hg2v::error::{Error, Result};
use hg2v_math::Real;

use crate::exact::{self, check_k, without};
use crate::hnsw::{Hnsw, Params};
use crate::neighbor_graph::NeighborGraph;
use crate::space::{Neighbor, Space};

/// From so many rows on an index is approximate, unless told otherwise.
pub const APPROXIMATE_FROM: usize = 50_000;

/// How an index finds neighbours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum IndexKind {
    /// By looking at all rows, up to [`APPROXIMATE_FROM`] of them; by links beyond.
    #[default]
    BySize,
    /// By looking at all rows.
    Exact,
    /// By links.
    Approximate,
}

/// A space, with links where it is large.
#[derive(Debug, Clone)]
pub struct Index<R = f32> {
    space: Space<R>,
    links: Option<Hnsw>,
}

impl<R: Real> Index<R> {
    /// An index of `space`. Links are seeded, and take a while.
    ///
    /// # Errors
    /// [`Stopped`](Error::Stopped).
    ///
    /// # Complexity
    /// Nothing where it is exact; else as [`Hnsw::new`].
    pub fn new(
        space: Space<R>,
        kind: IndexKind,
        seed: u64,
        context: &Context<'_>,
    ) -> Result<Index<R>> {
        let linked = match kind {
            IndexKind::BySize => space.len() >= APPROXIMATE_FROM,
            IndexKind::Exact => false,
            IndexKind::Approximate => true,
        };
        let params = Params { seed, ..Params::default() };
        let links = linked.then(|| Hnsw::new(&space, params, context)).transpose()?;
        Ok(Index { space, links })
    }

    /// The vectors.
    pub fn space(&self) -> &Space<R> {
        &self.space
    }

    /// The vectors, for something else.
    pub fn into_space(self) -> Space<R> {
        self.space
    }

    /// Whether answers are exact.
    pub fn is_exact(&self) -> bool {
        self.links.is_none()
    }

    /// The `k` nearest rows of each of `queries`; see [`exact::nearest`].
    ///
    /// # Errors
    /// As there.
    pub fn nearest(&self, queries: &[R], k: usize) -> Result<Vec<Vec<Neighbor>>> {
        match &self.links {
            None => exact::nearest(&self.space, queries, k),
            Some(links) => links.nearest(&self.space, queries, k),
        }
    }

    /// The `k` nearest other rows of row `row`.
    ///
    /// # Errors
    /// A row that is not there; `k` of 0.
    pub fn nearest_to(&self, row: usize, k: usize) -> Result<Vec<Neighbor>> {
        if row >= self.space.len() {
            let requirement = format!("there are {} rows, from 0", self.space.len());
            return Err(Error::argument("row", row, requirement));
        }
        let one = row * self.space.dim..(row + 1) * self.space.dim;
        let found = self.search(one, k)?;
        Ok(found.into_iter().next().map(|near| without(near, row, k)).unwrap_or_default())
    }

    /// The `k` nearest other rows of every row.
    ///
    /// # Errors
    /// `k` of 0.
    ///
    /// # Complexity
    /// `O(n² · dim)` time where it is exact; else a search a row.
    pub fn neighbor_graph(&self, k: usize) -> Result<NeighborGraph> {
        let lists = if self.is_exact() {
            exact::nearest_others(&self.space, k)?
        } else {
            let all = self.search(0..self.space.rows.len(), k)?.into_iter().enumerate();
            all.map(|(row, near)| without(near, row, k)).collect()
        };
        Ok(NeighborGraph::new(self.space.metric(), k, lists))
    }

    /// The `k + 1` nearest rows of rows of the space, which lie at `numbers`.
    fn search(&self, numbers: std::ops::Range<usize>, k: usize) -> Result<Vec<Vec<Neighbor>>> {
        check_k(k)?;
        let k = k.min(self.space.len());
        let (rows, shadows) = (&self.space.rows, &self.space.shadows.rows);
        match &self.links {
            None => Ok(exact::search_rows(&self.space, numbers, k + 1)),
            Some(links) => {
                let found =
                    links.search(&self.space, &rows[numbers.clone()], &shadows[numbers], k + 1);
                Ok(found)
            }
        }
    }
}

//! Every row with its nearest others: found once, used by all that look at them.

use hg2v::error::{Error, Result};

use crate::space::{Metric, Neighbor};

/// The nearest other rows of every row of a space, nearest first; of rows equally far the
/// earlier first. [`Index::neighbor_graph`](crate::Index::neighbor_graph) makes it.
///
/// Who needs fewer neighbours than were asked for takes the first of each: of an exact index
/// they are those that it would have found by itself.
#[derive(Debug, Clone, PartialEq)]
pub struct NeighborGraph {
    metric: Metric,
    k: usize,
    lists: Vec<Vec<Neighbor>>,
}

impl NeighborGraph {
    /// `lists` has the `k` nearest others of each row, or all where there are fewer.
    pub(crate) fn new(metric: Metric, k: usize, lists: Vec<Vec<Neighbor>>) -> NeighborGraph {
        NeighborGraph { metric, k, lists }
    }

    /// How many rows.
    pub fn len(&self) -> usize {
        self.lists.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.lists.is_empty()
    }

    /// How far rows are apart.
    pub fn metric(&self) -> Metric {
        self.metric
    }

    /// The `k` nearest others of row `row`, or as many as are known.
    pub fn nearest(&self, row: usize, k: usize) -> &[Neighbor] {
        let list = &self.lists[row];
        &list[..k.min(list.len())]
    }

    /// The lists themselves, cut to the `k` nearest others of each row.
    pub fn into_lists(mut self, k: usize) -> Vec<Vec<Neighbor>> {
        self.lists.iter_mut().for_each(|list| list.truncate(k));
        self.lists
    }

    /// That `k` neighbours of each of `rows` rows are known, by Euclid.
    pub(crate) fn check(&self, rows: usize, k: usize) -> Result<()> {
        if rows != self.len() {
            let requirement = format!("the neighbours are those of {} rows", self.len());
            return Err(Error::parameter("rows", rows, requirement));
        }
        if self.k < k {
            let requirement = format!("{k} of each row are needed");
            return Err(Error::parameter("neighbors", self.k, requirement));
        }
        if self.metric != Metric::Euclidean {
            let requirement = "distances must be Euclidean";
            return Err(Error::parameter("metric", "cosine", requirement));
        }
        Ok(())
    }
}

//! Weisfeiler–Lehman labels of a collection, counted.

use hg2v::error::Result;
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::prepare::Collection;
use hg2v_math::parallel::try_map;
use rayon::prelude::*;

/// The labels of one graph, round by round: ascending, with how often each occurs.
pub type Rounds = Vec<Vec<(u32, u32)>>;

/// How often each graph has each label, round by round.
///
/// No label occurs in two rounds, so that one numbering serves all of them.
#[derive(Debug, Clone)]
pub struct Histograms {
    /// The labels of each graph.
    pub of_graph: Vec<Rounds>,
    /// The last round.
    pub rounds: usize,
    /// How many labels there are.
    pub labels: usize,
}

impl Histograms {
    /// The labels that a new refiner gives every graph of a collection, from round 0 on.
    ///
    /// # Errors
    /// More than 2³² − 1 distinct labels.
    ///
    /// # Complexity
    /// Time O(m log d) a round for m edges in all and largest degree d.
    pub fn of(collection: &Collection<'_>, refiner: Refiner) -> Result<Histograms> {
        let rounds = refiner.rounds();
        let (refiner, of_graph) = learnt(collection, &collection.all(), refiner)?;
        Ok(Histograms { of_graph, rounds, labels: refiner.num_labels() })
    }
}

/// The refiner, which then knows the labels of some graphs, and their histograms.
pub(crate) fn learnt(
    collection: &Collection<'_>,
    which: &[usize],
    mut refiner: Refiner,
) -> Result<(Refiner, Vec<Rounds>)> {
    let mut rows = Vec::with_capacity(which.len());
    for &i in which {
        rows.push(refiner.refine(&collection.run.records[i], &collection.graphs[i])?);
    }
    Ok((refiner, rows.par_iter().map(|rows| counted(rows)).collect()))
}

/// The histograms of some graphs of a collection, each refined alone by what is known: labels
/// never met have numbers from [`num_labels`](Refiner::num_labels) on.
pub(crate) fn unseen(
    refiner: &Refiner,
    collection: &Collection<'_>,
    which: &[usize],
) -> Result<Vec<Rounds>> {
    try_map(which, |&i| {
        let rows = refiner.refine_unseen(&collection.run.records[i], &collection.graphs[i])?;
        Ok(counted(&rows))
    })
}

fn counted(rows: &[Vec<u32>]) -> Rounds {
    rows.iter().map(|row| histogram(row)).collect()
}

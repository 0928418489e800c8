//! Weisfeiler–Lehman labels of a whole collection, counted.

use hg2v::graph::wl::{Refiner, histogram};
use hg2v::prepare::Collection;
use hg2v_eval::error::Result;
use rayon::prelude::*;

/// How often each graph has each label, round by round.
///
/// No label occurs in two rounds, so that one numbering serves all of them.
#[derive(Debug, Clone)]
pub struct Histograms {
    /// For each graph and each round the labels, ascending, with how often each occurs.
    pub of_graph: Vec<Vec<Vec<(u32, u32)>>>,
    /// The last round.
    pub rounds: usize,
    /// How many labels there are.
    pub labels: usize,
}

impl Histograms {
    /// The labels of every graph of a collection, from round 0 to `rounds`.
    ///
    /// # Errors
    /// More than 2³² − 1 distinct labels.
    ///
    /// # Complexity
    /// Time O(m log d) a round for m edges in all and largest degree d.
    pub fn of(collection: &Collection<'_>, rounds: usize) -> Result<Histograms> {
        Histograms::by(&mut Refiner::new(rounds), collection)
    }

    /// As [`of`](Histograms::of), in the numbering of a refiner that may know labels already.
    ///
    /// # Errors
    /// As [`of`](Histograms::of).
    pub fn by(refiner: &mut Refiner, collection: &Collection<'_>) -> Result<Histograms> {
        let mut rows = Vec::with_capacity(collection.len());
        for (record, graph) in collection.run.records.iter().zip(&collection.graphs) {
            rows.push(refiner.refine(record, graph)?);
        }
        let counted = |rows: &Vec<Vec<u32>>| rows.iter().map(|row| histogram(row)).collect();
        let of_graph = rows.par_iter().map(counted).collect();
        Ok(Histograms { of_graph, rounds: refiner.rounds(), labels: refiner.num_labels() })
    }
}

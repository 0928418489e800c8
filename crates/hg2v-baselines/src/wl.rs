//! Weisfeiler–Lehman labels of a collection, counted.

use hg2v::dataset::features::{Applied, Origin};
use hg2v::error::{Problem, Result};
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{Aspects, EdgeChoice, GraphRecord};
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
    /// More than 2³² − 1 distinct labels; edges with labels in some graphs and without in others.
    ///
    /// # Complexity
    /// Time O(m log d) a round for m edges in all and largest degree d.
    pub fn of(collection: &Collection<'_>, rounds: usize, edges: EdgeChoice) -> Result<Histograms> {
        let all = collection.all();
        let refiner = refiner(rounds, edges, collection, &all)?;
        let (refiner, of_graph) = learnt(collection, &all, refiner)?;
        Ok(Histograms { of_graph, rounds, labels: refiner.num_labels() })
    }
}

/// A refiner for the graphs `train`, and all that come later: what of edges those do not bring
/// is not seen of these either.
///
/// # Errors
/// Edges with labels in some graphs and without in others.
pub(crate) fn refiner(
    rounds: usize,
    edges: EdgeChoice,
    collection: &Collection<'_>,
    train: &[usize],
) -> Result<Refiner> {
    let (run, mut brought) = (collection.run, Aspects::default());
    train.iter().for_each(|&i| brought.add(Aspects::of(&run.records[i])));
    let edges = edges.of(brought);
    if edges.labels.is_used() {
        for &i in train {
            labelled(&run.records[i], Origin { file: run.file, position: run.position_of(i) })?;
        }
    }
    Ok(Refiner::new(rounds).edges(edges))
}

/// Whether a later graph has what the refiner sees.
///
/// # Errors
/// No labels of edges where there should be some.
pub(crate) fn check(refiner: &Refiner, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
    if refiner.sees().edge_labels { labelled(record, origin) } else { Ok(()) }
}

fn labelled(record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
    if record.edges.is_empty() || record.edge_labels.is_some() {
        return Ok(());
    }
    Err(Problem::EdgeLabels.of(record.name(origin.position), origin.file))
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
///
/// # Errors
/// As [`check`].
pub(crate) fn unseen(
    refiner: &Refiner,
    collection: &Collection<'_>,
    which: &[usize],
) -> Result<Vec<(Rounds, Applied)>> {
    let run = collection.run;
    try_map(which, |&i| {
        let (record, graph) = (&run.records[i], &collection.graphs[i]);
        check(refiner, record, Origin { file: run.file, position: run.position_of(i) })?;
        let found = refiner.refine_unseen(record, graph)?;
        let applied = Applied {
            unseen_labels: found.nodes,
            unseen_edge_labels: found.links,
            ..Applied::default()
        };
        Ok((counted(&found.rounds), applied))
    })
}

fn counted(rows: &[Vec<u32>]) -> Rounds {
    rows.iter().map(|row| histogram(row)).collect()
}

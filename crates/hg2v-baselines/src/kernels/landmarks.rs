//! The Weisfeiler–Lehman labels of landmarks, by label: what a graph shares with each of them.
//!
//! A graph is compared with all landmarks at once, at the cost of one addition for each
//! landmark that has one of its labels. How large the landmarks are does not matter.

use hg2v::dataset::features::Applied;
use hg2v::error::Result;
use hg2v::graph::wl::{Refiner, Vocabulary};
use hg2v::prepare::Collection;
use hg2v::saved::{Reader, Tensors};

use crate::wl::{self, Rounds};

/// Landmarks by their labels.
#[derive(Debug, Clone)]
pub(super) struct LabelIndex {
    refiner: Refiner,
    /// Where the entries of each label begin, and the end of the last.
    starts: Vec<u32>,
    /// The landmarks of each label, and how often they have it.
    landmarks: Vec<u32>,
    counts: Vec<u32>,
    /// The nodes of each landmark.
    pub(super) nodes: Vec<u32>,
    /// What each landmark would share with itself, `Σ_x t(c(x), c(x))`.
    own: Vec<f64>,
}

/// What graph and landmark share for a label that they have `a` and `b` times.
pub(super) type Term = fn(u32, u32) -> f64;

impl LabelIndex {
    /// The index of the graphs `which` of those in `train`.
    pub(super) fn new(
        collection: &Collection<'_>,
        [which, train]: [&[usize]; 2],
        refiner: Refiner,
        term: Term,
    ) -> Result<LabelIndex> {
        let (mut refiner, histograms) = wl::learnt(collection, which, refiner)?;
        // A kind that no landmark has was met all the same.
        train.iter().for_each(|&i| refiner.meet(&collection.run.records[i]));
        let mut starts = vec![0u32; refiner.num_labels() + 1];
        let all = || histograms.iter().map(|rounds| rounds.iter().flatten());
        for &(label, _) in all().flatten() {
            starts[label as usize + 1] += 1;
        }
        for label in 0..refiner.num_labels() {
            starts[label + 1] += starts[label];
        }
        let mut next = starts.clone();
        let entries = starts[refiner.num_labels()] as usize;
        let (mut landmarks, mut counts) = (vec![0; entries], vec![0; entries]);
        for (landmark, labels) in all().enumerate() {
            for &(label, count) in labels {
                let place = next[label as usize] as usize;
                (landmarks[place], counts[place]) = (landmark as u32, count);
                next[label as usize] += 1;
            }
        }
        let nodes = which.iter().map(|&i| collection.graphs[i].num_nodes() as u32).collect();
        let own = histograms.iter().map(|rounds| own(rounds, term)).collect();
        Ok(LabelIndex { refiner, starts, landmarks, counts, nodes, own })
    }

    /// How many landmarks.
    pub(super) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// What gives nodes their labels.
    pub(super) fn refiner(&self) -> &Refiner {
        &self.refiner
    }

    /// The labels of some graphs of a collection, each refined alone, and what was never met.
    pub(super) fn histograms(
        &self,
        collection: &Collection<'_>,
        which: &[usize],
    ) -> Result<Vec<(Rounds, Applied)>> {
        wl::unseen(&self.refiner, collection, which)
    }

    /// `Σ_x t(c(x), c'(x))` with each landmark.
    pub(super) fn shared(
        &self,
        rounds: &Rounds,
        term: impl Fn(u32, usize, u32) -> f64,
    ) -> Vec<f64> {
        let mut sums = vec![0.0; self.len()];
        for &(label, count) in rounds.iter().flatten() {
            let label = label as usize;
            // Labels that no landmark has come after those that some have.
            let Some(&end) = self.starts.get(label + 1) else { continue };
            let entries = self.starts[label] as usize..end as usize;
            for (&landmark, &theirs) in
                self.landmarks[entries.clone()].iter().zip(&self.counts[entries])
            {
                sums[landmark as usize] += term(count, landmark as usize, theirs);
            }
        }
        sums
    }

    /// The normalised kernel `k(G, H) / √(k(G, G)·k(H, H))` with each landmark; 0 where a graph
    /// has no nodes.
    pub(super) fn normalised(&self, rounds: &Rounds, term: Term) -> Vec<f64> {
        let own = own(rounds, term);
        let mut kernels = self.shared(rounds, |count, _, theirs| term(count, theirs));
        for (kernel, theirs) in kernels.iter_mut().zip(&self.own) {
            let scale = own * theirs;
            *kernel = if scale > 0.0 { *kernel / scale.sqrt() } else { 0.0 };
        }
        kernels
    }

    /// The normalised kernel of each landmark with itself.
    pub(super) fn diagonal(&self) -> Vec<f64> {
        let of = |&own: &f64| if own > 0.0 { own / (own * own).sqrt() } else { 0.0 };
        self.own.iter().map(of).collect()
    }

    /// What is kept of it.
    pub(super) fn tensors(&self) -> (Vocabulary, Tensors) {
        let (vocabulary, keys) = self.refiner.vocabulary();
        let tensors = Tensors::default()
            .with("keys", &[keys.len()], keys)
            .with("starts", &[self.starts.len()], self.starts.iter().copied())
            .with("landmarks", &[self.landmarks.len()], self.landmarks.iter().copied())
            .with("counts", &[self.counts.len()], self.counts.iter().copied())
            .with("nodes", &[self.nodes.len()], self.nodes.iter().copied())
            .with("own", &[self.own.len()], self.own.iter().copied());
        (vocabulary, tensors)
    }

    /// What was kept.
    ///
    /// # Errors
    /// Tensors that are no such index's.
    pub(super) fn of_tensors(
        vocabulary: &Vocabulary,
        tensors: &mut Reader<'_>,
    ) -> Result<LabelIndex> {
        let keys: Vec<u32> = tensors.take_list("keys")?;
        let starts: Vec<u32> = tensors.take_list("starts")?;
        let landmarks: Vec<u32> = tensors.take_list("landmarks")?;
        let counts = tensors.take("counts", &[landmarks.len()])?;
        let nodes: Vec<u32> = tensors.take_list("nodes")?;
        let own = tensors.take("own", &[nodes.len()])?;
        let refiner = Refiner::of_vocabulary(vocabulary, &keys);
        let holds = |refiner: &Refiner| {
            starts.len() == refiner.num_labels() + 1
                && starts.is_sorted()
                && starts.first() == Some(&0)
                && starts.last() == Some(&(landmarks.len() as u32))
                && landmarks.iter().all(|&landmark| (landmark as usize) < nodes.len())
        };
        match refiner.filter(holds) {
            Some(refiner) => Ok(LabelIndex { refiner, starts, landmarks, counts, nodes, own }),
            None => Err(tensors.refused("its landmarks do not hold together")),
        }
    }
}

/// `k(G, G)`.
fn own(rounds: &Rounds, term: Term) -> f64 {
    rounds.iter().flatten().map(|&(_, count)| term(count, count)).sum()
}

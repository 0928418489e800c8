//! What each round and each node has in a number that is made of the colours' vector.

use super::Colours;
use super::bag::Bag;
use crate::error::Result;
use crate::graph::{Graph, GraphRecord};
use crate::shares::{Shares, VectorPart};

impl Colours {
    /// The colours of all nodes of a graph, before the first round and after each.
    ///
    /// # Errors
    /// More than 2³² − 1 distinct colours.
    pub(crate) fn of_nodes(&self, record: &GraphRecord, graph: &Graph) -> Result<Vec<Vec<u32>>> {
        Ok(self.refiner.refine_unseen(record, graph)?.rounds)
    }

    /// `Σ_i slopes_i·φ_i + constant` of a graph whose nodes have such `colours`, divided. With
    /// `T_(x,k)` the rows of `(x, 1)` to `(x, k)`, added up,
    ///
    /// ```text
    /// Σ_i slopes_i·φ_i = Σ_l Σ_x s_x − slopesᵀ·Vᵀ·μ,    s_x = √w_l/√(n·(H + 1)) · slopesᵀ·T_(x,c(x))
    /// ```
    ///
    /// A round has the `s_x` of its colours, a node `s_x/c(x)` of its colour of every round: none of the
    /// nodes of a colour comes before the others. `−slopesᵀ·Vᵀ·μ` is a [part](VectorPart::ColoursMean) that no node
    /// has. A graph without nodes is at the mean, and has the `constant` alone.
    ///
    /// # Complexity
    /// O(H·n·log n + z·d) for `z` distinct colours of `n` nodes.
    pub(crate) fn shares(&self, colours: &[Vec<u32>], slopes: &[f64], constant: f64) -> Shares {
        let bag = Bag::of(colours);
        let dot = |row: &[f32]| -> f64 {
            row.iter().zip(slopes).map(|(v, slope)| f64::from(*v) * slope).sum()
        };
        let mut shares = Shares::nothing(colours.first().map_or(0, Vec::len));
        for (round, own) in colours.iter().enumerate() {
            let weight = bag.scale() * self.weights[round];
            let share = |&(colour, count): &(u32, u32)| {
                let words = self.words.of_colour(colour, count);
                let last = words.last().map(|last| &self.table[last * self.dim..][..self.dim]);
                weight * last.map_or(0.0, dot)
            };
            let counts = bag.round(round);
            let of_colours: Vec<f64> = counts.iter().map(share).collect();
            for (node, colour) in shares.nodes.iter_mut().zip(own) {
                if let Ok(at) = counts.binary_search_by_key(colour, |(colour, _)| *colour) {
                    *node += of_colours[at] / f64::from(counts[at].1);
                }
            }
            shares.part(VectorPart::Colours { round }, of_colours.iter().sum());
        }
        let origin = if bag.is_empty() { 0.0 } else { dot(&self.origin) };
        shares.constant(VectorPart::ColoursMean, constant - origin);
        shares
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::colours::ColourParams;
    use crate::context::Context;
    use crate::graph::Aspects;
    use crate::prepare::{Collection, Needs, Run};

    /// A ring of `n` nodes, from each of the first `tails` of which a node hangs.
    fn ring(n: u32, tails: u32) -> GraphRecord {
        let ring = (0..n).map(|v| [v, (v + 1) % n]);
        let edges = ring.chain((0..tails).map(|v| [v, n + v])).collect();
        GraphRecord { num_nodes: n + tails, edges, ..GraphRecord::default() }
    }

    /// By the definition, word by word.
    #[test]
    fn shares_are_those_of_words() {
        let records: Vec<GraphRecord> = (0..30)
            .map(|i| ring(4 + i % 5, i % 3))
            .chain([ring(9, 9), GraphRecord::default()])
            .collect();
        let context = Context::default();
        let collection =
            Collection::new(Run::in_memory(&records), &Needs::default(), &context).unwrap();
        let all = collection.all();
        let params = ColourParams::default().dim(7);
        let colours = Colours::fit(&params, Aspects::default(), &collection, &all, 3).unwrap();
        let dim = colours.dim();
        let slopes: Vec<f64> = (0..dim).map(|i| (i as f64 + 0.5).sin()).collect();
        let dot = |row: &[f32]| -> f64 {
            row.iter().zip(&slopes).map(|(v, slope)| f64::from(*v) * slope).sum()
        };
        let rows = |word: usize| dot(&colours.table[word * dim..][..dim]);
        let vectors = colours.vectors(&collection, &all).unwrap();
        for (i, record) in records.iter().enumerate() {
            let own = colours.of_nodes(record, &collection.graphs[i]).unwrap();
            let shares = colours.shares(&own, &slopes, 0.5);
            let n = record.num_nodes as usize;
            let mut nodes = vec![0.0; n];
            for (round, own) in own.iter().enumerate() {
                let entry = colours.weights[round] / ((n * 4) as f64).sqrt();
                let mut whole = 0.0;
                // Each word (x, k) with a row of which there are enough, among all nodes of x.
                for (x, words) in colours.words.by_colour().enumerate() {
                    let of_colour: Vec<usize> = (0..n).filter(|&v| own[v] as usize == x).collect();
                    for (k, word) in words.clone().enumerate().take(of_colour.len()) {
                        let before = if k == 0 { 0.0 } else { rows(word - 1) };
                        let adds = entry * (rows(word) - before);
                        whole += adds;
                        of_colour.iter().for_each(|&v| nodes[v] += adds / of_colour.len() as f64);
                    }
                }
                let part = shares.parts[round];
                assert_eq!(part.part, VectorPart::Colours { round });
                assert!((part.share - whole).abs() < 1e-9);
            }
            for (share, expected) in shares.nodes.iter().zip(&nodes) {
                assert!((share - expected).abs() < 1e-9, "{i}");
            }
            let sum = shares.nodes.iter().sum::<f64>() + shares.rest;
            assert!((sum - 0.5 - dot(&vectors[i * dim..][..dim])).abs() < 1e-5, "{i}");
        }
        assert!(vectors.iter().any(|value| *value != 0.0));
    }
}

//! What the parts of a graph's vector and its nodes have in a number that is made of the vector.

use serde::Serialize;

use crate::model::Readout;

/// A part of a vector, by what it tells of a graph.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "of", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum VectorPart {
    /// The network's read-out of a level.
    Network {
        /// Which level.
        level: usize,
        /// Whether of neighbourhoods `x` rather than of nodes `g`.
        local: bool,
        /// How nodes became one vector.
        readout: Readout,
    },
    /// [Slices](crate::slices), after so many hops.
    Slices {
        /// How many.
        hops: usize,
    },
    /// What is taken off all slices: their mean.
    SlicesMean,
    /// The [census](crate::census) of labels.
    Census,
    /// What is taken off the census: its mean.
    CensusMean,
    /// [Colours](crate::colours) of a round.
    Colours {
        /// Which round.
        round: usize,
    },
    /// What is taken off all colours: their mean.
    ColoursMean,
    /// What is taken off the whole vector.
    Mean,
}

/// What a part of the vector adds.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PartShare {
    /// Which part.
    #[serde(flatten)]
    pub part: VectorPart,
    /// What it adds.
    pub share: f64,
}

/// A number that is made linearly of a graph's vector, divided twice: `parts` add up to it, and
/// `nodes` with the `rest` do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Shares {
    /// The share of each part of the vector.
    pub parts: Vec<PartShare>,
    /// The share of each node.
    pub nodes: Vec<f64>,
    /// What belongs to no node.
    pub rest: f64,
}

impl Shares {
    /// Of a graph of `n` nodes, with nothing divided so far.
    pub(crate) fn nothing(n: usize) -> Shares {
        Shares { parts: Vec::new(), nodes: vec![0.0; n], rest: 0.0 }
    }

    /// Adds what a part has, and no node has.
    pub(crate) fn part(&mut self, part: VectorPart, share: f64) {
        self.parts.push(PartShare { part, share });
    }

    /// Adds what belongs to no node, as a part of its own.
    pub(crate) fn constant(&mut self, part: VectorPart, share: f64) {
        self.part(part, share);
        self.rest += share;
    }

    /// Adds the shares of other numbers of the same vector.
    pub(crate) fn add(&mut self, other: Shares) {
        self.parts.extend(other.parts);
        self.nodes.iter_mut().zip(&other.nodes).for_each(|(node, other)| *node += other);
        self.rest += other.rest;
    }
}

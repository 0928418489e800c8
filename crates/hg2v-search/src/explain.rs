//! Which parts of the vectors, and which nodes, make two graphs similar.
//!
//! A vector is made of parts: the network's for each level, `g` or `x`, and readout, and, where the
//! model has them, slices and colours, by hops and rounds. With `a` and `b` the vectors of two graphs as they lie in a space
//! (standardised or not), their similarity is
//!
//! ```text
//! cosine:     aᵀb / (‖a‖·‖b‖) = aᵀp = bᵀq,       p = b/(‖a‖·‖b‖), q = a/(‖a‖·‖b‖)
//! Euclidean:  −‖a − b‖²       = aᵀp + bᵀq,       p = b − a, q = a − b
//! ```
//!
//! Both vectors are linear in what is said of their graphs, whatever mixes it, so `aᵀp` and `bᵀq` are sums over parts,
//! and nearly over nodes: [`Anatomy::shares`] says which of it is exact and which a convention. For Euclidean
//! distances a part has what it has in both, and what is taken off the vectors of both cancels. For cosine the two sums
//! are one number, but where a last step takes fewer numbers than there are, it mixes parts of one graph with others of the other: a part
//! has the mean of what it has in both.

use hg2v::Anatomy;
use hg2v::error::{Error, Result};
use hg2v::shares::{PartShare, Shares};
use serde::Serialize;

use crate::space::{Metric, Space, dot};

/// Why two graphs are similar.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The cosine of both vectors, or their squared distance below zero: all shares
    /// together.
    pub similarity: f64,
    /// The share of each part of the vectors.
    pub parts: Vec<PartShare>,
    /// The share of each node of the first graph; for cosine, of the whole similarity,
    /// otherwise of what the first graph adds to it.
    pub first: Vec<f64>,
    /// The same for the second graph.
    pub second: Vec<f64>,
    /// What of the similarity belongs to no node of the first and of the second graph.
    pub rest: [f64; 2],
}

/// Why two graphs, taken apart by the model whose vectors lie in `space`, are similar there.
///
/// For cosine the shares of the nodes of either graph, and its rest, add up to the
/// similarity; for Euclidean those of both graphs together do.
///
/// # Errors
/// A space of other vectors than the model's; graphs that were taken apart by two models.
///
/// # Complexity
/// That of the [shares](Anatomy::shares) of both graphs.
pub fn explain(space: &Space, first: &Anatomy<'_>, second: &Anatomy<'_>) -> Result<Explanation> {
    if !std::ptr::eq(first.model(), second.model()) {
        let requirement = "one model must have taken both graphs apart";
        return Err(Error::argument("the second graph", "of another model", requirement));
    }
    let both = [first, second];
    let dim = first.vector().len();
    if dim != space.dim {
        let requirement = format!("the model's vectors have {dim} numbers");
        return Err(Error::argument("the length of the vectors", space.dim, requirement));
    }
    let place = |graph: &Anatomy<'_>| -> Result<Vec<f64>> {
        Ok(space.placed(graph.vector())?.into_iter().map(f64::from).collect())
    };
    let [a, b] = [place(first)?, place(second)?];
    let lengths = dot(&a, &a).sqrt() * dot(&b, &b).sqrt();
    // By how much the similarity grows with the numbers of either vector: p and q.
    let grows: [Vec<f64>; 2] = match space.metric {
        Metric::Cosine if lengths > 0.0 => {
            [&b, &a].map(|other| other.iter().map(|value| value / lengths).collect())
        }
        Metric::Cosine => [vec![0.0; dim], vec![0.0; dim]],
        Metric::Euclidean => {
            let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            [apart.iter().map(|d| -d).collect(), apart]
        }
    };
    let similarity = match space.metric {
        Metric::Cosine => dot(&a, &grows[0]),
        Metric::Euclidean => -dot(&grows[1], &grows[1]),
    };
    let shares = |side: usize| match space.scale() {
        None => both[side].shares(&grows[side], None),
        Some(scale) => {
            let before = grows[side].iter().zip(&scale.scales).map(|(grows, s)| grows / s);
            both[side].shares(&before.collect::<Vec<f64>>(), Some(&scale.means))
        }
    };
    let [first, second] = [shares(0)?, shares(1)?];
    let together = match space.metric {
        Metric::Cosine => 0.5,
        Metric::Euclidean => 1.0,
    };
    let part = |(a, b): (&PartShare, &PartShare)| PartShare {
        part: a.part,
        share: together * (a.share + b.share),
    };
    let parts = first.parts.iter().zip(&second.parts).map(part).collect();
    let [Shares { nodes: first, rest, .. }, Shares { nodes: second, rest: other, .. }] =
        [first, second];
    Ok(Explanation { similarity, parts, first, second, rest: [rest, other] })
}

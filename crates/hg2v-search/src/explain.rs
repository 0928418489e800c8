//! Which levels and nodes of two graphs make them similar.
//!
//! A vector is made of parts, one for each level, `g` or `x`, and readout. With `a` and
//! `b` the vectors of two graphs as they lie in a space (standardised or not), their
//! similarity is a sum over columns `c`, and so over parts:
//!
//! ```text
//! cosine:     aᵀb / (‖a‖·‖b‖) = Σ_c a_c·b_c / (‖a‖·‖b‖)
//! Euclidean:  −‖a − b‖²       = −Σ_c (a_c − b_c)²
//! ```
//!
//! A column of a sum is a sum over nodes, `a_c = Σ_v r_vc`, so each node has its share,
//! and shares add up to the whole:
//!
//! | readout | share of a node in `a_c` | is |
//! |---|---|---|
//! | sum | `r_vc` | exact |
//! | mean | `r_vc / n` | exact |
//! | max | all of it for the first node that attains it | exact, of all ways to share it the one that the gradient takes |
//! | any, with `sign(a_c)·ln(1 + |a_c|)` after it | in proportion to its share before | adds up exactly; the proportion is a convention |
//!
//! A super-node's share is divided equally among the nodes it is made of, likewise a
//! convention. What standardising takes off every vector belongs to no node: it is the
//! [`rest`](Explanation::rest).

use hg2v::context::Context;
use hg2v::error::{Error, Result};
use hg2v::model::{Example, Part, Readout};
use hg2v::{Hg2v, Model};
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

/// What one part of the vectors adds to the similarity.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartShare {
    /// The level it is made of.
    pub level: usize,
    /// Whether of neighbourhoods `x` rather than of nodes `g`.
    pub local: bool,
    /// How nodes became one vector.
    pub readout: Readout,
    /// What it adds.
    pub share: f64,
}

/// Why the graphs of two examples, which `model` embeds, are similar in `space`.
///
/// For cosine the shares of the nodes of either graph, and its rest, add up to the
/// similarity; for Euclidean those of both graphs together do.
///
/// # Errors
/// A space of other vectors than the model's; a model whose vectors are not
/// [the network's alone](Hg2v::is_read_out).
///
/// # Complexity
/// Both graphs are embedded, with their nodes; then `O(n·c)` time for the `n` nodes of both and the
/// `c` numbers of a node's vector.
pub fn explain(
    model: &Hg2v,
    space: &Space,
    first: &Example,
    second: &Example,
) -> Result<Explanation> {
    let layer = model.layer();
    if !model.is_read_out() {
        let requirement = "its vectors are mixed of more than the network's levels: fit one with \
                           the preset network";
        return Err(Error::argument("the model", model.method(), requirement));
    }
    if layer.embedding_dim() != space.dim {
        let requirement = format!("the model's vectors have {} numbers", layer.embedding_dim());
        return Err(Error::argument("the length of the vectors", space.dim, requirement));
    }
    let context = Context::default();
    let embed = |example| model.embed_examples(std::slice::from_ref(example), &context);
    let raw = [embed(first)?, embed(second)?];
    let placed = [space.placed(&raw[0])?, space.placed(&raw[1])?];
    let [a, b] = [0, 1].map(|i| placed[i].iter().map(|v| f64::from(*v)).collect::<Vec<f64>>());
    let lengths = dot(&a, &a).sqrt() * dot(&b, &b).sqrt();
    // What a column of either vector is multiplied with.
    let weights: [Vec<f64>; 2] = match space.metric {
        Metric::Cosine if lengths > 0.0 => {
            [&b, &a].map(|other| other.iter().map(|value| value / lengths).collect())
        }
        Metric::Cosine => [vec![0.0; a.len()], vec![0.0; b.len()]],
        Metric::Euclidean => {
            let apart: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a - b).collect();
            [apart.iter().map(|d| -d).collect(), apart]
        }
    };
    let terms: Vec<f64> = match space.metric {
        Metric::Cosine => a.iter().zip(&weights[0]).map(|(a, w)| a * w).collect(),
        Metric::Euclidean => weights[1].iter().map(|d| -d * d).collect(),
    };
    let parts = layer.parts();
    let share = |part: &Part| PartShare {
        level: part.level,
        local: part.local,
        readout: part.readout,
        share: terms[part.start..part.start + part.columns].iter().sum(),
    };
    let scales = |column: usize| space.scale().map_or(1.0, |scale| scale.scales[column]);
    let mut nodes = [Vec::new(), Vec::new()];
    let mut rest = [0.0; 2];
    for (side, example) in [first, second].into_iter().enumerate() {
        // By how much the similarity grows with a number of the vector before it was placed.
        let slopes: Vec<f64> =
            weights[side].iter().enumerate().map(|(c, w)| w / scales(c)).collect();
        nodes[side] = node_shares(model, example, &raw[side], &slopes)?;
        let own = [&a, &b][side];
        let whole: f64 = own.iter().zip(&weights[side]).map(|(a, w)| a * w).sum();
        rest[side] = whole - nodes[side].iter().sum::<f64>();
    }
    let [first, second] = nodes;
    Ok(Explanation {
        similarity: terms.iter().sum(),
        parts: parts.iter().map(share).collect(),
        first,
        second,
        rest,
    })
}

/// `Σ_c slopes_c · e_c`, divided among the nodes of a graph whose vector is `e`.
fn node_shares(model: &Hg2v, example: &Example, e: &[f32], slopes: &[f64]) -> Result<Vec<f64>> {
    let layer = model.layer();
    let levels = layer.architecture().levels;
    let width = model.node_dim();
    let rows = model.embed_nodes(example, &Context::default())?;
    let n = example.num_nodes();
    // Of each level, which super-node a node belongs to, and how many share it.
    let mut above: Vec<Vec<u32>> = vec![(0..n as u32).collect()];
    for level in 0..example.num_levels() {
        let (below, parents) = (&above[level], example.parents(level));
        above.push(below.iter().map(|&node| parents[node as usize]).collect());
    }
    let sizes: Vec<Vec<f64>> = (above.iter().zip(0..))
        .map(|(own, level)| {
            let mut sizes = vec![0.0; example.nodes_on(level)];
            own.iter().for_each(|&node| sizes[node as usize] += 1.0);
            sizes
        })
        .collect();
    // Where the rows of a level begin in a node's vector: all of `g`, then all of `x`.
    let g_starts: Vec<usize> =
        (0..=levels + 1).map(|level| (0..level).map(|below| layer.width(below)).sum()).collect();
    let start = |part: &Part| match part.local {
        false => g_starts[part.level],
        true => g_starts[levels + 1] + part.level * layer.architecture().dim,
    };
    let mut shares = vec![0.0; n];
    for part in layer.parts() {
        let (own, sizes) = (&above[part.level], &sizes[part.level]);
        let from = start(&part);
        let value = |node: usize, c: usize| f64::from(rows[node * width + from + c]);
        for c in 0..part.columns {
            let column = part.start + c;
            // What the node's own share is multiplied with: slope, and logarithm.
            let before: f64 = match part.readout {
                Readout::Max => (0..n).map(|v| value(v, c)).fold(f64::NEG_INFINITY, f64::max),
                _ => (0..n).map(|v| value(v, c) / sizes[own[v] as usize]).sum(),
            };
            let before = match part.readout {
                Readout::Mean => before / sizes.len().max(1) as f64,
                _ => before,
            };
            let after = f64::from(e[column]);
            let slope = match layer.architecture().log {
                true if before != 0.0 => slopes[column] * after / before,
                _ => slopes[column],
            };
            match part.readout {
                Readout::Max => {
                    let first = (0..n).filter(|&v| value(v, c) == before).map(|v| own[v]).min();
                    for v in (0..n).filter(|&v| Some(own[v]) == first) {
                        shares[v] += slope * before / sizes[own[v] as usize];
                    }
                }
                Readout::Sum | Readout::Mean => {
                    let count = match part.readout {
                        Readout::Mean => sizes.len().max(1) as f64,
                        _ => 1.0,
                    };
                    for v in 0..n {
                        shares[v] += slope * value(v, c) / (sizes[own[v] as usize] * count);
                    }
                }
            }
        }
    }
    Ok(shares)
}

//! How far graphs surprise those who know the others.
//!
//! Vectors are made of what graphs have in common. A graph with surroundings that no other has
//! loses them on the way to its vector, and may come to lie in the middle of all: its distances do
//! not tell that it is odd. [Colours](hg2v::graph::wl) do. With `c_l(v)` the colour of node `v` after
//! `l` of `H = 3` rounds, and seen from a graph `G` with all others known, a node has
//!
//! ```text
//! s(v) = −ln p(c₁(v) | c₀(v)),    p = (a + ½) / (b + ½·(m + 1))
//! u(v) = Σ_l w_l·[no other graph has c_l(v)],    l ≤ H
//! ```
//!
//! `a` is how many nodes of other graphs have the colour `c₁(v)`, `b` how many have `c₀(v)`, and `m` how many
//! colours nodes of `c₀(v)` have after a round (Krichevsky and Trofimov 1981, with one more for
//! what is new): `s` is what it takes to tell a node's neighbours to somebody who knows the
//! node's label. `w_l` is the share of all nodes whose colour `c_l` another graph has, so that a round after
//! which most nodes are alone says little. Of each, a graph has the standard score of its mean,
//!
//! ```text
//! z_x(G) = √n·(mean of x(v) over G − μ) / σ
//! ```
//!
//! with `μ` and `σ` the mean and deviation of `x` over all nodes: the mean of few nodes varies more. A graph
//! without nodes has 0.

use hg2v::Model;
use hg2v::context::Context;
use hg2v::error::Result;
use hg2v::graph::wl::{Refiner, histogram};
use hg2v::graph::{Aspects, EdgeChoice, Usage};
use hg2v::prepare::{Collection, Needs, Run};

/// `H`.
const ROUNDS: usize = 3;

/// How far a graph surprises.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Surprise {
    /// `z_s`: by the neighbours that its nodes have.
    pub neighbors: f64,
    /// `z_u`: by colours that no other graph has.
    pub unmet: f64,
}

/// How far each graph of a collection surprises, to somebody who sees this of graphs. Attributes are
/// not seen.
///
/// # Errors
/// More than 2³² − 1 distinct colours.
///
/// # Complexity
/// That of [refining](Refiner::refine) all graphs.
///
/// # Examples
/// ```
/// use hg2v::context::Context;
/// use hg2v::graph::{Aspects, GraphRecord};
/// use hg2v::prepare::{Collection, Needs, Run};
/// use hg2v_search::surprise::surprises;
/// let ring = |n: u32| GraphRecord {
///     num_nodes: n,
///     edges: (0..n).map(|v| [v, (v + 1) % n]).collect(),
///     ..GraphRecord::default()
/// };
/// let mut graphs: Vec<GraphRecord> = (5..12).map(ring).collect();
/// graphs[3].edges.push([0, 2]);
/// let run = Run::in_memory(&graphs);
/// let collection = Collection::new(run, &Needs::default(), &Context::default())?;
/// let found = surprises(&collection, Aspects::default())?;
/// assert!(found[3].neighbors > 1.0 && found[2].neighbors < 0.0);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn surprises(collection: &Collection<'_>, seen: Aspects) -> Result<Vec<Surprise>> {
    let used = |used| if used { Usage::Use } else { Usage::Ignore };
    let edges = EdgeChoice::NOTHING.labels(used(seen.edge_labels)).direction(used(seen.direction));
    let mut refiner = Refiner::new(ROUNDS).edges(edges).node_labels(seen.node_labels);
    let both = collection.run.records.iter().zip(&collection.graphs);
    let colours: Vec<Vec<Vec<u32>>> =
        both.map(|(record, graph)| refiner.refine(record, graph)).collect::<Result<_>>()?;
    let known = Known::of(&colours, refiner.num_labels());
    let [neighbors, unmet] = [
        standard_scores(&colours, |rows, counts, v| known.neighbors(rows, counts, v)),
        standard_scores(&colours, |rows, _, v| known.unmet(rows, v)),
    ];
    let both = neighbors.into_iter().zip(unmet);
    Ok(both.map(|(neighbors, unmet)| Surprise { neighbors, unmet }).collect())
}

/// What a graph can bring that colours see.
const EVERYTHING: Aspects = Aspects {
    node_labels: true,
    node_attributes: false,
    edge_labels: true,
    edge_attributes: false,
    direction: true,
};

/// How far each graph of a run surprises, to somebody who sees of them what a model does, where there
/// is one, and everything else.
///
/// # Errors
/// As [`surprises`], and graphs that cannot be used.
pub fn surprises_to(
    model: Option<&dyn Model>,
    run: Run<'_>,
    context: &Context<'_>,
) -> Result<Vec<Surprise>> {
    let (weights, seen) = match model {
        Some(model) => (model.needs().weights, model.sees()),
        None => (Needs::default().weights, EVERYTHING),
    };
    let needs = Needs::default().weights(weights);
    surprises(&Collection::new(run, &needs, context)?, seen)
}

/// What is known of colours, by their numbers, which are different in every round.
struct Known {
    /// How many nodes have each, and how many graphs.
    nodes: Vec<u32>,
    graphs: Vec<u32>,
    /// `m`: how many colours its nodes have after another round.
    kinds: Vec<u32>,
    /// `w_l`.
    weights: Vec<f64>,
}

impl Known {
    fn of(colours: &[Vec<Vec<u32>>], count: usize) -> Known {
        let [mut nodes, mut graphs, mut kinds] = [(); 3].map(|()| vec![0; count]);
        for rows in colours {
            for row in rows {
                for (colour, times) in histogram(row) {
                    nodes[colour as usize] += times;
                    graphs[colour as usize] += 1;
                }
            }
        }
        let mut counted = vec![false; count];
        for rows in colours {
            for (&before, &after) in rows[0].iter().zip(&rows[1]) {
                if !std::mem::replace(&mut counted[after as usize], true) {
                    kinds[before as usize] += 1;
                }
            }
        }
        let share = |round: usize| {
            let all = || colours.iter().flat_map(|rows| &rows[round]);
            let met = all().filter(|&&colour| graphs[colour as usize] > 1).count();
            met as f64 / all().count().max(1) as f64
        };
        let weights = (0..=ROUNDS).map(share).collect();
        Known { nodes, graphs, kinds, weights }
    }

    /// `s(v)`, where the graph's own nodes have its colours so often.
    fn neighbors(&self, rows: &[Vec<u32>], own: &Own, v: usize) -> f64 {
        let others = |round: usize| {
            let colour = rows[round][v];
            f64::from(self.nodes[colour as usize] - own.count(round, colour))
        };
        let kinds = f64::from(self.kinds[rows[0][v] as usize]);
        -((others(1) + 0.5) / (others(0) + 0.5 * (kinds + 1.0))).ln()
    }

    /// `u(v)`.
    fn unmet(&self, rows: &[Vec<u32>], v: usize) -> f64 {
        let of_round = |(row, weight): (&Vec<u32>, &f64)| match self.graphs[row[v] as usize] {
            1 => *weight,
            _ => 0.0,
        };
        rows.iter().zip(&self.weights).map(of_round).sum()
    }
}

/// The colours of one graph, before and after the first round, with how often each occurs.
struct Own([Vec<(u32, u32)>; 2]);

impl Own {
    fn count(&self, round: usize, colour: u32) -> u32 {
        let counts = &self.0[round];
        counts.binary_search_by_key(&colour, |one| one.0).map_or(0, |at| counts[at].1)
    }
}

/// `z_x` of every graph.
fn standard_scores(
    colours: &[Vec<Vec<u32>>],
    x: impl Fn(&[Vec<u32>], &Own, usize) -> f64,
) -> Vec<f64> {
    let of_graph = |rows: &Vec<Vec<u32>>| -> Vec<f64> {
        let own = Own([histogram(&rows[0]), histogram(&rows[1])]);
        (0..rows[0].len()).map(|v| x(rows, &own, v)).collect()
    };
    let values: Vec<Vec<f64>> = colours.iter().map(of_graph).collect();
    let all = || values.iter().flatten();
    let count = all().count().max(1) as f64;
    let mean = all().sum::<f64>() / count;
    let deviation = (all().map(|x| (x - mean).powi(2)).sum::<f64>() / count).sqrt();
    let score = |values: &Vec<f64>| {
        // A deviation that is rounding alone tells no graph from another.
        if values.is_empty() || deviation <= 1e-12 * mean.abs() {
            return 0.0;
        }
        let n = values.len() as f64;
        (values.iter().sum::<f64>() / n - mean) * n.sqrt() / deviation
    };
    values.iter().map(score).collect()
}

//! A hierarchy of ever smaller operators: it starts [`lobpcg`](super::lobpcg)
//! near the answer and preconditions it, so that the work grows linearly with
//! the graph.
//!
//! Nodes are aggregated with their neighbours; the coarse operator is the
//! Galerkin product `PᵀAP`, where `P` spreads a coarse value over its aggregate
//! in proportion to the null vector. A cycle smooths by damped Jacobi steps,
//! corrects from the coarse level, and smooths again.

use hg2v_math::linalg::block::{Block, CHUNK, each_row};
use rayon::prelude::*;

use super::Operator;
use super::ldl::Factor;
use crate::group::Groups;

/// Operators this small are factored instead of coarsened further.
const COARSEST: usize = 96;

/// Damping of the Jacobi steps: `2/3` of what the largest eigenvalue of
/// `D⁻¹A`, at most 2, would allow.
const DAMPING: f64 = 0.66;

/// Operators from the finest to the coarsest, and how they hang together.
pub(crate) struct Hierarchy<'a> {
    finest: &'a Operator,
    coarser: Vec<Level>,
    coarsest: Option<Factor>,
}

struct Level {
    operator: Operator,
    /// The aggregate of each finer node.
    aggregate: Vec<u32>,
    /// The finer nodes of each aggregate.
    members: Groups,
    /// `P`'s one entry for each finer node.
    share: Vec<f64>,
    /// Whether visiting this level twice pays (it is small enough).
    twice: bool,
}

impl<'a> Hierarchy<'a> {
    /// Coarsens `finest` until it is small enough to factor.
    pub(crate) fn new(finest: &'a Operator) -> Hierarchy<'a> {
        let mut coarser: Vec<Level> = Vec::new();
        loop {
            let current = coarser.last().map_or(finest, |level| &level.operator);
            if current.len() <= COARSEST {
                break;
            }
            let level = Level::new(current);
            // Where nodes go but edges stay, the graph is an expander: its
            // spectrum is no wider than its degrees, scaling by the diagonal is
            // all it needs, and coarse levels would only cost.
            if level.operator.targets.len() * 2 > current.targets.len() {
                break;
            }
            coarser.push(level);
        }
        let last = coarser.last().map_or(finest, |level| &level.operator);
        let coarsest = (last.len() <= 4 * COARSEST).then(|| Factor::new(last, usize::MAX));
        Hierarchy { finest, coarser, coarsest: coarsest.flatten() }
    }

    /// How many levels, the finest included.
    pub(crate) fn depth(&self) -> usize {
        self.coarser.len() + 1
    }

    /// The operator of a level; 0 is the finest.
    pub(crate) fn operator(&self, level: usize) -> &Operator {
        if level == 0 { self.finest } else { &self.coarser[level - 1].operator }
    }

    /// Spreads a block of coarse vectors of `level` over the next finer level.
    pub(crate) fn prolong<const P: usize>(&self, level: usize, x: &[[f64; P]]) -> Block<P> {
        let Level { aggregate, share, .. } = &self.coarser[level - 1];
        let mut spread = vec![[0.0; P]; aggregate.len()];
        each_row(&mut spread, |node, spread| {
            *spread = x[aggregate[node] as usize].map(|v| share[node] * v);
        });
        spread
    }

    /// Room for the cycles that start on `level`.
    pub(crate) fn room<const P: usize>(&self, level: usize) -> Vec<Room<P>> {
        let rooms = self.coarser[level..].iter();
        rooms.map(|below| Room::new(below.aggregate.len(), below.operator.len())).collect()
    }

    /// An approximation `z` of `A⁺·r` on `level`: one cycle.
    pub(crate) fn cycle<const P: usize>(
        &self,
        level: usize,
        r: &[[f64; P]],
        z: &mut [[f64; P]],
        room: &mut [Room<P>],
    ) {
        let operator = self.operator(level);
        let Some((here, deeper)) = room.split_first_mut() else {
            return self.solve_coarsest(operator, r, z);
        };
        each_row(z, |node, z| {
            let d = operator.diagonal[node];
            *z = r[node].map(|value| DAMPING / d * value);
        });
        let below = &self.coarser[level];
        let Room { residual, coarse_r, coarse_z, coarse_rest, coarse_more } = here;
        operator.residual_block(r, z, residual);
        below.restrict(residual, coarse_r);
        self.cycle(level + 1, coarse_r, coarse_z, deeper);
        if below.twice {
            below.operator.residual_block(coarse_r, coarse_z, coarse_rest);
            self.cycle(level + 1, coarse_rest, coarse_more, deeper);
            each_row(coarse_z, |node, z| {
                for c in 0..P {
                    z[c] += coarse_more[node][c];
                }
            });
        }
        each_row(z, |node, z| {
            let (coarse, share) = (&coarse_z[below.aggregate[node] as usize], below.share[node]);
            for c in 0..P {
                z[c] += share * coarse[c];
            }
        });
        operator.residual_block(r, z, residual);
        each_row(z, |node, z| {
            let (r, d) = (&residual[node], operator.diagonal[node]);
            for c in 0..P {
                z[c] += DAMPING / d * r[c];
            }
        });
    }

    fn solve_coarsest<const P: usize>(
        &self,
        operator: &Operator,
        r: &[[f64; P]],
        z: &mut [[f64; P]],
    ) {
        let Some(factor) = &self.coarsest else {
            // An expander: its diagonal is inverse enough.
            each_row(z, |node, z| {
                *z = r[node].map(|value| value / operator.diagonal[node]);
            });
            return;
        };
        let mut x = vec![0.0; r.len()];
        for c in 0..P {
            for (x, &node) in x.iter_mut().zip(factor.order()) {
                *x = r[node as usize][c];
            }
            let along = hg2v_math::linalg::vector::dot(&x, factor.null());
            hg2v_math::linalg::vector::axpy(-along, factor.null(), &mut x);
            factor.pseudo_solve(&mut x);
            for (x, &node) in x.iter().zip(factor.order()) {
                z[node as usize][c] = *x;
            }
        }
    }
}

/// What a cycle needs to remember on one level, made once and written over:
/// the blocks of a large graph are too large to ask the system for each time.
pub(crate) struct Room<const P: usize> {
    residual: Block<P>,
    coarse_r: Block<P>,
    coarse_z: Block<P>,
    coarse_rest: Block<P>,
    coarse_more: Block<P>,
}

impl<const P: usize> Room<P> {
    fn new(fine: usize, coarse: usize) -> Room<P> {
        let block = |rows| vec![[0.0; P]; rows];
        Room {
            residual: block(fine),
            coarse_r: block(coarse),
            coarse_z: block(coarse),
            coarse_rest: block(coarse),
            coarse_more: block(coarse),
        }
    }
}

impl Level {
    /// Aggregates the nodes of `fine` and forms the Galerkin product.
    fn new(fine: &Operator) -> Level {
        let (aggregate, count) = aggregate(fine);
        let members = Groups::new(count, &aggregate);
        let null: Vec<f64> = (0..count)
            .map(|a| {
                members.of(a).iter().map(|&v| fine.null[v as usize].powi(2)).sum::<f64>().sqrt()
            })
            .collect();
        let share: Vec<f64> =
            aggregate.iter().zip(&fine.null).map(|(&a, q)| q / null[a as usize]).collect();
        let operator = galerkin(fine, &aggregate, &members, &share, null);
        let twice = operator.targets.len() * 5 <= fine.targets.len() * 2;
        Level { operator, aggregate, members, share, twice }
    }

    /// `Pᵀ·r`.
    fn restrict<const P: usize>(&self, r: &[[f64; P]], out: &mut [[f64; P]]) {
        each_row(out, |a, out| {
            *out = [0.0; P];
            for &node in self.members.of(a) {
                let share = self.share[node as usize];
                for c in 0..P {
                    out[c] += share * r[node as usize][c];
                }
            }
        });
    }
}

/// The aggregate of each node, and how many there are.
///
/// A node whose neighbours are all free takes them; whoever is left joins the
/// aggregate it is tied to most strongly.
fn aggregate(operator: &Operator) -> (Vec<u32>, usize) {
    const FREE: u32 = u32::MAX;
    let n = operator.len();
    let mut aggregate = vec![FREE; n];
    let mut count = 0;
    for node in 0..n {
        let free = |(target, _): (usize, f64)| aggregate[target] == FREE;
        if aggregate[node] == FREE && operator.row(node).all(free) {
            aggregate[node] = count;
            for (target, _) in operator.row(node) {
                aggregate[target] = count;
            }
            count += 1;
        }
    }
    let rooted = aggregate.clone();
    for node in 0..n {
        if rooted[node] != FREE {
            continue;
        }
        let strongest = operator
            .row(node)
            .filter(|&(target, _)| rooted[target] != FREE)
            .max_by(|a, b| a.1.total_cmp(&b.1).then(b.0.cmp(&a.0)));
        aggregate[node] = match strongest {
            Some((target, _)) => rooted[target],
            None => {
                count += 1;
                count - 1
            }
        };
    }
    (aggregate, count as usize)
}

/// `PᵀAP`, an operator of the same kind with null vector `null`.
fn galerkin(
    fine: &Operator,
    aggregate: &[u32],
    members: &Groups,
    share: &[f64],
    null: Vec<f64>,
) -> Operator {
    let count = null.len();
    // `slot`: where each coarse column stands in the row being gathered.
    let gather = |slot: &mut Vec<u32>, a: usize| {
        let mut row: Vec<(u32, f64)> = Vec::new();
        for &node in members.of(a) {
            for (target, entry) in fine.row(node as usize) {
                let column = aggregate[target];
                if column as usize == a {
                    continue;
                }
                let value = entry * share[node as usize] * share[target];
                let place = &mut slot[column as usize];
                if *place == u32::MAX {
                    *place = row.len() as u32;
                    row.push((column, value));
                } else {
                    row[*place as usize].1 += value;
                }
            }
        }
        for &(column, _) in &row {
            slot[column as usize] = u32::MAX;
        }
        row.sort_unstable_by_key(|&(column, _)| column);
        row
    };
    let rows: Vec<Vec<(u32, f64)>> = (0..count)
        .into_par_iter()
        .with_min_len(CHUNK)
        .map_init(|| vec![u32::MAX; count], gather)
        .collect();
    let mut operator = Operator {
        offsets: Vec::with_capacity(count + 1),
        diagonal: Vec::with_capacity(count),
        null,
        ..Operator::default()
    };
    operator.offsets.push(0);
    for (a, row) in rows.into_iter().enumerate() {
        // The diagonal follows from A·q = 0.
        let tension: f64 = row.iter().map(|&(b, value)| value * operator.null[b as usize]).sum();
        operator.diagonal.push(tension / operator.null[a]);
        operator.targets.extend(row.iter().map(|&(b, _)| b));
        operator.off.extend(row.iter().map(|&(_, value)| value));
        operator.offsets.push(operator.targets.len());
    }
    operator
}

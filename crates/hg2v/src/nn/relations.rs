//! The relational block `Σ_r c_r ⊙ (R_r·g)`: what a node hears through each kind of edge.
//!
//! The matrices `R_r` are `Ã` taken apart by kind of edge, and by direction where graphs are
//! directed: `R_r(u, v) = W(u, v) / √(D(u)·D(v))` where an edge of relation `r` joins `u` and `v`,
//! with the `W` and `D` of `Ã`. Each relation has a row `c_r` of `w` coefficients; the matrix after
//! them, a further block of `θ₁` and `θ₄`, is common to all.

use std::ops::Range;

use hg2v_math::Real;
use hg2v_math::parallel::crew;

use super::device::Rows;
use super::hop::{Source, Sparse, each_graph};
use crate::graph::Graph;

/// Most relations a network may have. More kinds than this are names.
pub(crate) const MAX: usize = 1 << 10;

/// All `R_r` of a batch's level 0, side by side in compressed sparse rows.
#[derive(Debug, Clone, Default)]
pub struct Relations {
    /// How many relations there are; none where nobody looks at them.
    pub count: usize,
    /// Whether `R_2kᵀ = R_2k+1`, out and in; otherwise each is symmetric.
    pub paired: bool,
    /// Where each node's entries begin, and the end of the last; empty without relations.
    pub offsets: Vec<usize>,
    /// Columns, ascending within a row.
    pub targets: Vec<u32>,
    /// The relation of each entry.
    pub kinds: Vec<u32>,
    /// Entries.
    pub values: Vec<f32>,
}

impl Relations {
    /// The relations of a graph, whose nodes `u` have the neighbours `v` by relation `r`:
    /// `links` are all `(u, v, r)`, ascending by `u`.
    ///
    /// With `(u, v, r)` comes `(v, u, r)`, or, where they are `paired`, `(v, u, r ^ 1)`.
    pub fn new(
        graph: &Graph,
        count: usize,
        paired: bool,
        links: impl IntoIterator<Item = (u32, u32, u32)>,
    ) -> Relations {
        let n = graph.num_nodes();
        let scale: Vec<f64> =
            (0..n).map(|node| 1.0 / (graph.strength(node) + 1.0).sqrt()).collect();
        let mut all = Relations { count, paired, offsets: vec![0], ..Relations::default() };
        for (node, to, kind) in links {
            let (node, target) = (node as usize, to as usize);
            while all.offsets.len() <= node {
                all.offsets.push(all.targets.len());
            }
            let Ok(at) = graph.neighbors(node).binary_search(&to) else { continue };
            let weight = f64::from(graph.weights(node)[at]);
            all.targets.push(to);
            all.kinds.push(kind);
            all.values.push((weight * scale[node] * scale[target]) as f32);
        }
        all.offsets.resize(n + 1, all.targets.len());
        all
    }

    /// Forgets all graphs, and keeps the memory.
    pub(super) fn clear(&mut self) {
        self.count = 0;
        self.offsets.clear();
        self.targets.clear();
        self.kinds.clear();
        self.values.clear();
    }

    /// Appends the graphs of `part`, the first of whose nodes becomes node `first`.
    pub(super) fn extend(&mut self, part: &Relations, first: u32) {
        if part.count == 0 {
            return;
        }
        (self.count, self.paired) = (part.count, part.paired);
        let before = self.targets.len();
        let starts = part.offsets.iter().map(|offset| offset + before);
        // The end of what came before is the start of this.
        self.offsets.pop();
        self.offsets.extend(starts);
        self.targets.extend(part.targets.iter().map(|target| target + first));
        self.kinds.extend_from_slice(&part.kinds);
        self.values.extend_from_slice(&part.values);
    }

    /// The entries of `node`: column, relation and value.
    #[inline(always)]
    fn row(&self, node: usize) -> impl Iterator<Item = (usize, usize, f32)> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        let targets = self.targets[range.clone()].iter().map(|&target| target as usize);
        let kinds = self.kinds[range.clone()].iter().map(|&kind| kind as usize);
        targets.zip(kinds).zip(&self.values[range]).map(|((to, kind), &value)| (to, kind, value))
    }
}

/// Fills the block after the hops, `H = Σ_r c_r ⊙ (R_r·g)`, from block 0; `c` has a row of
/// `width` numbers a relation.
pub(crate) fn forward<R: Real>(
    (relations, graphs): (&Relations, &[usize]),
    rows: Rows,
    c: &[R],
    k: &mut [R],
) {
    if relations.count == 0 {
        return;
    }
    let mixed = Mixed { relations, c, width: rows.width, flip: 0 };
    each_graph(&mixed, graphs, rows, 1, k, |block, nodes, k, room| {
        block.hop(nodes, 0, rows.hops + 1, k, room, |to, sum| *to = sum);
    });
}

/// The gradient of `c` from `g`, block 0 of `k`, and `dH`, the block after the hops of `dk`:
/// `dc_r = Σ_u Σ_v R_r(u, v)·g(v) ⊙ dH(u)`.
pub(crate) fn vjp_c<R: Real>(relations: &Relations, rows: Rows, k: &[R], dk: &[R], dc: &mut [R]) {
    dc.fill(R::ZERO);
    let Rows { width, hops, stride } = rows;
    let nodes = relations.offsets.len().saturating_sub(1);
    // The shapes alone decide where the sum is cut.
    let part = nodes.div_ceil(PARTS).max(PART);
    let mut parts = vec![R::ZERO; dc.len() * nodes.div_ceil(part)];
    crew::each_block(&mut parts, dc.len().max(1), |i, dc| {
        for node in i * part..nodes.min((i + 1) * part) {
            let dh = &dk[node * stride + (hops + 1) * width..][..width];
            for (target, kind, value) in relations.row(node) {
                let value = R::from_f64(value.into());
                let dc = &mut dc[kind * width..][..width];
                let g = &k[target * stride..][..width];
                for ((dc, g), dh) in dc.iter_mut().zip(g).zip(dh) {
                    *dc += value * *g * *dh;
                }
            }
        }
    });
    for part in parts.chunks_exact(dc.len().max(1)) {
        dc.iter_mut().zip(part).for_each(|(dc, part)| *dc += *part);
    }
}

/// Most parts that a sum over nodes is made in, and the fewest nodes of one.
const PARTS: usize = 16;
const PART: usize = 256;

/// Adds the gradient of `g` to block 0 of `dk`: `dg ← dg + Σ_r R_rᵀ·(c_r ⊙ dH)`.
pub(crate) fn vjp_g<R: Real>(
    (relations, graphs): (&Relations, &[usize]),
    rows: Rows,
    c: &[R],
    dk: &mut [R],
) {
    if relations.count == 0 {
        return;
    }
    let flip = usize::from(relations.paired);
    let mixed = Mixed { relations, c, width: rows.width, flip };
    each_graph(&mixed, graphs, rows, 1, dk, |block, nodes, dk, room| {
        block.hop(nodes, rows.hops + 1, 0, dk, room, |to, sum| *to += sum);
    });
}

/// `Σ_r c_r ⊙ R_r`, or with `flip` its transpose `Σ_r R_rᵀ·(c_r ⊙ ·)`: the entries of `R_rᵀ` are
/// those of relation `r`, or of its other direction `r ^ 1`.
struct Mixed<'a, R> {
    relations: &'a Relations,
    c: &'a [R],
    width: usize,
    flip: usize,
}

impl<R: Real> Sparse<R> for Mixed<'_, R> {
    fn entries(&self, nodes: Range<usize>) -> usize {
        self.relations.offsets[nodes.end] - self.relations.offsets[nodes.start]
    }

    #[inline(always)]
    fn add(&self, node: usize, source: Source<'_, R>, sum: &mut [R]) {
        for (target, kind, value) in self.relations.row(node) {
            let value = R::from_f64(value.into());
            let c = &self.c[(kind ^ self.flip) * self.width..][..self.width];
            for ((sum, c), x) in sum.iter_mut().zip(c).zip(source.row(target)) {
                *sum += value * *c * *x;
            }
        }
    }
}

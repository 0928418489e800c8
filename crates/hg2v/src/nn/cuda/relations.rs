//! The relations of a batch on the GPU, and their kernels.

use super::driver::{Shape, launch};
use super::placed::put;
use super::{Buffer, Cuda, Placed, at};
use crate::group::Groups;
use crate::nn::Relations;
use crate::nn::device::{Panel, PanelMut, Rows};

/// Where the arrays of a batch's relations lie, in words. Entries come with their rows and sorted
/// by relation, too, for sums a relation.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlacedRelations {
    count: usize,
    paired: bool,
    offsets: u32,
    targets: u32,
    kinds: u32,
    values: u32,
    sources: u32,
    starts: u32,
    order: u32,
}

impl PlacedRelations {
    /// A place for `relations`; `take` gives room for so many words.
    pub(super) fn lay_out(relations: &Relations, take: &mut dyn FnMut(usize) -> u32) -> Self {
        if relations.count == 0 {
            return PlacedRelations::default();
        }
        let entries = relations.targets.len();
        PlacedRelations {
            count: relations.count,
            paired: relations.paired,
            offsets: take(relations.offsets.len()),
            targets: take(entries),
            kinds: take(entries),
            values: take(entries),
            sources: take(entries),
            starts: take(relations.count + 1),
            order: take(entries),
        }
    }

    /// Writes `relations` where they belong.
    pub(super) fn fill(&self, relations: &Relations, words: &mut [u32]) {
        if self.count == 0 {
            return;
        }
        let groups = Groups::new(self.count, &relations.kinds);
        let rows = relations.offsets.windows(2).enumerate();
        let sources =
            rows.flat_map(|(node, ends)| std::iter::repeat_n(node as u32, ends[1] - ends[0]));
        put(words, self.offsets, relations.offsets.iter().map(|&i| i as u32));
        put(words, self.targets, relations.targets.iter().copied());
        put(words, self.kinds, relations.kinds.iter().copied());
        put(words, self.values, relations.values.iter().map(|value| value.to_bits()));
        put(words, self.sources, sources);
        put(words, self.starts, groups.starts.iter().map(|&i| i as u32));
        put(words, self.order, groups.order.iter().copied());
    }
}

impl Cuda {
    /// From `g` to `H`, or backwards from `dH` to `dg`.
    pub(super) fn relations_hop(
        &self,
        placed: &Placed,
        rows: Rows,
        Panel(c, window): Panel<'_, Buffer>,
        k: &mut Buffer,
        backward: bool,
    ) {
        let (relations, nodes) = (placed.relations, placed.levels[0].nodes);
        if relations.count == 0 {
            return;
        }
        let after = rows.hops as u32 + 1;
        let (from, to) = if backward { (after, 0) } else { (0, after) };
        launch!(
            self.gpu,
            relations_hop,
            Shape::elements(nodes, rows.width),
            placed.at(relations.offsets),
            placed.at(relations.targets),
            placed.at(relations.kinds),
            placed.at(relations.values),
            at(c, window).0,
            nodes as u32,
            rows.width as u32,
            rows.stride as u64,
            from,
            to,
            u32::from(backward && relations.paired),
            u32::from(backward),
            k.0.at(0),
        );
    }

    /// The gradient of the coefficients.
    pub(super) fn relations_sums(
        &self,
        placed: &Placed,
        rows: Rows,
        (k, dk): (&Buffer, &Buffer),
        PanelMut(dc, window): PanelMut<'_, Buffer>,
    ) {
        let relations = placed.relations;
        let grid = (relations.count as u32, rows.width.div_ceil(8) as u32);
        launch!(
            self.gpu,
            relations_vjp_c,
            Shape { grid, block: (8, 128), shared: 0 },
            placed.at(relations.starts),
            placed.at(relations.order),
            placed.at(relations.sources),
            placed.at(relations.targets),
            placed.at(relations.values),
            rows.width as u32,
            rows.stride as u64,
            rows.hops as u32 + 1,
            k.0.at(0),
            dk.0.at(0),
            at(dc, window).0,
        );
    }
}

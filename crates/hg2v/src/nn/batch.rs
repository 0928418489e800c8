//! Several graphs side by side: what the operators need to know of their shape.

use super::relations::Relations;
use crate::coarsen::Pyramid;
use crate::graph::Graph;
use crate::group::Groups;

/// Pyramids of one or more graphs, cropped or completed to `L` levels, their
/// nodes numbered graph by graph on every level.
///
/// Where a pyramid has more levels than wanted it is cropped; where it has fewer
/// it is completed with identity poolings.
#[derive(Debug, Clone, Default)]
pub struct Batch {
    /// The levels that have a layer, finest first.
    pub levels: Vec<BatchLevel>,
    /// The first node of each graph on the topmost level, and the end of the last.
    pub top: Vec<usize>,
    /// How the nodes of level 0 are related, where that is looked at.
    pub relations: Relations,
}

/// One level of a [`Batch`].
#[derive(Debug, Clone, Default)]
pub struct BatchLevel {
    /// The first node of each graph, and the end of the last.
    pub graphs: Vec<usize>,
    /// `Ã = D^(−1/2)·(A + I)·D^(−1/2)` in compressed sparse rows, where `D` are
    /// the row sums of `A + I`: block-diagonal and symmetric.
    pub offsets: Vec<usize>,
    /// Columns, ascending within a row.
    pub targets: Vec<u32>,
    /// Entries.
    pub values: Vec<f32>,
    /// `𝒫`: the super-node of each node, on the level above.
    pub parent: Vec<u32>,
    /// `𝒫⁻¹`: the nodes of each super-node, ascending.
    pub(crate) members: Groups,
}

impl BatchLevel {
    /// How many nodes.
    pub fn num_nodes(&self) -> usize {
        self.parent.len()
    }

    /// How many super-nodes.
    pub fn num_parents(&self) -> usize {
        self.members.starts.len().saturating_sub(1)
    }

    /// The row of `node` in `Ã`.
    #[inline(always)]
    pub(crate) fn row(&self, node: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let range = self.offsets[node]..self.offsets[node + 1];
        let targets = self.targets[range.clone()].iter().map(|&target| target as usize);
        targets.zip(self.values[range].iter().copied())
    }

    /// A single graph's level.
    fn of_graph(graph: &Graph, parent: Vec<u32>, num_parents: usize) -> BatchLevel {
        let n = graph.num_nodes();
        let scale: Vec<f64> =
            (0..n).map(|node| 1.0 / (graph.strength(node) + 1.0).sqrt()).collect();
        let mut level = BatchLevel {
            graphs: vec![0, n],
            offsets: Vec::with_capacity(n + 1),
            targets: Vec::with_capacity(n + 2 * graph.num_edges()),
            values: Vec::with_capacity(n + 2 * graph.num_edges()),
            members: Groups::new(num_parents, &parent),
            parent,
        };
        level.offsets.push(0);
        for node in 0..n {
            let row = graph.neighbors(node).iter().zip(graph.weights(node));
            let below = row.clone().take_while(|&(&target, _)| (target as usize) < node);
            let above = row.clone().skip_while(|&(&target, _)| (target as usize) < node);
            let own = (node as u32, 1.0);
            let all = below.map(|(&t, &w)| (t, w)).chain([own]).chain(above.map(|(&t, &w)| (t, w)));
            for (target, weight) in all {
                let entry = f64::from(weight) * scale[node] * scale[target as usize];
                level.targets.push(target);
                level.values.push(entry as f32);
            }
            level.offsets.push(level.targets.len());
        }
        level
    }
}

impl Batch {
    /// A single graph, with `levels` levels.
    pub fn of_graph(graph: &Graph, pyramid: &Pyramid, levels: usize) -> Batch {
        let mut batch = Batch { levels: Vec::with_capacity(levels), ..Batch::default() };
        let mut current = graph;
        for level in 0..levels {
            let (parent, above) = match pyramid.levels.get(level) {
                Some(next) => (next.assignment.clone(), &next.graph),
                None => ((0..current.num_nodes() as u32).collect(), current),
            };
            batch.levels.push(BatchLevel::of_graph(current, parent, above.num_nodes()));
            current = above;
        }
        batch.top = vec![0, current.num_nodes()];
        batch
    }

    /// How many graphs.
    pub fn num_graphs(&self) -> usize {
        self.top.len().saturating_sub(1)
    }

    /// The first node of each graph on `level`, and the end of the last.
    pub fn graphs(&self, level: usize) -> &[usize] {
        self.levels.get(level).map_or(&self.top, |level| &level.graphs)
    }

    /// How many nodes `level` has; the topmost level is included.
    pub fn num_nodes(&self, level: usize) -> usize {
        self.graphs(level).last().copied().unwrap_or(0)
    }

    /// Several batches as one, which must have equally many levels.
    pub fn concat<'a>(parts: impl IntoIterator<Item = &'a Batch> + Clone) -> Batch {
        let mut whole = Batch::default();
        whole.concat_from(parts);
        whole
    }

    /// As [`Batch::concat`], reusing the memory of `self`.
    pub fn concat_from<'a>(&mut self, parts: impl IntoIterator<Item = &'a Batch> + Clone) {
        let levels = parts.clone().into_iter().next().map_or(0, |part| part.levels.len());
        self.levels.resize_with(levels, BatchLevel::default);
        self.top.clear();
        self.top.push(0);
        self.relations.clear();
        for level in &mut self.levels {
            level.graphs.clear();
            level.graphs.push(0);
            level.offsets.clear();
            level.offsets.push(0);
            level.targets.clear();
            level.values.clear();
            level.parent.clear();
            level.members.starts.clear();
            level.members.starts.push(0);
            level.members.order.clear();
        }
        for part in parts {
            assert_eq!(part.levels.len(), levels, "batches of equally many levels");
            append(&mut self.top, &part.top);
            self.relations.extend(&part.relations, self.levels.first().map_or(0, nodes_of));
            for (level, part) in self.levels.iter_mut().zip(&part.levels) {
                let (nodes, parents) = (level.num_nodes() as u32, level.num_parents() as u32);
                append(&mut level.graphs, &part.graphs);
                append(&mut level.offsets, &part.offsets);
                append(&mut level.members.starts, &part.members.starts);
                level.targets.extend(part.targets.iter().map(|target| target + nodes));
                level.values.extend_from_slice(&part.values);
                level.members.order.extend(part.members.order.iter().map(|node| node + nodes));
                level.parent.extend(part.parent.iter().map(|parent| parent + parents));
            }
        }
    }
}

fn nodes_of(level: &BatchLevel) -> u32 {
    level.num_nodes() as u32
}

/// Appends running totals that start at 0 to ones that have begun.
fn append(totals: &mut Vec<usize>, more: &[usize]) {
    let last = totals.last().copied().unwrap_or(0);
    totals.extend(more.iter().skip(1).map(|total| total + last));
}

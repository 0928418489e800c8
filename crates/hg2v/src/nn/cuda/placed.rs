//! Batches on the GPU: one piece of memory a batch, and a store of all graphs from
//! which batches are put together without leaving the GPU.

use super::driver::{Gpu, Shape, launch};
use super::memory::{Room, Staging};
use super::relations::PlacedRelations;
use crate::nn::Batch;

/// Where the arrays of a level lie, in words; the same as `Arrays` in place.cu.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Arrays {
    pub(super) graphs: u32,
    pub(super) offsets: u32,
    pub(super) targets: u32,
    pub(super) values: u32,
    pub(super) parents: u32,
    pub(super) starts: u32,
    pub(super) order: u32,
}

impl Arrays {
    fn words(self) -> [u32; 7] {
        let Arrays { graphs, offsets, targets, values, parents, starts, order } = self;
        [graphs, offsets, targets, values, parents, starts, order]
    }
}

/// One level of a batch on the GPU.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct PlacedLevel {
    pub(super) nodes: usize,
    pub(super) edges: usize,
    /// Nodes of its largest graph.
    pub(super) largest: usize,
    pub(super) arrays: Arrays,
}

/// A batch on the GPU.
#[derive(Default)]
pub struct Placed {
    pub(super) words: Room<u32>,
    /// The levels, the topmost included, which has no edges.
    pub(super) levels: Vec<PlacedLevel>,
    pub(super) graphs: usize,
    pub(super) relations: PlacedRelations,
    /// Pairs of a node and a super-node of another graph, level by level: what averages the
    /// negatives of other graphs.
    pub(super) other_pairs: Vec<usize>,
    /// Where the batch's nodes come from and go to, if it was put together here.
    from_to: (u32, u32),
}

impl Placed {
    /// The address of word `offset`.
    pub(super) fn at(&self, offset: u32) -> u64 {
        self.words.at(offset as usize)
    }

    /// Lays out `levels` one after the other, from word `start`; returns the end.
    fn lay_out(&mut self, start: usize) -> usize {
        let mut end = start;
        let mut take = |len: usize| {
            let start = end;
            // A whole number of the widest reads.
            end += len.next_multiple_of(4);
            start as u32
        };
        for level in 0..self.levels.len() {
            let above = self.levels.get(level + 1).map(|above| above.nodes);
            let graphs = take(self.graphs + 1);
            let PlacedLevel { nodes, edges, arrays, .. } = &mut self.levels[level];
            *arrays = match above {
                None => Arrays { graphs, ..Arrays::default() },
                Some(parents) => Arrays {
                    graphs,
                    offsets: take(*nodes + 1),
                    targets: take(*edges),
                    values: take(*edges),
                    parents: take(*nodes),
                    starts: take(parents + 1),
                    order: take(*nodes),
                },
            };
        }
        end
    }

    /// Pairs of a node and a super-node of another graph, level by level.
    fn count_pairs(&mut self, graphs: &[Vec<usize>]) {
        let pairs = |level: usize| {
            let all = self.levels[level + 1].nodes;
            let sizes = graphs[level].iter().zip(&graphs[level + 1]);
            sizes.map(|(own, above)| own * (all - above)).sum()
        };
        self.other_pairs = (0..self.levels.len() - 1).map(pairs).collect();
    }

    /// Copies a batch to the GPU.
    pub(super) fn fill(&mut self, gpu: &Gpu, staging: &mut Staging, batch: &Batch) {
        let levels = batch.levels.len();
        let sizes: Vec<Vec<usize>> = (0..=levels)
            .map(|level| batch.graphs(level).windows(2).map(|ends| ends[1] - ends[0]).collect())
            .collect();
        self.graphs = batch.num_graphs();
        self.levels = (0..=levels)
            .map(|level| PlacedLevel {
                nodes: batch.num_nodes(level),
                edges: batch.levels.get(level).map_or(0, |level| level.targets.len()),
                largest: sizes[level].iter().copied().max().unwrap_or(0),
                arrays: Arrays::default(),
            })
            .collect();
        self.count_pairs(&sizes);
        let mut len = self.lay_out(0);
        self.relations = PlacedRelations::lay_out(&batch.relations, &mut |words| {
            let start = len;
            len += words.next_multiple_of(4);
            start as u32
        });
        let (layout, relations) = (&self.levels, self.relations);
        self.words.reserve(gpu, len);
        staging.send(gpu, self.words.at(0), len, |words| {
            for (level, placed) in layout.iter().enumerate() {
                let at = placed.arrays;
                put(words, at.graphs, batch.graphs(level).iter().map(|&i| i as u32));
                if let Some(level) = batch.levels.get(level) {
                    put(words, at.offsets, level.offsets.iter().map(|&i| i as u32));
                    put(words, at.targets, level.targets.iter().copied());
                    put(words, at.values, level.values.iter().map(|value| value.to_bits()));
                    put(words, at.parents, level.parent.iter().copied());
                    put(words, at.starts, level.members.starts.iter().map(|&i| i as u32));
                    put(words, at.order, level.members.order.iter().copied());
                }
            }
            relations.fill(&batch.relations, words);
        });
    }
}

pub(super) fn put(words: &mut [u32], at: u32, values: impl Iterator<Item = u32>) {
    words[at as usize..].iter_mut().zip(values).for_each(|(word, value)| *word = value);
}

/// All graphs of a collection on the GPU, as one batch, and their features.
pub struct Store {
    all: Placed,
    features: Room<u32>,
    columns: usize,
    /// Of each level: the first node and the first edge of every graph, and the ends.
    starts: Vec<[Vec<u32>; 2]>,
}

/// Words of a `Gather` in place.cu.
const GATHER: usize = 7 + 7 + 3 + 6;

impl Store {
    /// The GPU's copy of `batch`, where it takes less than half of the free memory. One with
    /// relations is not kept: its parts are sent each time.
    pub(super) fn new(
        gpu: &Gpu,
        staging: &mut Staging,
        batch: &Batch,
        features: &[f32],
    ) -> Option<Store> {
        if batch.relations.count > 0 {
            return None;
        }
        let edges = |level: usize| batch.levels.get(level).map_or(0, |level| level.targets.len());
        let levels = batch.levels.len();
        let words: usize =
            (0..=levels).map(|level| 5 * batch.num_nodes(level) + 2 * edges(level)).sum();
        let bytes = 4 * (words + features.len());
        if bytes > gpu.memory().0 / 2 || words > u32::MAX as usize / 2 {
            return None;
        }
        let mut all = Placed::default();
        all.fill(gpu, staging, batch);
        let mut store = Store {
            all,
            features: Room::default(),
            columns: features.len() / batch.num_nodes(0).max(1),
            starts: (0..=levels)
                .map(|level| {
                    let graphs = batch.graphs(level);
                    let nodes = graphs.iter().map(|&node| node as u32).collect();
                    let edges = batch.levels.get(level).map_or_else(Vec::new, |level| {
                        graphs.iter().map(|&node| level.offsets[node] as u32).collect()
                    });
                    [nodes, edges]
                })
                .collect(),
        };
        store.features.reserve(gpu, features.len());
        staging.send(gpu, store.features.at(0), features.len(), |words| {
            put(words, 0, features.iter().map(|value| value.to_bits()));
        });
        Some(store)
    }

    /// Puts a batch of the graphs `chosen` together.
    pub(super) fn gather(&self, gpu: &Gpu, staging: &mut Staging, chosen: &[u32], to: &mut Placed) {
        // Where each chosen graph begins in the store and in the batch, by nodes and edges.
        let tables: Vec<[[Vec<u32>; 2]; 2]> = self
            .starts
            .iter()
            .map(|starts| starts.each_ref().map(|starts| begins(starts, chosen)))
            .collect();
        let ends = |level: usize, of: usize| tables[level][of][1].last().map_or(0, |&end| end);
        to.graphs = chosen.len();
        to.relations = PlacedRelations::default();
        let sizes: Vec<Vec<usize>> = tables
            .iter()
            .map(|[[_, to], _]| to.windows(2).map(|ends| (ends[1] - ends[0]) as usize).collect())
            .collect();
        to.levels = (0..tables.len())
            .map(|level| PlacedLevel {
                nodes: ends(level, 0) as usize,
                edges: ends(level, 1) as usize,
                largest: sizes[level].iter().copied().max().unwrap_or(0),
                arrays: Arrays::default(),
            })
            .collect();
        to.count_pairs(&sizes);
        // First the tables, then what is made from them.
        let mut head: Vec<u32> = vec![0; GATHER * tables.len()];
        let mut table_at: Vec<[[u32; 2]; 2]> = Vec::with_capacity(tables.len());
        for level in &tables {
            table_at.push(level.each_ref().map(|of| {
                of.each_ref().map(|table| {
                    let at = head.len() as u32;
                    head.extend_from_slice(table);
                    at
                })
            }));
        }
        let len = to.lay_out(head.len().next_multiple_of(4));
        for level in 0..tables.len() {
            let above = (level + 1).min(tables.len() - 1);
            let [[from_nodes, to_nodes], [from_edges, to_edges]] = table_at[level];
            let [[from_parents, to_parents], _] = table_at[above];
            let PlacedLevel { nodes, edges, arrays, .. } = to.levels[level];
            let gather = self.all.levels[level]
                .arrays
                .words()
                .into_iter()
                .chain(arrays.words())
                .chain([nodes as u32, edges as u32, to.levels[above].nodes as u32])
                .chain([from_nodes, to_nodes, from_edges, to_edges, from_parents, to_parents]);
            put(&mut head[GATHER * level..], 0, gather);
        }
        to.from_to = (table_at[0][0][0], table_at[0][0][1]);
        to.words.reserve(gpu, len);
        staging.send(gpu, to.at(0), head.len(), |words| words.copy_from_slice(&head));
        let most = to.levels.iter().map(|level| level.nodes.max(level.edges)).max().unwrap_or(0);
        let shape = Shape {
            grid: (most.div_ceil(256).clamp(1, 1024) as u32, tables.len() as u32),
            block: (256, 1),
            shared: 0,
        };
        launch!(
            gpu,
            gather,
            shape,
            self.all.at(0),
            to.at(0),
            0u32,
            to.graphs as u32,
            tables.len() as u32 - 1,
        );
    }

    /// Copies the features of a batch put together here to rows `stride` apart.
    pub(super) fn gather_features(&self, gpu: &Gpu, batch: &Placed, to: u64, stride: usize) {
        let nodes = batch.levels[0].nodes;
        launch!(
            gpu,
            gather_rows,
            Shape::warps(nodes),
            self.features.at(0),
            batch.at(batch.from_to.0),
            batch.at(batch.from_to.1),
            batch.graphs as u32,
            nodes as u32,
            self.columns as u32,
            to,
            stride as u64,
        );
    }
}

/// Where the chosen runs begin, in the whole and one after the other; with an entry
/// for the end.
fn begins(starts: &[u32], chosen: &[u32]) -> [Vec<u32>; 2] {
    let (mut from, mut to) = (Vec::with_capacity(chosen.len() + 1), vec![0]);
    if starts.is_empty() {
        return [vec![0; chosen.len() + 1], vec![0; chosen.len() + 1]];
    }
    let mut total = 0;
    for &graph in chosen {
        let (start, end) = (starts[graph as usize], starts[graph as usize + 1]);
        from.push(start);
        total += end - start;
        to.push(total);
    }
    from.push(0);
    [from, to]
}

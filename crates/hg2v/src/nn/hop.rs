//! One hop: a sparse matrix times one block of the rows of `K`, into another block.

use std::ops::Range;

use hg2v_math::Real;
use hg2v_math::parallel::crew;
use pulp::{Arch, Simd, WithSimd};

use super::device::Rows;

/// Batches with fewer multiplications than this are not worth another thread.
const WORTH_SHARING: usize = 1 << 14;

/// Graphs with more multiplications a hop than this are shared among threads.
const LARGE: usize = 1 << 22;

/// Rows of a large graph that one task computes.
const ROWS: usize = 1 << 12;

/// Rows of a small graph whose sums wait to be put.
const SMALL_ROWS: usize = 16;

/// A sparse matrix over the nodes of a batch, which joins no graph to another.
pub(super) trait Sparse<R>: Sync {
    /// How many entries the rows of `nodes` have.
    fn entries(&self, nodes: Range<usize>) -> usize;

    /// Adds `Σ_v M(node, v)·source(v)` to `sum`, in the order of the entries.
    fn add(&self, node: usize, source: Source<'_, R>, sum: &mut [R]);
}

/// One block of a graph's rows.
#[derive(Clone, Copy)]
pub(super) struct Source<'a, R> {
    k: &'a [R],
    /// The node that `k` starts at.
    first: usize,
    block: usize,
    rows: Rows,
}

impl<R> Source<'_, R> {
    /// The numbers of `node`.
    #[inline(always)]
    pub(super) fn row(&self, node: usize) -> &[R] {
        let Rows { width, stride, .. } = self.rows;
        &self.k[(node - self.first) * stride + self.block * width..][..width]
    }
}

/// What is the same for all graphs of a batch.
pub(super) struct Block<'a, M> {
    matrix: &'a M,
    rows: Rows,
}

/// Runs `job`, of `hops` hops, on the rows of each graph, with room for sums: no graph needs
/// another's rows.
pub(super) fn each_graph<R: Real, M: Sparse<R>>(
    matrix: &M,
    graphs: &[usize],
    rows: Rows,
    hops: usize,
    k: &mut [R],
    job: impl Fn(&Block<'_, M>, Range<usize>, &mut [R], &mut Vec<R>) + Sync,
) {
    let block = Block { matrix, rows };
    let nodes = graphs.last().copied().unwrap_or(0);
    assert_eq!(k.len(), nodes * rows.stride);
    let mut rest = k;
    let each = graphs.windows(2).map(|ends| {
        let (own, after) =
            std::mem::take(&mut rest).split_at_mut((ends[1] - ends[0]) * rows.stride);
        rest = after;
        (ends[0]..ends[1], own)
    });
    let large = graphs.windows(2).any(|ends| block.work(ends[0]..ends[1]) > LARGE);
    let small = block.work(0..nodes) * hops < WORTH_SHARING;
    if large || small || crew::threads() == 1 {
        let mut room = Vec::new();
        each.for_each(|(nodes, rows)| job(&block, nodes, rows, &mut room));
    } else {
        let mut each: Vec<_> = each.collect();
        crew::each_block(&mut each, 1, |_, each| {
            let mut room = Vec::new();
            let own = |(nodes, rows): &mut (Range<usize>, &mut [R])| {
                job(&block, nodes.clone(), rows, &mut room);
            };
            each.iter_mut().for_each(own);
        });
    }
}

/// The weighted sums of the rows from `start` on, as many as `sums` has room for;
/// a type of its own, so that its loops are compiled for the instructions at hand.
struct Sums<'a, R, M> {
    matrix: &'a M,
    source: Source<'a, R>,
    start: usize,
    sums: &'a mut [R],
}

impl<R: Real, M: Sparse<R>> WithSimd for Sums<'_, R, M> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Sums { matrix, source, start, sums } = self;
        for (i, sums) in sums.chunks_exact_mut(source.rows.width).enumerate() {
            sums.fill(R::ZERO);
            matrix.add(source.first + start + i, source, sums);
        }
    }
}

impl<M> Block<'_, M> {
    /// Multiplications of one hop over `nodes`.
    fn work<R>(&self, nodes: Range<usize>) -> usize
    where
        M: Sparse<R>,
    {
        self.matrix.entries(nodes) * self.rows.width
    }

    /// Multiplies block `from` of a graph's rows by the matrix and puts each sum into block `to`.
    pub(super) fn hop<R: Real>(
        &self,
        nodes: Range<usize>,
        from: usize,
        to: usize,
        k: &mut [R],
        room: &mut Vec<R>,
        put: impl Fn(&mut R, R) + Sync,
    ) where
        M: Sparse<R>,
    {
        let Rows { width, stride, .. } = self.rows;
        let put_row = |row: &mut [R], sums: &[R]| {
            let row = &mut row[to * width..(to + 1) * width];
            row.iter_mut().zip(sums).for_each(|(to, &sum)| put(to, sum));
        };
        let first = nodes.start;
        if self.work(nodes.clone()) <= LARGE {
            // A few rows at a time, so that the sums stay close.
            room.resize(SMALL_ROWS * width, R::ZERO);
            for start in (0..nodes.len()).step_by(SMALL_ROWS) {
                let rows = SMALL_ROWS.min(nodes.len() - start);
                let sums = &mut room[..rows * width];
                let source = Source { k, first, block: from, rows: self.rows };
                Arch::new().dispatch(Sums { matrix: self.matrix, source, start, sums });
                for (i, sums) in sums.chunks_exact(width).enumerate() {
                    put_row(&mut k[(start + i) * stride..][..stride], sums);
                }
            }
            return;
        }
        // Rows are read and written by all threads: first all sums, then their places.
        let mut sums = vec![R::ZERO; nodes.len() * width];
        let source = Source { k, first, block: from, rows: self.rows };
        crew::each_block(&mut sums, ROWS * width, |chunk, sums| {
            let start = chunk * ROWS;
            Arch::new().dispatch(Sums { matrix: self.matrix, source, start, sums });
        });
        crew::each_block(k, ROWS * stride, |chunk, k| {
            let sums = &sums[chunk * ROWS * width..];
            k.chunks_exact_mut(stride)
                .zip(sums.chunks_exact(width))
                .for_each(|(k, s)| put_row(k, s));
        });
    }
}

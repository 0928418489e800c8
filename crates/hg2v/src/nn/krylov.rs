//! The Krylov block `K = [g, Ãg, Ã²g, …, Ãᵃg]` (Luan et al. 2019).
//!
//! Node `u`'s row of `K` is `a + 1` blocks of `w` numbers; the first is `g(u)`,
//! written by whoever calls.

use std::ops::Range;

use hg2v_math::Real;
use hg2v_math::parallel::crew;
use pulp::{Arch, Simd, WithSimd};

use super::batch::BatchLevel;

/// Batches with fewer multiplications than this are not worth another thread.
const WORTH_SHARING: usize = 1 << 14;

/// Graphs with more multiplications a hop than this are shared among threads.
const LARGE: usize = 1 << 22;

/// Rows of a large graph that one task computes.
const ROWS: usize = 1 << 12;

/// Fills blocks 1 to `hops` of `k` from block 0: `K_j = Ã·K_{j−1}`.
pub(crate) fn forward<R: Real>(level: &BatchLevel, width: usize, hops: usize, k: &mut [R]) {
    each_graph(level, width, hops, k, |block, nodes, k, room| {
        for hop in 1..=hops {
            block.hop(nodes.clone(), hop - 1, hop, k, room, |to, sum| *to = sum);
        }
    });
}

/// The gradient of `g`, left in block 0 of `dk`: since `K_j = Ã·K_{j−1}` and
/// `Ãᵀ = Ã`, from the last hop to the first `dK_{j−1} ← dK_{j−1} + Ã·dK_j`.
pub(crate) fn vjp<R: Real>(level: &BatchLevel, width: usize, hops: usize, dk: &mut [R]) {
    each_graph(level, width, hops, dk, |block, nodes, dk, room| {
        for hop in (1..=hops).rev() {
            block.hop(nodes.clone(), hop, hop - 1, dk, room, |to, sum| *to += sum);
        }
    });
}

/// Rows of a small graph whose sums wait to be put.
const SMALL_ROWS: usize = 16;

/// The weighted sums of the rows from `start` on, as many as `sums` has room for;
/// a type of its own, so that its loops are compiled for the instructions at hand.
struct Sums<'a, R> {
    block: &'a Block<'a>,
    /// The node that `k` starts at.
    first: usize,
    start: usize,
    from: usize,
    k: &'a [R],
    sums: &'a mut [R],
}

impl<R: Real> WithSimd for Sums<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Sums { block, first, start, from, k, sums } = self;
        for (i, sums) in sums.chunks_exact_mut(block.width).enumerate() {
            block.weighted_sum(first, start + i, from, k, sums);
        }
    }
}

/// What is the same for all graphs of a batch.
struct Block<'a> {
    level: &'a BatchLevel,
    width: usize,
    stride: usize,
}

/// Runs `job` on the rows of each graph, with room for sums: no graph needs another's rows.
fn each_graph<R: Real>(
    level: &BatchLevel,
    width: usize,
    hops: usize,
    k: &mut [R],
    job: impl Fn(&Block<'_>, Range<usize>, &mut [R], &mut Vec<R>) + Sync,
) {
    let block = Block { level, width, stride: (hops + 1) * width };
    assert_eq!(k.len(), level.num_nodes() * block.stride);
    let mut rest = k;
    let graphs = level.graphs.windows(2).map(|ends| {
        let (rows, after) =
            std::mem::take(&mut rest).split_at_mut((ends[1] - ends[0]) * block.stride);
        rest = after;
        (ends[0]..ends[1], rows)
    });
    let large = level.graphs.windows(2).any(|ends| block.work(ends[0]..ends[1]) > LARGE);
    let small = block.work(0..level.num_nodes()) * hops < WORTH_SHARING;
    if large || small || crew::threads() == 1 {
        let mut room = Vec::new();
        graphs.for_each(|(nodes, rows)| job(&block, nodes, rows, &mut room));
    } else {
        let mut graphs: Vec<_> = graphs.collect();
        crew::each_block(&mut graphs, 1, |_, graphs| {
            let mut room = Vec::new();
            let each = |(nodes, rows): &mut (Range<usize>, &mut [R])| {
                job(&block, nodes.clone(), rows, &mut room);
            };
            graphs.iter_mut().for_each(each);
        });
    }
}

impl Block<'_> {
    /// Multiplications of one hop over `nodes`.
    fn work(&self, nodes: Range<usize>) -> usize {
        (self.level.offsets[nodes.end] - self.level.offsets[nodes.start]) * self.width
    }

    /// Multiplies block `from` of a graph's rows by `Ã` and puts each sum into block `to`.
    fn hop<R: Real>(
        &self,
        nodes: Range<usize>,
        from: usize,
        to: usize,
        k: &mut [R],
        room: &mut Vec<R>,
        put: impl Fn(&mut R, R) + Sync,
    ) {
        let (width, stride) = (self.width, self.stride);
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
                Arch::new().dispatch(Sums { block: self, first, start, from, k, sums });
                for (i, sums) in sums.chunks_exact(width).enumerate() {
                    put_row(&mut k[(start + i) * stride..][..stride], sums);
                }
            }
            return;
        }
        // Rows are read and written by all threads: first all sums, then their places.
        let mut sums = vec![R::ZERO; nodes.len() * width];
        crew::each_block(&mut sums, ROWS * width, |chunk, sums| {
            let start = chunk * ROWS;
            Arch::new().dispatch(Sums { block: self, first, start, from, k, sums });
        });
        crew::each_block(k, ROWS * stride, |chunk, k| {
            let sums = &sums[chunk * ROWS * width..];
            k.chunks_exact_mut(stride)
                .zip(sums.chunks_exact(width))
                .for_each(|(k, s)| put_row(k, s));
        });
    }

    /// `Σ_v Ã(node, v)·K_from(v)`; `k` starts at the row of node `first`.
    #[inline(always)]
    fn weighted_sum<R: Real>(
        &self,
        first: usize,
        node: usize,
        from: usize,
        k: &[R],
        sum: &mut [R],
    ) {
        sum.fill(R::ZERO);
        for (target, value) in self.level.row(first + node) {
            let value = R::from_f64(value.into());
            let row = &k[(target - first) * self.stride + from * self.width..][..self.width];
            for (sum, x) in sum.iter_mut().zip(row) {
                *sum += value * *x;
            }
        }
    }
}

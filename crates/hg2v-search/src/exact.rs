//! The nearest of all rows, found by looking at all of them.
//!
//! Blocks of queries meet blocks of rows in matrix products of single precision. What
//! cannot be among the nearest, the error of the product allowed for, is left out; what
//! is left is measured in double precision. So the answer is that of the definition,
//! whatever the blocks and the number of threads.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use hg2v::error::{Error, Result};
use hg2v_math::Real;
use hg2v_math::gemm::{self, View, ViewMut};
use hg2v_math::parallel::crew;
use hg2v_math::simd::dot;
use rayon::prelude::*;

use crate::space::{Neighbor, Space, square};

/// Queries and rows whose products are made at once: little enough that they stay in
/// the second-level cache, enough that copying the factors is paid for.
pub(crate) const QUERIES: usize = 384;
pub(crate) const ROWS: usize = 512;

/// For fewer queries than this nothing is worth copying.
const FEW: usize = 4;

/// Keys that are looked at together.
const LANES: usize = 16;

/// The `k` nearest rows of each of `queries`, vectors one after the other that need not
/// be rows; nearest first, of rows equally far the earlier first. There are fewer than
/// `k` where the space has fewer rows.
///
/// # Errors
/// `k` of 0; queries of another length.
///
/// # Complexity
/// `O(queries · rows · dim)` time, `O(queries · k)` space beyond a block a thread.
///
/// # Examples
/// ```
/// use hg2v_search::{Metric, Space, exact};
/// let space = Space::new(1, vec![0.0f32, 5.0, 9.0], Metric::Euclidean)?;
/// let near = exact::nearest(&space, &[6.0], 2)?;
/// assert_eq!(near[0].iter().map(|row| (row.position, row.distance)).collect::<Vec<_>>(), [(1, 1.0), (2, 3.0)]);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn nearest<R: Real>(space: &Space<R>, queries: &[R], k: usize) -> Result<Vec<Vec<Neighbor>>> {
    check_k(k)?;
    let queries = space.placed(queries)?;
    let shadows = space.cast(&queries);
    Ok(search(space, &queries, (&shadows.rows, &shadows.slacks), k))
}

/// The `k` nearest other rows of each row.
///
/// # Errors
/// `k` of 0.
///
/// # Complexity
/// As [`nearest`].
///
/// # Examples
/// ```
/// use hg2v_search::{Metric, Space, exact};
/// let space = Space::new(1, vec![0.0f32, 1.0, 5.0], Metric::Euclidean)?;
/// let near = exact::nearest_others(&space, 1)?;
/// assert_eq!(near.iter().map(|near| near[0].position).collect::<Vec<_>>(), [1, 0, 1]);
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn nearest_others<R: Real>(space: &Space<R>, k: usize) -> Result<Vec<Vec<Neighbor>>> {
    check_k(k)?;
    let k = k.min(space.len());
    let others = search_all(space, k + 1).into_iter().enumerate();
    Ok(others.map(|(row, near)| without(near, row, k)).collect())
}

/// The `k` nearest rows of every row, itself among them: each product serves both of its
/// rows.
///
/// Threads add what they find to a row in any order; what is nearest does not depend on it.
fn search_all<R: Real>(space: &Space<R>, k: usize) -> Vec<Vec<Neighbor>> {
    let (n, dim, shadows) = (space.len(), space.dim, &space.shadows);
    let k = k.min(n);
    let ranges = ranges(0..n, ROWS);
    let blocks = ranges.len();
    let range = |block: usize| ranges[block].clone();
    let best: Vec<Mutex<Vec<Best>>> =
        (0..blocks).map(|block| Mutex::new(range(block).map(|_| Best::new(k)).collect())).collect();
    let add = |block: usize, from: usize, keys: &[f32], width: usize| {
        let mut best = best[block].lock().unwrap_or_else(PoisonError::into_inner);
        for ((best, row), keys) in best.iter_mut().zip(range(block)).zip(keys.chunks_exact(width)) {
            best.look(range(from).start, keys, shadows.slacks[row], &shadows.slacks);
        }
    };
    let pair = |keys: &mut (Vec<f32>, Vec<f32>), (a, b): (usize, usize)| {
        let (rows, columns) = (range(a).len(), range(b).len());
        let view = |block: usize| {
            let range = range(block);
            View::new(&shadows.rows[range.start * dim..], range.len(), dim, dim)
        };
        let (keys, turned) = keys;
        keys.resize(rows * columns, 0.0);
        let to = ViewMut::new(keys, rows, columns, columns);
        gemm::product(view(a), view(b).t(), 0.0, to);
        if a != b {
            turned.resize(rows * columns, 0.0);
            turn(keys, columns, turned, &shadows.halves[range(a)]);
            add(b, a, turned, rows);
        }
        for keys in keys.chunks_exact_mut(columns) {
            from_halves(keys, &shadows.halves[range(b)]);
        }
        add(a, b, keys, columns);
    };
    let pairs: Vec<(usize, usize)> =
        (0..blocks).flat_map(|a| (a..blocks).map(move |b| (a, b))).collect();
    pairs.into_par_iter().for_each_init(Default::default, |keys, of| {
        crew::alone(|| pair(keys, of));
    });
    let best: Vec<Best> = best
        .into_iter()
        .flat_map(|b| b.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect();
    let measured = best.into_par_iter().enumerate();
    measured.map(|(row, best)| best.measured(space, space.row(row), shadows.slacks[row])).collect()
}

/// From products to keys.
fn from_halves(keys: &mut [f32], halves: &[f32]) {
    for (key, half) in keys.iter_mut().zip(halves) {
        *key = half - *key;
    }
}

/// The keys of the other side: `halves[i] − keys[i][j]` at `turned[j][i]`, a tile at a time.
fn turn(keys: &[f32], width: usize, turned: &mut [f32], halves: &[f32]) {
    const TILE: usize = 16;
    let height = halves.len();
    for top in (0..height).step_by(TILE) {
        for left in (0..width).step_by(TILE) {
            for j in left..(left + TILE).min(width) {
                for i in top..(top + TILE).min(height) {
                    turned[j * height + i] = halves[i] - keys[i * width + j];
                }
            }
        }
    }
}

/// The `k` nearest rows, themselves among them, of the rows that lie at `numbers`.
pub(crate) fn search_rows<R: Real>(
    space: &Space<R>,
    numbers: Range<usize>,
    k: usize,
) -> Vec<Vec<Neighbor>> {
    let rows = numbers.start / space.dim..numbers.end / space.dim;
    let shadows = &space.shadows;
    let own = (&shadows.rows[numbers.clone()], &shadows.slacks[rows]);
    search(space, &space.rows[numbers], own, k)
}

/// At most `k` of `near`, without the row that was asked about.
pub(crate) fn without(mut near: Vec<Neighbor>, row: usize, k: usize) -> Vec<Neighbor> {
    near.retain(|neighbor| neighbor.position != row);
    near.truncate(k);
    near
}

pub(crate) fn check_k(k: usize) -> Result<()> {
    match k {
        0 => Err(Error::parameter("top", k, "it must be at least 1")),
        _ => Ok(()),
    }
}

fn search<R: Real>(
    space: &Space<R>,
    queries: &[R],
    (shadows, slacks): (&[f32], &[f32]),
    k: usize,
) -> Vec<Vec<Neighbor>> {
    let dim = space.dim;
    let k = k.min(space.len());
    if k == 0 {
        return vec![Vec::new(); queries.len() / dim];
    }
    let count = queries.len() / dim;
    let blocks = ranges(0..count, QUERIES);
    // Where there are fewer blocks of queries than threads, rows are shared out as well.
    let shares = rayon::current_num_threads().div_ceil(blocks.len().max(1));
    let shares = ranges(0..space.len(), space.len().div_ceil(shares).next_multiple_of(ROWS));
    let pieces: Vec<(&Range<usize>, &Range<usize>)> =
        blocks.iter().flat_map(|block| shares.iter().map(move |share| (block, share))).collect();
    let piece = |(block, share): (&Range<usize>, &Range<usize>)| -> Vec<Best> {
        let mut best: Vec<Best> = block.clone().map(|_| Best::new(k)).collect();
        let own = View::new(&shadows[block.start * dim..], block.len(), dim, dim);
        each_block(space, own, share.clone(), |start, keys, width| {
            for (i, keys) in keys.chunks_exact(width).enumerate() {
                best[i].look(start, keys, slacks[block.start + i], &space.shadows.slacks);
            }
        });
        best
    };
    let found: Vec<Vec<Best>> =
        pieces.into_par_iter().map(|of| crew::alone(|| piece(of))).collect();
    // The pieces of a block follow each other.
    let joined = found.into_iter().enumerate().fold(Vec::new(), |mut all, (at, piece)| {
        match at % shares.len() {
            0 => all.extend(piece),
            _ => {
                let start = all.len() - piece.len();
                all[start..]
                    .iter_mut()
                    .zip(piece)
                    .for_each(|(best, more): (&mut Best, _)| best.join(more));
            }
        }
        all
    });
    let each = joined.into_par_iter().zip(queries.par_chunks_exact(dim)).zip(slacks);
    each.map(|((best, query), slack)| best.measured(space, query, *slack)).collect()
}

/// `range` in pieces of `size`, the last of what is left.
fn ranges(range: Range<usize>, size: usize) -> Vec<Range<usize>> {
    let end = range.end;
    range.step_by(size.max(1)).map(|start| start..(start + size).min(end)).collect()
}

/// Hands the keys `½‖v‖² − uᵀv` of some shadows `u` and those `v` of the rows `share` to
/// `look`, a block of rows at a time: its first row, the keys, and how many rows there are
/// in it.
pub(crate) fn each_block<R: Real>(
    space: &Space<R>,
    queries: View<'_, f32>,
    share: Range<usize>,
    mut look: impl FnMut(usize, &[f32], usize),
) {
    let dim = space.dim;
    let mut keys = vec![0.0; queries.rows() * ROWS.min(share.len())];
    for range in ranges(share, ROWS) {
        let (start, width) = (range.start, range.len());
        let rows = &space.shadows.rows[start * dim..range.end * dim];
        let keys = &mut keys[..queries.rows() * width];
        let halves = &space.shadows.halves[range];
        if queries.rows() < FEW {
            for (i, keys) in keys.chunks_exact_mut(width).enumerate() {
                let each = keys.iter_mut().zip(rows.chunks_exact(dim));
                each.for_each(|(key, row)| *key = dot(queries.row(i), row));
            }
        } else {
            let to = ViewMut::new(keys, queries.rows(), width, width);
            gemm::product(queries, View::new(rows, width, dim, dim).t(), 0.0, to);
        }
        keys.chunks_exact_mut(width).for_each(|keys| from_halves(keys, halves));
        look(start, keys, width);
    }
}

/// The rows that may be among the `k` nearest of one query, as far as it has seen.
struct Best {
    k: usize,
    /// Keys and rows, in no order.
    found: Vec<(f32, u32)>,
    /// No key above this, less its slack, can be among the nearest.
    bound: f32,
    /// How many are found before those beyond the bound are thrown out.
    room: usize,
}

impl Best {
    fn new(k: usize) -> Best {
        Best { k, found: Vec::new(), bound: f32::INFINITY, room: 4 * k + 32 }
    }

    fn look(&mut self, start: usize, keys: &[f32], slack: f32, slacks: &[f32]) {
        let slacks_here = &slacks[start..start + keys.len()];
        let chunks = keys.chunks(LANES).zip(slacks_here.chunks(LANES));
        for (chunk, (keys, own)) in chunks.enumerate() {
            // What is not a number is not beyond anything, and never thrown out.
            let bound = self.bound;
            let beyond = |(key, own): (&f32, &f32)| *key - own > bound;
            if keys.iter().zip(own).fold(true, |all, pair| all & beyond(pair)) {
                continue;
            }
            for (lane, pair) in keys.iter().zip(own).enumerate() {
                if !beyond(pair) {
                    self.found.push((*pair.0, (start + chunk * LANES + lane) as u32));
                }
            }
            if self.found.len() >= self.room {
                self.tighten(slack, slacks);
                self.room = self.room.max(2 * self.found.len());
            }
        }
    }

    /// What another has found among other rows.
    fn join(&mut self, other: Best) {
        self.found.extend(other.found);
        self.bound = self.bound.min(other.bound);
    }

    /// `k` rows are surely not further than the bound, so that whatever surely is
    /// further can go.
    fn tighten(&mut self, slack: f32, slacks: &[f32]) {
        if self.found.len() < self.k {
            return;
        }
        let order = |a: &(f32, u32), b: &(f32, u32)| a.0.total_cmp(&b.0).then(a.1.cmp(&b.1));
        self.found.select_nth_unstable_by(self.k - 1, order);
        let furthest = |(key, row): &(f32, u32)| match key + slacks[*row as usize] {
            key if key.is_nan() => f32::INFINITY,
            key => key,
        };
        let bound = self.found[..self.k].iter().map(furthest).fold(f32::MIN, f32::max);
        let bound = bound + 2.0 * slack;
        if bound < self.bound {
            self.bound = bound;
        }
        let bound = self.bound;
        self.found.retain(|(key, row)| {
            let beyond = key - slacks[*row as usize] > bound;
            !beyond
        });
    }

    /// The nearest, measured exactly.
    fn measured<R: Real>(mut self, space: &Space<R>, query: &[R], slack: f32) -> Vec<Neighbor> {
        self.tighten(slack, &space.shadows.slacks);
        let square = square(query);
        let distance = |&(_, row): &(f32, u32)| Neighbor {
            position: row as usize,
            distance: space.distance_to(query, square, row as usize),
        };
        let mut near: Vec<Neighbor> = self.found.iter().map(distance).collect();
        near.sort_unstable_by(Neighbor::order);
        near.truncate(self.k);
        near
    }
}

//! Several vectors side by side, and work on their rows by all threads.

use std::ops::Range;

use crate::parallel::crew;
use crate::parallel::slot::Slot;

/// `P` numbers a node: that many vectors, side by side.
pub type Block<const P: usize> = Vec<[f64; P]>;

/// Rows handled by one task; fixed, so that sums over tasks never depend on
/// the number of threads.
pub const CHUNK: usize = 2048;

/// What `job` makes of each chunk of `n` rows, in their order.
pub fn of_chunks<T: Send>(n: usize, job: impl Fn(Range<usize>) -> T + Sync) -> Vec<T> {
    let mut made: Vec<Option<T>> = (0..n.div_ceil(CHUNK)).map(|_| None).collect();
    crew::each_block(&mut made, 1, |chunk, made| {
        made[0] = Some(job(chunk * CHUNK..((chunk + 1) * CHUNK).min(n)));
    });
    made.into_iter().flatten().collect()
}

/// Calls `job` with the number of every row, and the row.
pub fn each_row<T: Send>(rows: &mut [T], job: impl Fn(usize, &mut T) + Sync) {
    crew::each_block(rows, CHUNK, |chunk, rows| {
        for (i, row) in rows.iter_mut().enumerate() {
            job(chunk * CHUNK + i, row);
        }
    });
}

/// As [`each_row`], with the rows of two blocks.
pub fn each_row_of_two<T: Send>(
    one: &mut [T],
    two: &mut [T],
    job: impl Fn(usize, &mut T, &mut T) + Sync,
) {
    let chunks: Vec<_> = one.chunks_mut(CHUNK).zip(two.chunks_mut(CHUNK)).map(Slot::new).collect();
    crew::each(chunks.len(), |chunk| {
        if let Some((one, two)) = chunks[chunk].take() {
            for (i, (one, two)) in one.iter_mut().zip(two).enumerate() {
                job(chunk * CHUNK + i, one, two);
            }
        }
    });
}

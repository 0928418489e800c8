//! Matrix products on windows of slices.
//!
//! A window is a pointer and a shape rather than a slice, so that threads may
//! write neighbouring columns of one matrix. It is safe because every shape is
//! checked against the slice that it is made from.

#![allow(unsafe_code)]

use std::marker::PhantomData;

use crate::Real;
use crate::kernel::Raw;
use crate::parallel::crew;
use crate::parallel::slot::Slot;

/// Products with fewer multiplications than this are not worth another thread.
const WORTH_SHARING: usize = 1 << 16;

/// Rows and columns of a share are multiples of these.
const ROWS: usize = 24;
const COLUMNS: usize = 16;

/// A matrix to read: element `(i, j)` is `i · row_stride + j · column_stride` after
/// the first.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, R> {
    start: *const R,
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
    borrowed: PhantomData<&'a [R]>,
}

// SAFETY: a view is to its numbers what a `&[R]` is.
unsafe impl<R: Sync> Send for View<'_, R> {}
// SAFETY: likewise.
unsafe impl<R: Sync> Sync for View<'_, R> {}

impl<'a, R: Real> View<'a, R> {
    /// `rows × columns` numbers, each row `stride` after the one before.
    pub fn new(data: &'a [R], rows: usize, columns: usize, stride: usize) -> View<'a, R> {
        check(data.len(), rows, columns, stride);
        let (row_stride, column_stride) = (stride, 1);
        let (start, borrowed) = (data.as_ptr(), PhantomData);
        View { start, rows, columns, row_stride, column_stride, borrowed }
    }

    /// The transposed matrix.
    pub fn t(self) -> View<'a, R> {
        View {
            rows: self.columns,
            columns: self.rows,
            row_stride: self.column_stride,
            column_stride: self.row_stride,
            ..self
        }
    }

    /// The rows from `start` on, `rows` of them.
    pub fn row_range(self, start: usize, rows: usize) -> View<'a, R> {
        assert!(start + rows <= self.rows);
        let offset = if rows == 0 || self.columns == 0 { 0 } else { start * self.row_stride };
        // SAFETY: the first of these rows is one of this view's.
        View { start: unsafe { self.start.add(offset) }, rows, ..self }
    }

    /// The columns from `start` on, `columns` of them.
    pub fn column_range(self, start: usize, columns: usize) -> View<'a, R> {
        self.t().row_range(start, columns).t()
    }

    /// Row `i` of a matrix that was not transposed.
    pub fn row(self, i: usize) -> &'a [R] {
        assert!(i < self.rows && self.column_stride == 1);
        if self.columns == 0 {
            return &[];
        }
        // SAFETY: `check` has seen that the last row, too, is there.
        unsafe { std::slice::from_raw_parts(self.start.add(i * self.row_stride), self.columns) }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    fn raw(self) -> Raw<*const R> {
        Raw { start: self.start, strides: [self.row_stride, self.column_stride] }
    }
}

/// A matrix to write, row by row. It may be a window between the columns of
/// others, each written by a thread of its own.
#[derive(Debug)]
pub struct ViewMut<'a, R> {
    start: *mut R,
    rows: usize,
    columns: usize,
    stride: usize,
    borrowed: PhantomData<&'a mut [R]>,
}

// SAFETY: a view is the only way to its numbers while it lives, as a `&mut [R]` is.
unsafe impl<R: Send> Send for ViewMut<'_, R> {}
// SAFETY: likewise.
unsafe impl<R: Sync> Sync for ViewMut<'_, R> {}

impl<'a, R: Real> ViewMut<'a, R> {
    /// `rows × columns` numbers, each row `stride` after the one before.
    pub fn new(data: &'a mut [R], rows: usize, columns: usize, stride: usize) -> ViewMut<'a, R> {
        check(data.len(), rows, columns, stride);
        ViewMut { start: data.as_mut_ptr(), rows, columns, stride, borrowed: PhantomData }
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }

    /// To read.
    pub fn as_view(&self) -> View<'_, R> {
        View {
            start: self.start,
            rows: self.rows,
            columns: self.columns,
            row_stride: self.stride,
            column_stride: 1,
            borrowed: PhantomData,
        }
    }

    /// The same matrix, for a shorter while.
    pub fn reborrow(&mut self) -> ViewMut<'_, R> {
        ViewMut { borrowed: PhantomData, ..*self }
    }

    /// The window of `rows × columns` from row `row` and column `column` on.
    ///
    /// # Safety
    /// While it lives, nobody else may use what it shows.
    unsafe fn window(&self, row: usize, column: usize, rows: usize, columns: usize) -> Self {
        assert!(row + rows <= self.rows && column + columns <= self.columns);
        let offset = if rows == 0 || columns == 0 { 0 } else { row * self.stride + column };
        // SAFETY: the window's first number is one of this view's.
        let start = unsafe { self.start.add(offset) };
        ViewMut { start, rows, columns, stride: self.stride, borrowed: PhantomData }
    }

    /// Blocks of at most `rows × columns`, each with its first row and column.
    pub fn blocks(self, rows: usize, columns: usize) -> Vec<Slot<((usize, usize), Self)>> {
        let corners = (0..self.rows).step_by(rows.max(1)).flat_map(|row| {
            (0..self.columns).step_by(columns.max(1)).map(move |column| (row, column))
        });
        corners
            .map(|(row, column)| {
                let (rows, columns) =
                    (rows.min(self.rows - row), columns.min(self.columns - column));
                // SAFETY: blocks do not overlap, and `self` is used up.
                Slot::new(((row, column), unsafe { self.window(row, column, rows, columns) }))
            })
            .collect()
    }

    /// Runs `job` on blocks of at most `rows` whole rows, with the number of the
    /// first row of each, on all threads at hand if there is work enough for them.
    pub fn each_block(self, rows: usize, job: impl Fn(usize, ViewMut<'_, R>) + Sync) {
        let columns = self.columns;
        let blocks = self.blocks(rows, columns);
        crew::each(blocks.len(), |i| {
            if let Some(((first, _), block)) = blocks[i].take() {
                job(first, block);
            }
        });
    }

    /// The first `rows` rows, and the others.
    pub fn split_rows(self, rows: usize) -> (ViewMut<'a, R>, ViewMut<'a, R>) {
        // SAFETY: the two do not overlap, and `self` is used up.
        unsafe {
            let head = self.window(0, 0, rows, self.columns);
            (head, self.window(rows, 0, self.rows - rows, self.columns))
        }
    }

    /// The rows, one after the other.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let whole = self.reborrow();
        // SAFETY: rows do not overlap, and each is handed out once.
        (0..whole.rows).map(move |row| unsafe { whole.row_unchecked(row) })
    }

    /// Row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [R] {
        assert!(i < self.rows);
        // SAFETY: the whole view is borrowed as long as the row.
        unsafe { self.row_unchecked(i) }
    }

    /// # Safety
    /// The row is this view's, and nobody else uses it.
    unsafe fn row_unchecked<'b>(&self, i: usize) -> &'b mut [R] {
        if self.columns == 0 {
            return &mut [];
        }
        // SAFETY: `check` has seen that the last row, too, is there.
        unsafe { std::slice::from_raw_parts_mut(self.start.add(i * self.stride), self.columns) }
    }
}

fn check(len: usize, rows: usize, columns: usize, stride: usize) {
    let last = rows.saturating_sub(1).saturating_mul(stride).saturating_add(columns);
    let fits = rows == 0 || columns == 0 || (columns <= stride && last <= len);
    assert!(fits, "{rows} × {columns} numbers, {stride} apart, are not in {len}");
}

/// `C ← A·B + β·C`.
///
/// Every number of `C` is computed by the same operations in the same order
/// whatever its neighbours, so that neither threads nor batches change a bit.
pub fn product<R: Real>(a: View<'_, R>, b: View<'_, R>, beta: R, c: ViewMut<'_, R>) {
    product_then(a, b, beta, c, |_, _| {});
}

/// As [`product`]; what a thread has computed of a row is handed to `finish` while
/// it is warm, with the number of its first column.
pub fn product_then<R: Real>(
    a: View<'_, R>,
    b: View<'_, R>,
    beta: R,
    mut c: ViewMut<'_, R>,
    finish: impl Fn(usize, &mut [R]) + Sync,
) {
    assert!(a.rows == c.rows && a.columns == b.rows && b.columns == c.columns);
    let threads = crew::threads();
    let work = a.rows * a.columns * b.columns;
    if threads == 1 || work < WORTH_SHARING {
        serial(a, b, beta, &mut c);
        return c.rows_mut().for_each(|row| finish(0, row));
    }
    // By columns first: then no thread copies what another copies too.
    let by_columns = threads.min(c.columns.div_ceil(COLUMNS));
    let by_rows = threads.div_ceil(by_columns).min(c.rows.div_ceil(ROWS));
    let columns = c.columns.div_ceil(by_columns).next_multiple_of(COLUMNS);
    let rows = c.rows.div_ceil(by_rows).next_multiple_of(ROWS);
    let blocks = c.blocks(rows, columns);
    crew::each(blocks.len(), |i| {
        let Some(((row, column), mut block)) = blocks[i].take() else { return };
        let b = b.column_range(column, block.columns);
        serial(a.row_range(row, block.rows), b, beta, &mut block);
        block.rows_mut().for_each(|row| finish(column, row));
    });
}

/// One thread's product.
pub fn serial<R: Real>(a: View<'_, R>, b: View<'_, R>, beta: R, c: &mut ViewMut<'_, R>) {
    assert!(a.rows == c.rows && a.columns == b.rows && b.columns == c.columns);
    // The right factor is copied: rather a few rows of A than many of Bᵀ.
    let transposed = b.column_stride != 1 && a.column_stride == 1 && c.columns > 2 * c.rows;
    let to = Raw { start: c.start, strides: [c.stride, 1] };
    // SAFETY: a view is only made where its last element lies within its slice
    // (`check`), and the three shapes agree.
    unsafe {
        if transposed {
            let shape = [c.columns, a.columns, c.rows];
            R::product_unchecked(shape, b.t().raw(), a.t().raw(), beta, to.t());
        } else {
            R::product_unchecked([c.rows, a.columns, c.columns], a.raw(), b.raw(), beta, to);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(n: usize, salt: u64) -> Vec<f32> {
        let hash = |i: u64| (i + salt).wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 40;
        (0..n as u64).map(|i| hash(i) as f32 / 8_388_608.0 - 1.0).collect()
    }

    fn in_pool<T: Send>(threads: usize, job: impl FnOnce() -> T + Send) -> T {
        rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap().install(job)
    }

    #[test]
    fn every_row_is_the_same_bits_alone_and_among_others_at_any_thread_count() {
        for (m, k, n) in [(1, 5, 3), (17, 33, 40), (240, 640, 256), (131, 300, 31), (67, 1, 9)] {
            let (a, b) = (numbers(m * k, 1), numbers(k * n, 2));
            let (a, b) = (View::new(&a, m, k, k), View::new(&b, k, n, n));
            let run = |threads| {
                let mut c = vec![0f32; m * n];
                in_pool(threads, || product(a, b, 0.0, ViewMut::new(&mut c, m, n, n)));
                c
            };
            let one = run(1);
            assert_eq!(one, run(2));
            assert_eq!(one, run(4));
            for i in 0..m {
                let mut alone = vec![0f32; n];
                product(a.row_range(i, 1), b, 0.0, ViewMut::new(&mut alone, 1, n, n));
                assert_eq!(alone, one[i * n..(i + 1) * n], "row {i} of {m} × {k} × {n}");
            }
        }
    }

    #[test]
    fn transposes_and_windows_are_the_matrices_they_say() {
        let a: Vec<f64> = (0..12).map(f64::from).collect();
        let mut c = vec![-1.0; 8];
        // Columns 1 and 2 of the 3 × 4 matrix, transposed, times themselves.
        let window = View::new(&a[1..], 3, 2, 4);
        product(window.t(), window, 0.0, ViewMut::new(&mut c, 2, 2, 4));
        let dot = |i: usize, j: usize| (0..3).map(|r| a[r * 4 + i] * a[r * 4 + j]).sum::<f64>();
        assert_eq!(c, [dot(1, 1), dot(1, 2), -1.0, -1.0, dot(2, 1), dot(2, 2), -1.0, -1.0]);
    }

    #[test]
    #[should_panic(expected = "are not in 5")]
    fn a_window_beyond_its_slice_is_refused() {
        View::new(&[0f32; 5], 2, 3, 3);
    }
}

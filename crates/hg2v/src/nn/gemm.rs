//! Matrix products on windows of slices.

use rayon::prelude::*;

use super::Real;

/// Products with fewer multiplications than this are not worth another thread.
const WORTH_SHARING: usize = 1 << 18;

/// Rows of a share are a multiple of this.
const ROWS: usize = 16;

/// A matrix to read: element `(i, j)` is `data[i · row_stride + j · column_stride]`.
#[derive(Debug, Clone, Copy)]
pub struct View<'a, R> {
    data: &'a [R],
    rows: usize,
    columns: usize,
    row_stride: usize,
    column_stride: usize,
}

impl<'a, R: Real> View<'a, R> {
    /// `rows × columns` numbers, each row `stride` after the one before.
    pub fn new(data: &'a [R], rows: usize, columns: usize, stride: usize) -> View<'a, R> {
        check(data.len(), rows, columns, stride);
        View { data, rows, columns, row_stride: stride, column_stride: 1 }
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
        let from = (start * self.row_stride).min(self.data.len());
        View { data: &self.data[from..], rows, ..self }
    }

    /// Row `i` of a matrix that was not transposed.
    pub fn row(self, i: usize) -> &'a [R] {
        assert!(i < self.rows && self.column_stride == 1);
        &self.data[i * self.row_stride..][..self.columns]
    }

    /// How many rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// How many columns.
    pub fn columns(&self) -> usize {
        self.columns
    }
}

/// A matrix to write, row by row.
#[derive(Debug)]
pub struct ViewMut<'a, R> {
    data: &'a mut [R],
    rows: usize,
    columns: usize,
    stride: usize,
}

impl<'a, R: Real> ViewMut<'a, R> {
    /// `rows × columns` numbers, each row `stride` after the one before.
    pub fn new(data: &'a mut [R], rows: usize, columns: usize, stride: usize) -> ViewMut<'a, R> {
        check(data.len(), rows, columns, stride);
        ViewMut { data, rows, columns, stride }
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
        View::new(self.data, self.rows, self.columns, self.stride)
    }

    /// The same matrix, for a shorter while.
    pub fn reborrow(&mut self) -> ViewMut<'_, R> {
        ViewMut::new(self.data, self.rows, self.columns, self.stride)
    }

    /// Blocks of at most `rows` rows, with the number of the first row of each.
    pub fn par_blocks(
        self,
        rows: usize,
    ) -> impl IndexedParallelIterator<Item = (usize, ViewMut<'a, R>)> {
        let ViewMut { data, rows: all, columns, stride } = self;
        let blocks = all.div_ceil(rows);
        // Without columns there may be no data to cut.
        let step = (rows * stride).max(1);
        data.par_chunks_mut(step).take(blocks).enumerate().map(move |(block, data)| {
            let first = block * rows;
            (first, ViewMut::new(data, rows.min(all - first), columns, stride))
        })
    }

    /// The first `rows` rows, and the others.
    pub fn split_rows(self, rows: usize) -> (ViewMut<'a, R>, ViewMut<'a, R>) {
        let ViewMut { data, rows: all, columns, stride } = self;
        let (head, tail) = data.split_at_mut((rows * stride).min(data.len()));
        let head = ViewMut::new(head, rows, columns, stride);
        (head, ViewMut::new(tail, all - rows, columns, stride))
    }

    /// The rows, one after the other.
    pub fn rows_mut(&mut self) -> impl Iterator<Item = &mut [R]> {
        let columns = self.columns;
        let step = self.stride.max(1);
        self.data.chunks_mut(step).take(self.rows).map(move |row| &mut row[..columns])
    }

    /// Row `i`.
    pub fn row_mut(&mut self, i: usize) -> &mut [R] {
        assert!(i < self.rows);
        &mut self.data[i * self.stride..][..self.columns]
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
    product_then(a, b, beta, c, |_| {});
}

/// As [`product`]; each row of the result is handed to `finish` while it is warm.
pub fn product_then<R: Real>(
    a: View<'_, R>,
    b: View<'_, R>,
    beta: R,
    mut c: ViewMut<'_, R>,
    finish: impl Fn(&mut [R]) + Sync,
) {
    assert!(a.rows == c.rows && a.columns == b.rows && b.columns == c.columns);
    let threads = rayon::current_num_threads();
    let work = a.rows * a.columns * b.columns;
    if threads == 1 || work < WORTH_SHARING || a.rows < 2 * ROWS {
        serial(a, b, beta, &mut c);
        return c.rows_mut().for_each(finish);
    }
    let share = a.rows.div_ceil(threads).next_multiple_of(ROWS);
    c.par_blocks(share).for_each(|(first, mut block)| {
        serial(a.row_range(first, block.rows), b, beta, &mut block);
        block.rows_mut().for_each(&finish);
    });
}

/// One thread's product.
#[allow(unsafe_code)]
pub(crate) fn serial<R: Real>(a: View<'_, R>, b: View<'_, R>, beta: R, c: &mut ViewMut<'_, R>) {
    assert!(a.rows == c.rows && a.columns == b.rows && b.columns == c.columns);
    let strides = |view: &View<'_, R>| [view.row_stride as isize, view.column_stride as isize];
    // SAFETY: a view is only made where its last element lies within its slice
    // (`check`), and the three shapes agree.
    unsafe {
        R::gemm_unchecked(
            [c.rows, a.columns, c.columns],
            R::ONE,
            (a.data.as_ptr(), strides(&a)),
            (b.data.as_ptr(), strides(&b)),
            beta,
            (c.data.as_mut_ptr(), [c.stride as isize, 1]),
        );
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

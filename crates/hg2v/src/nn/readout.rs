//! One vector for each graph: the sum, the largest or the mean of its nodes' rows.

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut};
use pulp::{Arch, Simd, WithSimd};

/// How the rows of a graph's nodes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Readout {
    /// `Σ_u v(u)`: tells multisets apart.
    Sum,
    /// `max_u v(u)`, column by column.
    Max,
    /// `1/n·Σ_u v(u)`: tells distributions apart.
    Mean,
}

crate::vocabulary! { Readout, "readout":
    Sum => "sum", "tells multisets of nodes apart";
    Max => "max", "the largest, column by column";
    Mean => "mean", "tells distributions of nodes apart";
}

/// The readout of each graph; a graph without nodes gets zeros.
///
/// Sums are made in double precision, and one that is smaller than what rounding makes of its terms,
/// `|Σ_u v(u)| ≤ ε·Σ_u |v(u)|`, is zero: charges that cancel leave nothing behind that a
/// standardised column would blow up.
///
/// `graphs` are the first nodes of the graphs and the end of the last. Shapes:
/// `v` is `N × d`, `out` is `B × d`.
pub(crate) fn forward<R: Real>(
    kind: Readout,
    graphs: &[usize],
    v: View<'_, R>,
    mut out: ViewMut<'_, R>,
) {
    for (ends, out) in graphs.windows(2).zip(out.rows_mut()) {
        out.fill(R::ZERO);
        match kind {
            Readout::Max => Arch::new().dispatch(Largest { ends, v, out }),
            Readout::Sum | Readout::Mean => {
                Arch::new().dispatch(Sums { ends, v, share: share(kind, ends), out });
            }
        }
    }
}

/// Columns that are summed together: their sums stay in the nearest cache.
const BLOCK: usize = 64;

/// The largest numbers of the columns over the nodes `ends`; a type of its own, as [`Sums`], so
/// that its loops are compiled for the instructions at hand.
struct Largest<'a, R> {
    ends: &'a [usize],
    v: View<'a, R>,
    out: &'a mut [R],
}

impl<R: Real> WithSimd for Largest<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Largest { ends, v, out } = self;
        for node in ends[0]..ends[1] {
            let first = node == ends[0];
            for (out, x) in out.iter_mut().zip(v.row(node)) {
                *out = if first || *x > *out { *x } else { *out };
            }
        }
    }
}

/// The sums of the columns over the nodes `ends`, times `share`.
struct Sums<'a, R> {
    ends: &'a [usize],
    v: View<'a, R>,
    share: f64,
    out: &'a mut [R],
}

impl<R: Real> WithSimd for Sums<'_, R> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, _: S) {
        let Sums { ends, v, share, out } = self;
        for (block, out) in out.chunks_mut(BLOCK).enumerate() {
            let (mut sums, mut sizes) = ([0.0; BLOCK], [0.0; BLOCK]);
            for node in ends[0]..ends[1] {
                let row = &v.row(node)[block * BLOCK..][..out.len()];
                for ((sum, size), x) in sums.iter_mut().zip(&mut sizes).zip(row) {
                    *sum += x.to_f64();
                    *size += x.to_f64().abs();
                }
            }
            for ((out, sum), size) in out.iter_mut().zip(sums).zip(sizes) {
                let noise = sum.abs() <= R::EPSILON * size;
                *out = if noise { R::ZERO } else { R::from_f64(sum * share) };
            }
        }
    }
}

/// Adds to `dv` what `dout` says: every node of a sum gets all of it, of a mean
/// its share, and of a maximum the first node that attains it.
pub(crate) fn vjp<R: Real>(
    kind: Readout,
    graphs: &[usize],
    v: View<'_, R>,
    dout: View<'_, R>,
    mut dv: ViewMut<'_, R>,
) {
    for (graph, ends) in graphs.windows(2).enumerate() {
        let dout = dout.row(graph);
        match kind {
            Readout::Max => {
                for (column, d) in dout.iter().enumerate() {
                    let first_largest = (ends[0]..ends[1])
                        .reduce(|a, b| if v.row(b)[column] > v.row(a)[column] { b } else { a });
                    if let Some(node) = first_largest {
                        dv.row_mut(node)[column] += *d;
                    }
                }
            }
            Readout::Sum | Readout::Mean => {
                let share = R::from_f64(share(kind, ends));
                (ends[0]..ends[1]).for_each(|node| R::axpy(share, dout, dv.row_mut(node)));
            }
        }
    }
}

fn share(kind: Readout, ends: &[usize]) -> f64 {
    match kind {
        Readout::Mean => 1.0 / (ends[1] - ends[0]).max(1) as f64,
        _ => 1.0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use hg2v_math::gemm::{View, ViewMut};

    fn read_out(kind: Readout, column: &[f32]) -> f32 {
        let mut out = [7.0];
        let v = View::new(column, column.len(), 1, 1);
        forward(kind, &[0, column.len()], v, ViewMut::new(&mut out, 1, 1, 1));
        out[0]
    }

    #[test]
    fn what_cancels_leaves_nothing_behind() {
        // 1/√0.07 is no number of few bits: three of them are rounded in single precision.
        let charge = 1.0 / 0.07f32.sqrt();
        let mut column = [charge; 6];
        column[3..].fill(-charge);
        assert_ne!(column.iter().sum::<f32>(), 0.0, "the naive sum is noise");
        assert_eq!(read_out(Readout::Sum, &column), 0.0);
        assert_eq!(read_out(Readout::Mean, &column), 0.0);
        // 0.1 + 0.2 − 0.3: what is left are the roundings of the three.
        assert_eq!(read_out(Readout::Sum, &[0.1, 0.2, -0.3]), 0.0);
        // What is larger than its rounding stays.
        assert_eq!(read_out(Readout::Sum, &[1e5, -1e5, 0.25]), 0.25);
        assert_eq!(read_out(Readout::Sum, &[1e-30]), 1e-30);
        assert_eq!(read_out(Readout::Mean, &[3.0, 4.0]), 3.5);
    }
}

//! One vector for each graph: the sum, the largest or the mean of its nodes' rows.

use serde::{Deserialize, Serialize};

use super::Real;
use super::gemm::{View, ViewMut};

/// How the rows of a graph's nodes become one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Readout {
    /// `Σ_u v(u)`: tells multisets apart.
    Sum,
    /// `max_u v(u)`, column by column.
    Max,
    /// `1/n·Σ_u v(u)`: tells distributions apart.
    Mean,
}

/// The readout of each graph; a graph without nodes gets zeros.
///
/// `graphs` are the first nodes of the graphs and the end of the last. Shapes:
/// `v` is `N × d`, `out` is `B × d`.
pub fn forward<R: Real>(kind: Readout, graphs: &[usize], v: View<'_, R>, mut out: ViewMut<'_, R>) {
    for (ends, out) in graphs.windows(2).zip(out.rows_mut()) {
        out.fill(R::ZERO);
        match kind {
            Readout::Max => {
                for node in ends[0]..ends[1] {
                    let first = node == ends[0];
                    for (out, x) in out.iter_mut().zip(v.row(node)) {
                        *out = if first || *x > *out { *x } else { *out };
                    }
                }
            }
            Readout::Sum | Readout::Mean => {
                for node in ends[0]..ends[1] {
                    R::axpy(R::ONE, v.row(node), out);
                }
                let share = share(kind, ends);
                out.iter_mut().for_each(|out| *out *= share);
            }
        }
    }
}

/// Adds to `dv` what `dout` says: every node of a sum gets all of it, of a mean
/// its share, and of a maximum the first node that attains it.
pub fn vjp<R: Real>(
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
                let share = share(kind, ends);
                (ends[0]..ends[1]).for_each(|node| R::axpy(share, dout, dv.row_mut(node)));
            }
        }
    }
}

fn share<R: Real>(kind: Readout, ends: &[usize]) -> R {
    match kind {
        Readout::Mean => R::from_f64(1.0 / (ends[1] - ends[0]).max(1) as f64),
        _ => R::ONE,
    }
}

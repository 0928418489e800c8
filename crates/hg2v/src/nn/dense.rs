//! Dense layers: `Y = tanh(K·W + b)`, `G = P·W + b`, and the input layer.

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut, product, product_then};
use hg2v_math::parallel::crew;

/// Rows of a share; fixed, so that sums never depend on the number of threads.
const ROWS: usize = 64;

/// What follows a product.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Activation {
    /// Nothing.
    Linear,
    /// `max(0, y)`.
    Relu,
    /// `tanh(y)`.
    Tanh,
}

crate::vocabulary! { Activation, "input":
    Linear => "linear", "nothing follows the product";
    Relu => "relu", "max(0, y)";
    Tanh => "tanh", "tanh(y)";
}

/// `Y = act(X·W + b)`; an empty `b` adds nothing.
///
/// Shapes: `X` is `N × i`, `W` is `i × o`, `b` is `o`, `Y` is `N × o`.
pub(crate) fn forward<R: Real>(
    activation: Activation,
    x: View<'_, R>,
    w: View<'_, R>,
    b: &[R],
    y: ViewMut<'_, R>,
) {
    let from = |column: usize| b.get(column..).unwrap_or_default();
    let add = |b: &[R], row: &mut [R]| row.iter_mut().zip(b).for_each(|(y, b)| *y += *b);
    product_then(x, w, R::ZERO, y, |column, row| match activation {
        Activation::Linear => add(from(column), row),
        Activation::Relu => {
            add(from(column), row);
            // A NaN is not hidden: it fails the comparison.
            row.iter_mut().filter(|y| **y < R::ZERO).for_each(|y| *y = R::ZERO);
        }
        Activation::Tanh => R::tanh_rows(row, from(column)),
    });
}

/// Where the gradients of a dense layer go.
pub(crate) struct DenseGradients<'a, R> {
    /// `∂/∂W`, overwritten.
    pub dw: ViewMut<'a, R>,
    /// `∂/∂b`, overwritten; empty where there is no `b`.
    pub db: &'a mut [R],
    /// `∂/∂X`, overwritten, where it is asked for.
    pub dx: Option<ViewMut<'a, R>>,
}

/// From the gradient of `Y` to those of `W`, `b` and `X`.
///
/// With `Y = act(X·W + b)` and `dA = dY ⊙ act′`, where `act′` is `1 − Y²` for
/// tanh and `Y > 0` for relu: `dW = Xᵀ·dA`, `db = Σ_u dA(u)`, `dX = dA·Wᵀ`.
/// `dy` becomes `dA`.
pub(crate) fn vjp<R: Real>(
    activation: Activation,
    x: View<'_, R>,
    w: View<'_, R>,
    y: View<'_, R>,
    mut dy: ViewMut<'_, R>,
    out: DenseGradients<'_, R>,
) {
    if activation != Activation::Linear {
        dy.reborrow().each_block(ROWS, |first, mut dy| {
            for (i, dy) in dy.rows_mut().enumerate() {
                let y = y.row(first + i);
                match activation {
                    Activation::Tanh => R::tanh_vjp(dy, y),
                    _ => dy.iter_mut().zip(y).for_each(|(dy, y)| {
                        if *y <= R::ZERO {
                            *dy = R::ZERO;
                        }
                    }),
                }
            }
        });
    }
    let da = dy.as_view();
    product(x.t(), da, R::ZERO, out.dw);
    column_sums(da, out.db);
    if let Some(dx) = out.dx {
        product(da, w.t(), R::ZERO, dx);
    }
}

/// The sum of every column, for as many columns as `sums` asks for.
fn column_sums<R: Real>(x: View<'_, R>, sums: &mut [R]) {
    if sums.is_empty() {
        return;
    }
    let columns = x.columns();
    let mut partials = vec![R::ZERO; x.rows().div_ceil(ROWS) * columns];
    crew::each_block(&mut partials, columns, |chunk, sums| {
        for row in chunk * ROWS..((chunk + 1) * ROWS).min(x.rows()) {
            R::axpy(R::ONE, x.row(row), sums);
        }
    });
    sums.fill(R::ZERO);
    for partial in partials.chunks_exact(columns.max(1)) {
        R::axpy(R::ONE, partial, sums);
    }
}

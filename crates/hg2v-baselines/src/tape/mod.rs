//! Reverse-mode differentiation for the networks of this crate.
//!
//! A [`Tape`] computes as it is told and remembers what it did; [`Tape::gradients`]
//! goes back over it. Every operator stands beside its gradient, in the letters of
//! its equation, and is checked by finite differences in `f64`.
//!
//! | file | operators |
//! |---|---|
//! | [`products`](Tape::product) | dense, sparse, and dense a graph |
//! | [`links`](Tape::messages) | what comes along edges with kinds, numbers or directions |
//! | [`pointwise`](Tape::add) | sums, products, relu, roots, rows scaled |
//! | [`segments`](Tape::segment_sum) | sum, mean and largest of each graph's rows |
//! | [`norms`](Tape::batch_norm) | batch norm, softmax of rows, degrees of blocks |
//! | [`losses`](Tape::cross_entropy) | cross-entropy, entropy, Jensen–Shannon |
//!
//! Products are the core's ([`hg2v_math::gemm`]), which may be shared by threads and
//! are the same bits on any number of them; all else is done by the thread that asks.
//!
//! Letters: `N` nodes of `B` graphs, one after the other; `d` numbers a node; `k`
//! clusters a graph. Matrices are row-major.

mod graphs;
mod links;
mod losses;
mod norms;
mod pointwise;
mod products;
mod segments;

use std::ops::Index;

use hg2v_math::Real;
use hg2v_math::gemm::{View, ViewMut};

pub use graphs::{Graphs, Links};
pub use norms::Moments;
pub use segments::{Segments, blocks};

/// A matrix.
#[derive(Debug, Clone, PartialEq)]
pub struct Array<R> {
    /// How many rows.
    pub rows: usize,
    /// How many columns.
    pub columns: usize,
    /// `rows × columns` numbers, row after row.
    pub values: Vec<R>,
}

impl<R: Real> Array<R> {
    /// The matrix of `values`, row after row.
    pub fn new(rows: usize, columns: usize, values: Vec<R>) -> Array<R> {
        assert_eq!(values.len(), rows * columns, "{rows} × {columns} numbers");
        Array { rows, columns, values }
    }

    /// A matrix of zeros.
    pub fn zeros(rows: usize, columns: usize) -> Array<R> {
        Array { rows, columns, values: vec![R::ZERO; rows * columns] }
    }

    /// One number.
    pub fn scalar(value: R) -> Array<R> {
        Array { rows: 1, columns: 1, values: vec![value] }
    }

    /// Row `i`.
    pub fn row(&self, i: usize) -> &[R] {
        &self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// Row `i`, to write.
    pub fn row_mut(&mut self, i: usize) -> &mut [R] {
        &mut self.values[i * self.columns..(i + 1) * self.columns]
    }

    /// The rows, one after the other.
    pub fn each_row(&self) -> impl Iterator<Item = &[R]> {
        (0..self.rows).map(|i| self.row(i))
    }

    fn view(&self) -> View<'_, R> {
        View::new(&self.values, self.rows, self.columns, self.columns)
    }

    fn view_mut(&mut self) -> ViewMut<'_, R> {
        ViewMut::new(&mut self.values, self.rows, self.columns, self.columns)
    }

    /// Each number through `f`.
    fn map(&self, f: impl Fn(R) -> R) -> Array<R> {
        let values = self.values.iter().map(|&x| f(x)).collect();
        Array { rows: self.rows, columns: self.columns, values }
    }

    fn same_shape(&self, other: &Array<R>) {
        let shapes = [(self.rows, self.columns), (other.rows, other.columns)];
        assert_eq!(shapes[0], shapes[1], "matrices of one shape");
    }
}

/// A matrix on a [`Tape`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Var(usize);

/// From the gradient of an operator's output to those of its inputs.
type Vjp<R> = Box<dyn Fn(&Back<'_, R>, Array<R>, &mut Gradients<R>)>;

/// What was computed, in order.
pub struct Tape<R> {
    values: Vec<Array<R>>,
    /// Which of them a gradient is asked for.
    wanted: Vec<bool>,
    vjps: Vec<Option<Vjp<R>>>,
}

/// What a vector–Jacobian product may read: every value, and its own output.
struct Back<'t, R> {
    values: &'t [Array<R>],
    y: &'t Array<R>,
}

impl<R> Index<Var> for Back<'_, R> {
    type Output = Array<R>;

    fn index(&self, var: Var) -> &Array<R> {
        &self.values[var.0]
    }
}

/// The gradients of one number by everything on the tape that was asked for.
pub struct Gradients<R> {
    of: Vec<Option<Array<R>>>,
    shapes: Vec<Option<(usize, usize)>>,
}

impl<R: Real> Gradients<R> {
    /// The gradient by `var`; `None` where it was not asked for, or has no part in
    /// the result.
    pub fn of(&self, var: Var) -> Option<&Array<R>> {
        self.of[var.0].as_ref()
    }

    /// Lets `more` add to the gradient by `var`, if that is asked for.
    fn add(&mut self, var: Var, more: impl FnOnce(&mut Array<R>)) {
        if let Some((rows, columns)) = self.shapes[var.0] {
            more(self.of[var.0].get_or_insert_with(|| Array::zeros(rows, columns)));
        }
    }

    /// Adds `x`, which need not be copied where it is the first.
    fn give(&mut self, var: Var, x: Array<R>) {
        match &mut self.of[var.0] {
            Some(to) => R::axpy(R::ONE, &x.values, &mut to.values),
            empty if self.shapes[var.0].is_some() => *empty = Some(x),
            _ => {}
        }
    }

    /// Adds `scale · x` to the gradient by `var`.
    fn add_scaled(&mut self, var: Var, scale: R, x: &Array<R>) {
        self.add(var, |to| R::axpy(scale, &x.values, &mut to.values));
    }
}

impl<R: Real> Default for Tape<R> {
    fn default() -> Tape<R> {
        Tape { values: Vec::new(), wanted: Vec::new(), vjps: Vec::new() }
    }
}

impl<R: Real> Tape<R> {
    /// A matrix to compute with, by which no gradient is wanted.
    pub fn constant(&mut self, value: Array<R>) -> Var {
        self.leaf(value, false)
    }

    /// A matrix by which a gradient is wanted.
    pub fn variable(&mut self, value: Array<R>) -> Var {
        self.leaf(value, true)
    }

    fn leaf(&mut self, value: Array<R>, wanted: bool) -> Var {
        self.values.push(value);
        self.wanted.push(wanted);
        self.vjps.push(None);
        Var(self.values.len() - 1)
    }

    /// What `var` is.
    pub fn value(&self, var: Var) -> &Array<R> {
        &self.values[var.0]
    }

    /// An operator's output. Where no input wants a gradient, neither does it, and
    /// its `vjp` is forgotten.
    fn push(
        &mut self,
        value: Array<R>,
        inputs: &[Var],
        vjp: impl Fn(&Back<'_, R>, Array<R>, &mut Gradients<R>) + 'static,
    ) -> Var {
        let var = self.leaf(value, inputs.iter().any(|input| self.wanted[input.0]));
        if self.wanted[var.0] {
            self.vjps[var.0] = Some(Box::new(vjp));
        }
        var
    }

    /// The gradients of the single number `loss`.
    pub fn gradients(&self, loss: Var) -> Gradients<R> {
        let shape =
            |(value, &wanted): (&Array<R>, &bool)| wanted.then_some((value.rows, value.columns));
        let shapes = self.values.iter().zip(&self.wanted).map(shape).collect();
        let mut gradients = Gradients { of: vec![None; self.values.len()], shapes };
        assert_eq!(self.value(loss).values.len(), 1, "the gradient of a single number");
        gradients.add(loss, |d| d.values[0] = R::ONE);
        for at in (0..=loss.0).rev() {
            let Some(vjp) = &self.vjps[at] else { continue };
            // Nothing before it asks again.
            let Some(dy) = gradients.of[at].take() else { continue };
            vjp(&Back { values: &self.values, y: &self.values[at] }, dy, &mut gradients);
        }
        gradients
    }
}

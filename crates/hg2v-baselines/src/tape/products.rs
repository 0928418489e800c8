//! Products: dense, sparse, and dense a graph.

use std::sync::Arc;

use hg2v_math::Real;
use hg2v_math::gemm::{product, product_then};

use super::{Array, Graphs, Segments, Tape, Var};

impl<R: Real> Tape<R> {
    /// `Y = A·B`. With it `dA = dY·Bᵀ` and `dB = Aᵀ·dY`.
    pub fn product(&mut self, a: Var, b: Var) -> Var {
        let mut y = Array::zeros(self.value(a).rows, self.value(b).columns);
        product(self.value(a).view(), self.value(b).view(), R::ZERO, y.view_mut());
        self.push(y, &[a, b], move |back, dy, to| {
            let dy = dy.view();
            to.add(a, |da| product(dy, back[b].view().t(), R::ONE, da.view_mut()));
            to.add(b, |db| product(back[a].view().t(), dy, R::ONE, db.view_mut()));
        })
    }

    /// `Y = A·Bᵀ`: every row of one with every row of the other. `dA = dY·B` and
    /// `dB = dYᵀ·A`.
    pub fn product_of_rows(&mut self, a: Var, b: Var) -> Var {
        let mut y = Array::zeros(self.value(a).rows, self.value(b).rows);
        product(self.value(a).view(), self.value(b).view().t(), R::ZERO, y.view_mut());
        self.push(y, &[a, b], move |back, dy, to| {
            let dy = dy.view();
            to.add(a, |da| product(dy, back[b].view(), R::ONE, da.view_mut()));
            to.add(b, |db| product(dy.t(), back[a].view(), R::ONE, db.view_mut()));
        })
    }

    /// `Y = X·W + 1·b`, where `b` is a row. As [`product`](Tape::product), and
    /// `db = Σ_u dY(u)`.
    pub fn linear(&mut self, x: Var, w: Var, b: Var) -> Var {
        let (from, bias) = (self.value(x), self.value(b));
        let mut y = Array::zeros(from.rows, bias.columns);
        product_then(from.view(), self.value(w).view(), R::ZERO, y.view_mut(), |column, row| {
            row.iter_mut().zip(&bias.values[column..]).for_each(|(y, b)| *y += *b);
        });
        self.push(y, &[x, w, b], move |back, dy, to| {
            let dy = dy.view();
            to.add(x, |dx| product(dy, back[w].view().t(), R::ONE, dx.view_mut()));
            to.add(w, |dw| product(back[x].view().t(), dy, R::ONE, dw.view_mut()));
            to.add(b, |db| {
                (0..dy.rows()).for_each(|u| R::axpy(R::ONE, dy.row(u), &mut db.values));
            });
        })
    }

    /// `Y = (A + s·I)·X` for the graphs' `A`: what is around each node, and `s` times
    /// the node itself. `A` is symmetric, so `dX = (A + s·I)·dY`.
    pub fn neighbours(&mut self, graphs: &Arc<Graphs<R>>, own: R, x: Var) -> Var {
        let from = self.value(x);
        let mut y = Array::zeros(from.rows, from.columns);
        spread_edges(graphs, own, from, &mut y);
        let graphs = Arc::clone(graphs);
        self.push(y, &[x], move |_, dy, to| {
            to.add(x, |dx| spread_edges(&graphs, own, &dy, dx));
        })
    }

    /// `Y_g = A_gᵀ·B_g` for each segment of rows `g`, one block under the other.
    ///
    /// `dA_g = B_g·dY_gᵀ` and `dB_g = A_g·dY_g`. Shapes: `A` is `N × p`, `B` is
    /// `N × q`, `Y` is `B·p × q`.
    pub fn gather(&mut self, a: Var, b: Var, segments: &Segments) -> Var {
        let (left, right) = (self.value(a), self.value(b));
        let (p, q) = (left.columns, right.columns);
        let mut y = Array::zeros((segments.len() - 1) * p, q);
        for (g, rows) in windows(segments) {
            let to = y.view_mut().split_rows(g * p).1.split_rows(p).0;
            let (a, b) = (left.view(), right.view());
            product(a.row_range(rows.0, rows.1).t(), b.row_range(rows.0, rows.1), R::ZERO, to);
        }
        let segments = Arc::clone(segments);
        self.push(y, &[a, b], move |back, dy, to| {
            for (g, (start, rows)) in windows(&segments) {
                let dy = dy.view().row_range(g * p, p);
                to.add(a, |da| {
                    let da = da.view_mut().split_rows(start).1.split_rows(rows).0;
                    product(back[b].view().row_range(start, rows), dy.t(), R::ONE, da);
                });
                to.add(b, |db| {
                    let db = db.view_mut().split_rows(start).1.split_rows(rows).0;
                    product(back[a].view().row_range(start, rows), dy, R::ONE, db);
                });
            }
        })
    }

    /// `Y_g = A_g·B_g` for each segment of rows `g` of `A` and the `g`-th block of `B`.
    ///
    /// `dA_g = dY_g·B_gᵀ` and `dB_g = A_gᵀ·dY_g`. Shapes: `A` is `N × p`, `B` is
    /// `B·p × q`, `Y` is `N × q`.
    pub fn spread(&mut self, a: Var, b: Var, segments: &Segments) -> Var {
        let (left, right) = (self.value(a), self.value(b));
        let p = left.columns;
        let mut y = Array::zeros(left.rows, right.columns);
        for (g, (start, rows)) in windows(segments) {
            let to = y.view_mut().split_rows(start).1.split_rows(rows).0;
            let b = right.view().row_range(g * p, p);
            product(left.view().row_range(start, rows), b, R::ZERO, to);
        }
        let segments = Arc::clone(segments);
        self.push(y, &[a, b], move |back, dy, to| {
            for (g, (start, rows)) in windows(&segments) {
                let dy = dy.view().row_range(start, rows);
                to.add(a, |da| {
                    let da = da.view_mut().split_rows(start).1.split_rows(rows).0;
                    product(dy, back[b].view().row_range(g * p, p).t(), R::ONE, da);
                });
                to.add(b, |db| {
                    let db = db.view_mut().split_rows(g * p).1.split_rows(p).0;
                    product(back[a].view().row_range(start, rows).t(), dy, R::ONE, db);
                });
            }
        })
    }
}

/// `Y ← Y + (A + s·I)·X`.
fn spread_edges<R: Real>(graphs: &Graphs<R>, own: R, x: &Array<R>, y: &mut Array<R>) {
    assert_eq!(x.rows, graphs.num_nodes(), "a row for each node");
    for node in 0..x.rows {
        let to = y.row_mut(node);
        if own != R::ZERO {
            R::axpy(own, x.row(node), to);
        }
        for (target, weight) in graphs.row(node) {
            R::axpy(weight, x.row(target), to);
        }
    }
}

/// Each segment's number, first row and number of rows.
fn windows(segments: &[usize]) -> impl Iterator<Item = (usize, (usize, usize))> + '_ {
    segments.windows(2).map(|pair| (pair[0], pair[1] - pair[0])).enumerate()
}

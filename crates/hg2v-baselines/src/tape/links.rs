//! What comes to a node along edges that are more than a weight.

use std::sync::Arc;

use hg2v_math::Real;

use super::{Array, Graphs, Tape, Var};

impl<R: Real> Tape<R> {
    /// `Y(u) = s·X(u) + Σ_{e = (u, v)} relu(X(v) + E(e))` over the graphs'
    /// [links](Graphs::links), with a row of `E` for each.
    ///
    /// `dX(u) = s·dY(u)`, and along each edge whose sum is above zero `dY(u)` adds to `dX(v)` and
    /// is `dE(e)`.
    pub fn messages(&mut self, graphs: &Arc<Graphs<R>>, own: R, x: Var, e: Var) -> Var {
        let (nodes, edges) = (self.value(x), self.value(e));
        let mut y = nodes.map(|x| own * x);
        each_link(graphs, nodes.rows, |at, u, v| {
            let from = nodes.row(v).iter().zip(edges.row(at));
            for (y, (&x, &e)) in y.row_mut(u).iter_mut().zip(from) {
                *y += positive(x + e, x + e);
            }
        });
        let graphs = Arc::clone(graphs);
        self.push(y, &[x, e], move |back, dy, to| {
            let (nodes, edges) = (&back[x], &back[e]);
            let mut along = Array::zeros(edges.rows, edges.columns);
            each_link(&graphs, nodes.rows, |at, u, v| {
                let from = nodes.row(v).iter().zip(edges.row(at));
                for ((de, (&x, &e)), &dy) in along.row_mut(at).iter_mut().zip(from).zip(dy.row(u)) {
                    *de = positive(x + e, dy);
                }
            });
            to.add_scaled(x, own, &dy);
            to.add(x, |dx| {
                each_link(&graphs, nodes.rows, |at, _, v| {
                    R::axpy(R::ONE, along.row(at), dx.row_mut(v));
                });
            });
            to.give(e, along);
        })
    }
}

/// `then` where `sum` is above zero.
fn positive<R: Real>(sum: R, then: R) -> R {
    if sum > R::ZERO { then } else { R::ZERO }
}

/// Each edge with its number, its node and the other end, in order.
fn each_link<R: Real>(graphs: &Graphs<R>, nodes: usize, mut f: impl FnMut(usize, usize, usize)) {
    let Some(links) = &graphs.links else { return };
    for node in 0..nodes {
        for at in links.starts[node]..links.starts[node + 1] {
            f(at, node, links.others[at] as usize);
        }
    }
}

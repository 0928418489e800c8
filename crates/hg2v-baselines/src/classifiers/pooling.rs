//! What networks that pool share: the graph that a level sees, as given or as pooled, a
//! layer over it, and the way from one level to the next.

use std::sync::Arc;

use hg2v_math::Real;

use crate::network::{Linear, Pass, Slot, Store};
use crate::tape::{Array, Graphs, Segments, Var, blocks};

/// An adjacency matrix, by level.
#[derive(Debug, Clone)]
pub enum Adjacency<R> {
    /// Given: sparse, constant.
    Sparse(Arc<Graphs<R>>),
    /// Pooled: a dense block of `k × k` a graph, on the tape.
    Dense(Var, Segments),
}

impl<R: Real> Adjacency<R> {
    /// `A·X`.
    pub fn times(&self, pass: &mut Pass<'_, R>, x: Var) -> Var {
        match self {
            Adjacency::Sparse(graphs) => pass.tape.neighbours(graphs, R::ZERO, x),
            Adjacency::Dense(a, segments) => pass.tape.spread(*a, x, segments),
        }
    }

    /// `A·1`, a column.
    pub fn degrees(&self, pass: &mut Pass<'_, R>) -> Var {
        match self {
            Adjacency::Sparse(graphs) => {
                let strengths = graphs.strengths();
                pass.tape.constant(Array::new(strengths.len(), 1, strengths))
            }
            Adjacency::Dense(a, _) => pass.tape.row_sums(*a),
        }
    }

    /// `Σ_g ‖A_g‖²`.
    pub fn squared(&self, pass: &mut Pass<'_, R>) -> Var {
        match self {
            Adjacency::Sparse(graphs) => {
                pass.tape.constant(Array::scalar(R::from_f64(graphs.squared())))
            }
            Adjacency::Dense(a, _) => {
                let squares = pass.tape.row_dots(*a, *a);
                pass.tape.sum(squares)
            }
        }
    }

    /// The rows of each graph.
    pub fn segments(&self) -> &Segments {
        match self {
            Adjacency::Sparse(graphs) => &graphs.starts,
            Adjacency::Dense(_, segments) => segments,
        }
    }

    /// How many graphs.
    pub fn graphs(&self) -> usize {
        self.segments().len() - 1
    }
}

/// `X·W + Y·W' + b`: nodes, and what is around them.
#[derive(Debug, Clone)]
pub(super) struct Both {
    own: Linear,
    around: Slot,
}

impl Both {
    pub(super) fn new<R: Real>(store: &mut Store<R>, inputs: usize, outputs: usize) -> Both {
        Both { own: store.linear(inputs, outputs), around: store.weights(inputs, outputs) }
    }

    pub(super) fn forward<R: Real>(&self, pass: &mut Pass<'_, R>, x: Var, around: Var) -> Var {
        let own = pass.linear(&self.own, x);
        let weights = pass.parameter(self.around);
        let around = pass.tape.product(around, weights);
        pass.tape.add(own, around)
    }
}

/// What nodes that share themselves among clusters become.
#[derive(Debug, Clone)]
pub struct Pooled {
    /// `X' = Sᵀ·X`, `k` rows a graph.
    pub x: Var,
    /// `Sᵀ·A·S`, `k` rows a graph.
    pub a: Var,
    /// `Sᵀ·S`, `k` rows a graph.
    pub overlap: Var,
    /// `(S ⊙ A·S)·1`, a row a node: they sum up to `tr(Sᵀ·A·S)`.
    pub inside: Var,
    /// `k` rows a graph.
    pub segments: Segments,
}

/// Pools nodes `x` by the shares `s`, a row a node with a share for each of `k`
/// clusters.
///
/// Nothing of `n × n` is made: `O(E·k + N·k·(k + d))` time.
pub fn pool<R: Real>(pass: &mut Pass<'_, R>, a: &Adjacency<R>, s: Var, x: Var) -> Pooled {
    let clusters = pass.tape.value(s).columns;
    let around = a.times(pass, s);
    let segments = a.segments();
    Pooled {
        x: pass.tape.gather(s, x, segments),
        a: pass.tape.gather(s, around, segments),
        overlap: pass.tape.gather(s, s, segments),
        inside: pass.tape.row_dots(s, around),
        segments: blocks(a.graphs(), clusters),
    }
}

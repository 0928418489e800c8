//! A graph in a box.

use hg2v::graph::Graph;

use super::{Color, Drawing, Point, WHITE};

/// A graph, where its nodes are, and how they look.
pub(crate) struct PlacedGraph<'a> {
    pub(crate) graph: &'a Graph,
    /// A point for each node, in any units; y grows downwards.
    pub(crate) points: &'a [Point],
    /// In units of the drawing.
    pub(crate) radii: &'a [f64],
    pub(crate) colors: &'a [Color],
    pub(crate) edge: Color,
}

/// What a box shows of a graph's own units, so that several boxes share a scale.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View {
    pub(crate) from: Point,
    pub(crate) size: Point,
}

impl View {
    /// All of these points.
    pub(crate) fn of(points: &[Point]) -> View {
        let bound = |axis: usize, first: f64, choose: fn(f64, f64) -> f64| {
            points.iter().fold(first, |bound, point| choose(bound, point[axis]))
        };
        let from = [0, 1].map(|axis| bound(axis, f64::INFINITY, f64::min));
        let to = [0, 1].map(|axis| bound(axis, f64::NEG_INFINITY, f64::max));
        match points.is_empty() {
            true => View { from: [0.0; 2], size: [0.0; 2] },
            false => View { from, size: [to[0] - from[0], to[1] - from[1]] },
        }
    }
}

impl View {
    /// How long one of its units is in a box of a size; one that is very small is not
    /// blown up to fill it.
    pub(crate) fn scale(&self, size: Point) -> f64 {
        const LEAST: f64 = 2.0;
        let along = |axis: usize| size[axis] / self.size[axis].max(LEAST);
        along(0).min(along(1))
    }
}

impl PlacedGraph<'_> {
    /// Draws the graph into a box, `view` as large as it fits and in the middle. Heavier
    /// edges are thicker.
    pub(crate) fn draw(&self, drawing: &mut Drawing, corner: Point, size: Point, view: View) {
        let scale = view.scale(size);
        let place = |point: Point| -> Point {
            [0, 1].map(|axis| {
                let middle = view.from[axis] + 0.5 * view.size[axis];
                corner[axis] + 0.5 * size[axis] + scale * (point[axis] - middle)
            })
        };
        let heaviest = self.graph.edges().fold(0.0, |most: f32, (_, _, w)| most.max(w));
        for (u, v, weight) in self.graph.edges() {
            let ends = [place(self.points[u as usize]), place(self.points[v as usize])];
            let width = 0.8 + 2.0 * f64::from((weight - 1.0).max(0.0) / heaviest);
            drawing.line(ends, width, self.edge);
        }
        for (node, &point) in self.points.iter().enumerate() {
            let edge = (self.radii[node] > 2.0).then_some(WHITE);
            drawing.circle(place(point), self.radii[node], self.colors[node], edge);
        }
    }
}

//! Where to draw the nodes of a graph.
//!
//! Nodes are to be as far apart on paper as they are along edges: the stress
//!
//! ```text
//! Σ_uv (‖p(u) − p(v)‖ − d(u,v))² / d(u,v)²
//! ```
//!
//! is made small by stochastic gradient descent (Zheng, Pawar and Goodman 2019): pair
//! after pair is moved towards its distance, ever more gently. Up to 300 nodes all
//! pairs count; in larger graphs those of a node with its neighbours and with 100
//! pivots that lie far from each other. Components are drawn apart and set in rows, the
//! largest first. Weights are not looked at. The same graph is always drawn alike.

use std::collections::VecDeque;

use hg2v_math::rng;
use rand::RngExt;

use super::{Components, Graph};

/// Components up to this size are drawn by all pairs of nodes.
const ALL_PAIRS: usize = 300;

/// Pivots of a larger one.
const PIVOTS: usize = 100;

/// Passes over all pairs, and the last one's share of the first step.
const PASSES: u32 = 60;
const LAST: f64 = 0.01;

/// Blank between components, in edges.
const BLANK: f64 = 1.5;

/// A point for each node; edges are about 1 long, and the lower left corner is `(0, 0)`.
///
/// # Examples
/// ```
/// use hg2v::graph::layout::layout;
/// use hg2v::graph::{Graph, GraphRecord, WeightPolicy};
/// // a – b – c: in a line, as they should be.
/// let path = GraphRecord { num_nodes: 3, edges: vec![[0, 1], [1, 2]], ..Default::default() };
/// let (graph, _) = Graph::from_record(&path, WeightPolicy::Use).unwrap();
/// let points = layout(&graph);
/// assert!((points[0][0] - points[2][0]).abs() > 1.9);
/// ```
///
/// # Complexity
/// A component: `O(n·(n + m))` time and `O(n²)` space up to 300 nodes, `O(100·(n + m))` time above.
pub fn layout(graph: &Graph) -> Vec<[f64; 2]> {
    let (mut members, place) = Components::of(graph).members();
    members.sort_by_key(|nodes| std::cmp::Reverse(nodes.len()));
    let drawn: Vec<Vec<[f64; 2]>> =
        members.iter().map(|nodes| component(graph, nodes, &place)).collect();
    let mut points = vec![[0.0; 2]; graph.num_nodes()];
    for ((nodes, drawn), [x, y]) in members.iter().zip(&drawn).zip(in_rows(&drawn)) {
        for (&node, point) in nodes.iter().zip(drawn) {
            points[node] = [point[0] + x, point[1] + y];
        }
    }
    points
}

/// Where each component's corner goes, so that all make a picture about as wide as high.
pub(super) fn in_rows(components: &[Vec<[f64; 2]>]) -> Vec<[f64; 2]> {
    let sizes: Vec<[f64; 2]> = components.iter().map(|points| extent(points)).collect();
    let area: f64 = sizes.iter().map(|[w, h]| (w + BLANK) * (h + BLANK)).sum();
    let width = sizes.iter().fold(area.sqrt(), |most, size| most.max(size[0] + BLANK));
    let (mut x, mut y, mut tallest) = (0.0, 0.0, 0.0);
    let mut corners = Vec::with_capacity(sizes.len());
    for [w, h] in sizes {
        if x > 0.0 && x + w > width {
            (x, y, tallest) = (0.0, y + tallest + BLANK, 0.0);
        }
        corners.push([x, y]);
        x += w + BLANK;
        tallest = f64::max(tallest, h);
    }
    corners
}

/// Width and height of points whose lower left corner is `(0, 0)`.
fn extent(points: &[[f64; 2]]) -> [f64; 2] {
    let most = |axis: usize| points.iter().fold(0.0, |most, point| f64::max(most, point[axis]));
    [most(0), most(1)]
}

/// Two nodes that are to be `distance` apart; of a node and its pivot only the node moves.
struct Pair {
    nodes: [usize; 2],
    distance: f64,
    both: bool,
}

fn component(graph: &Graph, nodes: &[usize], place: &[usize]) -> Vec<[f64; 2]> {
    let n = nodes.len();
    let mut pairs = if n <= ALL_PAIRS {
        all_pairs(graph, nodes, place)
    } else {
        pivot_pairs(graph, nodes, place)
    };
    let mut rng = rng::stream(0, "layout", 0, n as u64);
    // Around a circle of about the right size, and a little off it.
    let radius = (n as f64).sqrt();
    let mut points: Vec<[f64; 2]> = (0..n)
        .map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / n as f64;
            let off = 1.0 + 0.1 * rng.random_range(-1.0..1.0);
            [radius * off * angle.cos(), radius * off * angle.sin()]
        })
        .collect();
    let longest = pairs.iter().fold(1.0, |most, pair| f64::max(most, pair.distance));
    // The first steps move any pair the whole way, the last ones an edge by a hundredth.
    let first = longest * longest;
    let decay = (LAST / first).ln() / f64::from(PASSES - 1);
    for pass in 0..PASSES {
        let rate = first * (decay * f64::from(pass)).exp();
        rng::shuffle_by_remainder(&mut pairs, &mut rng);
        for Pair { nodes: [u, v], distance, both } in &pairs {
            let step = (rate / (distance * distance)).min(1.0);
            let apart = [points[*u][0] - points[*v][0], points[*u][1] - points[*v][1]];
            let length = apart[0].hypot(apart[1]).max(1e-9);
            let share = if *both { 0.5 } else { 1.0 };
            let by = share * step * (length - distance) / length;
            for axis in 0..2 {
                points[*u][axis] -= by * apart[axis];
                if *both {
                    points[*v][axis] += by * apart[axis];
                }
            }
        }
    }
    upright(&mut points);
    points
}

/// Steps from `start` to every node of its component.
fn steps(graph: &Graph, start: usize, place: &[usize], count: usize) -> Vec<u32> {
    let mut steps = vec![u32::MAX; count];
    let mut queue = VecDeque::from([start]);
    steps[place[start]] = 0;
    while let Some(node) = queue.pop_front() {
        for &next in graph.neighbors(node) {
            let next = next as usize;
            if steps[place[next]] == u32::MAX {
                steps[place[next]] = steps[place[node]] + 1;
                queue.push_back(next);
            }
        }
    }
    steps
}

fn all_pairs(graph: &Graph, nodes: &[usize], place: &[usize]) -> Vec<Pair> {
    let mut pairs = Vec::with_capacity(nodes.len() * nodes.len().saturating_sub(1) / 2);
    for (u, &node) in nodes.iter().enumerate() {
        let steps = steps(graph, node, place, nodes.len());
        let pair = |v: usize| Pair { nodes: [u, v], distance: f64::from(steps[v]), both: true };
        pairs.extend((0..u).map(pair));
    }
    pairs
}

fn pivot_pairs(graph: &Graph, nodes: &[usize], place: &[usize]) -> Vec<Pair> {
    let n = nodes.len();
    let mut pairs = Vec::new();
    let mut nearest = vec![u32::MAX; n];
    let mut pivot = 0;
    for _ in 0..PIVOTS {
        let steps = steps(graph, nodes[pivot], place, n);
        for (u, &distance) in steps.iter().enumerate() {
            nearest[u] = nearest[u].min(distance);
            // Neighbours are there below.
            if distance > 1 {
                let distance = f64::from(distance);
                pairs.push(Pair { nodes: [u, pivot], distance, both: false });
            }
        }
        // The next pivot is the node farthest from all of them.
        pivot = (0..n).max_by_key(|&u| (nearest[u], std::cmp::Reverse(u))).unwrap_or(0);
    }
    for (u, &node) in nodes.iter().enumerate() {
        let above = graph.neighbors(node).iter().map(|&v| place[v as usize]).filter(|&v| v > u);
        pairs.extend(above.map(|v| Pair { nodes: [u, v], distance: 1.0, both: true }));
    }
    pairs
}

/// Turns the longest direction to the horizontal, and puts the corner at `(0, 0)`.
fn upright(points: &mut [[f64; 2]]) {
    let n = points.len() as f64;
    let mean = [0, 1].map(|axis| points.iter().map(|p| p[axis]).sum::<f64>() / n);
    let (mut xx, mut xy, mut yy) = (0.0, 0.0, 0.0);
    for point in points.iter_mut() {
        *point = [point[0] - mean[0], point[1] - mean[1]];
        xx += point[0] * point[0];
        xy += point[0] * point[1];
        yy += point[1] * point[1];
    }
    let angle = 0.5 * (2.0 * xy).atan2(xx - yy);
    let (sin, cos) = angle.sin_cos();
    for point in points.iter_mut() {
        *point = [cos * point[0] + sin * point[1], cos * point[1] - sin * point[0]];
    }
    for axis in 0..2 {
        let least = points.iter().fold(f64::INFINITY, |least, point| least.min(point[axis]));
        points.iter_mut().for_each(|point| point[axis] -= least);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::graph::{GraphRecord, WeightPolicy};

    fn graph(num_nodes: u32, edges: Vec<[u32; 2]>) -> Graph {
        let record = GraphRecord { num_nodes, edges, ..GraphRecord::default() };
        Graph::from_record(&record, WeightPolicy::Use).unwrap().0
    }

    fn grid(rows: u32, columns: u32) -> Graph {
        let node = |row: u32, column: u32| row * columns + column;
        let mut edges = Vec::new();
        for row in 0..rows {
            for column in 0..columns {
                if column + 1 < columns {
                    edges.push([node(row, column), node(row, column + 1)]);
                }
                if row + 1 < rows {
                    edges.push([node(row, column), node(row + 1, column)]);
                }
            }
        }
        graph(rows * columns, edges)
    }

    /// The mean and the spread of the lengths of edges.
    fn edge_lengths(graph: &Graph, points: &[[f64; 2]]) -> (f64, f64) {
        let length = |(u, v, _): (u32, u32, f32)| {
            let (p, q) = (points[u as usize], points[v as usize]);
            (p[0] - q[0]).hypot(p[1] - q[1])
        };
        let lengths: Vec<f64> = graph.edges().map(length).collect();
        let mean = lengths.iter().sum::<f64>() / lengths.len() as f64;
        let square = lengths.iter().map(|l| (l - mean) * (l - mean)).sum::<f64>();
        (mean, (square / lengths.len() as f64).sqrt())
    }

    #[test]
    fn edges_are_about_one_long() {
        // By all pairs, and by pivots.
        for graph in [grid(6, 9), grid(20, 30)] {
            let points = layout(&graph);
            let (mean, spread) = edge_lengths(&graph, &points);
            assert!((0.7..1.3).contains(&mean) && spread < 0.25, "{mean} {spread}");
            // The grid is unfolded: its far corners are far apart, along the horizontal.
            let [width, height] = extent(&points);
            assert!(width > height, "{width} {height}");
            assert_eq!(points, layout(&graph));
        }
    }

    #[test]
    fn components_do_not_overlap() {
        let triangles =
            (0..5).flat_map(|t| [[3 * t, 3 * t + 1], [3 * t + 1, 3 * t + 2], [3 * t, 3 * t + 2]]);
        let graph = graph(18, triangles.collect());
        let points = layout(&graph);
        for u in 0..18 {
            for v in 0..u {
                let apart = (points[u][0] - points[v][0]).hypot(points[u][1] - points[v][1]);
                assert!(apart > 0.7, "{u} {v}: {apart}");
            }
        }
        assert!(points.iter().flatten().all(|x| *x >= 0.0));
    }

    #[test]
    fn the_smallest_graphs_are_drawn() {
        assert!(layout(&graph(0, Vec::new())).is_empty());
        assert_eq!(layout(&graph(1, Vec::new())), [[0.0, 0.0]]);
    }
}

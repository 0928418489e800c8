//! Points of a plane, and angles around them.

use std::f64::consts::{PI, TAU};

/// A point, or the way from one to another.
pub(super) type Point = [f64; 2];

pub(super) fn add(p: Point, q: Point) -> Point {
    [p[0] + q[0], p[1] + q[1]]
}

pub(super) fn sub(p: Point, q: Point) -> Point {
    [p[0] - q[0], p[1] - q[1]]
}

pub(super) fn times(p: Point, factor: f64) -> Point {
    [factor * p[0], factor * p[1]]
}

pub(super) fn apart(p: Point, q: Point) -> f64 {
    (p[0] - q[0]).hypot(p[1] - q[1])
}

/// One step in a direction.
pub(super) fn towards(angle: f64) -> Point {
    [angle.cos(), angle.sin()]
}

/// The direction of a way.
pub(super) fn angle(p: Point) -> f64 {
    p[1].atan2(p[0])
}

/// `p`, turned around `around`.
pub(super) fn turned(p: Point, around: Point, by: f64) -> Point {
    let (sin, cos) = by.sin_cos();
    let [x, y] = sub(p, around);
    add(around, [cos * x - sin * y, sin * x + cos * y])
}

/// `p`, mirrored at the line through `a` and `b`.
pub(super) fn mirrored(p: Point, a: Point, b: Point) -> Point {
    let way = sub(b, a);
    let square = way[0] * way[0] + way[1] * way[1];
    let from = sub(p, a);
    let along = (from[0] * way[0] + from[1] * way[1]) / square.max(1e-12);
    let foot = add(a, times(way, along));
    sub(times(foot, 2.0), p)
}

/// The middle of some points.
pub(super) fn middle(points: &[Point]) -> Point {
    let sum = points.iter().fold([0.0; 2], |sum, &p| add(sum, p));
    times(sum, 1.0 / points.len().max(1) as f64)
}

/// The gaps between directions, the widest first: where each begins, and how wide it is. Without
/// any direction, all around.
pub(super) fn gaps(directions: &[f64]) -> Vec<(f64, f64)> {
    let mut sorted: Vec<f64> = directions.iter().map(|a| a.rem_euclid(TAU)).collect();
    sorted.sort_by(f64::total_cmp);
    let Some(&first) = sorted.first() else { return vec![(0.0, TAU)] };
    let ends = sorted.iter().skip(1).copied().chain([first + TAU]);
    let mut gaps: Vec<(f64, f64)> = sorted.iter().zip(ends).map(|(&a, b)| (a, b - a)).collect();
    // Of gaps as wide as each other, the first.
    gaps.sort_by(|a, b| (1e9 * b.1).round().total_cmp(&(1e9 * a.1).round()));
    gaps
}

/// How far a point is from the line between two others.
pub(super) fn off_line(p: Point, a: Point, b: Point) -> f64 {
    let way = sub(b, a);
    let from = sub(p, a);
    let square = (way[0] * way[0] + way[1] * way[1]).max(1e-12);
    let along = ((from[0] * way[0] + from[1] * way[1]) / square).clamp(0.0, 1.0);
    apart(p, add(a, times(way, along)))
}

/// Whether two lines cross between their ends.
pub(super) fn cross([a, b]: [Point; 2], [c, d]: [Point; 2]) -> bool {
    let side = |p: Point, q: Point, r: Point| {
        (q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0])
    };
    side(a, b, c) * side(a, b, d) < -1e-9 && side(c, d, a) * side(c, d, b) < -1e-9
}

/// The angle inside a regular polygon.
pub(super) fn inside(corners: usize) -> f64 {
    PI - TAU / corners.max(3) as f64
}

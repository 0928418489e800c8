//! A drawing, laid down.
//!
//! Of the twelve ways to turn it by 30° once its bonds point in the directions of a honeycomb,
//! the one that is wide rather than high; of equals, the one in which bonds stand upright or at
//! 30°, as those of a chain that lies and of a ring on its tip do.

use std::f64::consts::PI;

use super::geometry::{Point, angle, sub, turned};
use super::skeleton::Skeleton;

/// Turns `points`, and puts their corner at `(0, 0)`.
pub(super) fn upright(skeleton: &Skeleton, points: &mut [Point]) {
    // The mean direction of bonds among multiples of 30°.
    let way = |&[u, v]: &[usize; 2]| angle(sub(points[v], points[u]));
    let ways: Vec<f64> = skeleton.bonds.iter().map(way).collect();
    let (sin, cos) = ways.iter().fold((0.0, 0.0), |(sin, cos), a| {
        let (s, c) = (12.0 * a).sin_cos();
        (sin + s, cos + c)
    });
    let offset = f64::atan2(sin, cos) / 12.0;
    let turns = (0..12).map(|k| PI / 6.0 * f64::from(k) - offset);
    let goodness = |by: f64| {
        let spread = |axis: usize| {
            let along = points.iter().map(|&p| turned(p, [0.0; 2], by)[axis]);
            let (low, high) = along.fold((f64::MAX, f64::MIN), |(a, b), x| (x.min(a), x.max(b)));
            high - low
        };
        let (wide, high) = (spread(0), spread(1));
        let comb: f64 = ways.iter().map(|a| -(6.0 * (a + by)).cos()).sum();
        (wide - high) / (wide + high + 1.0) + 0.12 * comb / ways.len().max(1) as f64
    };
    let mut best = (f64::MIN, 0.0);
    for by in turns {
        // A turn by 180° is as good: the first stays.
        if goodness(by) > best.0 + 1e-6 {
            best = (goodness(by), by);
        }
    }
    points.iter_mut().for_each(|p| *p = turned(*p, [0.0; 2], best.1));
    for axis in 0..2 {
        let least = points.iter().fold(f64::INFINITY, |least, point| least.min(point[axis]));
        points.iter_mut().for_each(|point| point[axis] -= least);
    }
}

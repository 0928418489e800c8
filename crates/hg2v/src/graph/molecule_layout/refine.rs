//! Springs that pull atoms to where they should be.

use super::geometry::{Point, apart, sub};
use super::relief::ROOM;
use super::skeleton::Skeleton;

/// How often all springs pull.
const ROUNDS: usize = 300;

/// Two atoms that want to be `length` apart.
pub(super) struct Spring {
    pub ends: [usize; 2],
    pub length: f64,
    pub force: f64,
}

/// Goes down along the gradient of `Σ force·(d − length)² + Σ (room − d)²`, the second sum
/// over all pairs without a spring that are closer than `room`; steps become smaller. Atoms that
/// are `held` stay.
pub(super) fn relax(points: &mut [Point], held: &[bool], springs: &[Spring], room: f64) {
    let n = points.len();
    let mut bound = vec![false; n * n];
    for Spring { ends: [u, v], .. } in springs {
        (bound[u * n + v], bound[v * n + u]) = (true, true);
    }
    let mut moves = vec![[0.0; 2]; n];
    for round in 0..ROUNDS {
        moves.iter_mut().for_each(|by| *by = [0.0; 2]);
        let mut pull = |u: usize, v: usize, by: f64, way: Point| {
            for axis in 0..2 {
                moves[u][axis] -= by * way[axis];
                moves[v][axis] += by * way[axis];
            }
        };
        for Spring { ends: [u, v], length, force } in springs {
            let (way, far) = (sub(points[*u], points[*v]), apart(points[*u], points[*v]));
            pull(*u, *v, force * (far - length) / far.max(1e-6), way);
        }
        for u in 0..n {
            for v in 0..u {
                let mut way = sub(points[u], points[v]);
                let far = way[0].hypot(way[1]);
                if far >= room || bound[u * n + v] {
                    continue;
                }
                if far < 1e-6 {
                    // Atoms on one spot part in a direction that is theirs.
                    way = super::geometry::towards(1.0 + 2.4 * (u * n + v) as f64);
                }
                pull(u, v, 0.5 * (far - room) / far.max(0.1), way);
            }
        }
        let step = 0.25 * (1.0 - 0.8 * round as f64 / ROUNDS as f64);
        for ((point, by), _) in points.iter_mut().zip(&moves).zip(held).filter(|(_, held)| !**held)
        {
            // No atom goes farther than a fifth of a bond at once.
            let far = (step * by[0].hypot(by[1])).max(1e-9);
            let share = step * (0.2 / far).min(1.0);
            (0..2).for_each(|axis| point[axis] += share * by[axis]);
        }
    }
}

/// Parts atoms that are too close, while bonds and the angles between them hold against it.
pub(super) fn push_apart(skeleton: &Skeleton, points: &mut [Point]) {
    let mut springs: Vec<Spring> = Vec::new();
    for &ends in &skeleton.bonds {
        springs.push(Spring { ends, length: 1.0, force: 1.0 });
    }
    for around in &skeleton.neighbors {
        for (at, &u) in around.iter().enumerate() {
            for &v in &around[..at] {
                // Not where two are bound to each other, as in a ring of three.
                if !skeleton.neighbors[u].contains(&v) {
                    let length = apart(points[u], points[v]).max(0.9);
                    springs.push(Spring { ends: [u, v], length, force: 0.3 });
                }
            }
        }
    }
    relax(points, &vec![false; points.len()], &springs, ROOM + 0.1);
}

//! Branches that are mirrored or turned where atoms or bonds meet.

use std::f64::consts::PI;

use super::geometry::{Point, apart, cross, mirrored, off_line, turned};
use super::skeleton::Skeleton;

/// Atoms that are not bound are at least so far apart, where that is possible.
pub(super) const ROOM: f64 = 0.75;

/// An atom is at least so far from a bond that is not its own.
const OFF: f64 = 0.35;

/// Pairs of atoms that are looked at in all, so that no molecule takes long.
const WORK: usize = 5_000_000;

/// What turning a branch out of its regular place costs, by 15°.
const BENT: f64 = 0.04;

/// How close the two closest atoms are.
pub(super) fn closest(points: &[Point]) -> f64 {
    let pairs = (0..points.len()).flat_map(|u| (0..u).map(move |v| (u, v)));
    pairs.fold(f64::MAX, |least, (u, v)| least.min(apart(points[u], points[v])))
}

/// A bond in no ring, and what moves with it: the smaller side, which hangs on `joint`.
struct Hinge {
    joint: usize,
    arm: usize,
    moving: Vec<usize>,
    resting: Vec<usize>,
    moving_bonds: Vec<[usize; 2]>,
    resting_bonds: Vec<[usize; 2]>,
}

/// What may be done at a hinge.
#[derive(Clone, Copy)]
enum Move {
    Mirror,
    /// By some times 15°.
    Turn(i32),
}

const MOVES: [Move; 9] = [
    Move::Mirror,
    Move::Turn(1),
    Move::Turn(-1),
    Move::Turn(2),
    Move::Turn(-2),
    Move::Turn(3),
    Move::Turn(-3),
    Move::Turn(4),
    Move::Turn(-4),
];

/// Makes the best move again and again, as long as it makes things better.
pub(super) fn relieve(skeleton: &Skeleton, points: &mut [Point]) {
    if !meets(skeleton, points) {
        return;
    }
    let hinges = hinges(skeleton);
    let mut work = 0;
    while work < WORK {
        let mut best: Option<(f64, Vec<Point>, &Hinge)> = None;
        for hinge in &hinges {
            let before = hinge.trouble(points, &hinge.places(points));
            work += hinge.moving.len() * hinge.resting.len();
            if before < 1e-9 {
                continue;
            }
            for step in MOVES {
                let places = hinge.moved(points, step);
                let bent = match step {
                    Move::Mirror => 0.0,
                    Move::Turn(by) => BENT * f64::from(by.abs()),
                };
                let gain = before - hinge.trouble(points, &places) - bent;
                work += hinge.moving.len() * hinge.resting.len();
                if gain > 1e-3 && best.as_ref().is_none_or(|(most, ..)| gain > most + 1e-9) {
                    best = Some((gain, places, hinge));
                }
            }
        }
        let Some((_, places, hinge)) = best else { return };
        hinge.moving.iter().zip(places).for_each(|(&v, p)| points[v] = p);
    }
}

/// Whether there is anything to do.
fn meets(skeleton: &Skeleton, points: &[Point]) -> bool {
    if closest(points) < ROOM {
        return true;
    }
    skeleton.bonds.iter().enumerate().any(|(at, &[a, b])| {
        let ends = [points[a], points[b]];
        let crossed = |&[c, d]: &[usize; 2]| cross(ends, [points[c], points[d]]);
        let near = |v: usize| v != a && v != b && off_line(points[v], ends[0], ends[1]) < OFF;
        skeleton.bonds[..at].iter().any(crossed) || (0..points.len()).any(near)
    })
}

fn hinges(skeleton: &Skeleton) -> Vec<Hinge> {
    let mut hinges = Vec::new();
    for &[u, v] in &skeleton.bonds {
        if skeleton.in_ring([u, v]) {
            continue;
        }
        let sides = [skeleton.beyond(u, &[v]), skeleton.beyond(v, &[u])];
        let [joint, arm] = if sides[0].len() < sides[1].len() { [v, u] } else { [u, v] };
        let [mut small, mut large] = sides;
        if small.len() >= large.len() {
            std::mem::swap(&mut small, &mut large);
        }
        let inside = |bond: &&[usize; 2]| bond.iter().all(|end| small.contains(end));
        let moving_bonds: Vec<[usize; 2]> = skeleton.bonds.iter().filter(inside).copied().collect();
        let outside = |bond: &&[usize; 2]| bond.iter().all(|end| !small.contains(end));
        let resting_bonds = skeleton.bonds.iter().filter(outside).copied().collect();
        hinges.push(Hinge {
            joint,
            arm,
            moving: small,
            resting: large,
            moving_bonds,
            resting_bonds,
        });
    }
    hinges
}

impl Hinge {
    fn places(&self, points: &[Point]) -> Vec<Point> {
        self.moving.iter().map(|&v| points[v]).collect()
    }

    fn moved(&self, points: &[Point], step: Move) -> Vec<Point> {
        let (joint, arm) = (points[self.joint], points[self.arm]);
        let place = |&v: &usize| match step {
            Move::Mirror => mirrored(points[v], joint, arm),
            Move::Turn(by) => turned(points[v], joint, f64::from(by) * PI / 12.0),
        };
        self.moving.iter().map(place).collect()
    }

    /// How much what moves, at `places`, meets what rests.
    fn trouble(&self, points: &[Point], places: &[Point]) -> f64 {
        let mut all = points.to_vec();
        self.moving.iter().zip(places).for_each(|(&v, &p)| all[v] = p);
        let mut trouble = 0.0;
        for &v in &self.moving {
            for &w in &self.resting {
                let square = square(all[v], all[w]);
                if square < 1.0 && !(v == self.arm && w == self.joint) {
                    let far = square.sqrt();
                    trouble += (1.0 - far) * (1.0 - far) / (far + 0.1);
                }
            }
        }
        let hinge = [self.arm, self.joint];
        for &bond in &self.moving_bonds {
            trouble +=
                self.resting_bonds.iter().map(|&other| crossing(&all, bond, other)).sum::<f64>();
            trouble += self.resting.iter().map(|&w| on_bond(&all, w, bond)).sum::<f64>();
            trouble += crossing(&all, bond, hinge);
        }
        for &bond in &self.resting_bonds {
            trouble += self.moving.iter().map(|&v| on_bond(&all, v, bond)).sum::<f64>();
            trouble += crossing(&all, bond, hinge);
        }
        trouble + (0..all.len()).map(|v| on_bond(&all, v, hinge)).sum::<f64>()
    }
}

fn square(p: Point, q: Point) -> f64 {
    (p[0] - q[0]) * (p[0] - q[0]) + (p[1] - q[1]) * (p[1] - q[1])
}

/// Bonds that cross.
fn crossing(points: &[Point], [a, b]: [usize; 2], [c, d]: [usize; 2]) -> f64 {
    // Bonds are hardly longer than 1: those that begin far from each other do not meet.
    let near = square(points[a], points[c]) < 9.0;
    if near && cross([points[a], points[b]], [points[c], points[d]]) { 1.5 } else { 0.0 }
}

/// An atom on a bond that is not its own.
fn on_bond(points: &[Point], v: usize, [a, b]: [usize; 2]) -> f64 {
    if v == a || v == b || square(points[v], points[a]) > 4.0 {
        return 0.0;
    }
    let off = off_line(points[v], points[a], points[b]);
    if off < OFF { OFF - off + 0.1 } else { 0.0 }
}

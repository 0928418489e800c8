//! Rings that share bonds, drawn as one piece.
//!
//! Ring by ring, a regular polygon is set on what is there. Where none fits, as in bridged
//! systems, the atoms that are missing go along an arc, and the whole is [refined](super::refine). Its
//! rivals have the outline as a regular polygon and all other atoms inside, each in the middle of
//! its neighbours (Tutte 1963), before they are refined too; the best one is drawn.

use std::f64::consts::{PI, TAU};

use super::geometry::{
    Point, add, angle, apart, cross, inside, middle, sub, times, towards, turned,
};
use super::refine::{Spring, relax};
use super::skeleton::{Skeleton, System, ring_bonds};

/// How far an atom may be from where a polygon wants it.
const FITS: f64 = 0.1;

/// How far apart atoms of a system are at least that are not bound.
const CLEAR: f64 = 0.75;

/// How often atoms inside an outline go to the middle of their neighbours.
const MEANS: usize = 100;

/// How long the bonds of an outline are: cages need room inside.
const SIZES: [f64; 3] = [1.0, 1.25, 1.6];

/// A point for each atom of `system`, in its order.
pub(super) fn draw(skeleton: &Skeleton, system: &System) -> Vec<Point> {
    let local = |atom: &usize| system.atoms.partition_point(|a| a < atom);
    let rings: Vec<Vec<usize>> =
        system.rings.iter().map(|&ring| skeleton.rings[ring].iter().map(local).collect()).collect();
    let mut bonds: Vec<[usize; 2]> = rings.iter().flat_map(|ring| ring_bonds(ring)).collect();
    bonds.sort_unstable();
    bonds.dedup();
    let piece = Piece { count: system.atoms.len(), rings, bonds };
    let (fused, exact) = piece.fused();
    if exact {
        return fused;
    }
    let springs = piece.springs();
    let free = vec![false; piece.count];
    let mut rivals = vec![(fused, free.clone())];
    for size in SIZES {
        rivals.extend(piece.outlined(size));
    }
    rivals.extend(piece.outlined(1.0).map(|(points, _)| (points, free)));
    let drawn = rivals.into_iter().map(|(mut points, held)| {
        relax(&mut points, &held, &springs, 1.1);
        points
    });
    let badness = |points: &Vec<Point>| piece.badness(points, &springs);
    drawn.min_by(|a, b| badness(a).total_cmp(&badness(b))).unwrap_or_default()
}

/// A system whose atoms are numbered from 0.
struct Piece {
    count: usize,
    rings: Vec<Vec<usize>>,
    bonds: Vec<[usize; 2]>,
}

impl Piece {
    /// Ring after ring, and whether all are regular and nothing meets.
    fn fused(&self) -> (Vec<Point>, bool) {
        let mut points: Vec<Option<Point>> = vec![None; self.count];
        let mut waiting: Vec<usize> = (0..self.rings.len()).collect();
        let shared = |ring: &[usize]| {
            let others = self.rings.iter().filter(|other| other.as_slice() != ring);
            others.filter(|other| ring.iter().any(|v| other.contains(v))).count()
        };
        // The ring that most others share an atom with, then the one most like a hexagon.
        let first = waiting.iter().copied().min_by_key(|&ring| {
            let ring = &self.rings[ring];
            (std::cmp::Reverse(shared(ring)), ring.len().abs_diff(6), ring.len())
        });
        let Some(first) = first else { return (Vec::new(), false) };
        put_polygon(&mut points, &self.rings[first]);
        waiting.retain(|&ring| ring != first);
        let mut exact = true;
        while !waiting.is_empty() {
            let fits = waiting.iter().find_map(|&ring| {
                let found = polygon_on(&self.rings[ring], &points)?;
                Some((ring, found))
            });
            let ring = match fits {
                Some((ring, found)) => {
                    self.rings[ring].iter().zip(found).for_each(|(&v, p)| points[v] = Some(p));
                    ring
                }
                None => {
                    exact = false;
                    let there = |ring: usize| {
                        let placed = self.rings[ring].iter().filter(|&&v| points[v].is_some());
                        (placed.count(), std::cmp::Reverse(ring))
                    };
                    let Some(&ring) = waiting.iter().max_by_key(|&&ring| there(ring)) else {
                        break;
                    };
                    put_arcs(&mut points, &self.rings[ring]);
                    ring
                }
            };
            waiting.retain(|&other| other != ring);
        }
        let points: Vec<Point> = points.into_iter().map(Option::unwrap_or_default).collect();
        let even =
            self.bonds.iter().all(|&[u, v]| (apart(points[u], points[v]) - 1.0).abs() < FITS);
        let clear = super::relief::closest(&points) > CLEAR;
        let exact = exact && even && clear;
        (points, exact)
    }

    /// The outline as a polygon, the rest inside, and which atoms are the outline; `None` where
    /// that is not one ring.
    fn outlined(&self, size: f64) -> Option<(Vec<Point>, Vec<bool>)> {
        let mut all: Vec<[usize; 2]> =
            self.rings.iter().flat_map(|ring| ring_bonds(ring)).collect();
        all.sort_unstable();
        // The sum of all rings: bonds that are in an odd number of them.
        let odd: Vec<[usize; 2]> = all
            .chunk_by(|a, b| a == b)
            .filter(|same| same.len() % 2 == 1)
            .map(|same| same[0])
            .collect();
        let outline = one_ring(&odd)?;
        let mut points: Vec<Option<Point>> = vec![None; self.count];
        put_polygon(&mut points, &outline);
        let fixed: Vec<bool> = points.iter().map(Option::is_some).collect();
        let place = |point: Option<Point>| times(point.unwrap_or_default(), size);
        let mut points: Vec<Point> = points.into_iter().map(place).collect();
        let mut around = vec![Vec::new(); self.count];
        for &[u, v] in &self.bonds {
            around[u].push(v);
            around[v].push(u);
        }
        for _ in 0..MEANS {
            for v in (0..self.count).filter(|&v| !fixed[v]) {
                let near: Vec<Point> = around[v].iter().map(|&w| points[w]).collect();
                points[v] = middle(&near);
            }
        }
        Some((points, fixed))
    }

    /// Bonds of length 1, and the angles of the smallest ring that two bonds share.
    fn springs(&self) -> Vec<Spring> {
        let bond = |&ends: &[usize; 2]| Spring { ends, length: 1.0, force: 1.0 };
        let mut springs: Vec<Spring> = self.bonds.iter().map(bond).collect();
        let mut across: Vec<([usize; 2], usize)> = Vec::new();
        for ring in self.rings.iter().filter(|ring| ring.len() > 3) {
            let n = ring.len();
            let pair = |at: usize| {
                let (u, v) = (ring[at], ring[(at + 2) % n]);
                ([u.min(v), u.max(v)], n)
            };
            across.extend((0..n).map(pair));
        }
        across.sort_unstable();
        across.dedup_by_key(|(ends, _)| *ends);
        springs.extend(across.into_iter().map(|(ends, corners)| {
            let length = 2.0 * (0.5 * inside(corners)).sin();
            Spring { ends, length, force: 0.15 }
        }));
        springs
    }

    /// Springs that are stretched, atoms that meet, bonds that cross.
    fn badness(&self, points: &[Point], springs: &[Spring]) -> f64 {
        let stretched = |Spring { ends: [u, v], length, force }: &Spring| {
            let off = apart(points[*u], points[*v]) - length;
            4.0 * force * off * off
        };
        let mut badness: f64 = springs.iter().map(stretched).sum();
        for u in 0..self.count {
            for v in 0..u {
                let close = (CLEAR - apart(points[u], points[v])).max(0.0);
                badness += 40.0 * close * close;
            }
        }
        for (at, &[a, b]) in self.bonds.iter().enumerate() {
            for &[c, d] in &self.bonds[..at] {
                let ends = [points[a], points[b]];
                badness += 2.0 * f64::from(u8::from(cross(ends, [points[c], points[d]])));
            }
        }
        badness
    }
}

/// The bonds in order, where they are just one ring.
fn one_ring(bonds: &[[usize; 2]]) -> Option<Vec<usize>> {
    let [mut from, mut at] = *bonds.first()?;
    let mut ring = vec![from];
    while at != ring[0] {
        ring.push(at);
        let mut next = bonds.iter().filter(|bond| bond.contains(&at));
        let mut next = next.by_ref().map(|[u, v]| if *u == at { *v } else { *u });
        let next = [next.next()?, next.next()?];
        let to = if next[0] == from { next[1] } else { next[0] };
        (from, at) = (at, to);
        if ring.len() > bonds.len() {
            return None;
        }
    }
    (ring.len() == bonds.len()).then_some(ring)
}

/// A regular polygon around the origin.
fn put_polygon(points: &mut [Option<Point>], ring: &[usize]) {
    let step = TAU / ring.len() as f64;
    let radius = 0.5 / (0.5 * step).sin();
    for (at, &v) in ring.iter().enumerate() {
        points[v] = Some(times(towards(PI / 2.0 + step * at as f64), radius));
    }
}

/// A regular polygon that has the atoms of `ring` which are there as corners: of those on
/// either side of a bond, the one that leaves most room to others.
fn polygon_on(ring: &[usize], points: &[Option<Point>]) -> Option<Vec<Point>> {
    let n = ring.len();
    let mut best: Option<(f64, Vec<Point>)> = None;
    for at in 0..n {
        let (Some(p), Some(q)) = (points[ring[at]], points[ring[(at + 1) % n]]) else { continue };
        if (apart(p, q) - 1.0).abs() > FITS {
            continue;
        }
        for side in [1.0, -1.0] {
            let turn = side * TAU / n as f64;
            let mut corners = vec![p; n];
            let (mut here, mut way) = (p, angle(sub(q, p)));
            for k in 0..n {
                corners[(at + k) % n] = here;
                here = add(here, towards(way));
                way += turn;
            }
            let fits = ring
                .iter()
                .zip(&corners)
                .all(|(&v, &corner)| points[v].is_none_or(|there| apart(there, corner) < FITS));
            let room = clearance(ring, &corners, points);
            if fits && best.as_ref().is_none_or(|(most, _)| room > most + 1e-9) {
                best = Some((room, corners));
            }
        }
    }
    let (room, mut corners) = best.filter(|(room, _)| *room > CLEAR)?;
    debug_assert!(room > 0.0);
    // What is there stays there.
    ring.iter().zip(&mut corners).for_each(|(&v, corner)| *corner = points[v].unwrap_or(*corner));
    Some(corners)
}

/// How close new corners come to atoms that are there.
fn clearance(ring: &[usize], corners: &[Point], points: &[Option<Point>]) -> f64 {
    let new = ring.iter().zip(corners).filter(|(v, _)| points[**v].is_none());
    let to_others = |corner: Point| {
        points.iter().flatten().fold(f64::MAX, |least, &there| least.min(apart(there, corner)))
    };
    new.fold(f64::MAX, |least, (_, &corner)| least.min(to_others(corner)))
}

/// Atoms of `ring` that are missing between two that are there go along an arc whose steps
/// are 1 long, on the side with more room.
fn put_arcs(points: &mut [Option<Point>], ring: &[usize]) {
    let n = ring.len();
    let there: Vec<usize> = (0..n).filter(|&at| points[ring[at]].is_some()).collect();
    for (i, &from) in there.iter().enumerate() {
        let to = there[(i + 1) % there.len()];
        let missing = (to + n - from - 1) % n;
        let (Some(p), Some(q)) = (points[ring[from]], points[ring[to]]) else { continue };
        if missing == 0 {
            continue;
        }
        let names: Vec<usize> = (1..=missing).map(|k| ring[(from + k) % n]).collect();
        let arcs = [1.0, -1.0].map(|side| arc(p, q, missing, side));
        let room = |arc: &Vec<Point>| clearance(&names, arc, points);
        let better = if room(&arcs[0]) >= room(&arcs[1]) { &arcs[0] } else { &arcs[1] };
        names.iter().zip(better).for_each(|(&v, &p)| points[v] = Some(p));
    }
}

/// Points between `p` and `q`: with `s = count + 1` steps and the arc's angle `φ`, the distance is
/// `sin(φ/2) / sin(φ/2s)`, which falls as `φ` grows.
fn arc(p: Point, q: Point, count: usize, side: f64) -> Vec<Point> {
    let (steps, chord) = ((count + 1) as f64, apart(p, q));
    if chord >= 0.98 * steps || chord < 1e-6 {
        let share = |k: usize| k as f64 / steps;
        return (1..=count).map(|k| add(times(p, 1.0 - share(k)), times(q, share(k)))).collect();
    }
    let (mut low, mut high) = (1e-6, TAU - 1e-6);
    for _ in 0..60 {
        let phi = 0.5 * (low + high);
        let length = (0.5 * phi).sin() / (0.5 * phi / steps).sin();
        if length > chord { low = phi } else { high = phi }
    }
    let step = low / steps;
    // The first step leaves the chord by half the arc, less half a step.
    let mut way = angle(sub(q, p)) + side * 0.5 * (low - step);
    let mut here = p;
    let mut points = Vec::with_capacity(count);
    for _ in 0..count {
        here = turned(add(here, [1.0, 0.0]), here, way);
        points.push(here);
        way -= side * step;
    }
    points
}

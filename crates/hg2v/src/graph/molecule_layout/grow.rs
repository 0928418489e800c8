//! From the largest ring system, or the end of the longest chain, outwards.

use std::collections::VecDeque;
use std::f64::consts::{PI, TAU};

use super::geometry::{Point, add, angle, apart, gaps, mirrored, sub, towards, turned};
use super::ring_system;
use super::skeleton::Skeleton;

/// Gaps are wide that are at least so much of the widest.
const WIDE: f64 = 0.7;

/// A point for each atom.
pub(super) fn grow(skeleton: &Skeleton) -> Vec<Point> {
    let mut drawing = Drawing::of(skeleton);
    drawing.begin();
    while let Some(atom) = drawing.ahead.pop_front() {
        drawing.branch(atom);
    }
    drawing.points.into_iter().map(Option::unwrap_or_default).collect()
}

/// What hangs on an atom that is drawn.
#[derive(Clone, Copy)]
enum Branch {
    /// An atom, by a bond that is in no ring.
    Atom(usize),
    /// A ring system that the atom is part of: spiro.
    System(usize),
}

struct Drawing<'a> {
    skeleton: &'a Skeleton,
    /// Each ring system by itself, and whether it is part of the drawing.
    pieces: Vec<Vec<Point>>,
    done: Vec<bool>,
    /// The systems of each atom.
    systems_of: Vec<Vec<usize>>,
    points: Vec<Option<Point>>,
    /// Atoms that are drawn, and what hangs on them is not.
    ahead: VecDeque<usize>,
}

impl<'a> Drawing<'a> {
    fn of(skeleton: &'a Skeleton) -> Drawing<'a> {
        let systems = &skeleton.systems;
        let mut systems_of = vec![Vec::new(); skeleton.neighbors.len()];
        for (at, system) in systems.iter().enumerate() {
            system.atoms.iter().for_each(|&atom| systems_of[atom].push(at));
        }
        Drawing {
            skeleton,
            pieces: systems.iter().map(|system| ring_system::draw(skeleton, system)).collect(),
            done: vec![false; systems.len()],
            systems_of,
            points: vec![None; skeleton.neighbors.len()],
            ahead: VecDeque::new(),
        }
    }

    fn begin(&mut self) {
        let systems = &self.skeleton.systems;
        let size = |at: usize| (systems[at].atoms.len(), std::cmp::Reverse(at));
        match (0..systems.len()).max_by_key(|&at| size(at)) {
            Some(largest) => {
                let piece = self.pieces[largest].clone();
                self.put_piece(largest, &piece);
            }
            None => {
                // The atom farthest from any other ends the longest chain.
                let end = self.skeleton.beyond(0, &[]).pop().unwrap_or(0);
                self.put(end, [0.0; 2]);
            }
        }
    }

    fn put(&mut self, atom: usize, at: Point) {
        if self.points.get(atom).is_some_and(Option::is_none) {
            self.points[atom] = Some(at);
            self.ahead.push_back(atom);
        }
    }

    fn put_piece(&mut self, system: usize, piece: &[Point]) {
        self.done[system] = true;
        for (&atom, &at) in self.skeleton.systems[system].atoms.iter().zip(piece) {
            self.put(atom, at);
        }
    }

    /// Draws what hangs on `atom`: the longest branch goes where most room is.
    fn branch(&mut self, atom: usize) {
        let Some(here) = self.points[atom] else { return };
        let mut branches = self.branches(atom);
        if branches.is_empty() {
            return;
        }
        branches.sort_by_cached_key(|&branch| std::cmp::Reverse(self.weight(atom, branch)));
        let taken: Vec<f64> = self.skeleton.neighbors[atom]
            .iter()
            .filter_map(|&w| self.points[w].map(|p| angle(sub(p, here))))
            .collect();
        let mut slots = self.slots(atom, here, &taken, branches.len());
        // Equally free ones as they come.
        let crowd = |slot: f64| (1e6 * self.crowd(add(here, towards(slot)), here)).round();
        slots.sort_by(|a, b| crowd(*a).total_cmp(&crowd(*b)));
        for (branch, slot) in branches.into_iter().zip(slots) {
            match branch {
                Branch::Atom(next) => self.put_branch(atom, next, add(here, towards(slot))),
                Branch::System(system) => self.put_system(system, atom, here, slot, 0),
            }
        }
    }

    fn branches(&self, atom: usize) -> Vec<Branch> {
        let rings = self.systems_of[atom].iter().copied().filter(|&system| !self.done[system]);
        let systems: Vec<usize> = rings.collect();
        let mut branches: Vec<Branch> = systems.iter().map(|&at| Branch::System(at)).collect();
        for &next in &self.skeleton.neighbors[atom] {
            let inside = systems.iter().any(|at| self.systems_of[next].contains(at));
            if self.points[next].is_none() && !inside {
                branches.push(Branch::Atom(next));
            }
        }
        branches
    }

    /// How far a branch goes, and how many atoms it has.
    fn weight(&self, atom: usize, branch: Branch) -> (usize, usize) {
        let start = match branch {
            Branch::Atom(next) => next,
            Branch::System(system) => {
                return (usize::MAX, self.skeleton.systems[system].atoms.len());
            }
        };
        let atoms = self.skeleton.beyond(start, &[atom]);
        let mut steps = vec![0; self.skeleton.neighbors.len()];
        let mut seen = vec![false; steps.len()];
        (seen[atom], seen[start]) = (true, true);
        for &v in &atoms {
            for &w in &self.skeleton.neighbors[v] {
                if !seen[w] {
                    (seen[w], steps[w]) = (true, steps[v] + 1);
                }
            }
        }
        (atoms.last().map_or(0, |&last| steps[last]), atoms.len())
    }

    /// Directions for `count` branches, or a few more: they share a wide gap between the bonds
    /// that are there, and of several the one outside all rings, where fewest of their atoms are.
    fn slots(&self, atom: usize, here: Point, taken: &[f64], count: usize) -> Vec<f64> {
        if let ([only], 1) = (taken, count) {
            return match self.skeleton.straight[atom] || !self.systems_of[atom].is_empty() {
                true => vec![only + PI],
                false => vec![only + TAU / 3.0, only - TAU / 3.0],
            };
        }
        let shares = if taken.is_empty() { count } else { count + 1 };
        let gaps = gaps(taken);
        let wide = gaps.first().map_or(0.0, |(_, gap)| WIDE * gap);
        let slots = gaps.into_iter().filter(|(_, gap)| *gap >= wide).map(|(from, gap)| {
            (1..=count).map(|k| from + gap * k as f64 / shares as f64).collect::<Vec<f64>>()
        });
        // Other atoms can be moved out of the way later.
        let rings = self.systems_of[atom].iter().flat_map(|&at| &self.skeleton.systems[at].atoms);
        let rings: Vec<Point> = rings.filter_map(|&v| self.points[v]).collect();
        let crowd = |slots: &Vec<f64>| {
            let near = slots.iter().map(|&slot| crowd(&rings, add(here, towards(slot)), here));
            (1e6 * near.sum::<f64>()).round()
        };
        slots.min_by(|a, b| crowd(a).total_cmp(&crowd(b))).unwrap_or_default()
    }

    /// How many atoms of the drawing are near a place.
    fn crowd(&self, place: Point, but: Point) -> f64 {
        let there: Vec<Point> = self.points.iter().flatten().copied().collect();
        crowd(&there, place, but)
    }

    /// An atom at `place`, with the largest ring system that it is part of.
    fn put_branch(&mut self, from: usize, next: usize, place: Point) {
        let systems = &self.skeleton.systems;
        let largest = self.systems_of[next].iter().copied();
        let largest = largest.max_by_key(|&at| (systems[at].atoms.len(), std::cmp::Reverse(at)));
        match (largest, self.points[from]) {
            (Some(system), Some(origin)) => {
                // The bond is one of several that leave the rings here.
                let others = self.skeleton.neighbors[next].len().saturating_sub(3);
                self.put_system(system, next, place, angle(sub(place, origin)), others);
            }
            _ => self.put(next, place),
        }
    }

    /// A ring system whose `atom` is at `place`, seen from the direction `way`; as many bonds
    /// more as `others` leave it at this atom. Of it and its mirror image, the one with more room.
    fn put_system(&mut self, system: usize, atom: usize, place: Point, way: f64, others: usize) {
        let atoms = &self.skeleton.systems[system].atoms;
        let piece = &self.pieces[system];
        let Ok(at) = atoms.binary_search(&atom) else { return };
        let inner = self.skeleton.neighbors[atom].iter();
        let inner = inner.filter_map(|next| atoms.binary_search(next).ok());
        let taken: Vec<f64> = inner.map(|next| angle(sub(piece[next], piece[at]))).collect();
        let (from, gap) = gaps(&taken)[0];
        let back = from + gap / (others + 2) as f64;
        let by = way + PI - back;
        let turn = |&p: &Point| turned(add(sub(p, piece[at]), place), place, by);
        let drawn: Vec<Point> = piece.iter().map(turn).collect();
        let axis = add(place, towards(way));
        let image: Vec<Point> = drawn.iter().map(|&p| mirrored(p, place, axis)).collect();
        let crowd = |points: &[Point]| points.iter().map(|&p| self.crowd(p, place)).sum::<f64>();
        let better = if crowd(&image) < crowd(&drawn) - 1e-6 { image } else { drawn };
        self.put_piece(system, &better);
    }
}

/// How many points are near a place, the nearer the more; not the one it hangs on, `but`.
fn crowd(points: &[Point], place: Point, but: Point) -> f64 {
    let near = |&p: &Point| {
        let far = apart(p, place).max(0.1);
        if apart(p, but) < 1e-9 { 0.0 } else { 1.0 / (far * far) }
    };
    points.iter().map(near).sum()
}

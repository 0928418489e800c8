//! A part of a molecule: atoms numbered from 0, what they are bound to, and its rings.

use std::collections::VecDeque;

use super::Bond;
use crate::graph::Graph;

pub(super) struct Skeleton {
    /// Of each atom those it is bound to, ascending.
    pub neighbors: Vec<Vec<usize>>,
    /// Each bond once.
    pub bonds: Vec<[usize; 2]>,
    /// Atoms whose two bonds are in one line.
    pub straight: Vec<bool>,
    /// The smallest rings, each in order.
    pub rings: Vec<Vec<usize>>,
    /// Rings that share bonds: places in `rings`, and the atoms of them all, ascending.
    pub systems: Vec<System>,
}

pub(super) struct System {
    pub rings: Vec<usize>,
    pub atoms: Vec<usize>,
}

impl Skeleton {
    /// The part with these atoms; `place` is where each of the graph's is among its own.
    pub(super) fn of(
        graph: &Graph,
        kinds: &[Bond],
        rings: &[Vec<u32>],
        atoms: &[usize],
        place: &[usize],
    ) -> Skeleton {
        let local = |v: &u32| place[*v as usize];
        let neighbors: Vec<Vec<usize>> =
            atoms.iter().map(|&atom| graph.neighbors(atom).iter().map(local).collect()).collect();
        let mut mine = vec![false; graph.num_nodes()];
        atoms.iter().for_each(|&atom| mine[atom] = true);
        let mut bonds = Vec::new();
        let mut lines = vec![0; atoms.len()];
        for (at, (u, v, _)) in graph.edges().enumerate().filter(|(_, (u, ..))| mine[*u as usize]) {
            let ends = [place[u as usize], place[v as usize]];
            bonds.push(ends);
            let more = match kinds.get(at) {
                Some(Bond::Triple) => 2,
                Some(Bond::Double) => 1,
                _ => 0,
            };
            ends.iter().for_each(|&end| lines[end] += more);
        }
        let straight = (0..atoms.len()).map(|v| neighbors[v].len() == 2 && lines[v] >= 2).collect();
        let own = rings.iter().filter(|ring| mine[ring[0] as usize]);
        let rings: Vec<Vec<usize>> = own.map(|ring| ring.iter().map(local).collect()).collect();
        let systems = systems(&rings);
        Skeleton { neighbors, bonds, straight, rings, systems }
    }

    /// Atoms that are reached from `start` without `barred`, in the order of their distance.
    pub(super) fn beyond(&self, start: usize, barred: &[usize]) -> Vec<usize> {
        let mut seen = vec![false; self.neighbors.len()];
        barred.iter().for_each(|&v| seen[v] = true);
        let mut queue = VecDeque::from([start]);
        let mut found = Vec::new();
        seen[start] = true;
        while let Some(v) = queue.pop_front() {
            found.push(v);
            for &w in &self.neighbors[v] {
                if !seen[w] {
                    seen[w] = true;
                    queue.push_back(w);
                }
            }
        }
        found
    }

    /// Whether a bond is part of a ring.
    pub(super) fn in_ring(&self, [u, v]: [usize; 2]) -> bool {
        self.systems.iter().any(|system| {
            // A system is a block: whatever bond joins two of its atoms is its own.
            system.atoms.binary_search(&u).is_ok() && system.atoms.binary_search(&v).is_ok()
        })
    }
}

/// Bonds of a ring, the smaller atom first.
pub(super) fn ring_bonds(ring: &[usize]) -> impl Iterator<Item = [usize; 2]> + '_ {
    (0..ring.len()).map(|at| {
        let (u, v) = (ring[at], ring[(at + 1) % ring.len()]);
        [u.min(v), u.max(v)]
    })
}

/// Rings gathered by the bonds that they share.
fn systems(rings: &[Vec<usize>]) -> Vec<System> {
    let mut bonds: Vec<([usize; 2], usize)> = rings
        .iter()
        .enumerate()
        .flat_map(|(at, ring)| ring_bonds(ring).map(move |bond| (bond, at)))
        .collect();
    bonds.sort_unstable();
    let mut group: Vec<usize> = (0..rings.len()).collect();
    for pair in bonds.windows(2).filter(|pair| pair[0].0 == pair[1].0) {
        let (a, b) = (group[pair[0].1], group[pair[1].1]);
        group.iter_mut().filter(|g| **g == a.max(b)).for_each(|g| *g = a.min(b));
    }
    let mut found = Vec::new();
    for first in 0..rings.len() {
        let members: Vec<usize> = (0..rings.len()).filter(|&ring| group[ring] == first).collect();
        if members.is_empty() {
            continue;
        }
        let mut atoms: Vec<usize> =
            members.iter().flat_map(|&ring| rings[ring].iter().copied()).collect();
        atoms.sort_unstable();
        atoms.dedup();
        found.push(System { rings: members, atoms });
    }
    found
}

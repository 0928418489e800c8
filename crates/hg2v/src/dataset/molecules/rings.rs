//! Rings: which bonds are in any, and the smallest rings, which tell what is aromatic.
//!
//! The smallest rings are the relevant cycles (Vismara 1997): those that are no sum of shorter ones,
//! of which every smallest set of smallest rings is a part. All rings of naphthalene's kind are
//! among them, and all six faces of cubane.

use super::molecule::{Molecule, Order};

/// A ring: its atoms, and its bonds, ascending.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Ring {
    pub(super) atoms: Vec<u32>,
    pub(super) bonds: Vec<u32>,
}

/// Steps of the search in one molecule, and rings that it may look at. Where they do not suffice,
/// which takes thousands of atoms that are all part of rings, the rings found by then stand.
const MOST_WORK: u64 = 30_000_000;
const MOST_FOUND: usize = 100_000;

/// Whether each bond is in a ring; dative bonds never are.
pub(super) fn bonds_in_rings(molecule: &Molecule) -> Vec<bool> {
    let mut in_ring: Vec<bool> =
        molecule.bonds.iter().map(|bond| bond.order != Order::Dative).collect();
    let ends: Vec<[u32; 2]> = molecule.bonds.iter().map(|bond| bond.ends).collect();
    mark_rings(molecule.atoms.len(), &ends, |atom| molecule.bonds_of(atom), &mut in_ring);
    in_ring
}

/// Whether each atom is in a ring of `bonds`.
pub(super) fn atoms_in_rings(atoms: usize, bonds: &[[u32; 2]]) -> Vec<bool> {
    let mut starts = vec![0; atoms + 1];
    for end in bonds.iter().flatten() {
        starts[*end as usize] += 1;
    }
    let mut sum = 0;
    for start in &mut starts {
        sum += *start;
        *start = sum;
    }
    let mut list = vec![0; sum];
    for (at, bond) in bonds.iter().enumerate() {
        for end in bond {
            starts[*end as usize] -= 1;
            list[starts[*end as usize]] = at as u32;
        }
    }
    let mut in_ring = vec![true; bonds.len()];
    mark_rings(atoms, bonds, |atom| &list[starts[atom]..starts[atom + 1]], &mut in_ring);
    let mut inside = vec![false; atoms];
    for (bond, _) in bonds.iter().zip(in_ring).filter(|(_, in_ring)| *in_ring) {
        bond.iter().for_each(|&end| inside[end as usize] = true);
    }
    inside
}

/// Takes out of `in_ring`, which says which bonds there are, those that are in no ring: bridges, found
/// by the lowest depth that the part behind a bond reaches.
pub(super) fn mark_rings<'a>(
    atoms: usize,
    ends: &[[u32; 2]],
    bonds_of: impl Fn(usize) -> &'a [u32],
    in_ring: &mut [bool],
) {
    if ends.len() < 3 {
        return in_ring.fill(false);
    }
    const NEW: u32 = u32::MAX;
    let mut depth = vec![NEW; atoms];
    let mut low = vec![NEW; atoms];
    // An atom, the bond it was reached by, and how many of its bonds were followed.
    let mut path: Vec<(u32, u32, u32)> = Vec::new();
    for root in 0..atoms {
        if depth[root] != NEW {
            continue;
        }
        (depth[root], low[root]) = (0, 0);
        path.push((root as u32, NEW, 0));
        while let Some(&mut (at, by, ref mut next)) = path.last_mut() {
            let Some(&bond) = bonds_of(at as usize).get(*next as usize) else {
                path.pop();
                if let Some(&(below, ..)) = path.last() {
                    let reached = low[at as usize];
                    low[below as usize] = low[below as usize].min(reached);
                    in_ring[by as usize] &= reached <= depth[below as usize];
                }
                continue;
            };
            *next += 1;
            if bond == by || !in_ring[bond as usize] {
                continue;
            }
            let [a, b] = ends[bond as usize];
            let other = if a == at { b } else { a };
            if depth[other as usize] == NEW {
                let level = path.len() as u32;
                (depth[other as usize], low[other as usize]) = (level, level);
                path.push((other, bond, 0));
            } else {
                low[at as usize] = low[at as usize].min(depth[other as usize]);
            }
        }
    }
}

/// The smallest rings of a molecule.
pub(super) fn smallest(molecule: &Molecule, in_ring: &[bool]) -> Vec<Ring> {
    if !in_ring.contains(&true) {
        return Vec::new();
    }
    let mut search = Search::new(molecule, in_ring);
    let mut rings = Vec::new();
    let mut seen = vec![false; molecule.atoms.len()];
    for start in 0..molecule.atoms.len() {
        if search.ring_degree(start) == 0 || seen[start] {
            continue;
        }
        let system = search.system(start, &mut seen);
        let bonds: usize = system.iter().map(|&at| search.ring_degree(at as usize)).sum();
        if bonds / 2 == system.len() {
            rings.push(search.around(start));
        } else {
            let rank = bonds / 2 + 1 - system.len();
            rings.extend(search.relevant(&system, rank));
        }
    }
    rings
}

struct Search<'a> {
    molecule: &'a Molecule,
    in_ring: &'a [bool],
    /// Of the breadth-first search at hand.
    distance: Vec<u32>,
    reached: Vec<u32>,
    work: u64,
}

const FAR: u32 = u32::MAX;

/// Cages have many equal ways between two atoms; a few of them span all rings.
const MOST_WAYS: usize = 16;

impl<'a> Search<'a> {
    fn new(molecule: &'a Molecule, in_ring: &'a [bool]) -> Search<'a> {
        let distance = vec![FAR; molecule.atoms.len()];
        Search { molecule, in_ring, distance, reached: Vec::new(), work: 0 }
    }

    /// The neighbours of an atom in rings, with the bonds to them.
    fn neighbours(&self, at: usize) -> impl Iterator<Item = (usize, u32)> + use<'a> {
        let (molecule, in_ring) = (self.molecule, self.in_ring);
        let bonds = molecule.bonds_of(at).iter().filter(move |&&bond| in_ring[bond as usize]);
        bonds.map(move |&bond| (molecule.bonds[bond as usize].other(at), bond))
    }

    fn ring_degree(&self, at: usize) -> usize {
        self.neighbours(at).count()
    }

    /// All atoms that bonds of rings connect with `start`.
    fn system(&self, start: usize, seen: &mut [bool]) -> Vec<u32> {
        let mut system = vec![start as u32];
        seen[start] = true;
        let mut head = 0;
        while let Some(&at) = system.get(head) {
            head += 1;
            for (other, _) in self.neighbours(at as usize) {
                if !std::mem::replace(&mut seen[other], true) {
                    system.push(other as u32);
                }
            }
        }
        system
    }

    /// The ring of a system that is nothing else.
    fn around(&self, start: usize) -> Ring {
        let mut ring = Ring { atoms: Vec::new(), bonds: Vec::new() };
        let (mut at, mut by) = (start, u32::MAX);
        loop {
            ring.atoms.push(at as u32);
            let Some((next, bond)) = self.neighbours(at).find(|&(_, bond)| bond != by) else {
                break;
            };
            ring.bonds.push(bond);
            (at, by) = (next, bond);
            if at == start {
                break;
            }
        }
        ring.bonds.sort_unstable();
        ring
    }

    /// The relevant cycles of a system with `rank` independent ones.
    ///
    /// Every relevant cycle, seen from any of its atoms r, is two shortest ways from r to the two
    /// ends of a bond, or to two neighbours of one atom. Systems of several rings have in each of
    /// them an atom with three bonds or more; r is the last such atom of the cycle, so that each is
    /// found once.
    fn relevant(&mut self, system: &[u32], rank: usize) -> Vec<Ring> {
        let mut order = vec![0; self.molecule.atoms.len()];
        for (at, place) in system.iter().zip(1..) {
            let many = u32::from(self.ring_degree(*at as usize) > 2) << 31;
            order[*at as usize] = place | many;
        }
        let roots: Vec<u32> =
            system.iter().copied().filter(|&at| order[at as usize] >> 31 == 1).collect();
        // Rings are small as a rule: a look at what is near each atom comes first.
        let mut deepest = 4;
        loop {
            let mut found = Vec::new();
            for &root in &roots {
                self.begin_at(root as usize, &order, deepest, &mut found);
            }
            found.sort_by(|a, b| (a.bonds.len(), &a.bonds).cmp(&(b.bonds.len(), &b.bonds)));
            found.dedup_by(|a, b| a.bonds == b.bonds);
            // Longer ones are not all among them.
            found.retain(|ring| ring.bonds.len() <= 2 * deepest as usize + 1);
            let (rings, all) = self.independent(found, rank);
            if all || deepest as usize > system.len() || self.work > MOST_WORK {
                return rings;
            }
            deepest *= 4;
        }
    }

    /// The cycles whose last atom in `order` is `root`.
    fn begin_at(&mut self, root: usize, order: &[u32], deepest: u32, found: &mut Vec<Ring>) {
        for at in std::mem::take(&mut self.reached) {
            self.distance[at as usize] = FAR;
        }
        self.distance[root] = 0;
        self.reached.push(root as u32);
        let mut head = 0;
        while let Some(&at) = self.reached.get(head) {
            head += 1;
            let at = at as usize;
            let level = self.distance[at];
            self.work += 1 + u64::from(found.len() > MOST_FOUND) * MOST_WORK;
            if self.work > MOST_WORK || level > deepest {
                return;
            }
            let mut before = Vec::new();
            for (other, bond) in self.neighbours(at) {
                if order[other] > order[root] {
                    continue;
                }
                match self.distance[other] {
                    FAR if level == deepest => {}
                    FAR => {
                        self.distance[other] = level + 1;
                        self.reached.push(other as u32);
                    }
                    same if same == level && other < at => {
                        self.close(root, [at, other], &[bond], found);
                    }
                    less if less + 1 == level => before.push((other, bond)),
                    _ => {}
                }
            }
            for (place, &(a, by)) in before.iter().enumerate() {
                for &(b, with) in &before[..place] {
                    self.close_over(root, at, [a, b], [by, with], found);
                }
            }
        }
    }

    fn close_over(
        &mut self,
        root: usize,
        over: usize,
        ends: [usize; 2],
        bonds: [u32; 2],
        found: &mut Vec<Ring>,
    ) {
        let first = found.len();
        self.close(root, ends, &bonds, found);
        for ring in &mut found[first..] {
            ring.atoms.push(over as u32);
        }
    }

    /// The cycles of two shortest ways to `ends` that meet at the root alone, and `bonds`.
    fn close(&mut self, root: usize, ends: [usize; 2], bonds: &[u32], found: &mut Vec<Ring>) {
        let [left, right] = ends.map(|end| self.ways(root, end));
        for one in &left {
            for other in &right {
                self.work += (one.atoms.len() + other.atoms.len()) as u64;
                if one.atoms.iter().any(|at| other.atoms.contains(at)) {
                    continue;
                }
                let mut ring = one.clone();
                ring.atoms.extend(&other.atoms);
                ring.atoms.push(root as u32);
                ring.bonds.extend(&other.bonds);
                ring.bonds.extend(bonds);
                ring.bonds.sort_unstable();
                found.push(ring);
            }
        }
    }

    /// Shortest ways from the root to `end`, without the root: [`MOST_WAYS`] of them.
    fn ways(&mut self, root: usize, end: usize) -> Vec<Ring> {
        let mut done = Vec::new();
        let mut begun = vec![(end, Ring { atoms: Vec::new(), bonds: Vec::new() })];
        while let Some((at, mut way)) = begun.pop() {
            self.work += 1;
            if at == root {
                done.push(way);
                if done.len() == MOST_WAYS {
                    break;
                }
                continue;
            }
            way.atoms.push(at as u32);
            let level = self.distance[at];
            let mut down = self.neighbours(at).filter(|&(other, _)| {
                let distance = self.distance[other];
                distance != FAR && distance + 1 == level
            });
            let first = down.next();
            for (other, bond) in down {
                let mut way = way.clone();
                way.bonds.push(bond);
                begun.push((other, way));
            }
            if let Some((other, bond)) = first {
                way.bonds.push(bond);
                begun.push((other, way));
            }
        }
        done
    }

    /// Of cycles in the order of their lengths, those that are no sum of shorter ones, and whether
    /// there cannot be more.
    fn independent(&mut self, found: Vec<Ring>, rank: usize) -> (Vec<Ring>, bool) {
        let mut basis = Basis { rows: Vec::new(), at: vec![u32::MAX; self.molecule.bonds.len()] };
        let mut relevant: Vec<Ring> = Vec::new();
        let mut pending: Vec<Vec<u32>> = Vec::new();
        let mut length = 0;
        for ring in found {
            if ring.bonds.len() > length {
                length = ring.bonds.len();
                pending.drain(..).for_each(|rest| basis.add(rest, &mut self.work));
                if basis.rows.len() >= rank || self.work > 2 * MOST_WORK {
                    return (relevant, true);
                }
            }
            let rest = basis.reduce(ring.bonds.clone(), &mut self.work);
            if !rest.is_empty() {
                pending.push(rest);
                relevant.push(ring);
            }
        }
        pending.into_iter().for_each(|rest| basis.add(rest, &mut self.work));
        (relevant, basis.rows.len() >= rank)
    }
}

/// Independent cycles as sets of bonds, each with a first bond that no other begins with.
struct Basis {
    rows: Vec<Vec<u32>>,
    /// The row that begins with a bond.
    at: Vec<u32>,
}

impl Basis {
    /// What is left of a cycle when those of the basis are taken off.
    fn reduce(&self, mut cycle: Vec<u32>, work: &mut u64) -> Vec<u32> {
        while let Some(&first) = cycle.first() {
            let Some(row) = self.rows.get(self.at[first as usize] as usize) else { break };
            *work += (cycle.len() + row.len()) as u64;
            cycle = sum(&cycle, row);
        }
        cycle
    }

    fn add(&mut self, cycle: Vec<u32>, work: &mut u64) {
        let rest = self.reduce(cycle, work);
        if let Some(&first) = rest.first() {
            self.at[first as usize] = self.rows.len() as u32;
            self.rows.push(rest);
        }
    }
}

/// The bonds that are in one of two ascending lists and not in the other.
fn sum(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut sum = Vec::with_capacity(a.len() + b.len());
    let (mut i, mut j) = (0, 0);
    while i < a.len() && j < b.len() {
        match a[i].cmp(&b[j]) {
            std::cmp::Ordering::Less => {
                sum.push(a[i]);
                i += 1;
            }
            std::cmp::Ordering::Greater => {
                sum.push(b[j]);
                j += 1;
            }
            std::cmp::Ordering::Equal => (i, j) = (i + 1, j + 1),
        }
    }
    sum.extend(&a[i..]);
    sum.extend(&b[j..]);
    sum
}

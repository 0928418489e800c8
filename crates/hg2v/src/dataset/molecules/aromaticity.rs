//! What is aromatic: the default model of RDKit, on single and double bonds.
//!
//! An atom of a ring gives 0, 1 or 2 electrons. A ring of such atoms, or up to six rings that share
//! bonds, is aromatic where the electrons of the atoms that are in one or two of them sum to 4n + 2
//! (Hückel). Of several rings, only bonds of the rim become aromatic.

use super::hydrogens::explicit_valence;
use super::molecule::{Molecule, Order};
use super::rings::Ring;

/// Rings beyond this size are aromatic alone or not at all.
const LARGEST_FUSED: usize = 24;

/// Rings taken together at most, and in systems of very many rings.
const MOST_FUSED: usize = 6;
const MANY_RINGS: usize = 300;

/// Sets of rings of a system that are tried; beyond, what was found so far stands.
const MOST_SETS: usize = 200_000;

/// Marks the aromatic atoms and bonds.
pub(super) fn perceive(molecule: &mut Molecule, in_ring: &[bool], rings: &[Ring]) {
    let mut electrons: Vec<Option<Option<Electrons>>> = vec![None; molecule.atoms.len()];
    let mut of = |at: u32| {
        *electrons[at as usize].get_or_insert_with(|| donated(molecule, in_ring, at as usize))
    };
    let candidates: Vec<&Ring> = rings
        .iter()
        .filter(|ring| {
            let any = ring.atoms.iter().all(|&at| molecule.atoms[at as usize].number == 0);
            !any && ring.atoms.iter().all(|&at| of(at).is_some())
        })
        .collect();
    let electrons: Vec<Electrons> =
        electrons.into_iter().map(|found| found.flatten().unwrap_or_default()).collect();
    let mut done = vec![false; candidates.len()];
    let fused = neighbours(&candidates);
    for start in 0..candidates.len() {
        if !done[start] {
            let system = connected(start, &fused, &mut done);
            System { rings: &candidates, fused: &fused, electrons: &electrons }
                .mark(molecule, &system);
        }
    }
}

/// The electrons that an atom gives to a ring: at least, and at most.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
struct Electrons {
    least: i32,
    most: i32,
    /// Of any atom, `*`, of which a ring can have one.
    any: bool,
}

impl Electrons {
    fn just(count: i32) -> Option<Electrons> {
        Some(Electrons { least: count, most: count, any: false })
    }
}

/// What an atom of a ring gives; nothing where it cannot be aromatic.
fn donated(molecule: &Molecule, in_ring: &[bool], at: usize) -> Option<Electrons> {
    let atom = &molecule.atoms[at];
    let doubled = |inside: bool| {
        let mut bonds = molecule.bonds_of(at).iter().map(|&bond| bond as usize);
        bonds.find(|&bond| in_ring[bond] == inside && molecule.bonds[bond].halves(at) >= 4)
    };
    if atom.number == 0 {
        return match doubled(true) {
            Some(_) => Electrons::just(1),
            None => Some(Electrons { least: 1, most: 2, any: true }),
        };
    }
    let free = free_electrons(molecule, at)?;
    if !can_be_aromatic(molecule, at) {
        return None;
    }
    let outward = doubled(false).map(|bond| molecule.bonds[bond].other(at));
    let pulls = outward.is_some_and(|other| pulls_more(molecule, other, at));
    match (free, outward) {
        (0, Some(_)) => Electrons::just(0),
        (0, None) => doubled(true).and(Electrons::just(1)),
        (1, Some(_)) => Electrons::just(i32::from(!pulls)),
        (1, None) if unsaturated(molecule, at) => Electrons::just(1),
        (1, None) => Electrons::just(0).filter(|_| atom.charge == 1),
        (more, _) => Electrons::just(2 - (more - i32::from(pulls)) % 2),
    }
}

/// Whether the atom `a` draws electrons more than `b`.
fn pulls_more(molecule: &Molecule, a: usize, b: usize) -> bool {
    let [a, b] = [a, b].map(|at| &molecule.atoms[at]);
    let key = |atom: &super::molecule::Atom| (atom.element().outer, 0 - i32::from(atom.number));
    key(a) > key(b)
}

/// The neighbours and hydrogens of an atom that use a valence of it.
fn neighbours_used(molecule: &Molecule, at: usize) -> i32 {
    let bound = molecule.around(at).filter(|bond| bond.halves(at) > 0).count();
    bound as i32 + i32::from(molecule.atoms[at].hydrogens)
}

/// Whether an atom has a double or triple bond.
fn unsaturated(molecule: &Molecule, at: usize) -> bool {
    valence(molecule, at) != neighbours_used(molecule, at)
}

fn valence(molecule: &Molecule, at: usize) -> i32 {
    explicit_valence(molecule, at)
}

/// The electrons of an atom that no single bond takes: valences left, and those of lone pairs.
fn free_electrons(molecule: &Molecule, at: usize) -> Option<i32> {
    let atom = &molecule.atoms[at];
    let usual = atom.element().valence().filter(|&usual| usual > 1)?;
    let degree = neighbours_used(molecule, at);
    if degree > 3 {
        return None;
    }
    let pairs = i32::from(atom.element().outer) - usual - i32::from(atom.charge);
    let free = usual - degree + pairs.max(0) - i32::from(atom.radicals);
    let unsaturation =
        valence(molecule, at) - i32::from(atom.hydrogens) - molecule.degree(at) as i32;
    match free {
        ..0 => None,
        2.. if unsaturation > 1 => Some(1),
        _ => Some(free),
    }
}

/// Elements up to argon, selenium and tellurium, in their usual valence, with no radical beside a
/// neutral carbon's, and at most one double or triple bond.
fn can_be_aromatic(molecule: &Molecule, at: usize) -> bool {
    let atom = &molecule.atoms[at];
    if atom.number > 18 && !matches!(atom.number, 34 | 52) {
        return false;
    }
    let like = i32::from(atom.number) - i32::from(atom.charge);
    let like = super::elements::element(u8::try_from(like).unwrap_or(0));
    if valence(molecule, at) > like.valence().unwrap_or(-1) {
        return false;
    }
    if atom.radicals > 0 && (atom.number != 6 || atom.charge != 0) {
        return false;
    }
    let multiple =
        |bond: &&super::molecule::Bond| matches!(bond.order, Order::Double | Order::Triple);
    molecule.around(at).filter(multiple).count() <= 1
}

/// The rings that share just one bond with each.
fn neighbours(rings: &[&Ring]) -> Vec<Vec<u32>> {
    let mut fused = vec![Vec::new(); rings.len()];
    let bonds = rings.iter().flat_map(|ring| &ring.bonds).max().map_or(0, |&bond| bond + 1);
    let mut of_bond: Vec<Vec<u32>> = vec![Vec::new(); bonds as usize];
    for (at, ring) in rings.iter().enumerate() {
        if ring.bonds.len() > LARGEST_FUSED {
            continue;
        }
        let mut shared: Vec<u32> = Vec::new();
        for &bond in &ring.bonds {
            shared.extend(&of_bond[bond as usize]);
            of_bond[bond as usize].push(at as u32);
        }
        shared.sort_unstable();
        for same in shared.chunk_by(|a, b| a == b) {
            if let &[other] = same {
                fused[at].push(other);
                fused[other as usize].push(at as u32);
            }
        }
    }
    fused
}

/// All rings that `start` is fused with, itself included.
fn connected(start: usize, fused: &[Vec<u32>], done: &mut [bool]) -> Vec<u32> {
    let mut system = vec![start as u32];
    done[start] = true;
    let mut head = 0;
    while let Some(&ring) = system.get(head) {
        head += 1;
        for &other in &fused[ring as usize] {
            if !std::mem::replace(&mut done[other as usize], true) {
                system.push(other);
            }
        }
    }
    system
}

struct System<'a> {
    rings: &'a [&'a Ring],
    fused: &'a [Vec<u32>],
    electrons: &'a [Electrons],
}

impl System<'_> {
    /// Marks what is aromatic in a system of fused rings, one ring after the other, then two
    /// together, and so on until all bonds are aromatic.
    fn mark(&self, molecule: &mut Molecule, system: &[u32]) {
        let mut bonds: Vec<u32> =
            system.iter().flat_map(|&ring| self.rings[ring as usize].bonds.clone()).collect();
        bonds.sort_unstable();
        bonds.dedup();
        let mut aromatic: Vec<u32> = Vec::new();
        let together = if system.len() > MANY_RINGS { 2 } else { MOST_FUSED };
        let mut sets: Vec<Vec<u32>> = system.iter().map(|&ring| vec![ring]).collect();
        let mut tried = 0;
        for size in 1..=together.min(system.len()) {
            if size > 1 {
                sets = self.grown(&sets);
            }
            tried += sets.len();
            for set in &sets {
                if self.is_aromatic(set) {
                    self.mark_set(molecule, set, &mut aromatic);
                }
            }
            aromatic.sort_unstable();
            aromatic.dedup();
            if aromatic.len() == bonds.len() || tried > MOST_SETS {
                return;
            }
        }
    }

    /// All sets of fused rings with one ring more; each set once.
    fn grown(&self, sets: &[Vec<u32>]) -> Vec<Vec<u32>> {
        let mut grown = Vec::new();
        for set in sets {
            for &ring in set {
                for &other in &self.fused[ring as usize] {
                    if let Err(place) = set.binary_search(&other) {
                        let mut set = set.clone();
                        set.insert(place, other);
                        grown.push(set);
                    }
                }
            }
            if grown.len() > 8 * MOST_SETS {
                break;
            }
        }
        grown.sort_unstable();
        grown.dedup();
        grown
    }

    /// Hückel's rule for the atoms that are in one or two of the rings.
    fn is_aromatic(&self, set: &[u32]) -> bool {
        let (mut least, mut most, mut any) = (0, 0, 0);
        let mut add = |at: u32| {
            let electrons = self.electrons[at as usize];
            least += electrons.least;
            most += electrons.most;
            any += i32::from(electrons.any);
        };
        match set {
            [ring] => self.rings[*ring as usize].atoms.iter().for_each(|&at| add(at)),
            _ => {
                let rings = set.iter().map(|&ring| &self.rings[ring as usize].atoms);
                let mut atoms: Vec<u32> = rings.flatten().copied().collect();
                atoms.sort_unstable();
                for same in atoms.chunk_by(|a, b| a == b) {
                    if same.len() <= 2 {
                        add(same[0]);
                    }
                }
            }
        }
        any <= 1
            && match most {
                6.. => (least..=most).any(|count| (count - 2) % 4 == 0),
                _ => most == 2,
            }
    }

    /// Marks the atoms of the rings, and the bonds that are in just one of them.
    fn mark_set(&self, molecule: &mut Molecule, set: &[u32], aromatic: &mut Vec<u32>) {
        let mut bonds: Vec<u32> = Vec::new();
        for &ring in set {
            for &at in &self.rings[ring as usize].atoms {
                molecule.atoms[at as usize].aromatic = true;
            }
            bonds.extend(&self.rings[ring as usize].bonds);
        }
        bonds.sort_unstable();
        for same in bonds.chunk_by(|a, b| a == b) {
            if let &[bond] = same {
                let order = &mut molecule.bonds[bond as usize].order;
                if matches!(order, Order::Single | Order::Double) {
                    *order = Order::Aromatic;
                }
                aromatic.push(bond);
            }
        }
    }
}

//! From what is written to the molecule that is meant, as RDKit's sanitisation does it: one molecule
//! for all its spellings.

use super::molecule::{Molecule, Wrong};
use super::rings::{self, Ring};
use super::{aromaticity, cleanup, hydrogens, kekule};

/// Counts hydrogens, turns aromatic bonds into single and double ones and finds out anew which are
/// aromatic. Gives the smallest rings.
///
/// # Errors
/// Valences that no element has, and aromatic rings that cannot be.
pub(super) fn sanitise(molecule: &mut Molecule) -> Result<Vec<Ring>, Wrong> {
    hydrogens::merge(molecule);
    cleanup::clean(molecule);
    hydrogens::fill(molecule)?;
    let in_ring = rings::bonds_in_rings(molecule);
    kekule::kekulize(molecule, &in_ring)?;
    count_radicals(molecule);
    let rings = rings::smallest(molecule, &in_ring);
    aromaticity::perceive(molecule, &in_ring, &rings);
    Ok(rings)
}

/// Electrons without a partner, of atoms that say all their hydrogens.
fn count_radicals(molecule: &mut Molecule) {
    for at in 0..molecule.atoms.len() {
        let atom = &molecule.atoms[at];
        if atom.counted && atom.number != 0 {
            let radicals = radicals(molecule, at);
            molecule.atoms[at].radicals = u8::try_from(radicals).unwrap_or(u8::MAX);
        }
    }
}

fn radicals(molecule: &Molecule, at: usize) -> i32 {
    let atom = &molecule.atoms[at];
    let (element, charge) = (atom.element(), i32::from(atom.charge));
    let outer = i32::from(element.outer);
    if element.valences.is_empty() {
        return if molecule.degree(at) > 0 { 0 } else { (outer - charge).max(0) % 2 };
    }
    let used = molecule.halves(at) / 2 + i32::from(atom.hydrogens);
    let shell = if atom.number <= 2 { 2 } else { 8 };
    let mut late = shell - outer - used + charge;
    if late < 0 {
        let mut valences = element.valences.iter().map(|&v| i32::from(v) - used + charge);
        let several = element.valences.len() + usize::from(element.lax) > 1;
        late = valences.find(|&left| left >= 0).filter(|_| several).unwrap_or(0);
    }
    match outer - used - charge {
        early @ 0.. => late.min(early),
        _ => late,
    }
}

//! Hydrogens: those written as atoms go into their neighbours, and those that nobody writes follow
//! from the valence that an atom has left, as RDKit counts both.

use super::elements::{Element, LAST, element};
use super::molecule::{Atom, Molecule, Order, Wrong};

/// Makes the hydrogens that are written as atoms part of the atoms they are bound to.
///
/// A hydrogen stays an atom where it says more than that it is there: an isotope, a negative
/// charge, a bridge, no neighbour, or one that is any atom, hydrogen itself, or at a double bond
/// whose side the hydrogen marks.
pub(super) fn merge(molecule: &mut Molecule) {
    if !molecule.atoms.iter().any(|atom| atom.number == 1) {
        return;
    }
    let removed: Vec<bool> =
        (0..molecule.atoms.len()).map(|atom| is_plain(molecule, atom)).collect();
    if !removed.contains(&true) {
        return;
    }
    for (atom, _) in removed.iter().enumerate().filter(|(_, removed)| **removed) {
        let heavy = molecule.around(atom).next().map(|bond| bond.other(atom));
        if let Some(heavy) = heavy {
            let heavy = &mut molecule.atoms[heavy];
            heavy.hydrogens = heavy.hydrogens.saturating_add(1);
        }
    }
    keep(molecule, |atom| !removed[atom]);
}

/// Whether an atom is a hydrogen that its neighbour can count.
fn is_plain(molecule: &Molecule, atom: usize) -> bool {
    let Atom { number, isotope, charge, .. } = molecule.atoms[atom];
    let &[bond] = molecule.bonds_of(atom) else { return false };
    if number != 1 || isotope != 0 || charge == -1 {
        return false;
    }
    let bond = &molecule.bonds[bond as usize];
    let heavy = bond.other(atom);
    if molecule.atoms[heavy].number <= 1 || molecule.atoms[heavy].spatial {
        return false;
    }
    let sided = bond.marked && molecule.degree(heavy) == 2;
    !(sided && molecule.around(heavy).any(|bond| bond.order == Order::Double))
}

/// Leaves out the atoms that `keeps` refuses, and their bonds.
fn keep(molecule: &mut Molecule, keeps: impl Fn(usize) -> bool) {
    let mut next = 0;
    let renamed: Vec<Option<u32>> = (0..molecule.atoms.len())
        .map(|atom| {
            let name = keeps(atom).then_some(next);
            next += u32::from(name.is_some());
            name
        })
        .collect();
    let mut at = 0..;
    molecule.atoms.retain(|_| at.next().is_some_and(&keeps));
    let mut at = 0..;
    molecule.places.retain(|_| at.next().is_some_and(&keeps));
    let bonds = std::mem::take(&mut molecule.bonds);
    molecule.bonds = bonds
        .into_iter()
        .filter_map(|mut bond| {
            let [a, b] = bond.ends.map(|end| renamed[end as usize]);
            bond.ends = [a?, b?];
            Some(bond)
        })
        .collect();
    molecule.link();
}

/// The element whose valences an atom has: that of as many electrons, so that N⁺ is as carbon.
fn isoelectronic(atom: &Atom) -> &'static Element {
    let own = atom.element();
    match own.valences {
        [] => own,
        _ => {
            let number = i32::from(atom.number) - i32::from(atom.charge);
            element(number.clamp(0, i32::from(LAST)) as u8)
        }
    }
}

/// Whether an atom keeps the valences of its own element whatever its charge (P⁻ as in PF₆⁻).
fn is_hypervalent(atom: &Atom) -> bool {
    let like = i32::from(atom.number) - i32::from(atom.charge);
    match atom.number {
        15 | 16 => like > 16,
        33 | 34 => like > 34,
        _ => false,
    }
}

/// Whether an atom takes part in aromatic bonds.
fn is_aromatic(molecule: &Molecule, atom: usize) -> bool {
    molecule.atoms[atom].aromatic || molecule.around(atom).any(|bond| bond.order == Order::Aromatic)
}

/// The valence that an atom's bonds and written hydrogens use; an aromatic bond counts one and a
/// half, and an aromatic atom that would exceed a valence by no more than that has just it.
pub(super) fn explicit_valence(molecule: &Molecule, at: usize) -> i32 {
    let atom = &molecule.atoms[at];
    let mut halves = molecule.halves(at) + 2 * i32::from(atom.hydrogens);
    let like = isoelectronic(atom);
    if let Some(usual) = like.valence()
        && halves > 2 * usual
        && is_aromatic(molecule, at)
    {
        let valences = like.valences.iter().map(|&valence| i32::from(valence));
        let below = valences.take_while(|&valence| 2 * valence <= halves).last();
        let below = below.unwrap_or(usual);
        if halves - 2 * below <= 3 {
            halves = 2 * below;
        }
    }
    // A half counts as a whole.
    (halves + 1).div_euclid(2)
}

/// Counts the hydrogens that follow from valences, for all atoms that do not say theirs.
///
/// # Errors
/// An atom with more bonds than its element can have.
pub(super) fn fill(molecule: &mut Molecule) -> Result<(), Wrong> {
    for at in 0..molecule.atoms.len() {
        let used = explicit_valence(molecule, at);
        let implied = implied(molecule, at, used).map_err(|what| {
            let atom = &molecule.atoms[at];
            let what = format!("{} has {used} bonds, {what}", atom.element().symbol);
            Wrong::new(molecule.places[at] as usize, what)
        })?;
        let atom = &mut molecule.atoms[at];
        atom.hydrogens = atom.hydrogens.saturating_add(implied);
    }
    Ok(())
}

/// How many hydrogens an atom has beyond those that are written, where its bonds use `used`.
fn implied(molecule: &Molecule, at: usize, used: i32) -> Result<u16, String> {
    let atom = &molecule.atoms[at];
    let (own, like) = (atom.element(), isoelectronic(atom));
    let hypervalent = is_hypervalent(atom);
    let (most, beyond) = match (atom.number, atom.charge, hypervalent) {
        (1, -1, _) => (Some(2), used),
        (_, charge, true) => (own.most(), used - i32::from(charge)),
        _ => (like.most(), used),
    };
    if let Some(most) = most.filter(|_| own.most().is_some())
        && beyond > most
    {
        return Err(format!("more than the {most} it can have"));
    }
    if atom.counted || atom.number == 0 {
        return Ok(0);
    }
    let Some(usual) = like.valence() else { return Ok(0) };
    let taken = i32::from(atom.radicals) + beyond;
    let valences = if hypervalent { own.valences } else { like.valences };
    let mut valences = valences.iter().map(|&valence| i32::from(valence));
    let free = if is_aromatic(molecule, at) {
        if taken > usual && !valences.any(|valence| valence == taken) {
            return Err("which is no valence of an aromatic atom of its kind".to_owned());
        }
        (usual - taken).max(0)
    } else {
        match valences.find(|&valence| taken <= valence) {
            Some(valence) => valence - taken,
            None if like.lax || own.most().is_none() => 0,
            None => return Err("more than it can have".to_owned()),
        }
    };
    Ok(u16::try_from(free).unwrap_or(0))
}

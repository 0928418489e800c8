//! Spellings of groups that have another, usual one, which RDKit turns into it.

use super::elements::{element, is_metal};
use super::hydrogens::explicit_valence;
use super::molecule::{Molecule, Order};

/// Writes pentavalent nitrogen, some phosphorus and the oxides of halogens with charges
/// (`N(=O)=O` as `[N+](=O)[O-]`), and bonds of metals to atoms that have none left as dative ones.
pub(super) fn clean(molecule: &mut Molecule) {
    let mut metals = false;
    let mut nitrogens = Vec::new();
    for at in 0..molecule.atoms.len() {
        let atom = molecule.atoms[at];
        metals |= is_metal(atom.number);
        if atom.number == 7 && atom.charge == 0 && explicit_valence(molecule, at) == 5 {
            nitrogens.push(at);
            separate(molecule, at, Order::Double, 8);
        }
    }
    for at in nitrogens {
        separate(molecule, at, Order::Triple, 7);
    }
    for at in 0..molecule.atoms.len() {
        match molecule.atoms[at].number {
            15 => phosphorus(molecule, at),
            17 | 35 | 53 => halogen(molecule, at),
            _ => {}
        }
    }
    if metals {
        coordinate(molecule);
    }
}

/// The bond of `at` to a neutral atom of an element, of that order.
fn bond_to(molecule: &Molecule, at: usize, order: Order, number: u8) -> Option<usize> {
    let mut bonds = molecule.bonds_of(at).iter().map(|&bond| bond as usize);
    bonds.find(|&bond| {
        let bond = &molecule.bonds[bond];
        let other = &molecule.atoms[bond.other(at)];
        bond.order == order && other.number == number && other.charge == 0
    })
}

/// Takes one from the order of such a bond, and charges its ends.
fn separate(molecule: &mut Molecule, at: usize, order: Order, number: u8) {
    if let Some(bond) = bond_to(molecule, at, order, number) {
        let other = molecule.bonds[bond].other(at);
        molecule.bonds[bond].order = match order {
            Order::Triple => Order::Double,
            _ => Order::Single,
        };
        molecule.atoms[at].charge = 1;
        molecule.atoms[other].charge = -1;
    }
}

/// `C=P(=O)X` as `C=[P+]([O-])X`.
fn phosphorus(molecule: &mut Molecule, at: usize) {
    let right = molecule.atoms[at].charge == 0
        && molecule.degree(at) == 3
        && explicit_valence(molecule, at) == 5;
    let double_to_heavy = molecule.around(at).any(|bond| {
        let other = bond.other(at);
        bond.order == Order::Double
            && matches!(molecule.atoms[other].number, 6 | 7)
            && molecule.degree(other) >= 2
    });
    if right && double_to_heavy {
        separate(molecule, at, Order::Double, 8);
    }
}

/// `Cl(=O)(=O)O` as `[Cl+2]([O-])([O-])O`.
fn halogen(molecule: &mut Molecule, at: usize) {
    if molecule.atoms[at].charge != 0 || !matches!(explicit_valence(molecule, at), 3 | 5 | 7) {
        return;
    }
    if molecule.around(at).any(|bond| molecule.atoms[bond.other(at)].number != 8) {
        return;
    }
    for place in 0..molecule.degree(at) {
        let bond = molecule.bonds_of(at)[place] as usize;
        if molecule.bonds[bond].order == Order::Double {
            molecule.bonds[bond].order = Order::Single;
            let other = molecule.bonds[bond].other(at);
            molecule.atoms[other].charge = -1;
            molecule.atoms[at].charge += 1;
        }
    }
}

/// Makes a single bond from an atom beyond its valences to a metal a dative one.
fn coordinate(molecule: &mut Molecule) {
    for at in 0..molecule.atoms.len() {
        let atom = molecule.atoms[at];
        let like = i32::from(atom.number) - i32::from(atom.charge);
        if is_metal(atom.number) || matches!(atom.number, 0 | 1 | 2 | 9 | 10) || like <= 0 {
            continue;
        }
        let Some(most) = element(u8::try_from(like).unwrap_or(0)).most() else { continue };
        let used = explicit_valence(molecule, at);
        let degree = molecule.degree(at) + usize::from(atom.hydrogens);
        if used < most || used == most && !(atom.aromatic && degree == 4) || most == 0 {
            continue;
        }
        let datives = |metal: usize| {
            molecule.around(metal).filter(|bond| bond.order == Order::Dative).count()
        };
        let bonds = molecule.bonds_of(at).iter().map(|&bond| bond as usize);
        let to_metal = bonds.filter(|&bond| {
            let bond = &molecule.bonds[bond];
            bond.order == Order::Single && is_metal(molecule.atoms[bond.other(at)].number)
        });
        if let Some(bond) = to_metal.min_by_key(|&bond| datives(molecule.bonds[bond].other(at))) {
            let metal = molecule.bonds[bond].other(at);
            molecule.bonds[bond].order = Order::Dative;
            molecule.bonds[bond].ends = [at as u32, metal as u32];
        }
    }
}

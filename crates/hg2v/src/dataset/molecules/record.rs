//! A molecule as a record, and what is wrong with one as an error.

use super::label::{AtomLabel, BondKind};
use super::molecule::{Molecule, Wrong};
use super::rings::Ring;
use crate::dataset::Limits;
use crate::dataset::fault::Fault;
use crate::error::{Limit, Problem, shown};
use crate::graph::{Features, GraphRecord, Scalar};

/// What the attributes of an atom are, in order, where
/// [`Limits::atom_attributes`](crate::dataset::Limits::atom_attributes) asks for them.
pub const ATTRIBUTES: [&str; 11] = [
    "degree",
    "hydrogens",
    "valence",
    "charge",
    "mass",
    "in a ring",
    "in a ring of 3",
    "in a ring of 4",
    "in a ring of 5",
    "in a ring of 6",
    "in a larger ring",
];

/// How many atoms a molecule may have.
pub(super) fn most_atoms(limits: &Limits) -> u64 {
    limits.max_nodes.min(u64::from(u32::MAX))
}

/// The graph of a molecule.
pub(super) fn record(molecule: &Molecule, rings: &[Ring], limits: &Limits) -> GraphRecord {
    let atoms = molecule.atoms.iter();
    let labels = atoms.map(|atom| Scalar::Text(AtomLabel::of(atom).to_string().into()));
    let bonds = molecule.bonds.iter();
    let kinds = bonds.clone().map(|bond| Scalar::from(BondKind::of(bond.order).word()));
    GraphRecord {
        num_nodes: molecule.atoms.len() as u32,
        edges: bonds.map(|bond| bond.ends).collect(),
        node_labels: Some(labels.collect()),
        edge_labels: Some(kinds.collect()),
        features: limits.atom_attributes.then(|| attributes(molecule, rings)),
        ..GraphRecord::default()
    }
}

fn attributes(molecule: &Molecule, rings: &[Ring]) -> Features {
    let dim = ATTRIBUTES.len();
    let mut values = vec![0.0; dim * molecule.atoms.len()];
    for (at, row) in values.chunks_exact_mut(dim).enumerate() {
        let atom = &molecule.atoms[at];
        row[0] = molecule.degree(at) as f64;
        row[1] = f64::from(atom.hydrogens);
        row[2] = f64::from(molecule.halves(at)) / 2.0 + row[1];
        row[3] = f64::from(atom.charge);
        row[4] = match atom.isotope {
            0 => atom.element().mass,
            isotope => f64::from(isotope),
        };
    }
    for ring in rings {
        let size = ring.atoms.len().clamp(3, 7);
        for &at in &ring.atoms {
            values[at as usize * dim + 5] = 1.0;
            values[at as usize * dim + 3 + size] = 1.0;
        }
    }
    Features { dim, values }
}

/// What is wrong with a SMILES.
pub(super) fn fault(text: &[u8], wrong: Wrong, limits: &Limits) -> Fault {
    if wrong.beyond {
        return too_many(limits);
    }
    let text = String::from_utf8_lossy(text);
    let at = wrong.at + 1;
    let what = format!("the SMILES {} is no molecule: at {at}, {}", shown(&text), wrong.what);
    Fault::new(what, "correct it, or leave the molecule out")
}

/// More atoms than are allowed.
pub(super) fn too_many(limits: &Limits) -> Fault {
    Fault::from(Problem::Beyond {
        limit: Limit::Nodes,
        found: None,
        allowed: limits.max_nodes,
        what: "the molecule has more atoms".into(),
        fix: None,
    })
}

//! Graphs that are molecules: nodes are labelled by atoms (`CH3`, `cH`, `NH3+`), edges by bonds (`single`,
//! `aromatic`). Labels that are numbers say nothing of the kind.

use std::collections::BTreeMap;

use hg2v::dataset::molecules::{AtomLabel, BondKind};
use hg2v::graph::{GraphRecord, Scalar};

/// How the lines of a bond are drawn.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Bond {
    /// `single`, and `dative`.
    #[default]
    Single,
    /// `double`
    Double,
    /// `triple`, and `quadruple`.
    Triple,
    /// `aromatic`
    Aromatic,
}

/// The atom that has this label.
pub fn atom(label: &Scalar) -> Option<AtomLabel> {
    let Scalar::Text(text) = label else { return None };
    text.parse().ok()
}

impl Bond {
    /// The bond that has this label.
    pub fn of(label: &Scalar) -> Option<Bond> {
        let Scalar::Text(text) = label else { return None };
        match text.parse().ok()? {
            BondKind::Single | BondKind::Dative => Some(Bond::Single),
            BondKind::Double => Some(Bond::Double),
            BondKind::Triple | BondKind::Quadruple => Some(Bond::Triple),
            BondKind::Aromatic => Some(Bond::Aromatic),
            _ => None,
        }
    }
}

/// The atoms of all molecules of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chemistry {
    /// Elements, the commonest first.
    pub elements: Vec<&'static str>,
    /// Atoms that are not alike, the commonest first.
    pub atoms: Vec<AtomLabel>,
    /// The place of each label among them.
    places: BTreeMap<Scalar, usize>,
}

impl Chemistry {
    /// What is in `records`, where all of them are molecules.
    pub fn of(records: &[GraphRecord]) -> Option<Chemistry> {
        let mut counts: BTreeMap<&Scalar, usize> = BTreeMap::new();
        let mut before = None;
        for record in records {
            let labels = record.node_labels.as_deref().unwrap_or_default();
            let bonds = record.edge_labels.as_deref().unwrap_or_default();
            if labels.len() != record.num_nodes as usize || bonds.len() != record.edges.len() {
                return None;
            }
            labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
            for bond in bonds {
                // Most bonds are like the one before.
                if before != Some(bond) && Bond::of(bond).is_none() {
                    return None;
                }
                before = Some(bond);
            }
        }
        // Without any bond, letters are just letters.
        before?;
        Chemistry::counted(counts)
    }

    fn counted(counts: BTreeMap<&Scalar, usize>) -> Option<Chemistry> {
        let mut labels: Vec<(&Scalar, usize)> = counts.into_iter().collect();
        labels.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        let mut known = Chemistry::default();
        let mut elements: BTreeMap<&str, usize> = BTreeMap::new();
        for (at, (label, count)) in labels.into_iter().enumerate() {
            let atom = atom(label)?;
            *elements.entry(atom.symbol()).or_default() += count;
            known.places.insert(label.clone(), at);
            known.atoms.push(atom);
        }
        let mut elements: Vec<(&str, usize)> = elements.into_iter().collect();
        elements.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        known.elements = elements.into_iter().map(|(symbol, _)| symbol).collect();
        Some(known)
    }

    /// The places of a molecule's atoms among [`atoms`](Self::atoms).
    pub fn places(&self, record: &GraphRecord) -> Vec<usize> {
        let labels = record.node_labels.as_deref().unwrap_or_default();
        let place = |label: &Scalar| self.places.get(label).copied().unwrap_or(0);
        labels.iter().map(place).collect()
    }

    /// The place of an atom's element among [`elements`](Self::elements).
    pub fn element(&self, atom: usize) -> usize {
        let symbol = self.atoms[atom].symbol();
        self.elements.iter().position(|&element| element == symbol).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn molecules_are_told_from_other_graphs() {
        let labelled = |atoms: &[&str], bonds: &[&str]| GraphRecord {
            num_nodes: atoms.len() as u32,
            edges: (1..atoms.len() as u32).map(|v| [v - 1, v]).collect(),
            node_labels: Some(atoms.iter().map(|&label| Scalar::from(label)).collect()),
            edge_labels: Some(bonds.iter().map(|&label| Scalar::from(label)).collect()),
            ..GraphRecord::default()
        };
        let ethanol = labelled(&["CH3", "CH2", "OH"], &["single", "single"]);
        let water = labelled(&["OH2"], &[]);
        let both = [ethanol.clone(), water.clone(), ethanol.clone()];
        let found = Chemistry::of(&both).unwrap();
        assert_eq!(found.elements, ["C", "O"]);
        assert_eq!(found.atoms.len(), 4);
        let atoms = found.places(&ethanol);
        assert_eq!(atoms.iter().map(|&atom| found.element(atom)).collect::<Vec<_>>(), [0, 0, 1]);
        // Letters without bonds, bonds or atoms of another kind, no labels, labels that are numbers.
        assert_eq!(Chemistry::of(&[water]), None);
        assert_eq!(Chemistry::of(&[labelled(&["C", "N"], &["likes"])]), None);
        assert_eq!(Chemistry::of(&[ethanol.clone(), labelled(&["C", "Q"], &["single"])]), None);
        assert_eq!(Chemistry::of(&[GraphRecord { edge_labels: None, ..ethanol.clone() }]), None);
        let numbers = Some([6, 6, 8].map(Scalar::Int).to_vec());
        assert_eq!(Chemistry::of(&[GraphRecord { node_labels: numbers, ..ethanol }]), None);
        assert_eq!(Chemistry::of(&[]), None);
    }
}

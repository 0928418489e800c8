//! Graphs that are molecules.
//!
//! Their nodes are labelled by atoms (`CH3`, `cH`, `NH3+`, `O-`: isotope, element, in lower
//! case where it is aromatic, hydrogens, charge), their edges by bonds (`single`, `aromatic`). Labels that
//! are numbers say nothing of the kind.

use std::collections::BTreeMap;

use hg2v::graph::{GraphRecord, Scalar};

/// An atom, as its label tells it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Atom {
    /// Its element; `*` where that can be any.
    pub symbol: String,
    /// Whether it is part of an aromatic ring.
    pub aromatic: bool,
    /// Hydrogens that are no atoms of their own.
    pub hydrogens: u16,
    /// Its charge.
    pub charge: i8,
    /// Nucleons; 0 is the natural mixture.
    pub isotope: u16,
}

/// How two atoms are bound, as the label of an edge tells it.
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

impl Atom {
    /// The atom that has this label.
    pub fn of(label: &Scalar) -> Option<Atom> {
        let Scalar::Text(text) = label else { return None };
        let (isotope, rest) = digits(text)?;
        let (letters, rest) = rest.split_at(symbol_length(rest));
        let aromatic = letters.starts_with(|letter: char| letter.is_ascii_lowercase());
        let mut symbol = letters.to_owned();
        symbol.get_mut(..1)?.make_ascii_uppercase();
        if symbol != "*" && !SYMBOLS.split(' ').any(|known| known == symbol) {
            return None;
        }
        let (hydrogens, rest) = match rest.strip_prefix('H') {
            Some(rest) if rest.starts_with(|letter: char| letter.is_ascii_digit()) => digits(rest)?,
            Some(rest) => (1, rest),
            None => (0, rest),
        };
        let charge = match rest {
            "" => 0,
            "+" => 1,
            "-" => -1,
            _ if rest.starts_with(['+', '-']) => rest.parse().ok()?,
            _ => return None,
        };
        Some(Atom { symbol, aromatic, hydrogens, charge, isotope })
    }
}

/// The number that a text begins with, 0 without one, and the rest.
fn digits(text: &str) -> Option<(u16, &str)> {
    let (digits, rest) = text.split_at(text.bytes().take_while(u8::is_ascii_digit).count());
    if digits.is_empty() { Some((0, rest)) } else { Some((digits.parse().ok()?, rest)) }
}

/// One letter, and those in lower case that follow it.
fn symbol_length(text: &str) -> usize {
    let mut letters = text.bytes();
    match letters.next() {
        Some(b'*' | b'A'..=b'Z' | b'a'..=b'z') => {
            1 + letters.take_while(u8::is_ascii_lowercase).count()
        }
        _ => 0,
    }
}

impl Bond {
    /// The bond that has this label.
    pub fn of(label: &Scalar) -> Option<Bond> {
        let Scalar::Text(text) = label else { return None };
        match &**text {
            "single" | "dative" => Some(Bond::Single),
            "double" => Some(Bond::Double),
            "triple" | "quadruple" => Some(Bond::Triple),
            "aromatic" => Some(Bond::Aromatic),
            _ => None,
        }
    }
}

/// The atoms of all molecules of a page.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Chemistry {
    /// Elements, the commonest first.
    pub elements: Vec<String>,
    /// Atoms that are not alike, the commonest first.
    pub atoms: Vec<Atom>,
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
        let mut elements: BTreeMap<String, usize> = BTreeMap::new();
        for (at, (label, count)) in labels.into_iter().enumerate() {
            let atom = Atom::of(label)?;
            *elements.entry(atom.symbol.clone()).or_default() += count;
            known.places.insert(label.clone(), at);
            known.atoms.push(atom);
        }
        let mut elements: Vec<(String, usize)> = elements.into_iter().collect();
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
        let symbol = &self.atoms[atom].symbol;
        self.elements.iter().position(|element| element == symbol).unwrap_or(0)
    }
}

/// All elements.
const SYMBOLS: &str = "H He Li Be B C N O F Ne Na Mg Al Si P S Cl Ar K Ca Sc Ti V Cr Mn Fe Co Ni \
    Cu Zn Ga Ge As Se Br Kr Rb Sr Y Zr Nb Mo Tc Ru Rh Pd Ag Cd In Sn Sb Te I Xe Cs Ba La Ce Pr Nd Pm \
    Sm Eu Gd Tb Dy Ho Er Tm Yb Lu Hf Ta W Re Os Ir Pt Au Hg Tl Pb Bi Po At Rn Fr Ra Ac Th Pa U Np Pu \
    Am Cm Bk Cf Es Fm Md No Lr Rf Db Sg Bh Hs Mt Ds Rg Cn Nh Fl Mc Lv Ts Og";

#[cfg(test)]
mod tests {
    use super::*;

    fn atom(text: &str) -> Option<(String, bool, u16, i8, u16)> {
        let atom = Atom::of(&Scalar::from(text))?;
        Some((atom.symbol, atom.aromatic, atom.hydrogens, atom.charge, atom.isotope))
    }

    #[test]
    fn labels_are_atoms() {
        let known = |symbol: &str, aromatic, hydrogens, charge, isotope| {
            Some((symbol.to_owned(), aromatic, hydrogens, charge, isotope))
        };
        assert_eq!(atom("CH3"), known("C", false, 3, 0, 0));
        assert_eq!(atom("cH"), known("C", true, 1, 0, 0));
        assert_eq!(atom("NH3+"), known("N", false, 3, 1, 0));
        assert_eq!(atom("O-"), known("O", false, 0, -1, 0));
        assert_eq!(atom("Fe+2"), known("Fe", false, 0, 2, 0));
        assert_eq!(atom("se"), known("Se", true, 0, 0, 0));
        assert_eq!(atom("13CH4"), known("C", false, 4, 0, 13));
        assert_eq!(atom("2H"), known("H", false, 0, 0, 2));
        assert_eq!(atom("*"), known("*", false, 0, 0, 0));
        for other in ["", "Xy", "carbon", "C?", "7", "CH3CH3", "+", "é", "99999999C", "C+x"] {
            assert_eq!(atom(other), None, "{other}");
        }
        assert_eq!(Atom::of(&Scalar::Int(6)), None);
    }

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

//! A molecule between its file and its graph.

use super::elements::{Element, element};

/// An atom.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Atom {
    /// Its atomic number; 0 is any atom, `*`.
    pub(super) number: u8,
    pub(super) charge: i8,
    /// Nucleons, where the file says it; 0 is the natural mixture.
    pub(super) isotope: u16,
    /// Hydrogens: those that are written, then those that follow from its bonds as well.
    pub(super) hydrogens: u16,
    /// Whether the file says all its hydrogens, as SMILES does in brackets.
    pub(super) counted: bool,
    pub(super) aromatic: bool,
    /// Electrons that have no partner.
    pub(super) radicals: u8,
    /// Whether its stereo mark needs its hydrogens as atoms (`@SP`, `@TB`, `@OH`).
    pub(super) spatial: bool,
}

impl Atom {
    pub(super) fn element(&self) -> &'static Element {
        element(self.number)
    }
}

/// How two atoms are bound.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Order {
    #[default]
    Single,
    Double,
    Triple,
    Quadruple,
    Aromatic,
    /// Both electrons come from the first of its ends.
    Dative,
}

impl Order {
    /// Twice what the bond adds to the valence of the end at `side` (0 or 1).
    pub(super) fn halves(self, side: usize) -> i32 {
        match self {
            Order::Single => 2,
            Order::Double => 4,
            Order::Triple => 6,
            Order::Quadruple => 8,
            Order::Aromatic => 3,
            Order::Dative => 2 * side as i32,
        }
    }
}

/// A bond between two atoms, by their positions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Bond {
    pub(super) ends: [u32; 2],
    pub(super) order: Order,
    /// Whether it carries a mark of direction (`/`, `\`).
    pub(super) marked: bool,
}

impl Bond {
    /// The end that is not `atom`.
    pub(super) fn other(&self, atom: usize) -> usize {
        let [a, b] = self.ends;
        (if a as usize == atom { b } else { a }) as usize
    }

    /// Twice what it adds to the valence of `atom`.
    pub(super) fn halves(&self, atom: usize) -> i32 {
        self.order.halves(usize::from(self.ends[0] as usize != atom))
    }
}

/// Atoms and the bonds between them, and where the atoms stand in the text they were read from.
#[derive(Debug, Clone, Default)]
pub(super) struct Molecule {
    pub(super) atoms: Vec<Atom>,
    pub(super) bonds: Vec<Bond>,
    /// The byte of a SMILES, or the line of a MOL block, where each atom begins, from 0.
    pub(super) places: Vec<u32>,
    /// Whether the text had stereo marks, which are left out.
    pub(super) stereo: bool,
    /// The bonds of an atom are `list[starts[atom]..starts[atom + 1]]`.
    starts: Vec<u32>,
    list: Vec<u32>,
}

impl Molecule {
    /// Puts the bonds beside their atoms; to be called whenever bonds came or went.
    pub(super) fn link(&mut self) {
        self.starts.clear();
        self.starts.resize(self.atoms.len() + 1, 0);
        for bond in &self.bonds {
            for end in bond.ends {
                self.starts[end as usize] += 1;
            }
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        self.list.clear();
        self.list.resize(sum as usize, 0);
        for (at, bond) in self.bonds.iter().enumerate().rev() {
            for end in bond.ends {
                let start = &mut self.starts[end as usize];
                *start -= 1;
                self.list[*start as usize] = at as u32;
            }
        }
    }

    /// The bonds of an atom, by position, in their order.
    pub(super) fn bonds_of(&self, atom: usize) -> &[u32] {
        &self.list[self.starts[atom] as usize..self.starts[atom + 1] as usize]
    }

    /// The bonds of an atom.
    pub(super) fn around(&self, atom: usize) -> impl Iterator<Item = &Bond> {
        self.bonds_of(atom).iter().map(|&bond| &self.bonds[bond as usize])
    }

    /// How many bonds an atom has.
    pub(super) fn degree(&self, atom: usize) -> usize {
        self.bonds_of(atom).len()
    }

    /// Twice the orders of the bonds of an atom, summed.
    pub(super) fn halves(&self, atom: usize) -> i32 {
        self.around(atom).map(|bond| bond.halves(atom)).sum()
    }
}

/// What is wrong with a molecule, and the position in its text (of the atom in question).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Wrong {
    pub(super) at: u32,
    pub(super) what: String,
    /// Whether it has more atoms than are allowed.
    pub(super) beyond: bool,
}

impl Wrong {
    pub(super) fn new(at: usize, what: impl Into<String>) -> Wrong {
        Wrong { at: u32::try_from(at).unwrap_or(u32::MAX), what: what.into(), beyond: false }
    }
}

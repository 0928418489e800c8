//! The text that stands for an atom, and for a bond.
//!
//! An atom's label is what SMILES writes inside brackets, without stereo marks and atom classes: the
//! isotope where there is one, the element (in lower case where it is aromatic), the hydrogens, the
//! charge. `CH3`, `cH`, `NH3+`, `O-`, `nH`, `13CH4`, `Fe+2`, `*`.

use std::fmt;

use super::elements::{element, mass_difference, number};
use super::molecule::{Atom, Order};

/// An atom as its label tells it.
///
/// ```
/// use hg2v::dataset::molecules::AtomLabel;
///
/// let atom: AtomLabel = "NH3+".parse().unwrap();
/// assert_eq!((atom.number, atom.hydrogens, atom.charge), (7, 3, 1));
/// assert_eq!(atom.to_string(), "NH3+");
/// assert!("Xy".parse::<AtomLabel>().is_err());
/// ```
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct AtomLabel {
    /// The atomic number; 0 is any atom, `*`.
    pub number: u8,
    /// Whether it is part of an aromatic ring.
    pub aromatic: bool,
    /// Hydrogens that are no atoms of their own.
    pub hydrogens: u16,
    /// The charge.
    pub charge: i8,
    /// Nucleons; 0 is the natural mixture.
    pub isotope: u16,
}

impl AtomLabel {
    pub(super) fn of(atom: &Atom) -> AtomLabel {
        let Atom { number, aromatic, hydrogens, charge, isotope, .. } = *atom;
        AtomLabel { number, aromatic, hydrogens, charge, isotope }
    }

    /// The mass of the isotope less the mean mass of the element, cut to an integer; 0 for the
    /// natural mixture.
    pub fn mass_difference(&self) -> i32 {
        mass_difference(self.number, self.isotope)
    }
}

impl fmt::Display for AtomLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.isotope > 0 {
            write!(f, "{}", self.isotope)?;
        }
        let symbol = element(self.number).symbol;
        match self.aromatic {
            true => symbol
                .chars()
                .try_for_each(|letter| write!(f, "{}", letter.to_ascii_lowercase()))?,
            false => f.write_str(symbol)?,
        }
        match self.hydrogens {
            0 => {}
            1 => f.write_str("H")?,
            many => write!(f, "H{many}")?,
        }
        match self.charge {
            0 => Ok(()),
            1 => f.write_str("+"),
            -1 => f.write_str("-"),
            charge => write!(f, "{charge:+}"),
        }
    }
}

/// A text that is no atom's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoAtom;

impl fmt::Display for NoAtom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is no label of an atom, such as `CH3`, `cH` or `NH3+`")
    }
}

impl std::error::Error for NoAtom {}

impl std::str::FromStr for AtomLabel {
    type Err = NoAtom;

    fn from_str(text: &str) -> Result<AtomLabel, NoAtom> {
        let mut rest = text.as_bytes();
        let isotope = digits(&mut rest).unwrap_or(0);
        let lower = rest.iter().skip(1).take_while(|byte| byte.is_ascii_lowercase()).count();
        let (symbol, mut rest) = rest.split_at_checked(1 + lower).ok_or(NoAtom)?;
        let aromatic = symbol[0].is_ascii_lowercase();
        let mut proper = symbol.to_vec();
        proper[0].make_ascii_uppercase();
        let number = number(&proper).ok_or(NoAtom)?;
        let hydrogens = match rest.split_first() {
            Some((b'H', after)) => {
                rest = after;
                digits(&mut rest).unwrap_or(1)
            }
            _ => 0,
        };
        let charge = charge(rest).ok_or(NoAtom)?;
        let atom = AtomLabel { number, aromatic, hydrogens, charge, isotope };
        // One atom has one label.
        if atom.to_string() == text { Ok(atom) } else { Err(NoAtom) }
    }
}

fn digits(rest: &mut &[u8]) -> Option<u16> {
    let count = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    let (digits, after) = rest.split_at(count);
    let value = std::str::from_utf8(digits).ok()?.parse().ok()?;
    *rest = after;
    Some(value)
}

fn charge(rest: &[u8]) -> Option<i8> {
    match rest {
        b"" => Some(0),
        b"+" => Some(1),
        b"-" => Some(-1),
        [b'+' | b'-', ..] => std::str::from_utf8(rest).ok()?.parse().ok(),
        _ => None,
    }
}

/// How two atoms are bound, as the labels of edges tell it.
///
/// ```
/// use hg2v::dataset::molecules::BondKind;
///
/// assert_eq!("double".parse(), Ok(BondKind::Double));
/// ```
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BondKind {
    /// `single`
    Single,
    /// `double`
    Double,
    /// `triple`
    Triple,
    /// `quadruple`
    Quadruple,
    /// `aromatic`: of a ring in which single and double bonds are all alike.
    Aromatic,
    /// `dative`: the first end of the edge gives both electrons.
    Dative,
}

impl BondKind {
    const ALL: [BondKind; 6] = [
        BondKind::Single,
        BondKind::Double,
        BondKind::Triple,
        BondKind::Quadruple,
        BondKind::Aromatic,
        BondKind::Dative,
    ];

    pub(super) fn of(order: Order) -> BondKind {
        match order {
            Order::Single => BondKind::Single,
            Order::Double => BondKind::Double,
            Order::Triple => BondKind::Triple,
            Order::Quadruple => BondKind::Quadruple,
            Order::Aromatic => BondKind::Aromatic,
            Order::Dative => BondKind::Dative,
        }
    }

    /// Its label.
    pub fn word(self) -> &'static str {
        match self {
            BondKind::Single => "single",
            BondKind::Double => "double",
            BondKind::Triple => "triple",
            BondKind::Quadruple => "quadruple",
            BondKind::Aromatic => "aromatic",
            BondKind::Dative => "dative",
        }
    }
}

impl std::str::FromStr for BondKind {
    type Err = NoBond;

    fn from_str(text: &str) -> Result<BondKind, NoBond> {
        BondKind::ALL.into_iter().find(|kind| kind.word() == text).ok_or(NoBond)
    }
}

/// A text that is no bond's label.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NoBond;

impl fmt::Display for NoBond {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("it is no label of a bond, such as `single` or `aromatic`")
    }
}

impl std::error::Error for NoBond {}

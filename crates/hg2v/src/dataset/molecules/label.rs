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
/// assert_eq!((atom.symbol(), atom.to_string().as_str()), ("N", "NH3+"));
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

    /// The element as chemists write it; `*` is any atom.
    pub fn symbol(&self) -> &'static str {
        element(self.number).symbol
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
        let symbol = self.symbol();
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_atoms() {
        let atom = |text: &str| -> Result<_, NoAtom> {
            let atom: AtomLabel = text.parse()?;
            assert_eq!(atom.to_string(), text);
            Ok((atom.symbol(), atom.aromatic, atom.hydrogens, atom.charge, atom.isotope))
        };
        assert_eq!(atom("CH3"), Ok(("C", false, 3, 0, 0)));
        assert_eq!(atom("cH"), Ok(("C", true, 1, 0, 0)));
        assert_eq!(atom("NH3+"), Ok(("N", false, 3, 1, 0)));
        assert_eq!(atom("O-"), Ok(("O", false, 0, -1, 0)));
        assert_eq!(atom("Fe+2"), Ok(("Fe", false, 0, 2, 0)));
        assert_eq!(atom("se"), Ok(("Se", true, 0, 0, 0)));
        assert_eq!(atom("13CH4"), Ok(("C", false, 4, 0, 13)));
        assert_eq!(atom("2H"), Ok(("H", false, 0, 0, 2)));
        assert_eq!(atom("*"), Ok(("*", false, 0, 0, 0)));
        for other in
            ["", "Xy", "carbon", "C?", "7", "CH3CH3", "+", "é", "99999999C", "C+x", "C+1", "CH1"]
        {
            assert_eq!(atom(other), Err(NoAtom), "{other}");
        }
    }
}

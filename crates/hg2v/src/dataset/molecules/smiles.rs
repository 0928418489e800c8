//! SMILES as text: the grammar of OpenSMILES, without recursion.
//!
//! What the grammar leaves open is read as RDKit reads it. Beyond it, `->` and `<-` are dative
//! bonds, `[#6]` is an atom by its number and `%(123)` a ring closure. Patterns (`~`, `[C,N]`) and
//! reactions (`>`) are none.

use std::collections::BTreeMap;

use super::elements::{LAST, number};
use super::molecule::{Atom, Bond, Molecule, Order, Wrong};

type Parsed<T> = Result<T, Wrong>;

/// Reads a SMILES of at most `most` atoms, as it is written: no hydrogens are added, no aromatic
/// bonds found.
pub(super) fn parse(text: &[u8], most: u64) -> Parsed<Molecule> {
    let mut parser = Parser {
        text,
        at: 0,
        most,
        molecule: Molecule::default(),
        last: None,
        branches: Vec::new(),
        bond: None,
        rings: BTreeMap::new(),
        closed: false,
    };
    parser.molecule.atoms.reserve(text.len().min(128));
    parser.molecule.bonds.reserve(text.len().min(128));
    parser.all()?;
    parser.molecule.link();
    Ok(parser.molecule)
}

/// A bond as it is written.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Mark {
    order: Order,
    /// `/` or `\`.
    direction: bool,
    /// `<-`: the second end gives the electrons.
    backward: bool,
    at: usize,
}

/// One half of a ring closure.
struct Opened {
    atom: u32,
    bond: Option<Mark>,
    at: usize,
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
    most: u64,
    molecule: Molecule,
    /// The atom that the next one is bound to.
    last: Option<u32>,
    /// The atoms that branches started from, and where the branches begin.
    branches: Vec<(u32, usize)>,
    /// The bond that was written after `last`.
    bond: Option<Mark>,
    rings: BTreeMap<u32, Opened>,
    /// Whether any ring was closed.
    closed: bool,
}

impl Parser<'_> {
    fn all(&mut self) -> Parsed<()> {
        while let Some(&byte) = self.text.get(self.at) {
            match byte {
                b'[' => {
                    let place = self.at;
                    let atom = self.bracket()?;
                    self.add(atom, place)?;
                }
                b'(' => self.open()?,
                b')' => self.close()?,
                b'.' => self.dot()?,
                b'0'..=b'9' | b'%' => self.ring()?,
                b'-' | b'=' | b'#' | b'$' | b':' | b'/' | b'\\' | b'<' => self.mark()?,
                _ => self.organic()?,
            }
        }
        self.finish()
    }

    fn wrong<T>(&self, at: usize, what: impl Into<String>) -> Parsed<T> {
        Err(Wrong::new(at, what))
    }

    /// The character at `at`, for a message.
    fn shown(&self, at: usize) -> String {
        match std::str::from_utf8(&self.text[at..]).ok().and_then(|text| text.chars().next()) {
            Some(character) => format!("`{}`", character.escape_debug()),
            None => format!("the byte {}", self.text[at]),
        }
    }

    /// An atom without brackets.
    fn organic(&mut self) -> Parsed<()> {
        let (place, rest) = (self.at, &self.text[self.at..]);
        let (number, aromatic, length) = match rest {
            [b'C', b'l', ..] => (17, false, 2),
            [b'B', b'r', ..] => (35, false, 2),
            [b'C', ..] => (6, false, 1),
            [b'c', ..] => (6, true, 1),
            [b'N', ..] => (7, false, 1),
            [b'n', ..] => (7, true, 1),
            [b'O', ..] => (8, false, 1),
            [b'o', ..] => (8, true, 1),
            [b'S', ..] => (16, false, 1),
            [b's', ..] => (16, true, 1),
            [b'F', ..] => (9, false, 1),
            [b'P', ..] => (15, false, 1),
            [b'p', ..] => (15, true, 1),
            [b'I', ..] => (53, false, 1),
            [b'B', ..] => (5, false, 1),
            [b'b', ..] => (5, true, 1),
            [b'*', ..] => (0, false, 1),
            _ => return self.unexpected(),
        };
        self.at += length;
        // Any atom has no hydrogens but those that are written.
        let atom = Atom { number, aromatic, counted: number == 0, ..Atom::default() };
        self.add(atom, place)
    }

    fn unexpected(&self) -> Parsed<()> {
        let what = match self.text[self.at] {
            b'>' => "`>` makes it a reaction, which is no molecule".to_owned(),
            b'~' => "`~` is any bond, which makes it a pattern and no molecule".to_owned(),
            b']' => "`]` closes no bracket".to_owned(),
            b'A'..=b'Z' | b'a'..=b'z' => {
                format!("{} is no atom that may stand without brackets", self.shown(self.at))
            }
            _ => format!("{} is no part of SMILES", self.shown(self.at)),
        };
        self.wrong(self.at, what)
    }

    /// Adds an atom and its bond to the last one.
    fn add(&mut self, atom: Atom, place: usize) -> Parsed<()> {
        let new = self.molecule.atoms.len();
        if new as u64 >= self.most {
            return Err(Wrong { beyond: true, ..Wrong::new(place, "it has too many atoms") });
        }
        let new = new as u32;
        self.molecule.atoms.push(atom);
        self.molecule.places.push(u32::try_from(place).unwrap_or(u32::MAX));
        let mark = self.bond.take();
        match (self.last, mark) {
            (Some(last), mark) => self.bind(last, new, mark),
            (None, Some(mark)) => return self.wrong(mark.at, "a bond with no atom before it"),
            (None, None) => {}
        }
        self.last = Some(new);
        Ok(())
    }

    fn bind(&mut self, from: u32, to: u32, mark: Option<Mark>) {
        let aromatic = |atom: u32| self.molecule.atoms[atom as usize].aromatic;
        let (order, direction, backward) = match mark {
            Some(mark) if mark.direction && aromatic(from) && aromatic(to) => {
                (Order::Aromatic, true, false)
            }
            Some(mark) => (mark.order, mark.direction, mark.backward),
            None if aromatic(from) && aromatic(to) => (Order::Aromatic, false, false),
            None => (Order::Single, false, false),
        };
        self.molecule.stereo |= direction;
        let ends = if backward { [to, from] } else { [from, to] };
        self.molecule.bonds.push(Bond { ends, order, marked: direction });
    }

    /// A bond's symbol.
    fn mark(&mut self) -> Parsed<()> {
        let (at, rest) = (self.at, &self.text[self.at..]);
        if self.bond.is_some() {
            return self.wrong(at, "two bonds in a row");
        }
        let (order, length) = match rest {
            // As files have it where something escaped it.
            [b'\\', b'\\', ..] => (Order::Single, 2),
            [b'-', b'>', ..] | [b'<', b'-', ..] => (Order::Dative, 2),
            [b'=', ..] => (Order::Double, 1),
            [b'#', ..] => (Order::Triple, 1),
            [b'$', ..] => (Order::Quadruple, 1),
            [b':', ..] => (Order::Aromatic, 1),
            [b'<', ..] => return self.wrong(at, "`<` is no part of SMILES"),
            _ => (Order::Single, 1),
        };
        let direction = matches!(rest[0], b'/' | b'\\');
        self.bond = Some(Mark { order, direction, backward: rest[0] == b'<', at });
        self.at += length;
        Ok(())
    }

    fn open(&mut self) -> Parsed<()> {
        let Some(last) = self.last else {
            return self.wrong(self.at, "`(` with no atom before it");
        };
        if let Some(mark) = self.bond {
            return self.wrong(mark.at, "a bond before `(`, where it must stand behind it");
        }
        if self.at > 0 && self.text[self.at - 1] == b'(' {
            return self.wrong(self.at, "`((` opens a branch of a branch without an atom");
        }
        self.branches.push((last, self.at));
        self.at += 1;
        Ok(())
    }

    fn close(&mut self) -> Parsed<()> {
        if let Some(mark) = self.bond {
            return self.wrong(mark.at, "a bond with no atom behind it");
        }
        if self.at > 0 && matches!(self.text[self.at - 1], b'(' | b'.') {
            return self.wrong(self.at, "`)` closes a branch without an atom");
        }
        let Some((atom, _)) = self.branches.pop() else {
            return self.wrong(self.at, "`)` closes no branch");
        };
        self.last = Some(atom);
        self.at += 1;
        Ok(())
    }

    fn dot(&mut self) -> Parsed<()> {
        if let Some(mark) = self.bond {
            return self.wrong(mark.at, "a bond with no atom behind it");
        }
        if self.last.is_none() {
            return self.wrong(self.at, "`.` with no atom before it");
        }
        self.last = None;
        self.at += 1;
        Ok(())
    }

    /// A ring closure: the first of a number opens it, the second closes it.
    fn ring(&mut self) -> Parsed<()> {
        let at = self.at;
        let number = self.ring_number()?;
        let Some(atom) = self.last else {
            return self.wrong(at, "a ring closure with no atom before it");
        };
        let bond = self.bond.take();
        let before = bond.map_or(at, |mark| mark.at).checked_sub(1);
        if before.is_some_and(|before| self.text[before] == b'(') {
            return self.wrong(at, "a ring closure behind `(`, where it must stand before it");
        }
        let Some(opened) = self.rings.remove(&number) else {
            self.rings.insert(number, Opened { atom, bond, at });
            return Ok(());
        };
        if opened.atom == atom {
            return self.wrong(at, format!("the ring closure {number} binds an atom to itself"));
        }
        let agreed = match (opened.bond, bond) {
            (Some(first), Some(second)) if first.order != second.order => {
                let what = format!("the two ends of ring closure {number} are different bonds");
                return self.wrong(second.at, what);
            }
            // Written at its second end, a dative bond points the other way.
            (None, Some(mark)) if mark.order == Order::Dative => {
                Some(Mark { backward: !mark.backward, ..mark })
            }
            (first, second) => first.or(second),
        };
        self.bind(opened.atom, atom, agreed);
        self.closed = true;
        Ok(())
    }

    fn ring_number(&mut self) -> Parsed<u32> {
        let at = self.at;
        let digit = |at: usize| {
            let byte = self.text.get(at).filter(|byte| byte.is_ascii_digit());
            byte.map(|byte| u32::from(byte - b'0'))
        };
        if let Some(number) = digit(at) {
            self.at += 1;
            return Ok(number);
        }
        if let (Some(tens), Some(ones)) = (digit(at + 1), digit(at + 2)) {
            self.at += 3;
            return Ok(10 * tens + ones);
        }
        if self.text.get(at + 1) == Some(&b'(') {
            let digits = self.text[at + 2..].iter().take_while(|byte| byte.is_ascii_digit());
            let digits = digits.count();
            if (1..=5).contains(&digits) && self.text.get(at + 2 + digits) == Some(&b')') {
                let number = (0..digits).fold(0, |n, i| 10 * n + digit(at + 2 + i).unwrap_or(0));
                self.at += digits + 3;
                return Ok(number);
            }
        }
        self.wrong(at, "`%` without the two digits of a ring closure")
    }

    /// `[isotope symbol chirality hydrogens charge :class]`.
    fn bracket(&mut self) -> Parsed<Atom> {
        let start = self.at;
        self.at += 1;
        let isotope = match self.number(4) {
            None => 0,
            Some(isotope) => isotope as u16,
        };
        let (number, aromatic) = self.symbol(start)?;
        let mut atom = Atom { number, aromatic, isotope, counted: true, ..Atom::default() };
        self.chirality(&mut atom);
        if self.eat(b'H') {
            let count = self.number(3).unwrap_or(1);
            atom.hydrogens = u16::try_from(count).ok().filter(|&n| n < 100).unwrap_or(100);
        }
        atom.charge = self.charge()?;
        if self.eat(b':') && self.number(9).is_none() {
            return self.wrong(self.at, "`:` without the number of an atom class");
        }
        if !self.eat(b']') {
            return match self.text.get(self.at) {
                Some(_) => {
                    let what = format!("{} where `]` must be", self.shown(self.at));
                    self.wrong(self.at, what)
                }
                None => self.wrong(start, "`[` is never closed"),
            };
        }
        Ok(atom)
    }

    fn eat(&mut self, byte: u8) -> bool {
        let found = self.text.get(self.at) == Some(&byte);
        self.at += usize::from(found);
        found
    }

    /// The number that stands here, of at most so many digits.
    fn number(&mut self, digits: usize) -> Option<u32> {
        let rest = &self.text[self.at..];
        let count = rest.iter().take(digits).take_while(|byte| byte.is_ascii_digit()).count();
        let value = rest[..count].iter().fold(0, |n, byte| 10 * n + u32::from(byte - b'0'));
        self.at += count;
        (count > 0).then_some(value)
    }

    /// The element of a bracket, and whether it is aromatic.
    fn symbol(&mut self, start: usize) -> Parsed<(u8, bool)> {
        let at = self.at;
        if self.eat(b'#') {
            let found = self.number(3).and_then(|n| u8::try_from(n).ok()).filter(|&n| n <= LAST);
            return match found {
                Some(number) => Ok((number, false)),
                None => self.wrong(at, "`#` without the number of an element"),
            };
        }
        let rest = &self.text[at..];
        let is_lower = |at: usize| rest.get(at).is_some_and(u8::is_ascii_lowercase);
        let (found, length) = match rest.first() {
            Some(b'*') => (Some((0, false)), 1),
            Some(b'A'..=b'Z') => match number(&rest[..1 + usize::from(is_lower(1))]) {
                Some(number) => (Some((number, false)), 1 + usize::from(is_lower(1))),
                None => (number(&rest[..1]).map(|number| (number, false)), 1),
            },
            Some(b'a'..=b'z') => aromatic(rest),
            Some(_) => (None, 1),
            None => return self.wrong(start, "`[` is never closed"),
        };
        self.at += length;
        match found {
            Some(found) => Ok(found),
            None => self.wrong(at, format!("{} is no element", self.shown(at))),
        }
    }

    /// `@`, `@@`, `@TH1`, `@AL2`, `@SP3`, `@TB20`, `@OH30`.
    fn chirality(&mut self, atom: &mut Atom) {
        if !self.eat(b'@') {
            return;
        }
        self.molecule.stereo = true;
        if self.eat(b'@') {
            return;
        }
        let rest = &self.text[self.at..];
        if let [a, b, ..] = rest
            && [b"TH", b"AL", b"SP", b"TB", b"OH"].contains(&&[*a, *b])
        {
            atom.spatial = !matches!(a, b'A') && [*a, *b] != *b"TH";
            self.at += 2;
            self.number(2);
        }
    }

    /// `+`, `++`, `+2`, `-`, `--`, `-2`.
    fn charge(&mut self) -> Parsed<i8> {
        let at = self.at;
        let Some(&sign @ (b'+' | b'-')) = self.text.get(at) else { return Ok(0) };
        self.at += 1;
        let size = match self.number(3) {
            Some(size) => size,
            None => {
                let mut size = 1;
                while self.eat(sign) {
                    size += 1;
                }
                size
            }
        };
        match i8::try_from(size) {
            Ok(size @ ..=99) => Ok(if sign == b'+' { size } else { -size }),
            _ => self.wrong(at, "a charge beyond 99"),
        }
    }

    /// What must not be left over.
    fn finish(&mut self) -> Parsed<()> {
        if let Some(mark) = self.bond {
            return self.wrong(mark.at, "a bond with no atom behind it");
        }
        if let Some(&(_, at)) = self.branches.last() {
            return self.wrong(at, "`(` is never closed");
        }
        if let Some((number, opened)) = self.rings.first_key_value() {
            return self.wrong(opened.at, format!("the ring closure {number} is never closed"));
        }
        match (self.last, self.molecule.atoms.is_empty()) {
            (_, true) => self.wrong(0, "it is empty"),
            (None, _) => self.wrong(self.at - 1, "`.` with no atom behind it"),
            _ => self.no_bond_twice(),
        }
    }

    /// Ring closures must not bind two atoms twice.
    fn no_bond_twice(&self) -> Parsed<()> {
        let Molecule { bonds, places, .. } = &self.molecule;
        if !self.closed {
            return Ok(());
        }
        let pair = |[a, b]: [u32; 2]| [a.min(b), a.max(b)];
        let mut pairs: Vec<[u32; 2]> = bonds.iter().map(|bond| pair(bond.ends)).collect();
        pairs.sort_unstable();
        match pairs.windows(2).find(|pair| pair[0] == pair[1]) {
            Some(pair) => {
                let at = places[pair[0][1] as usize] as usize;
                self.wrong(at, "a ring closure binds two atoms that are bound already")
            }
            None => Ok(()),
        }
    }
}

/// The aromatic symbol at the head of `rest`, and its length.
fn aromatic(rest: &[u8]) -> (Option<(u8, bool)>, usize) {
    let two = match rest {
        [b's', b'e', ..] => Some(34),
        [b'a', b's', ..] => Some(33),
        [b't', b'e', ..] => Some(52),
        [b's', b'i', ..] => Some(14),
        _ => None,
    };
    if let Some(number) = two {
        return (Some((number, true)), 2);
    }
    let one = match rest.first() {
        Some(b'b') => Some(5),
        Some(b'c') => Some(6),
        Some(b'n') => Some(7),
        Some(b'o') => Some(8),
        Some(b'p') => Some(15),
        Some(b's') => Some(16),
        _ => None,
    };
    (one.map(|number| (number, true)), 1)
}

//! MOL blocks, V2000 and V3000: a table of atoms and one of bonds.

use super::elements::number;
use super::molecule::{Atom, Bond, Molecule, Order, Wrong};

type Parsed<T> = Result<T, Wrong>;

/// Reads the block that begins with its title at line 0; gives the line after `M  END`, too. Lines of
/// errors and of atoms are counted from 0.
pub(super) fn parse(lines: &[&str], most: u64) -> Parsed<(Molecule, usize)> {
    let counts =
        lines.get(3).ok_or_else(|| Wrong::new(0, "the MOL block ends before its counts"))?;
    let mut block = Block { lines, most, molecule: Molecule::default(), valences: Vec::new() };
    let end = match counts.contains("V3000") {
        true => block.v3000()?,
        false => block.v2000(counts)?,
    };
    block.apply_valences();
    Ok((block.molecule, end))
}

struct Block<'a> {
    lines: &'a [&'a str],
    most: u64,
    molecule: Molecule,
    /// Valences that atoms say they have.
    valences: Vec<(usize, i32)>,
}

/// The columns `from..to` of a line, without blanks.
fn columns(line: &str, from: usize, to: usize) -> &str {
    line.get(from.min(line.len())..to.min(line.len())).unwrap_or("").trim()
}

/// The integer of these columns; nothing there is 0.
fn integer(line: &str, at: usize, from: usize, to: usize) -> Parsed<i32> {
    match columns(line, from, to) {
        "" => Ok(0),
        text => text.parse().map_err(|_| {
            let what = format!("columns {} to {to} must hold an integer", from + 1);
            Wrong::new(at, what)
        }),
    }
}

impl Block<'_> {
    fn line(&self, at: usize) -> Parsed<&str> {
        let line = self.lines.get(at).copied();
        line.ok_or_else(|| {
            Wrong::new(self.lines.len().saturating_sub(1), "the MOL block ends early")
        })
    }

    fn v2000(&mut self, counts: &str) -> Parsed<usize> {
        let count = |from| {
            let found = integer(counts, 3, from, from + 3)?;
            usize::try_from(found).map_err(|_| Wrong::new(3, "a negative count"))
        };
        let (atoms, bonds) = (count(0)?, count(3)?);
        self.bound(atoms, 3)?;
        for at in 4..4 + atoms {
            self.atom_v2000(at)?;
        }
        for at in 4 + atoms..4 + atoms + bonds {
            let line = self.line(at)?;
            let [a, b, kind, stereo] = [0, 3, 6, 9].map(|from| integer(line, at, from, from + 3));
            self.bond([a?, b?], kind?, stereo? != 0, at)?;
        }
        let mut at = 4 + atoms + bonds;
        let mut fresh = true;
        while let Some(&line) = self.lines.get(at) {
            at += 1;
            match line.get(..6) {
                Some("M  END") => return Ok(at),
                Some(key @ ("M  CHG" | "M  RAD" | "M  ISO")) => {
                    // These lines say all charges and radicals of a block that has any.
                    if key != "M  ISO" && std::mem::take(&mut fresh) {
                        self.molecule.atoms.iter_mut().for_each(|atom| {
                            (atom.charge, atom.radicals) = (0, 0);
                        });
                    }
                    self.property(key, line, at - 1)?;
                }
                _ if line.starts_with("> ") || line.starts_with("$$$$") => return Ok(at - 1),
                _ => {}
            }
        }
        Ok(at)
    }

    fn bound(&self, atoms: usize, at: usize) -> Parsed<()> {
        match atoms as u64 > self.most {
            true => Err(Wrong { beyond: true, ..Wrong::new(at, "it has too many atoms") }),
            false => Ok(()),
        }
    }

    fn atom_v2000(&mut self, at: usize) -> Parsed<()> {
        let line = self.line(at)?;
        let symbol = columns(line, 31, 34);
        // Programs that write no columns still write words.
        let symbol = if symbol.is_empty() { line.split_whitespace().nth(3) } else { Some(symbol) };
        let mut atom = of_symbol(symbol.unwrap_or(""), at)?;
        let shift = integer(line, at, 34, 36)?;
        if shift != 0 && atom.isotope == 0 {
            let mass = atom.element().mass.round() as i32 + shift;
            atom.isotope = u16::try_from(mass).unwrap_or(0);
        }
        match integer(line, at, 36, 39)? {
            4 => atom.radicals = 1,
            code @ 1..=7 => atom.charge = (4 - code) as i8,
            _ => {}
        }
        let valence = integer(line, at, 48, 51)?;
        if valence != 0 {
            self.valences
                .push((self.molecule.atoms.len(), if valence == 15 { 0 } else { valence }));
        }
        self.add(atom, at);
        Ok(())
    }

    fn add(&mut self, atom: Atom, at: usize) {
        self.molecule.atoms.push(atom);
        self.molecule.places.push(u32::try_from(at).unwrap_or(u32::MAX));
    }

    /// `M  CHG  2   1   1   4  -1`: pairs of atom and value.
    fn property(&mut self, key: &str, line: &str, at: usize) -> Parsed<()> {
        let numbers = line[6..].split_whitespace().map(str::parse::<i32>);
        let numbers: Vec<i32> = numbers
            .collect::<Result<_, _>>()
            .map_err(|_| Wrong::new(at, format!("`{key}` must hold integers")))?;
        for pair in numbers.get(1..).unwrap_or(&[]).chunks_exact(2) {
            let atom = usize::try_from(pair[0] - 1).ok();
            let atom = atom.and_then(|atom| self.molecule.atoms.get_mut(atom));
            let atom =
                atom.ok_or_else(|| Wrong::new(at, format!("`{key}` names atom {}", pair[0])))?;
            match key {
                "M  CHG" => atom.charge = charge(pair[1], at)?,
                "M  RAD" => atom.radicals = radicals(pair[1]),
                _ => atom.isotope = u16::try_from(pair[1]).unwrap_or(0),
            }
        }
        Ok(())
    }

    fn bond(&mut self, ends: [i32; 2], kind: i32, stereo: bool, at: usize) -> Parsed<()> {
        let atoms = self.molecule.atoms.len();
        let end = |end: i32| match usize::try_from(end) {
            Ok(end @ 1..) if end <= atoms => Ok(end as u32 - 1),
            _ => Err(Wrong::new(at, format!("a bond of atom {end}, of {atoms}"))),
        };
        let ends = [end(ends[0])?, end(ends[1])?];
        let order = match kind {
            1 => Order::Single,
            2 => Order::Double,
            3 => Order::Triple,
            4 => Order::Aromatic,
            9 => Order::Dative,
            _ => {
                return Err(Wrong::new(
                    at,
                    format!("a bond of type {kind}, which is no bond of a molecule"),
                ));
            }
        };
        if ends[0] == ends[1] {
            return Err(Wrong::new(at, "a bond of an atom to itself"));
        }
        if order == Order::Aromatic {
            ends.iter().for_each(|&end| self.molecule.atoms[end as usize].aromatic = true);
        }
        self.molecule.stereo |= stereo;
        self.molecule.bonds.push(Bond { ends, order, marked: false });
        Ok(())
    }

    /// `M  V30 …` lines; one that ends in `-` goes on in the next.
    fn v3000(&mut self) -> Parsed<usize> {
        let mut part = Part::None;
        let mut names: Vec<(i64, u32)> = Vec::new();
        let mut at = 4;
        while at < self.lines.len() {
            let first = at;
            let Some(text) = self.lines[at].strip_prefix("M  V30 ") else {
                at += 1;
                if self.lines[first].starts_with("M  END") {
                    return Ok(at);
                }
                continue;
            };
            let mut text = text.trim_end().to_owned();
            while let Some(head) = text.strip_suffix('-') {
                at += 1;
                let more = self.line(at)?.strip_prefix("M  V30 ");
                let more = more.ok_or_else(|| Wrong::new(at, "a line that does not go on"))?;
                text = format!("{head}{}", more.trim_end());
            }
            at += 1;
            match (part, text.as_str()) {
                (_, "BEGIN ATOM") => part = Part::Atoms,
                (_, "BEGIN BOND") => {
                    names.sort_unstable();
                    part = Part::Bonds;
                }
                (_, "END ATOM" | "END BOND") => part = Part::None,
                (Part::Atoms, line) => self.atom_v3000(line, first, &mut names)?,
                (Part::Bonds, line) => self.bond_v3000(line, first, &names)?,
                _ => {}
            }
        }
        Ok(at)
    }

    fn atom_v3000(&mut self, line: &str, at: usize, names: &mut Vec<(i64, u32)>) -> Parsed<()> {
        self.bound(self.molecule.atoms.len() + 1, at)?;
        let mut words = line.split_whitespace();
        let name = words.next().and_then(|word| word.parse().ok());
        let name: i64 = name.ok_or_else(|| Wrong::new(at, "an atom without a number"))?;
        let mut atom = of_symbol(words.next().unwrap_or(""), at)?;
        for word in words.skip(4) {
            let Some((key, value)) = word.split_once('=') else { continue };
            let value = || {
                let found: Result<i32, _> = value.parse();
                found.map_err(|_| Wrong::new(at, format!("`{key}` must be an integer")))
            };
            match key {
                "CHG" => atom.charge = charge(value()?, at)?,
                "RAD" => atom.radicals = radicals(value()?),
                "MASS" => atom.isotope = u16::try_from(value()?).unwrap_or(0),
                "VAL" => self.valences.push((self.molecule.atoms.len(), value()?.max(0))),
                "CFG" => self.molecule.stereo |= value()? != 0,
                _ => {}
            }
        }
        names.push((name, self.molecule.atoms.len() as u32));
        self.add(atom, at);
        Ok(())
    }

    fn bond_v3000(&mut self, line: &str, at: usize, names: &[(i64, u32)]) -> Parsed<()> {
        let mut words = line.split_whitespace().skip(1);
        let mut next = || words.next().and_then(|word| word.parse::<i64>().ok());
        let (Some(kind), Some(a), Some(b)) = (next(), next(), next()) else {
            return Err(Wrong::new(at, "a bond without its type and two atoms"));
        };
        let end = |name: i64| match names.binary_search_by_key(&name, |&(name, _)| name) {
            Ok(found) => Ok(names[found].1 as i32 + 1),
            Err(_) => Err(Wrong::new(at, format!("a bond of atom {name}, which is not there"))),
        };
        let stereo = words.any(|word| word.starts_with("CFG=") && word != "CFG=0");
        let kind = i32::try_from(kind).unwrap_or(0);
        self.bond([end(a)?, end(b)?], kind, stereo, at)
    }

    /// Atoms that say their valence have as many hydrogens as their bonds leave.
    fn apply_valences(&mut self) {
        self.molecule.link();
        for &(at, valence) in &self.valences {
            let left = valence - self.molecule.halves(at) / 2;
            let atom = &mut self.molecule.atoms[at];
            atom.counted = true;
            atom.hydrogens = u16::try_from(left.max(0)).unwrap_or(0);
        }
    }
}

#[derive(Clone, Copy)]
enum Part {
    None,
    Atoms,
    Bonds,
}

/// The atom of a symbol; lists and other patterns are any atom.
fn of_symbol(symbol: &str, at: usize) -> Parsed<Atom> {
    let atom = |number, isotope| Atom { number, isotope, counted: number == 0, ..Atom::default() };
    match symbol {
        "D" => Ok(atom(1, 2)),
        "T" => Ok(atom(1, 3)),
        "R#" | "R" | "A" | "Q" | "L" | "LP" | "X" | "M" | "Pol" | "Mod" => Ok(atom(0, 0)),
        symbol => match number(symbol.as_bytes()) {
            Some(number) => Ok(atom(number, 0)),
            None => Err(Wrong::new(at, format!("{} is no element", quoted(symbol)))),
        },
    }
}

fn quoted(text: &str) -> String {
    format!("`{}`", text.chars().take(20).flat_map(char::escape_debug).collect::<String>())
}

fn charge(value: i32, at: usize) -> Parsed<i8> {
    let found = i8::try_from(value).ok().filter(|charge| charge.abs() < 100);
    found.ok_or_else(|| Wrong::new(at, format!("a charge of {value}")))
}

/// 1 and 3 are two electrons without a partner, 2 is one.
fn radicals(code: i32) -> u8 {
    match code {
        1 | 3 => 2,
        2 => 1,
        _ => 0,
    }
}

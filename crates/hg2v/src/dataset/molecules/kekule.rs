//! From aromatic bonds to single and double ones: every atom that needs a double bond gets one,
//! which is a perfect matching.

use super::elements::is_early;
use super::hydrogens::explicit_valence;
use super::molecule::{Molecule, Order, Wrong};

/// Makes the aromatic bonds of a molecule single and double ones, and its atoms not aromatic.
/// `in_ring` says it of each bond.
///
/// # Errors
/// Atoms that are aromatic outside rings, and rings in which double bonds cannot be so placed that
/// every atom has the bonds it needs.
pub(super) fn kekulize(molecule: &mut Molecule, in_ring: &[bool]) -> Result<(), Wrong> {
    let is_aromatic = |order| order == Order::Aromatic;
    if !molecule.atoms.iter().any(|atom| atom.aromatic)
        && !molecule.bonds.iter().any(|bond| is_aromatic(bond.order))
    {
        return Ok(());
    }
    for (at, bond) in molecule.bonds.iter_mut().enumerate() {
        let ends = bond.ends.map(|end| molecule.atoms[end as usize]);
        if is_aromatic(bond.order) && ends.iter().any(|atom| !atom.aromatic && atom.number != 0) {
            let place = molecule.places[bond.ends[0] as usize] as usize;
            return Err(Wrong::new(place, "an aromatic bond of an atom that is not aromatic"));
        }
        if is_aromatic(bond.order) && !in_ring[at] {
            bond.order = Order::Single;
        }
    }
    for (at, atom) in molecule.atoms.iter().enumerate() {
        if atom.aromatic && !molecule.bonds_of(at).iter().any(|&bond| in_ring[bond as usize]) {
            let place = molecule.places[at] as usize;
            return Err(Wrong::new(place, "an atom outside rings is written as aromatic"));
        }
    }
    let needs: Vec<Need> = (0..molecule.atoms.len()).map(|at| need(molecule, at)).collect();
    let open = |at: usize| {
        let bond = &molecule.bonds[at];
        let [a, b] = bond.ends.map(|end| molecule.atoms[end as usize].number);
        is_aromatic(bond.order) || in_ring[at] && bond.order == Order::Single && (a == 0 || b == 0)
    };
    let open: Vec<bool> = (0..molecule.bonds.len()).map(open).collect();
    let mates = Matching::new(molecule, &needs, &open).perfect()?;
    for (at, bond) in molecule.bonds.iter_mut().enumerate() {
        let [a, b] = bond.ends;
        if open[at] {
            bond.order = if mates[a as usize] == Some(b) { Order::Double } else { Order::Single };
        }
    }
    for atom in &mut molecule.atoms {
        // The hydrogen of pyrrole says no more than that there is one.
        if atom.aromatic && matches!(atom.number, 7 | 15) && atom.charge == 0 && atom.hydrogens == 1
        {
            atom.counted = false;
        }
        atom.aromatic = false;
    }
    Ok(())
}

/// Whether an atom takes part in a double bond that is still to be placed.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Need {
    Never,
    May,
    Must,
}

/// Whether the bonds of an atom, aromatic ones counted as single, leave one valence free.
fn need(molecule: &Molecule, at: usize) -> Need {
    let atom = &molecule.atoms[at];
    if atom.number == 0 {
        return Need::May;
    }
    if !atom.aromatic {
        return Need::Never;
    }
    let single = |bond: &super::molecule::Bond| match bond.order {
        Order::Aromatic => 2,
        _ => bond.halves(at),
    };
    let hydrogens = i32::from(atom.hydrogens);
    let used = molecule.around(at).map(single).sum::<i32>() / 2 + hydrogens;
    let charge = match (i32::from(atom.charge), atom.number) {
        (charge @ 1.., 6) => -charge,
        (charge, number) if is_early(number) => -charge,
        (charge, _) => charge,
    };
    let mut valences = atom.element().valences.iter().map(|&v| i32::from(v) + charge);
    let Some(mut valence) = valences.next() else { return Need::Never };
    let total = explicit_valence(molecule, at);
    while total > valence {
        let Some(next) = valences.next() else { break };
        valence = next;
    }
    let radicals = i32::from(atom.radicals);
    let bound = molecule.around(at).filter(|bond| bond.halves(at) > 0).count();
    let degree = bound as i32 + hydrogens;
    let free = valence - used - radicals;
    let takes = degree + radicals < valence
        && (free == 1 || radicals == 0 && atom.counted && valence == used + 2);
    if takes { Need::Must } else { Need::Never }
}

/// Edmonds's search for a matching that covers all atoms that must be covered.
struct Matching<'a> {
    molecule: &'a Molecule,
    needs: &'a [Need],
    /// The bonds that may become double.
    open: &'a [bool],
    mates: Vec<Option<u32>>,
    /// Of the search at hand: where an atom at an odd distance was reached from, the base of the
    /// blossom an atom is in, and which atoms are at an even distance.
    from: Vec<Option<u32>>,
    base: Vec<u32>,
    even: Vec<bool>,
    queue: Vec<u32>,
    touched: Vec<u32>,
    work: u64,
}

impl<'a> Matching<'a> {
    fn new(molecule: &'a Molecule, needs: &'a [Need], open: &'a [bool]) -> Matching<'a> {
        let atoms = molecule.atoms.len();
        Matching {
            molecule,
            needs,
            open,
            mates: vec![None; atoms],
            from: vec![None; atoms],
            base: (0..atoms as u32).collect(),
            even: vec![false; atoms],
            queue: Vec::new(),
            touched: Vec::new(),
            work: 0,
        }
    }

    /// The partners of all atoms.
    fn perfect(mut self) -> Result<Vec<Option<u32>>, Wrong> {
        let atoms = 0..self.needs.len();
        for at in atoms.clone() {
            self.pair(at);
        }
        for at in atoms {
            if self.needs[at] == Need::Must && self.mates[at].is_none() && !self.augment(at) {
                let place = self.molecule.places[at] as usize;
                if self.work > MOST_WORK {
                    let what = "a system of rings too large to place its double bonds";
                    return Err(Wrong::new(place, what));
                }
                let what = "aromatic bonds that cannot be made single and double ones, for this \
                            atom would need one more (a hydrogen may be missing, as in [nH])";
                return Err(Wrong::new(place, what));
            }
        }
        Ok(self.mates)
    }

    /// The atoms that `at` may be doubly bound to.
    fn partners(&self, at: usize) -> impl Iterator<Item = usize> + use<'a> {
        let (molecule, needs, open) = (self.molecule, self.needs, self.open);
        let bonds = molecule.bonds_of(at).iter().map(|&bond| bond as usize);
        bonds
            .filter(move |&bond| open[bond])
            .map(move |bond| molecule.bonds[bond].other(at))
            .filter(move |&other| needs[other] != Need::Never)
    }

    /// Pairs atoms that must with atoms that must, along a path as far as it goes.
    fn pair(&mut self, at: usize) {
        let is_free =
            |this: &Matching, at: usize| this.needs[at] == Need::Must && this.mates[at].is_none();
        let mut next = Some(at);
        while let Some(at) = next.take() {
            if !is_free(self, at) {
                return;
            }
            let mut partners = self.partners(at);
            let Some(mate) = partners.find(|&other| is_free(self, other)) else { return };
            self.mates[at] = Some(mate as u32);
            self.mates[mate] = Some(at as u32);
            next = self.partners(mate).find(|&other| is_free(self, other));
        }
    }

    /// Covers `root` as well, if that is possible.
    fn augment(&mut self, root: usize) -> bool {
        for at in std::mem::take(&mut self.touched) {
            (self.from[at as usize], self.even[at as usize]) = (None, false);
            self.base[at as usize] = at;
        }
        self.queue.clear();
        self.reach(root);
        let mut head = 0;
        while let Some(&at) = self.queue.get(head) {
            head += 1;
            self.work += 1;
            if self.work > MOST_WORK {
                return false;
            }
            let at = at as usize;
            // One that may be covered makes place.
            if self.needs[at] == Need::May && at != root {
                let from = self.mates[at].take();
                if let Some(from) = from {
                    self.flip(from as usize);
                }
                return true;
            }
            for other in self.partners(at) {
                let bound = self.mates[at] == Some(other as u32);
                if bound || self.base[at] == self.base[other] {
                    continue;
                }
                if self.even[other] {
                    self.blossom(at, other);
                } else if self.from[other].is_none() {
                    self.from[other] = Some(at as u32);
                    self.touched.push(other as u32);
                    match self.mates[other] {
                        None => {
                            self.flip(other);
                            return true;
                        }
                        Some(mate) => self.reach(mate as usize),
                    }
                }
            }
        }
        false
    }

    fn reach(&mut self, at: usize) {
        if !self.even[at] {
            self.even[at] = true;
            self.queue.push(at as u32);
            self.touched.push(at as u32);
        }
    }

    /// Exchanges the bonds along the path from the root to `end`, which is at an odd distance.
    fn flip(&mut self, end: usize) {
        let mut end = Some(end as u32);
        while let Some(at) = end {
            let Some(from) = self.from[at as usize] else { return };
            end = self.mates[from as usize];
            self.mates[at as usize] = Some(from);
            self.mates[from as usize] = Some(at);
        }
    }

    /// Shrinks the odd cycle that the bond between two atoms at even distances closes.
    fn blossom(&mut self, a: usize, b: usize) {
        let base = self.common_base(a, b);
        let mut inside = vec![false; self.base.len()];
        self.walk_down(a, b, base, &mut inside);
        self.walk_down(b, a, base, &mut inside);
        self.work += self.base.len() as u64;
        for at in 0..self.base.len() {
            if inside[self.base[at] as usize] {
                self.base[at] = base;
                self.touched.push(at as u32);
                self.reach(at);
            }
        }
    }

    /// The first base that is on the ways of both atoms to the root.
    fn common_base(&self, a: usize, b: usize) -> u32 {
        let down = |at: u32| {
            let mate = self.mates[at as usize]?;
            self.from[mate as usize].map(|from| self.base[from as usize])
        };
        let mut seen = vec![false; self.base.len()];
        let mut next = Some(self.base[a]);
        while let Some(at) = next {
            seen[at as usize] = true;
            next = down(at);
        }
        let mut at = self.base[b];
        while !seen[at as usize] {
            match down(at) {
                Some(below) => at = below,
                None => break,
            }
        }
        at
    }

    /// Marks what is between an atom and a base, and notes the way around the cycle.
    fn walk_down(&mut self, at: usize, across: usize, base: u32, inside: &mut [bool]) {
        let (mut at, mut across) = (at, across as u32);
        while self.base[at] != base {
            let Some(mate) = self.mates[at] else { return };
            inside[self.base[at] as usize] = true;
            inside[self.base[mate as usize] as usize] = true;
            self.from[at] = Some(across);
            across = mate;
            let Some(from) = self.from[mate as usize] else { return };
            at = from as usize;
        }
    }
}

/// Steps of the search for partners, all in all, after which a molecule is refused. A molecule of
/// ten thousand atoms in one system of rings stays far below.
const MOST_WORK: u64 = 200_000_000;

//! Aromatic rings as single and double bonds in turn (Kekulé 1865).
//!
//! Every atom that lacks a bond gets a double one to a neighbour: a perfect matching along
//! aromatic bonds.

use hg2v::dataset::molecules::AtomLabel;

use crate::molecule::Bond;

/// Steps of the search; rings that need more stay aromatic.
const MOST_STEPS: usize = 20_000;

/// The bonds of a molecule with its aromatic ones made single and double; `None` where that cannot
/// be, so that aromatic ones stay. `edges` have both ends below the number of `atoms`.
pub fn kekulize(atoms: &[&AtomLabel], edges: &[[u32; 2]], bonds: &[Bond]) -> Option<Vec<Bond>> {
    let mut around = vec![Vec::new(); atoms.len()];
    let mut taken = vec![false; atoms.len()];
    let mut degrees = vec![0; atoms.len()];
    for (&[u, v], bond) in edges.iter().zip(bonds) {
        for (from, to) in [(u as usize, v as usize), (v as usize, u as usize)] {
            degrees[from] += 1;
            match bond {
                Bond::Aromatic => around[from].push(to),
                Bond::Single => {}
                // It has its double bond outside the ring.
                Bond::Double | Bond::Triple => taken[from] = true,
            }
        }
    }
    let lacks = |v: usize| !around[v].is_empty() && !taken[v] && lacks_bond(atoms[v], degrees[v]);
    let open: Vec<bool> = (0..atoms.len()).map(lacks).collect();
    around.iter_mut().for_each(|near| near.retain(|&w| open[w]));
    let mut matching = Matching { around, mates: vec![None; atoms.len()], steps: 0 };
    for v in (0..atoms.len()).filter(|&v| open[v]) {
        let mut path = vec![false; atoms.len()];
        if matching.mates[v].is_none() && !matching.augment(v, &mut path) {
            return None;
        }
    }
    let made = edges.iter().zip(bonds).map(|(&[u, v], bond)| match bond {
        Bond::Aromatic if matching.mates[u as usize] == Some(v as usize) => Bond::Double,
        Bond::Aromatic => Bond::Single,
        other => *other,
    });
    Some(made.collect())
}

/// Whether an atom of an aromatic ring needs a double bond there: pyridine's nitrogen does,
/// pyrrole's gives two electrons without one.
fn lacks_bond(atom: &AtomLabel, degree: usize) -> bool {
    let bonds = degree + usize::from(atom.hydrogens);
    match (atom.symbol(), atom.charge) {
        ("C" | "Si", charge) => charge == 0,
        ("N" | "P" | "As", 0) => bonds == 2,
        ("N" | "P" | "As", 1) => bonds == 3,
        ("O" | "S" | "Se" | "Te", 1) => bonds == 2,
        _ => false,
    }
}

struct Matching {
    /// Neighbours along aromatic bonds that lack one, too.
    around: Vec<Vec<usize>>,
    mates: Vec<Option<usize>>,
    steps: usize,
}

impl Matching {
    /// Finds a mate for `v`, whose own, if it has one, was given away: tries all ways that take
    /// turns between bonds in and outside the matching and meet no atom twice.
    fn augment(&mut self, v: usize, path: &mut [bool]) -> bool {
        self.steps += 1;
        path[v] = true;
        for at in 0..self.around[v].len() {
            let w = self.around[v][at];
            if path[w] || self.steps > MOST_STEPS {
                continue;
            }
            path[w] = true;
            let other = self.mates[w];
            if other.is_none_or(|other| !path[other] && self.augment(other, path)) {
                (self.mates[v], self.mates[w]) = (Some(w), Some(v));
                return true;
            }
            path[w] = false;
        }
        path[v] = false;
        false
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// How many bonds are double, and whether each atom has at most one of them.
    fn doubles(labels: &[&str], edges: &[[u32; 2]]) -> Option<usize> {
        let atoms: Vec<AtomLabel> = labels.iter().map(|label| label.parse().unwrap()).collect();
        let atoms: Vec<&AtomLabel> = atoms.iter().collect();
        let made = kekulize(&atoms, edges, &vec![Bond::Aromatic; edges.len()])?;
        let double: Vec<u32> = edges
            .iter()
            .zip(&made)
            .filter(|(_, bond)| **bond == Bond::Double)
            .flat_map(|(ends, _)| *ends)
            .collect();
        let mut once = double.clone();
        once.sort_unstable();
        once.dedup();
        assert_eq!(once.len(), double.len());
        Some(double.len() / 2)
    }

    fn ring(n: u32) -> Vec<[u32; 2]> {
        (0..n).map(|v| [v, (v + 1) % n]).collect()
    }

    #[test]
    fn known_rings_have_their_double_bonds() {
        assert_eq!(doubles(&["cH"; 6], &ring(6)), Some(3));
        // Pyridine, pyrrole, furan, the cyclopentadienyl anion.
        assert_eq!(doubles(&["n", "cH", "cH", "cH", "cH", "cH"], &ring(6)), Some(3));
        assert_eq!(doubles(&["nH", "cH", "cH", "cH", "cH"], &ring(5)), Some(2));
        assert_eq!(doubles(&["cH", "o", "cH", "cH", "cH"], &ring(5)), Some(2));
        assert_eq!(doubles(&["cH", "cH-", "cH", "cH", "cH"], &ring(5)), Some(2));
        // Azulene: the bond between its odd rings is single, which a greedy search misses.
        let azulene = [ring(10), vec![[0, 4]]].concat();
        assert_eq!(
            doubles(&["c", "cH", "cH", "cH", "c", "cH", "cH", "cH", "cH", "cH"], &azulene),
            Some(5)
        );
        // Five carbons, each of which lacks a bond.
        assert_eq!(doubles(&["cH"; 5], &ring(5)), None);
    }

    #[test]
    fn bonds_outside_the_ring_count() {
        // A pyridone: the carbon of C=O needs no double bond in its ring, nor does NH.
        let labels = ["O", "c", "cH", "cH", "cH", "cH", "nH"];
        let atoms: [AtomLabel; 7] = labels.map(|label| label.parse().unwrap());
        let atoms: Vec<&AtomLabel> = atoms.iter().collect();
        let edges = [[0, 1], [1, 2], [2, 3], [3, 4], [4, 5], [5, 6], [1, 6]];
        let mut bonds = vec![Bond::Aromatic; 7];
        bonds[0] = Bond::Double;
        let made = kekulize(&atoms, &edges, &bonds).unwrap();
        let (double, single) = (Bond::Double, Bond::Single);
        assert_eq!(made, [double, single, double, single, double, single, single]);
    }
}

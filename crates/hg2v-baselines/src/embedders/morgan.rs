//! Morgan fingerprints, counted: how often each surrounding of an atom occurs in a molecule.
//!
//! Rogers & Hahn 2010, *Extended-connectivity fingerprints*. Atom v begins with a hash of its element,
//! neighbours, hydrogens, charge, isotope and whether it is in a ring; round r makes
//!
//! ```text
//! h_r(v) = hash(r − 1, h_{r−1}(v), sorted {(kind of the bond vw, h_{r−1}(w)) : w bound to v})
//! ```
//!
//! Of surroundings that are the same bonds, the first counts and the others grow no more. A vector
//! counts the hashes of all rounds up to the radius, each at its remainder by the number of columns.
//! Hashes and all else are those of RDKit's generator, so that the numbers are the same as
//! `GetMorganGenerator(radius, fpSize=dim).GetCountFingerprint` of the same molecule.
//!
//! Molecules are graphs as [`hg2v::dataset::molecules`] reads them: atoms and bonds by their labels.

use std::collections::BTreeSet;

use hg2v::context::Context;
use hg2v::dataset::features::{Applied, Origin};
use hg2v::dataset::molecules::{AtomLabel, BondKind, atoms_in_rings};
use hg2v::error::{Error, Place, Result, shown};
use hg2v::graph::{Aspects, GraphRecord, Scalar};
use hg2v::method::Rows;
use hg2v::prepare::{Collection, Needs};
use hg2v::saved::{Config, DataNote, Parts, Stored, Tensors};
use hg2v::{Method, Model};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The method.
///
/// # Complexity
/// Time O(n·s) for n atoms with s bonds within the radius; nothing is learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
#[non_exhaustive]
pub struct Morgan {
    /// How many bonds far a surrounding reaches.
    pub radius: usize,
    /// Numbers a vector.
    pub dim: usize,
}

hg2v_math::setters!(Morgan { radius: usize, dim: usize });

impl Default for Morgan {
    fn default() -> Morgan {
        Morgan { radius: 2, dim: 2048 }
    }
}

const NAME: &str = "morgan";

/// Beyond, a surrounding is the whole molecule.
const MOST_RADIUS: usize = 64;

/// Columns beyond which vectors are of no use.
const MOST_DIM: usize = 1 << 20;

impl Method for Morgan {
    fn name(&self) -> &'static str {
        NAME
    }

    fn settings(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn check(&self) -> Result<()> {
        if self.radius > MOST_RADIUS {
            let requirement = format!("it must be at most {MOST_RADIUS}");
            return Err(Error::parameter("radius", self.radius, requirement));
        }
        if self.dim == 0 || self.dim > MOST_DIM {
            let requirement = format!("it must be from 1 to {MOST_DIM}");
            return Err(Error::parameter("dim", self.dim, requirement));
        }
        Ok(())
    }

    fn needs(&self) -> Needs {
        Needs::default().weights(hg2v::graph::WeightPolicy::Ignore)
    }

    fn fit_collection(
        &self,
        collection: &Collection<'_>,
        train: &[usize],
        _: &Context<'_>,
    ) -> Result<Box<dyn Model>> {
        self.check()?;
        let run = collection.run;
        for &i in train {
            let origin = Origin { file: run.file, position: run.position_of(i) };
            Molecule::of(&run.records[i], origin)?;
        }
        let data = DataNote::of(train.iter().map(|&i| &run.records[i]));
        Ok(Box::new(MorganModel { morgan: *self, data }))
    }
}

/// The settings, and what they were given.
#[derive(Debug, Clone)]
pub struct MorganModel {
    morgan: Morgan,
    data: DataNote,
}

impl MorganModel {
    /// The model that was read.
    ///
    /// # Errors
    /// What another method learnt, or what does not make sense.
    pub fn from_stored(stored: &Stored) -> Result<MorganModel> {
        let Config { model: morgan, data, .. } = stored.config::<Morgan>()?;
        if morgan.check().is_err() {
            return Err(stored.refused("its radius or size is none of a fingerprint"));
        }
        stored.tensors()?.finish()?;
        Ok(MorganModel { morgan, data })
    }
}

impl Model for MorganModel {
    fn method(&self) -> &str {
        NAME
    }

    fn settings(&self) -> Value {
        self.morgan.settings()
    }

    fn needs(&self) -> Needs {
        self.morgan.needs()
    }

    fn sees(&self) -> Aspects {
        Aspects { node_labels: true, edge_labels: true, ..Aspects::default() }
    }

    fn columns(&self) -> Vec<String> {
        (0..self.morgan.dim).map(|column| format!("surrounding {column}")).collect()
    }

    fn dim(&self) -> usize {
        self.morgan.dim
    }

    fn counts(&self) -> bool {
        true
    }

    fn check(&self, record: &GraphRecord, origin: Origin<'_>) -> Result<()> {
        Molecule::of(record, origin).map(|_| ())
    }

    fn embed_collection(&self, collection: &Collection<'_>, _: &Context<'_>) -> Result<Rows> {
        let (run, Morgan { radius, dim }) = (collection.run, self.morgan);
        let rows = run.records.par_iter().enumerate().map(|(i, record)| {
            let origin = Origin { file: run.file, position: run.position_of(i) };
            let molecule = Molecule::of(record, origin)?;
            let mut row = vec![0.0f32; dim];
            for hash in molecule.surroundings(radius) {
                row[hash as usize % dim] += 1.0;
            }
            Ok(row)
        });
        let rows: Vec<Vec<f32>> = rows.collect::<Result<_>>()?;
        let applied = vec![Applied::default(); rows.len()];
        Ok(Rows { values: rows.concat(), applied })
    }

    fn parts(&self) -> Result<Parts> {
        Parts::new(&Config::new(NAME, self.morgan, self.data.clone()), &Tensors::default())
    }
}

/// A molecule as fingerprints see it.
struct Molecule {
    atoms: Vec<AtomLabel>,
    in_ring: Vec<bool>,
    /// The bonds of each atom: kind, the other atom, which bond.
    around: Vec<Vec<(u32, u32, u32)>>,
}

impl Molecule {
    /// The molecule of a record.
    ///
    /// # Errors
    /// A graph that is none.
    fn of(record: &GraphRecord, origin: Origin<'_>) -> Result<Molecule> {
        let none = |what: String| {
            let name = record.name(origin.position);
            let fix =
                "give molecules: SMILES, SDF or MOL files, or graphs that were read from them";
            let problem = format!("{name} is no molecule: {what}");
            Error::input(origin.file, Place::Record(origin.position + 1), problem, fix)
                .of_one_graph()
        };
        let text = |label: &Scalar| match label {
            Scalar::Text(text) => text.to_string(),
            label => label.to_string(),
        };
        let labels = record.node_labels.as_deref().unwrap_or(&[]);
        if labels.len() != record.num_nodes as usize {
            return Err(none("its nodes have no labels".to_owned()));
        }
        let atom = |label: &Scalar| {
            let text = text(label);
            text.parse::<AtomLabel>().map_err(|e| none(format!("{}: {e}", shown(&text))))
        };
        let atoms: Vec<AtomLabel> = labels.iter().map(atom).collect::<Result<_>>()?;
        let kinds = record.edge_labels.as_deref().unwrap_or(&[]);
        if kinds.len() != record.edges.len() {
            return Err(none("its edges have no labels".to_owned()));
        }
        let mut around = vec![Vec::new(); atoms.len()];
        let mut covalent = Vec::new();
        for (at, (&[a, b], label)) in record.edges.iter().zip(kinds).enumerate() {
            let text = text(label);
            let kind: BondKind =
                text.parse().map_err(|e| none(format!("{}: {e}", shown(&text))))?;
            if a == b {
                return Err(none(format!("atom {a} (from 0) is bound to itself")));
            }
            let code = code(kind);
            around[a as usize].push((code, b, at as u32));
            around[b as usize].push((code, a, at as u32));
            if kind != BondKind::Dative {
                covalent.push([a, b]);
            }
        }
        let in_ring = atoms_in_rings(atoms.len(), &covalent);
        Ok(Molecule { atoms, in_ring, around })
    }

    /// What an atom begins with.
    fn first(&self, at: usize) -> u32 {
        let atom = &self.atoms[at];
        let hydrogens = u32::from(atom.hydrogens);
        let bound = self.around[at].iter().filter(|bond| self.atoms[bond.1 as usize].number == 1);
        let parts = [
            u32::from(atom.number),
            self.around[at].len() as u32 + hydrogens,
            hydrogens + bound.count() as u32,
            i32::from(atom.charge) as u32,
            atom.mass_difference() as u32,
        ];
        let ring = self.in_ring[at].then_some(1);
        parts.into_iter().chain(ring).fold(0, combine)
    }

    /// The hashes of all surroundings of all rounds, those of round 0 first.
    fn surroundings(&self, radius: usize) -> Vec<u32> {
        let atoms = self.atoms.len();
        let mut hashes: Vec<u32> = (0..atoms).map(|at| self.first(at)).collect();
        let mut found = hashes.clone();
        let mut done = vec![false; atoms];
        let mut bonds: Vec<Vec<u32>> = vec![Vec::new(); atoms];
        let mut seen: BTreeSet<Vec<u32>> = BTreeSet::new();
        for round in 0..radius {
            let (mut next, mut grown) = (vec![0; atoms], bonds.clone());
            let mut reached: Vec<(usize, u32)> = Vec::new();
            for at in (0..atoms).filter(|&at| !done[at]) {
                if self.around[at].is_empty() {
                    continue;
                }
                next[at] = self.hash(at, round as u32, &hashes);
                grown[at].extend(self.around[at].iter().map(|bond| bond.2));
                for &(_, other, _) in &self.around[at] {
                    grown[at].extend(&bonds[other as usize]);
                }
                grown[at].sort_unstable();
                grown[at].dedup();
                reached.push((at, next[at]));
            }
            // Of those with the same bonds, the one with the least hash counts.
            reached.sort_unstable_by(|a, b| (&grown[a.0], a.1, a.0).cmp(&(&grown[b.0], b.1, b.0)));
            for (at, hash) in reached {
                match seen.insert(grown[at].clone()) {
                    true => found.push(hash),
                    false => done[at] = true,
                }
            }
            (hashes, bonds) = (next, grown);
        }
        found
    }

    /// What round `round` (from 0) makes of an atom.
    fn hash(&self, at: usize, round: u32, hashes: &[u32]) -> u32 {
        let mut pairs: Vec<(u32, u32)> =
            self.around[at].iter().map(|bond| (bond.0, hashes[bond.1 as usize])).collect();
        pairs.sort_unstable();
        let begun = combine(round, hashes[at]);
        pairs
            .into_iter()
            .fold(begun, |hash, (kind, other)| combine(hash, combine(combine(0, kind), other)))
    }
}

/// A hash with one more number in it, as Boost does it.
fn combine(hash: u32, value: u32) -> u32 {
    let more = value.wrapping_add(0x9e37_79b9);
    hash ^ more.wrapping_add(hash << 6).wrapping_add(hash >> 2)
}

/// RDKit's numbers of bonds.
fn code(kind: BondKind) -> u32 {
    match kind {
        BondKind::Single => 1,
        BondKind::Double => 2,
        BondKind::Triple => 3,
        BondKind::Quadruple => 4,
        BondKind::Aromatic => 12,
        _ => 17,
    }
}

#[cfg(test)]
mod tests {
    use hg2v::dataset::{Limits, molecules};

    use super::*;

    fn counts(smiles: &str) -> Vec<(usize, f32)> {
        let record = molecules::from_smiles(smiles, &Limits::default()).unwrap();
        let records = [record];
        let row = Morgan::default().fit(&records).unwrap().embed(&records).unwrap().values;
        row.into_iter().enumerate().filter(|(_, count)| *count > 0.0).collect()
    }

    /// `GetMorganGenerator(radius=2, fpSize=2048).GetCountFingerprint(m).GetNonzeroElements()`.
    #[test]
    fn numbers_are_those_of_rdkit() {
        assert_eq!(
            counts("CCO"),
            [(80, 1.0), (222, 1.0), (294, 1.0), (807, 1.0), (1057, 1.0), (1410, 1.0)]
        );
        assert_eq!(
            counts("[2H]C([O-])=O.[NH4+]"),
            [
                (164, 1.0),
                (650, 1.0),
                (657, 1.0),
                (694, 1.0),
                (715, 1.0),
                (909, 1.0),
                (1004, 1.0),
                (1093, 1.0),
                (1643, 1.0)
            ]
        );
    }

    #[test]
    fn aspirin_is_that_of_rdkit() {
        assert_eq!(
            counts("CC(=O)Oc1ccccc1C(=O)O"),
            [
                (389, 1.0),
                (456, 1.0),
                (650, 2.0),
                (695, 1.0),
                (807, 3.0),
                (909, 1.0),
                (1017, 1.0),
                (1035, 1.0),
                (1047, 1.0),
                (1057, 1.0),
                (1088, 2.0),
                (1199, 2.0),
                (1380, 2.0),
                (1410, 1.0),
                (1447, 1.0),
                (1468, 1.0),
                (1616, 1.0),
                (1729, 1.0),
                (1750, 2.0),
                (1775, 1.0),
                (1873, 4.0),
                (1917, 2.0),
                (1970, 1.0),
                (1991, 1.0)
            ]
        );
    }

    #[test]
    fn surroundings_depend_on_bonds_and_rings() {
        assert_ne!(counts("C1CCCCC1"), counts("c1ccccc1"));
        assert_ne!(counts("CCCCCC"), counts("C1CCCCC1"));
        assert_eq!(counts("C1=CC=CC=C1O"), counts("Oc1ccccc1"));
    }

    #[test]
    fn what_is_no_molecule_is_refused() {
        let label = |text: &str| Some(vec![text.into()]);
        let graph =
            GraphRecord { num_nodes: 1, node_labels: label("Xx"), ..GraphRecord::default() };
        let said = Morgan::default().fit(&[graph]).map(|_| ()).unwrap_err().to_string();
        assert!(said.contains("is no molecule: `Xx`"), "{said}");
    }
}

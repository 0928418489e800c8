//! FRANKENSTEIN-R: molecules with pictures of digits for atoms.
//!
//! FRANKENSTEIN (Orsini, Frasconi and De Raedt 2015) is BURSI, molecules that are
//! mutagenic or not, whose atom symbols were replaced by handwritten digits of
//! MNIST. Its attributes are no longer to be had, nor is it recorded which digit
//! stood for which atom; so it is made anew, under another name:
//!
//! - The ten most frequent atoms are digits: the most frequent is 0, the next 1, …;
//!   of equally frequent ones the smaller label comes first.
//! - Every atom gets a picture of its own, drawn uniformly from those of its digit.
//! - Rarer atoms (in BURSI 17 of 73 283: potassium, calcium, lithium) get a blank
//!   picture.
//! - A picture is its first 780 pixels, row by row, black 0 and white 1. The
//!   original has 780 attributes as well; the four pixels that 28 × 28 has beyond
//!   them lie in the last corner and are blank in every test image of MNIST.
//! - Atom symbols and bond types are left out, as in the original.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::path::Path;

use hg2v_math::rng::ChaCha8Rng;
use rand::RngExt;

use super::Model;
use crate::dataset::{self, Limits, images};
use crate::error::{Error, Place, Result};
use crate::graph::{Features, GraphRecord, Scalar};

/// Pixels a side of a picture.
const SIDE: u32 = 28;

/// Numbers an atom.
pub const ATTRIBUTES: usize = 780;

/// Digits there are.
const DIGITS: usize = 10;

/// Molecules and pictures, ready to be sewn together.
#[derive(Debug, Clone)]
pub struct Frankenstein {
    molecules: Vec<GraphRecord>,
    /// The atoms that are digits, the most frequent first: its place is its digit.
    atoms: Vec<Scalar>,
    /// The pictures of each digit, [`ATTRIBUTES`] numbers each.
    pictures: Vec<Vec<Vec<f64>>>,
}

impl Frankenstein {
    /// Reads molecules whose node labels are their atoms, and idx files of 28 × 28
    /// pictures and their digits.
    ///
    /// # Errors
    /// A file that cannot be read; a molecule without atoms' labels; pictures of
    /// another size, or of something else than digits; a digit without pictures.
    pub fn open(
        bursi: &Path,
        images: &Path,
        labels: &Path,
        limits: &Limits,
    ) -> Result<Frankenstein> {
        let molecules = dataset::open(bursi, limits)?.collect::<Result<Vec<_>>>()?;
        let atoms = most_frequent_atoms(&molecules, bursi)?;
        let pictures = pictures(images, labels, limits)?;
        if let Some(digit) = (0..atoms.len()).find(|&digit| pictures[digit].is_empty()) {
            return Err(Error::input(
                images,
                Place::Whole,
                format!("there is no picture of a {digit}"),
                "give images of all ten digits, as MNIST has them",
            ));
        }
        Ok(Frankenstein { molecules, atoms, pictures })
    }

    /// How many molecules there are.
    pub fn len(&self) -> u64 {
        self.molecules.len() as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.molecules.is_empty()
    }

    /// The digit that an atom is, where it is one.
    pub fn digit(&self, atom: &Scalar) -> Option<usize> {
        self.atoms.iter().position(|other| other == atom)
    }
}

/// The [`DIGITS`] most frequent node labels, the most frequent first.
fn most_frequent_atoms(molecules: &[GraphRecord], file: &Path) -> Result<Vec<Scalar>> {
    let mut counts: BTreeMap<&Scalar, u64> = BTreeMap::new();
    for (position, molecule) in molecules.iter().enumerate() {
        let Some(labels) = &molecule.node_labels else {
            return Err(Error::input(
                file,
                Place::Record(position as u64 + 1),
                format!("{} has no node labels", molecule.name(position as u64)),
                "give BURSI, whose node labels are atoms",
            ));
        };
        labels.iter().for_each(|label| *counts.entry(label).or_default() += 1);
    }
    let mut atoms: Vec<(&Scalar, u64)> = counts.into_iter().collect();
    // Stable: equally frequent ones stay in the order of their labels.
    atoms.sort_by_key(|&(_, count)| Reverse(count));
    Ok(atoms.into_iter().take(DIGITS).map(|(atom, _)| atom.clone()).collect())
}

/// The pictures of each digit, in the order of the file.
fn pictures(images: &Path, labels: &Path, limits: &Limits) -> Result<Vec<Vec<Vec<f64>>>> {
    // No luminosity is below this: every pixel is a node, and none is lost.
    let everything = images::Params { threshold: -1.0, scale: None };
    let graphs = images::open(images, labels, everything, limits)?;
    if graphs.shape() != (SIDE, SIDE) {
        let (rows, columns) = graphs.shape();
        return Err(Error::input(
            images,
            Place::Byte(8),
            format!("its pictures have {rows} × {columns} pixels"),
            "give pictures of 28 × 28 pixels, as MNIST has them",
        ));
    }
    let mut pictures = vec![Vec::new(); DIGITS];
    for (position, graph) in graphs.enumerate() {
        let graph = graph?;
        let digit = match graph.label {
            Some(Scalar::Int(digit @ 0..=9)) => digit as usize,
            other => {
                let found = other.map_or_else(String::new, |label| label.to_string());
                return Err(Error::input(
                    labels,
                    Place::Record(position as u64 + 1),
                    format!("the class {found} is no digit"),
                    "give the classes of MNIST, from 0 to 9",
                ));
            }
        };
        // The features of a pixel are its row, its column and its luminosity.
        let pixels = graph.features.unwrap_or_default();
        let luminosities = pixels.values.iter().skip(2).step_by(3);
        pictures[digit].push(luminosities.take(ATTRIBUTES).copied().collect());
    }
    Ok(pictures)
}

impl Model for Frankenstein {
    fn name(&self) -> &'static str {
        "frankenstein"
    }

    fn check(&self) -> Result<()> {
        match self.is_empty() {
            true => Err(Error::parameter("bursi", "empty", "it must hold a molecule")),
            false => Ok(()),
        }
    }

    fn num_nodes(&self) -> u64 {
        let nodes: u64 = self.molecules.iter().map(|molecule| u64::from(molecule.num_nodes)).sum();
        nodes.div_ceil(self.len().max(1))
    }

    /// Molecules are those of the file; after the last one the first comes again,
    /// with other pictures.
    fn graph(&self, index: u64, rng: &mut ChaCha8Rng) -> GraphRecord {
        let molecule = &self.molecules[(index % self.len()) as usize];
        let mut values = Vec::with_capacity(molecule.num_nodes as usize * ATTRIBUTES);
        for atom in molecule.node_labels.iter().flatten() {
            match self.digit(atom) {
                Some(digit) => {
                    let of_digit = &self.pictures[digit];
                    values.extend_from_slice(&of_digit[rng.random_range(0..of_digit.len())]);
                }
                None => values.resize(values.len() + ATTRIBUTES, 0.0),
            }
        }
        GraphRecord {
            label: molecule.label.clone(),
            num_nodes: molecule.num_nodes,
            edges: molecule.edges.clone(),
            weights: molecule.weights.clone(),
            directed: molecule.directed,
            features: Some(Features { dim: ATTRIBUTES, values }),
            ..GraphRecord::default()
        }
    }
}

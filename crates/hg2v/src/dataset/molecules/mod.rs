//! Molecules: SMILES, SDF and MOL files as graphs of atoms and bonds.
//!
//! ```text
//! smiles,name,logp
//! CCO,ethanol,-0.31
//! c1ccccc1,benzene,2.13
//! ```
//!
//! | in the file | becomes |
//! |---|---|
//! | an atom | a node; its label is what SMILES writes inside brackets: `CH3`, `cH`, `NH3+` ([`AtomLabel`]) |
//! | a hydrogen without isotope, charge or second neighbour | one more in the label of its neighbour |
//! | a bond | an edge; its label is `single`, `double`, `triple`, `quadruple`, `aromatic` or `dative` |
//! | a column or field `id`, `name` or `compound id`, the second word of a line of `.smi`, the title of a MOL block | the graph's id |
//! | a column or field `y` | the graph's label |
//! | any other column or field | a target of that name: a number, text, or missing where it is empty |
//! | stereo marks, coordinates | nothing; said in [`Source::ignored`](super::Source::ignored) |
//!
//! All spellings of a molecule are one graph, up to the order of its atoms: aromatic rings are made
//! single and double bonds, and what is aromatic is found out anew, by RDKit's default model. Hydrogens
//! follow from valences as RDKit counts them. With
//! [`Limits::atom_attributes`](super::Limits::atom_attributes) atoms have numbers, too.
//!
//! | file | holds |
//! |---|---|
//! | `.smi`, `.smiles` | a SMILES a line, then, after a blank, its id; or a header and a table |
//! | `.csv`, `.tsv`, `.txt` | a table with a column `smiles`, in any case |
//! | `.sdf`, `.sd`, `.mol` | MOL blocks, V2000 or V3000 |
//! | any of them and `.gz` | the same, compressed |
//! | `.parquet` | rows with a column `smiles` of text, and no `src` |
//!
//! Reading holds one chunk of a file at a time; its molecules are made in parallel and come in order.

mod aromaticity;
mod block;
mod cleanup;
mod detect;
mod elements;
mod hydrogens;
mod kekule;
mod label;
mod molecule;
#[cfg(feature = "parquet")]
pub(super) mod parquet;
mod properties;
mod record;
mod rings;
mod sanitise;
mod sdf;
mod smiles;
mod stream;
mod table;

use std::path::Path;

use super::Limits;
use super::fault::Fault;
use crate::error::{Place, Result};
use crate::graph::GraphRecord;

pub(super) use detect::{ENDINGS, detect};
pub use label::{AtomLabel, BondKind, NoAtom, NoBond};
pub use record::ATTRIBUTES;
pub use sdf::read_sdf;
pub use table::read_smiles;

/// The molecule that a SMILES is.
///
/// # Errors
/// A text that is no molecule, with the position and what is wrong there; one with more atoms than
/// the limits allow.
///
/// ```
/// use hg2v::dataset::{Limits, molecules};
///
/// let phenol = molecules::from_smiles("Oc1ccccc1", &Limits::default())?;
/// assert_eq!((phenol.num_nodes, phenol.edges.len()), (7, 7));
/// assert_eq!(phenol.node_labels.unwrap()[0], "OH".into());
/// assert_eq!(phenol.edge_labels.unwrap()[1], "aromatic".into());
/// # Ok::<(), hg2v::Error>(())
/// ```
pub fn from_smiles(text: &str, limits: &Limits) -> Result<GraphRecord> {
    from_smiles_at(Path::new("<smiles>"), Place::Whole, text, limits)
}

/// As [`from_smiles`]; `name` and `place` say in messages where the text came from.
///
/// # Errors
/// As [`from_smiles`], of this graph alone.
pub fn from_smiles_at(
    name: &Path,
    place: Place,
    text: &str,
    limits: &Limits,
) -> Result<GraphRecord> {
    let made = of_smiles(text.trim().as_bytes(), limits);
    made.map(|(record, _)| record).map_err(|fault| fault.at(name, place))
}

/// For each atom (of `atoms`) whether it is in a ring of these bonds.
pub fn atoms_in_rings(atoms: usize, bonds: &[[u32; 2]]) -> Vec<bool> {
    rings::atoms_in_rings(atoms, bonds)
}

/// The molecule of a SMILES, and whether it had stereo marks.
fn of_smiles(text: &[u8], limits: &Limits) -> std::result::Result<(GraphRecord, bool), Fault> {
    let mut molecule = smiles::parse(text, record::most_atoms(limits))
        .map_err(|wrong| record::fault(text, wrong, limits))?;
    let rings =
        sanitise::sanitise(&mut molecule).map_err(|wrong| record::fault(text, wrong, limits))?;
    Ok((record::record(&molecule, &rings, limits), molecule.stereo))
}

//! What a file says of a molecule beside its atoms: columns of tables, fields of SDF.

use crate::dataset::targets::ONLY;
use crate::dataset::text;
use crate::graph::{GraphRecord, Scalar, Target};

/// Columns that name the molecule, the first there is.
pub(super) const IDS: [&str; 6] =
    ["id", "name", "compound id", "compound_id", "mol_id", "cmpd_chemblid"];

/// What a cell says: a number, text, or nothing.
pub(super) fn value(cell: &str) -> Option<Scalar> {
    match cell {
        "" | "nan" | "NaN" => None,
        cell => Some(text::label(cell)),
    }
}

/// The id that a cell says.
pub(super) fn id(cell: &str) -> Option<Scalar> {
    (!cell.is_empty()).then(|| text::id(cell))
}

/// Adds a property that is not the id: `y` is the label, any other a target.
pub(super) fn add(record: &mut GraphRecord, name: &str, value: Option<Scalar>) {
    match name {
        ONLY => record.label = value,
        _ => record.targets.push(Target { name: name.to_owned(), value }),
    }
}

//! Parquet: one graph a row.
//!
//! | column | type written | also read | when absent or null |
//! |---|---|---|---|
//! | `src`, `dst` | list of uint32: positions of an edge's ends, from 0 | any integers | refused |
//! | `num_nodes` | uint32 | any integers | from `nodes`, `x`, `node_label`, or the highest end |
//! | `nodes` | list of scalars: the nodes' names | | names are 0 … n−1 |
//! | `weight` | list of double, one an edge | float, integers | unweighted |
//! | `x` | list of list of double, a row a node | fixed-size lists, float, integers | no attributes |
//! | `node_label`, `edge_label` | list of scalars | | no labels |
//! | `edge_x` | list of list of double, a row an edge | the same as `x`; list of numbers | no attributes of edges |
//! | `id`, `y` | a scalar | | none |
//! | `y.NAME` | a scalar: one of several targets | `y` as a struct of scalars, or as a list of them | not known; NaN likewise |
//! | `directed` | boolean | | `false` |
//!
//! Scalars are int64, double, boolean or utf8; readers take any width, any
//! encoding and any text type of them. A column whose scalars are of several kinds
//! is utf8 with each value spelled as JSON, and is named in the file's metadata
//! under `hg2v.json` (names separated by commas; those of targets under `hg2v.json_targets`, a
//! list in JSON). Integers among floats in `y` and `y.NAME` are written as floats. Columns are found by name; any
//! other is passed over and said ([`Source::ignored`]).
//!
//! The same rows in memory are [`records`] and [`batch`], whoever made them: other
//! programs' list and text types are read too.
//!
//! Both ways stream: reading decodes a few megabytes of rows at a time, writing
//! holds one row group.

pub(crate) mod columns;
pub(crate) mod decode;
mod grammar;
pub(crate) mod guard;
pub(crate) mod open;
pub(crate) mod scalars;
mod targets;
pub(crate) mod write;

use std::collections::BTreeSet;
use std::path::Path;

use super::{Format, Limits, Source, folder, molecules};
use crate::error::{Action, Error, Place, Problem, Result};
use crate::input::open_regular;
pub use decode::{each_record, records};
pub use write::{batch, write};

/// The metadata key that names the columns whose texts are JSON.
const JSON_COLUMNS: &str = "hg2v.json";

/// The metadata key that names the targets whose texts are JSON, as a list in JSON: their names
/// may hold commas.
const JSON_TARGETS: &str = "hg2v.json_targets";

/// Opens a Parquet file, or all those of a folder and of the folders in it, one after the
/// other in the order of their names.
///
/// # Errors
/// When a file cannot be opened, is not Parquet, or lacks a column it needs or
/// has one of a wrong type. What is wrong with its rows comes out of the iteration.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    match path.is_dir() {
        true => read_folder(path, *limits),
        false => read_file(path, limits),
    }
}

fn read_folder(path: &Path, limits: Limits) -> Result<Source> {
    let (mut files, mut len, mut ignored) = (Vec::new(), 0, BTreeSet::new());
    // A look at all of them first, and then one at a time: they may be thousands.
    for file in folder::files(path, &[".parquet"], true)? {
        let source = read_file(&file, &limits)?;
        ignored.extend(source.known);
        // Engines leave files without rows.
        if let Some(rows @ 1..) = source.len {
            len += rows;
            files.push(file);
        }
    }
    if files.is_empty() {
        let fix = "write one row a graph".into();
        return Err(Problem::NoGraphs { fix }.at(path, Place::Whole));
    }
    let graphs = files.into_iter().flat_map(move |file| match read_file(&file, &limits) {
        Ok(source) => source.graphs,
        Err(error) => Box::new(std::iter::once(Err(error))),
    });
    let mut source = Source::new(path, Format::Parquet, graphs);
    source.len = Some(len);
    source.known = ignored.into_iter().collect();
    Ok(source)
}

fn read_file(path: &Path, limits: &Limits) -> Result<Source> {
    let open = || open_regular(path).map_err(|e| Error::io(path, Action::Read, e));
    match molecules::parquet::open(path, open()?, limits)? {
        Some(source) => Ok(source),
        None => decode::open(path, open()?, limits),
    }
}

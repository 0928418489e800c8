//! GraphML, read only: a folder of `*.graphml` files in order of name, or one
//! file, each with one or more graphs; as networkx, igraph, Gephi and yEd write it.
//!
//! | in the file | becomes |
//! |---|---|
//! | `edgedefault="directed"` | a directed graph |
//! | node attribute `label` (text, integer, boolean), else the only one of text | node labels |
//! | every other numeric node attribute (booleans as 0 and 1), as declared | features |
//! | edge attribute `weight` (numeric) | weights |
//! | edge attribute `label`, or Gephi's `Edge Label` | edge labels |
//! | graph attribute `y`, else `label`, else `class` | the graph's label |
//! | any other attribute or element | nothing; said in [`Source::ignored`] |
//! | hyperedges, ports, graphs inside nodes | refused |
//!
//! A missing value is the key's `<default>`; an attribute that some nodes (or
//! edges) of a graph have and some have not, without a default, is refused.
//! A graph goes by its file's stem; where a file is read alone or holds several
//! graphs, by its own `id` if that says something, or by the stem and a number.
//!
//! Entities other than the five of XML are never expanded, elements nest at most
//! 64 deep, a file has at most `max_record_bytes` and all of them together
//! `max_unpacked_bytes`.

mod attributes;
mod document;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use super::folder;
use super::text::{Budget, few, utf8_file};
use super::{Format, Limits, Source};
use crate::error::{Error, Place, Result};
use crate::graph::{GraphRecord, Scalar};
use document::Document;

/// Opens a folder of GraphML files, or one file; all are read at once.
///
/// # Errors
/// When a file cannot be read, is not well-formed, or holds what a record cannot.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    let alone = !path.is_dir();
    let files = if alone { vec![path.to_path_buf()] } else { files_in(path)? };
    let mut budget = Budget::new(limits.max_unpacked_bytes, "--max-unpacked-bytes");
    let mut records = Vec::new();
    let mut notices = Notices::default();
    for file in &files {
        let size = std::fs::metadata(file).map_err(|e| Error::io(file, "read", e))?;
        Budget::new(limits.max_record_bytes, "--max-record-bytes").claim(file, size.len())?;
        let bytes = budget.read_file(file)?;
        let document = Document::parse(file, utf8_file(file, &bytes)?, limits)?;
        drop(bytes);
        let first = records.len();
        for graph in &document.graphs {
            records.push(attributes::record(file, &document, graph, &mut budget, &mut notices)?);
        }
        name_graphs(file, alone, &document, &mut records[first..]);
    }
    let len = records.len() as u64;
    let mut source = Source::new(path, Format::GraphMl, records.into_iter().map(Ok));
    source.len = Some(len);
    source.known = notices.sentences();
    Ok(source)
}

fn files_in(path: &Path) -> Result<Vec<PathBuf>> {
    let files = folder::files(path, "graphml", false)?;
    if files.is_empty() {
        let problem = "there is no `*.graphml` file in it";
        let fix = "give a folder of GraphML files, or one file";
        return Err(Error::input(path, Place::Whole, problem, fix));
    }
    Ok(files)
}

/// Gives the graphs of one file their ids.
fn name_graphs(file: &Path, alone: bool, document: &Document, records: &mut [GraphRecord]) {
    let stem = file.file_stem().unwrap_or_default().to_string_lossy();
    let several = records.len() > 1;
    for ((number, graph), record) in (1..).zip(&document.graphs).zip(records) {
        // Every exporter that asks for no name writes `G`.
        let own = graph.id.as_deref().filter(|id| !matches!(*id, "" | "G"));
        let own = own.filter(|_| alone || several);
        record.id = Some(match own {
            Some(id) => Scalar::from_text(id),
            None if several => Scalar::Text(format!("{stem}-{number}").into()),
            None => Scalar::from_text(&stem),
        });
    }
}

/// What files hold and records do not, each thing said once.
#[derive(Default)]
struct Notices(BTreeMap<String, u64>);

impl Notices {
    fn say(&mut self, what: String) {
        *self.0.entry(what).or_default() += 1;
    }

    fn sentences(self) -> Vec<String> {
        let sentences =
            self.0.into_iter().map(|(what, graphs)| format!("{what} (graphs: {graphs})"));
        few(sentences.collect())
    }
}

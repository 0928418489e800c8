//! GraphML, read only: a folder of `*.graphml` files in order of name, or one
//! file, each with one or more graphs; as networkx, igraph, Gephi and yEd write it.
//!
//! | in the file | becomes |
//! |---|---|
//! | `edgedefault="directed"` | a directed graph |
//! | node attribute `name` (text) that tells the nodes of every graph apart | the nodes' ids |
//! | node attribute `label` (text, integer, boolean), else the only one of text beside `name`, else `name` | node labels |
//! | Gephi's `x`, `y`, `z`, `r`, `g`, `b`, `alpha`, `size` of nodes | nothing, unless [`Limits::drawing`] says so |
//! | every other numeric node attribute (booleans as 0 and 1), as declared | features |
//! | edge attribute `weight` (numeric) | weights |
//! | edge attribute `label`, or Gephi's `Edge Label`, else the only one of text | edge labels |
//! | every other numeric edge attribute, as those of nodes | attributes of edges |
//! | graph attribute `y`, else `label`, else `class` | the graph's label |
//! | graph attributes `y.NAME` | its targets |
//! | any other attribute or element | nothing; said in [`Source::ignored`] |
//! | hyperedges, ports, graphs inside nodes | refused |
//!
//! Keys of one name are one attribute, of the type that holds the values of all: networkx declares
//! a key for each type of a value. Files may be compressed (`.graphml.gz`).
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
use std::io::{BufRead, BufReader, Read};
use std::path::{Path, PathBuf};

use super::folder;
use super::gzip::{self, Gunzip};
use super::text::{Budget, few, utf8_file};
use super::{Format, Limits, Source};
use crate::error::{Action, Error, Limit, Place, Result};
use crate::graph::{GraphRecord, Scalar};
use crate::input::open_regular;
use attributes::Names;
use document::{Document, Graph};

/// What sentences of [`Source::ignored`] say that [`Limits::drawing`] would make untrue: whoever
/// passes them on knows what that is called there.
pub const DRAWING_UNUSED: &str = "(Gephi's drawing) are not used";

/// How files of GraphML end, in folders.
pub(super) const ENDINGS: [&str; 2] = [".graphml", ".graphml.gz"];

/// Opens a folder of GraphML files, or one file; all are read at once.
///
/// # Errors
/// When a file cannot be read, or one that is alone is not well-formed. What concerns a single
/// graph, or a single file of a folder, comes in its place.
pub fn read(path: &Path, limits: &Limits) -> Result<Source> {
    let alone = !path.is_dir();
    let files = if alone { vec![path.to_path_buf()] } else { files_in(path)? };
    let mut budget = Budget::new(Limit::UnpackedBytes, limits.max_unpacked_bytes);
    let mut records: Vec<Result<GraphRecord>> = Vec::new();
    let mut names = Vec::new();
    let mut notices = Notices::default();
    for file in &files {
        let bytes = unfolded(file, &mut budget, limits)?;
        let text = utf8_file(file, &bytes);
        let document = match text.and_then(|text| Document::parse(file, text, limits)) {
            Ok(document) => document,
            Err(error) if alone => return Err(error),
            Err(error) => {
                records.push(Err(error.of_one_graph()));
                continue;
            }
        };
        drop(bytes);
        for (number, graph) in (1..).zip(&document.graphs) {
            let (drawing, id) = (limits.drawing, name(file, alone, &document, graph, number));
            let record =
                attributes::record(file, &document, graph, drawing, &mut budget, &mut notices);
            records.push(match record {
                Ok((record, own)) => {
                    names.extend(own.map(|own| (records.len(), own)));
                    Ok(GraphRecord { id: Some(id), ..record })
                }
                Err(error) => Err(error.of_one_graph()),
            });
        }
    }
    name_nodes(&mut records, names, &mut notices);
    let len = records.len() as u64;
    let mut source = Source::new(path, Format::GraphMl, records.into_iter());
    source.len = Some(len);
    source.known = notices.sentences();
    Ok(source)
}

fn files_in(path: &Path) -> Result<Vec<PathBuf>> {
    let files = folder::files(path, &ENDINGS, false)?;
    if files.is_empty() {
        let problem = "there is no `*.graphml` file in it";
        let fix = "give a folder of GraphML files, or one file";
        return Err(Error::input(path, Place::Whole, problem, fix));
    }
    Ok(files)
}

/// The bytes of a file, compressed or not.
fn unfolded(file: &Path, budget: &mut Budget, limits: &Limits) -> Result<Vec<u8>> {
    let failed = |e| Error::io(file, Action::Read, e);
    let longest = Budget::new(Limit::RecordBytes, limits.max_record_bytes);
    let mut raw = BufReader::new(open_regular(file).map_err(failed)?);
    if !raw.fill_buf().map_err(failed)?.starts_with(&gzip::MAGIC) {
        longest.claim(file, raw.get_ref().metadata().map_err(failed)?.len())?;
        return budget.read(file, raw, failed);
    }
    let most = limits.max_record_bytes.saturating_add(1);
    let bytes =
        budget.read(file, Gunzip::new(raw).take(most), |e| gzip::refused(file, Place::Whole, e))?;
    longest.claim(file, bytes.len() as u64)?;
    Ok(bytes)
}

/// Names that tell the nodes of every graph apart, as igraph writes them, are their ids; one that
/// several nodes share somewhere is a label everywhere, where it is the only text they have.
fn name_nodes(
    records: &mut [Result<GraphRecord>],
    names: Vec<(usize, Names)>,
    notices: &mut Notices,
) {
    let are_ids = names.iter().all(|(_, names)| names.tell_apart());
    for (at, names) in names {
        let Some(Ok(record)) = records.get_mut(at) else { continue };
        match are_ids {
            true => {
                if names.is_label {
                    record.node_labels = None;
                }
                record.node_ids = names.names.into_iter().collect();
            }
            false if !names.is_label => {
                notices.say("the node attribute `name` is not used".to_owned());
            }
            false => {}
        }
    }
}

/// The id of a graph, the `number`-th of its file.
fn name(file: &Path, alone: bool, document: &Document, graph: &Graph, number: usize) -> Scalar {
    let stem = |file: &Path| file.file_stem().unwrap_or_default().to_string_lossy().into_owned();
    let stem = match folder::ends_in(file, &[".gz"]) {
        true => stem(Path::new(&stem(file))),
        false => stem(file),
    };
    let several = document.graphs.len() > 1;
    // Every exporter that asks for no name writes `G`.
    let own = graph.id.as_deref().filter(|id| !matches!(*id, "" | "G"));
    match own.filter(|_| alone || several) {
        Some(id) => Scalar::from_text(id),
        None if several => Scalar::Text(format!("{stem}-{number}").into()),
        None => Scalar::from_text(&stem),
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

//! SDF and MOL files: MOL blocks, and the fields behind each.

use std::io::Read;
use std::path::{Path, PathBuf};
use std::vec;

use rayon::prelude::*;

use super::molecule::Wrong;
use super::properties::{self, IDS};
use super::table::STEREO;
use super::{block, record, sanitise, stream};
use crate::dataset::fault::Fault;
use crate::dataset::lines::{Lines, too_long};
use crate::dataset::{Format, Limits, Notes, Source};
use crate::error::{Action, Error, Place, Problem, Result};
use crate::graph::GraphRecord;
use crate::input::open_regular;

/// Opens an SDF or MOL file, compressed or not.
///
/// # Errors
/// When the file cannot be opened. What is wrong with a molecule comes in its place, with the line.
pub fn read_sdf(path: &Path, limits: &Limits) -> Result<Source> {
    let file = open_regular(path).map_err(|e| Error::io(path, Action::Read, e))?;
    from_reader(path, file, limits)
}

/// Reads SDF from anything; `path` is its name in messages.
pub(super) fn from_reader(
    path: &Path,
    reader: impl Read + Send + 'static,
    limits: &Limits,
) -> Result<Source> {
    let notes = Notes::default();
    let graphs = Records {
        lines: stream::lines(path, reader, limits)?,
        path: path.to_path_buf(),
        limits: *limits,
        begun: Text { start: 1, lines: 0, text: String::new(), long: false },
        ready: Vec::new().into_iter(),
        any: false,
        ended: false,
        notes: notes.clone(),
    };
    let mut source = Source::new(path, Format::Sdf, graphs);
    source.notes = notes;
    Ok(source)
}

/// The lines of one record, up to `$$$$`.
struct Text {
    /// The number of its first line.
    start: u64,
    /// How many they are.
    lines: u64,
    text: String,
    /// Whether there were more bytes than may be held; they are not.
    long: bool,
}

/// The molecules of a stream, a batch of lines ahead.
struct Records {
    lines: Lines,
    path: PathBuf,
    limits: Limits,
    /// What was read of the next record.
    begun: Text,
    ready: vec::IntoIter<Result<(GraphRecord, bool)>>,
    any: bool,
    ended: bool,
    notes: Notes,
}

impl Records {
    fn advance(&mut self) -> Result<()> {
        let mut whole = Vec::new();
        match self.lines.next_batch()? {
            None => {
                self.ended = true;
                whole.extend(self.begun.take_if(true));
            }
            Some(batch) => {
                for line in batch {
                    self.begun.push(line.text, self.limits.max_record_bytes);
                    whole.extend(self.begun.take_if(line.text.starts_with(b"$$$$")));
                }
            }
        }
        let (path, limits) = (&self.path, &self.limits);
        let made: Vec<_> = whole.par_iter().map(|text| text.record(path, limits)).collect();
        self.any |= !made.is_empty();
        self.ready = made.into_iter();
        Ok(())
    }
}

impl Iterator for Records {
    type Item = Result<GraphRecord>;

    fn next(&mut self) -> Option<Self::Item> {
        loop {
            match self.ready.next() {
                Some(Ok((record, stereo))) => {
                    self.notes.add("coordinates of atoms, which graphs do not carry".to_owned());
                    if stereo {
                        self.notes.add(STEREO.to_owned());
                    }
                    return Some(Ok(record));
                }
                Some(Err(error)) => return Some(Err(error)),
                None if self.ended && self.any => return None,
                None if self.ended => {
                    self.any = true;
                    let fix = "give a file of MOL blocks".into();
                    return Some(Err(Problem::NoGraphs { fix }.at(&self.path, Place::Whole)));
                }
                None => {
                    if let Err(error) = self.advance() {
                        self.any = true;
                        self.ended = !error.is_of_one_graph();
                        return Some(Err(error));
                    }
                }
            }
        }
    }
}

impl Text {
    fn push(&mut self, line: &[u8], most: u64) {
        self.lines += 1;
        self.long |= (self.text.len() + line.len()) as u64 > most;
        if !self.long {
            self.text.push_str(&String::from_utf8_lossy(line));
            self.text.push('\n');
        }
    }

    /// The record, where this line ended it and it is more than blanks; the next one begins.
    fn take_if(&mut self, ended: bool) -> Option<Text> {
        if !ended {
            return None;
        }
        let next =
            Text { start: self.start + self.lines, lines: 0, text: String::new(), long: false };
        let whole = std::mem::replace(self, next);
        (whole.long || !whole.text.trim().is_empty()).then_some(whole)
    }

    fn record(&self, path: &Path, limits: &Limits) -> Result<(GraphRecord, bool)> {
        if self.long {
            return Err(too_long(path, self.start, limits.max_record_bytes));
        }
        let lines: Vec<&str> = self.text.lines().collect();
        made(&lines, limits).map_err(|wrong| {
            let place = Place::Line(self.start + u64::from(wrong.at));
            let fault = match wrong.beyond {
                true => record::too_many(limits),
                false => {
                    let what = format!("the MOL block is no molecule: {}", wrong.what);
                    Fault::new(what, "correct it, or leave the molecule out")
                }
            };
            fault.at(path, place)
        })
    }
}

/// The molecule of the lines of a record, with its fields, and whether it had stereo marks.
fn made(lines: &[&str], limits: &Limits) -> std::result::Result<(GraphRecord, bool), Wrong> {
    let (mut molecule, end) = block::parse(lines, record::most_atoms(limits))?;
    let rings = sanitise::sanitise(&mut molecule)?;
    let mut record = record::record(&molecule, &rings, limits);
    let title = lines.first().map_or("", |title| title.trim());
    record.id = properties::id(title);
    let mut fields = fields(&lines[end.min(lines.len())..]);
    if record.id.is_none() {
        let place = IDS
            .iter()
            .find_map(|id| fields.iter().position(|(name, _)| name.to_lowercase() == **id));
        record.id = place.and_then(|place| properties::id(&fields.remove(place).1));
    }
    for (name, value) in fields {
        properties::add(&mut record, &name, properties::value(&value));
    }
    Ok((record, molecule.stereo))
}

/// `> <NAME>` and the lines behind it, up to a blank one. Of two fields of a name the last counts.
fn fields(lines: &[&str]) -> Vec<(String, String)> {
    let mut fields: Vec<(String, String)> = Vec::new();
    let mut lines = lines.iter();
    while let Some(line) = lines.next() {
        let name = line.strip_prefix('>').and_then(|rest| {
            let (_, rest) = rest.split_once('<')?;
            rest.rsplit_once('>').map(|(name, _)| name)
        });
        let Some(name) = name else { continue };
        let value: Vec<&str> =
            lines.by_ref().take_while(|line| !line.trim().is_empty()).copied().collect();
        let value = value.join("\n").trim().to_owned();
        fields.retain(|(known, _)| known != name);
        fields.push((name.to_owned(), value));
    }
    fields
}

//! What is to be predicted of each graph: `NAME_graph_attributes.txt`, and what its columns are
//! called.

use std::collections::HashSet;
use std::fs::File;
use std::io::{self, BufRead, BufReader, Write};
use std::path::Path;

use super::columns::fields;
use super::faults::Faults;
use super::files::Held;
use crate::dataset::targets::{Names, ONLY, with_label};
use crate::dataset::text::{self, NotFinite, lines, spelled, spelled_name, utf8};
use crate::error::{Error, Place, Result, shown};
use crate::graph::{GraphRecord, Scalar, Target};

/// The targets of all graphs.
pub(super) struct Targets {
    /// Their names, once [`named`](Targets::named).
    names: Vec<String>,
    /// Row-major, a row a graph.
    values: Vec<Option<Scalar>>,
}

impl Targets {
    /// Reads a row a graph; in the place of a bad one stands nothing.
    pub(super) fn read(held: &Held, faults: &mut Faults) -> Targets {
        let mut targets = Targets { names: Vec::new(), values: Vec::new() };
        for (graph, (number, line)) in lines(&held.bytes).enumerate() {
            if graph == 0 {
                let width = fields(&String::from_utf8_lossy(line)).count();
                targets.names = (0..width).map(|place| place.to_string()).collect();
            }
            let before = targets.values.len();
            if let Err(error) = targets.add(held, number, line) {
                faults.add(graph, error);
                targets.values.truncate(before);
                targets.values.resize(before + targets.names.len(), None);
            }
        }
        targets
    }

    fn add(&mut self, held: &Held, number: u64, line: &[u8]) -> Result<()> {
        let line = utf8(&held.path, number, line)?;
        let refused = |problem, fix: &'static str| {
            Err(Error::input(&held.path, Place::Line(number), problem, fix))
        };
        let before = self.values.len();
        for field in fields(line) {
            match text::target(field) {
                Ok(value @ (None | Some(Scalar::Int(_) | Scalar::Float(_)))) => {
                    self.values.push(value);
                }
                _ => {
                    let problem = format!("{} {}", shown(field), NotFinite::PROBLEM);
                    return refused(
                        problem,
                        "write finite numbers, and nan where one is not known",
                    );
                }
            }
        }
        let (width, expected) = (self.values.len() - before, self.names.len());
        if width != expected {
            let problem =
                format!("{} has {width} numbers where line 1 has {expected}", shown(line));
            return refused(problem, "give every line as many");
        }
        Ok(())
    }

    /// The same by the names of a file of their own.
    pub(super) fn named(self, held: &Held) -> Result<Targets> {
        let names = lines(&held.bytes).map(|(number, line)| {
            let line = utf8(&held.path, number, line)?;
            Ok(text::name(line))
        });
        let names = names.collect::<Result<Vec<String>>>()?;
        let bad = |place, problem: String, fix: &'static str| {
            Err(Error::input(&held.path, place, problem, fix))
        };
        if names.len() != self.names.len() {
            let (found, expected) = (names.len(), self.names.len());
            let problem = format!("the file has {found} lines, but there are {expected} targets");
            return bad(Place::Whole, problem, "name each column of graph_attributes once");
        }
        let mut met = HashSet::new();
        if let Some((number, name)) = (1..).zip(&names).find(|(_, name)| !met.insert(*name)) {
            let problem = format!("two targets are called {}", shown(name));
            return bad(Place::Line(number), problem, "give every target a name of its own");
        }
        Ok(Targets { names, ..self })
    }

    /// The same of graphs without labels: a single target without a name is the label.
    pub(super) fn or_label(self) -> Targets {
        match self.names.len() {
            1 => Targets { names: vec![ONLY.to_owned()], ..self },
            _ => self,
        }
    }

    /// Of how many graphs they are.
    pub(super) fn graphs(&self) -> usize {
        self.values.len().checked_div(self.names.len()).unwrap_or(0)
    }

    /// Those of a graph, whose label is known if it has one.
    pub(super) fn of(&self, graph: usize, label: Option<Scalar>) -> (Option<Scalar>, Vec<Target>) {
        let width = self.names.len();
        let values = self.values.get(graph * width..(graph + 1) * width).unwrap_or_default();
        let targets = self.names.iter().zip(values);
        let targets =
            targets.map(|(name, value)| Target { name: name.clone(), value: value.clone() });
        with_label(label, targets.collect())
    }
}

/// The values of a graph as a line, of as many columns as are known so far.
pub(super) fn write_row(
    out: &mut impl Write,
    names: &Names,
    record: &GraphRecord,
) -> io::Result<()> {
    for (column, value) in names.row(record).into_iter().enumerate() {
        let before = if column == 0 { "" } else { ", " };
        write!(out, "{before}{}", value.map_or("nan".into(), spelled))?;
    }
    writeln!(out)
}

/// Fills the lines of a file up to so many columns.
pub(super) fn complete(path: &Path, columns: usize) -> io::Result<()> {
    let mut rows = tempfile::tempfile_in(path.parent().unwrap_or(Path::new(".")))?;
    io::copy(&mut File::open(path)?, &mut rows)?;
    io::Seek::rewind(&mut rows)?;
    let mut out = io::BufWriter::new(File::create(path)?);
    for line in BufReader::new(rows).lines() {
        let line = line?;
        let found = if line.is_empty() { 0 } else { line.split(',').count() };
        write!(out, "{line}")?;
        for column in found..columns {
            write!(out, "{}nan", if column == 0 { "" } else { ", " })?;
        }
        writeln!(out)?;
    }
    out.flush()
}

/// The lines of the file of names; `None` where they are several positions, which go without
/// saying.
pub(super) fn name_lines(names: &Names) -> Option<String> {
    let several = names.list().len() != 1;
    let plain =
        several && names.list().iter().enumerate().all(|(place, name)| *name == place.to_string());
    let lines = names.list().iter().map(|name| format!("{}\n", spelled_name(name)));
    (!plain).then(|| lines.collect())
}

/// The first target of a record that is no number, if there is one.
pub(super) fn not_a_number(record: &GraphRecord) -> Option<&Target> {
    let number = |value: &Scalar| matches!(value, Scalar::Int(_) | Scalar::Float(_));
    record.targets.iter().find(|target| !target.value.as_ref().is_none_or(number))
}

//! Which of a graph's numbers to predict are asked for.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result, shown};
use crate::graph::{GraphRecord, Scalar, Target};

/// What a file's only target is called, beside its own name where it has one.
pub(crate) const ONLY: &str = "y";

/// Some targets by name.
#[derive(Debug)]
pub(super) struct Choice {
    file: PathBuf,
    names: Vec<String>,
}

impl Choice {
    pub(super) fn new(file: &Path, names: &[String]) -> Choice {
        Choice { file: file.to_path_buf(), names: names.to_vec() }
    }

    /// The record with these targets alone.
    ///
    /// # Errors
    /// A name that the record has no target of.
    pub(super) fn of(&self, mut record: GraphRecord, position: u64) -> Result<GraphRecord> {
        let label = record.label.take();
        let known = std::mem::take(&mut record.targets);
        for name in &self.names {
            let found = known.iter().find(|target| target.name == *name);
            let value = match found {
                Some(target) => target.value.clone(),
                None if name == ONLY && label.is_some() => label.clone(),
                None => return Err(self.unknown(name, &known, label.is_some(), position)),
            };
            record.targets.push(Target { name: name.clone(), value });
        }
        if record.targets.len() == 1 {
            record.label = record.targets.remove(0).value;
        }
        Ok(record)
    }

    fn unknown(&self, name: &str, known: &[Target], label: bool, position: u64) -> Error {
        let own = label.then_some(ONLY);
        let names: Vec<String> =
            own.into_iter().chain(known.iter().map(|target| &*target.name)).map(shown).collect();
        let problem = format!("nothing to predict is called {}", shown(name));
        let fix = match names.len() {
            0 => "give the graphs numbers or classes to predict, as `y`".to_owned(),
            _ => format!("ask for one of {}", names.join(", ")),
        };
        Error::input(&self.file, Place::Record(position + 1), problem, fix)
    }
}

/// These graphs, read from `file`, with the targets of these names alone, as
/// [`Source::targets`](super::Source::targets) has them.
///
/// # Errors
/// A graph that has no target of such a name.
pub fn with_targets(
    records: impl IntoIterator<Item = GraphRecord>,
    file: &Path,
    names: &[String],
) -> Result<Vec<GraphRecord>> {
    let choice = Choice::new(file, names);
    (0..).zip(records).map(|(position, record)| choice.of(record, position)).collect()
}

/// What is before the name of a target in the name of its column.
pub(crate) const PREFIX: &str = "y.";

/// Targets of which none is called [`ONLY`]: that one is the label.
pub(crate) fn with_label(
    label: Option<Scalar>,
    mut targets: Vec<Target>,
) -> (Option<Scalar>, Vec<Target>) {
    let own = targets.iter().position(|target| target.name == ONLY);
    let own = own.and_then(|place| targets.remove(place).value);
    (label.or(own), targets)
}

/// The columns that the targets of some graphs make: each name once, as first met. In a table a
/// graph has all of them, some perhaps without a value.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Names {
    list: Vec<String>,
    places: HashMap<String, usize>,
}

impl Names {
    /// Takes in the names of a graph's targets.
    pub(crate) fn add(&mut self, record: &GraphRecord) {
        for (place, target) in record.targets.iter().enumerate() {
            // Most graphs have the same targets in the same order.
            if self.list.get(place) != Some(&target.name) && !self.places.contains_key(&target.name)
            {
                self.places.insert(target.name.clone(), self.list.len());
                self.list.push(target.name.clone());
            }
        }
    }

    /// The names, a column each.
    pub(crate) fn list(&self) -> &[String] {
        &self.list
    }

    /// The values of a graph, a column each.
    pub(crate) fn row<'r>(&self, record: &'r GraphRecord) -> Vec<Option<&'r Scalar>> {
        let mut row = vec![None; self.list.len()];
        for (place, target) in record.targets.iter().enumerate() {
            let place = match self.list.get(place) {
                Some(name) if *name == target.name => Some(place),
                _ => self.places.get(&target.name).copied(),
            };
            if let Some(cell) = place.and_then(|place| row.get_mut(place)) {
                *cell = target.value.as_ref();
            }
        }
        row
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_the_names_as_first_met() {
        let mut names = Names::default();
        let other = GraphRecord {
            targets: vec![Target { name: "toxic".into(), value: Some(1.into()) }],
            ..GraphRecord::default()
        };
        for record in [&record(), &other, &record()] {
            names.add(record);
        }
        assert_eq!(names.list(), ["logp", "toxic"]);
        assert_eq!(names.row(&other), [None, Some(&1.into())]);
        assert_eq!(names.row(&record()), [Some(&15.into()), None]);
    }

    fn record() -> GraphRecord {
        let target = |name: &str, value| Target { name: name.to_owned(), value };
        GraphRecord {
            targets: vec![target("logp", Some(15.into())), target("toxic", None)],
            ..GraphRecord::default()
        }
    }

    fn chosen(names: &[&str]) -> Result<GraphRecord> {
        let names: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
        Choice::new(Path::new("a.jsonl"), &names).of(record(), 3)
    }

    #[test]
    fn one_target_is_the_label_and_several_stay_targets() {
        let one = chosen(&["logp"]).unwrap();
        assert_eq!((one.label, one.targets), (Some(15.into()), vec![]));
        let two = chosen(&["toxic", "logp"]).unwrap();
        assert_eq!(two.label, None);
        assert_eq!(two.targets.iter().map(|t| &*t.name).collect::<Vec<_>>(), ["toxic", "logp"]);
    }

    #[test]
    fn an_unknown_name_is_told_what_there_is() {
        let error = chosen(&["logs"]).unwrap_err().to_string();
        for part in ["a.jsonl", "record 4", "`logs`", "`logp`, `toxic`"] {
            assert!(error.contains(part), "{error}");
        }
    }
}

//! Which of a graph's numbers to predict are asked for.

use std::path::{Path, PathBuf};

use crate::error::{Error, Place, Result, shown};
use crate::graph::{GraphRecord, Target};

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

#[cfg(test)]
mod tests {
    use super::*;

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

//! What options are unless somebody says otherwise, read from the settings of all methods.

use hg2v::Preset;
use hg2v::vocabulary::Named;
use serde_json::Value;

use crate::options::{self, MethodOption};
use crate::registry::{Entry, METHODS, Vectors};

/// What an option is by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// Each value as a user would give it, and the methods that have it, in the order of
    /// [`METHODS`].
    pub values: Vec<(String, Vec<&'static str>)>,
    /// Presets that have another one than HG2V by default.
    pub presets: Vec<(&'static str, String)>,
}

/// What an option is unless somebody says otherwise: read from the settings of all methods that
/// have it.
pub fn of(option: &MethodOption) -> Defaults {
    if option.name == options::PRESET {
        let taking = METHODS.iter().filter(|entry| has_presets(entry)).map(|entry| entry.name);
        let values = vec![(Preset::default().to_string(), taking.collect())];
        return Defaults { values, presets: Vec::new() };
    }
    let (mut values, mut presets) = (Vec::<(String, Vec<&str>)>::new(), Vec::new());
    for entry in METHODS {
        let Some(vectors) = &entry.vectors else { continue };
        let Some(value) = spelled(vectors, &(vectors.defaults)(), option) else { continue };
        let start = vectors.presets.filter(|_| presets.is_empty());
        for preset in start.iter().flat_map(|_| Preset::values()) {
            let other = start.and_then(|start| spelled(vectors, &start(preset), option));
            presets.extend(other.filter(|other| *other != value).map(|v| (preset.word(), v)));
        }
        match values.iter_mut().find(|(known, _)| *known == value) {
            Some((_, methods)) => methods.push(entry.name),
            None => values.push((value, vec![entry.name])),
        }
    }
    Defaults { values, presets }
}

fn has_presets(entry: &Entry) -> bool {
    entry.vectors.as_ref().is_some_and(|vectors| vectors.presets.is_some())
}

/// What an option is in `settings`, as a user would give it.
fn spelled(vectors: &Vectors, settings: &Value, option: &MethodOption) -> Option<String> {
    let (_, place) = vectors.options.iter().find(|(name, _)| *name == option.name)?;
    if let Some(value) = settings.pointer(place) {
        return Some(option.spelled(value));
    }
    // A parameter of a word that another option may be: what it is with that word.
    let (outer, around) =
        vectors.options.iter().find(|(name, at)| name != &option.name && place.starts_with(at))?;
    let inside = place.strip_prefix(around)?;
    let word = Value::from(inside.split('/').nth(1)?);
    let value = options::find(outer)?.value(&word).ok()?;
    Some(option.spelled(value.pointer(inside)?))
}

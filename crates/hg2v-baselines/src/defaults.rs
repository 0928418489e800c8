//! What options are unless somebody says otherwise, read from the settings of all methods.

use std::sync::LazyLock;

use hg2v::Preset;
use hg2v::vocabulary::Named;
use serde_json::Value;

use crate::options::{self, MethodOption, PRESET};
use crate::registry::{METHODS, Vectors};

/// What an option is by default.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Defaults {
    /// Each value as a user would give it, and the methods that have it, in the order of
    /// [`METHODS`].
    pub values: Vec<(String, Vec<&'static str>)>,
    /// Presets that have another one than HG2V by default.
    pub presets: Vec<(&'static str, String)>,
}

/// A method that learns vectors, and its settings.
struct Known {
    name: &'static str,
    vectors: &'static Vectors,
    /// As they are by default.
    settings: Value,
    /// Those to start from, where there are several.
    presets: Vec<(&'static str, Value)>,
}

/// All of them, made once: help asks for every option, each time the command starts.
static KNOWN: LazyLock<Vec<Known>> = LazyLock::new(|| {
    let known = METHODS.iter().filter_map(|entry| {
        let vectors = entry.vectors.as_ref()?;
        let presets = vectors
            .presets
            .iter()
            .flat_map(|start| Preset::values().map(move |preset| (preset.word(), start(preset))));
        let settings = (vectors.defaults)();
        Some(Known { name: entry.name, vectors, settings, presets: presets.collect() })
    });
    known.collect()
});

/// What an option is unless somebody says otherwise: read from the settings of all methods that
/// have it.
pub fn of(option: &MethodOption) -> Defaults {
    let (mut values, mut presets) = (Vec::<(String, Vec<&str>)>::new(), Vec::new());
    for known in KNOWN.iter() {
        let value = match option.name {
            PRESET if known.presets.is_empty() => None,
            PRESET => Some(Preset::default().to_string()),
            _ => spelled(known.vectors, &known.settings, option),
        };
        let Some(value) = value else { continue };
        if presets.is_empty() {
            let others = known.presets.iter().filter_map(|(preset, settings)| {
                let other = spelled(known.vectors, settings, option)?;
                (other != value).then_some((*preset, other))
            });
            presets.extend(others);
        }
        match values.iter_mut().find(|(same, _)| *same == value) {
            Some((_, methods)) => methods.push(known.name),
            None => values.push((value, vec![known.name])),
        }
    }
    Defaults { values, presets }
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

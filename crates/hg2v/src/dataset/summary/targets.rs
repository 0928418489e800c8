//! What is to be predicted, where graphs have several numbers or classes by name.

use std::collections::HashMap;

use serde::Serialize;

use super::MAX_VOCABULARY;
use crate::graph::{GraphRecord, Scalar};

/// One of several targets.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct TargetSummary {
    /// What it is called.
    pub name: String,
    /// Graphs of which it is known.
    pub graphs: u64,
    /// The smallest of its numbers; `None` where it has none.
    pub min: Option<f64>,
    /// The largest of them.
    pub max: Option<f64>,
}

/// The targets met so far, in their order; no more than [`MAX_VOCABULARY`] are counted.
#[derive(Default)]
pub(super) struct Targets {
    found: Vec<TargetSummary>,
    places: HashMap<String, usize>,
}

impl Targets {
    pub(super) fn add(&mut self, record: &GraphRecord) {
        for (place, target) in record.targets.iter().enumerate() {
            // Most graphs have the same targets in the same order.
            let place = match self.found.get(place) {
                Some(found) if found.name == target.name => Some(place),
                _ => self.place(&target.name),
            };
            let Some(found) = place.and_then(|place| self.found.get_mut(place)) else { continue };
            found.graphs += u64::from(target.value.is_some());
            let number = match target.value {
                Some(Scalar::Int(int)) => int as f64,
                Some(Scalar::Float(float)) => float,
                _ => continue,
            };
            found.min = Some(found.min.map_or(number, |min| min.min(number)));
            found.max = Some(found.max.map_or(number, |max| max.max(number)));
        }
    }

    fn place(&mut self, name: &str) -> Option<usize> {
        if let Some(&place) = self.places.get(name) {
            return Some(place);
        }
        if self.found.len() >= MAX_VOCABULARY {
            return None;
        }
        let place = self.found.len();
        self.places.insert(name.to_owned(), place);
        self.found.push(TargetSummary { name: name.to_owned(), graphs: 0, min: None, max: None });
        Some(place)
    }

    pub(super) fn finish(self) -> Option<Vec<TargetSummary>> {
        (!self.found.is_empty()).then_some(self.found)
    }
}

//! A schema in a model's configuration.

use serde::{Deserialize, Serialize};

use super::{EdgeSchema, FeatureSchema, MAX_DIM, Scaler};
use crate::error::shown;
use crate::graph::Scalar;
use crate::graph::structure::COLUMNS;

/// The layout of a stored schema that this version reads and writes.
const VERSION: u32 = 1;

/// A schema as files hold it: checked before it is believed.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Stored {
    version: u32,
    attributes: Option<Scaler>,
    labels: Option<Vec<Scalar>>,
    degree: Option<Scaler>,
    #[serde(default)]
    structure: Option<Scaler>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    edges: Option<EdgeSchema>,
}

impl From<FeatureSchema> for Stored {
    fn from(schema: FeatureSchema) -> Stored {
        Stored {
            version: VERSION,
            attributes: schema.attributes,
            labels: schema.labels,
            degree: schema.degree,
            structure: schema.structure,
            edges: schema.edges,
        }
    }
}

impl TryFrom<Stored> for FeatureSchema {
    type Error = String;

    fn try_from(stored: Stored) -> std::result::Result<FeatureSchema, String> {
        if stored.version != VERSION {
            return Err(format!("its version is {}, not {VERSION}", stored.version));
        }
        for (name, scaler) in [
            ("attributes", &stored.attributes),
            ("degree", &stored.degree),
            ("structure", &stored.structure),
            ("edges", &stored.edges.as_ref().map(|edges| edges.scaler.clone())),
            ("edge numbers", &stored.edges.as_ref().map(|edges| edges.numbers.clone())),
        ] {
            let Some(scaler) = scaler else { continue };
            if scaler.mean.len() != scaler.std.len() {
                let (mean, std) = (scaler.mean.len(), scaler.std.len());
                return Err(format!("{name} has {mean} means but {std} deviations"));
            }
            if let Some(mean) = scaler.mean.iter().find(|mean| !mean.is_finite()) {
                return Err(format!("{name} has a mean of {mean}"));
            }
            if let Some(std) = scaler.std.iter().find(|std| !(std.is_finite() && **std > 0.0)) {
                return Err(format!("{name} has a deviation of {std}"));
            }
        }
        if stored.attributes.as_ref().is_some_and(|scaler| scaler.mean.is_empty()) {
            return Err("attributes has no columns".to_owned());
        }
        if stored.degree.as_ref().is_some_and(|scaler| scaler.mean.len() != 1) {
            return Err("degree is one column, not more or less".to_owned());
        }
        if stored.structure.as_ref().is_some_and(|scaler| scaler.mean.len() != COLUMNS) {
            return Err(format!("structure is {COLUMNS} columns, not more or less"));
        }
        let columns = |edges: &&EdgeSchema| edges.scaler.mean.len() != edges.standardised();
        if let Some(edges) = stored.edges.as_ref().filter(columns) {
            let (found, expected) = (edges.scaler.mean.len(), edges.standardised());
            return Err(format!("edges has {found} standardised columns, not {expected}"));
        }
        let numbers = |edges: &&EdgeSchema| edges.numbers.mean.len() != edges.attributes();
        if stored.edges.as_ref().filter(numbers).is_some() {
            return Err("edges have a mean for each of their numbers, not more or less".to_owned());
        }
        let kinds = stored.edges.as_ref().and_then(|edges| edges.labels.as_deref());
        for labels in [stored.labels.as_deref(), kinds].into_iter().flatten() {
            if let Some(pair) = labels.windows(2).find(|pair| pair[0] >= pair[1]) {
                let (a, b) = (shown(&pair[0].to_string()), shown(&pair[1].to_string()));
                return Err(format!("labels are not sorted: {a} comes before {b}"));
            }
        }
        let schema = FeatureSchema {
            attributes: stored.attributes,
            labels: stored.labels,
            degree: stored.degree,
            structure: stored.structure,
            edges: stored.edges,
        };
        match schema.dim() {
            0 => Err("it has no columns".to_owned()),
            dim if dim > MAX_DIM => Err(format!("it has {dim} columns, above {MAX_DIM}")),
            _ => Ok(schema),
        }
    }
}

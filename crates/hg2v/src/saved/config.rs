//! `config.json`: everything about a model but its parameters.

use std::path::Path;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tensors::hex;
use super::{CONFIG, FORMAT, read, write};
use crate::dataset::features::FeatureChoice;
use crate::dataset::fingerprint::Fingerprint;
use crate::error::{Action, Error, Place, Problem, Result};
use crate::graph::GraphRecord;
use crate::model::architecture::Architecture;
use crate::prepare::Preparation;
use crate::train::Recipe;

/// Everything about a model but its parameters.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of hg2v that wrote it.
    pub hg2v: String,
    /// The network.
    pub architecture: Architecture,
    /// How it was trained.
    pub recipe: Recipe,
    /// Which node features were asked for.
    pub feature_choice: FeatureChoice,
    /// How graphs are made ready for it.
    pub preparation: Preparation,
    /// What it was trained on.
    pub data: DataNote,
    /// The SHA-256 of the parameter file, once training is finished.
    pub parameters_sha256: Option<String>,
    /// In a file alone: the SHA-256 of everything above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

impl Config {
    /// A model of this version whose training is not finished.
    pub(crate) fn new(
        architecture: Architecture,
        recipe: Recipe,
        feature_choice: FeatureChoice,
        preparation: Preparation,
        data: DataNote,
    ) -> Config {
        Config {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            architecture,
            recipe,
            feature_choice,
            preparation,
            data,
            parameters_sha256: None,
            sha256: None,
        }
    }

    /// The same, trained to these parameters.
    pub(crate) fn finished(self, parameters_sha256: String) -> Config {
        Config { parameters_sha256: Some(parameters_sha256), ..self }
    }

    /// The SHA-256 of all of it, in hexadecimal digits. Spelling and order of the file do not matter,
    /// only what it says.
    pub fn digest(&self) -> String {
        let plain = Config { sha256: None, ..self.clone() };
        // Numbers are spelled so that they read back as they are; nothing else could fail.
        hex(&Sha256::digest(serde_json::to_vec(&plain).unwrap_or_default()))
    }
}

/// What a model was trained on.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DataNote {
    /// Graphs.
    pub graphs: u64,
    /// Their nodes.
    pub nodes: u64,
    /// The collection's [fingerprint](crate::dataset::fingerprint).
    pub fingerprint: String,
}

impl DataNote {
    /// What there is to say of these graphs.
    pub fn of<'a>(records: impl IntoIterator<Item = &'a GraphRecord> + Clone) -> DataNote {
        let (mut graphs, mut nodes) = (0, 0);
        for record in records.clone() {
            graphs += 1;
            nodes += u64::from(record.num_nodes);
        }
        DataNote { graphs, nodes, fingerprint: Fingerprint::of(records) }
    }
}

/// Reads and checks `config.json`.
///
/// # Errors
/// When it is missing, not JSON, of another version, does not make sense, or is not what was
/// written.
pub fn read_config(folder: &Path) -> Result<Config> {
    let path = folder.join(CONFIG);
    let bytes = read(&path)?;
    let refused = |e: serde_json::Error| {
        let place = match e.line() {
            0 => Place::Whole,
            line => Place::Line(line as u64),
        };
        let fix = "restore the file, or fit the model again";
        Error::input(&path, place, format!("this is no configuration of a model: {e}"), fix)
    };
    /// Any version has at least this.
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
        #[serde(default)]
        hg2v: String,
    }
    let Versioned { format, hg2v } = serde_json::from_slice(&bytes).map_err(refused)?;
    if format != FORMAT {
        let problem = Problem::Version { found: format, writer: hg2v, known: FORMAT };
        return Err(problem.at(&path, Place::Whole));
    }
    let mut config: Config = serde_json::from_slice(&bytes).map_err(refused)?;
    let checks =
        [config.architecture.check(), config.recipe.check(), config.preparation.coarsening.check()];
    for check in checks {
        check.map_err(|e| {
            Error::input(&path, Place::Whole, e.to_string(), "restore the file, or fit again")
        })?;
    }
    let written_with = config.sha256.take();
    if written_with != Some(config.digest()) {
        let what = "it does not say what it said when it was written: the file was changed or \
                    damaged";
        let fix = "restore it, or fit the model again with other settings";
        return Err(Problem::Changed { what, fix }.at(&path, Place::Whole));
    }
    Ok(config)
}

/// Writes `config.json`, with its digest.
///
/// # Errors
/// When the disk refuses.
pub fn write_config(folder: &Path, config: &Config) -> Result<()> {
    let signed = Config { sha256: Some(config.digest()), ..config.clone() };
    let mut bytes = serde_json::to_vec_pretty(&signed)
        .map_err(|e| Error::io(folder.join(CONFIG), Action::Write, e.into()))?;
    bytes.push(b'\n');
    write(&folder.join(CONFIG), &bytes)
}

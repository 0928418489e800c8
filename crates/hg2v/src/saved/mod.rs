//! A model as a folder: `config.json` and `model.safetensors`, and while it is
//! being trained `checkpoint.safetensors`; the command adds what training said
//! (`log.jsonl`) and how it was run (`run.json`), Python how it read graphs (`reading.json`).
//!
//! Files appear whole or not at all. `config.json` holds the SHA-256 of
//! `model.safetensors`; without it the model is not finished.

mod history;
mod tensors;

use std::io::Write;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use crate::dataset::features::FeatureChoice;
use crate::dataset::fingerprint::Fingerprint;
use crate::error::{Error, Place, Result, shown};
use crate::graph::GraphRecord;
use crate::input::read_at_most;
use crate::model::architecture::Architecture;
use crate::output::OutputFile;
use crate::prepare::Preparation;
use crate::train::Recipe;

pub use history::{LogLine, RunNote, read_log, read_run, write_log, write_run};
pub use tensors::{
    read_checkpoint, read_parameters, remove_checkpoint, write_checkpoint, write_parameters,
};

/// The layout of a folder that this version reads and writes.
pub const FORMAT: u32 = 1;

/// The files of a model's folder.
pub const CONFIG: &str = "config.json";
/// The parameters.
pub const PARAMETERS: &str = "model.safetensors";
/// Where training stands.
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// What training said: a line an epoch.
pub const LOG: &str = "log.jsonl";
/// On what, where and how long it was trained.
pub const RUN: &str = "run.json";

/// The largest file that is read; a parameter file beyond it is not ours.
const MOST_BYTES: u64 = 1 << 34;

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
/// When it is missing, not JSON, of another version, or does not make sense.
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
        return Err(Error::input(
            &path,
            Place::Whole,
            format!(
                "the model's format is {format} (hg2v {}), this version knows {FORMAT}",
                shown(&hg2v)
            ),
            "use the version of hg2v that wrote it, or fit the model again",
        ));
    }
    let config: Config = serde_json::from_slice(&bytes).map_err(refused)?;
    let checks =
        [config.architecture.check(), config.recipe.check(), config.preparation.coarsening.check()];
    for check in checks {
        check.map_err(|e| {
            Error::input(&path, Place::Whole, e.to_string(), "restore the file, or fit again")
        })?;
    }
    Ok(config)
}

/// Writes `config.json`.
///
/// # Errors
/// When the disk refuses.
pub fn write_config(folder: &Path, config: &Config) -> Result<()> {
    let mut bytes = serde_json::to_vec_pretty(config)
        .map_err(|e| Error::io(folder.join(CONFIG), "write", e.into()))?;
    bytes.push(b'\n');
    write(&folder.join(CONFIG), &bytes)
}

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    let bytes = read_at_most(path, MOST_BYTES).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let fix = "a model's folder holds config.json and model.safetensors: name the right \
                       folder, restore the file, or fit the model again";
            Error::input(path, Place::Whole, "there is no such file", fix)
        }
        _ => Error::io(path, "read", e),
    })?;
    bytes.ok_or_else(|| {
        let problem = format!("it has more than {MOST_BYTES} bytes, as no model has");
        Error::input(path, Place::Whole, problem, "name the folder of a model")
    })
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, "write", e))?;
    file.commit()
}

//! `config.json`: everything about a model but its tensors.

use std::path::Path;

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CONFIG, FORMAT, digest, read, write};
use crate::dataset::fingerprint::Fingerprint;
use crate::error::{Action, Error, Place, Problem, Result};
use crate::graph::GraphRecord;

/// Everything about a model but its tensors. `M` is what the method itself has to say.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config<M = Value> {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of hg2v that wrote it.
    pub hg2v: String,
    /// The [method](crate::Method::name) that learnt it.
    pub method: String,
    /// What the method says of itself and of what it learnt.
    pub model: M,
    /// What it was trained on.
    pub data: DataNote,
    /// The SHA-256 of the file of tensors, once training is finished.
    pub parameters_sha256: Option<String>,
    /// In a file alone: the SHA-256 of everything above.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) sha256: Option<String>,
}

impl<M: Serialize + Clone> Config<M> {
    /// A model of this version whose training is not finished.
    pub fn new(method: &str, model: M, data: DataNote) -> Config<M> {
        Config {
            format: FORMAT,
            hg2v: env!("CARGO_PKG_VERSION").to_owned(),
            method: method.to_owned(),
            model,
            data,
            parameters_sha256: None,
            sha256: None,
        }
    }

    /// The same of any method.
    ///
    /// # Errors
    /// None that depend on what it says.
    pub fn any(&self) -> Result<Config> {
        let model = serde_json::to_value(&self.model);
        let model = model.map_err(|e| Error::io(CONFIG, Action::Write, e.into()))?;
        Ok(Config {
            parameters_sha256: self.parameters_sha256.clone(),
            ..Config::new(&self.method, model, self.data.clone())
        })
    }

    /// The same, with what it learnt in these tensors.
    pub(super) fn finished(&self, tensors: &[u8]) -> Config<M> {
        Config { parameters_sha256: Some(digest(tensors)), ..self.clone() }
    }

    /// The SHA-256 of all of it, in hexadecimal digits. Spelling and order of the file do not
    /// matter, only what it says.
    pub fn digest(&self) -> String {
        // Numbers are spelled so that they read back as they are; nothing else could fail.
        let spelled = serde_json::to_vec(self).unwrap_or_default();
        let mut said: Value = serde_json::from_slice(&spelled).unwrap_or_default();
        if let Value::Object(fields) = &mut said {
            fields.remove("sha256");
        }
        digest(&serde_json::to_vec(&said).unwrap_or_default())
    }

    /// `config.json`, with its digest.
    pub(super) fn text(&self) -> Result<String> {
        let signed = Config { sha256: Some(self.digest()), ..self.clone() };
        let text = serde_json::to_string_pretty(&signed);
        text.map(|text| text + "\n").map_err(|e| Error::io(CONFIG, Action::Write, e.into()))
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
/// When it is missing, not JSON, of another version, or is not what was written.
pub fn read_config<M: Serialize + DeserializeOwned + Clone>(folder: &Path) -> Result<Config<M>> {
    let path = folder.join(CONFIG);
    parsed(&read(&path)?, &path)
}

/// What the bytes of a `config.json` say; `path` is for messages.
pub(super) fn parsed<M: Serialize + DeserializeOwned + Clone>(
    bytes: &[u8],
    path: &Path,
) -> Result<Config<M>> {
    let refused = |e: serde_json::Error| {
        let place = match e.line() {
            0 => Place::Whole,
            line => Place::Line(line as u64),
        };
        let fix = "restore the file, or fit the model again";
        Error::input(path, place, format!("this is no configuration of a model: {e}"), fix)
    };
    /// Any version has at least this.
    #[derive(Deserialize)]
    struct Versioned {
        format: u32,
        #[serde(default)]
        hg2v: String,
    }
    let Versioned { format, hg2v } = serde_json::from_slice(bytes).map_err(refused)?;
    if format != FORMAT {
        let problem = Problem::Version { found: format, writer: hg2v, known: FORMAT };
        return Err(problem.at(path, Place::Whole));
    }
    let mut config: Config<M> = serde_json::from_slice(bytes).map_err(refused)?;
    let written_with = config.sha256.take();
    if written_with != Some(config.digest()) {
        let what = "it does not say what it said when it was written: the file was changed or \
                    damaged";
        let fix = "restore it, or fit the model again with other settings";
        return Err(Problem::Changed { what, fix }.at(path, Place::Whole));
    }
    Ok(config)
}

/// Writes `config.json`, with its digest.
///
/// # Errors
/// When the disk refuses.
pub fn write_config<M: Serialize + Clone>(folder: &Path, config: &Config<M>) -> Result<()> {
    write(&folder.join(CONFIG), config.text()?.as_bytes())
}

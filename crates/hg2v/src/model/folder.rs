//! A model as a folder: `config.json` and `model.safetensors`, and while it is
//! being trained `checkpoint.safetensors`; the command adds what training said
//! (`log.jsonl`) and how it was run (`run.json`).
//!
//! Files appear whole or not at all. `config.json` holds the SHA-256 of
//! `model.safetensors`; without it the model is not finished.

use std::collections::HashMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::time::Duration;

use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::architecture::{Architecture, Layout};
use crate::dataset::features::FeatureChoice;
use crate::error::{Error, Place, Result, shown};
use crate::nn::device::Window;
use crate::nn::pairs::LevelLoss;
use crate::output::OutputFile;
use crate::prepare::Preparation;
use crate::train::{Recipe, State, Step};

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

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The epoch, from 1.
    pub epoch: u64,
    /// Steps so far.
    pub step: u64,
    /// The learning rate.
    pub rate: f64,
    /// The loss of all levels, averaged over the epoch.
    pub loss: f64,
    /// The same of each level, finest first.
    pub levels: Vec<LevelLoss>,
    /// Since training began, or went on.
    pub seconds: f64,
}

impl LogLine {
    /// What is logged of the step that ends an epoch.
    pub fn of(step: &Step, elapsed: Duration) -> LogLine {
        LogLine {
            epoch: step.epoch + 1,
            step: step.step + 1,
            rate: step.rate,
            loss: step.mean.iter().map(|loss| loss.total()).sum(),
            levels: step.mean.clone(),
            seconds: elapsed.as_secs_f64(),
        }
    }

    /// The line, with its end.
    ///
    /// # Errors
    /// None that depend on what it says.
    pub fn text(&self) -> std::io::Result<String> {
        Ok(serde_json::to_string(self)? + "\n")
    }
}

/// How a model came about: what neither its parameters nor its configuration say, and no
/// result depends on.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunNote {
    /// Where the graphs were.
    pub data: PathBuf,
    /// Where it was trained.
    pub device: String,
    /// Threads.
    pub threads: usize,
    /// Seconds of training; of the last part where it was stopped and went on.
    pub training_seconds: f64,
    /// Seconds in all, reading and coarsening included.
    pub whole_seconds: f64,
}

/// Writes `run.json`.
///
/// # Errors
/// When the disk refuses.
pub fn write_run(folder: &Path, note: &RunNote) -> Result<()> {
    let path = folder.join(RUN);
    let mut bytes =
        serde_json::to_vec_pretty(note).map_err(|e| Error::io(&path, "write", e.into()))?;
    bytes.push(b'\n');
    write(&path, &bytes)
}

/// Reads `run.json`; `None` where there is none, as beside a model that a program saved.
///
/// # Errors
/// When it is not what the command writes.
pub fn read_run(folder: &Path) -> Result<Option<RunNote>> {
    let path = folder.join(RUN);
    if !path.exists() {
        return Ok(None);
    }
    let refused = |e: serde_json::Error| {
        let problem = format!("this does not say how a model was run: {e}");
        Error::input(&path, Place::Line(e.line() as u64), problem, "remove it, or fit again")
    };
    serde_json::from_slice(&read(&path)?).map(Some).map_err(refused)
}

/// Writes `log.jsonl`.
///
/// # Errors
/// When the disk refuses.
pub fn write_log(folder: &Path, lines: &[LogLine]) -> Result<()> {
    let path = folder.join(LOG);
    let text: std::io::Result<String> = lines.iter().map(LogLine::text).collect();
    write(&path, text.map_err(|e| Error::io(&path, "write", e))?.as_bytes())
}

/// Reads `log.jsonl`; nothing where there is none. A last line that was cut is left out.
///
/// # Errors
/// When another line is not one of a log.
pub fn read_log(folder: &Path) -> Result<Vec<LogLine>> {
    let path = folder.join(LOG);
    if !path.exists() {
        return Ok(Vec::new());
    }
    let bytes = read(&path)?;
    let whole = bytes.iter().rposition(|&b| b == b'\n').map_or(&[][..], |end| &bytes[..end]);
    let lines = whole.split(|&b| b == b'\n').filter(|line| !line.is_empty()).enumerate();
    let parse = |(at, line): (usize, &[u8])| {
        serde_json::from_slice(line).map_err(|e| {
            let problem = format!("this is no line of a training's log: {e}");
            Error::input(
                &path,
                Place::Line(at as u64 + 1),
                problem,
                "remove the file, or fit again",
            )
        })
    };
    lines.map(parse).collect()
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

/// Writes the parameters, and returns their SHA-256.
///
/// # Errors
/// When the disk refuses.
pub fn write_parameters(folder: &Path, layout: &Layout, parameters: &[f32]) -> Result<String> {
    let path = folder.join(PARAMETERS);
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = layout
        .tensors()
        .into_iter()
        .map(|(name, window)| {
            let bytes = rows(window).flat_map(|row| &parameters[row]).flat_map(|v| v.to_le_bytes());
            (name, shape(window), bytes.collect())
        })
        .collect();
    let bytes = encode(&path, &tensors, &[])?;
    write(&path, &bytes)?;
    Ok(digest(&bytes))
}

/// Reads the parameters and checks every byte of them.
///
/// # Errors
/// When the file is missing, cut, not the one `sha256` belongs to, or has
/// tensors missing, reshaped, of another type, or holding what is not a number.
pub fn read_parameters(folder: &Path, layout: &Layout, sha256: &str) -> Result<Vec<f32>> {
    let path = folder.join(PARAMETERS);
    let bytes = read(&path)?;
    let fix = "restore the file, or fit the model again";
    let refused = |problem: String| Error::input(&path, Place::Whole, problem, fix);
    let file = decode(&path, &bytes)?;
    let expected = layout.tensors();
    let mut tensors = Vec::with_capacity(expected.len());
    for (name, window) in &expected {
        let tensor = file.tensor(name).map_err(|_| refused(format!("it has no tensor {name}")))?;
        let shape = shape(*window);
        if tensor.dtype() != Dtype::F32 || tensor.shape() != shape {
            return Err(refused(format!(
                "tensor {name} is {:?} of shape {:?}, config.json asks for F32 of {shape:?}",
                tensor.dtype(),
                tensor.shape()
            )));
        }
        tensors.push(tensor);
    }
    // The file has as many numbers: config.json alone must not choose an allocation.
    let mut parameters = vec![0.0; layout.len];
    for ((name, window), tensor) in expected.iter().zip(tensors) {
        let values = floats(tensor.data());
        if let Some(bad) = values.iter().find(|value| !value.is_finite()) {
            return Err(refused(format!("tensor {name} holds {bad}")));
        }
        for (row, from) in rows(*window).zip(values.chunks_exact(window.columns.max(1))) {
            parameters[row].copy_from_slice(from);
        }
    }
    if file.len() != expected.len() {
        let problem = format!("it has {} tensors, the model {}", file.len(), expected.len());
        return Err(refused(problem));
    }
    if digest(&bytes) != sha256 {
        return Err(refused("its content is not what config.json was written with".to_owned()));
    }
    Ok(parameters)
}

/// What a checkpoint says beside its tensors.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Note {
    step: u64,
    sums: Vec<LevelLoss>,
}

/// Writes where training stands.
///
/// # Errors
/// When the disk refuses.
pub fn write_checkpoint(folder: &Path, state: &State) -> Result<()> {
    let path = folder.join(CHECKPOINT);
    let tensor = |name: &str, values: &[f32]| {
        let bytes = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        (name.to_owned(), vec![values.len()], bytes)
    };
    let tensors =
        [tensor("parameters", &state.parameters), tensor("m", &state.m), tensor("v", &state.v)];
    let note = serde_json::to_string(&Note { step: state.step, sums: state.sums.clone() })
        .map_err(|e| Error::io(&path, "write", e.into()))?;
    // Damage must never be resumed from: the digest goes along.
    let mut hash = Sha256::new();
    hash.update(&note);
    tensors.iter().for_each(|(_, _, bytes)| hash.update(bytes));
    let sha256 = hex(&hash.finalize());
    let bytes = encode(&path, &tensors, &[("state", note), ("sha256", sha256)])?;
    write(&path, &bytes)
}

/// Reads where training stands; `None` where it has not begun or is finished.
///
/// # Errors
/// When the file is damaged or belongs to another network.
pub fn read_checkpoint(folder: &Path, layout: &Layout) -> Result<Option<State>> {
    let path = folder.join(CHECKPOINT);
    if !path.exists() {
        return Ok(None);
    }
    let bytes = read(&path)?;
    let fix = "remove the folder and fit again";
    let refused = |problem: &str| Error::input(&path, Place::Whole, problem, fix);
    let (_, header) = SafeTensors::read_metadata(&bytes)
        .map_err(|e| refused(&format!("this is no checkpoint: {e}")))?;
    let file = decode(&path, &bytes)?;
    let noted = header
        .metadata()
        .as_ref()
        .and_then(|notes| Some((notes.get("state")?.clone(), notes.get("sha256")?.clone())));
    let (note, sha256) = noted.ok_or_else(|| refused("the checkpoint does not say its step"))?;
    let mut hash = Sha256::new();
    hash.update(&note);
    let Note { step, sums } = serde_json::from_str(&note)
        .map_err(|e| refused(&format!("the checkpoint does not say its step: {e}")))?;
    let mut part = |name: &str| {
        let tensor = file.tensor(name).map_err(|_| refused(&format!("it has no {name}")))?;
        if tensor.dtype() != Dtype::F32 || tensor.shape() != [layout.len] {
            return Err(refused(&format!("its {name} are not those of this network")));
        }
        hash.update(tensor.data());
        Ok(floats(tensor.data()))
    };
    let (parameters, m, v) = (part("parameters")?, part("m")?, part("v")?);
    if hex(&hash.finalize()) != sha256 {
        return Err(refused("the checkpoint is damaged"));
    }
    Ok(Some(State { step, parameters, m, v, sums }))
}

/// Removes the checkpoint, whose work is done.
///
/// # Errors
/// When the disk refuses.
pub fn remove_checkpoint(folder: &Path) -> Result<()> {
    let path = folder.join(CHECKPOINT);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => Err(Error::io(path, "remove", e)),
        _ => Ok(()),
    }
}

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    let metadata = fs::metadata(path).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let fix = "a model's folder holds config.json and model.safetensors: name the right \
                       folder, restore the file, or fit the model again";
            Error::input(path, Place::Whole, "there is no such file", fix)
        }
        _ => Error::io(path, "read", e),
    })?;
    let size = metadata.len();
    if size > MOST_BYTES {
        let problem = format!("it has {size} bytes, more than any model");
        return Err(Error::input(path, Place::Whole, problem, "name the folder of a model"));
    }
    fs::read(path).map_err(|e| Error::io(path, "read", e))
}

fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, "write", e))?;
    file.commit()
}

fn encode(
    path: &Path,
    tensors: &[(String, Vec<usize>, Vec<u8>)],
    notes: &[(&str, String)],
) -> Result<Vec<u8>> {
    let failed = |e: safetensors::SafeTensorError| {
        Error::io(path, "write", std::io::Error::other(e.to_string()))
    };
    let views = tensors
        .iter()
        .map(|(name, shape, bytes)| {
            Ok((name, TensorView::new(Dtype::F32, shape.clone(), bytes).map_err(failed)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let notes: HashMap<String, String> =
        notes.iter().map(|(name, note)| ((*name).to_owned(), note.clone())).collect();
    serialize(views, (!notes.is_empty()).then_some(notes)).map_err(failed)
}

fn decode<'a>(path: &Path, bytes: &'a [u8]) -> Result<SafeTensors<'a>> {
    SafeTensors::deserialize(bytes).map_err(|e| {
        let problem = format!("this is no whole safetensors file: {e}");
        Error::input(path, Place::Whole, problem, "restore the file, or fit the model again")
    })
}

/// A bias is a vector, a weight a matrix.
fn shape(window: Window) -> Vec<usize> {
    if window.rows == 1 { vec![window.columns] } else { vec![window.rows, window.columns] }
}

fn rows(window: Window) -> impl Iterator<Item = std::ops::Range<usize>> {
    let starts = (0..window.rows).map(move |row| window.offset + row * window.stride);
    starts.map(move |start| start..start + window.columns)
}

fn floats(bytes: &[u8]) -> Vec<f32> {
    let word = |b: &[u8]| f32::from_le_bytes([b[0], b[1], b[2], b[3]]);
    bytes.chunks_exact(4).map(word).collect()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

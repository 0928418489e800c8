//! Parameters, and the state of a run that goes on, as safetensors.

use super::{CHECKPOINT, PARAMETERS, read, write};
use crate::error::{Action, Error, Place, Problem, Result};
use crate::model::architecture::Layout;
use crate::nn::device::Window;
use crate::nn::pairs::LevelLoss;
use crate::output::clear_run;
use crate::train::State;
use safetensors::tensor::{Dtype, SafeTensors, TensorView, serialize};
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::HashMap;
use std::fs;
use std::path::Path;

/// Writes the parameters, and returns their SHA-256.
///
/// # Errors
/// When the disk refuses.
pub fn write_parameters(folder: &Path, layout: &Layout, parameters: &[f32]) -> Result<String> {
    let path = folder.join(PARAMETERS);
    let bytes = encode_parameters(&path, layout, parameters)?;
    write(&path, &bytes)?;
    Ok(digest(&bytes))
}

/// The SHA-256 of the file that [`write_parameters`] would write.
pub(crate) fn parameters_digest(layout: &Layout, parameters: &[f32]) -> Result<String> {
    Ok(digest(&encode_parameters(Path::new(PARAMETERS), layout, parameters)?))
}

fn encode_parameters(path: &Path, layout: &Layout, parameters: &[f32]) -> Result<Vec<u8>> {
    let tensors: Vec<(String, Vec<usize>, Vec<u8>)> = layout
        .tensors()
        .into_iter()
        .map(|(name, window)| {
            let bytes = rows(window).flat_map(|row| &parameters[row]).flat_map(|v| v.to_le_bytes());
            (name, shape(window), bytes.collect())
        })
        .collect();
    encode(path, &tensors, &[])
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
        let what = "its content is not what config.json was written with";
        return Err(Problem::Changed { what, fix }.at(&path, Place::Whole));
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
        .map_err(|e| Error::io(&path, Action::Write, e.into()))?;
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
        let what = "the checkpoint is damaged";
        return Err(Problem::Changed { what, fix }.at(&path, Place::Whole));
    }
    Ok(Some(State { step, parameters, m, v, sums }))
}

/// Removes the checkpoint, whose work is done, and what runs that were killed left half written.
///
/// # Errors
/// When the disk refuses.
pub fn remove_checkpoint(folder: &Path) -> Result<()> {
    let path = folder.join(CHECKPOINT);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path, Action::Remove, e))
        }
        _ => clear_run(folder).map_err(|e| Error::io(folder, Action::Remove, e)),
    }
}

fn encode(
    path: &Path,
    tensors: &[(String, Vec<usize>, Vec<u8>)],
    notes: &[(&str, String)],
) -> Result<Vec<u8>> {
    let failed = |e: safetensors::SafeTensorError| {
        Error::io(path, Action::Write, std::io::Error::other(e.to_string()))
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

pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

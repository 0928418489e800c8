//! Where a training stands: the state of a run that goes on.

use std::fs;
use std::path::Path;

use safetensors::tensor::SafeTensors;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};

use super::tensors::{Reader, Tensors};
use super::{CHECKPOINT, hex, read, write};
use crate::error::{Action, Error, Place, Result};
use crate::model::architecture::Layout;
use crate::nn::pairs::LevelLoss;
use crate::output::clear_run;
use crate::train::State;

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
    let State { parameters, m, v, .. } = state;
    let parts = [("parameters", parameters), ("m", m), ("v", v)];
    let tensors = parts.iter().fold(Tensors::default(), |tensors, (name, values)| {
        tensors.with(*name, &[values.len()], values.iter().copied())
    });
    let note = serde_json::to_string(&Note { step: state.step, sums: state.sums.clone() })
        .map_err(|e| Error::io(&path, Action::Write, e.into()))?;
    // Damage must never be resumed from: the digest goes along.
    let sha256 = digest_of(&note, parts.map(|(_, values)| &values[..]));
    let bytes = tensors.encode(&path, &[("state", note), ("sha256", sha256)])?;
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
    let noted = header
        .metadata()
        .as_ref()
        .and_then(|notes| Some((notes.get("state")?.clone(), notes.get("sha256")?.clone())));
    let (note, sha256) = noted.ok_or_else(|| refused("the checkpoint does not say its step"))?;
    let Note { step, sums } = serde_json::from_str(&note)
        .map_err(|e| refused(&format!("the checkpoint does not say its step: {e}")))?;
    let mut file = Reader::new(&path, &bytes)?;
    let mut part = |name: &str| {
        let values = file.take::<f32>(name, &[layout.len]);
        values.map_err(|_| refused(&format!("its {name} are not those of this network")))
    };
    let (parameters, m, v) = (part("parameters")?, part("m")?, part("v")?);
    if digest_of(&note, [&parameters[..], &m, &v]) != sha256 {
        return Err(refused("the checkpoint is damaged"));
    }
    Ok(Some(State { step, parameters, m, v, sums }))
}

fn digest_of(note: &str, parts: [&[f32]; 3]) -> String {
    let mut hash = Sha256::new();
    hash.update(note);
    for part in parts {
        let bytes: Vec<u8> = part.iter().flat_map(|value| value.to_le_bytes()).collect();
        hash.update(bytes);
    }
    hex(&hash.finalize())
}

/// Removes the checkpoint, whose work is done, and what runs that were killed left half written.
///
/// # Errors
/// When the disk refuses.
pub(crate) fn remove_checkpoint(folder: &Path) -> Result<()> {
    let path = folder.join(CHECKPOINT);
    match fs::remove_file(&path) {
        Err(e) if e.kind() != std::io::ErrorKind::NotFound => {
            Err(Error::io(path, Action::Remove, e))
        }
        _ => clear_run(folder).map_err(|e| Error::io(folder, Action::Remove, e)),
    }
}

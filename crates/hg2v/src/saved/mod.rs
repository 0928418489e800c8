//! A model as a folder: `config.json` and `model.safetensors`, and while it is
//! being trained `checkpoint.safetensors`; the command adds what training said
//! (`log.jsonl`) and how it was run (`run.json`), Python how it read graphs (`reading.json`).
//!
//! Files appear whole or not at all. `config.json` holds the SHA-256 of
//! `model.safetensors`, without which the model is not finished, and one of itself: every byte that
//! determines a vector is checked when a model is loaded.

mod checkpoint;
mod config;
mod history;
mod parts;
mod tensors;

use std::fs::DirEntry;
use std::io::Write;
use std::path::{Path, PathBuf};

use serde_json::Value;
use sha2::{Digest, Sha256};

use crate::error::{Action, Error, Place, Problem, Result};
use crate::input::read_at_most;
use crate::output::OutputFile;
use crate::output::overwrite;

pub(crate) use checkpoint::remove_checkpoint;
#[doc(hidden)]
pub use checkpoint::{read_checkpoint, write_checkpoint};
#[doc(hidden)]
pub use config::write_config;
pub use config::{Config, DataNote, read_config};
pub use history::{LogLine, RunNote, read_log, read_run, write_log, write_run};
pub use parts::{Parts, Stored, write_parts};
pub use tensors::{Element, Reader, Tensors};

/// The layout of a folder that this version reads and writes.
#[doc(hidden)]
pub const FORMAT: u32 = 3;

/// The files of a model's folder.
pub const CONFIG: &str = "config.json";
/// The parameters.
pub const PARAMETERS: &str = "model.safetensors";
/// Where training stands.
#[doc(hidden)]
pub const CHECKPOINT: &str = "checkpoint.safetensors";
/// What training said: a line an epoch.
pub const LOG: &str = "log.jsonl";
/// On what, where and how long it was trained.
pub const RUN: &str = "run.json";

/// How Python read graphs.
const READING: &str = "reading.json";

/// Refuses a folder that is no model's, or holds more than one: it is not replaced.
///
/// # Errors
/// When it is none, or cannot be read.
#[doc(hidden)]
pub fn check_replaceable(folder: &Path) -> Result<()> {
    let own = |entry: &DirEntry| {
        let names = [CONFIG, PARAMETERS, CHECKPOINT, LOG, RUN, READING];
        entry.path().is_file() && names.iter().any(|name| entry.file_name() == *name)
    };
    overwrite::check_replaceable(folder, &own)?;
    read_config::<Value>(folder).map(|_| ()).map_err(|_| {
        Error::exists(folder, "this folder is not replaced, because it holds no model", false)
    })
}

/// The largest file that is read; a parameter file beyond it is not ours.
const MOST_BYTES: u64 = 1 << 34;

fn read(path: &PathBuf) -> Result<Vec<u8>> {
    let bytes = read_at_most(path, MOST_BYTES).map_err(|e| match e.kind() {
        std::io::ErrorKind::NotFound => {
            let fix = "a model's folder holds config.json and model.safetensors: name the right \
                       folder, restore the file, or fit the model again";
            Problem::NotFound { searched: None, fix: fix.into() }.at(path, Place::Whole)
        }
        _ => Error::io(path, Action::Read, e),
    })?;
    bytes.ok_or_else(|| {
        let problem = format!("it has more than {MOST_BYTES} bytes, as no model has");
        Error::input(path, Place::Whole, problem, "name the folder of a model")
    })
}

pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let mut file = OutputFile::create(path)?;
    file.write_all(bytes).map_err(|e| Error::io(path, Action::Write, e))?;
    file.commit()
}

fn digest(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

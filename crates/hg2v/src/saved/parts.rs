//! What a model's folder holds, as bytes: written to a folder, or kept elsewhere.

use std::fs;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::config::parsed;
use super::tensors::{Reader, Tensors};
use super::{CONFIG, Config, PARAMETERS, digest, read, write};
use crate::error::{Action, Error, Place, Problem, Result};

/// A finished model as bytes: its configuration, and what it learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Parts {
    /// `config.json`.
    pub config: String,
    /// `model.safetensors`.
    pub tensors: Vec<u8>,
    /// The [digest](Config::digest) of the configuration, which has that of the tensors in it.
    digest: String,
}

impl Parts {
    /// The parts of a finished model.
    ///
    /// # Errors
    /// A shape that does not fit its numbers.
    pub fn new<M: Serialize + Clone>(config: &Config<M>, tensors: &Tensors) -> Result<Parts> {
        let tensors = tensors.encode(Path::new(PARAMETERS), &[])?;
        let config = config.finished(&tensors);
        Ok(Parts { config: config.text()?, digest: config.digest(), tensors })
    }

    /// The SHA-256, in hexadecimal digits, of everything that determines the model's vectors.
    pub fn digest(&self) -> &str {
        &self.digest
    }
}

/// Writes a model into a folder: its configuration last, which makes it finished.
///
/// # Errors
/// When the disk refuses.
#[doc(hidden)]
pub fn write_parts(folder: &Path, parts: &Parts) -> Result<()> {
    write(&folder.join(PARAMETERS), &parts.tensors)?;
    write(&folder.join(CONFIG), parts.config.as_bytes())
}

/// A model as it was read: whole, and not yet understood.
#[derive(Debug, Clone)]
pub struct Stored {
    folder: PathBuf,
    config: Vec<u8>,
    tensors: Vec<u8>,
    head: Config,
}

impl Stored {
    /// Reads a model's folder, and checks that it is what was written.
    ///
    /// # Errors
    /// A file that is missing, damaged, of another version, or does not belong; a training that
    /// is not finished.
    pub fn read(folder: &Path) -> Result<Stored> {
        if !fs::metadata(folder).map_err(|e| Error::io(folder, Action::Read, e))?.is_dir() {
            let problem = "a model is a folder with config.json and model.safetensors";
            return Err(Error::input(folder, Place::Whole, problem, "name the folder"));
        }
        let config = read(&folder.join(CONFIG))?;
        let head: Config = parsed(&config, &folder.join(CONFIG))?;
        if head.parameters_sha256.is_none() {
            return Err(Problem::Unfinished.at(folder, Place::Whole));
        }
        let tensors = read(&folder.join(PARAMETERS))?;
        Stored { folder: folder.to_path_buf(), config, tensors, head }.checked()
    }

    /// What [`Parts`] say that were kept elsewhere; `name` is for messages.
    ///
    /// # Errors
    /// Parts that do not belong together.
    pub fn of(config: &str, tensors: Vec<u8>, name: &Path) -> Result<Stored> {
        let head: Config = parsed(config.as_bytes(), &name.join(CONFIG))?;
        let config = config.as_bytes().to_vec();
        Stored { folder: name.to_path_buf(), config, tensors, head }.checked()
    }

    fn checked(self) -> Result<Stored> {
        if self.head.parameters_sha256.as_deref() == Some(&*digest(&self.tensors)) {
            return Ok(self);
        }
        // A file that was cut is said to be that.
        Reader::new(&self.folder.join(PARAMETERS), &self.tensors)?;
        let problem = "its content is not what config.json was written with";
        let fix = "restore the file, or fit the model again";
        Err(Error::input(self.folder.join(PARAMETERS), Place::Whole, problem, fix))
    }

    /// The [method](crate::Method::name) that learnt it.
    pub fn method(&self) -> &str {
        &self.head.method
    }

    /// Everything about it but its tensors.
    pub fn head(&self) -> &Config {
        &self.head
    }

    /// The configuration, as the method wrote it.
    ///
    /// # Errors
    /// One that another method wrote.
    pub fn config<M: Serialize + DeserializeOwned + Clone>(&self) -> Result<Config<M>> {
        parsed(&self.config, &self.folder.join(CONFIG))
    }

    /// The tensors, to be taken one by one.
    ///
    /// # Errors
    /// Bytes that are no whole safetensors file.
    pub fn tensors(&self) -> Result<Reader<'_>> {
        Reader::new(&self.folder.join(PARAMETERS), &self.tensors)
    }

    /// The error of a configuration that does not make sense.
    pub fn refused(&self, problem: impl ToString) -> Error {
        let fix = "restore the file, or fit the model again";
        Error::input(self.folder.join(CONFIG), Place::Whole, problem.to_string(), fix)
    }
}

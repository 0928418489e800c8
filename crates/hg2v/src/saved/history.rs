//! How a model came to be: what training said, and how it was run.

use super::{LOG, RUN, read, write};
use crate::error::{Action, Error, Place, Result};
use crate::nn::pairs::LevelLoss;
use crate::progress::Epoch;
use crate::train::Step;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// A line of the log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LogLine {
    /// The epoch, from 1.
    pub epoch: u64,
    /// Steps so far.
    pub step: u64,
    /// The learning rate, where it changes.
    #[serde(alias = "rate", skip_serializing_if = "Option::is_none")]
    pub lr: Option<f64>,
    /// The loss of all levels, averaged over the epoch.
    pub loss: f64,
    /// The same of each level, finest first, where there are levels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
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
            lr: Some(step.lr),
            loss: step.mean.iter().map(|loss| loss.total()).sum(),
            levels: step.mean.clone(),
            seconds: elapsed.as_secs_f64(),
        }
    }

    /// What is logged of an epoch of a method without levels, after `step` steps.
    pub fn of_epoch(epoch: &Epoch<'_>, step: u64, elapsed: Duration) -> LogLine {
        LogLine {
            epoch: epoch.number,
            step,
            lr: None,
            loss: epoch.losses.iter().sum(),
            levels: Vec::new(),
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
    /// Where the graphs were; `-` for standard input.
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
#[doc(hidden)]
pub fn write_run(folder: &Path, note: &RunNote) -> Result<()> {
    let path = folder.join(RUN);
    let mut bytes =
        serde_json::to_vec_pretty(note).map_err(|e| Error::io(&path, Action::Write, e.into()))?;
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
#[doc(hidden)]
pub fn write_log(folder: &Path, lines: &[LogLine]) -> Result<()> {
    let path = folder.join(LOG);
    let text: std::io::Result<String> = lines.iter().map(LogLine::text).collect();
    write(&path, text.map_err(|e| Error::io(&path, Action::Write, e))?.as_bytes())
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

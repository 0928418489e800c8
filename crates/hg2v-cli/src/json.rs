//! `--json`: one object on standard output, whatever happens.

use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use hg2v::error::{Action, Error, Place};
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::interrupt::{Stopped, code_of};
use crate::words::told;

/// Whether the object is out.
static TOLD: AtomicBool = AtomicBool::new(false);

impl Context {
    /// Prints the command's result as JSON, where that was asked for: with the name of the
    /// command, and the seconds that it took. Says whether it did.
    pub(crate) fn tell(&self, result: impl Serialize) -> anyhow::Result<bool> {
        if !self.global.json {
            return Ok(false);
        }
        let mut result = serde_json::to_value(result)?;
        result["command"] = json!(self.command);
        result["seconds"] = json!(self.started.elapsed().as_secs_f64());
        if self.global.skip_invalid {
            result["skipped"] = json!(self.count_left_out());
        }
        TOLD.store(true, Ordering::Relaxed);
        self.print(result.to_string())?;
        Ok(true)
    }
}

/// What a command ends with when it fails.
#[derive(Serialize)]
pub(crate) struct Failed {
    /// The exit code.
    pub(crate) code: u8,
    pub(crate) kind: &'static str,
    pub(crate) message: String,
    pub(crate) file: Option<PathBuf>,
    pub(crate) line: Option<u64>,
    pub(crate) record: Option<u64>,
    pub(crate) byte: Option<u64>,
}

impl Failed {
    pub(crate) fn new(code: u8, kind: &'static str, message: impl Into<String>) -> Failed {
        let message = message.into();
        Failed { code, kind, message, file: None, line: None, record: None, byte: None }
    }

    /// What an error is to a program, and how the command ends by it.
    pub(crate) fn of(error: &anyhow::Error) -> Failed {
        if let Some(stopped) = error.downcast_ref::<Stopped>() {
            return Failed::new(code_of(stopped.signal), "stopped", error.to_string());
        }
        let experiment = error.downcast_ref::<hg2v_experiments::Error>();
        let judging = match experiment {
            Some(hg2v_experiments::Error::Eval(error)) => Some(error),
            _ => error.downcast_ref::<hg2v_eval::Error>(),
        };
        let known = match judging {
            Some(hg2v_eval::Error::Hg2v(error)) => Some(error),
            _ => error.downcast_ref::<Error>(),
        };
        let (code, kind) = match (known, judging) {
            (Some(error), _) => ending(error),
            // Datasets that are not there, kept results that cannot be used.
            (None, None) if experiment.is_some_and(|error| error.input().is_some()) => (2, "input"),
            // Vectors or labels that no classifier can use.
            (None, Some(_)) => (2, "input"),
            (None, None) => (1, "failed"),
        };
        let mut failed = Failed::new(code, kind, told(error));
        if let Some((file, line)) = experiment.and_then(hg2v_experiments::Error::input) {
            failed.file = Some(file.to_path_buf());
            failed.line = line;
        }
        match known {
            Some(Error::Input(input)) => {
                failed.file = Some(input.file.clone());
                match input.place {
                    Place::Whole => {}
                    Place::Line(line) | Place::Column(line, _) => failed.line = Some(line),
                    Place::Record(record) => failed.record = Some(record),
                    Place::Byte(byte) => failed.byte = Some(byte),
                }
            }
            Some(Error::Io { path, .. } | Error::Exists { path, .. }) => {
                failed.file = Some(path.clone());
            }
            _ => {}
        }
        failed
    }

    /// Tells a program, which has standard output, unless it has the result already.
    pub(crate) fn tell(&self) {
        if !TOLD.swap(true, Ordering::Relaxed) {
            let _ = writeln!(io::stdout(), "{}", json!({ "error": self }));
        }
    }
}

/// How the command ends by an error, and what programs call it: 2 for wrong usage or unreadable
/// input, 1 for everything else.
fn ending(error: &Error) -> (u8, &'static str) {
    match error {
        Error::Input(_) | Error::Io { action: Action::Read, .. } => (2, "input"),
        Error::Parameter { .. } | Error::Argument { .. } | Error::Unknown { .. } => (2, "usage"),
        Error::Exists { .. } => (2, "exists"),
        Error::Io { .. } => (1, "output"),
        Error::Device { .. } => (1, "device"),
        Error::Download { .. } => (1, "download"),
        // `Stopped`, and what later versions may fail at.
        _ => (1, "failed"),
    }
}

/// What a result has where some of it failed, and the command with it.
pub(crate) fn partly(result: &mut Value, message: &str) {
    result["error"] = json!(Failed::new(1, "failed", message));
}

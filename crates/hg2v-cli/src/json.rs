//! `--json`: one object on standard output, whatever happens.

use std::io::{self, Write};
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::atomic::{AtomicBool, Ordering};

use hg2v::error::Place;
use serde::Serialize;
use serde_json::{Value, json};

use crate::context::Context;
use crate::interrupt::{Stopped, code_of};

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
            result["skipped"] = json!(self.skipped.count());
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

    /// What an error is to a program, and how the command ends by it: with 2 for wrong usage or
    /// unreadable input, with 128 and its number for a signal, with 1 for everything else.
    pub(crate) fn of(error: &anyhow::Error) -> Failed {
        use hg2v::Error;
        if let Some(stopped) = error.downcast_ref::<Stopped>() {
            return Failed::new(code_of(stopped.signal), "stopped", error.to_string());
        }
        let judging = error.downcast_ref::<hg2v_eval::Error>();
        let graphs = match judging {
            Some(hg2v_eval::Error::Graphs(error)) => Some(error),
            _ => error.downcast_ref::<Error>(),
        };
        let (code, kind) = match (graphs, judging) {
            (Some(Error::Input(_)), _) => (2, "input"),
            (Some(Error::Io { action: "read", .. }), _) => (2, "input"),
            (Some(Error::Io { .. }), _) => (1, "output"),
            (Some(Error::Exists { .. }), _) => (2, "exists"),
            (Some(Error::Parameter { .. }), _) => (2, "usage"),
            (Some(Error::Device { .. }), _) => (1, "device"),
            (Some(Error::Download { .. }), _) => (1, "download"),
            // Vectors or labels that no classifier can use.
            (None, Some(hg2v_eval::Error::Parameter { .. })) => (2, "usage"),
            (None, Some(_)) => (2, "input"),
            _ => (1, "failed"),
        };
        let mut failed = Failed::new(code, kind, in_words(error, graphs));
        match graphs {
            Some(Error::Input(input)) => {
                failed.file = Some(input.file.clone());
                match input.place {
                    Place::Whole => {}
                    Place::Line(line) => failed.line = Some(line),
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

    pub(crate) fn exit_code(&self) -> ExitCode {
        ExitCode::from(self.code)
    }
}

/// The error in one line, with its causes, and with the option that mends it.
fn in_words(error: &anyhow::Error, graphs: Option<&hg2v::Error>) -> String {
    if let Some(hg2v::Error::Exists { path, problem, replaceable: true }) = graphs {
        let path = path.display();
        return format!("{path}: {problem}; name another place, or replace it with --force");
    }
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        // Most of ours say their cause themselves.
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

/// What a result has where some of it failed, and the command with it.
pub(crate) fn partly(result: &mut Value, message: &str) {
    result["error"] = json!(Failed::new(1, "failed", message));
}

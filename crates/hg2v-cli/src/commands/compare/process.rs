//! A cell of a comparison, filled by a process of its own.

use std::env;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};

use anyhow::{Context as _, bail};
use hg2v_experiments::compare::{CellPosition, Filled};

use crate::interrupt;

/// The variables that tell a process which cell it is to fill, and where.
pub(super) const CELL: &str = "HG2V_COMPARE_CELL";
pub(super) const FOLDER: &str = "HG2V_COMPARE_FOLDER";

/// Has another process of the same arguments fill a cell.
///
/// # Errors
/// A process that cannot be started, or was stopped with this one.
pub(super) fn fill(cell: CellPosition, folder: &Path) -> anyhow::Result<Filled> {
    let mut command = Command::new(env::current_exe()?);
    command
        .args(env::args_os().skip(1))
        .env(CELL, cell.to_string())
        .env(FOLDER, folder)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped());
    let ran = interrupt::ending_with_us(command);
    let (status, said) = ran.context(
        "cannot run a method in a process of its own; is there room for one (ulimit -u)?",
    )?;
    if interrupt::asked_beside(status) {
        bail!("stopped");
    }
    Ok(match status.success() {
        true => Ok(()),
        false => Err(why(status, &said)),
    })
}

/// Why a process ended as it did, from what it said.
fn why(status: ExitStatus, said: &str) -> String {
    if let Some((_, error)) = said.rsplit_once("error: ") {
        return error.trim().to_owned();
    }
    let lines: Vec<&str> = said.lines().filter(|line| !line.trim().is_empty()).collect();
    // A panic says where in one line and what in the next.
    let telling = [("panicked at", 2), ("memory allocation of", 1)];
    let told = telling.iter().find_map(|&(words, count)| {
        let at = lines.iter().position(|line| line.contains(words))?;
        Some(lines[at..].iter().take(count).copied().collect::<Vec<_>>().join(" "))
    });
    let last = || lines.last().copied().unwrap_or("it said nothing").to_owned();
    let last = told.unwrap_or_else(last);
    match signal(status) {
        Some(9) => "killed, as systems do when memory runs out (signal 9)".to_owned(),
        Some(signal) => format!("{last} (signal {signal})"),
        None => last,
    }
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> Option<i32> {
    std::os::unix::process::ExitStatusExt::signal(&status)
}

#[cfg(not(unix))]
fn signal(_: ExitStatus) -> Option<i32> {
    None
}

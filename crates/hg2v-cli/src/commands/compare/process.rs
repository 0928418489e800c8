//! A cell of a comparison, filled by a process of its own.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};

use anyhow::{Context as _, bail};
use hg2v_experiments::Environment;
use hg2v_experiments::compare::{CellPosition, Filled, Plan};
use serde::{Deserialize, Serialize};

use crate::context::{Context, LeftOut};
use crate::interrupt;

/// The variables that tell a process which cell it is to fill, and where.
pub(super) const CELL: &str = "HG2V_COMPARE_CELL";
pub(super) const FOLDER: &str = "HG2V_COMPARE_FOLDER";

/// What a process says beside what it writes: on a line of its standard error, which nobody else
/// reads.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct HandedBack {
    left_out: LeftOut,
}

/// Fills a cell in this process; then says what of the graphs it left out.
///
/// # Errors
/// As [`Plan::fill`].
pub(super) fn fill_here(
    plan: &Plan,
    cell: CellPosition,
    folder: &Path,
    environment: &Environment<'_>,
    context: &Context,
) -> anyhow::Result<()> {
    let filled = plan.fill(cell, folder, environment);
    let handed = HandedBack { left_out: context.left_out() };
    let _ = writeln!(io::stderr(), "{}", serde_json::to_string(&handed)?);
    Ok(filled?)
}

/// Has another process of the same arguments fill a cell, and says what of the graphs that one
/// left out, unless their `set` is `known`.
///
/// # Errors
/// A process that cannot be started, or was stopped with this one.
pub(super) fn fill(
    cell: CellPosition,
    folder: &Path,
    known: &Mutex<BTreeSet<usize>>,
    context: &Context,
) -> anyhow::Result<Filled> {
    let [program, arguments @ ..] = &context.again[..] else { bail!("no program to run again") };
    let mut command = Command::new(program);
    command
        .args(arguments)
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
    let handed = said.lines().rev().find_map(|line| serde_json::from_str(line).ok());
    if let Some(HandedBack { left_out }) = handed
        && known.lock().unwrap_or_else(PoisonError::into_inner).insert(cell.set)
    {
        context.pass_on(&left_out);
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

//! Signals that ask for an end: Ctrl-C, SIGTERM, and a terminal that goes away.

use std::io::{self, Read};
use std::process::{Child, Command, ExitStatus, exit};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use hg2v::output;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;
use signal_hook::iterator::Signals;

/// From now on, whoever asks for an end leaves nothing half written behind.
///
/// # Errors
/// A system that lets nobody listen.
pub(crate) fn clean_up() -> io::Result<()> {
    let mut signals = Signals::new(endings())?;
    std::thread::spawn(move || {
        if let Some(signal) = signals.forever().next() {
            if let Some(child) = child().as_mut() {
                let _ = child.kill();
            }
            output::discard_unfinished();
            // As a shell tells that a signal ended a process.
            exit(128 + signal);
        }
    });
    Ok(())
}

/// The process that works for this one.
static CHILD: Mutex<Option<Child>> = Mutex::new(None);

fn child() -> MutexGuard<'static, Option<Child>> {
    CHILD.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Runs a command that ends when this process is told to; says how it ended, and what it wrote to
/// its standard error, which must be a pipe.
///
/// # Errors
/// When it cannot be started or waited for.
pub(crate) fn ending_with_us(mut command: Command) -> io::Result<(ExitStatus, String)> {
    // Started and known at once: no signal finds it running unknown.
    let mut slot = child();
    let pipe = slot.insert(command.spawn()?).stderr.take();
    drop(slot);
    let mut said = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut said)?;
    }
    // Its last word was said, so it is at its end.
    let status = child().as_mut().map(Child::wait).transpose()?.unwrap_or_default();
    *child() = None;
    Ok((status, String::from_utf8_lossy(&said).into_owned()))
}

/// A flag that is set when somebody asks for an end; who asks again gets it at once.
///
/// # Errors
/// A system that lets nobody listen.
pub(crate) fn asked() -> io::Result<Arc<AtomicBool>> {
    let asked = Arc::new(AtomicBool::new(false));
    for signal in endings() {
        // In this order: the first time, the flag is not set yet.
        flag::register_conditional_shutdown(signal, 1, Arc::clone(&asked))?;
        flag::register(signal, Arc::clone(&asked))?;
    }
    Ok(asked)
}

/// The end of a terminal counts unless it is to be ignored, as `nohup` arranges.
fn endings() -> Vec<i32> {
    let mut signals = vec![SIGINT, SIGTERM];
    #[cfg(unix)]
    if !ignores_hangup() {
        signals.push(signal_hook::consts::SIGHUP);
    }
    signals
}

/// Whether whoever started this process told it to ignore SIGHUP, as far as the system says.
#[cfg(unix)]
fn ignores_hangup() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    let mask = mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok());
    // Bit 0 is signal 1.
    mask.is_some_and(|mask| mask & 1 == 1)
}

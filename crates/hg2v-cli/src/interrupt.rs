//! Signals that ask for an end: Ctrl-C, SIGTERM, and a terminal that goes away.
//!
//! A thread waits for them. It removes what is half written and ends the process, with the code by
//! which shells tell that a signal ended it. Work that can be stopped between two steps
//! [is waited for](Farewell::after_the_step), though not for long. Whoever asks twice gets the end
//! at once.

use std::fmt;
use std::io::{self, Read, Write};
use std::process::{Child, Command, ExitStatus, exit};
use std::sync::atomic::{AtomicI32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use hg2v::output;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::json::Failed;
use crate::threads;

/// How long a step, or a process of ours, has to come to its end.
const PATIENCE: Duration = Duration::from_secs(5);

/// How long after the first a signal is taken for the same: some programs send each twice, to the
/// process and to its group.
const ECHO: Duration = Duration::from_millis(200);

/// The signal that asked for an end; 0 as long as there was none.
static ASKED: AtomicI32 = AtomicI32::new(0);

/// What is said at the end, and whether the work itself will come to one.
static FAREWELL: Mutex<Option<(String, Ending)>> = Mutex::new(None);

/// The process that works for this one.
static CHILD: Mutex<Option<Child>> = Mutex::new(None);

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// From now on, whoever asks for an end leaves nothing half written behind; with `json` programs
/// are told as well.
///
/// # Errors
/// A system that lets nobody listen, or has no thread left.
pub(crate) fn listen(json: bool) -> anyhow::Result<()> {
    let mut signals = Signals::new(endings()).context("cannot listen for Ctrl-C")?;
    threads::start("signals", move || {
        let mut signals = signals.forever();
        let Some(signal) = signals.next() else { return };
        let heard = Instant::now();
        if threads::start("end", move || end(signal, json)).is_err() {
            end(signal, json);
        }
        let again = signals.find(|_| heard.elapsed() > ECHO).unwrap_or(signal);
        signal_hook::low_level::exit(code_of(again).into());
    })?;
    Ok(())
}

/// How a process that `signal` ended tells so.
pub(crate) fn code_of(signal: i32) -> u8 {
    u8::try_from(128 + signal).unwrap_or(u8::MAX)
}

fn end(signal: i32, json: bool) -> ! {
    ASKED.store(signal, Ordering::SeqCst);
    if matches!(*locked(&FAREWELL), Some((_, Ending::AfterTheStep))) {
        // Whoever comes to the end of a step ends the process.
        thread::sleep(PATIENCE);
    }
    if let Some(child) = locked(&CHILD).as_mut() {
        dismiss(child);
    }
    let words = locked(&FAREWELL).as_ref().map(|(words, _)| words.clone());
    if let Some(words) = &words {
        let _ = writeln!(io::stderr(), "error: {words}");
    }
    if json {
        let words = words.unwrap_or_else(|| "stopped by a signal".to_owned());
        Failed::new(code_of(signal), "stopped", words).tell();
    }
    output::discard_unfinished();
    exit(code_of(signal).into());
}

/// Waits for the end that somebody asked for, unless `error` is how the work came to it: whatever
/// else fails then, such as a process of ours that was dismissed, fails for that.
pub(crate) fn leave_to_signal(error: &anyhow::Error) {
    if asked().is_some() && !error.is::<Stopped>() {
        thread::sleep(2 * PATIENCE);
    }
}

/// How work ends that can be continued.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    AtOnce,
    AfterTheStep,
}

/// What to say to whoever asks for an end, as long as this is held.
pub(crate) struct Farewell(());

impl Farewell {
    /// The work ends at once, with these words.
    pub(crate) fn at_once(words: impl Into<String>) -> Farewell {
        *locked(&FAREWELL) = Some((words.into(), Ending::AtOnce));
        Farewell(())
    }

    /// The work looks at [`asked`] after every step and ends with a [`Stopped`]; a step that does
    /// not come to its end soon is cut short, with these words.
    pub(crate) fn after_the_step(words: impl Into<String>) -> Farewell {
        *locked(&FAREWELL) = Some((words.into(), Ending::AfterTheStep));
        Farewell(())
    }
}

impl Drop for Farewell {
    fn drop(&mut self) {
        *locked(&FAREWELL) = None;
    }
}

/// The signal that asked for an end, if one did.
pub(crate) fn asked() -> Option<i32> {
    match ASKED.load(Ordering::SeqCst) {
        0 => None,
        signal => Some(signal),
    }
}

/// Whether somebody asked for an end, where a process of ours ended with `status`. A terminal tells
/// both of us, in any order.
pub(crate) fn asked_beside(status: ExitStatus) -> bool {
    let by = endings().into_iter().map(|signal| Some(i32::from(code_of(signal))));
    let told = by.into_iter().any(|code| code == status.code());
    let ended = Instant::now();
    while told && asked().is_none() && ended.elapsed() < ECHO {
        thread::sleep(Duration::from_millis(5));
    }
    asked().is_some()
}

/// Work that a signal stopped, and how to go on with it.
#[derive(Debug)]
pub(crate) struct Stopped {
    pub(crate) signal: i32,
    pub(crate) words: String,
}

impl fmt::Display for Stopped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.words)
    }
}

impl std::error::Error for Stopped {}

/// Runs a command that ends when this process does, however that may be: its standard input is a
/// pipe, at whose end it is to [end too](end_with_parent). Says how it ended, and what it wrote to
/// its standard error; both must be pipes.
///
/// # Errors
/// When it cannot be started or waited for.
pub(crate) fn ending_with_us(mut command: Command) -> io::Result<(ExitStatus, String)> {
    // Started and known at once: no signal finds it running unknown.
    let mut slot = locked(&CHILD);
    let pipe = slot.insert(command.spawn()?).stderr.take();
    drop(slot);
    let mut said = Vec::new();
    if let Some(mut pipe) = pipe {
        pipe.read_to_end(&mut said)?;
    }
    // Its last word was said, so it is at its end.
    let status = locked(&CHILD).as_mut().map(Child::wait).transpose()?.unwrap_or_default();
    *locked(&CHILD) = None;
    Ok((status, String::from_utf8_lossy(&said).into_owned()))
}

/// Lets a process of ours come to its end, and ends it if it does not.
fn dismiss(child: &mut Child) {
    drop(child.stdin.take());
    let asked = Instant::now();
    while asked.elapsed() < PATIENCE && matches!(child.try_wait(), Ok(None)) {
        thread::sleep(Duration::from_millis(5));
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Ends this process when the one that started it is gone, which holds the other end of the pipe
/// that is standard input.
///
/// # Errors
/// A system that has no thread left.
pub(crate) fn end_with_parent() -> anyhow::Result<()> {
    threads::start("parent", || {
        // Nothing ever comes.
        let _ = io::copy(&mut io::stdin(), &mut io::sink());
        output::discard_unfinished();
        exit(1);
    })?;
    Ok(())
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

//! How far a piece of work is: a bar on a terminal, a line now and then elsewhere.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};
use std::ops::Deref;
use std::sync::mpsc::{RecvTimeoutError, Sender, channel};
use std::time::Duration;

use indicatif::{HumanCount, HumanDuration, ProgressBar, ProgressStyle};

use crate::threads;

/// From one look at a bar to the next.
const TICK: Duration = Duration::from_millis(200);

/// From one line to the next; work that takes no longer gets none.
const LINE: Duration = Duration::from_secs(30);

/// A bar, shown until it is finished or dropped.
pub(crate) struct Progress {
    bar: ProgressBar,
    /// Ends the thread that shows it.
    shown: Option<Sender<()>>,
}

impl Deref for Progress {
    type Target = ProgressBar;

    fn deref(&self) -> &ProgressBar {
        &self.bar
    }
}

impl Progress {
    /// Says nothing to anybody.
    pub(crate) fn silent() -> Progress {
        Progress { bar: ProgressBar::hidden(), shown: None }
    }

    /// Whether anybody is told.
    pub(crate) fn is_shown(&self) -> bool {
        self.shown.is_some()
    }

    /// Begins to say how many of `len` things are done (a spinner when unknown).
    pub(crate) fn start(what: &'static str, len: Option<u64>) -> Progress {
        if !io::stderr().is_terminal() {
            let bar = ProgressBar::hidden();
            bar.set_message(what);
            len.inspect(|&len| bar.set_length(len));
            return Progress::shown(bar, LINE, |bar| {
                let _ = writeln!(io::stderr(), "{}", line(bar));
            });
        }
        let template = match len {
            Some(_) => "{msg} {wide_bar} {human_pos}/{human_len} {per_sec} {eta}",
            None => "{msg} {spinner} {human_pos} {per_sec} {elapsed}",
        };
        let bar = len.map_or_else(ProgressBar::no_length, ProgressBar::new);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar.set_message(what);
        Progress::shown(bar, TICK, ProgressBar::tick)
    }

    /// Has a thread of its own show it `every` so often: the work may be in one step for long.
    fn shown(
        bar: ProgressBar,
        every: Duration,
        show: impl Fn(&ProgressBar) + Send + 'static,
    ) -> Progress {
        let (ends, ended) = channel::<()>();
        let watched = bar.clone();
        let shown = threads::start("progress", move || {
            while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
                if watched.is_finished() {
                    break;
                }
                show(&watched);
            }
        });
        // Work goes on unwatched where there is no thread left.
        Progress { bar, shown: shown.ok().map(|_| ends) }
    }
}

/// `embedding: 12,000 of 50,000 in 4 minutes`
fn line(bar: &ProgressBar) -> String {
    let mut line = format!("{}: {}", bar.message(), HumanCount(bar.position()));
    if let Some(len) = bar.length() {
        let _ = write!(line, " of {}", HumanCount(len));
    }
    let _ = write!(line, " in {}", HumanDuration(bar.elapsed()));
    line
}

#[cfg(test)]
mod tests {
    use std::sync::{Arc, Mutex};
    use std::thread;

    use super::*;

    fn watched(every: Duration) -> (Progress, Arc<Mutex<Vec<String>>>) {
        let said = Arc::new(Mutex::new(Vec::new()));
        let bar = ProgressBar::hidden();
        bar.set_message("embedding");
        bar.set_length(50_000);
        let to = Arc::clone(&said);
        let progress = Progress::shown(bar, every, move |bar| to.lock().unwrap().push(line(bar)));
        (progress, said)
    }

    #[test]
    fn a_step_that_takes_long_is_told_of_while_it_lasts() {
        let (progress, said) = watched(Duration::from_millis(5));
        progress.inc(12_000);
        while said.lock().unwrap().len() < 3 {
            thread::sleep(Duration::from_millis(1));
        }
        progress.finish_and_clear();
        let lines = said.lock().unwrap();
        let last = lines.last().unwrap();
        assert!(last.starts_with("embedding: 12,000 of 50,000 in "), "{last}");
        let uncounted = ProgressBar::hidden();
        uncounted.set_message("reading");
        uncounted.inc(7);
        assert!(line(&uncounted).starts_with("reading: 7 in "), "{}", line(&uncounted));
    }

    #[test]
    fn short_work_is_not_told_of() {
        let (progress, said) = watched(Duration::from_secs(3600));
        progress.inc(50_000);
        drop(progress);
        assert_eq!(*said.lock().unwrap(), Vec::<String>::new());
    }
}

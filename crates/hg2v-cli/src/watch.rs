//! Long work of the library, as somebody at a terminal sees it.

use std::sync::{Mutex, MutexGuard, PoisonError};

use hg2v::progress::{Flow, Report, Stage};

use crate::context::Context;
use crate::interrupt;
use crate::progress::Progress;

/// Shows a bar for each stage of the work, one after the other.
pub(crate) struct Watch<'a> {
    context: &'a Context,
    shown: Mutex<Shown>,
}

/// What is shown.
#[derive(Default)]
struct Shown {
    /// What is worked on, where it has a name of its own.
    title: Option<String>,
    bar: Option<(Stage, Progress)>,
}

impl Shown {
    fn clear(&mut self) {
        if let Some((_, bar)) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl<'a> Watch<'a> {
    pub(crate) fn new(context: &'a Context) -> Watch<'a> {
        Watch { context, shown: Mutex::default() }
    }

    /// Other work begins: the bar of what was before goes.
    pub(crate) fn begin(&self, title: Option<&str>) {
        let mut shown = self.shown();
        shown.clear();
        shown.title = title.map(str::to_owned);
    }

    /// The same work goes on under another name.
    pub(crate) fn retitle(&self, title: &str) {
        let mut shown = self.shown();
        shown.title = Some(title.to_owned());
        if let Some((_, bar)) = &shown.bar {
            bar.set_message(title.to_owned());
        }
    }

    /// Says something to the person watching, above the bar.
    pub(crate) fn say(&self, text: impl AsRef<str>) {
        match &self.shown().bar {
            Some((_, bar)) => bar.suspend(|| self.context.say(text)),
            None => self.context.say(text),
        }
    }

    fn shown(&self) -> MutexGuard<'_, Shown> {
        self.shown.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl hg2v::progress::Progress for Watch<'_> {
    fn report(&self, report: &Report<'_>) -> Flow {
        let mut shown = self.shown();
        if shown.bar.as_ref().is_none_or(|(stage, _)| *stage != report.stage) {
            shown.clear();
            let bar = self.context.progress(named(report.stage), Some(report.total));
            if let Some(title) = &shown.title {
                bar.set_message(title.clone());
            }
            shown.bar = Some((report.stage, bar));
        }
        if let Some((_, bar)) = shown.bar.as_ref().filter(|(_, bar)| bar.is_shown()) {
            bar.set_length(report.total);
            bar.set_position(report.done.max(bar.position()));
            if let Some(epoch) = &report.epoch {
                let losses: Vec<String> =
                    epoch.losses.iter().map(|loss| format!("{loss:.3}")).collect();
                let stage = report.stage;
                bar.set_message(format!(
                    "{stage}, epoch {}, loss {}",
                    epoch.number,
                    losses.join(" ")
                ));
            }
        }
        // Signals end other work at once; a training first keeps what it has learnt.
        match report.stage == Stage::Training && interrupt::asked().is_some() {
            true => Flow::Stop,
            false => Flow::Continue,
        }
    }
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.begin(None);
    }
}

fn named(stage: Stage) -> &'static str {
    match stage {
        Stage::Coarsening => "coarsening",
        Stage::Training => "training",
        Stage::Embedding => "embedding",
        Stage::Comparing => "comparing",
        Stage::Judging => "judging",
        Stage::Summarizing => "reading",
        Stage::Generating => "graphs",
        Stage::Linking => "linking",
        Stage::Tsne => "t-SNE",
        Stage::Umap => "UMAP",
        _ => "working",
    }
}

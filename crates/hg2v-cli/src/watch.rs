//! Long work of the library, as somebody at a terminal sees it.

use std::sync::{Mutex, PoisonError};

use hg2v::progress::{Flow, Report, Stage};

use crate::context::Context;
use crate::interrupt;
use crate::progress::Progress;

/// Shows a bar for each stage of the work, one after the other.
pub(crate) struct Watch<'a> {
    context: &'a Context,
    shown: Mutex<Option<(Stage, Progress)>>,
}

impl<'a> Watch<'a> {
    pub(crate) fn new(context: &'a Context) -> Watch<'a> {
        Watch { context, shown: Mutex::new(None) }
    }
}

impl hg2v::progress::Progress for Watch<'_> {
    fn report(&self, report: &Report<'_>) -> Flow {
        let mut shown = self.shown.lock().unwrap_or_else(PoisonError::into_inner);
        if shown.as_ref().is_none_or(|(stage, _)| *stage != report.stage) {
            // The bar of the stage before goes first.
            shown.take();
            let bar = self.context.progress(named(report.stage), Some(report.total));
            *shown = Some((report.stage, bar));
        }
        if let Some((_, bar)) = shown.as_ref().filter(|(_, bar)| bar.is_shown()) {
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
        if let Some((_, bar)) = self.shown.get_mut().unwrap_or_else(PoisonError::into_inner) {
            bar.finish_and_clear();
        }
    }
}

fn named(stage: Stage) -> &'static str {
    match stage {
        Stage::Coarsening => "coarsening",
        Stage::Training => "training",
        Stage::Embedding => "embedding",
        Stage::Comparing => "comparing",
        _ => "working",
    }
}

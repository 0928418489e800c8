//! What experiments run in when the command runs them, and what is said of how they go.

use std::path::Path;

use hg2v::graph::WeightPolicy;
use hg2v_experiments::table::TextTable;
use hg2v_experiments::{Environment, Event};

use crate::context::Context;
use crate::device::DeviceArgs;
use crate::graphs::{self, Asks, CacheArgs};
use crate::interrupt;
use crate::table::Table;
use crate::watch::Watch;
use crate::words::of_experiment;

/// Runs an experiment on the device and with the cache that were asked for.
pub(crate) fn run<T>(
    device: &DeviceArgs,
    cache: &CacheArgs,
    context: &Context,
    experiment: impl FnOnce(&Environment<'_>) -> anyhow::Result<T>,
) -> anyhow::Result<T> {
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default()
        .on(device.open()?)
        .cached_in(cache.open())
        .watched_by(&watch);
    experiment(&Environment {
        context: &work,
        device: device.note().as_deref(),
        data_dir: context.global.data_dir.as_deref(),
        limits: &context.limits,
        seed: context.seed(),
        read: &|path: &Path| {
            watch.begin(None);
            let asks = Asks::Weights(WeightPolicy::default());
            graphs::read(path, asks, context).map(|read| read.records)
        },
        tell: &|event| hear(event, &watch),
    })
}

/// Says what happened.
pub(crate) fn hear(event: &Event<'_>, watch: &Watch<'_>) {
    match event {
        Event::LeftOut { what, why } => {
            watch.say(format!("{what}: left out, {}", of_experiment(why)));
        }
        Event::Kept { what, splits, path } => watch.say(format!(
            "{what}: {splits} splits are there already, in {}; with another --out they are run \
             again",
            path.display()
        )),
        Event::GoesOn { what, results } => {
            watch.say(format!("{what}: going on; {results} results are there already"));
        }
        Event::Training { dataset, graphs } => {
            watch.begin(Some(dataset));
            watch.say(format!("{dataset}: training on {graphs} graphs"));
        }
        Event::Filling { what } => watch.retitle(what),
        Event::Judging { what } => watch.begin(Some(what)),
        Event::Judged { what, test, seconds } => {
            watch.say(format!("{what}: {test} ({seconds:.0} s)"));
        }
        // What fails while the process comes to its end fails for that.
        Event::Failed { .. } if interrupt::asked().is_some() => {}
        Event::Failed { what } => watch.say(format!("{what}: failed; on with the others")),
        _ => {}
    }
}

/// A table for people, with what there is to say of it.
pub(crate) fn shown(table: &TextTable) -> String {
    let mut columns = Table::new(table.names);
    columns.row(table.header.iter().cloned());
    table.rows.iter().for_each(|row| columns.row(row.iter().cloned()));
    let title = Some(table.title.clone()).filter(|title| !title.is_empty());
    let mut lines: Vec<String> = title.into_iter().chain(columns.lines()).collect();
    if !table.notes.is_empty() {
        lines.push(String::new());
        lines.extend(table.notes.iter().cloned());
    }
    lines.join("\n")
}

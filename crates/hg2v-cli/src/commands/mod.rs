//! The commands, one file each.

mod coarsen;
mod compare;
mod completions;
mod convert;
mod datasets;
mod demo;
mod drift;
mod embed;
mod evaluate;
mod fit;
mod generate;
mod images;
mod info;
mod man;
mod project;
mod report;
mod reproduce;
mod search;
mod serve;

use clap::Subcommand;

use crate::context::Context;
use crate::interrupt;

/// A command with its arguments.
#[derive(Subcommand)]
pub(crate) enum Command {
    Demo(demo::Args),
    Info(info::Args),
    Generate(generate::Args),
    Images(images::Args),
    Datasets(datasets::Args),
    Convert(convert::Args),
    Coarsen(coarsen::Args),
    Fit(fit::Args),
    Embed(embed::Args),
    Evaluate(evaluate::Args),
    Compare(compare::Args),
    Reproduce(reproduce::Args),
    Report(report::Args),
    Search(search::Args),
    Drift(drift::Args),
    Project(project::Args),
    Serve(serve::Args),
    Completions(completions::Args),
    Man(man::Args),
}

impl Command {
    pub(crate) fn run(self, context: &Context) -> anyhow::Result<()> {
        // A server finishes what it has accepted.
        if !matches!(self, Command::Serve(_)) {
            interrupt::listen(context.global.json)?;
        }
        match self {
            Command::Demo(args) => demo::run(args, context),
            Command::Info(args) => info::run(args, context),
            Command::Generate(args) => generate::run(args, context),
            Command::Images(args) => images::run(args, context),
            Command::Datasets(args) => datasets::run(args, context),
            Command::Convert(args) => convert::run(args, context),
            Command::Coarsen(args) => coarsen::run(args, context),
            Command::Fit(args) => fit::run(args, context),
            Command::Embed(args) => embed::run(args, context),
            Command::Evaluate(args) => evaluate::run(args, context),
            Command::Compare(args) => compare::run(args, context),
            Command::Reproduce(args) => reproduce::run(args, context),
            Command::Report(args) => report::run(args, context),
            Command::Search(args) => search::run(args, context),
            Command::Drift(args) => drift::run(args, context),
            Command::Project(args) => project::run(args, context),
            Command::Serve(args) => serve::run(args, context),
            Command::Completions(args) => completions::run(args, context),
            Command::Man(args) => man::run(args, context),
        }
    }
}

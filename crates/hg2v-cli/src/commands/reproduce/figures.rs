//! What the paper's figures share: their files, and the record beside them.
//!
//! A figure is `OUT/figures/NAME.svg`, the same as `.png`, its numbers as `.csv`, and a
//! record `.json` of how they were made.

use std::fs;
use std::io::Write;
use std::time::Instant;

use hg2v::context::MachineName;
use hg2v::error::{Action, Error, Place};
use hg2v::output::OutputFile;
use serde_json::{Value, json};

use super::sets::{self, Origin};
use super::{Args, What, value_name};
use crate::context::Context;
use crate::figure::Drawing;
use crate::host::Host;
use crate::network::Preset;

/// The layout of the records that this version writes.
const FORMAT: u32 = 1;

/// What a figure is made of. Names are endings: `""` is the figure itself.
pub(super) struct Figure {
    pub(super) drawings: Vec<(String, Drawing)>,
    /// Numbers, with a line of names first.
    pub(super) tables: Vec<(String, String)>,
    /// How it was made.
    pub(super) protocol: Value,
    /// What came out, in short.
    pub(super) results: Value,
    /// The same for people.
    pub(super) said: Vec<String>,
}

/// Makes a figure, writes its files and says what came out.
pub(super) fn run(
    make: fn(&Args, &Context) -> anyhow::Result<Figure>,
    args: &Args,
    context: &Context,
) -> anyhow::Result<()> {
    refuse_options(args)?;
    let started = Instant::now();
    let figure = make(args, context)?;
    let seconds = started.elapsed().as_secs_f64();
    let folder = args.out.join("figures");
    fs::create_dir_all(&folder).map_err(|e| Error::io(&folder, Action::Create, e))?;
    let name = value_name(&args.what);
    let mut files = Vec::new();
    let mut write = |ending: String, bytes: &[u8]| -> hg2v::Result<()> {
        let path = folder.join(format!("{name}{ending}"));
        let mut out = OutputFile::create(&path)?;
        out.write_all(bytes).map_err(|e| Error::io(&path, Action::Write, e))?;
        out.commit()?;
        files.push(path);
        Ok(())
    };
    for (part, drawing) in &figure.drawings {
        write(format!("{part}.svg"), drawing.svg().as_bytes())?;
        write(format!("{part}.png"), &drawing.png()?)?;
    }
    for (part, table) in &figure.tables {
        write(format!("{part}.csv"), table.as_bytes())?;
    }
    let record = json!({
        "format": FORMAT,
        "figure": name,
        "hg2v": env!("CARGO_PKG_VERSION"),
        "command": command(&name, args, context),
        "seed": context.seed(),
        "quick": args.quick,
        "protocol": figure.protocol,
        "results": figure.results,
        "machine": Host::here(),
        "seconds": seconds,
    });
    write(".json".to_owned(), format!("{record:#}\n").as_bytes())?;
    let (what, out) = (name, &args.out);
    if context.tell(json!({ "what": what, "out": out, "records": [record] }))? {
        return Ok(());
    }
    context.print(figure.said.join("\n"))?;
    let files: Vec<String> = files.iter().map(|path| path.display().to_string()).collect();
    context.print(format!("\nwrote {}", files.join(", ")))
}

/// Options that mean something for tables alone, or for other figures.
fn refuse_options(args: &Args) -> hg2v::Result<()> {
    let tables = "it is for tables, not figures";
    let neighbors = "it is for tables and fig-neighbors, which train models";
    let trains = matches!(args.what, What::FigNeighbors);
    let takes_sets = trains || matches!(args.what, What::FigSpectra);
    let given = [
        ("splits", args.splits.is_some(), tables),
        ("grid", args.grid.is_some(), tables),
        ("fresh", args.fresh, tables),
        ("markdown", args.markdown, tables),
        ("preset", !trains && !matches!(args.preset, Preset::Default), neighbors),
        ("device", !trains && args.device.device != MachineName::Cpu, neighbors),
        ("sets", !takes_sets && !args.sets.is_empty(), "this figure has its own graphs"),
    ];
    match given.into_iter().find(|(_, given, _)| *given) {
        Some((name, _, requirement)) => Err(Error::parameter(name, "given", requirement)),
        None => Ok(()),
    }
}

/// The command that makes the same again.
fn command(name: &str, args: &Args, context: &Context) -> String {
    let mut words = vec![format!("hg2v reproduce {name}")];
    if args.quick {
        words.push("--quick".to_owned());
    }
    if !args.sets.is_empty() {
        words.push(format!("--sets {}", args.sets.join(",")));
    }
    if !matches!(args.preset, Preset::Default) {
        words.push(format!("--preset {}", value_name(&args.preset)));
    }
    if context.seed() != 0 {
        words.push(format!("--seed {}", context.seed()));
    }
    words.join(" ")
}

/// The sets that are asked for, or else those of the figure; each must be there.
pub(super) fn chosen(
    known: &[&'static str],
    args: &Args,
    context: &Context,
) -> anyhow::Result<Vec<(&'static str, Origin)>> {
    let folder = sets::folder(context);
    sets::asked(known, &args.sets)?
        .into_iter()
        .map(|name| {
            let missing = |problem| {
                let fix = "say where sets are kept with --data-dir or HG2V_DATA, or leave it out \
                           with --sets";
                Error::input(folder, Place::Whole, format!("{name}: {problem}"), fix)
            };
            Ok((name, sets::find(name, folder).map_err(missing)?))
        })
        .collect()
}

/// The mean of some numbers and their deviation.
pub(super) fn mean_and_deviation(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let square = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, square.sqrt())
}

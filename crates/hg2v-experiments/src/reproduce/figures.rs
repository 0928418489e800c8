//! What the paper's figures share: their files, and the record beside them.
//!
//! A figure is `OUT/figures/NAME.svg`, the same as `.png`, its numbers as `.csv`, and a
//! record `.json` of how they were made.

use std::fs;
use std::io::Write;
use std::time::Instant;

use hg2v::error::Action;
use hg2v::output::OutputFile;
use serde_json::{Value, json};

use super::{Plan, Reproduction};
use crate::datasets::{self, Provenance};
use crate::environment::Environment;
use crate::error::Result;
use crate::figure::Drawing;
use crate::host::Host;
use crate::table::TextTable;

/// The layout of the records that this version writes.
const FORMAT: u32 = 1;

/// What a figure is made of. Names are endings: `""` is the figure itself.
pub(super) struct Figure {
    pub(super) drawings: Vec<(String, Drawing)>,
    /// Numbers, with a line of names first.
    pub(super) numbers: Vec<(String, String)>,
    /// How it was made.
    pub(super) protocol: Value,
    /// What came out, in short.
    pub(super) results: Value,
    /// The same for people.
    pub(super) table: TextTable,
}

/// Makes a figure and writes its files.
pub(super) fn run(
    make: fn(&Plan, &Environment<'_>) -> Result<Figure>,
    plan: &Plan,
    environment: &Environment<'_>,
) -> Result<Reproduction> {
    let started = Instant::now();
    let figure = make(plan, environment)?;
    let seconds = started.elapsed().as_secs_f64();
    let folder = plan.out.join("figures");
    fs::create_dir_all(&folder).map_err(|e| hg2v::Error::io(&folder, Action::Create, e))?;
    let name = plan.experiment;
    let mut files = Vec::new();
    let mut write = |ending: String, bytes: &[u8]| -> hg2v::Result<()> {
        let path = folder.join(format!("{name}{ending}"));
        let mut out = OutputFile::create(&path)?;
        out.write_all(bytes).map_err(|e| hg2v::Error::io(&path, Action::Write, e))?;
        out.commit()?;
        files.push(path);
        Ok(())
    };
    for (part, drawing) in &figure.drawings {
        write(format!("{part}.svg"), drawing.svg().as_bytes())?;
        write(format!("{part}.png"), &drawing.png()?)?;
    }
    for (part, numbers) in &figure.numbers {
        write(format!("{part}.csv"), numbers.as_bytes())?;
    }
    let record = json!({
        "format": FORMAT,
        "figure": name.to_string(),
        "hg2v": env!("CARGO_PKG_VERSION"),
        "command": plan.command,
        "seed": environment.seed,
        "quick": plan.quick,
        "protocol": figure.protocol,
        "results": figure.results,
        "machine": Host::here(),
        "seconds": seconds,
    });
    write(".json".to_owned(), format!("{record:#}\n").as_bytes())?;
    let (records, tables) = (vec![record], vec![figure.table]);
    Ok(Reproduction { records, tables, files, ..Reproduction::default() })
}

/// The datasets that are asked for, or else those of the figure; each must be there.
pub(super) fn chosen(
    known: &[String],
    plan: &Plan,
    environment: &Environment<'_>,
) -> Result<Vec<(String, Provenance)>> {
    let find = |name: String| {
        let provenance = datasets::find(&name, environment.datasets())?;
        Ok((name, provenance))
    };
    datasets::asked(known, &plan.datasets)?.into_iter().map(find).collect()
}

/// The mean of some numbers and their deviation.
pub(super) fn mean_and_deviation(numbers: &[f64]) -> (f64, f64) {
    let n = numbers.len().max(1) as f64;
    let mean = numbers.iter().sum::<f64>() / n;
    let square = numbers.iter().map(|x| (x - mean) * (x - mean)).sum::<f64>() / n;
    (mean, square.sqrt())
}

//! How good the vectors of any method are on the splits of `hg2v compare`, kernels' included.
//!
//! ```sh
//! HG2V_DATA=DIR cargo run --release --workspace --example vectors -- wl-oa MUTAG,PTC_FR 10 rounds=3 dim=256
//! ```
//! Learnt from the 80 alone; both accuracies are in percent, of the C-SVM in cross-validation
//! inside the 80, by which settings may be chosen, and on the 20.

// What it finds is its output.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::PathBuf;

use hg2v::context::Context;
use hg2v::dataset::{self, Limits};
use hg2v::prepare::{Collection, Run};
use hg2v_baselines::registry;
use hg2v_eval::method::Candidate;
use hg2v_eval::select::Protocol;
use hg2v_eval::study::{Mode, Study};
use serde_json::Value;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [name, sets, splits, options @ ..] = &arguments[..] else {
        return Err("say METHOD SET,… SPLITS [OPTION=VALUE …]".into());
    };
    let data = PathBuf::from(std::env::var_os("HG2V_DATA").ok_or("set HG2V_DATA")?);
    let mut given = Vec::new();
    for option in options {
        let (option, value) = option.split_once('=').ok_or("options are OPTION=VALUE")?;
        let value: Value = serde_json::from_str(value).unwrap_or_else(|_| value.into());
        given.push((option, value));
    }
    let method = registry::find(name)?.method(&given)?;
    for set in sets.split(',') {
        let path = data.join(format!("{set}.zip"));
        let records = dataset::open(&path, &Limits::default())?.collect::<Result<Vec<_>, _>>()?;
        let run = Run::of(&records, &path);
        let collection = Collection::new(run, &method.needs(), &Context::default())?;
        let study = Study::new(&collection, Mode::Inductive, splits.parse()?, Protocol::default())?;
        let result = study.judge(Candidate::Method(&*method), &[], |_| Ok(()))?;
        println!(
            "{set} {name} {}: validation {}, test {}, {} numbers, {:.0} s",
            options.join(" "),
            result.validation,
            result.test,
            result.dim,
            result.seconds,
        );
    }
    Ok(())
}

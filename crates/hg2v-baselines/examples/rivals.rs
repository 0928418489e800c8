//! How good supervised networks and InfoGraph are on real sets, on the splits of
//! `hg2v evaluate`:
//!
//! ```sh
//! HG2V_DATA=DIR cargo run --release -p hg2v-baselines --example rivals -- gin MUTAG ENZYMES
//! ```

// What an example is for.
#![allow(clippy::print_stdout)]

use std::error::Error;
use std::path::PathBuf;
use std::time::Instant;

use hg2v::coarsen;
use hg2v::dataset::{self, Limits};
use hg2v::graph::WeightPolicy;
use hg2v::nn::crew;
use hg2v::prepare::{Collection, Run};
use hg2v_baselines::classifiers::diffpool::DiffPool;
use hg2v_baselines::classifiers::gin::Gin;
use hg2v_baselines::classifiers::mincut::MinCut;
use hg2v_eval::Score;
use hg2v_eval::method::{Learner, Learnt};
use hg2v_eval::metrics::accuracy;
use hg2v_eval::select::Protocol;
use hg2v_eval::study::{Mode, Study};
use rayon::prelude::*;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let method = arguments.next().ok_or("name a method: gin, diffpool or mincut")?;
    let data = PathBuf::from(std::env::var_os("HG2V_DATA").ok_or("set HG2V_DATA")?);
    for name in arguments {
        let path = data.join(format!("{name}.zip"));
        let records = dataset::open(&path, &Limits::default())?.collect::<Result<Vec<_>, _>>()?;
        let run = Run { records: &records, file: &path, position: 0 };
        // No pyramids are used, so one level is enough.
        let coarsening = coarsen::Params { max_levels: 1, ..coarsen::Params::default() };
        let collection = Collection::new(run, WeightPolicy::Use, &coarsening, None)?;
        let study = Study::new(&collection, Mode::Inductive, 10, Protocol::default())?;
        let learner: Box<dyn Learner> = match &method[..] {
            "gin" => Box::new(Gin::default()),
            "diffpool" => Box::new(DiffPool::default()),
            "mincut" => Box::new(MinCut::default()),
            _ => return Err(format!("there is no method {method}").into()),
        };
        let started = Instant::now();
        let learnt: Vec<Learnt> = study
            .splits
            .par_iter()
            .map(|split| {
                let classes = study.classes.len();
                crew::alone(|| learner.learn(&collection, &study.labels, classes, split))
            })
            .collect::<Result<_, _>>()?;
        let mut tests = Vec::new();
        for (split, learnt) in study.splits.iter().zip(&learnt) {
            let truth: Vec<u32> = split.test.iter().map(|&i| study.labels[i]).collect();
            let test = accuracy(&truth, &learnt.predictions)?;
            println!("  {:.3} held out, {test:.3} test: {}", learnt.validation, learnt.chosen);
            tests.push(test);
        }
        let held_out: Vec<f64> = learnt.iter().map(|learnt| learnt.validation).collect();
        let seconds = started.elapsed().as_secs_f64();
        let (held_out, test) = (Score::of(&held_out)?, Score::of(&tests)?);
        println!("{name} {method}: {test} test, {held_out} held out, {seconds:.0} s");
    }
    Ok(())
}

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
use hg2v::parallel::{crew, try_map};
use hg2v::prepare::{Collection, Run};
use hg2v_baselines::classifiers::diffpool::DiffPool;
use hg2v_baselines::classifiers::gin::Gin;
use hg2v_baselines::classifiers::mincut::MinCut;
use hg2v_baselines::embedders::infograph::InfoGraph;
use hg2v_eval::method::{Embedder, Learner};
use hg2v_eval::metrics::accuracy;
use hg2v_eval::select::{self, Protocol};
use hg2v_eval::study::{Mode, Study};
use hg2v_eval::{Score, Split};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let wanted = arguments.next().ok_or("name a method: gin, diffpool, mincut or infograph")?;
    let method = match &wanted[..] {
        "gin" => Method::Taught(Box::new(Gin::default())),
        "diffpool" => Method::Taught(Box::new(DiffPool::default())),
        "mincut" => Method::Taught(Box::new(MinCut::default())),
        "infograph" => Method::Untaught(Box::new(InfoGraph::default())),
        _ => return Err(format!("there is no method {wanted}").into()),
    };
    let data = PathBuf::from(std::env::var_os("HG2V_DATA").ok_or("set HG2V_DATA")?);
    for name in arguments {
        let path = data.join(format!("{name}.zip"));
        let records = dataset::open(&path, &Limits::default())?.collect::<Result<Vec<_>, _>>()?;
        let run = Run::of(&records, &path);
        // No pyramids are used, so one level is enough.
        let coarsening = coarsen::Params { max_levels: 1, ..coarsen::Params::default() };
        let collection = Collection::new(run, WeightPolicy::Use, &coarsening, None)?;
        let study = Study::new(&collection, Mode::Inductive, 10, Protocol::default())?;
        let judge = |split: &Split| crew::alone(|| judge(&method, &study, split));
        let started = Instant::now();
        let judged: Vec<Judged> = try_map(&study.splits, judge)?;
        for Judged { validation, test, chosen } in &judged {
            println!("  {validation:.3} validation, {test:.3} test: {chosen}");
        }
        let score = |of: fn(&Judged) -> f64| Score::of(&judged.iter().map(of).collect::<Vec<_>>());
        let (test, validation) = (score(|one| one.test)?, score(|one| one.validation)?);
        let seconds = started.elapsed().as_secs_f64();
        println!("{name} {wanted}: {test} test, {validation} validation, {seconds:.0} s");
    }
    Ok(())
}

/// A method, by its role.
enum Method {
    Taught(Box<dyn Learner>),
    Untaught(Box<dyn Embedder>),
}

/// What one split gave.
struct Judged {
    validation: f64,
    test: f64,
    chosen: String,
}

fn judge(method: &Method, study: &Study<'_>, split: &Split) -> hg2v_eval::Result<Judged> {
    let Study { collection, labels, classes, protocol, .. } = study;
    match method {
        Method::Taught(learner) => {
            let learnt = learner.learn(collection, labels, classes.len(), split)?;
            let truth: Vec<u32> = split.test.iter().map(|&i| labels[i]).collect();
            let test = accuracy(&truth, &learnt.predictions)?;
            Ok(Judged { validation: learnt.validation, test, chosen: learnt.chosen })
        }
        Method::Untaught(embedder) => {
            let x = embedder.vectors(collection, Some(&split.train))?;
            let outcome = select::evaluate(&x, labels, split, protocol)?;
            let chosen = outcome.selection.chosen();
            let (validation, chosen) = (chosen.mean, format!("C-SVM, C={}", chosen.c));
            Ok(Judged { validation, test: outcome.accuracy, chosen })
        }
    }
}

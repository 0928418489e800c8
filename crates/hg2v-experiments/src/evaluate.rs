//! Vectors judged, beside their controls: the same network untrained, and statistics counted by
//! hand.

use std::path::PathBuf;

use hg2v::context::{Context, Machine};
use hg2v::prepare::Collection;
use hg2v::{Hg2v, Hg2vParams, Method, Model, Untrained};
use hg2v_baselines::embedders::statistics::Statistics;
use hg2v_eval::classifiers::Classifier;
use hg2v_eval::evaluation::{self, Evaluation, Judgement};
use hg2v_eval::goal::{Goal, Task};
use hg2v_eval::method::Candidate;
use hg2v_eval::model_grid::{ModelGrid, ModelShape, best};
use hg2v_eval::study::{Mode, Study};
use hg2v_eval::{Matrix, select};

use crate::environment::Event;
use crate::error::Result;

/// What is predicted, by whom, and who sees what.
#[derive(Debug, Clone)]
pub struct Terms {
    /// What is predicted.
    pub task: Task,
    /// Who sees what.
    pub mode: Mode,
    /// How many splits, where the mode does not say.
    pub splits: Option<usize>,
    /// Judges beside the first.
    pub also: Vec<Classifier>,
    /// Seeds the splits and the classifier.
    pub seed: u64,
}

impl Terms {
    /// A study of all that graphs have to predict.
    ///
    /// # Errors
    /// A judge that is named twice; as [`Mode::splits`], [`Goal::all`] and [`Study::of`].
    pub fn study<'a>(
        &self,
        collection: &'a Collection<'a>,
        machine: &Machine,
    ) -> Result<Study<'a>> {
        each_once(&self.also)?;
        let splits = self.mode.splits(self.splits)?;
        let protocol = select::Protocol::default().seed(self.seed);
        let goals = Goal::all(collection.run.records, self.task)?;
        let mut study = Study::of(collection, goals, self.mode, splits, protocol)?;
        study.context = Context::default().on(machine.clone());
        study.also.clone_from(&self.also);
        Ok(study)
    }
}

/// Refuses a judge that is named twice.
///
/// # Errors
/// The first such.
pub fn each_once(also: &[Classifier]) -> hg2v::Result<()> {
    for (at, classifier) in also.iter().enumerate() {
        if also[..at].contains(classifier) {
            return Err(hg2v::Error::parameter("also", classifier, "it must name each only once"));
        }
    }
    Ok(())
}

/// Whose vectors are judged.
pub enum Subject<'a> {
    /// Those of HG2V, trained as the study says.
    Hg2v {
        /// Its settings.
        params: &'a Hg2vParams,
        /// Choose its shape by validation accuracy, or error; by the first of several goals.
        grid: Option<ModelGrid>,
    },
    /// Those of another method, trained as the study says.
    Method(&'a dyn Method),
    /// Those of a model that is there.
    Model(&'a dyn Model),
    /// Vectors that are there, a row a graph.
    Vectors(&'a Matrix),
}

/// What came out.
#[derive(Debug, Clone, PartialEq)]
pub struct Judgements {
    /// Goal by goal, the vectors in question, and then their controls.
    pub goals: Vec<Vec<Judgement>>,
    /// The settings that a grid chose.
    pub chosen: Option<Hg2vParams>,
}

impl Judgements {
    /// All that was found of `subject` in a study of the graphs of `data`.
    ///
    /// # Errors
    /// As [`Evaluation::new`].
    pub fn evaluation(
        self,
        data: PathBuf,
        study: &Study<'_>,
        subject: &Subject<'_>,
    ) -> Result<Evaluation> {
        let whose = match subject {
            Subject::Hg2v { params, .. } => {
                evaluation::Subject::of_params(self.chosen.as_ref().unwrap_or(params))
            }
            Subject::Method(method) => evaluation::Subject {
                method: Some(method.name().to_owned()),
                settings: Some(method.settings()),
                ..evaluation::Subject::default()
            },
            Subject::Model(model) => evaluation::Subject::of_model(*model),
            Subject::Vectors(_) => evaluation::Subject::default(),
        };
        Ok(Evaluation::new(data, study, whose, self.goals)?)
    }
}

/// Judges vectors on all splits of a study, with or without their controls.
///
/// # Errors
/// As [`Study::judge`].
pub fn judge(
    subject: &Subject<'_>,
    controls: bool,
    study: &Study<'_>,
    context: &Context<'_>,
    tell: &dyn Fn(&Event<'_>),
) -> Result<Judgements> {
    let judge = |name: &str, candidate: Candidate<'_>| {
        tell(&Event::Judging { what: name });
        Judgement::of_each(name, candidate, study, context)
    };
    let vectors_of = |model| Matrix::of_model(model, study.collection, &study.context);
    const UNTRAINED: &str = "the same, untrained";
    let (untrained, statistics) = (Untrained(Hg2vParams::default()).name(), Statistics::default());
    let (mut rows, mut chosen): (Vec<Vec<Judgement>>, _) = (Vec::new(), None);
    match subject {
        Subject::Hg2v { params, grid } => {
            let (best, own) = best_of(params, *grid, judge)?;
            rows.push(own);
            if controls {
                rows.push(judge(UNTRAINED, Candidate::Method(&Untrained(best.clone())))?);
            }
            chosen = Some(best);
        }
        Subject::Method(method) => {
            rows.push(judge(method.name(), Candidate::Method(*method))?);
        }
        Subject::Model(model) => {
            rows.push(judge(model.method(), Candidate::Vectors(&vectors_of(*model)?))?);
            // An untrained network is its own control.
            let trained = |_: &&Hg2v| controls && model.method() != untrained;
            if let Some(own) = Hg2v::of(*model).filter(trained) {
                let x = vectors_of(&own.untrained())?;
                rows.push(judge(UNTRAINED, Candidate::Vectors(&x))?);
            }
        }
        Subject::Vectors(x) => rows.push(judge("given vectors", Candidate::Vectors(x))?),
    }
    let is_control = match subject {
        Subject::Model(model) => model.method() == statistics.name(),
        Subject::Method(method) => method.name() == statistics.name(),
        Subject::Hg2v { .. } | Subject::Vectors(_) => false,
    };
    if controls && !is_control {
        rows.push(judge(statistics.name(), Candidate::Method(&statistics))?);
    }
    // Method by method, and now goal by goal.
    let mut rows: Vec<_> = rows.into_iter().map(Vec::into_iter).collect();
    let goals = study.goals.iter().map(|_| rows.iter_mut().filter_map(Iterator::next).collect());
    Ok(Judgements { goals: goals.collect(), chosen })
}

/// The best of a grid, or the only one.
fn best_of(
    params: &Hg2vParams,
    grid: Option<ModelGrid>,
    judge: impl Fn(&str, Candidate<'_>) -> hg2v_eval::Result<Vec<Judgement>>,
) -> Result<(Hg2vParams, Vec<Judgement>)> {
    let Some(grid) = grid else {
        return Ok((params.clone(), judge("HG2V", Candidate::Method(params))?));
    };
    let mut candidates = grid.candidates(params);
    let mut judged = Vec::new();
    for candidate in &candidates {
        let name = format!("HG2V {}", ModelShape::of(candidate));
        judged.push(judge(&name, Candidate::Method(candidate))?);
    }
    let best = best(judged.iter().filter_map(|goals| goals.first()).map(|row| &row.result));
    Ok((candidates.swap_remove(best), judged.swap_remove(best)))
}

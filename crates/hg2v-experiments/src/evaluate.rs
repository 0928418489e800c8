//! Vectors judged, beside their controls: the same network untrained, and statistics counted by
//! hand.

use hg2v::context::Context;
use hg2v::{Hg2v, Hg2vParams, Method, Model, Untrained};
use hg2v_baselines::embedders::statistics::Statistics;
use hg2v_eval::Matrix;
use hg2v_eval::evaluation::Judgement;
use hg2v_eval::method::Candidate;
use hg2v_eval::model_grid::{ModelGrid, ModelShape, best};
use hg2v_eval::study::Study;

use crate::environment::Event;
use crate::error::Result;

/// Whose vectors are judged.
pub enum Subject<'a> {
    /// Those of HG2V, trained as the study says.
    Hg2v {
        /// Its settings.
        params: &'a Hg2vParams,
        /// Choose its shape by validation accuracy, or error; by the first of several goals.
        grid: Option<ModelGrid>,
    },
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
    let is_control =
        matches!(subject, Subject::Model(model) if model.method() == statistics.name());
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

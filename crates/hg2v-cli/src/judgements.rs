//! What several commands share about judging vectors: progress, and the table.

use hg2v_eval::Score;
use hg2v_eval::classifiers::main_title;
use hg2v_eval::evaluation::{Judgement, TargetEvaluation};
use hg2v_eval::goal::Task;
use hg2v_eval::metrics::ErrorScores;
use hg2v_eval::study::Study;
use hg2v_experiments::evaluate::{Judgements, Subject, judge};

use crate::context::Context;
use crate::experiments::hear;
use crate::table::Table;
use crate::watch::Watch;

/// Judges vectors and their controls, a step of a bar for each split.
pub(crate) fn judged(
    subject: &Subject<'_>,
    controls: bool,
    study: &Study<'_>,
    context: &Context,
) -> hg2v_experiments::Result<Judgements> {
    let watch = Watch::new(context);
    let work = hg2v::context::Context::default().watched_by(&watch);
    judge(subject, controls, study, &work, &|event| hear(event, &watch))
}

/// Accuracies in percent, or errors of numbers, a line for each method and judge, and below them
/// what no method has learnt: the largest class, or the mean.
pub(crate) fn table_of(found: &TargetEvaluation) -> Vec<String> {
    match found.task {
        Task::Numbers => numbers_of(found),
        Task::Auto | Task::Classes => classes_of(&found.methods),
    }
}

fn classes_of(rows: &[Judgement]) -> Vec<String> {
    // Classifiers are named where there are several.
    let several = rows.iter().any(|row| !row.result.also.is_empty());
    let mut table = Table::new(if several { 2 } else { 1 });
    let mut line = |name: &str, classifier: &str, cells: [String; 4]| {
        let named = [Some(name), several.then_some(classifier)];
        table.row(named.into_iter().flatten().map(str::to_owned).chain(cells));
    };
    line("", "classifier", ["validation", "test", "dim", "seconds"].map(str::to_owned));
    for Judgement { name, result, .. } in rows {
        let cells = |validation: &Score, test: &Score, seconds: f64| {
            let [validation, test] = [validation, test].map(Score::to_string);
            [validation, test, result.dim.to_string(), format!("{seconds:.1}")]
        };
        let title = main_title(Task::Classes);
        line(name, title, cells(&result.validation, &result.test, result.seconds));
        for also in &result.also {
            let classifier = also.classifier.title(Task::Classes);
            line(name, classifier, cells(&also.validation, &also.test, also.seconds));
        }
    }
    table.lines()
}

fn numbers_of(found: &TargetEvaluation) -> Vec<String> {
    let mut table = Table::new(2);
    let header = ["", "judge", "validation RMSE", "RMSE", "MAE", "R²", "dim", "seconds"];
    table.row(header.map(str::to_owned));
    let line = |name: &str, judge: &str, validation: String, errors: &ErrorScores| {
        let [rmse, mae] = [errors.rmse, errors.mae].map(|score| score.plain());
        let errors = [rmse, mae, errors.r2.with_digits(3)];
        [name.to_owned(), judge.to_owned(), validation]
            .into_iter()
            .chain(errors)
            .collect::<Vec<_>>()
    };
    for Judgement { name, result, .. } in &found.methods {
        let main = (main_title(Task::Numbers), &result.validation, &result.errors, result.seconds);
        let also = result.also.iter().map(|also| {
            let title = also.classifier.title(Task::Numbers);
            (title, &also.validation, &also.errors, also.seconds)
        });
        for (judge, validation, errors, seconds) in [main].into_iter().chain(also) {
            let Some(errors) = errors else { continue };
            let costs = [result.dim.to_string(), format!("{seconds:.1}")];
            table.row(line(name, judge, validation.plain(), errors).into_iter().chain(costs));
        }
    }
    if let Some(mean) = &found.mean {
        table.row(line("the mean", "", String::new(), mean));
    }
    table.lines()
}

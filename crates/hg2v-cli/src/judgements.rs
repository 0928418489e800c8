//! What several commands share about judging vectors: progress, and the table.

use hg2v_eval::Score;
use hg2v_eval::evaluation::Judgement;
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

/// Accuracies in percent, a line for each method.
pub(crate) fn table_of(rows: &[Judgement]) -> Vec<String> {
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
        line(name, "C-SVM, radial", cells(&result.validation, &result.test, result.seconds));
        for also in &result.also {
            let classifier = also.classifier.title();
            line(name, classifier, cells(&also.validation, &also.test, also.seconds));
        }
    }
    table.lines()
}

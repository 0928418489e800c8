//! What several commands share about judging vectors: protocols, grids, and the table.

use hg2v_eval::Score;
use hg2v_eval::evaluation::Judgement;
use hg2v_eval::study::Study;
use hg2v_experiments::evaluate::{Judgements, Subject, judge};

use crate::context::Context;
use crate::experiments::hear;
use crate::table::Table;
use crate::watch::Watch;

/// Who sees what, in words.
pub(crate) const PROTOCOLS: [(&str, &str); 3] = [
    ("inductive", "80/20 splits, trained on the 80"),
    ("transductive", "80/20 splits, trained on all graphs without labels"),
    ("tenfold", "ten folds, trained on all graphs without labels"),
];

/// Grids of models, in words.
pub(crate) const GRIDS: [(&str, &str); 2] = [
    ("paper", "d of 16, 128, 256; a of 2, 4; L of 3, 5"),
    ("small", "d of 32, 128; a of 2, 4; L of 3"),
];

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
            let classifier = also.classifier.to_string();
            line(name, &classifier, cells(&also.validation, &also.test, also.seconds));
        }
    }
    table.lines()
}

#[cfg(test)]
mod tests {
    use hg2v_eval::model_grid::ModelGrid;
    use hg2v_eval::study::Mode;

    use super::*;

    #[test]
    fn words_are_the_librarys() {
        assert_eq!(PROTOCOLS.map(|(word, _)| word.to_owned()), Mode::ALL.map(|m| m.to_string()));
        assert_eq!(GRIDS.map(|(word, _)| word.to_owned()), ModelGrid::ALL.map(|g| g.to_string()));
    }
}

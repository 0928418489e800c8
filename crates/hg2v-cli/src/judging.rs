//! What several commands share about judging vectors: protocols, grids and the table.

use clap::ValueEnum;
use hg2v::Hg2vParams;
use hg2v::error::Error;
use hg2v_eval::Score;
use hg2v_eval::evaluation::Judgement;
use hg2v_eval::method::Candidate;
use hg2v_eval::study::{Mode, Study, StudyResult};

use crate::context::Context;
use crate::table::Table;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum ModeArg {
    /// 80/20 splits, trained on the 80
    Inductive,
    /// 80/20 splits, trained on all graphs without labels
    Transductive,
    /// ten folds, trained on all graphs without labels
    Tenfold,
}

impl From<ModeArg> for Mode {
    fn from(mode: ModeArg) -> Mode {
        match mode {
            ModeArg::Inductive => Mode::Inductive,
            ModeArg::Transductive => Mode::Transductive,
            ModeArg::Tenfold => Mode::Tenfold,
        }
    }
}

impl ModeArg {
    /// How many splits that is, where so many were asked for.
    ///
    /// # Errors
    /// None, or a number that would mean nothing.
    pub(crate) fn splits(self, asked: Option<usize>) -> hg2v::Result<usize> {
        let refused = |n, requirement| Err(Error::parameter("splits", n, requirement));
        match (self, asked) {
            (_, Some(0)) => refused(0, "it must be at least 1"),
            (ModeArg::Tenfold, Some(n)) => refused(n, "tenfold has its ten folds"),
            (_, asked) => Ok(asked.unwrap_or(SPLITS)),
        }
    }
}

/// Splits, unless somebody says how many.
const SPLITS: usize = 10;

#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum GridArg {
    /// d of 16, 128, 256; a of 2, 4; L of 3, 5
    Paper,
    /// d of 32, 128; a of 2, 4; L of 3
    Small,
}

/// Judges a candidate on every split, a step of a bar for each.
pub(crate) fn judged(
    name: &str,
    study: &Study<'_>,
    candidate: Candidate<'_>,
    context: &Context,
) -> anyhow::Result<Judgement> {
    let bar = context.progress("evaluating", Some(study.splits.len() as u64));
    bar.set_message(name.to_owned());
    let result = study.judge(candidate, &[], |_| {
        bar.inc(1);
        Ok(())
    })?;
    bar.finish_and_clear();
    Ok(Judgement::new(name, result, study)?)
}

/// The models to choose from, cheapest first.
pub(crate) fn candidates(params: &Hg2vParams, grid: Option<GridArg>) -> Vec<Hg2vParams> {
    let (dims, hops, levels): (&[usize], &[usize], &[usize]) = match grid {
        None => return vec![params.clone()],
        Some(GridArg::Paper) => (&[16, 128, 256], &[2, 4], &[3, 5]),
        Some(GridArg::Small) => (&[32, 128], &[2, 4], &[3]),
    };
    let mut all = Vec::new();
    for &dim in dims {
        for &hops in hops {
            for &levels in levels {
                all.push(params.clone().dim(dim).hops(hops).levels(levels));
            }
        }
    }
    all
}

/// The place of the best of the candidates, by validation accuracy: the first of
/// equals, since grids are in the order of cost.
pub(crate) fn best<'a>(results: impl Iterator<Item = &'a StudyResult>) -> usize {
    let means: Vec<f64> = results.map(|result| result.validation.mean).collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    means.iter().position(|&mean| mean == most).unwrap_or(0)
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

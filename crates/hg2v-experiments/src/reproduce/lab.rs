//! The laboratory: every method on every dataset by every judge, on the same splits, and a table a
//! judge.

use std::path::Path;

use hg2v::error::Opt;
use hg2v_baselines::registry;
use hg2v_eval::classifiers::{Classifier, main_title};
use hg2v_eval::goal::Task;

use super::cells::{self, CellOutcome, Cells, CellsRow};
use super::{FailedRun, Plan, Reproduction};
use crate::compare::{CellScore, JudgeScore, place};
use crate::config::{self, Lab, LabRow};
use crate::environment::{Environment, Event};
use crate::error::Result;
use crate::table::{TextTable, none};

pub(super) fn run(plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
    let lab = config::lab()?;
    lab.check(&plan.methods)?;
    let names: Vec<String> = lab.rows.iter().map(|row| row.dataset.clone()).collect();
    let found = cells::found(&names, lab.quick.most_nodes, plan, environment)?;
    let (mut rows, mut unread) = (Vec::new(), Vec::new());
    for row in lab.rows.iter().filter(|row| found.contains(&row.dataset)) {
        let splits = plan.splits(lab.splits_of(row), lab.quick.splits);
        match lab.cells(row, &plan.methods, splits)?.judged(plan, environment) {
            Ok(row) => rows.push(row),
            Err(stop) if stop.is_stop() => return Err(stop),
            Err(error) => {
                (environment.tell)(&Event::Failed { what: &row.dataset });
                unread.push(FailedRun { dataset: row.dataset.clone(), error });
            }
        }
    }
    let tables = lab.tables(&rows)?;
    let mut found = cells::reproduction(rows, tables);
    found.failed.append(&mut unread);
    Ok(found)
}

pub(super) fn known(out: &Path) -> Result<Vec<TextTable>> {
    let lab = config::lab()?;
    let folder = cells::folder(out);
    let cells = |row| lab.cells(row, &[], lab.splits_of(row))?.kept(&folder);
    let rows: Vec<CellsRow<'_>> = lab.rows.iter().map(cells).collect::<Result<_>>()?;
    lab.tables(&rows)
}

impl Lab {
    /// Whether it has all of these methods.
    fn check(&self, asked: &[String]) -> Result<()> {
        match asked.iter().find(|name| !self.methods.contains(name)) {
            None => Ok(()),
            Some(unknown) => {
                let (name, known) = (unknown.clone(), self.methods.clone());
                Err(hg2v::Error::Unknown { option: Opt::new("methods"), name, known }.into())
            }
        }
    }

    fn splits_of(&self, row: &LabRow) -> usize {
        row.splits.unwrap_or(self.splits)
    }

    /// The methods that fit a dataset, and of them those that are asked for; all where none is.
    fn cells<'a>(&'a self, row: &'a LabRow, asked: &[String], splits: usize) -> Result<Cells<'a>> {
        let mut methods = Vec::new();
        for name in &self.methods {
            let fits = row.molecules || !registry::find(name)?.is_of_molecules();
            if fits && (asked.is_empty() || asked.contains(name)) {
                methods.push(name.as_str());
            }
        }
        let (dataset, also) = (row.dataset.as_str(), &self.also[..]);
        Ok(Cells { dataset, methods, splits, task: Task::Auto, also })
    }

    /// Of each judge, what it gave of all methods, and how our method differs from others.
    fn tables(&self, rows: &[CellsRow<'_>]) -> Result<Vec<TextTable>> {
        let rows: Vec<Row<'_>> =
            rows.iter().map(|row| self.scores(row)).collect::<Result<Vec<_>>>()?;
        let judges = || [None].into_iter().chain(self.also.iter().copied().map(Some));
        let mut tables = Vec::new();
        for task in [Task::Classes, Task::Numbers] {
            for judge in judges() {
                let judged: Vec<Judged<'_>> =
                    rows.iter().filter_map(|row| row.by(task, judge)).collect();
                if judged.is_empty() {
                    continue;
                }
                let title = judge.map_or(main_title(task), |judge| judge.title(task));
                let what = match task {
                    Task::Numbers => "root mean square errors",
                    Task::Auto | Task::Classes => "accuracies in percent",
                };
                let title = format!("By {title}: {what}");
                tables.push(self.scores_table(&judged).titled(title));
                let apart = self.differences_table(&judged)?;
                tables.extend((!apart.rows.is_empty()).then_some(apart));
            }
        }
        Ok(tables)
    }

    /// What the methods gave on the only target of a dataset.
    fn scores<'a>(&self, row: &CellsRow<'a>) -> Result<Row<'a>> {
        let Cells { dataset, splits, .. } = row.cells;
        let of = |method: &String| {
            let at = row.cells.methods.iter().position(|name| name == method);
            let record = at.and_then(|at| row.outcomes.get(at)).and_then(CellOutcome::record);
            let scores = record.map(|record| CellScore::each(record, splits)).transpose()?;
            Ok(scores.and_then(|scores| scores.into_iter().next()))
        };
        let scores = self.methods.iter().map(of).collect::<Result<_>>()?;
        Ok(Row { dataset, splits, scores })
    }

    /// Sets by methods, the best of a set bold, and their [mean ranks](mean_ranks).
    fn scores_table(&self, judged: &[Judged<'_>]) -> TextTable {
        let columns: Vec<usize> = (0..self.methods.len())
            .filter(|&method| judged.iter().any(|row| row.scores[method].is_some()))
            .collect();
        let names = columns.iter().map(|&method| self.methods[method].as_str());
        let mut table = TextTable::new(1, ["set"].into_iter().chain(names));
        let mut goodness = Vec::with_capacity(judged.len());
        for row in judged {
            let own: Vec<Option<f64>> =
                columns.iter().map(|&method| Some(row.scores[method]?.goodness())).collect();
            let best = own.iter().copied().flatten().fold(f64::NEG_INFINITY, f64::max);
            let cell = |&method: &usize| match row.scores[method] {
                None => none(),
                Some(score) if score.goodness() == best => format!("**{}**", row.shown(score)),
                Some(score) => row.shown(score),
            };
            table.row([row.dataset.to_owned()].into_iter().chain(columns.iter().map(cell)));
            goodness.push(own);
        }
        let (sets, ranks) = mean_ranks(&goodness);
        let title = match sets {
            1 => "mean rank, 1 set".to_owned(),
            sets => format!("mean rank, {sets} sets"),
        };
        let shown = |rank: Option<f64>| rank.map_or_else(none, |rank| format!("{rank:.1}"));
        table.row([title].into_iter().chain(ranks.into_iter().map(shown)));
        table
    }

    /// How much ours differs from its control and from the best of all others, split by split.
    fn differences_table(&self, judged: &[Judged<'_>]) -> Result<TextTable> {
        let (ours, control) = (self.ours.as_str(), self.control.as_str());
        let place_of = |name: &str| self.methods.iter().position(|method| method == name);
        let less = |name: &str| format!("{ours} less {name}");
        let header = ["set".to_owned(), less(control), "best rival".to_owned(), less("best rival")];
        let mut table = TextTable::new(1, header);
        for row in judged {
            let of = |name: &str| place_of(name).and_then(|at| row.scores[at]);
            let Some(own) = of(ours) else { continue };
            let apart = |other: Option<&JudgeScore>| -> Result<String> {
                let apart = other.map(|other| own.less(other)).transpose()?;
                Ok(apart.flatten().unwrap_or_else(none))
            };
            let rivals = self.methods.iter().zip(&row.scores);
            let rivals = rivals.filter(|(name, _)| **name != ours && **name != control);
            let mut rivals = rivals.filter_map(|(name, score)| Some((name, (*score)?)));
            let first = rivals.next();
            let best = rivals.fold(first, |best, (name, score)| match best {
                Some((_, held)) if score.goodness() > held.goodness() => Some((name, score)),
                best => best,
            });
            let name = best.map_or_else(none, |(name, _)| name.clone());
            let cells = [apart(of(control))?, name, apart(best.map(|(_, score)| score))?];
            table.row([row.dataset.to_owned()].into_iter().chain(cells));
        }
        Ok(table)
    }
}

/// The mean rank of each method among those of the set that most were judged on, over all sets that these were
/// judged on, and how many sets that are. A row of `goodness` is a set.
fn mean_ranks(goodness: &[Vec<Option<f64>>]) -> (usize, Vec<Option<f64>>) {
    let there = |row: &&Vec<Option<f64>>| row.iter().flatten().count();
    let Some(widest) = goodness.iter().rev().max_by_key(there) else { return (0, Vec::new()) };
    let ranked: Vec<usize> = (0..widest.len()).filter(|&c| widest[c].is_some()).collect();
    let of_ranked = |row: &Vec<Option<f64>>| ranked.iter().map(|&c| row[c]).collect();
    let sets: Vec<Vec<f64>> = goodness.iter().filter_map(of_ranked).collect();
    let mut ranks = vec![None; widest.len()];
    for (at, &column) in ranked.iter().enumerate() {
        let places = sets.iter().map(|own| place(own[at], own)).sum::<f64>();
        ranks[column] = Some(places / sets.len() as f64);
    }
    (sets.len(), ranks)
}

/// A dataset, and what each method gave, if it was judged.
struct Row<'a> {
    dataset: &'a str,
    splits: usize,
    scores: Vec<Option<CellScore>>,
}

/// The same by one judge.
struct Judged<'a> {
    dataset: &'a str,
    splits: usize,
    scores: Vec<Option<&'a JudgeScore>>,
}

impl Row<'_> {
    /// What a judge gave, if it is of this task and judged anything.
    fn by(&self, task: Task, judge: Option<Classifier>) -> Option<Judged<'_>> {
        let scores = self.scores.iter().map(Option::as_ref);
        let scores: Vec<Option<&JudgeScore>> =
            scores.map(|score| score.filter(|score| score.task == task)?.by(judge)).collect();
        let any = scores.iter().any(Option::is_some);
        any.then_some(Judged { dataset: self.dataset, splits: self.splits, scores })
    }
}

impl Judged<'_> {
    /// Mean and deviation, and the number of splits where it is not that of the set.
    fn shown(&self, score: &JudgeScore) -> String {
        match score.test.n == self.splits {
            true => score.shown(),
            false => format!("{} [{}]", score.shown(), score.test.n),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A method that few sets have, and a set that few methods have, spoil the ranks of no other.
    #[test]
    fn ranks_are_of_the_widest_comparison() {
        let (none, some) = (None, |score: f64| Some(score));
        let sets = [
            vec![some(0.9), some(0.8), none, some(0.7)],
            vec![some(0.5), some(0.6), none, some(0.4)],
            vec![some(0.5), none, none, some(0.6)],
            vec![some(0.1), none, some(0.2), none],
        ];
        assert_eq!(mean_ranks(&sets), (2, vec![some(1.5), some(1.5), none, some(3.0)]));
        assert_eq!(mean_ranks(&[]), (0, vec![]));
    }
}

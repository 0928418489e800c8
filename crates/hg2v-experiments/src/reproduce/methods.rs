//! Tables of several methods: all columns of table 2, and table 4, the ablations.

use std::path::Path;

use hg2v_eval::goal::Task;

use super::cells::{self, CellOutcome, Cells, CellsRow};
use super::{Plan, Reproduction};
use crate::compare::CellScore;
use crate::config;
use crate::environment::Environment;
use crate::error::Result;
use crate::table::{TextTable, none};

/// A table of methods and datasets.
pub(super) struct MethodsTable {
    /// Names of the registry.
    methods: Vec<String>,
    rows: Vec<PaperRow>,
    splits: usize,
    quick_splits: usize,
    /// Datasets of more nodes in all are left out of a quick run.
    quick_nodes: f64,
}

/// A dataset, and what the paper reports of the methods, in brackets.
struct PaperRow {
    dataset: String,
    paper: Vec<String>,
}

/// All columns of table 2.
pub(super) fn table2() -> Result<MethodsTable> {
    let config = config::table2()?;
    let row = |row: config::Table2Row| {
        let paper = |method: &String| match method.as_str() {
            "hg2v" => Some(row.hg2v.mean),
            method => row.others.get(method).copied(),
        };
        let shown = |method| paper(method).map_or_else(String::new, in_brackets);
        PaperRow { paper: config.methods.iter().map(shown).collect(), dataset: row.dataset }
    };
    Ok(MethodsTable {
        rows: config.rows.into_iter().map(row).collect(),
        methods: config.methods,
        splits: config.splits,
        quick_splits: config.quick.splits,
        quick_nodes: config.quick.most_nodes_all_methods,
    })
}

/// The ablations.
pub(super) fn table4() -> Result<MethodsTable> {
    let config = config::table4()?;
    let row = |row: config::Table4Row| {
        let shown = |method: &String| match row.paper.get(method) {
            Some(Some(accuracy)) => in_brackets(*accuracy),
            Some(None) => " (out of memory)".to_owned(),
            None => String::new(),
        };
        PaperRow { paper: config.methods.iter().map(shown).collect(), dataset: row.dataset }
    };
    Ok(MethodsTable {
        rows: config.rows.into_iter().map(row).collect(),
        methods: config.methods,
        splits: config.splits,
        quick_splits: config.quick.splits,
        quick_nodes: config.quick.most_nodes,
    })
}

fn in_brackets(accuracy: f64) -> String {
    format!(" ({accuracy:.1})")
}

impl MethodsTable {
    pub(super) fn run(&self, plan: &Plan, environment: &Environment<'_>) -> Result<Reproduction> {
        let names: Vec<String> = self.rows.iter().map(|row| row.dataset.clone()).collect();
        let found = cells::found(&names, self.quick_nodes, plan, environment)?;
        let splits = plan.splits(self.splits, self.quick_splits);
        let rows: Vec<CellsRow<'_>> = self
            .rows
            .iter()
            .filter(|row| found.contains(&row.dataset))
            .map(|row| self.cells(row, splits).judged(plan, environment))
            .collect::<Result<_>>()?;
        let tables = vec![self.table(&rows)?];
        Ok(cells::reproduction(rows, tables))
    }

    pub(super) fn known(&self, out: &Path) -> Result<TextTable> {
        let folder = cells::folder(out);
        let kept = |row| self.cells(row, self.splits).kept(&folder);
        let mut rows: Vec<CellsRow<'_>> = self.rows.iter().map(kept).collect::<Result<_>>()?;
        rows.retain(|row| row.outcomes.iter().any(|outcome| outcome.record().is_some()));
        self.table(&rows)
    }

    fn cells<'a>(&'a self, row: &'a PaperRow, splits: usize) -> Cells<'a> {
        let methods = self.methods.iter().map(String::as_str).collect();
        Cells { dataset: &row.dataset, methods, splits, task: Task::Classes, also: &[] }
    }

    /// Ours, and the paper's in brackets.
    fn table(&self, rows: &[CellsRow<'_>]) -> Result<TextTable> {
        let header = ["set"].into_iter().chain(self.methods.iter().map(String::as_str));
        let mut table = TextTable::new(1, header);
        for CellsRow { cells, outcomes } in rows {
            let paper = self.rows.iter().find(|row| row.dataset == cells.dataset);
            let paper = paper.into_iter().flat_map(|row| &row.paper);
            let cell = |(outcome, paper): (&CellOutcome, &String)| {
                Ok(format!("{}{paper}", self.shown(outcome, cells.splits)?))
            };
            let shown: Vec<String> = outcomes.iter().zip(paper).map(cell).collect::<Result<_>>()?;
            table.row([cells.dataset.to_owned()].into_iter().chain(shown));
        }
        Ok(table.noting(
            "accuracy in percent on the test parts: mean ± deviation over 80/20 splits, methods \
             trained on the 80 alone, as `hg2v compare` has it; in brackets the paper's, most of \
             whose columns have other protocols",
        ))
    }

    /// Of the first splits, where more are kept.
    fn shown(&self, outcome: &CellOutcome, splits: usize) -> Result<String> {
        let record = match outcome {
            CellOutcome::Judged(record) => record,
            CellOutcome::Failed(_) => return Ok("failed".to_owned()),
            CellOutcome::Unknown => return Ok(none()),
        };
        let scores = CellScore::each(record, splits)?;
        let shown = |score: &CellScore| match score.main.test.n {
            n if n == self.splits => score.main.shown(),
            n => format!("{} [{n}]", score.main.shown()),
        };
        Ok(scores.first().map_or_else(none, shown))
    }
}

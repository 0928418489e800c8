//! Results beside the paper's, as text and as Markdown.

use hg2v_eval::study::StudyResult;
use hg2v_eval::tables::TABLE2;

use super::record::{Kind, Record};
use crate::table::Table;

const HEADER: [&str; 8] =
    ["set", "model", "paper", "HG2V", "untrained", "statistics", "largest class", "splits"];

/// Sorts records as the paper does, and models of a set by their names.
pub(super) fn sort(records: &mut [Record]) {
    let place = |record: &Record| TABLE2.iter().position(|row| row.set == record.identity.set);
    records.sort_by_key(|record| (place(record), model(record)));
}

/// Columns for a terminal.
pub(super) fn text(records: &[Record]) -> Vec<String> {
    let mut table = Table::new(2);
    table.row(HEADER);
    for record in records {
        table.row(cells(record));
    }
    table.lines()
}

/// A table for a README.
pub(super) fn markdown(records: &[Record]) -> String {
    markdown_of(&HEADER.map(str::to_owned), records.iter().map(|record| cells(record).into()))
}

/// The same of any cells.
pub(super) fn markdown_of(
    header: &[String],
    rows: impl IntoIterator<Item = Vec<String>>,
) -> String {
    let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
    let rule = vec!["---".to_owned(); header.len()];
    let rows: String = rows.into_iter().map(|cells| line(&cells)).collect();
    format!("{}{}{rows}", line(header), line(&rule))
}

fn model(record: &Record) -> String {
    let Record { identity, chosen, .. } = record;
    match &identity.grid {
        None => identity.preset.clone(),
        Some(grid) => format!("{}, grid {grid}: {chosen}", identity.preset),
    }
}

fn cells(record: &Record) -> [String; 8] {
    let of = |kind| {
        record.row(kind).map_or_else(|| "–".to_owned(), |row: &StudyResult| row.test.to_string())
    };
    let paper = TABLE2.iter().find(|row| row.set == record.identity.set);
    [
        record.identity.set.clone(),
        model(record),
        paper.map_or_else(|| "–".to_owned(), |row| format!("{:.1} ± {:.1}", row.mean, row.std)),
        of(Kind::Hg2v),
        of(Kind::Untrained),
        of(Kind::Statistics),
        format!("{:.1}", 100.0 * record.majority),
        record.splits.to_string(),
    ]
}

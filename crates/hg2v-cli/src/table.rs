//! Text for people: aligned columns, grouped digits, labels that cannot harm a terminal.

use hg2v::graph::Scalar;
pub(crate) use hg2v_report::words::{counted, grouped};

/// Columns of text, each as wide as its widest cell, two blanks between them.
pub(crate) struct Table {
    /// How many columns, from the first, stand left; numbers stand right.
    left: usize,
    rows: Vec<Vec<String>>,
}

impl Table {
    /// An empty table whose first `left` columns stand left and all others right.
    pub(crate) fn new(left: usize) -> Table {
        Table { left, rows: Vec::new() }
    }

    /// Adds a row; it may be shorter than others.
    pub(crate) fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The lines, without blanks at their ends.
    pub(crate) fn lines(&self) -> Vec<String> {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |column: usize| {
            let cells = self.rows.iter().filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or(0)
        };
        let widths: Vec<usize> = (0..columns).map(width).collect();
        let line = |row: &Vec<String>| {
            let cells = row.iter().enumerate().map(|(column, cell)| {
                let blank = " ".repeat(widths[column] - cell.chars().count());
                match column < self.left {
                    true => format!("{cell}{blank}"),
                    false => format!("{blank}{cell}"),
                }
            });
            let cells: Vec<String> = cells.collect();
            cells.join("  ").trim_end().to_owned()
        };
        self.rows.iter().map(line).collect()
    }
}

/// A number that is not negative, with `places` decimals and grouped digits.
pub(crate) fn decimal(number: f64, places: usize) -> String {
    let text = format!("{number:.places$}");
    match text.split_once('.') {
        Some((whole, rest)) => match whole.parse() {
            Ok(whole) => format!("{}.{rest}", grouped(whole)),
            Err(_) => text,
        },
        None => text,
    }
}

/// A share from 0 to 1 as a percentage. Less than everything never reads
/// `100.0 %`, nor more than nothing `0.0 %`.
pub(crate) fn percent(share: f64) -> String {
    let rounded = (share * 1000.0).round() / 10.0;
    match rounded {
        100.0 if share < 1.0 => "> 99.9 %".to_owned(),
        0.0 if share > 0.0 => "< 0.1 %".to_owned(),
        _ => format!("{rounded:.1} %"),
    }
}

/// A label from a file, short and with control characters escaped.
pub(crate) fn label(label: &Scalar) -> String {
    const LONGEST: usize = 24;
    let text = label.to_string();
    let mut shown: String = text.chars().take(LONGEST).flat_map(char::escape_debug).collect();
    if text.chars().nth(LONGEST).is_some() {
        shown.push('…');
    }
    match shown.is_empty() {
        true => "\"\"".to_owned(),
        false => shown,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_line_up() {
        let mut table = Table::new(1);
        table.row(["", "mean", "max"]);
        table.row(["nodes", "17.93", "1,028"]);
        table.row(["é", "2"]);
        assert_eq!(table.lines(), ["        mean    max", "nodes  17.93  1,028", "é          2"]);
    }

    #[test]
    fn decimals_are_grouped() {
        assert_eq!(decimal(12345.678, 2), "12,345.68");
        assert_eq!(decimal(0.5, 3), "0.500");
    }

    #[test]
    fn shares_are_rounded_honestly() {
        let shares = [0.0, 0.0001, 0.665, 0.9999, 1.0];
        assert_eq!(shares.map(percent), ["0.0 %", "< 0.1 %", "66.5 %", "> 99.9 %", "100.0 %"]);
    }

    #[test]
    fn labels_cannot_harm_a_terminal() {
        assert_eq!(label(&"\u{1b}[31mred\n".into()), "\\u{1b}[31mred\\n");
        assert_eq!(label(&"x".repeat(1000).as_str().into()), format!("{}…", "x".repeat(24)));
        assert_eq!(label(&"".into()), "\"\"");
    }
}

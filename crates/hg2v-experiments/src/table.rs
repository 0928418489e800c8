//! Tables of text, for whoever prints them.

use serde::Serialize;

/// Rows of text under a header.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct TextTable {
    /// What stands above it, where it is one of several.
    pub title: String,
    /// What the columns are.
    pub header: Vec<String>,
    /// The rows, each a cell a column.
    pub rows: Vec<Vec<String>>,
    /// How many columns, from the first, are names; all others are numbers.
    pub names: usize,
    /// What there is to say of it, a line each.
    pub notes: Vec<String>,
}

impl TextTable {
    /// An empty table whose first `names` columns are names.
    pub fn new<S: Into<String>>(names: usize, header: impl IntoIterator<Item = S>) -> TextTable {
        let header = header.into_iter().map(Into::into).collect();
        TextTable { header, names, ..TextTable::default() }
    }

    /// Adds a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }

    /// The same with a line below it.
    #[must_use]
    pub fn noting(mut self, note: impl Into<String>) -> TextTable {
        self.notes.push(note.into());
        self
    }

    /// The same under a title.
    #[must_use]
    pub fn titled(mut self, title: impl Into<String>) -> TextTable {
        self.title = title.into();
        self
    }

    /// Title, header and rows for a README.
    pub fn markdown(&self) -> String {
        let line = |cells: &[String]| format!("| {} |\n", cells.join(" | "));
        let rule = vec!["---".to_owned(); self.header.len()];
        let rows: String = self.rows.iter().map(|cells| line(cells)).collect();
        let title = match self.title.as_str() {
            "" => String::new(),
            title => format!("### {title}\n\n"),
        };
        format!("{title}{}{}{rows}", line(&self.header), line(&rule))
    }
}

/// What stands where there is nothing.
pub(crate) fn none() -> String {
    "–".to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markdown_has_a_rule_below_the_header() {
        let mut table = TextTable::new(1, ["set", "accuracy"]).noting("in percent");
        table.row(["MUTAG".to_owned(), none()]);
        let expected = "| set | accuracy |\n| --- | --- |\n| MUTAG | – |\n";
        assert_eq!(table.markdown(), expected);
        assert_eq!(table.titled("Sets").markdown(), format!("### Sets\n\n{expected}"));
    }
}

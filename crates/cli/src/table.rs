//! Plain aligned text tables.

use std::fmt;

/// Rows of texts. The first column is aligned left, the others right unless said otherwise.
pub struct Table {
    rows: Vec<Vec<String>>,
    left: Vec<usize>,
}

impl Table {
    /// A table with these headings.
    pub fn new<S: Into<String>>(headings: impl IntoIterator<Item = S>) -> Self {
        Self { rows: vec![headings.into_iter().map(Into::into).collect()], left: vec![0] }
    }

    /// Aligns a column left.
    pub fn left(mut self, column: usize) -> Self {
        self.left.push(column);
        self
    }

    /// Appends a row.
    pub fn row<S: Into<String>>(&mut self, cells: impl IntoIterator<Item = S>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let width = |c: usize| self.rows.iter().filter_map(|r| r.get(c)).map(|t| t.chars().count()).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(width).collect();
        for row in &self.rows {
            let cells: Vec<String> = row
                .iter()
                .enumerate()
                .map(|(c, text)| match self.left.contains(&c) {
                    true => format!("{text:<width$}", width = widths[c]),
                    false => format!("{text:>width$}", width = widths[c]),
                })
                .collect();
            writeln!(f, "{}", cells.join("  ").trim_end())?;
        }
        Ok(())
    }
}

/// A number with commas between its thousands.
pub fn group(number: u64) -> String {
    let digits = number.to_string();
    let mut text = String::new();
    for (i, digit) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_aligned_and_lines_end_without_blanks() {
        let mut table = Table::new(["tenant", "offered", "why"]).left(2);
        table.row(["red", "10", ""]);
        table.row(["green", "2000", "rate"]);
        assert_eq!(table.to_string(), "tenant  offered  why\nred          10\ngreen      2000  rate\n");
    }

    #[test]
    fn thousands_are_grouped() {
        let texts: Vec<String> = [0, 999, 1000, 1234567].into_iter().map(group).collect();
        assert_eq!(texts, ["0", "999", "1,000", "1,234,567"]);
    }
}

//! What the generated pages of `docs/design` are put together from; each folder says what stands in its own.

use crate::address::Table;
use crate::codes::{Code, CodeList};
use crate::row::RowInfo;
use crate::target::{self, Sizes};
use std::fmt::Write;

/// A page on its way.
pub(crate) struct Page(String);

/// A column of a list of tables.
pub(crate) struct Column {
    /// What stands above it.
    pub heading: String,
    /// What it says of a table.
    pub cell: fn(Table) -> String,
}

/// Columns that every list of tables has at its end: words, rows on each target, access.
fn sizes() -> Vec<Column> {
    const ROWS: [fn(Table) -> String; target::ALL.len()] =
        [|t| t.rows(&target::ALL[0]).to_string(), |t| t.rows(&target::ALL[1]).to_string()];
    let mut all = vec![column("words", |t| t.words().to_string())];
    all.extend(target::ALL.iter().zip(ROWS).map(|(t, cell)| column(&format!("rows {}", t.name), cell)));
    all.push(column("access", |t| t.access().text().to_owned()));
    all
}

/// A column of a list of tables.
pub(crate) fn column(heading: &str, cell: fn(Table) -> String) -> Column {
    Column { heading: heading.to_owned(), cell }
}

impl Page {
    /// A page that begins with this text.
    pub fn new(text: String) -> Self {
        Self(text)
    }

    /// Text as it is.
    pub fn text(&mut self, text: &str) {
        self.0.push_str(text);
    }

    fn line<T: AsRef<str>>(&mut self, cells: impl IntoIterator<Item = T>) {
        self.0.push('|');
        for cell in cells {
            let _ = write!(self.0, " {} |", cell.as_ref());
        }
        self.0.push('\n');
    }

    fn rule(&mut self, columns: usize) {
        self.line(std::iter::repeat_n("---", columns));
    }

    /// A table by its headings and lines.
    pub fn table(&mut self, headings: &[&str], lines: impl IntoIterator<Item = Vec<String>>) {
        self.line(headings);
        self.rule(headings.len());
        lines.into_iter().for_each(|line| self.line(line));
    }

    /// Resources of each target.
    pub fn targets(&mut self, targets: &[Sizes]) {
        self.text("## Targets\n\n");
        let headings: Vec<&str> = ["resource"].into_iter().chain(targets.iter().map(|t| t.name)).collect();
        let line = |(i, (name, _)): (usize, &(&str, u32))| {
            let values = targets.iter().map(|t| t.resources[i].1.to_string());
            [format!("`{name}`")].into_iter().chain(values).collect()
        };
        self.table(&headings, targets[0].resources.iter().enumerate().map(line));
        let hashes = targets.iter().map(|t| format!("`{:08x}`", t.hash));
        self.line(["target hash".to_owned()].into_iter().chain(hashes));
        self.text("\n");
    }

    /// A section with a table for each row, with the types of its fields or without.
    pub fn rows(&mut self, heading: &str, rows: &[RowInfo], types: bool) {
        let _ = writeln!(self.0, "## {heading}\n");
        for row in rows {
            let width = (row.width)();
            let words = width.div_ceil(32);
            let _ = writeln!(self.0, "### `{}`: {width} bits, {words} words\n\n{}\n", row.name, row.doc.trim());
            let mut at = 0;
            let lines = (row.fields)().into_iter().map(|f| {
                let bits = if f.width == 1 { format!("{at}") } else { format!("{}:{at}", at + f.width - 1) };
                at += f.width;
                let mut line = vec![bits, format!("`{}`", f.name)];
                line.extend(types.then(|| format!("`{}`", f.sv)));
                line.push(f.doc.trim().to_owned());
                line
            });
            let headings: &[&str] =
                if types { &["bits", "field", "type", "meaning"] } else { &["bits", "field", "meaning"] };
            self.table(headings, lines);
            self.text("\n");
        }
    }

    /// A section with a table for each list of codes.
    pub fn codes(&mut self, lists: &[CodeList]) {
        if lists.is_empty() {
            return;
        }
        self.text("\n## Codes\n\nWhat the numbers in fields stand for. A number that no code names has no meaning.\n");
        for list in lists {
            let _ = writeln!(self.0, "\n### `{}`, {} bits\n\n{}\n", list.name, list.bits, list.doc.trim());
            let line = |c: &Code| vec![c.number.to_string(), format!("`{}`", c.name), c.doc.trim().to_owned()];
            self.table(&["code", "name", "meaning"], list.all.iter().map(line));
        }
    }

    /// Tables of the address map: `columns`, then their sizes and access.
    pub fn tables(&mut self, mut columns: Vec<Column>, tables: impl IntoIterator<Item = Table>) {
        columns.extend(sizes());
        let headings: Vec<&str> = columns.iter().map(|c| c.heading.as_str()).collect();
        self.table(&headings, tables.into_iter().map(|t| columns.iter().map(|c| (c.cell)(t)).collect()));
    }

    /// The text.
    pub fn finish(self) -> String {
        self.0
    }
}

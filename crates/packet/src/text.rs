//! Reading text with positions: shared by all languages that people write.

use std::fmt;

/// A piece of the text, in bytes from its start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Span {
    /// First byte.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
}

/// A line and column, both from 1; the column counts characters.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Position {
    /// Line, from 1.
    pub line: usize,
    /// Column, from 1.
    pub column: usize,
}

/// The position of byte `offset` in `text`.
pub fn position(text: &str, offset: usize) -> Position {
    let mut offset = offset.min(text.len());
    while !text.is_char_boundary(offset) {
        offset -= 1;
    }
    let before = &text[..offset];
    let line_start = before.rfind('\n').map_or(0, |n| n + 1);
    Position { line: before.matches('\n').count() + 1, column: before[line_start..].chars().count() + 1 }
}

/// Where the lines of a text begin: positions of many places without counting from its start.
#[derive(Clone, Debug)]
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    /// Finds the lines of `text`.
    pub fn new(text: &'a str) -> Lines<'a> {
        let ends = text.bytes().enumerate().filter(|(_, b)| *b == b'\n');
        let starts = std::iter::once(0).chain(ends.map(|(at, _)| at + 1));
        Lines { text, starts: starts.collect() }
    }

    /// The position of byte `offset`, as [`position`] gives it.
    pub fn position(&self, offset: usize) -> Position {
        let line = self.starts.partition_point(|start| *start <= offset).max(1);
        let start = self.starts[line - 1];
        Position { line, column: position(&self.text[start..], offset - start).column }
    }
}

/// The line that holds byte `offset`, without its end.
pub fn line_at(text: &str, offset: usize) -> &str {
    let offset = offset.min(text.len());
    let bytes = text.as_bytes();
    let start = bytes[..offset].iter().rposition(|b| *b == b'\n');
    let start = start.map_or(0, |n| n + 1);
    let end = bytes[start..].iter().position(|b| *b == b'\n');
    let end = end.map_or(text.len(), |n| start + n);
    text[start..end].trim_end_matches('\r')
}

/// Writes where an error is, and marks `width` characters of the line from there:
/// ` --> FILE:LINE:COLUMN` and the line below it.
pub fn write_excerpt(
    f: &mut fmt::Formatter<'_>,
    file: &str,
    position: Position,
    excerpt: Option<(&str, usize)>,
) -> fmt::Result {
    write!(f, " --> {file}:{}:{}", position.line, position.column)?;
    let Some((line, width)) = excerpt else {
        return Ok(());
    };
    let number = position.line.to_string();
    let margin = " ".repeat(number.len());
    // Tabs stay tabs, so that the mark stands below what it means.
    let before = line.chars().take(position.column - 1);
    let indent: String = before.map(|c| if c == '\t' { '\t' } else { ' ' }).collect();
    let mark = "^".repeat(width.max(1));
    write!(f, "\n{margin} |\n{number} | {line}\n{margin} | {indent}{mark}")
}

/// A place in the text from which reading goes on.
#[derive(Clone, Debug)]
pub(crate) struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    /// At byte `at` of `text`.
    pub fn new(text: &'a str, at: usize) -> Cursor<'a> {
        Cursor { text, at }
    }

    /// The byte reading has come to.
    pub fn at(&self) -> usize {
        self.at
    }

    /// Goes on reading at byte `at`, which is between two characters.
    pub fn go_to(&mut self, at: usize) {
        self.at = at;
    }

    /// What is left, line ends included.
    pub fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    /// The next character; `None` at the end.
    pub fn peek(&self) -> Option<char> {
        self.rest().chars().next()
    }

    /// Takes one character.
    pub fn bump(&mut self) -> Option<char> {
        let c = self.peek()?;
        self.at += c.len_utf8();
        Some(c)
    }

    /// Takes `expected` if it comes next.
    pub fn take(&mut self, expected: &str) -> bool {
        let found = self.rest().starts_with(expected);
        if found {
            self.at += expected.len();
        }
        found
    }

    /// Takes characters while `wanted`.
    pub fn take_while(&mut self, wanted: impl Fn(char) -> bool) -> &'a str {
        let rest = self.rest();
        let len = rest.find(|c| !wanted(c)).unwrap_or(rest.len());
        self.at += len;
        &rest[..len]
    }

    /// Skips blanks, and line ends behind a backslash.
    pub fn skip_blanks(&mut self) {
        loop {
            self.take_while(|c| c == ' ' || c == '\t');
            if !(self.take("\\\r\n") || self.take("\\\n")) {
                return;
            }
        }
    }

    /// Whether the statement is over: end of text, end of line or a comment.
    pub fn at_line_end(&self) -> bool {
        let rest = self.rest();
        rest.is_empty() || rest.starts_with(['\n', '#']) || rest.starts_with("\r\n")
    }

    /// From `start` to here.
    pub fn span_from(&self, start: usize) -> Span {
        Span { start, end: self.at }
    }

    /// What comes next, as an error should show it.
    pub fn describe_next(&self) -> String {
        match self.peek() {
            None => "the end".to_string(),
            Some('\n' | '\r' | '#') => "the end of the line".to_string(),
            Some(_) => {
                let rest = self.rest();
                let len = rest.find(char::is_whitespace).unwrap_or(rest.len());
                quote(&rest[..len])
            }
        }
    }
}

/// `text` in backquotes, cut when long, so that an error stays one line.
pub fn quote(text: &str) -> String {
    const LONGEST: usize = 40;
    let shown = |c: char| if c.is_control() { c.escape_debug().to_string() } else { c.to_string() };
    let clean: String = text.chars().map(shown).collect();
    match clean.char_indices().nth(LONGEST) {
        Some((cut, _)) => format!("`{}...`", &clean[..cut]),
        None => format!("`{clean}`"),
    }
}

/// A number: decimal or 0x, with `_` between digits.
pub fn number(text: &str) -> Option<u128> {
    let (digits, radix) = match text.strip_prefix("0x") {
        Some(hex) => (hex, 16),
        None => (text, 10),
    };
    // Neither sign nor stray underscore is a number here.
    let first = digits.chars().next()?;
    if !first.is_digit(radix) || digits.ends_with('_') {
        return None;
    }
    u128::from_str_radix(&digits.replace('_', ""), radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn positions_count_characters_from_one() {
        let text = "ab\nc\u{e9}d\r\nlast";
        assert_eq!(position(text, 0), Position { line: 1, column: 1 });
        assert_eq!(position(text, 6), Position { line: 2, column: 3 });
        // Within a character, and beyond the end.
        assert_eq!(position(text, 5), Position { line: 2, column: 2 });
        assert_eq!(position(text, 99), Position { line: 3, column: 5 });
        let lines = Lines::new(text);
        for offset in [0, 2, 3, 5, 6, 7, 8, 9, 13, 99] {
            assert_eq!(lines.position(offset), position(text, offset), "{offset}");
        }
        assert_eq!(line_at(text, 4), "c\u{e9}d");
        assert_eq!(line_at(text, 99), "last");
    }

    #[test]
    fn numbers_are_decimal_or_hexadecimal_and_nothing_else() {
        assert_eq!(number("1_000"), Some(1000));
        assert_eq!(number("0xf1f2"), Some(61938));
        for bad in ["", "-1", "+1", "1_", "_1", "0x", "0x_1", "1k", "0b1"] {
            assert_eq!(number(bad), None, "{bad}");
        }
    }

    #[test]
    fn a_backslash_joins_lines() {
        let mut cursor = Cursor::new("a \\\r\n \\\n b", 1);
        cursor.skip_blanks();
        assert_eq!(cursor.rest(), "b");
        let mut cursor = Cursor::new(" \\x", 0);
        cursor.skip_blanks();
        assert_eq!(cursor.rest(), "\\x");
    }

    #[test]
    fn long_and_odd_texts_are_quoted_on_one_line() {
        assert_eq!(quote("a\nb"), "`a\\nb`");
        assert_eq!(quote("a\\b\"c"), "`a\\b\"c`");
        assert!(quote(&"x".repeat(500)).len() < 60);
    }
}

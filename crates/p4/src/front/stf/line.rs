//! Words of a line.

use super::command::Word;
use super::error::StfProblem;
use sluice_packet::text::{Span, quote};

/// A mistake and where it is.
pub(super) type Wrong = (Span, StfProblem);

/// A line, and how far it is read.
#[derive(Clone)]
pub(super) struct Line<'t> {
    text: &'t str,
    /// Byte of the script at which the line begins.
    base: usize,
    at: usize,
}

impl<'t> Line<'t> {
    /// A line without its comment.
    pub fn new(text: &'t str, base: usize) -> Line<'t> {
        let end = text.find('#').unwrap_or(text.len());
        let mut line = Line { text: text[..end].trim_end(), base, at: 0 };
        line.blanks();
        line
    }

    pub fn blanks(&mut self) {
        let rest = &self.text[self.at..];
        self.at += rest.len() - rest.trim_start().len();
    }

    pub fn is_empty(&self) -> bool {
        self.at >= self.text.len()
    }

    pub fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    /// The whole line.
    pub fn span(&self) -> Span {
        let start = self.text.len() - self.text.trim_start().len();
        Span { start: self.base + start, end: self.base + self.text.len() }
    }

    fn span_from(&self, start: usize) -> Span {
        Span { start: self.base + start, end: self.base + self.at }
    }

    /// Takes a mark if it comes next.
    pub fn take(&mut self, mark: &str) -> bool {
        let found = self.text[self.at..].starts_with(mark);
        if found {
            self.at += mark.len();
            self.blanks();
        }
        found
    }

    fn until(&mut self, ends: impl Fn(char, usize) -> bool) -> Word {
        let start = self.at;
        let mut brackets = 0usize;
        for c in self.text[start..].chars() {
            if ends(c, brackets) {
                break;
            }
            match c {
                '[' => brackets += 1,
                ']' => brackets = brackets.saturating_sub(1),
                _ => {}
            }
            self.at += c.len_utf8();
        }
        let word = Word { text: self.text[start..self.at].to_string(), span: self.span_from(start) };
        self.blanks();
        word
    }

    /// A word up to a blank.
    pub fn word(&mut self) -> Word {
        self.until(|c, _| c.is_whitespace())
    }

    /// A name: up to a blank or a mark. A colon in brackets is a part of it.
    pub fn name(&mut self) -> Word {
        if self.peek() == Some('"') {
            self.at += 1;
            let word = self.until(|c, _| c == '"');
            self.at = (self.at + 1).min(self.text.len());
            self.blanks();
            return word;
        }
        self.until(|c, brackets| c.is_whitespace() || matches!(c, '(' | ')' | ',' | '=') || (c == ':' && brackets == 0))
    }

    /// A value: up to a blank, a comma or a parenthesis.
    pub fn value(&mut self) -> Word {
        self.until(|c, _| c.is_whitespace() || matches!(c, '(' | ')' | ','))
    }

    /// All that is left.
    pub fn rest(&mut self) -> Word {
        self.until(|_, _| false)
    }

    /// Something else is needed here.
    pub fn expected<T>(&self, expected: &str) -> Result<T, Wrong> {
        let rest = &self.text[self.at..];
        let found = match rest.split_whitespace().next() {
            Some(word) => quote(word),
            None => "the end of the line".to_string(),
        };
        let length = rest.split_whitespace().next().map_or(1, str::len);
        let start = self.base + self.at;
        let span = Span { start, end: start + length };
        Err((span, StfProblem::Expected { found, expected: expected.to_string() }))
    }

    /// A number of that type.
    pub fn number<T: TryFrom<u128>>(&mut self, what: &str) -> Result<T, Wrong> {
        let before = self.at;
        let word = self.value();
        let number = sluice_packet::text::number(&word.text).and_then(|number| T::try_from(number).ok());
        match number {
            Some(number) => Ok(number),
            None => {
                self.at = before;
                self.expected(what)
            }
        }
    }
}

//! Lines that no packet ever comes to, because one before them takes everything that they take.

use super::Lower;
use crate::text::error::place;
use sluice_packet::text::{Span, position};

/// Lines that are compared: more than a stage or selection has room for, so that a file of any length is read in time.
const MOST: usize = 256;

/// What lines before took, as values under masks.
#[derive(Default)]
pub(super) struct Taken(Vec<Line>);

struct Line {
    value: Vec<u8>,
    mask: Vec<u8>,
    /// Shortest packet that it takes.
    least: u8,
    span: Span,
}

impl Taken {
    /// Takes a line in. The line that takes all of it already: with `longest`, where the order does not say which is met, only
    /// the same one.
    pub fn by(&mut self, value: &[u8], mask: &[u8], span: Span, longest: bool) -> Option<Span> {
        self.line(Line { value: value.to_vec(), mask: mask.to_vec(), least: 0, span }, longest)
    }

    /// The same of a line that takes packets of `least` bytes and more.
    pub fn by_length(&mut self, value: &[u8], mask: &[u8], least: u8, span: Span) -> Option<Span> {
        self.line(Line { value: value.to_vec(), mask: mask.to_vec(), least, span }, false)
    }

    fn line(&mut self, line: Line, longest: bool) -> Option<Span> {
        if self.0.len() == MOST {
            return None;
        }
        let all = |before: &&Line| {
            let mut bytes = before.value.iter().zip(&before.mask).zip(line.value.iter().zip(&line.mask));
            let narrower = bytes.all(|((v, m), (value, mask))| m & mask == *m && value & m == *v);
            narrower && before.least <= line.least && (!longest || before.mask == line.mask)
        };
        let before = self.0.iter().find(all).map(|line| line.span);
        if before.is_none() {
            self.0.push(line);
        }
        before
    }
}

impl Lower<'_> {
    /// Warns of a line that nothing comes to.
    pub(super) fn never(&mut self, span: Span, before: Option<Span>, what: &str) {
        if let Some(first) = before {
            let line = position(self.scope.text, first.start).line;
            let found = format!("{what} that no packet meets: line {line} takes all of it");
            self.notes.warn(place(span, found, "one that takes something else"));
        }
    }
}

//! Lines that no packet ever comes to, because one before them takes everything that they take.

use super::Lower;
use crate::text::error::place;
use sluice_packet::text::{Span, position};

/// Lines that are compared: more than a stage or selection has room for, so that a file of any length is read in time.
const MOST: usize = 256;

/// What lines before took, as values under masks.
#[derive(Default)]
pub(super) struct Taken(Vec<(Vec<u8>, Vec<u8>, Span)>);

impl Taken {
    /// Takes a line in. The line that takes all of it already: with `longest`, where the order does not say which is met, only
    /// the same one.
    pub fn by(&mut self, value: &[u8], mask: &[u8], span: Span, longest: bool) -> Option<Span> {
        if self.0.len() == MOST {
            return None;
        }
        let all = |(v, m, _): &&(Vec<u8>, Vec<u8>, Span)| {
            let mut bytes = v.iter().zip(m).zip(value.iter().zip(mask));
            let narrower = bytes.all(|((v, m), (value, mask))| m & mask == *m && value & m == *v);
            narrower && (!longest || m == mask)
        };
        let before = self.0.iter().find(all).map(|line| line.2);
        if before.is_none() {
            self.0.push((value.to_vec(), mask.to_vec(), span));
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

//! Rules as paths: what one way of matching a rule asks for, from the first move to the goal.

use crate::rules::{MessageType, Pattern, Rule, Step};
use sluice_formats::l7::rows::L7MovePart;

/// A rule without alternatives: for several of them there are several paths.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Path {
    /// What is moved and compared in turn; one at least.
    pub pieces: Vec<Piece>,
    /// The rule's number in its type.
    pub rule: usize,
}

/// A move and what is compared behind it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Piece {
    /// The move.
    pub go: L7MovePart,
    /// What is compared; may be empty.
    pub text: Vec<u8>,
    /// The field ends behind it.
    pub ends: bool,
}

/// Fields of rules go by their indices, whatever order they are written in: more rules begin alike.
fn in_order(rule: &Rule) -> Vec<(u8, &[Pattern])> {
    let mut fields: Vec<_> = rule.matches.iter().map(|m| (m.field, &m.patterns[..])).collect();
    fields.sort_by_key(|&(field, _)| field);
    fields
}

/// All paths of a type's rules, earlier rules first, or the number of them if there are more than `most`.
pub(super) fn paths(message: &MessageType, stops: &[u8], most: usize) -> Result<Vec<Path>, usize> {
    let count = message.rules.iter().map(|r| r.matches.iter().fold(1_usize, |n, m| n.saturating_mul(m.patterns.len())));
    let count = count.fold(0, usize::saturating_add);
    if count > most {
        return Err(count);
    }
    let mut all = Vec::with_capacity(count);
    for (number, rule) in message.rules.iter().enumerate() {
        let mut begun = vec![Vec::new()];
        for (field, patterns) in in_order(rule) {
            begun =
                begun.iter().flat_map(|pieces| patterns.iter().map(move |p| with(pieces, field, p, stops))).collect();
        }
        all.extend(begun.into_iter().map(|pieces| Path { pieces, rule: number }));
    }
    Ok(all)
}

/// A path that goes on with a pattern of a field.
fn with(pieces: &[Piece], field: u8, pattern: &Pattern, stops: &[u8]) -> Vec<Piece> {
    let mut pieces = pieces.to_vec();
    let mut piece = Piece { go: L7MovePart { field, ..L7MovePart::default() }, ..Piece::default() };
    let mut next = |piece: &mut Piece| pieces.push(std::mem::take(piece));
    for step in &pattern.steps {
        match step {
            Step::Text(text) => piece.text.extend(text),
            Step::Skip(bytes) => {
                let mut left = *bytes;
                while left > 0 {
                    if !piece.text.is_empty() || piece.go.stop != 0 || piece.go.skip == u8::MAX {
                        next(&mut piece);
                    }
                    let now = left.min(u16::from(u8::MAX - piece.go.skip));
                    piece.go.skip += now as u8;
                    left -= now;
                }
            }
            Step::Until(stop) => {
                if !piece.text.is_empty() || piece.go.stop != 0 {
                    next(&mut piece);
                }
                // A checked file has only stop bytes of its application.
                piece.go.stop = stops.iter().position(|s| s == stop).map_or(0, |at| at as u8 + 1);
            }
        }
    }
    piece.ends = pattern.end;
    next(&mut piece);
    pieces
}

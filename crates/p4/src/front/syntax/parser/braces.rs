//! A brace that is missing makes many mistakes below it: they are told as one, at the block that is open.

use crate::error::{Notes, Problem, place};
use crate::front::source::{Kind, Mark, Sources, Token};

/// Tells one mistake in place of all others where a block is not closed.
pub(super) fn told_as_one(words: &[Token], sources: &Sources, notes: &mut Notes) {
    let Some((open, seen)) = unclosed(words, sources) else { return };
    let found = match &words[seen].kind {
        Kind::End => "the end of the file".to_string(),
        _ => format!("{} at {}", words[seen].describe(), place(words[seen].span, sources)),
    };
    notes.only(
        words[open].span,
        Problem::Expected { found, expected: "`}` before it, for this block is open".to_string() },
    );
}

/// The brace that is not closed, and the word by which that is seen.
fn unclosed(words: &[Token], sources: &Sources) -> Option<(usize, usize)> {
    let count = |mark: Mark| words.iter().filter(|word| word.is(mark)).count();
    if count(Mark::LeftBrace) <= count(Mark::RightBrace) {
        return None;
    }
    let indent = |at: usize| {
        let first = (0..=at).rev().find(|at| words[*at].first).unwrap_or(0);
        let span = words[first].span;
        let text = &sources.text(span.text).text;
        text.get(..span.start as usize).map_or(0, |before| before.len() - before.rfind('\n').map_or(0, |line| line + 1))
    };
    let mut open: Vec<usize> = Vec::new();
    for (at, word) in words.iter().enumerate() {
        if most_open(words, at).is_some_and(|most| open.len() > most) {
            return open.last().map(|open| (*open, at));
        }
        match word.kind {
            Kind::Mark(Mark::LeftBrace) => open.push(at),
            Kind::Mark(Mark::RightBrace) => {
                let begin = open.pop()?;
                // It closes an outer block, by where it stands.
                if word.first && indent(at) < indent(begin) {
                    return Some((begin, at));
                }
            }
            Kind::End => return open.last().map(|open| (*open, at)),
            _ => {}
        }
    }
    None
}

/// How many blocks can be open where a declaration begins; nothing of other words.
fn most_open(words: &[Token], at: usize) -> Option<usize> {
    let Kind::Word { text, .. } = &words[at].kind else { return None };
    let named_block = || {
        let name = matches!(words.get(at + 1).map(|word| &word.kind), Some(Kind::Word { .. }));
        name && words.get(at + 2).is_some_and(|word| word.is(Mark::LeftBrace))
    };
    if !words[at].first {
        return None;
    }
    match &**text {
        "control" | "parser" | "package" | "header" | "header_union" | "struct" | "enum" | "extern" | "typedef" => {
            Some(0)
        }
        "action" => Some(1),
        "table" | "state" if named_block() => Some(1),
        "apply" if words.get(at + 1).is_some_and(|word| word.is(Mark::LeftBrace)) => Some(1),
        _ => None,
    }
}

//! Names of a script: what has the name itself, or ends with it.

use super::command::Word;
use super::error::StfProblem;
use super::line::Wrong;

/// The index of what has a name: in full, or in its last parts.
pub(super) fn find<'n>(
    what: &'static str,
    word: &Word,
    all: impl Iterator<Item = (usize, &'n str)> + Clone,
) -> Result<usize, Wrong> {
    let wanted = word.text.as_str();
    if let Some((at, _)) = all.clone().find(|(_, name)| *name == wanted) {
        return Ok(at);
    }
    let suffix = format!(".{wanted}");
    let mut found: Vec<(usize, &str)> = all.clone().filter(|(_, name)| name.ends_with(&suffix)).collect();
    if found.is_empty() && !wanted.is_empty() {
        // Public scripts name things by less than their last part, too.
        found = all.clone().filter(|(_, name)| name.ends_with(wanted)).collect();
    }
    let names = |all: &mut dyn Iterator<Item = &str>| all.take(8).collect::<Vec<_>>().join(", ");
    let why = match found[..] {
        [(at, _)] => return Ok(at),
        [] if all.clone().next().is_none() => "the program has none".to_string(),
        [] => format!("there is none of that name, but {}", names(&mut all.map(|(_, name)| name))),
        _ => format!("several end with it: {}", names(&mut found.iter().map(|(_, name)| *name))),
    };
    Err((word.span, StfProblem::Name { what, name: wanted.to_string(), why }))
}

/// A key as the program names it: `h.stack$0.f` and `h.stack[0].f`, `x.valid` and `x.$valid$`.
pub(super) fn key(word: &Word) -> Word {
    let mut text = String::with_capacity(word.text.len());
    let mut rest = word.text.as_str();
    while let Some(at) = rest.find('$') {
        let behind = &rest[at + 1..];
        let digits = behind.len() - behind.trim_start_matches(|c: char| c.is_ascii_digit()).len();
        text.push_str(&rest[..at]);
        match digits {
            0 => {
                text.push('$');
                rest = behind;
            }
            _ => {
                text.push_str(&format!("[{}]", &behind[..digits]));
                rest = &behind[digits..];
            }
        }
    }
    text.push_str(rest);
    if let Some(owner) = text.strip_suffix(".valid").or_else(|| text.strip_suffix(".isValid()")) {
        text = format!("{owner}.$valid$");
    }
    Word { text, span: word.span }
}

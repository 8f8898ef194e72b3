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
    // A dot in front says that the name is whole, which all of them are here.
    let wanted = word.text.trim_start_matches('.');
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
    if let Some(owner) = [".valid", ".$valid", ".isValid()"].iter().find_map(|end| text.strip_suffix(end)) {
        text = format!("{owner}.$valid$");
    }
    Word { text, span: word.span }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(text: &str) -> Word {
        Word { text: text.to_string(), span: sluice_packet::text::Span { start: 0, end: text.len() } }
    }

    #[test]
    fn keys_of_stacks_and_validity_are_written_in_several_ways() {
        for (written, meant) in [
            ("extra$0.h", "extra[0].h"),
            ("hdr.a$12.b$3", "hdr.a[12].b[3]"),
            ("data.valid", "data.$valid$"),
            ("data.$valid", "data.$valid$"),
            ("data.$valid$", "data.$valid$"),
            ("hdr.x.isValid()", "hdr.x.$valid$"),
            ("valid.f", "valid.f"),
        ] {
            assert_eq!(key(&word(written)).text, meant);
        }
    }

    #[test]
    fn a_name_is_whole_or_the_end_of_one_and_never_of_two() {
        let names = ["in.t", "in.sub.t", "out.next_t", "out.u"];
        let found = |text: &str| find("table", &word(text), names.iter().copied().enumerate()).ok();
        assert_eq!(found("in.t"), Some(0));
        assert_eq!(found("sub.t"), Some(1));
        assert_eq!(found(".out.u"), Some(3));
        assert_eq!(found("xt_t"), Some(2));
        assert_eq!((found("t"), found("v"), found("")), (None, None, None));
    }
}

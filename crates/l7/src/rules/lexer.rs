//! Words of a file of rules.

use super::error::{Notes, Problem};
use sluice_packet::text::{Span, number, quote};

/// Longest file, in bytes.
pub const MOST_BYTES: usize = 1 << 20;
/// Most characters of a name.
pub const MOST_NAME: usize = 63;

/// A word.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Token<'t> {
    /// Name or word of the language.
    Name(&'t str),
    /// Number.
    Number(u128),
    /// Time in nanoseconds.
    Time(u128),
    /// What stands between quotes, as it is written.
    Text(&'t str),
    /// A mark such as `->`.
    Mark(&'static str),
    /// What was no word, and is noted.
    Bad,
    /// End of the file.
    End,
}

/// A word and its place.
#[derive(Clone, Copy, Debug)]
pub(super) struct Lexeme<'t> {
    pub token: Token<'t>,
    pub span: Span,
    /// Line, from 1.
    pub line: u32,
    /// Nothing stands before it in its line.
    pub first: bool,
}

const MARKS: [&str; 7] = ["->", "{", "}", "=", "~", ":", "|"];

/// Units of time with their nanoseconds, the largest first.
pub(super) const UNITS: [(&str, u64); 4] = [("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("ns", 1)];

impl Token<'_> {
    /// As an error shows it.
    pub fn describe(&self) -> String {
        match self {
            Self::Name(name) => quote(name),
            Self::Number(n) => format!("`{n}`"),
            Self::Time(ns) => format!("`{ns}ns`"),
            Self::Text(text) => quote(&format!("\"{text}\"")),
            Self::Mark(mark) => format!("`{mark}`"),
            Self::Bad => "what is no word".to_string(),
            Self::End => "the end of the file".to_string(),
        }
    }
}

/// All words of a text, the end of the file last.
pub(super) fn words<'t>(text: &'t str, notes: &mut Notes) -> Vec<Lexeme<'t>> {
    let mut all = Vec::new();
    let (mut at, mut line, mut first) = (0, 1, true);
    while at < text.len() && !notes.full() {
        let rest = &text[at..];
        let result = match rest.as_bytes()[0] {
            b' ' | b'\t' => {
                at += 1;
                continue;
            }
            b'\r' if rest[1..].starts_with('\n') => {
                at += 1;
                continue;
            }
            b'\n' => {
                (at, line, first) = (at + 1, line + 1, true);
                continue;
            }
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'"' => quoted(rest),
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => word(rest),
            // A byte order mark is what some editors begin a file with.
            _ if at == 0 && rest.starts_with('\u{feff}') => {
                at += 3;
                continue;
            }
            _ => mark(rest),
        };
        let (token, length) = match result {
            Ok(found) => found,
            Err((problem, length)) => {
                notes.push((Span { start: at, end: at + length }, problem));
                (Token::Bad, length)
            }
        };
        let span = Span { start: at, end: at + length };
        all.push(Lexeme { token, span, line, first });
        (at, first) = (at + length, false);
    }
    all.push(Lexeme { token: Token::End, span: Span { start: text.len(), end: text.len() }, line, first: true });
    all
}

type Lexed<'t> = Result<(Token<'t>, usize), (Problem, usize)>;

fn wrong(found: &str, expected: impl ToString) -> Problem {
    Problem::Word { found: quote(found), expected: expected.to_string() }
}

fn mark(rest: &str) -> Lexed<'_> {
    if let Some(mark) = MARKS.iter().find(|mark| rest.starts_with(**mark)) {
        return Ok((Token::Mark(mark), mark.len()));
    }
    if rest.starts_with('\'') {
        // All of it, so that nothing inside is read as words.
        let line = rest.lines().next().unwrap_or(rest);
        let length = line[1..].find('\'').map_or(line.len(), |at| at + 2);
        return Err((wrong(&rest[..length], "text in double quotes"), length));
    }
    let length = rest.chars().next().map_or(1, char::len_utf8);
    Err((wrong(&rest[..length], format!("a name, a number, text in quotes or one of {}", MARKS.join(" "))), length))
}

const CLOSED: &str = "`\"` before the end of the line";

/// Text in quotes, in one line; a backslash takes the next character with it.
fn quoted(rest: &str) -> Lexed<'_> {
    let mut escaped = false;
    for (at, c) in rest.char_indices().skip(1) {
        if c.is_control() {
            let ends = c == '\n' || rest[at..].starts_with("\r\n");
            let expected = if ends { CLOSED } else { "an escape for it, as in \\x07, \\t or \\0" };
            // Up to the mark that was meant to close it, so that nothing inside is read as words.
            let line = rest.lines().next().unwrap_or(rest);
            let end = line[at.min(line.len())..].find('"').map_or(line.len(), |more| at + more + 1);
            let shown = if ends { &rest[..at] } else { &rest[at..at + c.len_utf8()] };
            return Err((wrong(shown, expected), end));
        }
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Ok((Token::Text(&rest[1..at]), at + 1)),
            _ => {}
        }
    }
    Err((wrong(rest, CLOSED), rest.len()))
}

/// A name, a number or a time.
fn word(rest: &str) -> Lexed<'_> {
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || *b == b'_').count();
    let text = &rest[..length];
    if !text.as_bytes()[0].is_ascii_digit() {
        if length <= MOST_NAME {
            return Ok((Token::Name(text), length));
        }
        let expected = format!("a name of at most {MOST_NAME} letters, digits and `_`");
        return Err((wrong(text, expected), length));
    }
    if let Some(n) = number(text) {
        return Ok((Token::Number(n), length));
    }
    let digits = text.find(|c: char| !c.is_ascii_digit() && c != '_').unwrap_or(length);
    let unit = UNITS.iter().find(|unit| unit.0 == &text[digits..]);
    match unit.and_then(|unit| number(&text[..digits])?.checked_mul(unit.1.into())) {
        Some(ns) => Ok((Token::Time(ns), length)),
        None => Err((wrong(text, "a number as in 10 or 0x1f, or a time as in 250ms"), length)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_packet::mistake::Problem as _;

    fn tokens(text: &str) -> Vec<Token<'_>> {
        let mut notes = Notes::default();
        let found = words(text, &mut notes).into_iter().map(|l| l.token).collect();
        assert!(notes.found.is_empty(), "{:?}", notes.found);
        found
    }

    #[test]
    fn words_are_told_apart_and_lines_are_counted() {
        let text = "\u{feff}rule a:b ~ \"x \\\" # | \\\\\"|\"\" # \u{1}\r\n-> 0x1f 250ms 1_0";
        let expected = [
            Token::Name("rule"),
            Token::Name("a"),
            Token::Mark(":"),
            Token::Name("b"),
            Token::Mark("~"),
            Token::Text("x \\\" # | \\\\"),
            Token::Mark("|"),
            Token::Text(""),
            Token::Mark("->"),
            Token::Number(31),
            Token::Time(250_000_000),
            Token::Number(10),
            Token::End,
        ];
        assert_eq!(tokens(text), expected);
        let all = words(text, &mut Notes::default());
        let lines: Vec<_> = all.iter().map(|l| (l.line, l.first)).collect();
        assert_eq!(lines[..2], [(1, true), (1, false)]);
        assert_eq!(lines[8..10], [(2, true), (2, false)]);
    }

    #[test]
    fn strange_words_are_found_all_at_once() {
        let mut notes = Notes::default();
        let text = "a \u{e9} 1.2 12ab 5h \"open\n\"a\u{0}b\" 0x ; 99999999999999999999999999999999999999999 \"back\\";
        words(text, &mut notes);
        let found: Vec<_> = notes.found.iter().map(|f| f.1.to_string()).collect();
        assert_eq!(found.len(), 10, "{found:#?}");
        assert!(notes.found.iter().all(|f| f.1.code() == "E0850"));
    }
}

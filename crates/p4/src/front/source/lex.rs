//! From characters to words.

use super::token::{Kind, Mark, Token, is_reserved};
use super::{Sources, Span};
use std::collections::HashSet;
use std::rc::Rc;

/// Bytes of text in quotes behind which no further line belongs to it.
const MOST_QUOTED: usize = 1 << 16;

/// Words of all texts; each text of a word is held once.
#[derive(Debug, Default)]
pub(super) struct Lexer {
    known: HashSet<Rc<str>>,
}

impl Lexer {
    /// The one copy of a text.
    pub fn intern(&mut self, text: &str) -> Rc<str> {
        match self.known.get(text) {
            Some(known) => known.clone(),
            None => {
                let new: Rc<str> = text.into();
                self.known.insert(new.clone());
                new
            }
        }
    }

    /// All words of a text; comments are blanks, and a backslash joins lines.
    pub fn words(&mut self, sources: &Sources, index: u32) -> Vec<Token> {
        let text = sources.text(index).text.clone();
        let bytes = text.as_bytes();
        let mut all = Vec::with_capacity(bytes.len() / 4);
        let mut at = if text.starts_with('\u{feff}') { 3 } else { 0 };
        let (mut first, mut spaced) = (true, false);
        // `#if` that are open: within them a line with `#else` ends a text whose quotes do not.
        let mut conditions = 0usize;
        while at < bytes.len() {
            let blank = blank(&bytes[at..]);
            if blank.length > 0 {
                first |= blank.ends_line;
                spaced = true;
                at += blank.length;
                continue;
            }
            let (kind, length) = match bytes[at] {
                b'"' => self.quoted(&text[at..], conditions > 0),
                _ => self.word(&text[at..]),
            };
            if let (Kind::Word { text, .. }, Some(Token { kind: Kind::Mark(Mark::Hash), first: true, .. })) =
                (&kind, all.last())
            {
                match &**text {
                    "if" | "ifdef" | "ifndef" => conditions += 1,
                    "endif" => conditions = conditions.saturating_sub(1),
                    _ => {}
                }
            }
            let span = Span { text: index, start: at as u32, end: (at + length) as u32 };
            all.push(Token { kind, span, first, spaced, hidden: 0 });
            (at, first, spaced) = (at + length, false, false);
        }
        all
    }

    /// The word at the beginning of a text that begins with one, and its length.
    pub fn word(&mut self, rest: &str) -> (Kind, usize) {
        let bytes = rest.as_bytes();
        match bytes[0] {
            b'a'..=b'z' | b'A'..=b'Z' | b'_' => {
                let length = word_length(bytes);
                let text = self.intern(&rest[..length]);
                let reserved = is_reserved(&text);
                (Kind::Word { text, reserved }, length)
            }
            b'0'..=b'9' => {
                let length = word_length(bytes);
                (Kind::Number(self.intern(&rest[..length])), length)
            }
            b'"' => self.quoted(rest, false),
            b'/' if bytes.starts_with(b"/*") => (Kind::Bad("a comment that does not end"), rest.len()),
            _ => match Mark::ALL.iter().find(|(_, text)| rest.starts_with(text)) {
                Some((mark, text)) => (Kind::Mark(*mark), text.len()),
                None => {
                    let length = rest.chars().next().map_or(1, char::len_utf8);
                    (Kind::Bad("a character that begins no word"), length)
                }
            },
        }
    }

    /// Text in quotes, of one line or more; a backslash takes the next character with it. A line that begins with `#` belongs to
    /// it, too, unless it ends a branch of an `#if` around it.
    fn quoted(&mut self, rest: &str, conditional: bool) -> (Kind, usize) {
        let bytes = rest.as_bytes();
        let mut at = 1;
        while at < bytes.len() {
            match bytes[at] {
                b'\n' if at > MOST_QUOTED || conditional && ends_branch(&rest[at + 1..]) => break,
                b'\\' => at += 1,
                b'"' => return (Kind::Text(self.intern(&rest[1..at])), at + 1),
                _ => {}
            }
            at += 1;
        }
        // Only the line, so that what comes below is still read.
        (Kind::Bad("text in quotes that does not end"), rest.find('\n').unwrap_or(rest.len()))
    }
}

/// Whether a line has a directive that ends a branch of an `#if`.
fn ends_branch(line: &str) -> bool {
    let Some(word) = line.trim_start_matches([' ', '\t']).strip_prefix('#') else { return false };
    let word = word.trim_start_matches([' ', '\t']);
    ["else", "elif", "endif"].contains(&&word[..word_length(word.as_bytes())])
}

fn word_length(bytes: &[u8]) -> usize {
    bytes.iter().take_while(|b| b.is_ascii_alphanumeric() || **b == b'_').count()
}

/// What stands between words.
struct Blank {
    length: usize,
    ends_line: bool,
}

fn blank(bytes: &[u8]) -> Blank {
    let of = |length, ends_line| Blank { length, ends_line };
    match bytes {
        [b'\n', ..] => of(1, true),
        [b' ' | b'\t' | b'\r' | 0x0b | 0x0c, ..] => of(1, false),
        [b'\\', b'\n', ..] => of(2, false),
        [b'\\', b'\r', b'\n', ..] => of(3, false),
        [b'/', b'/', ..] => {
            let mut at = 2;
            while at < bytes.len() && bytes[at] != b'\n' {
                at += 1;
            }
            of(at, false)
        }
        [b'/', b'*', ..] => match bytes[2..].windows(2).position(|pair| pair == b"*/") {
            Some(length) => of(length + 4, bytes[2..length + 2].contains(&b'\n')),
            None => of(0, false),
        },
        _ => of(0, false),
    }
}

//! Patterns: from what stands between quotes to steps.

use super::ast::{Pattern, Step};
use super::error::{Notes, Problem};
use super::syntax::Text;
use sluice_packet::text::{Span, quote};

/// Escapes of one character, with the byte that each stands for.
pub(super) const ESCAPES: [(char, u8); 9] = [
    ('\\', b'\\'),
    ('"', b'"'),
    ('*', b'*'),
    ('.', b'.'),
    ('$', b'$'),
    ('n', b'\n'),
    ('r', b'\r'),
    ('t', b'\t'),
    ('0', 0),
];
/// Most bytes of a skip that is written as one.
pub(super) const MOST_SKIP: u16 = 255;

/// What a pattern is made of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Piece {
    /// This byte.
    Byte(u8),
    /// So many bytes.
    Skip(u16),
    /// `*`
    Star,
    /// `$`
    End,
}

/// A pattern with stop bytes `stops`, in a field of at most `most` bytes. Mistakes are noted; what is left is not to be used then.
pub(super) fn pattern(text: Text<'_>, stops: &[u8], most: usize, notes: &mut Notes) -> Pattern {
    let mut found = Pattern::default();
    let pieces = pieces(text, notes);
    let mut at = 0;
    while let Some(&(piece, span)) = pieces.get(at) {
        at += 1;
        match piece {
            Piece::Byte(byte) => match found.steps.last_mut() {
                Some(Step::Text(bytes)) => bytes.push(byte),
                _ => found.steps.push(Step::Text(vec![byte])),
            },
            Piece::Skip(n) => match found.steps.last_mut() {
                Some(Step::Skip(all)) => *all = all.saturating_add(n),
                _ => found.steps.push(Step::Skip(n)),
            },
            Piece::Star => match pieces.get(at) {
                None => {}
                Some((Piece::Byte(byte), _)) if stops.contains(byte) => {
                    found.steps.push(Step::Until(*byte));
                    at += 1;
                }
                Some((_, behind)) => {
                    let written = |span: Span| &text.raw[span.start - base(text)..span.end - base(text)];
                    let allowed = match stops {
                        [] => "the end of the pattern: the application has no `stop`".to_string(),
                        _ => {
                            let all: Vec<_> = stops.iter().map(|stop| format!("\"{}\"", literal(&[*stop]))).collect();
                            format!("a stop byte, {}, or the end of the pattern", all.join(" or "))
                        }
                    };
                    notes.push((
                        Span { start: span.start, end: behind.end },
                        Problem::Star { found: quote(written(*behind)), allowed },
                    ));
                    // What stands behind it is no further mistake.
                    at += 1;
                }
            },
            Piece::End if at == pieces.len() => found.end = true,
            Piece::End => {
                let expected = "`\\$`, or `$` at the end only".to_string();
                notes.push((span, Problem::Pattern { found: "`$`".to_string(), expected }));
            }
        }
    }
    let least = least(&found);
    if least > most {
        let what = "bytes that a field needs to match the pattern".to_string();
        notes.push((text.span, Problem::Size { what, found: least, most }));
    }
    found
}

/// A stop byte: text of one byte, in which `*`, `.` and `$` stand for themselves.
pub(super) fn stop(text: Text<'_>, notes: &mut Notes) -> Option<u8> {
    let single = match text.raw {
        "*" | "." | "$" => text.raw.bytes().next(),
        _ => match pieces(text, notes)[..] {
            [(Piece::Byte(byte), _)] => Some(byte),
            _ => None,
        },
    };
    if single.is_none() {
        let expected = "one byte, as in \"/\" or \"\\x1f\"".to_string();
        notes.push((text.span, Problem::Pattern { found: quote(&format!("\"{}\"", text.raw)), expected }));
    }
    single
}

/// Bytes that a field has at least that the pattern matches.
fn least(pattern: &Pattern) -> usize {
    let bytes = |step: &Step| match step {
        Step::Text(bytes) => bytes.len(),
        Step::Skip(n) => usize::from(*n),
        Step::Until(_) => 1,
    };
    pattern.steps.iter().map(bytes).sum()
}

/// Offset in the file of what is between the quotes.
fn base(text: Text<'_>) -> usize {
    text.span.start + 1
}

/// The pieces with their places; a mistake is noted and left out.
fn pieces(text: Text<'_>, notes: &mut Notes) -> Vec<(Piece, Span)> {
    let mut all = Vec::new();
    let mut at = 0;
    while at < text.raw.len() && !notes.full() {
        let rest = &text.raw[at..];
        let length;
        let piece = match rest.as_bytes()[0] {
            b'\\' => {
                let (taken, byte) = escape(rest);
                length = taken;
                byte.map(Piece::Byte)
            }
            b'*' => {
                length = 1;
                Ok(Piece::Star)
            }
            b'$' => {
                length = 1;
                Ok(Piece::End)
            }
            b'.' => match rest.as_bytes().get(1) {
                Some(b'*') => {
                    length = 2;
                    Ok(Piece::Star)
                }
                Some(b'{') => {
                    length = rest.find('}').map_or(rest.len(), |end| end + 1);
                    count(&rest[..length]).map(Piece::Skip)
                }
                _ => {
                    length = 1;
                    Ok(Piece::Skip(1))
                }
            },
            // A character's further bytes have the place of the whole.
            _ => {
                length = rest.chars().next().map_or(1, char::len_utf8);
                let span = Span { start: base(text) + at, end: base(text) + at + length };
                all.extend(rest.bytes().take(length).map(|byte| (Piece::Byte(byte), span)));
                at += length;
                continue;
            }
        };
        let span = Span { start: base(text) + at, end: base(text) + at + length };
        all.extend(notes.ok(piece.map_err(|problem| (span, problem))).map(|piece| (piece, span)));
        at += length;
    }
    all
}

/// An escape's length and byte.
fn escape(rest: &str) -> (usize, Result<u8, Problem>) {
    let c = rest[1..].chars().next();
    if let Some((_, byte)) = ESCAPES.iter().find(|(name, _)| Some(*name) == c) {
        return (2, Ok(*byte));
    }
    if c == Some('x') {
        let digits = rest.get(2..4).filter(|digits| digits.bytes().all(|b| b.is_ascii_hexdigit()));
        if let Some(byte) = digits.and_then(|digits| u8::from_str_radix(digits, 16).ok()) {
            return (4, Ok(byte));
        }
        let shown: String = rest.chars().take(4).collect();
        let expected = "two hexadecimal digits behind `\\x`".to_string();
        return (2, Err(Problem::Pattern { found: quote(&shown), expected }));
    }
    let length = 1 + c.map_or(0, char::len_utf8);
    let expected = "an escape: \\\\ \\\" \\* \\. \\$ \\xHH \\n \\r \\t or \\0".to_string();
    (length, Err(Problem::Pattern { found: quote(&rest[..length]), expected }))
}

/// The number of `.{N}`.
fn count(written: &str) -> Result<u16, Problem> {
    let expected = || format!("`.{{N}}` with N from 1 to {MOST_SKIP}");
    let digits = written[2..].strip_suffix('}').filter(|d| !d.is_empty() && d.bytes().all(|b| b.is_ascii_digit()));
    let number = digits.and_then(|digits| digits.parse::<u16>().ok()).filter(|n| (1..=MOST_SKIP).contains(n));
    number.ok_or_else(|| Problem::Pattern { found: quote(written), expected: expected() })
}

/// Bytes as a pattern has them.
pub fn literal(bytes: &[u8]) -> String {
    let mut text = String::new();
    for chunk in bytes.utf8_chunks() {
        for c in chunk.valid().chars() {
            let escape = ESCAPES.iter().find(|(_, byte)| u32::from(*byte) == u32::from(c));
            match escape {
                Some((name, _)) => text.extend(['\\', *name]),
                // Others than letters may turn what stands behind them around, or not be seen.
                None if c.is_alphanumeric() || c.is_ascii_graphic() || c == ' ' => text.push(c),
                None => c.encode_utf8(&mut [0; 4]).bytes().for_each(|b| text.push_str(&format!("\\x{b:02x}"))),
            }
        }
        chunk.invalid().iter().for_each(|b| text.push_str(&format!("\\x{b:02x}")));
    }
    text
}

/// Bytes of a text with escapes, in which `*`, `.` and `$` stand for themselves; none where an escape is none.
pub fn unescape(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::new();
    let mut at = 0;
    while at < text.len() {
        let rest = &text[at..];
        if rest.starts_with('\\') {
            let (length, byte) = escape(rest);
            bytes.push(byte.ok()?);
            at += length;
        } else {
            let length = rest.chars().next().map_or(1, char::len_utf8);
            bytes.extend(&rest.as_bytes()[..length]);
            at += length;
        }
    }
    Some(bytes)
}

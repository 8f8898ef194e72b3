//! Words of the text.

use super::error::{Diagnostics, TextProblem};
use sluice_packet::text::{Span, number, quote};

/// Longest file, in bytes.
pub const MOST_BYTES: usize = 16 << 20;
/// Most characters of a name.
pub const MOST_NAME: usize = 63;

/// A word.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Token {
    /// Name or word of the language.
    Name(String),
    /// Number, with the hexadecimal digits that it was written with, 0 for others.
    Number(u128, u8),
    /// IPv4 address.
    Ipv4(u32),
    /// MAC address.
    Mac(u64),
    /// Bytes of text.
    Text(Vec<u8>),
    /// A mark such as `->`.
    Mark(&'static str),
    /// End of a line, or `;`.
    End,
    /// End of the file.
    Eof,
}

/// A word and its place.
#[derive(Clone, Debug)]
pub(super) struct Lexeme {
    pub token: Token,
    pub span: Span,
}

/// Marks, longer ones before those that they begin with.
const MARKS: [&str; 35] = [
    "->", "<<", ">>", "<=", ">=", "==", "!=", "+=", "-=", "&=", "|=", "^=", "{", "}", "[", "]", "(", ")", ",", "=",
    "<", ">", "+", "-", "&", "|", "^", "~", "*", "@", ":", "/", "?", "!", "%",
];

impl Token {
    /// As an error shows it.
    pub fn describe(&self) -> String {
        match self {
            Self::Name(name) => quote(name),
            Self::Number(n, 0) => format!("`{n}`"),
            Self::Number(n, _) => format!("`{n:#x}`"),
            Self::Ipv4(a) => format!("`{}`", std::net::Ipv4Addr::from(*a)),
            Self::Mac(m) => format!("`{}`", mac_text(*m)),
            Self::Text(t) => quote(&format!("\"{}\"", String::from_utf8_lossy(t))),
            Self::Mark(m) => format!("`{m}`"),
            Self::End => "the end of the statement".to_string(),
            Self::Eof => "the end of the file".to_string(),
        }
    }
}

/// 02:00:00:00:00:01
pub(super) fn mac_text(mac: u64) -> String {
    let bytes = mac.to_be_bytes();
    bytes[2..].iter().map(|b| format!("{b:02x}")).collect::<Vec<_>>().join(":")
}

/// All words of a text, the end of the file last. Runs of line ends are one.
pub(super) fn words(text: &str, notes: &mut Diagnostics) -> Vec<Lexeme> {
    let mut all: Vec<Lexeme> = Vec::new();
    let mut at = 0;
    while at < text.len() && !notes.full() {
        let rest = &text[at..];
        let c = rest.as_bytes()[0];
        let start = at;
        let token = match c {
            b' ' | b'\t' | b'\r' => {
                at += 1;
                continue;
            }
            b'#' => {
                at += rest.find('\n').unwrap_or(rest.len());
                continue;
            }
            b'\\' if rest[1..].trim_start_matches('\r').starts_with('\n') => {
                at += rest.find('\n').map_or(1, |n| n + 1);
                continue;
            }
            b'\n' | b';' => {
                at += 1;
                let goes_on = matches!(all.last().map(|l| &l.token), None | Some(Token::End | Token::Mark(",")));
                if goes_on && c == b'\n' || matches!(all.last().map(|l| &l.token), Some(Token::End)) {
                    continue;
                }
                Ok((Token::End, 1))
            }
            b'"' | b'\'' => quoted(rest),
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | b'_' => word(rest),
            _ => match MARKS.iter().find(|m| rest.starts_with(**m)) {
                Some(mark) => Ok((Token::Mark(mark), mark.len())),
                None => {
                    let c = rest.chars().next().unwrap_or(' ');
                    let found = quote(&c.to_string());
                    Err((TextProblem::Character { found, expected: "a word, a value or a mark".into() }, c.len_utf8()))
                }
            },
        };
        match token {
            Ok((token, length)) => {
                at = start + length;
                all.push(Lexeme { token, span: Span { start, end: at } });
            }
            Err((problem, length)) => {
                at = start + length;
                let span = Span { start, end: at };
                notes.push((span, problem));
                // Something was meant to stand here: what follows is read as if it did.
                all.push(Lexeme { token: Token::Number(0, 0), span });
            }
        }
    }
    let end = Span { start: text.len(), end: text.len() };
    all.push(Lexeme { token: Token::End, span: end });
    all.push(Lexeme { token: Token::Eof, span: end });
    all
}

type Lexed = Result<(Token, usize), (TextProblem, usize)>;

/// Text in quotes, printable ASCII.
fn quoted(rest: &str) -> Lexed {
    let quote_mark = rest.as_bytes()[0];
    let body = &rest.as_bytes()[1..];
    let length = body.iter().take_while(|b| **b != quote_mark && (b' '..=b'~').contains(*b)).count();
    let closed = body.get(length) == Some(&quote_mark);
    if closed && (1..=16).contains(&length) {
        return Ok((Token::Text(body[..length].to_vec()), length + 2));
    }
    let shown = if closed { length + 2 } else { length + 1 };
    let expected = "1 to 16 characters of printable ASCII between quotes".into();
    Err((TextProblem::Character { found: quote(&rest[..shown]), expected }, shown))
}

/// A name, a number or an address.
fn word(rest: &str) -> Lexed {
    if let Some(mac) = mac(rest) {
        return Ok((Token::Mac(mac), 17));
    }
    let length = rest.bytes().take_while(|b| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'.')).count();
    let text = &rest[..length];
    if !text.as_bytes()[0].is_ascii_digit() {
        let good = length <= MOST_NAME && !text.ends_with('.') && !text.contains("..");
        let expected = format!("a name of at most {MOST_NAME} letters, digits, `_` and `.` between them");
        return if good {
            Ok((Token::Name(text.to_string()), length))
        } else {
            Err((TextProblem::Character { found: quote(text), expected }, length))
        };
    }
    if let Ok(address) = text.parse::<std::net::Ipv4Addr>() {
        return Ok((Token::Ipv4(address.into()), length));
    }
    let scaled = |text: &str| {
        let factor = match text.as_bytes().last()? {
            b'k' => 1_000,
            b'M' => 1_000_000,
            b'G' => 1_000_000_000,
            _ => return None,
        };
        number(&text[..text.len() - 1])?.checked_mul(factor)
    };
    let binary = |text: &str| {
        let digits = text.strip_prefix("0b")?;
        let good = digits.bytes().all(|b| matches!(b, b'0' | b'1' | b'_'));
        if good { u128::from_str_radix(&digits.replace('_', ""), 2).ok() } else { None }
    };
    let hex = text.starts_with("0x");
    let digits = if hex { text[2..].bytes().filter(|b| *b != b'_').count().min(255) as u8 } else { 0 };
    let value = number(text).or_else(|| binary(text)).or_else(|| if hex { None } else { scaled(text) });
    value.map(|n| (Token::Number(n, digits), length)).ok_or_else(|| {
        let expected = "a number as in 10, 0x1f, 0b101 or 5M, an IPv4 or a MAC address".into();
        (TextProblem::Character { found: quote(text), expected }, length)
    })
}

/// Six pairs of hexadecimal digits with `:` between them.
fn mac(rest: &str) -> Option<u64> {
    let bytes = rest.as_bytes().get(..17)?;
    if rest.as_bytes().get(17).is_some_and(|b| b.is_ascii_alphanumeric() || matches!(b, b':' | b'_' | b'.')) {
        return None;
    }
    let mut value = 0;
    for (i, b) in bytes.iter().enumerate() {
        match (i % 3, *b) {
            (2, b':') => {}
            (0 | 1, b) => value = value << 4 | u64::from((b as char).to_digit(16)?),
            _ => return None,
        }
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use sluice_packet::mistake::Problem as _;

    fn tokens(text: &str) -> Vec<Token> {
        let mut notes = Diagnostics::default();
        let found = words(text, &mut notes).into_iter().map(|l| l.token).collect();
        assert!(notes.found.is_empty(), "{:?}", notes.found);
        found
    }

    #[test]
    fn values_are_told_apart() {
        let found = tokens("0x1f 10.0.0.1 02:00:00:00:00:ff aa:bb:cc:dd:ee:0f 12:2 5M \"P4\" '+' 0b11 ipv4.ttl");
        let expected = [
            Token::Number(31, 2),
            Token::Ipv4(0x0a00_0001),
            Token::Mac(0x0200_0000_00ff),
            Token::Mac(0xaabb_ccdd_ee0f),
            Token::Number(12, 0),
            Token::Mark(":"),
            Token::Number(2, 0),
            Token::Number(5_000_000, 0),
            Token::Text(b"P4".to_vec()),
            Token::Text(b"+".to_vec()),
            Token::Number(3, 0),
            Token::Name("ipv4.ttl".into()),
            Token::End,
            Token::Eof,
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn statements_end_with_their_line_but_behind_a_comma_or_backslash() {
        let ends = |text| tokens(text).iter().filter(|t| **t == Token::End).count();
        assert_eq!(ends("\n\na # x\n\n b; c;;\n"), 4);
        assert_eq!(ends("a,\n b \\\r\n c"), 1);
    }

    #[test]
    fn strange_words_are_found_all_at_once() {
        let mut notes = Diagnostics::default();
        words("a \u{e9} 1.2 \"open\n 0x 12ab \"\" b..c 0b", &mut notes);
        let found: Vec<_> = notes.found.iter().map(|f| f.1.to_string()).collect();
        assert_eq!(found.len(), 8, "{found:#?}");
        assert!(notes.found.iter().all(|f| f.1.code() == "E0601"));
    }
}

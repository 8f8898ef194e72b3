//! Reading one statement word by word.

use std::net::Ipv4Addr;

use super::ast::{Destination, Tuple};
use super::error::ScriptProblem;
use super::traffic::empty;
use crate::headers::protocol;
use crate::mac::MacAddr;
use crate::notation::{NotationError, Pattern, Problem, Written, parse_at};
use crate::text::{Cursor, Span, number, quote};

/// A problem and the piece of the script that it is about.
pub(super) type Located<T> = Result<T, (Span, ScriptProblem)>;

/// One word or option of a statement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Word<'a> {
    pub text: &'a str,
    pub span: Span,
}

/// The rest of a statement.
#[derive(Clone, Debug)]
pub(super) struct Words<'a> {
    pub cursor: Cursor<'a>,
}

/// Most destinations of one kind that a name can mean.
pub(super) const MAX_DESTINATION: u128 = 255;

impl<'a> Words<'a> {
    /// Whether the statement is over.
    pub fn at_end(&mut self) -> bool {
        self.cursor.skip_blanks();
        self.cursor.at_line_end()
    }

    /// The next word: up to a blank, a comment or the end of the line.
    pub fn next(&mut self) -> Option<Word<'a>> {
        if self.at_end() {
            return None;
        }
        let start = self.cursor.at();
        let mut text = self.cursor.take_while(|c| !c.is_whitespace() && c != '#');
        // A backslash at the line end joins lines: it is no part of the word.
        if text.ends_with('\\') && self.cursor.rest().trim_start_matches('\r').starts_with('\n') {
            text = &text[..text.len() - 1];
            self.cursor.go_to(start + text.len());
        }
        let span = self.cursor.span_from(start);
        Some(Word { text, span })
    }

    /// The next word without taking it.
    pub fn peek(&self) -> Option<Word<'a>> {
        self.clone().next()
    }

    /// Takes the next word if it is `expected`.
    pub fn take(&mut self, expected: &str) -> bool {
        let mut ahead = self.clone();
        let found = ahead.next().is_some_and(|w| w.text == expected);
        if found {
            *self = ahead;
        }
        found
    }

    /// The next word, or an error that says what was expected.
    pub fn need(&mut self, expected: &str) -> Located<Word<'a>> {
        let here = self.here();
        self.next().ok_or_else(|| (here, self.expected(expected)))
    }

    /// That nothing follows.
    pub fn end(&mut self) -> Located<()> {
        match self.peek() {
            None => Ok(()),
            Some(word) => Err((word.span, self.expected("the end of the line"))),
        }
    }

    /// Where the next word stands.
    pub fn here(&mut self) -> Span {
        self.cursor.skip_blanks();
        self.peek().map_or(self.cursor.span_from(self.cursor.at()), |w| w.span)
    }

    /// The error that something else was expected here.
    pub fn expected(&self, expected: &str) -> ScriptProblem {
        let mut cursor = self.cursor.clone();
        cursor.skip_blanks();
        ScriptProblem::Expected { found: cursor.describe_next(), expected: expected.to_string() }
    }

    /// A packet in the notation.
    pub fn packet(&mut self) -> Located<Written> {
        self.cursor.skip_blanks();
        if self.cursor.at_line_end() {
            return Err((self.here(), self.expected("a packet such as eth/vlan(vid=7)/ipv4")));
        }
        let written = parse_at(&mut self.cursor).map_err(located)?;
        let padding = written.packet.check_padding();
        padding.map_err(|error| located(NotationError { span: written.span, problem: Problem::Build(error) }))?;
        Ok(written)
    }

    /// What a packet that is expected looks like.
    pub fn pattern(&mut self) -> Located<Pattern> {
        let written = self.packet()?;
        let pattern = Pattern::from_written(&written).map_err(located)?;
        if pattern.bytes.is_empty() && !written.open {
            return Err((written.span, empty()));
        }
        Ok(pattern)
    }

    /// `*N` if it comes next, else 1.
    pub fn repetition(&mut self) -> Located<u64> {
        match self.peek() {
            Some(word) if word.text.starts_with('*') => {
                self.next();
                let counted = Word { text: &word.text[1..], ..word };
                counted.number("the repetition", 1, 1_000_000).map(|n| n as u64)
            }
            _ => Ok(1),
        }
    }

    /// `port N` or `host N`.
    pub fn destination(&mut self) -> Located<Destination> {
        let kind = self.need("`port` or `host`")?;
        let make = match kind.text {
            "port" => Destination::Port,
            "host" => Destination::Host,
            _ => return Err((kind.span, kind.unexpected("`port` or `host`"))),
        };
        let word = self.need("its number")?;
        let n = word.number(if kind.text == "port" { "the port" } else { "the host queue" }, 0, MAX_DESTINATION)?;
        Ok(make(n as u8))
    }
}

pub(super) fn located(error: NotationError) -> (Span, ScriptProblem) {
    (error.span, error.problem.into())
}

impl<'a> Word<'a> {
    /// The error that this word is not what was expected.
    pub fn unexpected(&self, expected: &str) -> ScriptProblem {
        ScriptProblem::Expected { found: quote(self.text), expected: expected.to_string() }
    }

    /// The error that this value is not allowed.
    pub fn bad(&self, what: &str, allowed: &str) -> (Span, ScriptProblem) {
        let problem =
            ScriptProblem::BadValue { what: what.to_string(), found: quote(self.text), allowed: allowed.to_string() };
        (self.span, problem)
    }

    /// A number from `min` to `max`.
    pub fn number(&self, what: &str, min: u128, max: u128) -> Located<u128> {
        let allowed = format!("a number from {min} to {max}");
        number(self.text).filter(|n| (min..=max).contains(n)).ok_or_else(|| self.bad(what, &allowed))
    }

    /// A number with k, M or G behind it for thousands, millions and milliards.
    pub fn scaled(&self, what: &str, max: u64) -> Located<u64> {
        let scales = [('k', 1_000), ('M', 1_000_000), ('G', 1_000_000_000)];
        let scale = scales.iter().find(|(letter, _)| self.text.ends_with(*letter));
        let (digits, factor) = match scale {
            Some((_, factor)) => (&self.text[..self.text.len() - 1], *factor),
            None => (self.text, 1),
        };
        number(digits)
            .and_then(|n| u64::try_from(n).ok())
            .and_then(|n| n.checked_mul(factor))
            .filter(|n| (1..=max).contains(n))
            .ok_or_else(|| {
                let allowed = format!("a number from 1 to {max}, with k, M or G for thousands, millions, milliards");
                self.bad(what, &allowed)
            })
    }

    /// An Ethernet address.
    pub fn mac(&self, what: &str) -> Located<MacAddr> {
        let parsed = self.text.parse();
        parsed.map_err(|_| self.bad(what, "an Ethernet address as in 02:00:00:00:00:01"))
    }

    /// The name of a tenant, counter or reason.
    pub fn name(&self, what: &str) -> Located<&'a str> {
        let mut characters = self.text.chars();
        let first = characters.next().is_some_and(|c| c.is_ascii_lowercase());
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_' || c == '-';
        if first && characters.all(legal) {
            return Ok(self.text);
        }
        Err(self.bad(what, "a lower-case letter, then lower-case letters, digits, `_` or `-`"))
    }

    /// Name and value of an option `name=value`; of a bare word the value is `None`.
    pub fn option(&self) -> (Word<'a>, Option<Word<'a>>) {
        let Some(at) = self.text.find('=') else {
            return (*self, None);
        };
        let Span { start, end } = self.span;
        let name = Word { text: &self.text[..at], span: Span { start, end: start + at } };
        let value = Word { text: &self.text[at + 1..], span: Span { start: start + at + 1, end } };
        (name, Some(value))
    }

    /// Pieces between commas.
    pub fn pieces(&self) -> impl Iterator<Item = Word<'a>> + use<'a> {
        let mut start = self.span.start;
        self.text.split(',').map(move |text| {
            let span = Span { start, end: start + text.len() };
            start = span.end + 1;
            Word { text, span }
        })
    }

    /// `address:port`.
    fn endpoint(&self) -> Located<(Ipv4Addr, u16)> {
        let parsed = self.text.split_once(':').and_then(|(address, port)| {
            let port = number(port).and_then(|n| u16::try_from(n).ok())?;
            Some((address.parse().ok()?, port))
        });
        parsed.ok_or_else(|| self.bad("an end of the flow", "IPv4 address and port as in 10.0.0.1:80"))
    }
}

impl Words<'_> {
    /// `10.0.0.1:80 > 10.0.0.2:90 udp`.
    pub fn tuple(&mut self) -> Located<Tuple> {
        let (src, sport) = self.need("a source as in 10.0.0.1:80")?.endpoint()?;
        let arrow = self.need("`>` and a destination")?;
        if arrow.text != ">" {
            return Err((arrow.span, arrow.unexpected("`>` and a destination")));
        }
        let (dst, dport) = self.need("a destination as in 10.0.0.2:90")?.endpoint()?;
        let word = self.need("a protocol: udp, tcp, icmp or its number")?;
        let protocol = match word.text {
            "udp" => protocol::UDP,
            "tcp" => protocol::TCP,
            "icmp" => protocol::ICMP,
            _ => number(word.text)
                .and_then(|n| u8::try_from(n).ok())
                .ok_or_else(|| word.bad("the protocol", "udp, tcp, icmp or a number up to 255"))?,
        };
        Ok(Tuple { src, sport, dst, dport, protocol })
    }
}

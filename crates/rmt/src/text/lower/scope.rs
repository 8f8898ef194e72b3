//! Names and values.

use crate::phv::{Class, Container, Word};
use crate::text::ast::*;
use crate::text::error::{Read, TextProblem, bits, operation, place, unknown, value};
use crate::text::names::{Bits, Parameter};
use sluice_formats::Target;
use sluice_object::Destination;
use sluice_packet::text::{Span, quote};
use std::collections::HashMap;

/// What a name with its brackets stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Thing {
    Value(u128),
    Bits(Bits),
    /// Bits from bit `lo` of word `word` on.
    Word {
        word: u8,
        lo: u8,
        width: u8,
    },
    /// Bits of the action data: `end` is the bit behind the lowest one, counted from the first byte's highest.
    Data {
        end: u16,
        width: u8,
    },
    Hash {
        lo: u8,
        width: u8,
    },
    Number {
        lo: u8,
        width: u8,
    },
}

impl Thing {
    /// Bits that it has; a value has as many as are needed.
    pub fn width(self) -> u8 {
        match self {
            Self::Value(_) => 0,
            Self::Bits(b) => b.width,
            Self::Word { width, .. }
            | Self::Data { width, .. }
            | Self::Hash { width, .. }
            | Self::Number { width, .. } => width,
        }
    }

    /// Bits `lo` and up of it.
    pub fn slice(self, at: u8, width: u8) -> Self {
        match self {
            Self::Value(v) => Self::Value(v),
            Self::Bits(b) => Self::Bits(Bits { lo: b.lo + at, width, ..b }),
            Self::Word { word, lo, .. } => Self::Word { word, lo: lo + at, width },
            Self::Data { end, .. } => Self::Data { end: end - u16::from(at), width },
            Self::Hash { lo, .. } => Self::Hash { lo: lo + at, width },
            Self::Number { lo, .. } => Self::Number { lo: lo + at, width },
        }
    }
}

/// Name of the bits that are the number of a destination, in modules with `port_numbers`.
pub(in crate::text) const EGRESS_PORT: &str = "egress_port";

/// Metadata words and parts of them: name, word, lowest bit, bits.
pub(in crate::text) const WORDS: [(&str, Word, u8, u8); 22] = [
    ("ingress_port", Word::IngressPort, 0, 16),
    ("length", Word::Length, 0, 16),
    ("arrival", Word::Arrival, 0, 48),
    ("queueing", Word::Queueing, 0, 32),
    ("tenant", Word::Tenant, 0, 16),
    ("status", Word::Status, 0, 16),
    ("status.bad", Word::Status, 0, 1),
    ("status.path", Word::Status, 4, 4),
    ("status.port_numbers", Word::Status, 8, 1),
    ("queue_depth", Word::QueueDepth, 0, 16),
    ("link_use", Word::LinkUse, 0, 16),
    ("egress", Word::Egress, 0, 16),
    ("egress.destinations", Word::Egress, 0, 8),
    ("egress.queue", Word::Egress, 8, 3),
    ("egress.except_ingress", Word::Egress, 11, 1),
    ("egress.discard", Word::Egress, 15, 1),
    ("group", Word::Group, 0, 16),
    ("headers", Word::Headers, 0, 16),
    ("scratch0", Word::Scratch0, 0, 16),
    ("scratch1", Word::Scratch1, 0, 16),
    (EGRESS_PORT, Word::Scratch1, 0, 9),
    ("words", Word::IngressPort, 0, 48),
];

/// Other names that cannot be declared.
const RESERVED: [&str; 20] = [
    "c2", "c4", "c6", "c0", "c1", "p0", "p1", "hash", "number", "data", "old", "true", "false", "always", "and", "or",
    "not", "table", "if", "reject",
];

/// Whether a name belongs to the language.
pub(in crate::text) fn reserved(name: &str) -> bool {
    let piece = name.len() == 2 && name.starts_with('k') && name.as_bytes()[1].is_ascii_digit();
    piece || RESERVED.contains(&name) || WORDS.iter().any(|w| w.0 == name) || name.parse::<Destination>().is_ok()
}

/// Everything that is declared outside of stages.
pub(super) struct Scope<'a> {
    pub text: &'a str,
    pub target: &'static Target,
    pub names: HashMap<String, (Thing, Span)>,
    pub headers: HashMap<String, (u8, Span)>,
    /// Destinations may be numbers.
    pub port_numbers: bool,
}

impl Scope<'_> {
    /// Line of a place.
    pub fn line(&self, span: Span) -> usize {
        sluice_packet::text::position(self.text, span.start).line
    }

    /// That a name may be declared.
    pub fn fresh(&self, name: &Name, before: Option<Span>) -> Read<()> {
        if reserved(&name.text) {
            return Err((name.span, TextProblem::Reserved { name: name.text.clone() }));
        }
        match before {
            Some(first) => Err(self.twice(name.span, format!("`{}`", name.text), first)),
            None => Ok(()),
        }
    }

    /// The error that something stands before.
    pub fn twice(&self, span: Span, what: impl ToString, first: Span) -> (Span, TextProblem) {
        (span, TextProblem::Twice { what: what.to_string(), line: self.line(first) })
    }

    /// Value of an expression of constants.
    pub fn value(&self, expr: &Expr) -> Read<u128> {
        let mut sum = self.term_value(&expr.first)?;
        for (op, term) in &expr.rest {
            let next = self.term_value(term)?;
            let result = match op {
                BinOp::Add => sum.checked_add(next),
                BinOp::Sub => sum.checked_sub(next),
                BinOp::And => Some(sum & next),
                BinOp::Or => Some(sum | next),
                BinOp::Xor => Some(sum ^ next),
            };
            sum = result.ok_or_else(|| value(expr.span, "the value", "below 0 or above 128 bits", "one between"))?;
        }
        Ok(sum)
    }

    fn term_value(&self, term: &Term) -> Read<u128> {
        if term.inverted || term.negated {
            return Err(operation(term.span, "a sign before a value", "a value from 0 up"));
        }
        let number = match &term.kind {
            TermKind::Number(n, _) => *n,
            TermKind::Group(inner) => self.value(inner)?,
            TermKind::Call(name, _) => return Err(unknown(name.span, "value", &name.text, "a number or a constant")),
            TermKind::Place(p) => match self.thing(p, &[])? {
                Thing::Value(v) => v,
                _ => return Err(operation(p.span, quote(&p.name.text), "a value that is known now")),
            },
        };
        let Some((shift, amount)) = &term.shift else { return Ok(number) };
        let amount = self.number(amount, "the shift", 0, 127)? as u32;
        match shift {
            Shift::Right => Ok(number >> amount),
            Shift::Left if number.leading_zeros() >= amount => Ok(number << amount),
            Shift::Left => Err(value(term.span, "the value", "above 128 bits", "less")),
        }
    }

    /// A number in a range.
    pub fn number(&self, expr: &Expr, what: &str, least: u128, most: u128) -> Read<u64> {
        let found = self.value(expr)?;
        if (least..=most).contains(&found) {
            return Ok(found as u64);
        }
        let hex = most > 0xffff;
        let show = |n: u128| if hex && n > 0xffff { format!("{n:#x}") } else { n.to_string() };
        Err(value(expr.span, what, show(found), format!("{} to {}", show(least), show(most))))
    }

    /// A value of so many bits.
    pub fn bits_value(&self, expr: &Expr, what: &str, width: u32) -> Read<u64> {
        self.number(expr, what, 0, (1u128 << width) - 1)
    }

    /// Header by name or number.
    pub fn header(&self, header: &HeaderRef) -> Read<u8> {
        if let TermKind::Place(p) = &header.of.first.kind
            && let Some((n, _)) = self.headers.get(&p.name.text)
            && p.brackets.is_empty()
            && header.of.rest.is_empty()
        {
            return Ok(*n);
        }
        if let TermKind::Place(p) = &header.of.first.kind
            && !self.names.contains_key(&p.name.text)
        {
            return Err(unknown(p.span, "header", &p.name.text, list(self.headers.keys())));
        }
        self.number(&header.of, "the header", 0, 15).map(|n| n as u8)
    }

    /// A whole container.
    pub fn container(&self, place: &Place) -> Read<Container> {
        match self.thing(place, &[])? {
            Thing::Bits(b) if b.is_whole() => Ok(b.container),
            _ => {
                Err(bits(place.span, format!("{} is no whole container", self.shown(place.span)), "a whole container"))
            }
        }
    }

    /// The text of a place, quoted.
    pub fn shown(&self, span: Span) -> String {
        quote(self.text.get(span.start..span.end).unwrap_or_default())
    }

    /// What a name with its brackets is, parameters first.
    pub fn thing(&self, place: &Place, parameters: &[Parameter]) -> Read<Thing> {
        let name = place.name.text.as_str();
        let (base, taken) = match self.base(place, parameters)? {
            Some(found) => found,
            None => {
                let allowed = list(parameters.iter().map(|p| &p.name).chain(self.names.keys()));
                return Err(unknown(place.name.span, "name", name, allowed));
            }
        };
        let mut thing = base;
        for bracket in &place.brackets[taken..] {
            if matches!(thing, Thing::Value(_)) {
                return Err(operation(bracket.span, "bits of a value", "the value alone"));
            }
            let most = u128::from(thing.width()) - 1;
            let hi = self.number(&bracket.first, "the highest bit", 0, most)?;
            let lo = match &bracket.second {
                Some(lo) => self.number(lo, "the lowest bit", 0, u128::from(hi))?,
                None => hi,
            };
            thing = thing.slice(lo as u8, (hi - lo + 1) as u8);
        }
        Ok(thing)
    }

    /// The thing of the name, and how many brackets belong to it.
    fn base(&self, place: &Place, parameters: &[Parameter]) -> Read<Option<(Thing, usize)>> {
        let name = place.name.text.as_str();
        if let Some(p) = parameters.iter().find(|p| p.name == name) {
            let end = 8 * (u16::from(p.at) + u16::from(p.bytes));
            return Ok(Some((Thing::Data { end, width: 8 * p.bytes }, 0)));
        }
        if let Some((thing, _)) = self.names.get(name) {
            return Ok(Some((*thing, 0)));
        }
        if let Ok(destination) = name.parse::<Destination>() {
            let (ports, hosts) = (self.target.ports, self.target.hosts);
            let bit = destination.number(self.target).ok_or_else(|| {
                let allowed = format!("port0 to port{} and host0 to host{}", ports - 1, hosts.max(1) - 1);
                unknown(place.span, "destination", name, allowed)
            })?;
            return Ok(Some((Thing::Value(1 << bit), 0)));
        }
        let class = match name {
            "c2" => Some(Class::C2),
            "c4" => Some(Class::C4),
            "c6" => Some(Class::C6),
            _ => None,
        };
        if let Some(class) = class {
            let [index, ..] = &place.brackets[..] else {
                return Err(crate::text::error::place(place.span, quote(name), "a number behind it as in c2[0]"));
            };
            let i = self.single(index, "the container", 7)?;
            return Ok(Some((Thing::Bits(Bits::whole(Container::of(class, i))), 1)));
        }
        match name {
            "hash" => return Ok(Some((Thing::Hash { lo: 0, width: 32 }, 0))),
            "number" => return Ok(Some((Thing::Number { lo: 0, width: 16 }, 0))),
            "data" => return self.data(place).map(|t| Some((t, 1))),
            "words" => {
                let [index, ..] = &place.brackets[..] else {
                    return Err(crate::text::error::place(
                        place.span,
                        quote(name),
                        "a number behind it as in words[2]",
                    ));
                };
                let word = self.single(index, "the word", 15)?;
                return Ok(Some((Thing::Word { word, lo: 0, width: 48 }, 1)));
            }
            _ => {}
        }
        if name == EGRESS_PORT && !self.port_numbers {
            let found = "`egress_port` in a module without `port_numbers`";
            return Err(crate::text::error::place(
                place.span,
                found,
                "`port_numbers` in a line of its own, or scratch1",
            ));
        }
        let word = WORDS.iter().find(|w| w.0 == name);
        Ok(word.map(|&(_, word, lo, width)| (Thing::Word { word: word as u8, lo, width }, 0)))
    }

    fn single(&self, index: &Bracket, what: &str, most: u128) -> Read<u8> {
        if index.second.is_some() {
            return Err(place(index.span, "a range", "one number"));
        }
        self.number(&index.first, what, 0, most).map(|n| n as u8)
    }

    /// `data[4:6]`
    fn data(&self, place: &Place) -> Read<Thing> {
        let wrong = || crate::text::error::place(place.span, self.shown(place.span), "bytes as in data[4:6]");
        let Some(Bracket { first, second: Some(second), span }) = place.brackets.first() else { return Err(wrong()) };
        let from = self.number(first, "the first byte", 0, 14)?;
        let to = self.number(second, "the byte behind the last one", 2, 16)?;
        if from % 2 != 0 || to <= from || !matches!(to - from, 2 | 4 | 6) {
            return Err(value(*span, "the range", format!("{from}:{to}"), "2, 4 or 6 bytes from an even one"));
        }
        Ok(Thing::Data { end: 8 * to as u16, width: (8 * (to - from)) as u8 })
    }
}

/// Some of the names, in order, as an error lists them.
pub(super) fn list<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let mut all: Vec<&str> = names.map(String::as_str).collect();
    if all.is_empty() {
        return "one that is declared; none is".to_string();
    }
    all.sort_unstable();
    let more = all.len().saturating_sub(12);
    all.truncate(12);
    let shown = all.join(", ");
    if more > 0 { format!("one of {shown} and {more} more") } else { format!("one of {shown}") }
}
